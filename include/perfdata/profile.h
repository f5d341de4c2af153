/* SPDX-License-Identifier: MIT */
/**
 * profile.h - the samples of a file summed up: how much by whom, in which stack.
 *
 * Samples that agree in event, stack and what else is asked for are one entry. Reading adds up addresses;
 * names come afterwards, once for each distinct stack. Memory grows with distinct stacks, not with samples.
 *
 *	pd_profile_read(file, &options, &profile, &error);
 *	pd_symbols_new(file, pd_profile_world(profile), NULL, &symbols, &error);
 *	pd_profile_name(profile, symbols, &error);
 *	for (size_t i = 0; (entry = pd_profile_entry(profile, i)) != NULL; i++) {
 *		stack = pd_profile_stack(profile, entry->stack); ...
 *
 * The result is the same for any number of threads, the order of entries included.
 */
#ifndef PERFDATA_PROFILE_H
#define PERFDATA_PROFILE_H

#include <perfdata/run.h>
#include <perfdata/symbol.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What keeps entries apart, besides event, CPU mode and address. */
enum pd_profile_by {
	PD_BY_COMM = 1,
	PD_BY_PID = 2,
	PD_BY_TID = 4,
	PD_BY_CPU = 8,
	PD_BY_CHAIN = 16, /* the whole call chain, not only the address of the sample */
	PD_BY_CGROUP = 32,
	PD_BY_WEIGHT = 64,
	PD_BY_TIME = 128, /* slices of time, see pd_profile_options.slice_ns */
	PD_BY_RAW = 256   /* the raw data: what a tracepoint recorded */
};

/** What a filter says of a sample. */
enum pd_choice {
	PD_CHOICE_TAKE,
	PD_CHOICE_COUNT, /* in the totals of what was left out only */
	PD_CHOICE_LEAVE  /* as if it were not there */
};

