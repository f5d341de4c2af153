/* SPDX-License-Identifier: MIT */
/*
 * The buffer writes what the cursor reads: numbers in the byte order of a file into memory of a known size. Its
 * failure sticks. When the memory is too small it goes on counting, so that `need` says what would do.
 */
#ifndef PD_BASE_BUFFER_H
#define PD_BASE_BUFFER_H

#include "base/cursor.h"

struct pd_buffer {
	uint8_t *data;
	size_t capacity;
	size_t need; // bytes written so far, had there been room
	const char *reason;
	const char *layout;
	const char *field;
	bool big;
	bool swap;
	bool failed; // a value cannot be written; too little room is no failure
};

static inline struct pd_buffer pd_buffer(void *data, size_t capacity, bool big)
{
	return (struct pd_buffer){ .data = data, .capacity = capacity, .big = big, .swap = big != PD_HOST_BIG };
}

static inline void pd_buffer_fail(struct pd_buffer *p, const char *reason)
{
	if (p->failed)
		return;
	p->failed = true;
	p->reason = reason;
}

static inline void pd_buffer_blame(struct pd_buffer *p, const char *layout, const char *field)
{
	if (p->field)
		return;
	p->layout = layout;
	p->field = field;
}

static inline bool pd_buffer_full(const struct pd_buffer *p)
{
	return p->need > p->capacity;
}

static inline void pd_buffer_bytes(struct pd_buffer *p, const void *data, size_t size)
{
	if (p->need <= p->capacity && size <= p->capacity - p->need && size)
		memcpy(p->data + p->need, data, size);
	p->need += size;
}

static inline void pd_buffer_zeros(struct pd_buffer *p, size_t size)
{
	if (p->need <= p->capacity && size <= p->capacity - p->need && size)
		memset(p->data + p->need, 0, size);
	p->need += size;
}

static inline void pd_buffer_u8(struct pd_buffer *p, uint8_t v)
{
	pd_buffer_bytes(p, &v, sizeof(v));
}

static inline void pd_buffer_u16(struct pd_buffer *p, uint16_t v)
{
	v = p->swap ? __builtin_bswap16(v) : v;
	pd_buffer_bytes(p, &v, sizeof(v));
}

static inline void pd_buffer_u32(struct pd_buffer *p, uint32_t v)
{
	v = p->swap ? __builtin_bswap32(v) : v;
	pd_buffer_bytes(p, &v, sizeof(v));
}

static inline void pd_buffer_u64(struct pd_buffer *p, uint64_t v)
{
	v = p->swap ? __builtin_bswap64(v) : v;
	pd_buffer_bytes(p, &v, sizeof(v));
}

static inline void pd_buffer_s32(struct pd_buffer *p, int32_t v)
{
	pd_buffer_u32(p, (uint32_t)v);
}

static inline void pd_buffer_f64(struct pd_buffer *p, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	pd_buffer_u64(p, bits);
}

#endif
