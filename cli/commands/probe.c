/* SPDX-License-Identifier: MIT */
/* perfdata probe: dynamic tracepoints in programs and the kernel, as perf probe. The library does it (perfdata/probe.h). */
#include "options/symbol_options.h"

#include <perfdata/probe.h>

#include <stdlib.h>
#include <string.h>

struct values {
	struct option_tags actions;
	struct option_list debug_paths;
	const char *list, *functions;
	struct pd_probe_options how;
	bool quiet, verbose;
};

static const struct option options[] = {
	OPTION("add", 'a', TAGGED, "DEFINITION", actions, "add an event; may be repeated"),
	OPTION("del", 'd', TAGGED, "[GROUP:]EVENT", actions,
	       "remove events, also by a pattern such as 'probe_server:*'"),
	OPTION("list", 'l', MAYBE, "[GROUP:]EVENT", list, "list events: all, or those that match"),
	OPTION("definition", 'D', TAGGED, "DEFINITION", actions, "print what --add would write to the kernel"),
	OPTION("line", 'L', TAGGED, "LINES", actions,
	       "print source with the numbers of lines that events can be at: FUNC[@SRC][:FIRST[+COUNT|-LAST]] or SRC[:FIRST...]"),
	OPTION("vars", 'V', TAGGED, "DEFINITION", actions, "print the variables that have a value at a place"),
	OPTION("funcs", 'F', MAYBE, "FILTER", functions, "list functions: all, or those that match"),
	STRING("exec", 'x', "PATH", how.object, "program or library (default: the kernel)"),
	STRING("module", 'm', "MODULE", how.module, "kernel module, by its name or path"),
	STRING("vmlinux", 'k', "FILE", how.vmlinux, "kernel image with debug information"),
	STRING("kallsyms", 0, "FILE", how.kallsyms, "kernel symbols, such as a copy of /proc/kallsyms"),
	STRING("source", 's', "DIR", how.source, "where sources are (default: where they were compiled)"),
	GROUP(symfs_option, how.symfs),
	OPTION("debug-path", 0, LIST, "DIR", debug_paths,
	       "search DIR for debug files instead of /usr/lib/debug; may be repeated"),
	STRING("filter", 0, "FILTER", how.filter, "print functions and variables that match, such as '!_* & !*@plt'"),
	INTEGER("max-probes", 0, "N", how.most, "maximum places of one definition (default: 128)"),
	FLAG("range", 0, how.ranges, "with --vars: show where variables have a value, also elsewhere in the function"),
	FLAG("externs", 0, how.externs, "with --vars: show global variables, too"),
	FLAG("no-inlines", 0, how.no_inlines, "ignore inlined copies of functions"),
	FLAG("force", 'f', how.force, "number an event whose name is used already"),
	FLAG("dry-run", 'n', how.dry_run, "do not write to the kernel"),
	FLAG("quiet", 'q', quiet, "print no messages"),
	FLAG("verbose", 'v', verbose, "no effect: nothing is left out"),
	{ 0 },
};

static void print_note(void *self, const char *line)
{
	(void)self;
	print_error("%s", line);
}

static int run_probe(const struct call *call)
{
	const struct values *v = call->values;
	struct pd_probe_step *steps = calloc(v->actions.count + 2, sizeof(*steps));
	struct pd_probe_options how = v->how;
	char cache[BUILD_ID_DIRECTORY_SIZE];
	enum pd_status status;
	struct pd_error error;
	size_t count = 0;

	if (!steps)
		return print_failure(CODE_UNREADABLE, "out of memory");
	for (; count < v->actions.count; count++)
		steps[count] = (struct pd_probe_step){ v->actions.items[count].name, v->actions.items[count].value };
	if (v->list)
		steps[count++] = (struct pd_probe_step){ "list", v->list };
	if (v->functions)
		steps[count++] = (struct pd_probe_step){ "funcs", v->functions };
	how.debug_paths = v->debug_paths.items;
	how.debug_path_count = v->debug_paths.count;
	how.build_id_cache = build_id_directory(cache);
	how.note = v->quiet ? NULL : print_note;
	how.escape = call->out->terminal;
	status = pd_probe_run(call->out->text, &how, steps, count, call->words, call->word_count, &error);
	free(steps);
	return code_with_error(status, &error);
}

const struct command cmd_probe = {
	.usage = "[OPTION]... [DEFINITION]",
	.text = "Define events (dynamic tracepoints) at functions and lines of programs and the kernel, with the values of variables, as perf "
		"probe (6.1) does. perfdata record -e GROUP:EVENT records them, and perfdata script prints the values. The kernel keeps "
		"events until they are removed, or the next boot. Root only, but for what only prints.\n"
		"\n"
		"DEFINITION: [[GROUP:]EVENT=]FUNC[@SRC][+OFFSET|%return|:LINE|;PATTERN] [ARG...], or SRC:LINE or SRC;PATTERN instead of FUNC. "
		"LINE counts from the function's first line, 0. PATTERN selects lines by their text. 0xADDR is an address in the file.\n"
		"\n"
		"ARG: [NAME=]VALUE[:TYPE][@user], where VALUE is a variable with fields, var->field.field[0]; $params or $vars; $retval of "
		"%return; or what the kernel knows: %REGISTER, $stackN, @SYMBOL, +OFFSET(VALUE). TYPE is u8 to u64, s8 to s64, x8 to x64, "
		"string, ustring, symbol, a bit field b<width>@<offset>/<size>, or x, u or s. Variables and lines need debug information (-g).",
	OPTIONS(options),
	HOW(how),
	EXAMPLES({ "perfdata probe -x ./server -V handle", "list the variables of a function" },
		 { "sudo perfdata probe -x ./server 'handle id=request->id request->path:string'",
		   "add an event with values" },
		 { "sudo perfdata record -e probe_server:handle -a", "record it" },
		 { "sudo perfdata probe -d 'probe_server:*'", "remove all events of the program" }),
	.max_words = SIZE_MAX,
	.run = run_probe,
};
