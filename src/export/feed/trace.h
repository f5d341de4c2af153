/* SPDX-License-Identifier: MIT */
/* What tracepoints recorded, as text. Most of it never comes again, so nothing is kept. */
#ifndef PD_EXPORT_FEED_TRACE_H
#define PD_EXPORT_FEED_TRACE_H

#include <perfdata/trace.h>

#include "export/export.h"

// Zeros are ready for use.
struct pd_export_trace {
	struct pd_trace *trace;
	struct pd_text *text;
	struct pd_export *self;
	struct pd_moment when; // of the present sample
};

// The fields of a sample in perf's words, valid until the next call. NULL if it has none; what is not a tracepoint's is counted as
// dropped. Bytes are as recorded.
const struct pd_text *pd_export_trace_of(struct pd_export_trace *trace, struct pd_export *self,
					 const struct pd_export_sample *sample);
void pd_export_trace_fini(struct pd_export_trace *trace);

#endif
