/* SPDX-License-Identifier: MIT */
/* perfdata stat: counts, as perf stat has them; and stat record, which keeps them, and stat report, which prints them. */
#include "files/input.h"
#include "stat/live.h"

#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
	RECORD_TARGET_OPTIONS(struct stat_values, targets),
	{ "g", 'g', OPTION_FLAG, NULL, offsetof(struct stat_values, g), "like --group" },
	{ "detailed", 'd', OPTION_TAGGED, NULL, offsetof(struct stat_values, detailed),
	  "add cache events; -dd adds instruction cache and TLBs, -ddd prefetches" },
	{ "metrics", 'M', OPTION_STRING, "LIST", offsetof(struct stat_values, metrics),
	  "count the events of these metrics: IPC, branch-misses, cache-misses, CPUs-utilized, frequency, stalls ..." },
	STAT_METRIC_ONLY_OPTION(struct stat_values, metric_only),
	{ "topdown", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, topdown),
	  "top-down analysis of pipeline slots, implies --metric-only (Intel)" },
	{ "transaction", 'T', OPTION_FLAG, NULL, offsetof(struct stat_values, transaction),
	  "transactional cycles, and how many were aborted (Intel)" },
	{ "repeat", 'r', OPTION_NUMBER, "N", offsetof(struct stat_values, repeat),
	  "run the command N times, print mean and standard deviation; 0: repeat forever, print each run" },
	{ "table", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, table),
	  "print the elapsed time of each run of --repeat" },
	{ "interval-print", 'I', OPTION_NUMBER, "MS", offsetof(struct stat_values, interval_ms),
	  "print counts every MS milliseconds" },
	{ "interval-count", 0, OPTION_NUMBER, "N", offsetof(struct stat_values, interval_count),
	  "stop after N intervals" },
	{ "interval-clear", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, interval_clear),
	  "clear the screen before each interval" },
	{ "summary", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, summary),
	  "with -I, also print a summary at the end" },
	{ "no-csv-summary", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, no_csv_summary),
	  "omit the word summary in CSV" },
	{ "timeout", 0, OPTION_NUMBER, "MS", offsetof(struct stat_values, timeout_ms), "stop after MS milliseconds" },
	{ "field-separator", 'x', OPTION_STRING, "TEXT", offsetof(struct stat_values, separator),
	  "print CSV with this separator" },
	{ "json-output", 'j', OPTION_FLAG, NULL, offsetof(struct stat_values, json_output),
	  "print JSON, one object per line" },
	{ "json", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, json), "same as --json-output" },
	{ "output", 'o', OPTION_STRING, "FILE", offsetof(struct stat_values, output),
	  "write to this file instead of standard error; stat record: the perf.data file" },
	{ "append", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, append), "append to the output file" },
	{ "log-fd", 0, OPTION_NUMBER, "FD", offsetof(struct stat_values, log_fd), "write to this file descriptor" },
	STAT_BY_OPTIONS(struct stat_values, by),
	{ "per-thread", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, per_thread),
	  "count each thread separately" },
	{ "big-num", 'B', OPTION_FLAG, NULL, offsetof(struct stat_values, big_num),
	  "no effect: thousands separators are the default" },
	{ "no-big-num", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, no_big_num),
	  "print numbers without thousands separators" },
	{ "scale", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, scale),
	  "no effect: counts are scaled by default" },
	{ "no-scale", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, no_scale),
	  "do not scale counts of multiplexed events" },
	{ "null", 'n', OPTION_FLAG, NULL, offsetof(struct stat_values, null), "count nothing, print only times" },
	{ "sync", 'S', OPTION_FLAG, NULL, offsetof(struct stat_values, sync), "call sync() before the start" },
	{ "pre", 0, OPTION_STRING, "LINE", offsetof(struct stat_values, pre), "shell command to run before each run" },
	{ "post", 0, OPTION_STRING, "LINE", offsetof(struct stat_values, post), "shell command to run after each run" },
	{ "delay", 'D', OPTION_STRING, "MS", offsetof(struct stat_values, delay),
	  "start counting after MS milliseconds; -1: when enabled by --control" },
	{ "control", 0, OPTION_STRING, "WHERE", offsetof(struct stat_values, control),
	  "read commands (enable, disable, evlist, ping, stop) from fd:IN[,OUT] or fifo:IN[,OUT]" },
	{ "for-each-cgroup", 0, OPTION_STRING, "LIST", offsetof(struct stat_values, for_each_cgroup),
	  "count all events in each of these cgroups" },
	{ "no-merge", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, no_merge),
	  "no effect: events with the same name are never merged" },
	{ "all-user", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, all_user), "count only in user space" },
	{ "all-kernel", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, all_kernel), "count only in the kernel" },
	{ "quiet", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, quiet), "do not print counts" },
	{ "verbose", 'v', OPTION_FLAG, NULL, offsetof(struct stat_values, verbose), "also print raw counts" },
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
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct stat_values),
	.max_words = (size_t)-1,
	.ends_at_word = true,
	.run = run_record,
};

