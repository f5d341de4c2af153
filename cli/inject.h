/* SPDX-License-Identifier: MIT */
/*
 * What perfdata inject adds to a recording, one file for each kind: build ids, maps of code made at run time, statistics
 * of the scheduler. Each is asked about every record on its way to the output, and may pass it changed, leave it out, or
 * write others before it.
 */
#ifndef CLI_INJECT_H
#define CLI_INJECT_H

#include "front/input.h"
#include "front/symbol_options.h"
#include "front/target.h"

enum verdict_of_inject {
	INJECT_FAILED, /* inject->status and inject->error say why */
	INJECT_DROP,
	INJECT_PASS,
	INJECT_PASSED /* it was written in another form */
};

struct inject_values {
	struct input_options input;
	struct target_options target;
	bool build_ids, build_ids_all, mmap2, mmap2_all;
	const char *known;
	bool any_file;
	bool jit;
	const char *jit_dir;
	bool sched_stat;
	bool strip;
	const char *symfs;
};

struct inject {
	const struct inject_values *values;
	struct input input;
	struct target target;
	struct ids *ids;
	struct jit *jit;
	struct sched *sched;
	uint64_t samples_seen, samples_kept;
	uint64_t others_seen, others_kept;
	uint64_t told; /* things that could not be found */
	bool lost;     /* and some of it should have been there */
	struct pd_error error;
	enum pd_status status;
};

/* Keeps a failure. Returns false if it is one. */
bool inject_keep(struct inject *inject, enum pd_status status);
bool inject_no_memory(struct inject *inject);
/* Says what could not be found, the first times. lost: it is a failure, not only a lack. */
void inject_tell(struct inject *inject, bool lost, const char *format, ...) PD_PRINTF(3, 4);
/* The number of the event of a record, for pd_writer_add. */
size_t inject_event(const struct pd_record *record);
/* The name after the last slash. */
const char *inject_last_part(const char *path);

/* ---- inject_ids.c ---- */

/* Reads what has to be read before anything is written. Says what is wrong and returns another code than CODE_FINE
 * then. */
int ids_open(struct inject *inject);
void ids_close(struct inject *inject);
/* True if the input must be read more than once. */
bool ids_need_twice(const struct inject_values *values);
/* True if samples are looked at. */
bool ids_look(const struct inject *inject);
enum verdict_of_inject ids_record(struct inject *inject, struct pd_stream *stream, const struct pd_record *record);
/* The id of a file that is mapped by a record that is made here. False if there is no memory. */
bool ids_add(struct inject *inject, const char *path, const struct pd_build_id *id);
/* Whether ids stand in the maps. */
bool ids_in_maps(const struct inject_values *values);
/* What comes at the end of the output. */
bool ids_finish(struct inject *inject);
/* " 5 build ids" and so on, for the last line. */
void ids_count(const struct inject *inject, struct pd_text *text);

/* ---- inject_jit.c ---- */

int jit_open(struct inject *inject);
void jit_close(struct inject *inject);
enum verdict_of_inject jit_record(struct inject *inject, struct pd_stream *stream, const struct pd_record *record);
/* Writes the maps of code that was made up to a time, or all that are left. */
bool jit_write(struct inject *inject, uint64_t up_to_ns);
/* True if maps wait for their time. */
bool jit_waits(const struct inject *inject);
void jit_count(const struct inject *inject, struct pd_text *text);

/* ---- inject_sched.c ---- */

int sched_open(struct inject *inject);
void sched_close(struct inject *inject);
enum verdict_of_inject sched_record(struct inject *inject, struct pd_stream *stream, const struct pd_record *record);
void sched_count(const struct inject *inject, struct pd_text *text);

#endif
