/* SPDX-License-Identifier: MIT */
/*
 * Numbers that take the place of others. Processes and CPUs change places among themselves, so that they stay as many
 * as they are; inodes and the like become what the key makes of them.
 */
#include "edit/scrub/scrub.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_REMEMBERED = 1 << 20,
	PID_BITS = 22 /* the kernel's largest pid_max */
};

static uint64_t number_of(const struct pd_scrub *scrub, enum pd_value_class class, const void *data, size_t size)
{
	struct pd_hmac hmac = scrub->key;
	uint8_t tag[PD_SHA256_BYTES];
	uint64_t number = 0;

	pd_sha256_add(&hmac.inner, pd_scrub_classes[class].name, strlen(pd_scrub_classes[class].name) + 1);
	pd_sha256_add(&hmac.inner, data, size);
	pd_hmac_end(&hmac, tag);
	for (unsigned i = 0; i < 8; i++)
		number = number << 8 | tag[i];
	return number;
}

uint64_t pd_scrub_number_of(const struct pd_scrub *scrub, enum pd_value_class class, uint64_t value)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	return number_of(scrub, class, bytes, sizeof(bytes));
}

uint64_t pd_scrub_number_of_text(const struct pd_scrub *scrub, enum pd_value_class class, const void *text, size_t size)
{
	return number_of(scrub, class, text, size);
}

/* ---- known numbers ---- */

uint64_t pd_scrub_known_number(struct pd_scrub *scrub, enum pd_value_class class, uint64_t key,
			       uint64_t (*make)(struct pd_scrub *, uint64_t))
{
	struct pd_u64_map *map = &scrub->numbers[class];
	uint64_t number = pd_u64_map_find(map, key);

	if (number)
		return number;
	if (map->count >= MOST_REMEMBERED)
		pd_u64_map_fini(map);
	number = make(scrub, key);
	// without memory for it the number is made each time
	if (number)
		pd_u64_map_add(map, key, number);
	return number;
}

/* ---- processes ---- */

/* One of the numbers of so many bits for each: four rounds of a Feistel network. bits is even. */
static uint64_t exchange(const struct pd_scrub *scrub, uint64_t value, unsigned bits)
{
	uint64_t mask = (UINT64_C(1) << bits / 2) - 1, left = value >> bits / 2, right = value & mask;

	for (uint64_t round = 0; round < 4; round++) {
		uint64_t next =
			left ^
			(pd_scrub_number_of(scrub, PD_CLASS_TASK, (uint64_t)bits << 56 | round << 48 | right) & mask);

		left = right;
		right = next;
	}
	return left << bits / 2 | right;
}

/* What lands outside goes on until it is inside, so that each number inside is taken once. */
static uint64_t make_task(struct pd_scrub *scrub, uint64_t task)
{
	const uint64_t small = UINT64_C(1) << PID_BITS, all = UINT64_C(1) << 32, most = UINT64_C(1) << 31;

	if (task < small) {
		do
			task = exchange(scrub, task, PID_BITS);
		while (!task);
	} else {
		do
			task = exchange(scrub, task & (all - 1), 32);
		while (task < small || task >= most);
	}
	return task;
}

/* 0 is the idle task or the kernel, what is negative stands for no or any process. What no process can have for a number
 * may be anything, and is replaced at every level. */
uint64_t pd_scrub_task(struct pd_scrub *scrub, uint64_t task, unsigned bytes)
{
	bool keep = pd_scrub_action(scrub, PD_CLASS_TASK) == PD_SCRUB_KEEP && task < UINT64_C(1) << PID_BITS;

	if (keep || !task || task >> (8 * bytes - 1) || task >= UINT64_C(1) << 31)
		return task;
	return pd_scrub_known_number(scrub, PD_CLASS_TASK, task, make_task);
}

/* ---- CPUs ---- */

struct place {
	uint64_t order;
	uint32_t cpu;
};

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

bool pd_scrub_plan_cpus(struct pd_scrub *scrub, size_t count)
{
	struct place *places = pd_alloc((count ? count : 1) * (sizeof(*places)));

	scrub->cpus = pd_alloc((count ? count : 1) * (sizeof(*scrub->cpus)));
	if (!places || !scrub->cpus) {
		pd_free(places);
		return false;
	}
	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){ pd_scrub_number_of(scrub, PD_CLASS_CPU, i), (uint32_t)i };
	qsort(places, count, sizeof(*places), compare);
	for (size_t i = 0; i < count; i++)
		scrub->cpus[i] = places[i].cpu;
	scrub->cpu_count = count;
	pd_free(places);
	return true;
}

uint64_t pd_scrub_cpu(struct pd_scrub *scrub, uint64_t cpu)
{
	return cpu < scrub->cpu_count ? scrub->cpus[cpu] : cpu;
}

