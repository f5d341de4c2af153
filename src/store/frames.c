/* SPDX-License-Identifier: MIT */
#include "store/frames.h"

#include <string.h>

#include "base/error.h"

static const uint64_t object_bytes = UINT64_C(1) << PD_GIVEN_OBJECT_BITS;
static const char unknown[] = "[unknown]";

void pd_store_frames_fini(struct pd_store_frames *frames)
{
	pd_strings_fini(&frames->objects);
	pd_u64_map_fini(&frames->addresses);
	pd_u64_map_fini(&frames->mapped);
	pd_free(frames->scratch.data);
}

static bool is_text(const struct pd_sql_value *value, const char *text)
{
	return value->kind == PD_SQL_TEXT && value->size == strlen(text) && !memcmp(value->data, text, value->size);
}

static void put_value(struct pd_text *text, const struct pd_sql_value *value)
{
	if (value->kind == PD_SQL_TEXT)
		pd_text_put(text, value->data, strnlen(value->data, value->size));
}

// SIZE_MAX if it failed.
static size_t find_object(struct pd_store_frames *frames, const struct pd_store_frame *frame)
{
	bool kernel = is_text(&frame->kind, "kernel");
	struct pd_text *text = &frames->scratch;
	size_t before = frames->objects.count, name_size;
	uint32_t number;

	pd_text_clear(text);
	put_value(text, &frame->object);
	name_size = text->size;
	pd_text_char(text, 0);
	put_value(text, frame->path.kind == PD_SQL_TEXT ? &frame->path : &frame->object);
	pd_text_char(text, 0);
	if (text->failed)
		return SIZE_MAX;
	// a key is a string: it has no NUL
	text->data[name_size] = kernel ? '\1' : '\2';
	number = pd_strings_add(&frames->objects, &frames->given->arena, text->data, text->size - 1);
	text->data[name_size] = 0;
	if (number == PD_INDEX_END || frames->objects.count == before)
		return number == PD_INDEX_END ? SIZE_MAX : number;
	return pd_given_add_object(frames->given, text->data, text->data + name_size + 1, kernel);
}

static bool has_text(const struct pd_sql_value *value)
{
	return value->kind == PD_SQL_TEXT && value->size;
}

// What is in no function has no name for the linker, and is called after its object.
static bool is_nameless(const struct pd_store_frame *frame)
{
	return !has_text(&frame->linker) && (!has_text(&frame->function) || (frame->function.data[0] == '[' &&
									     !is_text(&frame->function, "[unnamed]")));
}

static uint64_t add_frame(struct pd_store_frames *frames, const struct pd_store_frame *frame, struct pd_error *error)
{
	const struct pd_sql_value *name = has_text(&frame->linker) ? &frame->linker : &frame->function;
	bool has_name = has_text(name);
	uint64_t address = 0;
	size_t object;

	if (!frames->given)
		return frame->function.kind == PD_SQL_TEXT ?
			       pd_builder_function(frames->builder, frame->function.data, frame->function.size) :
			       pd_builder_function(frames->builder, unknown, strlen(unknown));
	if (frame->object.kind != PD_SQL_TEXT)
		return is_text(&frame->function, "[truncated]") ? PD_STORE_TRUNCATED : PD_STORE_NOTHING;
	object = find_object(frames, frame);
	if (object != SIZE_MAX)
		address = pd_given_add_function(frames->given, object, has_name ? name->data : unknown,
						has_name ? name->size : strlen(unknown), is_nameless(frame));
	if (!address)
		pd_fail_memory(error);
	return address;
}

uint64_t pd_store_frames_address(struct pd_store_frames *frames, const struct pd_store_frame *frame,
				 struct pd_error *error)
{
	uint64_t address;

	if (!frame->known)
		return add_frame(frames, &(struct pd_store_frame){ .known = false }, error);
	address = pd_u64_map_find(&frames->addresses, frame->number);
	if (address)
		return address;
	address = add_frame(frames, frame, error);
	if (address && !pd_u64_map_add(&frames->addresses, frame->number, address)) {
		pd_fail_memory(error);
		return 0;
	}
	return address;
}

static bool map_object(struct pd_store_frames *frames, uint32_t pid, size_t number)
{
	const struct pd_given_object *object = &frames->given->objects[number];
	uint64_t key = (uint64_t)pid << 32 | number;

	if (pd_u64_map_find(&frames->mapped, key))
		return true;
	pd_builder_map(frames->builder, pid, object->start, object_bytes, object->path);
	return pd_u64_map_add(&frames->mapped, key, 1);
}

bool pd_store_frames_map(struct pd_store_frames *frames, uint32_t pid, const uint64_t *chain, size_t count)
{
	bool done = true;

	for (size_t i = 0; frames->given && done && i < count; i++)
		if (chain[i] != PD_STORE_NOTHING && chain[i] != PD_STORE_NOTHING_OF_KERNEL &&
		    chain[i] != PD_STORE_TRUNCATED)
			done = map_object(frames, chain[i] >> 63 ? UINT32_MAX : pid, pd_given_object_of(chain[i]));
	return done;
}
