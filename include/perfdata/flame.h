/* SPDX-License-Identifier: MIT */
/**
 * flame.h - flame graphs and folded stacks: the stacks of a profile, merged into a tree of named frames. pd_viewer_flame_page (viewer.h)
 * makes a page of them.
 *
 * The profile is read with the options that pd_flame_profile_options fills in, and has names, see profile.h.
 *
 * Example:
 *
 *	const struct pd_flame_options options = { .size = sizeof(options), .root = PD_FLAME_ROOT_COMM };
 *	struct pd_flame *flame;
 *
 *	if (pd_flame_read(profile, symbols, &options, &flame, &error) == PD_OK) {
 *		pd_flame_print_svg(flame, 1200, 0.5, text, &error);
 *		pd_flame_free(flame);
 *	}
 */
#ifndef PERFDATA_FLAME_H
#define PERFDATA_FLAME_H

#include <perfdata/profile.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What stands before the frames of a stack. */
enum pd_flame_root {
	PD_FLAME_ROOT_NONE,
	PD_FLAME_ROOT_COMM,
	PD_FLAME_ROOT_PID, /* name-PID */
	PD_FLAME_ROOT_TID, /* name-PID/TID */
	PD_FLAME_ROOT_CPU  /* CPU 3 */
};

/** What the value of a stack is. */
enum pd_flame_weight {
	PD_FLAME_WEIGHT_NATURAL, /* by the unit of the event */
	PD_FLAME_WEIGHT_SAMPLES,
	PD_FLAME_WEIGHT_PERIOD,
	PD_FLAME_WEIGHT_LATENCY /* see pd_profile_options.latency */
};

/** The one event of several recordings that flame graphs are made of. All zero until the first pd_flame_read with it takes the first event
 * that has samples; later ones take the first one of equal type and configuration. */
struct pd_flame_event {
	bool known;
	uint32_t type;
	uint64_t config;
	char name[128];     /* as much of it as fits */
	size_t other_count; /* events of the first recording that have samples and are left out */
};

/** All zero, but for size, is ready for use. Strings must stay as they are until pd_flame_free. */
struct pd_flame_options {
	size_t size; /* of this struct */
	enum pd_flame_root root;
	enum pd_flame_weight weight;
	bool event_frame;       /* the event before everything else, if there is more than one */
	bool reverse;           /* from the sampled function to its callers */
	bool inverted;          /* drawn top-down */
	bool slices;            /* keep time slices separate, for a page in which the time can be chosen */
	bool plain_names;       /* one name for each frame, as in folded text, without object and kind */
	bool without_arguments; /* of functions */
	bool mark_kernel;       /* plain names end in _[k] */
	bool mark_jit;          /* _[j] */
	bool mark_inlined;      /* _[i] */
	bool join_blanks;       /* blanks in names of threads become _ */
	unsigned max_stack;     /* frames of a stack; 0: all */
	size_t threads;         /* 0: one for each CPU that may be used */
	double percent_limit;   /* frames below this share are omitted; only where the values of all events add up */
	const char *name;       /* of the recording, for messages and the title */
	const char *title;      /* NULL: the last part of name */
	/** Which samples are included, by the location of their function; NULL: all. Called from several threads. */
	bool (*wanted)(void *self, const struct pd_place *place);
	void *self;
	struct pd_flame_event *one_event; /* NULL: all events */
};

struct pd_flame;

/** Fills in what a profile for these options distinguishes: by, max_stack and slices. */
PD_API void pd_flame_profile_options(const struct pd_flame_options *options, struct pd_profile_options *profile);

/** Names and merges the stacks of a profile. Profile and symbols must outlive the result, which is the caller's.
 * PD_ERROR_NO_MATCH: there are no stacks, or not the one event. */
PD_API enum pd_status pd_flame_read(const struct pd_profile *profile, struct pd_symbols *symbols,
				    const struct pd_flame_options *options, struct pd_flame **flame_out,
				    struct pd_error *error);
/** Reads folded stacks, lines of "a;b;c 12"; path "-" is standard input. What cannot be read is reported to warn (may be
 * NULL) and counted. PD_ERROR_NO_SAMPLES: there are no stacks. */
PD_API enum pd_status pd_flame_read_folded(const char *path, const struct pd_flame_options *options, pd_warn_fn *warn,
					   void *self, struct pd_flame **flame_out, struct pd_error *error);
PD_API void pd_flame_free(struct pd_flame *flame);

/** Numbers about a flame graph. */
struct pd_flame_summary {
	uint64_t samples;               /* included */
	uint64_t samples_in_file;       /* of the chosen time and events, whatever the other filters said */
	uint64_t cut, damaged, unknown; /* samples with a truncated or damaged stack; of unknown functions */
	uint64_t copied;                /* samples with a copied user stack that is not unwound */
	uint64_t wrong_lines;           /* of folded stacks */
	const char *unit;               /* "samples", "events", "ns" or "counts"; NULL: the events do not add up */
};
/** The numbers of a flame graph. */
PD_API void pd_flame_summary(const struct pd_flame *flame, struct pd_flame_summary *summary_out);

/** A frame below another one. The strings are valid until pd_flame_free. */
struct pd_flame_node {
	const char *name, *object; /* object "" if there is none */
	const char *kind;          /* "user", "kernel", "inlined", "jit", "java" ...; of the first node "root" */
	uint32_t depth;            /* of the root 0 */
	uint64_t total;            /* with everything called from it */
};
/** Nodes in order: each one, then those below it, siblings by name. The first one is the root. The tree is built by the first
 * call, which returns false if there is no memory, or past the end. Not after pd_flame_print_folded. */
PD_API bool pd_flame_node(struct pd_flame *flame, size_t index, struct pd_flame_node *node_out);

/** Adds one line for each distinct stack, sorted by bytes: "a;b;c 12". PD_ERROR_MEMORY. PD_ERROR_OUTPUT: the sink of the text
 * failed. The stacks are used up: nothing else can be printed then. */
PD_API enum pd_status pd_flame_print_folded(struct pd_flame *flame, struct pd_text *text, struct pd_error *error);
/** Merges two folded texts into lines "a;b;c 12 34", the value of the old one first, 0 where one lacks the stack: what difffolded
 * makes, with nothing lost of either. normalize: old values are scaled to the new total. Errors: PD_ERROR_LIMIT, the numbers of one do
 * not fit into 64 bits together; PD_ERROR_MEMORY; PD_ERROR_OUTPUT. */
PD_API enum pd_status pd_folded_compare(struct pd_bytes old_text, struct pd_bytes new_text, bool normalize,
					struct pd_text *text, struct pd_error *error);
/** Two folded texts as a tree of text, with the share of each stack before and after, and the change in points; those that changed by
 * less than least points are left out unless one below them changed. Of reversed stacks it says which callers brought the change of a function.
 * escape: control characters, for terminals. Errors: those of pd_folded_compare. */
PD_API enum pd_status pd_flame_print_changes(struct pd_bytes old_text, struct pd_bytes new_text, double least,
					     bool escape, struct pd_text *text, struct pd_error *error);
/** The event that is compared, as a comment above such a tree. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_flame_print_event(const struct pd_flame_event *event, bool escape, struct pd_text *text,
					   struct pd_error *error);
/** Adds an SVG image; width and the least width of a frame are in pixels. Errors: PD_ERROR_MEMORY, PD_ERROR_OUTPUT. */
PD_API enum pd_status pd_flame_print_svg(struct pd_flame *flame, double width, double min_width, struct pd_text *text,
					 struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
