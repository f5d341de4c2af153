/* SPDX-License-Identifier: MIT */
/*
 * Decoders: the tables expanded as straight code, one function for each layout. Numbers are copied, texts and
 * bytes point into the record, arrays do so where byte order and alignment allow; the rest goes to the arena.
 */
#include "format/decode.h"

#include "format/when.h"

// What conditions and counts are in a decoder; `c` is its cursor, `it` its struct.
#define WHEN_SINCE(n) (it->wire_size >= (n))
#define AS_STORED(count) as_stored(count)

#define GET_U8(c) pd_cursor_u8(c)
#define GET_U16(c) pd_cursor_u16(c)
#define GET_U32(c) pd_cursor_u32(c)
#define GET_U64(c) pd_cursor_u64(c)
#define GET_S32(c) pd_cursor_s32(c)
#define GET_F64(c) pd_cursor_f64(c)

#define ALL_THAT_FOLLOW UINT64_MAX
#define COUNT_LEADING(KIND) as_stored(GET_##KIND(c))
#define COUNT_REST ALL_THAT_FOLLOW

#define BOX_ATTR attr_box(c)

#define NEED_BYTES(n) (pd_cursor_left(c) >= (n))
#define NEED_EACH(member, n) (it->member != 0 && it->member <= pd_cursor_left(c) / (n))
#define NEED_WORD_EACH(W, n) (WORD_OF(W) != 0 && WORD_OF(W) <= pd_cursor_left(c) / (n))
#define NEED_AFTER(member, n) (it->member && pd_cursor_left(c) >= (n))

// A count out of the file is not to be taken for ALL_THAT_FOLLOW; one less is as much too many.
static inline uint64_t as_stored(uint64_t count)
{
	return count == ALL_THAT_FOLLOW ? count - 1 : count;
}

static void take_bytes(struct pd_cursor *c, struct pd_scope *s, uint64_t count, struct pd_bytes *out)
{
	(void)s;
	if (count == ALL_THAT_FOLLOW)
		count = pd_cursor_left(c);
	out->data = pd_cursor_take(c, count);
	out->size = out->data ? (size_t)count : 0;
}

// Numbers in place if they can be used as they are, else converted into the arena.
#define TAKE_NUMBERS(name, type, array, load)                                                        \
	static void name(struct pd_cursor *c, struct pd_scope *s, uint64_t count, struct array *out) \
	{                                                                                            \
		const uint8_t *at;                                                                   \
		type *items;                                                                         \
                                                                                                     \
		if (count == ALL_THAT_FOLLOW)                                                        \
			count = pd_cursor_left(c) / sizeof(type);                                    \
		if (!count || !pd_cursor_count(c, count, sizeof(type)))                              \
			return;                                                                      \
		at = pd_cursor_take(c, count * sizeof(type));                                        \
		if (!c->swap && (uintptr_t)at % sizeof(type) == 0) {                                 \
			out->items = (const type *)(const void *)at;                                 \
			out->count = (size_t)count;                                                  \
			return;                                                                      \
		}                                                                                    \
		items = pd_arena_alloc(s->arena, (size_t)count * sizeof(type));                      \
		if (!items) {                                                                        \
			pd_cursor_fail_memory(c);                                                    \
			return;                                                                      \
		}                                                                                    \
		for (size_t i = 0; i < count; i++)                                                   \
			items[i] = load(at + i * sizeof(type), c->swap);                             \
		out->items = items;                                                                  \
		out->count = (size_t)count;                                                          \
	}
TAKE_NUMBERS(take_u16s, uint16_t, pd_u16s, pd_load_u16)
TAKE_NUMBERS(take_u32s, uint32_t, pd_u32s, pd_load_u32)
TAKE_NUMBERS(take_u64s, uint64_t, pd_u64s, pd_load_u64)
#define TAKE_ARRAY_U8 take_bytes
#define TAKE_ARRAY_U16 take_u16s
#define TAKE_ARRAY_U32 take_u32s
#define TAKE_ARRAY_U64 take_u64s

// A text in a place of size bytes; one that fills it has no NUL there and is copied to get one.
static void take_chars(struct pd_cursor *c, struct pd_scope *s, uint64_t size, struct pd_str *out)
{
	const uint8_t *at = pd_cursor_take(c, size);
	const uint8_t *nul;

	if (!at)
		return;
	if (size > UINT32_MAX - 1) {
		pd_cursor_fail(c, "string is too long");
		return;
	}
	nul = size ? memchr(at, 0, (size_t)size) : NULL;
	out->data = (const char *)at;
	out->length = nul ? (uint32_t)(nul - at) : (uint32_t)size;
	out->size = (uint32_t)size;
	if (nul)
		return;
	out->data = pd_arena_text(s->arena, at, (size_t)size);
	if (!out->data)
		pd_cursor_fail_memory(c);
}

