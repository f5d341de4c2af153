/* SPDX-License-Identifier: MIT */
/*
 * A table names the printer of each feature. A printer gets the decoded struct; where a feature is
 * there but could not be read it gets a struct of zeros, which gives just what perf prints then:
 * "(null)", 0.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "header/attr/attr.h"
#include "header/bpf.h"
#include "header/feature.h"

enum {
	RANGES_SIZE = 100 /* perf cuts the list of memory blocks here */
};

/* "# label : text" */
static void line(struct pd_text *out, const char *label, struct pd_str str)
{
	pd_text_printf(out, "# %s : ", label);
	pd_header_str(out, str);
	pd_text_add(out, "\n");
}

static void print_string(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_string *string = decoded;

	line(header->out, label, string->value);
}

/* A feature that has nothing to say but that it is there. */
static void print_label(const struct pd_header_print *header, const void *decoded, const char *label)
{
	(void)decoded;
	pd_text_printf(header->out, "# %s\n", label);
}

static void print_nrcpus(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_nrcpus *nrcpus = decoded;

	pd_text_printf(header->out, "# %s online : %" PRIu32 "\n# %s avail : %" PRIu32 "\n", label, nrcpus->online,
		       label, nrcpus->available);
}

static void print_total_mem(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_total_mem *memory = decoded;

	pd_text_printf(header->out, "# %s : %" PRIu64 " kB\n", label, memory->kib);
}

/* A word of the command line; apostrophes get a backslash. */
static void print_word(struct pd_text *out, struct pd_str word)
{
	const char *at = word.data;
	size_t left = at ? word.length : 0;
	const char *quote;

	while (left && (quote = memchr(at, '\'', left)) != NULL) {
		pd_text_escaped(out, at, (size_t)(quote - at));
		pd_text_add(out, "\\'");
		left -= (size_t)(quote - at) + 1;
		at = quote + 1;
	}
	pd_text_escaped(out, at, left);
	pd_text_add(out, " ");
}

static void print_cmdline(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_cmdline *cmdline = decoded;

	pd_text_printf(header->out, "# %s : ", label);
	for (size_t i = 0; i < cmdline->arguments.count; i++)
		print_word(header->out, PD_ITEM(pd_argument, cmdline->arguments, i)->value);
	pd_text_add(header->out, "\n");
}

static void print_event_desc(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_event_desc *desc = decoded;

	(void)label;
	pd_header_events(header->out, desc->nr || desc->attr_size ? desc : NULL);
}

static void print_cpu_lists(struct pd_text *out, const char *label, const struct pd_list *lists)
{
	for (size_t i = 0; i < lists->count; i++)
		line(out, label, PD_ITEM(pd_cpu_list, *lists, i)->cpus);
}

/* perf holds a package above the number of CPUs for garbage, but on machines known to have them. */
static bool packages_are_odd(const struct pd_header_print *header, const struct pd_cpu_topology *topology)
{
	const struct pd_string *arch = pd_file_feature(header->file, PD_FEATURE_ARCH);
	const char *name = arch && arch->value.data ? arch->value.data : "";

	if (strncmp(name, "s390", 4) == 0 || strncmp(name, "aarch64", 7) == 0)
		return false;
	for (size_t i = 0; i < topology->places.count; i++) {
		uint32_t package = PD_ITEM(pd_cpu_place, topology->places, i)->package_id;

		if (package != UINT32_MAX && package > topology->places.count)
			return true;
	}
	return false;
}

static void print_places(struct pd_text *out, const struct pd_cpu_topology *topology, bool dies)
{
	for (size_t i = 0; i < topology->places.count; i++) {
		const struct pd_cpu_place *place = PD_ITEM(pd_cpu_place, topology->places, i);

		pd_text_printf(out, "# CPU %zu: Core ID %" PRId32, i, (int32_t)place->core_id);
		if (dies)
			pd_text_printf(out, ", Die ID %" PRId32,
				       i < topology->die_ids.count ? (int32_t)topology->die_ids.items[i] : 0);
		pd_text_printf(out, ", Socket ID %" PRId32 "\n", (int32_t)place->package_id);
	}
}

/* Bytes of the lists as perf writes them, which is how it finds out whether something follows.
 * Files of other writers, with less padding, it holds for old ones without the rest. */
