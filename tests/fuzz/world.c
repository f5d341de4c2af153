/* SPDX-License-Identifier: MIT */
/* Bytes as a file whose records feed a world; each sample then asks for what stood where it was. */
#include <string.h>

#include <perfdata/world.h>

#include "mutate.h"
#include "walk.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return mutate(data, size, max_size, seed);
}

static void look_at(const struct pd_world *world, const struct pd_record *record)
{
	const struct pd_sample *sample = pd_as_sample(record);
	struct pd_moment when = pd_record_moment(record);
	char unknown[PD_THREAD_NAME_BYTES];
	struct pd_location location;

	if (!sample)
		return;
	REQUIRE(strlen(pd_world_comm(world, sample->tid, when, unknown)) < 65536);
	pd_world_find_thread(world, sample->tid, when);
	pd_world_namespaces(world, sample->tid, when);
	pd_world_cgroup(world, sample->cgroup);
	pd_world_bpf(world, (uint32_t)sample->id, when);
	for (unsigned mode = 0; mode < 8; mode++) {
		if (!pd_world_locate(world, sample->pid, mode, when, sample->ip, &location))
			continue;
		REQUIRE(location.mapping && location.object == location.mapping->object);
		REQUIRE(location.mapping->start <= sample->ip && sample->ip < location.mapping->end);
		REQUIRE(strlen(location.object->path) < 65536);
	}
}

static void look_at_all(const struct pd_world *world)
{
	const struct pd_thread *thread;
	const struct pd_object *object;
	const struct pd_mapping *mapping;

	for (size_t i = 0; (thread = pd_world_thread(world, i)) != NULL; i++) {
		struct pd_list names = pd_world_thread_names(world, thread);

		REQUIRE(thread->index == i);
		for (size_t n = 0; n < names.count; n++)
			REQUIRE(PD_ITEM(pd_thread_name, names, n)->comm);
	}
	for (size_t i = 0; (object = pd_world_object(world, i)) != NULL; i++)
		REQUIRE(object->index == i && object->path && object->build_id_size <= 20);
	for (size_t i = 0; (mapping = pd_world_mapping(world, i)) != NULL; i++)
		REQUIRE(mapping->start <= mapping->end);
	for (size_t i = 0; pd_world_code_change(world, i); i++)
		continue;
}

// Feeds the world or asks it.
static enum pd_status pass(struct pd_file *file, struct pd_world *world, bool ask, struct pd_error *error)
{
	const struct pd_record *record;
	struct pd_stream *stream;
	enum pd_status status = pd_stream_open(file, NULL, &stream, error);

	if (status < 0)
		return status;
	while ((status = pd_stream_next(stream, &record, error)) == PD_OK) {
		if (ask)
			look_at(world, record);
		else
			status = pd_world_take(world, record, error);
		if (status < 0)
			break;
	}
	pd_stream_close(stream);
	return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct walk walk = { 0 };
	struct pd_open_options options = walk_options(&walk);
	struct pd_world_options world_options = { .size = sizeof(world_options), .memory_limit = 64 << 20 };
	struct pd_file *file = NULL;
	struct pd_world *world;
	struct pd_error error;
	enum pd_status status;

	if (pd_file_open_memory(data, size, &options, &file, &error) < 0)
		return 0;
	REQUIRE(pd_world_new(&world_options, &world, &error) == PD_OK);
	status = pass(file, world, false, &error);
	if (status >= 0)
		status = pd_world_take_features(world, file, &error);
	if (status >= 0)
		status = pd_world_finalize(world, &error);
	if (status >= 0) {
		look_at_all(world);
		status = pass(file, world, true, &error);
	}
	if (status < 0)
		walk_require_error(status, &error);
	pd_world_free(world);
	pd_file_close(file);
	return 0;
}
