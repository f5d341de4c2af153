/* SPDX-License-Identifier: MIT */
/* Bytes between a thread that records and one that reads: all of them, in order, and no more than may wait. */
#include <stdint.h>

#include "base/threads.h"
#include "record/ring/backlog.h"
#include "../test.h"

enum {
	PIECES = 2000,
	WORDS = 700, // of a piece, at most
	MOST = 64 << 10
};

struct side {
	struct pd_backlog backlog;
	uint32_t pieces;
	uint32_t put; // words, all in all
	size_t most;  // bytes that were seen waiting
	bool failed;
};

static uint32_t words_of(uint32_t piece)
{
	return piece * 37 % WORDS;
}

static uint32_t all_words(void)
{
	uint32_t all = 0;

	for (uint32_t i = 0; i < PIECES; i++)
		all += words_of(i);
	return all;
}

static void write_pieces(void *self)
{
	struct side *side = self;

	for (uint32_t i = 0; i < side->pieces && !pd_backlog_is_left(&side->backlog); i++) {
		for (uint32_t left = words_of(i); left; left--, side->put++)
			side->failed |= !pd_backlog_put(&side->backlog, &side->put, sizeof(side->put));
		pd_backlog_flush(&side->backlog);
	}
	pd_backlog_end(&side->backlog);
}

static size_t waiting(struct side *side)
{
	size_t bytes;

	pthread_mutex_lock(&side->backlog.lock);
	bytes = side->backlog.waiting;
	pthread_mutex_unlock(&side->backlog.lock);
	return bytes;
}

// Words that were read, as far as they come in order.
static uint32_t read_words(struct side *side, uint32_t wanted)
{
	uint32_t words[96], count = 0;
	size_t have = 0, got;

	while (count < wanted &&
	       (got = pd_backlog_take(&side->backlog, (uint8_t *)words + have, sizeof(words) - have, true)) != 0) {
		size_t bytes = waiting(side), whole = (have + got) / sizeof(words[0]);

		side->most = bytes > side->most ? bytes : side->most;
		for (size_t i = 0; i < whole; i++)
			if (words[i] != count++)
				return 0;
		have = (have + got) % sizeof(words[0]);
		memmove(words, words + whole, have);
	}
	return count;
}

TEST(test_backlog__all_bytes_in_order)
{
	struct side side = { .pieces = PIECES };
	struct pd_worker worker = { 0 };
	uint32_t got;

	pd_backlog_init(&side.backlog);
	side.backlog.most = MOST;
	CHECK(pd_worker_start(&worker, write_pieces, &side) == 0);
	got = read_words(&side, UINT32_MAX);
	pd_worker_join(&worker);
	CHECK(!side.failed && got == side.put && side.put == all_words());
	// one piece more, before who writes has to wait
	CHECK(side.most && side.most < MOST + WORDS * sizeof(uint32_t));
	CHECK(pd_backlog_take(&side.backlog, &side.put, sizeof(side.put), true) == 0);
	pd_backlog_fini(&side.backlog);
}

// Who writes does not wait for somebody who went away.
TEST(test_backlog__nobody_reads)
{
	struct side side = { .pieces = PIECES };
	struct pd_worker worker = { 0 };

	pd_backlog_init(&side.backlog);
	side.backlog.most = MOST;
	CHECK(pd_worker_start(&worker, write_pieces, &side) == 0);
	CHECK(read_words(&side, 500) >= 500);
	pd_backlog_leave(&side.backlog);
	pd_worker_join(&worker);
	CHECK(!side.failed && side.backlog.ended);
	pd_backlog_fini(&side.backlog);
}

// One thread for both, as often as there is something new.
TEST(test_backlog__one_thread)
{
	struct pd_backlog backlog;
	char text[8] = "";

	pd_backlog_init(&backlog);
	CHECK(pd_backlog_take(&backlog, text, sizeof(text), false) == 0);
	CHECK(pd_backlog_put(&backlog, "abc", 3));
	CHECK(pd_backlog_take(&backlog, text, sizeof(text), false) == 0);
	pd_backlog_flush(&backlog);
	pd_backlog_flush(&backlog);
	CHECK(pd_backlog_take(&backlog, text, 2, false) == 2 && !memcmp(text, "ab", 2));
	CHECK(pd_backlog_put(&backlog, "def", 3));
	pd_backlog_flush(&backlog);
	CHECK(pd_backlog_take(&backlog, text, sizeof(text), false) == 1 && text[0] == 'c');
	CHECK(pd_backlog_take(&backlog, text, sizeof(text), false) == 3 && !memcmp(text, "def", 3));
	CHECK(pd_backlog_put(&backlog, "gone", 4));
	pd_backlog_flush(&backlog);
	pd_backlog_restart(&backlog);
	CHECK(pd_backlog_take(&backlog, text, sizeof(text), false) == 0);
	pd_backlog_fini(&backlog);
}

// Much at once is handed over in parts, before it is flushed.
TEST(test_backlog__much_at_once)
{
	enum {
		MUCH = 3 << 20
	};
	static uint8_t data[MUCH], got[MUCH];
	struct pd_backlog backlog;
	size_t have = 0, size;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + (i >> 9));
	pd_backlog_init(&backlog);
	for (int round = 0; round < 2; round++, have = 0) {
		CHECK(pd_backlog_put(&backlog, data, MUCH / 2));
		CHECK(pd_backlog_put(&backlog, data + MUCH / 2, 5));
		CHECK(pd_backlog_take(&backlog, got, 5, false) == 5);
		for (size_t at = MUCH / 2 + 5; at < MUCH; at += 1000)
			CHECK(pd_backlog_put(&backlog, data + at, at + 1000 < MUCH ? 1000 : MUCH - at));
		pd_backlog_flush(&backlog);
		for (have = 5; (size = pd_backlog_take(&backlog, got + have, sizeof(got) - have, false)) != 0;)
			have += size;
		CHECK(have == MUCH && !memcmp(data, got, MUCH));
		CHECK(!backlog.waiting);
	}
	pd_backlog_fini(&backlog);
}

RUN(TEST_CASE(test_backlog__all_bytes_in_order), TEST_CASE(test_backlog__nobody_reads),
    TEST_CASE(test_backlog__one_thread), TEST_CASE(test_backlog__much_at_once))
