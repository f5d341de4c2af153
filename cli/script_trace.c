/* SPDX-License-Identifier: MIT */
/*
 * What a tracepoint recorded, as text. On a terminal it is escaped, so it goes through a text of its own there.
 */
#include "script.h"

/* %ps and %pS name functions of the kernel, those of the moment. */
static const char *function_at(void *self, uint64_t addr, uint64_t *start_out)
{
	const struct script *script = self;
	struct pd_place place =
		pd_symbols_place(script->symbols, UINT32_MAX, PD_CPUMODE_KERNEL, script->trace_when, addr);

	if (!place.function)
		return NULL;
	*start_out = addr - (place.addr - place.function->start);
	return place.function->name;
}

static bool open_trace(struct script *script)
{
	struct pd_trace_options options = { .size = sizeof(options), .function = function_at, .self = script };

	return script->trace || pd_trace_new(script->input.file, &options, &script->trace, &script->error) == PD_OK;
}

void script_trace(struct script *script, const struct shot *shot)
{
	struct line *line = &script->line;
	struct pd_bytes bytes;

	if (!open_trace(script))
		return;
	script->trace_when = shot->when;
	if (!line->escape) {
		line_flush(line);
		pd_trace_print(script->trace, shot->event, shot->sample->raw, line->text);
		return;
	}
	if (!script->trace_text && !(script->trace_text = pd_text_new()))
		return;
	pd_text_clear(script->trace_text);
	pd_trace_print(script->trace, shot->event, shot->sample->raw, script->trace_text);
	bytes = pd_text_bytes(script->trace_text);
	line_flush(line);
	pd_text_escaped(line->text, (const char *)bytes.data, bytes.size);
}

void script_trace_take(struct script *script, const struct pd_record *record)
{
	if (record->type == PD_RECORD_SIMPLEPERF_TRACING_DATA && open_trace(script))
		pd_trace_take(script->trace, record, &script->error);
}

void script_trace_close(struct script *script)
{
	pd_trace_free(script->trace);
	pd_text_free(script->trace_text);
}
