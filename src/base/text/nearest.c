/* SPDX-License-Identifier: MIT */
/* Which of the words that are known is meant by one that is not. */
#include <perfdata/base.h>

#include <string.h>

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

// Characters to insert, leave out, change or swap between two words; case does not count.
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][65] = { 0 };
	size_t *before = rows[0], *last = rows[1], *row = rows[2];
	size_t width = strlen(b);

	if (width > 64 || strlen(a) > 64)
		return SIZE_MAX;
	for (size_t x = 0; x <= width; x++)
		last[x] = x;
	for (size_t y = 1; a[y - 1]; y++) {
		size_t *reused = before;

		row[0] = y;
		for (size_t x = 1; x <= width; x++) {
			size_t changed = lower(a[y - 1]) != lower(b[x - 1]);

			row[x] = least(last[x - 1] + changed, least(last[x], row[x - 1]) + 1);
			if (x > 1 && y > 1 && lower(a[y - 1]) == lower(b[x - 2]) && lower(a[y - 2]) == lower(b[x - 1]))
				row[x] = least(row[x], before[x - 2] + 1);
		}
		before = last;
		last = row;
		row = reused;
	}
	return last[width];
}

void pd_nearest_try(struct pd_nearest *nearest, const char *candidate)
{
	size_t away = distance(nearest->word, candidate);
	size_t limit = strlen(nearest->word) / 3 + 1;

	// the start of a long name is near enough, whatever is missing after it
	if (strlen(nearest->word) >= 3 && !strncmp(nearest->word, candidate, strlen(nearest->word)))
		away = 1;
	if (away <= limit && (!nearest->best || away < nearest->distance)) {
		nearest->best = candidate;
		nearest->distance = away;
	}
}
