/* SPDX-License-Identifier: MIT */
/*
 * What is asked of frames again and again, as small numbers that lie close together: frames themselves, their
 * objects and functions are anywhere in memory.
 */
#include "report.h"

#include "parts.h"

#include <stdlib.h>

enum {
	WORTH_A_PART = 1 << 13
};

#define NO_FUNCTION UINT32_MAX

struct looking {
	struct report *report;
	size_t count, parts;
	uint32_t function_counts[PARTS_MOST];
};

static uint8_t look_at(const struct report *report, const struct pd_frame *frame)
{
	const struct pd_place *place = &frame->place;
	uint8_t look = (uint8_t)(frame->cpumode & LOOK_LEVEL);

	if (place->dso)
		look |= LOOK_OBJECT;
	if (place->function)
		look |= LOOK_FUNCTION;
	if (place->function && place->function->dso == place->dso)
		look |= LOOK_OWN_OBJECT;
	if (!select_by_place(&report->select) || select_has_place(&report->select, place))
		look |= LOOK_WANTED;
	return look;
}

static void look_at_part(void *self, size_t part)
{
	struct looking *looking = self;
	struct report *report = looking->report;
	size_t end = part_begin(looking->count, looking->parts, part + 1);
	uint32_t count = 0;

	for (size_t i = part_begin(looking->count, looking->parts, part); i < end; i++) {
		const struct pd_frame *frame = pd_profile_frame(report->profile, (uint32_t)i);
		const struct pd_function *function = frame->place.function;

		report->looks[i] = look_at(report, frame);
		report->twins[i] = function ? (uint32_t)function->index : NO_FUNCTION;
		if (function && function->index >= count)
			count = (uint32_t)function->index + 1;
	}
	looking->function_counts[part] = count;
}

/* From functions to the first frame that each has. False if there is no memory. */
static bool find_twins(const struct looking *looking)
{
	uint32_t *twins = looking->report->twins, *by_function, count = 0;

	for (size_t i = 0; i < looking->parts; i++)
		count = looking->function_counts[i] > count ? looking->function_counts[i] : count;
	by_function = calloc((size_t)count + 1, sizeof(*by_function));
	for (size_t i = 0; by_function && i < looking->count; i++) {
		uint32_t *first = twins[i] == NO_FUNCTION ? NULL : &by_function[twins[i]];

		if (first && !*first)
			*first = (uint32_t)i + 1;
		twins[i] = first ? *first - 1 : (uint32_t)i;
	}
	free(by_function);
	return by_function;
}

bool frames_look(struct report *report)
{
	struct looking looking = { .report = report, .count = pd_profile_frame_count(report->profile) };

	if (report->looks)
		return true;
	report->looks = malloc(looking.count + 1);
	report->twins = malloc((looking.count + 1) * sizeof(*report->twins));
	if (!report->looks || !report->twins)
		return false;
	looking.parts = part_count(thread_count(report->threads), looking.count, WORTH_A_PART);
	parts_do(looking.parts, look_at_part, &looking);
	return find_twins(&looking);
}
