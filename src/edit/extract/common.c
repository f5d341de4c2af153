/* SPDX-License-Identifier: MIT */
// What the ways to extract share: a pass that only reads, the requested time.
#include "edit/extract/extract.h"

enum pd_status pd_extract_scan(struct pd_extract *extract, pd_each_fn *each, void *self, struct pd_error *error)
{
	const struct pd_each pass = { .order = PD_ORDER_FILE,
				      .progress = extract->options.progress,
				      .progress_self = extract->options.self };
	enum pd_status status = pd_each_record(extract->file, &pass, each, self, error);

	if (extract->options.pass_end)
		extract->options.pass_end(extract->options.self);
	return status;
}

void pd_extract_note_time(struct pd_window *window, const struct pd_record *record)
{
	if (record->time_ns == PD_NO_TIME)
		return;
	if (!window->last_ns || record->time_ns < window->first_ns)
		window->first_ns = record->time_ns;
	if (record->time_ns > window->last_ns)
		window->last_ns = record->time_ns;
}

enum pd_status pd_extract_ready(struct pd_extract *extract, const struct pd_window *window, struct pd_error *error)
{
	struct pd_window requested = { .first_ns = window->first_ns, .last_ns = window->last_ns };
	struct pd_error own = { .offset = PD_NO_OFFSET };
	enum pd_status status = pd_select_ready(extract->options.select, extract->file, &requested, &own);

	if (status < 0)
		return pd_fail(error, status, own.offset, "%s: %s", pd_file_name(extract->file), own.message);
	extract->from_ns = requested.from_ns;
	extract->to_ns = requested.to_ns;
	return PD_OK;
}
