/* SPDX-License-Identifier: MIT */
/* Information added through the public header: build ids in the list and in maps, scheduler events, lack of memory. */
#include "recording.h"

static const char recording[] =
	"header form: file, byte_order: little\n"
	"event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 1000, "
	"sample_type: IP|TID|TIME|IDENTIFIER, flags: sample_id_all|mmap2}\n"
	"MMAP2 misc: user, pid: 5, tid: 5, addr: 0x1000, len: 0x1000, prot: READ|EXEC, filename: \"/nowhere/hit\", "
	"sample_id: {time_ns: 1, identifier: 7}\n"
	"MMAP2 misc: user, pid: 5, tid: 5, addr: 0x4000, len: 0x1000, prot: READ|EXEC, filename: \"/nowhere/other\", "
	"sample_id: {time_ns: 2, identifier: 7}\n"
	"SAMPLE misc: user, identifier: 7, ip: 0x1800, pid: 5, tid: 5, time_ns: 100\n";

static const struct pd_inject_known known[] = {
	{ "/nowhere/hit", { 4, { 1, 2, 3, 4 } } },
	{ "/nowhere/other", { 4, { 5, 6, 7, 8 } } },
};

static struct pd_error error;
static struct pd_text *summary; // of the last one; may be NULL
static unsigned warning_count, pass_count;

static void warn(void *self, const char *message)
{
	(void)self;
	warning_count += strstr(message, "no build id") != NULL;
}

static void end_pass(void *self)
{
	(void)self;
	pass_count++;
}

static enum pd_status inject_to(const char *path, struct pd_file *file, const struct pd_inject_options *options,
				struct pd_inject_result *result)
{
	const struct pd_writer_options form = { .size = sizeof(form), .inputs = &file, .input_count = 1 };
	struct pd_inject *inject = NULL;
	struct pd_writer *writer = NULL;
	enum pd_status status = pd_inject_new(file, options, &inject, &error);

	if (status >= 0)
		status = pd_writer_open(path, &form, &writer, &error);
	if (status >= 0)
		status = pd_inject_write(inject, writer, result, &error);
	if (status >= 0 && summary) {
		pd_text_clear(summary);
		pd_inject_text(inject, summary);
	}
	if (writer && status < 0)
		pd_writer_abort(writer);
	else if (writer)
		status = pd_writer_finish(writer, &error);
	pd_inject_free(inject);
	return status;
}

TEST(list)
{
	struct pd_file *file = open_text(recording), *injected;
	const struct pd_inject_options options = { .size = sizeof(options),
						   .build_ids = PD_INJECT_LIST,
						   .known = known,
						   .known_count = 2,
						   .pass_end = end_pass };
	struct pd_build_id_walk walk = { 0 };
	struct pd_build_id_entry entry;
	struct pd_inject_result result;

	summary = pd_text_new();
	CHECK(file);
	CHECK(inject_to(path_of("injected"), file, &options, &result) == PD_OK);
	CHECK(result.sample_count == 1 && result.kept_sample_count == 1 && result.added_id_count == 1 &&
	      pass_count == 1);
	CHECK(text_has(summary, "kept 1 of 1 sample, all 2 other records; 1 build id added, 0 were there already\n"));
	pd_text_free(summary);
	summary = NULL;
	CHECK(pd_file_open(path_of("injected"), NULL, &injected, &error) == PD_OK);
	CHECK(pd_file_build_id(injected));
	walk.records = pd_file_build_id(injected)->records;
	CHECK(pd_build_id_next(&walk, &entry));
	CHECK_STR(entry.name, "/nowhere/hit");
	CHECK(entry.id.size == 4 && !memcmp(entry.id.bytes, known[0].id.bytes, 4));
	CHECK(!pd_build_id_next(&walk, &entry) && !walk.unreadable);
	pd_file_close(injected);
	pd_file_close(file);
}

