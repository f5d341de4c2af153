/* SPDX-License-Identifier: MIT */
/* A trace that knows one format, without a file. */
#ifndef PD_TEST_TRACE_MAKE_H
#define PD_TEST_TRACE_MAKE_H

#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "trace/trace.h"

struct made_trace {
	struct pd_trace trace;
	struct pd_tracing_data data;
	struct pd_format format;
};

static inline void make_trace(struct made_trace *made, const char *text, size_t size, bool big, unsigned long_size)
{
	memset(made, 0, sizeof(*made));
	made->trace.data = &made->data;
	made->trace.big = big;
	made->trace.long_size = long_size;
	made->trace.arena.limit = 16 << 20;
	made->format.text = (struct pd_bytes){ (const uint8_t *)text, size };
	pd_trace_read_format(&made->trace, &made->format);
}

static inline void made_trace_fini(struct made_trace *made)
{
	pd_arena_fini(&made->trace.arena);
}

#endif
