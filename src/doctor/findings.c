/* SPDX-License-Identifier: MIT */
// The list of findings, and which there are.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "doctor/doctor.h"

static const struct {
	const char *code, *doc;
} findings[] = {
#define FINDING(NAME, code, doc) { code, doc },
#include "doctor/findings.def"
#undef FINDING
};

const char *pd_finding_code(size_t index, const char **doc_out)
{
	if (index >= PD_FINDING_COUNT)
		return NULL;
	if (doc_out)
		*doc_out = findings[index].doc;
	return findings[index].code;
}

enum pd_severity_of_finding pd_severity_by(uint64_t count, uint64_t total, double warning, double bad)
{
	double share = pd_percent(count, total);

	return share > bad ? PD_FINDING_BAD : share > warning ? PD_FINDING_WARNING : PD_FINDING_NOTE;
}

static const char *make_string(struct pd_doctor *doctor, const char *format, va_list arguments)
{
	va_list again;
	char *string;
	int size;

	va_copy(again, arguments);
	size = vsnprintf(NULL, 0, format, again);
	va_end(again);
	string = size < 0 ? NULL : pd_arena_alloc(&doctor->strings, (size_t)size + 1);
	if (string)
		vsnprintf(string, (size_t)size + 1, format, arguments);
	doctor->failed |= !string;
	return string;
}

const char *pd_doctor_string(struct pd_doctor *doctor, const char *format, ...)
{
	const char *string;
	va_list arguments;

	va_start(arguments, format);
	string = make_string(doctor, format, arguments);
	va_end(arguments);
	return string;
}

struct pd_finding *pd_finding_add(struct pd_doctor *doctor, enum pd_finding_number number,
				  enum pd_severity_of_finding severity, uint64_t count, uint64_t total,
				  const char *meaning, const char *format, ...)
{
	struct pd_ordered_finding *finding;
	va_list arguments;

	if (!PD_GROW(doctor->findings, doctor->finding_capacity, doctor->finding_count + 1)) {
		doctor->failed = true;
		doctor->spare = (struct pd_finding){ 0 };
		return &doctor->spare;
	}
	finding = &doctor->findings[doctor->finding_count++];
	*finding = (struct pd_ordered_finding){ .shown = { .code = findings[number].code,
							   .severity = severity,
							   .count = count,
							   .total = total,
							   .meaning = meaning },
						.order = doctor->finding_count };
	va_start(arguments, format);
	finding->shown.text = make_string(doctor, format, arguments);
	va_end(arguments);
	return &finding->shown;
}

static int compare(const void *a, const void *b)
{
	const struct pd_ordered_finding *left = a, *right = b;
	double left_share = pd_percent(left->shown.count, left->shown.total);
	double right_share = pd_percent(right->shown.count, right->shown.total);

	if (left->shown.severity != right->shown.severity)
		return left->shown.severity < right->shown.severity ? 1 : -1;
	if (left_share < right_share || left_share > right_share)
		return left_share < right_share ? 1 : -1;
	return left->order < right->order ? -1 : left->order > right->order;
}

void pd_doctor_sort(struct pd_doctor *doctor)
{
	if (doctor->finding_count)
		qsort(doctor->findings, doctor->finding_count, sizeof(*doctor->findings), compare);
}

const struct pd_finding *pd_doctor_finding(const struct pd_doctor *doctor, size_t index)
{
	return index < doctor->finding_count ? &doctor->findings[index].shown : NULL;
}
