/* SPDX-License-Identifier: MIT */
/* Where code changes its mode, and where it is data: the symbols $a, $t, $x and $d; of ARM also the lowest bit of functions. */
#include <stdlib.h>
#include <string.h>

#include "annotate/inside.h"
#include "base/lookup/search.h"

bool pd_marks_add(struct pd_marks *marks, uint64_t addr, char kind, bool implied)
{
	if (!PD_GROW(marks->items, marks->capacity, marks->count + 1))
		return false;
	marks->items[marks->count++] = (struct pd_mark){ .addr = addr, .kind = kind, .implied = implied };
	return true;
}

// What is said comes after what is implied, and so is what is found.
static int compare_marks(const void *left, const void *right)
{
	const struct pd_mark *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (int)b->implied - (int)a->implied;
}

void pd_marks_sort(struct pd_marks *marks)
{
	if (marks->count)
		qsort(marks->items, marks->count, sizeof(*marks->items), compare_marks);
}

char pd_marks_find(const struct pd_marks *marks, uint64_t addr, uint64_t *until_out)
{
	size_t at;

	PD_SEARCH(at, (size_t)0, marks->count, i, marks->items[i].addr <= addr);
	*until_out = at < marks->count ? marks->items[at].addr : UINT64_MAX;
	return at ? marks->items[at - 1].kind : 0;
}
