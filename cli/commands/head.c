/* SPDX-License-Identifier: MIT */
/*
 * perfdata head and tail: the first or the last samples in the order of time, with what is needed to understand them.
 *
 * A heap holds time and place of the N samples that are first (or last) so far, 16 bytes each; its top is the limit in the
 * end. Then the input is read again and cut there. head of a pipe needs no limit: it takes samples in the order of time
 * and ends when there are enough.
 */
#include "keep.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct values {
	struct keep_options keep;
	struct option_number count;
	const char *seconds;
};

static const struct option options[] = {
	KEEP_OPTIONS(struct values, keep),
	{ "count", 'n', OPTION_NUMBER, "N", offsetof(struct values, count), "number of samples (default: 10)" },
	{ "seconds", 's', OPTION_STRING, "S", offsetof(struct values, seconds),
	  "keep the samples of S seconds (may be fractional) instead of N samples" },
	{ 0 },
};

enum {
	DEFAULT_COUNT = 10
};

#define NS_PER_S 1000000000

/* Where a sample stands in the order of time. Those without a time are first, by their place. */
struct key {
	uint64_t time_ns;
	uint64_t place;
};

struct head {
	struct keep keep;
	bool tail;
	uint64_t count;
	uint64_t span_ns; /* 0: by number */
	struct key *heap; /* the last one of the first samples is on top; tail: the other way round */
	size_t used, capacity;
	struct key limit; /* the last sample that is kept; tail: the first one */
	uint64_t kept;    /* of a pipe, so far */
	struct pd_window window;
	bool any_timeless; /* a sample had no time */
};

/* ---- the order ---- */

static struct key key_of(const struct pd_record *record)
{
	return (struct key){ record->time_ns == PD_NO_TIME ? 0 : record->time_ns, record->place };
}

static bool is_before(struct key a, struct key b)
{
	return a.time_ns < b.time_ns || (a.time_ns == b.time_ns && a.place < b.place);
}

/* Whether a is to be kept rather than b. */
static bool is_better(const struct head *head, struct key a, struct key b)
{
	return head->tail ? is_before(b, a) : is_before(a, b);
}

static void sink(struct head *head, size_t at)
{
	struct key *heap = head->heap;

	for (;;) {
		size_t child = 2 * at + 1;
		struct key moved = heap[at];

		if (child + 1 < head->used && is_better(head, heap[child], heap[child + 1]))
			child++;
		if (child >= head->used || !is_better(head, moved, heap[child]))
			return;
		heap[at] = heap[child];
		heap[child] = moved;
		at = child;
	}
}

static void rise(struct head *head, size_t at)
{
	struct key *heap = head->heap;

	while (at && is_better(head, heap[(at - 1) / 2], heap[at])) {
		struct key moved = heap[at];

		heap[at] = heap[(at - 1) / 2];
		heap[(at - 1) / 2] = moved;
		at = (at - 1) / 2;
	}
}

static bool add_key(struct head *head, struct key key)
{
	if (head->used == head->count) {
		if (is_better(head, key, head->heap[0])) {
			head->heap[0] = key;
			sink(head, 0);
		}
		return true;
	}
	if (head->used == head->capacity) {
		size_t capacity = head->capacity ? 2 * head->capacity : 1024;
		struct key *heap = realloc(head->heap, capacity * sizeof(*heap));

		if (!heap) {
			strcpy(head->keep.error.message, "out of memory");
			return keep_status(&head->keep, PD_ERROR_MEMORY);
		}
		head->heap = heap;
		head->capacity = capacity;
	}
	head->heap[head->used] = key;
	rise(head, head->used++);
	return true;
}

/* ---- the limit ---- */

static bool look(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct head *head = self;
	struct pd_window *window = &head->window;
	struct key key = key_of(record);

	(void)stream;
	if (record->type != PD_RECORD_SAMPLE)
		return true;
	if (record->time_ns == PD_NO_TIME) {
		head->any_timeless = true;
	} else {
		if (!window->last_ns || key.time_ns < window->first_ns)
			window->first_ns = key.time_ns;
		if (key.time_ns > window->last_ns)
			window->last_ns = key.time_ns;
	}
	return head->span_ns || add_key(head, key);
}

/* first + span belongs to the first seconds, and last - span to the last ones. */
static struct key limit_of(const struct head *head)
{
	uint64_t first = head->window.first_ns, last = head->window.last_ns, span = head->span_ns;

	if (!span)
		return head->used ? head->heap[0] : (struct key){ 0, 0 };
	if (head->tail)
		return (struct key){ last > span ? last - span : 0, 0 };
	return (struct key){ first > UINT64_MAX - span ? UINT64_MAX : first + span, UINT64_MAX };
}

/* ---- what is kept ---- */

