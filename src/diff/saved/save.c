/* SPDX-License-Identifier: MIT */
/* The baseline as lines of text. */
#include "diff/saved/save.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text/text.h"
#include "diff/diff.h"
#include "report/keys/values.h"

static void add_field(struct pd_text *out, const char *field)
{
	static const char from[] = "\\\t\n\r", to[] = "\\tnr";

	pd_text_char(out, '\t');
	for (; field && *field; field++) {
		const char *found = strchr(from, *field);

		if (found)
			pd_text_printf(out, "\\%c", to[found - from]);
		else if ((unsigned char)*field < ' ' || *field == 0x7f)
			pd_text_printf(out, "\\x%02x", (unsigned)(unsigned char)*field);
		else
			pd_text_char(out, *field);
	}
}

static void add_facts(const struct pd_diff *diff, struct pd_text *out)
{
	pd_text_printf(out, "facts\t%" PRIu32, diff->facts->cpus);
	add_field(out, diff->facts->cpu);
	add_field(out, diff->facts->command);
	pd_text_add(out, "\nkeys");
	for (size_t i = 0; i < diff->key_count; i++)
		add_field(out, diff->keys[i]->head.name);
	pd_text_add(out, "\n");
}

static void add_events(const struct pd_diff *diff, struct pd_text *out)
{
	for (size_t i = 0; i < diff->event_count; i++) {
		const struct diff_event *event = &diff->events[i];

		pd_text_printf(out, "event\t%" PRIu32 "\t%" PRIu64 "\t%s\t%" PRIu64 "\t%u", event->type, event->config,
			       event->frequency ? "freq" : "period", event->sampling, (unsigned)event->unit);
		add_field(out, event->head.name);
		pd_text_add(out, "\n");
	}
}

static void add_run(const struct pd_diff *diff, struct pd_text *out, size_t run)
{
	pd_text_printf(out, "run\t%" PRIu64 "\t%" PRIu64, diff->runs[run].first_ns, diff->runs[run].last_ns);
	add_field(out, diff->runs[run].name);
	pd_text_add(out, "\n");
	for (size_t i = 0; i < diff->event_count; i++) {
		const struct run_sums *sums = &diff->events[i].runs[run];

		if (sums->total.present)
			pd_text_printf(out, "total\t%zu\t%" PRIu64 "\t%" PRIu64 "\t%.17g\n", i, sums->total.period,
				       sums->total.samples, sums->effective);
	}
}

static void add_row(const struct pd_diff *diff, struct pd_text *out, size_t event, size_t row, size_t runs)
{
	const struct diff_row *from = &diff->events[event].rows[row];
	char address[32];

	snprintf(address, sizeof(address), "%" PRIu64, from->addr);
	pd_text_printf(out, "row\t%zu\t%s", event, address);
	add_field(out, from->identity);
	for (size_t i = 0; i < diff->key_count; i++)
		add_field(out, from->cells[i]);
	pd_text_add(out, "\n");
	if (from->places[0].file) {
		pd_text_printf(out, "place\t%" PRIu32, from->places[0].line);
		add_field(out, from->places[0].file);
		pd_text_add(out, "\n");
	}
	for (size_t run = 0; run < runs; run++) {
		struct pd_diff_sum sum = run_sum(&diff->events[event], run, row);

		if (sum.present)
			pd_text_printf(out, "sum\t%zu\t%" PRIu64 "\t%" PRIu64 "\n", run, sum.period, sum.samples);
	}
}

static bool is_in(const struct diff_event *event, size_t row, size_t runs)
{
	for (size_t run = 0; run < runs; run++)
		if (run_sum(event, run, row).present)
			return true;
	return false;
}

enum pd_status pd_diff_save(const struct pd_diff *diff, struct pd_text *text, struct pd_error *error)
{
	size_t runs = pd_diff_run_count(diff, 0);

	if (!runs || diff->finished)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "there are no runs to save");
	pd_text_add(text, SAVED_HEAD SAVED_VERSION "\n");
	add_facts(diff, text);
	add_events(diff, text);
	for (size_t run = 0; run < runs; run++)
		add_run(diff, text, run);
	for (size_t event = 0; event < diff->event_count; event++)
		for (size_t row = 0; row < diff->events[event].row_count; row++)
			if (is_in(&diff->events[event], row, runs))
				add_row(diff, text, event, row, runs);
	pd_text_add(text, "end\n");
	return pd_diff_end(text, error);
}
