/* SPDX-License-Identifier: MIT */
/*
 * Samples on their way to text: the state of one thread, and who prints what.
 */
#ifndef PD_SAMPLES_SAMPLES_H
#define PD_SAMPLES_SAMPLES_H

#include <pthread.h>

#include <perfdata/record_stats.h>
#include <perfdata/samples.h>
#include <perfdata/stream.h>
#include <perfdata/symbol.h>
#include <perfdata/trace.h>
#include <perfdata/state.h>

#include "base/error.h"
#include "base/lookup/last_values.h"
#include "base/memory.h"
#include "filter/select.h"
#include "samples/addresses.h"
#include "samples/fields.h"
#include "samples/line.h"
#include "state/locate.h"
#include "unwind/unwinder.h"

/* What is the same for all samples of an event. */
struct pd_event_style {
	uint32_t shown; /* FIELD_... */
	bool known;
	bool needs_sample; /* the brief form is not enough */
	bool chain;        /* it has call chains, which are shown */
	bool copied;       /* user stacks are copied as well */
	char *name;        /* aligned, with a colon after it */
	size_t name_size;
};

enum {
	VIEWS = 1024,
	START_MOST = 96,
	STRETCHES = 4
};

/* Addresses with one mapping, or with none. */
struct pd_address_range {
	struct pd_found_map found;
	uint64_t moved; /* what makes an address its offset in the object */
	size_t object;  /* index */
	bool known;     /* object and moved are */
	bool unmapped;  /* nothing is there */
};

/* A thread for as long as nothing changes, and how its lines start. */
struct pd_thread_line {
	bool known;
	bool wide;
	uint32_t pid, tid;
	uint32_t shown;
	struct pd_view view;
	bool has_maps;                                /* else the view is that of the name */
	struct pd_address_range stretches[STRETCHES]; /* the last one first */
	const char *comm;                             /* never NULL */
	char unknown[PD_THREAD_NAME_BYTES];
	char start[START_MOST + PD_LINE_PIECE];
	size_t start_size; /* 0: not made yet */
};

enum {
	FETCHED_MOST = 64,
	FETCHED_FROM_SLOTS = 1 << 14
};

/* Code of the present sample, whose text was asked for. */
struct pd_fetched_code {
	struct pd_address_key key;
	const pd_address_slot *slot;        /* where its text is likely to be; NULL: it has no key */
	const struct pd_address_text *text; /* or NULL */
	uint64_t addr;
	uint32_t tag; /* of the slot */
	uint8_t cpumode;
	bool unmapped;
};

struct pd_samples {
	struct pd_file *file;
	struct pd_samples_options options; /* but for fields */
	struct pd_select *select;          /* what is printed, and where chains end; see pd_samples_select */
	const struct pd_select *stops;
	struct pd_toggle toggle; /* of select */
	bool selects_place;
	struct pd_text *text; /* of all but samples of which text_of knows another */
	struct pd_line_buffer line;
	struct pd_state *state;
	bool finalized;             /* nothing was fed since the state was finalized */
	struct pd_symbols *symbols; /* made when the state is finalized first */
	bool owns_symbols;
	struct pd_unwinder *unwinder; /* this thread's; NULL: there are no copied stacks, or they are not to be unwound */
	struct pd_sample_workers *workers; /* that print parts of the time at once; NULL: there is one thread */
	pthread_mutex_t *symbols_lock;     /* over symbols; NULL: there is one thread */
	struct pd_sample_worker *worker;   /* that this state is of */
	bool counted;                      /* there are records of perf stat */
	struct pd_sample_fields fields[KIND_COUNT];
	size_t events_checked;
	size_t events_ready; /* the state, symbols and unwinder are ready for so many */
	enum pd_arch machine;
	bool machine_known;
	bool shows_code;               /* of a sample it was shown where it was, so mappings matter */
	size_t name_width;             /* of events */
	bool name_width_known;         /* an event has been printed */
	struct pd_event_style *styles; /* by index of the event */
	size_t style_count;
	struct pd_thread_line *views; /* by hash */
	struct pd_address_texts frames;
	struct pd_fetched_code fetched[FETCHED_MOST];
	size_t fetched_count;
	size_t chain_count;   /* entries that are shown of the chain */
	struct pd_u64s chain; /* that is shown, valid until the next sample */
	bool chain_unwound;
	size_t chain_fetched; /* of these, those of which fetched are */
	unsigned chain_mode;  /* of the one after those that were fetched */
	uint64_t second;      /* of the last line, for its digits */
	char second_digits[24];
	size_t second_size;
	uint64_t first_time, last_time;
	bool has_first, has_last;
	size_t data_src_width;
	struct pd_held_samples *held;      /* of a pipe, or NULL */
	struct pd_last_values last_values; /* of counters */
	struct pd_count_table *counts;     /* of perf stat; NULL until there are some */
	struct pd_stats *stats;            /* of records, for PD_RAW_REPORT; or NULL */
	uint64_t pipe_types;               /* what samples have of the events of a pipe that were checked */
	size_t raw_attrs;                  /* records of events in a pipe */
	size_t raw_events;                 /* events that have their bits in raw_types */
	uint64_t raw_types;                /* what samples of any event have */
	struct pd_trace *trace;
	struct pd_text *trace_text;
	struct pd_moment trace_when; /* of the sample whose trace is printed */
	uint64_t printed;
	uint64_t copied;       /* of these: samples with a copied user stack that was not unwound */
	uint64_t sample_count; /* that were there */
	struct pd_error error;
	enum pd_status status; /* what ended the walk early */
};

