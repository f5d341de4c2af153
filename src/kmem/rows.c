/* SPDX-License-Identifier: MIT */
// Rows of tables and their order.
#include "kmem/kmem.h"

#include <stddef.h>
#include <string.h>

#include "base/sort.h"

enum {
	LIMIT = 16 << 20
};

static bool is_same(const struct pd_kmem_key *a, const struct pd_kmem_key *b)
{
	return a->addr == b->addr && a->caller == b->caller && a->order == b->order && a->gfp == b->gfp &&
	       a->migrate_type == b->migrate_type;
}

static uint64_t hash_of(const struct pd_kmem *kmem, const struct pd_kmem_key *key)
{
	uint64_t hash = pd_hash_u64(kmem->seed, key->addr);

	if (!key->caller && !key->gfp && !key->order && !key->migrate_type)
		return hash;
	hash = pd_hash_u64(hash, key->caller);
	hash = pd_hash_u64(hash, (uint64_t)key->gfp << 32 | key->order);
	return pd_hash_u64(hash, key->migrate_type);
}

static struct pd_kmem_row *find(const struct pd_kmem_rows *rows, uint64_t hash, const struct pd_kmem_key *key)
{
	size_t at = (size_t)hash;
	uint32_t number;

	while ((number = pd_index_next(&rows->index, hash, &at)) != PD_INDEX_END)
		if (is_same(&rows->all[number]->key, key))
			return rows->all[number];
	return NULL;
}

static uint64_t number_of(const struct pd_kmem_key *key)
{
	return key->addr ^ key->caller;
}

struct pd_kmem_row *pd_kmem_find(const struct pd_kmem *kmem, const struct pd_kmem_rows *rows,
				 const struct pd_kmem_key *key)
{
	if (rows->by_number)
		return (struct pd_kmem_row *)(uintptr_t)pd_u64_map_find(&rows->map,
									number_of(key)); // NOLINT: a pointer
	return find(rows, hash_of(kmem, key), key);
}

struct pd_kmem_row *pd_kmem_add(struct pd_kmem *kmem, struct pd_kmem_rows *rows, const struct pd_kmem_key *key,
				struct pd_error *error)
{
	size_t limit = kmem->options.limit ? kmem->options.limit : LIMIT;
	struct pd_kmem_row *row = pd_kmem_find(kmem, rows, key);

	if (row)
		return row;
	if (rows->count >= limit) {
		pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "more than %zu allocations", limit);
		return NULL;
	}
	row = pd_arena_alloc(&kmem->pairs.sched.arena,
			     rows->found_only ? offsetof(struct pd_kmem_row, key) : sizeof(*row));
	if (!row || (!rows->found_only && !PD_GROW(rows->all, rows->capacity, rows->count + 1)) ||
	    !(rows->by_number ? pd_u64_map_add_pointer(&rows->map, number_of(key), row) :
				pd_index_add(&rows->index, hash_of(kmem, key), (uint32_t)rows->count))) {
		pd_fail_memory(error);
		return NULL;
	}
	rows->count++;
	if (rows->found_only)
		return row;
	row->key = row->shown = *key;
	return rows->all[rows->count - 1] = row;
}

void pd_kmem_rows_forget(struct pd_kmem_rows *rows)
{
	pd_u64_map_fini(&rows->map);
	rows->count = 0;
}

void pd_kmem_rows_fini(struct pd_kmem_rows *rows)
{
	pd_index_fini(&rows->index);
	pd_u64_map_fini(&rows->map);
	pd_free(rows->all);
}

double pd_kmem_fragmentation(uint64_t requested, uint64_t allocated)
{
	return allocated ? 100.0 - 100.0 * (double)requested / (double)allocated : 0.0;
}

// ---- keys ----

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

#define BY(name, member)                                                               \
	static int by_##name(const struct pd_kmem_row *a, const struct pd_kmem_row *b) \
	{                                                                              \
		return compare(a->member, b->member);                                  \
	}
BY(addr, shown.addr)
BY(caller, shown.caller)
BY(bytes, allocated)
BY(hit, count)
BY(pingpong, pingpong)
BY(order, shown.order)
BY(gfp, shown.gfp)

// perf's numbers of types have a sign, but none is below 0.
BY(migtype, shown.migrate_type)

