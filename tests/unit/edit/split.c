/* SPDX-License-Identifier: MIT */
/* Recordings split through the public header: what is in which piece, names, times, refusals, and lack of memory. */
#include "recording.h"

#define EVENT                                                                         \
	"header form: file, byte_order: little\n"                                     \
	"event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 1000, " \
	"sample_type: IP|TID|TIME|CPU|IDENTIFIER, flags: sample_id_all}\n"
#define ID(pid, time) "sample_id: {pid: " pid ", tid: " pid ", time_ns: " time ", cpu: 0, identifier: 7}\n"
#define COMM(pid, name) "COMM pid: " pid ", tid: " pid ", comm: \"" name "\", " ID(pid, "1")
#define FORK(parent, pid) \
	"FORK pid: " pid ", ppid: " parent ", tid: " pid ", ptid: " parent ", time_ns: 50, " ID(parent, "50")
#define SAMPLE(pid, cpu, time) \
	"SAMPLE misc: user, identifier: 7, ip: 0x1000, pid: " pid ", tid: " pid ", time_ns: " time ", cpu: " cpu "\n"

static const char recording[] = EVENT COMM("5", "a/b") COMM("6", "a b") COMM("9", "other") FORK("6", "7")
	SAMPLE("5", "0", "100") SAMPLE("6", "1", "200") SAMPLE("7", "1", "1300") SAMPLE("5", "0", "1400");

static struct pd_error error;

// Writes all pieces to files of the folder, by their names.
static enum pd_status split_all(struct pd_file *file, const struct pd_split_options *options,
				struct pd_split **split_out)
{
	const struct pd_writer_options form = { .size = sizeof(form), .inputs = &file, .input_count = 1 };
	struct pd_writer *writers[PD_SPLIT_AT_ONCE];
	enum pd_status status = pd_split_new(file, options, split_out, &error);
	size_t count = status < 0 ? 0 : pd_split_piece_count(*split_out), open = 0;

	for (; open < count && status >= 0; open++)
		status = pd_writer_open(path_of(pd_split_piece(*split_out, open)->name), &form, &writers[open], &error);
	open -= status < 0 && open;
	if (status >= 0)
		status = pd_split_write(*split_out, 0, writers, count, &error);
	for (size_t i = 0; i < open; i++) {
		if (status < 0)
			pd_writer_abort(writers[i]);
		else
			status = pd_writer_finish(writers[i], &error);
	}
	return status;
}

static uint64_t count_in(const char *name, uint32_t type)
{
	struct pd_file *piece;
	uint64_t count;

	if (pd_file_open(path_of(name), NULL, &piece, &error) < 0)
		return UINT64_MAX;
	count = count_records(piece, type);
	pd_file_close(piece);
	return count;
}

TEST(by_process)
{
	const struct pd_split_options options = { .size = sizeof(options), .by = PD_SPLIT_PID };
	const struct pd_outfile_options files_options = { .size = sizeof(files_options) };
	struct pd_file *file = open_text(recording);
	struct pd_text *text = pd_text_new();
	struct pd_outfiles *files = NULL;
	struct pd_split_result result;
	struct pd_split *split = NULL;

	CHECK(file && split_all(file, &options, &split) == PD_OK);
	CHECK(pd_split_piece_count(split) == 3);
	CHECK_STR(pd_split_piece(split, 0)->name, "5");
	CHECK_STR(pd_split_piece(split, 1)->name, "6");
	CHECK(pd_split_piece(split, 0)->sample_count == 2 && pd_split_piece(split, 1)->sample_count == 1);
	CHECK(pd_split_piece(split, 0)->first_ns == 100 && pd_split_piece(split, 0)->last_ns == 1400);
	CHECK(!pd_split_piece(split, 3));
	pd_split_count(split, &result);
	CHECK(result.sample_count == 4 && !result.unknown_count && !result.lost_count && !result.deep_count);
	// names of others are left out, those of ancestors are not
	CHECK(count_in("5", PD_RECORD_SAMPLE) == 2 && count_in("5", PD_RECORD_COMM) == 1);
	CHECK(count_in("5", PD_RECORD_FORK) == 0);
	CHECK(count_in("7", PD_RECORD_SAMPLE) == 1 && count_in("7", PD_RECORD_COMM) == 1);
	CHECK(count_in("7", PD_RECORD_FORK) == 1);
	CHECK(text && pd_outfiles_new(folder, &files_options, &files, &error) == PD_OK);
	for (size_t i = 0; i < 3; i++)
		CHECK(pd_outfiles_add(files, pd_split_piece(split, i)->name, &error) == PD_OK);
	pd_split_print_pieces(split, files, false, text);
	pd_split_print_pieces(split, files, true, text);
	CHECK(text_has(text, "         2 samples  /tmp/") && text_has(text, "5.data\n"));
	CHECK(text_has(text, "6.data\",\"samples\":1,\"bytes\":0}\n"));
	pd_outfiles_free(files);
	pd_text_free(text);
	pd_split_free(split);
	pd_file_close(file);
}

