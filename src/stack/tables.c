/* SPDX-License-Identifier: MIT */
#include "stack/tables.h"

#include <stdio.h>
#include <string.h>

#include "base/text/path.h"
#include "base/text/text.h"

enum {
	INLINED_MOST = 128 // functions at one address
};

// ---- strings ----

static const char replacement[] = "\xef\xbf\xbd"; // U+FFFD

// Its size without NUL; text may be NULL, to count.
static size_t clean(const char *string, size_t size, char *text)
{
	size_t to = 0;

	for (size_t at = 0; at < size;) {
		size_t plain = pd_text_plain(string + at, size - at);
		const char *from = plain ? string + at : replacement;
		size_t step = plain ? plain : sizeof(replacement) - 1;

		if (text)
			memcpy(text + to, from, step);
		to += step;
		at += plain ? plain : 1;
	}
	return to;
}

static uint32_t add_string(struct pd_tables *tables, const char *text, size_t size, uint64_t hash)
{
	if (tables->string_count >= UINT32_MAX ||
	    !PD_GROW(tables->strings, tables->string_capacity, tables->string_count + 1) ||
	    !pd_index_add(&tables->string_index, hash, (uint32_t)tables->string_count)) {
		tables->failed = true;
		return 0;
	}
	tables->strings[tables->string_count] = (struct pd_table_string){ text, size };
	return (uint32_t)tables->string_count++;
}

static uint32_t find_string(struct pd_tables *tables, const char *text, size_t size, uint64_t hash)
{
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&tables->string_index, hash, &at)) != PD_INDEX_END;)
		if (tables->strings[i].size == size && memcmp(tables->strings[i].text, text, size) == 0)
			return i;
	return PD_INDEX_END;
}

uint32_t pd_tables_string(struct pd_tables *tables, const char *text, size_t size)
{
	size_t clean_size = clean(text, size, NULL);
	char *copy = NULL;
	uint64_t hash;
	uint32_t found;

	if (!clean_size)
		return 0;
	if (clean_size != size) {
		copy = pd_arena_alloc(&tables->arena, clean_size + 1);
		if (!copy) {
			tables->failed = true;
			return 0;
		}
		clean(text, size, copy);
		text = copy;
	}
	hash = pd_hash(tables->seed, text, clean_size);
	found = find_string(tables, text, clean_size, hash);
	if (found != PD_INDEX_END)
		return found;
	if (!copy)
		copy = pd_arena_text(&tables->arena, text, clean_size);
	if (copy)
		return add_string(tables, copy, clean_size, hash);
	tables->failed = true;
	return 0;
}

uint32_t pd_tables_text(struct pd_tables *tables, const char *text)
{
	return text ? pd_tables_string(tables, text, strlen(text)) : 0;
}

// ---- objects and mappings ----

// Where the number of something is kept by its own number; NULL if there is no memory.
static uint32_t *slot_of(struct pd_tables *tables, uint32_t **items, size_t *capacity, size_t number)
{
	size_t before = *capacity;

	if (number >= before) {
		if (!PD_GROW(*items, *capacity, number + 1)) {
			tables->failed = true;
			return NULL;
		}
		memset(*items + before, 0, (*capacity - before) * sizeof(**items));
	}
	return &(*items)[number];
}

static uint32_t find_build_id(struct pd_tables *tables, const struct pd_dso *dso, struct pd_build_id *id)
{
	char digits[2 * sizeof(id->bytes) + 1];
	const char *why;

	if (!dso->object || !pd_symbols_build_id(tables->symbols, dso->object, id, &why)) {
		*id = (struct pd_build_id){ 0 };
		return 0;
	}
	for (size_t i = 0; i < id->size; i++)
		snprintf(digits + 2 * i, 3, "%02x", id->bytes[i]);
	return pd_tables_string(tables, digits, 2 * (size_t)id->size);
}

static uint32_t object_number(struct pd_tables *tables, const struct pd_dso *dso)
{
	struct pd_table_object *object;
	uint32_t *slot = dso ? slot_of(tables, &tables->object_of, &tables->object_of_capacity, dso->index) : NULL;

	if (!slot)
		return 0;
	if (*slot)
		return *slot;
	if (!PD_GROW(tables->objects, tables->object_capacity, tables->object_count + 1)) {
		tables->failed = true;
		return 0;
	}
	*slot = (uint32_t)tables->object_count;
	object = &tables->objects[tables->object_count++];
	*object = (struct pd_table_object){ .dso = dso, .kernel = dso->kernel };
	object->name = pd_tables_text(tables, dso->name);
	object->path = pd_tables_text(tables, dso->long_name);
	object->build_id = find_build_id(tables, dso, &object->id);
	return *slot;
}