TEST(maps)
{
	struct pd_file *file = open_text(recording);
	struct pd_inject_options options = {
		.size = sizeof(options), .build_ids = PD_INJECT_MAPS, .known = known, .known_count = 2
	};
	struct pd_inject_result result;

	CHECK(file);
	CHECK(inject_to(path_of("injected"), file, &options, &result) == PD_OK);
	CHECK(result.changed_map_count == 1 && result.dropped_map_count == 1);
	options.build_ids = PD_INJECT_MAPS_ALL;
	CHECK(inject_to(path_of("injected"), file, &options, &result) == PD_OK);
	CHECK(result.changed_map_count == 2 && !result.dropped_map_count);
	pd_file_close(file);
}

TEST(missing)
{
	struct pd_file *file = open_text(recording);
	const struct pd_inject_options options = { .size = sizeof(options),
						   .build_ids = PD_INJECT_LIST_ALL,
						   .warn = warn };
	struct pd_inject_result result;

	CHECK(file);
	CHECK(inject_to(path_of("injected"), file, &options, &result) == PD_OK);
	CHECK(result.missing_id_count == 2 && warning_count == 2 && result.warning_count == 2 && !result.lost);
	CHECK(inject_to("/nowhere/injected", file, &options, &result) < 0);
	CHECK(pd_inject_new(file, &(const struct pd_inject_options){ 0 }, &(struct pd_inject *){ NULL }, NULL) ==
	      PD_ERROR_ARGUMENT);
	pd_file_close(file);
}

TEST(known_ids)
{
	static const char list[] = "0102aB /a b\n\t /no/id\n 03\t/c\n";
	struct pd_inject_known *ids = NULL;
	size_t count = 0;

	CHECK(pd_inject_known_parse(list, true, &ids, &count, &error) == PD_OK && count == 2);
	CHECK(ids[0].id.size == 3 && ids[0].id.bytes[2] == 0xab && ids[1].id.size == 1);
	CHECK_STR(ids[0].path, "/a b");
	CHECK_STR(ids[1].path, "/c");
	pd_inject_known_free(ids);
	CHECK(pd_inject_known_parse("01 /a,02 /b", false, &ids, &count, &error) == PD_OK && count == 2);
	CHECK_STR(ids[1].path, "/b");
	pd_inject_known_free(ids);
	CHECK(pd_inject_known_parse("", false, &ids, &count, &error) == PD_OK && !count);
	pd_inject_known_free(ids);
	CHECK(pd_inject_known_parse("01 /a,/b", false, &ids, &count, &error) == PD_ERROR_ARGUMENT);
	CHECK_STR(error.message, "'/b' is not 'ID PATH'");
	CHECK(pd_inject_known_parse("01", true, &ids, &count, &error) == PD_ERROR_ARGUMENT);
	left = 0;
	CHECK(pd_inject_known_parse("01 /a", false, &ids, &count, &error) == PD_ERROR_MEMORY);
	left = -1;
	pd_inject_known_free(NULL);
}

TEST(no_memory)
{
	const enum pd_inject_build_ids modes[] = { PD_INJECT_LIST, PD_INJECT_MAPS };
	struct pd_file *file = open_text(recording);

	CHECK(file);
	for (size_t i = 0; i < 2; i++) {
		const struct pd_inject_options options = { .size = sizeof(options),
							   .build_ids = modes[i],
							   .known = known,
							   .known_count = 2,
							   .sched_stat = true };
		unsigned failures = 0;

		for (long n = 0;; n++) {
			enum pd_status status;

			left = n;
			has_failed = false;
			status = inject_to(path_of("injected"), file, &options, NULL);
			left = -1;
			failures += status < 0;
			CHECK(n < 10000);
			if (!has_failed) {
				CHECK(status == PD_OK);
				break;
			}
		}
		CHECK(failures > 20);
	}
	pd_file_close(file);
}

TEST(clean)
{
	clean_folder();
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

RUN(TEST_CASE(start), TEST_CASE(list), TEST_CASE(maps), TEST_CASE(missing), TEST_CASE(known_ids), TEST_CASE(no_memory),
    TEST_CASE(clean))
