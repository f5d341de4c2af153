/* SPDX-License-Identifier: MIT */
/*
 * The order of time against the plainest way: all records with their keys, one stable sort. The files of tests/data
 * are read as files, from memory and through a pipe; a made file has times in an order that no recorder would write.
 */
#include "test.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <perfdata/perfdata.h>

struct seen {
	uint64_t time_ns; // key, not only what the record says
	unsigned rank;
	uint64_t offset, inner_offset;
	uint32_t part, type;
	size_t number;
	uint64_t sum; // of the bytes
};

struct list {
	struct seen *items;
	size_t count, capacity;
};

static uint64_t sum_of(struct pd_bytes bytes)
{
	uint64_t sum = bytes.size;

	for (size_t i = 0; i < bytes.size; i++)
		sum = sum * 31 + bytes.data[i];
	return sum;
}

static bool read_all(struct pd_file *file, enum pd_order order, struct list *list)
{
	struct pd_stream_options options = { .size = sizeof(options), .order = order };
	uint64_t flushed = 0, limit = 0, newest = 0;
	const struct pd_record *record;
	struct pd_stream *stream;
	enum pd_status status;

	list->count = 0;
	if (pd_stream_open(file, &options, &stream, NULL) != PD_OK)
		return false;
	while ((status = pd_stream_next(stream, &record, NULL)) == PD_OK) {
		bool timed = record->time_ns != PD_NO_TIME;

		if (list->count == list->capacity) {
			list->capacity = list->capacity ? list->capacity * 2 : 256;
			list->items = realloc(list->items, list->capacity * sizeof(*list->items));
		}
		list->items[list->count] = (struct seen){
			.time_ns = timed ? record->time_ns : flushed,
			.rank = !timed,
			.offset = record->offset,
			.inner_offset = record->inner_offset,
			.part = record->part,
			.type = record->type,
			.number = list->count,
			.sum = sum_of(record->bytes),
		};
		list->count++;
		if (timed && record->time_ns > newest)
			newest = record->time_ns;
		if (record->type == PD_RECORD_FINISHED_ROUND) {
			flushed = limit;
			limit = newest;
		}
	}
	pd_stream_close(stream);
	return status == PD_END;
}

static int compare(const void *a, const void *b)
{
	const struct seen *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	return left->number < right->number ? -1 : 1;
}

static bool same(const struct list *plain, const struct list *ordered)
{
	if (plain->count != ordered->count)
		return false;
	for (size_t i = 0; i < plain->count; i++) {
		const struct seen *left = &plain->items[i], *right = &ordered->items[i];

		if (left->offset != right->offset || left->inner_offset != right->inner_offset ||
		    left->part != right->part || left->sum != right->sum || left->type != right->type)
			return false;
	}
	return true;
}

static const char *data_path(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", PERFDATA_TEST_DATA, name);
	return path;
}

static const char *const files[] = {
	"hot.data",       "hot-pipe.data",    "hot-zstd.data",  "hot-dir",
	"hot-multi.data", "hot-group.data",   "hot-regs.data",  "hot-records.data",
	"hot-stat.data",  "hot-sigkill.data", "hot-trace.data", "hot-trace-pipe.data",
};

static bool check_file(struct pd_file *plain_file, struct pd_file *ordered_file, size_t *count_out)
{
	struct list plain = { 0 }, ordered = { 0 };
	bool good = read_all(plain_file, PD_ORDER_FILE, &plain) && read_all(ordered_file, PD_ORDER_TIME, &ordered);

	if (plain.count)
		qsort(plain.items, plain.count, sizeof(plain.items[0]), compare);
	good = good && same(&plain, &ordered);
	*count_out = plain.count;
	free(plain.items);
	free(ordered.items);
	return good;
}

TEST(order__files_are_in_exact_order)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct pd_file *file;
		size_t count;
		bool good;

		printf("# %s\n", files[i]);
		CHECK(pd_file_open(data_path(files[i]), NULL, &file, NULL) == PD_OK);
		good = check_file(file, file, &count);
		pd_file_close(file);
		CHECK(good && count > 1);
	}
}

static struct pd_file *open_through_pipe(const char *path, pid_t *child_out)
{
	struct pd_file *file = NULL;
	int ends[2];

	if (pipe(ends) != 0)
		return NULL;
	*child_out = fork();
	if (*child_out == 0) {
		char buffer[4096];
		int fd = open(path, O_RDONLY);
		ssize_t got;

		close(ends[0]);
		while (fd >= 0 && (got = read(fd, buffer, sizeof(buffer))) > 0)
			if (write(ends[1], buffer, (size_t)got) != got)
				break;
		_exit(0);
	}
	close(ends[1]);
	// the descriptor stays open until the process ends: the file does not own it
	if (pd_file_open_fd(ends[0], NULL, &file, NULL) != PD_OK)
		return NULL;
	return file;
}

