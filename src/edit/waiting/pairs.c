/* SPDX-License-Identifier: MIT */
// Pairs of events instead of waits; what did not match, and durations, as text.
#include "edit/waiting/waiting.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/units.h"

static void name_pair(const struct pd_waiting *waiting, char *name, size_t size)
{
	const char *event = waiting->pair.events[PD_PAIR_BEGINS], *colon = strchr(event, ':');

	snprintf(name, size, "[%.60s]", waiting->pair.name ? waiting->pair.name : colon ? colon + 1 : event);
}

// The part of a chain that is the same in all processes.
static void keep_kernel_part(struct pd_u64s *chain)
{
	for (size_t i = 0; i < chain->count; i++)
		if (chain->items[i] == (uint64_t)PD_CONTEXT_USER)
			chain->count = i;
}

static enum pd_status take_paired(void *self, const struct pd_paired *paired, struct pd_error *error)
{
	struct pd_waiting *waiting = self;
	const struct pd_interval interval = { .pid = paired->pid,
					      .tid = paired->tid,
					      .cpu = paired->cpu,
					      .begin_ns = paired->begin_ns,
					      .end_ns = paired->end_ns };
	struct pd_sleeper *sleeper;
	char name[64];
	struct pd_waited waited = { .name = name, .pid = paired->pid, .end_ns = paired->end_ns, .chain = paired->chain };
	enum pd_status status;

	if (!pd_waiting_wants(waiting, paired->end_ns - paired->begin_ns))
		return PD_OK;
	sleeper = pd_sleeper_of(&waiting->sleepers, paired->tid);
	if (!sleeper)
		return pd_fail_memory(error);
	if (waited.pid == UINT32_MAX)
		waited.pid = sleeper->pid;
	if (paired->foreign)
		keep_kernel_part(&waited.chain);
	waiting->result.unchained_count += !waited.chain.count;
	name_pair(waiting, name, sizeof(name));
	waited.ended = paired->end_tid != paired->tid ? "ended" : NULL;
	waiting->waker = paired->end_tid;
	waiting->waker_chain = paired->end_chain;
	status = pd_waited_chain(waiting, &waited, error);
	return status < 0 ? status : pd_waiting_add(waiting, &interval, waited.pid, error);
}

enum pd_status pd_waiting_open_pair(struct pd_waiting *waiting, struct pd_error *error)
{
	struct pd_pairing *pairing = &waiting->pairing;
	enum pd_status status = pd_pair_parse(&waiting->pair, waiting->options.pair, error);

	pairing->paired = take_paired;
	pairing->self = waiting;
	pairing->limit = waiting->options.thread_limit;
	return status < 0 ? status : pd_pairing_init(pairing, waiting->file, &waiting->pair, error);
}

enum pd_status pd_waiting_pair(struct pd_waiting *waiting, const struct pd_record *record, struct pd_error *error)
{
	return pd_pairing_take(&waiting->pairing, record, error);
}

// ---- what did not match ----

static size_t describe_pairs(const struct pd_interval_counts *counts, char *text, size_t size)
{
	const struct {
		uint64_t count;
		const char *what;
	} all[] = { { counts->began_before, "ended without a begin in the recording" },
		    { counts->unwoken, "ended without a begin, which may have been lost" },
		    { counts->not_ended, "had not ended when the recording did" },
		    { counts->mismatched, "began again before they ended" },
		    { counts->out_of_order, "ended before they began" },
		    { counts->lost, "are uncertain, as records were lost meanwhile" },
		    { counts->unreadable, "samples cannot be read" } };
	size_t used = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && used < size; i++) {
		if (all[i].count && !used)
			used = (size_t)snprintf(text, size, "%" PRIu64 " pairs; %" PRIu64 " %s", counts->intervals,
						all[i].count, all[i].what);
		else if (all[i].count)
			used += (size_t)snprintf(text + used, size - used, ", %" PRIu64 " %s", all[i].count,
						 all[i].what);
	}
	return used;
}

bool pd_waiting_describe(const struct pd_waiting_options *options, const struct pd_waiting_result *result,
			 char text_out[PD_WAITING_TEXT])
{
	if (options && options->size > offsetof(struct pd_waiting_options, pair) && options->pair)
		return describe_pairs(&result->what, text_out, PD_WAITING_TEXT) != 0;
	if (result->what.mismatched)
		snprintf(text_out, PD_WAITING_TEXT,
			 "%" PRIu64 " intervals (%.3f ms) are unknown: events between them were not recorded, or lost",
			 result->what.mismatched, (double)result->uncertain_ns / 1e6);
	return result->what.mismatched != 0;
}

// ---- durations ----

static enum pd_status read_duration(const char *text, uint64_t *ns_out, struct pd_error *error)
{
	return !*text || pd_duration_read(text, ns_out) ?
		       PD_OK :
		       pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is not a time: write 500ms, 10s, 2m or 1h",
			       text);
}

enum pd_status pd_waiting_range_parse(const char *text, struct pd_waiting_options *options, struct pd_error *error)
{
	const char *dash = strchr(text, '-');
	enum pd_status status;
	char min[32];

	snprintf(min, sizeof(min), "%.*s", (int)(dash ? (size_t)(dash - text) : strlen(text)), text);
	status = read_duration(min, &options->min_ns, error);
	if (status >= 0 && dash)
		status = read_duration(dash + 1, &options->max_ns, error);
	if (status >= 0 && dash && dash[1] && options->max_ns < options->min_ns)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is a range that nothing is in", text);
	return status;
}
