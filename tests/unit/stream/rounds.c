/* SPDX-License-Identifier: MIT */
/* One pass in the order of rounds: it gives what two passes give, or says that it cannot. */
#include "made.h"

#include "stream/order/order.h"

struct shown {
	uint64_t offset, time_ns, place, index;
	uint32_t type;
	uint16_t misc;
	const struct pd_event *event;
};

struct list {
	struct shown *items;
	size_t count, capacity;
	size_t most;    // then it fails
	size_t offered; // samples that are no records yet
};

static void append(struct list *list, struct shown shown)
{
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? 2 * list->capacity : 1024;
		list->items = realloc(list->items, list->capacity * sizeof(*list->items));
	}
	list->items[list->count++] = shown;
}

static enum pd_status add(void *self, struct pd_stream *stream, const struct pd_record *record, struct pd_error *error)
{
	struct list *list = self;

	(void)stream;
	(void)error;
	append(list, (struct shown){ record->offset, record->time_ns, record->place, record->index, record->type,
				     record->misc, record->event });
	return list->most && list->count == list->most ? PD_ERROR_MEMORY : PD_OK;
}

// Takes two of three samples as they are offered: nothing is known of where they are.
static enum pd_status add_sample(void *self, const struct pd_event_full *event, struct pd_bytes bytes, uint64_t time_ns,
				 struct pd_error *error)
{
	struct list *list = self;

	(void)error;
	if (list->offered++ % 3 == 2)
		return PD_END;
	append(list, (struct shown){ PD_NO_OFFSET, time_ns, 0, list->count, PD_RECORD_SAMPLE,
				     (uint16_t)pd_record_head(bytes.data, false).misc, &event->event });
	return PD_OK;
}

static bool is_same(const struct shown *a, const struct shown *b)
{
	return (a->offset == PD_NO_OFFSET || (a->offset == b->offset && a->place == b->place)) &&
	       a->time_ns == b->time_ns && a->index == b->index && a->type == b->type && a->misc == b->misc &&
	       a->event == b->event;
}

static bool read_twice(struct pd_file *file, struct list *list)
{
	const struct pd_stream_options options = { .size = sizeof(options), .order = PD_ORDER_TIME };
	const struct pd_record *record;
	struct pd_stream *stream;
	enum pd_status status;

	if (pd_stream_open(file, &options, &stream, NULL) != PD_OK)
		return false;
	while ((status = pd_stream_next(stream, &record, NULL)) == PD_OK)
		add(list, stream, record, NULL);
	pd_stream_close(stream);
	return status == PD_END;
}

// What was read at once, by status, is held against the same in two passes. PD_ERROR_FORMAT: both ways differ.
static enum pd_status compared(struct pd_file *file, enum pd_status status, struct list *once)
{
	struct list twice = { 0 };

	if (!read_twice(file, &twice) || (status == PD_OK && once->count != twice.count))
		status = PD_ERROR_FORMAT;
	for (size_t i = 0; status == PD_OK && i < once->count; i++)
		if (!is_same(&once->items[i], &twice.items[i]))
			status = PD_ERROR_FORMAT;
	free(once->items);
	free(twice.items);
	return status;
}

static enum pd_status try_as(struct pd_file *file, pd_order_sample_fn *sample, size_t *offered_out)
{
	struct list once = { 0 };
	struct pd_error error;
	const struct pd_order_taker taker = { add, sample, &once, NULL };
	enum pd_status status = compared(file, pd_order_try_rounds(file, &taker, &error), &once);

	*offered_out = once.offered;
	return status;
}

static enum pd_status try(struct pd_file *file)
{
	size_t offered;

	return try_as(file, NULL, &offered);
}

static enum pd_status try_made(const struct make *make)
{
	open_made(make);
	return try(o.file);
}

TEST(rounds__files_of_recorders_are_read_once)
{
	CHECK(try_made(&(struct make){ 0 }) == PD_OK);
	CHECK(try_made(&(struct make){ .big = true }) == PD_OK);
}

// Those of the byte order of this machine.
TEST(rounds__samples_are_offered_first)
{
	size_t offered;

	open_made(&(struct make){ .big = PD_HOST_BIG });
	CHECK(try_as(o.file, add_sample, &offered) == PD_OK);
	CHECK(offered > 100);
	open_made(&(struct make){ .big = !PD_HOST_BIG });
	CHECK(try_as(o.file, add_sample, &offered) == PD_OK);
	CHECK(!offered);
}