static uint32_t mapping_number(struct pd_tables *tables, uint32_t object, const struct pd_location *location)
{
	const struct pd_mapping *mapping = location->mapping;
	const struct pd_table_mapping key = { object, mapping->start, mapping->end, mapping->pgoff };
	uint64_t hash = pd_hash_u64(tables->seed, key.start ^ object) ^ pd_hash_u64(tables->seed, key.end ^ key.pgoff);
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&tables->mapping_index, hash, &at)) != PD_INDEX_END;) {
		const struct pd_table_mapping *known = &tables->mappings[i];

		if (known->object == object && known->start == key.start && known->end == key.end &&
		    known->pgoff == key.pgoff)
			return i;
	}
	if (!PD_GROW(tables->mappings, tables->mapping_capacity, tables->mapping_count + 1) ||
	    !pd_index_add(&tables->mapping_index, hash, (uint32_t)tables->mapping_count)) {
		tables->failed = true;
		return 0;
	}
	tables->mappings[tables->mapping_count] = key;
	return (uint32_t)tables->mapping_count++;
}

// ---- functions ----

static uint32_t add_function(struct pd_tables *tables, const struct pd_table_function *function)
{
	if (!PD_GROW(tables->functions, tables->function_capacity, tables->function_count + 1)) {
		tables->failed = true;
		return 0;
	}
	tables->functions[tables->function_count] = *function;
	return (uint32_t)tables->function_count++;
}

// What has no name is one function for each object.
static uint32_t unnamed_function(struct pd_tables *tables, uint32_t object)
{
	uint32_t *slot = slot_of(tables, &tables->unnamed_of, &tables->unnamed_of_capacity, object);
	const char *path = object ? pd_path_name(tables->objects[object].dso->long_name) : "unknown";
	struct pd_table_function function = { .object = object };
	struct pd_text *name;

	if (!slot)
		return 0;
	if (*slot)
		return *slot - 1;
	name = pd_text_new();
	if (name) {
		pd_text_printf(name, path[0] == '[' ? "%s" : "[%s]", path);
		if (!name->failed)
			function.name = function.linker = pd_tables_string(tables, name->data, name->size);
		tables->failed |= name->failed;
	}
	tables->failed |= !name;
	pd_text_free(name);
	*slot = add_function(tables, &function) + 1;
	return *slot - 1;
}

static uint32_t function_number(struct pd_tables *tables, const struct pd_function *function, uint32_t object)
{
	uint32_t *slot = slot_of(tables, &tables->function_of, &tables->function_of_capacity, function->index);
	struct pd_table_function added = { .object = object, .start = function->start, .known = true };

	if (!slot)
		return 0;
	if (*slot)
		return *slot - 1;
	added.name = pd_tables_text(tables, function->name);
	if (!added.name)
		added.name = pd_tables_text(tables, "[unnamed]");
	added.linker = pd_tables_text(tables, function->linker_name);
	*slot = add_function(tables, &added) + 1;
	return *slot - 1;
}

// ---- frames ----

static void add_line(struct pd_tables *tables, const struct pd_table_line *line)
{
	if (PD_GROW(tables->lines, tables->line_capacity, tables->line_count + 1))
		tables->lines[tables->line_count++] = *line;
	else
		tables->failed = true;
}

static void add_named_line(struct pd_tables *tables, const struct pd_line *line, uint32_t object)
{
	struct pd_table_line added = {
		.function = function_number(tables, line->function, object),
		.line = line->line,
		.file = pd_tables_text(tables, line->file),
		.inlined = line->inlined,
	};

	if (tables->failed)
		return;
	if (!tables->functions[added.function].file)
		tables->functions[added.function].file = added.file;
	add_line(tables, &added);
}

static void add_lines(struct pd_tables *tables, const struct pd_place *place, uint32_t object)
{
	struct pd_line lines[INLINED_MOST];
	bool is_wanted = place->function && !tables->no_lines;
	size_t count = is_wanted ? pd_symbols_lines(tables->symbols, place, lines, INLINED_MOST) : 0;

	for (size_t i = 0; i < count && i < INLINED_MOST; i++)
		add_named_line(tables, &lines[i], object);
	if (count)
		return;
	add_line(tables, &(struct pd_table_line){ .function = place->function ?
								      function_number(tables, place->function, object) :
								      unnamed_function(tables, object) });
}

