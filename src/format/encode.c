/* SPDX-License-Identifier: MIT */
/*
 * Encoders: the tables expanded as straight code, the mirror of decode.c. The other byte order is no case of
 * its own: what was decoded from one is encoded into the other.
 */
#include "format/encode.h"

#include "format/when.h"

// What conditions and counts are in an encoder; `p` is its pen, `it` its struct.
// A struct that was made by hand is written whole.
#define WHEN_SINCE(n) (it->wire_size == 0 || it->wire_size >= (n))
#define AS_STORED(count) ((uint64_t)(count))

#define PUT_U8(p, v) pd_buffer_u8(p, (uint8_t)(v))
#define PUT_U16(p, v) pd_buffer_u16(p, (uint16_t)(v))
#define PUT_U32(p, v) pd_buffer_u32(p, (uint32_t)(v))
#define PUT_U64(p, v) pd_buffer_u64(p, (uint64_t)(v))
#define PUT_S32(p, v) pd_buffer_s32(p, (int32_t)(v))
#define PUT_F64(p, v) pd_buffer_f64(p, (double)(v))
#define MAX_U8 UINT8_MAX
#define MAX_U16 UINT16_MAX
#define MAX_U32 UINT32_MAX
#define MAX_U64 UINT64_MAX

// What the count has to be; a leading count is written here.
#define COUNT_LEADING(KIND) \
	(n <= MAX_##KIND ? (void)0 : pd_buffer_fail(p, "too many items for the count field"), PUT_##KIND(p, n), n)
#define COUNT_REST n

#define BOX_ATTR (p->need - begin)

#define ITEM_COUNT_U8(array) ((uint64_t)(array)->size)
#define ITEM_COUNT_U16(array) ((uint64_t)(array)->count)
#define ITEM_COUNT_U32(array) ((uint64_t)(array)->count)
#define ITEM_COUNT_U64(array) ((uint64_t)(array)->count)

static void put_array_U8(struct pd_buffer *p, const struct pd_bytes *in)
{
	pd_buffer_bytes(p, in->data, in->size);
}

#define PUT_NUMBERS(KIND, array, put)                                                    \
	static void put_array_##KIND(struct pd_buffer *p, const struct array *in)        \
	{                                                                                \
		if (!p->swap) {                                                          \
			pd_buffer_bytes(p, in->items, in->count * sizeof(in->items[0])); \
			return;                                                          \
		}                                                                        \
		for (size_t i = 0; i < in->count; i++)                                   \
			put(p, in->items[i]);                                            \
	}
PUT_NUMBERS(U16, pd_u16s, pd_buffer_u16)
PUT_NUMBERS(U32, pd_u32s, pd_buffer_u32)
PUT_NUMBERS(U64, pd_u64s, pd_buffer_u64)

// A text in a place of size bytes; one from a file brings its padding along.
static void put_chars(struct pd_buffer *p, const struct pd_str *in, size_t size)
{
	if (in->length > size || in->size > size) {
		pd_buffer_fail(p, "string is too long");
		return;
	}
	if (in->size) {
		// a text that fills its place has no NUL there
		pd_buffer_bytes(p, in->data, in->size);
		pd_buffer_zeros(p, size - in->size);
	} else {
		pd_buffer_bytes(p, in->data, in->length);
		pd_buffer_zeros(p, size - in->length);
	}
}

// Bytes of a text that may be shorter than its place; one that the record ended before has none.
static size_t cut_size(const struct pd_str *in, size_t size)
{
	return in->size || (in->data && !in->length) ? in->size : size;
}

static void put_PSTR(struct pd_buffer *p, const struct pd_str *in)
{
	// an empty text of size 0 may come from a file; perf pads what it writes to 64
	size_t size = in->size || !in->data ? in->size : ((size_t)in->length + 64) & ~(size_t)63;

	if (!in->length && !in->size)
		size = 0;
	if (size > UINT32_MAX)
		pd_buffer_fail(p, "string is too long");
	pd_buffer_u32(p, (uint32_t)size);
	put_chars(p, in, size);
}

static void put_CSTR(struct pd_buffer *p, const struct pd_str *in)
{
	put_chars(p, in, (size_t)in->length + 1);
}

static void put_STR0(struct pd_buffer *p, const struct pd_str *in)
{
	size_t size = in->size;

	// bodies begin after a header of 8 bytes, so their own offsets are aligned alike
	if (!size)
		size = ((p->need + in->length + 8) & ~(size_t)7) - p->need;
	put_chars(p, in, size);
}

typedef void encode_fn(struct pd_buffer *p, struct pd_scope *s, const void *in);

static void put_part(struct pd_buffer *p, struct pd_scope *s, encode_fn *encode, const void *in)
{
	if (!in) {
		pd_buffer_fail(p, "is missing");
		return;
	}
	encode(p, s, in);
}

static void put_list(struct pd_buffer *p, struct pd_scope *s, encode_fn *encode, const struct pd_list *in)
{
	for (size_t i = 0; i < in->count && !p->failed; i++)
		encode(p, s, (const uint8_t *)in->items + i * in->stride);
}

static void put_rest(struct pd_buffer *p, const struct pd_bytes *in)
{
	pd_buffer_bytes(p, in->data, in->size);
}

#define BLAME(member)                                     \
	if (PD_UNLIKELY(p->failed)) {                     \
		pd_buffer_blame(p, layout_name, #member); \
		return;                                   \
	}

#define OPEN(layout, with_rest)                                                              \
	void pd_encode_##layout(struct pd_buffer *p, struct pd_scope *s, const void *memory) \
	{                                                                                    \
		enum {                                                                       \
			HAS_REST = (with_rest)                                               \
		};                                                                           \
		static const char layout_name[] = #layout;                                   \
		const struct pd_##layout *it = memory;                                       \
                                                                                             \
		(void)p;                                                                     \
		(void)s;                                                                     \
		(void)it;                                                                    \
		(void)layout_name;
#define PART(layout, doc) OPEN(layout, 0)
#define BOX(layout, doc) OPEN(layout, 1)
#define BODY(layout, doc) OPEN(layout, 1)
#define END(layout)                  \
	if (HAS_REST)                \
		put_rest(p, memory); \
	}
#define FIELD(KIND, member, SHOW, WHEN, doc) \
	if (WHEN_##WHEN)                     \
		PUT_##KIND(p, it->member);
#define FLAGS(KIND, member, set, WHEN, doc) \
	if (WHEN_##WHEN)                    \
		PUT_##KIND(p, p->big ? pd_bits_to_big(&pd_names_##set, it->member, WIRE_##KIND * 8) : it->member);
#define TEXT(KIND, member, WHEN, doc)       \
	if (WHEN_##WHEN) {                  \
		put_##KIND(p, &it->member); \
		BLAME(member)               \
	}
#define CHARS(member, bytes, FIT, WHEN, doc)                                                   \
	if (WHEN_##WHEN) {                                                                     \
		put_chars(p, &it->member, FIT_##FIT ? (bytes) : cut_size(&it->member, bytes)); \
		BLAME(member)                                                                  \
	}
#define ARRAY(KIND, member, COUNT, SHOW, WHEN, doc)          \
	if (WHEN_##WHEN) {                                   \
		uint64_t n = ITEM_COUNT_##KIND(&it->member); \
                                                             \
		if (COUNT_##COUNT != n)                      \
			pd_buffer_fail(p, "count differs");  \
		BLAME(member)                                \
		put_array_##KIND(p, &it->member);            \
	}
#define ONE(layout, member, WHEN, doc)                          \
	if (WHEN_##WHEN) {                                      \
		put_part(p, s, pd_encode_##layout, it->member); \
		BLAME(member)                                   \
	}
#define AGAIN(layout, member, WHEN, doc) ONE(layout, member, WHEN, doc)
#define BOXED(layout, member, SIZE, WHEN, doc)                  \
	if (WHEN_##WHEN) {                                      \
		size_t begin = p->need;                         \
                                                                \
		put_part(p, s, pd_encode_##layout, it->member); \
		if (BOX_##SIZE != p->need - begin)              \
			pd_buffer_fail(p, "size differs");      \
		BLAME(member)                                   \
	}
#define LIST(layout, member, COUNT, WHEN, doc)                   \
	if (WHEN_##WHEN) {                                       \
		uint64_t n = it->member.count;                   \
                                                                 \
		if (COUNT_##COUNT != n)                          \
			pd_buffer_fail(p, "count differs");      \
		put_list(p, s, pd_encode_##layout, &it->member); \
		BLAME(member)                                    \
	}
#define RECORDS(member, NAME, doc) put_rest(p, &it->member);
#define SET(WORD, member) WORD_OF(WORD) = it->member;
#define ORDER(member)             \
	p->big = it->member != 0; \
	p->swap = p->big != PD_HOST_BIG;
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>