// They are counted as passed; all others are given, in the same order.
TEST(rounds__ends_of_rounds_are_left_out)
{
	struct list once = { 0 }, twice = { 0 };
	uint64_t passed = 0;
	struct pd_error error;
	const struct pd_order_taker taker = { .record = add, .self = &once, .no_rounds = true, .passed = &passed };
	size_t at = 0, rounds = 0;

	open_made(&(struct make){ 0 });
	CHECK(pd_order_try_rounds(o.file, &taker, &error) == PD_OK && read_twice(o.file, &twice));
	for (size_t i = 0; i < twice.count; i++) {
		if (twice.items[i].type == PD_RECORD_FINISHED_ROUND)
			rounds++;
		else
			CHECK(at < once.count && once.items[at++].offset == twice.items[i].offset);
	}
	CHECK(rounds && rounds == passed && at == once.count);
	free(once.items);
	free(twice.items);
}

static bool is_first(void *self, const struct pd_event *event)
{
	(void)self;
	return !event->index;
}

// Takes every second of them; the others are put in order.
static enum pd_status count_first(void *self, const struct pd_event_full *event, struct pd_bytes bytes,
				  uint64_t time_ns, struct pd_error *error)
{
	struct list *list = self;

	(void)error;
	if (event->event.index || bytes.size < 8 || time_ns / STEP_NS % 2)
		return PD_END;
	list->offered++;
	return PD_OK;
}

TEST(rounds__what_needs_no_order_is_given_as_it_is_read)
{
	struct list once = { 0 }, twice = { 0 };
	const struct pd_order_taker taker = { add, count_first, &once, is_first };
	struct pd_error error;
	size_t at = 0, first = 0;
	bool same = true;

	open_made(&(struct make){ .big = PD_HOST_BIG });
	CHECK(pd_order_try_rounds(o.file, &taker, &error) == PD_OK && read_twice(o.file, &twice));
	for (size_t i = 0; i < twice.count; i++) {
		const struct shown *shown = &twice.items[i];

		if (shown->type == PD_RECORD_SAMPLE && shown->event && !shown->event->index &&
		    shown->time_ns / STEP_NS % 2 == 0) {
			first++;
			continue;
		}
		same = same && at < once.count && once.items[at].offset == shown->offset &&
		       once.items[at].place == shown->place;
		at++;
	}
	CHECK(same && at == once.count && first && first == once.offered);
	free(once.items);
	free(twice.items);
}

// Of samples their headers are kept, and of raw data the first word.
static void keep_words(void *self, const struct pd_event_full *event, struct pd_pack *pack)
{
	(void)self;
	pack->before = 1;
	pack->count = event->event.attr->sample_type & IMAGE_RAW ? 2 : 1;
}

static enum pd_status add_words(void *self, const struct pd_event_full *event, uint64_t time_ns, const uint64_t *words,
				struct pd_error *error)
{
	struct list *list = self;
	uint64_t head = words[0];
	uint16_t misc;

	(void)error;
	memcpy(&misc, (const uint8_t *)&head + 4, sizeof(misc));
	if (event->event.attr->sample_type & IMAGE_RAW && words[1] != time_ns)
		return PD_ERROR_FORMAT;
	list->offered++;
	append(list, (struct shown){ PD_NO_OFFSET, time_ns, 0, list->count, PD_RECORD_SAMPLE, misc, &event->event });
	return PD_OK;
}

static bool no_event(void *self, const struct pd_event *event)
{
	(void)self;
	(void)event;
	return false;
}

// All of it to be taken as records.
static enum pd_status leave(void *self, const struct pd_event_full *event, struct pd_bytes bytes, uint64_t time_ns,
			    struct pd_error *error)
{
	(void)self;
	(void)event;
	(void)bytes;
	(void)time_ns;
	(void)error;
	return PD_END;
}

static enum pd_status try_kept_as(pd_order_pack_fn *pack, size_t *offered_out)
{
	struct list once = { 0 };
	const struct pd_order_taker taker = {
		.record = add, .sample = leave, .self = &once, .unordered = no_event, .pack = pack, .packed = add_words
	};
	struct pd_error error;
	enum pd_status status;

	status = compared(o.file, pd_order_try_rounds(o.file, &taker, &error), &once);
	*offered_out = once.offered;
	return status;
}

static enum pd_status try_kept(size_t *offered_out)
{
	return try_kept_as(keep_words, offered_out);
}

static enum pd_status try_kept_of_made(const struct make *make, size_t *offered_out)
{
	open_made(make);
	return try_kept(offered_out);
}

