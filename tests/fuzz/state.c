/* SPDX-License-Identifier: MIT */
/* Bytes as a file whose records feed a state; each sample then asks for what stood where it was. */
#include <string.h>

#include <perfdata/state.h>

#include "mutate.h"
#include "walk.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return mutate(data, size, max_size, seed);
}

static void look_at(const struct pd_state *state, const struct pd_record *record)
{
	const struct pd_sample *sample = pd_as_sample(record);
	struct pd_moment when = pd_record_moment(record);
	char unknown[PD_THREAD_NAME_BYTES];
	struct pd_location location;

	if (!sample)
		return;
	REQUIRE(strlen(pd_state_comm(state, sample->tid, when, unknown)) < 65536);
	pd_state_find_thread(state, sample->tid, when);
	pd_state_namespaces(state, sample->tid, when);
	pd_state_cgroup(state, sample->cgroup);
	pd_state_bpf(state, (uint32_t)sample->id, when);
	for (unsigned mode = 0; mode < 8; mode++) {
		if (!pd_state_locate(state, sample->pid, mode, when, sample->ip, &location))
			continue;
		REQUIRE(location.mapping && location.object == location.mapping->object);
		REQUIRE(location.mapping->start <= sample->ip && sample->ip < location.mapping->end);
		REQUIRE(strlen(location.object->path) < 65536);
	}
}

static void look_at_all(const struct pd_state *state)
{
	const struct pd_thread *thread;
	const struct pd_object *object;
	const struct pd_mapping *mapping;

	for (size_t i = 0; (thread = pd_state_thread(state, i)) != NULL; i++) {
		struct pd_list names = pd_state_thread_names(state, thread);

		REQUIRE(thread->index == i);
		for (size_t n = 0; n < names.count; n++)
			REQUIRE(PD_ITEM(pd_thread_name, names, n)->comm);
	}
	for (size_t i = 0; (object = pd_state_object(state, i)) != NULL; i++)
		REQUIRE(object->index == i && object->path && object->build_id_size <= 20);
	for (size_t i = 0; (mapping = pd_state_mapping(state, i)) != NULL; i++)
		REQUIRE(mapping->start <= mapping->end);
	for (size_t i = 0; pd_state_code_change(state, i); i++)
		continue;
}

// Feeds the state or asks it.
static enum pd_status pass(struct pd_file *file, struct pd_state *state, bool ask, struct pd_error *error)
{
	const struct pd_record *record;
	struct pd_stream *stream;
	enum pd_status status = pd_stream_open(file, NULL, &stream, error);

	if (status < 0)
		return status;
	while ((status = pd_stream_next(stream, &record, error)) == PD_OK) {
		if (ask)
			look_at(state, record);
		else
			status = pd_state_take(state, record, error);
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
	struct pd_state_options state_options = { .size = sizeof(state_options), .memory_limit = 64 << 20 };
	struct pd_file *file = NULL;
	struct pd_state *state;
	struct pd_error error;
	enum pd_status status;

	if (pd_file_open_memory(data, size, &options, &file, &error) < 0)
		return 0;
	REQUIRE(pd_state_new(&state_options, &state, &error) == PD_OK);
	status = pass(file, state, false, &error);
	if (status >= 0)
		status = pd_state_take_features(state, file, &error);
	if (status >= 0)
		status = pd_state_finalize(state, &error);
	if (status >= 0) {
		look_at_all(state);
		status = pass(file, state, true, &error);
	}
	if (status < 0)
		walk_require_error(status, &error);
	pd_state_free(state);
	pd_file_close(file);
	return 0;
}
