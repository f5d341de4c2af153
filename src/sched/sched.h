/* SPDX-License-Identifier: MIT */
/*
 * The inside of timehist, latency and map, whose rules and text are perf's.
 *
 *   threads.c     threads, their names and times
 *   timehist.c    timehist: records, one after another
 *   lines.c       its header, and a line for each event
 *   chains.c      the call chains of these
 *   summary.c     its table of threads
 *   json.c        both as JSON
 *   chosen.c      which threads, CPUs and times
 *   pass.c        what latency and map have in common: records, and what did not fit
 *   latency.c     from wakeup to switch, by name
 *   map.c         who runs on each CPU
 */
#ifndef PD_SCHED_SCHED_H
#define PD_SCHED_SCHED_H

#include <perfdata/json.h>
#include <perfdata/run.h>
#include <perfdata/sched.h>
#include <perfdata/symbol.h>
#include <perfdata/trace.h>

#include "base/error.h"
#include "base/lookup/u64_map.h"
#include "base/memory.h"
#include "format/chain.h"
#include "interval/raw.h"
#include "interval/tracepoints.h"

enum {
	PD_SCHED_NAME = 32,   // bytes that perf has for a thread in a line
	PD_SCHED_CPUS = 4096, // perf's own limit
	PD_SCHED_RECENT = 64,
	PD_SCHED_NO_PRIO = -1
};

// A distribution, summed up as perf does, so that its digits are the same.
struct pd_sched_stats {
	double mean, squares;
	uint64_t count, min, max;
};

struct pd_sched_thread {
	int32_t pid, tid, ppid;
	char comm[PD_SCHED_NAME];
	bool named; // or the name is made of its number
	bool gone;  // its number was given to another
	bool exited;
	bool idle;
	uint64_t last_ns, ready_ns; // when it was switched out, and woken; 0: not
	int64_t last_state;
	uint64_t run_ns, delay_ns, sleep_ns, disk_ns, preempt_ns, pre_migration_ns; // of the last time
	uint64_t queued_ns, migrated_ns; // since it was switched out: when it could run, and was migrated; 0: not
	int32_t prio;                    // it was switched in with
	bool has_prio;
	uint64_t total_run_ns, total_delay_ns, total_sleep_ns, total_disk_ns, total_preempt_ns;
	uint64_t migrations;
	struct pd_sched_stats stats;
	struct pd_sched_thread *before_idle; // of an idle thread: what ran before
	void *own;                           // what latency and map know of it, in the arena
	bool renamed;                        // since map printed its name
};

enum pd_sched_role {
	PD_SCHED_UNREAD,
	PD_SCHED_OTHER,
	PD_SCHED_SWITCH,
	PD_SCHED_WAKEUP,
	PD_SCHED_MIGRATE
};

// An event of the file, and its fields.
struct pd_sched_event {
	enum pd_sched_role role;
	struct pd_raw_number pid, next_pid, state, from_cpu, to_cpu;
	struct pd_raw_number next_comm;            // a string
	struct pd_raw_number prev_prio, next_prio; // if they are wanted
	uint64_t *last_ns;                         // by CPU
	size_t cpu_count;
};

// What every event has.
struct pd_sched_sample {
	uint64_t time_ns;
	int32_t pid, tid;
	uint32_t cpu;
	struct pd_bytes raw;
	struct pd_u64s chain;
};

// A part of the time; 0: open.
struct pd_sched_window {
	uint64_t from_ns, to_ns;
};

struct pd_sched_form;

