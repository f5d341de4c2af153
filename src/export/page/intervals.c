/* SPDX-License-Identifier: MIT */
/* When threads ran and why they did not, from context switches: of all of the file, as the choice of samples must not touch it. */
#include <perfdata/interval.h>

#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "export/page/page.h"

static enum pd_status take_interval(void *self, const struct pd_interval *interval, struct pd_error *error)
{
	const struct pd_export *export_ = self;
	struct pd_page_intervals *all = &((struct pd_page *)export_->sink)->intervals;

	if (interval->end_ns < export_->from_ns || (export_->to_ns && interval->begin_ns > export_->to_ns))
		return PD_OK;
	if (all->count == PD_PAGE_INTERVALS_MOST) {
		all->cut++;
		return PD_OK;
	}
	if (!PD_GROW(all->items, all->capacity, all->count + 1))
		return pd_fail_memory(error);
	all->items[all->count++] = (struct pd_page_interval){
		.begin_ns = interval->begin_ns,
		.length_ns = interval->end_ns - interval->begin_ns,
		.pid = interval->pid,
		.task = interval->tid,
		.cpu = pd_page_cpu(interval->cpu),
		.kind = (uint32_t)interval->kind->index,
	};
	return PD_OK;
}

static bool has_switches(struct pd_file *file)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++) {
		const struct pd_event *event = pd_file_event(file, i);

		if (PD_BITS(event->attr->flags, PD_ATTR_CONTEXT_SWITCH) || strstr(event->name, "sched_switch"))
			return true;
	}
	return false;
}

static enum pd_status begin(struct pd_export *self, struct pd_error *error)
{
	const struct pd_intervals_options options = { .size = sizeof(options),
						      .interval = take_interval,
						      .self = self };
	struct pd_page_intervals *all = &((struct pd_page *)self->sink)->intervals;

	all->begun = true;
	return has_switches(self->file) ? pd_intervals_new(self->file, &options, &all->from, error) : PD_OK;
}

enum pd_status pd_page_take_interval(struct pd_export *self, const struct pd_record *record, struct pd_error *error)
{
	struct pd_page_intervals *all = &((struct pd_page *)self->sink)->intervals;
	enum pd_status status = all->begun ? PD_OK : begin(self, error);

	if (status >= 0 && all->from)
		status = pd_intervals_take(all->from, record, error);
	if (status >= 0 || status == PD_ERROR_MEMORY)
		return status;
	// without what they need there is no time line of states, but everything else
	pd_intervals_free(all->from);
	all->from = NULL;
	return PD_OK;
}

// ---- columns ----

// After those of samples and markers.
static void number_tasks(struct pd_export *self, struct pd_page_intervals *all)
{
	for (size_t i = 0; i < all->count; i++) {
		struct pd_page_interval *interval = &all->items[i];

		interval->task = interval->task ? pd_page_task(self, interval->pid, interval->task) + 1 : 0;
	}
}

typedef uint64_t interval_cell_fn(const struct pd_page *page, const struct pd_page_interval *interval);

static uint64_t task_of(const struct pd_page *page, const struct pd_page_interval *interval)
{
	(void)page;
	return interval->task;
}

static uint64_t cpu_of(const struct pd_page *page, const struct pd_page_interval *interval)
{
	(void)page;
	return interval->cpu;
}

static uint64_t kind_of(const struct pd_page *page, const struct pd_page_interval *interval)
{
	(void)page;
	return interval->kind;
}

static uint64_t length_of(const struct pd_page *page, const struct pd_page_interval *interval)
{
	return pd_page_time(page, interval->begin_ns + interval->length_ns) - pd_page_time(page, interval->begin_ns);
}

// Since the end of the one before: almost always 0, as a thread is always in some state.
static void put_gaps(struct pd_page *page, const struct pd_page_intervals *all, const struct pd_sorted *order)
{
	struct pd_page_column column;

	pd_page_begin(&column, &page->blocks, "intervals.gap", PD_PAGE_NUMBERS);
	for (size_t i = 0; i < all->count; i++) {
		const struct pd_page_interval *before = &all->items[order[i ? i - 1 : 0].number];
		bool follows = i && order[i - 1].first == order[i].first;
		uint64_t end = follows ? pd_page_time(page, before->begin_ns + before->length_ns) : 0;
		uint64_t begin = pd_page_time(page, all->items[order[i].number].begin_ns);

		pd_page_put(&column, begin > end ? begin - end : 0);
	}
	pd_page_end(&column);
}

static void put_columns(struct pd_page *page, const struct pd_page_intervals *all, const struct pd_sorted *order)
{
	static const struct {
		const char *name;
		enum pd_page_code code;
		interval_cell_fn *cell;
	} columns[] = {
		{ "intervals.task", PD_PAGE_STEPS, task_of },
		{ "intervals.cpu", PD_PAGE_NUMBERS, cpu_of },
		{ "intervals.kind", PD_PAGE_BYTES, kind_of },
		{ "intervals.length", PD_PAGE_NUMBERS, length_of },
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		struct pd_page_column column;

		pd_page_begin(&column, &page->blocks, columns[i].name, columns[i].code);
		for (size_t k = 0; k < all->count; k++)
			pd_page_put(&column, columns[i].cell(page, &all->items[order[k].number]));
		pd_page_end(&column);
	}
	put_gaps(page, all, order);
}

// Those that are equal remain in the order of their numbers.
static int compare_equal(const void *self, uint32_t a, uint32_t b)
{
	(void)self;
	return (a > b) - (a < b);
}

static void sort_and_put(struct pd_export *self, const struct pd_page_intervals *all)
{
	struct pd_page *page = self->sink;
	struct pd_sorted *order = pd_realloc(NULL, (all->count + 1) * sizeof(*order));

	for (size_t i = 0; i < all->count && order; i++)
		order[i] = (struct pd_sorted){ (uint64_t)all->items[i].task << 32 |
						       (all->items[i].task ? 0 : all->items[i].cpu),
					       all->items[i].begin_ns, (uint32_t)i };
	if (order && pd_sort(order, all->count, compare_equal, NULL, 1))
		put_columns(page, all, order);
	else
		self->failed = true;
	pd_free(order);
}

void pd_page_put_intervals(struct pd_export *self)
{
	struct pd_page_intervals *all = &((struct pd_page *)self->sink)->intervals;
	struct pd_interval_counts counts = { 0 };
	struct pd_error error;
	enum pd_status status = all->from ? pd_intervals_finish(all->from, &error) : PD_END;

	if (all->from)
		pd_intervals_counts(all->from, &counts);
	self->failed |= status == PD_ERROR_MEMORY;
	if (status == PD_OK && counts.switches) {
		number_tasks(self, all);
		sort_and_put(self, all);
	}
}
