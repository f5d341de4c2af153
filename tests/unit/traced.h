/* SPDX-License-Identifier: MIT */
/* Recordings of tracepoints for unit tests, made from tables: formats, samples with call chains, and a kernel with a few functions. */
#ifndef PD_TEST_TRACED_H
#define PD_TEST_TRACED_H

#include <inttypes.h>
#include <stdarg.h>

#include "unit/edit/recording.h"

enum {
	TRACED_FIELDS = 8
};

struct traced_field {
	const char *name;
	unsigned offset, size;
	bool is_signed, is_string;
};

struct traced_event {
	const char *system, *name;
	struct traced_field fields[TRACED_FIELDS];
};

static char traced[1 << 17];
static char traced_name[5] = "name"; // all strings
static struct pd_error traced_error;

__attribute__((format(printf, 1, 2))) static inline void traced_add(const char *format, ...)
{
	size_t length = strlen(traced);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(traced + length, sizeof(traced) - length, format, arguments);
	va_end(arguments);
}

static inline void traced_format(const struct traced_event *event, unsigned id)
{
	traced_add("{name: \"%s\", formats: [{data: \"name: %s\\nID: %u\\nformat:\\n"
		   "\\tfield:unsigned short common_type;\\toffset:0;\\tsize:2;\\tsigned:0;\\n\\n",
		   event->system, event->name, id);
	for (const struct traced_field *field = event->fields; field->name; field++)
		traced_add("\\tfield:%s %s;\\toffset:%u;\\tsize:%u;\\tsigned:%d;\\n",
			   field->is_string ? "__data_loc char[]" : "long", field->name, field->offset, field->size,
			   field->is_signed);
	traced_add("\\nprint fmt: \\\"x\\\"\\n\"}]}\n");
}

// Events with ids from 1, and a kernel whose symbols are those of traced_symbols.
static inline void traced_begin(const struct traced_event *events, unsigned count)
{
	traced[0] = 0;
	traced_add("header form: file, byte_order: little\n");
	for (unsigned i = 0; i < count; i++)
		traced_add(
			"event {name: \"%s:%s\", ids: [%u], type: tracepoint, config: %u, sample_period: 1, sample_type: "
			"IP|TID|TIME|CALLCHAIN|ID|CPU|RAW, flags: sample_id_all}\n",
			events[i].system, events[i].name, i + 1, i + 1);
	traced_add(
		"feature ARCH {value: \"x86_64\"}\nfeature TRACING_DATA {magic: x\"17084474726163696e67\", version: \"0.6\", long_size: "
		"8, page_size: 4096, header_page_name: \"header_page\", header_page: \"\\n\", header_event_name: \"header_event\", "
		"header_event: \"\\n\", ftrace_formats: [], systems: [\n");
	for (unsigned i = 0; i < count; i++)
		traced_format(&events[i], i + 1);
	traced_add(
		"], kallsyms: \"\", printk_formats: \"\", saved_cmdlines: \"\"}\n"
		"MMAP misc: kernel, pid: -1, tid: 0, addr: 0xffffffff81000000, len: 0x1000000, pgoff: 0xffffffff81000000, filename: "
		"\"[kernel.kallsyms]_text\", sample_id: {pid: 0, tid: 0, time_ns: 1, id: 1, cpu: 0}\n"
		"COMM pid: 100, tid: 100, comm: \"first\", sample_id: {pid: 100, tid: 100, time_ns: 2, id: 1, cpu: 0}\n");
}

// A sample with the values of its fields; chain is a list of addresses, or "".
static inline void traced_sample(const struct traced_event *events, unsigned event, uint64_t time_ns, unsigned tid,
				 unsigned cpu, const char *chain, const uint64_t *values)
{
	uint8_t raw[128] = { 0 };
	unsigned size = 8;

	for (unsigned i = 0; events[event].fields[i].name; i++) {
		const struct traced_field *field = &events[event].fields[i];

		for (unsigned byte = 0; byte < field->size; byte++)
			raw[field->offset + byte] = (uint8_t)(values[i] >> 8 * byte);
		size = field->offset + field->size > size ? field->offset + field->size : size;
	}
	memcpy(raw + size, traced_name, sizeof(traced_name));
	traced_add("SAMPLE event: %u, misc: kernel, ip: 0, pid: %u, tid: %u, time_ns: %" PRIu64
		   ", id: %u, cpu: %u, callchain: [%s%s], raw: x\"",
		   event, tid, tid, time_ns, event + 1, cpu, *chain ? "KERNEL " : "", chain);
	for (unsigned i = 0; i < size + 5; i++)
		traced_add("%02x", raw[i]);
	traced_add("\"\n");
}

