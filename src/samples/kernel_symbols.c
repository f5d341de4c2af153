/* SPDX-License-Identifier: MIT */
/* Where functions of the running kernel are, as perf kallsyms prints it. */
#include <inttypes.h>
#include <string.h>

#include <perfdata/objects.h>

#include "base/error.h"
#include "object/symbols/kallsyms.h"

static void print_symbol(struct pd_text *text, const struct pd_kallsyms *kernel, const struct pd_symbol *symbol)
{
	const char *module = pd_kallsyms_module(kernel, symbol->owner);
	const char *brackets = module ? "[" : "", *end = module ? "]" : "";

	pd_text_printf(text, "%s: ", symbol->name);
	if (module)
		pd_text_printf(text, "[%s] ", module);
	else
		pd_text_add(text, "[kernel] ");
	pd_text_printf(text, "%s%s%s %#" PRIx64 "-%#" PRIx64 " (%#" PRIx64 "-%#" PRIx64 ")\n", brackets,
		       module ? module : "[kernel.kallsyms]", end, symbol->start, symbol->end, symbol->start,
		       symbol->end);
}

/* Static functions of one name are several. */
static size_t print_name(struct pd_text *text, const struct pd_kallsyms *kernel, const char *name)
{
	size_t length = strlen(name), found = 0;

	for (size_t i = 0; i < pd_symtab_count(kernel->table); i++) {
		struct pd_symbol symbol = pd_symtab_at(kernel->table, i);

		if (symbol.name_length != length || memcmp(symbol.name, name, length) != 0)
			continue;
		print_symbol(text, kernel, &symbol);
		found++;
	}
	if (!found)
		pd_text_printf(text, "%s: not found\n", name);
	return found;
}

enum pd_status pd_print_kernel_symbols(struct pd_text *text, const char *path, const char *const *names, size_t count,
				       struct pd_error *error)
{
	struct pd_kallsyms kernel;
	enum pd_status status = pd_kallsyms_open(&kernel, path ? path : "/proc/kallsyms", 0, error);
	size_t missing = 0;

	if (status < 0)
		return status;
	if (kernel.hidden) {
		pd_kallsyms_close(&kernel);
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
			       "the kernel hides its addresses, see kernel.kptr_restrict");
	}
	for (size_t i = 0; i < count; i++)
		missing += !print_name(text, &kernel, names[i]);
	pd_kallsyms_close(&kernel);
	return missing ? pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%zu of %zu names not found", missing, count) :
			 PD_OK;
}
