/* SPDX-License-Identifier: MIT */
/*
 * Records of all recordings in the order of time: a heap of streams, one for each. A record without a time goes with the
 * one before it.
 */
#include "edit/merge/merge.h"

#include <string.h>

#include "format/traits.h"
#include "write/write.h"

enum {
	RECORDS_PER_ROUND = 65536, // so that readers need not keep all of it
	RECORDS_PER_STEP = 16384   // between two calls of the progress function
};

// A stream and its current record.
struct feed {
	const struct pd_merge_source *source;
	struct pd_stream *stream;
	const struct pd_record *record; // NULL at the end
	uint64_t time_ns;               // in the output; for a record without one that of the record before it
	bool untimed;
	bool begun; // a record with a time has come
};

struct pass {
	struct pd_merge *merge;
	struct pd_writer *writer;
	struct pd_merge_result *result;
	struct feed *feeds, **heap;
	size_t heap_size;
	struct pd_repeats *repeats;
	size_t single_session[3]; // 1 + the session whose records of a kind that can be there once are written
	uint64_t last_ns, since_round, steps;
	bool late;
};

// ---- the heap ----

static bool is_before(const struct feed *a, const struct feed *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	if (a->untimed != b->untimed)
		return a->untimed;
	return a->source->index < b->source->index;
}

static void sift_down(struct pass *pass, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1;
		struct feed *feed = pass->heap[at];

		if (child >= pass->heap_size)
			return;
		if (child + 1 < pass->heap_size && is_before(pass->heap[child + 1], pass->heap[child]))
			child++;
		if (!is_before(pass->heap[child], feed))
			return;
		pass->heap[at] = pass->heap[child];
		pass->heap[child] = feed;
		at = child;
	}
}

static enum pd_status read_next(struct feed *feed, struct pd_error *error)
{
	enum pd_status status = pd_stream_next(feed->stream, &feed->record, error);

	if (status == PD_END) {
		feed->record = NULL;
		return PD_OK;
	}
	if (status < 0)
		return status;
	feed->untimed = feed->record->time_ns == PD_NO_TIME;
	if (!feed->untimed) {
		feed->time_ns = pd_merge_shifted(feed->source, feed->record->time_ns);
		feed->begun = true;
	} else if (!feed->begun) {
		feed->time_ns = feed->source->early.untimed_ns;
	}
	return PD_OK;
}

// ---- records that are dropped ----

// What pipes say of events and features is in the header; records in others were taken out of them; rounds are new.
static bool is_around(const struct pd_record *record, bool pipe)
{
	if (pd_record_is(record->type, PD_TRAIT_HEADER))
		return pipe;
	if (pd_record_is(record->type, PD_TRAIT_COMPRESSED))
		return !(record->flags & PD_RECORD_INFLATED);
	return record->type == PD_RECORD_FINISHED_ROUND;
}

// What a file has once, for the tools that look at it: those of the first recording that has them.
static bool is_surplus(struct pass *pass, const struct feed *feed)
{
	static const uint32_t types[] = { PD_RECORD_THREAD_MAP, PD_RECORD_CPU_MAP, PD_RECORD_TIME_CONV };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (feed->record->type != types[i])
			continue;
		if (!pass->single_session[i])
			pass->single_session[i] = feed->source->session + 1;
		return pass->single_session[i] != feed->source->session + 1;
	}
	return false;
}

// ---- records that are written ----

// All that follows is not older than what is written, unless an input had it so.
static enum pd_status end_round(struct pass *pass, struct pd_error *error)
{
	const struct pd_finished_round round = { 0 };

	pass->since_round = 0;
	if (pass->late || pd_writer_mode(pass->writer) == PD_MODE_DIRECTORY)
		return PD_OK;
	return pd_writer_add(pass->writer, PD_RECORD_FINISHED_ROUND, 0, &round, 0, error);
}

static const struct pd_join *join_of(const struct feed *feed)
{
	return feed->untimed && !feed->begun ? &feed->source->early : &feed->source->join;
}

