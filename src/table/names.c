/* SPDX-License-Identifier: MIT */
/* Names of threads and events, and the symbols that frames need. */
#include "table/set.h"

#include "base/error.h"
#include "unwind/unwinder.h"

// ---- symbols ----

static enum pd_status begin_unwinding(struct pd_table_set *set, struct pd_error *error)
{
	const struct pd_unwind_options options = { .size = sizeof(options), .max_stack = set->options.max_stack };
	enum pd_status status;

	for (size_t i = 0; !set->options.no_unwind && i < pd_file_event_count(set->file); i++) {
		const struct pd_attr *attr = pd_file_event(set->file, i)->attr;

		if (!pd_unwinder_wants(attr) || !(attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN)))
			continue;
		status = pd_unwinder_new(set->file, set->state, set->symbols, &options, &set->unwinder, error);
		if (status < 0)
			return status;
		return pd_places_mark_truncated(&set->places) ? PD_OK : pd_fail_memory(error);
	}
	return PD_OK;
}

static enum pd_status ask_for_symbols(struct pd_table_set *set, struct pd_error *error)
{
	if (!set->options.symbols) {
		enum pd_status status = pd_symbols_new(set->file, set->state, NULL, &set->own_symbols, error);

		set->symbols = set->own_symbols;
		return status;
	}
	set->symbols = set->options.symbols(set->options.self, set->state);
	return set->symbols ? PD_OK : pd_fail(error, PD_ERROR_STOPPED, PD_NO_OFFSET, "the symbols cannot be opened");
}

enum pd_status pd_table_open_symbols(struct pd_table_set *set, struct pd_error *error)
{
	enum pd_status status;

	if (set->has_places)
		return PD_OK;
	status = ask_for_symbols(set, error);
	if (status < 0)
		return status;
	set->strings.symbols = set->symbols;
	set->strings.state = set->state;
	set->has_places = true;
	if (!pd_places_init(&set->places, &set->strings, set->state, set->symbols, pd_file_secret(set->file)))
		return pd_fail_memory(error);
	if (!pd_places_name_functions(&set->places, false))
		return pd_fail_memory(error);
	return begin_unwinding(set, error);
}

// ---- names ----

uint32_t pd_table_comm(struct pd_table_set *set, uint32_t owner)
{
	const struct pd_owner *who = &set->places.owners.items[owner];
	char unknown[PD_THREAD_NAME_BYTES];
	size_t before = set->comm_capacity;

	if (owner >= before) {
		if (!PD_GROW(set->comm_of, set->comm_capacity, (size_t)owner + 1)) {
			set->strings.failed = true;
			return 0;
		}
		memset(set->comm_of + before, 0, (set->comm_capacity - before) * sizeof(*set->comm_of));
	}
	if (!set->comm_of[owner]) {
		const char *comm = who->comm;

		if (!comm)
			comm = pd_state_comm(set->state, who->tid, (struct pd_moment){ 0, 0 }, unknown);
		set->comm_of[owner] = pd_tables_text(&set->strings, comm) + 1;
	}
	return set->comm_of[owner] - 1;
}

uint32_t pd_table_event_name(const struct pd_table_set *set, const struct pd_event *event)
{
	return set->event_names[event->index];
}

const char *pd_table_unit(const struct pd_event *event)
{
	static const char *const units[] = { "samples", "count", "nanoseconds" };

	return units[pd_event_unit(event)];
}
