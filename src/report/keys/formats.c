/* SPDX-License-Identifier: MIT */
/* What keys of tracepoints share: raw data of samples, and the formats of a file. */
#include "report/keys/find.h"
#include "report/report.h"

#include <string.h>

/* %ps in the format of a tracepoint names a function of the kernel. */
static const char *function_at(void *self, uint64_t addr, uint64_t *start_out)
{
	struct pd_report *report = self;
	struct pd_moment end = { PD_NEVER - 1, UINT64_MAX };
	struct pd_place place = pd_symbols_place(report->symbols, 0, PD_CPUMODE_KERNEL, end, addr);

	if (!place.function)
		return NULL;
	*start_out = addr - (place.addr - place.function->start);
	return place.function->name;
}

static struct pd_bytes after(struct pd_bytes raw, size_t size)
{
	return !size || raw.size < size ? raw : (struct pd_bytes){ raw.data + size, raw.size - size };
}

static struct pd_bytes after_access(const struct pd_report *report, const struct pd_profile_entry *entry)
{
	uint32_t by = report_by(report);

	return after(entry->raw, by & PD_BY_DATA   ? sizeof(struct pd_access) + sizeof(struct pd_data_place) :
				 by & PD_BY_ACCESS ? sizeof(struct pd_access) :
						     0);
}

const struct pd_passed_branch *pd_key_branches(const struct pd_report *report, const struct pd_profile_entry *entry,
					       size_t *count_out)
{
	const struct pd_bytes raw = after_access(report, entry);
	uint64_t count = 0;

	if (report->options.branch_history && raw.size >= sizeof(count))
		memcpy(&count, raw.data, sizeof(count));
	*count_out = (size_t)count;
	/* 8-aligned, as what is in front of it */
	return count ? (const struct pd_passed_branch *)(const void *)(raw.data + sizeof(count)) : NULL;
}

struct pd_bytes pd_key_raw(const struct pd_report *report, const struct pd_profile_entry *entry)
{
	size_t count;

	pd_key_branches(report, entry, &count);
	return after(after_access(report, entry),
		     report->options.branch_history ? sizeof(uint64_t) + count * sizeof(struct pd_passed_branch) : 0);
}

struct pd_trace *pd_report_trace(struct pd_report *report, struct pd_file *file)
{
	struct pd_trace_options options = { .size = sizeof(options), .function = function_at, .self = report };

	if (!report->trace && pd_trace_new(file, &options, &report->trace, NULL) != PD_OK)
		return NULL;
	return report->trace;
}
