/* SPDX-License-Identifier: MIT */
/*
 * What is asked of frames again and again, as small numbers that lie close together: frames themselves, their
 * objects and functions are anywhere in memory.
 */
#include "base/threads.h"
#include "report/report.h"
#include "symbol/data.h"

enum {
	WORTH_A_PART = 1 << 13
};

#define NO_FUNCTION UINT32_MAX

struct classifying {
	struct pd_report *report;
	size_t count, parts;
	uint32_t function_counts[PD_PARTS_MOST];
};

static uint8_t flags_of(const struct pd_report *report, const struct pd_frame *frame)
{
	const struct pd_place *place = &frame->place;
	uint8_t flags = (uint8_t)(frame->cpumode & FRAME_LEVEL);

	if (place->dso)
		flags |= FRAME_OBJECT;
	if (pd_place_is_resolved(place))
		flags |= FRAME_FUNCTION;
	if (place->function && place->function->dso == place->dso)
		flags |= FRAME_OWN_OBJECT;
	if (!report->options.has_place || report->options.has_place(report->options.filter, place))
		flags |= FRAME_REQUESTED;
	return flags;
}

static void classify_part(void *self, size_t part)
{
	struct classifying *classifying = self;
	struct pd_report *report = classifying->report;
	size_t end = pd_part_begin(classifying->count, classifying->parts, part + 1);
	uint32_t count = 0;

	for (size_t i = pd_part_begin(classifying->count, classifying->parts, part); i < end; i++) {
		const struct pd_frame *frame = pd_profile_frame(report->profile, (uint32_t)i);
		const struct pd_function *function = frame->place.function;

		report->scratch.flags[i] = flags_of(report, frame);
		report->scratch.clones[i] = function ? (uint32_t)function->index : NO_FUNCTION;
		if (function && function->index >= count)
			count = (uint32_t)function->index + 1;
	}
	classifying->function_counts[part] = count;
}

/* From functions to the first frame that each has. False if there is no memory. */
static bool find_clones(const struct classifying *classifying)
{
	uint32_t *clones = classifying->report->scratch.clones, *by_function, count = 0;

	for (size_t i = 0; i < classifying->parts; i++)
		count = classifying->function_counts[i] > count ? classifying->function_counts[i] : count;
	by_function = pd_alloc(((size_t)count + 1) * sizeof(*by_function));
	for (size_t i = 0; by_function && i < classifying->count; i++) {
		uint32_t *first = clones[i] == NO_FUNCTION ? NULL : &by_function[clones[i]];

		if (first && !*first)
			*first = (uint32_t)i + 1;
		clones[i] = first ? *first - 1 : (uint32_t)i;
	}
	pd_free(by_function);
	return by_function;
}

bool pd_frames_classify(struct pd_report *report)
{
	struct classifying classifying = { .report = report, .count = pd_profile_frame_count(report->profile) };

	if (report->scratch.flags)
		return true;
	report->scratch.flags = pd_alloc(classifying.count + 1);
	report->scratch.clones = pd_alloc((classifying.count + 1) * sizeof(*report->scratch.clones));
	if (!report->scratch.flags || !report->scratch.clones)
		return false;
	classifying.parts = pd_part_count(report->options.threads, classifying.count, WORTH_A_PART);
	pd_in_parts(classifying.parts, classify_part, &classifying);
	return find_clones(&classifying);
}
