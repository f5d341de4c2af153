/* SPDX-License-Identifier: MIT */
/**
 * unwind.h - call chains from copied user stacks (perf record --call-graph dwarf).
 *
 * A sample with user registers and a copy of the user stack is unwound by the rules of the objects that were mapped at that
 * moment: .eh_frame and .debug_frame of the object or its debug file, .ARM.exidx, SFrame, or those of a jitdump. Each object is compiled once into a table of rules.
 * Frames are those of perf: innermost first, each return address less one.
 *
 * Where processors recorded the last calls (LBR call stacks), these are the user part of the chain.
 *
 * A call chain whose user part the kernel recorded later (CALLCHAIN_DEFERRED) is joined with it. The record comes after the sample, so
 * the state must have been fed all of the file.
 *
 * Threads: each uses an unwinder of its own, see pd_unwinder_clone; tables are shared without locks.
 *
 * Example:
 *
 *	const struct pd_state *state = pd_profile_state(profile);
 *	struct pd_unwinder *unwinder;
 *	struct pd_unwound unwound;
 *
 *	if (pd_unwinder_new(file, state, symbols, NULL, &unwinder, &error) == PD_OK) {
 *		while (pd_stream_next(stream, &record, &error) == PD_OK)
 *			if (pd_unwinder_sample(unwinder, record, &unwound))
 *				for (size_t i = 0; i < unwound.frame_count; i++)
 *					printf("%llx\n", (unsigned long long)unwound.frames[i]);
 *		pd_unwinder_free(unwinder);
 *	}
 */
#ifndef PERFDATA_UNWIND_H
#define PERFDATA_UNWIND_H

#include <perfdata/symbol.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Why a chain ends. */
enum pd_unwind_end {
	PD_UNWIND_OUTERMOST,   /* the outermost function: the chain is complete */
	PD_UNWIND_STACK_END,   /* the copy of the stack ends: a larger one would have more */
	PD_UNWIND_OTHER_STACK, /* the caller is on a stack that was not copied, as with signals on an alternate stack */
	PD_UNWIND_NO_RULE,     /* the object has no rule for this code, and there is no frame pointer */
	PD_UNWIND_NO_OBJECT,   /* the object was not found, or the code is in no object */
	PD_UNWIND_DAMAGED,     /* the next frame makes no sense */
	PD_UNWIND_DEPTH,       /* the maximum depth */
	PD_UNWIND_DEFERRED,    /* the kernel said that the user part comes later, and no record has it */
	PD_UNWIND_CALLS_FULL,  /* the processor keeps no more calls (LBR) */
	PD_UNWIND_ENDS
};
/** "outermost", "stack_end" ...; NULL past the end. */
PD_API const char *pd_unwind_end_name(enum pd_unwind_end end);

/** Zero is the default for each member; NULL means all defaults. */
struct pd_unwind_options {
	size_t size;        /* sizeof(struct pd_unwind_options) */
	unsigned max_stack; /* maximum depth of the unwound part, and of the recorded one; 0: 1024 */
	bool stitch_lbr; /* chains of branch stacks go on with older calls of the thread's last sample, where both agree. Samples
			     * must come in the order of time */
};

struct pd_unwinder;

/** How objects and frames got their rules. */
struct pd_unwind_stats {
	uint64_t indexed_objects;  /* whose rules the index of an earlier run had */
	uint64_t compiled_objects; /* whose call frame information was read */
	uint64_t missing_objects;  /* that were not found */
	uint64_t rows;             /* of the tables of all objects */
	uint64_t samples;
	uint64_t frames;          /* unwound */
	uint64_t repeated_frames; /* that the last sample of the thread had, too */
	uint64_t cached_rules;    /* of other frames and of what may be one, that the cache by address had */
	uint64_t searched_rules;  /* that were searched for in a table */
};

/** An unwound sample; valid until the next call for the unwinder. */
struct pd_unwound {
	struct pd_u64s chain; /* as a recorded call chain: what was recorded (usually the kernel's part), PD_CONTEXT_USER,
				  * then the frames */
	const uint64_t *frames; /* of user space, innermost first; part of chain */
	size_t frame_count;
	enum pd_unwind_end end;
	const struct pd_object *object; /* where it ended, or NULL */
	bool joined; /* recorded in two parts, not unwound: frames are addresses as recorded, and max_stack was not applied */
};

/** Samples that ended in one way in one object. */
struct pd_unwind_count {
	enum pd_unwind_end end;
	const struct pd_object *object; /* NULL: in none */
	uint64_t samples;
};

/** An unwinder for the samples of a file. state must be finalized; file, state and symbols must outlive the unwinder and its
 * clones. symbols find the objects; nobody else may use them during a call, unless the unwinder never has to load an object.
 * Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_unwinder_new(struct pd_file *file, const struct pd_state *state, struct pd_symbols *symbols,
				      const struct pd_unwind_options *options, struct pd_unwinder **unwinder_out,
				      struct pd_error *error);
/** One more for the same samples, for another thread. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_unwinder_clone(struct pd_unwinder *unwinder, struct pd_unwinder **clone_out,
					struct pd_error *error);
/** Adds the counts of another one. */
PD_API void pd_unwinder_join(struct pd_unwinder *unwinder, const struct pd_unwinder *other);
PD_API void pd_unwinder_free(struct pd_unwinder *unwinder);

/** Unwinds a sample, or joins the parts of its chain. False if it has neither a copy of a user stack nor a chain of two parts, or if
 * it cannot be decoded. A chain whose second part is missing is truncated; one without any address gets that of the sample. */
PD_API bool pd_unwinder_sample(struct pd_unwinder *unwinder, const struct pd_record *record,
			       struct pd_unwound *unwound_out);
/** The index-th count, by end, then by object; false past the end. */
PD_API bool pd_unwinder_count(const struct pd_unwinder *unwinder, size_t index, struct pd_unwind_count *count_out);
/** Prints which part of the stacks is incomplete and why, as a sentence without a full stop: "3 of 90 unwound stacks are incomplete:
 * the copied stack ends (3)". Nothing, and returns false, if all are complete, or unwinder is NULL. */
PD_API bool pd_print_unwinding(const struct pd_unwinder *unwinder, struct pd_text *text);
/** What was done so far by all unwinders of these samples that were joined; NULL: nothing. */
PD_API struct pd_unwind_stats pd_unwinder_stats(const struct pd_unwinder *unwinder);
/** Prints it: a line for each number, or a JSON object. */
PD_API void pd_print_unwind_stats(const struct pd_unwinder *unwinder, struct pd_text *text);
PD_API void pd_json_unwind_stats(const struct pd_unwinder *unwinder, struct pd_text *text);
/** True if memory ran out: rules may be missing. */
PD_API bool pd_unwinder_failed(const struct pd_unwinder *unwinder);

#ifdef __cplusplus
}
#endif
#endif