struct pd_sched {
	struct pd_file *file;
	struct pd_timehist_options *options;
	struct pd_text *text;
	struct pd_trace *trace;
	bool ignores_wakeups; // there is sched_waking
	struct pd_sched_event *events;
	size_t event_count;
	struct pd_arena arena;
	struct pd_u64_map map;
	struct pd_sched_thread *recent[PD_SCHED_RECENT]; // of the map, by the low bits of their numbers
	struct pd_sched_thread **threads;
	size_t thread_count, thread_capacity;
	struct pd_sched_thread **idle; // by CPU
	size_t idle_count;
	uint32_t max_cpu;
	uint32_t met_cpu;       // the highest one that had an event
	uint32_t cpus_at_first; // each of these has an idle thread
	int name_width;
	uint64_t start_ns, end_ns;
	struct pd_sched_window window;
	bool chooses;                     // not all threads, CPUs and times
	bool skipped;                     // switches of threads that are not chosen
	const struct pd_sched_form *form; // of timehist
	bool shows_chains;
	struct pd_state *state; // for them, as are symbols
	struct pd_symbols *symbols;
	struct pd_json json;
};

// For pd_sched_find.
struct pd_sched_thread *pd_sched_find_other(struct pd_sched *sched, int32_t pid, int32_t tid, struct pd_error *error);

// The thread of a number, or a new one. NULL: no memory, or too many.
static inline struct pd_sched_thread *pd_sched_find(struct pd_sched *sched, int32_t pid, int32_t tid,
						    struct pd_error *error)
{
	struct pd_sched_thread *thread = sched->recent[(uint32_t)tid % PD_SCHED_RECENT];

	return PD_LIKELY(thread && thread->tid == tid && thread->pid != -1) ?
		       thread :
		       pd_sched_find_other(sched, pid, tid, error);
}

struct pd_sched_thread *pd_sched_find_idle(struct pd_sched *sched, uint32_t cpu, struct pd_error *error);
// Forgets all threads.
void pd_sched_forget(struct pd_sched *sched);
// Names, begins and ends of threads, of records that are not samples.
enum pd_status pd_sched_take_task(struct pd_sched *sched, const struct pd_record *record, struct pd_error *error);
static inline void pd_sched_add_value(struct pd_sched_stats *stats, uint64_t value)
{
	double delta = (double)value - stats->mean;

	stats->count++;
	stats->mean += delta / (double)stats->count;
	stats->squares += delta * ((double)value - stats->mean);
	if (value > stats->max)
		stats->max = value;
	if (value < stats->min)
		stats->min = value;
}

// Adds the time from before_ns, when the CPU was given to it, to time_ns.
void pd_sched_add_run(struct pd_sched_thread *thread, uint64_t time_ns, uint64_t before_ns);
// Copies as much as fits, without what is not to be printed.
void pd_sched_escape(char *out, size_t size, const char *string, size_t length);
// Its name with numbers. The first that is wider makes the column wider.
void pd_sched_name(struct pd_sched *sched, const struct pd_sched_thread *thread, char name[PD_SCHED_NAME]);

// The mean error of the mean, in percent of it.
double pd_sched_stats_error(const struct pd_sched_stats *stats);

void pd_sched_print_time(struct pd_text *text, uint64_t time_ns, int width);
// False if the output fails.
bool pd_sched_print_summary(struct pd_sched *sched);
// As perf's table has them.
void pd_sched_sort_threads(struct pd_sched *sched);
// The character of a state in which a thread was switched out.
char pd_sched_state(const struct pd_sched_thread *thread, int64_t state);
// Who is switched in, as the event says.
void pd_sched_next_name(const struct pd_sched_event *event, const struct pd_sched_sample *sample,
			char name[PD_SCHED_NAME]);

// Reads what is chosen of timehist.
enum pd_status pd_sched_choose(struct pd_sched *sched, struct pd_error *error);
// Threads that are not are noted as skipped. prio: of a thread that is switched out, PD_SCHED_NO_PRIO if it is not known.
bool pd_sched_has_thread(struct pd_sched *sched, const struct pd_sched_thread *thread, int32_t prio);
bool pd_sched_has_cpu(const struct pd_sched *sched, uint32_t cpu);
bool pd_sched_has_time(const struct pd_sched *sched, uint64_t time_ns);
// Cuts the time from one switch to another to what is chosen of it. False if that is nothing.
bool pd_sched_cut_time(const struct pd_sched *sched, uint64_t *before_ns, uint64_t *time_ns);

