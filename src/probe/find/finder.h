/* SPDX-License-Identifier: MIT */
/* From a definition to places in the code, and at each of these to values. */
#ifndef PD_PROBE_FIND_FINDER_H
#define PD_PROBE_FIND_FINDER_H

#include "probe/definition/definition.h"
#include "probe/find/unit.h"

/** What the kernel can do with a definition, as its tracefs says. */
struct pd_probe_features {
#define FEATURE(member, pattern) bool member;
#include "probe/find/features.def"
};

/** The search for one definition. */
struct pd_probe_finder {
	struct pd_arena *arena;
	struct pd_probe_debug *debug;
	const struct pd_probe_definition *definition;
	struct pd_probe_features features;
	const struct pd_probe_options *options;
	bool is_user;
	struct pd_error *error;

	struct pd_probe_unit unit; // the present one
	// lines that are looked for: of a file, one of them
	const char *file;
	uint32_t line;
	// the present place
	uint64_t addr;
	struct pd_die scope;    // innermost function, which may be inlined
	struct pd_die function; // that has the code
	bool has_frame;
	struct pd_die_operation frame; // where its frame is

	// called at each place
	enum pd_status (*found)(struct pd_probe_finder *finder);
	void *self;
	size_t count;
};

/** Looks for all places; count of them is in the finder. Errors: PD_ERROR_NO_MATCH, those of found. */
enum pd_status pd_probe_find(struct pd_probe_finder *finder);
/** What was found at the present place. Its symbol is the function. Errors: PD_ERROR_NO_MATCH if it is outside of the function. */
enum pd_status pd_probe_place(struct pd_probe_finder *finder, struct pd_probe_point *point);

// ---- patterns.c ----

/** The numbers of the lines of a file that match a pattern, which ignores blanks; *lines_out is given away (pd_free). */
enum pd_status pd_probe_match_lines(const char *path, const char *pattern, uint32_t **lines_out, size_t *count_out,
				    struct pd_error *error);
/** Where a source file is: below the root, or one that is given instead of the folder that it was compiled in. NULL if nowhere. */
const char *pd_probe_source(struct pd_arena *arena, const char *path, const char *folder, const char *root);

// ---- values.c ----

enum pd_probe_found {
	PD_PROBE_FOUND,
	PD_PROBE_MISSING,     // it has no place here
	PD_PROBE_ELSEWHERE,   // it has one at other addresses of the function
	PD_PROBE_UNSUPPORTED, // it has one that probes cannot read
	PD_PROBE_NO_MEMORY
};

/** Where a variable is at the present place; value NULL: only whether it has a place. any: with PD_PROBE_ELSEWHERE. */
enum pd_probe_found pd_probe_locate(struct pd_probe_finder *finder, const struct pd_die *variable, bool any,
				    struct pd_probe_value *value);
/** The values of all arguments of the definition at the present place. */
enum pd_status pd_probe_values(struct pd_probe_finder *finder, struct pd_probe_point *point);
/** Values that are not known at one place become a constant, if they are known at another one. */
enum pd_status pd_probe_fill(struct pd_probe_finder *finder, struct pd_probe_point *points, size_t count);

// ---- fields.c ----

/** Follows the fields of an argument; *die becomes what has the type of the last one. */
enum pd_status pd_probe_fields(struct pd_probe_finder *finder, const struct pd_probe_argument *argument,
			       struct pd_die *die, struct pd_probe_value *value);
/** Sets the type of a value by the argument, else by what die says. */
enum pd_status pd_probe_type(struct pd_probe_finder *finder, const struct pd_probe_argument *argument,
			     const struct pd_die *die, struct pd_probe_value *value);
/** The type of an entry without qualifiers, and without typedefs if plain. */
bool pd_probe_type_of(const struct pd_die *die, bool plain, struct pd_die *type_out);
/** "struct " and the like, which stands in front of the name; empty if nothing does. */
const char *pd_probe_type_prefix(uint32_t tag);
/** The name of its type as perf shows it; false if it has none. */
bool pd_probe_put_type(struct pd_text *text, const struct pd_die *die);

#endif
