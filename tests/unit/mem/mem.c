/* SPDX-License-Identifier: MIT */
/* Memory accesses one by one and by lines of the cache, with memory that fails; texts are compared with perf by tests/perf/mem.py. */
#include "unit/traced.h"

static const char accesses[] =
	"header form: file, byte_order: little\n"
	"event {\n"
	"\tname: \"cpu/mem-loads/P\"\n"
	"\tids: [1]\n"
	"\ttype: raw\n"
	"\tconfig: 0x1cd\n"
	"\tsample_period: 1\n"
	"\tsample_type: IP|TID|TIME|ADDR|ID|CPU|WEIGHT|DATA_SRC|PHYS_ADDR|DATA_PAGE_SIZE\n"
	"\tflags: sample_id_all\n"
	"}\n"
	"feature ARCH {value: \"x86_64\"}\n"
	"feature NRCPUS {available: 4, online: 4}\n"
	"feature NUMA_TOPOLOGY {nodes: [{node: 0, cpus: \"0-1\"} {node: 1, cpus: \"2-3\"}]}\n"
	"feature MEM_TOPOLOGY {version: 1, block_size_bytes: 0x8000000, nodes: [{node: 0, size: 64, bitmap_size: 64, bitmap: [0x1]} {node: 1, size: 64, bitmap_size: 64, bitmap: [0x2]}]}\n"
	"COMM pid: 5, tid: 5, comm: \"five\", sample_id: {pid: 5, tid: 5, time_ns: 1.0}\n"
	"MMAP2 misc: user, pid: 5, tid: 5, addr: 0x1000, len: 0x9000, prot: READ|EXEC, flags: PRIVATE, maj: 8, min: 1, ino: 3, filename: \"/bin/five\", sample_id: {pid: 5, tid: 5, time_ns: 1.1}\n"
	"MMAP2 misc: user|MMAP_DATA, pid: 5, tid: 5, addr: 0x20000, len: 0x9000, prot: READ|WRITE, flags: PRIVATE, filename: \"[heap]\", sample_id: {pid: 5, tid: 5, time_ns: 1.1}\n"
	"MMAP2 misc: user|MMAP_DATA, pid: 5, tid: 5, addr: 0x40000, len: 0x9000, pgoff: 0x1000, prot: READ|WRITE, flags: SHARED, maj: 1, min: 2, ino: 4, filename: \"/dev/shm/four\", sample_id: {pid: 5, tid: 5, time_ns: 1.1}\n"
	"SAMPLE misc: user, ip: 0x1510, pid: 5, tid: 5, time_ns: 2.0, addr: 0x20048, id: 1, cpu: 0, weight: 70, data_src: 0x68801042, phys_addr: 0x48, data_page_size: 4096\n"
	"SAMPLE misc: user, ip: 0x1520, pid: 5, tid: 6, time_ns: 2.1, addr: 0x20050, id: 1, cpu: 2, weight: 30, data_src: 0x68810842, phys_addr: 0x48, data_page_size: 4096\n"
	"SAMPLE misc: user, ip: 0x1510, pid: 5, tid: 5, time_ns: 2.2, addr: 0x40008, id: 1, cpu: 0, weight: 200, data_src: 0x68880842, phys_addr: 0x8000008, data_page_size: 0x200000\n"
	"SAMPLE misc: user, ip: 0x1530, pid: 5, tid: 6, time_ns: 2.3, addr: 0x40010, id: 1, cpu: 3, weight: 0, data_src: 0x68801144, phys_addr: 0x8000010, data_page_size: 0x200000\n"
	"SAMPLE misc: kernel, ip: 0xffffffff81000010, pid: 5, tid: 5, time_ns: 2.4, addr: 0, id: 1, cpu: 1, weight: 9, data_src: 0x5080021\n";

