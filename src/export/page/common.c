/* SPDX-License-Identifier: MIT */
/* What all parts of the page share: the beginning, and times since then. */
#include "export/page/page.h"

bool pd_page_prepare(struct pd_export *self)
{
	struct pd_page *page = self->sink;

	if (page->prepared)
		return !self->failed;
	page->prepared = true;
	page->base_ns = UINT64_MAX;
	pd_spool_init(&page->spool, self->options.temp_dir);
	page->leaves.of.seed = page->tasks.of.seed = page->cgroup_of.seed = self->tables.seed;
	page->event_count = self->event_count;
	page->events = pd_alloc((page->event_count + 1) * sizeof(*page->events));
	self->failed |= !page->events || !pd_page_blocks_init(&page->blocks);
	return !self->failed;
}

uint64_t pd_page_time(const struct pd_page *page, uint64_t time_ns)
{
	uint64_t time = time_ns > page->base_ns ? (time_ns - page->base_ns) / page->unit_ns : 0;

	return time < PD_PAGE_NUMBER_MOST ? time : PD_PAGE_NUMBER_MOST;
}
