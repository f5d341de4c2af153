/* SPDX-License-Identifier: MIT */
/*
 * What samples are in: their addresses and those of their call chains, as objects for a list, as maps for maps with ids.
 * An address that was met before in the same maps says nothing new, and nearly all were.
 */
#include "edit/inject/ids.h"

#include <string.h>

#include "base/lookup/search.h"
#include "format/chain.h"
#include "state/locate.h"

enum {
	RECENT = 1 << 16,
	VIEWS = 1 << 10
};

// ---- what samples are in ----

static bool is_before(struct pd_moment a, struct pd_moment b)
{
	return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.order < b.order;
}

// They come in the order of the file.
size_t pd_inject_ids_mapping_at(const struct pd_inject_ids *ids, uint64_t place)
{
	struct pd_mapping mapping;
	size_t at;

	PD_SEARCH(at, 0, ids->mapping_count, i,
		  pd_state_get_mapping(ids->state, i, &mapping) && mapping.from.order < place);
	return pd_state_get_mapping(ids->state, at, &mapping) && mapping.from.order == place ? at : SIZE_MAX;
}

static bool hit(struct pd_inject_ids *ids, const struct pd_location *location)
{
	uint8_t *object = &ids->hit_objects[location->object->index];
	size_t mapping;

	if (ids->in_maps) {
		mapping = pd_inject_ids_mapping_at(ids, location->mapping->from.order);
		if (mapping != SIZE_MAX)
			ids->hit_mappings[mapping] = 1;
	} else if (!*object) {
		*object = 1;
		// With an id perf looks for it in its cache only; of a pipe nobody has put it there.
		if (location->object->kind == PD_OBJECT_VDSO && pd_writer_mode(ids->inject->writer) == PD_MODE_PIPE)
			return true;
		return pd_inject_ids_list_object(ids, location->object);
	}
	return true;
}

// False after a failure.
static bool mark(struct pd_inject_ids *ids, const struct pd_brief *brief, const struct pd_view *view, unsigned cpumode,
		 struct pd_moment when, uint64_t addr)
{
	uint64_t maps = view->maps ^ (uint64_t)cpumode << 61;
	uint64_t hash = (maps * UINT64_C(0x9e3779b97f4a7c15)) ^ (addr * UINT64_C(0xff51afd7ed558ccd));
	struct pd_inject_recent *recent = &ids->recent[hash >> 48 & (RECENT - 1)];
	struct pd_location location;

	if (recent->maps == maps && recent->addr == addr)
		return true;
	*recent = (struct pd_inject_recent){ maps, addr };
	return !pd_state_locate(ids->state, brief->pid, cpumode, when, addr, &location) || hit(ids, &location);
}

static const struct pd_view *view_of(struct pd_inject_ids *ids, uint32_t pid, uint32_t tid, struct pd_moment when)
{
	struct pd_inject_view *view = &ids->views[tid & (VIEWS - 1)];

	if (view->used && view->pid == pid && view->tid == tid && !is_before(when, view->view.from) &&
	    is_before(when, view->view.until))
		return &view->view;
	*view = (struct pd_inject_view){ .pid = pid, .tid = tid, .used = true };
	pd_state_view(ids->state, pid, tid, when, &view->view);
	return &view->view;
}

static bool mark_chain(struct pd_inject_ids *ids, const struct pd_brief *brief, const struct pd_view *view,
		       struct pd_moment when)
{
	struct pd_u64s chain = brief->callchain;
	unsigned cpumode = brief->cpumode;

	for (size_t i = 0; i < chain.count; i++) {
		if (chain.items[i] < PD_CONTEXT_MAX) {
			if (!mark(ids, brief, view, cpumode, when, chain.items[i]))
				return false;
		} else if (!pd_chain_mode(chain.items[i], &cpumode)) {
			break;
		}
	}
	return true;
}