static uint64_t padded_size(const struct pd_list *lists)
{
	uint64_t size = sizeof(uint32_t);

	for (size_t i = 0; i < lists->count; i++) {
		const struct pd_cpu_list *list = PD_ITEM(pd_cpu_list, *lists, i);

		size += sizeof(uint32_t) + (list->cpus.length + UINT64_C(64)) / 64 * 64;
	}
	return size;
}

static uint32_t cpu_count(const struct pd_header_print *header)
{
	const struct pd_nrcpus *nrcpus = pd_file_feature(header->file, PD_FEATURE_NRCPUS);

	return nrcpus ? nrcpus->available : 0;
}

static void print_cpu_topology(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_cpu_topology *topology = decoded;
	uint64_t size = padded_size(&topology->core_lists) + padded_size(&topology->thread_lists);
	uint64_t places_size = 2 * sizeof(uint32_t) * topology->places.count;
	struct pd_bytes bytes = { NULL, 0 };
	bool known;
	bool dies;

	(void)label;
	pd_file_feature_bytes(header->file, PD_FEATURE_CPU_TOPOLOGY, &bytes, NULL);
	known = (topology->has_places || !cpu_count(header)) && bytes.size > size &&
		!packages_are_odd(header, topology);
	dies = known && topology->die_lists.count && bytes.size > size + places_size;
	print_cpu_lists(header->out, "sibling sockets", &topology->core_lists);
	if (dies)
		print_cpu_lists(header->out, "sibling dies   ", &topology->die_lists);
	print_cpu_lists(header->out, "sibling threads", &topology->thread_lists);
	if (known)
		print_places(header->out, topology, dies);
	else
		pd_text_add(header->out, "# Core ID and Socket ID information is not available\n");
}

static void print_numa(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_numa_topology *numa = decoded;

	(void)label;
	for (size_t i = 0; i < numa->nodes.count; i++) {
		const struct pd_numa_node *node = PD_ITEM(pd_numa_node, numa->nodes, i);

		pd_text_printf(header->out,
			       "# node%" PRIu32 " meminfo  : total = %" PRIu64 " kB, free = %" PRIu64
			       " kB\n# node%" PRIu32 " cpu list : ",
			       node->node, node->total_kib, node->free_kib, node->node);
		pd_header_str(header->out, node->cpus);
		pd_text_add(header->out, "\n");
	}
}

static void print_pmus(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_pmu_mappings *mappings = decoded;

	pd_text_printf(header->out, "# %s:%s", label, mappings->pmus.count ? "" : " not available");
	for (size_t i = 0; i < mappings->pmus.count; i++) {
		const struct pd_pmu_mapping *pmu = PD_ITEM(pd_pmu_mapping, mappings->pmus, i);

		pd_text_add(header->out, i ? ", " : " ");
		pd_header_str(header->out, pmu->name);
		pd_text_printf(header->out, " = %" PRIu32, pmu->type);
	}
	pd_text_add(header->out, "\n");
}

/* Events first to end - 1. */
static void print_group(const struct pd_header_print *header, const struct pd_group *group, size_t first, size_t end)
{
	const char *name;

	pd_text_add(header->out, "# group: ");
	if (group->name.data && strcmp(group->name.data, "{anon_group}") != 0)
		pd_header_str(header->out, group->name);
	for (size_t i = first; i < end; i++) {
		name = pd_file_event(header->file, i)->name;
		pd_text_add(header->out, i == first ? "{" : ",");
		pd_text_escaped(header->out, name, strlen(name));
	}
	pd_text_add(header->out, "}\n");
}

/* perf makes groups of events that follow each other; a group of one is none. */
static void print_groups(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_group_desc *groups = decoded;
	size_t count = pd_file_event_count(header->file);
	size_t next = 0;

	(void)label;
	for (size_t i = 0; i < groups->groups.count; i++) {
		const struct pd_group *group = PD_ITEM(pd_group, groups->groups, i);
		size_t first = group->leader_index;

		if (group->nr_members < 2 || first < next || first >= count)
			continue;
		next = group->nr_members < count - first ? first + group->nr_members : count;
		print_group(header, group, first, next);
	}
}

/* text, filled up with spaces to width on the side that is said. */
static void padded(struct pd_text *out, struct pd_str str, size_t width, bool to_the_right)
{
	size_t length = str.data ? str.length : 0;
	int spaces = length < width ? (int)(width - length) : 0;

	if (to_the_right)
		pd_text_printf(out, "%*s", spaces, "");
	pd_text_escaped(out, str.data, length);
	if (!to_the_right)
		pd_text_printf(out, "%*s", spaces, "");
}