TEST(rounds__what_is_kept_of_samples_has_their_turn)
{
	enum pd_status status;
	size_t offered;

	CHECK(try_kept_of_made(&(struct make){ .big = PD_HOST_BIG }, &offered) == PD_OK);
	CHECK(offered > 100);
	// nothing is kept of another byte order
	CHECK(try_kept_of_made(&(struct make){ .big = !PD_HOST_BIG }, &offered) == PD_OK);
	CHECK(!offered);
	status = try_kept_of_made(&(struct make){ .mixed = true, .big = PD_HOST_BIG }, &offered);
	CHECK(status == PD_OK || status == PD_END);
	CHECK(try_kept_of_made(&(struct make){ .tails = true, .big = PD_HOST_BIG }, &offered) == PD_END);
}

// With call chains, and raw data that have the time; those of every fourth do not end the sample, or are too short.
static void make_raw(struct image *image, size_t i, uint64_t time_ns)
{
	size_t record = image_record(image, 9, (uint16_t)(i % 3));

	image_u64(image, 0x400000);
	image_u32(image, 100);
	image_u32(image, 100);
	image_u64(image, time_ns);
	image_u64(image, i % 5);
	image_zeros(image, 8 * (i % 5));
	image_u32(image, i % 8 == 7 ? 12 : i % 8 == 3 ? 4 : 20);
	if (i % 8 != 3)
		image_u64(image, time_ns);
	image_zeros(image, i % 8 == 3 ? 4 : 12);
	image_end(image, record);
}

TEST(rounds__raw_data_are_kept_where_they_end_samples)
{
	struct image image = { .big = PD_HOST_BIG };
	size_t offered;

	image_file(&image, IMAGE_IP_TID_TIME_CHAIN_RAW, image_flag(&image, IMAGE_SAMPLE_ID_ALL));
	for (size_t i = 0; i < 8000; i++) {
		make_raw(&image, i, 1000 + i * 10);
		if (i % 900 == 0)
			make_round(&image);
	}
	image_file_end(&image);
	opened_open(&o, &image, 0);
	CHECK(try_kept(&offered) == PD_OK);
	CHECK(offered > 5900 && offered <= 6000);
}

static void keep_nothing(void *self, const struct pd_event_full *event, struct pd_pack *pack)
{
	(void)self;
	(void)event;
	(void)pack;
}

// As large as records can be, of which it is not known what is wanted.
TEST(rounds__the_largest_samples_are_kept_as_records)
{
	struct image image = { .big = PD_HOST_BIG };
	size_t offered;

	image_file(&image, IMAGE_IP_TID_TIME_PERIOD, image_flag(&image, IMAGE_SAMPLE_ID_ALL));
	for (size_t i = 0; i < 40; i++) {
		size_t record = image.size;

		image_sample(&image, 1000 + i * 10);
		image_zeros(&image, UINT16_MAX - (image.size - record));
		image_end(&image, record);
		if (i % 9 == 0)
			make_round(&image);
	}
	image_file_end(&image);
	opened_open(&o, &image, 0);
	CHECK(try_kept_as(keep_nothing, &offered) == PD_OK);
	CHECK(!offered);
}

static enum pd_status count_sample(void *self, const struct pd_event_full *event, struct pd_bytes bytes,
				   uint64_t time_ns, struct pd_error *error)
{
	struct list *list = self;

	(void)event;
	(void)error;
	list->offered += bytes.size && time_ns;
	return PD_OK;
}

// Samples of a type; their CPU is 7, where they have one.
static bool pass_samples(uint64_t type, size_t *offered_out, uint64_t *passed_out)
{
	struct list list = { 0 };
	const struct pd_order_taker taker = { add, count_sample, &list, is_first, passed_out, NULL, NULL };
	struct pd_error error;
	struct image image = { 0 };
	enum pd_status status;

	image_file(&image, type, 0);
	for (size_t i = 0; i < 9; i++)
		image_sample(&image, 1000 + i);
	image_file_end(&image);
	opened_open(&o, &image, 0);
	*passed_out = 0;
	status = pd_order_try_rounds(o.file, &taker, &error);
	*offered_out = list.offered;
	free(list.items);
	return status == PD_OK && !list.count;
}

// And the first one, before it is known how samples of its event are found.
TEST(rounds__one_sample_of_a_cpu_is_given)
{
	size_t offered;
	uint64_t passed;

	CHECK(pass_samples(IMAGE_IP_TID_TIME_CPU, &offered, &passed) && offered == 2 && passed == 7);
	CHECK(pass_samples(IMAGE_IP_TID_TIME_PERIOD, &offered, &passed) && offered == 9 && passed == 0);
}

