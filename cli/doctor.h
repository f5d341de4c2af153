/* SPDX-License-Identifier: MIT */
/*
 * perfdata doctor: what a walk over the records and a profile tell of a recording, and findings made of it.
 *
 * doctor_gather.c counts, doctor_checks.c and doctor_objects.c judge, doctor_print.c says it.
 */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "analysis.h"
#include "stats.h"

enum {
	OBJECTS_SHOWN = 8,
	CPUS_WATCHED = 1024,
	COUNTERS_WATCHED = 1024
};

/* What was counted of one event. */
struct event_count {
	uint64_t samples;                /* that could be taken apart */
	uint64_t kernel, guest;          /* of these */
	uint64_t timeless;               /* of these: without a time */
	uint64_t period;                 /* sum */
	uint64_t dumps, full_dumps;      /* copies of the user stack; those that are full */
	uint64_t copied;                 /* samples whose callers only unwinding of such a copy could tell */
	uint64_t dump_bytes;             /* size of the last one */
	uint64_t enabled_ns, running_ns; /* at the last reading */
};

/* A counter that was stopped. */
struct throttle {
	uint64_t id, stream_id;
	uint64_t since_ns; /* 0: it runs */
};

/* What one walk over all records tells. */
struct counts {
	struct stats stats;
	struct event_count *events;
	size_t event_count;
	uint64_t samples;
	uint64_t unknown_event; /* samples of no known event */
	uint64_t damaged;       /* samples that cannot be taken apart */
	uint64_t lost, lost_samples;
	uint64_t throttles, throttled_ns;
	struct throttle counters[COUNTERS_WATCHED];
	size_t counter_count;
	uint64_t aux, aux_truncated; /* AUX records */
	uint64_t backwards;          /* times that are earlier than the one before on the same CPU */
	uint64_t backwards_most_ns;
	uint64_t cpu_time_ns[CPUS_WATCHED]; /* the last time on each CPU */
	uint64_t unknown_records;           /* of a type without a meaning */
	uint64_t first_ns, last_ns;         /* of samples; 0 if there are none */
};

enum severity {
	NOTE,
	WARNING,
	BAD
};

/* An object that has something wrong. */
struct patient {
	const struct pd_dso *dso;
	uint64_t samples;
	char *command;
};

/* Texts are the finding's own. share is of what the check is about: count of total. */
struct finding {
	const char *code;
	enum severity severity;
	uint64_t count, total;
	char *text;          /* one line with the numbers */
	const char *meaning; /* what follows from it */
	char *command;       /* what to type, or NULL */
	struct patient objects[OBJECTS_SHOWN];
	size_t object_count, objects_left; /* those that are not among them */
	size_t order;                      /* number of the check that found it */
};

struct doctor {
	struct analysis analysis;
	struct counts counts;
	struct finding *findings;
	size_t finding_count;
	bool failed; /* memory ran out */
};

/* Returns CODE_FINE or CODE_UNREADABLE. counts_fini is due either way. */
int counts_gather(struct counts *counts, struct input *input);
void counts_fini(struct counts *counts);

/* A new finding; text is printed by format. Never NULL. */
struct finding *finding_add(struct doctor *doctor, const char *code, enum severity severity, uint64_t count,
			    uint64_t total, const char *meaning, const char *format, ...) PD_PRINTF(7, 8);
/* What to type. */
void finding_command(struct finding *finding, const char *format, ...) PD_PRINTF(2, 3);
/* NOTE, or WARNING and BAD if count of total is more than so many percent. */
enum severity severity_by(uint64_t count, uint64_t total, double warning, double bad);
double percent(uint64_t count, uint64_t total);

/* What records, header and events tell. */
void check_recording(struct doctor *doctor);
/* What places and stacks tell; the profile has been read. */
void check_profile(struct doctor *doctor);

/* Stacks that are whole and shown without unwinding. */
#define FRAME_POINTERS \
	"perfdata record -g ...   (code built with -fno-omit-frame-pointer; or --call-graph lbr, if the CPU supports it)"

void doctor_print(const struct doctor *doctor, struct pd_text *text);
void doctor_json(const struct doctor *doctor, struct pd_text *text);

#endif
