/* SPDX-License-Identifier: MIT */
/* Samples in a row, of events whose samples are alike, that have nothing but what stands at known offsets: decoded in place, a hundred at a time. */
#include "base/cursor.h"
#include "base/error.h"
#include "profile/collect/pending.h"
#include "stream/read/stream.h"

// Where the fields of a sample are, from the start of its record.
struct field_places {
	size_t least; // bytes that each of them has
	size_t fixed; // bytes up to the chain's first entry
	size_t time, ip, pid, tid;
	size_t id;                 // of the event; 0: there is no other one
	size_t chain, period, cpu; // 0: missing
};

// Samples after the present one that are plain: all of them are wanted, and have nothing but what stands at known places, the same
// for all events among them.
struct plain {
	const struct pd_stream *stream;
	struct pd_span span; // of the last event
	struct field_places places;
	bool timed; // times are moments
	uint32_t event;
	uint64_t event_period;               // of samples that do not say one
	uint64_t samples, period, overflows; // of the last event
	uint64_t passed;
};

static size_t in_record(uint8_t place)
{
	return place == PD_FIELD_MISSING ? 0 : PD_RECORD_HEADER_SIZE + (size_t)place;
}

static size_t least_of(const struct field_places *places)
{
	const size_t trailing = (places->time > places->id ? places->time : places->id) + 8;

	return places->fixed > trailing ? places->fixed : trailing;
}

static void begin_event(struct plain *plain, const struct pd_event_full *full, uint64_t id)
{
	plain->span.full = full;
	plain->span.id = id;
	plain->event = (uint32_t)full->event.index;
	plain->event_period = full->event.attr->sample_period;
}

static void add_totals(struct pd_collector *c, struct plain *plain)
{
	struct pd_profile_total *total = &c->totals[plain->event];

	total->samples += plain->samples;
	pd_add_counting(&total->period, plain->period, &c->overflows);
	plain->samples = plain->period = 0;
}

// A sample has the id of another event. False if that is not known, or its samples are not alike.
static bool change_event(struct pd_collector *c, struct plain *plain, const uint8_t *at, size_t size)
{
	const struct pd_event_full *full = pd_stream_span_event(plain->stream, at, size);

	if (!full || c->forms[full->event.index] != c->forms[plain->event])
		return false;
	add_totals(c, plain);
	begin_event(plain, full, pd_load_u64(at + plain->places.id, false));
	return true;
}

static bool is_plain(const struct pd_collector *c, const struct pd_stream *stream, struct plain *plain)
{
	const struct pd_record *current = pd_stream_current(stream);
	const struct pd_event_full *full;
	const struct pd_brief_places *brief;

	if (c->options->to_ns && c->options->to_ns < c->options->from_ns)
		return false;
	if (c->options->choose || c->running || (c->options->by & PD_BY_EXTRA) || !pd_stream_span(stream, &plain->span))
		return false;
	full = plain->span.full;
	brief = &full->brief;
	if (c->forms[full->event.index] == PD_NOT_PLAIN || current->time_ns == PD_NO_TIME)
		return false;
	plain->stream = stream;
	begin_event(plain, full, plain->span.id);
	plain->places = (struct field_places){
		.fixed = PD_RECORD_HEADER_SIZE + (size_t)brief->size,
		.time = PD_RECORD_HEADER_SIZE + 8 * (size_t)full->sample_time,
		.id = plain->span.any_id ? 0 : PD_RECORD_HEADER_SIZE + 8 * (size_t)full->sample_id,
		.ip = in_record(brief->ip),
		.pid = in_record(brief->pid),
		.tid = in_record(brief->tid),
		.chain = in_record(brief->callchain),
		.period = in_record(brief->period),
		.cpu = c->options->by & PD_BY_CPU ? in_record(brief->cpu) : 0,
	};
	plain->timed = pd_record_moment(current).time_ns == current->time_ns;
	plain->places.least = least_of(&plain->places);
	return plain->places.ip && plain->places.tid;
}

// What is in a record that ends at `end` at the latest, and has all fields of fixed size; *chain_out are the words of its chain. 0
// if it has to be looked at closely, else its size.
static inline size_t measure_plain(struct pd_collector *c, struct plain *plain, const struct field_places *places,
				   const uint8_t *at, const uint8_t *end, struct pd_u64s *chain_out)
{
	const size_t size = pd_load_u16(at + 6, false);
	const uint8_t *chain = at + places->chain;

	if (PD_UNLIKELY(pd_load_u32(at, false) != PD_RECORD_SAMPLE || size > (size_t)(end - at) ||
			size < places->least || (uintptr_t)chain % 8))
		return 0;
	if (PD_UNLIKELY(places->id) && pd_load_u64(at + places->id, false) != plain->span.id &&
	    !change_event(c, plain, at, size))
		return 0;
	chain_out->items = (const uint64_t *)(const void *)(chain + 8);
	chain_out->count = places->chain ? pd_load_u64(chain, false) : 0;
	return PD_LIKELY(chain_out->count <= (size - places->fixed) / 8) ? size : 0;
}

