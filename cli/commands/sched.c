/* SPDX-License-Identifier: MIT */
/*
 * perfdata sched timehist: switches and wakeups as perf sched timehist prints them.
 */
#include "files/input.h"

#include <perfdata/sched.h>

#include <string.h>

struct values {
	struct input_options input;
	struct pd_timehist_options how;
	bool no_call_graph;
};

static const struct option options[] = {
	FLAG("summary", 's', how.summary_only, "print a table of threads only"),
	FLAG("with-summary", 'S', how.summary, "print a table of threads after the switches"),
	FLAG("wakeups", 'w', how.wakeups, "print wakeups, too"),
	FLAG("next", 'n', how.next, "print the next thread of each switch"),
	FLAG("migrations", 'M', how.migrations, "print migrations, and count them in the table"),
	FLAG("cpu-visual", 'V', how.cpu_visual, "print a column for each CPU"),
	FLAG("idle-hist", 'I', how.idle, "print idle time only, by the thread that ran before"),
	FLAG("state", 0, how.state,
	     "print the state in which threads are switched out; in the table, how long they waited by state"),
	FLAG("no-call-graph", 0, no_call_graph, "do not warn that call chains are not printed"),
	GROUP(input_group, input),
	{ 0 },
};

static const struct example examples[] = {
	{ "perf sched record -- make", "record switches and wakeups" },
	{ "perfdata sched timehist perf.data", "each switch, with how long the thread waited and ran" },
	{ "perfdata sched timehist -s perf.data", "how long each thread ran" },
	{ "perfdata sched timehist -s --state perf.data",
	  "how long each thread slept, waited for disks, and for a CPU" },
	{ 0 },
};

static int print(struct input *input, const struct values *values, struct output *out)
{
	struct pd_timehist_options how = values->how;
	struct pd_error error;
	enum pd_status status;

	how.size = sizeof(how);
	status = pd_print_timehist(out->text, input->file, &how, &error);

	if (status == PD_ERROR_OUTPUT)
		return CODE_OK;
	if (status == PD_ERROR_NO_SAMPLES)
		return print_failure(CODE_NO_SAMPLES, "%s: %s", input->name, error.message);
	if (status < 0)
		return code_with_error(status, &error);
	output_flush(out);
	if (how.has_chains && !values->no_call_graph && !how.summary_only && !input->quiet)
		print_error("%s: samples have call chains, which are not printed here; see perfdata script",
			    input->name);
	return CODE_OK;
}

static int run_sched(const struct call *call)
{
	const struct values *values = call->values;
	struct input_options from = values->input;
	struct call rest = *call;
	struct input input;
	int code;

	if (!call->word_count || strcmp(call->words[0], "timehist") != 0)
		return print_failure(CODE_USAGE, "perfdata sched: 'timehist' is all there is");
	if (values->how.summary_only && (values->how.wakeups || values->how.next))
		return print_failure(CODE_USAGE, "-s and -%c cannot be combined", values->how.wakeups ? 'w' : 'n');
	rest.words++;
	rest.word_count--;
	from.keep = true; /* time order may need two passes */
	code = input_open(&input, &from, &rest, NULL, NULL);
	if (code != CODE_OK)
		return code;
	return input_close(&input, print(&input, values, call->out));
}

const struct command cmd_sched = {
	.usage = "timehist [OPTION]... [FILE]",
	.text = "Print the context switches of FILE as perf sched timehist of perf 6.1 does, byte for byte: when a thread was switched out, "
		"how long it had waited until it was woken (wait time), then for a CPU (sch delay), and how long it ran (run time). FILE has "
		"sched:sched_switch, and for delays sched:sched_waking or sched:sched_wakeup (perf sched record).\n"
		"\n"
		"Offsets, sizes and signs of fields are those of the formats in FILE, so recordings of any kernel and architecture can be read. "
		"Call chains are not printed: with --no-call-graph, perf prints none either.",
	OWN_TABLES,
	.usual = "summary with-summary wakeups next migrations state input",
	.max_words = 2,
	.run = run_sched,
};
