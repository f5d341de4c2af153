/* SPDX-License-Identifier: MIT */
/* perfdata stat: counts, as perf stat has them; and stat record, which keeps them, and stat report, which prints them. */
#include "files/input.h"
#include "options/describe.h"
#include "stat/live.h"

#include <stdlib.h>
#include <string.h>

#undef VALUES
#define VALUES struct stat_values

static const struct option options[] = {
	GROUP(record_target_group, recording),
	FLAG("g", 'g', recording.group, "like --group"),
	OPTION("detailed", 'd', TAGGED, NULL, detailed,
	       "add cache events; -dd adds instruction cache and TLBs, -ddd prefetches"),
	STRING("metrics", 'M', "LIST", metrics,
	       "count the events of these metrics: IPC, branch-misses, cache-misses, CPUs-utilized, frequency, stalls ..."),
	GROUP(metric_only_option, session.printing.metric_only),
	FLAG("topdown", 0, topdown, "top-down analysis of pipeline slots, implies --metric-only (Intel)"),
	FLAG("transaction", 'T', transaction, "transactional cycles, and how many were aborted (Intel)"),
	NUMBER("repeat", 'r', "N", repeat,
	       "run the command N times, print mean and standard deviation; 0: repeat forever, print each run"),
	FLAG("table", 0, session.printing.run_table, "print the elapsed time of each run of --repeat"),
	NUMBER("interval-print", 'I', "MS", interval_ms, "print counts every MS milliseconds"),
	NUMBER("interval-count", 0, "N", interval_count, "stop after N intervals"),
	FLAG("interval-clear", 0, session.repeat_heading, "clear the screen before each interval"),
	FLAG("summary", 0, session.summary, "with -I, also print a summary at the end"),
	FLAG("no-csv-summary", 0, no_csv_summary, "omit the word summary in CSV"),
	NUMBER("timeout", 0, "MS", timeout_ms, "stop after MS milliseconds"),
	GROUP(stat_form_group, session.printing),
	STRING("output", 'o', "FILE", output,
	       "write to this file instead of standard error; stat record: the perf.data file"),
	FLAG("append", 0, append, "append to the output file"),
	NUMBER("log-fd", 0, "FD", log_fd, "write to this file descriptor"),
	GROUP(stat_by_group, by),
	FLAG("percore-show-thread", 0, session.printing.percore_show_thread,
	     "with -A, counts of events with the term percore for each CPU, not each core; they are those of the whole core"),
	FLAG("per-thread", 0, per_thread, "count each thread separately"),
	FLAG("big-num", 'B', big_num, "no effect: thousands separators are the default"),
	FLAG("no-big-num", 0, no_big_num, "print numbers without thousands separators"),
	FLAG("scale", 0, scale, "no effect: counts are scaled by default"),
	FLAG("no-scale", 0, session.printing.no_scale, "do not scale counts of multiplexed events"),
	FLAG("null", 'n', null, "count nothing, print only times"),
	FLAG("sync", 'S', sync, "call sync() before the start"),
	STRING("pre", 0, "LINE", pre, "shell command to run before each run"),
	STRING("post", 0, "LINE", post, "shell command to run after each run"),
	RECORDER("delay", 'D', "MS", recording.wanted,
		 "start counting after MS milliseconds; -1: when enabled by --control"),
	GROUP(control_option, control),
	STRING("for-each-cgroup", 0, "LIST", for_each_cgroup, "count all events in each of these cgroups"),
	FLAG("metric-no-group", 0, no_effect, "no effect: events of metrics are counted without groups"),
	FLAG("metric-no-merge", 0, no_effect, "no effect: each metric of --metrics has its own events"),
	FLAG("metric-no-threshold", 0, no_effect, "no effect: metrics have no thresholds"),
	FLAG("affinity", 0, no_effect, "no effect: the thread that reads counters does not move between CPUs"),
	FLAG("no-merge", 0, no_effect, "no effect: events with the same name are never merged"),
	GROUP(all_user_option, recording.wanted.sampling.all_user),
	GROUP(all_kernel_option, recording.wanted.sampling.all_kernel),
	FLAG("quiet", 0, quiet, "do not print counts"),
	FLAG("verbose", 'v', verbose, "also print raw counts"),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata stat -- make", "count events of make and its child processes" },
	{ "perfdata stat -r 10 -e task-clock,page-faults -- ./app", "mean and deviation of ten runs" },
	{ "perfdata stat -a --per-core -I 1000", "counts per core, every second" },
	{ "perfdata stat -e 'syscalls:sys_enter_*' -p 4711 --timeout 5000",
	  "count system calls of a process for 5 seconds" },
	{ "perfdata stat -x, -o counts.csv -- ./app", "CSV output (-j: JSON)" },
	{ "perfdata stat record -a -I 100 -- sleep 5", "also write the counts to perf.data" },
	{ "perfdata stat report --per-socket", "print recorded counts, aggregated per socket" },
	{ 0 },
};

