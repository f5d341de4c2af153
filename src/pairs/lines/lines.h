/* SPDX-License-Identifier: MIT */
/*
 * System calls as lines, as perf trace prints them.
 *
 *   arguments.c   what a call is given and returns: calls.def, hidden.def
 *   kinds.c       arguments of kinds: numbers, and those that depend on others; ioctls.def
 *   words.c       lists of words for values: words.def
 *   chains.c      call chains below lines
 *   choose.c      lists of calls; errors.c, errors.def, names of errors
 *   values.c      where arguments are in raw data
 *   faults.c      lines of page faults
 *   lines.c       from begins and ends to lines
 *   points.c      lines of other events
 */
#ifndef PD_PAIRS_LINES_LINES_H
#define PD_PAIRS_LINES_LINES_H

#include "pairs/pairs.h"

enum {
	PD_CALL_ARGUMENTS = 6,
	PD_CALLS_KNOWN = 1024 // numbers
};

// ---- words.c ----

struct pd_named_value {
	const char *name;
	uint64_t value;
};

enum pd_list_style {
	PD_LIST_ENUM,
	PD_LIST_SOME,
	PD_LIST_CHOICE,
	PD_LIST_FLAGS,
	PD_LIST_PARTS
};

struct pd_word_list {
	const char *name;
	enum pd_list_style style;
	uint32_t mask; // of PARTS: what is one of the words
	const struct pd_named_value *words;
	size_t count;
};

// NULL: there is no such list.
const struct pd_word_list *pd_words_find(const char *name, size_t length);
// With 0x in front, unless it is 0.
void pd_put_hex(struct pd_text *text, uint64_t value);
void pd_words_print(struct pd_text *text, const struct pd_word_list *list, uint64_t value);

// ---- kinds.c ----

struct pd_call_values {
	const struct pd_call *call;
	const uint64_t *values;
	struct pd_sched *sched; // who has which name
	bool is_arm;            // some flags have other numbers
	const char *called;     // the name of the process that is an argument; NULL: as it is called now
};

typedef void pd_kind_fn(struct pd_text *text, const struct pd_call_values *all, uint64_t value);

// NULL: there is no such kind.
pd_kind_fn *pd_kind_find(const char *name, size_t length);
// A thread that has a name; NULL: none.
const char *pd_kind_name(struct pd_sched *sched, uint64_t tid);
void pd_kind_pid(struct pd_text *text, const struct pd_call_values *all, uint64_t value);
void pd_kind_open(struct pd_text *text, const struct pd_call_values *all, uint64_t value);

// ---- arguments.c ----

enum pd_call_result {
	PD_RESULT_NUMBER,
	PD_RESULT_HEX,
	PD_RESULT_PID,
	PD_RESULT_TIMEOUT,
	PD_RESULT_FCNTL
};

struct pd_call_argument {
	const char *name;
	size_t length;
	pd_kind_fn *kind;                // or
	const struct pd_word_list *list; // NULL: a number
};

struct pd_call {
	const char *name;
	enum pd_call_result result;
	bool ends_thread;
	unsigned process; // the argument that is one; count: none
	unsigned count;
	struct pd_call_argument arguments[PD_CALL_ARGUMENTS];
};

// A call by its name; of one that the table lacks, arguments have no names. NULL: no memory.
const struct pd_call *pd_call_new(struct pd_arena *arena, const char *name);
void pd_call_print(struct pd_text *text, const struct pd_call_values *all);
// Arguments as members of an object, with the values that are printed.
void pd_call_json(struct pd_json *json, const struct pd_call_values *all, struct pd_text *scratch);
// The name of the process that is an argument; empty if there is none, or it has none.
void pd_call_note_name(struct pd_sched *sched, const struct pd_call *call, const uint64_t *values,
		       char name[PD_SCHED_NAME]);
void pd_call_print_result(struct pd_text *text, const struct pd_call_values *all, int64_t result);

// ---- values.c ----

enum {
	PD_CALL_SHAPES = 64
};

struct pd_call_shapes {
	struct pd_call_shape {
		const struct pd_event *event;
		struct pd_raw_number first; // the others follow; size 0: none
	} of[PD_CALL_SHAPES];
};

// Those that an event lacks are 0.
void pd_call_read_values(struct pd_call_shapes *shapes, struct pd_trace *trace,
			 const struct pd_tracepoint_sample *sample, uint64_t values[PD_CALL_ARGUMENTS]);

