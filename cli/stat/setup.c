/* SPDX-License-Identifier: MIT */
/* What perfdata stat is asked for: events, targets, times, runs, output. */
#include "stat/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef VALUES
#define VALUES struct stat_by_values

static const struct option by_lines[] = {
	OPTION("per-core", 0, TAGGED, NULL, ways, "counts of each core"),
	OPTION("per-cluster", 0, TAGGED, NULL, ways, "counts of each cluster of cores"),
	OPTION("per-cache", 0, TAGGED_ATTACHED, "LEVEL", ways,
	       "counts of the CPUs that share a cache of this level, L1 to L4; default: the last level"),
	OPTION("per-die", 0, TAGGED, NULL, ways, "counts of each die"),
	OPTION("per-socket", 0, TAGGED, NULL, ways, "counts of each socket"),
	OPTION("per-node", 0, TAGGED, NULL, ways, "counts of each NUMA node"),
	OPTION("no-aggr", 'A', TAGGED, NULL, ways, "counts of each CPU"),
	{ 0 },
};

const struct option_group stat_by_group = { HEADING_OWN, by_lines };

#undef VALUES
#define VALUES struct pd_stat_options

static const struct option form_lines[] = {
	STRING("field-separator", 'x', "TEXT", separator, "print CSV with this separator"),
	FLAG("json-output", 'j', json, "print JSON, one object per line"),
	FLAG("json", 0, json, "same as --json-output"),
	{ 0 },
};

const struct option_group stat_form_group = { HEADING_OWN, form_lines };

enum {
	MOST_RUNS = 100,
	LEAST_TIMEOUT_MS = 10,
	NS_OF_MS = 1000000
};

/* L2, as perf has it; "" is the last level. */
static bool take_level(const char *text, unsigned *level_out)
{
	bool is_level = (*text == 'L' || *text == 'l') && text[1] >= '1' && text[1] < '1' + PD_STAT_CACHE_LEVELS &&
			!text[2];

	*level_out = is_level ? (unsigned)(text[1] - '0') : 0;
	return is_level || !*text ||
	       print_error("option --per-cache: '%s' is no level; it must be L1 to L%d", text, PD_STAT_CACHE_LEVELS);
}

bool stat_by_take(const struct stat_by_values *values, struct pd_stat_options *printing)
{
	static const struct {
		const char *name;
		enum pd_stat_by by;
	} ways[] = { { "per-core", PD_STAT_BY_CORE },     { "per-cluster", PD_STAT_BY_CLUSTER },
		     { "per-cache", PD_STAT_BY_CACHE },   { "per-die", PD_STAT_BY_DIE },
		     { "per-socket", PD_STAT_BY_SOCKET }, { "per-node", PD_STAT_BY_NODE },
		     { "no-aggr", PD_STAT_BY_CPU } };
	const struct option_tags *given = &values->ways;

	for (size_t i = 0; i < given->count; i++)
		if (!strcmp(given->items[i].name, "per-cache") &&
		    !take_level(given->items[i].value, &printing->cache_level))
			return false;
	for (size_t i = 0; given->count && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(given->items[given->count - 1].name, ways[i].name) == 0)
			printing->by = ways[i].by;
	printing->by_given = given->count != 0;
	return true;
}

/* ---- what is wanted ---- */

static bool is_system_wide(const struct stat_setup *setup)
{
	const struct pd_targets *targets = &setup->record.options.targets;

	return targets->all || targets->cpus;
}

static bool is_added(enum pd_status status, const struct pd_error *error)
{
	if (status < 0)
		print_error("%s", error->message);
	return status >= 0;
}

static bool add_transactions(struct stat_setup *setup)
{
	if (pd_stat_add_transactions(setup->record.events))
		return true;
	return print_error(
		"option --transaction: no event cpu/tx-start/: the CPU lacks TSX, it is disabled, or no hardware counters are "
		"available (virtual machine?)");
}

static bool add_topdown(struct stat_setup *setup)
{
	bool per_core;

	if (!pd_stat_add_topdown(setup->record.events, &per_core))
		return print_error(
			"option --topdown: no events slots, topdown-retiring ... or topdown-total-slots ...: they need an Intel CPU with "
			"hardware counters (virtual machine?)");
	if (!per_core)
		return true;
	if (!is_system_wide(setup))
		return print_error("option --topdown: slots are counted per core on this machine; use -a");
	setup->session.printing.by = PD_STAT_BY_CORE;
	return true;
}

