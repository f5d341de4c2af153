/* SPDX-License-Identifier: MIT */
/*
 * BTF as linux/btf.h lays it out: a header, types, texts. It is in the byte order of the recorder
 * and nothing in it is trusted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lookup/search.h"
#include "base/memory.h"
#include "header/btf.h"

enum {
	MAGIC = 0xeb9f,
	TYPE_SIZE = 12, /* of what every type begins with: name, info, size or type */
	KIND_ENUM = 6,
	KIND_ENUM64 = 19,
	ENUM64_SIZE = 12 /* of each of its words */
};

/* Bytes after that: some for the type, some for each of its members. By kind. */
static const struct {
	uint8_t fixed;
	uint8_t each;
} kind_sizes[32] = {
	[1] = { 4, 0 },   /* int */
	[3] = { 12, 0 },  /* array */
	[4] = { 0, 12 },  /* struct */
	[5] = { 0, 12 },  /* union */
	[6] = { 0, 8 },   /* enum */
	[13] = { 0, 8 },  /* prototype of a function */
	[14] = { 4, 0 },  /* variable */
	[15] = { 0, 12 }, /* section of data */
	[17] = { 4, 0 },  /* tag of a declaration */
	[19] = { 0, 12 }, /* enum of 64 bits */
};

struct entry {
	uint32_t number;
	size_t place; /* in the list of the file */
	struct pd_bytes types;
	struct pd_bytes texts;
	uint32_t *offsets; /* of the types, once they are known */
	size_t type_count;
};

struct pd_btf_set {
	bool big;
	size_t count;
	struct entry *entries;
};

uint64_t pd_btf_word(struct pd_bytes bytes, uint64_t offset, unsigned size, bool big)
{
	uint64_t number = 0;

	if (offset > bytes.size || bytes.size - offset < size)
		return 0;
	for (unsigned i = 0; i < size; i++)
		number |= (uint64_t)bytes.data[offset + i] << 8 * (big ? size - 1 - i : i);
	return number;
}

struct pd_bytes pd_btf_bytes(struct pd_bytes bytes, uint64_t offset, uint64_t size)
{
	struct pd_bytes piece = { bytes.data, 0 };

	if (offset <= bytes.size) {
		piece.data += offset;
		piece.size = bytes.size - (size_t)offset;
	}
	if (piece.size > size)
		piece.size = (size_t)size;
	return piece;
}

static int compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* Empty ones of what is no BTF. */
static void find_parts(struct pd_bytes data, bool big, struct pd_bytes *types_out, struct pd_bytes *texts_out)
{
	uint64_t start = pd_btf_word(data, 4, 4, big);

	if (pd_btf_word(data, 0, 2, big) != MAGIC)
		return;
	*types_out = pd_btf_bytes(data, start + pd_btf_word(data, 8, 4, big), pd_btf_word(data, 12, 4, big));
	*texts_out = pd_btf_bytes(data, start + pd_btf_word(data, 16, 4, big), pd_btf_word(data, 20, 4, big));
}

static void fill(struct entry *entry, const struct pd_btf *btf, size_t place, bool big)
{
	entry->number = btf->id;
	entry->place = place;
	find_parts(btf->data, big, &entry->types, &entry->texts);
}

struct pd_btf_set *pd_btf_new(const struct pd_bpf_btf *btf, bool big)
{
	size_t count = btf ? btf->btfs.count : 0;
	struct pd_btf_set *set = pd_alloc(sizeof(*set));

	if (set)
		set->entries = pd_alloc((count ? count : 1) * sizeof(*set->entries));
	if (!set || !set->entries) {
		pd_free(set);
		return NULL;
	}
	set->big = big;
	for (size_t i = 0; i < count; i++)
		fill(&set->entries[i], PD_ITEM(pd_btf, btf->btfs, i), i, big);
	qsort(set->entries, count, sizeof(*set->entries), compare);
	for (size_t i = 0; i < count; i++) {
		if (!i || set->entries[i].number != set->entries[i - 1].number)
			set->entries[set->count++] = set->entries[i];
	}
	return set;
}

void pd_btf_free(struct pd_btf_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->count; i++)
		pd_free(set->entries[i].offsets);
	pd_free(set->entries);
	pd_free(set);
}

