/* SPDX-License-Identifier: MIT */
#include "options/select_options.h"

#include "front/cli.h"

#include <string.h>

#undef VALUES
#define VALUES struct pd_select_options

#define SAMPLES(comms_short, cpu_short)                                                                   \
	STRING("time", 0, "RANGE", time,                                                                  \
	       "only samples in this time range: START,STOP or 10%/2 or 0%-10% or 12:00:01,12:00:05"),    \
		STRING("comms", comms_short, "LIST", comms,                                               \
		       "only samples of threads with these names; file://PATH reads them from a file"),   \
		STRING("comm", 0, "LIST", comm, "same as --comms"),                                       \
		STRING("pid", 0, "LIST", pid, "only samples of these processes"),                         \
		STRING("tid", 0, "LIST", tid, "only samples of these threads"),                           \
		STRING("cpu", cpu_short, "LIST", cpu, "only samples on these CPUs: 0,2-3"),               \
		STRING("event", 0, "LIST", event, "only samples of these events; * and ? are wildcards"), \
		STRING("where", 0, "CONDITION", where,                                                    \
		       "only samples that match: 'sample.period > 1000 && cpu in (0, 2)'")

static const struct option sample_lines[] = { SAMPLES('c', 'C'), { 0 } };
static const struct option diff_lines[] = { SAMPLES('C', 0), { 0 } };

static const struct option place_lines[] = {
	STRING("dso", 0, "LIST", dso, "same as --dsos"),
	STRING("symbols", 'S', "LIST", symbols,
	       "only samples in these functions, by name or 0xADDRESS; or file://PATH"),
	STRING("symbol", 0, "LIST", symbol, "same as --symbols"),
	{ 0 },
};

static const struct option_group samples = { HEADING_OWN, sample_lines }, places = { HEADING_OWN, place_lines };
static const struct option_group diff_samples = { HEADING_OWN, diff_lines };

#define DSOS(short_name) \
	STRING("dsos", short_name, "LIST", dsos, "only samples in these objects, by short name or path; or file://PATH")

static const struct option lines[] = { GROUP_HERE(samples), DSOS(0), GROUP_HERE(places), { 0 } };
static const struct option lines_d[] = { GROUP_HERE(samples), DSOS('d'), GROUP_HERE(places), { 0 } };

static const struct option lines_diff[] = { GROUP_HERE(diff_samples), DSOS('d'), GROUP_HERE(places), { 0 } };

static const struct option lines_annotate[] = { GROUP_HERE(samples), DSOS('d'), { 0 } };

const struct option_group select_group_annotate = { HEADING_FILTER, lines_annotate };
const struct option_group select_group_diff = { HEADING_FILTER, lines_diff };
const struct option_group select_group = { HEADING_FILTER, lines }, select_group_d = { HEADING_FILTER, lines_d };

static const struct option lines_switch[] = {
	STRING("switch-on", 0, "EVENT", switch_on, "only samples after one of this event"),
	STRING("switch-off", 0, "EVENT", switch_off, "only samples until one of this event"),
	FLAG("show-on-off-events", 0, show_switches, "also samples of the events of --switch-on and --switch-off"),
	{ 0 },
};

const struct option_group switch_group = { HEADING_FILTER, lines_switch };

struct pd_filter *select_condition(const char *option, const char *text)
{
	struct pd_filter *filter;
	struct pd_error error;

	if (pd_filter_new(text, &filter, &error) >= 0)
		return filter;
	print_error("option --%s: %s", option, error.message);
	if (error.offset != PD_NO_OFFSET && !strchr(text, '\n')) {
		print_error("  %s", text);
		print_error("  %*s^", (int)error.offset, "");
	}
	return NULL;
}

bool select_take(struct pd_select **select_out, const struct pd_select_options *options)
{
	struct pd_select_options sized = *options;
	struct pd_error error;

	sized.size = sizeof(sized);
	*select_out = NULL;
	if (pd_select_new(&sized, select_out, &error) >= 0)
		return true;
	/* What is wrong with a condition is shown in its text. */
	if (error.offset != PD_NO_OFFSET)
		pd_filter_free(select_condition("where", options->where));
	else
		print_error("%s", error.message);
	return false;
}

void select_report_missing(const struct pd_select *select, struct pd_file *file)
{
	const struct pd_filter *where = pd_select_where(select);
	struct pd_str missing = where ? pd_filter_missing_field(where, file) : (struct pd_str){ 0 };

	if (missing.data)
		print_error("option --where: no event records '%.*s'", (int)missing.length, missing.data);
	if (pd_select_lacks_cpu(select))
		print_error("option --cpu: no event records the CPU (record with -a or --sample-cpu)");
}
