/* SPDX-License-Identifier: MIT */
/*
 * The parts of a recorder, which only they know. command.c starts the command, open.c opens events, ring.c maps rings
 * and reads them, session.c makes the file, recorder.c the whole.
 */
#ifndef PD_RECORD_INSIDE_H
#define PD_RECORD_INSIDE_H

#include <sys/resource.h>
#include <sys/types.h>

#include "base/lookup/strings.h"
#include "record/config.h"
#include "store/feed.h"

// ---- command.c: the command, which waits until it may begin ----

struct pd_command {
	pid_t pid;  // 0: none
	int go;     // pipe to it: closing it lets it end, a byte lets it begin
	int result; // pipe from it: errno if it cannot be run
	bool started, ended;
	int status;          // as wait(2) has it
	struct rusage usage; // its own, and of what it waited for; once it ended
	int failure;         // errno
};

// keep_output: its standard output is ours, else it goes to standard error, where it is in nobody's way.
enum pd_status pd_command_prepare(struct pd_command *command, char *const *argv, bool keep_output,
				  struct pd_error *error);
// Lets it begin. PD_OK also if it cannot be run: then failure says why.
enum pd_status pd_command_start(struct pd_command *command, struct pd_error *error);
// Whether it has ended; does not wait.
bool pd_command_has_ended(struct pd_command *command);
// Asks it to end if it still runs.
void pd_command_end(struct pd_command *command);
// Ends one that never began, waits for one that did if wait is set.
void pd_command_fini(struct pd_command *command, bool wait);

// ---- ring.c: memory that the kernel fills ----

struct pd_ring {
	int fd;
	int32_t cpu;   // -1: of a thread
	size_t thread; // index
	bool backward; // newest first, for overwrite
	bool offcpu;   // what is in it is for offcpu.c, not for the file
	void *base;    // NULL: not mapped
	size_t page_size;
	size_t size;   // bytes of the data, a power of 2
	uint64_t tail; // what was read so far
	int alive;     // descriptor that is waited for: of a thread that still runs
	size_t place;  // of it among those of all events
};

enum pd_status pd_ring_map(struct pd_ring *ring, size_t size, struct pd_error *error);
void pd_ring_fini(struct pd_ring *ring);

// What is in a ring, oldest first: two pieces where it wraps. Records lie in them one after another, and one may
// begin in the first and end in the second.
struct pd_ring_view {
	struct pd_bytes pieces[2];
	uint64_t head;
};
// False if there is nothing.
bool pd_ring_peek(struct pd_ring *ring, struct pd_ring_view *view);
// Bytes that wait in a ring.
uint64_t pd_ring_holds(const struct pd_ring *ring);
// A ring that keeps the newest must not change while it is looked at.
void pd_ring_pause(const struct pd_ring *ring, bool pause);
// Gives the memory back to the kernel.
void pd_ring_release(struct pd_ring *ring, const struct pd_ring_view *view);

// ---- counts.c: what is said by the way ----

// Counts records, and keeps what is needed at the end.
struct pd_ring_counts {
	uint64_t samples;
	uint64_t lost;              // by LOST records
	uint64_t lost_samples;      // by LOST_SAMPLES records
	uint64_t first_ns, last_ns; // of samples; 0: not known
	size_t time_at;             // offset of the time in samples, 0: they have none, or not at one place
	// paths that were mapped, each once
	struct pd_strings paths;
	struct pd_arena arena;
	struct pd_made copy; // for records that wrap
	// Where in the view, since they were last taken, are mappings that are marked as having a build id.
	size_t *marked;
	size_t marked_count, marked_capacity;
};

// Takes the records of a view that begin before a place in it; *at_io is where the next one begins, 0 at first.
enum pd_status pd_ring_counts_add(struct pd_ring_counts *counts, const struct pd_ring_view *view, size_t *at_io,
				  size_t until, struct pd_error *error);
// Adds what one counted to another, and counts anew; paths stay where they are.
void pd_ring_counts_move_counts(struct pd_ring_counts *to, struct pd_ring_counts *from);
enum pd_status pd_ring_counts_path(struct pd_ring_counts *counts, const char *path, size_t length,
				   struct pd_error *error);
// The piece that ends there in the view, with the marks of mappings cleared, and forgets where they are. Memory is that of the counts.
enum pd_status pd_ring_counts_unmark(struct pd_ring_counts *counts, struct pd_bytes *piece, size_t until,
				     struct pd_error *error);
void pd_ring_counts_fini(struct pd_ring_counts *counts);

// ---- offcpu.c: where threads wait ----

struct pd_offcpu;

enum pd_status pd_offcpu_new(const struct pd_recorder_options *options, struct pd_offcpu **offcpu_out,
			     struct pd_error *error);
void pd_offcpu_free(struct pd_offcpu *offcpu);
// Takes what is in one of its rings.
enum pd_status pd_offcpu_take(struct pd_offcpu *offcpu, const struct pd_ring_view *view, struct pd_error *error);
// Samples of the waits that ended, once all rings were taken; valid until the next call.
enum pd_status pd_offcpu_flush(struct pd_offcpu *offcpu, struct pd_bytes *records_out, struct pd_error *error);
// Samples of those that still wait, up to now.
enum pd_status pd_offcpu_end(struct pd_offcpu *offcpu, struct pd_bytes *records_out, struct pd_error *error);
uint64_t pd_offcpu_samples(const struct pd_offcpu *offcpu);

// ---- the whole ----

