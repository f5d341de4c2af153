/* SPDX-License-Identifier: MIT */
/* perfdata stat: counts, as perf stat has them; and stat record, which keeps them, and stat report, which prints them. */
#include "stat_live.h"

#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
	RECORD_TARGET_OPTIONS(struct stat_values, targets),
	{ "g", 'g', OPTION_FLAG, NULL, offsetof(struct stat_values, g), "as --group" },
	{ "detailed", 'd', OPTION_TAGGED, NULL, offsetof(struct stat_values, detailed),
	  "caches, too; twice: instruction cache and TLBs; three times: prefetches" },
	{ "metrics", 'M', OPTION_STRING, "LIST", offsetof(struct stat_values, metrics),
	  "the events of IPC, branch-misses, cache-misses, CPUs-utilized, frequency, stalls ..." },
	STAT_METRIC_ONLY_OPTION(struct stat_values, metric_only),
	{ "topdown", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, topdown),
	  "what became of the slots of the pipeline, as --metric-only; Intel" },
	{ "transaction", 'T', OPTION_FLAG, NULL, offsetof(struct stat_values, transaction),
	  "cycles in transactions, and how many were for nothing; Intel" },
	{ "repeat", 'r', OPTION_NUMBER, "N", offsetof(struct stat_values, repeat),
	  "run the command so often, print means and how far runs differ; 0: without end, each for itself" },
	{ "table", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, table), "times of the single runs of --repeat" },
	{ "interval-print", 'I', OPTION_NUMBER, "MS", offsetof(struct stat_values, interval_ms),
	  "print what was counted every so many ms" },
	{ "interval-count", 0, OPTION_NUMBER, "N", offsetof(struct stat_values, interval_count), "so often" },
	{ "interval-clear", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, interval_clear), "clear the screen before" },
	{ "summary", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, summary), "and print all at the end" },
	{ "no-csv-summary", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, no_csv_summary),
	  "without the word summary in CSV" },
	{ "timeout", 0, OPTION_NUMBER, "MS", offsetof(struct stat_values, timeout_ms), "end after so many ms" },
	{ "field-separator", 'x', OPTION_STRING, "TEXT", offsetof(struct stat_values, separator), "CSV with this separator" },
	{ "json-output", 'j', OPTION_FLAG, NULL, offsetof(struct stat_values, json_output), "a JSON object a line" },
	{ "json", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, json), "the same" },
	{ "output", 'o', OPTION_STRING, "FILE", offsetof(struct stat_values, output),
	  "print into a file, not to standard error; of stat record: the perf.data" },
	{ "append", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, append), "behind what is in it" },
	{ "log-fd", 0, OPTION_NUMBER, "FD", offsetof(struct stat_values, log_fd), "print to this descriptor" },
	STAT_BY_OPTIONS(struct stat_values, by),
	{ "per-thread", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, per_thread), "counts of each thread" },
	{ "big-num", 'B', OPTION_FLAG, NULL, offsetof(struct stat_values, big_num),
	  "has no effect: large numbers have the separators of the locale anyway" },
	{ "no-big-num", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, no_big_num), "numbers without separators" },
	{ "scale", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, scale), "has no effect: counts are scaled anyway" },
	{ "no-scale", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, no_scale),
	  "do not scale counts of events that shared a counter" },
	{ "null", 'n', OPTION_FLAG, NULL, offsetof(struct stat_values, null), "only times" },
	{ "sync", 'S', OPTION_FLAG, NULL, offsetof(struct stat_values, sync), "write all files back before" },
	{ "pre", 0, OPTION_STRING, "LINE", offsetof(struct stat_values, pre), "run this by the shell before each run" },
	{ "post", 0, OPTION_STRING, "LINE", offsetof(struct stat_values, post), "and this behind it" },
	{ "delay", 'D', OPTION_STRING, "MS", offsetof(struct stat_values, delay),
	  "begin to count so many ms after the start; -1: when --control says so" },
	{ "control", 0, OPTION_STRING, "WHERE", offsetof(struct stat_values, control),
	  "take commands: fd:IN[,OUT] or fifo:IN[,OUT]; enable, disable, evlist, ping, stop" },
	{ "for-each-cgroup", 0, OPTION_STRING, "LIST", offsetof(struct stat_values, for_each_cgroup),
	  "all events in each of these cgroups" },
	{ "no-merge", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, no_merge),
	  "has no effect: events of one name are never merged" },
	{ "all-user", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, all_user), "only in user space" },
	{ "all-kernel", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, all_kernel), "only in the kernel" },
	{ "quiet", 0, OPTION_FLAG, NULL, offsetof(struct stat_values, quiet), "print no counts" },
	{ "verbose", 'v', OPTION_FLAG, NULL, offsetof(struct stat_values, verbose), "print counts as they were read, too" },
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata stat -- make", "what make and all it starts cost" },
	{ "perfdata stat -r 10 -e task-clock,page-faults -- ./app", "how much ten runs differ" },
	{ "perfdata stat -a --per-core -I 1000", "what each core does, every second" },
	{ "perfdata stat -e 'syscalls:sys_enter_*' -p 4711 --timeout 5000", "how often a process called what, in 5 s" },
	{ "perfdata stat -x, -o counts.csv -- ./app", "for a spreadsheet; -j for a program" },
	{ "perfdata stat record -a -I 100 -- sleep 5", "into perf.data" },
	{ "perfdata stat report --per-socket", "and out of it, summed up in another way" },
	{ 0 },
};