// ---- lines.c ----

// A call that a thread has begun.
struct pd_line_entry {
	const struct pd_call *call; // NULL: none is known
	uint64_t time_ns;
	bool pending; // and it was not printed yet
	uint64_t values[PD_CALL_ARGUMENTS];
	char called[PD_SCHED_NAME]; // the process that is an argument, when it began
};

// The call chain of a call that ends, or of another event.
struct pd_line_chain {
	bool is_recorded, user_only;
	struct pd_u64s addresses;
	uint32_t pid;
	uint64_t time_ns;
};

struct pd_lines {
	struct pd_pairs *pairs; // names of functions are theirs; without symbols there are no chains
	struct pd_sched *sched;
	const struct pd_syscalls_options *options;
	bool is_arm;
	uint64_t base_ns; // of the first event
	uint64_t printed;
	const struct pd_sched_thread *current; // that began a call last
	struct pd_line_entry *current_entry;
	struct pd_json json;
	bool json_begun;
	struct pd_text scratch; // a value
};

// A begin: the first before its arguments are read into the entry, the second afterwards.
void pd_lines_enter(struct pd_lines *lines, struct pd_line_entry *entry, const struct pd_call *call, uint64_t time_ns);
void pd_lines_entered(struct pd_lines *lines, const struct pd_sched_thread *thread, struct pd_line_entry *entry);
// Errors: PD_ERROR_MEMORY; PD_ERROR_OUTPUT; those of pd_pairs_follow_state.
enum pd_status pd_lines_exit(struct pd_lines *lines, const struct pd_sched_thread *thread, struct pd_line_entry *entry,
			     const struct pd_call *call, const struct pd_line_chain *chain, int64_t result,
			     struct pd_error *error);
// Opens the object that all of the output is, and the list of calls if they are wanted; once.
void pd_lines_json_begin(struct pd_lines *lines);
// The name of an error; NULL: not known.
const char *pd_error_name(uint64_t number);
const char *pd_error_text(uint64_t number);

// ---- chains.c ----

// What is at an address of a process. *shown_out is how it is printed: in a program or a library, as the place in the file.
struct pd_place pd_lines_place(const struct pd_lines *lines, const struct pd_line_chain *of, unsigned cpumode,
			       uint64_t addr, uint64_t *shown_out);
// Whether an event with this chain is printed.
bool pd_lines_chain_is_long_enough(const struct pd_lines *lines, const struct pd_line_chain *chain);
// A line for each frame.
void pd_lines_print_chain(struct pd_lines *lines, const struct pd_line_chain *chain);
// The same as a member of an object.
void pd_lines_json_chain(struct pd_lines *lines, const struct pd_line_chain *chain);

// ---- points.c ----

// An event that is no system call.
struct pd_point {
	const struct pd_sched_thread *thread;
	const struct pd_event *event;
	uint64_t time_ns;
	struct pd_bytes raw;
	struct pd_line_chain chain;
};

// A page fault.
struct pd_fault {
	struct pd_point point;
	uint64_t ip, addr;
	unsigned cpumode;
	bool is_major;
};

enum {
	PD_POINTS = 64
};

struct pd_points {
	struct pd_tracepoints *tracepoints;
	struct pd_call_shapes shapes;
	struct pd_bytes types; // BTF of the kernel
	bool is_big;           // these are
	// The last ones of each event, or of each type: by its index, or its address.
	struct pd_point_call {
		const struct pd_event *event;
		const struct pd_call *call;
	} calls[PD_POINTS];
	struct pd_point_enum {
		const char *type;
		uint64_t place;
	} enums[PD_POINTS];
};

// A line of an event, as soon as it comes. Errors: PD_ERROR_MEMORY.
enum pd_status pd_lines_point(struct pd_lines *lines, struct pd_points *points, const struct pd_point *point,
			      struct pd_error *error);
// ---- faults.c ----

// The same of a page fault.
enum pd_status pd_lines_fault(struct pd_lines *lines, const struct pd_fault *fault, struct pd_error *error);

// ---- lines.c ----

// What stands in front of it.
void pd_lines_fault_head(struct pd_lines *lines, const struct pd_point *point);
// What stands in front of the name of a point.
void pd_lines_point_head(struct pd_lines *lines, const struct pd_point *point, bool with_calls);

#endif
