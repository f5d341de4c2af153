/* SPDX-License-Identifier: MIT */
/* Counting from the start to the end: targets and titles; the steps of runs, of intervals and of what cannot be run; and lack of memory. */
#include <perfdata/stat.h>

#include "../failing.h"
#include "../test.h"

static struct pd_error error;

// ---- targets ----

TEST(targets)
{
	uint32_t ids[] = { 1 };
	char *command[] = { (char[]){ "ls" }, (char[]){ "-l" }, NULL };
	struct pd_targets targets = { .all = true, .cpus = "0", .pids = { ids, 1 }, .tids = { ids, 1 } };

	CHECK(!pd_stat_settle_targets(&targets, false) && !targets.all && !targets.cpus && !targets.tids.count);
	CHECK(targets.per_thread);
	targets = (struct pd_targets){ 0 };
	CHECK(!pd_stat_settle_targets(&targets, false) && targets.all && !targets.per_thread);
	targets = (struct pd_targets){ .cpus = "0" };
	CHECK(!pd_stat_settle_targets(&targets, false) && targets.all);
	targets = (struct pd_targets){ .command = command };
	CHECK(pd_stat_settle_targets(&targets, false) && !targets.all && targets.per_thread);
	targets = (struct pd_targets){ .all = true, .command = command };
	CHECK(!pd_stat_settle_targets(&targets, true) && targets.all && targets.per_thread);
}

static bool is_title(const struct pd_targets *targets, bool all, const char *named, const char *wanted)
{
	struct pd_text *text = pd_text_new();
	bool same;

	if (!text)
		return false;
	pd_stat_title(targets, all, named, text);
	same = pd_text_bytes(text).size == strlen(wanted) && !memcmp(pd_text_bytes(text).data, wanted, strlen(wanted));
	pd_text_free(text);
	return same;
}

TEST(titles)
{
	uint32_t ids[] = { 1, 2 };
	char *command[] = { (char[]){ "ls" }, (char[]){ "-l" }, NULL };

	CHECK(is_title(&(struct pd_targets){ .all = true }, true, NULL, "'system wide'"));
	CHECK(is_title(&(struct pd_targets){ .all = true, .cpus = "0-1" }, false, NULL, "'CPU(s) 0-1'"));
	CHECK(is_title(&(struct pd_targets){ .all = true, .cpus = "0" }, true, NULL, "'system wide'"));
	CHECK(is_title(&(struct pd_targets){ .pids = { ids, 2 } }, false, "1,2", "process id '1,2'"));
	CHECK(is_title(&(struct pd_targets){ .tids = { ids, 1 } }, false, "1", "thread id '1'"));
	CHECK(is_title(&(struct pd_targets){ .by_user = true }, false, "root", "user 'root'"));
	CHECK(is_title(&(struct pd_targets){ .command = command }, false, NULL, "'ls -l'"));
}

TEST(cgroups)
{
	static const char *const wanted[] = { "a", "a", "b", "b", "", "" };
	const char **names;
	size_t count;

	CHECK(pd_stat_cgroups_parse("a,b,a,,b", 2, &names, &count, &error) == PD_OK && count == 6);
	for (size_t i = 0; i < count; i++)
		CHECK_STR(names[i], wanted[i]);
	pd_stat_cgroups_free(names);
	CHECK(pd_stat_cgroups_parse("a", 0, &names, &count, &error) == PD_OK && count == 0);
	pd_stat_cgroups_free(names);
	pd_stat_cgroups_free(NULL);
	left = 0;
	CHECK(pd_stat_cgroups_parse("a,b", 1, &names, &count, &error) == PD_ERROR_MEMORY);
	left = -1;
}

TEST(metrics)
{
	struct pd_events *events;

	CHECK(pd_events_new(NULL, &events, &error) == PD_OK);
	CHECK(pd_stat_add_metrics(events, "IPC,wisdom", &error) == PD_ERROR_NO_MATCH);
	CHECK(strstr(error.message, "unknown metric 'wisdom'; available: IPC, branch-misses, "));
	pd_events_free(events);
}

// ---- sessions ----

struct log {
	char steps[64];
	int stops_at;        // step that says no; -1: none
	struct pd_text *raw; // of counts that were read, or NULL
};