size_t pd_btf_count(const struct pd_btf_set *set)
{
	return set->count;
}

uint32_t pd_btf_number(const struct pd_btf_set *set, size_t index)
{
	return set->entries[index].number;
}

bool pd_btf_find(const struct pd_btf_set *set, uint32_t number, size_t *index_out)
{
	size_t at;

	PD_SEARCH(at, 0, set->count, i, set->entries[i].number < number);
	*index_out = at;
	return at < set->count && set->entries[at].number == number;
}

static size_t size_of_type(struct pd_bytes types, size_t offset, bool big)
{
	uint64_t info = pd_btf_word(types, offset + 4, 4, big);
	unsigned kind = info >> 24 & 31;

	return TYPE_SIZE + kind_sizes[kind].fixed + kind_sizes[kind].each * (size_t)(info & 0xffff);
}

/* Notes where each type begins. Without memory there are no types. */
static void find_types(struct entry *entry, bool big)
{
	size_t most = entry->types.size / TYPE_SIZE;

	entry->offsets = pd_alloc((most ? most : 1) * sizeof(*entry->offsets));
	for (size_t at = 0; entry->offsets && at + TYPE_SIZE <= entry->types.size;) {
		entry->offsets[entry->type_count++] = (uint32_t)at;
		at += size_of_type(entry->types, at, big);
	}
}

/* Up to its NUL; empty without one. */
static struct pd_bytes text_at(struct pd_bytes texts, uint64_t offset)
{
	struct pd_bytes text = pd_btf_bytes(texts, offset, UINT64_MAX);
	const uint8_t *end = text.size ? memchr(text.data, '\0', text.size) : NULL;

	text.size = end ? (size_t)(end - text.data) : 0;
	return text;
}

struct pd_bytes pd_btf_type_name(struct pd_btf_set *set, size_t index, uint64_t type)
{
	struct entry *entry = &set->entries[index];

	if (!entry->offsets)
		find_types(entry, set->big);
	/* Type 0 is void and stands nowhere. */
	if (!type || type > entry->type_count)
		return (struct pd_bytes){ NULL, 0 };
	return text_at(entry->texts, pd_btf_word(entry->types, entry->offsets[type - 1], 4, set->big));
}

static unsigned kind_of_type(struct pd_bytes types, size_t offset, bool big)
{
	return pd_btf_word(types, offset + 4, 4, big) >> 24 & 31;
}

uint64_t pd_btf_enum_find(struct pd_bytes btf, bool big, const char *name)
{
	struct pd_bytes types = { NULL, 0 }, texts = { NULL, 0 };
	size_t length = strlen(name);

	find_parts(btf, big, &types, &texts);
	for (size_t at = 0; at + TYPE_SIZE <= types.size; at += size_of_type(types, at, big)) {
		unsigned kind = kind_of_type(types, at, big);
		struct pd_bytes text;

		if (kind != KIND_ENUM && kind != KIND_ENUM64)
			continue;
		text = text_at(texts, pd_btf_word(types, at, 4, big));
		if (text.size == length && !memcmp(text.data, name, length))
			return at + 1;
	}
	return 0;
}

struct pd_bytes pd_btf_enum_word(struct pd_bytes btf, bool big, uint64_t place, uint64_t value)
{
	struct pd_bytes types = { NULL, 0 }, texts = { NULL, 0 };
	size_t at = (size_t)place - 1, each;
	uint64_t count;

	find_parts(btf, big, &types, &texts);
	each = kind_sizes[kind_of_type(types, at, big)].each;
	count = each ? pd_btf_word(types, at + 4, 4, big) & 0xffff : 0;
	for (size_t item = at + TYPE_SIZE; count--; item += each) {
		uint64_t is = pd_btf_word(types, item + 4, 4, big);

		if (each == ENUM64_SIZE)
			is |= pd_btf_word(types, item + 8, 4, big) << 32;
		if (is == (each == ENUM64_SIZE ? value : (uint32_t)value))
			return text_at(texts, pd_btf_word(types, item, 4, big));
	}
	return (struct pd_bytes){ NULL, 0 };
}
