/* SPDX-License-Identifier: MIT */
#include "state/order.h"

#include <string.h>

static bool later(const struct pd_order_item *a, const struct pd_order_item *b)
{
	if (a->when.time_ns != b->when.time_ns)
		return a->when.time_ns > b->when.time_ns;
	return a->when.order > b->when.order;
}

static void merge(const struct pd_order_item *from, size_t middle, size_t end, struct pd_order_item *to)
{
	size_t left = 0, right = middle;

	// already in order, as most are
	if (middle >= end || !later(&from[middle - 1], &from[middle])) {
		memcpy(to, from, end * sizeof(*from));
		return;
	}
	while (left < middle && right < end)
		*to++ = later(&from[left], &from[right]) ? from[right++] : from[left++];
	memcpy(to, from + left, (middle - left) * sizeof(*from));
	memcpy(to + (middle - left), from + right, (end - right) * sizeof(*from));
}

bool pd_order_sort(struct pd_order_item *items, struct pd_order_item *spare, size_t count)
{
	struct pd_order_item *from = items, *to = spare;
	size_t i = 1;

	while (i < count && !later(&items[i - 1], &items[i]))
		i++;
	if (i >= count)
		return false;
	for (size_t width = 1; width < count; width *= 2) {
		struct pd_order_item *swap = from;

		for (size_t at = 0; at < count; at += 2 * width) {
			size_t rest = count - at;

			merge(from + at, width < rest ? width : rest, 2 * width < rest ? 2 * width : rest, to + at);
		}
		from = to;
		to = swap;
	}
	return from == spare;
}
