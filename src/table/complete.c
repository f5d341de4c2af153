/* SPDX-License-Identifier: MIT */
/* What is known of stacks only when all samples were read. */
#include "table/scan.h"

#include "base/error.h"

enum pd_status pd_table_complete_stacks(struct pd_table_set *set, struct pd_error *error)
{
	const struct pd_scan_limits limits = { 0 };
	const struct pd_table *samples = &set->tables[PD_TABLE_samples].table;
	const struct pd_columns *batch;
	struct pd_scan *scan;
	enum pd_status status;
	bool *wanted;

	if (set->stacks_complete)
		return PD_OK;
	wanted = pd_alloc(samples->column_count * sizeof(*wanted));
	if (!wanted)
		return pd_fail_memory(error);
	for (size_t i = 0; i < samples->column_count; i++)
		wanted[i] = pd_table_full(samples)->sources[i].what == PD_COL_SAMPLE_STACK;
	status = pd_scan_open(set, samples, wanted, &limits, PD_ORDER_FILE, &scan, error);
	pd_free(wanted);
	if (status < 0)
		return status;
	do {
		status = pd_scan_next(scan, &batch, error);
	} while (status == PD_OK);
	pd_scan_close(scan);
	set->stacks_complete = status == PD_END;
	return status < 0 ? status : PD_OK;
}

const char *pd_table_stack_text(struct pd_table_set *set, uint64_t stack)
{
	uint64_t known = pd_u64_map_find(&set->ids.stack_of, stack);

	if (!set->text)
		set->text = pd_text_new();
	if (!set->text)
		return "";
	if (!known && pd_table_complete_stacks(set, NULL) >= 0)
		known = pd_u64_map_find(&set->ids.stack_of, stack);
	pd_text_clear(set->text);
	if (known)
		pd_table_print_stack(set, (uint32_t)known - 1, set->text);
	pd_text_char(set->text, 0);
	return set->text->failed ? "" : set->text->data;
}
