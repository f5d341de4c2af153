/* SPDX-License-Identifier: MIT */
/* Tables of system calls: names, times, errors, and memory that fails. */
#include "calls.h"

#define ID "\\tfield:long id;\\toffset:8;\\tsize:8;\\tsigned:1;\\n"
#define RET "\\tfield:long ret;\\toffset:16;\\tsize:8;\\tsigned:1;\\n"

static void put_head(const char *id)
{
	snprintf(text, sizeof(text),
		 "header form: file, byte_order: little\n" EVENT("raw_syscalls:sys_enter", 1, 7)
			 EVENT("raw_syscalls:sys_exit", 2, 8) HEAD("x86_64", "raw_syscalls")
				 FORMAT("sys_enter", 7, "%s") FORMAT("sys_exit", 8, ID RET)
					 END_OF_FORMATS THREAD("reader"),
		 id);
}

static void put_call(unsigned tid, unsigned time_ns, bool exits, uint64_t id, int64_t ret)
{
	size_t length = strlen(text);
	uint64_t values[2] = { id, (uint64_t)ret };

	length += (size_t)snprintf(
		text + length, sizeof(text) - length,
		"SAMPLE event: %d, identifier: %d, pid: %u, tid: %u, time_ns: %u, cpu: 0, raw: x\"0700000000000000",
		exits, exits + 1, tid, tid, time_ns);
	for (unsigned i = 0; i < (exits ? 16 : 8); i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%02x",
					   (unsigned)(values[i / 8] >> 8 * (i % 8) & 0xff));
	snprintf(text + length, sizeof(text) - length, "\"\n");
}

static struct pd_file *make(void)
{
	put_head(ID);
	put_call(100, 1000000, false, 0, 0); // read
	put_call(100, 3000000, true, 0, 17);
	put_call(100, 4000000, false, 0, 0);
	put_call(100, 8000000, true, 0, -4);
	put_call(100, 9000000, false, 257, 0); // openat
	put_call(100, 9500000, true, 257, -2);
	put_call(356, 9600000, true, 1, 3);    // write, that began before
	put_call(100, 9700000, false, 900, 0); // that nobody knows
	return open_text(text);
}

static enum pd_status print(struct pd_file *file, const struct pd_syscalls_options *options, struct pd_text *out)
{
	pd_text_clear(out);
	return file ? pd_print_syscalls(out, file, options, &error) : PD_ERROR_ARGUMENT;
}

TEST(names)
{
	CHECK_STR(pd_syscall_name(PD_ARCH_X86, true, 257), "openat");
	CHECK_STR(pd_syscall_name(PD_ARCH_X86, false, 295), "openat");
	CHECK_STR(pd_syscall_name(PD_ARCH_ARM64, true, 56), "openat");
	CHECK_STR(pd_syscall_name(PD_ARCH_RISCV, true, 98), "futex");
	CHECK(!pd_syscall_name(PD_ARCH_X86, true, 5000) && !pd_syscall_name(PD_ARCH_UNKNOWN, true, 0));
	CHECK(!pd_syscall_name(PD_ARCH_S390, true, 3));
}

TEST(table)
{
	struct pd_syscalls_options options = { .size = sizeof(options), .errors = true, .text = PD_SYSCALLS_SUMMARY };
	struct pd_file *file = make();
	struct pd_text *out = pd_text_new();

	CHECK(out && print(file, &options, out) == PD_OK);
	CHECK(text_has(out, "\n Summary of events:\n\n :356 (356), 1 events, 12.5%\n\n   syscall"));
	CHECK(text_has(out, " reader (100), 6 events, 75.0%\n\n   syscall "));
	CHECK(text_has(
		out,
		"   read                   2      1     6.000     2.000     3.000     4.000     33.33%\n\t\t\t\tEINTR: 1\n"
		"   openat                 1      1     0.500     0.500     0.500     0.500      0.00%\n\t\t\t\tENOENT: 1\n\n\n"));
	CHECK(text_has(out, "   write                  1      0     0.000     0.000     0.000     0.000      0.00%\n"));
	options.errors = false;
	CHECK(print(file, &options, out) == PD_OK && !text_has(out, "EINTR"));
	options.thread_limit = 1;
	CHECK(print(file, &options, out) == PD_ERROR_LIMIT);
	options.size = 0;
	CHECK(print(file, &options, out) == PD_ERROR_ARGUMENT);
	pd_file_close(file);
	file = open_text("header form: file, byte_order: little\nevent {name: \"cycles\", sample_type: IP|TID|TIME}\n");
	CHECK(print(file, NULL, out) == PD_ERROR_NO_SAMPLES);
	pd_file_close(file);
	pd_text_free(out);
}

TEST(formats)
{
	static const char *const wrong[] = { "\\tfield:long number;\\toffset:8;\\tsize:8;\\tsigned:1;\\n",
					     "\\tfield:long id;\\toffset:8;\\tsize:3;\\tsigned:1;\\n" };
	struct pd_text *out = pd_text_new();

	for (size_t i = 0; i < 2; i++) {
		struct pd_file *file;

		put_head(wrong[i]);
		put_call(100, 1000000, false, 0, 0);
		file = open_text(text);
		CHECK(out && print(file, NULL, out) == PD_ERROR_FORMAT && strstr(error.message, "field"));
		pd_file_close(file);
	}
	pd_text_free(out);
}

// Each allocation fails in turn: an error, or the same text.
TEST(memory)
{
	struct pd_syscalls_options options = { .size = sizeof(options), .text = PD_SYSCALLS_SUMMARY };
	struct pd_file *file = make();
	struct pd_text *right = pd_text_new();
	long at = 0;

	CHECK(right && print(file, &options, right) == PD_OK);
	for (bool more = true; more; at++) {
		struct pd_text *out = pd_text_new();
		enum pd_status status;

		has_failed = false;
		left = at;
		status = print(file, &options, out);
		more = has_failed;
		left = -1;
		CHECK(status == PD_OK || status == PD_ERROR_MEMORY || status == PD_ERROR_FORMAT ||
		      status == PD_ERROR_OUTPUT);
		if (status == PD_OK)
			// without the name of the architecture, calls have numbers
			CHECK(text_has(out, "   openat                 1      1     0.500") ||
			      text_has(out, "   syscall_257            1      1     0.500"));
		pd_text_free(out);
	}
	CHECK(at > 10);
	pd_text_free(right);
	pd_file_close(file);
}

TEST(clean)
{
	CHECK(rmdir(folder) == 0);
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

RUN(TEST_CASE(start), TEST_CASE(names), TEST_CASE(table), TEST_CASE(formats), TEST_CASE(memory), TEST_CASE(clean))
