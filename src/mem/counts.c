/* SPDX-License-Identifier: MIT */
// From the source of data to counts, as perf c2c.
#include "mem/c2c.h"

#include <perfdata/format.h>

void pd_mem_counts_add(struct pd_mem_counts *sum, const struct pd_mem_counts *more)
{
#define COUNT(name) sum->name += more->name;
#include "mem/counts.def"
}

// Bits of the parts of data_src.
enum {
	OP_LOAD = 2,
	OP_STORE = 4,
	LEVEL_NONE = 1 << 0,
	LEVEL_HIT = 1 << 1,
	LEVEL_MISS = 1 << 2,
	LEVEL_L1 = 1 << 3,
	LEVEL_BUFFER = 1 << 4,
	LEVEL_L2 = 1 << 5,
	LEVEL_L3 = 1 << 6,
	LEVEL_LOCAL_RAM = 1 << 7,
	LEVEL_REMOTE_RAM = 3 << 8,
	LEVEL_REMOTE_CACHE = 3 << 10,
	LEVEL_IO = 1 << 12,
	LEVEL_UNCACHED = 1 << 13,
	SNOOP_HIT = 4,
	SNOOP_HITM = 16,
	SNOOP_PEER = 2, // of snoopx
	LOCKED = 2,
	BLOCKED_BY_DATA = 2,
	BLOCKED_BY_ADDR = 4
};

struct access {
	uint64_t level, snoop;
	bool peer, remote;
};

static void count_ram(struct pd_mem_counts *counts, const struct access *access, uint64_t *where)
{
	++*where;
	if (access->snoop & SNOOP_HIT)
		counts->load_shared++;
	else
		counts->load_exclusive++;
}

static void count_peer(struct pd_mem_counts *counts, const struct access *access, uint64_t *where)
{
	*where += access->peer;
	counts->peer += access->peer;
}

static void count_load_hit(struct pd_mem_counts *counts, const struct access *access)
{
	uint64_t level = access->level;

	counts->load_uncached += (level & LEVEL_UNCACHED) != 0;
	counts->load_io += (level & LEVEL_IO) != 0;
	counts->load_buffer += (level & LEVEL_BUFFER) != 0;
	counts->load_l1 += (level & LEVEL_L1) != 0;
	if (level & LEVEL_L2) {
		counts->load_l2++;
		count_peer(counts, access, &counts->local_peer);
	}
	if (level & LEVEL_L3) {
		bool hitm = access->snoop & SNOOP_HITM;

		counts->local_hitm += hitm;
		counts->hitm += hitm;
		counts->load_l3 += !hitm;
		count_peer(counts, access, &counts->local_peer);
	}
	if (level & LEVEL_LOCAL_RAM)
		count_ram(counts, access, &counts->local_ram);
	if ((level & LEVEL_REMOTE_RAM) || access->remote)
		count_ram(counts, access, &counts->remote_ram);
}

static void count_load(struct pd_mem_counts *counts, const struct access *access)
{
	if (access->level & LEVEL_HIT)
		count_load_hit(counts, access);
	if ((access->level & LEVEL_REMOTE_CACHE) || access->remote) {
		if (access->snoop & SNOOP_HIT) {
			counts->remote_hit++;
		} else if (access->snoop & SNOOP_HITM) {
			counts->remote_hitm++;
			counts->hitm++;
		} else if (access->peer) {
			counts->remote_hit++;
			count_peer(counts, access, &counts->remote_peer);
		}
	}
	counts->load_miss += (access->level & LEVEL_MISS) != 0;
}

static void count_store(struct pd_mem_counts *counts, const struct access *access)
{
	uint64_t level = access->level;

	counts->store_uncached += (level & LEVEL_HIT) && (level & LEVEL_UNCACHED);
	counts->store_l1 += (level & LEVEL_HIT) && (level & LEVEL_L1);
	counts->store_l1_miss += (level & LEVEL_MISS) && (level & LEVEL_L1);
	counts->store_no_level += (level & LEVEL_NONE) != 0;
}

struct pd_mem_counts pd_mem_count(uint64_t data_src, uint64_t addr, bool is_mapped)
{
	const uint64_t op = PD_BITS(data_src, PD_DATA_SRC_OP), blocked = PD_BITS(data_src, PD_DATA_SRC_BLK);
	const struct access access = {
		.level = PD_BITS(data_src, PD_DATA_SRC_LVL),
		.snoop = PD_BITS(data_src, PD_DATA_SRC_SNOOP),
		.peer = PD_BITS(data_src, PD_DATA_SRC_SNOOPX) & SNOOP_PEER,
		// with hops it is another core of this node
		.remote = PD_BITS(data_src, PD_DATA_SRC_REMOTE) && !PD_BITS(data_src, PD_DATA_SRC_HOPS),
	};
	struct pd_mem_counts counts = { .samples = 1 };

	counts.locked = (PD_BITS(data_src, PD_DATA_SRC_LOCK) & LOCKED) != 0;
	counts.blocked_by_data = (blocked & BLOCKED_BY_DATA) != 0;
	counts.blocked_by_addr = (blocked & BLOCKED_BY_ADDR) != 0;
	counts.loads = (op & OP_LOAD) != 0;
	counts.stores = !counts.loads && (op & OP_STORE);
	counts.unparsed = !counts.loads && !counts.stores;
	counts.load_no_addr = counts.loads && !addr;
	counts.store_no_addr = counts.stores && !addr;
	if (counts.unparsed || !addr)
		return counts;
	if (counts.loads)
		count_load(&counts, &access);
	else
		count_store(&counts, &access);
	counts.unmapped = !is_mapped;
	return counts;
}
