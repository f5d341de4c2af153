/* SPDX-License-Identifier: MIT */
// Errors that system calls return.
#include "pairs/lines/lines.h"

static const struct error {
	const char *name, *text;
	uint64_t number;
} errors[] = {
#define ERROR(NAME, number, text) { #NAME, text, number },
#include "pairs/errors.def"
};

static const struct error *find_error(uint64_t number)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].number == number)
			return &errors[i];
	return NULL;
}

const char *pd_error_name(uint64_t number)
{
	const struct error *error = find_error(number);

	return error ? error->name : NULL;
}

const char *pd_error_text(uint64_t number)
{
	// no error: the kernel calls again, and the program sees none of these
	static const char *const again[] = { "restarted after a signal", "restarted after a signal",
					     "restarted if no signal is handled", NULL,
					     "restarted with what was left" };
	const struct error *error = find_error(number);

	if (!error && number >= 512 && number - 512 < sizeof(again) / sizeof(again[0]))
		return again[number - 512];
	return error ? error->text : NULL;
}
