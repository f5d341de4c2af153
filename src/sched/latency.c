/* SPDX-License-Identifier: MIT */
// perf sched latency: how long threads waited for a CPU after they were woken or preempted, summed up by name or by thread.
#include <string.h>

#include "sched/sched.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/sort.h"
#include "base/text/text.h"

enum doing {
	SLEEPS,
	WAITS, // for a CPU
	RUNS,
	IGNORED // it ran before it was woken
};

// What is known of a thread.
struct waits {
	const struct pd_sched_thread *thread;
	enum doing doing;
	uint64_t out_ns, woken_ns;
	uint64_t run_ns, delay_ns, max_ns, max_begin_ns, max_end_ns, count;
	uint64_t threads; // that were added up in it
};

enum {
	KEYS = 5,
	NAME_COLUMN = 24
};

struct latency {
	struct pd_sched_pass pass;
	const struct pd_sched_latency_options *options;
	struct waits **waits;
	size_t count, capacity;
	const struct key *keys[KEYS];
	size_t key_count;
};

// ---- events ----

static void leave(struct waits *waits, bool can_run, uint64_t time_ns)
{
	waits->out_ns = time_ns;
	waits->doing = can_run ? WAITS : SLEEPS;
	waits->woken_ns = can_run ? time_ns : 0;
}

// A thread that is new is as it is said to have been before. NULL: an error.
static struct waits *waits_of(struct latency *latency, uint64_t pid, bool can_run, uint64_t time_ns,
			      struct pd_error *error)
{
	struct pd_sched *sched = &latency->pass.sched;
	struct pd_sched_thread *thread = pd_sched_find(sched, -1, (int32_t)pid, error);
	struct waits *waits;

	if (!thread || thread->own)
		return thread ? thread->own : NULL;
	waits = pd_arena_alloc(&sched->arena, sizeof(*waits));
	if (!waits || !PD_GROW(latency->waits, latency->capacity, latency->count + 1)) {
		pd_fail_memory(error);
		return NULL;
	}
	*waits = (struct waits){ .thread = thread };
	leave(waits, can_run, time_ns);
	latency->waits[latency->count++] = waits;
	return thread->own = waits;
}

static void enter(struct waits *waits, uint64_t time_ns)
{
	uint64_t delay_ns = time_ns - waits->woken_ns;

	if (waits->doing != WAITS)
		return;
	if (time_ns < waits->woken_ns) {
		waits->doing = IGNORED;
		return;
	}
	waits->doing = RUNS;
	waits->delay_ns += delay_ns;
	waits->count++;
	if (delay_ns > waits->max_ns) {
		waits->max_ns = delay_ns;
		waits->max_begin_ns = waits->woken_ns;
		waits->max_end_ns = time_ns;
	}
}

static void wake(struct latency *latency, struct waits *waits, uint64_t time_ns)
{
	// who can run is woken in vain, unless its last switch may be missing
	if (waits->doing != SLEEPS && !latency->options->one_cpu)
		return;
	latency->pass.wakeups++;
	if (waits->out_ns > time_ns) {
		latency->pass.unordered++;
		return;
	}
	waits->doing = WAITS;
	waits->woken_ns = time_ns;
}

static enum pd_status take_switch(struct latency *latency, const struct pd_tracepoint_sample *sample,
				  struct pd_error *error)
{
	uint64_t time_ns = sample->brief.time_ns;
	// the lowest bit names the state; without one it can run
	bool can_run = !(uint32_t)sample->values[2];
	struct waits *from = waits_of(latency, sample->values[0], can_run, time_ns, error);
	struct waits *to = from ? waits_of(latency, sample->values[1], true, time_ns, error) : NULL;

	if (!to)
		return error->status;
	leave(from, can_run, time_ns);
	enter(to, time_ns);
	return PD_OK;
}

// On the other CPU it begins to wait again.
static void migrate(struct latency *latency, struct waits *waits, uint64_t time_ns)
{
	waits->out_ns = waits->woken_ns = time_ns;
	latency->pass.wakeups++;
}

