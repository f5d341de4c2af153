/* SPDX-License-Identifier: MIT */
/*
 * Recordings of what threads do: written down once, as a list of switches and wakeups, and made into tracepoints of an old or a
 * new kernel, or into SWITCH records.
 */
#ifndef PD_TEST_INTERVAL_STORY_H
#define PD_TEST_INTERVAL_STORY_H

#include <stdarg.h>

#include "unit/edit/recording.h"

#define CHECK_U64(got, wanted)                                                                     \
	do {                                                                                       \
		unsigned long long got_ = (got), wanted_ = (unsigned long long)(wanted);           \
		if (got_ != wanted_) {                                                             \
			printf("# %s:%d: %llu, wanted %llu\n", __FILE__, __LINE__, got_, wanted_); \
			test_failed = true;                                                        \
			return;                                                                    \
		}                                                                                  \
	} while (0)

enum {
	TEXT_MOST = 1 << 20,
	SWITCH_ID = 7,
	WAKING_ID = 8,
	NEW_ID = 9,
	EVENTS_MOST = 4000
};

// ---- what happened ----

enum what {
	SWITCHES, // from a to b; state as the code of a
	WAKES,    // a wakes b
	CREATES,
	LOSES
};

struct happened {
	unsigned time_ns, cpu;
	enum what what;
	unsigned a;
	char code;
	unsigned b;
};

// A kernel: how large the fields are, and what the bits of a state are.
struct kernel {
	const char *codes; // from the lowest bit on
	unsigned state_size, pid_size;
	const char *pid_name;
	bool by_flags; // the format tells the codes
};

static const struct kernel now = { "SDTtXZPI", 8, 4, "prev_pid", true };
static const struct kernel old = { "SDTtZXxKWPN", 4, 8, "prev_pid", true };
static const struct kernel silent = { "SDTtXZPI", 8, 4, "prev_pid", false };

static char text[TEXT_MOST];
static size_t length;

static inline void PD_PRINTF(1, 2) put(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	length += (size_t)vsnprintf(text + length, sizeof(text) - length, format, arguments);
	va_end(arguments);
}

static inline void put_number(uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		put("%02x", (unsigned)(value >> 8 * i & 0xff));
}

static inline void put_format(const char *name, unsigned id, const struct kernel *kernel)
{
	put("{data: \"name: %s\\nID: %u\\nformat:\\n\\tfield:unsigned short common_type;\\toffset:0;\\tsize:2;\\tsigned:0;\\n\\n",
	    name, id);
	if (id != SWITCH_ID) {
		put("\\tfield:pid_t pid;\\toffset:8;\\tsize:4;\\tsigned:1;\\n\\nprint fmt: \\\"%%d\\\", REC->pid\\n\"}\n");
		return;
	}
	put("\\tfield:pid_t %s;\\toffset:8;\\tsize:%u;\\tsigned:1;\\n\\tfield:long prev_state;\\toffset:16;\\tsize:%u;\\tsigned:1;\\n"
	    "\\tfield:pid_t next_pid;\\toffset:24;\\tsize:%u;\\tsigned:1;\\n\\nprint fmt: \\\"%%s\\\", ",
	    kernel->pid_name, kernel->pid_size, kernel->state_size, kernel->pid_size);
	if (!kernel->by_flags) {
		put("REC->prev_state\\n\"}\n");
		return;
	}
	put("REC->prev_state & 2047 ? __print_flags(REC->prev_state & 2047, \\\"|\\\"");
	for (unsigned i = 0; kernel->codes[i]; i++)
		put(", { %u, \\\"%c\\\" }", 1U << i, kernel->codes[i]);
	put(") : \\\"R\\\"\\n\"}\n");
}

static inline void put_head(const struct kernel *kernel)
{
	length = 0;
	put("header form: file, byte_order: little\n");
	if (!kernel) {
		put("event {name: \"cpu-clock\", ids: [1], type: software, sample_period: 1000, sample_type: IP|TID|TIME|CPU|IDENTIFIER, "
		    "flags: sample_id_all|context_switch}\n");
		return;
	}
	put("event {name: \"sched:sched_switch\", ids: [1], type: tracepoint, config: %u, sample_period: 1, "
	    "sample_type: TID|TIME|CPU|RAW|IDENTIFIER, flags: sample_id_all}\n",
	    SWITCH_ID);
	put("event {name: \"sched:sched_waking\", ids: [2], type: tracepoint, config: %u, sample_period: 1, "
	    "sample_type: TID|TIME|CPU|RAW|IDENTIFIER, flags: sample_id_all}\n",
	    WAKING_ID);
	put("event {name: \"sched:sched_wakeup_new\", ids: [3], type: tracepoint, config: %u, sample_period: 1, "
	    "sample_type: TID|TIME|CPU|RAW|IDENTIFIER, flags: sample_id_all}\n",
	    NEW_ID);
	put("feature TRACING_DATA {magic: x\"17084474726163696e67\", version: \"0.6\", long_size: 8, page_size: 4096, header_page_name: "
	    "\"header_page\", header_page: \"\\n\", header_event_name: \"header_event\", header_event: \"\\n\", ftrace_formats: [], "
	    "systems: [{name: \"sched\", formats: [\n");
	put_format("sched_switch", SWITCH_ID, kernel);
	put_format("sched_waking", WAKING_ID, kernel);
	put_format("sched_wakeup_new", NEW_ID, kernel);
	put("]}], kallsyms: \"\", printk_formats: \"\", saved_cmdlines: \"\"}\n");
}