/* ---- stat report ---- */

struct report_values {
	const char *input;
	struct stat_by_values by;
	const char *separator;
	bool json_output, json, quiet, metric_only;
};

static const struct option report_options[] = {
	{ "input", 'i', OPTION_STRING, "FILE", offsetof(struct report_values, input),
	  "file to read; - is standard input" },
	STAT_BY_OPTIONS(struct report_values, by),
	{ "field-separator", 'x', OPTION_STRING, "TEXT", offsetof(struct report_values, separator),
	  "print CSV with this separator" },
	{ "json-output", 'j', OPTION_FLAG, NULL, offsetof(struct report_values, json_output),
	  "print JSON, one object per line" },
	{ "json", 0, OPTION_FLAG, NULL, offsetof(struct report_values, json), "same as --json-output" },
	STAT_METRIC_ONLY_OPTION(struct report_values, metric_only),
	{ "quiet", 'q', OPTION_FLAG, NULL, offsetof(struct report_values, quiet), "suppress warnings about the file" },
	{ 0 },
};

static void warn(void *self, const char *message)
{
	(void)self;
	print_error("%s", message);
}

static int run_report(const struct call *call)
{
	const struct report_values *values = call->values;
	const struct input_options where = { .path = values->input, .quiet = values->quiet };
	struct pd_stat_options printing = {
		.size = sizeof(printing),
		.json = values->json || values->json_output,
		.metric_only = values->metric_only,
		.separator = values->separator && !strcmp(values->separator, "\\t") ? "\t" : values->separator,
		.big_numbers = true,
		.locale = "",
		.warn = warn,
	};
	struct input input;
	struct pd_error error;
	int code;

	if (printing.json && printing.separator) {
		print_error("--field-separator and --json are mutually exclusive");
		return CODE_USAGE;
	}
	printing.by_given = stat_by_given(&values->by, &printing.by);
	code = input_open(&input, &where, call, NULL, NULL);
	if (code != CODE_OK)
		return code;
	code = code_with_error(pd_stat_report(input.file, &printing, call->out->text, &error), &error);
	return input_close(&input, code);
}

static const struct command cmd_stat_report = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print the counts of a file written by stat record, in the format of stat.",
	.options = report_options,
	.examples = examples,
	.values_size = sizeof(struct report_values),
	.max_words = 1,
	.run = run_report,
};

/* ---- all three ---- */

/* Takes the command line anew, without the word that says which command it is: options may stand before and behind. */
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
	if (!words) {
		print_error("out of memory");
		return CODE_USAGE;
	}
	for (size_t i = 0; i < count; i++)
		if (i != count - call->word_count)
			words[own++] = (char *)call->arguments[i];
	if (options_parse(command, (int)own, words, &parsed)) {
		struct call part = *call;

		part.values = parsed.values;
		part.words = parsed.words.items;
		part.word_count = parsed.words.count;
		if (parsed.common.help) {
			help_command(call->out->text, line);
			code = CODE_OK;
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
		"[-i FILE] prints them; it accepts --per-core, --per-die, --per-socket, --per-node, --no-aggr, --metric-only, --field-separator "
		"and --json.\n\n"
		"Counts are printed to standard error, separate from the output of COMMAND; those of stat report to standard output. "
		"The exit status is that of COMMAND; 127 if it cannot be executed, 128 plus the signal number if a signal stopped the counting.",
	.options = options,
	.examples = examples,
	.usual = "event all-cpus pid detailed repeat interval-print output",
	.values_size = sizeof(struct stat_values),
	.max_words = (size_t)-1,
	.ends_at_word = true,
	.live = true,
	.run = run_stat,
};
