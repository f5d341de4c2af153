/* SPDX-License-Identifier: MIT */
/*
 * What a tracepoint recorded, as text. On a terminal it is escaped.
 */
#include "samples/samples.h"

/* %ps and %pS name functions of the kernel, those of the moment. */
static const char *function_at(void *self, uint64_t addr, uint64_t *start_out)
{
	const struct pd_samples *samples = self;
	struct pd_place place =
		pd_symbols_place(samples->symbols, UINT32_MAX, PD_CPUMODE_KERNEL, samples->trace_when, addr);

	if (!place.function)
		return NULL;
	*start_out = addr - (place.addr - place.function->start);
	return place.function->name;
}

static bool open_trace(struct pd_samples *samples)
{
	struct pd_trace_options options = { .size = sizeof(options), .function = function_at, .self = samples };

	return samples->trace || pd_trace_new(samples->file, &options, &samples->trace, &samples->error) == PD_OK;
}

void pd_samples_trace(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	struct pd_line_buffer *line = &samples->line;
	struct pd_bytes bytes;

	if (!open_trace(samples))
		return;
	samples->trace_when = hit->when;
	if (!samples->trace_text && !(samples->trace_text = pd_text_new()))
		return;
	pd_text_clear(samples->trace_text);
	pd_trace_print(samples->trace, hit->event, hit->raw, samples->trace_text);
	bytes = pd_text_bytes(samples->trace_text);
	if (!line->escape) {
		pd_line_bytes(line, (const char *)bytes.data, bytes.size);
		return;
	}
	pd_line_flush(line);
	pd_text_escaped(line->text, (const char *)bytes.data, bytes.size);
}

void pd_samples_trace_take(struct pd_samples *samples, const struct pd_record *record)
{
	if (record->type == PD_RECORD_SIMPLEPERF_TRACING_DATA && open_trace(samples))
		pd_trace_take(samples->trace, record, &samples->error);
}

void pd_samples_trace_close(struct pd_samples *samples)
{
	pd_trace_free(samples->trace);
	pd_text_free(samples->trace_text);
}
