/* SPDX-License-Identifier: MIT */
/*
 * Conditions and counts of the table as expressions, for decoders and encoders alike. They stand in functions that
 * have the scope as `s` and the struct as `it`. What differs between reading and writing is with decode.c and encode.c:
 * LEADING, REST, SINCE and AS_STORED.
 */
#ifndef PD_FORMAT_WHEN_H
#define PD_FORMAT_WHEN_H

#include "format/layout.h"

#define WORD_OF(W) (s->words[PD_WORD_##W])
#define WHEN_ALWAYS 1
#define WHEN_HAS(W, B) ((WORD_OF(W) & MASK_##W(B)) != 0)
#define WHEN_LACKS(W, B) ((WORD_OF(W) & MASK_##W(B)) == 0)
#define WHEN_ONLY(W, B, O) ((WORD_OF(W) & (MASK_##W(B) | MASK_##W(O))) == MASK_##W(B))
#define WHEN_IS(member, v) (it->member == (v))
#define WHEN_NOT(member, v) (it->member != (v))
#define WHEN_LEAST(member, v) (it->member >= (v))
#define WHEN_WORD_IS(W, v) (WORD_OF(W) == (v))
#define WHEN_WORD_NOT(W, v) (WORD_OF(W) != (v))
#define WHEN_WORD_LEAST(W, v) (WORD_OF(W) >= (v))
#define WHEN_WORD_BELOW(W, v) (WORD_OF(W) < (v))

#define COUNT_MEMBER(member) AS_STORED(it->member)
#define COUNT_FIXED(count) ((uint64_t)(count))
#define COUNT_POPCOUNT(W) ((uint64_t)__builtin_popcountll(WORD_OF(W)))
#define COUNT_BITS_OF(member) ((uint64_t)__builtin_popcountll(it->member))
#define COUNT_WORD(W) AS_STORED(WORD_OF(W))
#define COUNT_BITMAP(member) (it->member / 64 + (it->member % 64 != 0))

#define BOX_WORD(W) WORD_OF(W)
#define BOX_OF(member) ((uint64_t)it->member)

#endif