struct pd_recorder {
	struct pd_recorder_options options;
	struct pd_config config;
	struct pd_threads threads;
	struct pd_cpus cpus;
	struct pd_command command;
	struct pd_ring *rings;
	size_t ring_count;
	size_t ring_bytes;
	struct pd_ring_counts counts;
	struct pd_offcpu *offcpu; // NULL: not asked for
	struct pd_recorded recorded;
	// open.c: what the kernel was found not to know
	unsigned missing;    // steps of the ladder that were taken
	uint64_t dropped;    // those that changed something, by bits
	bool fallback;       // cpu-clock in place of cycles
	int *cgroups;        // descriptors of the folders of the targets' cgroups, -1: none
	bool user_only;      // the kernel may not be looked at
	uint64_t counted_ns; // counter.c: when it began to count, CLOCK_MONOTONIC
	uint64_t elapsed_ns; // from then to the last reading
	// session.c
	struct pd_writer *writer; // NULL: there is no output
	struct pd_writer *live;   // in addition, to options.live; NULL: to nobody
	int fd;                   // of the file, -1: that of the options
	char *path;               // of the file that is written, NULL: none
	char **kept;              // files that were switched away from, the oldest first
	size_t kept_count, kept_capacity;
	const char *store; // or NULL
	const struct pd_store_profile *store_profile;
	struct pd_store_feed *feed; // files that are complete go there; NULL: there was none yet
	uint64_t begin_ns;          // of the file, CLOCK_MONOTONIC
	uint64_t saved_ns;          // the header, likewise
	unsigned rounds_due;        // that pipes still want: one round makes sure of the one before
	uint64_t reported_lost;     // losses that were reported by records made here
	struct pd_workers *workers; // workers.c; NULL: all rings are read by one thread
	// from other threads and signal handlers
	int wake; // eventfd
	_Atomic bool stop, switch_now;
	// recorder.c
	struct pd_pulled *pulled; // NULL: nobody reads while it is recorded
	bool has_drainer;         // rings are emptied on a thread of its own, whatever takes who reads so long
};

// Ends that thread, if it runs, and the recording with it.
void pd_recorder_end_drainer(struct pd_recorder *recorder);

// Tells something to the user. notes.c
void pd_recorder_report(struct pd_recorder *recorder, enum pd_severity severity, const char *code, const char *advice,
			const char *format, ...) PD_PRINTF(5, 6);

// open.c
enum pd_status pd_recorder_open_events(struct pd_recorder *recorder, struct pd_error *error);
void pd_recorder_close_cgroups(struct pd_recorder *recorder);
void pd_recorder_enable_all(struct pd_recorder *recorder, bool enable, const char *name);
// Samples of an event that were lost, as the kernel counted them at its descriptors.
uint64_t pd_recorder_lost_of(struct pd_recorder *recorder, size_t event, size_t descriptor);

// rings.c: makes and maps the rings of all opened events
enum pd_status pd_recorder_make_rings(struct pd_recorder *recorder, struct pd_error *error);
// Waits for another thread of those that share a ring. False if there is none left.
bool pd_recorder_next_alive(const struct pd_recorder *recorder, struct pd_ring *ring);

// session.c: a file from its begin to its end
enum pd_status pd_session_begin(struct pd_recorder *recorder, struct pd_error *error);
// The part of that which makes the file: events and features are in it, and no record.
enum pd_status pd_session_open_output(struct pd_recorder *recorder, struct pd_error *error);
// Takes all that is in the rings; of those that keep the newest only if it is to be written now.
enum pd_status pd_session_drain(struct pd_recorder *recorder, bool newest, struct pd_error *error);
// drain.c: bytes of records to the live output, and to both.
enum pd_status pd_session_put_live(struct pd_recorder *recorder, struct pd_bytes records, struct pd_error *error);
enum pd_status pd_session_put_piece(struct pd_recorder *recorder, size_t part, struct pd_bytes piece,
				    struct pd_error *error);
// Takes what is in a ring into a part of the output. Of different rings, with different tallies, from several threads.
enum pd_status pd_session_drain_ring(struct pd_recorder *recorder, struct pd_ring *ring, size_t part,
				     struct pd_ring_counts *counts, bool newest, bool *any, struct pd_error *error);
// Ends the file and gives it a name of its own, as switching and --timestamp-filename want it.
enum pd_status pd_session_keep(struct pd_recorder *recorder, struct pd_error *error);
// A file is complete: it is added to the store, if there is one.
void pd_session_feed(struct pd_recorder *recorder, const char *path);
// Waits until all of them are.
void pd_session_end_feed(struct pd_recorder *recorder);
// Brings the file up to date, so that it opens as it is.
enum pd_status pd_session_save(struct pd_recorder *recorder, struct pd_error *error);
enum pd_status pd_session_end(struct pd_recorder *recorder, struct pd_error *error);
// Bytes of the file so far, without what waits to be compressed.
uint64_t pd_session_size(const struct pd_recorder *recorder);
// Takes away what cannot become a file.
void pd_session_abort(struct pd_recorder *recorder);

// cpu_map.c: adds a CPU_MAP.
enum pd_status pd_recorder_add_cpus(struct pd_recorder *recorder, struct pd_made *made, struct pd_error *error);

// Sets the feature BUILD_ID by what was mapped.
enum pd_status pd_recorder_add_build_ids(struct pd_recorder *recorder, struct pd_error *error);

uint64_t pd_now_ns(void);

#endif