static enum pd_status write_record(struct pass *pass, struct feed *feed, struct pd_error *error)
{
	struct pd_merge_result *result = pass->result;
	bool sample = feed->record->type == PD_RECORD_SAMPLE;
	enum pd_status status = PD_OK;

	pass->late |= feed->record->flags & PD_RECORD_LATE || (!feed->untimed && feed->time_ns < pass->last_ns);
	if (!feed->untimed)
		pass->last_ns = feed->time_ns;
	if (++pass->since_round > RECORDS_PER_ROUND)
		status = end_round(pass, error);
	if (status >= 0)
		status = pd_writer_pass_joined(pass->writer, feed->stream, feed->record, join_of(feed), error);
	if (status == PD_ERROR_FORMAT || status == PD_ERROR_UNSUPPORTED) {
		if (!result->undecoded_count++)
			pd_merge_warn(pass->merge, "%s: dropped: %s", feed->source->name, error->message);
		result->undecoded_sample_count += sample;
		return PD_OK;
	}
	if (status < 0)
		return pd_writer_output_status(status, error);
	result->sample_count += sample;
	result->other_count += !sample;
	return PD_OK;
}

// ---- maps of the kernel ----

static const struct pd_merge_source *first_kernel(const struct pd_merge *merge)
{
	size_t i = 0;

	while (!merge->sources[i]->map_count)
		i++;
	return merge->sources[i];
}

static uint64_t moved_address(const struct pd_merge_source *source, uint64_t address)
{
	for (size_t i = 0; i < source->address_count; i++) {
		const struct pd_address_change *change = &source->addresses[i];

		if (address >= change->start && address < change->end)
			return address - change->start + change->to;
	}
	return address;
}

// A map of the kernel that another recording has brought.
static bool is_known_kernel_map(const struct pass *pass, const struct feed *feed)
{
	const struct pd_mmap *map = pd_kernel_mmap(feed->record);
	const struct pd_mmap2 *map2 = pd_kernel_mmap2(feed->record);

	if (map)
		return pd_kernel_map_is_written(pass->merge, feed->source, map->filename.data, map->addr, map->pgoff);
	return map2 &&
	       pd_kernel_map_is_written(pass->merge, feed->source, map2->filename.data, map2->addr, map2->pgoff);
}

// The map of a kernel that is moved: known of the first one, or with another name. *done_out: that is all.
static enum pd_status pass_kernel_map(struct pass *pass, const struct feed *feed, bool *done_out,
				      struct pd_error *error)
{
	const struct pd_mmap *map = pd_kernel_mmap(feed->record);
	const struct pd_mmap2 *map2 = pd_kernel_mmap2(feed->record);
	const struct pd_merge_source *source = feed->source;
	const char *name = map ? map->filename.data : map2 ? map2->filename.data : NULL;
	struct pd_mmap changed;
	char renamed[512];

	*done_out = name && source->address_count && !source->other_kernel &&
		    pd_kernel_find(first_kernel(pass->merge), name);
	pass->result->repeated_count += *done_out;
	if (!name || !source->address_count || !source->other_kernel || name[0] != '[')
		return PD_OK;
	pd_kernel_rename(source, name, renamed, sizeof(renamed));
	changed = map ? *map :
			(struct pd_mmap){ .pid = map2->pid, .tid = map2->tid, .addr = map2->addr, .len = map2->len };
	changed.addr = moved_address(source, changed.addr);
	changed.pgoff = 0;
	changed.rest = (struct pd_bytes){ 0 };
	changed.sample_id = &(const struct pd_sample_id){ .time_ns = join_of(feed)->untimed_ns };
	changed.filename = (struct pd_str){ .data = renamed, .length = (uint32_t)strlen(renamed) };
	*done_out = true;
	pass->result->other_count++;
	return pd_writer_output_status(
		pd_writer_add(pass->writer, PD_RECORD_MMAP, PD_CPUMODE_KERNEL, &changed, 0, error), error);
}

// ---- all ----

