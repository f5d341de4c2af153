/* SPDX-License-Identifier: MIT */
/*
 * perfdata sample: one of N samples of each event, each of which then stands for N times as much, so that sums stay
 * what they were but for chance.
 */
#include "keep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct values {
	struct keep_options keep;
	struct option_number rate;
	struct option_number seed;
};

static const struct option options[] = {
	KEEP_OPTIONS(struct values, keep),
	{ "rate", 'n', OPTION_NUMBER, "N", offsetof(struct values, rate), "keep one of N samples (same as 1/N)" },
	{ "seed", 0, OPTION_NUMBER, "SEED", offsetof(struct values, seed),
	  "choose samples at random, reproducibly for a SEED (default: every N-th sample)" },
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata sample 1/10 -o tenth.data", "keep every tenth sample" },
	{ "perfdata sample 1/100 --seed 1 -o small.data big.data", "keep one of 100 samples at random" },
	{ 0 },
};

struct sample {
	struct keep keep;
	uint64_t rate;
	bool by_chance;
	uint64_t state; /* of chance */
	uint64_t *seen; /* samples by event */
	size_t event_count;
	uint64_t unscaled;  /* samples whose weight could not be changed */
	uint64_t too_large; /* periods that would not fit */
};

#define HAS(attr, NAME) ((attr)->sample_type & PD_MASK(PD_SAMPLE_TYPE_##NAME))

/* ---- which ---- */

/* A generator with 64 bits of state (splitmix). */
static uint64_t next_random(struct sample *sample)
{
	uint64_t z = sample->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Samples of unknown events are counted behind the known ones. NULL: no memory. */
static uint64_t *seen_of(struct sample *sample, const struct pd_event *event)
{
	size_t count = pd_file_event_count(sample->keep.input.file) + 1;
	uint64_t *seen;

	if (count > sample->event_count) {
		seen = realloc(sample->seen, count * sizeof(*seen));
		if (!seen)
			return NULL;
		memset(seen + sample->event_count, 0, (count - sample->event_count) * sizeof(*seen));
		sample->seen = seen;
		sample->event_count = count;
	}
	return &sample->seen[event ? event->index + 1 : 0];
}

/* The middle one of each N, so that a few samples of an event are not all first ones. */
static bool is_chosen(struct sample *sample, uint64_t *seen)
{
	if (sample->by_chance)
		return next_random(sample) % sample->rate == 0;
	return (*seen)++ % sample->rate == sample->rate / 2;
}

/* ---- what it stands for ---- */

static uint64_t scaled(struct sample *sample, uint64_t period)
{
	uint64_t product;

	if (!__builtin_mul_overflow(period, sample->rate, &product))
		return product;
	sample->too_large++;
	return UINT64_MAX;
}

/* Samples without a period stand for that of their event. That of one with a frequency is not known. */
static enum pd_status scale_event(void *self, const struct pd_event *event, struct pd_attr *attr, const char **name,
				  struct pd_error *error)
{
	struct sample *sample = ((struct keep *)self)->self;

	(void)event;
	(void)name;
	(void)error;
	if (!HAS(attr, PERIOD) && !PD_BITS(attr->flags, PD_ATTR_FREQ))
		attr->sample_period = scaled(sample, attr->sample_period);
	return PD_OK;
}

static enum verdict pass_scaled(struct sample *sample, struct pd_stream *stream, const struct pd_record *record)
{
	struct keep *keep = &sample->keep;
	const struct pd_sample *decoded = pd_as_sample(record);
	struct pd_sample changed;

	if (!decoded)
		return VERDICT_DROP;
	changed = *decoded;
	changed.period = scaled(sample, decoded->period);
	return keep_status(keep, pd_writer_pass_changed(keep->target.writer, stream, record, record->misc, &changed,
							&keep->error)) ?
		       VERDICT_PASSED :
		       VERDICT_FAILED;
}

static enum verdict choose(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct sample *sample = self;
	const struct pd_event *event = record->event;
	uint64_t *seen;

	if (record->type != PD_RECORD_SAMPLE)
		return VERDICT_PASS;
	seen = seen_of(sample, event);
	if (!seen) {
		strcpy(sample->keep.error.message, "out of memory");
		keep_status(&sample->keep, PD_ERROR_MEMORY);
		return VERDICT_FAILED;
	}
	if (!is_chosen(sample, seen))
		return VERDICT_DROP;
	if (event && HAS(event->attr, PERIOD) && sample->rate > 1)
		return pass_scaled(sample, stream, record);
	sample->unscaled += !event || (!HAS(event->attr, PERIOD) && PD_BITS(event->attr->flags, PD_ATTR_FREQ));
	return VERDICT_PASS;
}

/* ---- the command ---- */

/* "1/10" */
static bool take_rate(const char *word, uint64_t *rate_out)
{
	return !strncmp(word, "1/", 2) && number_parse(word + 2, rate_out);
}

/* One of two words is the rate, the other one the file. */
static bool take_words(struct sample *sample, const struct values *values, const struct call *call, struct call *rest)
{
	static const char *no_words[1];

	*rest = *call;
	sample->rate = values->rate.value;
	for (size_t i = 0; !values->rate.given && i < call->word_count; i++) {
		if (!take_rate(call->words[i], &sample->rate))
			continue;
		rest->words = call->word_count == 2 ? &call->words[1 - i] : no_words;
		rest->word_count = call->word_count - 1;
		break;
	}
	if (!values->rate.given && rest->word_count == call->word_count) {
		complain("no rate given; 1/10 keeps one of ten samples");
		return false;
	}
	if (!sample->rate || rest->word_count > 1) {
		complain(sample->rate ? "unexpected argument '%s' (only one FILE is accepted)" : "invalid rate '1/0'",
			 call->words[call->word_count - 1]);
		return false;
	}
	return true;
}

static void tell_weights(const struct sample *sample)
{
	if (sample->keep.options->input.quiet || sample->rate == 1)
		return;
	if (sample->unscaled)
		complain("%" PRIu64 " samples of frequency events have no period: their sums are now %" PRIu64
			 " times smaller, percentages are unchanged",
			 sample->unscaled, sample->rate);
	if (sample->too_large)
		complain("%" PRIu64 " periods overflow 64 bits and were set to the maximum", sample->too_large);
}

static int run(const struct call *call)
{
	const struct values *values = call->values;
	struct sample sample = { .by_chance = values->seed.given, .state = values->seed.value };
	struct call rest;
	int code;

	sample.keep.choose = choose;
	sample.keep.event = scale_event;
	sample.keep.self = &sample;
	if (!take_words(&sample, values, call, &rest))
		return CODE_USAGE;
	code = keep_open(&sample.keep, &values->keep, &rest, false);
	if (code == CODE_FINE)
		code = keep_write(&sample.keep);
	if (code == CODE_FINE)
		tell_weights(&sample);
	code = keep_close(&sample.keep, code);
	free(sample.seen);
	return code;
}

const struct command cmd_sample = {
	.usage = "[OPTION]... 1/N -o OUTPUT [FILE]",
	.text = "Keep one of N samples of each event, and all other records. Periods of kept samples (or of the event, where "
		"samples have none) are multiplied by N, so that totals stay statistically unchanged. Counter values of "
		"groups are unchanged: they are differences between samples. Frequency events whose samples have no period "
		"cannot be scaled; this is reported.\n\n"
		"Every N-th sample in the order of FILE is kept. If the workload is periodic, use --seed to choose at random.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 2,
	.run = run,
};
