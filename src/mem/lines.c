/* SPDX-License-Identifier: MIT */
// The pass: lines of the cache, and accesses in them.
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mem/c2c.h"

enum {
	LIMIT = 16 << 20,
	ARENA_LIMIT = 1 << 30, // CPUs and nodes of lines and entries
	WORD_BITS = 64
};

static void set_bit(uint64_t *bits, size_t bit)
{
	bits[bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS;
}

// ---- who and where ----

// The node whose memory has an address; PD_C2C_NODES: not known.
static size_t memory_node(const struct pd_mem_topology *topology, uint64_t addr)
{
	uint64_t block = topology && topology->block_size_bytes ? addr / topology->block_size_bytes : 0;

	for (size_t i = 0; topology && topology->block_size_bytes && i < topology->nodes.count; i++) {
		const struct pd_memory_node *node = PD_ITEM(pd_memory_node, topology->nodes, i);

		if (block < node->bitmap.count * WORD_BITS && node->node < PD_C2C_NODES &&
		    (node->bitmap.items[block / WORD_BITS] >> block % WORD_BITS & 1))
			return (size_t)node->node;
	}
	return PD_C2C_NODES;
}

// Bits for as many CPUs as were met: most lines are those of a few. False if there is no memory.
static bool note_cpu(struct pd_c2c *c2c, struct pd_c2c_who *who, uint32_t cpu)
{
	const size_t words = cpu / WORD_BITS + 1;
	uint64_t *cpus;

	if (words > c2c->cpu_words)
		return true;
	if (words > who->cpu_words) {
		cpus = pd_arena_alloc(&c2c->arena, words * sizeof(*cpus));
		if (!cpus)
			return false;
		if (who->cpu_words)
			memcpy(cpus, who->cpus, who->cpu_words * sizeof(*cpus));
		who->cpus = cpus;
		who->cpu_words = words;
	}
	set_bit(who->cpus, cpu);
	return true;
}

static void note_memory(struct pd_c2c *c2c, struct pd_c2c_who *who, const struct pd_mem_sample *sample)
{
	uint64_t phys_addr = sample->sample->phys_addr;
	size_t node;

	if (!phys_addr)
		return;
	node = memory_node(pd_file_mem_topology(c2c->pass.file), phys_addr);
	if (node == PD_C2C_NODES)
		return;
	who->nodes |= UINT64_C(1) << node;
	who->phys_changes += who->last_phys_addr != phys_addr;
	who->last_phys_addr = phys_addr;
}

static bool note_who(struct pd_c2c *c2c, struct pd_c2c_who *who, const struct pd_mem_sample *sample)
{
	note_memory(c2c, who, sample);
	return note_cpu(c2c, who, sample->brief.cpu);
}

// ---- lines and entries ----

static bool has_limit(const struct pd_c2c *c2c, size_t count)
{
	return count >= (c2c->options.limit && c2c->options.limit < LIMIT ? c2c->options.limit : LIMIT);
}

static enum pd_status find_line(struct pd_c2c *c2c, const struct pd_cache_line *key, uint64_t addr,
				uint32_t *number_out, struct pd_error *error)
{
	uint64_t hash = pd_hash_u64(c2c->seed, key->addr ^ pd_hash_u64(c2c->seed, key->group));
	struct pd_c2c_line *line;
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&c2c->line_index, hash, &at)) != PD_INDEX_END;)
		if (c2c->lines[i].key.addr == key->addr && c2c->lines[i].key.group == key->group) {
			*number_out = i;
			return PD_OK;
		}
	if (has_limit(c2c, c2c->line_count))
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "too many lines of the cache");
	if (!PD_GROW(c2c->lines, c2c->line_capacity, c2c->line_count + 1))
		return pd_fail_memory(error);
	line = &c2c->lines[c2c->line_count];
	*line = (struct pd_c2c_line){ .key = *key, .addr = addr & ~(uint64_t)(PD_CACHE_LINE_BYTES - 1) };
	if (!pd_index_add(&c2c->line_index, hash, (uint32_t)c2c->line_count))
		return pd_fail_memory(error);
	*number_out = (uint32_t)c2c->line_count++;
	return PD_OK;
}

static bool is_same(const struct pd_c2c *c2c, const struct pd_c2c_entry *a, const struct pd_c2c_entry *b)
{
	return a->line == b->line && a->offset == b->offset && (!c2c->by_pid || a->pid == b->pid) &&
	       (!c2c->by_tid || a->tid == b->tid) && (!c2c->by_ip || a->ip == b->ip) &&
	       (!c2c->by_dso || a->code.dso == b->code.dso);
}

