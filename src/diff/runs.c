/* SPDX-License-Identifier: MIT */
/* What all files of a comparison use. */
#include "diff/diff.h"

#include "base/error.h"
#include "report/report.h"

enum pd_status pd_diff_no_memory(struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_MEMORY, PD_NO_OFFSET, "out of memory");
}

size_t pd_diff_run_at(const struct pd_diff *diff, size_t side, size_t run)
{
	for (size_t i = 0; i < diff->run_count; i++)
		if (diff->runs[i].side == side && !run--)
			return i;
	return SIZE_MAX;
}

const struct pd_event *pd_diff_event_like(struct pd_file *file, const struct diff_event *event)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++) {
		const struct pd_event *other = pd_file_event(file, i);

		if (other->attr->type == event->type && other->attr->config == event->config)
			return other;
	}
	return NULL;
}

size_t pd_diff_own_runs(const struct pd_diff *diff, size_t side)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->run_count; i++)
		count += diff->runs[i].side == side && !diff->runs[i].copy;
	return count;
}

bool pd_diff_is_copy(const struct pd_diff *diff, size_t run, size_t other)
{
	const struct diff_run *one = &diff->runs[run], *two = &diff->runs[other];

	if (one->first_ns != two->first_ns || one->last_ns != two->last_ns)
		return false;
	for (size_t i = 0; i < diff->event_count; i++)
		for (size_t row = 0; row < diff->events[i].row_count; row++) {
			struct pd_diff_sum a = run_sum(&diff->events[i], run, row);
			struct pd_diff_sum b = run_sum(&diff->events[i], other, row);

			if (a.period != b.period || a.samples != b.samples)
				return false;
		}
	return true;
}

const struct pd_function *pd_diff_function_of(const struct pd_diff *diff, const struct pd_report *report,
					      const struct row *row)
{
	for (size_t i = 0; i < diff->key_count; i++) {
		const struct value *value = &report->values[i].items[row_value(report, row, i)];

		if (diff->keys[i]->has_level && !value->is_addr)
			return pd_symbols_function(report->symbols, (size_t)value->a);
	}
	return NULL;
}

enum pd_status pd_diff_end(struct pd_text *text, struct pd_error *error)
{
	if (pd_text_failed(text))
		return pd_diff_no_memory(error);
	return pd_text_flush_large(text) ? PD_OK :
					   pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "cannot write the output");
}
