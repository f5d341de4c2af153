/* SPDX-License-Identifier: MIT */
/*
 * A whole record: header, body and the sample_id trailer of kernel records, which is taken from the end. Some
 * recorders leave the trailer out of records that they make themselves; then the body is taken without it.
 */
#ifndef PD_FORMAT_RECORD_H
#define PD_FORMAT_RECORD_H

#include "format/layout.h"

enum {
	PD_RECORD_HEADER_SIZE = 8
};

// Bits of sample_type that give a word of the trailer.
#define PD_TRAILER_BITS                                                                                            \
	(MASK_TRAILER(TID) | MASK_TRAILER(TIME) | MASK_TRAILER(ID) | MASK_TRAILER(STREAM_ID) | MASK_TRAILER(CPU) | \
	 MASK_TRAILER(IDENTIFIER))

static inline size_t pd_trailer_size(uint64_t sample_type)
{
	return (size_t)__builtin_popcountll(sample_type & PD_TRAILER_BITS) * 8;
}

struct pd_record_head {
	uint32_t type;
	uint16_t misc;
	uint64_t size; // of the record, header included
};

// Simpleperf's records have a size of 32 bits and no misc.
static inline bool pd_record_has_large_size(uint32_t type)
{
	return type >= PD_RECORD_SIMPLEPERF_FIRST && type < PD_RECORD_SIMPLEPERF_FIRST + 1024;
}

static inline struct pd_record_head pd_record_head(const uint8_t *at, bool swap)
{
	struct pd_record_head head = {
		.type = pd_load_u32(at, swap),
		.misc = pd_load_u16(at + 4, swap),
		.size = pd_load_u16(at + 6, swap),
	};

	if (PD_UNLIKELY(pd_record_has_large_size(head.type))) {
		head.size |= (uint64_t)head.misc << 16;
		head.misc = 0;
	}
	return head;
}

// Decodes a record. scope->words holds what the event says, TRAILER the sample_type if the event promises
// a trailer; it is set to 0 if the record has none. NULL and a failed cursor if the bytes do not fit.
void *pd_record_take(const struct pd_layout *layout, enum pd_record_group group, struct pd_bytes record,
		     struct pd_scope *scope, struct pd_cursor *cursor);

// Whether the texts of a decoded record end where their places do, but for padding to 8 bytes.
bool pd_record_is_tight(const struct pd_layout *layout, const void *decoded);

// Encodes a record, its header with the final size included.
void pd_record_put(struct pd_buffer *buffer, const struct pd_record_head *head, const struct pd_layout *layout,
		   enum pd_record_group group, struct pd_scope *scope, const void *decoded);

/** What the attributes of an event say of its records, into the words of a scope. */
void pd_attr_words(const struct pd_attr *attr, uint64_t words[PD_WORD_COUNT]);

#endif
