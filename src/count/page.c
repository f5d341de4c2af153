/* SPDX-License-Identifier: MIT */
// Lines of a page: what they are of, and where it was counted.
#include "count/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"

void pd_stat_json_field(struct pd_stat_page *page, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	pd_text_printf(page->printer->text, "%s%s", page->json_open ? ", " : "", text);
	page->json_open = true;
}

void pd_stat_json_name(struct pd_stat_page *page, const char *key, const char *name)
{
	pd_text_printf(page->printer->text, "%s\"%s\" : ", page->json_open ? ", " : "", key);
	pd_text_json_string(page->printer->text, name, strlen(name));
	page->json_open = true;
}

static void group_name(const struct pd_stat_table *table, const struct pd_stat_place *place, char name[64])
{
	switch (table->by) {
	case PD_STAT_BY_CORE:
		snprintf(name, 64, "S%d-D%d-C%d", place->socket, place->die, place->core);
		break;
	case PD_STAT_BY_CLUSTER:
		snprintf(name, 64, "S%d-D%d-CLS%d", place->socket, place->die, place->cluster);
		break;
	case PD_STAT_BY_CACHE:
		snprintf(name, 64, "S%d-D%d-L%d-ID%d", place->socket, place->die, place->level, place->cache);
		break;
	case PD_STAT_BY_DIE:
		snprintf(name, 64, "S%d-D%d", place->socket, place->die);
		break;
	case PD_STAT_BY_SOCKET:
		snprintf(name, 64, "S%d", place->socket);
		break;
	default:
		snprintf(name, 64, "N%d", place->node);
		break;
	}
}

/* The last number of a name, or all of it, has a width of its own, so that all stand below each other. */
static int group_width(const struct pd_stat_table *table, const struct pd_stat_place *place)
{
	switch (table->by) {
	case PD_STAT_BY_CORE:
		return snprintf(NULL, 0, "S%d-D%d-C", place->socket, place->die) + 8;
	case PD_STAT_BY_CLUSTER:
		return 20;
	case PD_STAT_BY_CACHE:
		return 22;
	case PD_STAT_BY_DIE:
		return snprintf(NULL, 0, "S%d-D", place->socket) + 8;
	default:
		return 1 + 5;
	}
}

/* Those that perf 6.1 does not have are printed in the words of those that do. */
static bool is_newer(enum pd_stat_by by)
{
	return by == PD_STAT_BY_CLUSTER || by == PD_STAT_BY_CACHE;
}

/* Its name, or that of its core. */
static void print_cpu(struct pd_stat_page *page, const struct pd_stat_line *line)
{
	const char *separator = page->printer->separator;
	char name[64];

	if (line->core)
		snprintf(name, sizeof(name), "S%d-D%d-C%d", line->core->socket, line->core->die, line->core->core);
	else
		snprintf(name, sizeof(name), "CPU%" PRId32, line->cpu);
	if (page->printer->json && line->core)
		pd_stat_json_field(page, "\"core\" : \"%s\"", name);
	else if (page->printer->json)
		pd_stat_json_field(page, "\"cpu\" : \"%" PRId32 "\"", line->cpu);
	else if (separator)
		pd_text_printf(page->printer->text, "%s%s", name, separator);
	else
		pd_text_printf(page->printer->text, "%-*s ", line->core ? 18 : 10, name);
}

