/* SPDX-License-Identifier: MIT */
/*
 * The inside of a doctor: what a pass over the records and a profile tell of a recording, and findings made of it.
 *
 *   visit.h       for whoever reads the records anyway
 *   counts.c      what one pass over the records tells
 *   recording.c   validates records, header and events
 *   profile.c     validates addresses and stacks
 *   unwinding.c   validates copies of user stacks
 *   findings.c    the list of findings; findings.def: which there are
 *   print.c       findings as text and JSON
 *   doctor.c      on top
 */
#ifndef PD_DOCTOR_DOCTOR_H
#define PD_DOCTOR_DOCTOR_H

#include <perfdata/doctor.h>
#include <perfdata/record_stats.h>

#include "base/error.h"
#include "base/memory.h"
#include "doctor/visit.h"

enum {
	PD_DOCTOR_CPUS = 1024,
	PD_DOCTOR_COUNTERS = 1024
};

enum pd_finding_number {
#define FINDING(NAME, code, doc) PD_FINDING_##NAME,
#include "doctor/findings.def"
#undef FINDING
	PD_FINDING_COUNT
};

// What was counted of one event.
struct pd_doctor_event {
	uint64_t samples;                // that can be decoded
	uint64_t kernel, guest;          // of these
	uint64_t timeless;               // of these: without a time
	uint64_t period;                 // sum
	uint64_t dumps, full_dumps;      // copies of the user stack; those that are full
	uint64_t copied;                 // samples whose callers only unwinding of such a copy could tell
	uint64_t dump_bytes;             // size of the last one
	uint64_t enabled_ns, running_ns; // at the last reading
};

// A counter that was stopped.
struct pd_throttled {
	uint64_t id, stream_id;
	uint64_t since_ns; // 0: it runs
};

// What one pass over all records tells.
struct pd_doctor_counts {
	struct pd_stats *stats;
	struct pd_doctor_event *events;
	size_t event_count, event_capacity;
	uint64_t samples;
	uint64_t unknown_event; // samples of no known event
	uint64_t damaged;       // samples that cannot be decoded
	uint64_t lost, lost_samples;
	uint64_t throttles, throttled_ns;
	struct pd_throttled counters[PD_DOCTOR_COUNTERS];
	size_t counter_count;
	uint64_t aux, aux_truncated; // AUX records
	uint64_t backwards;          // times that are earlier than the one before on the same CPU
	uint64_t backwards_max_ns;
	uint64_t cpu_time_ns[PD_DOCTOR_CPUS]; // the last time on each CPU
	uint64_t unknown_records;             // of a type without a meaning
	uint64_t first_ns, last_ns;           // of samples; 0 if there are none
};

struct pd_ordered_finding {
	struct pd_finding shown;
	size_t order; // number of the check that found it
};

struct pd_doctor {
	struct pd_doctor_options options;
	struct pd_file *file;
	const struct pd_profile *profile; // from pd_doctor_take_profile on
	const struct pd_symbols *symbols;
	const struct pd_unwinder *unwinder; // that is not the profile's, or NULL
	struct pd_doctor_counts counts;
	struct pd_ordered_finding *findings;
	size_t finding_count, finding_capacity;
	struct pd_arena strings;
	struct pd_finding spare; // what there was no memory for
	bool failed;             // memory ran out
};

// counts.c: after the last record.
void pd_doctor_end_counts(struct pd_doctor_counts *counts);
// recording.c
void pd_doctor_validate_recording(struct pd_doctor *doctor);
// unwinding.c
void pd_doctor_validate_unwinding(struct pd_doctor *doctor);
// profile.c
void pd_doctor_validate_profile(struct pd_doctor *doctor);

// ---- findings.c ----

// A new finding, until the next one; text is printed by format. Never NULL.
struct pd_finding *pd_finding_add(struct pd_doctor *doctor, enum pd_finding_number number,
				  enum pd_severity_of_finding severity, uint64_t count, uint64_t total,
				  const char *meaning, const char *format, ...) PD_PRINTF(7, 8);
// A string that lives as long as the doctor; NULL if there is no memory.
const char *pd_doctor_string(struct pd_doctor *doctor, const char *format, ...) PD_PRINTF(2, 3);
// Worst first, then what there is most of, then in the order of the checks.
void pd_doctor_sort(struct pd_doctor *doctor);
// NOTE, or WARNING and BAD if count of total is more than so many percent.
enum pd_severity_of_finding pd_severity_by(uint64_t count, uint64_t total, double warning, double bad);

static inline double pd_percent(uint64_t count, uint64_t total)
{
	return total ? 100.0 * (double)count / (double)total : 0;
}

// Stacks that are whole and shown without unwinding.
#define PD_DOCTOR_FRAME_POINTERS \
	"perfdata record -g ...   (code built with -fno-omit-frame-pointer; or --call-graph lbr, if the CPU supports it)"

#endif
