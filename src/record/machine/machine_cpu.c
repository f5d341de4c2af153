/* SPDX-License-Identifier: MIT */
/* Features about processors and memory, as sysfs has them: identity, topology, caches, NUMA nodes. */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "base/error.h"
#include "record/config.h"
#include "record/machine/procfile.h"

enum {
	PATH_CAPACITY = 512,
	MOST_CACHES = 16, // of a CPU
	MOST_CPUS = 4096
};

// What is gathered for one feature.
struct collector {
	const char *sysfs;
	struct pd_arena arena;
	struct pd_procfile file;
};

static void collector_fini(struct collector *collector)
{
	pd_arena_fini(&collector->arena);
	pd_procfile_fini(&collector->file);
}

// The first line of a file below sysfs, until the gathering ends; an empty text if there is none.
static struct pd_str line_of(struct collector *collector, const char *format, ...) PD_PRINTF(2, 3);
static struct pd_str line_of(struct collector *collector, const char *format, ...)
{
	char path[PATH_CAPACITY];
	va_list arguments;
	size_t used = (size_t)snprintf(path, sizeof(path), "%s/", collector->sysfs), length;
	char *copy;

	va_start(arguments, format);
	if (used < sizeof(path))
		vsnprintf(path + used, sizeof(path) - used, format, arguments);
	va_end(arguments);
	length = pd_procfile_read_line(&collector->file, path) && collector->file.size ?
			 strcspn(collector->file.data, "\n") :
			 0;
	copy = length ? pd_arena_text(&collector->arena, collector->file.data, length) : NULL;
	return copy ? (struct pd_str){ copy, (uint32_t)length, 0 } : (struct pd_str){ "", 0, 0 };
}

static uint32_t number_of(const struct pd_str *text, uint32_t fallback)
{
	return isdigit((unsigned char)text->data[0]) ? (uint32_t)strtoul(text->data, NULL, 10) : fallback;
}

static size_t cpu_count(void)
{
	long count = sysconf(_SC_NPROCESSORS_CONF);

	return count < 1 ? 1 : count > MOST_CPUS ? MOST_CPUS : (size_t)count;
}

// ---- identity ----

// The maker of an x86 processor; an empty text for others.
static void read_vendor(char vendor[13])
{
	memset(vendor, 0, 13);
#if defined(__x86_64__) || defined(__i386__)
	unsigned a, b, c, d;

	if (!__get_cpuid(0, &a, &b, &c, &d))
		return;
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &d, 4);
	memcpy(vendor + 8, &c, 4);
#endif
}

bool pd_record_cpu_is_amd(void)
{
	char vendor[13];

	read_vendor(vendor);
	return strcmp(vendor, "AuthenticAMD") == 0;
}

static enum pd_status set_cpuid(struct pd_writer *writer, struct pd_error *error)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned b, c, d, signature, family, model;
	char vendor[13], text[64];
	struct pd_string value = { .value = { text, 0, 0 } };

	read_vendor(vendor);
	if (!vendor[0] || !__get_cpuid(1, &signature, &b, &c, &d))
		return PD_OK;
	family = signature >> 8 & 15;
	model = signature >> 4 & 15;
	if (family == 15)
		family += signature >> 20 & 255;
	if (family >= 6)
		model += (signature >> 16 & 15) << 4;
	value.value.length =
		(uint32_t)snprintf(text, sizeof(text), "%s,%u,%u,%u", vendor, family, model, signature & 15);
	return pd_writer_set_feature(writer, PD_FEATURE_CPUID, &value, error);
#else
	(void)writer;
	(void)error;
	return PD_OK;
#endif
}

// ---- topology ----

static enum pd_status add_list(struct pd_cpu_list *lists, size_t *count, struct pd_str cpus)
{
	for (size_t i = 0; i < *count; i++)
		if (strcmp(lists[i].cpus.data, cpus.data) == 0)
			return PD_OK;
	if (cpus.length)
		lists[(*count)++].cpus = cpus;
	return PD_OK;
}

static enum pd_status set_topology(struct pd_writer *writer, struct collector *collector, struct pd_error *error)
{
	size_t cpus = cpu_count(), packages = 0, threads = 0, dies = 0;
	struct pd_cpu_list *lists = pd_arena_alloc(&collector->arena, 3 * cpus * sizeof(*lists));
	struct pd_cpu_place *places = pd_arena_alloc(&collector->arena, cpus * sizeof(*places));
	uint32_t *die_ids = pd_arena_alloc(&collector->arena, cpus * sizeof(*die_ids));
	struct pd_cpu_topology topology = { .has_places = true, .has_dies = true };

