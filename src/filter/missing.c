/* SPDX-License-Identifier: MIT */
/* What a condition asks of samples that no event of a file records. */
#include "filter/filter.h"

// The bit of sample_type without which no sample answers; 0 for what does not depend on one.
static uint64_t bit_of(const struct pd_filter_operand *operand)
{
	const struct pd_when *when;

	switch (operand->from) {
	case PD_FROM_TIME:
		return PD_MASK(PD_SAMPLE_TYPE_TIME);
	case PD_FROM_PID:
	case PD_FROM_TID:
		return PD_MASK(PD_SAMPLE_TYPE_TID);
	case PD_FROM_CPU:
		return PD_MASK(PD_SAMPLE_TYPE_CPU);
	case PD_FROM_RECORD:
		when = &operand->steps[0]->when;
		if (operand->type == PD_RECORD_SAMPLE && when->op == PD_WHEN_MASKED &&
		    when->word == PD_WORD_SAMPLE_TYPE)
			return when->want;
		return 0;
	default:
		return 0;
	}
}

static bool is_recorded(struct pd_file *file, uint64_t bit)
{
	size_t count = pd_file_event_count(file);

	for (size_t i = 0; i < count; i++)
		if (pd_file_event(file, i)->attr->sample_type & bit)
			return true;
	return !count;
}

struct pd_str pd_filter_missing_field(const struct pd_filter *filter, struct pd_file *file)
{
	for (size_t i = 0; i < filter->operand_count; i++) {
		const struct pd_filter_operand *operand = &filter->operands[i];
		uint64_t bit = bit_of(operand);

		if (bit && !is_recorded(file, bit))
			return (struct pd_str){ .data = filter->text + operand->at,
						.length = (uint32_t)operand->length };
	}
	return (struct pd_str){ 0 };
}
