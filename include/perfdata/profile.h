/* SPDX-License-Identifier: MIT */
/**
 * profile.h - aggregates the samples of a file by event, thread, stack ...
 *
 * Samples with equal event, stack and other selected keys form one entry. With pd_profile_options.symbols a frame of a stack is a
 * function, without them an address. Memory grows with distinct stacks, not with samples.
 *
 * Names come with pd_symbols_new, of the profile's state, and pd_profile_name; then pd_profile_stack has frames with places.
 * The result, including the order of entries, does not depend on the number of threads.
 *
 * Example:
 *
 *	const struct pd_profile_options options = { .size = sizeof(options), .by = PD_BY_COMM };
 *	struct pd_profile_entry entry;
 *
 *	if (pd_profile_read(file, &options, &profile, &error) == PD_OK) {
 *		for (size_t i = 0; pd_profile_entry(profile, i, &entry); i++)
 *			printf("%s: %u samples\n", entry.comm, (unsigned)entry.samples);
 *		pd_profile_free(profile);
 *	}
 */
#ifndef PERFDATA_PROFILE_H
#define PERFDATA_PROFILE_H

#include <perfdata/run.h>
#include <perfdata/text.h>
#include <perfdata/unwind.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Keys of entries, besides event, CPU mode and address. */
enum pd_profile_by {
	PD_BY_COMM = 1,
	PD_BY_PID = 2,
	PD_BY_TID = 4,
	PD_BY_CPU = 8,
	PD_BY_CHAIN = 16, /* the call chain, not only the sample address */
	PD_BY_CGROUP = 32,
	PD_BY_WEIGHT = 64,
	PD_BY_TIME = 128, /* time slices, see pd_profile_options.slice_ns */
	PD_BY_RAW = 256,  /* raw data, such as tracepoint fields */
	/* Of what pd_profile_options.symbols knows, functions are frames, unless one of these is set. */
	PD_BY_ADDRESS = 512, /* each address of a function is a frame, as without symbols */
	PD_BY_ACCESS = 2048, /* what a sample accessed: struct pd_access, in front of the raw data */
	PD_BY_DATA =
		4096, /* where the data is: struct pd_data_place behind the struct pd_access, which comes with it */
	PD_BY_PERIOD = 8192,       /* how large the period of one sample is: pd_profile_entry.sample_period */
	PD_BY_PARALLELISM = 16384, /* how many threads ran at the time of the sample */
	/* With PD_BY_CHAIN: call chains begin with the branches of the sample's branch stack, of each where it went and where it
	 * came from; see struct pd_passed_branch. */
	PD_BY_BRANCHES = 32768,
	PD_BY_LINE = 1024 /* only in objects with debug information, where pd_symbols_lines tells addresses apart */
};

/** Result of a filter. */
enum pd_choice {
	PD_CHOICE_TAKE,
	PD_CHOICE_COUNT, /* only add to the totals of excluded samples */
	PD_CHOICE_LEAVE  /* ignore */
};

/** Latencies are in parts of the unit of their period. */
enum {
	PD_LATENCY_UNIT = 1000
};

