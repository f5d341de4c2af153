/* SPDX-License-Identifier: MIT */
// Work of the kernel by number and CPU.
#include "kwork/kwork.h"

#include <stdio.h>
#include <string.h>

#include "base/sort.h"

enum {
	LIMIT = 4 << 20
};

const char *pd_kwork_class_name(enum pd_kwork_class of)
{
	static const char *const names[] = {
#define CLASS(NAME, name, raise, entry, exit, id, field) name,
#include "kwork/classes.def"
	};

	return names[of];
}

static size_t limit_of(const struct pd_kwork *kwork)
{
	return kwork->options.limit ? kwork->options.limit : LIMIT;
}

static uint64_t hash_of(const struct pd_kwork *kwork, enum pd_kwork_class of, uint64_t id, uint32_t cpu)
{
	return pd_hash_u64(pd_hash_u64(kwork->seed, id), (uint64_t)cpu << 8 | of);
}

static struct pd_kwork_work *find(const struct pd_kwork *kwork, uint64_t hash, enum pd_kwork_class of, uint64_t id,
				  uint32_t cpu)
{
	size_t at = (size_t)hash;
	uint32_t number;

	while ((number = pd_index_next(&kwork->index, hash, &at)) != PD_INDEX_END) {
		struct pd_kwork_work *work = kwork->works[number];

		if (work->of == of && work->id == id && work->cpu == cpu)
			return work;
	}
	return NULL;
}

struct pd_kwork_work *pd_kwork_known(const struct pd_kwork *kwork, enum pd_kwork_class of, uint64_t id, uint32_t cpu)
{
	return find(kwork, hash_of(kwork, of, id, cpu), of, id, cpu);
}

struct pd_kwork_work *pd_kwork_find(struct pd_kwork *kwork, enum pd_kwork_class of, uint64_t id, uint32_t cpu,
				    struct pd_error *error)
{
	uint64_t hash = hash_of(kwork, of, id, cpu);
	struct pd_kwork_work *work = find(kwork, hash, of, id, cpu);

	if (work)
		return work;
	if (kwork->count >= limit_of(kwork)) {
		pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "more than %zu kinds of work", limit_of(kwork));
		return NULL;
	}
	work = pd_arena_alloc(&kwork->pairs.sched.arena, sizeof(*work));
	if (!work || !PD_GROW(kwork->works, kwork->capacity, kwork->count + 1) ||
	    !pd_index_add(&kwork->index, hash, (uint32_t)kwork->count)) {
		pd_fail_memory(error);
		return NULL;
	}
	*work = (struct pd_kwork_work){ .of = of, .id = id, .cpu = cpu };
	return kwork->works[kwork->count++] = work;
}

// ---- names ----

// As the format prints it: "vec=1 [action=TIMER]".
static const char *print_action(struct pd_kwork *kwork, const struct pd_tracepoint_sample *sample)
{
	static const char member[] = "[action=";
	struct pd_text text = { 0 };
	const char *name = "", *end;
	size_t length = 0;

	pd_trace_print(kwork->pairs.points.trace, sample->event, sample->raw, &text);
	if (!text.failed && text.size)
		name = memmem(text.data, text.size, member, sizeof(member) - 1);
	if (name && *name) {
		name += sizeof(member) - 1;
		end = memchr(name, ']', text.size - (size_t)(name - text.data));
		length = end ? (size_t)(end - name) : 0;
	}
	name = length ? pd_pairs_name(&kwork->pairs, name, length) : "(null)";
	pd_free(text.data);
	return name;
}

static const char *irq_name(struct pd_kwork *kwork, const struct pd_tracepoint_sample *sample)
{
	struct pd_bytes name = pd_tracepoint_string(&kwork->pairs.points, sample, "name");

	return pd_pairs_name(&kwork->pairs, (const char *)name.data, name.size);
}

