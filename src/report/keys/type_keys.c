/* SPDX-License-Identifier: MIT */
/* Sort keys of types: which type of data the instruction of a frame accesses. */
#include "base/text/text.h"
#include "report/keys/find.h"
#include "report/report.h"
#include "type/type.h"

#include <inttypes.h>
#include <string.h>

enum {
	LINE_BYTES = 64 /* of a cache */
};

bool pd_key_is_of_types(const struct key *key)
{
	return key->find == pd_key_type || key->find == pd_key_typeoff || key->find == pd_key_typecln;
}

enum pd_status pd_key_check_types(struct pd_file *file, struct pd_error *error)
{
	const struct pd_string *arch = file ? pd_file_arch(file) : NULL;

	return pd_types_check(arch ? arch->value.data : NULL, error);
}

/* NULL if there is no memory. */
static const struct pd_type_access *access_of(struct pd_report *report, const struct key_context *context)
{
	const struct pd_string *cpu = pd_file_cpuid(report->file);

	if (!report->types)
		report->types = pd_types_new(report->symbols, cpu ? cpu->value.data : NULL);
	return report->types ? pd_types_at(report->types, &pd_key_frame(report, context)->place) : NULL;
}

typedef void describe_fn(struct pd_text *text, const struct pd_type_access *access, int64_t number);

/* As perf: by the name of the type, then by the number. Text is made of what was not met before. */
static bool find_numbered(struct pd_report *report, size_t key, const struct pd_type_access *access, int64_t number,
			  describe_fn *describe, uint32_t *value_out)
{
	struct value_table *table = &report->values[key];
	struct pd_text *text = report->scratch.text;
	struct identity id = { (uint64_t)number ^ UINT64_C(1) << 63, access->number };
	bool fresh;

	if (!pd_value_find(table, id, value_out, &fresh))
		return false;
	if (!fresh)
		return true;
	table->items[*value_out].sorted = (uint32_t)strlen(access->type);
	pd_text_clear(text);
	describe(text, access, number);
	return !pd_text_failed(text) && pd_value_set_text(table, *value_out, pd_text_bytes(text), 0);
}

static void describe_offset(struct pd_text *text, const struct pd_type_access *access, int64_t offset)
{
	pd_text_add(text, access->type);
	if (access->member)
		pd_text_printf(text, " +%#" PRIx32 " (%s)", (uint32_t)offset, access->member);
}

static void describe_line(struct pd_text *text, const struct pd_type_access *access, int64_t line)
{
	pd_text_printf(text, "%s: cache-line %" PRId64, access->type, line);
}

bool pd_key_type(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	const struct pd_type_access *access = access_of(report, context);

	return access && pd_value_find_text(&report->values[key], access->type, 0, (uintptr_t)report, value_out);
}

bool pd_key_typeoff(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	const struct pd_type_access *access = access_of(report, context);

	return access && find_numbered(report, key, access, access->offset, describe_offset, value_out);
}

bool pd_key_typecln(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	const struct pd_type_access *access = access_of(report, context);

	return access && find_numbered(report, key, access, access->offset / LINE_BYTES, describe_line, value_out);
}
