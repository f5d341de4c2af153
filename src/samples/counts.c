/* SPDX-License-Identifier: MIT */
/*
 * Counts of perf stat record: a table of every CPU and thread of every event at the end of each round, with what was
 * counted in it. A count stays until another one comes, as with perf.
 */
#include "samples/samples.h"

#include <stdio.h>

enum {
	CELLS_MOST = 1 << 20,
	CPUS_MOST = 1 << 16
};

struct count {
	uint64_t value, enabled_ns, running_ns;
	uint64_t before[3]; /* the same at the end of the last round */
};

struct cpu_list {
	int32_t *items; /* -1: any */
	size_t count;
	bool known;
};

/* Counts of one event, by thread and CPU. */
struct event_counts {
	struct cpu_list cpus; /* its own ones */
	struct count *items;
	size_t count;
};

struct pd_count_table {
	struct cpu_list cpus;
	int32_t *threads;
	size_t thread_count;
	bool scale;
	struct event_counts *events;
	size_t event_count;
	bool headed; /* the line with the names was printed */
	bool too_many;
};

/* ---- CPUs ---- */

static void add_cpu(void *self, int32_t cpu)
{
	struct cpu_list *list = self;
	int32_t *items;

	if (list->count == CPUS_MOST)
		return;
	if (!(list->count & (list->count - 1))) {
		items = pd_realloc(list->items, (list->count ? list->count * 2 : 1) * sizeof(*items));
		if (!items)
			return;
		list->items = items;
	}
	list->items[list->count++] = cpu;
}

static void each_of_mask(const struct pd_cpu_map_data *map, void (*add)(void *self, int32_t cpu), void *self)
{
	for (size_t i = 0; i < map->mask32.count * 32; i++) {
		if (map->mask32.items[i / 32] >> i % 32 & 1)
			add(self, (int32_t)i);
	}
	for (size_t i = 0; i < map->mask64.count * 64; i++) {
		if (map->mask64.items[i / 64] >> i % 64 & 1)
			add(self, (int32_t)i);
	}
}

void pd_samples_each_cpu(const struct pd_cpu_map_data *map, void (*add)(void *self, int32_t cpu), void *self)
{
	if (map->kind == PD_CPU_MAP_MASK) {
		each_of_mask(map, add, self);
		return;
	}
	for (size_t i = 0; i < map->cpus.count; i++)
		add(self, map->cpus.items[i] == UINT16_MAX ? -1 : map->cpus.items[i]);
	if (map->kind != PD_CPU_MAP_RANGE)
		return;
	if (map->any_cpu)
		add(self, -1);
	for (unsigned cpu = map->start_cpu; cpu <= map->end_cpu; cpu++)
		add(self, (int32_t)cpu);
}

static void take_cpus(struct cpu_list *list, const struct pd_cpu_map_data *map)
{
	list->count = 0;
	list->known = true;
	pd_samples_each_cpu(map, add_cpu, list);
}

/* ---- what records say ---- */

static void take_threads(struct pd_count_table *counts, const struct pd_thread_map *map)
{
	int32_t *threads = map->entries.count <= CELLS_MOST ? pd_alloc((map->entries.count + 1) * sizeof(*threads)) :
							      NULL;

	if (!threads)
		return;
	for (size_t i = 0; i < map->entries.count; i++)
		threads[i] = (int32_t)PD_ITEM(pd_thread_map_entry, map->entries, i)->pid;
	pd_free(counts->threads);
	counts->threads = threads;
	counts->thread_count = map->entries.count;
}

static void take_settings(struct pd_count_table *counts, const struct pd_stat_config *config)
{
	for (size_t i = 0; i < config->entries.count; i++) {
		const struct pd_stat_config_entry *entry = PD_ITEM(pd_stat_config_entry, config->entries, i);

		if (entry->tag == PD_STAT_CONFIG_SCALE)
			counts->scale = entry->value != 0;
	}
}

static struct event_counts *counts_of(struct pd_samples *samples, const struct pd_event *event)
{
	struct pd_count_table *counts = samples->counts;
	size_t count = pd_file_event_count(samples->file);

	if (event->index >= counts->event_count) {
		struct event_counts *events = pd_realloc(counts->events, count * sizeof(*events));

		if (!events)
			return NULL;
		memset(events + counts->event_count, 0, (count - counts->event_count) * sizeof(*events));
		counts->events = events;
		counts->event_count = count;
	}
	return &counts->events[event->index];
}

/* What is counted for threads on any CPU is so for events with CPUs of their own, too. */
static const struct cpu_list *cpus_of(const struct pd_count_table *counts, const struct event_counts *event)
{
	bool any = counts->cpus.count == 1 && counts->cpus.items[0] == -1;

	return event->cpus.known && !any ? &event->cpus : &counts->cpus;
}

/* Reserves memory for all CPUs and threads. */
static bool fit(struct pd_count_table *counts, struct event_counts *event)
{
	size_t want = cpus_of(counts, event)->count * counts->thread_count;
	struct count *items;

	if (want <= event->count)
		return true;
	if (want > CELLS_MOST) {
		counts->too_many = true;
		return false;
	}
	items = pd_realloc(event->items, want * sizeof(*items));
	if (!items)
		return false;
	memset(items + event->count, 0, (want - event->count) * sizeof(*items));
	event->items = items;
	event->count = want;
	return true;
}