static void take_PSTR(struct pd_cursor *c, struct pd_scope *s, struct pd_str *out)
{
	take_chars(c, s, pd_cursor_u32(c), out);
}

static void take_terminated(struct pd_cursor *c, struct pd_str *out, bool padded)
{
	size_t left = pd_cursor_left(c);
	const uint8_t *nul = left ? memchr(c->at, 0, left) : NULL;

	if (!nul || left > UINT32_MAX - 1) {
		pd_cursor_fail(c, nul ? "string is too long" : "unterminated string");
		return;
	}
	out->data = (const char *)c->at;
	out->length = (uint32_t)(nul - c->at);
	out->size = padded ? (uint32_t)left : out->length + 1;
	c->at += out->size;
}

static void take_STR0(struct pd_cursor *c, struct pd_scope *s, struct pd_str *out)
{
	(void)s;
	take_terminated(c, out, true);
}

static void take_CSTR(struct pd_cursor *c, struct pd_scope *s, struct pd_str *out)
{
	(void)s;
	take_terminated(c, out, false);
}

// Place of an attr that tells its own size.
static uint64_t attr_box(struct pd_cursor *c)
{
	uint32_t size;

	if (pd_cursor_left(c) < PD_MIN_attr) {
		pd_cursor_fail(c, "too small for an attr");
		return 0;
	}
	size = pd_load_u32(c->at + 4, c->swap);
	return size ? ((uint64_t)size + 7) & ~UINT64_C(7) : PD_MIN_attr;
}

// What decoding one layout inside of another needs to know of it. pd_layouts (layout.c) has more, and these functions too: to
// use it here would tie the two files to each other.
struct shape {
	void (*decode)(struct pd_cursor *c, struct pd_scope *s, void *out);
	size_t struct_size, min_size;
	bool plain;
};

