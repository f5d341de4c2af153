/* SPDX-License-Identifier: MIT */
/* What keys of tracepoints share: raw data of samples, and the formats of a file. */
#include "report/keys/find.h"
#include "report/report.h"

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

struct pd_bytes pd_key_raw(const struct pd_report *report, const struct pd_profile_entry *entry)
{
	struct pd_bytes raw = entry->raw;
	uint32_t by = report_by(report);
	size_t before = by & PD_BY_DATA   ? sizeof(struct pd_access) + sizeof(struct pd_data_place) :
			by & PD_BY_ACCESS ? sizeof(struct pd_access) :
					    0;

	if (raw.size >= before) {
		raw.data += before;
		raw.size -= before;
	}
	return raw;
}

struct pd_trace *pd_report_trace(struct pd_report *report, struct pd_file *file)
{
	struct pd_trace_options options = { .size = sizeof(options), .function = function_at, .self = report };

	if (!report->trace && pd_trace_new(file, &options, &report->trace, NULL) != PD_OK)
		return NULL;
	return report->trace;
}
