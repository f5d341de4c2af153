/* SPDX-License-Identifier: MIT */
/*
 * The brief form of a sample. Where its fields stand depends on the event alone as long as nothing of variable size
 * comes before them, so the places are found once for each event, by walking the lines of the table.
 */
#include "stream/read/inside.h"

static uint64_t word_or(const uint8_t *body, uint8_t place, uint64_t none)
{
	return place == PD_FIELD_MISSING ? none : pd_load_u64(body + place, false);
}

static uint32_t half_or(const uint8_t *body, uint8_t place, uint32_t none)
{
	return place == PD_FIELD_MISSING ? none : pd_load_u32(body + place, false);
}

// Callchains of the other byte order, after something of variable size, or at odd places in memory: all is decoded.
static bool decode_sample(const struct pd_record *record, struct pd_brief *brief_out)
{
	const struct pd_sample *sample = pd_as_sample(record);
	const struct pd_attr *attr;

	if (!sample)
		return false;
	attr = record->event->attr;
	*brief_out = (struct pd_brief){
		.ip = sample->ip,
		.addr = sample->addr,
		.period = attr->sample_type & MASK_SAMPLE_TYPE(PERIOD) ? sample->period : attr->sample_period,
		.time_ns = record->time_ns,
		.pid = attr->sample_type & MASK_SAMPLE_TYPE(TID) ? sample->pid : UINT32_MAX,
		.tid = attr->sample_type & MASK_SAMPLE_TYPE(TID) ? sample->tid : UINT32_MAX,
		.cpu = attr->sample_type & MASK_SAMPLE_TYPE(CPU) ? sample->cpu : UINT32_MAX,
		.cpumode = (unsigned)PD_BITS(record->misc, PD_MISC_CPUMODE),
		.callchain = sample->callchain,
	};
	return true;
}

bool pd_record_brief(const struct pd_record *record, struct pd_brief *brief_out)
{
	const struct pd_scratch *scratch = record->scratch;
	const struct pd_event_full *full = scratch->context.event;
	const struct pd_brief_places *at;
	const uint8_t *body = record->bytes.data + PD_RECORD_HEADER_SIZE;
	size_t size = record->bytes.size - PD_RECORD_HEADER_SIZE;

	if (PD_UNLIKELY(record->type != PD_RECORD_SAMPLE || !record->event || !full))
		return false;
	at = &full->brief;
	brief_out->callchain = (struct pd_u64s){ 0 };
	if (PD_UNLIKELY(scratch->context.swap || !at->sufficient || size < at->size))
		return decode_sample(record, brief_out);
	if (at->callchain != PD_FIELD_MISSING) {
		const uint8_t *chain = body + at->callchain;
		uint64_t count = pd_load_u64(chain, false);

		if (PD_UNLIKELY(count > (size - at->size) / 8 || (uintptr_t)chain % 8))
			return decode_sample(record, brief_out);
		brief_out->callchain = (struct pd_u64s){ (const uint64_t *)(const void *)(chain + 8), (size_t)count };
	}
	brief_out->ip = word_or(body, at->ip, 0);
	brief_out->addr = word_or(body, at->addr, 0);
	brief_out->period = word_or(body, at->period, full->event.attr->sample_period);
	brief_out->time_ns = record->time_ns;
	brief_out->pid = half_or(body, at->pid, UINT32_MAX);
	brief_out->tid = half_or(body, at->tid, UINT32_MAX);
	brief_out->cpu = half_or(body, at->cpu, UINT32_MAX);
	brief_out->cpumode = (unsigned)PD_BITS(record->misc, PD_MISC_CPUMODE);
	return true;
}

bool pd_record_quick_raw(const struct pd_record *record, const struct pd_brief *brief, struct pd_bytes *raw_out)
{
	const struct pd_scratch *scratch = record->scratch;
	const struct pd_event_full *full = scratch->context.event;
	const uint8_t *body = record->bytes.data + PD_RECORD_HEADER_SIZE;
	size_t size = record->bytes.size - PD_RECORD_HEADER_SIZE, at;

	if (!full || !full->brief.raw_last || scratch->context.swap)
		return false;
	at = full->brief.size + 8 * brief->callchain.count;
	if (size < at + 4 || pd_load_u32(body + at, false) != size - at - 4)
		return false;
	*raw_out = (struct pd_bytes){ body + at + 4, size - at - 4 };
	return true;
}

// Until a marker says otherwise, addresses are of user space.
static bool has_user_part(struct pd_u64s chain)
{
	bool user = true;

	for (size_t i = 0; i < chain.count; i++) {
		if (chain.items[i] >= PD_CONTEXT_MAX)
			user = chain.items[i] == (uint64_t)PD_CONTEXT_USER;
		else if (user)
			return true;
	}
	return false;
}

bool pd_sample_needs_unwinding(const struct pd_sample *sample)
{
	const struct pd_user_stack *stack = sample->user_stack;

	return stack && stack->size && stack->dyn_size && sample->user_regs && sample->user_regs->abi &&
	       !has_user_part(sample->callchain);
}