static enum verdict choose(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct head *head = self;
	struct key key = key_of(record);
	bool inside;

	(void)stream;
	if (record->type == PD_RECORD_SAMPLE)
		inside = head->tail ? !is_before(key, head->limit) : !is_before(head->limit, key);
	else if (record->time_ns == PD_NO_TIME)
		inside = true;
	else if (head->tail)
		inside = keep_is_state(record->type) || record->time_ns >= head->limit.time_ns;
	else
		inside = record->time_ns <= head->limit.time_ns;
	return inside ? VERDICT_PASS : VERDICT_DROP;
}

/* In the order of time. */
static enum verdict choose_live(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct head *head = self;
	uint64_t time_ns = record->time_ns;

	(void)stream;
	if (record->type != PD_RECORD_SAMPLE)
		return VERDICT_PASS;
	if (!head->kept++)
		head->window.first_ns = time_ns == PD_NO_TIME ? 0 : time_ns;
	if (head->span_ns)
		return time_ns != PD_NO_TIME && time_ns > limit_of(head).time_ns ? VERDICT_END : VERDICT_PASS;
	return head->kept > head->count ? VERDICT_END : VERDICT_PASS;
}

/* ---- the commands ---- */

static int head_known(struct head *head)
{
	int code = keep_look(&head->keep, look, head);

	if (code != CODE_FINE)
		return code;
	if (head->span_ns && head->any_timeless && !head->window.last_ns) {
		complain("%s: option --seconds: samples have no timestamps", head->keep.input.name);
		return CODE_NOTHING;
	}
	head->limit = limit_of(head);
	/* Not even one is wanted. */
	if (!head->used && !head->span_ns)
		head->limit = head->tail ? (struct key){ UINT64_MAX, UINT64_MAX } : (struct key){ 0, 0 };
	if (head->tail)
		head->keep.from_ns = head->limit.time_ns;
	else
		head->keep.to_ns = head->limit.time_ns;
	free(head->heap);
	head->heap = NULL;
	return keep_write(&head->keep);
}

static bool take_options(struct head *head, const struct values *values)
{
	char *rest;
	double seconds;

	head->count = values->count.given ? values->count.value : DEFAULT_COUNT;
	if (values->count.given && (values->seconds || !values->count.value)) {
		complain(values->seconds ? "--count and --seconds cannot be combined" :
					   "option --count: must be at least 1");
		return false;
	}
	if (!values->seconds)
		return true;
	seconds = strtod(values->seconds, &rest);
	if (*rest || rest == values->seconds || !isfinite(seconds) || seconds <= 0 || seconds > 1e9) {
		complain("option --seconds: '%s' is not a number of seconds", values->seconds);
		return false;
	}
	head->span_ns = (uint64_t)(seconds * NS_PER_S);
	head->span_ns += !head->span_ns;
	return true;
}

static int run(const struct call *call, bool tail)
{
	const struct values *values = call->values;
	struct head head = { .tail = tail };
	bool live;
	int code;

	head.keep.choose = choose;
	head.keep.self = &head;
	if (!take_options(&head, values))
		return CODE_USAGE;
	code = keep_open(&head.keep, &values->keep, call, tail);
	if (code == CODE_FINE) {
		live = !tail && keep_is_live(&head.keep);
		if (live) {
			head.keep.choose = choose_live;
			head.keep.input.order = PD_ORDER_TIME;
		}
		code = live ? keep_write(&head.keep) : head_known(&head);
	}
	code = keep_close(&head.keep, code);
	free(head.heap);
	return code;
}

static int run_head(const struct call *call)
{
	return run(call, false);
}

static int run_tail(const struct call *call)
{
	return run(call, true);
}

static const struct example head_examples[] = {
	{ "perfdata head -n 1000 -o first.data", "the first thousand samples of perf.data" },
	{ "perfdata head --seconds 2.5 -o begin.data", "the first two and a half seconds" },
	{ "perf record -o - -a -- sleep 60 | perfdata head -n 100 -o few.data", "stop after 100 samples" },
	{ 0 },
};

static const struct example tail_examples[] = {
	{ "perfdata tail -n 1000 -o last.data", "the last thousand samples of perf.data" },
	{ "perfdata tail --seconds 1 -o end.data", "the last second" },
	{ 0 },
};

const struct command cmd_head = {
	.usage = "[OPTION]... -o OUTPUT [FILE]",
	.text = "Write the first samples of FILE by time, the other records up to that time, and everything needed to "
		"interpret them. Records keep the order of FILE.\n\n"
		"A pipe is read only until there are enough samples. The output is then sorted by time, and lacks what "
		"recorders write at the end, such as build ids.",
	.options = options,
	.examples = head_examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run_head,
};

const struct command cmd_tail = {
	.usage = "[OPTION]... -o OUTPUT [FILE]",
	.text = "Write the last samples of FILE by time, the other records from that time on, and everything needed to "
		"interpret them, which may be older. Records keep the order of FILE.\n\n"
		"FILE is read twice and takes 16 bytes of memory per sample kept. A pipe is buffered in a temporary file.",
	.options = options,
	.examples = tail_examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run_tail,
};
