/* SPDX-License-Identifier: MIT */
/*
 * perfdata report: where the time went, as a table by sort keys with call graphs, for every event of the
 * file; and the header and the counts of records, as perf report prints them.
 */
#include "report/options.h"

#include <perfdata/dump.h>
#include <perfdata/record_stats.h>
#include <perfdata/samples.h>

#include <stdlib.h>
#include <string.h>

/* ---- the command ---- */

static int code_of_report(const struct report_run *run, enum pd_status status, const struct pd_error *error)
{
	if (status != PD_ERROR_NO_MATCH)
		return code_with_error(status, error);
	return print_failure(CODE_NOTHING, "%s: %s", run->analysis.input.name, error->message);
}

static int print(struct report_run *run)
{
	const struct report_values *values = run->values;
	struct output *out = run->call->out;
	struct pd_error error;
	enum pd_status status;

	if (values->json) {
		status = pd_report_json(run->report, out->text, &error);
	} else if (values->csv) {
		status = pd_report_csv(run->report, &run->text, out->text, &error);
	} else {
		status = pd_report_text_top(run->report, &run->text, out->text, &error);
		if (!values->separator)
			output_clip(out);
		if (status == PD_OK)
			status = pd_report_text(run->report, &run->text, out->text, &error);
		if (status == PD_OK && values->thread_counts)
			status = (values->pretty == COUNTS_RAW ? pd_print_thread_counts_raw : pd_print_thread_counts)(
				out->text, run->analysis.input.file, &error);
	}
	/* What could not be written is reported at the end. */
	if (status == PD_ERROR_OUTPUT || pd_text_failed(out->text))
		return CODE_OK;
	return code_with_error(status, &error);
}

static int plan(struct report_run *run)
{
	struct pd_error error;
	int code;

	pd_report_select(&run->options, run->analysis.select);
	run->options.progress = input_progress;
	run->options.warn = input_warn;
	run->options.self = &run->analysis.input;
	code = code_of_report(run, pd_report_new(run->analysis.input.file, &run->options, &run->report, &error),
			      &error);
	if (code == CODE_OK && !run->is_quantum_valid)
		return print_failure(CODE_USAGE, "option --time-quantum: '%s' is not a duration such as 10ms",
				     run->values->time_quantum);
	return code;
}

static int build(struct report_run *run)
{
	struct analysis *analysis = &run->analysis;
	struct pd_error error;
	enum pd_status status =
		pd_report_build(run->report, analysis->input.file, analysis->profile, analysis->symbols, &error);

	progress_clear(&analysis->input.progress);
	return code_of_report(run, status, &error);
}

static int read_and_print(struct report_run *run, const struct pd_profile_options *how)
{
	int code = analysis_read(&run->analysis, &run->values->analysis, how);

	if (code == CODE_OK)
		code = build(run);
	return code == CODE_OK ? print(run) : code;
}

/* The same samples in several ways. */
static int print_sizes(struct report_run *run, const struct pd_profile_options *how)
{
	struct analysis *analysis = &run->analysis;
	struct pd_profile_options next = *how;
	struct pd_size_table *table = NULL;
	struct pd_error error;
	int code = code_with_error(pd_size_table_new(&table, &error), &error);

	for (; code == CODE_OK && pd_size_table_ask(table, &next); next = *how) {
		analysis_forget(analysis);
		code = analysis_read(analysis, &run->values->analysis, &next);
		if (code == CODE_OK)
			code = code_with_error(pd_size_table_add(table, analysis->profile, analysis->symbols, &error),
					       &error);
	}
	if (code == CODE_OK)
		(run->values->json ? pd_size_table_json : pd_size_table_text)(table, run->call->out->text);
	pd_size_table_free(table);
	return code;
}

