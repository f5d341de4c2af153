/* SPDX-License-Identifier: MIT */
/* What the reader of a flame graph should know about its numbers, and how numbers are written. */
#include "flame/graph.h"
#include "unwind/unwinder.h"
#include "flame/stacks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	UNKNOWN_BAD = 10 /* percent of samples */
};

const char *pd_flame_number(char buffer[32], uint64_t value)
{
	char digits[24];
	int count = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value), used = 0;

	for (int i = 0; i < count; i++) {
		if (i && (count - i) % 3 == 0)
			buffer[used++] = ',';
		buffer[used++] = digits[i];
	}
	buffer[used] = '\0';
	return buffer;
}

const char *pd_flame_unit(enum pd_unit unit)
{
	static const char *const names[] = { "samples", "events", "ns" };

	return names[unit];
}

const char *pd_flame_amount(char buffer[64], uint64_t value, const char *unit)
{
	static const struct {
		uint64_t least;
		double size;
		const char *name;
	} times[] = { { 1000000000, 1e9, "s" }, { 1000000, 1e6, "ms" }, { 1000, 1e3, "us" } };
	char number[32];

	for (size_t i = 0; !strcmp(unit, "ns") && i < sizeof(times) / sizeof(times[0]); i++) {
		if (value >= times[i].least) {
			snprintf(buffer, 64, "%.3f %s", (double)value / times[i].size, times[i].name);
			return buffer;
		}
	}
	snprintf(buffer, 64, "%s %s", pd_flame_number(number, value), unit);
	return buffer;
}

void pd_flame_info(struct flame_graph *graph, bool bad, const char *format, ...)
{
	struct flame_info *info = &graph->infos[graph->info_count];
	va_list arguments;

	if (graph->info_count == sizeof(graph->infos) / sizeof(graph->infos[0]))
		return;
	va_start(arguments, format);
	vsnprintf(info->text, sizeof(info->text), format, arguments);
	va_end(arguments);
	info->bad = bad;
	graph->info_count++;
}

/* Printed only if there is something to report. */
static void bad_count(struct flame_graph *graph, uint64_t count, const char *text)
{
	char number[32];

	if (count)
		pd_flame_info(graph, true, "%s %s", pd_flame_number(number, count), text);
}

static void share_info(struct flame_graph *graph, uint64_t count, uint64_t samples, double bad, const char *text)
{
	double share = samples ? 100.0 * (double)count / (double)samples : 0;

	if (count)
		pd_flame_info(graph, share >= bad, "%.*f %% of samples %s", share < 1 ? 2 : 1, share, text);
}

/* Why stacks are truncated. */
static void add_unwinding(struct flame_graph *graph, const struct stack_result *result)
{
	static const char *const reasons[PD_UNWIND_ENDS] = {
		[PD_UNWIND_STACK_END] = "deeper than the copied stack",
		[PD_UNWIND_OTHER_STACK] = "with callers on a stack that was not copied",
		[PD_UNWIND_NO_RULE] = "in code without unwind rules",
		[PD_UNWIND_NO_OBJECT] = "in objects that are missing to unwind",
		[PD_UNWIND_DAMAGED] = "with an invalid frame",
		[PD_UNWIND_DEPTH] = "too deep to unwind",
		[PD_UNWIND_DEFERRED] = "without a record of their user part",
		[PD_UNWIND_CALLS_FULL] = "deeper than the LBR",
	};
	uint64_t sums[PD_UNWIND_ENDS], all = 0;

	pd_unwinder_sums(result->unwinder, sums);
	for (size_t i = 0; i < PD_UNWIND_ENDS; i++)
		all += sums[i];
	for (size_t i = 0; i < PD_UNWIND_ENDS; i++)
		if (reasons[i])
			share_info(graph, sums[i], all, 0, reasons[i]);
}

void pd_flame_add_info(struct flame_graph *graph, const struct stack_result *result)
{
	const struct pd_profile_losses *losses = &result->losses;
	uint64_t lost = losses->lost + losses->lost_samples;
	char number[32];

	if (result->samples_in_file > result->samples)
		pd_flame_info(graph, false, "chosen from %s samples", pd_flame_number(number, result->samples_in_file));
	if (!graph->unit || strcmp(graph->unit, "samples") != 0)
		pd_flame_info(graph, false, "%s samples", pd_flame_number(number, result->samples));
	if (losses->last_ns > losses->first_ns)
		pd_flame_info(graph, false, "over %.*f s", losses->last_ns - losses->first_ns < 10000000 ? 6 : 2,
			      (double)(losses->last_ns - losses->first_ns) / 1e9);
	if (lost)
		pd_flame_info(graph, true, "%s lost", pd_flame_number(number, lost));
	else
		pd_flame_info(graph, false, "none lost");
	share_info(graph, result->unknown, result->samples, UNKNOWN_BAD, "in unknown functions");
	share_info(graph, result->copied, result->samples, 0, "with a copied stack that is not unwound");
	share_info(graph, result->cut, result->samples, 0, "with a truncated stack");
	if (result->unwinder)
		add_unwinding(graph, result);
	share_info(graph, result->damaged, result->samples, 0, "with a damaged stack");
	bad_count(graph, losses->throttles, losses->throttles == 1 ? "time throttled" : "times throttled");
	bad_count(graph, losses->damaged, "samples damaged");
	bad_count(graph, losses->unknown_event, "samples of no known event");
}
