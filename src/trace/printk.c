/* SPDX-License-Identifier: MIT */
/* Strings of the kernel that tracepoints refer to by address, as printk_formats of the file lists them. */
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

static int compare_printks(const void *a, const void *b)
{
	const struct pd_printk *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

// "0xffffffff81c430a5 : "text""
static bool read_printk(struct pd_trace *trace, const char *at, const char *end, struct pd_printk *out)
{
	const char *text = memchr(at, '"', (size_t)(end - at));
	char number[24] = "";

	if (!text)
		return false;
	memcpy(number, at, (size_t)(text - at) < sizeof(number) ? (size_t)(text - at) : sizeof(number) - 1);
	out->addr = strtoull(number, NULL, 16);
	text++;
	if (end > text && end[-1] == '"')
		end--;
	if (end - text >= 2 && end[-2] == '\\' && end[-1] == 'n')
		end -= 2;
	out->text = pd_arena_text(&trace->arena, text, (size_t)(end - text));
	return out->text != NULL;
}

static void read_printks(struct pd_trace *trace)
{
	struct pd_bytes all = trace->data->printk_formats;
	const char *at, *end;
	size_t lines = 1;

	trace->printks_read = true;
	if (!all.size)
		return;
	at = (const char *)all.data;
	end = at + all.size;
	for (size_t i = 0; i < all.size; i++)
		lines += all.data[i] == '\n';
	trace->printks = pd_arena_alloc(&trace->arena, lines * sizeof(*trace->printks));
	while (trace->printks && at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		stop = stop ? stop : end;
		trace->printk_count += read_printk(trace, at, stop, &trace->printks[trace->printk_count]);
		at = stop + 1;
	}
	if (trace->printk_count)
		qsort(trace->printks, trace->printk_count, sizeof(*trace->printks), compare_printks);
}

const char *pd_trace_find_printk(struct pd_trace *trace, uint64_t addr)
{
	struct pd_printk key = { .addr = addr }, *found;

	if (!trace->printks_read)
		read_printks(trace);
	if (!trace->printk_count)
		return NULL;
	found = bsearch(&key, trace->printks, trace->printk_count, sizeof(key), compare_printks);
	return found ? found->text : NULL;
}
