/* SPDX-License-Identifier: MIT */
/*
 * Conditions on records. A recording is asked a list of them; anything else is a condition itself, which is asked of a few
 * records. Whatever is asked, its opposite has to be answered the other way.
 */
#include <string.h>

#include <perfdata/filter.h>
#include <perfdata/stream.h>

#include "mutate.h"
#include "sampled.h"
#include "walk.h"

static const char *const conditions[] = {
	"sample.period > 1000 && sample.cpu in (0, 2) || comm == \"gcc\"",
	"type == MMAP2 && mmap2.filename =~ '*.so*' && mmap2.prot & EXEC|WRITE",
	"mmap2.build_id =~ 'e*' || misc & COMM_EXEC || cpumode == user",
	"sample.callchain.count > 5 && sample.callchain == KERNEL || sample.branch_stack.entries.from",
	"sample.read.members.value > sample.read.time_running_ns || sample.user_stack.data =~ '*00*'",
	"trace.prev_comm =~ 's*' || trace.prev_pid < trace.next_pid || sched:sched_switch.prev_state & 2",
	"sample_id.cpu == 1 || namespaces.links.inode != 4 || id_index.entries.cpu == -1",
	"attr.flags.precise_ip || attr.sample_type & TIME && event =~ '*:*' && time >= 1.5s",
	"pid == -1 || tid == 0 || cpu > 100 || period == size || offset < sample.addr || event_update.scale > 0.5",
	"sample.data_src.lvl & HIT || sample.weight_struct.var2_w > 4 || sample.raw == '00' || dso == 'x' || symbol == 'y'",
};

enum {
	CONDITIONS = sizeof(conditions) / sizeof(conditions[0])
};

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return size > 8 && (!memcmp(data, "PERFILE", 7) || !memcmp(data, "2ELIF", 5)) ?
		       mutate(data, size, max_size, seed) :
		       LLVMFuzzerMutate(data, size, max_size);
}

static const char *name(void *self, const struct pd_record *record, enum pd_filter_ask what)
{
	(void)self;
	(void)record;
	return what == PD_FILTER_COMM ? "gcc" : what == PD_FILTER_DSO ? "x" : NULL;
}

struct pair {
	struct pd_filter *filter, *opposite;
};

// False if the text is no condition; then the failure is inside of it.
static bool compile(const char *text, struct pair *pair)
{
	char *opposite = malloc(strlen(text) + 4);
	struct pd_error error = { 0 };
	enum pd_status status = pd_filter_new(text, &pair->filter, &error);

	REQUIRE(opposite);
	sprintf(opposite, "!(%s)", text);
	if (status < 0) {
		walk_require_error(status, &error);
		REQUIRE(status == PD_ERROR_ARGUMENT && error.offset <= strlen(text));
		REQUIRE(!strncmp(error.message, "column ", 7));
	} else if (pd_filter_new(opposite, &pair->opposite, &error) < 0) {
		// brackets have a limit, and so has the length
		pd_filter_free(pair->filter);
		status = PD_ERROR_LIMIT;
	} else {
		REQUIRE(pd_filter_asks(pair->filter) == pd_filter_asks(pair->opposite));
	}
	free(opposite);
	return status >= 0;
}

static void ask(struct pd_file *file, const struct pair *pair)
{
	const struct pd_filter_names names = { NULL, name };
	const struct pd_record *record;
	struct pd_stream *stream;
	struct pd_error error;

	if (pd_stream_open(file, NULL, &stream, &error) < 0)
		return;
	while (pd_stream_next(stream, &record, &error) == PD_OK) {
		REQUIRE(pd_filter_bind(pair->filter, file, false, &error) == PD_OK);
		REQUIRE(pd_filter_bind(pair->opposite, file, false, &error) == PD_OK);
		REQUIRE(pd_filter_takes(pair->filter, record, &names) !=
			pd_filter_takes(pair->opposite, record, &names));
		pd_filter_takes(pair->filter, record, NULL);
	}
	pd_stream_close(stream);
}

static void ask_all(const uint8_t *data, size_t size)
{
	struct walk walk = { 0 };
	struct pd_open_options options = walk_options(&walk);
	struct pd_file *file;
	struct pair pair;

	for (size_t i = 0; i < CONDITIONS; i++) {
		REQUIRE(compile(conditions[i], &pair));
		if (pd_file_open_memory(data, size, &options, &file, NULL) == PD_OK) {
			ask(file, &pair);
			pd_file_close(file);
		}
		pd_filter_free(pair.filter);
		pd_filter_free(pair.opposite);
	}
}

static void ask_one(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct image image = { 0 };
	struct pd_file *file;
	struct pair pair;

	REQUIRE(text);
	memcpy(text, data, size);
	text[size] = 0;
	if (compile(text, &pair)) {
		sampled_make(&image);
		REQUIRE(pd_file_open_memory(image.data, image.size, NULL, &file, NULL) == PD_OK);
		ask(file, &pair);
		pd_file_close(file);
		pd_filter_free(pair.filter);
		pd_filter_free(pair.opposite);
		image_free(&image);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 8 && (!memcmp(data, "PERFILE", 7) || !memcmp(data, "2ELIF", 5)))
		ask_all(data, size);
	else
		ask_one(data, size);
	return 0;
}
