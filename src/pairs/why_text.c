/* SPDX-License-Identifier: MIT */
// Waits with their wakeups, and sums, as text and as JSON.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <perfdata/json.h>

#include "base/text/text.h"
#include "pairs/why.h"

enum {
	ROWS = 20,
	NAME = 96
};

static const char *reason_name(enum pd_why_reason reason)
{
	static const char *const names[PD_WHY_REASONS] = { "ran", "waited for a CPU", "waited for an interrupt",
							   "unknown" };

	return names[reason];
}

// "?" if it is not known.
static const char *thread_name(const struct pd_why *why, uint32_t tid)
{
	uint64_t found = pd_u64_map_find(&why->sched.map, tid);

	return found ? ((const struct pd_sched_thread *)(uintptr_t)found)->comm : "?"; // NOLINT: it was a pointer
}

static const char *name_of(const struct pd_why *why, uint32_t tid, char name[NAME])
{
	if (tid == UINT32_MAX)
		snprintf(name, NAME, "an unknown thread");
	else if (!tid)
		snprintf(name, NAME, "an idle CPU");
	else
		snprintf(name, NAME, "%s[%" PRIu32 "]", thread_name(why, tid), tid);
	return name;
}

static double in_ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

// ---- text ----

static void print_time(struct pd_text *text, uint64_t time_ns)
{
	pd_text_printf(text, "%" PRIu64 ".%06u", time_ns / 1000000000, (unsigned)(time_ns % 1000000000 / 1000));
}

static void print_end(struct pd_why *why, const struct pd_why_link *link)
{
	struct pd_text *text = why->sched.text;
	char name[NAME];

	if (link->preempted)
		pd_text_printf(text, ", preempted by %s", name_of(why, link->waker, name));
	else if (link->interrupt)
		pd_text_printf(text, ", woken by an interrupt on CPU %" PRIu32 " (%s)", link->cpu,
			       name_of(why, link->waker, name));
	else
		pd_text_printf(text, ", woken by %s", name_of(why, link->waker, name));
	if (link->flags & PD_INTERVAL_BEGAN_BEFORE)
		pd_text_add(text, "; it began before the recording");
	if (link->flags & PD_INTERVAL_LOST)
		pd_text_add(text, "; uncertain, as records were lost meanwhile");
	pd_text_add(text, "\n");
}

// Nothing if nothing is missing.
static void print_missing(struct pd_why *why)
{
	struct pd_interval_counts counts;

	pd_intervals_counts(why->intervals, &counts);
	if (counts.lost_records || counts.lost)
		pd_text_printf(why->sched.text, "%" PRIu64 " records were lost; %" PRIu64 " intervals are uncertain\n",
			       counts.lost_records, counts.lost);
	if (counts.mismatched)
		pd_text_printf(why->sched.text,
			       "%" PRIu64 " intervals are unknown: events between them were not recorded, or lost\n",
			       counts.mismatched);
}

// Of a thread that hangs there is nothing else.
static void print_open(struct pd_why *why)
{
	const struct pd_interval *longest = &why->longest_open;
	struct pd_text *text = why->sched.text;
	char name[NAME];

	if (!why->open_count)
		return;
	pd_text_printf(text,
		       "%" PRIu64 " waits had not ended when the recording did; the longest: %s, %s for %.3f ms since ",
		       why->open_count, name_of(why, longest->tid, name), longest->kind->name,
		       in_ms(longest->end_ns - longest->begin_ns));
	print_time(text, longest->begin_ns);
	pd_text_add(text, "\n");
}

// Without the time for a CPU after a wakeup, if that is not all of it.
static uint64_t waited_ns(const struct pd_why_link *link)
{
	bool is_all = pd_interval_kind(link->kind)->of == PD_INTERVAL_RUNNABLE;

	return (is_all ? link->in_ns : link->woken_ns) - link->begin_ns;
}

