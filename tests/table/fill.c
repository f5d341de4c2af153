/* SPDX-License-Identifier: MIT */
/*
 * A struct is filled line by line, as a decoder would. What a line says of those after it is
 * finalized in one of three ways: a member that counts or chooses gets a value that is fit for it;
 * the size of a box is set once the box is filled; and whether more follows is a wish that is
 * looked at when all is there. A wish that cannot be had (bytes that are left over would count as
 * more) throws the struct away.
 */
#include "fill.h"

#include <stdio.h>
#include <stdlib.h>

#include "deep.h"
#include "format/encode.h"

enum {
	ANY_SIZE = 0, // of a box
	MOST_ITEMS = 5,
	MOST_TRIES = 200,
};

struct making {
	struct filler *filler;
	const struct pd_layout *layout;
	const struct pd_field *fields;
	size_t count;
	uint8_t *out;
	size_t box;   // bytes of a layout that keeps its size, else 0
	size_t used;  // of these
	bool closed;  // a line took all that was left
	size_t slack; // most bytes that may be left over although it is closed
};

static void *allocate(struct filler *filler, size_t size)
{
	void *memory = pd_arena_alloc(&filler->arena, size ? size : 1);

	if (!memory) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	return memory;
}

static void fill_bytes(struct filler *filler, uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)random_next(&filler->random);
}

static uint64_t mask_of_few(struct random *random)
{
	uint64_t mask = random_next(random) & random_next(random) & random_next(random);

	return random_once_in(random, 16) ? UINT64_MAX : random_once_in(random, 4) ? 0 : mask;
}

static uint64_t word_value(struct random *random, enum pd_word word)
{
	switch (word) {
	case PD_WORD_MISC:
		return random_below(random, 65536);
	case PD_WORD_SAMPLE_TYPE:
	case PD_WORD_TRAILER:
		return random_next(random) & (random_once_in(random, 2) ? UINT64_MAX : random_next(random));
	case PD_WORD_READ_FORMAT:
		return random_below(random, 32);
	case PD_WORD_BRANCH_TYPE:
		return random_next(random);
	case PD_WORD_REGS_USER:
	case PD_WORD_REGS_INTR:
		return mask_of_few(random);
	case PD_WORD_NRCPUS:
		return random_below(random, 5);
	case PD_WORD_ATTR_SIZE:
		return PD_MIN_attr + random_below(random, 100);
	case PD_WORD_QUIRKS:
		return random_below(random, 16);
	case PD_WORD_SCHEDSTAT:
		return 14 + random_below(random, 5);
	default:
		return random_below(random, 2);
	}
}

void fill_scope(struct filler *filler)
{
	for (unsigned word = 0; word < PD_WORD_COUNT; word++)
		filler->scope.words[word] = word_value(&filler->random, word);
}

// ---- numbers ----

static void set_member(uint8_t *out, size_t offset, size_t size, uint64_t value)
{
	uint8_t v1 = (uint8_t)value;
	uint16_t v2 = (uint16_t)value;
	uint32_t v4 = (uint32_t)value;

	memcpy(out + offset,
	       size == 1 ? (void *)&v1 :
	       size == 2 ? (void *)&v2 :
	       size == 4 ? (void *)&v4 :
			   &value,
	       size);
}

static bool is_counted_by(const struct pd_field *line, const struct pd_field *member)
{
	const struct pd_counting *count = &line->count;

	return count->offset == member->offset && count->size &&
	       (count->op == PD_COUNT_MEMBER || count->op == PD_COUNT_BITS_OF || count->op == PD_COUNT_BITMAP);
}

static bool is_chosen_by(const struct pd_field *line, const struct pd_field *member)
{
	const struct pd_when *when = &line->when;

	return (when->op == PD_WHEN_IS || when->op == PD_WHEN_NOT || when->op == PD_WHEN_LEAST) &&
	       when->offset == member->offset;
}

static uint64_t count_value(struct random *random, enum pd_count_op op)
{
	if (op == PD_COUNT_BITS_OF)
		return mask_of_few(random);
	return random_below(random, op == PD_COUNT_BITMAP ? 200 : MOST_ITEMS + 1);
}

