/* SPDX-License-Identifier: MIT */
/*
 * What the files of perfdata script share: the state of a run, and who prints what.
 */
#ifndef CLI_SCRIPT_H
#define CLI_SCRIPT_H

#include "front/input.h"
#include "script_fields.h"
#include "script_frames.h"
#include "script_line.h"
#include "select.h"
#include "front/symbol_options.h"

#include <pthread.h>

/* Counter value of an id at its last sample. */
struct last_value {
	uint64_t id;
	uint64_t value;
	bool used;
};

/* What is the same for all samples of an event. */
struct event_look {
	uint32_t shown; /* FIELD_... */
	bool known;
	bool needs_sample; /* the brief form is not enough */
	bool chain;        /* it has call chains, which are shown */
	bool lbr;          /* the user part of a chain is in the branch stack */
	bool copied;       /* user stacks are copied instead */
	char *name;        /* aligned, with a colon behind it */
	size_t name_size;
};

enum {
	VIEWS = 1024,
	START_MOST = 96,
	STRETCHES = 4
};

/* Addresses with one mapping, or with none. */
struct stretch {
	uint64_t begin, size;
	uint64_t moved; /* what makes an address its offset in the object */
	size_t object;  /* index */
	bool known;     /* object and moved are */
	bool nowhere;   /* nothing is there */
};

/* A thread for as long as nothing changes, and how its lines start. */
struct thread_view {
	bool known;
	bool wide;
	uint32_t pid, tid;
	uint32_t shown;
	struct pd_view view;
	struct stretch stretches[STRETCHES]; /* the last one first */
	const char *comm;                    /* never NULL */
	char unknown[PD_THREAD_NAME_BYTES];
	char start[START_MOST + LINE_PIECE];
	size_t start_size; /* 0: not made yet */
};

struct script {
	struct input input;
	struct line line;
	struct pd_world *world;
	bool settled; /* nothing was fed since the world was settled */
	const struct symbol_options *symbol_options;
	struct pd_symbols *symbols; /* made when the world is settled first */
	bool symbols_wrong;
	struct hands *hands; /* that print parts of the time at once; NULL: there is one script */
	struct hand *hand;   /* whose script it is */
	bool counted;        /* there are records of perf stat */
	struct fields fields[KIND_COUNT];
	struct select select;
	size_t events_checked;
	bool fields_wrong;
	bool refused; /* the file has not what was asked for */
	bool chains;  /* print call chains */
	bool nanoseconds, relative, delta;
	bool kernel_paths, source_paths; /* in full */
	uint64_t max_stack;
	unsigned threads;     /* 0: as many as there are processors */
	uint64_t shown_types; /* bit n: records of type n are printed */
	enum pd_arch machine;
	bool machine_known;
	size_t name_width;        /* of events */
	bool look_known;          /* an event has been printed */
	struct event_look *looks; /* by index of the event */
	size_t look_count;
	struct thread_view *views; /* by hash */
	struct frames frames;
	struct frame_key fetched; /* what was asked for */
	bool fetches;
	uint64_t second; /* of the last line, for its digits */
	char second_digits[24];
	size_t second_size;
	uint64_t first_time, last_time;
	bool has_first, has_last;
	size_t data_src_width;
	struct last_value *last_values;
	size_t value_slots, value_count;
	struct counts *counts; /* of perf stat; NULL until there are some */
	struct pd_trace *trace;
	struct pd_text *trace_text;
	struct pd_moment trace_when; /* of the sample whose trace is printed */
	bool header_full;
	uint64_t printed;
	uint64_t copied;  /* of these: samples with a copied user stack, which is not unwound */
	uint64_t samples; /* that were there */
	struct pd_error error;
	enum pd_status status; /* what ended the walk early */
};

