/* SPDX-License-Identifier: MIT */
/* Probes as text: for the kernel, and as perf shows them. */
#include "probe/definition/definition.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	DEEPEST = 64, // reads of memory in one value
	FILE_SHOWN = 30
};

// ---- for the kernel ----

// Memory is read from the inside out, so that the last one comes first.
static unsigned put_memory(struct pd_text *text, const struct pd_probe_memory *memory)
{
	const struct pd_probe_memory *all[DEEPEST];
	unsigned count = 0;

	for (; memory && count < DEEPEST; memory = memory->next)
		all[count++] = memory;
	for (unsigned i = count; i > 0; i--) {
		if (all[i - 1]->is_user)
			pd_text_printf(text, "+u%" PRId64 "(", all[i - 1]->offset);
		else
			pd_text_printf(text, "%+" PRId64 "(", all[i - 1]->offset);
	}
	return count;
}

static void put_value(struct pd_text *text, const struct pd_probe_value *value)
{
	const struct pd_probe_memory *memory = value->memory;
	bool is_symbol = value->value[0] == '@' && memory;
	unsigned depth;

	pd_text_char(text, ' ');
	if (value->name)
		pd_text_printf(text, "%s=", value->name);
	// a symbol is an address, so that its first offset goes with it
	depth = put_memory(text, is_symbol ? memory->next : memory);
	pd_text_add(text, value->value);
	if (is_symbol)
		pd_text_printf(text, "%+" PRId64, memory->offset);
	while (depth--)
		pd_text_char(text, ')');
	if (value->type)
		pd_text_printf(text, ":%s", value->type);
}

void pd_probe_put_point(struct pd_text *text, const struct pd_probe_point *point)
{
	pd_text_printf(text, "%c:%s/%s ", point->is_return ? 'r' : 'p', point->group, point->event);
	if (point->module)
		pd_text_printf(text, "%s:", point->module);
	if (point->is_user || !point->symbol)
		pd_text_printf(text, "0x%" PRIx64, point->addr);
	else
		pd_text_printf(text, "%s+%" PRIu64, point->symbol, point->offset);
	for (size_t i = 0; i < point->value_count; i++)
		put_value(text, &point->values[i]);
}

// ---- as perf shows them ----

void pd_probe_put_argument(struct pd_text *text, const struct pd_probe_argument *argument)
{
	if (argument->name)
		pd_text_add(text, argument->name);
	if (argument->name && argument->variable)
		pd_text_char(text, '=');
	if (argument->variable)
		pd_text_add(text, argument->variable);
	for (const struct pd_probe_field *field = argument->fields; field; field = field->next)
		pd_text_printf(text, "%s%s", field->is_index ? "" : field->is_arrow ? "->" : ".", field->name);
	if (argument->type)
		pd_text_printf(text, ":%s", argument->type);
}

// The end of a long path, from a folder on if there is one.
static const char *short_path(const char *path)
{
	size_t length = strlen(path);
	const char *end = path + length - FILE_SHOWN, *slash;

	if (length <= FILE_SHOWN)
		return path;
	slash = strchr(end, '/');
	return slash ? slash + 1 : end;
}

void pd_probe_put_place(struct pd_text *text, const struct pd_probe_definition *d)
{
	if (d->function) {
		pd_text_add(text, d->function);
		if (d->offset)
			pd_text_printf(text, "+%" PRIu64, d->offset);
		else if (d->line)
			pd_text_printf(text, ":%" PRIu64, d->line);
		else if (d->is_return)
			pd_text_add(text, "%return");
	}
	if (d->file) {
		pd_text_printf(text, "@%s", short_path(d->file));
		if (!d->function && d->line)
			pd_text_printf(text, ":%" PRIu64, d->line);
	}
}

void pd_probe_put_event(struct pd_text *text, const struct pd_probe_point *point, const struct pd_probe_definition *d)
{
	size_t length = strlen(point->group) + 1 + strlen(point->event);

	pd_text_printf(text, "  %s:%s", point->group, point->event);
	for (; length < 20; length++)
		pd_text_char(text, ' ');
	PD_TEXT_LITERAL(text, " (on ");
	pd_probe_put_place(text, d);
	if (point->module)
		pd_text_printf(text, " in %s", point->module);
	for (size_t i = 0; i < d->argument_count; i++) {
		pd_text_add(text, i ? " " : " with ");
		pd_probe_put_argument(text, &d->arguments[i]);
	}
	PD_TEXT_LITERAL(text, ")\n");
}

void pd_probe_note(const struct pd_probe_options *options, const char *format, ...)
{
	char line[512];
	va_list arguments;

	if (!options->note)
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	options->note(options->self, line);
}