// A value that the lines after the member can live with.
static uint64_t number_value(struct making *making, const struct pd_field *member)
{
	struct random *random = &making->filler->random;
	const struct pd_field *chooser = NULL;
	unsigned choosers = 0;

	for (size_t i = 0; i < making->count; i++) {
		const struct pd_field *line = &making->fields[i];

		if (is_counted_by(line, member))
			return count_value(random, line->count.op);
		if (line->line == PD_LINE_SET && line->offset == member->offset)
			return word_value(random, line->word);
		if (is_chosen_by(line, member) && random_once_in(random, ++choosers))
			chooser = line;
	}
	if (chooser && !random_once_in(random, 5))
		return chooser->when.want + random_below(random, 2);
	return random_number(random);
}

// ---- texts ----

static const char *text_data(struct filler *filler, size_t length, size_t size)
{
	uint8_t *data = allocate(filler, size + 1);

	fill_bytes(filler, data, size);
	for (size_t i = 0; i < length; i++)
		data[i] = (uint8_t)(1 + random_below(&filler->random, 255));
	data[length] = 0;
	return (const char *)data;
}

static void fill_text(struct making *making, const struct pd_field *field, struct pd_str *out)
{
	struct random *random = &making->filler->random;
	size_t length = random_below(random, random_once_in(random, 10) ? 200 : 20);
	size_t size = length + 1;

	if (field->kind == PD_KIND_STR0) {
		size += random_below(random, 16);
		making->closed = true;
	} else if (field->kind == PD_KIND_PSTR) {
		// any size is legal: none, without room for a NUL, padded
		size = random_once_in(random, 8) ? 0 : length + random_below(random, 70);
		length = length < size ? length : size;
	}
	*out = (struct pd_str){ text_data(making->filler, length, size), (uint32_t)length, (uint32_t)size };
}

static void fill_chars(struct making *making, const struct pd_field *field, struct pd_str *out)
{
	struct random *random = &making->filler->random;
	size_t size = field->count.value;
	bool may_be_cut = !field->count.word;
	size_t length;

	if (may_be_cut && random_once_in(random, 2)) {
		size = random_below(random, size);
		making->closed = true;
		making->slack = 0;
	}
	length = random_below(random, size + 1);
	*out = (struct pd_str){ text_data(making->filler, length, size), (uint32_t)length, (uint32_t)size };
}

// ---- arrays, parts and lists ----

static size_t item_count(struct making *making, const struct pd_field *field)
{
	const struct pd_counting *count = &field->count;
	const struct pd_scope *scope = &making->filler->scope;
	struct random *random = &making->filler->random;
	uint64_t member = pd_member(making->out, count->offset, count->size);

	switch (count->op) {
	case PD_COUNT_MEMBER:
		return (size_t)member;
	case PD_COUNT_FIXED:
		return count->value;
	case PD_COUNT_POPCOUNT:
		return (size_t)__builtin_popcountll(scope->words[count->word]);
	case PD_COUNT_BITS_OF:
		return (size_t)__builtin_popcountll(member);
	case PD_COUNT_WORD:
		return (size_t)scope->words[count->word];
	case PD_COUNT_BITMAP:
		return (size_t)((member + 63) / 64);
	default: // LEADING and REST
		return (size_t)random_below(
			random, field->line == PD_LINE_ARRAY && random_once_in(random, 20) ? 300 : MOST_ITEMS + 1);
	}
}

static void fill_array(struct making *making, const struct pd_field *field)
{
	size_t width = deep_kind_size(field->kind);
	size_t count = item_count(making, field);
	uint8_t *items = allocate(making->filler, count * width);
	struct pd_bytes array = { items, count };

	fill_bytes(making->filler, items, count * width);
	memcpy(making->out + field->offset, &array, sizeof(array));
	if (field->count.op == PD_COUNT_REST) {
		making->closed = true;
		making->slack = width - 1;
	}
}

