/* SPDX-License-Identifier: MIT */
#include "export/feed/trace.h"

#include "base/text/text.h"

// Functions of the kernel, those of the moment.
static const char *function_at(void *self, uint64_t addr, uint64_t *start_out)
{
	const struct pd_export_trace *trace = self;
	struct pd_place place =
		pd_symbols_place(trace->self->symbols, UINT32_MAX, PD_CPUMODE_KERNEL, trace->when, addr);

	if (!place.function)
		return NULL;
	*start_out = addr - (place.addr - place.function->start);
	return place.function->name;
}

// False if there is no memory.
static bool open_trace(struct pd_export_trace *trace, struct pd_export *self)
{
	const struct pd_trace_options options = { .size = sizeof(options), .function = function_at, .self = trace };

	trace->self = self;
	if (!trace->text)
		trace->text = pd_text_new();
	return trace->text && (trace->trace || pd_trace_new(self->file, &options, &trace->trace, NULL) == PD_OK);
}

const struct pd_text *pd_export_trace_of(struct pd_export_trace *trace, struct pd_export *self,
					 const struct pd_export_sample *sample)
{
	const struct pd_sample *full;

	if (!(sample->event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_RAW)))
		return NULL;
	full = pd_as_sample(sample->record);
	if (!full || !open_trace(trace, self)) {
		self->failed |= full != NULL;
		self->result.damaged += !full;
		return NULL;
	}
	trace->when = pd_record_moment(sample->record);
	pd_text_clear(trace->text);
	if (!pd_trace_print(trace->trace, sample->event, full->raw, trace->text)) {
		self->dropped[PD_SUPPORT_RAW]++;
		return NULL;
	}
	self->failed |= trace->text->failed;
	return trace->text;
}

void pd_export_trace_fini(struct pd_export_trace *trace)
{
	pd_trace_free(trace->trace);
	pd_text_free(trace->text);
}
