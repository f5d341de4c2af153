/* SPDX-License-Identifier: MIT */
/*
 * The first or the last samples by time. A heap holds time and place of the N samples that are first (or last) so far, 16
 * bytes each; its top is the limit in the end. Then the input is read again and cut there. The first samples of what comes
 * once need no limit: they are read in time order, until there are enough.
 */
#include "edit/extract/extract.h"

#include "format/traits.h"

// Where a sample stands in time order. Those without a time are first, by their place.
struct key {
	uint64_t time_ns;
	uint64_t place;
};

struct ends {
	bool last; // the last samples, not the first
	bool live; // the file comes once
	uint64_t count;
	uint64_t span_ns; // 0: by number
	struct key *heap; // the last one of the first samples is on top; last: the other way round
	size_t used, capacity;
	struct key limit; // the last sample that is kept; last: the first one
	uint64_t passed;  // live: samples so far
	struct pd_window window;
	bool any_timeless; // a sample had no time
};

// ---- the order ----

static struct key key_of(const struct pd_record *record)
{
	return (struct key){ record->time_ns == PD_NO_TIME ? 0 : record->time_ns, record->place };
}

static bool is_before(struct key a, struct key b)
{
	return a.time_ns < b.time_ns || (a.time_ns == b.time_ns && a.place < b.place);
}

// Whether a is to be kept rather than b.
static bool is_better(const struct ends *ends, struct key a, struct key b)
{
	return ends->last ? is_before(b, a) : is_before(a, b);
}

static void sift_down(struct ends *ends, size_t at)
{
	struct key *heap = ends->heap;

	for (;;) {
		size_t child = 2 * at + 1;
		struct key moved = heap[at];

		if (child + 1 < ends->used && is_better(ends, heap[child], heap[child + 1]))
			child++;
		if (child >= ends->used || !is_better(ends, moved, heap[child]))
			return;
		heap[at] = heap[child];
		heap[child] = moved;
		at = child;
	}
}

static void sift_up(struct ends *ends, size_t at)
{
	struct key *heap = ends->heap;

	while (at && is_better(ends, heap[(at - 1) / 2], heap[at])) {
		struct key moved = heap[at];

		heap[at] = heap[(at - 1) / 2];
		heap[(at - 1) / 2] = moved;
		at = (at - 1) / 2;
	}
}

static enum pd_status add_key(struct ends *ends, struct key key, struct pd_error *error)
{
	if (ends->used == ends->count) {
		if (ends->used && is_better(ends, key, ends->heap[0])) {
			ends->heap[0] = key;
			sift_down(ends, 0);
		}
		return PD_OK;
	}
	if (!PD_GROW(ends->heap, ends->capacity, ends->used + 1))
		return pd_fail_memory(error);
	ends->heap[ends->used] = key;
	sift_up(ends, ends->used++);
	return PD_OK;
}

// ---- the limit ----

static enum pd_status note_sample(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct ends *ends = self;

	(void)stream;
	if (record->type != PD_RECORD_SAMPLE)
		return PD_OK;
	ends->any_timeless |= record->time_ns == PD_NO_TIME;
	pd_extract_note_time(&ends->window, record);
	return ends->span_ns ? PD_OK : add_key(ends, key_of(record), error);
}

// first + span belongs to the first seconds, and last - span to the last ones. Without samples, none is kept.
static struct key limit_of(const struct ends *ends)
{
	uint64_t first = ends->window.first_ns, last = ends->window.last_ns, span = ends->span_ns;

	if (!span && ends->used)
		return ends->heap[0];
	if (!span)
		return ends->last ? (struct key){ UINT64_MAX, UINT64_MAX } : (struct key){ 0, 0 };
	if (ends->last)
		return (struct key){ last > span ? last - span : 0, 0 };
	return (struct key){ first > UINT64_MAX - span ? UINT64_MAX : first + span, UINT64_MAX };
}

static enum pd_status find_limit(struct pd_extract *extract, struct ends *ends, struct pd_error *error)
{
	enum pd_status status = pd_extract_scan(extract, note_sample, ends, error);

	if (status < 0)
		return status;
	if (ends->span_ns && ends->any_timeless && !ends->window.last_ns)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: samples have no timestamps",
			       pd_file_name(extract->file));
	ends->limit = limit_of(ends);
	if (ends->last)
		extract->from_ns = ends->limit.time_ns;
	else
		extract->to_ns = ends->limit.time_ns;
	pd_free(ends->heap);
	ends->heap = NULL;
	return PD_OK;
}

// True if the file can be read only once.
static bool is_live(const struct pd_file *file)
{
	const struct pd_header *header = pd_file_header(file);

	return !header->file_size || header->compression;
}

static enum pd_status prepare_ends(struct pd_extract *extract, struct pd_error *error)
{
	struct ends *ends = pd_alloc(sizeof(*ends));

	if (!ends)
		return pd_fail_memory(error);
	extract->context = ends;
	ends->last = extract->options.by == PD_EXTRACT_LAST;
	ends->count = extract->options.sample_count;
	ends->span_ns = extract->options.span_ns;
	ends->live = !ends->last && is_live(extract->file);
	if (!ends->live)
		return find_limit(extract, ends, error);
	extract->order = PD_ORDER_TIME;
	return PD_OK;
}

static void free_ends(void *context)
{
	struct ends *ends = context;

	if (ends)
		pd_free(ends->heap);
	pd_free(ends);
}

// ---- what is copied ----

// In time order.
static enum pd_extract_action choose_live(struct ends *ends, const struct pd_record *record)
{
	uint64_t time_ns = record->time_ns;
	bool enough;

	if (record->type != PD_RECORD_SAMPLE)
		return PD_EXTRACT_PASS;
	if (!ends->passed++)
		ends->window.first_ns = time_ns == PD_NO_TIME ? 0 : time_ns;
	if (ends->span_ns)
		enough = time_ns != PD_NO_TIME && time_ns > limit_of(ends).time_ns;
	else
		enough = ends->passed > ends->count;
	return enough ? PD_EXTRACT_END : PD_EXTRACT_PASS;
}

static bool is_within(const struct ends *ends, const struct pd_record *record)
{
	struct key key = key_of(record);

	if (record->type == PD_RECORD_SAMPLE)
		return ends->last ? !is_before(key, ends->limit) : !is_before(ends->limit, key);
	if (record->time_ns == PD_NO_TIME)
		return true;
	if (ends->last)
		return pd_record_is(record->type, PD_TRAIT_STATE) || record->time_ns >= ends->limit.time_ns;
	return record->time_ns <= ends->limit.time_ns;
}

static enum pd_status choose_at_end(struct pd_extract *extract, struct pd_stream *stream,
				    const struct pd_record *record, enum pd_extract_action *action_out,
				    struct pd_error *error)
{
	struct ends *ends = extract->context;

	(void)stream;
	(void)error;
	if (ends->live)
		*action_out = choose_live(ends, record);
	else
		*action_out = is_within(ends, record) ? PD_EXTRACT_PASS : PD_EXTRACT_DROP;
	return PD_OK;
}

static bool reads_first_twice(const struct pd_extract_options *options)
{
	(void)options;
	return false; // what comes once is read once
}

static bool reads_last_twice(const struct pd_extract_options *options)
{
	(void)options;
	return true;
}

const struct pd_extract_way pd_extract_first = {
	.reads_twice = reads_first_twice, .prepare = prepare_ends, .choose = choose_at_end, .free = free_ends
};
const struct pd_extract_way pd_extract_last = {
	.reads_twice = reads_last_twice, .prepare = prepare_ends, .choose = choose_at_end, .free = free_ends
};