static void take_count(struct pd_samples *samples, const struct pd_stat *stat)
{
	const struct pd_event *event = pd_file_event_by_id(samples->file, stat->id);
	struct event_counts *own = event ? counts_of(samples, event) : NULL;
	const struct cpu_list *cpus;
	struct count *count;

	if (!own || !fit(samples->counts, own) || stat->thread >= samples->counts->thread_count)
		return;
	cpus = cpus_of(samples->counts, own);
	for (size_t i = 0; i < cpus->count; i++) {
		if (cpus->items[i] != (int32_t)stat->cpu)
			continue;
		count = &own->items[stat->thread * cpus->count + i];
		count->value = stat->value;
		count->enabled_ns = stat->time_enabled_ns;
		count->running_ns = stat->time_running_ns;
		return;
	}
}

/* ---- a round ---- */

/* What was added in this round. */
static void subtract(struct count *count)
{
	uint64_t *now[] = { &count->value, &count->enabled_ns, &count->running_ns };

	for (size_t i = 0; i < 3; i++) {
		uint64_t all = *now[i];

		*now[i] -= count->before[i];
		count->before[i] = all;
	}
}

/* Counts are those of the round, as since perf 6.2 (before, sums of all CPUs were those since the start), and an event that
 * shared its counter is scaled to the time for which it was enabled. */
static void end_round(const struct pd_count_table *counts, struct count *count)
{
	subtract(count);
	if (!counts->scale)
		return;
	if (!count->running_ns)
		count->value = 0;
	else if (count->running_ns < count->enabled_ns)
		count->value = (uint64_t)((double)count->value * (double)count->enabled_ns / (double)count->running_ns);
}

static void print_count(struct pd_samples *samples, const struct pd_event *event, int32_t cpu, int32_t thread,
			const struct count *count, uint64_t time_ns)
{
	struct pd_line_buffer *line = &samples->line;

	pd_line_signed(line, cpu, 3, ' ');
	pd_line_char(line, ' ');
	pd_line_signed(line, thread, 8, ' ');
	pd_line_char(line, ' ');
	pd_line_dec(line, count->value, 15, ' ');
	pd_line_char(line, ' ');
	pd_line_dec(line, count->enabled_ns, 15, ' ');
	pd_line_char(line, ' ');
	pd_line_dec(line, count->running_ns, 15, ' ');
	pd_line_char(line, ' ');
	pd_line_dec(line, time_ns, 15, ' ');
	pd_line_char(line, ' ');
	pd_line_foreign(line, event->name, 0);
	pd_line_char(line, '\n');
	samples->printed++;
}

static void print_event(struct pd_samples *samples, const struct pd_event *event, uint64_t time_ns)
{
	struct pd_count_table *counts = samples->counts;
	struct event_counts *own = counts_of(samples, event);
	const struct cpu_list *cpus;

	if (!own || !fit(counts, own))
		return;
	cpus = cpus_of(counts, own);
	for (size_t thread = 0; thread < counts->thread_count; thread++) {
		for (size_t i = 0; i < cpus->count; i++) {
			struct count *count = &own->items[thread * cpus->count + i];

			end_round(counts, count);
			print_count(samples, event, cpus->items[i], counts->threads[thread], count, time_ns);
		}
	}
}

static void warn(const struct pd_samples *samples, const char *what)
{
	char sentence[512];

	if (!samples->options.warn)
		return;
	snprintf(sentence, sizeof(sentence), "%s: %s", pd_file_name(samples->file), what);
	samples->options.warn(samples->options.self, sentence);
}

static void print_round(struct pd_samples *samples, const struct pd_stat_round *round)
{
	struct pd_line_buffer *line = &samples->line;

	if (!samples->counts->headed) {
		pd_line_word(line, "CPU   THREAD             VAL             ENA");
		pd_line_word(line, "             RUN            TIME EVENT\n");
	}
	samples->counts->headed = true;
	for (size_t i = 0; i < pd_file_event_count(samples->file); i++)
		print_event(samples, pd_file_event(samples->file, i), round->time_ns);
	if (samples->counts->too_many)
		warn(samples, "too many threads and CPUs for a table of counts");
	samples->counts->too_many = false;
}

static void take_update(struct pd_samples *samples, const struct pd_event_update *update)
{
	const struct pd_event *event = update->cpus ? pd_file_event_by_id(samples->file, update->id) : NULL;
	struct event_counts *own = event ? counts_of(samples, event) : NULL;

	if (own)
		take_cpus(&own->cpus, update->cpus);
}

bool pd_samples_counts(struct pd_samples *samples, const struct pd_record *record)
{
	const void *decoded;

	if (record->type < PD_RECORD_THREAD_MAP || record->type > PD_RECORD_EVENT_UPDATE)
		return true;
	if (!samples->counts && !(samples->counts = pd_alloc(sizeof(*samples->counts))))
		return false;
	if (pd_record_decode(record, &decoded, NULL) != PD_OK)
		return true;
	if (record->type == PD_RECORD_THREAD_MAP)
		take_threads(samples->counts, decoded);
	else if (record->type == PD_RECORD_CPU_MAP)
		take_cpus(&samples->counts->cpus, ((const struct pd_cpu_map *)decoded)->cpus);
	else if (record->type == PD_RECORD_STAT_CONFIG)
		take_settings(samples->counts, decoded);
	else if (record->type == PD_RECORD_STAT)
		take_count(samples, decoded);
	else if (record->type == PD_RECORD_STAT_ROUND)
		print_round(samples, decoded);
	else
		take_update(samples, decoded);
	return true;
}

void pd_samples_counts_fini(struct pd_samples *samples)
{
	struct pd_count_table *counts = samples->counts;

	if (!counts)
		return;
	for (size_t i = 0; i < counts->event_count; i++) {
		pd_free(counts->events[i].cpus.items);
		pd_free(counts->events[i].items);
	}
	pd_free(counts->events);
	pd_free(counts->cpus.items);
	pd_free(counts->threads);
	pd_free(counts);
}