// Counts what is dropped although it is a record of the recording.
static bool is_dropped(struct pass *pass, const struct feed *feed)
{
	struct pd_merge_result *result = pass->result;
	bool aux, single;

	if (is_around(feed->record, pd_file_header(feed->source->file)->mode == PD_MODE_PIPE))
		return true;
	aux = pass->merge->options.drop_aux && pd_record_is(feed->record->type, PD_TRAIT_AUX);
	single = !aux && is_surplus(pass, feed);
	result->aux_count += aux;
	result->single_count += single;
	return aux || single;
}

static enum pd_status pass_record(struct pass *pass, struct feed *feed, struct pd_error *error)
{
	const struct pd_record *record = feed->record;
	enum pd_status status = PD_OK;
	bool done = false;

	if (is_dropped(pass, feed))
		return PD_OK;
	if (record->type != PD_RECORD_SAMPLE &&
	    !pd_repeats_take(pass->repeats, feed->source, record, feed->time_ns, feed->untimed, &done))
		return pd_fail_memory(error);
	if (!done && !feed->source->address_count)
		done = is_known_kernel_map(pass, feed);
	pass->result->repeated_count += done;
	if (!done && feed->source->address_count)
		status = pass_kernel_map(pass, feed, &done, error);
	return status < 0 || done ? status : write_record(pass, feed, error);
}

static void show_progress(const struct pass *pass, const struct feed *feed)
{
	const struct pd_merge_options *options = &pass->merge->options;
	uint64_t done, total;

	if (!options->progress)
		return;
	pd_stream_progress(feed->stream, &done, &total);
	options->progress(options->self, feed->source->index, done, total);
}

static enum pd_status pass_all(struct pass *pass, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	while (pass->heap_size && status >= 0) {
		struct feed *feed = pass->heap[0];

		status = pass_record(pass, feed, error);
		if (status >= 0)
			status = read_next(feed, error);
		if (++pass->steps % RECORDS_PER_STEP == 0)
			show_progress(pass, feed);
		if (!feed->record)
			pass->heap[0] = pass->heap[--pass->heap_size];
		sift_down(pass, 0);
	}
	return status;
}

static enum pd_status open_feeds(struct pass *pass, struct pd_error *error)
{
	const struct pd_stream_options options = { .size = sizeof(options), .order = PD_ORDER_TIME, .verify = true };
	size_t count = pass->merge->source_count;
	enum pd_status status = PD_OK;

	pass->feeds = pd_alloc((count + 1) * sizeof(*pass->feeds));
	pass->heap = pd_alloc((count + 1) * sizeof(*pass->heap));
	pass->repeats = pd_repeats_new(pass->merge);
	if (!pass->feeds || !pass->heap || !pass->repeats)
		return pd_fail_memory(error);
	for (size_t i = 0; i < count && status >= 0; i++) {
		struct feed *feed = &pass->feeds[i];

		feed->source = pass->merge->sources[i];
		status = pd_stream_open(feed->source->file, &options, &feed->stream, error);
		if (status >= 0)
			status = read_next(feed, error);
		if (status >= 0 && feed->record)
			pass->heap[pass->heap_size++] = feed;
	}
	for (size_t i = pass->heap_size; i-- > 0;)
		sift_down(pass, i);
	return status;
}

static void close_feeds(struct pass *pass)
{
	for (size_t i = 0; pass->feeds && i < pass->merge->source_count; i++)
		pd_stream_close(pass->feeds[i].stream);
	pd_free(pass->feeds);
	pd_free(pass->heap);
	pd_repeats_free(pass->repeats);
}

enum pd_status pd_merge_pass(struct pd_merge *merge, struct pd_writer *writer, struct pd_merge_result *result,
			     struct pd_error *error)
{
	struct pass pass = { .merge = merge, .writer = writer, .result = result };
	enum pd_status status = open_feeds(&pass, error);

	if (status >= 0)
		status = pass_all(&pass, error);
	close_feeds(&pass);
	return status;
}
