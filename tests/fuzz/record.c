/* SPDX-License-Identifier: MIT */
/*
 * One record. The first bytes choose its type and the attr it is read with; the rest is its body. What can be
 * decoded is encoded again, in both byte orders.
 */
#include <string.h>

#include "round.h"
#include "walk.h"

// In the order of the input; all little-endian.
struct choice {
	uint8_t type;
	uint8_t flags; // bit 0: big-endian, bit 1: sample_id_all, bit 2: quirks
	uint16_t misc;
	uint32_t unused;
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_type;
	uint64_t regs_user;
	uint64_t regs_intr;
};

// The types are asked for once: that takes longer than a record.
static uint32_t type_of(uint8_t choice)
{
	static uint32_t types[256], count;
	static bool asked;

	while (!asked && pd_record_type_at(count, &types[count]))
		count++;
	asked = true;
	return types[choice % count];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct choice choice;
	struct round round = { 0 };
	struct pd_buffer buffer;
	uint8_t *record;
	uint32_t type;

	if (size < sizeof(choice) || size > 65000)
		return 0;
	memcpy(&choice, data, sizeof(choice));
	type = type_of(choice.type);
	size -= sizeof(choice) - PD_RECORD_HEADER_SIZE;
	round = (struct round){
		.layout = pd_record_layout(type),
		.group = pd_record_group(type),
		.head = { type, pd_record_group(type) == PD_GROUP_SIMPLEPERF ? 0 : choice.misc, size },
		.words = { [PD_WORD_MISC] = choice.misc,
			   [PD_WORD_SAMPLE_TYPE] = choice.sample_type,
			   [PD_WORD_READ_FORMAT] = choice.read_format,
			   [PD_WORD_BRANCH_TYPE] = choice.branch_type,
			   [PD_WORD_REGS_USER] = choice.regs_user,
			   [PD_WORD_REGS_INTR] = choice.regs_intr,
			   [PD_WORD_TRAILER] = choice.flags & 2 ? choice.sample_type & PD_TRAILER_BITS : 0,
			   [PD_WORD_QUIRKS] = choice.flags >> 2 & 1 },
		.big = choice.flags & 1,
	};
	record = malloc(size);
	buffer = pd_buffer(record, size, round.big);
	pd_buffer_u32(&buffer, type);
	pd_buffer_u16(&buffer, round.head.misc);
	pd_buffer_u16(&buffer, (uint16_t)size);
	pd_buffer_bytes(&buffer, data + sizeof(choice), size - PD_RECORD_HEADER_SIZE);
	round_trip(&round, record, size);
	free(record);
	return 0;
}
