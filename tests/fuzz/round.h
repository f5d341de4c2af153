/* SPDX-License-Identifier: MIT */
/*
 * Decoding and encoding of one struct held against each other: the same bytes come out, and the struct survives
 * the other byte order.
 */
#ifndef PD_TEST_ROUND_H
#define PD_TEST_ROUND_H

#include "format/record.h"

struct round {
	const struct pd_layout *layout;
	enum pd_record_group group; // of a record; PD_GROUP_UNKNOWN for a struct without header and trailer
	struct pd_record_head head;
	uint64_t words[PD_WORD_COUNT];
	bool big;
};

// Returns false if the bytes cannot be decoded; aborts if they do not survive.
bool round_trip(const struct round *round, const uint8_t *data, size_t size);

#endif
