/* SPDX-License-Identifier: MIT */
#include "state/order.h"

static struct pd_moment moment_at(const struct pd_changes *order, uint32_t list, uint32_t number)
{
	const struct pd_order_list *items = &order->lists[list];

	return *(const struct pd_moment *)pd_blocks_at(items->items, number, items->item_size);
}

static bool is_before(const struct pd_order_run *a, const struct pd_order_run *b)
{
	if (a->next.time_ns != b->next.time_ns)
		return a->next.time_ns < b->next.time_ns;
	if (a->next.order != b->next.order)
		return a->next.order < b->next.order;
	return a->list != b->list ? a->list < b->list : a->at < b->at;
}

// ---- the heap ----

static void sift_down(struct pd_changes *order, size_t at)
{
	struct pd_order_run *heap = order->heap, run = heap[at];

	for (size_t child; (child = 2 * at + 1) < order->count; at = child) {
		if (child + 1 < order->count && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &run))
			break;
		heap[at] = heap[child];
	}
	heap[at] = run;
}

// The older one of the next two.
static void find_limit(struct pd_changes *order)
{
	size_t second = order->count > 2 && is_before(&order->heap[2], &order->heap[1]) ? 2 : 1;

	if (order->count > 1)
		order->limit = order->heap[second];
	else
		order->limit = (struct pd_order_run){ .next = { UINT64_MAX, UINT64_MAX }, .list = PD_ORDER_LISTS };
}

// ---- runs ----

static bool add_run(struct pd_changes *order, struct pd_pool *temp, uint32_t list, size_t begin, size_t end)
{
	if (!pd_pool_grow(temp, (void **)&order->heap, &order->capacity, order->count + 1, sizeof(*order->heap)))
		return false;
	order->heap[order->count++] = (struct pd_order_run){ .next = moment_at(order, list, (uint32_t)begin),
							     .list = list,
							     .at = (uint32_t)begin,
							     .end = (uint32_t)end };
	return true;
}

static bool find_runs(struct pd_changes *order, struct pd_pool *temp, uint32_t list)
{
	size_t begin = 0, count = order->lists[list].items->count;
	struct pd_moment last = { 0 }, next;

	for (size_t i = 0; i < count; i++, last = next) {
		next = moment_at(order, list, (uint32_t)i);
		if (i == begin || !pd_moment_before(next, last))
			continue;
		if (!add_run(order, temp, list, begin, i))
			return false;
		begin = i;
	}
	return begin == count || add_run(order, temp, list, begin, count);
}

bool pd_changes_begin(struct pd_changes *order, const struct pd_order_list lists[PD_ORDER_LISTS], struct pd_pool *temp)
{
	*order = (struct pd_changes){ 0 };
	for (uint32_t i = 0; i < PD_ORDER_LISTS; i++)
		order->lists[i] = lists[i];
	for (uint32_t i = 0; i < PD_ORDER_LISTS; i++)
		if (!find_runs(order, temp, i))
			return false;
	for (size_t i = order->count / 2; i-- > 0;)
		sift_down(order, i);
	find_limit(order);
	return true;
}

bool pd_changes_next(struct pd_changes *order, uint32_t *list_out, uint32_t *number_out)
{
	struct pd_order_run *first = order->heap;

	if (!order->count)
		return false;
	*list_out = first->list;
	*number_out = first->at++;
	if (first->at < first->end) {
		first->next = moment_at(order, first->list, first->at);
		if (is_before(first, &order->limit))
			return true;
	} else {
		*first = order->heap[--order->count];
	}
	if (order->count)
		sift_down(order, 0);
	find_limit(order);
	return true;
}
