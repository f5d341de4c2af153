/* SPDX-License-Identifier: MIT */
/* System calls as lines: arguments as words, calls that are interrupted, what is chosen, fields of single calls, failing memory. */
#include "calls.h"

#define TAIL END_OF_FORMATS THREAD("reader-\x1b[31m-of-all")
#define RAW_EVENTS EVENT("raw_syscalls:sys_enter", 1, 7) EVENT("raw_syscalls:sys_exit", 2, 8)
#define RAW_FORMATS(size)                                                                             \
	FORMAT("sys_enter", 7, FIELD("long", "id", 8, 8) FIELD("unsigned long", "args[6]", 16, size)) \
	FORMAT("sys_exit", 8, FIELD("long", "id", 8, 8) FIELD("long", "ret", 16, 8))

static void put_words(size_t count, const uint64_t *words)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < 8 * count; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%02x",
					   (unsigned)(words[i / 8] >> 8 * (i % 8) & 0xff));
	snprintf(text + length, sizeof(text) - length, "\"\n");
}

static void put_sample(unsigned tid, unsigned time_us, unsigned event)
{
	size_t length = strlen(text);

	snprintf(text + length, sizeof(text) - length,
		 "SAMPLE event: %u, identifier: %u, pid: %u, tid: %u, time_ns: %u, cpu: 0, raw: x\"0700000000000000",
		 event, event + 1, tid, tid, time_us * 1000);
}

static void begin(unsigned tid, unsigned time_us, uint64_t id, const uint64_t *given)
{
	uint64_t words[7] = { id };

	memcpy(words + 1, given, 6 * sizeof(*given));
	put_sample(tid, time_us, 0);
	put_words(7, words);
}

static void end(unsigned tid, unsigned time_us, uint64_t id, int64_t result)
{
	put_sample(tid, time_us, 1);
	put_words(2, (const uint64_t[]){ id, (uint64_t)result });
}

#define GIVEN(...) ((const uint64_t[6]){ __VA_ARGS__ })

static struct pd_file *make(void)
{
	size_t length;

	snprintf(text, sizeof(text), "%s",
		 "header form: file, byte_order: little\n" RAW_EVENTS HEAD("x86_64", "syscalls") RAW_FORMATS(48) TAIL);
	begin(100, 1000, 257, GIVEN((uint64_t)-100, 0x123456789abc, 0x80241, 0644)); // openat
	end(100, 1500, 257, -2);
	begin(100, 2000, 0, GIVEN(3, 0x1000, 10));              // read
	begin(200, 2100, 202, GIVEN(0x2000, 0x81, 1, 2, 3, 4)); // futex
	end(200, 2200, 202, 0);
	end(100, 4000, 0, 10);
	end(300, 4100, 1, 5);                                          // write, that began before
	begin(100, 5000, 9, GIVEN(0, 4096, 3, 0x22, (uint64_t)-1, 0)); // mmap
	end(100, 5001, 9, 0x7f0000);
	begin(100, 5100, 61, GIVEN(100, 0, 1)); // wait4
	end(100, 5200, 61, 100);
	begin(100, 5300, 7, GIVEN(1, 2, 3)); // poll
	end(100, 5400, 7, 0);
	begin(100, 5500, 0, GIVEN(4));
	end(100, 5600, 1, -512);         // of another call: something between is lost
	begin(100, 5700, 231, GIVEN(7)); // exit_group
	length = strlen(text);
	snprintf(text + length, sizeof(text) - length,
		 "LOST id: 1, lost: 12, sample_id: {pid: 100, tid: 100, time_ns: 5500100, cpu: 0, identifier: 1}\n");
	return open_text(text);
}

static enum pd_status print(struct pd_file *file, const struct pd_syscalls_options *options, struct pd_text *out)
{
	pd_text_clear(out);
	return file ? pd_print_syscalls(out, file, options, &error) : PD_ERROR_ARGUMENT;
}

