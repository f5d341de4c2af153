/* SPDX-License-Identifier: MIT */
#include "state/order.h"

#include <string.h>

static bool later(const struct pd_order_item *a, const struct pd_order_item *b)
{
	if (a->when.time_ns != b->when.time_ns)
		return a->when.time_ns > b->when.time_ns;
	return a->when.order > b->when.order;
}

// End of the ascending run that begins at i.
static size_t run_end(const struct pd_order_item *items, size_t count, size_t i)
{
	for (i++; i < count && !later(&items[i - 1], &items[i]); i++)
		;
	return i;
}

static void merge(const struct pd_order_item *from, size_t middle, size_t end, struct pd_order_item *to)
{
	size_t left = 0, right = middle;

	while (left < middle && right < end)
		*to++ = later(&from[left], &from[right]) ? from[right++] : from[left++];
	memcpy(to, from + left, (middle - left) * sizeof(*from));
	memcpy(to + (middle - left), from + right, (end - right) * sizeof(*from));
}

bool pd_order_is_sorted(const struct pd_order_item *items, size_t count)
{
	return run_end(items, count, 0) >= count;
}

// Recorders write runs that are in order.
bool pd_order_sort(struct pd_order_item *items, struct pd_order_item *spare, size_t count)
{
	struct pd_order_item *from = items, *to = spare;

	while (!pd_order_is_sorted(from, count)) {
		struct pd_order_item *swap = from;

		for (size_t at = 0, middle, end; at < count; at = end) {
			middle = run_end(from, count, at);
			end = middle < count ? run_end(from, count, middle) : count;
			merge(from + at, middle - at, end - at, to + at);
		}
		from = to;
		to = swap;
	}
	return from == spare;
}
