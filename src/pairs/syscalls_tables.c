/* SPDX-License-Identifier: MIT */
// Tables of system calls, for each thread or for all, as text and as JSON.
#include "pairs/syscalls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

enum {
	BUCKETS = 256 // of perf's table of threads, whose order is that of the output
};

static double total_of(const struct pd_call_sum *call)
{
	return (double)call->stats.count * (call->stats.mean / 1e6);
}

struct sorted_calls {
	const struct pd_call_sum **items;
	size_t count;
};

// The longest first, equal ones by number.
static int compare_calls(const void *a, const void *b)
{
	const struct pd_call_sum *x = *(const struct pd_call_sum *const *)a, *y = *(const struct pd_call_sum *const *)b;
	double p = total_of(x), q = total_of(y);

	if (p != q)
		return p > q ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static bool sort_calls(const struct pd_caller *caller, struct sorted_calls *sorted)
{
	size_t count = 0;

	for (const struct pd_call_sum *call = caller->calls; call; call = call->next)
		count++;
	sorted->items = pd_alloc((count + 1) * sizeof(*sorted->items)); // NOLINT: of pointers
	sorted->count = 0;
	for (const struct pd_call_sum *call = caller->calls; sorted->items && call; call = call->next)
		sorted->items[sorted->count++] = call;
	if (sorted->items)
		qsort(sorted->items, count, sizeof(*sorted->items), compare_calls); // NOLINT: of pointers
	return sorted->items;
}

static void print_errors(struct pd_text *text, const struct pd_call_sum *call)
{
	for (const struct pd_error_count *error = call->errors; error; error = error->next) {
		const char *name = pd_error_name(error->number);

		pd_text_printf(text, "\t\t\t\t%s: %" PRIu64 "\n", name ? name : "(unknown)", error->count);
	}
}

static void print_call(struct pd_text *text, const struct pd_call_sum *call)
{
	const struct pd_sched_stats *stats = &call->stats;
	const double times_ms[] = { total_of(call), (double)stats->min / 1e6, stats->mean / 1e6,
				    (double)stats->max / 1e6 };

	PD_TEXT_LITERAL(text, "   ");
	pd_text_left(text, call->name, 15);
	pd_text_char(text, ' ');
	pd_text_number(text, stats->count, 8);
	pd_text_char(text, ' ');
	pd_text_number(text, call->failures, 6);
	for (size_t i = 0; i < sizeof(times_ms) / sizeof(times_ms[0]); i++) {
		pd_text_char(text, ' ');
		pd_text_fixed(text, times_ms[i], 9, 3);
	}
	pd_text_char(text, ' ');
	pd_text_fixed(text, pd_sched_stats_error(stats), 9, 2);
	PD_TEXT_LITERAL(text, "%\n");
	print_errors(text, call);
}

// The table of a thread; empty if none of its calls ended.
static bool print_calls(struct pd_text *text, const struct pd_caller *caller, uint64_t most)
{
	struct sorted_calls sorted;

	if (!sort_calls(caller, &sorted))
		return false;
	pd_text_add(text, "\n   syscall            calls  errors  total       min       avg       max       stddev\n"
			  "                                     (msec)    (msec)    (msec)    (msec)        (%)\n"
			  "   --------------- --------  ------ -------- --------- --------- ---------     ------\n");
	for (size_t i = 0; i < sorted.count && (!most || i < most); i++)
		print_call(text, sorted.items[i]);
	pd_text_add(text, "\n\n");
	pd_free(sorted.items);
	return true;
}

static uint64_t events_of(const struct pd_sched_thread *thread)
{
	const struct pd_caller *caller = thread->own;

	return caller ? caller->events : 0;
}

static int compare_threads(const void *self, uint32_t a, uint32_t b)
{
	const struct pd_sched *sched = self;
	const struct pd_sched_thread *x = sched->threads[a], *y = sched->threads[b];
	uint32_t p = (uint32_t)x->tid % BUCKETS, q = (uint32_t)y->tid % BUCKETS;

	if (p != q)
		return p < q ? -1 : 1;
	if (events_of(x) != events_of(y))
		return events_of(x) < events_of(y) ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

// ---- JSON ----

static void json_times(struct pd_json *json, const struct pd_call_sum *call)
{
	const struct pd_sched_stats *stats = &call->stats;

	pd_json_open(json, NULL, '{');
	pd_json_string(json, "name", call->name);
	pd_json_number(json, "calls", stats->count);
	pd_json_number(json, "failed", call->failures);
	pd_json_number(json, "total_ns", (uint64_t)(stats->mean * (double)stats->count + 0.5));
	pd_json_number(json, "min_ns", stats->min);
	pd_json_number(json, "mean_ns", (uint64_t)stats->mean);
	pd_json_number(json, "max_ns", stats->max);
	pd_json_double(json, "error_percent", pd_sched_stats_error(stats));
	if (call->errors)
		pd_json_open(json, "errors", '{');
	for (const struct pd_error_count *error = call->errors; error; error = error->next) {
		const char *name = pd_error_name(error->number);

		pd_json_number(json, name ? name : "unknown", error->count);
	}
	if (call->errors)
		pd_json_close(json, '}');
	pd_json_close(json, '}');
}

static bool json_calls(struct pd_json *json, const struct pd_caller *caller, uint64_t most)
{
	struct sorted_calls sorted;

	if (!sort_calls(caller, &sorted))
		return false;
	pd_json_open(json, "calls", '[');
	for (size_t i = 0; i < sorted.count && (!most || i < most); i++)
		json_times(json, sorted.items[i]);
	pd_json_close(json, ']');
	pd_free(sorted.items);
	return true;
}

static bool json_thread(struct pd_json *json, const struct pd_sched_thread *thread, uint64_t most, bool with_runtime)
{
	const struct pd_caller *caller = thread->own;
	bool done;

	pd_json_open(json, NULL, '{');
	pd_sched_json_thread(json, "thread", thread);
	pd_json_number(json, "events", caller->events);
	if (with_runtime)
		pd_json_number(json, "runtime_ns", caller->runtime_ns);
	if (caller->faults[0] || caller->faults[1]) {
		pd_json_number(json, "minor_faults", caller->faults[0]);
		pd_json_number(json, "major_faults", caller->faults[1]);
	}
	done = json_calls(json, caller, most);
	pd_json_close(json, '}');
	return done;
}

static enum pd_status json_total(struct pd_syscalls *syscalls, struct pd_error *error)
{
	bool done;

	pd_json_open(&syscalls->lines.json, "total", '{');
	done = json_calls(&syscalls->lines.json, &syscalls->all, syscalls->options.max_calls);
	pd_json_close(&syscalls->lines.json, '}');
	return done ? PD_OK : pd_fail_memory(error);
}

static enum pd_status json_threads(struct pd_syscalls *syscalls, const struct pd_sorted *order, struct pd_error *error)
{
	struct pd_json *json = &syscalls->lines.json;
	struct pd_sched *sched = &syscalls->pairs.sched;
	enum pd_status status = PD_OK;

	pd_json_open(json, "threads", '[');
	for (size_t i = 0; i < sched->thread_count && status >= 0; i++) {
		const struct pd_sched_thread *thread = sched->threads[order[i].number];

		if (thread->own && !thread->gone)
			status = json_thread(json, thread, syscalls->options.max_calls, syscalls->options.runtimes) ?
					 pd_text_flush_or_fail(sched->text, error) :
					 pd_fail_memory(error);
	}
	pd_json_close(json, ']');
	return status;
}

static void end_head(struct pd_syscalls *syscalls, const struct pd_caller *caller)
{
	struct pd_text *text = syscalls->pairs.sched.text;

	if (caller->faults[1])
		pd_text_printf(text, ", %" PRIu64 " majfaults", caller->faults[1]);
	if (caller->faults[0])
		pd_text_printf(text, ", %" PRIu64 " minfaults", caller->faults[0]);
	if (syscalls->options.runtimes)
		pd_text_printf(text, ", %.3f msec", (double)caller->runtime_ns / 1e6);
	pd_text_char(text, '\n');
}

static enum pd_status print_threads(struct pd_syscalls *syscalls, const struct pd_sorted *order, struct pd_error *error)
{
	struct pd_sched *sched = &syscalls->pairs.sched;
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < sched->thread_count && status >= 0; i++) {
		const struct pd_sched_thread *thread = sched->threads[order[i].number];
		const struct pd_caller *caller = thread->own;

		if (!caller || thread->gone)
			continue;
		pd_text_printf(sched->text, " %s (%d), %" PRIu64 " events, %.1f%%", thread->comm, thread->tid,
			       caller->events, (double)caller->events / (double)syscalls->events * 100.0);
		end_head(syscalls, caller);
		status = print_calls(sched->text, caller, syscalls->options.max_calls) ?
				 pd_text_flush_or_fail(sched->text, error) :
				 pd_fail_memory(error);
	}
	return status;
}

// One table, of all threads.
static enum pd_status print_total(struct pd_syscalls *syscalls, struct pd_error *error)
{
	struct pd_text *text = syscalls->pairs.sched.text;

	pd_text_printf(text, " total, %" PRIu64 " events", syscalls->events);
	end_head(syscalls, &syscalls->all);
	return print_calls(text, &syscalls->all, syscalls->options.max_calls) ? pd_text_flush_or_fail(text, error) :
										pd_fail_memory(error);
}

static enum pd_status print_sorted(struct pd_syscalls *syscalls, struct pd_error *error)
{
	struct pd_sched *sched = &syscalls->pairs.sched;
	struct pd_sorted *order = pd_alloc((sched->thread_count + 1) * sizeof(*order));
	enum pd_status status = PD_ERROR_MEMORY;

	for (size_t i = 0; order && i < sched->thread_count; i++)
		order[i].number = (uint32_t)i;
	if (order && pd_sort(order, sched->thread_count, compare_threads, sched, 1))
		status = (syscalls->options.json ? json_threads : print_threads)(syscalls, order, error);
	else
		pd_fail_memory(error);
	pd_free(order);
	return status;
}

enum pd_status pd_syscalls_end_json(struct pd_syscalls *syscalls, struct pd_error *error)
{
	struct pd_json *json = &syscalls->lines.json;
	enum pd_status status = PD_OK;

	pd_lines_json_begin(&syscalls->lines);
	if (syscalls->options.text != PD_SYSCALLS_SUMMARY)
		pd_json_close(json, ']');
	if (syscalls->options.text != PD_SYSCALLS_LINES)
		status = syscalls->options.total ? json_total(syscalls, error) : print_sorted(syscalls, error);
	pd_json_number(json, "events", syscalls->events);
	pd_json_number(json, "lost", syscalls->pairs.lost);
	pd_json_close(json, '}');
	pd_text_char(json->text, '\n');
	return status;
}

enum pd_status pd_syscalls_print_tables(struct pd_syscalls *syscalls, struct pd_error *error)
{
	pd_text_add(syscalls->pairs.sched.text, "\n Summary of events:\n\n");
	return (syscalls->options.total ? print_total : print_sorted)(syscalls, error);
}
