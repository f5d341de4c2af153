/* SPDX-License-Identifier: MIT */
/* Events between system calls, as they are printed while they are recorded: kinds of fields, names of enums, losses, failing memory. */
#include "calls.h"

#include <perfdata/tracer.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* One of each kind of fields. */
// clang-format off
#define POINT_FIELDS                                                                               \
	FIELD("char", "comm[8]", 8, 8)                                                             \
	FIELD("pid_t", "pid", 16, 4)                                                               \
	FIELD("int", "nothing", 20, 4)                                                             \
	FIELD("void *", "place", 24, 8)                                                            \
	FIELD("long", "left", 32, 8)                                                               \
	FIELD("enum colour", "colour", 40, 4)                                                      \
	FIELD("umode_t", "mode", 44, 2) FIELD("u8", "mac[2]", 46, 2) FIELD("int", "sockfd", 48, 4) \
		FIELD("__data_loc char[]", "name", 52, 4) FIELD("u64", "addr", 56, 8)

#define POINT_RAW          \
	"0900000000000000" \
	"6100000000000000" \
	"6400000000000000" \
	"0010000000000000" \
	"feffffffffffffff" \
	"00000000a4010aff" \
	"0300000040000300" \
	"00200000000000001b6200"

#define SAMPLE(tid, time_us, event, id, raw)                                                              \
	"SAMPLE event: " #event ", identifier: " #id ", pid: " #tid ", tid: " #tid ", time_ns: " #time_us \
	"000, cpu: 0, raw: x\"" raw "\"\n"

static const char recording[] = "header form: file, byte_order: little\n" EVENT("raw_syscalls:sys_enter", 1, 7) EVENT(
	"raw_syscalls:sys_exit", 2, 8) EVENT("my:point", 3, 9) EVENT("syscalls:sys_enter_dup", 4,
								     10) HEAD("x86_64", "raw_syscalls")
	FORMAT("sys_enter", 7, FIELD("long", "id", 8, 8) FIELD("unsigned long", "args[6]", 16, 48)) ", " FORMAT(
		"sys_exit", 8,
		FIELD("long", "id", 8, 8) FIELD(
			"long", "ret",
			16,
			8)) "]}, {name: \"my\", formats: [\n" FORMAT("point", 9,
								     POINT_FIELDS) "]}, {name: \"syscalls\", formats: [\n" FORMAT("sys_enter_dup",
																  10,
																  FIELD("int",
																	"__syscall_nr",
																	8,
																	4)
																	  FIELD("unsigned int",
																		"fildes",
																		16,
																		8))
		END_OF_FORMATS THREAD("reader") SAMPLE(
			100, 1000, 0, 1,
			"0700000000000000"
			"2000000000000000"
			"0500000000000000"
			"0000000000000000000000000000000000000000000000000000000000000000"
			"0000000000000000")
			SAMPLE(200, 2000, 2, 3, POINT_RAW) "LOST id: 1, lost: 12, sample_id: {pid: 100, tid: 100, time_ns: 2500000, cpu: 0, identifier: 1}\n" SAMPLE(
				100, 3000, 1, 2,
				"0800000000000000"
				"2000000000000000"
				"0600000000000000") SAMPLE(100, 4000, 3, 4,
							   "0a00000000000000"
							   "2000000000000000"
							   "0700000000000000") SAMPLE(100, 5000, 2, 3, "0900");

// clang-format on
static const char lines[] =
	"     0.000 (         ): reader/100 dup(fildes: 5)                                                     ...\n"
	"     1.000 (         ): :200/200 my:point(comm: \"a\", pid: 100 (reader), place: 0x1000, left: -2, colour: RED, "
	"mode: IRUGO|IWUSR, mac: 0aff, sockfd: 3, name: \"\\x1bb\", addr: 0x2000)\n"
	"LOST 12 events!\n"
	"     0.000 ( 2.000 ms): reader/100  ... [continued]: dup())                                              = 6\n"
	"     3.000 (         ): reader/100 syscalls:sys_enter_dup(fildes: 7)\n";