// Symbols of that kernel, for options of the library.
static inline struct pd_symbols *traced_symbols(void *self, const struct pd_state *state)
{
	static const char list[] =
		"ffffffff81000000 T _text\nffffffff81000100 T vfs_read\nffffffff81000200 T vfs_write\n"
		"ffffffff81000300 T kmem_cache_alloc\nffffffff81000400 T do_work\n"
		"ffffffff81000500 T evil\x1b[31m\nffffffff81001000 T __sched_text_start\n"
		"ffffffff81001010 T schedule\nffffffff81001100 T __sched_text_end\n"
		"ffffffff81001200 T __lock_text_start\nffffffff81001210 T _raw_spin_lock\n"
		"ffffffff81001300 T __lock_text_end\nffffffff81002000 T _etext\n";
	struct pd_symbols_options options = { .size = sizeof(options), .kallsyms = path_of("symbols") };
	struct pd_symbols *symbols = NULL;
	FILE *file = fopen(options.kallsyms, "w");

	if (!file)
		return NULL;
	fputs(list, file);
	fclose(file);
	return pd_symbols_new(self, state, &options, &symbols, NULL) == PD_OK ? symbols : NULL;
}

static inline size_t traced_lines(const struct pd_text *text)
{
	struct pd_bytes all = pd_text_bytes(text);
	size_t lines = 0;

	for (size_t i = 0; i < all.size; i++)
		lines += all.data[i] == '\n';
	return lines;
}

static inline bool traced_same(const struct pd_text *a, const struct pd_text *b)
{
	struct pd_bytes x = pd_text_bytes(a), y = pd_text_bytes(b);

	return x.size == y.size && !memcmp(x.data, y.data, x.size);
}

// Whether a text is this one.
static inline bool traced_is(const struct pd_text *text, const char *wanted)
{
	struct pd_bytes bytes = pd_text_bytes(text);
	bool same = bytes.size == strlen(wanted) && !memcmp(bytes.data, wanted, bytes.size);

	if (!same)
		printf("# %.*s\n", (int)bytes.size, (const char *)bytes.data);
	return same;
}

// A folder for the symbols, and its end: the first and the last test of those who include this.
TEST(start)
{
	CHECK(mkdtemp(folder));
}

TEST(clean)
{
	unlink(path_of("symbols"));
	CHECK(rmdir(folder) == 0);
}

// What prints, for traced_memory.
typedef enum pd_status traced_print_fn(struct pd_text *text, struct pd_file *file, struct pd_error *error);

// Each allocation fails in turn: an error, or the same text. How many there were; -1: something else happened.
static inline long traced_memory(struct pd_file *file, traced_print_fn *print)
{
	struct pd_text *right = pd_text_new();
	long at = print(right, file, &traced_error) == PD_OK ? 0 : -1;

	for (bool more = at >= 0; more; at++) {
		struct pd_text *out = pd_text_new();
		enum pd_status status;

		has_failed = false;
		left = at;
		status = print(out, file, &traced_error);
		left = -1;
		more = has_failed;
		if (status > PD_OK || (status == PD_OK && !has_failed && !traced_same(out, right)))
			at = -2;
		more &= at >= 0;
		pd_text_free(out);
	}
	pd_text_free(right);
	return at;
}

// What is wrong with a format that lacks a field, or whose field has a size of no number: an error that names it.
static inline bool traced_is_refused(const struct traced_event *events, unsigned count, traced_print_fn *print)
{
	for (unsigned event = 0; event < count; event++)
		for (unsigned way = 0; way < 2; way++) {
			struct traced_event changed[16];
			static const uint64_t values[TRACED_FIELDS];
			struct pd_text *text = pd_text_new();
			struct pd_file *file;
			enum pd_status status;

			memcpy(changed, events, count * sizeof(*events));
			if (way)
				changed[event].fields[0].size = 3;
			else
				changed[event].fields[0].name = "other";
			traced_begin(changed, count);
			traced_sample(changed, event, 1000, 100, 0, "", values);
			file = open_text(traced);
			status = file ? print(text, file, &traced_error) : PD_OK;
			pd_file_close(file);
			pd_text_free(text);
			if (status != PD_ERROR_FORMAT || !strstr(traced_error.message, "field"))
				return false;
		}
	return true;
}

#endif