bool pd_kwork_name(struct pd_kwork *kwork, struct pd_kwork_work *work, const struct pd_tracepoint_sample *sample)
{
	const struct pd_pair_place *place;

	if (work->name)
		return true;
	if (work->of == PD_KWORK_WORKQUEUE) {
		place = sample->values[PD_KWORK_OTHER] ? pd_pair_place(&kwork->pairs, sample->values[PD_KWORK_OTHER]) :
							 NULL;
		work->name = place ? place->name : NULL;
		return place || !sample->values[PD_KWORK_OTHER];
	}
	if (work->of == PD_KWORK_SOFTIRQ)
		work->name = print_action(kwork, sample);
	else if (sample->which % PD_KWORK_STEPS == PD_KWORK_ENTRY)
		work->name = irq_name(kwork, sample);
	else
		return true;
	return work->name;
}

// ---- what has not ended ----

enum pd_status pd_kwork_push(struct pd_kwork *kwork, struct pd_kwork_work *work, enum pd_kwork_step step,
			     struct pd_kwork_open open, struct pd_error *error)
{
	struct pd_kwork_stack *stack = &work->open[step];

	if (kwork->open_count >= limit_of(kwork))
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "more than %zu events without an end",
			       limit_of(kwork));
	if (!PD_GROW(stack->items, stack->capacity, stack->count + 1))
		return pd_fail_memory(error);
	stack->items[stack->count++] = open;
	kwork->open_count++;
	return PD_OK;
}

bool pd_kwork_pop(struct pd_kwork *kwork, struct pd_kwork_work *work, enum pd_kwork_step step,
		  struct pd_kwork_open *open_out)
{
	struct pd_kwork_stack *stack = &work->open[step];

	if (!stack->count)
		return false;
	*open_out = stack->items[--stack->count];
	kwork->open_count--;
	return true;
}

void pd_kwork_drop(struct pd_kwork *kwork, struct pd_kwork_work *work, enum pd_kwork_step step)
{
	work->left[step] += work->open[step].count;
	kwork->open_count -= work->open[step].count;
	work->open[step].count = 0;
}

void pd_kwork_works_fini(struct pd_kwork *kwork)
{
	for (size_t i = 0; i < kwork->count; i++)
		for (unsigned step = 0; step < PD_KWORK_EXIT; step++)
			pd_free(kwork->works[i]->open[step].items);
	pd_free(kwork->works);
	pd_index_fini(&kwork->index);
	pd_u64_map_fini(&kwork->cpu_map);
	pd_free(kwork->cpus);
}

// ---- order ----

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_total(const struct pd_kwork_work *a, const struct pd_kwork_work *b)
{
	return compare(a->total_ns, b->total_ns);
}

static int by_max(const struct pd_kwork_work *a, const struct pd_kwork_work *b)
{
	return compare(a->max_ns, b->max_ns);
}

static int by_count(const struct pd_kwork_work *a, const struct pd_kwork_work *b)
{
	return compare(a->count, b->count);
}

static int by_mean(const struct pd_kwork_work *a, const struct pd_kwork_work *b)
{
	if (!a->count || !b->count)
		return compare(a->count, b->count);
	return compare(a->total_ns / a->count, b->total_ns / b->count);
}

static int by_usage(const struct pd_kwork_work *a, const struct pd_kwork_work *b)
{
	return compare(a->usage, b->usage);
}

// The least is the first; idle threads by their CPUs, whatever the other keys are, as in perf.
static int by_id(const struct pd_kwork_work *a, const struct pd_kwork_work *b)
{
	return a->id == b->id ? compare(b->cpu, a->cpu) : compare(b->id, a->id);
}

static const struct {
	const char *name;
	pd_kwork_compare_fn *compare;
	unsigned modes;
} keys[] = {
	{ "runtime", by_total, 1 << PD_KWORK_REPORT | 1 << PD_KWORK_TIMEHIST | 1 << PD_KWORK_TOP },
	{ "avg", by_mean, 1 << PD_KWORK_LATENCY },
	{ "max", by_max, 1 << PD_KWORK_REPORT | 1 << PD_KWORK_LATENCY | 1 << PD_KWORK_TIMEHIST },
	{ "count", by_count, 1 << PD_KWORK_REPORT | 1 << PD_KWORK_LATENCY | 1 << PD_KWORK_TIMEHIST },
	{ "rate", by_usage, 1 << PD_KWORK_TOP },
	{ "tid", by_id, 1 << PD_KWORK_TOP },
};

