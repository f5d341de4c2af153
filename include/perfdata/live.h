/* SPDX-License-Identifier: MIT */
/**
 * live.h - profiles of a running recording: of a recorder in this process (pd_recorder_open_file), or of a pipe.
 *
 * A live profile reads a stream round by round. At any time the caller can take a profile of the samples since the
 * last one; symbols are opened once. A sum accumulates several profiles by function, and can decay:
 *
 * Threads and mappings stay in memory until the live profile is freed: pd_live_grown returns how many were added.
 * After pd_recorder_switch the recorder starts again, with a new file, live profile and symbols; a sum has its own
 * names and remains valid. For symbols: pd_symbols_new with pd_live_state, then pd_profile_name on what was taken.
 *
 * Example:
 *
 *	const struct pd_live_options options = { .size = sizeof(options), .by = PD_BY_COMM };
 *	struct pd_live *live;
 *	struct pd_profile *latest;
 *
 *	if (pd_live_new(file, &options, &live, &error) == PD_OK) {
 *		while (pd_live_read(live, &error) == PD_OK)
 *			; // until it is time to look
 *		if (pd_live_take(live, &latest, &error) == PD_OK)
 *			pd_profile_free(latest);
 *		pd_live_free(live);
 *	}
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
	uint32_t by;           /* PD_BY_..., except PD_BY_TIME */
	unsigned max_stack;    /* maximum call chain depth; 0: unlimited */
	uint64_t memory_limit; /* maximum bytes of samples that wait for pd_live_take; 0 means 256 MiB. Others are
				* dropped and counted as lost. */
	/* See pd_profile_options. */
	enum pd_choice (*choose)(const void *self, const struct pd_candidate *candidate);
	void *self;
	/* Returns the symbols to unwind copied user stacks with, opened with this state, which is finalized. Owned by the caller;
	 * must remain valid until the last pd_live_take. Called once, if there are such stacks and chains are asked for
	 * (PD_BY_CHAIN). NULL: nothing is unwound. */
	struct pd_symbols *(*symbols)(void *self, const struct pd_state *state);
	bool stitch_lbr; /* see pd_unwind_options; threads are read as their CPU recorded them */
};

struct pd_live;

/** The file must outlive the live profile. Errors: those of pd_stream_open, pd_state_new. */
PD_API enum pd_status pd_live_new(struct pd_file *file, const struct pd_live_options *options,
				  struct pd_live **live_out, struct pd_error *error);
PD_API void pd_live_free(struct pd_live *live);
/** Reads to the end of the next round (FINISHED_ROUND); blocks. PD_END: the stream has ended, but pd_live_take may
 * still return samples. Errors: those of pd_stream_next and pd_state_take. */
PD_API enum pd_status pd_live_read(struct pd_live *live, struct pd_error *error);
/** Returns a profile of the samples since the last call, except those of the last round, which may be newer than
 * mappings in the next one. It is owned by the caller and must be freed before the live profile.
 * Errors: those of pd_state_finalize; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_live_take(struct pd_live *live, struct pd_profile **profile_out, struct pd_error *error);
/** The state. Settled by pd_live_take. */
PD_API const struct pd_state *pd_live_state(const struct pd_live *live);
/** Number of thread and mapping records in memory: those of the initial state, and all. */
PD_API void pd_live_grown(const struct pd_live *live, uint64_t *first_out, uint64_t *all_out);

struct pd_sum;

/** A sum of no profiles. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_sum_new(struct pd_sum **sum_out, struct pd_error *error);
PD_API void pd_sum_free(struct pd_sum *sum);
/** Adds a symbolized profile. Frames of one function are merged. After a failure the sum is empty.
 * Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_sum_add(struct pd_sum *sum, const struct pd_profile *profile, struct pd_error *error);
/** Multiplies all counts by part / whole, rounded down; entries that become 0 are removed. */
PD_API enum pd_status pd_sum_fade(struct pd_sum *sum, unsigned part, unsigned whole, struct pd_error *error);
/** The sum as a symbolized profile, without source lines. Events are those of file, by index; NULL: none. Losses are
 * those of all added profiles and do not decay. Valid until the sum, file or state changes. */
PD_API const struct pd_profile *pd_sum_profile(struct pd_sum *sum, struct pd_file *file, const struct pd_state *state);

#ifdef __cplusplus
}
#endif
#endif
