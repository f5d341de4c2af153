/* SPDX-License-Identifier: MIT */
/* perfdata timechart: what CPUs and threads did over time, as a picture. */
#include "files/input.h"
#include "files/outfile.h"

#include <perfdata/timechart.h>

struct values {
	struct input_options input;
	struct pd_timechart_options how;
	const char *output;
	struct option_list processes; /* lists */
};

static const struct option options[] = {
	STRING("output", 'o', "FILE", output, "the picture (default: output.svg); - is standard output"),
	INTEGER("width", 'w', "N", how.width, "width of the time in pixels (default: 1000)"),
	INTEGER("proc-num", 'n', "N", how.threads,
		"show at least N threads (default: 15), and all that ran for 10 ms or longer"),
	OPTION("process", 'p', LIST, "LIST", processes,
	       "only threads of these numbers or names: 1234,make; may be repeated"),
	STRING("highlight", 0, "WHAT", how.highlight,
	       "highlight threads of this name, or what ran so long at a time: 5ms, or ns"),
	FLAG("power-only", 'P', how.power_only, "CPUs only, no threads"),
	FLAG("tasks-only", 'T', how.tasks_only, "no idle states and frequencies of CPUs"),
	FLAG("io-skip-eagain", 0, how.skip_eagain,
	     "no calls that failed with EAGAIN: there was nothing to read or no room"),
	GROUP(input_group, input),
	{ 0 },
};

/* All lists as one; NULL if there is no memory. */
static struct pd_text *joined(const struct option_list *lists)
{
	struct pd_text *text = pd_text_new();

	for (size_t i = 0; text && i < lists->count; i++)
		pd_text_printf(text, "%s%s", i ? "," : "", lists->items[i]);
	if (text)
		pd_text_printf(text, "%c", 0);
	if (!text || !pd_text_failed(text))
		return text;
	pd_text_free(text);
	return NULL;
}

static int draw(struct input *input)
{
	const struct values *values = input->call->values;
	struct pd_timechart_options how = values->how;
	struct pd_error error;
	struct pd_text *processes = joined(&values->processes);
	struct outfile file;
	int code;

	if (!processes)
		return print_failure(CODE_UNREADABLE, "out of memory");
	code = outfile_open(&file, values->output, input->call->out, input->name);

	how.size = sizeof(how);
	if (values->processes.count)
		how.processes = (const char *)pd_text_bytes(processes).data;
	if (code == CODE_OK) {
		code = code_with_error(pd_print_timechart(file.out->text, input->file, &how, &error), &error);
		code = outfile_close(&file, code);
	}
	pd_text_free(processes);
	return code;
}

static int draw_file(const struct call *call)
{
	const struct values *values = call->values;
	struct input_options options_of_input = values->input;
	struct input input = { 0 };

	options_of_input.keep = true;
	return input_run(&input, &options_of_input, call, draw);
}

const struct command cmd_timechart = {
	.usage = "[OPTION]... [FILE]",
	.text = "Draw what each CPU and the longest running threads of FILE did over time, as an SVG: running, waiting for a CPU, blocked in the "
		"kernel, idle states and frequencies, and reads, writes, syncs and polls of files. Within a pixel, heights are shares. FILE has "
		"context switches, power events or such calls: perfdata timechart record, with -T for threads only, -P for power only or "
		"-I for calls only as the first option. perfdata view has a timeline to zoom in.",
	DEFAULTS(.output = "output.svg"),
	OPTIONS(options),
	EXAMPLES({ "perfdata timechart record sleep 1", "record what the machine does meanwhile" },
		 { "perfdata timechart -w 4000 -p make,cc1", "two programs, in a wide picture" }),
	.max_words = 1,
	.run = draw_file,
};