#define SHAPE(layout) \
	[PD_LAYOUT_##layout] = { pd_decode_##layout, sizeof(struct pd_##layout), PD_MIN_##layout, PD_IS_PLAIN(layout) },
#define PART(layout, doc) SHAPE(layout)
#define BOX(layout, doc) SHAPE(layout)
#define BODY(layout, doc) SHAPE(layout)
static const struct shape shapes[PD_LAYOUT_COUNT] = {
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>
};

static void take_part(struct pd_cursor *c, struct pd_scope *s, enum pd_layout_id id, const void **out)
{
	const struct shape *layout = &shapes[id];
	void *memory = pd_arena_alloc(s->arena, layout->struct_size);

	if (!memory) {
		pd_cursor_fail_memory(c);
		return;
	}
	layout->decode(c, s, memory);
	*out = memory;
}

static void take_box(struct pd_cursor *c, struct pd_scope *s, uint64_t size, enum pd_layout_id id, const void **out)
{
	const uint8_t *end = c->end;

	// no bytes at all would be read as a struct without a size
	if (size == 0 || size > pd_cursor_left(c)) {
		pd_cursor_fail(c, size ? "extends past the end" : "is empty");
		return;
	}
	c->end = c->at + size;
	take_part(c, s, id, out);
	c->end = end;
	if (c->failed)
		c->at = end;
}

// To the end, however many there are.
static void take_open_list(struct pd_cursor *c, struct pd_scope *s, const struct shape *layout, struct pd_list *out)
{
	uint8_t *items = NULL;
	size_t count = 0, capacity = 0;

	while (pd_cursor_left(c) && !c->failed) {
		if (count == capacity) {
			size_t more = capacity ? capacity * 2 : 8;
			uint8_t *grown = pd_arena_alloc(s->arena, more * layout->struct_size);

			if (!grown) {
				pd_cursor_fail_memory(c);
				break;
			}
			if (count)
				memcpy(grown, items, count * layout->struct_size);
			items = grown;
			capacity = more;
		}
		layout->decode(c, s, items + count * layout->struct_size);
		count++;
	}
	out->items = items;
	out->count = c->failed ? 0 : count;
	out->stride = layout->struct_size;
}

static void take_list(struct pd_cursor *c, struct pd_scope *s, uint64_t count, enum pd_layout_id id,
		      struct pd_list *out)
{
	const struct shape *layout = &shapes[id];
	size_t min_size = layout->min_size ? layout->min_size : 1;
	uint8_t *items;

	if (count == ALL_THAT_FOLLOW) {
		take_open_list(c, s, layout, out);
		return;
	}
	if (!count || !pd_cursor_count(c, count, min_size))
		return;
	if (layout->plain && !c->swap && !c->big && (uintptr_t)c->at % 8 == 0) {
		out->items = pd_cursor_take(c, count * min_size);
		out->count = (size_t)count;
		out->stride = layout->struct_size;
		return;
	}
	items = pd_arena_alloc(s->arena, (size_t)count * layout->struct_size);
	if (!items) {
		pd_cursor_fail_memory(c);
		return;
	}
	for (size_t i = 0; i < count && !c->failed; i++)
		layout->decode(c, s, items + i * layout->struct_size);
	out->items = items;
	out->count = c->failed ? 0 : (size_t)count;
	out->stride = layout->struct_size;
}

static void take_rest(struct pd_cursor *c, struct pd_bytes *out)
{
	out->size = pd_cursor_left(c);
	out->data = out->size ? c->at : NULL;
	c->at = c->end;
}

#define BLAME(member)                                     \
	if (PD_UNLIKELY(c->failed)) {                     \
		pd_cursor_blame(c, layout_name, #member); \
		return;                                   \
	}

#define OPEN(layout, with_rest)                                                        \
	void pd_decode_##layout(struct pd_cursor *c, struct pd_scope *s, void *memory) \
	{                                                                              \
		enum {                                                                 \
			HAS_REST = (with_rest)                                         \
		};                                                                     \
		static const char layout_name[] = #layout;                             \
		struct pd_##layout *it = memory;                                       \
                                                                                       \
		(void)s;                                                               \
		(void)it;                                                              \
		(void)layout_name;
#define PART(layout, doc) OPEN(layout, 0)
#define BOX(layout, doc) OPEN(layout, 1)
#define BODY(layout, doc) OPEN(layout, 1)
// `rest` is the first member of those that have one
#define END(layout)                   \
	if (HAS_REST)                 \
		take_rest(c, memory); \
	}
#define FIELD(KIND, member, SHOW, WHEN, doc) \
	if (WHEN_##WHEN) {                   \
		it->member = GET_##KIND(c);  \
		BLAME(member)                \
	}
#define FLAGS(KIND, member, set, WHEN, doc)                                                                          \
	if (WHEN_##WHEN) {                                                                                           \
		it->member = GET_##KIND(c);                                                                          \
		BLAME(member)                                                                                        \
		if (c->big)                                                                                          \
			it->member = (PD_TYPE_##KIND)pd_bits_from_big(&pd_names_##set, it->member, WIRE_##KIND * 8); \
	}
#define TEXT(KIND, member, WHEN, doc)           \
	if (WHEN_##WHEN) {                      \
		take_##KIND(c, s, &it->member); \
		BLAME(member)                   \
	}
#define CHARS(member, bytes, FIT, WHEN, doc)                \
	if (WHEN_##WHEN) {                                  \
		uint64_t size = (bytes);                    \
                                                            \
		if (!FIT_##FIT && size > pd_cursor_left(c)) \
			size = pd_cursor_left(c);           \
		take_chars(c, s, size, &it->member);        \
		BLAME(member)                               \
	}
#define ARRAY(KIND, member, COUNT, SHOW, WHEN, doc)          \
	if (WHEN_##WHEN) {                                   \
		uint64_t count = COUNT_##COUNT;              \
                                                             \
		TAKE_ARRAY_##KIND(c, s, count, &it->member); \
		BLAME(member)                                \
	}
#define ONE(layout, member, WHEN, doc)                      \
	if (WHEN_##WHEN) {                                  \
		const void *part = NULL;                    \
                                                            \
		take_part(c, s, PD_LAYOUT_##layout, &part); \
		it->member = part;                          \
		BLAME(member)                               \
	}
#define AGAIN(layout, member, WHEN, doc) ONE(layout, member, WHEN, doc)
#define BOXED(layout, member, SIZE, WHEN, doc)                   \
	if (WHEN_##WHEN) {                                       \
		uint64_t size = BOX_##SIZE;                      \
		const void *part = NULL;                         \
                                                                 \
		take_box(c, s, size, PD_LAYOUT_##layout, &part); \
		it->member = part;                               \
		BLAME(member)                                    \
	}
#define LIST(layout, member, COUNT, WHEN, doc)                           \
	if (WHEN_##WHEN) {                                               \
		uint64_t count = COUNT_##COUNT;                          \
                                                                         \
		take_list(c, s, count, PD_LAYOUT_##layout, &it->member); \
		BLAME(member)                                            \
	}
#define RECORDS(member, NAME, doc) take_rest(c, &it->member);
#define SIZED() it->wire_size = pd_cursor_left(c) > UINT32_MAX ? UINT32_MAX : (uint32_t)pd_cursor_left(c);
#define MORE(member, NEED) it->member = NEED_##NEED;
#define SET(WORD, member) WORD_OF(WORD) = it->member;
#define ORDER(member)             \
	c->big = it->member != 0; \
	c->swap = c->big != PD_HOST_BIG;
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>