/* A BTF of two enums. */
static const uint8_t types[] = {
	0x9f,
	0xeb,
	1,
	0,
	24,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	52,
	0,
	0,
	0,
	52,
	0,
	0,
	0,
	25,
	0,
	0,
	0,
	/* enum bi { BIG = 1 << 32 }, of 64 bits */
	18,
	0,
	0,
	0,
	1,
	0,
	0,
	19,
	8,
	0,
	0,
	0,
	21,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	1,
	0,
	0,
	0,
	/* enum colour { GREEN = -1, RED = 0 } */
	1,
	0,
	0,
	0,
	2,
	0,
	0,
	6,
	4,
	0,
	0,
	0,
	8,
	0,
	0,
	0,
	0xff,
	0xff,
	0xff,
	0xff,
	14,
	0,
	0,
	0,
	0,
	0,
	0,
	0,
	/* words */
	0,
	'c',
	'o',
	'l',
	'o',
	'u',
	'r',
	0,
	'G',
	'R',
	'E',
	'E',
	'N',
	0,
	'R',
	'E',
	'D',
	0,
	'b',
	'i',
	0,
	'B',
	'I',
	'G',
	0,
};

static struct pd_syscalls_options live(void)
{
	return (struct pd_syscalls_options){ .size = sizeof(struct pd_syscalls_options),
					     .live = true,
					     .kernel_types = { types, sizeof(types) } };
}

static enum pd_status print(const struct pd_syscalls_options *options, struct pd_text *out)
{
	struct pd_file *file = open_text(text);
	enum pd_status status = file ? pd_print_syscalls(out, file, options, &error) : PD_ERROR_ARGUMENT;

	pd_file_close(file);
	return status;
}

static bool prints(const struct pd_syscalls_options *options, const char *words)
{
	struct pd_text *out = pd_text_new();
	bool has = out && print(options, out) == PD_OK && text_has(out, words);

	if (out && !has)
		fprintf(stderr, "%.*s", (int)pd_text_bytes(out).size, (const char *)pd_text_bytes(out).data);
	pd_text_free(out);
	return has;
}

TEST(lines_of_events)
{
	struct pd_syscalls_options options = live();

	CHECK(prints(&options, lines));
	// what is too short has no values
	CHECK(prints(&options,
		     "     4.000 (         ): reader/100 my:point(comm: \"\", colour: RED, mac: , name: \"\")\n"));
	options.without_threads = true;
	CHECK(prints(&options, "     3.000 (         ): syscalls:sys_enter_dup(fildes: 7)\n"));
	options.kernel_types = (struct pd_bytes){ types, 70 };
	CHECK(prints(&options, "left: -2, mode: IRUGO|IWUSR"));
	options.without_pids = "200";
	CHECK(prints(&options, "     0.000 ( 2.000 ms): dup(fildes: 5)"));
}

TEST(ends_with_the_last_line)
{
	struct pd_syscalls_options options = live();
	struct pd_text *out = pd_text_new();

	options.max_lines = 1;
	CHECK(out && print(&options, out) == PD_OK);
	CHECK(text_has(out, "my:point(") && !text_has(out, "LOST"));
	pd_text_free(out);
}

TEST(tables)
{
	struct pd_syscalls_options options = live();

	options.text = PD_SYSCALLS_SUMMARY;
	options.total = true;
	CHECK(prints(&options, "\n Summary of events:\n\n total, 5 events\n\n   syscall "));
	CHECK(prints(&options,
		     "   dup                    1      0     2.000     2.000     2.000     2.000      0.00%\n"));
	options.json = true;
	CHECK(prints(&options, "{\"total\":{\"calls\":[{\"name\":\"dup\",\"calls\":1,"));
}

TEST(json)
{
	struct pd_syscalls_options options = live();

	options.json = true;
	CHECK(prints(
		&options,
		"{\"time_ns\":2000000,\"thread\":{\"pid\":200,\"tid\":200,\"comm\":\":200\"},\"event\":\"my:point\",\"fields\":{"
		"\"comm\":\"a\",\"pid\":\"100 (reader)\",\"nothing\":\"0\",\"place\":\"0x1000\",\"left\":\"-2\",\"colour\":\"RED\","));
}

TEST(no_events)
{
	// what did not happen is no error while it is recorded
	struct pd_syscalls_options options = live();
	struct pd_file *file = open_text("header form: file, byte_order: little\n" EVENT("my:point", 3, 9));
	struct pd_text *out = pd_text_new();

	CHECK(file && out && pd_print_syscalls(out, file, &options, &error) == PD_OK && !pd_text_bytes(out).size);
	options.live = false;
	CHECK(file && out && pd_print_syscalls(out, file, &options, &error) == PD_ERROR_NO_SAMPLES);
	pd_file_close(file);
	pd_text_free(out);
}

