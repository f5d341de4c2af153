/* SPDX-License-Identifier: MIT */
/*
 * What stands after the # of a count: rates, ratios to another count of the same privilege, in the same place. Needs
 * nothing but events that every kernel names, and those of transactions and slots by the names that sysfs has for them.
 */
#include "count/count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind {
	NONE,
	CLOCK, /* ns */
	CYCLES,
	CACHE_REFERENCES,
	BRANCHES,
	STALLED_FRONT,
	STALLED_BACK,
	L1D_LOADS,
	L1I_LOADS,
	LLC_LOADS,
	DTLB_LOADS,
	ITLB_LOADS,
	CYCLES_IN_TX,
	TX_BEGUN,
	ELISION_BEGUN,
	CYCLES_COMMITTED,
	/* all slots of a pipeline, and what became of them */
	SLOTS,
	SLOTS_ISSUED,
	SLOTS_RETIRED,
	FETCH_BUBBLES,
	RECOVERY_BUBBLES,
	/* the same as the CPU works it out */
	RETIRING,
	BAD_SPECULATION,
	FRONTEND_BOUND,
	BACKEND_BOUND
};

/* Events by type and config. */
#define CACHE(cache, miss) PD_TYPE_HW_CACHE, ((cache) | (miss) << 16)

static const struct {
	uint32_t type;
	uint64_t config;
	enum kind is; /* others are measured with it */
} kinds[] = {
	{ PD_TYPE_SOFTWARE, 0, CLOCK },
	{ PD_TYPE_SOFTWARE, 1, CLOCK },
	{ PD_TYPE_HARDWARE, 0, CYCLES },
	{ PD_TYPE_HARDWARE, 2, CACHE_REFERENCES },
	{ PD_TYPE_HARDWARE, 4, BRANCHES },
	{ PD_TYPE_HARDWARE, 7, STALLED_FRONT },
	{ PD_TYPE_HARDWARE, 8, STALLED_BACK },
	{ CACHE(0, 0), L1D_LOADS },
	{ CACHE(1, 0), L1I_LOADS },
	{ CACHE(2, 0), LLC_LOADS },
	{ CACHE(3, 0), DTLB_LOADS },
	{ CACHE(4, 0), ITLB_LOADS },
};

/* What has no number of its own. */
static const struct {
	const char *name;
	enum kind is;
} named[] = {
	{ "cpu/cycles-t/", CYCLES_IN_TX },
	{ "cpu/tx-start/", TX_BEGUN },
	{ "cpu/el-start/", ELISION_BEGUN },
	{ "cpu/cycles-ct/", CYCLES_COMMITTED },
	{ "topdown-total-slots", SLOTS },
	{ "topdown-slots-issued", SLOTS_ISSUED },
	{ "topdown-slots-retired", SLOTS_RETIRED },
	{ "topdown-fetch-bubbles", FETCH_BUBBLES },
	{ "topdown-recovery-bubbles", RECOVERY_BUBBLES },
	{ "topdown-retiring", RETIRING },
	{ "topdown-bad-spec", BAD_SPECULATION },
	{ "topdown-fe-bound", FRONTEND_BOUND },
	{ "topdown-be-bound", BACKEND_BOUND },
};