TEST(order__pipes_are_in_the_order_of_rounds)
{
	static const char *const pipes[] = { "hot-pipe.data", "hot-trace-pipe.data" };

	for (size_t i = 0; i < sizeof(pipes) / sizeof(pipes[0]); i++) {
		struct pd_file *plain, *piped;
		pid_t child;
		size_t count;
		bool good;

		CHECK(pd_file_open(data_path(pipes[i]), NULL, &plain, NULL) == PD_OK);
		piped = open_through_pipe(data_path(pipes[i]), &child);
		CHECK(piped != NULL);
		good = check_file(plain, piped, &count);
		pd_file_close(plain);
		pd_file_close(piped);
		CHECK(good && count > 1);
	}
}

// ---- a made file ----

struct image {
	uint8_t *data;
	size_t size, capacity;
};

static void put(struct image *image, const void *data, size_t size)
{
	if (image->size + size > image->capacity) {
		image->capacity = image->capacity * 2 + 4096;
		image->data = realloc(image->data, image->capacity);
	}
	memcpy(image->data + image->size, data, size);
	image->size += size;
}

static void put_u32(struct image *image, uint32_t value)
{
	put(image, &value, sizeof(value));
}

static void put_u64(struct image *image, uint64_t value)
{
	put(image, &value, sizeof(value));
}

static void put_header(struct image *image, uint32_t type, uint32_t size)
{
	const uint16_t misc_and_size[] = { 0, (uint16_t)size };

	put_u32(image, type);
	put(image, misc_and_size, sizeof(misc_and_size));
}

// A pipe-mode image of one event with times (sample_type TIME): samples with the given times, rounds at 0.
static void make_image(struct image *image, const uint64_t *times, size_t count)
{
	static const uint64_t magic = UINT64_C(0x32454c4946524550);

	put_u64(image, magic);
	put_u64(image, 16);
	put_header(image, PD_RECORD_HEADER_ATTR, 8 + 64);
	put_u32(image, PD_TYPE_SOFTWARE);
	put_u32(image, 64);
	put_u64(image, 0);
	put_u64(image, 1);
	put_u64(image, PD_MASK(PD_SAMPLE_TYPE_TIME));
	for (size_t i = 0; i < 4; i++)
		put_u64(image, 0);
	for (size_t i = 0; i < count; i++) {
		if (times[i]) {
			put_header(image, PD_RECORD_SAMPLE, 16);
			put_u64(image, times[i]);
		} else {
			put_header(image, PD_RECORD_FINISHED_ROUND, 8);
		}
	}
}

TEST(order__any_times_are_sorted)
{
	enum {
		COUNT = 300000
	}; // several chunks
	uint64_t *times = malloc(COUNT * sizeof(*times));
	struct image image = { 0 };
	struct pd_file *file;
	uint64_t state = 1;
	size_t count;
	bool good;

	for (size_t i = 0; i < COUNT; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		// mostly up, now and then anywhere, sometimes equal, rarely a round
		times[i] = state >> 40 & 1023 ? 1 + i / 3 * 1000 + (state >> 33) % 5000 : 1 + (state >> 33) % 100000000;
		if ((state >> 50 & 4095) == 0)
			times[i] = 0;
	}
	make_image(&image, times, COUNT);
	CHECK(pd_file_open_memory(image.data, image.size, NULL, &file, NULL) == PD_OK);
	good = check_file(file, file, &count);
	pd_file_close(file);
	free(image.data);
	free(times);
	CHECK(good);
	CHECK(count == COUNT + 1);
}

static bool are_sorted(const uint64_t *times, size_t count)
{
	struct image image = { 0 };
	struct pd_file *file;
	size_t found = 0;
	bool good;

	make_image(&image, times, count);
	if (pd_file_open_memory(image.data, image.size, NULL, &file, NULL) != PD_OK)
		return false;
	good = check_file(file, file, &found);
	pd_file_close(file);
	free(image.data);
	return good && found == count + 1;
}