TEST(names_are_unique)
{
	const struct pd_split_options options = { .size = sizeof(options), .by = PD_SPLIT_COMM };
	struct pd_file *file = open_text(recording);
	struct pd_split *split = NULL;

	CHECK(file && pd_split_new(file, &options, &split, &error) == PD_OK);
	// "a b", which the child has too, and "a/b": both are a_b
	CHECK(pd_split_piece_count(split) == 2);
	CHECK_STR(pd_split_piece(split, 0)->name, "a_b");
	CHECK_STR(pd_split_piece(split, 1)->name, "a_b-2");
	CHECK(pd_split_piece(split, 0)->sample_count == 2);
	pd_split_free(split);
	pd_file_close(file);
}

TEST(by_time)
{
	const struct pd_split_options options = { .size = sizeof(options), .by = PD_SPLIT_TIME, .amount = 500 };
	struct pd_file *file = open_text(recording);
	struct pd_split *split = NULL;

	CHECK(file && split_all(file, &options, &split) == PD_OK);
	// slices without samples are no pieces
	CHECK(pd_split_piece_count(split) == 2);
	CHECK_STR(pd_split_piece(split, 0)->name, "0000");
	CHECK_STR(pd_split_piece(split, 1)->name, "0002");
	CHECK(count_in("0002", PD_RECORD_SAMPLE) == 2);
	// what tells who runs is in all that comes later
	CHECK(count_in("0002", PD_RECORD_COMM) == 3 && count_in("0002", PD_RECORD_FORK) == 1);
	pd_split_free(split);
	pd_file_close(file);
}

TEST(by_size)
{
	struct pd_split_options options = { .size = sizeof(options), .by = PD_SPLIT_SIZE, .amount = 100 };
	struct pd_file *file = open_text(recording);
	struct pd_split *split = NULL;

	CHECK(file && pd_split_new(file, &options, &split, &error) == PD_ERROR_ARGUMENT);
	CHECK(strstr(error.message, "what every piece must have"));
	options.amount = 1 << 20;
	CHECK(pd_split_new(file, &options, &split, &error) == PD_OK);
	CHECK(pd_split_piece_count(split) == 1);
	pd_split_free(split);
	pd_file_close(file);
}

TEST(words)
{
	static const struct {
		const char *text;
		enum pd_split_by by;
		uint64_t amount;
	} words[] = { { "event", PD_SPLIT_EVENT, 0 },           { "cgroup", PD_SPLIT_CGROUP, 0 },
		      { "time=1.5ms", PD_SPLIT_TIME, 1500000 }, { "time=2", PD_SPLIT_TIME, 2000000000 },
		      { "size=64M", PD_SPLIT_SIZE, 64 << 20 },  { "size=7", PD_SPLIT_SIZE, 7 } };
	static const char *const wrong[] = { "",           "pids",    "time=",   "time=0",
					     "time=0.1ns", "time=1x", "size=-1", "size=1e30G" };
	struct pd_split_options options = { 0 };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		options.amount = 0;
		CHECK(pd_split_parse(words[i].text, &options, &error) == PD_OK);
		CHECK(options.by == words[i].by && options.amount == words[i].amount);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(pd_split_parse(wrong[i], &options, &error) == PD_ERROR_ARGUMENT);
	CHECK(options.by == PD_SPLIT_SIZE && options.amount == 7);
}

TEST(refused)
{
	struct pd_split_options options = { .size = sizeof(options), .by = PD_SPLIT_CGROUP };
	struct pd_file *file = open_text(recording), *empty = open_text(EVENT COMM("5", "a"));
	struct pd_split *split = NULL;

	CHECK(file && empty);
	CHECK(pd_split_new(file, &options, &split, &error) == PD_ERROR_NO_MATCH);
	CHECK(strstr(error.message, "samples have no cgroup"));
	options.by = PD_SPLIT_CPU;
	CHECK(pd_split_new(empty, &options, &split, &error) == PD_ERROR_NO_SAMPLES);
	options.by = PD_SPLIT_TIME;
	CHECK(pd_split_new(file, &options, &split, &error) == PD_ERROR_ARGUMENT);
	options.size = 0;
	CHECK(pd_split_new(file, &options, &split, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_split_new(file, NULL, &split, &error) == PD_OK);
	CHECK(pd_split_write(split, 1, NULL, 1, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_split_write(split, 0, NULL, PD_SPLIT_AT_ONCE + 1, &error) == PD_ERROR_ARGUMENT);
	pd_split_free(split);
	pd_split_free(NULL);
	pd_file_close(file);
	pd_file_close(empty);
}

TEST(no_memory)
{
	static const enum pd_split_by ways[] = { PD_SPLIT_EVENT, PD_SPLIT_PID, PD_SPLIT_COMM, PD_SPLIT_TIME };
	struct pd_file *file = open_text(recording);
	unsigned failures = 0;

	CHECK(file);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const struct pd_split_options options = { .size = sizeof(options), .by = ways[i], .amount = 500 };

		for (long n = 0;; n++) {
			struct pd_split *split = NULL;
			enum pd_status status;

			left = n;
			has_failed = false;
			status = split_all(file, &options, &split);
			left = -1;
			pd_split_free(split);
			if (!has_failed) {
				CHECK(status == PD_OK);
				break;
			}
			failures += status < 0;
			CHECK(n < 10000);
		}
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

RUN(TEST_CASE(start), TEST_CASE(by_process), TEST_CASE(names_are_unique), TEST_CASE(by_time), TEST_CASE(by_size),
    TEST_CASE(words), TEST_CASE(refused), TEST_CASE(no_memory), TEST_CASE(clean))
