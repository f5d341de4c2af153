/* SPDX-License-Identifier: MIT */
/*
 * One header feature, or one of the other layouts. The first bytes choose which, its byte order and the number
 * of CPUs; the rest is its bytes. What can be decoded is encoded again, in both byte orders.
 */
#include <string.h>

#include "round.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct round round = { 0 };
	const struct pd_layout *layout;

	if (size < 4)
		return 0;
	layout = pd_feature_layout(data[0]);
	if (!layout)
		return 0;
	round.layout = layout;
	round.big = data[1] & 1;
	round.words[PD_WORD_QUIRKS] = data[1] >> 1 & 1;
	round.words[PD_WORD_NRCPUS] = data[2] | (uint64_t)(data[3] & 3) << 8;
	round_trip(&round, data + 4, size - 4);
	return 0;
}
