/* SPDX-License-Identifier: MIT */
/*
 * Probes from inside: a definition as perf probe takes it (parse.c) becomes points (find/, symbols.c) with values
 * (find/values.c, fields.c), which are the definitions that the kernel takes (text.c, tracefs.c).
 */
#ifndef PD_PROBE_DEFINITION_DEFINITION_H
#define PD_PROBE_DEFINITION_DEFINITION_H

#include <perfdata/probe.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"

enum {
	PD_PROBE_ARGUMENTS = 128, // of a probe, as with the kernel
	PD_PROBE_NAME = 64        // most bytes of the name of an event, with its NUL
};

// ---- parse.c ----

/** A step from a variable to a part of it. */
struct pd_probe_field {
	const char *name; // as written, also "[3]"
	bool is_index;    // [index]
	bool is_arrow;    // ->name, not .name
	long index;
	struct pd_probe_field *next;
};

struct pd_probe_argument {
	const char *name;     // given, or that of the last field; NULL: none
	const char *variable; // a variable, or a register and the like as the kernel takes it
	const char *type;     // NULL: that of the variable
	bool is_user;         // @user: in the memory of the process
	struct pd_probe_field *fields;
};

/** What perf probe --add takes, with its defaults. Strings are in the arena. */
struct pd_probe_definition {
	const char *text; // all of it
	const char *group, *event;
	const char *function, *file, *pattern; // pattern: of source lines
	uint64_t line, offset, addr;
	bool is_addr; // function is an address
	bool is_return;
	struct pd_probe_argument *arguments;
	size_t argument_count;
};

/** Errors: PD_ERROR_ARGUMENT, offset is where in the text; PD_ERROR_MEMORY. */
enum pd_status pd_probe_parse(struct pd_arena *arena, const char *text, struct pd_probe_definition *definition_out,
			      struct pd_error *error);
/** Whether an argument is the name of a variable, no register or the like. */
bool pd_probe_is_variable(const struct pd_probe_argument *argument);
bool pd_probe_is_name(const char *name);
/** Whether a type is one of types.def, a bit field or an array. */
bool pd_probe_is_type(const char *type);

/** FUNC[@SRC][:FIRST[+COUNT|-LAST]] or SRC[:...]. */
struct pd_probe_range {
	const char *function, *file;
	uint32_t first, last; // last: UINT32_MAX if it was not given
};

enum pd_status pd_probe_parse_range(struct pd_arena *arena, const char *text, struct pd_probe_range *range_out,
				    struct pd_error *error);
/** A name without escapes and quotes, up to length; NULL without memory. */
char *pd_probe_plain(struct pd_arena *arena, const char *text, size_t length);

// ---- what a probe becomes ----

/** Memory that a value is read from: what was found so far is an address. The innermost one comes first. */
struct pd_probe_memory {
	int64_t offset;
	bool is_user;
	struct pd_probe_memory *next;
};

struct pd_probe_value {
	const char *name;  // NULL: the kernel's
	const char *value; // register, @symbol, constant; NULL: the variable is not here
	const char *type;  // NULL: the kernel's
	struct pd_probe_memory *memory;
};

struct pd_probe_point {
	const char *group, *event;
	const char *symbol;   // of the kernel: offset is from it
	const char *function; // that it is in
	const char *module;   // object, or name of a kernel module; NULL: the kernel
	uint64_t addr, offset;
	bool is_user, is_return;
	const char *line; // of what the kernel lists, as it is there
	struct pd_probe_value *values;
	size_t value_count;
};

// ---- text.c ----

/** The definition that the kernel takes, without the end of the line. */
void pd_probe_put_point(struct pd_text *text, const struct pd_probe_point *point);
/** An argument as perf writes it: name=variable->field:type. */
void pd_probe_put_argument(struct pd_text *text, const struct pd_probe_argument *argument);
/** FUNC+OFFSET@FILE and the like. */
void pd_probe_put_place(struct pd_text *text, const struct pd_probe_definition *definition);
/** The line of perf probe --list. */
void pd_probe_put_event(struct pd_text *text, const struct pd_probe_point *point,
			const struct pd_probe_definition *definition);
/** Says what a user may want to know. */
void pd_probe_note(const struct pd_probe_options *options, const char *format, ...) PD_PRINTF(2, 3);

#endif