/* An event as part of another one. */
static const struct share {
	uint32_t type;
	uint64_t config;
	enum kind of;
	const char *format, *unit;
	bool even_nothing; /* also if the other one counted nothing */
	bool not_nothing;  /* not if it is nothing itself */
} shares[] = {
	{ PD_TYPE_HARDWARE, 3, CACHE_REFERENCES, "%8.3f %%", "of all cache refs", false, false },
	{ PD_TYPE_HARDWARE, 5, BRANCHES, "%7.2f%%", "of all branches", false, false },
	{ PD_TYPE_HARDWARE, 7, CYCLES, "%7.2f%%", "frontend cycles idle", true, true },
	{ PD_TYPE_HARDWARE, 8, CYCLES, "%7.2f%%", "backend cycles idle", true, false },
	{ CACHE(0, 1), L1D_LOADS, "%7.2f%%", "of all L1-dcache accesses", false, false },
	{ CACHE(1, 1), L1I_LOADS, "%7.2f%%", "of all L1-icache accesses", false, false },
	{ CACHE(2, 1), LLC_LOADS, "%7.2f%%", "of all LL-cache accesses", false, false },
	{ CACHE(3, 1), DTLB_LOADS, "%7.2f%%", "of all dTLB cache accesses", false, false },
	{ CACHE(4, 1), ITLB_LOADS, "%7.2f%%", "of all iTLB cache accesses", false, false },
};

static enum kind kind_of(const struct pd_stat_event *event)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].type == event->attr.type && kinds[i].config == event->attr.config)
			return kinds[i].is;
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (!strcmp(named[i].name, event->name))
			return named[i].is;
	return NONE;
}

/* Counts of user space are no part of those of the kernel. A clock goes for all. */
static unsigned context_of(const struct pd_stat_event *event, enum kind kind)
{
	static const uint64_t masks[] = { PD_MASK(PD_ATTR_EXCLUDE_KERNEL), PD_MASK(PD_ATTR_EXCLUDE_USER),
					  PD_MASK(PD_ATTR_EXCLUDE_HV), PD_MASK(PD_ATTR_EXCLUDE_HOST),
					  PD_MASK(PD_ATTR_EXCLUDE_IDLE) };
	unsigned context = 0;

	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]) && kind != CLOCK; i++)
		context |= event->attr.flags & masks[i] ? 1u << i : 0;
	return context;
}