// For a CPU after a wakeup.
static uint64_t delay_ns(const struct pd_why_link *link)
{
	bool is_all = pd_interval_kind(link->kind)->of == PD_INTERVAL_RUNNABLE;

	return is_all || link->in_ns < link->woken_ns ? 0 : link->in_ns - link->woken_ns;
}

static void print_link(struct pd_why *why, const struct pd_why_link *link, uint64_t until_ns)
{
	struct pd_text *text = why->sched.text;
	char name[NAME];

	pd_text_printf(text, "     %s ran %.3f ms, before that %s %.3f ms", name_of(why, link->tid, name),
		       in_ms(until_ns > link->in_ns ? until_ns - link->in_ns : 0), pd_interval_kind(link->kind)->name,
		       in_ms(waited_ns(link)));
	if (delay_ns(link))
		pd_text_printf(text, " and %.3f ms for a CPU", in_ms(delay_ns(link)));
	print_end(why, link);
}

// What was before the last of the links that are known, if the wait had begun by then.
static void print_rest(struct pd_why *why, const struct pd_why_wait *wait, const struct pd_why_link *last)
{
	uint32_t actor = last->preempted ? last->tid : last->waker;
	struct pd_text *text = why->sched.text;
	char name[NAME];

	if (last->interrupt || !actor || actor == UINT32_MAX || last->woken_ns <= wait->links[0].begin_ns)
		return;
	if (wait->depth == PD_WHY_DEPTH)
		pd_text_printf(text, "     %s: what it did before that is not kept\n", name_of(why, actor, name));
	else if (!last->preempted)
		pd_text_printf(text, "     %s ran all the time before that\n", name_of(why, actor, name));
}

static void print_wait(struct pd_why *why, size_t number, const struct pd_why_wait *wait)
{
	struct pd_text *text = why->sched.text;
	const struct pd_why_link *first = &wait->links[0], *link = first;
	char name[NAME];

	pd_text_printf(text, "%3zu. %.3f ms  %s, from ", number, in_ms(wait->total_ns), name_of(why, first->tid, name));
	print_time(text, first->begin_ns);
	pd_text_add(text, " to ");
	print_time(text, first->in_ns);
	pd_text_printf(text, ": %s %.3f ms", pd_interval_kind(first->kind)->name, in_ms(waited_ns(first)));
	if (delay_ns(first))
		pd_text_printf(text, ", then %.3f ms for a CPU", in_ms(delay_ns(first)));
	print_end(why, first);
	for (size_t i = 1; i < wait->depth; link = &wait->links[i++])
		print_link(why, &wait->links[i], link->woken_ns);
	print_rest(why, wait, link);
}

// On one line, as perf has call chains beside switches.
static void print_stack(struct pd_why *why, const struct pd_why_kept *kept)
{
	struct pd_text *text = why->sched.text;
	unsigned cpumode = PD_CPUMODE_USER;
	const char *before = "     in ";
	bool any = false;

	for (size_t i = 0; i < kept->stack.count; i++) {
		size_t size = text->size;

		pd_text_add(text, before);
		if (!pd_why_stack_name(why, kept, i, &cpumode, text)) {
			text->size = size;
			continue;
		}
		before = " <- ";
		any = true;
	}
	if (any)
		pd_text_add(text, "\n");
}

static void print_outlier(struct pd_why *why)
{
	const struct pd_why_kept *first;
	unsigned bits;
	uint64_t count;

	first = pd_why_first_outlier(why, &bits, &count);
	if (!first)
		return;
	pd_text_printf(why->sched.text, "\nWaits of %.3f ms or more: %" PRIu64 ". The first one:\n\n",
		       in_ms(bits ? UINT64_C(1) << (bits - 1) : 0), count);
	print_wait(why, 1, &first->wait);
	print_stack(why, first);
}

static int compare_sums(const void *a, const void *b)
{
	const struct pd_why_sum *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->other != y->other)
		return x->other < y->other ? -1 : 1;
	return x->reason < y->reason ? -1 : x->reason > y->reason;
}

