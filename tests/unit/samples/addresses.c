/* SPDX-License-Identifier: MIT */
/* The texts of addresses that the threads of script share: src/samples/addresses.c. */
#include "samples/addresses.h"

#include <pthread.h>
#include <stdlib.h>

#include "test.h"

enum {
	THREADS = 3,
	SHARED_ADDRESSES = 20000,
	MORE_THAN_FIT = (1 << 20) + 1000, // half as many as there are slots at most
};

static struct pd_address_key key_of(uint64_t number)
{
	return pd_address_key(number % 7, (uint32_t)(number % 3), number * 16);
}

// Texts of different lengths.
static size_t text_of(uint64_t number, char *text)
{
	return (size_t)sprintf(text, "\t%016llx %.*s\n", (unsigned long long)number, (int)(number % 40),
			       "a name that is as long as it must be for it");
}

static bool put(struct pd_address_texts *frames, uint64_t number)
{
	struct pd_address_key key = key_of(number);
	char text[100];
	size_t size = text_of(number, text);

	pd_address_texts_put(frames, &key, text, size);
	return pd_address_texts_get(frames, &key) != NULL;
}

// 1: it is there, 0: it is not, -1: another text is.
static int look(const struct pd_address_texts *frames, uint64_t number)
{
	struct pd_address_key key = key_of(number);
	const struct pd_address_text *frame = pd_address_texts_get(frames, &key);
	char text[100];
	size_t size = text_of(number, text);

	if (!frame)
		return 0;
	return frame->size == size && memcmp(pd_address_text(frame), text, size) == 0 ? 1 : -1;
}

TEST(test_frames__knows_what_was_put)
{
	struct pd_address_texts frames = { 0 };

	CHECK(look(&frames, 1) == 0);
	for (uint64_t i = 0; i < 5000; i++)
		CHECK(put(&frames, i));
	for (uint64_t i = 0; i < 5000; i++)
		CHECK(look(&frames, i) == 1);
	CHECK(look(&frames, 5000) == 0);
	pd_address_texts_clear(&frames);
	CHECK(look(&frames, 1) == 0);
	CHECK(put(&frames, 1) && look(&frames, 1) == 1);
	pd_address_texts_fini(&frames);
	CHECK(!frames.home && !frames.table);
}

TEST(test_frames__a_text_may_be_too_long_or_empty)
{
	size_t size = 2 << 20;
	char *text = calloc(1, size);
	struct pd_address_texts frames = { 0 };
	struct pd_address_key key = key_of(1), other = key_of(2);

	CHECK(text);
	pd_address_texts_put(&frames, &key, text, size);
	pd_address_texts_put(&frames, &other, text, 0);
	CHECK(!pd_address_texts_get(&frames, &key) && !pd_address_texts_get(&frames, &other));
	pd_address_texts_put(&frames, &key, text, 1 << 20);
	CHECK(pd_address_texts_get(&frames, &key) && pd_address_texts_get(&frames, &key)->size == 1 << 20);
	pd_address_texts_fini(&frames);
	free(text);
}

TEST(test_frames__others_see_what_one_has_put)
{
	struct pd_address_texts first = { 0 }, second = { 0 };

	CHECK(put(&first, 1));
	CHECK(pd_address_texts_join(&second, &first));
	CHECK(look(&second, 1) == 1);
	CHECK(put(&second, 2) && look(&first, 2) == 1);
	// who goes first leaves the rest to the others
	pd_address_texts_fini(&first);
	CHECK(look(&second, 1) == 1 && look(&second, 2) == 1);
	pd_address_texts_fini(&second);
}

TEST(test_frames__one_that_is_full_stays_as_long_as_it_has_users)
{
	struct pd_address_texts first = { 0 }, second = { 0 };
	const struct pd_address_table *full;

	CHECK(put(&first, 0) && pd_address_texts_join(&second, &first));
	full = first.table;
	CHECK(full && second.table == full);
	for (uint64_t i = 1; first.table == full && i < MORE_THAN_FIT; i++)
		CHECK(put(&first, i));
	CHECK(first.table != full && second.table == full);
	CHECK(look(&first, 0) == 0 && look(&second, 0) == 1);
	pd_address_texts_keep_up(&second);
	CHECK(second.table == first.table && look(&second, 0) == 0);
	pd_address_texts_fini(&second);
	pd_address_texts_fini(&first);
}

struct worker {
	struct pd_address_texts frames;
	uint64_t step;
	size_t wrong, missing;
	pthread_t thread;
};

// In an order of its own, so that each finds some that others have put.
static void *work(void *self)
{
	struct worker *worker = self;

	for (uint64_t i = 0; i < SHARED_ADDRESSES; i++) {
		uint64_t number = i * worker->step % SHARED_ADDRESSES;
		int found;

		pd_address_texts_keep_up(&worker->frames);
		found = look(&worker->frames, number);
		if (!found)
			worker->missing += !put(&worker->frames, number);
		worker->wrong += found < 0;
	}
	return NULL;
}

TEST(test_frames__threads_put_and_look_at_the_same_time)
{
	static const uint64_t steps[THREADS] = { 1, 7919, 19997 };
	struct worker workers[THREADS] = { 0 };
	struct pd_address_texts own = { 0 };

	for (size_t i = 0; i < THREADS; i++) {
		workers[i].step = steps[i];
		CHECK(pd_address_texts_join(&workers[i].frames, &own));
	}
	for (size_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	pd_address_texts_keep_up(&own);
	// each is there once
	CHECK(own.table && own.table->used == SHARED_ADDRESSES);
	for (uint64_t i = 0; i < SHARED_ADDRESSES; i++)
		CHECK(look(&own, i) == 1);
	for (size_t i = 0; i < THREADS; i++) {
		CHECK(!workers[i].wrong && !workers[i].missing);
		pd_address_texts_fini(&workers[i].frames);
	}
	pd_address_texts_fini(&own);
}

RUN(TEST_CASE(test_frames__knows_what_was_put), TEST_CASE(test_frames__a_text_may_be_too_long_or_empty),
    TEST_CASE(test_frames__others_see_what_one_has_put),
    TEST_CASE(test_frames__one_that_is_full_stays_as_long_as_it_has_users),
    TEST_CASE(test_frames__threads_put_and_look_at_the_same_time))
