/* SPDX-License-Identifier: MIT */
/* perfdata diff: recordings compared with the first one, as perf diff prints it. The library does it (perfdata/diff.h). */
#include "files/compare.h"
#include "options/flame_options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum form {
	AS_TEXT,
	AS_JSON,
	AS_JUNIT,
	AS_MARKDOWN
};

struct values {
	struct analysis_options analysis;
	const char *sort;
	const char *compute;
	struct pd_diff_options how;
	struct pd_diff_text_options text;
	struct option_number order;
	bool relative;
	const char *separator;
	double variation; /* below 0: not given */
	const char *fail_on, *accept;
	enum form form;
	bool callers;
	double least; /* the same */
};

static const struct option options[] = {
	STRING("compute", 'c', "METHOD", compute, "delta-abs (the default), delta, ratio, wdiff:OLD,NEW or cycles"),
	NUMBER("order", 'o', "N", order,
	       "sort by the computed column of the N-th recording after the first; 0: by Baseline"),
	STRING("sort", 's', "KEYS", sort, "group by these keys, as in report (default: dso,sym)"),
	FLAG("period", 'p', text.show_period, "add columns with periods"),
	FLAG("formula", 'F', text.show_formula, "add columns with the numbers that the result is computed of"),
	FLAG("baseline-only", 'b', how.baseline_only, "only rows that both recordings have"),
	FLAG("significance", 0, how.ratings,
	     "test each change: real, maybe or noise, with its 95 % interval (default with several runs on a side)"),
	STRING("per", 0, "WHAT", how.per,
	       "test amounts, not shares: of a run (run), of a second (wall), by a number of operations (N, or OLD,NEW), or by the count "
	       "of an event (its name)"),
	PERCENT("variation", 0, "PERCENT", variation,
		"assume that shares vary by so much from run to run, where a side has one run (default: 5)"),
	STRING("fail-on", 0, "CONDITION", fail_on,
	       "exit with code 7 if a change meets it: 'change > 2% and significant'; also growth (percent of the old share), old, "
	       "new, maybe"),
	STRING("accept", 0, "FILE", accept,
	       "changes that do not fail: lines of names, patterns allowed, each with ' <= 12%' behind it for how far"),
	FLAG("call-graph", 'g', callers,
	     "instead, which callers brought the change of each function, as a tree; of two recordings"),
	PERCENT("percent-limit", 0, "POINTS", least, "with -g: leave out what changed by less (default: 0.5)"),
	SET("json", 'j', form, AS_JSON, "print one JSON object"),
	SET("junit", 0, form, AS_JUNIT, "print the rows as test results (JUnit XML); those of --fail-on have failed"),
	SET("markdown", 0, form, AS_MARKDOWN, "print Markdown, without the rows that are noise"),
	CHOICE("percentage", 0, "HOW", relative, "absolute|relative",
	       "percentages of all samples (absolute) or of those that match the filters (relative)"),
	STRING("field-separator", 't', "CHAR", separator, "column separator instead of blanks"),
	GROUP(input_group, analysis.input),
	GROUP(select_group_diff, analysis.select),
	GROUP(symbol_group, analysis.symbols),
	GROUP(threads_option, analysis.threads),
	{ 0 },
};

struct run {
	const struct values *values;
	const struct call *call;
	struct pd_diff_text_options text;
	struct pd_diff *diff;
	struct pd_diff_gate *gate; /* or NULL */
	bool ratings;
};

/* ---- options ---- */

static bool check_options(const struct values *values)
{
	if (values->separator && (strlen(values->separator) != 1 || *values->separator == '.'))
		return print_error("option --field-separator: '%s' is not a single character other than '.'",
				   values->separator);
	if ((values->form == AS_JUNIT || values->accept) && !values->fail_on)
		return print_error("--%s needs --fail-on, which says what a failure is",
				   values->form == AS_JUNIT ? "junit" : "accept");
	if (values->analysis.input.path)
		return print_error("name the recordings as arguments, not with --input");
	return true;
}

static bool has_runs(const struct call *call)
{
	for (size_t i = 0; i < call->word_count; i++)
		if (compare_is_list(call->words[i]))
			return true;
	return compare_is_stored(call->words, call->word_count);
}

static int make_diff(struct run *run)
{
	const struct values *values = run->values;
	struct pd_diff_options wanted = values->how;
	struct pd_error error;

	if (!check_options(values))
		return CODE_USAGE;
	if (values->variation >= 0)
		wanted.variation = values->variation > 0 ? values->variation / 100 : -1;
	run->ratings = wanted.ratings || values->form || values->fail_on || wanted.per || has_runs(run->call);
	wanted.ratings = wanted.join_names = run->ratings;
	if (values->compute && pd_diff_method_parse(values->compute, &wanted, &error) < 0)
		return print_failure(CODE_USAGE, "option --compute: %s", error.message);
	wanted.by_baseline = values->order.given && !values->order.value;
	wanted.order = values->order.given ? (size_t)values->order.value : 1;
	if (values->fail_on && pd_diff_gate_new(values->fail_on, &run->gate, &error) < 0)
		return print_failure(CODE_USAGE, "option --fail-on: %s", error.message);
	if (values->accept && pd_diff_gate_accept(run->gate, values->accept, &error) < 0)
		return print_failure(CODE_USAGE, "option --accept: %s", error.message);
	run->text = values->text;
	run->text.quiet = values->analysis.input.quiet;
	run->text.escape = run->call->out->terminal;
	run->text.separator = values->separator ? *values->separator : 0;
	if (pd_diff_new(&wanted, &run->diff, &error) == PD_OK)
		return CODE_OK;
	return print_failure(CODE_USAGE, "%s%s", wanted.per ? "option --per: " : "", error.message);
}