static bool same_cgroup(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static struct pd_stat_memo *find(const struct pd_stat_table *table, const struct pd_stat_event *event, enum kind kind,
				 size_t slot)
{
	const struct pd_stat_memos *memos = slot < table->slot_count ? &table->memos[slot] : NULL;
	unsigned context = context_of(event, kind);

	for (size_t i = 0; memos && i < memos->count; i++) {
		struct pd_stat_memo *memo = &memos->items[i];

		if (memo->kind == kind && memo->context == context && same_cgroup(memo->cgroup, event->cgroup))
			return memo;
	}
	return NULL;
}

static bool make_slots(struct pd_stat_table *table, size_t count)
{
	struct pd_stat_memos *memos;

	if (count <= table->slot_count)
		return true;
	count = count < table->slot_count * 2 ? table->slot_count * 2 : count;
	memos = pd_realloc(table->memos, count * sizeof(*memos));
	if (!memos)
		return false;
	memset(memos + table->slot_count, 0, (count - table->slot_count) * sizeof(*memos));
	table->memos = memos;
	table->slot_count = count;
	return true;
}

static struct pd_stat_memo *add_memo(struct pd_stat_table *table, size_t slot)
{
	struct pd_stat_memos *memos;

	if (!make_slots(table, slot + 1))
		return NULL;
	memos = &table->memos[slot];
	if (!PD_GROW(memos->items, memos->capacity, memos->count + 1))
		return NULL;
	return &memos->items[memos->count++];
}

void pd_stat_metric_note(struct pd_stat_table *table, const struct pd_stat_event *event, double value, size_t slot)
{
	enum kind kind = kind_of(event);
	struct pd_stat_memo *memo;

	if (kind == NONE)
		return;
	memo = find(table, event, kind, slot);
	if (!memo) {
		memo = add_memo(table, slot);
		if (!memo) {
			table->failed = true;
			return;
		}
		*memo = (struct pd_stat_memo){ .kind = kind,
					       .context = context_of(event, kind),
					       .cgroup = event->cgroup };
	}
	pd_stat_mean_add(&memo->mean, kind == CLOCK ? value : value * event->scale);
}

void pd_stat_metrics_forget(struct pd_stat_table *table)
{
	for (size_t i = 0; i < table->slot_count; i++)
		table->memos[i].count = 0;
}

static double mean_of(const struct pd_stat_table *table, const struct pd_stat_event *event, enum kind kind, size_t slot,
		      bool *known)
{
	const struct pd_stat_memo *memo = find(table, event, kind, slot);

	if (known)
		*known = memo != NULL;
	return memo ? memo->mean.mean : 0;
}

/* ---- metrics ---- */

static void set(struct pd_stat_metric *metric, const char *format, double value, const char *unit)
{
	metric->format = format;
	metric->value = value;
	snprintf(metric->unit, sizeof(metric->unit), "%s", unit);
}

static size_t instructions(const struct pd_stat_table *table, const struct pd_stat_event *event, double value,
			   size_t slot, struct pd_stat_metric metrics[PD_STAT_METRICS_MOST])
{
	double cycles = mean_of(table, event, CYCLES, slot, NULL);
	double front = mean_of(table, event, STALLED_FRONT, slot, NULL);
	double back = mean_of(table, event, STALLED_BACK, slot, NULL);
	double stalled = front > back ? front : back;

	set(&metrics[0], cycles ? "%7.2f " : NULL, cycles ? value / cycles : 0, "insn per cycle");
	if (!stalled || !value)
		return 1;
	set(&metrics[1], "%7.2f ", stalled / value, "stalled cycles per insn");
	return 2;
}

static void share_of(const struct pd_stat_table *table, const struct pd_stat_event *event, double value, size_t slot,
		     const struct share *share, struct pd_stat_metric *metric)
{
	bool known;
	double whole = mean_of(table, event, share->of, slot, &known);
	double part = whole ? value * 100 / whole : 0;
	bool shown = (known || share->even_nothing) && (part || !share->not_nothing);

	set(metric, shown ? share->format : NULL, shown ? part : 0, share->unit);
}

static double mean(const struct pd_stat_table *table, const struct pd_stat_event *event, enum kind kind, size_t slot)
{
	return mean_of(table, event, kind, slot, NULL);
}

/* Of the cycles of all code, and of the transactions that were begun. */
static bool transactions(const struct pd_stat_table *table, const struct pd_stat_event *event, enum kind kind,
			 double value, size_t slot, struct pd_stat_metric *metric)
{
	double cycles = mean(table, event, CYCLES, slot), inside = mean(table, event, CYCLES_IN_TX, slot);

	switch (kind) {
	case CYCLES_IN_TX:
		set(metric, cycles ? "%7.2f%%" : NULL, cycles ? 100 * value / cycles : 0, "transactional cycles");
		return true;
	case CYCLES_COMMITTED:
		set(metric, cycles ? "%7.2f%%" : NULL, cycles && inside > value ? 100 * (inside - value) / cycles : 0,
		    "aborted cycles");
		return true;
	case TX_BEGUN:
		set(metric, "%8.0f", value ? inside / value : 0, "cycles / transaction");
		return true;
	case ELISION_BEGUN:
		set(metric, "%8.0f", value ? inside / value : 0, "cycles / elision");
		return true;
	default:
		return false;
	}
}

/* Counters are read one after another: what is a little less than nothing is nothing. */
static double at_least_nothing(double share)
{
	return share < 0 && share >= -0.02 ? 0 : share;
}

/* Slots that were lost because what was begun was not wanted, and those lost while nothing could be done. */
static double slots_of(const struct pd_stat_table *table, const struct pd_stat_event *event, enum kind kind,
		       size_t slot)
{
	double all = mean(table, event, SLOTS, slot);
	double retired = mean(table, event, SLOTS_RETIRED, slot) / all;
	double front = mean(table, event, FETCH_BUBBLES, slot) / all;
	double issued = mean(table, event, SLOTS_ISSUED, slot) / all;
	double bad = at_least_nothing(issued - retired + mean(table, event, RECOVERY_BUBBLES, slot) / all);

	switch (kind) {
	case SLOTS_RETIRED:
		return retired;
	case FETCH_BUBBLES:
		return front;
	case RECOVERY_BUBBLES:
		return bad;
	default:
		return at_least_nothing(1 - (retired + front + bad));
	}
}

static bool slots(const struct pd_stat_table *table, const struct pd_stat_event *event, enum kind kind, double value,
		  size_t slot, struct pd_stat_metric *metric)
{
	static const struct {
		const char *counted, *made;
	} names[] = { [SLOTS_ISSUED] = { "backend bound", NULL },
		      [SLOTS_RETIRED] = { "retiring", NULL },
		      [FETCH_BUBBLES] = { "frontend bound", NULL },
		      [RECOVERY_BUBBLES] = { "bad speculation", NULL },
		      [RETIRING] = { NULL, "Retiring" },
		      [BAD_SPECULATION] = { NULL, "Bad Speculation" },
		      [FRONTEND_BOUND] = { NULL, "Frontend Bound" },
		      [BACKEND_BOUND] = { NULL, "Backend Bound" } };
	double all = mean(table, event, SLOTS, slot), sum = 0;
	bool known;

	if (kind < SLOTS_ISSUED || kind > BACKEND_BOUND)
		return false;
	if (names[kind].counted) {
		mean_of(table, event, RECOVERY_BUBBLES, slot, &known);
		/* as perf has it, a share of nothing is 0, and what is worked out of shares is not known */
		set(metric, all || kind == SLOTS_RETIRED || kind == FETCH_BUBBLES ? "%8.1f%%" : NULL,
		    all ? 100 * slots_of(table, event, kind, slot) : 0,
		    kind == SLOTS_ISSUED && !known ? "backend bound/bad spec" : names[kind].counted);
		return true;
	}
	for (enum kind other = RETIRING; other <= BACKEND_BOUND; other++)
		sum += mean(table, event, other, slot);
	set(metric, sum ? "%8.1f%%" : NULL, sum ? 100 * value / sum : 0, names[kind].made);
	return true;
}

static void rate(double value, double ns, struct pd_stat_metric *metric)
{
	static const char prefixes[] = " KMG";
	double each = ns ? 1e9 * value / ns : 0;
	char unit[8] = "/sec";
	size_t i = 0;

	while (each > 1000 && i < 3) {
		each /= 1000;
		i++;
	}
	if (i)
		snprintf(unit, sizeof(unit), "%c/sec", prefixes[i]);
	set(metric, "%8.3f", each, unit);
}

size_t pd_stat_metrics(const struct pd_stat_table *table, const struct pd_stat_event *event, double value, size_t slot,
		       struct pd_stat_metric metrics[PD_STAT_METRICS_MOST])
{
	const struct pd_attr *attr = &event->attr;
	enum kind kind = kind_of(event);
	bool timed;
	double ns = mean_of(table, event, CLOCK, slot, &timed);
	double wall = table->wall_ns.mean;

	set(&metrics[0], NULL, 0, "");
	if (attr->type == PD_TYPE_HARDWARE && attr->config == 1)
		return instructions(table, event, value, slot, metrics);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		if (shares[i].type != attr->type || shares[i].config != attr->config)
			continue;
		share_of(table, event, value, slot, &shares[i], &metrics[0]);
		return 1;
	}
	if (transactions(table, event, kind, value, slot, &metrics[0]) ||
	    slots(table, event, kind, value, slot, &metrics[0]))
		return 1;
	if (kind == CYCLES)
		set(&metrics[0], ns ? "%8.3f" : NULL, ns ? value / ns : 0, ns ? "GHz" : "Ghz");
	else if (kind == CLOCK)
		set(&metrics[0], wall ? "%8.3f" : NULL, wall ? value / (wall * event->scale) : 0, "CPUs utilized");
	else if (timed)
		rate(value, ns, &metrics[0]);
	return 1;
}
