/* SPDX-License-Identifier: MIT */
// Counts of a counter that runs: events and threads out of a recorder, interval after interval, run after run.
#include "count/count.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct pd_stat_counts {
	struct pd_stat_options options;
	struct pd_stat_table table;
	struct pd_stat_printer printer;
	struct pd_arena names; // of events; they go with their recorder
};

// ---- begin and end ----

enum pd_status pd_stat_new(const struct pd_stat_options *options, struct pd_text *text,
			   struct pd_stat_counts **stat_out, struct pd_error *error)
{
	struct pd_stat_counts *stat;
	enum pd_status status;

	stat = pd_alloc(sizeof(*stat));
	if (!stat)
		return pd_fail_memory(error);
	status = pd_stat_options_take(options, &stat->options, error);
	if (status < 0) {
		pd_free(stat);
		return status;
	}
	stat->printer = (struct pd_stat_printer){ .options = &stat->options,
						  .text = text,
						  .separator = stat->options.separator,
						  .json = stat->options.json };
	stat->table.by = stat->options.by;
	stat->table.cache_level = stat->options.cache_level;
	stat->table.scale = !stat->options.no_scale;
	stat->table.all_threads = stat->options.all_threads;
	stat->table.runs = stat->options.runs ? stat->options.runs : 1;
	if (!pd_stat_places_of_machine(&stat->table.places, "/sys")) {
		pd_stat_free(stat);
		return pd_fail_memory(error);
	}
	*stat_out = stat;
	return PD_OK;
}

void pd_stat_free(struct pd_stat_counts *stat)
{
	if (!stat)
		return;
	pd_stat_printer_fini(&stat->printer);
	pd_stat_table_fini(&stat->table);
	pd_arena_fini(&stat->names);
	pd_free(stat);
}

bool pd_stat_failed(const struct pd_stat_counts *stat)
{
	return stat->table.failed;
}

// ---- a run ----

static void read_name(struct pd_stat_thread *thread)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/comm", thread->tid);
	file = fopen(path, "re");
	if (file && fgets(thread->name, sizeof(thread->name), file))
		thread->name[strcspn(thread->name, "\n")] = 0;
	if (file)
		fclose(file);
}

static bool take_threads(struct pd_stat_table *table, const struct pd_counter_places *places)
{
	pd_free(table->threads);
	table->threads = pd_alloc((places->thread_count + 1) * sizeof(*table->threads));
	table->thread_count = places->thread_count;
	for (size_t i = 0; table->threads && i < places->thread_count; i++) {
		table->threads[i].tid = places->threads[i];
		if (table->by == PD_STAT_BY_THREAD)
			read_name(&table->threads[i]);
	}
	return table->threads;
}

static const char *cgroup_of(const struct pd_stat_options *options, size_t index)
{
	const char *name;

	if (!options->cgroup_count)
		return NULL;
	name = options->cgroups[index < options->cgroup_count ? index : options->cgroup_count - 1];
	return *name ? name : NULL;
}

// Means of earlier runs go on.
static bool take_event(struct pd_stat_counts *stat, const struct pd_recorder *recorder, size_t index,
		       const struct pd_counter_places *places)
{
	struct pd_stat_event *event = &stat->table.events[index];
	struct pd_stat_mean sums[3];
	struct pd_counted counted;

	memcpy(sums, event->sums, sizeof(sums));
	pd_free(event->cells);
	pd_counter_event(recorder, index, &counted);
	*event = (struct pd_stat_event){ .name = pd_arena_text(&stat->names, counted.name, strlen(counted.name)),
					 .unit = counted.wanted->unit,
					 .attr = *counted.attr,
					 .cgroup = cgroup_of(&stat->options, index),
					 .scale = counted.wanted->scale,
					 .supported = counted.supported,
					 .snapshot = counted.wanted->snapshot,
					 .percore = counted.wanted->terms.percore == PD_YES,
					 .cpus = places->cpus,
					 .cpu_count = places->cpu_count };
	memcpy(event->sums, sums, sizeof(sums));
	return event->name && pd_stat_event_fit(&stat->table, event);
}

enum pd_status pd_stat_begin_run(struct pd_stat_counts *stat, const struct pd_recorder *recorder,
				 struct pd_error *error)
{
	struct pd_stat_table *table = &stat->table;
	struct pd_counter_places places;
	struct pd_counted counted;
	size_t count = 0;