static void report_warnings(const struct run *run)
{
	const char *warning;

	for (size_t i = 0; !run->values->analysis.input.quiet && (warning = pd_diff_warning(run->diff, i)) != NULL; i++)
		print_error("%s", warning);
}

/* ---- output ---- */

static enum pd_status print_as_asked(struct run *run, struct pd_error *error)
{
	struct pd_text *text = run->call->out->text;

	switch (run->values->form) {
	case AS_JSON:
		return pd_diff_json(run->diff, text, error);
	case AS_JUNIT:
		return pd_diff_junit(run->diff, run->gate, text, error);
	case AS_MARKDOWN:
		return pd_diff_markdown(run->diff, text, error);
	case AS_TEXT:
		break;
	}
	return run->ratings ? pd_diff_rating_text(run->diff, &run->text, text, error) :
			      pd_diff_text(run->diff, &run->text, text, error);
}

static int check_gate(const struct run *run)
{
	struct pd_text *text = run->gate ? pd_text_new() : NULL;
	size_t count;

	if (!run->gate)
		return CODE_OK;
	if (pd_diff_gate_lacks_runs(run->diff, run->gate))
		print_error(
			"--fail-on cannot fail: nothing is significant with a single run on a side; record 3 or more");
	count = pd_diff_gate_text(run->diff, run->gate, text);
	print_and_free(text);
	return count ? CODE_CHANGED : CODE_OK;
}

static int print(struct run *run)
{
	struct output *out = run->call->out;
	struct pd_error error;
	enum pd_status status = pd_diff_finish(run->diff, &error);

	if (status == PD_ERROR_ARGUMENT)
		return print_failure(CODE_USAGE, "option --order: %s", error.message);
	if (status == PD_OK) {
		report_warnings(run);
		if (!run->values->separator)
			output_clip(out);
		status = print_as_asked(run, &error);
	}
	/* What could not be written is reported at the end. */
	if (status == PD_OK)
		return check_gate(run);
	return status == PD_ERROR_OUTPUT || pd_text_failed(out->text) ? CODE_OK : code_with_error(status, &error);
}

/* As perf: what record renamed comes first if no baseline is named. */
static int compare(struct run *run)
{
	const char *usual[] = { "perf.data.old", "perf.data" };
	const char *const *words = run->call->words;
	size_t count = run->call->word_count;
	struct compare compare = { .options = &run->values->analysis,
				   .sort = run->values->sort,
				   .relative = run->values->relative,
				   .call = run->call,
				   .diff = run->diff };
	int code, printed;

	if (count == 1)
		usual[1] = words[0];
	code = count > 1 ? compare_add_all(&compare, words, count) : compare_add_all(&compare, usual, 2);
	if (!code_is_usable(code))
		return code;
	printed = print(run);
	return printed != CODE_OK ? printed : code;
}

/* ---- callers ---- */

static int print_callers(const struct call *call, const struct folded *old_stacks, const struct folded *new_stacks)
{
	const struct values *values = call->values;
	struct pd_error error;
	int code = code_of_print(pd_flame_print_event(old_stacks->event, call->out->terminal, call->out->text, &error),
				 &error);

	if (code != CODE_OK)
		return code;
	return code_of_print(pd_flame_print_changes(pd_text_bytes(old_stacks->text), pd_text_bytes(new_stacks->text),
						    values->least >= 0 ? values->least : 0.5, call->out->terminal,
						    call->out->text, &error),
			     &error);
}

/* The tree of callers is text, and nothing is rated in it. */
static bool callers_alone(const struct values *values)
{
	const struct {
		const char *name;
		bool given;
	} others[] = {
		{ "compute", values->compute },
		{ "order", values->order.given },
		{ "sort", values->sort },
		{ "period", values->text.show_period },
		{ "formula", values->text.show_formula },
		{ "baseline-only", values->how.baseline_only },
		{ "significance", values->how.ratings },
		{ "per", values->how.per },
		{ "variation", values->variation >= 0 },
		{ "fail-on", values->fail_on },
		{ "accept", values->accept },
		{ "json", values->form == AS_JSON },
		{ "markdown", values->form == AS_MARKDOWN },
		{ "junit", values->form == AS_JUNIT },
		{ "percentage", values->relative },
		{ "field-separator", values->separator },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].given)
			return print_error("--%s has no effect with --call-graph", others[i].name);
	return true;
}