static const char lines[] =
	"     0.000 ( 0.500 ms): reader-\\x1b[31/100 openat(dfd: CWD, filename: 0x56789abc, flags: CLOEXEC|CREAT|TRUNC|WRONLY, "
	"mode: IRUGO|IWUSR) = -1 ENOENT (No such file or directory)\n"
	"     1.000 (         ): reader-\\x1b[31/100 read(fd: 3, buf: 0x1000, count: 10)                                ...\n"
	"     1.100 ( 0.100 ms): :200/200 futex(uaddr: 0x2000, op: WAKE|PRIVATE_FLAG, val: 1)                   = 0\n"
	"     1.000 ( 2.000 ms): reader-\\x1b[31/100  ... [continued]: read())                                             = 10\n"
	"         ? (         ): :300/300  ... [continued]: write())                                            = 5\n"
	"     4.000 ( 0.001 ms): reader-\\x1b[31/100 mmap(len: 4096, prot: READ|WRITE, flags: PRIVATE|ANONYMOUS)           = 0x7f0000\n"
	"     4.100 ( 0.100 ms): reader-\\x1b[31/100 wait4(upid: 100 (reader-\\x1b[31m-of-all), options: NOHANG)            = 100 "
	"(reader-\\x1b[31m-of-all)\n"
	"     4.300 ( 0.100 ms): reader-\\x1b[31/100 poll(ufds: 0x1, nfds: 2, timeout_msecs: 3)                            = 0 "
	"(Timeout)\n"
	"         ? (         ): reader-\\x1b[31/100  ... [continued]: write())                                            = -1 "
	"(unknown) (restarted after a signal)\n"
	"     4.700 (         ): reader-\\x1b[31/100 exit_group(error_code: 7)                                             = ?\n";

TEST(lines_of_calls)
{
	struct pd_syscalls_options options = { .size = sizeof(options) };
	struct pd_file *file = make();
	struct pd_text *out = pd_text_new();

	CHECK(out && print(file, NULL, out) == PD_OK);
	CHECK(text_has(out, lines) && pd_text_bytes(out).size == strlen(lines));
	options.text = PD_SYSCALLS_BOTH;
	CHECK(print(file, &options, out) == PD_OK && text_has(out, "= ?\n\n Summary of events:\n\n"));
	pd_file_close(file);
	pd_text_free(out);
}

TEST(json)
{
	struct pd_syscalls_options options = {
		.size = sizeof(options), .text = PD_SYSCALLS_BOTH, .errors = true, .json = true
	};
	struct pd_file *file = make();
	struct pd_text *out = pd_text_new();

	CHECK(out && print(file, &options, out) == PD_OK);
	CHECK(text_has(
		out,
		"{\"calls\":[{\"time_ns\":1000000,\"duration_ns\":500000,\"thread\":{\"pid\":100,\"tid\":100,\"comm\":\"reader-\\\\x1b[31m-of-all\"},"
		"\"name\":\"openat\",\"arguments\":{\"dfd\":\"CWD\",\"filename\":\"0x56789abc\",\"flags\":\"CLOEXEC|CREAT|TRUNC|WRONLY\","
		"\"mode\":\"IRUGO|IWUSR\"},\"result\":-2,\"error\":\"ENOENT\"},"));
	// what another thread does meanwhile makes no difference
	CHECK(text_has(out, "{\"time_ns\":2000000,\"duration_ns\":2000000,"));
	CHECK(text_has(
		out,
		"{\"time_ns\":null,\"duration_ns\":null,\"thread\":{\"pid\":300,\"tid\":300,\"comm\":\":300\"},\"name\":\"write\",\"result\":5}"));
	CHECK(text_has(out, "\"name\":\"exit_group\",\"arguments\":{\"error_code\":\"7\"}}],\"threads\":[{"));
	CHECK(text_has(out, "{\"name\":\"openat\",\"calls\":1,\"failed\":1,\"total_ns\":500000,") &&
	      text_has(out, "\"errors\":{\"ENOENT\":1}}"));
	options.text = PD_SYSCALLS_SUMMARY;
	CHECK(print(file, &options, out) == PD_OK && text_has(out, "{\"threads\":[{"));
	options.text = PD_SYSCALLS_LINES;
	CHECK(print(file, &options, out) == PD_OK && text_has(out, "],\"events\":16,\"lost\":12}") &&
	      !text_has(out, "\"threads\""));
	pd_file_close(file);
	pd_text_free(out);
}