/* One sample on its way to the output. */
struct pd_shown_sample {
	const struct pd_record *record;
	struct pd_brief brief;
	const struct pd_sample *sample;     /* NULL where the brief form and raw are enough */
	struct pd_bytes raw;                /* of a tracepoint */
	const struct pd_event *event;       /* of the values below: a member of the group */
	const struct pd_event_style *style; /* of event */
	struct pd_thread_line *thread;      /* NULL if it has none */
	uint32_t shown;                     /* FIELD_... */
	struct pd_moment when;
	unsigned cpumode;
	uint32_t pid, tid, cpu; /* -1 where the sample has none */
	uint64_t time_ns;
	uint64_t period;
	const char *comm;
};

/* A record on its way to text; false if it failed. */
typedef bool pd_samples_print_fn(struct pd_samples *samples, const struct pd_record *record);

/* ---- held.c ---- */

/* Before the stream begins; without it no sample is held. */
enum pd_status pd_samples_held_init(struct pd_samples *samples, struct pd_error *error);
/* Whether the rest of a sample's chain has to come yet. */
bool pd_samples_waits(const struct pd_samples *samples, const struct pd_record *record);
/* Keeps a copy of such a sample. Of too many the first ones are printed without the rest. False if it failed. */
bool pd_samples_hold(struct pd_samples *samples, const struct pd_record *record, pd_samples_print_fn *print);
/* Prints those whose rest may have come with a record: those of its thread. */
bool pd_samples_release(struct pd_samples *samples, const struct pd_record *record, pd_samples_print_fn *print);
/* The same for all of them. */
bool pd_samples_release_all(struct pd_samples *samples, pd_samples_print_fn *print);
void pd_samples_held_fini(struct pd_samples *samples);

/* ---- workers.c ---- */

/* The sink for samples that may be printed by several threads, each with a state of its own. NULL if there is no memory. */
struct pd_sample_workers *pd_sample_workers_new(struct pd_samples *samples, pd_samples_print_fn *print,
						struct pd_sink *sink_out);
void pd_sample_workers_free(struct pd_sample_workers *workers);
/* From now on samples come by time slices: their text waits until all before it is written. */
void pd_sample_workers_share(struct pd_sample_workers *workers);
/* Waits where there is much text. False if the text cannot be written, or there is no memory. */
bool pd_sample_worker_wait(struct pd_sample_worker *worker);
/* The text could not be written: notes why, unless something else failed before. */
void pd_samples_text_failed(struct pd_samples *samples);

/* Symbols are looked up by one at a time. */
static inline void pd_samples_lock(struct pd_samples *samples)
{
	if (samples->symbols_lock)
		pthread_mutex_lock(samples->symbols_lock);
}

static inline void pd_samples_unlock(struct pd_samples *samples)
{
	if (samples->symbols_lock)
		pthread_mutex_unlock(samples->symbols_lock);
}

/* ---- sample.c ---- */

/* Prints a sample, or the samples of the members of its group. False if memory ran out. */
bool pd_samples_sample(struct pd_samples *samples, const struct pd_record *record);
/* comm, pid, tid, cpu, misc, time: how every line starts. */
void pd_samples_start(struct pd_samples *samples, const struct pd_shown_sample *hit, uint32_t type, bool wide);
/* Forgets what was made of the state, which has changed. */
void pd_samples_forget(struct pd_samples *samples);
/* Forgets the styles of events: fields were added. */
void pd_samples_forget_styles(struct pd_samples *samples);
void pd_samples_sample_fini(struct pd_samples *samples);