static int by_frag(const struct pd_kmem_row *a, const struct pd_kmem_row *b)
{
	double x = pd_kmem_fragmentation(a->requested, a->allocated);
	double y = pd_kmem_fragmentation(b->requested, b->allocated);

	return x < y ? -1 : x > y;
}

struct key {
	const char *name;
	pd_kmem_compare_fn *compare;
};

static const struct key slab_keys[] = {
	{ "ptr", by_addr }, { "callsite", by_caller },   { "bytes", by_bytes },
	{ "hit", by_hit },  { "pingpong", by_pingpong }, { "frag", by_frag },
};

static const struct key page_keys[] = {
	{ "page", by_addr },   { "callsite", by_caller }, { "bytes", by_bytes }, { "hit", by_hit },
	{ "order", by_order }, { "migtype", by_migtype }, { "gfp", by_gfp },
};

static const struct key *keys_of(bool pages, size_t *count_out)
{
	*count_out = pages ? sizeof(page_keys) / sizeof(page_keys[0]) : sizeof(slab_keys) / sizeof(slab_keys[0]);
	return pages ? page_keys : slab_keys;
}

const char *pd_kmem_key(bool pages, size_t index)
{
	size_t count;
	const struct key *keys = keys_of(pages, &count);

	return index < count ? keys[index].name : NULL;
}

static enum pd_status choose_keys(const char *list, bool pages, pd_kmem_compare_fn *chosen[PD_KMEM_KEYS],
				  struct pd_error *error)
{
	size_t count, at = 0;
	const struct key *keys = keys_of(pages, &count);

	while (*(list += strspn(list, ","))) {
		size_t length = strcspn(list, ","), i = 0;

		while (i < count && (strlen(keys[i].name) != length || memcmp(keys[i].name, list, length) != 0))
			i++;
		if (i == count || at == PD_KMEM_KEYS - 1)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "unknown key '%.*s' to sort by",
				       (int)length, list);
		chosen[at++] = keys[i].compare;
		list += length;
	}
	return PD_OK;
}

enum pd_status pd_kmem_choose_keys(struct pd_kmem *kmem, struct pd_error *error)
{
	const char *sort = kmem->options.sort;
	const char *of_slabs = kmem->options.pages ? kmem->options.slab_sort : sort;
	enum pd_status status = choose_keys(of_slabs ? of_slabs : "frag,hit,bytes", false, kmem->slab_keys, error);

	return status < 0 ? status :
			    choose_keys(sort && kmem->options.pages ? sort : "bytes,hit", true, kmem->page_keys, error);
}

struct order {
	struct pd_kmem_rows *rows;
	pd_kmem_compare_fn *const *keys;
};

static int compare_rows(const void *self, uint32_t a, uint32_t b)
{
	const struct order *order = self;
	const struct pd_kmem_row *x = order->rows->all[a], *y = order->rows->all[b];
	const struct pd_kmem_key *k = &x->key, *l = &y->key;
	int result = 0;

	for (unsigned i = 0; order->keys[i] && !result; i++)
		result = order->keys[i](y, x);
	// then by what they are found by
	if (!result)
		result = order->rows->descends ? compare(l->addr, k->addr) : compare(k->addr, l->addr);
	result = result ? result : compare(k->caller, l->caller);
	result = result ? result : compare(k->order, l->order);
	result = result ? result : compare(k->migrate_type, l->migrate_type);
	return result ? result : compare(k->gfp, l->gfp);
}

bool pd_kmem_sort(struct pd_kmem_rows *rows, pd_kmem_compare_fn *const keys[PD_KMEM_KEYS])
{
	struct pd_sorted *items = pd_alloc((rows->count + 1) * sizeof(*items));
	struct pd_kmem_row **sorted = pd_alloc((rows->count + 1) * sizeof(struct pd_kmem_row *)); // NOLINT: of pointers
	const struct order order = { rows, keys };
	size_t count = 0;
	bool done = items && sorted;

	for (size_t i = 0; done && i < rows->count; i++)
		if (!rows->all[i]->gone)
			items[count++].number = (uint32_t)i;
	done = done && pd_sort(items, count, compare_rows, &order, 1);
	for (size_t i = 0; done && i < count; i++)
		sorted[i] = rows->all[items[i].number];
	pd_free(items);
	if (!done) {
		pd_free(sorted);
		return false;
	}
	pd_free(rows->all);
	rows->all = sorted;
	rows->count = count;
	return true;
}
