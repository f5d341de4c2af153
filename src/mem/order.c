/* SPDX-License-Identifier: MIT */
// Which lines and accesses are shown, and their order.
#include <string.h>

#include "base/sort.h"
#include "mem/c2c.h"

static const double LEAST_SHARE = 0.001;

uint64_t pd_c2c_measure(const struct pd_c2c *c2c, const struct pd_mem_counts *counts)
{
	switch (c2c->options.display) {
	case PD_C2C_LOCAL:
		return counts->local_hitm;
	case PD_C2C_REMOTE:
		return counts->remote_hitm;
	case PD_C2C_PEER:
		return counts->peer;
	default:
		return counts->hitm;
	}
}

// What decides where the first measure is equal.
static uint64_t measure_next(const struct pd_c2c *c2c, const struct pd_mem_counts *counts)
{
	return c2c->options.display == PD_C2C_LOCAL  ? counts->remote_hitm :
	       c2c->options.display == PD_C2C_REMOTE ? counts->local_hitm :
						       0;
}

bool pd_c2c_shows_line(const struct pd_c2c *c2c, const struct pd_c2c_line *line)
{
	uint64_t all = pd_c2c_measure(c2c, &c2c->shared);

	return c2c->options.show_all ||
	       (all && (double)pd_c2c_measure(c2c, &line->counts) / (double)all >= LEAST_SHARE);
}

bool pd_c2c_shows_entry(const struct pd_c2c *c2c, const struct pd_c2c_entry *entry)
{
	return entry->counts.stores || pd_c2c_measure(c2c, &entry->counts);
}

static int compare_lines(const void *self, uint32_t a, uint32_t b)
{
	const struct pd_c2c *c2c = self;
	uint64_t x = pd_addr_order(c2c->lines[a].key.addr), y = pd_addr_order(c2c->lines[b].key.addr);

	return x < y ? -1 : x > y;
}

static int compare_dsos(const struct pd_dso *a, const struct pd_dso *b)
{
	return a && b ? strcmp(a->name, b->name) : !a - !b;
}

// As perf: processes the other way round.
static int compare_entries(const void *self, uint32_t a, uint32_t b)
{
	const struct pd_c2c *c2c = self;
	const struct pd_c2c_entry *x = &c2c->entries[a], *y = &c2c->entries[b];
	uint64_t more = measure_next(c2c, &x->counts), less = measure_next(c2c, &y->counts);
	int order = more > less ? -1 : more < less;

	if (!order && c2c->by_pid)
		order = x->pid > y->pid ? -1 : x->pid < y->pid;
	if (!order && c2c->by_tid)
		order = x->tid < y->tid ? -1 : x->tid > y->tid;
	if (!order && c2c->by_ip)
		order = pd_addr_order(x->ip) < pd_addr_order(y->ip) ? -1 : pd_addr_order(x->ip) > pd_addr_order(y->ip);
	if (!order && c2c->by_dso)
		order = compare_dsos(x->code.dso, y->code.dso);
	return order ? order : a < b ? -1 : a > b;
}

bool pd_c2c_sort(const struct pd_c2c *c2c, struct pd_c2c_order *order)
{
	struct pd_sorted *lines = pd_alloc((c2c->line_count + 1) * sizeof(*lines));
	struct pd_sorted *entries = pd_alloc((c2c->entry_count + 1) * sizeof(*entries));
	uint32_t *ranks = pd_alloc((c2c->line_count + 1) * sizeof(*ranks));
	bool done = lines && entries && ranks;

	*order = (struct pd_c2c_order){ lines, entries };
	for (size_t i = 0; done && i < c2c->line_count; i++)
		lines[i] = (struct pd_sorted){ ~pd_c2c_measure(c2c, &c2c->lines[i].counts), c2c->lines[i].key.order,
					       (uint32_t)i };
	done = done && pd_sort(lines, c2c->line_count, compare_lines, (void *)c2c, 1);
	for (size_t i = 0; done && i < c2c->line_count; i++)
		ranks[lines[i].number] = (uint32_t)i;
	for (size_t i = 0; done && i < c2c->entry_count; i++)
		entries[i] = (struct pd_sorted){ (uint64_t)ranks[c2c->entries[i].line] << 8 | c2c->entries[i].offset,
						 ~pd_c2c_measure(c2c, &c2c->entries[i].counts), (uint32_t)i };
	done = done && pd_sort(entries, c2c->entry_count, compare_entries, (void *)c2c, 1);
	pd_free(ranks);
	return done;
}

size_t pd_c2c_line_end(const struct pd_c2c *c2c, const struct pd_c2c_order *order, size_t from)
{
	size_t end = from + 1;

	while (end < c2c->entry_count && order->entries[end].first >> 8 == order->entries[from].first >> 8)
		end++;
	return end;
}

void pd_c2c_order_fini(struct pd_c2c_order *order)
{
	pd_free(order->lines);
	pd_free(order->entries);
}
