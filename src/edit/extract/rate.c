/* SPDX-License-Identifier: MIT */
/*
 * One of N samples of each event, each of which then stands for N times as much, so that sums stay what they were but for
 * chance.
 */
#include "edit/extract/extract.h"

struct rate {
	uint64_t random;  // state of the generator
	uint64_t *counts; // samples by event; those of unknown events come first
	size_t event_count, capacity;
};

#define HAS(attr, NAME) ((attr)->sample_type & PD_MASK(PD_SAMPLE_TYPE_##NAME))

// ---- which ----

static bool reads_twice(const struct pd_extract_options *options)
{
	(void)options;
	return false;
}

static enum pd_status prepare_rate(struct pd_extract *extract, struct pd_error *error)
{
	struct rate *rate = pd_alloc(sizeof(*rate));

	if (!rate)
		return pd_fail_memory(error);
	rate->random = extract->options.seed;
	extract->context = rate;
	return PD_OK;
}

static void free_rate(void *context)
{
	struct rate *rate = context;

	if (rate)
		pd_free(rate->counts);
	pd_free(rate);
}

// A generator with 64 bits of state (splitmix).
static uint64_t next_random(struct rate *rate)
{
	uint64_t z = rate->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

// NULL: no memory.
static uint64_t *count_of(const struct pd_extract *extract, const struct pd_event *event)
{
	size_t count = pd_file_event_count(extract->file) + 1;
	struct rate *rate = extract->context;

	if (count > rate->event_count && !PD_GROW(rate->counts, rate->capacity, count))
		return NULL;
	while (rate->event_count < count)
		rate->counts[rate->event_count++] = 0;
	return &rate->counts[event ? event->index + 1 : 0];
}

// The middle one of each N, so that a few samples of an event are not all first ones.
static bool is_chosen(const struct pd_extract *extract, uint64_t *counts)
{
	uint64_t n = extract->options.rate;

	if (extract->options.random)
		return next_random(extract->context) % n == 0;
	return (*counts)++ % n == n / 2;
}

// ---- what it stands for ----

static uint64_t scaled(struct pd_extract *extract, uint64_t period)
{
	uint64_t product;

	if (!__builtin_mul_overflow(period, extract->options.rate, &product))
		return product;
	extract->result.overflow_count++;
	return UINT64_MAX;
}

// Samples without a period stand for that of their event. That of one with a frequency is not known.
static enum pd_status scale_event(void *self, const struct pd_event *event, struct pd_attr *attr, const char **name,
				  struct pd_error *error)
{
	(void)event;
	(void)name;
	(void)error;
	if (!HAS(attr, PERIOD) && !PD_BITS(attr->flags, PD_ATTR_FREQ))
		attr->sample_period = scaled(self, attr->sample_period);
	return PD_OK;
}

static enum pd_status pass_scaled(struct pd_extract *extract, struct pd_stream *stream, const struct pd_record *record,
				  enum pd_extract_action *action_out, struct pd_error *error)
{
	const struct pd_sample *decoded = pd_as_sample(record);
	struct pd_sample changed;

	if (!decoded)
		return PD_OK;
	changed = *decoded;
	changed.period = scaled(extract, decoded->period);
	*action_out = PD_EXTRACT_PASSED;
	return pd_writer_pass_changed(extract->writer, stream, record, record->misc, &changed, error);
}

static enum pd_status choose_by_rate(struct pd_extract *extract, struct pd_stream *stream,
				     const struct pd_record *record, enum pd_extract_action *action_out,
				     struct pd_error *error)
{
	const struct pd_event *event = record->event;
	uint64_t *counts;

	*action_out = PD_EXTRACT_PASS;
	if (record->type != PD_RECORD_SAMPLE)
		return PD_OK;
	*action_out = PD_EXTRACT_DROP;
	counts = count_of(extract, event);
	if (!counts)
		return pd_fail_memory(error);
	if (!is_chosen(extract, counts))
		return PD_OK;
	if (event && HAS(event->attr, PERIOD) && extract->options.rate > 1)
		return pass_scaled(extract, stream, record, action_out, error);
	*action_out = PD_EXTRACT_PASS;
	if (extract->options.rate > 1)
		extract->result.unscaled_count += !event || PD_BITS(event->attr->flags, PD_ATTR_FREQ);
	return PD_OK;
}

const struct pd_extract_way pd_extract_rate = { .reads_twice = reads_twice,
						.prepare = prepare_rate,
						.choose = choose_by_rate,
						.event = scale_event,
						.free = free_rate };
