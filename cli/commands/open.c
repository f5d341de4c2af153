/* SPDX-License-Identifier: MIT */
/*
 * perfdata open: a recording in a viewer of another program. The samples are exported to its format, and it is started.
 */
#include "files/export.h"
#include "front/pager.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct values {
	struct export_values all;
	const char *viewer;
	bool no_start;
};

static const struct option options[] = {
	STRING("in", 0, "VIEWER", viewer,
	       "speedscope, pprof, firefox or perfetto (default: one that is installed, else speedscope)"),
	STRING("output", 'o', "FILE", all.output,
	       "write the exported samples to FILE (default: name of the recording and a suffix)"),
	FLAG("no-start", 0, no_start, "write the file only, and show how to view it"),
	GROUP(waiting_group, all.analysis.input),
	GROUP(input_group, all.analysis.input),
	GROUP(select_group, all.analysis.select),
	GROUP(symbol_group, all.analysis.symbols),
	GROUP(unwind_option, all.analysis.no_unwind),
	{ 0 },
};

static const struct pd_export_viewer *find_viewer(const char *name)
{
	const struct pd_export_viewer *viewer;

	for (size_t i = 0; (viewer = pd_export_viewer(i)) != NULL; i++)
		if (name ? !strcmp(viewer->name, name) : (viewer->program && program_is_installed(viewer->program)))
			return viewer;
	if (!name)
		return pd_export_viewer(0);
	print_error("option --in: there is no viewer '%s'; there are speedscope, pprof, firefox and perfetto", name);
	return NULL;
}

/* Becomes the viewer, or says what shows the file. */
static int show(const struct pd_export_viewer *viewer, const char *path, bool start, struct output *out, int code)
{
	const char *words[8] = { viewer->program };
	size_t count = 1;

	if (start && viewer->program && program_is_installed(viewer->program)) {
		for (size_t i = 0; viewer->arguments[i]; i++)
			words[count++] = viewer->arguments[i];
		words[count] = path;
		execvp(viewer->program, (char **)(uintptr_t)words);
		print_error("%s: cannot be started: %s", viewer->program, strerror(errno));
	}
	pd_text_printf(out->text, "%s: %s\n", path, viewer->otherwise);
	return code;
}

static int run_open(const struct call *call)
{
	const struct values *values = call->values;
	struct export_values all = values->all;
	const struct pd_export_viewer *viewer = find_viewer(values->viewer);
	const char *input = call->word_count        ? call->words[0] :
			    all.analysis.input.path ? all.analysis.input.path :
						      "perf.data";
	const char *leaf = strrchr(input, '/');
	struct pd_export_format format;
	char path[4096];
	int code;

	if (!viewer)
		return CODE_USAGE;
	if (all.output && !strcmp(all.output, "-"))
		return print_failure(CODE_USAGE, "a viewer opens a file; use -o FILE, or perfdata export");
	pd_export_format_find(viewer->format, &format);
	all.how.format = format.name;
	if (snprintf(path, sizeof(path), "%s%s", leaf ? leaf + 1 : input, format.suffix) >= (int)sizeof(path) ||
	    !strcmp(input, "-"))
		snprintf(path, sizeof(path), "perf.data%s", format.suffix);
	all.output = all.output ? all.output : path;
	code = export_samples(&all, call);
	return code_is_usable(code) ? show(viewer, all.output, !values->no_start, call->out, code) : code;
}

const struct command cmd_open = {
	.usage = "[--in VIEWER] [OPTION]... [FILE]",
	.text = "Write the samples of FILE in the format of a viewer, and start it. A viewer that is not installed, or is a page for a browser, "
		"is named with what shows the file; nothing is sent anywhere or fetched.",
	OPTIONS(options),
	DEFAULTS(.all.how.tasks_and_maps = true),
	EXAMPLES({ "perfdata open", "perf.data in the viewer that is installed" },
		 { "perfdata open --in pprof --comm make build.data", "the samples of one program in pprof" }),
	.usual = "in output input",
	.max_words = 1,
	.run = run_open,
};