/* What unwinding took. */
static int print_effort(struct report_run *run, struct pd_profile_options *how)
{
	const struct pd_unwinder *unwinder;
	int code;

	how->by |= PD_BY_CHAIN;
	code = analysis_read(&run->analysis, &run->values->analysis, how);
	unwinder = code == CODE_OK ? pd_profile_unwinder(run->analysis.profile) : NULL;
	if (code == CODE_OK)
		(run->values->json ? pd_json_unwind_stats : pd_print_unwind_stats)(unwinder, run->call->out->text);
	return code;
}

static bool is_of(const struct report_values *values, const char *what)
{
	return values->stats && strcmp(values->stats, what) == 0;
}

/* What is read depends on the plan, and that on the file. */
static int open_and_print(struct report_run *run)
{
	const struct report_values *values = run->values;
	struct pd_profile_options how = { 0 };
	int code = analysis_begin(&run->analysis, &values->analysis, run->call);

	if (code == CODE_OK)
		code = plan(run);
	if (code == CODE_OK && values->header)
		code = input_print_header(&run->analysis.input, values->show_info);
	if (code == CODE_OK) {
		pd_report_ask(run->report, &how);
		code = is_of(values, "unwind") ? print_effort(run, &how) :
		       values->stats           ? print_sizes(run, &how) :
						 read_and_print(run, &how);
	}
	pd_report_free(run->report);
	return analysis_close(&run->analysis, code);
}

static int print_stats(struct input *input)
{
	const struct pd_dump_options how = {
		.size = sizeof(how), .stats = true, .progress = input_progress, .self = input
	};
	struct pd_error error;
	int code = code_of_print(pd_dump(input->out->text, input->file, &how, &error), &error);

	progress_clear(&input->progress);
	return code;
}

static int print_tasks(struct input *input, const struct report_values *values)
{
	const struct pd_tasks_options options = { .size = sizeof(options),
						  .progress = input_progress_step,
						  .self = input };
	struct pd_tasks *tasks;
	struct pd_error error;
	enum pd_status status = pd_tasks_read(input->file, &options, &tasks, &error);

	progress_clear(&input->progress);
	if (status < 0)
		return code_with_error(status, &error);
	if (values->json)
		pd_json_tasks(input->out->text, tasks, values->mmaps);
	else
		pd_print_tasks(input->out->text, tasks, values->mmaps, input->out->terminal);
	pd_tasks_free(tasks);
	return CODE_OK;
}

/* Filters do not matter, as in perf. */
static int print_dump(struct input *input, const struct report_values *values)
{
	const struct pd_samples_options options = { .size = sizeof(options),
						    .raw = PD_RAW_REPORT,
						    .escape = input->out->terminal,
						    .progress = input_progress_go_on,
						    .self = input };
	bool twice = pd_file_header(input->file)->file_size != 0;
	struct pd_samples *samples;
	struct pd_error error;
	enum pd_status status;
	int code = values->header ? input_print_header(input, values->show_info) : CODE_OK;

	if (code != CODE_OK)
		return code;
	if (!values->header && !values->analysis.input.quiet)
		pd_text_add(input->out->text, "# To display the perf.data header info, please use "
					      "--header/--header-only options.\n#\n");
	status = pd_samples_new(&options, input->out->text, &samples, &error);
	if (status < 0)
		return code_with_error(status, &error);
	status = (twice ? pd_samples_run : pd_samples_run_once)(samples, input->file, &error);
	progress_clear(&input->progress);
	pd_samples_free(samples);
	return code_of_print(status, &error);
}

static int print_without_samples(struct input *input)
{
	const struct report_values *values = input->call->values;

	/* As perf: the header alone is printed if both are asked for. */
	if (values->header_only)
		return input_print_header(input, values->show_info);
	if (values->dump)
		return print_dump(input, values);
	return values->tasks || values->mmaps ? print_tasks(input, values) : print_stats(input);
}