static void forget(struct pd_sched_pass *pass)
{
	struct latency *latency = (struct latency *)pass;

	latency->count = 0;
}

static enum pd_status take_point(struct pd_sched_pass *pass, const struct pd_tracepoint_sample *sample,
				 struct pd_error *error)
{
	struct latency *latency = (struct latency *)pass;
	bool ran = sample->which == PD_SCHED_POINT_RUNTIME, moved = sample->which == PD_SCHED_POINT_MIGRATE;
	struct waits *waits;

	if (sample->which == PD_SCHED_POINT_SWITCH)
		return take_switch(latency, sample, error);
	waits = waits_of(latency, sample->values[0], ran || moved, sample->brief.time_ns, error);
	if (!waits)
		return error->status;
	if (ran)
		waits->run_ns += sample->values[1];
	else if (moved)
		migrate(latency, waits, sample->brief.time_ns);
	else
		wake(latency, waits, sample->brief.time_ns);
	return PD_OK;
}

// ---- order ----

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static uint64_t mean_of(const struct waits *waits)
{
	return waits->count ? waits->delay_ns / waits->count : 0;
}

static int by_avg(const struct waits *a, const struct waits *b)
{
	if (!a->count || !b->count)
		return compare(a->count, b->count);
	return compare(mean_of(a), mean_of(b));
}

static int by_max(const struct waits *a, const struct waits *b)
{
	return compare(a->max_ns, b->max_ns);
}

static int by_switch(const struct waits *a, const struct waits *b)
{
	return compare(a->count, b->count);
}

static int by_runtime(const struct waits *a, const struct waits *b)
{
	return compare(a->run_ns, b->run_ns);
}

static int by_pid(const struct waits *a, const struct waits *b)
{
	return a->thread->tid < b->thread->tid ? -1 : a->thread->tid > b->thread->tid;
}

static const struct key {
	const char *name;
	int (*compare)(const struct waits *a, const struct waits *b);
} keys[KEYS] = {
	{ "avg", by_avg }, { "max", by_max }, { "switch", by_switch }, { "runtime", by_runtime }, { "pid", by_pid },
};

static const struct key *find_key(const char *name, size_t length)
{
	for (size_t i = 0; i < KEYS; i++)
		if (strlen(keys[i].name) == length && !memcmp(keys[i].name, name, length))
			return &keys[i];
	return NULL;
}

static enum pd_status read_keys(struct latency *latency, struct pd_error *error)
{
	const char *text = latency->options->sort ? latency->options->sort : "avg,max,switch,runtime";

	while (*text) {
		size_t length = strcspn(text, ", ");
		const struct key *key = find_key(text, length);

		if (length && !key)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				       "'%.*s' is no key to sort by: runtime, switch, avg, max, pid", (int)length,
				       text);
		if (length && latency->key_count < KEYS)
			latency->keys[latency->key_count++] = key;
		text += length;
		text += strspn(text, ", ");
	}
	if (!latency->key_count)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "no key to sort by is given: runtime, switch, avg, max, pid");
	return PD_OK;
}

static int order_by_thread(const struct latency *latency, const struct waits *a, const struct waits *b)
{
	(void)latency;
	return by_pid(a, b);
}

static int order_by_name(const struct latency *latency, const struct waits *a, const struct waits *b)
{
	(void)latency;
	return strcmp(a->thread->comm, b->thread->comm);
}

static int order_by_keys(const struct latency *latency, const struct waits *a, const struct waits *b)
{
	int order = 0;

	for (size_t i = 0; !order && i < latency->key_count; i++)
		order = latency->keys[i]->compare(a, b);
	return order;
}

typedef int order_fn(const struct latency *latency, const struct waits *a, const struct waits *b);

struct order {
	const struct latency *latency;
	order_fn *order;
};

static int compare_numbers(const void *self, uint32_t a, uint32_t b)
{
	const struct order *by = self;

	return by->order(by->latency, by->latency->waits[b], by->latency->waits[a]);
}