// What else of a sample is named by maps.
static bool mark_targets(struct pd_inject_ids *ids, const struct pd_record *record, const struct pd_brief *brief,
			 const struct pd_view *view, struct pd_moment when)
{
	uint64_t type = record->event ? record->event->attr->sample_type : 0;
	const struct pd_sample *sample;

	if (brief->addr && !mark(ids, brief, view, PD_CPUMODE_UNKNOWN, when, brief->addr))
		return false;
	if (!PD_BITS(type, PD_SAMPLE_TYPE_BRANCH_STACK) || !(sample = pd_as_sample(record)) || !sample->branch_stack)
		return true;
	for (size_t i = 0; i < sample->branch_stack->entries.count; i++) {
		const struct pd_branch *branch = PD_ITEM(pd_branch, sample->branch_stack->entries, i);

		if (!mark(ids, brief, view, PD_CPUMODE_UNKNOWN, when, branch->from) ||
		    !mark(ids, brief, view, PD_CPUMODE_UNKNOWN, when, branch->to))
			return false;
	}
	return true;
}

bool pd_inject_ids_mark_sample(struct pd_inject_ids *ids, const struct pd_record *record)
{
	const struct pd_view *view;
	struct pd_moment when;
	struct pd_brief brief;

	// What is damaged is reported by whoever needs it.
	if (!pd_record_brief(record, &brief))
		return true;
	when = pd_record_moment(record);
	view = view_of(ids, brief.pid, brief.tid, when);
	return mark(ids, &brief, view, brief.cpumode, when, brief.ip) && mark_chain(ids, &brief, view, when) &&
	       (!ids->in_maps || mark_targets(ids, record, &brief, view, when));
}

static bool take_state(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct pd_inject_ids *ids = self;

	if (record->type == PD_RECORD_SAMPLE) {
		pd_stream_pass(stream);
		return true;
	}
	// Which maps are needed is not known.
	if (record->type == PD_RECORD_AUXTRACE_INFO || record->type == PD_RECORD_AUXTRACE)
		ids->all_hit = true;
	return pd_inject_keep(ids->inject, pd_state_take(ids->state, record, &ids->inject->error));
}

static bool mark_if_sample(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	(void)stream;
	return record->type != PD_RECORD_SAMPLE || pd_inject_ids_mark_sample(self, record);
}

static bool has_stacks(struct pd_file *file)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++) {
		if (PD_BITS(pd_file_event(file, i)->attr->sample_type, PD_SAMPLE_TYPE_STACK_USER))
			return true;
	}
	return false;
}

static bool finish_state(struct pd_inject_ids *ids)
{
	size_t objects = 0;

	if (!pd_inject_keep(ids->inject, pd_state_finalize(ids->state, &ids->inject->error)))
		return false;
	while (pd_state_map_kind_of(ids->state, (uint32_t)ids->mapping_count))
		ids->mapping_count++;
	while (pd_state_object(ids->state, objects))
		objects++;
	ids->hit_objects = pd_alloc((objects + 1) * 1);
	ids->hit_mappings = pd_alloc((ids->mapping_count + 1) * 1);
	ids->recent = pd_alloc(RECENT * sizeof(*ids->recent));
	ids->views = pd_alloc((VIEWS) * sizeof(*ids->views));
	if (!ids->hit_objects || !ids->hit_mappings || !ids->recent || !ids->views)
		return pd_inject_no_memory(ids->inject);
	memset(ids->recent, 0xff, RECENT * sizeof(*ids->recent));
	return true;
}

static enum pd_status pass_before(struct pd_inject_ids *ids,
				  bool (*each)(void *self, struct pd_stream *stream, const struct pd_record *record),
				  struct pd_error *error)
{
	struct pd_inject *inject = ids->inject;
	enum pd_status status = pd_inject_each_record(inject, PD_ORDER_FILE, each, ids, error);

	if (status >= 0 && inject->options.pass_end)
		inject->options.pass_end(inject->options.self);
	return status;
}

static enum pd_status failure(const struct pd_inject *inject, struct pd_error *error)
{
	if (inject->status < 0 && error)
		*error = inject->error;
	return inject->status;
}

enum pd_status pd_inject_ids_read_before(struct pd_inject_ids *ids, struct pd_error *error)
{
	struct pd_inject *inject = ids->inject;
	enum pd_status status = pass_before(ids, take_state, error);

	if (status < 0)
		return status;
	if (inject->status >= 0)
		finish_state(ids);
	ids->all_hit |= ids->in_maps && has_stacks(inject->file);
	if (inject->status >= 0 && ids->in_maps && !ids->all_hit)
		status = pass_before(ids, mark_if_sample, error);
	return status < 0 ? status : failure(inject, error);
}
