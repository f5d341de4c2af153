/* SPDX-License-Identifier: MIT */
#include "mutate.h"

#include <string.h>

#include "ranges.h"
#include "stream/read/stream.h"
#include "walk.h"

// A struct in the file, and what it is read with.
struct piece {
	size_t at, size;
	const struct pd_layout *layout; // NULL: unknown, or there is none
	enum pd_record_group group;     // PD_GROUP_UNKNOWN for attrs and features
	uint32_t type;
	uint64_t words[PD_WORD_COUNT];
};

struct image {
	uint8_t *data;
	size_t size, max_size;
	uint64_t random;
	struct pd_header header;
	struct piece record;
	struct piece other; // a feature or an attr
	bool found;         // the file could be opened
};

static uint64_t next_random(struct image *image)
{
	uint64_t x = image->random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static size_t below(struct image *image, size_t limit)
{
	return limit ? (size_t)(next_random(image) % limit) : 0;
}

// ---- numbers ----

static uint64_t load(const uint8_t *at, size_t size, bool big)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)at[big ? size - 1 - i : i] << 8 * i;
	return value;
}

static void store(uint8_t *at, size_t size, bool big, uint64_t value)
{
	for (size_t i = 0; i < size; i++)
		at[big ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static uint64_t hurting(struct image *image, uint64_t old, size_t bytes)
{
	static const uint64_t values[] = {
		0,
		1,
		2,
		4,
		7,
		8,
		9,
		16,
		64,
		255,
		256,
		4096,
		65528,
		65535,
		65536,
		INT32_MAX,
		UINT64_C(1) << 31,
		UINT32_MAX,
		UINT64_C(1) << 32,
		INT64_MAX,
		UINT64_C(1) << 63,
		UINT64_MAX - 7,
		UINT64_MAX,
	};
	uint64_t near[] = { old + 1, old - 1, old + 8, old - 8, old * 2, old / 2, ~old, 0 - old };
	uint64_t mark = below(image, 3) ? image->record.size : image->size;

	switch (below(image, 5)) {
	case 0:
		return near[below(image, sizeof(near) / sizeof(near[0]))];
	case 1:
		return old ^ UINT64_C(1) << below(image, 8 * bytes);
	case 2:
		return mark + below(image, 17) - 8;
	case 3:
		return mark >> below(image, 5);
	default:
		return values[below(image, sizeof(values) / sizeof(values[0]))];
	}
}

static void hurt(struct image *image, size_t at, size_t bytes, bool big)
{
	uint8_t *number = image->data + at;

	store(number, bytes, big, hurting(image, load(number, bytes, big), bytes));
}

// ---- finding pieces ----

// One of those that come by, each with the same chance.
static bool take_this(struct image *image, size_t *seen)
{
	return below(image, ++*seen) == 0;
}

static bool is_inside(const struct image *image, uint64_t at, uint64_t size)
{
	return at <= image->size && size <= image->size - at;
}

static void find_record(struct image *image, struct pd_file *file)
{
	const struct pd_record *record;
	struct pd_stream *stream;
	size_t seen = 0;

	if (pd_stream_open(file, NULL, &stream, NULL) < 0)
		return;
	while (pd_stream_next(stream, &record, NULL) == PD_OK) {
		if (record->inner_offset != PD_NO_OFFSET || !is_inside(image, record->offset, record->bytes.size) ||
		    !take_this(image, &seen))
			continue;
		image->record = (struct piece){
			.at = (size_t)record->offset,
			.size = record->bytes.size,
			.layout = pd_record_layout(record->type),
			.group = pd_record_group(record->type),
			.type = record->type,
		};
		if (pd_record_full_event(record))
			memcpy(image->record.words, pd_record_full_event(record)->words, sizeof(image->record.words));
		image->record.words[PD_WORD_MISC] = record->misc;
	}
	pd_stream_close(stream);
}

static void find_other(struct image *image, struct pd_file *file)
{
	struct pd_feature_section section;
	const struct pd_nrcpus *nrcpus = pd_file_nrcpus(file);
	size_t seen = 0;

	for (size_t i = 0; pd_file_feature_at(file, i, &section); i++) {
		if (!pd_feature_layout(section.number) || !is_inside(image, section.offset, section.size) ||
		    !take_this(image, &seen))
			continue;
		image->other = (struct piece){
			.at = (size_t)section.offset,
			.size = (size_t)section.size,
			.layout = pd_feature_layout(section.number),
			.words = { [PD_WORD_NRCPUS] = nrcpus ? nrcpus->available : 0 },
		};
	}
	for (size_t i = 0; i < pd_file_event_count(file); i++) {
		const struct pd_event *event = pd_file_event(file, i);
		size_t size = event->attr->wire_size;

		if (is_inside(image, event->attr_offset, size) && take_this(image, &seen))
			image->other = (struct piece){
				.at = (size_t)event->attr_offset,
				.size = size,
				.layout = pd_layout_by_name("attr"),
			};
	}
}

static void find(struct image *image)
{
	struct pd_open_options options = { .size = sizeof(options),
					   .memory_limit = 64 << 20,
					   .inflate_limit = 1 << 20 };
	struct pd_file *file;

	if (pd_file_open_memory(image->data, image->size, &options, &file, NULL) < 0)
		return;
	image->found = true;
	image->header = *pd_file_header(file);
	if (!image->header.compression) {
		find_record(image, file);
		find_other(image, file);
	}
	pd_file_close(file);
}

// ---- fields ----

static void change_text(struct image *image, uint8_t *text, size_t size)
{
	switch (below(image, 3)) {
	case 0:
		text[0] = 0;
		break;
	case 1: // no end
		memset(text, 'A', size);
		break;
	default:
		text[below(image, size)] = (uint8_t)next_random(image);
		break;
	}
}

static void change_range(struct image *image, size_t start, const struct field_range *range)
{
	const struct pd_names *names = range->field->names;
	uint8_t *at = image->data + start + range->at;

	if (range->kind == RANGE_TEXT)
		change_text(image, at, range->size);
	else if (range->kind == RANGE_BYTES)
		hurt(image, start + range->at, range->size < 8 ? range->size : 8, range->big);
	else if (names && names->bits && names->count && below(image, 2))
		store(at, range->size, range->big,
		      load(at, range->size, range->big) ^
			      UINT64_C(1) << (names->items[below(image, names->count)].value % (8 * (int)range->size)));
	else
		hurt(image, start + range->at, range->size, range->big);
}

static const void *decode(const struct image *image, const struct piece *piece, struct pd_scope *scope)
{
	struct pd_bytes bytes = { image->data + piece->at, piece->size };
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, image->header.big_endian);
	void *out;

	memcpy(scope->words, piece->words, sizeof(scope->words));
	if (piece->group)
		return pd_record_take(piece->layout, piece->group, bytes, scope, &c);
	out = pd_arena_alloc(scope->arena, piece->layout->struct_size);
	if (out)
		piece->layout->decode(&c, scope, out);
	return c.failed ? NULL : out;
}

static bool change_field(struct image *image, const struct piece *piece)
{
	struct pd_arena arena = { .limit = 64 << 20 };
	struct pd_scope scope = { .arena = &arena };
	struct field_ranges ranges = { .big = image->header.big_endian };
	const void *decoded = piece->layout && piece->size ? decode(image, piece, &scope) : NULL;

	if (decoded) {
		memcpy(ranges.scope.words, piece->words, sizeof(ranges.scope.words));
		field_ranges_find(&ranges, piece->layout, decoded);
		// every decoded byte has its place
		REQUIRE(ranges.at + (piece->group ?
					     PD_RECORD_HEADER_SIZE + pd_trailer_size(scope.words[PD_WORD_TRAILER]) *
									     (piece->group == PD_GROUP_KERNEL) :
					     0) ==
			piece->size);
	}
	if (ranges.count)
		change_range(image, piece->at + (piece->group ? PD_RECORD_HEADER_SIZE : 0),
			     &ranges.items[below(image, ranges.count)]);
	pd_arena_fini(&arena);
	return ranges.count;
}

static bool change_record_field(struct image *image)
{
	return change_field(image, &image->record);
}

static bool change_other_field(struct image *image)
{
	return change_field(image, &image->other);
}

static bool change_header(struct image *image)
{
	if (image->size < 104)
		return false;
	hurt(image, 8 + 8 * below(image, 12), 8, image->header.big_endian);
	return true;
}

// ---- records ----

static void move_offset(struct image *image, size_t word_at, size_t from, size_t delta)
{
	bool big = image->header.big_endian;
	uint64_t offset;

	if (!is_inside(image, word_at, 8))
		return;
	offset = load(image->data + word_at, 8, big);
	if (offset > from && offset <= image->size + (size_t)1)
		store(image->data + word_at, 8, big, offset + delta);
}

// Takes bytes out or puts zeros in, and mostly lets the header know.
static bool splice(struct image *image, size_t at, size_t remove, size_t insert)
{
	const struct pd_header *header = &image->header;
	size_t delta = insert - remove, table = (size_t)(header->data_offset + header->data_size) + delta;

	if (insert > remove && insert - remove > image->max_size - image->size)
		return false;
	memmove(image->data + at + insert, image->data + at + remove, image->size - at - remove);
	memset(image->data + at, 0, insert);
	image->size += delta;
	if (header->mode == PD_MODE_PIPE || !header->data_size || image->size < 104 || !below(image, 4))
		return true;
	store(image->data + 48, 8, header->big_endian, header->data_size + delta);
	for (size_t word = 24; word <= 56; word += 16)
		move_offset(image, word, at, delta);
	for (unsigned i = 0; i < 256; i++) {
		if (!(header->feature_bits[i / 64] >> i % 64 & 1))
			continue;
		move_offset(image, table, at, delta);
		table += 16;
	}
	return true;
}

static bool remove_record(struct image *image)
{
	return image->record.size && splice(image, image->record.at, image->record.size, 0);
}

static bool double_record(struct image *image)
{
	size_t at = image->record.at, size = image->record.size;

	if (!size || !splice(image, at, 0, size))
		return false;
	memcpy(image->data + at, image->data + at + size, size);
	return true;
}

// With the one after it.
static bool swap_records(struct image *image)
{
	size_t at = image->record.at, size = image->record.size, next;
	uint8_t kept[65536];

	if (!size || size > sizeof(kept) || !is_inside(image, at + size, PD_RECORD_HEADER_SIZE))
		return false;
	next = (size_t)pd_record_head(image->data + at + size, image->header.big_endian != PD_HOST_BIG).size;
	if (!next || !is_inside(image, at + size, next))
		return false;
	memcpy(kept, image->data + at, size);
	memmove(image->data + at, image->data + at + size, next);
	memcpy(image->data + at + next, kept, size);
	return true;
}

static bool resize_record(struct image *image)
{
	struct piece *record = &image->record;
	size_t step = 8 << below(image, 4);

	if (!record->size)
		return false;
	if (below(image, 2)) {
		if (!splice(image, record->at + record->size, 0, step))
			return false;
		record->size += step;
	} else {
		if (record->size <= step + PD_RECORD_HEADER_SIZE ||
		    !splice(image, record->at + record->size - step, step, 0))
			return false;
		record->size -= step;
	}
	store(image->data + record->at + 6, 2, image->header.big_endian, record->size);
	return true;
}

static bool change_head(struct image *image)
{
	uint8_t *at = image->data + image->record.at;
	bool big = image->header.big_endian;
	uint32_t type;

	if (!image->record.size)
		return false;
	switch (below(image, 4)) {
	case 0:
		if (pd_record_type_at(below(image, 60), &type))
			store(at, 4, big, type);
		break;
	case 1:
		store(at + 4, 2, big, load(at + 4, 2, big) ^ 1u << below(image, 16));
		break;
	case 2:
		hurt(image, image->record.at + 6, 2, big);
		break;
	default:
		hurt(image, image->record.at, 4, big);
		break;
	}
	return true;
}

static bool cut_file(struct image *image)
{
	image->size = below(image, image->size + 1);
	return true;
}

static bool change_bytes(struct image *image)
{
	image->size = LLVMFuzzerMutate(image->data, image->size, image->max_size);
	return true;
}

size_t mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static bool (*const ways[])(struct image * image) = {
		change_record_field, change_record_field, change_record_field, change_record_field, change_other_field,
		change_other_field,  change_other_field,  change_header,       remove_record,       double_record,
		swap_records,        resize_record,       change_head,         change_head,         cut_file,
		change_bytes,        change_bytes,
	};
	struct image image = { .data = data, .size = size, .max_size = max_size, .random = seed };

	find(&image);
	if (image.found && !image.header.compression)
		for (unsigned tries = 0; tries < 4; tries++)
			if (ways[below(&image, sizeof(ways) / sizeof(ways[0]))](&image))
				return image.size ? image.size : 1;
	return LLVMFuzzerMutate(data, size, max_size);
}