static void sort_sums(struct pd_why_sums *sums)
{
	if (sums->count)
		qsort(sums->all, sums->count, sizeof(*sums->all), compare_sums);
}

static void print_spent(struct pd_why *why)
{
	struct pd_text *text = why->sched.text;
	char name[NAME];

	sort_sums(&why->spent);
	pd_text_add(text, "\nWhat these waits were spent on:\n\n    Time ms  Share   Parts  Thread\n");
	for (size_t i = 0; i < why->spent.count && i < ROWS; i++) {
		const struct pd_why_sum *sum = &why->spent.all[i];

		pd_text_printf(text, "%11.3f %5.1f%% %7" PRIu64 "  %s %s\n", in_ms(sum->total_ns),
			       100.0 * (double)sum->total_ns / (double)(why->wait_ns ? why->wait_ns : 1), sum->count,
			       name_of(why, sum->tid, name), reason_name(sum->reason));
	}
}

static void print_preempted(struct pd_why *why)
{
	struct pd_text *text = why->sched.text;
	char name[NAME], other[NAME];

	sort_sums(&why->preempted);
	if (why->preempted.count)
		pd_text_add(text, "\nPreempted, and who ran then:\n\n    Time ms   Times  Thread\n");
	for (size_t i = 0; i < why->preempted.count && i < ROWS; i++) {
		const struct pd_why_sum *sum = &why->preempted.all[i];

		pd_text_printf(text, "%11.3f %7" PRIu64 "  %s by %s\n", in_ms(sum->total_ns), sum->count,
			       name_of(why, sum->tid, name), name_of(why, sum->other, other));
	}
}

void pd_why_print_text(struct pd_why *why)
{
	print_missing(why);
	print_open(why);
	pd_text_printf(why->sched.text, "%" PRIu64 " waits, %.3f ms; the longest:\n\n", why->wait_count,
		       in_ms(why->wait_ns));
	for (size_t i = 0; i < why->longest_count; i++) {
		print_wait(why, i + 1, &why->longest[i].wait);
		print_stack(why, &why->longest[i]);
	}
	print_outlier(why);
	print_spent(why);
	print_preempted(why);
	if (why->wait_count)
		pd_text_add(why->sched.text, "\nHow long waits were: ");
	pd_histogram_text(why->lengths, why->sched.text);
	pd_run_queue_text(&why->queue, why->sched.text);
}

// ---- JSON ----

static void json_thread(struct pd_why *why, struct pd_json *json, const char *name, uint32_t tid)
{
	pd_json_open(json, name, '{');
	pd_json_number(json, "tid", tid);
	pd_json_string(json, "comm", thread_name(why, tid));
	pd_json_close(json, '}');
}

static void json_link(struct pd_why *why, struct pd_json *json, const struct pd_why_link *link)
{
	pd_json_open(json, NULL, '{');
	json_thread(why, json, "thread", link->tid);
	pd_json_string(json, "kind", pd_interval_kind(link->kind)->name);
	pd_json_number(json, "begin_ns", link->begin_ns);
	pd_json_number(json, "woken_ns", link->woken_ns);
	pd_json_number(json, "in_ns", link->in_ns);
	pd_json_bool(json, "interrupt", link->interrupt);
	pd_json_bool(json, "began_before", link->flags & PD_INTERVAL_BEGAN_BEFORE);
	pd_json_bool(json, "uncertain", link->flags & PD_INTERVAL_LOST);
	if (link->waker != UINT32_MAX)
		json_thread(why, json, link->preempted ? "preempted_by" : "woken_by", link->waker);
	pd_json_close(json, '}');
}