static void fill_struct(struct filler *filler, const struct pd_layout *layout, uint8_t *out, size_t box);

static void fill_list(struct making *making, const struct pd_field *field)
{
	struct filler *filler = making->filler;
	// readers must step by the stride, not by the size they know
	size_t stride = field->part->struct_size + (random_once_in(&filler->random, 4) ? 16 : 0);
	size_t count = item_count(making, field);
	uint8_t *items = allocate(filler, count * stride);
	struct pd_list list = { items, count, stride };

	for (size_t i = 0; i < count; i++)
		fill_struct(filler, field->part, items + i * stride, ANY_SIZE);
	memcpy(making->out + field->offset, &list, sizeof(list));
	if (field->count.op == PD_COUNT_REST)
		making->closed = true;
}

static void fill_part(struct making *making, const struct pd_field *field, size_t box)
{
	void *part = allocate(making->filler, field->part->struct_size);

	fill_struct(making->filler, field->part, part, box);
	memcpy(making->out + field->offset, &part, sizeof(part));
}

static size_t size_of_part(struct making *making, const struct pd_field *field)
{
	struct pd_scope scope = making->filler->scope;

	return deep_line_size(field, making->out, &scope).size;
}

static void fill_boxed(struct making *making, const struct pd_field *field)
{
	struct filler *filler = making->filler;
	const struct pd_counting *count = &field->count;
	struct pd_attr *attr;
	size_t size;

	if (count->op == PD_COUNT_WORD) {
		fill_part(making, field, (size_t)filler->scope.words[count->word]);
	} else if (count->op == PD_COUNT_MEMBER) {
		fill_part(making, field, ANY_SIZE);
		set_member(making->out, count->offset, count->size, size_of_part(making, field));
	} else {
		size = PD_MIN_attr + 8 * random_below(&filler->random, 12);
		fill_part(making, field, size);
		memcpy(&attr, making->out + field->offset, sizeof(attr));
		attr->size = (uint32_t)(size - random_below(&filler->random, 8));
		if (size == PD_MIN_attr)
			attr->size = random_once_in(&filler->random, 2) ? 0 : PD_MIN_attr;
	}
}

static void fill_records(struct making *making, const struct pd_field *field)
{
	size_t size = random_below(&making->filler->random, 100);
	uint8_t *data = allocate(making->filler, size);
	struct pd_bytes bytes = { data, size };

	fill_bytes(making->filler, data, size);
	memcpy(making->out + field->offset, &bytes, sizeof(bytes));
	making->closed = true;
}

// ---- structs ----

// A size at, below or above a place where a member begins to be there.
static size_t box_size(struct making *making)
{
	struct random *random = &making->filler->random;
	size_t size = making->layout->min_size, seen = 0;

	for (size_t i = 0; i < making->count; i++) {
		const struct pd_when *when = &making->fields[i].when;

		if (when->op == PD_WHEN_SINCE && random_once_in(random, ++seen))
			size = (size_t)when->want;
	}
	if (random_once_in(random, 2))
		size += random_below(random, 12);
	if (size < making->layout->min_size || size == 0)
		size = making->layout->min_size + 1;
	return size;
}

// The member wire_size, which only layouts with SINCE lines have.
static const struct pd_when *find_wire_size(const struct making *making)
{
	for (size_t i = 0; i < making->count; i++)
		if (making->fields[i].when.op == PD_WHEN_SINCE)
			return &making->fields[i].when;
	return NULL;
}

static void fill_more(struct making *making, const struct pd_field *field)
{
	// in a box of known size it is no wish
	size_t left = making->box ? making->box - making->used : SIZE_MAX / 2;
	bool more = deep_more(field, making->out, &making->filler->scope, left);

	if (!making->box && (making->closed || random_once_in(&making->filler->random, 2)))
		more = false;
	set_member(making->out, field->offset, field->size, more);
}

