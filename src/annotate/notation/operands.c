/* SPDX-License-Identifier: MIT */
/* Operands as capstone prints them. */
#include <stdlib.h>
#include <string.h>

#include "annotate/notation/notation.h"

size_t pd_operands_split(const char *text, struct pd_operand *operands_out)
{
	size_t depth = 0, count = 0;
	const char *start = text;

	while (*text && count < PD_OPERANDS) {
		depth += *text == '(' || *text == '[' || *text == '{';
		depth -= (*text == ')' || *text == ']' || *text == '}') && depth;
		text++;
		if (*text && (*text != ',' || depth))
			continue;
		operands_out[count++] = (struct pd_operand){ start, (size_t)(text - start) };
		while (*text == ',' || *text == ' ')
			text++;
		start = text;
	}
	return count;
}

bool pd_operand_is(const struct pd_operand *operand, const char *text)
{
	return operand->size == strlen(text) && !memcmp(operand->text, text, operand->size);
}

bool pd_operand_number(const char *text, size_t size, uint64_t *number_out, size_t *length_out)
{
	char copy[40] = "";
	char *end;
	bool minus;

	if (!size || size >= sizeof(copy))
		size = size ? sizeof(copy) - 1 : 0;
	memcpy(copy, text, size);
	minus = copy[0] == '-';
	if (copy[minus] < '0' || copy[minus] > '9')
		return false;
	*number_out = strtoull(copy + minus, &end, 0);
	if (minus)
		*number_out = -*number_out;
	*length_out = (size_t)(end - copy);
	return true;
}

bool pd_word_is_in(const char *list, const char *word, size_t length)
{
	for (const char *at = list; *at;) {
		size_t size = strcspn(at, " ");

		if (size == length && !memcmp(at, word, size))
			return true;
		at += size + (at[size] == ' ');
	}
	return false;
}