	if (!lists || !places || !die_ids)
		return pd_fail_memory(error);
	for (size_t i = 0; i < cpus; i++) {
		struct pd_str text;

		add_list(lists, &packages,
			 line_of(collector, "devices/system/cpu/cpu%zu/topology/core_siblings_list", i));
		add_list(lists + cpus, &threads,
			 line_of(collector, "devices/system/cpu/cpu%zu/topology/thread_siblings_list", i));
		add_list(lists + 2 * cpus, &dies,
			 line_of(collector, "devices/system/cpu/cpu%zu/topology/die_cpus_list", i));
		text = line_of(collector, "devices/system/cpu/cpu%zu/topology/core_id", i);
		places[i].core_id = number_of(&text, UINT32_MAX);
		text = line_of(collector, "devices/system/cpu/cpu%zu/topology/physical_package_id", i);
		places[i].package_id = number_of(&text, UINT32_MAX);
		text = line_of(collector, "devices/system/cpu/cpu%zu/topology/die_id", i);
		die_ids[i] = number_of(&text, UINT32_MAX);
	}
	if (!packages)
		return PD_OK;
	topology.core_lists = (struct pd_list){ lists, packages, sizeof(*lists) };
	topology.thread_lists = (struct pd_list){ lists + cpus, threads, sizeof(*lists) };
	topology.die_lists = (struct pd_list){ lists + 2 * cpus, dies, sizeof(*lists) };
	topology.places = (struct pd_list){ places, cpus, sizeof(*places) };
	topology.die_ids = (struct pd_u32s){ die_ids, cpus };
	topology.has_dies = dies > 0;
	return pd_writer_set_feature(writer, PD_FEATURE_CPU_TOPOLOGY, &topology, error);
}

// ---- caches ----

static bool is_same_cache(const struct pd_cache_level *a, const struct pd_cache_level *b)
{
	return a->level == b->level && strcmp(a->type.data, b->type.data) == 0 && strcmp(a->map.data, b->map.data) == 0;
}

static struct pd_str cache_line_of(struct collector *collector, size_t cpu, unsigned index, const char *name)
{
	return line_of(collector, "devices/system/cpu/cpu%zu/cache/index%u/%s", cpu, index, name);
}

static uint32_t cache_number_of(struct collector *collector, size_t cpu, unsigned index, const char *name)
{
	struct pd_str text = cache_line_of(collector, cpu, index, name);

	return number_of(&text, 0);
}

// What tells a cache from others. False if there is none of this index.
static bool identify_cache(struct collector *collector, size_t cpu, unsigned index, struct pd_cache_level *cache)
{
	*cache = (struct pd_cache_level){ .type = cache_line_of(collector, cpu, index, "type") };
	if (!cache->type.length)
		return false;
	cache->level = cache_number_of(collector, cpu, index, "level");
	cache->map = cache_line_of(collector, cpu, index, "shared_cpu_list");
	return cache->map.length;
}

static void read_cache(struct collector *collector, size_t cpu, unsigned index, struct pd_cache_level *cache)
{
	cache->line_size = cache_number_of(collector, cpu, index, "coherency_line_size");
	cache->sets = cache_number_of(collector, cpu, index, "number_of_sets");
	cache->ways = cache_number_of(collector, cpu, index, "ways_of_associativity");
	cache->size = cache_line_of(collector, cpu, index, "size");
}

// Those of a CPU that no CPU before shares.
static void add_caches(struct collector *collector, size_t cpu, struct pd_cache_level *caches, size_t *count)
{
	for (unsigned index = 0; index < MOST_CACHES && identify_cache(collector, cpu, index, &caches[*count]);
	     index++) {
		size_t i = 0;

		while (i < *count && !is_same_cache(&caches[i], &caches[*count]))
			i++;
		if (i == *count)
			read_cache(collector, cpu, index, &caches[(*count)++]);
	}
}

static int compare_caches(const void *a, const void *b)
{
	const struct pd_cache_level *left = a, *right = b;

	return (left->level > right->level) - (left->level < right->level);
}

static enum pd_status set_caches(struct pd_writer *writer, struct collector *collector, struct pd_error *error)
{
	size_t cpus = cpu_count(), count = 0;
	struct pd_cache_level *caches = pd_arena_alloc(&collector->arena, cpus * MOST_CACHES * sizeof(*caches));
	struct pd_cache cache = { .version = 1 };

	if (!caches)
		return pd_fail_memory(error);
	for (size_t cpu = 0; cpu < cpus; cpu++)
		add_caches(collector, cpu, caches, &count);
	if (!count)
		return PD_OK;
	qsort(caches, count, sizeof(*caches), compare_caches);
	cache.levels = (struct pd_list){ caches, count, sizeof(*caches) };
	return pd_writer_set_feature(writer, PD_FEATURE_CACHE, &cache, error);
}

// ---- memory ----

static enum pd_status set_nodes(struct pd_writer *writer, struct collector *collector, const struct pd_cpus *nodes,
				struct pd_error *error)
{
	struct pd_numa_node *items = pd_arena_alloc(&collector->arena, nodes->count * sizeof(*items) + 1);
	struct pd_numa_topology topology = { .nodes = { items, 0, sizeof(*items) } };

