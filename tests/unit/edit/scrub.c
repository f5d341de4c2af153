/* SPDX-License-Identifier: MIT */
/* Recordings anonymized through the public header: names, levels, what is kept and dropped, the search, and lack of memory. */
#include "recording.h"

static const char recording[] =
	"header form: file, byte_order: little\n"
	"event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 1000, "
	"sample_type: IP|TID|TIME|CPU|IDENTIFIER, flags: sample_id_all}\n"
	"feature HOSTNAME {value: \"secret-host\"}\n"
	"COMM pid: 5, tid: 5, comm: \"secret-name\", sample_id: {pid: 5, tid: 5, time_ns: 1, cpu: 0, identifier: 7}\n"
	"MMAP2 misc: user, pid: 5, tid: 5, addr: 0x400000, len: 0x1000, pgoff: 0, maj: 8, min: 1, ino: 77, "
	"ino_generation: 0, prot: EXEC|READ, flags: PRIVATE, filename: \"/home/secret/libhidden.so\", "
	"sample_id: {pid: 5, tid: 5, time_ns: 2, cpu: 0, identifier: 7}\n"
	"SAMPLE misc: user, identifier: 7, ip: 0x400123, pid: 5, tid: 5, time_ns: 100, cpu: 3\n"
	"SAMPLE misc: user, identifier: 7, ip: 0x400123, pid: 5, tid: 5, time_ns: 200, cpu: 3\n";

static struct pd_error error;

static enum pd_status scrub_to(const char *path, struct pd_file *file, const struct pd_scrub_options *options,
			       struct pd_scrub **scrub_out, struct pd_scrub_result *result)
{
	const struct pd_writer_options form = { .size = sizeof(form), .inputs = &file, .input_count = 1 };
	struct pd_writer *writer = NULL;
	enum pd_status status = pd_scrub_new(file, options, scrub_out, &error);

	if (status >= 0)
		status = pd_writer_open(path, &form, &writer, &error);
	if (status >= 0)
		status = pd_scrub_write(*scrub_out, writer, result, &error);
	if (writer && status < 0)
		pd_writer_abort(writer);
	else if (writer)
		status = pd_writer_finish(writer, &error);
	return status;
}

// What a result says: the name of its thread, the path of its map, its address, time and process.
struct seen {
	char comm[64], path[128];
	uint64_t ip, time_ns, count;
	uint32_t pid;
};

static bool look_into(const char *path, struct seen *seen)
{
	const struct pd_record *record;
	struct pd_stream *stream;
	struct pd_file *file;

	*seen = (struct seen){ .count = 0 };
	if (pd_file_open(path, NULL, &file, &error) < 0 || pd_stream_open(file, NULL, &stream, &error) < 0)
		return false;
	while (pd_stream_next(stream, &record, &error) == PD_OK) {
		const struct pd_comm *comm = pd_as_comm(record);
		const struct pd_mmap2 *map = pd_as_mmap2(record);
		const struct pd_sample *sample = pd_as_sample(record);

		if (comm)
			snprintf(seen->comm, sizeof(seen->comm), "%s", comm->comm.data);
		if (map)
			snprintf(seen->path, sizeof(seen->path), "%s", map->filename.data);
		if (!sample)
			continue;
		seen->count++;
		seen->ip = sample->ip;
		seen->time_ns = sample->time_ns;
		seen->pid = sample->pid;
	}
	pd_stream_close(stream);
	pd_file_close(file);
	return true;
}

static void count_name(void *self, const char *class_name, struct pd_bytes from, struct pd_bytes to)
{
	(void)from;
	(void)to;
	*(unsigned *)self += !strcmp(class_name, "COMM");
}