// The greatest first, equal ones in their order.
static bool sort_waits(struct latency *latency, order_fn *order)
{
	const struct order by = { latency, order };
	struct pd_sorted *items = pd_alloc((latency->count + 1) * sizeof(*items));
	struct waits **sorted = pd_alloc((latency->count + 1) * sizeof(*sorted)); // NOLINT: of pointers
	bool done = items && sorted;

	for (size_t i = 0; done && i < latency->count; i++)
		items[i].number = (uint32_t)i;
	done = done && pd_sort(items, latency->count, compare_numbers, &by, 1);
	for (size_t i = 0; done && i < latency->count; i++)
		sorted[i] = latency->waits[items[i].number];
	if (done)
		memcpy(latency->waits, sorted, latency->count * sizeof(*sorted)); // NOLINT: of pointers
	pd_free(items);
	pd_free(sorted);
	return done;
}

static void add_up(struct waits *sum, const struct waits *waits)
{
	sum->threads++;
	sum->run_ns += waits->run_ns;
	sum->count += waits->count;
	sum->delay_ns += waits->delay_ns;
	if (waits->max_ns > sum->max_ns) {
		sum->max_ns = waits->max_ns;
		sum->max_begin_ns = waits->max_begin_ns;
		sum->max_end_ns = waits->max_end_ns;
	}
}

static bool merge_names(struct latency *latency)
{
	size_t count = 0;

	if (!sort_waits(latency, order_by_name))
		return false;
	for (size_t i = 0; i < latency->count; i++) {
		if (count && !order_by_name(latency, latency->waits[count - 1], latency->waits[i])) {
			add_up(latency->waits[count - 1], latency->waits[i]);
			continue;
		}
		latency->waits[count] = latency->waits[i];
		latency->waits[count++]->threads++;
	}
	latency->count = count;
	return true;
}

// perf leaves the idle threads out.
static bool is_shown(const struct waits *waits)
{
	return waits->count && strcmp(waits->thread->comm, "swapper") != 0;
}

// ---- text ----

static double in_ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static void print_when(struct pd_text *text, uint64_t time_ns)
{
	pd_text_number(text, time_ns / 1000000000, 5);
	pd_text_char(text, '.');
	pd_text_digits(text, time_ns % 1000000000 / 1000, 6);
}

static void print_waits(struct latency *latency, const struct waits *waits)
{
	struct pd_text *text = latency->pass.sched.text;
	char name[PD_SCHED_NAME + 32];

	if (waits->threads > 1)
		snprintf(name, sizeof(name), "  %s:(%" PRIu64 ") ", waits->thread->comm, waits->threads);
	else
		snprintf(name, sizeof(name), "  %s:%d ", waits->thread->comm, waits->thread->tid);
	pd_text_left(text, name, NAME_COLUMN);
	pd_text_char(text, '|');
	pd_text_fixed(text, in_ms(waits->run_ns), 11, 3);
	PD_TEXT_LITERAL(text, " ms |");
	pd_text_number(text, waits->count, 9);
	PD_TEXT_LITERAL(text, " | avg:");
	pd_text_fixed(text, in_ms(mean_of(waits)), 8, 3);
	PD_TEXT_LITERAL(text, " ms | max:");
	pd_text_fixed(text, in_ms(waits->max_ns), 8, 3);
	PD_TEXT_LITERAL(text, " ms | max start: ");
	print_when(text, waits->max_begin_ns);
	PD_TEXT_LITERAL(text, " s | max end: ");
	print_when(text, waits->max_end_ns);
	PD_TEXT_LITERAL(text, " s\n");
}

static void print_rule(struct pd_text *text, int width)
{
	pd_text_char(text, ' ');
	for (int i = 0; i < width; i++)
		pd_text_char(text, '-');
	pd_text_char(text, '\n');
}