	if (!items)
		return pd_fail_memory(error);
	for (size_t i = 0; i < nodes->count; i++) {
		struct pd_numa_node *node = &items[topology.nodes.count];
		const char *total, *free_memory;
		char path[PATH_CAPACITY];

		node->node = (uint32_t)nodes->items[i];
		snprintf(path, sizeof(path), "%.400s/devices/system/node/node%" PRIu32 "/meminfo", collector->sysfs,
			 node->node);
		if (!pd_procfile_read(&collector->file, path) || !collector->file.size)
			continue;
		total = strstr(collector->file.data, "MemTotal:");
		free_memory = strstr(collector->file.data, "MemFree:");
		node->total_kib = total ? strtoull(total + 9, NULL, 10) : 0;
		node->free_kib = free_memory ? strtoull(free_memory + 8, NULL, 10) : 0;
		node->cpus = line_of(collector, "devices/system/node/node%" PRIu32 "/cpulist", node->node);
		topology.nodes.count++;
	}
	return topology.nodes.count ? pd_writer_set_feature(writer, PD_FEATURE_NUMA_TOPOLOGY, &topology, error) : PD_OK;
}

struct bits {
	uint64_t *words;
	size_t count, capacity;
};

static bool set_bit(struct bits *bits, size_t bit)
{
	size_t words = bit / 64 + 1;

	if (!PD_GROW(bits->words, bits->capacity, words))
		return false;
	for (; bits->count < words; bits->count++)
		bits->words[bits->count] = 0;
	bits->words[bit / 64] |= UINT64_C(1) << bit % 64;
	return true;
}

// Of an entry "memory123". There are hundreds of them: sscanf would take a fifth of the start of a recording.
static bool parse_block(const char *name, size_t *block_out)
{
	static const char start[] = "memory";
	char *end;
	unsigned long long block;

	if (strncmp(name, start, sizeof(start) - 1) != 0 || name[sizeof(start) - 1] < '0' ||
	    name[sizeof(start) - 1] > '9')
		return false;
	block = strtoull(name + sizeof(start) - 1, &end, 10);
	*block_out = (size_t)block;
	return !*end && block <= UINT32_MAX;
}

// Blocks of memory of a node, by the names of the links to them.
static bool read_blocks(struct collector *collector, struct pd_memory_node *node)
{
	struct bits bits = { 0 };
	char path[PATH_CAPACITY];
	struct dirent *entry;
	uint64_t last = 0, *bitmap;
	bool ok;
	DIR *dir;

	snprintf(path, sizeof(path), "%.400s/devices/system/node/node%" PRIu64, collector->sysfs, node->node);
	dir = opendir(path);
	ok = dir && set_bit(&bits, 0);
	// one word at least, also where no block is listed
	if (ok)
		bits.words[0] = 0;
	while (ok && (entry = readdir(dir)) != NULL) {
		size_t block;

		if (!parse_block(entry->d_name, &block))
			continue;
		ok = set_bit(&bits, block);
		last = block > last ? block : last;
	}
	if (dir)
		closedir(dir);
	bitmap = ok ? pd_arena_copy(&collector->arena, bits.words, bits.count * sizeof(*bitmap)) : NULL;
	node->bitmap = (struct pd_u64s){ bitmap, bits.count };
	node->size = node->bitmap_size = last + 1;
	pd_free(bits.words);
	return bitmap;
}

static enum pd_status set_blocks(struct pd_writer *writer, struct collector *collector, const struct pd_cpus *nodes,
				 struct pd_error *error)
{
	struct pd_memory_node *items = pd_arena_alloc(&collector->arena, nodes->count * sizeof(*items) + 1);
	struct pd_mem_topology topology = { .version = 1, .nodes = { items, 0, sizeof(*items) } };
	struct pd_str size = line_of(collector, "devices/system/memory/block_size_bytes");

	if (!items)
		return pd_fail_memory(error);
	topology.block_size_bytes = strtoull(size.data, NULL, 16);
	for (size_t i = 0; i < nodes->count && topology.block_size_bytes; i++) {
		struct pd_memory_node *node = &items[topology.nodes.count];

		node->node = (uint64_t)nodes->items[i];
		topology.nodes.count += read_blocks(collector, node);
	}
	return topology.nodes.count ? pd_writer_set_feature(writer, PD_FEATURE_MEM_TOPOLOGY, &topology, error) : PD_OK;
}

static enum pd_status set_memory(struct pd_writer *writer, struct collector *collector, struct pd_error *error)
{
	struct pd_str online = line_of(collector, "devices/system/node/online");
	struct pd_cpus nodes;
	enum pd_status status;

	if (!online.length || pd_cpus_parse(&nodes, online.data, NULL) < 0)
		return PD_OK;
	status = set_nodes(writer, collector, &nodes, error);
	if (status >= 0)
		status = set_blocks(writer, collector, &nodes, error);
	pd_cpus_fini(&nodes);
	return status;
}

enum pd_status pd_machine_cpus(struct pd_writer *writer, const struct pd_machine_options *options,
			       struct pd_error *error)
{
	struct collector collector = { .sysfs = options->sysfs ? options->sysfs : "/sys" };
	enum pd_status status = set_cpuid(writer, error);

	if (status >= 0)
		status = set_topology(writer, &collector, error);
	if (status >= 0)
		status = set_caches(writer, &collector, error);
	if (status >= 0)
		status = set_memory(writer, &collector, error);
	collector_fini(&collector);
	return status;
}
