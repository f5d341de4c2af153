/* SPDX-License-Identifier: MIT */
/*
 * The headers of a tar file: ustar, those of GNU with long names, and pax. Each one moves the reader on by a block at
 * least; what stands in them is held against the bytes that are there.
 */
#include "file/archive.h"

#include <inttypes.h>
#include <string.h>

enum {
	EXTRA_MOST = 1 << 20,   // bytes of a pax header or of a long name
	EXTENTS_MOST = 1 << 16, // of a sparse file
	NAME_AT = 0,
	NAME_SIZE = 100,
	SIZE_AT = 124,
	SIZE_SIZE = 12,
	TIME_AT = 136,
	TIME_SIZE = 12,
	SUM_AT = 148,
	SUM_SIZE = 8,
	TYPE_AT = 156,
	TARGET_AT = 157,
	MAGIC_AT = 257,
	PREFIX_AT = 345,
	PREFIX_SIZE = 155
};

// More than an object can leave out; reading holes takes time as well.
static const uint64_t holes_most = (uint64_t)4 << 30;

// What headers in front of a member say of it.
struct extra {
	const char *name, *target;
	bool has_size;
	uint64_t size;
	bool is_sparse;  // as pax 1.0 has it: the map stands in front of the data
	bool is_strange; // sparse in another way
	uint64_t real_size;
	const char *sparse_name;
};

struct listing {
	struct pd_archive *archive;
	uint8_t block[PD_TAR_BLOCK];
	uint64_t offset; // of the block
	uint64_t size;   // of what follows it
	struct extra extra;
	struct pd_error *error;
};

// ---- one block ----

// Octal digits, or a number of GNU's in base 256. False for what is none, or negative.
static bool number(const uint8_t *field, size_t size, uint64_t *out)
{
	uint64_t value = 0;
	size_t i = 0;

	if (field[0] & 0x80) {
		value = field[0] & 0x7f;
		for (i = 1; i < size; i++) {
			if (value >> 55)
				return false;
			value = value << 8 | field[i];
		}
		*out = value;
		return true;
	}
	while (i < size && field[i] == ' ')
		i++;
	for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
		value = value << 3 | (uint64_t)(field[i] - '0');
	*out = value;
	return i == size || field[i] == 0 || field[i] == ' ';
}

static bool is_zero(const uint8_t *block)
{
	for (size_t i = 0; i < PD_TAR_BLOCK; i++)
		if (block[i])
			return false;
	return true;
}

bool pd_tar_is_header(const uint8_t block[PD_TAR_BLOCK])
{
	uint64_t wanted, sum = 0;

	if (memcmp(block + MAGIC_AT, "ustar", 5) != 0 || !number(block + SUM_AT, SUM_SIZE, &wanted))
		return false;
	for (size_t i = 0; i < PD_TAR_BLOCK; i++)
		sum += i - SUM_AT < SUM_SIZE ? ' ' : block[i];
	return sum == wanted;
}

// ---- texts ----

static enum pd_status no_memory(const struct listing *l)
{
	const struct pd_arena *arena = &l->archive->arena;

	if (arena->used >= arena->limit / 2)
		return pd_fail(l->error, PD_ERROR_LIMIT, l->offset, "%s: more member names than the limit",
			       l->archive->name);
	return pd_fail_memory(l->error);
}

static const char *field_text(struct listing *l, size_t at, size_t size)
{
	return pd_arena_text(&l->archive->arena, l->block + at, strnlen((const char *)l->block + at, size));
}

// The name of a block without extra headers: GNU has other things where the prefix is.
static const char *own_name(struct listing *l)
{
	const char *prefix = (const char *)l->block + PREFIX_AT;
	size_t prefix_length = strnlen(prefix, PREFIX_SIZE), length = strnlen((const char *)l->block, NAME_SIZE);
	char text[PREFIX_SIZE + 1 + NAME_SIZE];

	if (!prefix_length || l->block[MAGIC_AT + 5] != 0)
		return field_text(l, NAME_AT, NAME_SIZE);
	memcpy(text, prefix, prefix_length);
	text[prefix_length] = '/';
	memcpy(text + prefix_length + 1, l->block + NAME_AT, length);
	return pd_arena_text(&l->archive->arena, text, prefix_length + 1 + length);
}

