/* SPDX-License-Identifier: MIT */
/* Samples by event, in time order: kept in a spool, written as columns. */
#include <stdio.h>

#include "base/text/text.h"
#include "export/page/page.h"

#define HAS(attr, NAME) ((attr)->sample_type & PD_MASK(PD_SAMPLE_TYPE_##NAME))

// ---- taking ----

// The number of a cgroup and 1; 0 if the sample has none, or there is no memory.
static uint64_t cgroup_number(struct pd_export *self, const struct pd_export_sample *sample)
{
	struct pd_page *page = self->sink;
	const struct pd_sample *full = pd_as_sample(sample->record);
	uint64_t known = full ? pd_u64_map_find(&page->cgroup_of, full->cgroup) : 0;

	if (!full || known)
		return known;
	if (!PD_GROW(page->cgroups, page->cgroup_capacity, page->cgroup_count + 1) ||
	    !pd_u64_map_add(&page->cgroup_of, full->cgroup, page->cgroup_count + 1)) {
		self->failed = true;
		return 0;
	}
	page->cgroups[page->cgroup_count++] = full->cgroup;
	return page->cgroup_count;
}

// Steps, as times are large and near each other.
static uint64_t time_step(struct pd_page *page, struct pd_page_event *event, uint64_t time_ns)
{
	uint64_t before = event->count ? event->last_ns : 0;

	if (time_ns == PD_NO_TIME || time_ns < before)
		time_ns = before;
	else if (time_ns < page->base_ns)
		page->base_ns = time_ns;
	event->last_ns = time_ns;
	return time_ns - before;
}

static void count_truth(struct pd_export *self, const struct pd_export_sample *sample)
{
	struct pd_page *page = self->sink;
	const struct pd_table_frame *frame = &self->tables.frames[sample->ip];

	page->truth.truncated += sample->is_truncated;
	page->truth.unknown += !self->tables.functions[self->tables.lines[frame->first_line].function].known;
}

void pd_page_take_sample(struct pd_export *self, const struct pd_export_sample *sample)
{
	struct pd_page *page = self->sink;
	struct pd_page_event *event;
	uint32_t leaf;
	uint64_t values[PD_PAGE_TRACKS];

	if (!pd_page_prepare(self))
		return;
	leaf = pd_page_leaf(&page->leaves, sample->stack, sample->ip);
	self->failed |= leaf == UINT32_MAX;
	event = &page->events[sample->event->index];
	values[PD_PAGE_TIME] = time_step(page, event, sample->time_ns);
	values[PD_PAGE_THREAD] = sample->thread;
	values[PD_PAGE_CPU] = pd_page_cpu(sample->brief->cpu);
	values[PD_PAGE_WEIGHT] = sample->value;
	values[PD_PAGE_LEAF] = leaf;
	values[PD_PAGE_CGROUP] = HAS(sample->event->attr, CGROUP) ? cgroup_number(self, sample) : 0;
	values[PD_PAGE_RECORD] = sample->record->place;
	for (size_t i = 0; i < PD_PAGE_TRACKS; i++)
		if ((i != PD_PAGE_CGROUP || HAS(sample->event->attr, CGROUP)) &&
		    (i != PD_PAGE_RECORD || self->options.record_numbers))
			pd_spool_put(&page->spool, &event->tracks[i], values[i]);
	event->count++;
	count_truth(self, sample);
	if (page->spool.status < 0)
		pd_export_stop(self, page->spool.status, &page->spool.error);
}

// ---- writing ----

static void put_track(struct pd_export *self, size_t number, enum pd_page_track track)
{
	static const struct {
		const char *name;
		enum pd_page_code code;
	} tracks[] = {
		[PD_PAGE_TIME] = { "time", PD_PAGE_RISING },    [PD_PAGE_THREAD] = { "thread", PD_PAGE_STEPS },
		[PD_PAGE_CPU] = { "cpu", PD_PAGE_STEPS },       [PD_PAGE_WEIGHT] = { "weight", PD_PAGE_NUMBERS },
		[PD_PAGE_LEAF] = { "leaf", PD_PAGE_NUMBERS },   [PD_PAGE_CGROUP] = { "cgroup", PD_PAGE_NUMBERS },
		[PD_PAGE_RECORD] = { "record", PD_PAGE_STEPS },
	};
	struct pd_page *page = self->sink;
	struct pd_page_column column;
	struct pd_spool_reader reader;
	uint64_t value, time_ns = 0;
	char name[48];

	snprintf(name, sizeof(name), "samples.%zu.%s", number, tracks[track].name);
	pd_page_begin(&column, &page->blocks, name, tracks[track].code);
	pd_spool_begin(&reader, &page->spool, &page->events[number].tracks[track]);
	while (pd_spool_get(&reader, &value)) {
		time_ns += value;
		pd_page_put(&column, track == PD_PAGE_TIME ? pd_page_time(page, time_ns) :
				     track == PD_PAGE_LEAF ? page->leaves.final[value] :
							     value);
	}
	pd_page_end(&column);
}

void pd_page_put_samples(struct pd_export *self)
{
	struct pd_page *page = self->sink;

	for (size_t i = 0; i < page->event_count; i++)
		for (size_t k = 0; k < PD_PAGE_TRACKS && page->events[i].count; k++)
			if (page->events[i].tracks[k].count)
				put_track(self, i, (enum pd_page_track)k);
	if (page->spool.status < 0)
		pd_export_stop(self, page->spool.status, &page->spool.error);
}
