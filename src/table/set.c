/* SPDX-License-Identifier: MIT */
/* A set of tables: what is read once for all of them, and what their rows have in common. */
#include "table/scan.h"

#include "base/error.h"
#include "unwind/unwinder.h"

// ---- opening ----

static enum pd_status take_first(void *self, struct pd_stream *stream, const struct pd_record *record,
				 struct pd_error *error)
{
	struct pd_table_set *set = self;
	enum pd_status status = pd_trace_take(set->trace, record, error);

	(void)stream;
	return status < 0 ? status : pd_state_take(set->state, record, error);
}

static enum pd_status name_events(struct pd_table_set *set, struct pd_error *error)
{
	size_t count = pd_file_event_count(set->file);

	set->event_names = pd_alloc((count + 1) * sizeof(*set->event_names));
	for (size_t i = 0; set->event_names && i < count; i++)
		set->event_names[i] = pd_tables_text(&set->strings, pd_file_event(set->file, i)->name);
	return set->event_names && !set->strings.failed ? PD_OK : pd_fail_memory(error);
}

static enum pd_status read_first(struct pd_table_set *set, struct pd_error *error)
{
	enum pd_status status = pd_state_new(NULL, &set->state, error);

	if (status >= 0)
		status = pd_trace_new(set->file, NULL, &set->trace, error);
	if (status >= 0)
		status = pd_known_file_new(set->file, take_first, set, &set->known, error);
	if (status >= 0)
		status = pd_state_take_features(set->state, set->file, error);
	if (status >= 0)
		status = pd_state_finalize(set->state, error);
	if (status < 0)
		return status;
	pd_known_file_times(set->known, &set->window.first_ns, &set->window.last_ns);
	return set->options.ready ? set->options.ready(set->options.self, &set->window, error) : PD_OK;
}

enum pd_status pd_table_set_new(struct pd_file *file, const struct pd_table_options *options,
				struct pd_table_set **set_out, struct pd_error *error)
{
	struct pd_table_set *set;
	enum pd_status status;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	set = pd_alloc(sizeof(*set));
	if (!set)
		return pd_fail_memory(error);
	if (options)
		memcpy(&set->options, options,
		       options->size < sizeof(set->options) ? options->size : sizeof(set->options));
	set->file = file;
	set->complete = pd_table_complete_stacks;
	set->ids.frame_of.seed = set->ids.stack_of.seed = pd_file_secret(file);
	pd_tables_init(&set->strings, pd_file_secret(file));
	set->strings.no_lines = true;
	status = read_first(set, error);
	if (status >= 0)
		status = pd_table_describe(set, error);
	if (status >= 0)
		status = name_events(set, error);
	if (status < 0)
		pd_table_set_free(set);
	else
		*set_out = set;
	return status;
}

void pd_table_choose_place(struct pd_table_set *set,
			   bool (*choose_place)(const void *self, const struct pd_place *place))
{
	set->choose_place = choose_place;
}

void pd_table_set_free(struct pd_table_set *set)
{
	if (!set)
		return;
	if (set->has_places)
		pd_places_fini(&set->places);
	pd_tables_fini(&set->strings);
	pd_unwinder_free(set->unwinder);
	pd_symbols_free(set->own_symbols);
	pd_trace_free(set->trace);
	pd_known_file_free(set->known);
	pd_state_free(set->state);
	pd_u64_map_fini(&set->ids.frame_of);
	pd_u64_map_fini(&set->ids.stack_of);
	pd_free(set->ids.frames);
	pd_free(set->ids.stacks);
	pd_free(set->comm_of);
	pd_free(set->frame_names);
	pd_free(set->event_names);
	pd_free(set->tables);
	pd_text_free(set->text);
	pd_arena_fini(&set->arena);
	pd_free(set);
}

const struct pd_table *pd_table_at(const struct pd_table_set *set, size_t index)
{
	return index < set->count ? &set->tables[index].table : NULL;
}

const struct pd_table *pd_table_by_name(const struct pd_table_set *set, const char *name)
{
	for (size_t i = 0; i < set->count; i++)
		if (strcmp(set->tables[i].table.name, name) == 0)
			return &set->tables[i].table;
	return NULL;
}