static inline void put_tracepoint(const struct kernel *kernel, const struct happened *e)
{
	const char *code = e->code ? strchr(kernel->codes, e->code) : NULL;

	put("SAMPLE event: %u, identifier: %u, pid: %u, tid: %u, time_ns: %u, cpu: %u, raw: x\"", (unsigned)e->what,
	    e->what + 1, e->a, e->a, e->time_ns, e->cpu);
	put("0700000000000000");
	if (e->what != SWITCHES) {
		put("%02x%02x0000\"\n", e->b & 0xff, e->b >> 8);
		return;
	}
	put_number(e->a, kernel->pid_size);
	put_number(0, 8 - kernel->pid_size);
	// R: preempted
	put_number(code ? UINT64_C(1) << (code - kernel->codes) : UINT64_C(1) << strlen(kernel->codes),
		   kernel->state_size);
	put_number(0, 8 - kernel->state_size);
	put_number(e->b, kernel->pid_size);
	put("\"\n");
}

static inline void put_switch_out(const struct happened *e)
{
	put("SWITCH_CPU_WIDE misc: SWITCH_OUT%s, next_prev_pid: %u, next_prev_tid: %u, sample_id: {pid: %u, tid: %u, time_ns: %u, cpu: "
	    "%u, identifier: 1}\n",
	    e->code == 'R' ? "|SWITCH_OUT_PREEMPT" : "", e->b, e->b, e->a, e->a, e->time_ns, e->cpu);
}

static inline void put_switch_in(const struct happened *e)
{
	put("SWITCH_CPU_WIDE next_prev_pid: %u, next_prev_tid: %u, sample_id: {pid: %u, tid: %u, time_ns: %u, cpu: %u, identifier: 1}\n",
	    e->a, e->a, e->b, e->b, e->time_ns, e->cpu);
}

static inline void put_switch(const struct happened *e)
{
	if (e->what == CREATES)
		put("FORK pid: %u, ppid: %u, tid: %u, ptid: %u, time_ns: %u, sample_id: {pid: %u, tid: %u, time_ns: %u, cpu: %u, "
		    "identifier: 1}\n",
		    e->b, e->a, e->b, e->a, e->time_ns, e->a, e->a, e->time_ns, e->cpu);
	if (e->what != SWITCHES)
		return;
	if (e->code == 'X')
		put("EXIT pid: %u, ppid: 1, tid: %u, ptid: 1, time_ns: %u, sample_id: {pid: %u, tid: %u, time_ns: %u, cpu: %u, "
		    "identifier: 1}\n",
		    e->a, e->a, e->time_ns, e->a, e->a, e->time_ns, e->cpu);
	put_switch_out(e);
	put_switch_in(e);
}

// kernel: NULL is SWITCH records.
static inline void put_event(const struct kernel *kernel, const struct happened *e)
{
	if (e->what == LOSES)
		put("LOST id: 1, lost: %u, sample_id: {pid: 0, tid: 0, time_ns: %u, cpu: %u, identifier: 1}\n", e->a,
		    e->time_ns, e->cpu);
	else if (kernel)
		put_tracepoint(kernel, e);
	else
		put_switch(e);
}

static inline struct pd_file *make(const struct kernel *kernel, const struct happened *events, size_t count)
{
	put_head(kernel);
	for (size_t i = 0; i < count; i++)
		put_event(kernel, &events[i]);
	return open_text(text);
}

#define THREAD 100
#define OTHER 200

// One that sleeps, is woken, preempted, waits for a disk, ends and comes again.
static const struct happened story[] = {
	{ 1000, 0, SWITCHES, 0, 'R', THREAD },     // was off the CPU before
	{ 1100, 0, CREATES, THREAD, 0, OTHER },    //
	{ 1150, 1, SWITCHES, 0, 'R', OTHER },      //
	{ 1200, 0, SWITCHES, THREAD, 'S', 0 },     //
	{ 1500, 1, WAKES, OTHER, 0, THREAD },      //
	{ 1550, 0, SWITCHES, 0, 'R', THREAD },     // after 50
	{ 1700, 0, SWITCHES, THREAD, 'R', 300 },   //
	{ 1800, 0, SWITCHES, 300, 'S', THREAD },   // after 100
	{ 1850, 0, WAKES, THREAD, 0, THREAD },     // in vain
	{ 2000, 0, SWITCHES, THREAD, 'D', 0 },     //
	{ 2600, 1, WAKES, OTHER, 0, THREAD },      //
	{ 2700, 1, SWITCHES, OTHER, 'X', THREAD }, // on another CPU
	{ 3000, 1, SWITCHES, THREAD, 'S', 0 },     // until the end
	{ 3500, 0, CREATES, 0, 0, OTHER },         //
	{ 4000, 0, SWITCHES, 0, 'R', OTHER },      //
};
#define STORY story, sizeof(story) / sizeof(story[0])

#endif