static void fill_line(struct making *making, const struct pd_field *field)
{
	uint8_t *at = making->out + field->offset;

	switch (field->line) {
	case PD_LINE_FIELD:
	case PD_LINE_FLAGS:
		set_member(making->out, field->offset, field->size, number_value(making, field));
		break;
	case PD_LINE_TEXT:
		fill_text(making, field, (struct pd_str *)(void *)at);
		break;
	case PD_LINE_CHARS:
		fill_chars(making, field, (struct pd_str *)(void *)at);
		break;
	case PD_LINE_ARRAY:
		fill_array(making, field);
		break;
	case PD_LINE_ONE:
	case PD_LINE_AGAIN:
		fill_part(making, field, ANY_SIZE);
		break;
	case PD_LINE_BOXED:
		fill_boxed(making, field);
		break;
	case PD_LINE_LIST:
		fill_list(making, field);
		break;
	case PD_LINE_RECORDS:
		fill_records(making, field);
		break;
	case PD_LINE_MORE:
		fill_more(making, field);
		break;
	case PD_LINE_SET:
		making->filler->scope.words[field->word] = pd_member(making->out, field->offset, field->size);
		break;
	default:
		break;
	}
}

static void fill_rest(struct making *making)
{
	struct filler *filler = making->filler;
	struct pd_bytes *rest = (struct pd_bytes *)(void *)making->out;
	uint8_t *data;

	if (making->layout->form == PD_FORM_PART)
		return;
	if (making->box)
		rest->size = making->box - making->used;
	else if (making->closed)
		rest->size = making->slack ? random_below(&filler->random, making->slack + 1) : 0;
	else
		rest->size = random_once_in(&filler->random, 4) ? 1 + random_below(&filler->random, 24) : 0;
	if (!rest->size)
		return;
	data = allocate(filler, rest->size);
	fill_bytes(filler, data, rest->size);
	rest->data = data;
}

// Whether each MORE line says what a decoder would find.
static bool more_is_true(struct making *making, const struct pd_scope *begin)
{
	struct pd_scope scope = *begin;
	size_t size = deep_size(making->layout, making->out, &scope).size;
	size_t used = 0;

	scope = *begin;
	for (size_t i = 0; i < making->count; i++) {
		const struct pd_field *field = &making->fields[i];

		if (field->line == PD_LINE_MORE && deep_more(field, making->out, &scope, size - used) !=
							   (pd_member(making->out, field->offset, field->size) != 0))
			return false;
		if (pd_when_holds(&field->when, &scope, making->out))
			used += deep_line_size(field, making->out, &scope).size;
	}
	return true;
}

static bool try_to_fill(struct making *making)
{
	struct pd_scope begin = making->filler->scope;

	for (size_t i = 0; i < making->count; i++) {
		const struct pd_field *field = &making->fields[i];

		if (!pd_when_holds(&field->when, &making->filler->scope, making->out))
			continue;
		fill_line(making, field);
		if (making->box)
			making->used += size_of_part(making, field);
	}
	fill_rest(making);
	return more_is_true(making, &begin);
}

static void fill_struct(struct filler *filler, const struct pd_layout *layout, uint8_t *out, size_t box)
{
	struct pd_scope begin = filler->scope;

	for (unsigned try = 0; try < MOST_TRIES; try++) {
		struct making making = { .filler = filler, .layout = layout, .out = out };
		const struct pd_when *wire_size;

		making.fields = layout->fields(&making.count);
		filler->scope = begin;
		memset(out, 0, layout->struct_size);
		wire_size = find_wire_size(&making);
		if (wire_size) {
			making.box = box ? box : box_size(&making);
			set_member(out, wire_size->offset, wire_size->size, making.box);
		}
		if (try_to_fill(&making))
			return;
		filler->retries++;
	}
	fprintf(stderr, "%s: no struct in %d tries\n", layout->name, MOST_TRIES);
	exit(1);
}

void *fill_layout(struct filler *filler, const struct pd_layout *layout)
{
	void *out = allocate(filler, layout->struct_size);

	fill_struct(filler, layout, out, ANY_SIZE);
	return out;
}

void fill_reset(struct filler *filler)
{
	pd_arena_reset(&filler->arena);
}
