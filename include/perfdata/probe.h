/* SPDX-License-Identifier: MIT */
/**
 * probe.h - dynamic tracepoints in programs and in the kernel, as perf probe (6.1) defines them.
 *
 * A definition names a place, by a function or a line of the source, and what to record there, by the names of variables:
 *
 *   [[GROUP:]EVENT=]FUNC[@SRC][+OFFSET|%return|:LINE|;PATTERN] [ARG...]
 *   [[GROUP:]EVENT=]SRC{:LINE|;PATTERN} [ARG...]
 *   ARG: [NAME=]VALUE[:TYPE][@user]
 *   VALUE: VAR[->FIELD|.FIELD|[INDEX]]..., $params, $vars, $retval, $stackN, %register, @symbol, +OFFSET(VALUE)
 *
 * The debug information of an object says where these are. Each place becomes one event in the form that the kernel takes
 * (Documentation/trace/uprobetracer.rst), which is written to its tracefs; it can be recorded then like any other tracepoint.
 *
 * Threads: one at a time for each set of probes.
 *
 * Example:
 *
 *	const struct pd_probe_options options = { .size = sizeof(options), .object = "./server" };
 *	struct pd_probes *probes;
 *
 *	if (pd_probes_open(&options, &probes, &error) == PD_OK) {
 *		if (pd_probes_define(probes, "handle request->id name=request->name:string", &error) == PD_OK)
 *			pd_print_probe_definitions(text, probes, &error); // or pd_probes_add(), for the kernel
 *		pd_probes_close(probes);
 *	}
 */
#ifndef PERFDATA_PROBE_H
#define PERFDATA_PROBE_H

#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero is the default for each member; NULL means all defaults. Strings must live as long as the probes. */
struct pd_probe_options {
	size_t size;                    /* sizeof(struct pd_probe_options); 0 is PD_ERROR_ARGUMENT */
	const char *object;             /* program or library; NULL: the kernel */
	const char *module;             /* a module of the kernel, by its name or path; NULL: the kernel itself */
	const char *vmlinux;            /* image of the kernel with debug information; NULL: the usual locations */
	const char *kallsyms;           /* symbols of the kernel; NULL: /proc/kallsyms */
	const char *source;             /* directory with the sources; NULL: where they were compiled */
	const char *symfs;              /* root directory for the object and its debug file; NULL: "/" */
	const char *build_id_cache;     /* perf's, such as ~/.debug; NULL: none */
	const char *const *debug_paths; /* for debug files; NULL: /usr/lib/debug */
	size_t debug_path_count;
	const char *tracefs; /* NULL: where it is mounted */
	const char *
		filter; /* of functions and variables that are printed: names with * and ?, and ! | &. NULL: the default of perf */
	uint32_t most;   /* maximum number of places of one definition; 0: 128 */
	bool no_inlines; /* not where a function was inlined */
	bool force;      /* a name that is there already gets a number */
	bool ranges;     /* variables that have a value elsewhere in the function, too, with where that is */
	bool externs;    /* also global variables of the unit */
	bool dry_run;    /* pd_probe_run: nothing is written to the kernel */
	void (*note)(void *self, const char *line); /* what a user may want to know; NULL: nobody */
	void *self;
	bool escape; /* pd_probe_run: nothing that is printed acts on a terminal, whatever sources and names have in them */
};

struct pd_probes;

/** Opens an object, or the kernel, to define probes in it. Errors: PD_ERROR_ARGUMENT, PD_ERROR_SYSTEM if it is not found,
 * PD_ERROR_FORMAT if it is no ELF file, PD_ERROR_MEMORY. */
PD_API enum pd_status pd_probes_open(const struct pd_probe_options *options, struct pd_probes **probes_out,
				     struct pd_error *error);
PD_API void pd_probes_close(struct pd_probes *probes);

/** Finds the places and values of a definition, and adds them to the set. Errors: PD_ERROR_ARGUMENT if the definition is wrong, offset
 * is the column, from 0; PD_ERROR_NO_MATCH if there is no such place or variable; PD_ERROR_UNSUPPORTED if a probe cannot read
 * it; PD_ERROR_LIMIT if there are too many places; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_probes_define(struct pd_probes *probes, const char *definition, struct pd_error *error);
/** How many events the set has. */
PD_API size_t pd_probes_count(const struct pd_probes *probes);
/** Writes all events of the set to tracefs. Errors: PD_ERROR_NO_MATCH: an event of the name is there; PD_ERROR_OUTPUT: the kernel
 * refused it, or tracefs cannot be written; those before it are there then. */
PD_API enum pd_status pd_probes_add(struct pd_probes *probes, struct pd_error *error);

/** Prints the events of the set as the kernel takes them, a line each. Errors: PD_ERROR_ARGUMENT: no name can be made. */
PD_API enum pd_status pd_print_probe_definitions(struct pd_text *text, struct pd_probes *probes,
						 struct pd_error *error);
/** Prints the events of the set that were added, as perf probe --add does. */
PD_API void pd_print_added_probes(struct pd_text *text, const struct pd_probes *probes);
/** Prints the source of a function or of lines, with the numbers of lines that probes can be at. Range: FUNC[@SRC][:FIRST[+COUNT|-LAST]]
 * or SRC[:FIRST...]. Errors: those of pd_probes_define; PD_ERROR_SYSTEM: the source cannot be read. */
PD_API enum pd_status pd_print_probe_lines(struct pd_text *text, struct pd_probes *probes, const char *range,
					   struct pd_error *error);
/** Prints the variables that have a value at the places of a definition. Errors: those of pd_probes_define. */
PD_API enum pd_status pd_print_probe_variables(struct pd_text *text, struct pd_probes *probes, const char *definition,
					       struct pd_error *error);
/** Prints the functions that probes can be at, in the order of their names. Errors: PD_ERROR_NO_MATCH without symbols. */
PD_API enum pd_status pd_print_probe_functions(struct pd_text *text, struct pd_probes *probes, struct pd_error *error);

/** Prints the probes that are defined in the kernel, those whose "event" or "group:event" matches a filter; NULL: all. Errors:
 * PD_ERROR_NO_MATCH: tracefs cannot be read; PD_ERROR_ARGUMENT; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_print_probes(struct pd_text *text, const struct pd_probe_options *options, const char *filter,
				      struct pd_error *error);
/** Removes such probes, and prints a line for each. Errors: PD_ERROR_NO_MATCH: there are none; PD_ERROR_OUTPUT. */
PD_API enum pd_status pd_probes_remove(struct pd_text *text, const struct pd_probe_options *options, const char *filter,
				       struct pd_error *error);

/** One option of perf probe: "add", "del", "definition", "line", "vars", "list" or "funcs". item: its value; "" for all. */
struct pd_probe_step {
	const char *action, *item;
};

/** Does what perf probe does with such options, which are all of one kind, or with words, which are one definition to add. Prints
 * what is asked for, and what was added and removed. Errors: those of the functions above; PD_ERROR_ARGUMENT if there is nothing
 * to do, or several things. */
PD_API enum pd_status pd_probe_run(struct pd_text *text, const struct pd_probe_options *options,
				   const struct pd_probe_step *steps, size_t step_count, const char *const *words,
				   size_t word_count, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