uint32_t pd_tables_add_frame(struct pd_tables *tables, const struct pd_place *place, const struct pd_location *location,
			     unsigned cpumode)
{
	struct pd_table_frame frame = { .place = *place, .cpumode = cpumode };

	frame.object = object_number(tables, place->dso);
	if (location && frame.object)
		frame.mapping = mapping_number(tables, frame.object, location);
	frame.first_line = (uint32_t)tables->line_count;
	if (!tables->failed)
		add_lines(tables, place, frame.object);
	frame.line_count = (uint32_t)(tables->line_count - frame.first_line);
	if (tables->line_count >= UINT32_MAX ||
	    !PD_GROW(tables->frames, tables->frame_capacity, tables->frame_count + 1)) {
		tables->failed = true;
		return 0;
	}
	tables->frames[tables->frame_count] = frame;
	return (uint32_t)tables->frame_count++;
}

uint32_t pd_tables_add_mark(struct pd_tables *tables, const char *name)
{
	const struct pd_table_function function = { .name = pd_tables_text(tables, name), .known = true };
	const struct pd_table_frame frame = { .is_mark = true,
					      .first_line = (uint32_t)tables->line_count,
					      .line_count = 1 };

	add_line(tables, &(struct pd_table_line){ .function = add_function(tables, &function) });
	if (tables->failed || !PD_GROW(tables->frames, tables->frame_capacity, tables->frame_count + 1)) {
		tables->failed = true;
		return 0;
	}
	tables->frames[tables->frame_count] = frame;
	return (uint32_t)tables->frame_count++;
}

// ---- stacks ----

static uint32_t path_of(const struct pd_tables *tables, uint32_t parent_path, uint32_t frame)
{
	return (uint32_t)pd_hash_u64(tables->seed, (uint64_t)parent_path << 32 | frame);
}

static uint32_t find_stack(struct pd_tables *tables, uint32_t parent, uint32_t frame, uint32_t path)
{
	size_t at = path;

	for (uint32_t i; (i = pd_index_next(&tables->stack_index, path, &at)) != PD_INDEX_END;)
		if (tables->stacks[i].parent == parent && tables->stacks[i].frame == frame)
			return i;
	if (tables->stack_count >= UINT32_MAX ||
	    !PD_GROW(tables->stacks, tables->stack_capacity, tables->stack_count + 1) ||
	    !pd_index_add(&tables->stack_index, path, (uint32_t)tables->stack_count)) {
		tables->failed = true;
		return 0;
	}
	tables->stacks[tables->stack_count] = (struct pd_table_stack){ parent, frame, path };
	return (uint32_t)tables->stack_count++;
}

uint32_t pd_tables_stack(struct pd_tables *tables, uint32_t parent, uint32_t frame)
{
	return find_stack(tables, parent, frame, path_of(tables, tables->stacks[parent].path, frame));
}

// Where they stand depends on frames alone, so that the memory of all is on its way at once.
void pd_tables_stacks(struct pd_tables *tables, uint32_t parent, const uint32_t *frames, size_t count,
		      uint32_t *stacks_out)
{
	uint32_t paths[PD_STACKS_AT_ONCE], path = tables->stacks[parent].path;

	for (size_t i = count; i--;) {
		paths[i] = path = path_of(tables, path, frames[i]);
		pd_index_prefetch(&tables->stack_index, path);
	}
	for (size_t i = count; i--;) {
		uint32_t likely = pd_index_peek(&tables->stack_index, paths[i]);

		if (likely != PD_INDEX_END)
			__builtin_prefetch(&tables->stacks[likely]);
	}
	for (size_t i = count; i--;)
		stacks_out[i] = parent = find_stack(tables, parent, frames[i], paths[i]);
}

static uint64_t hash_frames(const struct pd_tables *tables, const uint32_t *frames, size_t count)
{
	uint64_t hash = count;
	size_t i = 0;

	for (; i + 1 < count; i += 2)
		hash = pd_hash_u64(tables->seed, hash ^ ((uint64_t)frames[i] << 32 | frames[i + 1]));
	return i < count ? pd_hash_u64(tables->seed, hash ^ frames[i]) : hash;
}