// "./a//b/" becomes "a/b" in place. False if it leads out.
static bool tidy(char *name)
{
	char *out = name;

	for (const char *at = name; *at;) {
		size_t length = strcspn(at, "/");

		if (length == 2 && at[0] == '.' && at[1] == '.')
			return false;
		if (length && !(length == 1 && at[0] == '.')) {
			if (out != name)
				*out++ = '/';
			memmove(out, at, length);
			out += length;
		}
		at += length + (at[length] == '/');
	}
	*out = 0;
	return true;
}

// ---- extra headers ----

// What follows the block, with a NUL after it, in memory that is given away.
static enum pd_status read_extra(struct listing *l, uint8_t **data_out)
{
	uint8_t *data = pd_alloc((size_t)l->size + 1);
	enum pd_status status;
	size_t got;

	if (!data)
		return pd_fail_memory(l->error);
	status = pd_source_read(&l->archive->source, l->offset + PD_TAR_BLOCK, data, (size_t)l->size, &got, l->error);
	if (status >= 0 && got != l->size)
		status = pd_fail(l->error, PD_ERROR_SYSTEM, l->offset, "%s: cannot read a header", l->archive->name);
	if (status < 0)
		pd_free(data);
	else
		*data_out = data;
	return status;
}

static bool decimal(const char *text, size_t length, uint64_t *out)
{
	uint64_t value = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9' || value > (UINT64_MAX >> 1) / 10 - 1)
			return false;
		value = value * 10 + (uint64_t)(text[i] - '0');
	}
	*out = value;
	return length > 0;
}

static bool keep(struct listing *l, const char *value, size_t length, const char **out)
{
	*out = pd_arena_text(&l->archive->arena, value, length);
	return *out;
}

// A line of a pax header; false without memory.
static bool take_pax(struct listing *l, const char *key, size_t key_length, const char *value, size_t length)
{
	struct extra *e = &l->extra;
	static const char gnu[] = "GNU.sparse.";
	uint64_t n;

#define IS(text) (key_length == sizeof(text) - 1 && memcmp(key, text, sizeof(text) - 1) == 0)
	if (IS("path"))
		return keep(l, value, length, &e->name);
	if (IS("linkpath"))
		return keep(l, value, length, &e->target);
	if (IS("size")) {
		e->has_size = decimal(value, length, &e->size);
	} else if (IS("GNU.sparse.major")) {
		e->is_sparse = decimal(value, length, &n) && n == 1;
		e->is_strange |= !e->is_sparse;
	} else if (IS("GNU.sparse.minor")) {
		e->is_strange |= !decimal(value, length, &n) || n != 0;
	} else if (IS("GNU.sparse.name")) {
		return keep(l, value, length, &e->sparse_name);
	} else if (IS("GNU.sparse.realsize")) {
		e->is_strange |= !decimal(value, length, &e->real_size);
	} else if (key_length > sizeof(gnu) && memcmp(key, gnu, sizeof(gnu) - 1) == 0) {
		e->is_strange = true;
	}
#undef IS
	return true;
}

// Lines "LENGTH KEY=VALUE\n". What is none ends the reading.
static bool take_pax_lines(struct listing *l, const char *text, size_t size)
{
	while (size) {
		size_t digits = strspn(text, "0123456789");
		const char *key = text + digits + 1, *equals;
		uint64_t length;

		if (!decimal(text, digits, &length) || length > size || length < digits + 3 || text[digits] != ' ' ||
		    text[length - 1] != '\n')
			return true;
		equals = memchr(key, '=', (size_t)length - digits - 2);
		if (equals &&
		    !take_pax(l, key, (size_t)(equals - key), equals + 1, (size_t)(text + length - 1 - equals - 1)))
			return false;
		text += length;
		size -= (size_t)length;
	}
	return true;
}

static enum pd_status take_extra(struct listing *l)
{
	uint8_t *data = NULL;
	enum pd_status status = read_extra(l, &data);
	const char *text = (const char *)data;
	bool ok = true;

