/* SPDX-License-Identifier: MIT */
#include "base/text/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct pd_named_number *pd_named_number_find(const struct pd_named_number *words, const char *text, size_t length)
{
	for (; words->name; words++)
		if (strlen(words->name) == length && !strncasecmp(words->name, text, length))
			return words;
	return NULL;
}

bool pd_digits_read(const char *digits, size_t count, uint64_t *value_out)
{
	uint64_t value = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t digit = (uint64_t)(digits[i] - '0');

		if (value > (UINT64_MAX - digit) / 10) {
			*value_out = UINT64_MAX;
			return false;
		}
		value = value * 10 + digit;
	}
	*value_out = value;
	return true;
}

bool pd_scaled_read(const char *text, const struct pd_named_number *units, uint64_t plain, uint64_t *value_out)
{
	char *end;
	unsigned long long number;
	const struct pd_named_number *unit;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	unit = *end ? pd_named_number_find(units, end, strlen(end)) : NULL;
	if (errno || (*end && !unit) || (number && (unit ? unit->value : plain) > UINT64_MAX / number))
		return false;
	*value_out = number * (unit ? unit->value : plain);
	return true;
}

bool pd_duration_read(const char *text, uint64_t *ns_out)
{
	static const struct pd_named_number units[] = { { "ns", 1 },
							{ "us", 1000 },
							{ "ms", 1000000 },
							{ "s", 1000000000 },
							{ "m", UINT64_C(60000000000) },
							{ "h", UINT64_C(3600000000000) },
							{ "d", UINT64_C(86400000000000) },
							{ 0 } };

	return pd_scaled_read(text, units, 1000000000, ns_out);
}