// Whether timehist shows call chains: as with perf all events have to have them.
bool pd_sched_has_chains(const struct pd_sched *sched);
// For names of functions: mappings, in the order of the file, and what is made of them. close is harmless without open.
enum pd_status pd_sched_open_state(struct pd_sched *sched, struct pd_error *error);
enum pd_status pd_sched_take_mapping(void *self, struct pd_stream *stream, const struct pd_record *record,
				     struct pd_error *error);
enum pd_status pd_sched_open_symbols(void *self, struct pd_window *window, struct pd_error *error);
void pd_sched_close_symbols(struct pd_sched *sched);
// The call chain of a sample; nothing of it if none is shown.
struct pd_chain_walk pd_sched_walk(const struct pd_sched *sched, const struct pd_sched_sample *sample);
// The next function that is not one of the scheduler. False: there is none.
bool pd_sched_next_frame(const struct pd_sched *sched, const struct pd_sched_sample *sample, struct pd_chain_walk *walk,
			 struct pd_place *place_out);
void pd_sched_print_chain(struct pd_sched *sched, const struct pd_sched_sample *sample);

// What timehist prints. begin is not called if there is nothing but the table.
struct pd_sched_form {
	void (*begin)(struct pd_sched *sched);
	void (*add_switch)(struct pd_sched *sched, const struct pd_sched_event *event,
			   const struct pd_sched_sample *sample, const struct pd_sched_thread *thread, int64_t state);
	void (*add_wakeup)(struct pd_sched *sched, const struct pd_sched_sample *sample,
			   const struct pd_sched_thread *waker, const struct pd_sched_thread *woken);
	void (*add_migration)(struct pd_sched *sched, const struct pd_sched_event *event,
			      const struct pd_sched_sample *sample, const struct pd_sched_thread *by,
			      const struct pd_sched_thread *moved);
	// Prints the table if it is asked for. False if the output fails. NULL: the table as text
	bool (*end)(struct pd_sched *sched);
};
extern const struct pd_sched_form pd_sched_as_text, pd_sched_as_json;

// An object with the numbers and the name of a thread.
void pd_sched_json_thread(struct pd_json *json, const char *name, const struct pd_sched_thread *thread);

// ---- latency and map ----

enum pd_sched_point {
	PD_SCHED_POINT_SWITCH,
	PD_SCHED_POINT_RUNTIME,
	PD_SCHED_POINT_WAKEUP,
	PD_SCHED_POINT_WAKEUP_NEW,
	PD_SCHED_POINT_MIGRATE, // only if they are wanted
	PD_SCHED_POINT_WAKING,
	PD_SCHED_POINTS
};

struct pd_sched_pass;
typedef enum pd_status pd_sched_point_fn(struct pd_sched_pass *pass, const struct pd_tracepoint_sample *sample,
					 struct pd_error *error);

struct pd_sched_pass {
	struct pd_sched sched;
	struct pd_timehist_options none;
	struct pd_tracepoints points;
	struct pd_tracepoint table[PD_SCHED_POINTS];
	bool migrations; // are wanted
	pd_sched_point_fn *point;
	void (*forget)(struct pd_sched_pass *pass); // all records, which come again; NULL: what was printed stays
	struct {
		uint64_t last_ns;
		uint32_t pid; // that runs; UINT32_MAX: not known
		struct pd_sched_thread *thread;
	} cpus[PD_SCHED_CPUS];
	uint64_t records, lost, lost_chunks, wakeups, unordered, bugs;
};

// Reads all, with calls of point. Errors also: PD_ERROR_NO_SAMPLES without switches.
enum pd_status pd_sched_pass_run(struct pd_sched_pass *pass, struct pd_file *file, struct pd_text *text,
				 size_t thread_limit, struct pd_error *error);
void pd_sched_pass_fini(struct pd_sched_pass *pass);
void pd_sched_print_bad(struct pd_sched_pass *pass);
// The same as members of an object.
void pd_sched_json_bad(struct pd_sched_pass *pass, struct pd_json *json);
enum pd_status pd_sched_fail_without_switches(struct pd_error *error);

#endif
