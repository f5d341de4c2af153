/* SPDX-License-Identifier: MIT */
/**
 * timechart.h - what CPUs and threads did over time, as a picture: SVG without script.
 *
 * A lane for each CPU (what ran, and its idle states and frequency), for the threads that ran longest (running, waiting for a CPU, blocked
 * in the kernel), and for their reads, writes, syncs and polls of files, as far as a file has the events: context switches as in interval.h;
 * power:cpu_idle and power:cpu_frequency; syscalls:sys_enter_NAME and sys_exit_NAME (perfdata timechart record). Of what happened within a
 * pixel, the heights of the colours are the shares, so the picture grows with its width and lanes, not with the events.
 *
 * Example:
 *
 *	struct pd_timechart_options options = { .size = sizeof(options), .width = 2000 };
 *
 *	if (pd_print_timechart(text, file, &options, &error) == PD_OK)
 *		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 */
#ifndef PERFDATA_TIMECHART_H
#define PERFDATA_TIMECHART_H

#include <perfdata/file.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero is the default for each member; NULL means all defaults. */
struct pd_timechart_options {
	size_t size;           /* sizeof(struct pd_timechart_options); 0 is PD_ERROR_ARGUMENT */
	unsigned width;        /* of the time in pixels, at most 100000; 0: 1000 */
	unsigned threads;      /* show so many at least, and all that ran for 10 ms; 0: 15 */
	const char *processes; /* only threads of these numbers or names: "1234,make"; NULL: all */
	const char *
		highlight; /* threads of this name, or what ran so long at a time: "cc1", "5000000" (ns), "5ms"; NULL: none */
	bool power_only;  /* no threads */
	bool tasks_only;  /* no idle states and frequencies */
	bool skip_eagain; /* no calls that failed with EAGAIN */
	size_t limit;     /* maximum number of threads and CPUs; 0 means 4 million */
};

/** Appends a picture. The file is read twice, without context switches three times. Errors: PD_ERROR_MEMORY; PD_ERROR_LIMIT; PD_ERROR_ARGUMENT; PD_ERROR_OUTPUT; PD_ERROR_FORMAT if
 * the format of a tracepoint is missing or lacks a field; PD_ERROR_NO_SAMPLES without such events; those of pd_stream_next. */
PD_API enum pd_status pd_print_timechart(struct pd_text *text, struct pd_file *file,
					 const struct pd_timechart_options *options, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