/* ---- places.c ---- */

/* The object at an address in brackets, in perf's words. */
void pd_samples_dso(struct pd_samples *samples, const struct pd_shown_sample *hit, unsigned cpumode, uint64_t addr,
		    bool anywhere);
/* A branch's end: the address, its function or its place in the file, by field. */
void pd_samples_branch_end(struct pd_samples *samples, const struct pd_shown_sample *hit, uint64_t addr,
			   uint32_t field);
/* Whether the location of the sample is chosen. */
bool pd_samples_has_place(struct pd_samples *samples, const struct pd_shown_sample *hit);
/* Name of the object or of the function that a sample is in, by PD_FILTER_DSO or PD_FILTER_SYMBOL; NULL: not known. */
const char *pd_samples_name(struct pd_samples *samples, const struct pd_shown_sample *hit, enum pd_filter_ask what);
/* Path of the object that a sample is in, or its name in brackets; NULL: not known. */
const char *pd_samples_path(struct pd_samples *samples, const struct pd_shown_sample *hit);
/* Texts come from all over the memory: asks for those of the sample's code, in two steps, while other things are done. */
void pd_samples_fetch(struct pd_samples *samples, const struct pd_shown_sample *hit);
void pd_samples_fetch_text(struct pd_samples *samples);
void pd_samples_ip(struct pd_samples *samples, const struct pd_shown_sample *hit);
void pd_samples_chain(struct pd_samples *samples, const struct pd_shown_sample *hit);
void pd_samples_addr(struct pd_samples *samples, const struct pd_shown_sample *hit);

/* ---- values.c ---- */

void pd_samples_regs(struct pd_samples *samples, uint64_t mask, uint64_t abi, struct pd_u64s regs);
enum {
	PD_LINE_OF_BYTES = 16 /* so many are printed in a line */
};

/* A line of bytes: the offset, so many of them from there, and the same as characters. */
void pd_samples_bytes(struct pd_line_buffer *line, struct pd_bytes bytes, size_t at, const char *after_offset);
/* field is FIELD_BRSTACK, FIELD_BRSTACKSYM or FIELD_BRSTACKOFF. */
void pd_samples_branches(struct pd_samples *samples, const struct pd_shown_sample *hit, uint32_t field);
void pd_samples_bpf_output(struct pd_samples *samples, struct pd_bytes raw);
/* What kind a branch is, in perf's words; "" if that was not recorded. */
const char *pd_samples_branch_kind(uint64_t flags);
void pd_samples_page_size(struct pd_samples *samples, uint64_t size);
void pd_samples_data_src(struct pd_samples *samples, uint64_t data_src);

/* ---- trace.c ---- */

void pd_samples_trace(struct pd_samples *samples, const struct pd_shown_sample *hit);
/* Tracing data that come in a record. */
void pd_samples_trace_take(struct pd_samples *samples, const struct pd_record *record);
void pd_samples_trace_close(struct pd_samples *samples);

/* ---- counts.c ---- */

/* Takes records of perf stat; prints what there is at the end of a round. False without memory. */
bool pd_samples_counts(struct pd_samples *samples, const struct pd_record *record);
void pd_samples_counts_fini(struct pd_samples *samples);
/* Calls add for each CPU of a set, -1 for any. */
void pd_samples_each_cpu(const struct pd_cpu_map_data *map, void (*add)(void *self, int32_t cpu), void *self);

/* ---- records.c ---- */

/* Prints a record that is no sample. */
void pd_samples_record(struct pd_samples *samples, const struct pd_record *record);
/* What is in it, without a line end; false if nothing is printed of its type. */
bool pd_samples_record_text(struct pd_line_buffer *line, const struct pd_record *record, const void *decoded);
/* Takes of the trailer of a record what it has, by the sample_type of its event. */
void pd_samples_trailer(struct pd_shown_sample *hit, const void *decoded, uint64_t has);

/* What comes next goes into a text. */
static inline void aim_at(struct pd_samples *samples, struct pd_text *text)
{
	if (samples->line.text == text)
		return;
	pd_line_flush(&samples->line);
	samples->line.text = text;
}

#endif