/** A sample for a filter. */
struct pd_candidate {
	const struct pd_record *record;
	const struct pd_event *event;
	const struct pd_brief *brief;
	const char *comm;     /* NULL: unknown */
	uint32_t parallelism; /* threads that ran at this time; 0: not asked for */
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_profile_options {
	size_t size;        /* sizeof(struct pd_profile_options) */
	uint32_t by;        /* PD_BY_... */
	unsigned threads;   /* as in pd_run_options */
	unsigned max_stack; /* maximum call chain depth; 0: unlimited */
	uint64_t slice_ns;  /* length of a time slice, for PD_BY_TIME; 0: 1/100 of the time range */
	/* Filter, called for each sample, concurrently from several threads; must not modify self. May be NULL. */
	enum pd_choice (*choose)(const void *self, const struct pd_candidate *candidate);
	/* See pd_run_options. */
	enum pd_status (*ready)(void *self, struct pd_window *window, struct pd_error *error);
	bool (*progress)(void *self, uint64_t done, uint64_t total);
	void *self;
	uint64_t from_ns, to_ns; /* time range; to_ns is inclusive, 0: open */
	bool slices;             /* also aggregate each entry by time slice, see pd_profile_slices */
	/* Returns the symbols that will be used for symbolization, opened with this finalized state; they are owned by the
	 * caller, and must remain valid and unused by others until the profile is read. Called once,
	 * by any thread: when the first address is met, or before if a process mapped a jitdump, to distinguish
	 * JIT-compiled code that replaced other code at one address. Frames are functions then, unless addresses are
	 * asked for; with pd_symbols_options.fetch they are addresses, as nothing is fetched while samples are read.
	 * May be NULL, and may return NULL. */
	struct pd_symbols *(*symbols)(void *self, const struct pd_state *state);
	bool unnamed_as_one; /* with symbols: addresses without a function are one frame for each object, and one
				  * where nothing is mapped */
	/* Percent. Callers without a function that have a smaller share of an event's period may be one frame, which is marked as
	 * merged: for graphs that show no smaller ones. Chains through code without frame pointers end in very many
	 * addresses. 0: each is a frame. */
	double merge_below;
	bool no_unwind; /* call chains as they were recorded. Otherwise copied user stacks are unwound, with PD_BY_CHAIN and
			      * symbols */
	bool stitch_lbr; /* see pd_unwind_options; by one thread */
	/* With merge_below: callers are merged only where nothing is mapped, and what each of the N outermost callers of a sample has is
	 * kept, see pd_profile_merged_caller. 0: nothing is kept. */
	unsigned keep_merged;
	bool weights;     /* periods are the weights of samples, and 1 where that is 0 or not recorded */
	bool parallelism; /* candidates of the filter have theirs, too, not only entries with PD_BY_PARALLELISM */
	/* Periods are the share of the wall time: that of a sample divided by how many threads ran at that time. Those of events that do not count
	 * ns are in thousandths. This, parallelism and PD_BY_PARALLELISM need recorded context switches. */
	bool latency;
	/* With symbols, without PD_BY_CHAIN: all places of a CPU mode that have a function are one frame, and so are those that have none:
	 * for views that do not show places. */
	bool places_as_one;
	/* With PD_BY_BRANCHES: chains are for graphs from the outermost caller down, where perf begins with the first branch; of
	 * branches and of callers there are max_stack at most. */
	bool outermost_first;
};

/** Unit of the natural weight of samples of an event: their period if recorded, else 1. Weights of different events
 * can be added only if both are samples or both are ns. */
enum pd_unit {
	PD_UNIT_SAMPLES, /* period not recorded: each sample counts as 1 */
	PD_UNIT_EVENTS,  /* the counted event: cycles, page faults, ... */
	PD_UNIT_NS       /* time: cpu-clock, task-clock, off-CPU time, sched:sched_stat_* */
};
/** Unit of the samples of an event. */
PD_API enum pd_unit pd_event_unit(const struct pd_event *event);

struct pd_profile;

/** Samples with equal keys. Keys that were not selected are 0, NULL, or UINT32_MAX for pid, tid and cpu. */
struct pd_profile_entry {
	const struct pd_event *event;
	const char *comm; /* ":TID" if unknown; equal names have equal pointers */
	uint32_t pid, tid, cpu;
	uint64_t cgroup;
	uint64_t weight;   /* of one sample */
	uint64_t slice_ns; /* start of the time slice */
	size_t stack;      /* see pd_profile_stack */
	uint64_t samples;
	uint64_t period;  /* sum */
	uint64_t weights; /* sum, if the event records weights */
	/* With PD_BY_ACCESS a struct pd_access, with PD_BY_BRANCHES what is of branches, then raw data of each sample; 8-aligned. */
	struct pd_bytes raw;
	uint64_t sample_period; /* with PD_BY_PERIOD that of each sample, without all but its seven highest bits: at most
				 * 1/64 too low */
	uint32_t parallelism;   /* threads that ran at the time of the samples; 0: not asked for */
};

/** What a sample says of its memory access and transaction; 0: not recorded. */
struct pd_access {
	uint64_t data_src; /* if not recorded, the value for that */
	uint64_t transaction;
	uint64_t data_page_size, code_page_size;
	uint32_t latency; /* of the instruction */
	uint32_t stage;   /* cycles in a stage of the pipeline */
};

/** Where the data that a sample accessed is, by what was mapped then. */
struct pd_data_place {
	uint64_t addr, phys_addr;         /* 0: not recorded */
	uint64_t ip;                      /* address of the code, as recorded */
	const struct pd_mapping *mapping; /* of the profile's state; NULL: nothing is mapped at addr */
};

/** What a sample says of a branch of its chain. With PD_BY_BRANCHES raw has their number, 64 bits, and one for each, in the order
 * in which their frames are in the chain: two for each branch. */
struct pd_passed_branch {
	uint32_t iteration_cycles; /* of the last time that the loop before it was passed */
	uint16_t cycles;
	uint8_t iterations; /* how often that was in a row, but for the first time */
	uint8_t flags;      /* PD_PASSED_... */
};

enum {
	PD_PASSED_PREDICTED = 1,
	PD_PASSED_ABORTED = 2,
	PD_PASSED_REVERSED = 4 /* where it came from is first */
};

/** Part of an entry in a time slice. */
struct pd_slice {
	uint64_t period;
	uint32_t samples;
	uint32_t index; /* from the first sample; UINT32_MAX: samples without timestamps */
};

/** A distinct function, or a distinct location: in an object, whatever processes map it; in anonymous memory, by process. */
struct pd_frame {
	struct pd_place place; /* symbolized by pd_profile_name; addresses are those of the first sample */
	unsigned cpumode;      /* PD_CPUMODE_... */
	uint32_t pid;          /* process of the first sample; 0 for the kernel */
	struct pd_moment when; /* of the first sample */
	bool merged;           /* stands for rare callers, see pd_profile_options.merge_below; it has no place */
};

/** A distinct stack. Stacks with equal function names may differ in addresses. */
struct pd_stack {
	uint32_t ip;             /* the sample address; see pd_profile_frame */
	const uint32_t *callers; /* frames of the call chain, innermost first; starts with ip again if recorded
					 * so. Empty without PD_BY_CHAIN. */
	size_t caller_count;
	bool cut;        /* truncated: the chain has the maximum depth of the recorder, or unfinished */
	bool damaged;    /* the chain has an invalid context marker: no callers */
	bool unfinished; /* unwinding did not get to the outermost function: see pd_profile_unwinder. Or the recorded chain
			  * says so by ending in PD_CONTEXT_USER, as pd_inject writes it */
};

/** A caller that is one frame with others, see pd_profile_options.keep_merged: an address where nothing is mapped, of all samples that
 * have one event, thread ... in common. */
struct pd_merged_caller {
	uint64_t addr;
	uint64_t samples, period; /* of samples that have it in their call chain, each once */
	uint64_t order;           /* of its first sample, as in pd_moment */
	size_t entry;             /* of its first sample */
	uint32_t inner, outer;    /* where it is first and last in the callers of that entry's stack */
	uint32_t below, above;    /* most callers of a sample from where it is first on, and up to where it is last;
				   * callers that are not kept are not there */
};

/** Totals of an event. */
struct pd_profile_total {
	const struct pd_event *event;
	uint64_t samples, period, weights;  /* included */
	uint64_t left_samples, left_period; /* excluded by the filter with PD_CHOICE_COUNT */
	uint64_t copied_stacks; /* included samples with a copy of the user stack and registers, and no user part of the
				 * call chain, that were not unwound: their callers are missing */
	/* Periods of the whole profile are divided by 2 to this power, as their sum would not fit; a problem says so. Otherwise 0. */
	unsigned period_shift;
	/* With PD_BY_PARALLELISM, of the same samples: each period divided by its parallelism, in thousandths. */
	uint64_t latency, left_latency;
};

/** Losses of the whole file. */
struct pd_profile_losses {
	uint64_t lost;         /* records, from LOST */
	uint64_t lost_records; /* LOST records */
	uint64_t lost_samples; /* samples, from LOST_SAMPLES */
	uint64_t throttles;    /* THROTTLE records */
	uint64_t unthrottles;
	uint64_t aux_lost;          /* AUX records flagged truncated, partial or collision */
	uint64_t unknown_event;     /* samples with an unknown id */
	uint64_t damaged;           /* samples that cannot be decoded */
	uint64_t first_ns, last_ns; /* oldest and newest timestamp of a sample; 0: none */
	bool had_samples;           /* the file has samples, included or not */
};

/** Memory of a table, or of several that belong together. */
struct pd_profile_table {
	const char *name;   /* static, as doc */
	const char *doc;    /* one line */
	uint64_t count;     /* items */
	uint64_t bytes;     /* including spare capacity */
	bool stacks;        /* holds stacks, or what is counted for each */
	bool while_reading; /* freed once the samples are read */
};

/** What a profile consists of. */
struct pd_profile_sizes {
	uint64_t samples;
	uint64_t buckets;        /* samples with equal keys */
	uint64_t stacks;         /* distinct */
	uint64_t nodes;          /* of the tree of stacks, whose roots are the outermost callers */
	uint64_t frames;         /* functions and addresses, as in pd_profile_options */
	uint64_t functions;      /* that frames are in */
	uint64_t names;          /* distinct names of functions */
	uint64_t unnamed_frames; /* frames without a function */
	uint64_t stack_bytes;    /* of the tables that hold stacks */
	uint64_t bytes;          /* of all tables */
	struct pd_list tables;   /* struct pd_profile_table */
};

/** Reads a file that can be read twice (see pd_run). The file must outlive the profile.
 * Errors: those of pd_run; PD_ERROR_ARGUMENT; PD_ERROR_NO_MATCH if it is not known how many threads ran. */
PD_API enum pd_status pd_profile_read(struct pd_file *file, const struct pd_profile_options *options,
				      struct pd_profile **profile_out, struct pd_error *error);
PD_API void pd_profile_free(struct pd_profile *profile);
/** The finalized state of the file. Owned by the profile. */
PD_API const struct pd_state *pd_profile_state(const struct pd_profile *profile);
/** Symbolizes all stacks. symbols must have been opened with the profile's state and must outlive later queries.
 * Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_profile_name(struct pd_profile *profile, struct pd_symbols *symbols, struct pd_error *error);

/** Number of entries, and the index-th; false past the end. Sorted by event, then by first occurrence in the file. What an entry points
 * to is the profile's. */
PD_API size_t pd_profile_entry_count(const struct pd_profile *profile);
PD_API bool pd_profile_entry(const struct pd_profile *profile, size_t index, struct pd_profile_entry *entry_out);
/** Time slices of the index-th entry, ascending, if pd_profile_options.slices was set; NULL past the end. A slice
 * with very many samples may occur more than once. */
PD_API const struct pd_slice *pd_profile_slices(const struct pd_profile *profile, size_t index, size_t *count_out);
/** Length of a time slice, and start of the first. Longer than requested if entries and slices would need too much
 * memory. */
PD_API uint64_t pd_profile_slicing(const struct pd_profile *profile, uint64_t *first_ns_out);
/** Number of stacks, and the index-th; NULL past the end. */
PD_API size_t pd_profile_stack_count(const struct pd_profile *profile);
PD_API const struct pd_stack *pd_profile_stack(const struct pd_profile *profile, size_t index);
/** Number of frames, and the index-th; NULL past the end. Sorted by first use. */
PD_API size_t pd_profile_frame_count(const struct pd_profile *profile);
PD_API const struct pd_frame *pd_profile_frame(const struct pd_profile *profile, uint32_t index);
/** The index-th caller that was merged, in the order of first samples; false past the end. */
PD_API bool pd_profile_merged_caller(const struct pd_profile *profile, size_t index,
				     struct pd_merged_caller *caller_out);
/** Totals of the index-th event of the file. */
PD_API const struct pd_profile_total *pd_profile_total(const struct pd_profile *profile, size_t event);
/** How many threads ran when a sample was taken, if the options asked for it; else 0. *hint is 0 first, then it makes the next call
 * cheap. */
PD_API uint32_t pd_profile_parallelism(const struct pd_profile *profile, const struct pd_record *record, size_t *hint);
/** How unwinding ended, for pd_unwinder_count; NULL if nothing was to be unwound. Owned by the profile. */
PD_API const struct pd_unwinder *pd_profile_unwinder(const struct pd_profile *profile);
/** Losses of the file. */
PD_API const struct pd_profile_losses *pd_profile_losses(const struct pd_profile *profile);
/** Counts stacks, nodes, functions and names, and the memory of the tables that reading needed and of the result; of what each
 * thread has for itself, the sum. symbols are those of pd_profile_name; without them (NULL) functions are not counted. The result
 * is valid until the next call or pd_profile_free. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_profile_measure(struct pd_profile *profile, const struct pd_symbols *symbols,
					 const struct pd_profile_sizes **sizes_out, struct pd_error *error);

struct pd_size_table;
/** Sizes of a profile that is read in several ways, side by side: by address, by function, and with what has no function as
 * one frame. As long as pd_size_table_ask is true, it changes the options to those of the next way, by which the caller
 * reads and symbolizes a profile for pd_size_table_add. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_size_table_new(struct pd_size_table **table_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_size_table_free(struct pd_size_table *table);
PD_API bool pd_size_table_ask(const struct pd_size_table *table, struct pd_profile_options *options);
/** Measures the profile, which may be freed then. Errors: those of pd_profile_measure; PD_ERROR_ARGUMENT after the last way. */
PD_API enum pd_status pd_size_table_add(struct pd_size_table *table, struct pd_profile *profile,
					const struct pd_symbols *symbols, struct pd_error *error);
/** Prints all that was added, as text or as one JSON object on a line. */
PD_API void pd_size_table_text(const struct pd_size_table *table, struct pd_text *text);
PD_API void pd_size_table_json(const struct pd_size_table *table, struct pd_text *text);

#ifdef __cplusplus
}
#endif
#endif
