/* SPDX-License-Identifier: MIT */
/*
 * A sink that counts what it sees: a sum over the records that does not depend on their order. tally_stream gives the
 * same of a plain stream, so that the two can be compared.
 */
#ifndef PD_TEST_TALLY_H
#define PD_TEST_TALLY_H

#include <perfdata/run.h>

#include <stdlib.h>
#include <string.h>

struct tally {
	uint64_t from_ns, to_ns; // samples outside of it are not counted; 0: open
	uint64_t records, samples;
	uint64_t sum;         // of all records
	uint64_t samples_sum; // of samples
	uint64_t others_sum;  // of the rest
	uint64_t tails;       // bytes
	uint64_t undecoded;
	bool unsorted; // a record came before an older one
	uint64_t last_ns, last_place;
	bool decodes;
	struct pd_window window;
};

static inline uint64_t tally_mix(uint64_t x)
{
	x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

static inline uint64_t tally_hash(uint64_t hash, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i += 8) {
		uint64_t word = 0;

		memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
		hash = ((hash << 7 | hash >> 57) ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	}
	return tally_mix(hash ^ size);
}

static inline uint64_t tally_record_hash(const struct pd_record *record)
{
	uint64_t words[] = { record->place,        record->time_ns,
			     record->type,         record->offset,
			     record->inner_offset, record->part,
			     record->tail_size,    record->event ? record->event->index + 1 : 0 };
	uint64_t hash = tally_hash(17, (const uint8_t *)words, sizeof(words));

	return tally_hash(hash, record->bytes.data, record->bytes.size);
}

static inline enum pd_status tally_take(void *self, struct pd_stream *stream, const struct pd_record *record,
					struct pd_error *error)
{
	struct tally *tally = self;
	bool is_sample = record->type == PD_RECORD_SAMPLE;
	uint64_t hash, time_ns = record->time_ns;
	struct pd_bytes tail = { 0 };
	enum pd_status status = PD_OK;

	if (is_sample && time_ns != PD_NO_TIME &&
	    (time_ns < tally->from_ns || (tally->to_ns && time_ns > tally->to_ns)))
		return PD_OK;
	hash = tally_record_hash(record);
	tally->records++;
	tally->samples += is_sample;
	tally->sum += hash;
	*(is_sample ? &tally->samples_sum : &tally->others_sum) += hash;
	if (time_ns != PD_NO_TIME) {
		tally->unsorted |= time_ns < tally->last_ns ||
				   (time_ns == tally->last_ns && record->place < tally->last_place);
		tally->last_ns = time_ns;
		tally->last_place = record->place;
	}
	if (tally->decodes && !pd_record_as(record, record->type))
		tally->undecoded++;
	if (record->tail_size) {
		status = pd_stream_tail(stream, &tail, error);
		// what is too large for memory is so for all
		if (status == PD_ERROR_LIMIT)
			return PD_OK;
		tally->tails += tail.size;
		tally->sum += tally_hash(1, tail.data, tail.size);
	}
	return status;
}

static inline enum pd_status tally_fork(void *self, void **clone_out, struct pd_error *error)
{
	const struct tally *tally = self;
	struct tally *clone = calloc(1, sizeof(*clone));

	if (!clone) {
		*error = (struct pd_error){ .status = PD_ERROR_MEMORY, .message = "no clone" };
		return PD_ERROR_MEMORY;
	}
	clone->from_ns = tally->from_ns;
	clone->to_ns = tally->to_ns;
	clone->decodes = tally->decodes;
	*clone_out = clone;
	return PD_OK;
}

static inline enum pd_status tally_join(void *self, void *clone_, struct pd_error *error)
{
	struct tally *tally = self, *clone = clone_;

	(void)error;
	tally->records += clone->records;
	tally->samples += clone->samples;
	tally->sum += clone->sum;
	tally->samples_sum += clone->samples_sum;
	tally->others_sum += clone->others_sum;
	tally->tails += clone->tails;
	tally->undecoded += clone->undecoded;
	free(clone);
	return PD_OK;
}

static inline bool tally_same(const struct tally *a, const struct tally *b)
{
	return a->records == b->records && a->samples == b->samples && a->sum == b->sum &&
	       a->samples_sum == b->samples_sum && a->others_sum == b->others_sum && a->tails == b->tails &&
	       a->undecoded == b->undecoded;
}

// What a plain stream shows.
static inline enum pd_status tally_stream(struct tally *tally, struct pd_file *file, enum pd_order order,
					  struct pd_error *error)
{
	struct pd_stream_options options = { .size = sizeof(options), .order = order };
	const struct pd_record *record;
	struct pd_stream *stream;
	enum pd_status status = pd_stream_open(file, &options, &stream, error);

	if (status < 0)
		return status;
	while ((status = pd_stream_next(stream, &record, error)) == PD_OK) {
		status = tally_take(tally, stream, record, error);
		if (status < 0)
			break;
	}
	pd_stream_close(stream);
	return status < 0 ? status : PD_OK;
}

// What a run shows; threads 0: with a sink that cannot be forked.
static inline enum pd_status tally_run(struct tally *tally, struct pd_file *file, const struct pd_run_options *options,
				       struct pd_error *error)
{
	struct pd_sink sink = { .size = sizeof(sink), .self = tally, .record = tally_take };

	if (options->threads) {
		sink.fork = tally_fork;
		sink.join = tally_join;
	}
	return pd_run(file, options, &sink, error);
}

#endif
