/* SPDX-License-Identifier: MIT */
/*
 * The cursor reads bytes that may be hostile. It knows its bounds and the byte order of the file. Its failure
 * sticks: after the first one every read gives zero, and the place, the field and the reason are kept, so that
 * straight code needs to look once. Nothing else in the library reads numbers out of a file.
 */
#ifndef PD_BASE_CURSOR_H
#define PD_BASE_CURSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <perfdata/base.h>

#define PD_ALWAYS_INLINE static inline __attribute__((always_inline))
#define PD_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PD_LIKELY(x) __builtin_expect(!!(x), 1)
#define PD_HOST_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

struct pd_cursor {
	const uint8_t *start;
	const uint8_t *at;
	const uint8_t *end;
	const uint8_t *failed_at;
	const char *reason; // NULL while nothing failed
	const char *layout; // where it failed; may be NULL
	const char *field;
	enum pd_status status;
	bool big;  // byte order of the file
	bool swap; // it is not the one of this machine
	bool failed;
};

static inline struct pd_cursor pd_cursor(const void *data, size_t size, bool big)
{
	const uint8_t *bytes = data;

	return (struct pd_cursor){
		.start = bytes,
		.at = bytes,
		.end = size ? bytes + size : bytes, // nothing may be at NULL
		.big = big,
		.swap = big != PD_HOST_BIG,
	};
}

static inline size_t pd_cursor_left(const struct pd_cursor *c)
{
	return (size_t)(c->end - c->at);
}

// The first failure wins.
static __attribute__((cold, noinline, unused)) void pd_cursor_fail(struct pd_cursor *c, const char *reason)
{
	if (c->failed)
		return;
	c->failed = true;
	c->status = PD_ERROR_FORMAT;
	c->failed_at = c->at;
	c->reason = reason;
	c->at = c->end;
}

static inline void pd_cursor_fail_memory(struct pd_cursor *c)
{
	pd_cursor_fail(c, "no memory");
	c->status = PD_ERROR_MEMORY;
}

// Names the field of the first failure.
static inline void pd_cursor_blame(struct pd_cursor *c, const char *layout, const char *field)
{
	if (c->field)
		return;
	c->layout = layout;
	c->field = field;
}

PD_ALWAYS_INLINE const uint8_t *pd_cursor_take(struct pd_cursor *c, uint64_t size)
{
	const uint8_t *at = c->at;

	if (PD_UNLIKELY(size > pd_cursor_left(c))) {
		pd_cursor_fail(c, "extends past the end");
		return NULL;
	}
	c->at += size;
	return at;
}

static inline uint8_t pd_load_u8(const void *at)
{
	return *(const uint8_t *)at;
}

static inline uint16_t pd_load_u16(const void *at, bool swap)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

PD_ALWAYS_INLINE uint32_t pd_load_u32(const void *at, bool swap)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

PD_ALWAYS_INLINE uint64_t pd_load_u64(const void *at, bool swap)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

static inline uint8_t pd_cursor_u8(struct pd_cursor *c)
{
	const uint8_t *at = pd_cursor_take(c, 1);

	return at ? *at : 0;
}

static inline uint16_t pd_cursor_u16(struct pd_cursor *c)
{
	const uint8_t *at = pd_cursor_take(c, 2);

	return at ? pd_load_u16(at, c->swap) : 0;
}

PD_ALWAYS_INLINE uint32_t pd_cursor_u32(struct pd_cursor *c)
{
	const uint8_t *at = pd_cursor_take(c, 4);

	return at ? pd_load_u32(at, c->swap) : 0;
}

PD_ALWAYS_INLINE uint64_t pd_cursor_u64(struct pd_cursor *c)
{
	const uint8_t *at = pd_cursor_take(c, 8);

	return at ? pd_load_u64(at, c->swap) : 0;
}

static inline int32_t pd_cursor_s32(struct pd_cursor *c)
{
	return (int32_t)pd_cursor_u32(c);
}

static inline double pd_cursor_f64(struct pd_cursor *c)
{
	uint64_t bits = pd_cursor_u64(c);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

// Holds a count from the file against the bytes that are left. min_size is at least 1.
PD_ALWAYS_INLINE bool pd_cursor_count(struct pd_cursor *c, uint64_t count, size_t min_size)
{
	if (PD_UNLIKELY(count > pd_cursor_left(c) / min_size)) {
		pd_cursor_fail(c, "counts more than there is");
		return false;
	}
	return true;
}

#endif
