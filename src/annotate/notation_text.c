/* SPDX-License-Identifier: MIT */
/* Text of limited length. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "annotate/notation.h"

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