static void print_cache(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_cache *cache = decoded;

	pd_text_printf(header->out, "# %s:\n", label);
	for (size_t i = 0; cache->version == 1 && i < cache->levels.count; i++) {
		const struct pd_cache_level *level = PD_ITEM(pd_cache_level, cache->levels, i);

		pd_text_printf(header->out, "#  L%" PRIu32 " ", level->level);
		padded(header->out, level->type, 15, false);
		pd_text_add(header->out, " ");
		padded(header->out, level->size, 8, true);
		pd_text_add(header->out, " [");
		pd_header_str(header->out, level->map);
		pd_text_add(header->out, "]\n");
	}
}

static void print_sample_time(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_sample_time *times = decoded;
	const uint64_t ns[] = { times->first_ns, times->last_ns };
	static const char *const which[] = { "first", "last" };

	(void)label;
	for (int i = 0; i < 2; i++)
		pd_text_printf(header->out, "# time of %s sample : %" PRIu64 ".%06u\n", which[i], ns[i] / 1000000000,
			       (unsigned)(ns[i] % 1000000000 / 1000));
	pd_text_printf(header->out, "# sample duration : %10.3f ms\n",
		       (double)(times->last_ns - times->first_ns) / 1e6);
}

static bool bit_is_set(const struct pd_memory_node *node, uint64_t bit)
{
	return bit / 64 < node->bitmap.count && node->bitmap.items[bit / 64] >> bit % 64 & 1;
}

static uint64_t count_bits(const struct pd_memory_node *node)
{
	uint64_t count = 0;

	for (size_t i = 0; i < node->bitmap.count; i++)
		count += (uint64_t)__builtin_popcountll(node->bitmap.items[i]);
	return count;
}

/* The bits that are set, like 0-7,9. */
static void print_ranges(char *text, size_t size, const struct pd_memory_node *node)
{
	uint64_t end = node->bitmap.count * 64;
	size_t length = 0;

	text[0] = '\0';
	for (uint64_t bit = 0; bit < end && length < size; bit++) {
		uint64_t first = bit;

		if (bit % 64 == 0 && !node->bitmap.items[bit / 64])
			bit += 63;
		if (!bit_is_set(node, bit))
			continue;
		while (bit + 1 < end && bit_is_set(node, bit + 1))
			bit++;
		length += (size_t)snprintf(text + length, size - length, "%s%" PRIu64, length ? "," : "", first);
		if (bit > first && length < size)
			length += (size_t)snprintf(text + length, size - length, "-%" PRIu64, bit);
	}
}

static void print_memory_node(const struct pd_header_print *header, const struct pd_memory_node *node,
			      uint64_t block_size)
{
	uint64_t size = block_size * count_bits(node);
	const char *unit = "BKMG";
	char ranges[RANGES_SIZE];

	for (; size / 1024 > 1 && unit[1]; unit++)
		size /= 1024;
	print_ranges(ranges, sizeof(ranges), node);
	pd_text_printf(header->out, "#  %3" PRIu64 " [%" PRIu64 "%c]: %s\n", node->node, size, *unit, ranges);
}

static void print_mem_topology(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_mem_topology *topology = decoded;
	bool known = topology->version == 1;
	size_t count = known ? topology->nodes.count : 0;
	uint64_t block_size = known ? topology->block_size_bytes : 0;

	pd_text_printf(header->out, "# %s (nr %zu, block size 0x%" PRIx64 "):\n", label, count, block_size);
	for (size_t i = 0; i < count; i++)
		print_memory_node(header, PD_ITEM(pd_memory_node, topology->nodes, i), block_size);
}

static void print_clockid(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_clockid_resolution *resolution = decoded;

	pd_text_printf(header->out, "# %s: %" PRIu64 " MHz\n", label, resolution->ns * 1000);
}

static void print_dir_format(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_dir_format *format = decoded;

	pd_text_printf(header->out, "# %s : %" PRIu64 "\n", label, format->version);
}

static void print_bpf_programs(const struct pd_header_print *header, const void *decoded, const char *label)
{
	(void)label;
	pd_header_bpf_programs(header->out, decoded, pd_file_feature(header->file, PD_FEATURE_BPF_BTF),
			       pd_file_header(header->file)->big_endian);
}

static void print_btf(const struct pd_header_print *header, const void *decoded, const char *label)
{
	(void)label;
	pd_header_bpf_btf(header->out, decoded);
}