static void add_cpu(struct pd_scrub *scrub, uint16_t *list, size_t *count, uint64_t cpu)
{
	list[(*count)++] = cpu > UINT16_MAX ? UINT16_MAX : (uint16_t)pd_scrub_cpu(scrub, cpu);
}

static size_t bits_in(const struct pd_cpu_map_data *map)
{
	size_t count = 0;

	for (size_t i = 0; i < map->mask32.count; i++)
		count += (size_t)__builtin_popcount(map->mask32.items[i]);
	for (size_t i = 0; i < map->mask64.count; i++)
		count += (size_t)__builtin_popcountll(map->mask64.items[i]);
	return count;
}

static int compare_cpus(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* Sets of CPUs become lists: others than the CPUs that were next to each other are so now. */
void pd_scrub_special_cpu_map_data(struct pd_scrub *scrub, struct pd_cpu_map_data *map)
{
	size_t count = map->cpus.count, most = count + bits_in(map) + 1, made = 0;
	uint16_t *list;

	scrub->counts.values[PD_CLASS_CPU]++;
	if (pd_scrub_action(scrub, PD_CLASS_CPU) == PD_SCRUB_KEEP)
		return;
	if (map->kind == PD_CPU_MAP_RANGE && map->end_cpu >= map->start_cpu)
		most += (size_t)(map->end_cpu - map->start_cpu) + 1;
	list = pd_arena_alloc(&scrub->arena, most * sizeof(*list));
	if (!list) {
		scrub->failed = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		add_cpu(scrub, list, &made, map->cpus.items[i]);
	for (size_t i = 0; i < map->mask32.count; i++)
		for (unsigned bit = 0; bit < 32; bit++)
			if (map->mask32.items[i] >> bit & 1)
				add_cpu(scrub, list, &made, i * 32 + bit);
	for (size_t i = 0; i < map->mask64.count; i++)
		for (unsigned bit = 0; bit < 64; bit++)
			if (map->mask64.items[i] >> bit & 1)
				add_cpu(scrub, list, &made, i * 64 + bit);
	if (map->kind == PD_CPU_MAP_RANGE) {
		if (map->any_cpu)
			list[made++] = UINT16_MAX;
		for (uint32_t cpu = map->start_cpu; cpu <= map->end_cpu; cpu++)
			add_cpu(scrub, list, &made, cpu);
	}
	qsort(list, made, sizeof(*list), compare_cpus);
	*map = (struct pd_cpu_map_data){ .kind = PD_CPU_MAP_CPUS, .cpus = { list, made } };
}

/* ---- times, files, build ids ---- */

uint64_t pd_scrub_time(struct pd_scrub *scrub, uint64_t ns)
{
	if (!ns || ns == PD_NO_TIME || pd_scrub_action(scrub, PD_CLASS_TIME) == PD_SCRUB_KEEP)
		return ns;
	return ns < scrub->first_ns ? 1 : ns - scrub->first_ns + 1;
}

static uint64_t make_file(struct pd_scrub *scrub, uint64_t number)
{
	return pd_scrub_number_of(scrub, PD_CLASS_FILE, number);
}

/* Numbers stay positive where they are taken for signed. */
uint64_t pd_scrub_file(struct pd_scrub *scrub, uint64_t number, unsigned bytes)
{
	uint64_t now = pd_scrub_known_number(scrub, PD_CLASS_FILE, number, make_file) >> 1;

	if (bytes < 8)
		now &= (UINT64_C(1) << (8 * bytes - 1)) - 1;
	return now ? now : 1;
}

static uint64_t make_id(struct pd_scrub *scrub, uint64_t id)
{
	return (pd_scrub_number_of(scrub, PD_CLASS_ID, id) >> 16) + 1;
}

uint64_t pd_scrub_id(struct pd_scrub *scrub, uint64_t id)
{
	return id ? pd_scrub_known_number(scrub, PD_CLASS_ID, id, make_id) : 0;
}

void pd_scrub_build_id(struct pd_scrub *scrub, uint8_t *id, size_t size)
{
	struct pd_hmac hmac = scrub->key;
	uint8_t tag[PD_SHA256_BYTES];

	while (size && !id[size - 1])
		size--;
	if (!size || pd_scrub_action(scrub, PD_CLASS_BUILD_ID) == PD_SCRUB_KEEP)
		return;
	pd_sha256_add(&hmac.inner, "BUILD_ID", sizeof("BUILD_ID"));
	pd_sha256_add(&hmac.inner, id, size);
	pd_hmac_end(&hmac, tag);
	memcpy(id, tag, size < sizeof(tag) ? size : sizeof(tag));
}