// Each allocation fails in turn: an error, or all of the text.
static void check_memory(const struct pd_syscalls_options *options, const char *words)
{
	struct pd_file *file = open_text(text);
	long at = 0;

	for (bool more = true; more && file; at++) {
		struct pd_text *out = pd_text_new();
		enum pd_status status;

		has_failed = false;
		left = at;
		status = pd_print_syscalls(out, file, options, &error);
		more = has_failed;
		left = -1;
		CHECK(status == PD_OK || status == PD_ERROR_MEMORY || status == PD_ERROR_FORMAT ||
		      status == PD_ERROR_OUTPUT);
		CHECK(more || text_has(out, words));
		pd_text_free(out);
	}
	CHECK(at > 10);
	pd_file_close(file);
}

TEST(memory)
{
	struct pd_syscalls_options options = live();

	check_memory(&options, lines);
	options.json = true;
	check_memory(&options, "\"event\":\"my:point\"");
}

TEST(lists)
{
	struct pd_tracer_options none = { 0 };
	struct pd_tracer *tracer = NULL;

	CHECK(pd_tracer_new(&tracer, &error) == PD_OK);
	CHECK(pd_tracer_set(tracer, "event", "open*,close", &error) == PD_OK);
	CHECK(pd_tracer_set(tracer, "event", "!read", &error) == PD_ERROR_ARGUMENT &&
	      strstr(error.message, "mutually exclusive"));
	CHECK(pd_tracer_set(tracer, "nothing", "read", &error) == PD_ERROR_NO_MATCH);
	CHECK(pd_tracer_run(tracer, &none, NULL, NULL, &error) == PD_ERROR_ARGUMENT);
	pd_tracer_free(tracer);
	CHECK(pd_tracer_new(&tracer, &error) == PD_OK);
	CHECK(pd_tracer_set(tracer, "event", "!read,no_such_call", &error) == PD_ERROR_ARGUMENT &&
	      strstr(error.message, "'no_such_call'"));
	pd_tracer_free(tracer);
	pd_tracer_free(NULL);
}

// Of lists in any order: events stand beside calls that are not wanted.
TEST(lists_of_both)
{
	struct pd_tracer *tracer = NULL;

	CHECK(pd_tracer_new(&tracer, &error) == PD_OK);
	CHECK(pd_tracer_set(tracer, "event", "!read", &error) == PD_OK);
	CHECK(pd_tracer_set(tracer, "event", "cpu-clock", &error) == PD_OK);
	CHECK(pd_tracer_set(tracer, "event", "!write", &error) == PD_OK);
	CHECK(pd_tracer_set(tracer, "event", "write", &error) == PD_ERROR_ARGUMENT &&
	      strstr(error.message, "mutually exclusive"));
	pd_tracer_free(tracer);
}

TEST(sizes)
{
	struct pd_tracer_options options = { .size = sizeof(options), .calls.size = sizeof(options.calls) };
	struct pd_tracer *tracer = NULL;

	CHECK(pd_tracer_new(&tracer, &error) == PD_OK);
	CHECK(pd_tracer_run(tracer, &options, NULL, NULL, &error) == PD_ERROR_ARGUMENT &&
	      strstr(error.message, "recording.size"));
	options.recording.size = sizeof(options.recording);
	options.calls.size = 0;
	CHECK(pd_tracer_run(tracer, &options, NULL, NULL, &error) == PD_ERROR_ARGUMENT &&
	      strstr(error.message, "calls.size"));
	pd_tracer_free(tracer);
}

// What cannot be kept is not written over.
TEST(output)
{
	char path[256], old[300];
	struct stat found;
	int fd;

	snprintf(path, sizeof(path), "%s/text", folder);
	snprintf(old, sizeof(old), "%s.old", path);
	fd = pd_tracer_output(path);
	CHECK(fd >= 0 && write(fd, "1", 1) == 1 && close(fd) == 0);
	CHECK(mkdir(old, 0700) == 0);
	CHECK(pd_tracer_output(path) == -1 && errno == EISDIR);
	CHECK(stat(path, &found) == 0 && found.st_size == 1);
	CHECK(rmdir(old) == 0);
	fd = pd_tracer_output(path);
	CHECK(fd >= 0 && close(fd) == 0);
	CHECK(stat(old, &found) == 0 && found.st_size == 1);
	CHECK(unlink(path) == 0 && unlink(old) == 0);
}

TEST(clean)
{
	CHECK(rmdir(folder) == 0);
}

TEST(start)
{
	CHECK(mkdtemp(folder));
	strcpy(text, recording);
}

RUN(TEST_CASE(start), TEST_CASE(lines_of_events), TEST_CASE(ends_with_the_last_line), TEST_CASE(tables),
    TEST_CASE(json), TEST_CASE(no_events), TEST_CASE(memory), TEST_CASE(lists), TEST_CASE(lists_of_both),
    TEST_CASE(sizes), TEST_CASE(output), TEST_CASE(clean))