static void print_compressed(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_compression *compression = decoded;

	pd_text_printf(header->out, "# %s : %s, level = %" PRIu32 ", ratio = %" PRIu32 "\n", label,
		       compression->type == PD_COMPRESSION_ZSTD ? "Zstd" : "Unknown", compression->level,
		       compression->ratio);
}

static void print_caps(struct pd_text *out, const struct pd_list *caps)
{
	pd_text_add(out, " pmu capabilities:");
	if (!caps->count)
		pd_text_add(out, " not available");
	for (size_t i = 0; i < caps->count; i++) {
		const struct pd_pmu_cap *cap = PD_ITEM(pd_pmu_cap, *caps, i);

		pd_text_add(out, i ? ", " : " ");
		pd_header_str(out, cap->name);
		pd_text_add(out, "=");
		pd_header_str(out, cap->value);
	}
	pd_text_add(out, "\n");
}

static void print_cpu_caps(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_cpu_pmu_caps *caps = decoded;

	pd_text_printf(header->out, "# %s", label);
	print_caps(header->out, &caps->caps);
}

static void print_pmu_caps(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_pmu_caps *pmus = decoded;

	(void)label;
	for (size_t i = 0; i < pmus->pmus.count; i++) {
		const struct pd_pmu_cap_list *pmu = PD_ITEM(pd_pmu_cap_list, pmus->pmus, i);

		pd_text_add(header->out, "# ");
		pd_header_str(header->out, pmu->name);
		print_caps(header->out, &pmu->caps);
	}
}

static void print_clock_data(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_clock_data *clock = decoded;
	const char *name = pd_names_text(pd_names_by_name("clockid"), clock->clockid);
	time_t seconds = (time_t)(clock->wall_clock_ns / 1000000000);
	unsigned micros = (unsigned)(clock->wall_clock_ns % 1000000000 / 1000);
	struct tm tm;
	char day[64] = "?";

	if (clock->version != 1) {
		pd_text_printf(header->out, "# %s disabled\n", label);
		return;
	}
	if (!name)
		name = "(not found)";
	if (localtime_r(&seconds, &tm))
		strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm);
	pd_text_printf(header->out, "# clockid: %s (%" PRIu32 ")\n", name, clock->clockid);
	pd_text_printf(header->out, "# %s: %s.%06u = %" PRIu64 ".%06u (TOD) = %" PRIu64 ".%09u (%s)\n", label, day,
		       micros, clock->wall_clock_ns / 1000000000, micros, clock->clockid_time_ns / 1000000000,
		       (unsigned)(clock->clockid_time_ns % 1000000000), name);
}

static void print_hybrid(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_hybrid_topology *hybrid = decoded;

	pd_text_printf(header->out, "# %s:\n", label);
	for (size_t i = 0; i < hybrid->pmus.count; i++) {
		const struct pd_hybrid_pmu *pmu = PD_ITEM(pd_hybrid_pmu, hybrid->pmus, i);

		pd_text_add(header->out, "# ");
		pd_header_str(header->out, pmu->name);
		pd_text_add(header->out, " cpu list : ");
		pd_header_str(header->out, pmu->cpus);
		pd_text_add(header->out, "\n");
	}
}

static void print_domain(struct pd_text *out, const struct pd_cpu_domain *domain, uint32_t version)
{
	pd_text_printf(out, "# Domain\t\t: %" PRIu32 "\n", domain->domain);
	if (version >= 17)
		line(out, "Domain name     ", domain->name);
	line(out, "Domain cpu map  ", domain->cpu_mask);
	line(out, "Domain cpu list ", domain->cpu_list);
}

static void print_domains(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_cpu_domain_info *info = decoded;

	(void)label;
	pd_text_printf(header->out, "# schedstat version\t: %" PRIu32 "\n# Maximum sched domains\t: %" PRIu32 "\n",
		       info->schedstat_version, info->max_domains);
	for (size_t i = 0; i < info->cpus.count; i++) {
		const struct pd_cpu_domains *cpu = PD_ITEM(pd_cpu_domains, info->cpus, i);

		pd_text_printf(header->out, "# cpu\t\t: %" PRIu32 "\n# nr_domains\t: %zu\n", cpu->cpu,
			       cpu->domains.count);
		for (size_t j = 0; j < cpu->domains.count; j++)
			print_domain(header->out, PD_ITEM(pd_cpu_domain, cpu->domains, j), info->schedstat_version);
	}
}