static void json_stack(struct pd_why *why, struct pd_json *json, const struct pd_why_kept *kept)
{
	struct pd_text name = { 0 };
	unsigned cpumode = PD_CPUMODE_USER;

	pd_json_open(json, "stack", '[');
	for (size_t i = 0; i < kept->stack.count; i++) {
		pd_text_clear(&name);
		if (!pd_why_stack_name(why, kept, i, &cpumode, &name))
			continue;
		json->text->failed |= name.failed;
		pd_json_str(json, NULL, (struct pd_str){ name.data, name.size });
	}
	pd_json_close(json, ']');
	pd_free(name.data);
}

static void json_wait(struct pd_why *why, struct pd_json *json, const char *name, const struct pd_why_kept *kept)
{
	pd_json_open(json, name, '{');
	pd_json_number(json, "total_ns", kept->wait.total_ns);
	json_stack(why, json, kept);
	pd_json_open(json, "wakeups", '[');
	for (size_t i = 0; i < kept->wait.depth; i++)
		json_link(why, json, &kept->wait.links[i]);
	pd_json_close(json, ']');
	pd_json_close(json, '}');
}

static void json_outliers(struct pd_why *why, struct pd_json *json)
{
	unsigned bits;
	uint64_t count;
	const struct pd_why_kept *first = pd_why_first_outlier(why, &bits, &count);

	pd_json_open(json, "outliers", '{');
	pd_json_number(json, "count", count);
	if (first) {
		pd_json_number(json, "at_least_ns", bits ? UINT64_C(1) << (bits - 1) : 0);
		json_wait(why, json, "first", first);
	}
	pd_json_close(json, '}');
}

static void json_sums(struct pd_why *why, struct pd_json *json, const char *name, struct pd_why_sums *sums, bool pairs)
{
	sort_sums(sums);
	pd_json_open(json, name, '[');
	for (size_t i = 0; i < sums->count; i++) {
		const struct pd_why_sum *sum = &sums->all[i];

		pd_json_open(json, NULL, '{');
		json_thread(why, json, "thread", sum->tid);
		if (pairs)
			json_thread(why, json, "by", sum->other);
		else
			pd_json_string(json, "reason", reason_name(sum->reason));
		pd_json_number(json, "count", sum->count);
		pd_json_number(json, "total_ns", sum->total_ns);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

static void json_open_waits(struct pd_why *why, struct pd_json *json)
{
	const struct pd_interval *longest = &why->longest_open;

	pd_json_open(json, "not_ended", '{');
	pd_json_number(json, "count", why->open_count);
	if (why->open_count) {
		pd_json_open(json, "longest", '{');
		json_thread(why, json, "thread", longest->tid);
		pd_json_string(json, "kind", longest->kind->name);
		pd_json_number(json, "begin_ns", longest->begin_ns);
		pd_json_number(json, "end_ns", longest->end_ns);
		pd_json_close(json, '}');
	}
	pd_json_close(json, '}');
}

void pd_why_print_json(struct pd_why *why)
{
	struct pd_json json = { .text = why->sched.text };
	struct pd_interval_counts counts;

	pd_intervals_counts(why->intervals, &counts);
	pd_json_open(&json, NULL, '{');
	pd_json_number(&json, "waits", why->wait_count);
	pd_json_number(&json, "total_ns", why->wait_ns);
	pd_json_number(&json, "lost_records", counts.lost_records);
	pd_json_number(&json, "uncertain_intervals", counts.lost);
	pd_json_number(&json, "unknown_intervals", counts.mismatched);
	json_open_waits(why, &json);
	pd_json_open(&json, "longest", '[');
	for (size_t i = 0; i < why->longest_count; i++)
		json_wait(why, &json, NULL, &why->longest[i]);
	pd_json_close(&json, ']');
	json_outliers(why, &json);
	json_sums(why, &json, "spent", &why->spent, false);
	json_sums(why, &json, "preempted", &why->preempted, true);
	pd_histogram_json(why->lengths, "lengths", &json);
	pd_run_queue_json(&why->queue, "run_queue", &json);
	pd_json_close(&json, '}');
	pd_text_char(why->sched.text, '\n');
}