enum {
	KEYS = sizeof(keys) / sizeof(keys[0])
};

static enum pd_status fail_unknown_key(enum pd_kwork_mode mode, const char *name, size_t length, struct pd_error *error)
{
	char names[64] = "";

	for (size_t i = 0, at = 0; i < KEYS && at < sizeof(names); i++)
		if (keys[i].modes & 1U << mode)
			at += (size_t)snprintf(names + at, sizeof(names) - at, " %s", keys[i].name);
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "unknown key '%.*s' to sort by; there are:%s",
		       (int)length, name, names);
}

enum pd_status pd_kwork_choose_keys(struct pd_kwork *kwork, struct pd_error *error)
{
	enum pd_kwork_mode mode = kwork->options.mode;
	const char *list = kwork->options.sort      ? kwork->options.sort :
			   mode == PD_KWORK_TOP     ? "rate,runtime" :
			   mode == PD_KWORK_LATENCY ? "avg,max,count" :
						      "runtime,max,count";
	size_t at = 0;

	while (*(list += strspn(list, ", "))) {
		size_t length = strcspn(list, ", "), i = 0;

		while (i < KEYS && (!(keys[i].modes & 1U << mode) || strlen(keys[i].name) != length ||
				    memcmp(keys[i].name, list, length) != 0))
			i++;
		if (i == KEYS)
			return fail_unknown_key(mode, list, length, error);
		if (at == sizeof(kwork->keys) / sizeof(kwork->keys[0]) - 1)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "more than %zu keys to sort by", at);
		kwork->keys[at++] = keys[i].compare;
		list += length;
	}
	return PD_OK;
}

static int compare_works(const void *self, uint32_t a, uint32_t b)
{
	const struct pd_kwork *kwork = self;
	const struct pd_kwork_work *x = kwork->works[a], *y = kwork->works[b];
	int result = 0;

	for (unsigned i = 0; kwork->keys[i] && !result; i++)
		result = kwork->keys[i](y, x);
	if (!result && x->of != y->of)
		return kwork->order[x->of] < kwork->order[y->of] ? -1 : 1;
	result = result ? result : compare(y->cpu, x->cpu);
	return result ? result : compare(y->id, x->id);
}

bool pd_kwork_sort(struct pd_kwork *kwork)
{
	struct pd_sorted *items = pd_alloc((kwork->count + 1) * sizeof(*items));
	struct pd_kwork_work **sorted =
		pd_alloc((kwork->count + 1) * sizeof(struct pd_kwork_work *)); // NOLINT: of pointers
	bool done = items && sorted;

	for (size_t i = 0; done && i < kwork->count; i++)
		items[i].number = (uint32_t)i;
	done = done && pd_sort(items, kwork->count, compare_works, kwork, 1);
	for (size_t i = 0; done && i < kwork->count; i++)
		sorted[i] = kwork->works[items[i].number];
	pd_free(items);
	pd_free(done ? kwork->works : sorted);
	if (done)
		kwork->works = sorted;
	return done;
}

void pd_kwork_add_time(struct pd_kwork_work *work, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t time_ns = end_ns - begin_ns;

	if (!begin_ns || end_ns < begin_ns)
		return;
	if (time_ns > work->max_ns || !work->max_ns) {
		work->max_ns = time_ns;
		work->max_begin_ns = begin_ns;
		work->max_end_ns = end_ns;
	}
	work->total_ns += time_ns;
	work->count++;
}

bool pd_kwork_is_chosen(struct pd_kwork *kwork, const struct pd_kwork_work *work, uint64_t time_ns)
{
	const struct pd_kwork_options *options = &kwork->options;

	if (options->cpus && !pd_list_has(options->cpus, work->cpu))
		return false;
	// the time of a CPU is that of all threads
	if (options->mode != PD_KWORK_TOP && options->name && work->name && strcmp(options->name, work->name) != 0)
		return false;
	if (!pd_pairs_has_time(&kwork->pairs, time_ns))
		return false;
	if (!kwork->first_ns || time_ns < kwork->first_ns)
		kwork->first_ns = time_ns;
	if (time_ns > kwork->last_ns)
		kwork->last_ns = time_ns;
	return true;
}