uint32_t pd_tables_whole(struct pd_tables *tables, size_t count)
{
	const uint32_t *frames = tables->whole_frames + tables->whole_frame_count;
	uint64_t hash = hash_frames(tables, frames, count);
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&tables->stack_index, hash, &at)) != PD_INDEX_END;) {
		const struct pd_table_whole *known = &tables->wholes[i];

		if (known->count == count && !memcmp(tables->whole_frames + known->at, frames, count * sizeof(*frames)))
			return i;
	}
	if (tables->whole_count >= UINT32_MAX || count > UINT32_MAX ||
	    !PD_GROW(tables->wholes, tables->whole_capacity, tables->whole_count + 1) ||
	    !pd_index_add(&tables->stack_index, hash, (uint32_t)tables->whole_count)) {
		tables->failed = true;
		return 0;
	}
	tables->wholes[tables->whole_count] = (struct pd_table_whole){ tables->whole_frame_count, (uint32_t)count };
	tables->whole_frame_count += count;
	return (uint32_t)tables->whole_count++;
}

static bool grow_expanded(struct pd_tables *tables, size_t count)
{
	tables->failed |= !PD_GROW(tables->expanded, tables->expanded_capacity, count);
	return !tables->failed;
}

const uint32_t *pd_tables_frames(struct pd_tables *tables, uint32_t stack, size_t *count_out)
{
	size_t count = 0;

	if (tables->whole_stacks) {
		*count_out = tables->wholes[stack].count;
		return tables->whole_frames + tables->wholes[stack].at;
	}
	for (; stack && grow_expanded(tables, count + 1); stack = tables->stacks[stack].parent)
		tables->expanded[count++] = tables->stacks[stack].frame;
	*count_out = count;
	return tables->expanded;
}

// Adds the lines of a frame after others.
static bool expand_frame(struct pd_tables *tables, uint32_t number, size_t *count)
{
	const struct pd_table_frame *frame = &tables->frames[number];

	if (!grow_expanded(tables, *count + frame->line_count))
		return false;
	for (uint32_t i = 0; i < frame->line_count; i++)
		tables->expanded[(*count)++] = frame->first_line + i;
	return true;
}

const uint32_t *pd_tables_expand(struct pd_tables *tables, uint32_t stack, size_t *count_out)
{
	const struct pd_table_whole *whole = tables->whole_stacks ? &tables->wholes[stack] : NULL;
	size_t count = 0;

	for (uint32_t i = 0; whole && i < whole->count; i++)
		if (!expand_frame(tables, tables->whole_frames[whole->at + i], &count))
			break;
	for (; !whole && stack && expand_frame(tables, tables->stacks[stack].frame, &count);)
		stack = tables->stacks[stack].parent;
	*count_out = count;
	return tables->expanded;
}

uint32_t *pd_tables_frames_of_lines(const struct pd_tables *tables)
{
	uint32_t *frames = pd_realloc(NULL, (tables->line_count + 1) * sizeof(*frames));

	for (size_t i = 0; frames && i < tables->frame_count; i++)
		for (uint32_t line = 0; line < tables->frames[i].line_count; line++)
			frames[tables->frames[i].first_line + line] = (uint32_t)i;
	return frames;
}

// ---- all of it ----

void pd_tables_init(struct pd_tables *tables, uint64_t seed)
{
	*tables = (struct pd_tables){ .seed = seed };
	if (!PD_GROW(tables->strings, tables->string_capacity, 1) ||
	    !PD_GROW(tables->objects, tables->object_capacity, 1) ||
	    !PD_GROW(tables->mappings, tables->mapping_capacity, 1) ||
	    !PD_GROW(tables->stacks, tables->stack_capacity, 1) ||
	    !PD_GROW(tables->wholes, tables->whole_capacity, 1)) {
		tables->failed = true;
		return;
	}
	tables->strings[0] = (struct pd_table_string){ "", 0 };
	tables->objects[0] = (struct pd_table_object){ 0 };
	tables->mappings[0] = (struct pd_table_mapping){ 0 };
	tables->stacks[0] = (struct pd_table_stack){ 0 };
	tables->wholes[0] = (struct pd_table_whole){ 0 };
	tables->string_count = tables->object_count = tables->mapping_count = 1;
	tables->stack_count = tables->whole_count = 1;
}

void pd_tables_fini(struct pd_tables *tables)
{
	pd_arena_fini(&tables->arena);
	pd_index_fini(&tables->string_index);
	pd_index_fini(&tables->mapping_index);
	pd_index_fini(&tables->stack_index);
	pd_free(tables->strings);
	pd_free(tables->objects);
	pd_free(tables->object_of);
	pd_free(tables->mappings);
	pd_free(tables->functions);
	pd_free(tables->function_of);
	pd_free(tables->unnamed_of);
	pd_free(tables->lines);
	pd_free(tables->frames);
	pd_free(tables->stacks);
	pd_free(tables->wholes);
	pd_free(tables->whole_frames);
	pd_free(tables->expanded);
}