static uint64_t hash_entry(const struct pd_c2c *c2c, const struct pd_c2c_entry *entry)
{
	uint64_t hash = pd_hash_u64(c2c->seed, (uint64_t)entry->line << 32 | entry->offset);

	if (c2c->by_pid || c2c->by_tid)
		hash = pd_hash_u64(c2c->seed, hash ^ (c2c->by_pid ? (uint64_t)entry->pid << 32 : 0) ^
						      (c2c->by_tid ? entry->tid : 0));
	if (c2c->by_dso)
		hash = pd_hash_u64(c2c->seed, hash ^ (uintptr_t)entry->code.dso);
	return c2c->by_ip ? pd_hash_u64(c2c->seed, hash ^ entry->ip) : hash;
}

static enum pd_status add_entry(struct pd_c2c *c2c, const struct pd_c2c_entry *fresh, uint64_t hash,
				struct pd_error *error)
{
	struct pd_c2c_entry *entry;

	if (has_limit(c2c, c2c->entry_count))
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "too many accesses");
	if (!PD_GROW(c2c->entries, c2c->entry_capacity, c2c->entry_count + 1))
		return pd_fail_memory(error);
	entry = &c2c->entries[c2c->entry_count];
	*entry = *fresh;
	if (c2c->options.node_info == 1) {
		entry->nodes = pd_arena_alloc(&c2c->arena, c2c->node_count * sizeof(*entry->nodes));
		if (!entry->nodes)
			return pd_fail_memory(error);
	}
	if (!pd_index_add(&c2c->entry_index, hash, (uint32_t)c2c->entry_count))
		return pd_fail_memory(error);
	c2c->entry_count++;
	return PD_OK;
}

static enum pd_status find_entry(struct pd_c2c *c2c, const struct pd_c2c_entry *wanted, struct pd_c2c_entry **entry_out,
				 struct pd_error *error)
{
	uint64_t hash = hash_entry(c2c, wanted);
	size_t at = (uint32_t)hash;
	enum pd_status status;

	for (uint32_t i; (i = pd_index_next(&c2c->entry_index, hash, &at)) != PD_INDEX_END;)
		if (is_same(c2c, &c2c->entries[i], wanted)) {
			*entry_out = &c2c->entries[i];
			return PD_OK;
		}
	status = add_entry(c2c, wanted, hash, error);
	if (status >= 0)
		*entry_out = &c2c->entries[c2c->entry_count - 1];
	return status;
}

// ---- samples ----

static void add_mean(struct pd_c2c_entry *entry, const struct pd_mem_counts *counts, uint64_t weight)
{
	enum pd_c2c_mean mean = counts->remote_hitm ? PD_C2C_MEAN_REMOTE_HITM :
				counts->local_hitm  ? PD_C2C_MEAN_LOCAL_HITM :
				counts->remote_peer ? PD_C2C_MEAN_REMOTE_PEER :
				counts->local_peer  ? PD_C2C_MEAN_LOCAL_PEER :
						      PD_C2C_MEAN_LOAD;

	if (mean == PD_C2C_MEAN_LOAD && !counts->loads)
		return;
	// as perf, whose rounding it is
	entry->means[mean].count++;
	entry->means[mean].value += ((double)weight - entry->means[mean].value) / (double)entry->means[mean].count;
}

static size_t cpu_node(const struct pd_c2c *c2c, uint32_t cpu)
{
	for (size_t i = 0; cpu < c2c->cpu_words * WORD_BITS && i < c2c->node_count; i++)
		if (c2c->nodes[i].cpus[cpu / WORD_BITS] >> cpu % WORD_BITS & 1)
			return i;
	return 0;
}

static enum pd_status take_sample(struct pd_mem_pass *pass, const struct pd_mem_sample *sample, struct pd_error *error)
{
	struct pd_c2c *c2c = (struct pd_c2c *)pass;
	const struct pd_brief *brief = &sample->brief;
	const uint64_t addr = sample->sample->addr;
	struct pd_mem_counts counts = pd_mem_count(sample->data_src, addr, sample->mapping && sample->code.dso);
	struct pd_cache_line key = pd_cache_line_of(sample->mapping, brief->cpumode, brief->pid, addr);
	struct pd_c2c_entry *entry, wanted = {
		.pid = brief->pid, .tid = brief->tid, .ip = brief->ip, .cpumode = brief->cpumode, .code = sample->code
	};
	enum pd_status status = find_line(c2c, &key, addr, &wanted.line, error);

	wanted.offset = (uint32_t)(pd_data_offset(sample->mapping, addr) & (PD_CACHE_LINE_BYTES - 1));
	if (status >= 0)
		status = find_entry(c2c, &wanted, &entry, error);
	if (status < 0)
		return status;
	pd_mem_counts_add(&c2c->counts, &counts);
	pd_mem_counts_add(&c2c->lines[wanted.line].counts, &counts);
	pd_mem_counts_add(&entry->counts, &counts);
	if (entry->nodes)
		pd_mem_counts_add(&entry->nodes[cpu_node(c2c, brief->cpu)].counts, &counts);
	add_mean(entry, &counts, sample->weight);
	return note_who(c2c, &c2c->lines[wanted.line].who, sample) && note_who(c2c, &entry->who, sample) ?
		       PD_OK :
		       pd_fail_memory(error);
}

