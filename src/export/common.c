/* SPDX-License-Identifier: MIT */
/* What formats share: names, units, and counts of what they have no field for. */
#include <inttypes.h>
#include <string.h>

#include <perfdata/summary.h>

#include "base/text/text.h"
#include "export/export.h"

static const struct {
	uint64_t part;
	uint32_t type;
	const char *text;
} supportable[] = {
#define SAMPLE_PART(NAME, bit, text) { PD_MASK(PD_SAMPLE_TYPE_##bit), 0, text },
#define RECORDS(NAME, record_type, text) { 0, PD_RECORD_##record_type, text },
#define OTHER(NAME, text) { 0, 0, text },
#include "export/support.def"
};

void pd_chain_walk_begin(struct pd_chain_walk *walk, const struct pd_tables *tables,
			 const struct pd_export_sample *sample)
{
	*walk = (struct pd_chain_walk){ .tables = tables, .sample = sample, .stack = sample->stack };
}

static bool next_of_chain(struct pd_chain_walk *walk, const struct pd_table_frame **frame_out, uint64_t *addr_out)
{
	const struct pd_chain_entries *chain = walk->sample->chain;
	const struct pd_chain_entry *entry = &chain->items[walk->at];
	bool is_mark = walk->at == chain->count && walk->sample->is_truncated;

	if (walk->at >= chain->count && !is_mark)
		return false;
	// the mark, if there is one, is frame 0
	*frame_out = &walk->tables->frames[is_mark ? 0 : entry->frame];
	*addr_out = is_mark ? 0 : entry->addr;
	walk->at++;
	return !is_mark || (*frame_out)->is_mark;
}

bool pd_chain_walk_next(struct pd_chain_walk *walk, const struct pd_table_frame **frame_out, uint64_t *addr_out)
{
	const struct pd_u64s *chain = &walk->sample->brief->callchain;

	if (walk->sample->chain)
		return next_of_chain(walk, frame_out, addr_out);
	if (!walk->stack)
		return false;
	*frame_out = &walk->tables->frames[walk->tables->stacks[walk->stack].frame];
	walk->stack = walk->tables->stacks[walk->stack].parent;
	*addr_out = 0;
	if ((*frame_out)->is_mark)
		return true;
	while (walk->at < chain->count && chain->items[walk->at] >= PD_CONTEXT_MAX)
		walk->at++;
	// without a chain the sampled address is all there is
	*addr_out = walk->at < chain->count ? chain->items[walk->at++] : walk->sample->brief->ip;
	return true;
}

static uint32_t find_comm(struct pd_export *self, uint32_t thread)
{
	const struct pd_owner *owner = pd_export_thread(self, thread);
	char unknown[PD_THREAD_NAME_BYTES];

	if (owner->comm)
		return pd_tables_text(&self->tables, owner->comm);
	return pd_tables_text(&self->tables,
			      pd_state_comm(self->state, owner->tid, (struct pd_moment){ 0, 0 }, unknown));
}

uint32_t pd_export_comm(struct pd_export *self, uint32_t thread)
{
	size_t before = self->comm_capacity;

	if (thread >= before) {
		if (!PD_GROW(self->comm_of, self->comm_capacity, (size_t)thread + 1)) {
			self->failed = true;
			return 0;
		}
		memset(self->comm_of + before, 0, (self->comm_capacity - before) * sizeof(*self->comm_of));
	}
	if (!self->comm_of[thread])
		self->comm_of[thread] = find_comm(self, thread) + 1;
	return self->comm_of[thread] - 1;
}

void pd_export_put_event(struct pd_text *text, const char *event)
{
	PD_TEXT_LITERAL(text, " (");
	pd_text_add(text, event);
	pd_text_char(text, ')');
}

uint32_t pd_export_track_name(struct pd_export *self, uint32_t thread, uint32_t event)
{
	const struct pd_owner *owner = pd_export_thread(self, thread);
	struct pd_text *name = pd_text_new();
	uint32_t string = 0;

	if (name) {
		pd_text_add(name, pd_tables_text_of(&self->tables, pd_export_comm(self, thread)));
		pd_text_char(name, ' ');
		pd_text_s64(name, (int32_t)owner->pid);
		pd_text_char(name, '/');
		pd_text_s64(name, (int32_t)owner->tid);
		if (event != UINT32_MAX)
			pd_export_put_event(name, pd_file_event(self->file, event)->name);
	}
	self->failed |= !name || name->failed;
	if (!self->failed)
		string = pd_tables_string(&self->tables, name->data, name->size);
	pd_text_free(name);
	return string;
}

const char *pd_export_unit(const struct pd_event *event)
{
	static const char *const units[] = { "samples", "count", "nanoseconds" };

	return units[pd_event_unit(event)];
}

uint64_t pd_export_wall_clock(const struct pd_export *self)
{
	uint64_t time_ns = self->first_ns ? pd_file_wall_clock(self->file, self->first_ns) : PD_NO_TIME;

	return time_ns == PD_NO_TIME ? 0 : time_ns;
}

const char *pd_export_name(const struct pd_export *self)
{
	return self->options.name ? self->options.name : "perf.data";
}

void pd_export_note_parts(struct pd_export *self, const struct pd_event *event, uint64_t samples)
{
	uint64_t parts = event->attr->sample_type;

	for (size_t i = 0; i < PD_SUPPORT_COUNT; i++)
		if ((parts & supportable[i].part) && !(self->supports >> i & 1))
			self->dropped[i] += samples;
}

void pd_export_note_records(struct pd_export *self, uint32_t type, uint64_t records)
{
	for (size_t i = 0; i < PD_SUPPORT_COUNT; i++)
		if (supportable[i].type && supportable[i].type == type && !(self->supports >> i & 1))
			self->dropped[i] += records;
}

void pd_export_stop(struct pd_export *self, enum pd_status status, const struct pd_error *error)
{
	if (self->wrong < 0)
		return;
	self->wrong = status;
	self->wrong_why = *error;
}

void pd_export_flush(struct pd_export *self)
{
	pd_text_flush_large(self->text);
}

const struct pd_unwinder *pd_export_unwinder(const struct pd_export *export_)
{
	return export_->profile ? pd_profile_unwinder(export_->profile) : export_->unwinder;
}

bool pd_export_dropped(const struct pd_export *export_, size_t index, struct pd_export_dropped *dropped_out)
{
	for (size_t i = 0; i < PD_SUPPORT_COUNT; i++) {
		if (!export_->dropped[i] || index--)
			continue;
		*dropped_out = (struct pd_export_dropped){ supportable[i].text, export_->dropped[i] };
		return true;
	}
	return false;
}

bool pd_print_export_dropped(const struct pd_export *export_, struct pd_text *text)
{
	struct pd_export_dropped dropped;
	size_t count = 0;

	for (; pd_export_dropped(export_, count, &dropped); count++)
		pd_text_printf(text, "%s%" PRIu64 " %s", count ? ", " : "", dropped.count, dropped.name);
	return count != 0;
}

void pd_export_sum(struct pd_export *self, struct pd_sums *sums, const struct pd_export_sample *sample)
{
	const struct pd_sum sum = { .event = (uint32_t)sample->event->index,
				    .stack = sample->stack,
				    .thread = sample->thread,
				    .cpu = sample->brief->cpu,
				    .samples = 1,
				    .value = sample->value };

	self->failed |= !pd_sums_add(sums, self->tables.seed, &sum);
}