// Times of samples that are wanted, where 0 is none.
struct window {
	uint64_t from_ns, length;
};

static struct window window_of(const struct pd_profile_options *options)
{
	const uint64_t from_ns = options->from_ns ? options->from_ns : 1;
	const uint64_t to_ns = options->to_ns ? options->to_ns : UINT64_MAX;

	return (struct window){ from_ns, to_ns - from_ns };
}

// Takes the samples that follow, until one has to be looked at closely. False if there is no memory.
PD_ALWAYS_INLINE bool take_all(struct pd_collector *c, struct plain *plain, bool by_chain)
{
	const struct field_places places = plain->places;
	const struct window window = window_of(c->options);
	const bool slices = c->options->slices, timed = plain->timed;
	const unsigned period_shift = c->period_shift;
	const uint8_t *at = plain->span.at, *const end = plain->span.end;
	struct pd_lookup lookup = pd_lookup_of(c);
	struct pd_pending *pending = c->pending + c->waiting;
	uint64_t order = plain->span.place;

	for (size_t size; (size_t)(end - at) >= PD_RECORD_HEADER_SIZE; at += size) {
		const struct pd_thread_view *view;
		struct pd_moment when = { 0, order };
		struct pd_u64s chain;
		uint64_t time_ns;

		size = measure_plain(c, plain, &places, at, end, &chain);
		if (PD_UNLIKELY(!size))
			break;
		time_ns = pd_load_u64(at + places.time, false);
		if (PD_UNLIKELY(time_ns - window.from_ns > window.length)) {
			if (!time_ns)
				break;
			order++;
			continue;
		}
		when.time_ns = timed ? time_ns : 0;
		pending->pid = pd_load_u32(at + places.pid, false);
		view = pd_collector_view(c, pending->pid, pd_load_u32(at + places.tid, false), when);
		if (PD_UNLIKELY(!view))
			return false;
		order++;
		pending->when = when;
		pending->maps = view->view.maps;
		pending->owner = view->owner;
		pending->chain = chain.items;
		pending->chain_count = by_chain ? (uint32_t)chain.count : 0;
		pending->ip = pd_load_u64(at + places.ip, false);
		pending->period = (places.period ? pd_load_u64(at + places.period, false) : plain->event_period) >>
				  period_shift;
		pending->cpu = UINT32_MAX;
		if (PD_UNLIKELY(places.cpu))
			pending->cpu = pd_load_u32(at + places.cpu, false);
		pending->cpumode = (uint8_t)PD_BITS(pd_load_u16(at + 4, false), PD_MISC_CPUMODE);
		pending->event = plain->event;
		pending->weight = 0;
		pending->parallelism = 0;
		pending->unwound = PD_RECORDED;
		pending->bin = slices ? pd_bin_of(c, time_ns) : 0;
		plain->samples++;
		pd_add_counting(&plain->period, pending->period, &plain->overflows);
		pd_pending_prepare(c, &lookup, pending++, false);
		if (++c->waiting < PD_PENDING_MOST)
			continue;
		if (!pd_pending_flush(c))
			return false;
		pending = c->pending;
		lookup = pd_lookup_of(c);
	}
	plain->span.at = at;
	plain->passed = order - plain->span.place;
	return pd_pending_flush(c);
}

static bool take_all_plain(struct pd_collector *c, struct plain *plain)
{
	return c->options->by & PD_BY_CHAIN ? take_all(c, plain, true) : take_all(c, plain, false);
}

enum pd_status pd_collector_flush(struct pd_collector *collector, struct pd_error *error)
{
	return pd_pending_flush(collector) ? PD_OK : pd_fail_memory(error);
}

enum pd_status pd_collector_take_more(struct pd_collector *collector, struct pd_stream *stream, struct pd_error *error)
{
	struct pd_collector *c = collector;
	struct plain plain = { 0 };
	bool done;

	if (!is_plain(c, stream, &plain))
		return pd_collector_flush(c, error);
	if (plain.span.place < c->last_order)
		c->shuffled = true;
	done = take_all_plain(c, &plain);
	if (!done)
		return pd_fail_memory(error);
	c->sample_count += plain.passed;
	add_totals(c, &plain);
	c->overflows += plain.overflows;
	if (plain.passed)
		c->last_order = plain.span.place + plain.passed - 1;
	pd_stream_pass_span(stream, plain.span.at, plain.passed);
	return PD_OK;
}
