/* SPDX-License-Identifier: MIT */
/* What unwinding took: where rules of objects came from, and those of frames. */
#include <inttypes.h>
#include <stddef.h>

#include "base/text/json.h"
#include "base/text/text.h"
#include "unwind/unwinder.h"

enum {
	NAME_WIDTH = 56,
	WIDTH = 16
};

static const struct number {
	const char *name, *json;
	size_t offset;
} numbers[] = {
#define NUMBER(FIELD, NAME)                                           \
	{                                                             \
		NAME, #FIELD, offsetof(struct pd_unwind_stats, FIELD) \
	}
	NUMBER(indexed_objects, "objects whose rules the index has"),
	NUMBER(compiled_objects, "objects whose call frame information was read"),
	NUMBER(missing_objects, "objects that were not found"),
	NUMBER(rows, "rows of their tables"),
	NUMBER(samples, "samples that were unwound"),
	NUMBER(frames, "frames"),
	NUMBER(repeated_frames, "frames that the last sample of the thread had"),
	NUMBER(cached_rules, "rules that the cache by address had"),
	NUMBER(searched_rules, "rules that were searched for in a table"),
#undef NUMBER
};

static uint64_t value_of(const struct pd_unwind_stats *stats, const struct number *number)
{
	return *(const uint64_t *)(const void *)((const char *)stats + number->offset);
}

static void add_module(struct pd_unwind_stats *stats, const struct pd_unwind_module *module)
{
	if (module->is_saved)
		stats->indexed_objects++;
	else if (module->found)
		stats->compiled_objects++;
	else
		stats->missing_objects++;
	stats->rows += module->table.row_count;
}

struct pd_unwind_stats pd_unwinder_stats(const struct pd_unwinder *unwinder)
{
	struct pd_unwind_stats stats = { 0 };
	uint64_t sums[PD_UNWIND_ENDS];

	if (!unwinder)
		return stats;
	for (const struct pd_unwind_module *module = unwinder->shared->first; module; module = module->next)
		add_module(&stats, module);
	pd_unwinder_sums(unwinder, sums);
	for (size_t end = 0; end < PD_UNWIND_ENDS; end++)
		stats.samples += sums[end];
	stats.frames = unwinder->effort.frames;
	stats.repeated_frames = unwinder->effort.again;
	stats.cached_rules = unwinder->effort.asked - unwinder->effort.searched;
	stats.searched_rules = unwinder->effort.searched;
	return stats;
}

void pd_print_unwind_stats(const struct pd_unwinder *unwinder, struct pd_text *text)
{
	struct pd_unwind_stats stats = pd_unwinder_stats(unwinder);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		pd_text_printf(text, "%-*s%*" PRIu64 "\n", NAME_WIDTH, numbers[i].name, WIDTH,
			       value_of(&stats, &numbers[i]));
}

void pd_json_unwind_stats(const struct pd_unwinder *unwinder, struct pd_text *text)
{
	struct pd_unwind_stats stats = pd_unwinder_stats(unwinder);
	struct pd_json json = { .text = text };

	pd_json_open(&json, NULL, '{');
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		pd_json_number(&json, numbers[i].json, value_of(&stats, &numbers[i]));
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}
