/* SPDX-License-Identifier: MIT */
/**
 * live.h - profiles of a recording that goes on: of a recorder in this process (pd_recorder_open_file), or of a pipe.
 *
 * A live profile reads a stream round by round. Whenever the caller likes it makes a profile of the samples that came
 * since the last time; names come from symbols that are made once. A sum keeps what several profiles have in common, by
 * functions, and may forget slowly:
 *
 *	pd_live_new(file, &options, &live, &error);
 *	pd_symbols_new(file, pd_live_world(live), NULL, &symbols, &error);
 *	while (pd_live_read(live, &error) == PD_OK) {
 *		if (it is not time yet)
 *			continue;
 *		pd_live_take(live, &profile, &error);
 *		pd_profile_name(profile, symbols, &error);
 *		pd_sum_fade(sum, 7, 8);
 *		pd_sum_add(sum, profile, &error);
 *		pd_profile_free(profile);
 *		shown = pd_sum_profile(sum, file, pd_live_world(live));
 *		for (size_t i = 0; (entry = pd_profile_entry(shown, i)) != NULL; i++) ...
 *	}
 *
 * What ran and was mapped stays in memory until the live profile is freed: pd_live_grown says how much came since it
 * began. A recorder begins anew when it is told to (pd_recorder_switch), and then so do file, live profile and symbols; a sum
 * stays, for it has names of its own.
 */
#ifndef PERFDATA_LIVE_H
#define PERFDATA_LIVE_H

#include <perfdata/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero is the default for each member; NULL means all defaults. */
struct pd_live_options {
	size_t size;           /* sizeof(struct pd_live_options) */
	uint32_t by;           /* PD_BY_..., but for PD_BY_TIME */
	unsigned max_stack;    /* most addresses of a chain; 0: all */
	uint64_t memory_limit; /* most bytes of samples that wait for pd_live_take; 0 means 256 MiB. What is more is left out
				* and counts as lost. */
	/* See pd_profile_options. */
	enum pd_choice (*choose)(const void *self, const struct pd_candidate *candidate);
	void *self;
};

struct pd_live;

/** The file must live longer. Errors: those of pd_stream_open, pd_world_new. */
PD_API enum pd_status pd_live_new(struct pd_file *file, const struct pd_live_options *options, struct pd_live **live_out,
				  struct pd_error *error);
PD_API void pd_live_free(struct pd_live *live);
/** Reads up to the end of the next round (FINISHED_ROUND), which it waits for. PD_END: there is no more, but pd_live_take
 * may still give samples. Errors: those of pd_stream_next and pd_world_take. */
PD_API enum pd_status pd_live_read(struct pd_live *live, struct pd_error *error);
/** A profile of the samples since the last call, but for those of the last round, which may be younger than a map that is
 * read in the next one. It belongs to the caller and must be freed before the live profile.
 * Errors: those of pd_world_settle; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_live_take(struct pd_live *live, struct pd_profile **profile_out, struct pd_error *error);
/** What runs. Settled by pd_live_take. */
PD_API const struct pd_world *pd_live_world(const struct pd_live *live);
/** Number of records about processes and maps that are kept: those that describe what ran at the beginning, and all. */
PD_API void pd_live_grown(const struct pd_live *live, uint64_t *first_out, uint64_t *all_out);

struct pd_sum;

PD_API enum pd_status pd_sum_new(struct pd_sum **sum_out, struct pd_error *error);
PD_API void pd_sum_free(struct pd_sum *sum);
/** Adds a profile that has names. Frames of one function become one frame. After a failure the sum is empty.
 * Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_sum_add(struct pd_sum *sum, const struct pd_profile *profile, struct pd_error *error);
/** Makes all that is in the sum part / whole of what it was, rounded down; what becomes 0 is forgotten. */
PD_API enum pd_status pd_sum_fade(struct pd_sum *sum, unsigned part, unsigned whole, struct pd_error *error);
/** The sum as a profile whose places have names; lines cannot be asked for. Events are those of file, by index; NULL: they are
 * not asked for. Losses are of
 * all that was added and do not fade. Valid until the sum, file or world changes. */
PD_API const struct pd_profile *pd_sum_profile(struct pd_sum *sum, struct pd_file *file, const struct pd_world *world);

#ifdef __cplusplus
}
#endif
#endif