	if (status < 0)
		return status;
	if (l->block[TYPE_AT] == 'x')
		ok = take_pax_lines(l, text, (size_t)l->size);
	else
		ok = keep(l, text, strlen(text), l->block[TYPE_AT] == 'L' ? &l->extra.name : &l->extra.target);
	pd_free(data);
	return ok ? PD_OK : no_memory(l);
}

// ---- sparse files ----

struct map {
	const struct pd_source *source;
	uint64_t at, end;
	uint8_t block[PD_TAR_BLOCK];
	size_t used, size;
	bool failed;
};

// A line with a number; blocks are read as they are needed.
static uint64_t map_number(struct map *map)
{
	char digits[20];
	size_t count = 0;

	while (!map->failed) {
		char c;

		if (map->used == map->size) {
			struct pd_source source = *map->source;

			map->failed = map->at + PD_TAR_BLOCK > map->end ||
				      pd_source_read(&source, map->at, map->block, PD_TAR_BLOCK, &map->size, NULL) <
					      0 ||
				      map->size != PD_TAR_BLOCK;
			map->at += PD_TAR_BLOCK;
			map->used = 0;
			if (map->failed)
				break;
		}
		c = (char)map->block[map->used++];
		if (c == '\n') {
			uint64_t value = 0;

			map->failed = !decimal(digits, count, &value);
			return value;
		}
		if (count == sizeof(digits))
			map->failed = true;
		else
			digits[count++] = c;
	}
	return 0;
}

// False if the map is none, or there is no memory (*reason stays NULL then).
static bool read_map(struct listing *l, struct pd_member_full *full, const char **reason)
{
	uint64_t data = l->offset + PD_TAR_BLOCK, last_end = 0, stored = 0, count;
	struct map map = { .source = &l->archive->source, .at = data, .end = data + l->size };
	struct pd_extent *extents;

	*reason = NULL;
	count = map_number(&map);
	if (map.failed || count > EXTENTS_MOST || count > l->size / 4) {
		*reason = "damaged sparse map";
		return false;
	}
	extents = pd_arena_alloc(&l->archive->arena, (size_t)(count + 1) * sizeof(*extents));
	if (!extents)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct pd_extent *e = &extents[i];

		e->offset = map_number(&map);
		e->size = map_number(&map);
		e->at = stored;
		map.failed |= e->offset < last_end || e->offset > l->extra.real_size ||
			      e->size > l->extra.real_size - e->offset;
		if (map.failed)
			break;
		last_end = e->offset + e->size;
		stored += e->size;
	}
	if (map.failed || stored > map.end - map.at) {
		*reason = "damaged sparse map";
		return false;
	}
	if (l->extra.real_size - stored > holes_most) {
		*reason = "sparse file larger than the limit";
		return false;
	}
	// the data follow the last block of the map
	for (size_t i = 0; i < count; i++)
		extents[i].at += map.at;
	full->extents = extents;
	full->extent_count = (size_t)count;
	full->member.size = l->extra.real_size;
	return true;
}

// ---- members ----

static void refuse(struct pd_member_full *full, const char *reason)
{
	full->member.kind = PD_MEMBER_REFUSED;
	full->member.reason = reason;
}

// Kind and content by the type; false without memory.
static bool fill(struct listing *l, struct pd_member_full *full)
{
	const char *reason, *target = l->extra.target ? l->extra.target : field_text(l, TARGET_AT, NAME_SIZE);
	char *copy;

	full->member.kind = PD_MEMBER_FILE;
	switch (l->block[TYPE_AT]) {
	case 0:
	case '0':
	case '7':
		full->at = l->offset + PD_TAR_BLOCK;
		full->member.size = l->size;
		if (l->extra.is_strange)
			refuse(full, "sparse file of an unknown format");
		else if (l->extra.is_sparse && !read_map(l, full, &reason))
			refuse(full, reason);
		return full->member.kind == PD_MEMBER_FILE || full->member.reason;
	case '1':
		copy = target ? pd_arena_text(&l->archive->arena, target, strlen(target)) : NULL;
		if (!copy)
			return false;
		full->member.target = copy;
		full->is_same = true;
		if (!tidy(copy))
			refuse(full, "link to outside of the archive");
		return true;
	case '2':
		full->member.kind = PD_MEMBER_LINK;
		full->member.target = target;
		return target;
	case '5':
		full->member.kind = PD_MEMBER_FOLDER;
		return true;
	case '3':
	case '4':
	case '6':
		refuse(full, "device file");
		return true;
	case 'S':
		refuse(full, "sparse file of an unknown format");
		return true;
	default:
		refuse(full, "unknown type of member");
		return true;
	}
}

