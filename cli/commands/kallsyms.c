/* SPDX-License-Identifier: MIT */
/* perfdata kallsyms: where functions of the running kernel are, as perf kallsyms prints it. */
#include "front/cli.h"

#include <perfdata/objects.h>

struct values {
	const char *kallsyms;
	bool verbose;
};

static const struct option options[] = {
	STRING("kallsyms", 0, "FILE", kallsyms, "kernel symbols, such as a copy of /proc/kallsyms"),
	FLAG("verbose", 'v', verbose, "no effect: nothing is left out"),
	{ 0 },
};

static int run_kallsyms(const struct call *call)
{
	const struct values *values = call->values;
	struct pd_error error;

	if (!call->word_count)
		return print_failure(CODE_USAGE, "no symbol given; name one or more functions of the kernel");
	return code_with_error(pd_print_kernel_symbols(call->out->text, values->kallsyms, call->words, call->word_count,
						       &error),
			       &error);
}

const struct command cmd_kallsyms = {
	.usage = "[OPTION]... SYMBOL...",
	.text = "Print for each SYMBOL its module and object, and its first address and the one after its last, as perf kallsyms "
		"(6.1) does. Of several symbols of one name all are printed, each on a line.",
	OPTIONS(options),
	EXAMPLES({ "sudo perfdata kallsyms schedule vfs_read", "print the addresses of two functions" }),
	.max_words = SIZE_MAX,
	.run = run_kallsyms,
};