static int run_callers(const struct call *call)
{
	const struct values *values = call->values;
	struct pd_flame_event event = { 0 };
	const struct pd_flame_options how = {
		.size = sizeof(how), .plain_names = true, .reverse = true, .one_event = &event
	};
	const struct folding folding = { .call = call, .options = &values->analysis, .how = &how };

	if (call->word_count != 2 || has_runs(call))
		return print_failure(CODE_USAGE, "--call-graph needs two recordings");
	if (!callers_alone(values) || !check_options(values))
		return CODE_USAGE;
	return flame_compare(&folding, call->words[0], call->words[1], print_callers);
}

static int run_diff(const struct call *call)
{
	struct run run = { .values = call->values, .call = call };
	int code;

	if (run.values->callers)
		return run_callers(call);
	if (run.values->least >= 0)
		return print_failure(CODE_USAGE, "--percent-limit needs --call-graph");
	code = make_diff(&run);
	if (code == CODE_OK)
		code = compare(&run);
	pd_diff_gate_free(run.gate);
	pd_diff_free(run.diff);
	return code;
}

const struct command cmd_diff = {
	.usage = "[OPTION]... [OLD[,OLD...] [NEW[,NEW...]]... | STORE OLD NEW...]",
	.text = "Compare recordings with the first one, OLD (default: perf.data.old and perf.data): a row for each function, or for each "
		"group of samples that --sort names, in every event of OLD. Functions are matched by object and name, not by address.\n"
		"\n"
		"Baseline is the share of a row in OLD. Next to it, for each other recording: delta and delta-abs, the difference of the shares "
		"in percentage points, sorted with its sign or without; ratio, NEW / OLD of the periods, which are not normalised; "
		"wdiff:OLD,NEW, the difference of the periods, each times a weight; cycles, those of basic blocks of functions that both have, from branch stacks (record -b). A row that only OLD has shows nothing there, and one that "
		"OLD lacks has no baseline.\n"
		"\n"
		"With several runs of a side, separated by commas, or --significance, each row is tested: real, maybe or noise. Functions are then "
		"also matched without what compilers add to names (.cold, .part.0, .llvm.123, hashes, numbers of closures), and then, where only one "
		"side has a name, by file and line; a function that is gone as a caller took it in is marked (inlined into f now). The test is one of the "
		"arcsine of the root of each run's share, with a variance that is moderated by that of all rows, adjusted for the number of rows "
		"(Benjamini-Hochberg, 5 %; maybe: 20 %). A change under 2 % of the row or 0.1 points of all is never real, and none is with a "
		"single run on a side: variation between runs is unknown then. Record the runs alternately, three or more of each.\n"
		"\n"
		"Shares of all rows change when one does. Where every run does the same work, --per run tests the time (or the count) of each row "
		"instead, which finds smaller changes; --per N divides it by the number of operations of a run, --per EVENT by the count of "
		"an event that was recorded, such as a tracepoint, --per wall by the seconds of the recording. Change is of the old total "
		"then, growth of the row.\n"
		"\n"
		"What makes recordings hard to compare, such as another CPU, command, event or rate, or lost samples, is reported on standard "
		"error.\n"
		"\n"
		"A condition of --fail-on is terms joined by and: change (or self) > 2%, in percentage points; growth > 10%, of the old share; old "
		"and new; significant (or real), which no change is with a single run on a side; maybe, which includes real. Without one of "
		"these words it holds for noise, too. Rows that meet it are listed on standard error.\n"
		"\n"
		"With -g the tree of callers below each function tells who brought its change; shares are of all, and what changed by less than half a "
		"point is left out. Of several events it is the first one with samples, unless --event names another.\n"
		"\n"
		"Else only the function of a sample counts, not its callers. An event is compared with the first one of equal type and "
		"configuration.",
	OPTIONS(options),
	HOW(how),
	DEFAULTS(.text.size = sizeof(struct pd_diff_text_options), .variation = -1, .least = -1),
	EXAMPLES(
		{ "perfdata diff old.data new.data", "which functions take another share of the time" },
		{ "perfdata diff a1.data,a2.data,a3.data b1.data,b2.data,b3.data",
		  "three runs of each: which changes are real" },
		{ "perfdata diff a1.data,a2.data,a3.data b1.data,b2.data,b3.data --markdown --fail-on 'change > 1% and significant'",
		  "fail a build in which a function became slower" },
		{ "perfdata diff --per run a1.data,a2.data,a3.data b1.data,b2.data,b3.data",
		  "the same, by the time that each function takes, as all runs did the same work" },
		{ "perfdata diff -g old.data new.data", "which callers brought the changes" },
		{ "perfdata diff -c ratio -p old.data new.data", "by ratio of the periods, which are shown" },
		{ "perfdata diff -s comm,dso one.data two.data three.data",
		  "by program and object, two recordings compared with one" }),
	.usual = "compute order sort period baseline-only significance per fail-on json comms dsos symbols time",
	.max_words = SIZE_MAX,
	.run = run_diff,
};