// ---- the machine ----

static void read_cpus(const char *list, uint64_t *bits, size_t most)
{
	while (*list >= '0' && *list <= '9') {
		char *end;
		uint64_t first = strtoull(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoull(end + 1, &end, 10);
		for (; first <= last && first < most; first++)
			set_bit(bits, (size_t)first);
		list = end + (*end == ',');
	}
}

static bool read_nodes(struct pd_c2c *c2c)
{
	const struct pd_numa_topology *topology = pd_file_numa_topology(c2c->pass.file);
	const struct pd_nrcpus *cpus = pd_file_nrcpus(c2c->pass.file);
	uint64_t count = cpus ? cpus->available : 1;

	c2c->cpu_words = (size_t)((count < PD_C2C_CPUS ? count : PD_C2C_CPUS) + WORD_BITS - 1) / WORD_BITS;
	c2c->cpu_words += !c2c->cpu_words;
	do {
		struct pd_c2c_node *node = &c2c->nodes[c2c->node_count];

		node->cpus = pd_arena_alloc(&c2c->arena, c2c->cpu_words * sizeof(*node->cpus));
		if (!node->cpus)
			return false;
		if (topology && c2c->node_count < topology->nodes.count)
			read_cpus(PD_ITEM(pd_numa_node, topology->nodes, c2c->node_count)->cpus.data, node->cpus,
				  c2c->cpu_words * WORD_BITS);
		c2c->node_count++;
	} while (topology && c2c->node_count < topology->nodes.count && c2c->node_count < PD_C2C_NODES);
	return true;
}

// ---- options ----

static enum pd_status read_coalesce(struct pd_c2c *c2c, struct pd_error *error)
{
	const struct {
		const char *name;
		bool *by;
	} known[] = {
		{ "pid", &c2c->by_pid }, { "tid", &c2c->by_tid }, { "iaddr", &c2c->by_ip }, { "dso", &c2c->by_dso }
	};
	const char *list = c2c->options.coalesce;

	while (*list) {
		size_t length = strcspn(list, ", "), i = 0;

		for (; i < sizeof(known) / sizeof(known[0]); i++)
			if (strlen(known[i].name) == length && !memcmp(known[i].name, list, length))
				break;
		if (length && i == sizeof(known) / sizeof(known[0]))
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				       "unknown field '%.*s'; there are pid, tid, iaddr and dso", (int)length, list);
		if (length)
			*known[i].by = true;
		list += length + (list[length] != 0);
	}
	return PD_OK;
}

static void choose_display(struct pd_c2c *c2c)
{
	const struct pd_string *arch = pd_file_arch(c2c->pass.file);
	bool is_arm = arch && !strcmp(arch->value.data, "aarch64");

	if (c2c->options.display == PD_C2C_DEFAULT)
		c2c->options.display = is_arm ? PD_C2C_PEER : PD_C2C_TOTAL;
	if (c2c->options.node_info > 2)
		c2c->options.node_info = 2;
	if (!c2c->options.coalesce || !*c2c->options.coalesce)
		c2c->options.coalesce = "iaddr";
}

static void count_shared(struct pd_c2c *c2c)
{
	for (size_t i = 0; i < c2c->line_count; i++) {
		const struct pd_mem_counts *counts = &c2c->lines[i].counts;

		if (!counts->hitm && !counts->peer)
			continue;
		c2c->shared_lines++;
		pd_mem_counts_add(&c2c->shared, counts);
	}
}

static enum pd_status read_and_print(struct pd_c2c *c2c, struct pd_error *error)
{
	enum pd_status status;

	choose_display(c2c);
	status = read_coalesce(c2c, error);
	if (status >= 0 && !read_nodes(c2c))
		status = pd_fail_memory(error);
	if (status >= 0)
		status = pd_mem_pass_run(&c2c->pass, error);
	if (status < 0)
		return status;
	count_shared(c2c);
	return (c2c->options.json ? pd_c2c_json : pd_c2c_print)(c2c, error);
}

enum pd_status pd_print_c2c(struct pd_text *text, struct pd_file *file, const struct pd_c2c_options *options,
			    struct pd_error *error)
{
	struct pd_c2c c2c = { .pass = { .file = file, .take = take_sample }, .text = text, .seed = pd_hash_secret() };
	enum pd_status status;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_c2c_options.size is 0");
	if (options)
		memcpy(&c2c.options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	c2c.arena.limit = ARENA_LIMIT;
	c2c.pass.open = c2c.options.symbols;
	c2c.pass.self = c2c.options.self;
	status = read_and_print(&c2c, error);
	pd_mem_pass_fini(&c2c.pass);
	pd_free(c2c.lines);
	pd_free(c2c.entries);
	pd_index_fini(&c2c.line_index);
	pd_index_fini(&c2c.entry_index);
	pd_arena_fini(&c2c.arena);
	return status;
}