// A call whose begin is missing has no arguments: those of another one say nothing of its result.
TEST(begin_is_missing)
{
	struct pd_text *out = pd_text_new();
	struct pd_file *file;

	snprintf(text, sizeof(text), "%s",
		 "header form: file, byte_order: little\n" RAW_EVENTS HEAD("x86_64", "syscalls") RAW_FORMATS(48) TAIL);
	begin(100, 1000, 0, GIVEN(3, 1, 10)); // read
	end(100, 1500, 0, 1);
	end(100, 2000, 72, 1); // fcntl
	file = open_text(text);
	CHECK(out && print(file, NULL, out) == PD_OK);
	CHECK(text_has(out, "fcntl())"));
	CHECK(text_has(out, "= 1\n") && !text_has(out, "CLOEXEC"));
	pd_text_free(out);
	pd_file_close(file);
}

// Names of events are of the file.
TEST(hostile_names)
{
	struct pd_text *out = pd_text_new();
	struct pd_file *file;

	snprintf(text, sizeof(text), "%s",
		 "header form: file, byte_order: little\n" EVENT("syscalls:sys_enter_\\x1b[31mx", 1, 7)
			 EVENT("syscalls:sys_exit_\\x1b[31mx", 2, 8) HEAD("x86_64", "syscalls")
				 FORMAT("sys_enter_\\x1b[31mx", 7,
					FIELD("int", "__syscall_nr", 8, 4) FIELD("int", "dfd", 16, 8))
					 FORMAT("sys_exit_\\x1b[31mx", 8,
						FIELD("int", "__syscall_nr", 8, 4) FIELD("long", "ret", 16, 8)) TAIL);
	begin(100, 1000, 5, GIVEN(3));
	end(100, 1500, 5, 1);
	file = open_text(text);
	CHECK(out && print(file, NULL, out) == PD_OK);
	CHECK(text_has(out, "\\x1b[31mx("));
	CHECK(!memchr(pd_text_bytes(out).data, 0x1b, pd_text_bytes(out).size));
	pd_text_free(out);
	pd_file_close(file);
}

TEST(chosen)
{
	struct pd_syscalls_options options = { .size = sizeof(options), .calls = "ope*,poll" };
	struct pd_file *file = make();
	struct pd_text *out = pd_text_new();

	CHECK(out && print(file, &options, out) == PD_OK);
	CHECK(text_has(out, "openat(") && text_has(out, "poll(") && !text_has(out, "read(") && !text_has(out, "mmap("));
	options.calls = "!*e*,mmap";
	CHECK(print(file, &options, out) == PD_OK && text_has(out, "wait4(") && text_has(out, "poll("));
	CHECK(!text_has(out, "mmap(") && !text_has(out, "openat("));
	options = (struct pd_syscalls_options){ .size = sizeof(options), .min_duration_ns = 500000, .full_time = true };
	CHECK(print(file, &options, out) == PD_OK &&
	      text_has(out, "     2.000 ( 2.000 ms): reader-\\x1b[31/100 read(fd: 3"));
	CHECK(text_has(out, "openat(") && !text_has(out, "poll(") && !text_has(out, "exit_group("));
	options = (struct pd_syscalls_options){ .size = sizeof(options), .failed_only = true, .without_names = true };
	CHECK(print(file, &options, out) == PD_OK && text_has(out, "ms): 100 openat(") && !text_has(out, "= 0"));
	options = (struct pd_syscalls_options){ .size = sizeof(options), .tids = "200-300", .without_pids = "300" };
	CHECK(print(file, &options, out) == PD_OK && text_has(out, "futex(") && !text_has(out, "write("));
	options = (struct pd_syscalls_options){ .size = sizeof(options), .max_lines = 2 };
	CHECK(print(file, &options, out) == PD_OK && text_has(out, "openat(") && text_has(out, "futex("));
	CHECK(!text_has(out, "read("));
	options = (struct pd_syscalls_options){ .size = sizeof(options), .pids = "1,x" };
	CHECK(print(file, &options, out) == PD_ERROR_ARGUMENT && !strcmp(error.message, "1,x: not a list of numbers"));
	pd_file_close(file);
	pd_text_free(out);
}