static bool on_step(void *self, enum pd_stat_step step, struct pd_stat_session *session)
{
	static const char names[] = {
		[PD_STAT_STEP_BEFORE] = 'b',  [PD_STAT_STEP_OPENED] = 'o', [PD_STAT_STEP_STARTS] = 's',
		[PD_STAT_STEP_ENABLED] = 'n', [PD_STAT_STEP_READ] = 'r',   [PD_STAT_STEP_INTERVAL] = 'i',
		[PD_STAT_STEP_PRINTED] = 'p', [PD_STAT_STEP_STOPS] = 't',  [PD_STAT_STEP_ENDED] = 'e',
		[PD_STAT_STEP_AFTER] = 'a'
	};
	struct log *log = self;

	if (step == PD_STAT_STEP_READ && log->raw)
		pd_counter_text(pd_stat_session_recorder(session), log->raw);
	if (strlen(log->steps) + 1 < sizeof(log->steps))
		log->steps[strlen(log->steps)] = names[step];
	return (int)step != log->stops_at;
}

// Counts page faults of a command. Steps and what was printed are kept.
static enum pd_status count(char **command, unsigned runs, struct log *log, struct pd_text *text, bool *opened_out,
			    int *errno_out)
{
	struct pd_stat_session_options options = { .size = sizeof(options),
						   .recorder = { .size = sizeof(options.recorder), .fd = -1 },
						   .printing = { .size = sizeof(options.printing), .runs = runs },
						   .only_command = true,
						   .step = on_step,
						   .self = log };
	struct pd_stat_session *session = NULL;
	struct pd_events *events = NULL;
	enum pd_status status = pd_events_new(NULL, &events, &error);

	options.printing.by = PD_STAT_GLOBAL;
	options.recorder.targets.command = command;
	options.recorder.targets.per_thread = true;
	if (status >= 0)
		status = pd_events_add(events, "page-faults", &error);
	options.recorder.events = events;
	if (status >= 0)
		status = pd_stat_session_new(&options, text, &session, &error);
	if (status >= 0)
		status = pd_stat_session_run(session, &error);
	if (session) {
		*opened_out = pd_stat_session_opened(session);
		*errno_out = pd_stat_session_recorded(session)->command_errno;
	}
	pd_stat_session_free(session);
	pd_events_free(events);
	return status;
}

static bool text_has(const struct pd_text *text, const char *words)
{
	struct pd_bytes bytes = pd_text_bytes(text);

	return bytes.size && memmem(bytes.data, bytes.size, words, strlen(words));
}

TEST(steps_of_runs)
{
	char *command[] = { (char[]){ "true" }, NULL };
	struct pd_text *text = pd_text_new();
	struct log log = { .stops_at = -1, .raw = pd_text_new() };
	bool opened = false;
	int failure = 0;
	enum pd_status status = text ? count(command, 2, &log, text, &opened, &failure) : PD_ERROR_MEMORY;

	if (status < 0 && !opened) {
		printf("# not allowed here: %s\n", error.message);
		pd_text_free(text);
		pd_text_free(log.raw);
		return;
	}
	CHECK(status == PD_OK);
	CHECK_STR(log.steps, "bosterabosterap");
	CHECK(log.raw && text_has(log.raw, "page-faults: "));
	pd_text_free(log.raw);
	CHECK(text_has(text, "page-faults"));
	log = (struct log){ .stops_at = PD_STAT_STEP_AFTER };
	CHECK(count(command, 9, &log, text, &opened, &failure) == PD_OK);
	CHECK_STR(log.steps, "bosterap");
	log = (struct log){ .stops_at = PD_STAT_STEP_STARTS };
	CHECK(count(command, 9, &log, text, &opened, &failure) == PD_ERROR_STOPPED);
	CHECK_STR(log.steps, "bost");
	command[0] = (char[]){ "/nonexistent/program" };
	log = (struct log){ .stops_at = -1 };
	CHECK(count(command, 9, &log, text, &opened, &failure) == PD_OK && failure);
	CHECK_STR(log.steps, "bost");
	pd_text_free(text);
}

TEST(no_memory)
{
	const struct pd_stat_session_options options = { .size = sizeof(options) };
	struct pd_text *text = pd_text_new();

	CHECK(text);
	CHECK(pd_stat_session_new(NULL, text, NULL, &error) == PD_ERROR_ARGUMENT);
	for (long n = 0;; n++) {
		struct pd_stat_session *session = NULL;
		struct pd_stat_session_options own = options;
		enum pd_status status;

		own.printing.size = sizeof(own.printing);
		left = n;
		has_failed = false;
		status = pd_stat_session_new(&own, text, &session, &error);
		left = -1;
		pd_stat_session_free(session);
		CHECK(status == PD_OK || (has_failed && status == PD_ERROR_MEMORY));
		if (!has_failed)
			break;
	}
	pd_text_free(text);
}

RUN(TEST_CASE(targets), TEST_CASE(titles), TEST_CASE(cgroups), TEST_CASE(metrics), TEST_CASE(steps_of_runs),
    TEST_CASE(no_memory))
