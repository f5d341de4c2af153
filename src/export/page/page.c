/* SPDX-License-Identifier: MIT */
/* The data of the page, docs/page.md. */
#include "export/page/page.h"

static void end(struct pd_export *self)
{
	struct pd_page *page = self->sink;
	bool with_addresses = self->result.samples <= PD_PAGE_ADDRESS_SAMPLES;

	page->unit_ns = self->result.samples > PD_PAGE_NS_SAMPLES ? 1000 : 1;
	if (self->failed || !pd_page_rows_init(&page->rows, &self->tables) ||
	    !pd_page_leaves_finish(&page->leaves, &page->rows, &self->tables, with_addresses)) {
		self->failed = true;
		return;
	}
	pd_page_put_samples(self);
	pd_page_put_rows(&page->blocks, &page->rows);
	pd_page_put_leaves(&page->blocks, &page->leaves, &self->tables);
	pd_page_put_markers(self);
	pd_page_put_intervals(self);
	pd_page_put_tasks(self);
	pd_page_end_visits(self);
	if (self->failed || self->wrong < 0)
		return;
	if (with_addresses)
		pd_page_put_code(self);
	pd_page_end_profile(page);
	pd_page_put_tables(self);
	if (!self->failed && self->wrong >= 0)
		pd_page_put_header(self);
}

static void fini(struct pd_export *self)
{
	struct pd_page *page = self->sink;
	struct pd_page_markers *markers = &page->markers;

	pd_page_free_visits(page);
	if (!page->prepared)
		return;
	for (size_t i = 0; i < page->event_count && page->events; i++)
		for (size_t k = 0; k < PD_PAGE_TRACKS; k++)
			pd_spool_track_fini(&page->events[i].tracks[k]);
	pd_free(page->events);
	pd_spool_track_fini(&markers->time);
	pd_spool_track_fini(&markers->kind);
	pd_spool_track_fini(&markers->task);
	pd_spool_track_fini(&markers->cpu);
	pd_spool_track_fini(&markers->value);
	pd_spool_fini(&page->spool);
	pd_page_rows_fini(&page->rows);
	pd_page_leaves_fini(&page->leaves);
	pd_page_blocks_fini(&page->blocks);
	pd_free(page->tasks.items);
	pd_u64_map_fini(&page->tasks.of);
	pd_free(page->cgroups);
	pd_u64_map_fini(&page->cgroup_of);
}

const struct pd_export_sink pd_export_sink_page = {
	.size = sizeof(struct pd_page),
	.value_most = PD_PAGE_NUMBER_MOST,
	.sample = pd_page_take_sample,
	.record = pd_page_take_record,
	.first = pd_page_first,
	.every = pd_page_every,
	.end = end,
	.fini = fini,
};