// Each ring is a piece of the file or two, and all of them are of the same time.
TEST(order__many_rings_are_merged)
{
	enum {
		RINGS = 37,
		EACH = 20000,
		COUNT = RINGS * EACH
	};
	uint64_t *times = malloc(COUNT * sizeof(*times));
	bool apart, equal;

	for (size_t i = 0; i < COUNT; i++)
		times[i] = 1 + (i % EACH * 5 + i / EACH) / 3;
	apart = are_sorted(times, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		times[i] = 7 + (i > COUNT / 2);
	equal = are_sorted(times, COUNT);
	free(times);
	CHECK(apart);
	CHECK(equal);
}

static bool note_truncated(void *self, const struct pd_problem *problem)
{
	if (strcmp(problem->code, "truncated-record") == 0)
		*(bool *)self = true;
	return true;
}

// What was passed over is not what is read: what is left is shown, and it is reported.
TEST(order__files_may_change_meanwhile)
{
	enum {
		COUNT = 100000
	};
	uint64_t *times = malloc(COUNT * sizeof(*times));
	struct pd_stream_options options = { .size = sizeof(options), .order = PD_ORDER_TIME };
	bool told = false;
	struct pd_open_options open_options = { .size = sizeof(open_options),
						.problem = note_truncated,
						.self = &told };
	FILE *temporary = tmpfile();
	int fd = temporary ? fileno(temporary) : -1;
	const struct pd_record *record;
	struct image image = { 0 };
	struct pd_stream *stream;
	struct pd_file *file;
	size_t samples = 0, ascending = 0;
	uint64_t last_ns = 0;

	for (size_t i = 0; i < COUNT; i++)
		times[i] = i + 1;
	make_image(&image, times, COUNT);
	free(times);
	CHECK(fd >= 0 && write(fd, image.data, image.size) == (ssize_t)image.size && lseek(fd, 0, SEEK_SET) == 0);
	CHECK(pd_file_open_fd(fd, &open_options, &file, NULL) == PD_OK);
	CHECK(pd_stream_open(file, &options, &stream, NULL) == PD_OK);
	CHECK(ftruncate(fd, (off_t)(image.size - 16 * 1000)) == 0);
	while (pd_stream_next(stream, &record, NULL) == PD_OK) {
		samples += record->type == PD_RECORD_SAMPLE;
		ascending += record->type == PD_RECORD_SAMPLE && record->time_ns > last_ns;
		last_ns = record->type == PD_RECORD_SAMPLE ? record->time_ns : last_ns;
	}
	pd_stream_close(stream);
	pd_file_close(file);
	fclose(temporary);
	free(image.data);
	CHECK(samples == COUNT - 1000 && ascending == samples);
	CHECK(told);
}

static bool remember(void *self, const struct pd_problem *problem)
{
	if (strcmp(problem->code, "late-records") == 0)
		*(bool *)self = true;
	return true;
}

// Through a pipe a record that is older than two rounds before it cannot be placed right: it is marked and told.
TEST(order__late_records_are_marked)
{
	static const uint64_t times[] = { 100, 200, 0, 300, 400, 0, 500, 0, 50, 600, 0, 700 };
	struct pd_stream_options options = { .size = sizeof(options), .order = PD_ORDER_TIME };
	bool told = false;
	struct pd_open_options open_options = { .size = sizeof(open_options), .problem = remember, .self = &told };
	const struct pd_record *record;
	struct image image = { 0 };
	struct pd_stream *stream;
	struct pd_file *file;
	size_t late = 0, samples = 0;
	uint64_t late_time = 0, before_late = 0, last = 0;
	int ends[2];

	make_image(&image, times, sizeof(times) / sizeof(times[0]));
	CHECK(pipe(ends) == 0);
	CHECK(write(ends[1], image.data, image.size) == (ssize_t)image.size);
	close(ends[1]);
	CHECK(pd_file_open_fd(ends[0], &open_options, &file, NULL) == PD_OK);
	CHECK(pd_stream_open(file, &options, &stream, NULL) == PD_OK);
	while (pd_stream_next(stream, &record, NULL) == PD_OK) {
		samples += record->type == PD_RECORD_SAMPLE;
		if (record->flags & PD_RECORD_LATE) {
			late++;
			late_time = record->time_ns;
			before_late = last;
		}
		if (record->type == PD_RECORD_SAMPLE)
			last = record->time_ns;
	}
	pd_stream_close(stream);
	pd_file_close(file);
	close(ends[0]);
	free(image.data);
	CHECK(samples == 8);
	CHECK(late == 1 && late_time == 50 && before_late > 50);
	CHECK(told);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(order__files_are_in_exact_order),   TEST_CASE(order__pipes_are_in_the_order_of_rounds),
		TEST_CASE(order__any_times_are_sorted),       TEST_CASE(order__many_rings_are_merged),
		TEST_CASE(order__files_may_change_meanwhile), TEST_CASE(order__late_records_are_marked),
	};

	return test_run(cases, sizeof(cases) / sizeof(cases[0]));
}