/** A sample for a filter. */
struct pd_candidate {
	const struct pd_record *record;
	const struct pd_event *event;
	const struct pd_brief *brief;
	const char *comm; /* NULL: not known */
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_profile_options {
	size_t size;        /* sizeof(struct pd_profile_options) */
	uint32_t by;        /* PD_BY_... */
	unsigned threads;   /* as in pd_run_options */
	unsigned max_stack; /* most addresses of a chain; 0: all */
	uint64_t slice_ns;  /* length of a slice of time, for PD_BY_TIME; 0: a hundredth of the time that is taken */
	/* Called for each sample, from several threads at once; self must not change. May be NULL. */
	enum pd_choice (*choose)(const void *self, const struct pd_candidate *candidate);
	/* See pd_run_options. */
	enum pd_status (*ready)(void *self, struct pd_window *window, struct pd_error *error);
	bool (*progress)(void *self, uint64_t done, uint64_t total);
	void *self;
	uint64_t from_ns, to_ns; /* samples outside are left; to_ns belongs to it, 0: open */
	bool slices; /* keep beside each entry how much of it fell into which slice of time, see pd_profile_slices */
	/* Gives the symbols that places will be named with, made with this world, which is settled; they stay the caller's and
	 * must live until the profile is read, and nobody else may use them until then. Called if a process mapped a jitdump:
	 * codes that were put one in the place of another are told apart then; and if the file is so large that names are
	 * loaded on a thread of its own meanwhile, but for those that pd_symbols_options.fetch has to get. May be NULL, and may return NULL. */
	struct pd_symbols *(*symbols)(void *self, const struct pd_world *world);
};

/** What samples of an event weigh naturally: their period where it was recorded, which is an amount of this unit, else one
 * each. Amounts of different events add up only if both are samples or both are ns. */
enum pd_unit {
	PD_UNIT_SAMPLES, /* the period is not known: each sample counts as one */
	PD_UNIT_EVENTS,  /* what the event counts: cycles, page faults, ... */
	PD_UNIT_NS       /* time: clocks of the CPU, time off the CPU, sched:sched_stat_* */
};
PD_API enum pd_unit pd_event_unit(const struct pd_event *event);

struct pd_profile;

/** Samples that agree. Members that were not asked for are 0, NULL, or UINT32_MAX for numbers of threads and CPUs. */
struct pd_profile_entry {
	const struct pd_event *event;
	const char *comm;    /* ":TID" if it is not known; equal names are one pointer */
	uint32_t pid, tid, cpu;
	uint64_t cgroup;
	uint64_t weight;     /* of one sample */
	uint64_t slice_ns;   /* start of the slice of time */
	size_t stack;        /* see pd_profile_stack */
	uint64_t samples;
	uint64_t period;     /* sum */
	uint64_t weights;    /* sum, if the event records weights */
	struct pd_bytes raw; /* raw data of each sample; 8-aligned */
};

/** How much of an entry fell into a slice of time. */
struct pd_slice {
	uint64_t period;
	uint32_t samples;
	uint32_t index; /* counted from that of the first sample; UINT32_MAX: the samples have no time */
};

/** A distinct place: in an object, whatever processes have it; in memory without a file, by process. */
struct pd_frame {
	struct pd_place place; /* names are there after pd_profile_name; recorded is as the first sample has it */
	unsigned cpumode;      /* PD_CPUMODE_... */
	uint32_t pid;          /* process of the first sample; 0 for the kernel */
	struct pd_moment when; /* of the first sample */
};

/** Where samples were. Stacks that look the same once they are named may still be several: by places in functions. */
struct pd_stack {
	uint32_t ip;                    /* where the sample was taken; see pd_profile_frame */
	const uint32_t *callers;        /* the call chain, frames again, innermost first; it begins with ip again where
					 * the kernel recorded it so. Empty without PD_BY_CHAIN. */
	size_t caller_count;
	bool cut;                       /* the chain has as many addresses as the recorder allowed */
	bool damaged;                   /* the chain has a marker that nobody knows: no callers are shown */
};

/** What belongs to one event. */
struct pd_profile_total {
	const struct pd_event *event;
	uint64_t samples, period, weights; /* taken */
	uint64_t left_samples, left_period; /* counted as left out by the filter */
	uint64_t copied_stacks; /* taken samples with a copy of the user stack and of the registers, and no user part of the
				 * call chain: user stacks are not unwound, so their callers are missing */
};

/** What was lost, of the whole file. */
struct pd_profile_losses {
	uint64_t lost;          /* records, by LOST */
	uint64_t lost_records;  /* LOST records */
	uint64_t lost_samples;  /* samples, by LOST_SAMPLES */
	uint64_t throttles;     /* THROTTLE records */
	uint64_t unthrottles;
	uint64_t aux_lost;      /* AUX records that say truncated, partial or with a gap */
	uint64_t unknown_event; /* samples whose id belongs to no event */
	uint64_t damaged;       /* samples that cannot be taken apart */
	uint64_t first_ns, last_ns; /* oldest and newest time of a sample; 0 if there are none */
	bool had_samples;       /* the file has samples, wanted or not */
};

/** Reads a file that can be read twice (see pd_run). The file must live as long as the profile.
 * Errors: those of pd_run; PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_profile_read(struct pd_file *file, const struct pd_profile_options *options,
				      struct pd_profile **profile_out, struct pd_error *error);
PD_API void pd_profile_free(struct pd_profile *profile);
/** The world of the file, settled. Belongs to the profile. */
PD_API const struct pd_world *pd_profile_world(const struct pd_profile *profile);
/** Gives the places of all stacks names. symbols must have been made with the profile's world and live longer than
 * what is asked afterwards. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_profile_name(struct pd_profile *profile, struct pd_symbols *symbols,
				      struct pd_error *error);

/** The index-th entry; NULL past the end. Entries come by event, then as they were first seen in the file. */
PD_API const struct pd_profile_entry *pd_profile_entry(const struct pd_profile *profile, size_t index);
/** The slices of time of the index-th entry, ascending, if pd_profile_options.slices was set; index is not checked. One with
 * very many samples may stand there more than once. */
PD_API const struct pd_slice *pd_profile_slices(const struct pd_profile *profile, size_t index, size_t *count_out);
/** How long slices of time are, and when the first one begins. They are longer than was asked for where entries and slices
 * are so many that memory would be much. */
PD_API uint64_t pd_profile_slicing(const struct pd_profile *profile, uint64_t *first_ns_out);
/** Number of stacks, and one of them; index is not checked. */
PD_API size_t pd_profile_stack_count(const struct pd_profile *profile);
PD_API const struct pd_stack *pd_profile_stack(const struct pd_profile *profile, size_t index);
/** Number of frames, and one of them; index is not checked. Frames come in the order of their first use. */
PD_API size_t pd_profile_frame_count(const struct pd_profile *profile);
PD_API const struct pd_frame *pd_profile_frame(const struct pd_profile *profile, uint32_t index);
/** Totals of the index-th event of the file. */
PD_API const struct pd_profile_total *pd_profile_total(const struct pd_profile *profile, size_t event);
PD_API const struct pd_profile_losses *pd_profile_losses(const struct pd_profile *profile);

#ifdef __cplusplus
}
#endif
#endif
