/* SPDX-License-Identifier: MIT */
/* The numbers of attr.type and attr.config in words, as perf 7.2 has them: " (PERF_TYPE_SOFTWARE)"; nothing where there is none. */
#ifndef PD_HEADER_ATTR_WORDS_H
#define PD_HEADER_ATTR_WORDS_H

#include <perfdata/file.h>
#include <perfdata/text.h>
#include <perfdata/trace.h>

/* A type that is a PMU has the name that the file gives to it. */
void pd_add_type_word(struct pd_text *out, struct pd_file *file, uint32_t type);

/* The config of a tracepoint has the name that its format has in the file, and those of other PMUs have none. */
void pd_add_config_word(struct pd_text *out, struct pd_file *file, const struct pd_event *event,
			struct pd_trace *trace);

#endif
