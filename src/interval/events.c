/* SPDX-License-Identifier: MIT */
/*
 * Which tracepoints say what a thread does, and where in their raw data. Everything about it is as the recorded format says:
 * offsets, sizes, and which bit of prev_state stands for which code, which has changed with kernels.
 */
#include "interval/interval.h"

#include <string.h>

#include "trace/trace.h"

// The events, and the names of their fields.
static const struct {
	const char *name;
	enum pd_event_role role;
	const char *pid, *next, *state;
} sources[] = {
	{ "sched:sched_switch", PD_ROLE_SWITCH, "prev_pid", "next_pid", "prev_state" },
	{ "sched:sched_waking", PD_ROLE_WAKE, "pid", NULL, NULL },
	{ "sched:sched_wakeup", PD_ROLE_WAKE, "pid", NULL, NULL },
	{ "sched:sched_wakeup_new", PD_ROLE_NEW, "pid", NULL, NULL },
};

// ---- states ----

// Codes that stand for the end of a thread: exit_state, and the state of its last switch.
static bool is_dead(char code)
{
	return code == 'X' || code == 'Z' || code == 'x';
}

static enum pd_interval_number kind_of_code(char code)
{
	if (is_dead(code))
		return PD_KIND_GONE;
	for (unsigned i = 0; i < PD_KIND_COUNT; i++)
		if (pd_interval_kind(i)->of == PD_INTERVAL_BLOCKED && pd_interval_kind(i)->state == code)
			return (enum pd_interval_number)i;
	return PD_KIND_NONE;
}

static void set_code(struct pd_switch_event *out, uint64_t value, char code)
{
	if (!value || value & (value - 1) || value >> PD_STATE_BITS)
		return;
	out->kinds[__builtin_ctzll(value)] = (uint8_t)kind_of_code(code);
	// the kernel shows that a thread was preempted by the bit above all others
	if (value << 1 > out->preempted)
		out->preempted = value << 1;
}

// Codes of the format, or those of current kernels.
static void read_codes(struct pd_trace *trace, const struct pd_event *event, struct pd_switch_event *out)
{
	static const char current[] = "SDTtXZPI";
	const struct pd_choice_of_value *choice = pd_trace_flags(trace, event, "prev_state");

	memset(out->kinds, PD_KIND_NONE, sizeof(out->kinds));
	for (; choice; choice = choice->next)
		if (choice->value > 0 && choice->text)
			set_code(out, (uint64_t)choice->value, choice->text[0]);
	if (out->preempted)
		return;
	for (unsigned i = 0; current[i]; i++)
		set_code(out, UINT64_C(1) << i, current[i]);
}

enum pd_interval_number pd_switch_state(const struct pd_switch_event *event, uint64_t state)
{
	if (!(state & (event->preempted - 1)) || state & event->preempted)
		return PD_KIND_PREEMPTED;
	for (unsigned i = 0; i < PD_STATE_BITS; i++)
		if (state >> i & 1 && event->kinds[i] != PD_KIND_NONE)
			return (enum pd_interval_number)event->kinds[i];
	return PD_KIND_OFF_CPU;
}

enum pd_status pd_switch_event_read(struct pd_trace *trace, const struct pd_event *event, struct pd_switch_event *out,
				    struct pd_error *error)
{
	struct pd_switch_event found = { .role = PD_ROLE_NONE };
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		if (!pd_event_is(event, sources[i].name))
			continue;
		found.role = sources[i].role;
		status = pd_raw_number_find(trace, event, sources[i].pid, &found.pid, error);
		if (status == PD_OK && sources[i].next)
			status = pd_raw_number_find(trace, event, sources[i].next, &found.next, error);
		if (status == PD_OK && sources[i].state)
			status = pd_raw_number_find(trace, event, sources[i].state, &found.state, error);
		if (status == PD_OK && sources[i].state)
			read_codes(trace, event, &found);
	}
	if (pd_trace_lacks_memory(trace))
		return pd_fail_memory(error);
	if (status == PD_OK)
		*out = found;
	return status;
}
