/* SPDX-License-Identifier: MIT */
/* Turns of a process: the times at which a code came to where another one had been, or was moved away from there. */
#include "symbol/codes.h"

#include <stdlib.h>

#include "base/lookup/search.h"
#include "symbol/lookup.h"
#include "state/state.h"

struct process {
	struct pd_jitdump *const *jits; // NULL after the last one
	uint64_t *times;                // ascending
	size_t count, capacity;
};

struct pd_codes {
	struct process *processes;
	size_t count, capacity;
	struct pd_u64_map by_pid; // to one more than the number
};

// ---- which codes were replaced ----

static int compare_codes(const void *a, const void *b)
{
	const struct pd_jit_code *x = *(const struct pd_jit_code *const *)a, *y = *(const struct pd_jit_code *const *)b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool put_time(struct process *p, uint64_t time)
{
	if (time == PD_NO_TIME)
		return true;
	if (!PD_GROW(p->times, p->capacity, p->count + 1))
		return false;
	p->times[p->count++] = time;
	return true;
}

static uint64_t end_of(const struct pd_jit_code *code)
{
	return code->size > UINT64_MAX - code->addr ? UINT64_MAX : code->addr + code->size;
}

// Codes in the order of their addresses; those that touch none of the others had their place alone.
static bool put_times(struct process *p, const struct pd_jit_code *const *codes, size_t count)
{
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++) {
		bool shares = codes[i]->addr < end || (i + 1 < count && codes[i + 1]->addr < end_of(codes[i]));

		if (shares && (!put_time(p, codes[i]->time) || !put_time(p, codes[i]->end_time)))
			return false;
		end = end_of(codes[i]) > end ? end_of(codes[i]) : end;
	}
	return true;
}

static bool find_times(struct process *p)
{
	const struct pd_jit_code **codes = NULL;
	size_t count = 0, capacity = 0, kept = 0;
	bool ok = true;

	for (size_t i = 0; p->jits[i]; i++) {
		const struct pd_jit_code *code;

		for (size_t j = 0; ok && (code = pd_jitdump_code_at(p->jits[i], j)); j++) {
			ok = PD_GROW(codes, capacity, count + 1);
			if (ok)
				codes[count++] = code;
		}
	}
	if (count)
		qsort(codes, count, sizeof(*codes), compare_codes);
	ok = ok && put_times(p, codes, count);
	pd_free(codes);
	if (p->count)
		qsort(p->times, p->count, sizeof(*p->times), compare_times);
	for (size_t i = 0; i < p->count; i++)
		if (!kept || p->times[kept - 1] != p->times[i])
			p->times[kept++] = p->times[i];
	p->count = kept;
	return ok;
}

// ---- all processes ----

static bool add_process(struct pd_codes *codes, uint32_t pid, struct pd_jitdump *const *jits)
{
	struct process p = { .jits = jits };
	bool ok = find_times(&p);

	ok = ok && (!p.count || (PD_GROW(codes->processes, codes->capacity, codes->count + 1) &&
				 pd_u64_map_add(&codes->by_pid, pid, codes->count + 1)));
	if (!ok || !p.count)
		pd_free(p.times);
	else
		codes->processes[codes->count++] = p;
	return ok;
}

void pd_lookup_codes_fini(struct pd_codes *codes)
{
	if (!codes)
		return;
	for (size_t i = 0; i < codes->count; i++)
		pd_free(codes->processes[i].times);
	pd_free(codes->processes);
	pd_u64_map_fini(&codes->by_pid);
	pd_free(codes);
}

const struct pd_codes *pd_codes_of(struct pd_symbols *symbols)
{
	struct pd_codes *codes = symbols->codes;

	if (!codes) {
		const struct pd_process_dumps *dumps;

		codes = symbols->codes = pd_alloc(sizeof(*codes));
		if (!codes) {
			symbols->failed = true;
			return NULL;
		}
		codes->by_pid.seed = symbols->seed;
		for (size_t i = 0; (dumps = pd_lookup_dumps_at(symbols, i)); i++)
			if (dumps->jits && !add_process(codes, dumps->pid, dumps->jits))
				symbols->failed = true;
	}
	return codes->count ? codes : NULL;
}

// ---- asking ----

static const struct process *process_of(const struct pd_codes *codes, uint32_t pid)
{
	size_t number = (size_t)pd_u64_map_find(&codes->by_pid, pid);

	return number ? &codes->processes[number - 1] : NULL;
}

uint32_t pd_codes_turn(const struct pd_codes *codes, uint32_t pid, struct pd_moment when, struct pd_moment *from,
		       struct pd_moment *until)
{
	const struct process *p = process_of(codes, pid);
	size_t low;
	struct pd_moment change = { .order = 0 };

	PD_SEARCH(low, 0, p ? p->count : 0, i, p->times[i] <= when.time_ns);
	if (low) {
		change.time_ns = p->times[low - 1];
		if (pd_moment_before(*from, change))
			*from = change;
	}
	if (p && low < p->count) {
		change.time_ns = p->times[low];
		if (pd_moment_before(change, *until))
			*until = change;
	}
	return (uint32_t)low;
}

uint32_t pd_codes_number(const struct pd_codes *codes, uint32_t pid, struct pd_moment when, uint64_t addr)
{
	const struct process *p = process_of(codes, pid);
	uint64_t time = when.time_ns ? when.time_ns : PD_NO_TIME, before = 0;
	struct pd_jit_code code;

	for (size_t i = 0; p && p->jits[i]; i++) {
		if (pd_jitdump_find(p->jits[i], PD_JIT_ANY_PID, addr, time, &code))
			return (uint32_t)(before + code.number + 1);
		before += pd_jitdump_about(p->jits[i]).code_count;
	}
	return 0;
}