TEST(names)
{
	unsigned comms = 0;
	const struct pd_scrub_options options = {
		.size = sizeof(options), .key = "0123456789abcdef", .key_size = 16, .name = count_name, .self = &comms
	};
	struct pd_file *file = open_text(recording);
	struct pd_scrub_result result;
	struct pd_scrub *scrub = NULL;
	struct seen first, again;

	CHECK(file && scrub_to(path_of("a"), file, &options, &scrub, &result) == PD_OK);
	CHECK(result.sample_count == 2 && result.other_count == 2 && comms == 1);
	CHECK(look_into(path_of("a"), &first));
	CHECK(first.count == 2 && first.ip == 0x400123 && first.pid == 5 && first.time_ns == 200);
	CHECK(*first.comm && !strstr(first.comm, "secret"));
	// the steps of a path stay steps, and a library stays one
	CHECK(first.path[0] == '/' && !strstr(first.path, "hidden") && strstr(first.path, ".so"));
	pd_scrub_free(scrub);
	// equal names stay equal with the same key
	CHECK(scrub_to(path_of("b"), file, &options, &scrub, NULL) == PD_OK);
	CHECK(look_into(path_of("b"), &again) && !strcmp(first.comm, again.comm) && !strcmp(first.path, again.path));
	pd_scrub_free(scrub);
	pd_file_close(file);
}

TEST(all)
{
	const char *const keep[] = { "comm=secret-*" };
	const struct pd_scrub_options options = { .size = sizeof(options),
						  .level = PD_SCRUB_ALL,
						  .key = "0123456789abcdef",
						  .key_size = 16,
						  .keep = keep,
						  .keep_count = 1 };
	struct pd_file *file = open_text(recording);
	struct pd_scrub_class class;
	struct pd_scrub *scrub = NULL;
	bool has_comm = false;
	struct seen seen;

	CHECK(file && scrub_to(path_of("all"), file, &options, &scrub, NULL) == PD_OK);
	CHECK(look_into(path_of("all"), &seen));
	CHECK_STR(seen.comm, "secret-name");
	CHECK(seen.ip != 0x400123 && (seen.ip & 0xfff) == 0x123 && seen.pid != 5 && seen.time_ns == 200);
	for (size_t i = 0; pd_scrub_class_at(scrub, i, &class); i++) {
		if (strcmp(class.name, "COMM") != 0)
			continue;
		has_comm = true;
		CHECK(class.action == PD_SCRUB_REPLACE && class.distinct_count == 1 && class.kept_count == 1);
	}
	CHECK(has_comm);
	pd_scrub_free(scrub);
	pd_file_close(file);
}

TEST(search)
{
	const struct pd_scrub_options options = { .size = sizeof(options), .key = "0123456789abcdef", .key_size = 16 };
	struct pd_file *file = open_text(recording);
	const struct pd_writer_options form = { .size = sizeof(form), .inputs = &file, .input_count = 1 };
	struct pd_scrub_search_result result;
	struct pd_scrub_search *search = NULL;
	struct pd_scrub *scrub = NULL;
	struct pd_scrub_find find;
	struct pd_writer *writer;
	bool has_name = false;

	CHECK(file && pd_writer_open(path_of("original"), &form, &writer, &error) == PD_OK);
	CHECK(pd_writer_copy_metadata(writer, file, &error) == PD_OK &&
	      pd_convert(file, writer, NULL, &error) == PD_OK);
	CHECK(pd_writer_finish(writer, &error) == PD_OK);
	CHECK(scrub_to(path_of("clean"), file, &options, &scrub, NULL) == PD_OK);
	CHECK(pd_scrub_search_new(path_of("original"), path_of("clean"), &options, 4, &search, &error) == PD_OK);
	pd_scrub_search_count(search, &result);
	CHECK(result.name_count > 3 && !result.find_count && result.searched_bytes > 100);
	pd_scrub_search_free(search);
	// the original says all of it
	CHECK(pd_scrub_search_new(path_of("original"), path_of("original"), &options, 4, &search, &error) == PD_OK);
	for (size_t i = 0; pd_scrub_search_at(search, i, &find); i++)
		has_name |= !strcmp((const char *)find.name.data, "secret-name") && find.count == 1;
	CHECK(has_name);
	pd_scrub_search_free(search);
	CHECK(pd_scrub_search_new("/nowhere", path_of("clean"), &options, 4, &search, &error) < 0);
	CHECK(pd_scrub_search_new(path_of("original"), "/dev/null", &options, 4, &search, &error) < 0);
	CHECK(pd_scrub_search_new(path_of("original"), path_of("clean"), &options, 3, &search, &error) ==
	      PD_ERROR_ARGUMENT);
	pd_scrub_search_free(NULL);
	pd_scrub_free(scrub);
	pd_file_close(file);
}

