/* SPDX-License-Identifier: MIT */
/* What is kept of samples that wait for their turn. */
#ifndef PD_STREAM_PACK_H
#define PD_STREAM_PACK_H

#include <stdint.h>

enum {
	PD_PACKED_WORDS = 8
};

// Words of samples of an event, for who wants no more of them: some that are before the call chain, then some of the raw data.
struct pd_pack {
	uint8_t before, count;        // count 0: all of a sample is wanted
	uint16_t at[PD_PACKED_WORDS]; // in the sample; then in its raw data
};

#endif
