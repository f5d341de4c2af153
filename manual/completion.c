/* SPDX-License-Identifier: MIT */
/* The shells that can complete. */
#include "manual/script.h"

#include <string.h>

manual_program_fn *manual_completion(const char *shell)
{
	static const struct {
		const char *name;
		manual_program_fn *add;
	} shells[] = { { "bash", script_add_bash }, { "zsh", script_add_zsh }, { "fish", script_add_fish } };

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(shells[i].name, shell) == 0)
			return shells[i].add;
	return NULL;
}