bool stat_by_given(const struct stat_by_values *values, enum stat_by *by_out)
{
	const struct {
		bool given;
		enum stat_by by;
	} ways[] = { { values->core, STAT_BY_CORE }, { values->die, STAT_BY_DIE }, { values->socket, STAT_BY_SOCKET },
		     { values->node, STAT_BY_NODE }, { values->no_aggregation, STAT_BY_CPU } };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (ways[i].given) {
			*by_out = ways[i].by;
			return true;
		}
	}
	return false;
}

/* ---- stat record ---- */

static int run_record(const struct call *call)
{
	const struct stat_values *values = call->values;

	return stat_live(values, call, values->output ? values->output : "perf.data");
}

static const struct command cmd_stat_record = {
	.usage = "[OPTION]... [--] [COMMAND [ARGUMENT]...]",
	.text = "Counts as perfdata stat does, with its options, and writes the counts of every round into a perf.data, too.",
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
	{ "input", 'i', OPTION_STRING, "FILE", offsetof(struct report_values, input), "file to read; - is standard input" },
	STAT_BY_OPTIONS(struct report_values, by),
	{ "field-separator", 'x', OPTION_STRING, "TEXT", offsetof(struct report_values, separator), "CSV with this separator" },
	{ "json-output", 'j', OPTION_FLAG, NULL, offsetof(struct report_values, json_output), "a JSON object a line" },
	{ "json", 0, OPTION_FLAG, NULL, offsetof(struct report_values, json), "the same" },
	STAT_METRIC_ONLY_OPTION(struct report_values, metric_only),
	{ "quiet", 'q', OPTION_FLAG, NULL, offsetof(struct report_values, quiet), "do not tell problems of the file" },
	{ 0 },
};

static int run_report(const struct call *call)
{
	const struct report_values *values = call->values;
	const struct stat_report_options wanted = {
		.path = values->input, .by = &values->by, .json = values->json || values->json_output, .quiet = values->quiet,
		.metric_only = values->metric_only,
		.separator = values->separator && !strcmp(values->separator, "\\t") ? "\t" : values->separator };

	if (wanted.json && wanted.separator) {
		complain("CSV or JSON: give one of --field-separator and --json");
		return CODE_USAGE;
	}
	return stat_report(&wanted, call);
}

static const struct command cmd_stat_report = {
	.usage = "[OPTION]... [FILE]",
	.text = "Prints the counts that stat record wrote, as stat prints them.",
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
		complain("out of memory");
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
			code = CODE_FINE;
		} else {
			code = command->run(&part);
		}
	}
	options_fini(command, &parsed);
	free(words);
	return code;
}

static int run(const struct call *call)
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
	.text = "Counts events while COMMAND runs, or of what runs already, and prints the counts with what follows from them, as "
		"perf stat does and with its options. Without COMMAND and target everything is counted until ^C. An event that "
		"this machine does not have is printed as not supported.\n\n"
		"perfdata stat record [OPTION]... COMMAND writes the counts into a perf.data (-o FILE), too. perfdata stat report "
		"[-i FILE] prints these; it takes --per-core, --per-die, --per-socket, --per-node, --no-aggr, --metric-only, --field-separator "
		"and --json.\n\n"
		"Counts go to standard error, so that they are not in the way of what COMMAND prints; those of stat report go to "
		"standard output. The exit code is that of COMMAND; 127 if it cannot be run, 128 and the number of the signal that "
		"ended the counting.",
	.options = options,
	.examples = examples,
	.usual = "event all-cpus pid detailed repeat interval-print output",
	.values_size = sizeof(struct stat_values),
	.max_words = (size_t)-1,
	.ends_at_word = true,
	.live = true,
	.run = run,
};
