/* SPDX-License-Identifier: MIT */
/* Recordings of system calls for unit tests, as text: events, formats, and the head and the end of what describes them. */
#ifndef PD_TEST_CALLS_H
#define PD_TEST_CALLS_H

#include "unit/edit/recording.h"

static struct pd_error error;
static char text[1 << 16];

#define EVENT(name, id, config)                                                         \
	"event {name: \"" name "\", ids: [" #id "], type: tracepoint, config: " #config \
	", sample_period: 1, sample_type: TID|TIME|CPU|RAW|IDENTIFIER, flags: sample_id_all}\n"
#define FORMAT(name, id, fields)                                                                           \
	"{data: \"name: " name "\\nID: " #id                                                               \
	"\\nformat:\\n\\tfield:unsigned short common_type;\\toffset:0;\\tsize:2;\\tsigned:0;\\n\\n" fields \
	"\\nprint fmt: \\\"x\\\"\\n\"}\n"
#define FIELD(type, name, offset, size) \
	"\\tfield:" type " " name ";\\toffset:" #offset ";\\tsize:" #size ";\\tsigned:1;\\n"
#define HEAD(arch, system)                                                                                          \
	"feature ARCH {value: \"" arch "\"}\n"                                                                      \
	"feature TRACING_DATA {magic: x\"17084474726163696e67\", version: \"0.6\", long_size: 8, page_size: 4096, " \
	"header_page_name: \"header_page\", header_page: \"\\n\", header_event_name: \"header_event\", "            \
	"header_event: \"\\n\", ftrace_formats: [], systems: [{name: \"" system "\", formats: [\n"

#define END_OF_FORMATS "]}], kallsyms: \"\", printk_formats: \"\", saved_cmdlines: \"\"}\n"

// A thread that is called comm.
#define THREAD(comm)                             \
	"COMM pid: 100, tid: 100, comm: \"" comm \
	"\", sample_id: {pid: 100, tid: 100, time_ns: 5, cpu: 0, identifier: 1}\n"

#endif
