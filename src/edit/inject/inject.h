/* SPDX-License-Identifier: MIT */
/*
 * The inside of an injection. ids.c, jit.c, sched.c and unwind.c each add one kind of information: they are asked about every record
 * on its way to the output, and may pass it changed, leave it out, or write others before it. inject.c is on top, common.c
 * below.
 */
#ifndef PD_INJECT_INJECT_H
#define PD_INJECT_INJECT_H

#include <perfdata/inject.h>

#include "base/error.h"
#include "base/memory.h"
#include "write/write.h"

enum pd_inject_action {
	PD_INJECT_FAILED, // inject->status and inject->error say why
	PD_INJECT_DROP,
	PD_INJECT_PASS,
	PD_INJECT_PASSED // it was written in another form
};

// Call chains in the place of copied stacks.
struct pd_inject_unwind {
	struct pd_state *state;
	struct pd_symbols *symbols;
	bool owns_symbols;
	struct pd_unwinder *unwinder;
	bool has_features; // the state has those of the file
};

struct pd_inject {
	struct pd_inject_options options;
	struct pd_file *file;
	struct pd_writer *writer; // from pd_inject_write on
	struct pd_inject_ids *ids;
	struct pd_inject_jit *jit;
	struct pd_inject_sched *sched;
	struct pd_inject_unwind *unwind;
	struct pd_inject_result result;
	struct pd_error error;
	enum pd_status status;
};

// Whether only objects that samples are in get an id.
static inline bool pd_inject_needs_samples(const struct pd_inject *inject)
{
	return inject->options.build_ids == PD_INJECT_LIST || inject->options.build_ids == PD_INJECT_MAPS;
}

// Whether ids are in the maps.
static inline bool pd_inject_is_in_maps(const struct pd_inject *inject)
{
	return inject->options.build_ids == PD_INJECT_MAPS || inject->options.build_ids == PD_INJECT_MAPS_ALL;
}

// ---- common.c ----

// Keeps a failure, with inject->error. Returns false if it is one.
bool pd_inject_keep(struct pd_inject *inject, enum pd_status status);
// Returns false.
bool pd_inject_no_memory(struct pd_inject *inject);
// Tells what is not found, the first times. lost: a failure, not only missing.
void pd_inject_warn(struct pd_inject *inject, bool lost, const char *format, ...) PD_PRINTF(3, 4);
// The number of the event of a record, for pd_writer_add.
size_t pd_inject_event(const struct pd_record *record);
// Calls each for every record, until it returns false. The status is that of the stream.
enum pd_status pd_inject_each_record(struct pd_inject *inject, enum pd_order order,
				     bool (*each)(void *self, struct pd_stream *stream, const struct pd_record *record),
				     void *self, struct pd_error *error);

// ---- ids.c ----

// Reads what has to be read before anything is written.
enum pd_status pd_inject_ids_open(struct pd_inject *inject, struct pd_error *error);
void pd_inject_ids_close(struct pd_inject *inject);
// True if samples mark what they hit.
bool pd_inject_ids_marks_hits(const struct pd_inject *inject);
enum pd_inject_action pd_inject_ids_record(struct pd_inject *inject, struct pd_stream *stream,
					   const struct pd_record *record);
// What comes at the end of the output.
bool pd_inject_ids_finish(struct pd_inject *inject);
// objects.c: the id of a file that is mapped by a record that is created here. False if there is no memory.
bool pd_inject_ids_add(struct pd_inject *inject, const char *path, const struct pd_build_id *id);

// ---- jit.c ----

enum pd_status pd_inject_jit_open(struct pd_inject *inject, struct pd_error *error);
void pd_inject_jit_close(struct pd_inject *inject);
enum pd_inject_action pd_inject_jit_record(struct pd_inject *inject, const struct pd_record *record);
// Writes the maps of code that was compiled up to a time, or all that are left.
bool pd_inject_jit_write(struct pd_inject *inject, uint64_t up_to_ns);
// True if maps wait for their time.
bool pd_inject_jit_waits(const struct pd_inject *inject);

// ---- sched.c ----

enum pd_status pd_inject_sched_open(struct pd_inject *inject, struct pd_error *error);
void pd_inject_sched_close(struct pd_inject *inject);
enum pd_inject_action pd_inject_sched_record(struct pd_inject *inject, struct pd_stream *stream,
					     const struct pd_record *record);

// ---- unwind.c ----

enum pd_status pd_inject_unwind_open(struct pd_inject *inject, struct pd_error *error);
void pd_inject_unwind_close(struct pd_inject *inject);
// The state has more records now: finalizes it for the unwinder, which is opened the first time.
enum pd_status pd_inject_unwind_settle(struct pd_inject *inject, struct pd_error *error);
// What an event has once its stacks are unwound.
void pd_inject_unwind_attr(const struct pd_inject *inject, struct pd_attr *attr);
enum pd_inject_action pd_inject_unwind_record(struct pd_inject *inject, struct pd_stream *stream,
					      const struct pd_record *record);

// ---- late.c ----

// As pd_inject_each_record, of a file that is read once, while it is recorded.
enum pd_status pd_inject_each_late(struct pd_inject *inject,
				   bool (*each)(void *self, struct pd_stream *stream, const struct pd_record *record),
				   void *self, struct pd_error *error);

#endif