// Events of single calls have a field for each argument; the numbers of flags are those of the architecture.
TEST(single_events)
{
	struct pd_text *out = pd_text_new();
	struct pd_file *file;

	snprintf(text, sizeof(text), "%s",
		 "header form: file, byte_order: little\n" EVENT("syscalls:sys_enter_openat", 1, 7)
			 EVENT("syscalls:sys_exit_openat", 2, 8) HEAD("aarch64", "syscalls")
				 FORMAT("sys_enter_openat", 7,
					FIELD("int", "__syscall_nr", 8, 4) FIELD("int", "dfd", 16, 8)
						FIELD("const char *", "filename", 24, 8) FIELD("int", "flags", 32, 8)
							FIELD("umode_t", "mode", 40, 8))
					 FORMAT("sys_exit_openat", 8,
						FIELD("int", "__syscall_nr", 8, 4) FIELD("long", "ret", 16, 8)) TAIL);
	begin(100, 1000, 56, GIVEN(5, 0x1000, 0x4000, 0));
	end(100, 1500, 56, 3);
	file = open_text(text);
	CHECK(out && print(file, NULL, out) == PD_OK);
	CHECK(text_has(out, "/100 openat(dfd: 5, filename: 0x1000, flags: RDONLY|DIRECTORY)             = 3\n"));
	pd_file_close(file);
	pd_text_free(out);
}

// Arguments that the format lacks, or whose size is none, are 0.
TEST(hostile_formats)
{
	static const char *const wrong[] = { RAW_FORMATS(0), RAW_FORMATS(5), RAW_FORMATS(40000) };
	struct pd_text *out = pd_text_new();

	for (size_t i = 0; i < 3; i++) {
		struct pd_file *file;

		snprintf(text, sizeof(text), "%s%s%s",
			 "header form: file, byte_order: little\n" RAW_EVENTS HEAD("x86_64", "syscalls"), wrong[i],
			 TAIL);
		begin(100, 1000, 257, GIVEN(1, 2, 3, 4));
		end(100, 1500, 257, 3);
		file = open_text(text);
		CHECK(out && print(file, NULL, out) == PD_OK && text_has(out, "/100 openat()      "));
		pd_file_close(file);
	}
	pd_text_free(out);
}

// Each allocation fails in turn: an error, or the same text.
static void check_memory(const struct pd_syscalls_options *options)
{
	struct pd_file *file = make();
	long at = 0;

	for (bool more = true; more; at++) {
		struct pd_text *out = pd_text_new();
		enum pd_status status;

		has_failed = false;
		left = at;
		status = print(file, options, out);
		more = has_failed;
		left = -1;
		CHECK(status == PD_OK || status == PD_ERROR_MEMORY || status == PD_ERROR_FORMAT ||
		      status == PD_ERROR_OUTPUT);
		CHECK(status != PD_OK || text_has(out, "openat(dfd: CWD") || text_has(out, "syscall_257(arg0: ") ||
		      text_has(out, "{\"dfd\":\"CWD\"") || text_has(out, "{\"arg0\":"));
		pd_text_free(out);
	}
	CHECK(at > 10);
	pd_file_close(file);
}

TEST(memory)
{
	const struct pd_syscalls_options json = { .size = sizeof(json), .text = PD_SYSCALLS_BOTH, .json = true };

	check_memory(NULL);
	check_memory(&json);
}

TEST(clean)
{
	CHECK(rmdir(folder) == 0);
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

RUN(TEST_CASE(start), TEST_CASE(lines_of_calls), TEST_CASE(json), TEST_CASE(begin_is_missing), TEST_CASE(hostile_names),
    TEST_CASE(chosen), TEST_CASE(single_events), TEST_CASE(hostile_formats), TEST_CASE(memory), TEST_CASE(clean))
