/* SPDX-License-Identifier: MIT */
/*
 * Tables of perfdata top: those of perfdata report, with another head, of a sum that grows and fades.
 */
#include "top/top.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

static bool is_ours(const char *name)
{
	/* Lines are looked up in symbols, which do not live as long as a sum; time slices are of a whole recording. */
	return strcmp(name, "srcline") != 0 && strcmp(name, "srcfile") != 0 && strcmp(name, "time") != 0;
}

static bool has_place(const void *filter, const struct pd_place *place)
{
	return pd_select_has_place(filter, place);
}

/* Says what is wrong with the keys; NULL then. */
static struct pd_report *plan(const struct table_form *form)
{
	struct pd_report_options options = {
		.size = sizeof(options),
		.view = PD_REPORT_SAMPLES,
		.sort = form->sort,
		.no_children = !form->children,
		.show_samples = form->samples,
		.show_period = form->period,
		.no_empty_columns = true,
		.no_groups = true,
		.least_percent = form->least,
		.max_stack = form->max_stack,
		.graph = form->graph,
		.threads = 1, /* watching should cost little */
		.has_place = pd_select_by_place(form->select) ? has_place : NULL,
		.filter = form->select,
		.by_dso = pd_select_has_list(form->select, PD_SELECT_DSOS),
	};
	const struct pd_report_key *key;
	struct pd_report *report;
	struct pd_error error;

	if (pd_report_new(NULL, &options, &report, &error) < 0) {
		print_error("%s", error.message);
		return NULL;
	}
	for (size_t i = 0; (key = pd_report_sort_key(report, i)) != NULL; i++) {
		if (is_ours(key->name))
			continue;
		print_error("sort key '%s' is not supported by top", key->name);
		pd_report_free(report);
		return NULL;
	}
	return report;
}

bool table_by(const struct table_form *form, uint32_t *by_out)
{
	struct pd_report *report = plan(form);
	struct pd_profile_options options = { 0 };

	if (!report)
		return false;
	pd_report_ask(report, &options);
	*by_out = options.by;
	pd_report_free(report);
	return true;
}

/* Without rows that are not shown, so that columns are as wide as those that are. NULL if there is no memory. */
static struct pd_report *build(const struct table_form *form, const struct shown *shown, size_t max_rows)
{
	struct pd_report *report = plan(form);

	if (!report || pd_report_build(report, shown->file, shown->profile, shown->symbols, NULL) < 0) {
		pd_report_free(report);
		return NULL;
	}
	pd_report_narrow(report, form->filter, max_rows);
	return report;
}

/* ---- text ---- */

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void add_head(const struct table_form *form, const struct totals *totals, const struct shown *shown,
		     struct pd_text *text)
{
	double rate = totals->seconds > 0 ? (double)totals->samples / totals->seconds : 0;
	size_t count = pd_file_event_count(shown->file);
	const char *name = "";

	for (size_t i = 0; i < count && !*name; i++)
		if (form->event == ALL_EVENTS || form->event == i)
			name = pd_file_event(shown->file, i)->name;
	pd_text_printf(text,
		       "perfdata top: %.0f samples/s, kernel %.1f%%, lost %" PRIu64
		       " (%.2f%%), [%s %s], %s, %zu CPU%s, "
		       "%zu threads\n",
		       rate, percent_of(totals->kernel_samples, totals->samples), totals->lost,
		       percent_of(totals->lost, totals->lost + totals->all_samples), totals->rate, name, totals->whom,
		       totals->cpus, totals->cpus == 1 ? "" : "s", totals->threads);
	pd_text_printf(text, "%s\n", totals->notice ? totals->notice : "");
}

bool table_text(const struct table_form *form, const struct totals *totals, const struct shown *shown, size_t lines,
		struct output *out)
{
	struct pd_report_text_options options = { .size = sizeof(options), .escape = true };
	size_t most = lines && (!form->entries || form->entries > lines) ? lines : form->entries;
	bool several = form->event == ALL_EVENTS, done = true;
	const struct pd_report_table *table;
	struct pd_report *report;

	add_head(form, totals, shown, out->text);
	report = build(form, shown, most);
	for (size_t i = 0; report && done && (table = pd_report_table(report, i)) != NULL; i++) {
		if (!several && table->first_event != form->event)
			continue;
		if (several && pd_report_table(report, 1))
			pd_text_printf(out->text, "# event '%s'\n", table->name);
		done = pd_report_text_table(report, i, lines, &options, out->text, NULL) == PD_OK;
	}
	if (several)
		pd_text_add(out->text, "\n");
	done = done && report;
	pd_report_free(report);
	return done;
}

/* ---- JSON ---- */

bool table_json(const struct table_form *form, const struct totals *totals, const struct shown *shown,
		struct output *out)
{
	struct pd_json json = { .text = out->text };
	struct pd_report *report;
	struct timespec now;
	bool done;

	clock_gettime(CLOCK_REALTIME, &now);
	pd_json_open(&json, NULL, '{');
	pd_json_double(&json, "time", (double)now.tv_sec + (double)now.tv_nsec / 1e9);
	pd_json_double(&json, "seconds", totals->seconds);
	pd_json_number(&json, "samples", totals->samples);
	pd_json_number(&json, "kernel_samples", totals->kernel_samples);
	pd_json_number(&json, "all_samples", totals->all_samples);
	pd_json_number(&json, "all_lost", totals->lost);
	pd_json_number(&json, "cpus", totals->cpus);
	pd_json_number(&json, "threads", totals->threads);
	pd_text_add(out->text, ",");
	report = build(form, shown, form->entries);
	done = report && pd_report_json_members(report, out->text, NULL) != PD_ERROR_MEMORY;
	pd_json_close(&json, '}');
	pd_text_add(out->text, "\n");
	pd_report_free(report);
	return done;
}
