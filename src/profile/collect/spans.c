/* SPDX-License-Identifier: MIT */
/* Samples of one event in a row that have nothing but what stands at known offsets: decoded in place, a hundred at a time. */
#include "base/cursor.h"
#include "base/error.h"
#include "profile/collect/pending.h"
#include "stream/read/stream.h"

// Samples after the present one that are plain: those of one event, all of which are wanted, and have nothing but what
// stands at known places.
struct plain {
	struct pd_span span;
	const struct pd_event_full *full;
	size_t time_at, chain_at; // in the record; 0: there is no chain
	bool timed;               // times are moments
	uint64_t samples, period, overflows;
	uint64_t passed;
};

static bool is_plain(const struct pd_collector *c, const struct pd_stream *stream, struct plain *plain)
{
	const struct pd_record *current = pd_stream_current(stream);
	const struct pd_event_full *full;

	if (c->options->choose || (c->options->by & PD_BY_EXTRA) || !pd_stream_span(stream, &plain->span))
		return false;
	full = plain->full = plain->span.full;
	if (!full->brief.sufficient || pd_collector_needs_parts(c, &full->event) || current->time_ns == PD_NO_TIME)
		return false;
	plain->time_at = PD_RECORD_HEADER_SIZE + 8 * (size_t)full->sample_time;
	if (full->brief.callchain != PD_FIELD_MISSING)
		plain->chain_at = PD_RECORD_HEADER_SIZE + full->brief.callchain;
	plain->timed = pd_record_moment(current).time_ns == current->time_ns;
	return true;
}

static inline uint64_t word_at(const uint8_t *body, uint8_t place, uint64_t none)
{
	return place == PD_FIELD_MISSING ? none : pd_load_u64(body + place, false);
}

static inline uint32_t half_at(const uint8_t *body, uint8_t place, uint32_t none)
{
	return place == PD_FIELD_MISSING ? none : pd_load_u32(body + place, false);
}

// Decodes the next one. 0 if it has to be looked at closely, else its size; *time_ns_out.
static inline size_t take_plain(const struct plain *plain, const uint8_t *at, struct pd_pending *pending,
				uint64_t *time_ns_out)
{
	const struct pd_brief_places *places = &plain->full->brief;
	const uint8_t *body = at + PD_RECORD_HEADER_SIZE, *chain = at + plain->chain_at;
	size_t size = pd_load_u16(at + 6, false), fixed = PD_RECORD_HEADER_SIZE + (size_t)places->size;
	uint64_t count = 0;

	if (pd_load_u32(at, false) != PD_RECORD_SAMPLE || size > (size_t)(plain->span.end - at) || size < fixed ||
	    plain->time_at + 8 > size || !pd_stream_in_span(&plain->span, at, size))
		return 0;
	*time_ns_out = pd_load_u64(at + plain->time_at, false);
	if (plain->chain_at)
		count = pd_load_u64(chain, false);
	if (!*time_ns_out || count > (size - fixed) / 8 || (uintptr_t)chain % 8)
		return 0;
	pending->chain = (const uint64_t *)(const void *)(chain + 8);
	pending->chain_count = (uint32_t)count;
	pending->ip = word_at(body, places->ip, 0);
	pending->period = word_at(body, places->period, plain->full->event.attr->sample_period);
	pending->pid = half_at(body, places->pid, UINT32_MAX);
	pending->cpu = half_at(body, places->cpu, UINT32_MAX);
	pending->cpumode = (uint32_t)PD_BITS(pd_load_u16(at + 4, false), PD_MISC_CPUMODE);
	return size;
}

static bool take_all_plain(struct pd_collector *c, struct plain *plain)
{
	const uint64_t from_ns = c->options->from_ns, to_ns = c->options->to_ns ? c->options->to_ns : UINT64_MAX;
	const bool by_chain = c->options->by & PD_BY_CHAIN, slices = c->options->slices,
		   by_cpu = c->options->by & PD_BY_CPU;
	const uint32_t event = (uint32_t)plain->full->event.index;
	size_t size;
	uint64_t time_ns;

	for (; (size_t)(plain->span.end - plain->span.at) >= PD_RECORD_HEADER_SIZE; plain->span.at += size) {
		struct pd_pending *pending = &c->pending[c->waiting];
		const struct pd_thread_view *view;
		uint32_t tid;

		size = take_plain(plain, plain->span.at, pending, &time_ns);
		if (PD_UNLIKELY(!size))
			break;
		pending->when = (struct pd_moment){ plain->timed ? time_ns : 0, plain->span.place + plain->passed++ };
		if (PD_UNLIKELY(time_ns < from_ns || time_ns > to_ns))
			continue;
		tid = half_at(plain->span.at + PD_RECORD_HEADER_SIZE, plain->full->brief.tid, UINT32_MAX);
		view = pd_collector_view(c, pending->pid, tid, pending->when);
		if (PD_UNLIKELY(!view))
			return false;
		plain->samples++;
		pending->period >>= c->period_shift;
		pd_add_counting(&plain->period, pending->period, &plain->overflows);
		pending->maps = view->view.maps;
		pending->owner = view->owner;
		pending->event = event;
		pending->weight = 0;
		pending->unwound = PD_RECORDED;
		pending->bin = slices ? pd_bin_of(c, time_ns) : 0;
		if (!by_cpu)
			pending->cpu = UINT32_MAX;
		if (!by_chain)
			pending->chain_count = 0;
		pd_pending_prepare(c, pending, false);
		if (++c->waiting == PD_PENDING_MOST && !pd_pending_flush(c))
			return false;
	}
	return pd_pending_flush(c);
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
	c->totals[plain.full->event.index].samples += plain.samples;
	pd_add_counting(&c->totals[plain.full->event.index].period, plain.period, &c->overflows);
	c->overflows += plain.overflows;
	if (plain.passed)
		c->last_order = plain.span.place + plain.passed - 1;
	pd_stream_pass_span(stream, plain.span.at, plain.passed);
	return PD_OK;
}