static bool print_table(struct latency *latency)
{
	struct pd_text *text = latency->pass.sched.text;
	uint64_t run_ns = 0, count = 0;

	pd_text_char(text, '\n');
	print_rule(text, 139);
	pd_text_add(
		text,
		"  Task                  |   Runtime ms  | Switches | Avg delay ms    | Max delay ms    | Max delay start           | Max delay end          |\n");
	print_rule(text, 139);
	for (size_t i = 0; i < latency->count; i++) {
		const struct waits *waits = latency->waits[i];

		if (!is_shown(waits))
			continue;
		run_ns += waits->run_ns;
		count += waits->count;
		print_waits(latency, waits);
		if (!pd_text_flush_large(text))
			return false;
	}
	print_rule(text, 113);
	pd_text_printf(text, "  TOTAL:                |%11.3f ms |%9" PRIu64 " |\n", in_ms(run_ns), count);
	print_rule(text, 51);
	pd_sched_print_bad(&latency->pass);
	pd_text_char(text, '\n');
	return true;
}

// ---- JSON ----

static void json_waits(struct pd_json *json, const struct waits *waits, bool by_thread)
{
	pd_json_open(json, NULL, '{');
	if (by_thread || waits->threads < 2)
		pd_sched_json_thread(json, "thread", waits->thread);
	pd_json_string(json, "comm", waits->thread->comm);
	pd_json_number(json, "threads", by_thread ? 1 : waits->threads);
	pd_json_number(json, "run_ns", waits->run_ns);
	pd_json_number(json, "switches", waits->count);
	pd_json_number(json, "delay_ns", waits->delay_ns);
	pd_json_number(json, "mean_ns", mean_of(waits));
	pd_json_number(json, "max_ns", waits->max_ns);
	pd_json_number(json, "max_begin_ns", waits->max_begin_ns);
	pd_json_number(json, "max_end_ns", waits->max_end_ns);
	pd_json_close(json, '}');
}

static bool print_json(struct latency *latency)
{
	struct pd_json json = { .text = latency->pass.sched.text };

	pd_json_open(&json, NULL, '{');
	pd_json_open(&json, "rows", '[');
	for (size_t i = 0; i < latency->count; i++) {
		if (is_shown(latency->waits[i]))
			json_waits(&json, latency->waits[i], latency->options->by_thread);
		if (!pd_text_flush_large(json.text))
			return false;
	}
	pd_json_close(&json, ']');
	pd_sched_json_bad(&latency->pass, &json);
	pd_json_close(&json, '}');
	pd_text_char(json.text, '\n');
	return true;
}

static enum pd_status print_latency(struct latency *latency, struct pd_file *file, struct pd_text *text,
				    struct pd_error *error)
{
	enum pd_status status = read_keys(latency, error);

	if (status >= 0)
		status = pd_sched_pass_run(&latency->pass, file, text, latency->options->thread_limit, error);
	if (status < 0)
		return status;
	if (!sort_waits(latency, order_by_thread) || (!latency->options->by_thread && !merge_names(latency)) ||
	    !sort_waits(latency, order_by_keys))
		return pd_fail_memory(error);
	if (!(latency->options->json ? print_json : print_table)(latency))
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output cannot be written");
	return pd_text_failed(text) ? pd_fail_memory(error) : PD_OK;
}

enum pd_status pd_print_sched_latency(struct pd_text *text, struct pd_file *file,
				      const struct pd_sched_latency_options *options, struct pd_error *error)
{
	struct pd_sched_latency_options all = { 0 };
	struct latency *latency;
	struct pd_error own;
	enum pd_status status;

	if (!error)
		error = &own;
	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_sched_latency_options.size is 0");
	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	latency = pd_alloc(sizeof(*latency));
	if (!latency)
		return pd_fail_memory(error);
	latency->options = &all;
	latency->pass.point = take_point;
	latency->pass.migrations = all.one_cpu;
	latency->pass.forget = forget;
	status = print_latency(latency, file, text, error);
	pd_sched_pass_fini(&latency->pass);
	pd_free(latency->waits);
	pd_free(latency);
	return status < 0 ? status : PD_OK;
}