TEST(refused)
{
	const char *const keep[] = { "nothing=*" };
	struct pd_scrub_options options = { .size = sizeof(options) };
	struct pd_file *file = open_text(recording);
	struct pd_scrub *scrub;

	CHECK(file && pd_scrub_new(file, NULL, &scrub, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_scrub_new(file, &options, &scrub, &error) == PD_ERROR_ARGUMENT && strstr(error.message, "key"));
	options = (struct pd_scrub_options){
		.size = sizeof(options), .key = "key", .key_size = 3, .keep = keep, .keep_count = 1
	};
	CHECK(pd_scrub_new(file, &options, &scrub, &error) == PD_ERROR_ARGUMENT && strstr(error.message, "nothing"));
	CHECK(pd_scrub_knows_class("dso=*") && pd_scrub_knows_class("libc*") && !pd_scrub_knows_class("nothing=*"));
	pd_scrub_free(NULL);
	pd_file_close(file);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

TEST(names_to_keep)
{
	struct pd_scrub_options options = { 0 };
	struct pd_scrub_keep *keep;

	CHECK(pd_scrub_keep_new(&keep, &error) == PD_OK);
	CHECK(pd_scrub_keep_add(keep, "comm=java", &error) == PD_OK);
	CHECK(pd_scrub_keep_add(keep, "other=x", &error) == PD_ERROR_ARGUMENT &&
	      strstr(error.message, "'other' is not one of"));
	write_text(path_of("keep"), "# names\n\ndso=libc*\nmain");
	CHECK(pd_scrub_keep_add_file(keep, path_of("keep"), &error) == PD_OK);
	CHECK(pd_scrub_keep_add_file(keep, path_of("none"), &error) == PD_ERROR_SYSTEM);
	pd_scrub_keep_set(keep, &options);
	CHECK(options.keep_count == 3 && !strcmp(options.keep[1], "dso=libc*") && !strcmp(options.keep[2], "main"));
	pd_scrub_keep_free(keep);
	pd_scrub_keep_free(NULL);
}

TEST(keys)
{
	struct pd_bytes key, other;

	CHECK(pd_scrub_key_read("hex:000102030405060708090a0b0c0d0E0f", NULL, &key, &error) == PD_OK);
	CHECK(key.size == 16 && key.data[14] == 14);
	pd_scrub_key_free(&key);
	CHECK(pd_scrub_key_read("hex:0001", NULL, &key, &error) == PD_ERROR_ARGUMENT &&
	      strstr(error.message, "2 bytes are too short"));
	CHECK(pd_scrub_key_read("hex:0g", NULL, &key, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_scrub_key_read(NULL, "0123456789abcdef", &key, &error) == PD_OK && key.size == 16);
	pd_scrub_key_free(&key);
	write_text(path_of("key"), "0123456789abcdefg\n");
	CHECK(pd_scrub_key_read(path_of("key"), NULL, &key, &error) == PD_OK && key.size == 17);
	pd_scrub_key_free(&key);
	CHECK(pd_scrub_key_read(path_of("none"), NULL, &key, &error) == PD_ERROR_SYSTEM);
	CHECK(pd_scrub_key_read(NULL, NULL, &key, &error) == PD_OK &&
	      pd_scrub_key_read(NULL, NULL, &other, &error) == PD_OK);
	CHECK(key.size == 32 && other.size == 32 && memcmp(key.data, other.data, 32) != 0);
	pd_scrub_key_free(&key);
	pd_scrub_key_free(&other);
}

TEST(summary)
{
	const struct pd_scrub_options options = { .size = sizeof(options), .key = "0123456789abcdef", .key_size = 16 };
	struct pd_file *file = open_text(recording);
	struct pd_scrub_search *search = NULL;
	struct pd_text *text = pd_text_new();
	struct pd_json json = { text };
	struct pd_scrub *scrub = NULL;

	CHECK(file && scrub_to(path_of("summary"), file, &options, &scrub, NULL) == PD_OK);
	pd_scrub_text(scrub, text);
	CHECK(text_has(text, "kept 2 samples and 2 other records, dropped 0 samples and 0 other records\n"));
	CHECK(text_has(text, "\nreplaced: ") && text_has(text, "names of threads (1)"));
	CHECK(text_has(text, "\nnot hidden: counts, sizes, flags, order, times, PIDs, CPUs, build ids, the machine\n"));
	pd_text_clear(text);
	pd_json_open(&json, NULL, '{');
	pd_scrub_json(scrub, &json);
	pd_json_close(&json, '}');
	CHECK(text_has(text, "{\"samples\":2,") || text_has(text, "{\"samples\": 2,"));
	pd_scrub_print_json(scrub, true, text);
	CHECK(text_has(text, "{\"hide\":\"names\",\"key\":\"random\",\"samples\":2,") && text_has(text, "}\n"));
	pd_text_clear(text);
	CHECK(pd_scrub_search_new(path_of("summary"), path_of("summary"), &options, 5, &search, &error) == PD_OK);
	pd_scrub_search_print_json(search, text);
	CHECK(text_has(text, "{\"found\":[") && text_has(text, ",\"searched\":") && text_has(text, "}\n"));
	pd_scrub_search_text(search, text);
	CHECK(text_has(text, "found ") && text_has(text, " shorter than 5 bytes ignored\n"));
	pd_scrub_search_free(search);
	pd_text_free(text);
	pd_scrub_free(scrub);
	pd_file_close(file);
}

TEST(words)
{
	struct pd_scrub_options options = { .size = sizeof(options) };

	CHECK(pd_scrub_level_parse("all", &options.level) && options.level == PD_SCRUB_ALL);
	CHECK_STR(pd_scrub_level_name(PD_SCRUB_ADDRESSES), "addresses");
	CHECK(!pd_scrub_level_parse("al", &options.level) && options.level == PD_SCRUB_ALL);
	CHECK(!pd_scrub_level_name((enum pd_scrub_level)3));
	CHECK(pd_scrub_keep_data_parse("regs,aux", &options, &error) == PD_OK);
	CHECK(options.keep_regs && options.keep_aux && !options.keep_raw && !options.keep_stack);
	CHECK(pd_scrub_keep_data_parse("", &options, &error) == PD_OK);
	CHECK(pd_scrub_keep_data_parse("raw,re", &options, &error) == PD_ERROR_ARGUMENT &&
	      strstr(error.message, "'re'"));
}

TEST(no_memory)
{
	const struct pd_scrub_options options = {
		.size = sizeof(options), .level = PD_SCRUB_ALL, .key = "0123456789abcdef", .key_size = 16
	};
	struct pd_file *file = open_text(recording);
	unsigned failures = 0;

	CHECK(file);
	for (long n = 0;; n++) {
		struct pd_scrub *scrub = NULL;
		enum pd_status status;

		left = n;
		has_failed = false;
		status = scrub_to(path_of("memory"), file, &options, &scrub, NULL);
		left = -1;
		pd_scrub_free(scrub);
		if (!has_failed) {
			CHECK(status == PD_OK);
			break;
		}
		failures += status < 0;
		CHECK(n < 10000);
	}
	CHECK(failures > 20);
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

RUN(TEST_CASE(start), TEST_CASE(names), TEST_CASE(all), TEST_CASE(search), TEST_CASE(refused), TEST_CASE(names_to_keep),
    TEST_CASE(keys), TEST_CASE(summary), TEST_CASE(words), TEST_CASE(no_memory), TEST_CASE(clean))