void pd_stat_print_place(struct pd_stat_page *page, const struct pd_stat_line *line)
{
	static const char *const keys[] = {
		[PD_STAT_BY_SOCKET] = "socket", [PD_STAT_BY_DIE] = "die",         [PD_STAT_BY_CORE] = "core",
		[PD_STAT_BY_NODE] = "node",     [PD_STAT_BY_CLUSTER] = "cluster", [PD_STAT_BY_CACHE] = "cache"
	};
	struct pd_text *text = page->printer->text;
	const char *separator = page->printer->separator;
	char name[96];

	if (line->group) {
		group_name(page->table, &line->group->place, name);
		if (page->printer->json)
			pd_stat_json_field(page, "\"%s\" : \"%s\", \"%s\" : %zu", keys[page->table->by], name,
					   is_newer(page->table->by) ? "counters" : "aggregate-number", line->cpus);
		else if (separator)
			pd_text_printf(text, "%s%s%zu%s", name, separator, line->cpus, separator);
		else
			pd_text_printf(text, "%-*s %*zu ", group_width(page->table, &line->group->place), name, 4,
				       line->cpus);
	} else if (line->thread) {
		if (page->printer->json) {
			snprintf(name, sizeof(name), "%s-%" PRId32, line->thread->name, line->thread->tid);
			pd_stat_json_name(page, "thread", name);
			return;
		}
		pd_text_printf(text, "%*s", separator ? 0 : 16 - (int)strlen(line->thread->name), "");
		pd_text_escaped(text, line->thread->name, strlen(line->thread->name));
		pd_text_printf(text, separator ? "-%" PRId32 : "-%-8" PRId32, line->thread->tid);
		pd_text_add(text, separator ? separator : " ");
	} else if (page->table->by == PD_STAT_BY_CPU) {
		print_cpu(page, line);
	}
}

/* ---- lines ---- */

bool pd_stat_line_is_missing(const struct pd_stat_line *line)
{
	return !line->running || !line->enabled;
}

bool pd_stat_line_of_cpu(const struct pd_stat_page *page, const struct pd_stat_event *event, size_t cpu,
			 struct pd_stat_place *core, struct pd_stat_line *line_out)
{
	const struct pd_stat_cell *cell = pd_stat_cell(event, 0, cpu);
	const uint64_t *counts = cell->round;
	struct pd_stat_sum sum;

	if (cell->absent)
		return false;
	*line_out = (struct pd_stat_line){ .event = event, .slot = cpu, .cpu = event->cpus[cpu] };
	if (event->percore) {
		bool first = pd_stat_core_sum(page->table, event, cpu, &sum, core);

		counts = sum.all;
		if (!page->printer->options->percore_show_thread) {
			line_out->core = core;
			if (!first)
				return false;
		}
	}
	line_out->value = (double)counts[PD_STAT_VALUE];
	line_out->enabled = (double)counts[PD_STAT_ENABLED];
	line_out->running = (double)counts[PD_STAT_RUNNING];
	return true;
}

struct pd_stat_line pd_stat_line_of_all(const struct pd_stat_event *event)
{
	const struct pd_stat_mean *mean = &event->sums[PD_STAT_VALUE];
	struct pd_stat_line line = { .event = event,
				     .value = mean->mean,
				     .enabled = trunc(event->sums[PD_STAT_ENABLED].mean),
				     .running = trunc(event->sums[PD_STAT_RUNNING].mean) };

	if (mean->mean)
		line.noise = 100 * pd_stat_mean_deviation(mean) / mean->mean;
	return line;
}

struct pd_stat_line pd_stat_line_of_thread(const struct pd_stat_table *table, const struct pd_stat_event *event,
					   size_t thread)
{
	struct pd_stat_line line = { .event = event, .slot = thread, .thread = &table->threads[thread] };

	for (size_t cpu = 0; cpu < event->cpu_count; cpu++) {
		const struct pd_stat_cell *cell = pd_stat_cell(event, thread, cpu);

		line.value += (double)cell->round[PD_STAT_VALUE];
		line.enabled += (double)cell->round[PD_STAT_ENABLED];
		line.running += (double)cell->round[PD_STAT_RUNNING];
	}
	return line;
}

struct pd_stat_line pd_stat_line_of_group(const struct pd_stat_event *event, const struct pd_stat_group *group,
					  const struct pd_stat_sum *sum)
{
	return (struct pd_stat_line){ .event = event,
				      .slot = group->slot,
				      .group = group,
				      .cpus = sum->cpus,
				      .value = (double)sum->all[PD_STAT_VALUE],
				      .enabled = (double)sum->all[PD_STAT_ENABLED],
				      .running = (double)sum->all[PD_STAT_RUNNING] };
}
