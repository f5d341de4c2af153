/* SPDX-License-Identifier: MIT */
/* Bytes as a file whose samples are summed up, by one thread and by three, which must say the same. No objects are
 * opened. */
#include <string.h>

#include <perfdata/profile.h>

#include "mutate.h"
#include "walk.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return mutate(data, size, max_size, seed);
}

static void look_at_frame(const struct pd_profile *profile, uint32_t index)
{
	const struct pd_frame *frame;

	REQUIRE(index < pd_profile_frame_count(profile));
	frame = pd_profile_frame(profile, index);
	REQUIRE(!frame->place.function || frame->place.dso);
	REQUIRE(!frame->place.dso || (frame->place.dso->name && frame->place.dso->long_name));
}

// Sums of all that is there.
static uint64_t look_at(const struct pd_profile *profile, struct pd_file *file)
{
	struct pd_profile_entry entry;
	uint64_t samples = 0, sum = 0, taken = 0;

	for (size_t i = 0; pd_profile_entry(profile, i, &entry); i++) {
		const struct pd_stack *stack = pd_profile_stack(profile, entry.stack);

		REQUIRE(entry.event->index < pd_file_event_count(file) && entry.comm && entry.samples);
		look_at_frame(profile, stack->ip);
		for (size_t k = 0; k < stack->caller_count; k++)
			look_at_frame(profile, stack->callers[k]);
		samples += entry.samples;
		sum = sum * 31 + entry.period + entry.stack * 7 + stack->caller_count + entry.tid;
	}
	for (size_t i = 0; pd_profile_total(profile, i); i++)
		taken += pd_profile_total(profile, i)->samples;
	REQUIRE(samples == taken);
	return sum;
}

// Returns 0 if the file cannot be read to its end.
static uint64_t read_profile(const uint8_t *data, size_t size, unsigned threads)
{
	struct pd_profile_options how = {
		.size = sizeof(how),
		.by = PD_BY_COMM | PD_BY_PID | PD_BY_TID | PD_BY_CHAIN,
		.threads = threads,
	};
	struct pd_symbols_options naming = { .size = sizeof(naming), .flags = PD_SYMBOLS_NO_FILES };
	struct walk walk = { 0 };
	struct pd_open_options options = walk_options(&walk);
	struct pd_symbols *symbols = NULL;
	struct pd_profile *profile = NULL;
	struct pd_file *file = NULL;
	struct pd_error error;
	enum pd_status status;
	uint64_t sum = 0;

	if (pd_file_open_memory(data, size, &options, &file, &error) < 0)
		return 0;
	status = pd_profile_read(file, &how, &profile, &error);
	if (status >= 0)
		status = pd_symbols_new(file, pd_profile_state(profile), &naming, &symbols, &error);
	if (status >= 0)
		status = pd_profile_name(profile, symbols, &error);
	if (status >= 0)
		sum = look_at(profile, file) + 1;
	else
		walk_require_error(status, &error);
	pd_symbols_free(symbols);
	pd_profile_free(profile);
	pd_file_close(file);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	REQUIRE(read_profile(data, size, 1) == read_profile(data, size, 3));
	return 0;
}
