/* SPDX-License-Identifier: MIT */
/* Numbers as users write them. */
#include <perfdata/text.h>

#include <string.h>

bool pd_number_parse(const char *string, uint64_t *value_out)
{
	bool hex = string[0] == '0' && (string[1] == 'x' || string[1] == 'X');
	const char *digits = hex ? "0123456789abcdef" : "0123456789";
	const char *at = hex ? string + 2 : string;
	uint64_t base = hex ? 16 : 10;
	uint64_t value = 0;

	if (!*at)
		return false;
	for (; *at; at++) {
		char lower = *at >= 'A' && *at <= 'F' ? (char)(*at - 'A' + 'a') : *at;
		const char *digit = strchr(digits, lower);
		uint64_t worth;

		if (!digit)
			return false;
		worth = (uint64_t)(digit - digits);
		if (value > (UINT64_MAX - worth) / base)
			return false;
		value = value * base + worth;
	}
	*value_out = value;
	return true;
}