/* One sample on its way to the output. */
struct shot {
	const struct pd_record *record;
	struct pd_brief brief;
	const struct pd_sample *sample; /* NULL where the brief form is enough */
	const struct pd_event *event;   /* of the values below: a member of the group */
	const struct event_look *look;  /* of event */
	struct thread_view *thread;     /* NULL if it has none */
	uint32_t shown;                 /* FIELD_... */
	struct pd_moment when;
	unsigned cpumode;
	uint32_t pid, tid, cpu; /* -1 where the sample has none */
	uint64_t time_ns;
	uint64_t period;
	const char *comm;
};

/* ---- script_hands.c ---- */

/* The sink of a script whose samples may be printed by several threads, each with a script of its own. NULL if there is no
 * memory. */
struct hands *hands_new(struct script *script, struct pd_sink *sink_out);
void hands_free(struct hands *hands);
/* From now on samples come by parts of the time: their text waits until all before it is written. */
void hands_share(struct hands *hands);
/* Waits where there is much text. False if the output is of no use any more, or there is no memory. */
bool hand_goes_on(struct hand *hand);
/* Symbols are looked up by one at a time. */
void hands_lock(struct hands *hands);
void hands_unlock(struct hands *hands);

static inline void script_lock(struct script *script)
{
	if (script->hand)
		hands_lock(script->hands);
}

static inline void script_unlock(struct script *script)
{
	if (script->hand)
		hands_unlock(script->hands);
}

/* ---- cmd_script.c ---- */

/* Prints a record if it is to be shown. False if the script is to end. */
bool script_print(struct script *script, const struct pd_record *record);

/* ---- script_sample.c ---- */

/* Prints a sample, or the samples of the members of its group. False if memory ran out. */
bool script_sample(struct script *script, const struct pd_record *record);
/* comm, pid, tid, cpu, misc, time: how every line starts. */
void script_start(struct script *script, const struct shot *shot, uint32_t type, bool wide);
/* Forgets what was made of the world, which has changed. */
void script_forget(struct script *script);
/* Forgets how events look: fields were added. */
void script_forget_looks(struct script *script);
void script_sample_fini(struct script *script);

/* ---- script_place.c ---- */

/* The object at an address in brackets, in perf's words. */
void script_dso(struct script *script, const struct shot *shot, unsigned cpumode, uint64_t addr, bool anywhere);
/* A branch's end: the address, its function or its place in the file, by field. */
void script_branch_end(struct script *script, const struct shot *shot, uint64_t addr, uint32_t field);
/* False if objects or functions were asked for and the sample is in others. */
bool script_has_place(struct script *script, const struct shot *shot);
/* Name of the object or of the function that a sample is in, by PD_FILTER_DSO or PD_FILTER_SYMBOL; NULL: not known. */
const char *script_name(struct script *script, const struct shot *shot, enum pd_filter_ask what);
/* Texts come from all over the memory: asks for that of the sample's code, in two steps, while other things are done. */
void script_fetch(struct script *script, const struct shot *shot);
void script_fetch_text(struct script *script);
void script_ip(struct script *script, const struct shot *shot);
void script_chain(struct script *script, const struct shot *shot);
void script_addr(struct script *script, const struct shot *shot);

/* ---- script_parts.c ---- */

void script_regs(struct script *script, uint64_t mask, uint64_t abi, struct pd_u64s regs);
/* field is FIELD_BRSTACK, FIELD_BRSTACKSYM or FIELD_BRSTACKOFF. */
void script_branches(struct script *script, const struct shot *shot, uint32_t field);
void script_bpf_output(struct script *script, struct pd_bytes raw);
void script_page_size(struct script *script, uint64_t size);
void script_data_src(struct script *script, uint64_t data_src);

/* ---- script_trace.c ---- */

void script_trace(struct script *script, const struct shot *shot);
/* Tracing data that come in a record. */
void script_trace_take(struct script *script, const struct pd_record *record);
void script_trace_close(struct script *script);

/* ---- script_counts.c ---- */

/* Takes records of perf stat; prints what there is at the end of a round. False without memory. */
bool script_counts(struct script *script, const struct pd_record *record);
void script_counts_fini(struct script *script);

/* ---- script_event.c ---- */

/* Prints a record that is no sample. */
void script_record(struct script *script, const struct pd_record *record);

#endif
