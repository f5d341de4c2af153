/* SPDX-License-Identifier: MIT */
/* How unwinding ended, as a sentence. */
#include <inttypes.h>
#include <string.h>

#include "base/text/text.h"
#include "unwind/unwinder.h"

static const char *const words[] = {
	[PD_UNWIND_STACK_END] = "the copied stack ends",
	[PD_UNWIND_OTHER_STACK] = "the caller is on another stack",
	[PD_UNWIND_NO_RULE] = "no unwind rules",
	[PD_UNWIND_NO_OBJECT] = "object not found",
	[PD_UNWIND_DAMAGED] = "invalid frame",
	[PD_UNWIND_DEPTH] = "maximum depth",
	[PD_UNWIND_DEFERRED] = "no record has the user part",
	[PD_UNWIND_CALLS_FULL] = "the LBR call stack is full",
};

// Whether the object says more than the reason.
static bool names_object(enum pd_unwind_end end)
{
	return end == PD_UNWIND_NO_RULE || end == PD_UNWIND_NO_OBJECT;
}

// The object that most of them are in.
static const struct pd_object *worst_object(const struct pd_unwinder *unwinder, enum pd_unwind_end end)
{
	struct pd_unwind_count count, worst = { .samples = 0 };

	for (size_t i = 0; pd_unwinder_count(unwinder, i, &count); i++)
		if (count.end == end && count.object && count.samples > worst.samples)
			worst = count;
	return worst.object;
}

void pd_unwinder_sums(const struct pd_unwinder *unwinder, uint64_t sums_out[PD_UNWIND_ENDS])
{
	for (size_t end = 0; end < PD_UNWIND_ENDS; end++) {
		sums_out[end] = 0;
		for (size_t i = 0; i < unwinder->count_count; i++)
			sums_out[end] += unwinder->counts[i][end];
	}
}

bool pd_unwinder_is_complete(const struct pd_unwinder *unwinder)
{
	uint64_t sums[PD_UNWIND_ENDS];

	pd_unwinder_sums(unwinder, sums);
	for (size_t end = PD_UNWIND_OUTERMOST + 1; end < PD_UNWIND_ENDS; end++)
		if (sums[end])
			return false;
	return true;
}

bool pd_print_unwinding(const struct pd_unwinder *unwinder, struct pd_text *text)
{
	uint64_t sums[PD_UNWIND_ENDS], all = 0;
	const char *between = ": ";

	if (!unwinder || pd_unwinder_is_complete(unwinder))
		return false;
	pd_unwinder_sums(unwinder, sums);
	for (size_t end = 0; end < PD_UNWIND_ENDS; end++)
		all += sums[end];
	pd_text_printf(text, "%" PRIu64 " of %" PRIu64 " unwound stacks are incomplete",
		       all - sums[PD_UNWIND_OUTERMOST], all);
	for (size_t end = PD_UNWIND_OUTERMOST + 1; end < PD_UNWIND_ENDS; end++) {
		const struct pd_object *object = NULL;

		if (!sums[end])
			continue;
		pd_text_printf(text, "%s%s (%" PRIu64, between, words[end], sums[end]);
		if (names_object((enum pd_unwind_end)end))
			object = worst_object(unwinder, (enum pd_unwind_end)end);
		if (object) {
			pd_text_add(text, ", most in ");
			pd_text_escaped(text, object->path, strlen(object->path));
		}
		pd_text_add(text, ")");
		between = ", ";
	}
	return true;
}