/* Those that are counted when nothing was said. */
static bool add_missing_events(struct stat_setup *setup)
{
	const struct stat_values *values = setup->values;
	bool usual = !record_has_events(&values->recording) && !values->metrics;
	struct pd_error error;

	if (values->null)
		return true;
	if (values->metrics) {
		enum pd_status status = pd_stat_add_metrics(setup->record.events, values->metrics, &error);

		if (status == PD_ERROR_NO_MATCH)
			return print_error("option --metrics: %s", error.message);
		if (!is_added(status, &error))
			return false;
	}
	if (values->transaction)
		return add_transactions(setup);
	if (values->topdown)
		return add_topdown(setup);
	return is_added(pd_stat_add_events(setup->record.events, usual, is_system_wide(setup),
					   (unsigned)values->detailed.count, &error),
			&error);
}

static bool take_targets(struct stat_setup *setup)
{
	const struct stat_values *values = setup->values;
	struct pd_targets *targets = &setup->record.options.targets;
	bool tasks = targets->pids.count || targets->tids.count || targets->by_user;
	struct pd_error error;

	if (tasks && (targets->all || targets->cpus))
		print_error("-%c has no effect: processes and threads are counted on all CPUs",
			    targets->all ? 'a' : 'C');
	setup->session.only_command = pd_stat_settle_targets(targets, values->per_thread);
	if (!values->null)
		return true;
	pd_events_free(setup->record.events);
	setup->record.events = NULL;
	setup->record.options.events = NULL;
	return pd_events_new(NULL, &setup->record.events, &error) >= 0;
}

static bool take_by(struct stat_setup *setup)
{
	const struct stat_values *values = setup->values;
	struct pd_stat_options *printing = &setup->session.printing;
	bool some;

	if (!stat_by_take(&values->by, printing))
		return false;
	some = printing->by_given;
	if (some && values->per_thread)
		return print_error("--per-thread, --per-core, --no-aggr ... are mutually exclusive");
	if (values->per_thread)
		printing->by = PD_STAT_BY_THREAD;
	if ((some || setup->record.options.targets.cgroup_count || values->for_each_cgroup) && !is_system_wide(setup))
		return print_error("counting per CPU or cgroup is system-wide; use -a");
	if (values->per_thread && setup->session.only_command)
		return print_error("option --per-thread needs -p, -t or -a");
	return true;
}

/* All events once more for each cgroup. */
static bool take_each_cgroup(struct stat_setup *setup)
{
	size_t each = pd_events_count(setup->record.events), count;
	struct pd_error error;

	if (!setup->values->for_each_cgroup)
		return true;
	if (setup->record.options.targets.cgroup_count)
		return print_error("--for-each-cgroup and --cgroup are mutually exclusive");
	if (!is_added(pd_stat_cgroups_parse(setup->values->for_each_cgroup, each, &setup->cgroups, &count, &error),
		      &error))
		return false;
	for (size_t i = each; i < count; i += each)
		if (!record_add_events(&setup->record, &setup->values->recording) || !add_missing_events(setup))
			return false;
	setup->record.options.targets.cgroups = setup->cgroups;
	setup->record.options.targets.cgroup_count = count;
	return pd_events_count(setup->record.events) == count;
}

static bool take_times(struct stat_setup *setup)
{
	const struct stat_values *values = setup->values;
	struct pd_stat_session_options *session = &setup->session;

	if (values->interval_ms.value > UINT64_MAX / NS_OF_MS || values->timeout_ms.value > UINT64_MAX / NS_OF_MS / 2)
		return print_error("options --interval-print and --timeout: the value is too large");
	session->interval_ns = values->interval_ms.value * NS_OF_MS;
	session->timeout_ns = values->timeout_ms.value * NS_OF_MS;
	session->limited = values->interval_count.given;
	session->interval_count = values->interval_count.value;
	if (values->timeout_ms.given && values->timeout_ms.value < LEAST_TIMEOUT_MS)
		return print_error("option --timeout: must be at least %d ms", LEAST_TIMEOUT_MS);
	if (session->timeout_ns && session->interval_ns)
		return print_error("--timeout cannot be combined with --interval-print; use --interval-count");
	if (session->limited && !session->interval_ns)
		return print_error("option --interval-count needs --interval-print");
	return true;
}

static bool take_runs(struct stat_setup *setup)
{
	const struct stat_values *values = setup->values;
	struct pd_stat_session_options *session = &setup->session;

	if (values->repeat.value > MOST_RUNS)
		return print_error("option --repeat: at most %d runs; 0 repeats forever", MOST_RUNS);
	if (values->repeat.given && values->repeat.value != 1 && setup->file)
		return print_error("--repeat cannot be combined with stat record: a file holds one run");
	if (session->printing.run_table && values->repeat.value < 2)
		return print_error("option --table needs --repeat");
	if (values->repeat.given && session->interval_ns)
		return print_error("--repeat cannot be combined with --interval-print");
	session->printing.runs = values->repeat.value > 1 ? (unsigned)values->repeat.value : 1;
	session->endless = values->repeat.given && !values->repeat.value;
	return true;
}

bool stat_form_take(struct pd_stat_options *printing)
{
	if (printing->separator && !strcmp(printing->separator, "\\t"))
		printing->separator = "\t";
	if (!printing->json || !printing->separator)
		return true;
	return print_error("--field-separator and --json are mutually exclusive");
}

