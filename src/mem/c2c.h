/* SPDX-License-Identifier: MIT */
/*
 * Lines of the cache and accesses in them. A line has entries: accesses at one offset that agree in what they are
 * distinguished by. Both count what counts.def names.
 */
#ifndef PD_MEM_C2C_H
#define PD_MEM_C2C_H

#include "base/lookup/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "mem/pass.h"
#include "symbol/data.h"

struct pd_mem_counts {
#define COUNT(name) uint64_t name;
#include "mem/counts.def"
};

enum {
	PD_C2C_NODES = 64,
	PD_C2C_CPUS = 1 << 16
};

// What one access counts as; is_mapped: both its code and its data are.
struct pd_mem_counts pd_mem_count(uint64_t data_src, uint64_t addr, bool is_mapped);
void pd_mem_counts_add(struct pd_mem_counts *sum, const struct pd_mem_counts *more);

// Who accessed, and where that memory is.
struct pd_c2c_who {
	uint64_t *cpus; // bits
	size_t cpu_words;
	uint64_t nodes; // bits, of the memory
	uint64_t last_phys_addr, phys_changes;
};

enum pd_c2c_mean {
	PD_C2C_MEAN_REMOTE_HITM,
	PD_C2C_MEAN_LOCAL_HITM,
	PD_C2C_MEAN_REMOTE_PEER,
	PD_C2C_MEAN_LOCAL_PEER,
	PD_C2C_MEAN_LOAD,
	PD_C2C_MEANS
};

struct pd_c2c_entry {
	uint32_t line;
	uint32_t offset;
	uint32_t pid, tid;
	uint64_t ip;
	unsigned cpumode;
	struct pd_place code;
	struct pd_mem_counts counts;
	struct pd_c2c_who who;
	struct {
		double value;
		uint64_t count;
	} means[PD_C2C_MEANS];
	struct {
		struct pd_mem_counts counts;
	} * nodes; // by node of the CPU, with node_info 1
};

struct pd_c2c_line {
	struct pd_cache_line key;
	uint64_t addr; // as it was first accessed
	struct pd_mem_counts counts;
	struct pd_c2c_who who;
};

struct pd_c2c_node {
	uint32_t number;
	uint64_t *cpus; // bits
};

struct pd_c2c {
	struct pd_mem_pass pass; // first
	struct pd_c2c_options options;
	struct pd_text *text;
	bool by_pid, by_tid, by_ip, by_dso;
	size_t cpu_words;
	struct pd_c2c_node nodes[PD_C2C_NODES]; // at least one
	size_t node_count;
	struct pd_arena arena;
	uint64_t seed;
	struct pd_mem_counts counts, shared;
	uint64_t shared_lines;
	struct pd_c2c_line *lines;
	size_t line_count, line_capacity;
	struct pd_index line_index;
	struct pd_c2c_entry *entries;
	size_t entry_count, entry_capacity;
	struct pd_index entry_index;
};

// ---- sums of counts ----

static inline uint64_t pd_mem_misses(const struct pd_mem_counts *c)
{
	return c->local_ram + c->remote_ram + c->remote_hit + c->remote_hitm;
}

static inline uint64_t pd_mem_loads(const struct pd_mem_counts *c)
{
	return pd_mem_misses(c) + c->load_buffer + c->load_l1 + c->load_l2 + c->load_l3 + c->local_hitm;
}

static inline uint64_t pd_mem_records(const struct pd_mem_counts *c)
{
	return pd_mem_loads(c) + c->store_l1 + c->store_l1_miss + c->store_no_level;
}

static inline double pd_mem_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

// ---- sums.c ----

void pd_c2c_print_sums(const struct pd_c2c *c2c);

// ---- order.c ----

// How many of the loads that lines are sorted by.
uint64_t pd_c2c_measure(const struct pd_c2c *c2c, const struct pd_mem_counts *counts);
bool pd_c2c_shows_line(const struct pd_c2c *c2c, const struct pd_c2c_line *line);
bool pd_c2c_shows_entry(const struct pd_c2c *c2c, const struct pd_c2c_entry *entry);

// Numbers of lines and of entries in their order; the entries of a line follow each other.
struct pd_c2c_order {
	struct pd_sorted *lines, *entries;
};
// False if there is no memory; pd_c2c_order_fini follows in any case.
bool pd_c2c_sort(const struct pd_c2c *c2c, struct pd_c2c_order *order);
void pd_c2c_order_fini(struct pd_c2c_order *order);
// Behind the last entry of the line that begins there.
size_t pd_c2c_line_end(const struct pd_c2c *c2c, const struct pd_c2c_order *order, size_t from);

// ---- print.c ----

enum {
	PD_C2C_SOURCE_BYTES = 1024
};

enum pd_status pd_c2c_print(struct pd_c2c *c2c, struct pd_error *error);
const char *pd_c2c_comm(const struct pd_c2c *c2c, const struct pd_c2c_entry *entry, char *unknown);
void pd_c2c_source(const struct pd_c2c *c2c, const struct pd_place *place, char *text, size_t size);
unsigned pd_c2c_cpus(const struct pd_c2c_entry *entry);

// ---- json.c ----

enum pd_status pd_c2c_json(struct pd_c2c *c2c, struct pd_error *error);

#endif
