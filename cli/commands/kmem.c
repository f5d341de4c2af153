/* SPDX-License-Identifier: MIT */
/* perfdata kmem stat: what was allocated in the kernel as perf prints it. */
#include "options/symbol_options.h"

struct values {
	struct symbol_values shared;
	struct pd_kmem_options how;
	struct option_tags modes;
};
#undef VALUES
#define VALUES struct values

static const struct option options[] = {
	FLAG("caller", 0, how.callers, "a table of those who allocated"),
	FLAG("alloc", 0, how.allocations, "a table of addresses, or of pages"),
	OPTION("slab", 0, TAGGED, NULL, modes, "the slab allocator (default)"),
	OPTION("page", 0, TAGGED, NULL, modes, "the page allocator"),
	FLAG("live", 0, how.live, "only pages that were not freed"),
	OPTION("sort", 's', TAGGED, "KEYS", modes,
	       "sort by ptr, callsite, bytes, hit, pingpong, frag; after --page by page, callsite, bytes, hit, order, migtype, gfp"),
	INTEGER("line", 'l', "N", how.lines, "show the first N rows of each table"),
	FLAG("raw-ip", 0, how.raw_ip, "show callers as addresses"),
	GROUP(time_range_option, how.time),
	PRINT_OPTIONS,
};

/* As perf: keys are those of the allocator that was named last before them. */
static void take_modes(struct pd_kmem_options *how, const struct option_tags *modes)
{
	const char *keys[2] = { NULL, NULL };
	bool pages = false;

	for (size_t i = 0; i < modes->count; i++) {
		if (modes->items[i].value)
			keys[pages] = modes->items[i].value;
		else
			pages = modes->items[i].name[0] == 'p';
		how->pages |= pages;
		how->slab |= !modes->items[i].value && !pages;
	}
	how->sort = keys[how->pages];
	how->slab_sort = keys[0];
}

static enum pd_status print(struct input *input, const void *how, struct pd_error *error)
{
	struct pd_kmem_options own = *(const struct pd_kmem_options *)how;

	take_modes(&own, &((const struct values *)input->call->values)->modes);
	own.symbols = symbols_of_input;
	own.self = input;
	return pd_print_kmem(input->out->text, input->file, &own, error);
}

const struct command cmd_kmem_stat = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print how much memory the kernel allocated, how much of it was freed, and how much was wasted by rounding up; with --caller and "
		"--alloc, tables of who allocated and of what. The text is that of perf kmem stat of perf 6.1, whose options stand before the word "
		"stat. FILE has kmem:kmalloc, kmem_cache_alloc, kfree and kmem_cache_free, or kmem:mm_page_alloc and mm_page_free with call chains "
		"(perfdata kmem record).",
	OPTIONS(options),
	EXAMPLES({ "perfdata kmem record -- make", "record allocations" },
		 { "perfdata kmem stat --caller -l 10 perf.data", "the callers that waste most" },
		 { "perfdata kmem stat --page --live --caller perf.data", "who has pages that were not freed" }),
	.max_words = 1,
	HOW(how),
	.print = print,
};