	while (pd_counter_event(recorder, count, &counted))
		count++;
	pd_counter_places(recorder, &places);
	if (!table->events)
		table->events = pd_alloc((count + 1) * sizeof(*table->events));
	if (!table->events)
		return pd_fail_memory(error);
	table->event_count = count;
	// names are those of this recorder from now on
	pd_arena_reset(&stat->names);
	if (!take_threads(table, &places))
		return pd_fail_memory(error);
	for (size_t i = 0; i < count; i++)
		if (!take_event(stat, recorder, i, &places))
			return pd_fail_memory(error);
	return PD_OK;
}

// ---- counts ----

static void take_counts(struct pd_stat_counts *stat, const struct pd_recorder *recorder)
{
	for (size_t i = 0; i < stat->table.event_count; i++) {
		struct pd_stat_event *event = &stat->table.events[i];
		struct pd_counted counted;

		pd_counter_event(recorder, i, &counted);
		for (size_t at = 0; counted.counts && at < stat->table.thread_count * event->cpu_count; at++) {
			const struct pd_counter_value *value = &counted.counts[at];
			const uint64_t all[3] = { value->value, value->enabled_ns, value->running_ns };

			memcpy(event->cells[at].all, all, sizeof(all));
			event->cells[at].absent = event->supported && !value->there;
		}
	}
}

static struct pd_stat_mean one_time(uint64_t ns)
{
	return (struct pd_stat_mean){ .count = 1, .mean = (double)ns };
}

void pd_stat_print_interval(struct pd_stat_counts *stat, const struct pd_recorder *recorder, uint64_t interval_ns)
{
	take_counts(stat, recorder);
	pd_stat_metrics_forget(&stat->table);
	stat->table.interval = true;
	stat->table.wall_ns = one_time(interval_ns);
	pd_stat_table_round(&stat->table, false);
	pd_stat_print_round(&stat->printer, &stat->table, pd_counter_elapsed_ns(recorder));
}

void pd_stat_repeat_heading(struct pd_stat_counts *stat)
{
	stat->printer.rounds = 0;
}

static void forget_sums(struct pd_stat_table *table)
{
	for (size_t i = 0; i < table->event_count; i++)
		memset(table->events[i].sums, 0, sizeof(table->events[i].sums));
}

void pd_stat_print_summary(struct pd_stat_counts *stat, const struct pd_recorder *recorder)
{
	pd_stat_metrics_forget(&stat->table);
	stat->table.interval = false;
	forget_sums(&stat->table);
	stat->table.wall_ns = one_time(pd_counter_elapsed_ns(recorder));
	pd_stat_table_round(&stat->table, true);
	pd_stat_print_all(&stat->printer, &stat->table);
}

void pd_stat_end_run(struct pd_stat_counts *stat, const struct pd_recorder *recorder)
{
	double wall_ns = (double)pd_counter_elapsed_ns(recorder);
	struct pd_stat_printer *printer = &stat->printer;

	take_counts(stat, recorder);
	pd_stat_mean_add(&stat->table.wall_ns, wall_ns);
	if (stat->table.runs > 1 && PD_GROW(printer->run_seconds, printer->run_capacity, printer->run_count + 1))
		printer->run_seconds[printer->run_count++] = wall_ns / 1e9;
	else
		stat->table.failed |= stat->table.runs > 1;
	pd_stat_table_round(&stat->table, false);
}

void pd_stat_set_usage(struct pd_stat_counts *stat, double user_seconds, double system_seconds)
{
	stat->printer.has_usage = true;
	stat->printer.user_seconds = user_seconds;
	stat->printer.system_seconds = system_seconds;
}

void pd_stat_print(struct pd_stat_counts *stat)
{
	pd_stat_print_all(&stat->printer, &stat->table);
}

void pd_stat_restart(struct pd_stat_counts *stat)
{
	stat->table.wall_ns = (struct pd_stat_mean){ 0 };
	pd_stat_metrics_forget(&stat->table);
	forget_sums(&stat->table);
}

bool pd_stat_event_at(const struct pd_stat_counts *stat, size_t index, const char **name_out,
		      struct pd_counter_value *sum_out)
{
	const struct pd_stat_event *event;

	if (index >= stat->table.event_count)
		return false;
	event = &stat->table.events[index];
	*name_out = event->name;
	*sum_out = (struct pd_counter_value){ 0 };
	for (size_t i = 0; i < stat->table.thread_count * event->cpu_count; i++) {
		sum_out->value += event->cells[i].all[PD_STAT_VALUE];
		sum_out->enabled_ns += event->cells[i].all[PD_STAT_ENABLED];
		sum_out->running_ns += event->cells[i].all[PD_STAT_RUNNING];
		sum_out->there |= !event->cells[i].absent;
	}
	return true;
}