static void print_e_machine(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_e_machine *machine = decoded;

	pd_text_printf(header->out, "# %s : %" PRIu32 "\n#   e_flags : %" PRIu32 "\n", label, machine->e_machine,
		       machine->e_flags);
}

static void print_cln_size(const struct pd_header_print *header, const void *decoded, const char *label)
{
	const struct pd_cln_size *size = decoded;

	pd_text_printf(header->out, "# %s: %" PRIu32 "\n", label, size->bytes);
}

/* The struct of every feature: as large as any of them. */
union any_feature {
#define FEATURE(NAME, name, number, layout, doc) struct pd_##layout name;
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>
};

struct view {
	unsigned feature;
	bool full_only;
	void (*print)(const struct pd_header_print *header, const void *decoded, const char *label);
	const char *label;
};

static const struct view views[] = {
	{ PD_FEATURE_HOSTNAME, false, print_string, "hostname" },
	{ PD_FEATURE_OSRELEASE, false, print_string, "os release" },
	{ PD_FEATURE_VERSION, false, print_string, "perf version" },
	{ PD_FEATURE_ARCH, false, print_string, "arch" },
	{ PD_FEATURE_NRCPUS, false, print_nrcpus, "nrcpus" },
	{ PD_FEATURE_CPUDESC, false, print_string, "cpudesc" },
	{ PD_FEATURE_CPUID, false, print_string, "cpuid" },
	{ PD_FEATURE_TOTAL_MEM, false, print_total_mem, "total memory" },
	{ PD_FEATURE_CMDLINE, false, print_cmdline, "cmdline" },
	{ PD_FEATURE_EVENT_DESC, false, print_event_desc, NULL },
	{ PD_FEATURE_CPU_TOPOLOGY, true, print_cpu_topology, NULL },
	{ PD_FEATURE_NUMA_TOPOLOGY, true, print_numa, NULL },
	{ PD_FEATURE_BRANCH_STACK, false, print_label, "contains samples with branch stack" },
	{ PD_FEATURE_PMU_MAPPINGS, false, print_pmus, "pmu mappings" },
	{ PD_FEATURE_GROUP_DESC, false, print_groups, NULL },
	{ PD_FEATURE_AUXTRACE, false, print_label, "contains AUX area data (e.g. instruction trace)" },
	{ PD_FEATURE_STAT, false, print_label, "contains stat data" },
	{ PD_FEATURE_CACHE, true, print_cache, "CPU cache info" },
	{ PD_FEATURE_SAMPLE_TIME, false, print_sample_time, NULL },
	{ PD_FEATURE_MEM_TOPOLOGY, true, print_mem_topology, "memory nodes" },
	{ PD_FEATURE_CLOCKID, false, print_clockid, "clockid frequency" },
	{ PD_FEATURE_DIR_FORMAT, false, print_dir_format, "directory data version" },
	{ PD_FEATURE_BPF_PROG_INFO, false, print_bpf_programs, NULL },
	{ PD_FEATURE_BPF_BTF, false, print_btf, NULL },
	{ PD_FEATURE_COMPRESSED, false, print_compressed, "compressed" },
	{ PD_FEATURE_CPU_PMU_CAPS, false, print_cpu_caps, "cpu" },
	{ PD_FEATURE_CLOCK_DATA, false, print_clock_data, "reference time" },
	{ PD_FEATURE_HYBRID_TOPOLOGY, true, print_hybrid, "hybrid cpu system" },
	{ PD_FEATURE_PMU_CAPS, false, print_pmu_caps, NULL },
	{ PD_FEATURE_CPU_DOMAIN_INFO, true, print_domains, NULL },
	{ PD_FEATURE_E_MACHINE, false, print_e_machine, "e_machine" },
	{ PD_FEATURE_CLN_SIZE, false, print_cln_size, "cacheline size" },
};

void pd_header_feature_text(const struct pd_header_print *header, unsigned feature)
{
	static const union any_feature zeros;
	const void *decoded;

	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		if (views[i].feature != feature)
			continue;
		if (views[i].full_only && !header->full) {
			pd_text_printf(header->out, "# %s info available, use -I to display\n",
				       pd_feature_name(feature));
			return;
		}
		decoded = pd_file_feature(header->file, feature);
		views[i].print(header, decoded ? decoded : &zeros, views[i].label);
		return;
	}
}