/* ---- stat record ---- */

static int run_record(const struct call *call)
{
	const struct stat_values *values = call->values;

	return stat_live(values, call, values->output ? values->output : "perf.data");
}

static const struct command cmd_stat_record = {
	.usage = "[OPTION]... [--] [COMMAND [ARGUMENT]...]",
	.text = "Like perfdata stat, with the same options; also writes the counts of every interval to a perf.data file.",
	TABLES(options, examples, struct stat_values),
	.max_words = (size_t)-1,
	.ends_at_word = true,
	.run = run_record,
};

/* ---- stat report ---- */

struct report_values {
	const char *input;
	struct stat_by_values by;
	struct pd_stat_options printing;
	bool quiet;
};

#undef VALUES
#define VALUES struct report_values

static const struct option report_options[] = {
	GROUP(input_option, input), /* of input_group only this and --quiet */
	GROUP(stat_by_group, by),
	GROUP(stat_form_group, printing),
	GROUP(metric_only_option, printing.metric_only),
	GROUP(quiet_option, quiet),
	{ 0 },
};

static int run_report(const struct call *call)
{
	const struct report_values *values = call->values;
	const struct input_options where = { .path = values->input, .quiet = values->quiet };
	struct pd_stat_options printing = values->printing;
	struct input input;
	struct pd_error error;
	int code;

	printing.size = sizeof(printing);
	printing.big_numbers = true;
	printing.locale = "";
	printing.warn = print_warning;
	if (!stat_form_take(&printing) || !stat_by_take(&values->by, &printing))
		return CODE_USAGE;
	code = input_open(&input, &where, call, NULL, NULL);
	if (code != CODE_OK)
		return code;
	code = code_with_error(pd_stat_report(input.file, &printing, call->out->text, &error), &error);
	return input_close(&input, code);
}

static const struct command cmd_stat_report = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print the counts of a file written by stat record, in the format of stat.",
	TABLES(report_options, examples, struct report_values),
	.max_words = 1,
	.run = run_report,
};

/* ---- all three ---- */

/* Takes the command line anew, without the word that says which command it is: options stand on both sides. */
static int run_part(const struct command_line *line, const struct call *call)
{
	const struct command *command = line->command;
	struct parsed parsed;
	size_t count = 0, own = 0;
	char **words;
	int code = CODE_USAGE;

	while (call->arguments[count])
		count++;
	words = calloc(count + 1, sizeof(*words));
	if (!words)
		return print_failure(CODE_USAGE, "out of memory");
	for (size_t i = 0; i < count; i++)
		if (i != count - call->word_count)
			words[own++] = (char *)call->arguments[i];
	if (options_parse(command, (int)own, words, NULL, &parsed)) {
		struct call part = *call;

		part.values = parsed.values;
		part.words = parsed.words.items;
		part.word_count = parsed.words.count;
		if (parsed.common.help) {
			code = describe_command(call->out->text, line, manual_help);
		} else {
			code = command->run(&part);
		}
	}
	options_fini(command, &parsed);
	free(words);
	return code;
}

static int run_stat(const struct call *call)
{
	static const struct command_line parts[] = {
		{ "stat record", &cmd_stat_record, "count, and write the counts into a perf.data, too" },
		{ "stat report", &cmd_stat_report, "print counts that stat record wrote" },
	};

	for (size_t i = 0; i < 2 && call->word_count; i++)
		if (!strcmp(call->words[0], parts[i].name + strlen("stat ")))
			return run_part(&parts[i], call);
	return stat_live(call->values, call, NULL);
}

const struct command cmd_stat = {
	.usage = "[OPTION]... [--] [COMMAND [ARGUMENT]...]",
	.text = "Count events of COMMAND or of running processes, and print counts and derived metrics. The options and the output "
		"are those of perf stat. Without COMMAND and target, count system-wide until you press Ctrl-C. Events that this "
		"machine lacks are printed as not supported. Metrics of -M: {metrics}.\n\n"
		"perfdata stat record [OPTION]... COMMAND also writes the counts to a perf.data file (-o FILE). perfdata stat report "
		"[-i FILE] prints them; it accepts --per-core, --per-cluster, --per-cache, --per-die, --per-socket, --per-node, --no-aggr, --metric-only, --field-separator "
		"and --json.\n\n"
		"Counts are printed to standard error, separate from the output of COMMAND; those of stat report to standard output. "
		"The exit status is that of COMMAND; 127 if it cannot be executed, 128 plus the signal number if a signal stopped the counting.",
	TABLES(options, examples, struct stat_values),
	.usual = "event all-cpus pid detailed repeat interval-print output",
	.max_words = (size_t)-1,
	.ends_at_word = true,
	.live = true,
	.run = run_stat,
};