TEST(rounds__what_is_not_plain_is_left_to_two_passes)
{
	CHECK(try_made(&(struct make){ .pipe = true }) == PD_END);
	CHECK(try_made(&(struct make){ .damaged = true }) == PD_END);
	CHECK(try_made(&(struct make){ .tails = true }) == PD_END);
	open_compressed(&(struct make){ 0 });
	CHECK(try(o.file) == PD_END);
}

// Times that go back by as much as a few rounds, with samples without a time.
TEST(rounds__files_in_disorder_are_as_two_passes_have_them)
{
	enum pd_status status = try_made(&(struct make){ .mixed = true });

	CHECK(status == PD_OK || status == PD_END);
}

static void make_ordered(struct image *image, const uint64_t *times, size_t count)
{
	*image = (struct image){ 0 };
	image_file(image, IMAGE_IP_TID_TIME_PERIOD, image_flag(image, IMAGE_SAMPLE_ID_ALL));
	for (size_t i = 0; i < count; i++) {
		if (times[i])
			image_sample(image, times[i]);
		else
			make_round(image);
	}
	image_file_end(image);
}

static enum pd_status try_times(const uint64_t *times, size_t count)
{
	struct image image;

	make_ordered(&image, times, count);
	opened_open(&o, &image, 0);
	return try(o.file);
}

#define TRY(...) try_times((const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

TEST(rounds__a_late_record_is_noticed)
{
	uint64_t *times = calloc(60000, sizeof(*times));
	enum pd_status in_order, late, equal;

	// rounds of two rings, one after another
	for (size_t i = 0; i < 60000; i++)
		times[i] = i % 2000 == 1999 ? 0 : 1000 + i / 2000 * 1000 + i % 1000;
	in_order = try_times(times, 60000);
	times[50000] = 1001;
	late = try_times(times, 60000);
	// rounds have no time of their own, and come after all that is as old as what they flush
	for (size_t i = 0; i < 60000; i++)
		times[i] = i % 2000 == 1999 ? 0 : 7;
	equal = try_times(times, 60000);
	free(times);
	CHECK(in_order == PD_OK);
	CHECK(late == PD_END);
	CHECK(equal == PD_END);
	CHECK(TRY(5, 4, 3, 9, 1) == PD_OK);
	CHECK(TRY(0) == PD_OK);
}

// Recorders that write a round for a few records each have some that are late by as little.
TEST(rounds__records_may_be_late_by_many_small_rounds)
{
	uint64_t *times = calloc(60000, sizeof(*times));
	enum pd_status status;

	for (size_t i = 0; i < 60000; i++)
		times[i] = i % 9 == 8 ? 0 : 10000 + i * 10 - (i % 9 == 4 ? 4500 : 0);
	status = try_times(times, 60000);
	free(times);
	CHECK(status == PD_OK);
}

TEST(rounds__a_failure_gives_nothing)
{
	struct list list = { .most = 100 };
	const struct pd_order_taker taker = { add, NULL, &list, NULL };
	struct pd_error error;

	open_made(&(struct make){ 0 });
	CHECK(pd_order_try_rounds(o.file, &taker, &error) == PD_END);
	CHECK(list.count == 100);
	free(list.items);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(rounds__files_of_recorders_are_read_once),
		TEST_CASE(rounds__samples_are_offered_first),
		TEST_CASE(rounds__ends_of_rounds_are_left_out),
		TEST_CASE(rounds__what_needs_no_order_is_given_as_it_is_read),
		TEST_CASE(rounds__what_is_kept_of_samples_has_their_turn),
		TEST_CASE(rounds__raw_data_are_kept_where_they_end_samples),
		TEST_CASE(rounds__the_largest_samples_are_kept_as_records),
		TEST_CASE(rounds__one_sample_of_a_cpu_is_given),
		TEST_CASE(rounds__what_is_not_plain_is_left_to_two_passes),
		TEST_CASE(rounds__files_in_disorder_are_as_two_passes_have_them),
		TEST_CASE(rounds__a_late_record_is_noticed),
		TEST_CASE(rounds__records_may_be_late_by_many_small_rounds),
		TEST_CASE(rounds__a_failure_gives_nothing),
	};
	int failed = test_run(cases, sizeof(cases) / sizeof(cases[0]));

	opened_close(&o);
	return failed;
}