static int run_report(const struct call *call)
{
	const struct report_values *values = call->values;
	struct report_run *run;
	bool of_profile = is_of(values, "profile") || is_of(values, "unwind");
	struct input input;
	int code;

	if (values->stats && *values->stats && !is_of(values, "records") && !of_profile)
		return print_failure(CODE_USAGE, "option --stats: '%s' is none of records, profile and unwind",
				     values->stats);
	if (values->csv && (values->tasks || values->mmaps || values->dump))
		return print_failure(CODE_USAGE, "--csv and --%s cannot be combined",
				     values->dump  ? "dump-raw-trace" :
				     values->mmaps ? "mmaps" :
						     "tasks");
	if (values->json && values->dump)
		return print_failure(CODE_USAGE, "--dump-raw-trace has no JSON; use perfdata dump --json");
	if (values->header_only || values->dump || values->tasks || values->mmaps || (values->stats && !of_profile))
		return input_run(&input, &values->analysis.input, call, print_without_samples);
	run = calloc(1, sizeof(*run));
	if (!run)
		return print_failure(CODE_UNREADABLE, "out of memory");
	run->values = values;
	run->call = call;
	code = report_options_parse(run) ? open_and_print(run) : CODE_USAGE;
	free(run);
	return code;
}

#undef VALUES
#define VALUES struct report_values

const struct command cmd_report = {
	.usage = "[OPTION]... [FILE | STORE [CONDITION]...]",
	.text = "Print a profile of FILE: a table per event, grouped by sort keys, with the percentages, sample counts and call "
		"graphs of perf report --stdio (6.1). The first line is the profile quality: lost samples, throttling, "
		"truncated stacks, unresolved functions; perfdata doctor explains it.\n"
		"\n"
		"Sort keys: {sort keys}; for branches also {branch sort keys}; of tracepoints [EVENT.]FIELD[/raw], a field, and trace_fields, all of them.\n"
		"\n"
		"Where branch stacks were recorded (record -b), branches are counted instead of samples, unless "
		"--no-branch-stack is given. With --branch-history call chains begin with the branches of each sample, the last one first: where it "
		"went, then where it came from, with the share of predicted and aborted ones, and mean cycles. As in perf, a loop "
		"is there once (iter: how often it was passed again), callers that are among the branches are left out, and so are as many of the "
		"outermost callers as there are branches.\n"
		"\n"
		"Filters remove samples from the table. Samples of other times, CPUs and events are ignored; those of other "
		"threads, objects and functions still count in the total that percentages refer to, unless --percentage is "
		"relative.\n"
		"\n"
		"--header-only, --stats, --tasks and --mmaps print what perf report prints, without a profile; --tasks and --mmaps "
		"with --json a line for each thread. --stats=profile reads the samples "
		"three times, as the other options say: with a frame for each address, with a frame for each function, and with "
		"one frame for all addresses of an object without a function; and prints how many stacks there are, how many "
		"nodes a tree of them has, and how much memory each table takes, as text or JSON. --stats=unwind unwinds copied stacks, and "
		"counts the objects whose rules the index has and those that were read, and how frames got their rules.\n"
		"\n"
		"On a terminal, lines are cut at its right edge, percentages are coloured (red from 5 %, green from 0.5 %), and "
		"rows below 0.5 % are only counted, unless --percent-limit is given. None of this applies to pipes and files.",
	OPTIONS(report_options),
	HOW(options),
	/* as many entries of a call chain as perf takes */
	DEFAULTS(.options.max_stack = 127, .percent_limit = -1),
	EXAMPLES({ "perfdata report -i perf.data", "where time is spent" },
		 { "perfdata report --no-children -s dso,sym --percent-limit 1", "by function, without callers" },
		 { "perfdata report -G -s comm", "call graphs from main down, by program" },
		 { "perfdata report --time 10%-20% --comm make --json", "a time range of one program, as JSON" },
		 { "perfdata report -b -s symbol_from,symbol_to,mispredict",
		   "taken branches, and which were mispredicted" },
		 { "perfdata report --header-only -I", "the whole header" },
		 { "perfdata report --stats", "count the records by type" },
		 { "perfdata report --stats=profile", "how many stacks there are, and what they cost" }),
	.usual = "input sort call-graph no-children percent-limit time comms dsos symbols json",
	.max_words = SIZE_MAX,
	.run = run_report,
};
