/* SPDX-License-Identifier: MIT */
/* Tables of a sum of samples that grows and fades: those of a report, with another head. */
#include <perfdata/json.h>
#include <perfdata/report.h>

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/error.h"

static bool can_be_kept(const struct pd_report_key *key)
{
	// Lines and mappings are looked up in what does not live as long as a sum; time slices are of a whole recording.
	return !(key->by & (PD_BY_ADDRESS | PD_BY_LINE | PD_BY_TIME | PD_BY_DATA | PD_BY_PARALLELISM));
}

static enum pd_status plan_table(const struct pd_top_form *form, struct pd_report **report_out, struct pd_error *error)
{
	struct pd_report_options options = {
		.size = sizeof(options),
		.view = PD_REPORT_SAMPLES,
		.sort = form->fields && form->sort && !*form->sort ? NULL : form->sort,
		.fields = form->fields,
		.ignored_callees = form->ignored_callees,
		.relative = form->relative,
		.raw_trace = form->raw_trace,
		.no_children = !form->children,
		.show_samples = form->samples,
		.show_period = form->period,
		.no_empty_columns = true,
		.no_groups = true,
		.least_percent = form->least_percent,
		.max_stack = form->max_stack,
		.graph = form->graph,
		.threads = 1, // watching should cost little
	};
	const struct pd_report_key *key;
	enum pd_status status;

	if (form->select)
		pd_report_select(&options, form->select);
	// samples were chosen before they were added up
	options.choose = NULL;
	options.only_comm = options.only_dso = options.only_symbol = NULL;
	status = pd_report_new(NULL, &options, report_out, error);
	for (size_t i = 0; status >= 0 && (key = pd_report_sort_key(*report_out, i)) != NULL; i++) {
		if (can_be_kept(key))
			continue;
		status = pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "sort key '%s' is not supported by top",
				 key->name);
		pd_report_free(*report_out);
	}
	return status;
}

enum pd_status pd_top_ask(const struct pd_top_form *form, struct pd_profile_options *options, struct pd_error *error)
{
	struct pd_report *report;
	enum pd_status status = plan_table(form, &report, error);

	if (status < 0)
		return status;
	pd_report_ask(report, options);
	pd_report_free(report);
	return PD_OK;
}

// Without rows that are not shown, so that columns are as wide as those that are.
static enum pd_status build_table(const struct pd_top_form *form, const struct pd_top_source *source, size_t max_rows,
				  struct pd_report **report_out, struct pd_error *error)
{
	enum pd_status status = plan_table(form, report_out, error);

	if (status < 0)
		return status;
	status = pd_report_build(*report_out, source->file, source->profile, source->symbols, error);
	if (status < 0)
		pd_report_free(*report_out);
	else
		pd_report_narrow(*report_out, form->filter, max_rows);
	return status;
}

// ---- text ----

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void add_head(const struct pd_top_form *form, const struct pd_top_totals *totals,
		     const struct pd_top_source *source, struct pd_text *text)
{
	double rate = totals->seconds > 0 ? (double)totals->samples / totals->seconds : 0;
	size_t count = pd_file_event_count(source->file);
	const char *name = "";

	for (size_t i = 0; i < count && !*name; i++)
		if (form->event == PD_TOP_ALL_EVENTS || form->event == i)
			name = pd_file_event(source->file, i)->name;
	pd_text_printf(text,
		       "perfdata top: %.0f samples/s, kernel %.1f%%, lost %" PRIu64
		       " (%.2f%%), [%s %s], %s, %zu CPU%s, "
		       "%zu threads\n",
		       rate, percent_of(totals->kernel_samples, totals->samples), totals->lost,
		       percent_of(totals->lost, totals->lost + totals->all_samples), totals->rate, name, totals->whom,
		       totals->cpus, totals->cpus == 1 ? "" : "s", totals->threads);
	pd_text_printf(text, "%s\n", totals->notice ? totals->notice : "");
}

enum pd_status pd_top_text(const struct pd_top_form *form, const struct pd_top_totals *totals,
			   const struct pd_top_source *source, size_t lines, struct pd_text *text,
			   struct pd_error *error)
{
	struct pd_report_text_options options = { .size = sizeof(options), .escape = true };
	size_t max_rows = lines && (!form->entries || form->entries > lines) ? lines : form->entries;
	bool several = form->event == PD_TOP_ALL_EVENTS;
	const struct pd_report_table *table;
	struct pd_report *report;
	enum pd_status status = form->widths ? pd_report_widths_parse(form->widths, &options, error) : PD_OK;

