/* SPDX-License-Identifier: MIT */
/* Functions of a dso as others see them: one struct each, with a readable name that is made once. */
#include "symbol/lookup.h"

#include <string.h>

#include "object/demangle/demangle.h"

// ---- functions ----

const char *pd_lookup_readable(struct pd_symbols *symbols, const struct pd_dso_full *dso, const char *name,
			       size_t length, size_t tail)
{
	struct pd_text *text = &symbols->scratch;
	const char *copy;

	// of kernels perf shows what the linker sees, unless asked
	bool raw = dso->dso.kernel && !(symbols->flags & PD_SYMBOLS_KERNEL_NAMES);

	if ((symbols->flags & PD_SYMBOLS_RAW_NAMES) || raw || tail >= length)
		return name;
	text->size = 0;
	if (!pd_demangle(text, name, length - tail))
		return name;
	if ((symbols->flags & PD_SYMBOLS_SHORT_NAMES) && length > 2 && memcmp(name, "_Z", 2) == 0)
		pd_shorten_cxx(text, 0);
	pd_text_put(text, name + length - tail, tail);
	copy = text->failed ? NULL : pd_arena_text(&symbols->kept, text->data, text->size);
	if (copy)
		return copy;
	symbols->failed = true;
	return name;
}

struct pd_function_full *pd_lookup_add_function(struct pd_symbols *symbols, const struct pd_dso_full *dso,
						const struct pd_function *function)
{
	struct pd_function_full *full = pd_arena_alloc(&symbols->kept, sizeof(*full));

	if (!full || symbols->function_count >= UINT32_MAX - 1 ||
	    !PD_GROW(symbols->functions, symbols->function_capacity, symbols->function_count + 1)) {
		symbols->failed = true;
		return NULL;
	}
	full->dso = dso;
	full->function = *function;
	full->function.index = symbols->function_count;
	full->function.dso = &dso->dso;
	symbols->functions[symbols->function_count++] = full;
	return full;
}
