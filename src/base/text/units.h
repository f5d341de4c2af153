/* SPDX-License-Identifier: MIT */
/* Numbers with a unit after them, and words that stand for numbers; without regard to case. */
#ifndef PD_BASE_TEXT_UNITS_H
#define PD_BASE_TEXT_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pd_named_number {
	const char *name; // NULL: behind the last one
	uint64_t value;
};

const struct pd_named_number *pd_named_number_find(const struct pd_named_number *words, const char *text,
						   size_t length);
// A number of digits alone. False, and the most there is, if it does not fit into 64 bits.
bool pd_digits_read(const char *digits, size_t count, uint64_t *value_out);
// A decimal number, times that of the unit after it; plain if there is none. False if it is something else, or too large.
bool pd_scaled_read(const char *text, const struct pd_named_number *units, uint64_t plain, uint64_t *value_out);
// "20ms", "3s": in ns.
bool pd_duration_read(const char *text, uint64_t *ns_out);

#endif
