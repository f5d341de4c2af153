/* SPDX-License-Identifier: MIT */
/* Blocks while they are counted. */
#ifndef PD_BLOCKS_INSIDE_H
#define PD_BLOCKS_INSIDE_H

#include "blocks/blocks.h"

/** NULL without memory. */
struct pd_blocks *pd_blocks_new(void);
/** Adds to the block with the same function, start and end. False without memory. */
bool pd_blocks_add(struct pd_blocks *blocks, const struct pd_block_count *block);
/** Counts cycles, whatever block they are of. */
void pd_blocks_add_cycles(struct pd_blocks *blocks, uint64_t cycles);
/** Once all are added. False without memory. */
bool pd_blocks_sort(struct pd_blocks *blocks);

#endif