// As many samples of each line as tables grow by.
static struct pd_file *many(void)
{
	traced[0] = 0;
	traced_add("%s", accesses);
	for (unsigned i = 0; i < 300; i++)
		traced_add(
			"SAMPLE misc: user, ip: 0x%x, pid: 5, tid: %u, time_ns: %u, addr: 0x%x, id: 1, cpu: %u, weight: %u, data_src: "
			"0x%x, phys_addr: 0x48, data_page_size: 4096\n",
			0x1510 + i % 7 * 16, 5 + i % 2, 5000 + i, 0x20000 + i % 90 * 40, i % 4, i,
			i % 3 ? 0x68880842 : 0x68801042);
	return open_text(traced);
}

static struct pd_symbols *few_symbols(void *self, const struct pd_state *state)
{
	const struct pd_symbols_options options = { .size = sizeof(options), .symfs = folder, .kallsyms = "" };
	struct pd_symbols *symbols = NULL;

	return pd_symbols_new(self, state, &options, &symbols, NULL) == PD_OK ? symbols : NULL;
}

static enum pd_status print_samples(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	const struct pd_mem_options options = {
		.size = sizeof(options), .symbols = few_symbols, .self = file, .phys_addr = true, .page_size = true
	};

	return pd_print_mem_samples(text, file, &options, error);
}

static enum pd_status print_lines(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	const struct pd_c2c_options options = { .size = sizeof(options),
						.symbols = few_symbols,
						.self = file,
						.coalesce = "pid,tid,iaddr,dso",
						.show_all = true,
						.node_info = 2 };

	return pd_print_c2c(text, file, &options, error);
}

static enum pd_status print_few(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	const struct pd_c2c_options options = {
		.size = sizeof(options), .symbols = few_symbols, .self = file, .show_all = true, .limit = 3
	};

	return pd_print_c2c(text, file, &options, error);
}

TEST(lines_are_counted)
{
	struct pd_file *file = many();
	struct pd_text *text = pd_text_new();

	CHECK(file && print_lines(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, "Total records                     :        305"));
	CHECK(text_has(text, "Shared Data Cache Line Table"));
	pd_text_free(text);
	pd_file_close(file);
}

// Names are printed as they can be on a terminal, and columns stay where they are.
TEST(hostile_names)
{
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	traced[0] = 0;
	traced_add("%s", accesses);
	traced_add("COMM pid: 5, tid: 5, comm: \"a\\x1b[31m\", sample_id: {pid: 5, tid: 5, time_ns: 9.0}\n");
	file = open_text(traced);
	CHECK(file && print_lines(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, "5:a\\x1b[31m  "));
	CHECK(!memchr(pd_text_bytes(text).data, 0x1b, pd_text_bytes(text).size));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(a_limit_is_an_error)
{
	struct pd_file *file = many();
	struct pd_text *text = pd_text_new();

	CHECK(file && print_few(text, file, &traced_error) == PD_ERROR_LIMIT);
	pd_text_free(text);
	pd_file_close(file);
}

TEST(wrong_options)
{
	struct pd_file *file = many();
	struct pd_text *text = pd_text_new();
	const struct pd_c2c_options none = { 0 }, words = { .size = sizeof(words), .coalesce = "pid,colour" };

	CHECK(pd_print_c2c(text, file, &none, &traced_error) == PD_ERROR_ARGUMENT);
	CHECK(pd_print_c2c(text, file, &words, &traced_error) == PD_ERROR_ARGUMENT);
	CHECK(strstr(traced_error.message, "colour"));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(memory_that_fails)
{
	struct pd_file *file = many();

	CHECK(file && traced_memory(file, print_samples) > 10);
	CHECK(traced_memory(file, print_lines) > 20);
	pd_file_close(file);
}

RUN(TEST_CASE(start), TEST_CASE(lines_are_counted), TEST_CASE(hostile_names), TEST_CASE(a_limit_is_an_error),
    TEST_CASE(wrong_options), TEST_CASE(memory_that_fails), TEST_CASE(clean))
