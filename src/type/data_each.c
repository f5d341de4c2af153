/* SPDX-License-Identifier: MIT */
/* Types of data, one after another, with sums by member: what all formats of annotate --data-type have in common. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "type/data.h"

static struct pd_annotate_sum sum_of(const struct pd_type_printing *p, size_t event, uint64_t offset, size_t end_event,
				     uint64_t end)
{
	return pd_type_data_sum(&p->data, pd_type_data_at(&p->data, p->row, event, offset),
				pd_type_data_at(&p->data, p->row, end_event, end));
}

struct pd_annotate_sum pd_type_printing_sum(const struct pd_type_printing *p, size_t column, uint64_t offset,
					    uint64_t size)
{
	size_t event = p->columns[column];

	return sum_of(p, event, offset, event, size < UINT64_MAX - offset ? offset + size : UINT64_MAX);
}

struct pd_annotate_sum pd_type_printing_all(const struct pd_type_printing *p, size_t event, size_t count)
{
	return sum_of(p, event, 0, event + count, 0);
}

enum pd_status pd_type_printing_init(struct pd_type_printing *p, struct pd_annotate *annotate,
				     const struct pd_annotate_types_options *types, struct pd_text *out,
				     struct pd_error *error)
{
	const struct pd_string *arch;
	enum pd_status status;
	size_t events;

	*p = (struct pd_type_printing){ .data = { .annotate = annotate, .base = pd_annotate_base(annotate) },
					.out = out };
	arch = pd_file_arch(p->data.base.file);
	status = pd_types_check(arch ? arch->value.data : NULL, error);
	if (status != PD_OK)
		return status;
	if (types)
		memcpy(&p->types, types, types->size < sizeof(p->types) ? types->size : sizeof(p->types));
	events = pd_file_event_count(p->data.base.file);
	p->columns = pd_alloc((events + 1) * sizeof(*p->columns));
	p->sums = pd_alloc((events + 1) * sizeof(*p->sums));
	if (!p->columns || !p->sums || !pd_type_data_collect(&p->data, p->types.answers || p->types.words))
		return pd_fail_memory(error);
	return PD_OK;
}

void pd_type_printing_fini(struct pd_type_printing *p)
{
	pd_free(p->columns);
	pd_free(p->sums);
	pd_type_data_fini(&p->data);
}

bool pd_type_printing_table(struct pd_type_printing *p, size_t index)
{
	p->table = pd_annotate_table(p->data.annotate, index);
	p->column_count = 0;
	for (size_t i = 0; p->table && i < p->table->event_count; i++)
		if (!p->types.skip_empty || p->table->totals[i].samples)
			p->columns[p->column_count++] = p->table->first_event + i;
	return p->table != NULL;
}

enum pd_status pd_type_printing_each(struct pd_type_printing *p, bool (*put)(void *self), void *self,
				     struct pd_error *error)
{
	enum pd_status status = PD_OK;
	size_t count;
	uint32_t *rows = pd_type_data_order(&p->data, p->table, p->types.type, &count);

	if (!rows)
		return pd_fail_memory(error);
	for (size_t i = 0; status == PD_OK && i < count; i++) {
		p->row = &p->data.rows[rows[i]];
		status = put(self) ? pd_text_flush_or_fail(p->out, error) : pd_fail_memory(error);
	}
	p->found |= count > 0;
	pd_free(rows);
	return status;
}

enum pd_status pd_type_printing_check(const struct pd_type_printing *p, struct pd_error *error)
{
	if (p->found)
		return PD_OK;
	return p->types.type ?
		       pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "no samples access a type '%s'", p->types.type) :
		       pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
			       "no samples access data of a known type; debug information says which it is");
}
