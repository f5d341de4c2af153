/* SPDX-License-Identifier: MIT */
// Sums over all accesses, and over lines that CPUs share.
#include <inttypes.h>
#include <string.h>

#include "mem/c2c.h"

#define RULE "=================================================\n"

// ---- sums ----

static void put_count(struct pd_text *text, const char *name, uint64_t count)
{
	pd_text_printf(text, "  %-34s: %10" PRIu64 "\n", name, count);
}

// As perf: a share of nothing is -nan.
static void put_percent(struct pd_text *text, const char *name, uint64_t part, uint64_t whole)
{
	if (whole)
		pd_text_printf(text, "  %-34s: %10.1f%%\n", name, pd_mem_percent(part, whole));
	else
		pd_text_printf(text, "  %-34s: %10s%%\n", name, "-nan");
}

static void put_loads(struct pd_text *text, const struct pd_mem_counts *c)
{
	put_count(text, "Total records", c->samples);
	put_count(text, "Locked Load/Store Operations", c->locked);
	put_count(text, "Load Operations", c->loads);
	put_count(text, "Loads - uncacheable", c->load_uncached);
	put_count(text, "Loads - IO", c->load_io);
	put_count(text, "Loads - Miss", c->load_miss);
	put_count(text, "Loads - no mapping", c->load_no_addr);
	put_count(text, "Load Fill Buffer Hit", c->load_buffer);
	put_count(text, "Load L1D hit", c->load_l1);
	put_count(text, "Load L2D hit", c->load_l2);
	put_count(text, "Load LLC hit", c->load_l3 + c->local_hitm);
	put_count(text, "Load Local HITM", c->local_hitm);
	put_count(text, "Load Remote HITM", c->remote_hitm);
	put_count(text, "Load Remote HIT", c->remote_hit);
	put_count(text, "Load Local DRAM", c->local_ram);
	put_count(text, "Load Remote DRAM", c->remote_ram);
	put_count(text, "Load MESI State Exclusive", c->load_exclusive);
	put_count(text, "Load MESI State Shared", c->load_shared);
	put_count(text, "Load LLC Misses", pd_mem_misses(c));
	put_count(text, "Load access blocked by data", c->blocked_by_data);
	put_count(text, "Load access blocked by address", c->blocked_by_addr);
	put_count(text, "Load HIT Local Peer", c->local_peer);
	put_count(text, "Load HIT Remote Peer", c->remote_peer);
}

static void put_sums(struct pd_text *text, const struct pd_mem_counts *c)
{
	uint64_t misses = pd_mem_misses(c);

	pd_text_add(text, RULE "            Trace Event Information              \n" RULE);
	put_loads(text, c);
	put_percent(text, "LLC Misses to Local DRAM", c->local_ram, misses);
	put_percent(text, "LLC Misses to Remote DRAM", c->remote_ram, misses);
	put_percent(text, "LLC Misses to Remote cache (HIT)", c->remote_hit, misses);
	put_percent(text, "LLC Misses to Remote cache (HITM)", c->remote_hitm, misses);
	put_count(text, "Store Operations", c->stores);
	put_count(text, "Store - uncacheable", c->store_uncached);
	put_count(text, "Store - no mapping", c->store_no_addr);
	put_count(text, "Store L1D Hit", c->store_l1);
	put_count(text, "Store L1D Miss", c->store_l1_miss);
	put_count(text, "Store No available memory level", c->store_no_level);
	put_count(text, "No Page Map Rejects", c->unmapped);
	put_count(text, "Unable to parse data source", c->unparsed);
}

static void put_shared(struct pd_text *text, const struct pd_c2c *c2c)
{
	const struct pd_mem_counts *c = &c2c->shared;

	pd_text_add(text, "\n" RULE "    Global Shared Cache Line Event Information   \n" RULE);
	put_count(text, "Total Shared Cache Lines", c2c->shared_lines);
	put_count(text, "Load HITs on shared lines", c->loads);
	put_count(text, "Fill Buffer Hits on shared lines", c->load_buffer);
	put_count(text, "L1D hits on shared lines", c->load_l1);
	put_count(text, "L2D hits on shared lines", c->load_l2);
	put_count(text, "LLC hits on shared lines", c->load_l3 + c->local_hitm);
	put_count(text, "Load hits on peer cache or nodes", c->peer);
	put_count(text, "Locked Access on shared lines", c->locked);
	put_count(text, "Blocked Access on shared lines", c->blocked_by_data + c->blocked_by_addr);
	put_count(text, "Store HITs on shared lines", c->stores);
	put_count(text, "Store L1D hits on shared lines", c->store_l1);
	put_count(text, "Store No available memory level", c->store_no_level);
	put_count(text, "Total Merged records", c->hitm + c->stores);
}

static void put_details(struct pd_text *text, const struct pd_c2c *c2c)
{
	static const char *const sorts[] = {
		[PD_C2C_TOTAL] = "Total HITMs",
		[PD_C2C_LOCAL] = "Local HITMs",
		[PD_C2C_REMOTE] = "Remote HITMs",
		[PD_C2C_PEER] = "Peer Snoop",
	};
	const struct pd_event *event;

	pd_text_add(text, "\n" RULE "                 c2c details                     \n" RULE);
	for (size_t i = 0; (event = pd_file_event(c2c->pass.file, i)) != NULL; i++) {
		pd_text_printf(text, "  %-34s: ", i ? "" : "Events");
		pd_text_escaped(text, event->name, strlen(event->name));
		pd_text_add(text, "\n");
	}
	pd_text_printf(text, "  %-34s: %s\n", "Cachelines sort on", sorts[c2c->options.display]);
	pd_text_printf(text, "  %-34s: offset,%s\n", "Cacheline data grouping", c2c->options.coalesce);
}

void pd_c2c_print_sums(const struct pd_c2c *c2c)
{
	put_sums(c2c->text, &c2c->counts);
	put_shared(c2c->text, c2c);
	put_details(c2c->text, c2c);
}
