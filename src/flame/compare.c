/* SPDX-License-Identifier: MIT */
/* Two folded texts as one, a line for each stack that either has: "a;b;c 12 34". */
#include <perfdata/flame.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"

struct folded_stack {
	const char *name;
	size_t length;
	uint64_t values[2]; /* old, new */
};

struct folded_stacks {
	struct folded_stack *items;
	size_t count, capacity;
	uint64_t totals[2];
};

static uint64_t add_bounded(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Digits at the end of a line, behind a blank. Length of what is before it, or 0. */
static size_t parse_line(const char *line, size_t length, uint64_t *value_out)
{
	size_t at = length;

	*value_out = 0;
	while (at && line[at - 1] >= '0' && line[at - 1] <= '9')
		at--;
	if (at == length || at < 2 || line[at - 1] != ' ')
		return 0;
	for (size_t i = at; i < length; i++)
		*value_out = *value_out > UINT64_MAX / 10 - 1 ? UINT64_MAX / 10 :
								*value_out * 10 + (uint64_t)(line[i] - '0');
	return at - 1;
}

/* False if there is no memory. */
static bool take_lines(struct folded_stacks *stacks, struct pd_bytes text, size_t side)
{
	const char *at = (const char *)text.data, *end = at + text.size;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);
		uint64_t value;
		size_t name = parse_line(at, length, &value);

		if (name) {
			if (!PD_GROW(stacks->items, stacks->capacity, stacks->count + 1))
				return false;
			stacks->items[stacks->count] = (struct folded_stack){ .name = at, .length = name };
			stacks->items[stacks->count++].values[side] = value;
			stacks->totals[side] = add_bounded(stacks->totals[side], value);
		}
		at += length + 1;
	}
	return true;
}

static int compare_names(const void *a, const void *b)
{
	const struct folded_stack *one = a, *two = b;
	size_t common = one->length < two->length ? one->length : two->length;
	int result = memcmp(one->name, two->name, common);

	return result ? result : (one->length > two->length) - (one->length < two->length);
}

static uint64_t scaled(const struct folded_stacks *stacks, uint64_t value, bool normalize)
{
	double factor = stacks->totals[0] ? (double)stacks->totals[1] / (double)stacks->totals[0] : 1;

	return normalize ? (uint64_t)((double)value * factor + 0.5) : value;
}

static bool print_stacks(const struct folded_stacks *stacks, bool normalize, struct pd_text *text)
{
	for (size_t i = 0, next; i < stacks->count; i = next) {
		uint64_t values[2] = { 0, 0 };

		for (next = i; next < stacks->count && compare_names(&stacks->items[i], &stacks->items[next]) == 0;
		     next++)
			for (size_t side = 0; side < 2; side++)
				values[side] = add_bounded(values[side], stacks->items[next].values[side]);
		pd_text_put(text, stacks->items[i].name, stacks->items[i].length);
		pd_text_printf(text, " %" PRIu64 " %" PRIu64 "\n", scaled(stacks, values[0], normalize), values[1]);
		if (!pd_text_flush_large(text))
			return false;
	}
	return true;
}

enum pd_status pd_folded_compare(struct pd_bytes old_text, struct pd_bytes new_text, bool normalize,
				 struct pd_text *text, struct pd_error *error)
{
	struct folded_stacks stacks = { 0 };
	bool done = take_lines(&stacks, old_text, 0) && take_lines(&stacks, new_text, 1);
	bool written = true;

	if (done) {
		if (stacks.count)
			qsort(stacks.items, stacks.count, sizeof(*stacks.items), compare_names);
		written = print_stacks(&stacks, normalize, text);
	}
	pd_free(stacks.items);
	if (!done || pd_text_failed(text))
		return pd_fail_memory(error);
	return written ? PD_OK : pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "cannot write the output");
}
