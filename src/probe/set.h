/* SPDX-License-Identifier: MIT */
/* A set of probes: the object that they are in, what the kernel can do, and the events that definitions became. */
#ifndef PD_PROBE_SET_H
#define PD_PROBE_SET_H

#include "object/symbols/kallsyms.h"
#include "probe/find/finder.h"

/** A definition with its events. */
struct pd_probe_item {
	struct pd_probe_definition definition;
	struct pd_probe_point *points;
	size_t count, capacity;
};

struct pd_probes {
	struct pd_probe_options options;
	struct pd_arena arena;
	const char *path;  // of the object; NULL: the kernel
	const char *where; // what definitions of events say: the object, or a kernel module; NULL: the kernel
	struct pd_find_places places;
	struct pd_probe_debug debug; // no object: nothing was found of the kernel
	struct pd_kallsyms kallsyms; // once it was asked for
	bool has_kallsyms;
	bool is_offline; // the image is that of any kernel: symbols are not moved
	char *tracefs;   // NULL: not mounted
	struct pd_probe_features features;
	struct pd_probe_item *items;
	size_t count, capacity;
};

/** Options with the size that the caller has; NULL is PD_ERROR_ARGUMENT in out. */
enum pd_status pd_probe_take_options(const struct pd_probe_options *options, struct pd_probe_options *out,
				     struct pd_error *error);
/** A path as any process finds it, if it is not below another root; NULL without memory. */
const char *pd_probe_absolute(struct pd_arena *arena, const struct pd_probe_options *options, const char *path);
/** Fails unless there is debug information; what: what was asked for. */
enum pd_status pd_probe_need_information(const struct pd_probes *probes, const char *what, struct pd_error *error);
/** Fills a finder for a definition. */
struct pd_probe_finder pd_probe_finder_of(struct pd_probes *probes, const struct pd_probe_definition *definition,
					  struct pd_error *error);
/** Finds places as pd_probe_find does, and if there are none those of the function that has the symbol of that name. */
enum pd_status pd_probe_find_or_alias(struct pd_probes *probes, struct pd_probe_finder *finder);
/** One more point of an item; NULL if there is no memory, or (PD_ERROR_LIMIT) there are too many. */
enum pd_status pd_probe_item_add(struct pd_probes *probes, struct pd_probe_item *item,
				 const struct pd_probe_point *point, struct pd_error *error);
/** Places by symbols alone. */
enum pd_status pd_probe_by_symbols(struct pd_probes *probes, struct pd_probe_item *item, struct pd_error *error);
/** The symbols of the running kernel; NULL if they cannot be read. */
const struct pd_kallsyms *pd_probe_kallsyms(struct pd_probes *probes);
/** Where the kernel's reference symbol is. */
bool pd_probe_reference(struct pd_probes *probes, const char **name_out, uint64_t *addr_out);
/** The symbol of a kernel by its name. */
bool pd_probe_kernel_symbol(const struct pd_kallsyms *kallsyms, const char *name, struct pd_symbol *symbol_out);

// ---- names.c ----

/** The group of probes in an object: probe_ and the name of the object. */
const char *pd_probe_group(struct pd_arena *arena, const char *path);
/** Names the events of an item. existing: "group:event" lines of events that are there already, or NULL; suffixed: they may get
 * numbers. */
enum pd_status pd_probe_name(struct pd_probes *probes, struct pd_probe_item *item, const char *existing, bool suffixed,
			     struct pd_error *error);

// ---- tracefs.c ----

struct pd_probe_features pd_probe_features_read(const char *tracefs);
/** The contents of kprobe_events or uprobe_events; given away (pd_free). NULL if it cannot be read. */
char *pd_probe_events_read(const char *tracefs, bool is_user);
/** The names in both of them, "group:event" lines; given away (pd_free). NULL if there are none. */
char *pd_probe_names(const char *tracefs);
/** Writes a line to one of them. */
enum pd_status pd_probe_events_write(const char *tracefs, bool is_user, const char *line, struct pd_error *error);
/** Where tracefs is; given away (pd_free). NULL if it cannot be read. */
char *pd_probe_tracefs(const struct pd_probe_options *options);

/** A line of these files. Strings are in the arena. */
bool pd_probe_parse_event(struct pd_arena *arena, const char *line, size_t length, struct pd_probe_point *point_out);

// ---- filter.c ----

/** Whether a name matches a filter: patterns with ! before, parted by & and |. */
bool pd_probe_filter(const char *filter, const char *name);

#endif