	if (status < 0)
		return status;
	add_head(form, totals, source, text);
	status = build_table(form, source, max_rows, &report, error);
	if (status < 0)
		return status;
	for (size_t i = 0; status == PD_OK && (table = pd_report_table(report, i)) != NULL; i++) {
		if (!several && table->first_event != form->event)
			continue;
		if (several && pd_report_table(report, 1))
			pd_text_printf(text, "# event '%s'\n", table->name);
		status = pd_report_text_table(report, i, lines, &options, text, error);
	}
	if (several)
		pd_text_add(text, "\n");
	pd_report_free(report);
	return status;
}

// ---- JSON ----

enum pd_status pd_top_json(const struct pd_top_form *form, const struct pd_top_totals *totals,
			   const struct pd_top_source *source, struct pd_text *text, struct pd_error *error)
{
	struct pd_json json = { .text = text };
	struct pd_report *report;
	struct timespec now;
	enum pd_status status;

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
	pd_text_add(text, ",");
	status = build_table(form, source, form->entries, &report, error);
	if (status >= 0) {
		status = pd_report_json_members(report, text, error);
		pd_report_free(report);
	}
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
	return status == PD_ERROR_MEMORY ? status : PD_OK;
}

// ---- totals ----

static void count_samples(struct pd_top_totals *totals, const struct pd_profile *profile)
{
	const struct pd_profile_losses *losses = pd_profile_losses(profile);
	struct pd_profile_entry entry;

	totals->samples = totals->kernel_samples = 0;
	for (size_t i = 0; pd_profile_entry(profile, i, &entry); i++) {
		const struct pd_stack *stack = pd_profile_stack(profile, entry.stack);

		totals->samples += entry.samples;
		if (pd_profile_frame(profile, stack->ip)->cpumode == PD_CPUMODE_KERNEL)
			totals->kernel_samples += entry.samples;
	}
	totals->all_samples += totals->samples;
	totals->lost += losses->lost + losses->lost_samples;
}

void pd_top_count(struct pd_top_totals *totals, const struct pd_profile *profile, const struct pd_state *state)
{
	const struct pd_thread *thread;

	count_samples(totals, profile);
	totals->threads = 0;
	for (size_t i = 0; (thread = pd_state_thread(state, i)) != NULL; i++)
		totals->threads += thread->tid && thread->end.time_ns == PD_NEVER;
}

enum pd_status pd_top_take(struct pd_live *live, struct pd_symbols *symbols, unsigned part, unsigned whole,
			   struct pd_sum *sum, struct pd_top_totals *totals, struct pd_error *error)
{
	struct pd_profile *profile = NULL;
	enum pd_status status = pd_live_take(live, &profile, error);

	if (status >= 0)
		status = pd_profile_name(profile, symbols, error);
	if (status >= 0 && part < whole)
		status = pd_sum_fade(sum, part, whole, error);
	if (status >= 0)
		status = pd_sum_add(sum, profile, error);
	if (status >= 0)
		pd_top_count(totals, profile, pd_live_state(live));
	pd_profile_free(profile);
	return status;
}

size_t pd_top_next_event(const struct pd_profile *profile, size_t event, size_t event_count)
{
	for (size_t i = 0; i < event_count; i++) {
		const struct pd_profile_total *total;

		event = event == PD_TOP_ALL_EVENTS ? 1 : event + 1;
		event = event < event_count ? event : 0;
		total = pd_profile_total(profile, event);
		if (total && total->period)
			break;
	}
	return event;
}

void pd_top_describe_rate(const struct pd_event *event, char rate_out[PD_TOP_RATE_BYTES])
{
	const struct pd_attr *attr = event->attr;

	if (attr->flags & PD_MASK(PD_ATTR_FREQ))
		snprintf(rate_out, PD_TOP_RATE_BYTES, "%" PRIu64 " Hz", attr->sample_period);
	else
		snprintf(rate_out, PD_TOP_RATE_BYTES, "period %" PRIu64, attr->sample_period);
}
