/* SPDX-License-Identifier: MIT */
/* Text of limited length. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "annotate/notation/notation.h"

void pd_notation_put(struct pd_notation_text *text, const char *string, size_t length)
{
	size_t left = text->capacity - text->size - 1;

	length = length < left ? length : left;
	memcpy(text->data + text->size, string, length);
	text->size += length;
	text->data[text->size] = 0;
}

void pd_notation_printf(struct pd_notation_text *text, const char *format, ...)
{
	char part[PD_OPERANDS_SIZE];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(part, sizeof(part), format, args);
	va_end(args);
	if (length > 0)
		pd_notation_put(text, part, (size_t)length < sizeof(part) ? (size_t)length : sizeof(part) - 1);
}

void pd_notation_put_addr(struct pd_notation_writer *s, uint64_t addr)
{
	s->notation->has_name = true;
	s->notation->named = addr;
	s->notation->name_start = s->out.size;
	pd_notation_printf(&s->out, "%" PRIx64, addr);
	s->notation->name_end = s->out.size;
}

void pd_notation_put_tab(struct pd_notation_writer *s)
{
	pd_notation_printf(&s->out, "%*s", (int)(8 - s->out.size % 8), "");
}