static bool take_output(struct stat_setup *setup)
{
	const struct stat_values *values = setup->values;
	struct pd_stat_options *printing = &setup->session.printing;
	int fd = STDERR_FILENO;

	if (!stat_form_take(printing))
		return false;
	if (values->big_num && printing->separator)
		return print_error("--big-num cannot be combined with --field-separator");
	if (values->output && values->log_fd.given && !setup->file)
		return print_error("--output and --log-fd are mutually exclusive");
	if (values->log_fd.given)
		fd = values->log_fd.value < 1 << 20 ? (int)values->log_fd.value : -1;
	if (fd < 0 || fcntl(fd, F_GETFD) < 0)
		return print_error("option --log-fd: descriptor %" PRIu64 " is not open", values->log_fd.value);
	if (values->output && !setup->file) {
		fd = open(values->output, O_WRONLY | O_CREAT | O_CLOEXEC | (values->append ? O_APPEND : O_TRUNC), 0666);
		if (fd < 0) {
			print_error("%s: cannot write: %s", values->output, strerror(errno));
			setup->unwritable = true;
			return false;
		}
	}
	setup->has_out = output_init(&setup->out, fd);
	setup->out.name = values->output && !setup->file ? values->output : "the output";
	return setup->has_out;
}

static bool make_title(struct stat_setup *setup)
{
	const struct record_values *values = &setup->values->recording;
	const char *named = values->pids ? values->pids : values->tids ? values->tids : values->user;

	setup->title = pd_text_new();
	if (!setup->title)
		return false;
	pd_stat_title(&setup->record.options.targets, values->wanted.targets.all, named, setup->title);
	/* it is read as a string */
	pd_text_printf(setup->title, "%c", 0);
	setup->session.printing.title = (const char *)pd_text_bytes(setup->title).data;
	return !pd_text_failed(setup->title);
}

/* What follows from several options together, or is for all of them. */
static void take_printing(struct stat_setup *setup)
{
	const struct stat_values *values = setup->values;
	const struct pd_targets *targets = &setup->record.options.targets;
	struct pd_stat_options *printing = &setup->session.printing;

	printing->size = sizeof(*printing);
	printing->big_numbers = !values->no_big_num;
	printing->locale = "";
	printing->metric_only |= values->topdown;
	printing->summary_word = setup->session.interval_ns && !values->no_csv_summary;
	printing->all_threads = targets->all;
	printing->cgroups = targets->cgroups;
	printing->cgroup_count = targets->cgroup_count;
	printing->warn = print_warning;
}

static void report_note(void *self, const struct pd_recorder_note *note)
{
	const struct stat_setup *setup = self;

	if (note->severity == PD_INFO && !setup->values->verbose)
		return;
	if (!setup->values->quiet || note->severity >= PD_DAMAGE)
		record_print_note(note);
}

static bool take_file(struct stat_setup *setup, const char *file)
{
	struct pd_recorder_options *wanted = &setup->record.options;

	if (!file || strcmp(file, "-") != 0) {
		wanted->path = file;
		return true;
	}
	wanted->fd = STDOUT_FILENO;
	wanted->output.mode = PD_MODE_PIPE;
	return !isatty(STDOUT_FILENO) || print_error("refusing to write binary data to a terminal; use -o FILE");
}

bool stat_setup_take(struct stat_setup *setup, const struct stat_values *values, const struct call *call,
		     const char *file)
{
	struct pd_recorder_options *wanted = &setup->record.options;

	*setup =
		(struct stat_setup){ .values = values, .call = call, .session = values->session, .file = file != NULL };
	setup->session.size = sizeof(setup->session);
	setup->session.printing.by = PD_STAT_GLOBAL;
	if (!record_take(&setup->record, &values->recording, call) || !take_file(setup, file) || !take_targets(setup) ||
	    !add_missing_events(setup) || !take_each_cgroup(setup) || !take_times(setup) || !take_by(setup) ||
	    !take_runs(setup) || !take_output(setup) || !make_title(setup))
		return false;
	take_printing(setup);
	wanted->events = setup->record.events;
	wanted->note = report_note;
	wanted->self = setup;
	setup->session.recorder = *wanted;
	return true;
}

int stat_setup_fini(struct stat_setup *setup, int code)
{
	if (setup->unwritable)
		code = CODE_OUTPUT;
	if (setup->has_out) {
		int written = output_finish(&setup->out);

		code = code == CODE_OK ? written : code;
		if (setup->out.fd != STDERR_FILENO && setup->values->output && !setup->file)
			close(setup->out.fd);
		output_fini(&setup->out);
	}
	pd_text_free(setup->title);
	pd_stat_cgroups_free(setup->cgroups);
	record_fini(&setup->record);
	return code;
}
