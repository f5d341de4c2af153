/* SPDX-License-Identifier: MIT */
/* Two folded texts as one, a line for each stack that either has: "a;b;c 12 34". */
#include <perfdata/flame.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"
#include "base/text/units.h"

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

/* Digits at the end of a line, behind a blank. Length of what is before it, or 0. */
static size_t parse_line(const char *line, size_t length, uint64_t *value_out, bool *fits_out)
{
	size_t at = length;

	while (at && line[at - 1] >= '0' && line[at - 1] <= '9')
		at--;
	if (at == length || at < 2 || line[at - 1] != ' ')
		return 0;
	*fits_out = pd_digits_read(line + at, length - at, value_out);
	return at - 1;
}

static enum pd_status take_line(struct folded_stacks *stacks, const char *line, size_t length, size_t side,
				uint64_t number, struct pd_error *error)
{
	bool fits = true;
	uint64_t value;
	size_t name = parse_line(line, length, &value, &fits);

	if (!name)
		return PD_OK;
	if (!fits || value > UINT64_MAX - stacks->totals[side])
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET,
			       "%s stacks: line %" PRIu64 ": the numbers up to this one do not fit into 64 bits",
			       side ? "new" : "old", number);
	if (!PD_GROW(stacks->items, stacks->capacity, stacks->count + 1))
		return pd_fail_memory(error);
	stacks->items[stacks->count] = (struct folded_stack){ .name = line, .length = name };
	stacks->items[stacks->count++].values[side] = value;
	stacks->totals[side] += value;
	return PD_OK;
}

static enum pd_status take_lines(struct folded_stacks *stacks, struct pd_bytes text, size_t side,
				 struct pd_error *error)
{
	const char *at = (const char *)text.data, *end = at + text.size;
	enum pd_status status = PD_OK;

	for (uint64_t number = 1; at < end && status >= 0; number++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);

		status = take_line(stacks, at, length, side, number, error);
		at += length + 1;
	}
	return status;
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

	const double end = 18446744073709551616.0;
	double whole = (double)value * factor + 0.5;

	if (!normalize)
		return value;
	return whole < end ? (uint64_t)whole : UINT64_MAX;
}

static bool print_stacks(const struct folded_stacks *stacks, bool normalize, struct pd_text *text)
{
	for (size_t i = 0, next; i < stacks->count; i = next) {
		uint64_t values[2] = { 0, 0 };

		for (next = i; next < stacks->count && compare_names(&stacks->items[i], &stacks->items[next]) == 0;
		     next++)
			for (size_t side = 0; side < 2; side++)
				values[side] += stacks->items[next].values[side];
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
	enum pd_status status = take_lines(&stacks, old_text, 0, error);
	bool written = true;

	if (status >= 0)
		status = take_lines(&stacks, new_text, 1, error);
	if (status >= 0) {
		if (stacks.count)
			qsort(stacks.items, stacks.count, sizeof(*stacks.items), compare_names);
		written = print_stacks(&stacks, normalize, text);
	}
	pd_free(stacks.items);
	if (status < 0)
		return status;
	if (pd_text_failed(text))
		return pd_fail_memory(error);
	return written ? PD_OK : pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "cannot write the output");
}