static enum pd_status add_member(struct listing *l)
{
	struct pd_archive *a = l->archive;
	struct pd_member_full *full = pd_arena_alloc(&a->arena, sizeof(*full));
	const char *name = l->extra.is_sparse && l->extra.sparse_name ? l->extra.sparse_name : l->extra.name;
	uint64_t modified;
	char *copy;

	if (!name)
		name = own_name(l);
	if (!number(l->block + TIME_AT, TIME_SIZE, &modified) || modified > INT64_MAX)
		modified = 0;
	copy = name ? pd_arena_text(&a->arena, name, strlen(name)) : NULL;
	if (!full || !copy || a->count >= UINT32_MAX - 1 || !PD_GROW(a->members, a->capacity, a->count + 1))
		return no_memory(l);
	full->member = (struct pd_member){
		.index = a->count, .name = copy, .offset = l->offset, .modified = (int64_t)modified
	};
	if (!fill(l, full))
		return no_memory(l);
	if (*name && name[strlen(name) - 1] == '/' && full->member.kind == PD_MEMBER_FILE)
		full->member.kind = PD_MEMBER_FOLDER;
	if (!tidy(copy)) {
		full->member.name = name;
		refuse(full, "name outside of the archive");
	}
	a->members[a->count++] = full;
	l->extra = (struct extra){ .name = NULL };
	return PD_OK;
}

static void damage(struct listing *l, const char *reason)
{
	l->archive->damage = reason;
	l->archive->damage_offset = l->offset;
}

// Links and folders have nothing after their header, whatever it says.
static bool has_data(char type)
{
	return type < '1' || type > '6';
}

// Takes the block; *more_out is false if it was the last one.
static enum pd_status take_block(struct listing *l, bool *more_out)
{
	char type = (char)l->block[TYPE_AT];
	uint64_t left = l->archive->source.size - l->offset - PD_TAR_BLOCK;
	bool is_extra = type == 'x' || type == 'L' || type == 'K';
	enum pd_status status = PD_OK;

	*more_out = false;
	if (!pd_tar_is_header(l->block) || !number(l->block + SIZE_AT, SIZE_SIZE, &l->size)) {
		damage(l, "invalid header");
		return PD_OK;
	}
	if (!is_extra && type != 'g' && l->extra.has_size)
		l->size = l->extra.size;
	if (!has_data(type))
		l->size = 0;
	if (is_extra && l->size > EXTRA_MOST) {
		damage(l, "a header is too large");
		return PD_OK;
	}
	if (l->size > left) {
		damage(l, "the archive is truncated");
		// what is there of a file may be read yet
		l->size = left;
		return type == '0' ? add_member(l) : PD_OK;
	}
	if (is_extra)
		status = take_extra(l);
	else if (type != 'g' && type != 'V')
		status = add_member(l);
	// what is after the last one may lack its padding
	l->offset += PD_TAR_BLOCK + l->size;
	l->offset += -l->size % PD_TAR_BLOCK;
	*more_out = status >= 0;
	return status;
}

enum pd_status pd_tar_list(struct pd_archive *archive, struct pd_error *error)
{
	struct listing l = { .archive = archive, .error = error };
	enum pd_status status = PD_OK;
	bool more = true;
	size_t got;

	while (more && l.offset < archive->source.size) {
		status = pd_source_read(&archive->source, l.offset, l.block, sizeof(l.block), &got, error);
		if (status < 0)
			return status;
		if (got < sizeof(l.block)) {
			damage(&l, "the archive is truncated");
			return PD_OK;
		}
		if (is_zero(l.block))
			return PD_OK;
		status = take_block(&l, &more);
	}
	return status;
}
