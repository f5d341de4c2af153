/* SPDX-License-Identifier: MIT */
/*
 * What report and top make of their options and of a profile: columns, and tables that have no rows yet.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* ---- columns and keys ---- */

static bool add_key(struct report *report, const char *name, size_t length, size_t *index_out)
{
	const struct key *key = key_by_name(name, length);

	if (!key) {
		complain("unknown sort key '%.*s'; perfdata report --help lists them", (int)length, name);
		return false;
	}
	if (key->of_branch && !report->by_branch) {
		complain("the sort key %s needs --branch-stack", key->name);
		return false;
	}
	for (*index_out = 0; *index_out < report->key_count; ++*index_out)
		if (report->keys[*index_out] == key)
			return true;
	if (report->key_count == KEYS_MOST) {
		complain("more than %d sort keys", KEYS_MOST);
		return false;
	}
	report->keys[report->key_count++] = key;
	return true;
}

static bool parse_column(struct report *report, const char *name, size_t length, struct column *column)
{
	static const struct {
		const char *name;
		enum column_kind kind;
	} numbers[] = {
		{ "overhead", COLUMN_OVERHEAD }, { "overhead_children", COLUMN_CHILDREN },
		{ "sample", COLUMN_SAMPLES },    { "samples", COLUMN_SAMPLES },
		{ "period", COLUMN_PERIOD },     { "overhead_sys", COLUMN_KERNEL },
		{ "overhead_us", COLUMN_USER },
	};

	*column = (struct column){ .kind = COLUMN_KEY };
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strlen(numbers[i].name) == length && !memcmp(numbers[i].name, name, length))
			column->kind = numbers[i].kind;
	return column->kind != COLUMN_KEY || add_key(report, name, length, &column->key);
}

static bool same_column(const struct column *a, const struct column *b)
{
	return a->kind == b->kind && (a->kind != COLUMN_KEY || a->key == b->key);
}

bool columns_append(struct column *columns, size_t *count, const struct column *column)
{
	for (size_t i = 0; i < *count; i++)
		if (same_column(&columns[i], column))
			return true;
	if (*count == COLUMNS_MOST) {
		complain("more than %d columns", COLUMNS_MOST);
		return false;
	}
	columns[(*count)++] = *column;
	return true;
}

bool columns_append_all(struct column *columns, size_t *count, const struct column *more, size_t more_count)
{
	for (size_t i = 0; i < more_count; i++)
		if (!columns_append(columns, count, &more[i]))
			return false;
	return true;
}

bool columns_parse(struct report *report, const char *list, struct column *columns, size_t *count)
{
	while (*list) {
		size_t length = strcspn(list, ",");
		struct column column;

		if (length &&
		    (!parse_column(report, list, length, &column) || !columns_append(columns, count, &column)))
			return false;
		list += length + (list[length] == ',');
	}
	return true;
}

void columns_add_number(struct report *report, enum column_kind kind)
{
	struct column column = { .kind = kind, .beside = kind == COLUMN_OVERHEAD && report->children };

	columns_append(report->columns, &report->column_count, &column);
	columns_append(report->order, &report->order_count, &column);
}

/* ---- what is asked of a profile ---- */

bool report_has_chains(struct pd_file *file)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		if (pd_file_event(file, i)->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN))
			return true;
	return false;
}

uint32_t report_by(const struct report *report)
{
	uint32_t by = 0;

	for (size_t i = 0; i < report->key_count; i++)
		by |= report->keys[i]->by;
	return report->children || report->graph.kind != GRAPH_NONE ? by | PD_BY_CHAIN : by;
}

/* ---- tables ---- */

static bool has_samples(const struct report *report, size_t first, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct pd_profile_total *total = pd_profile_total(report->profile, first + i);

		if (total->samples || total->left_samples)
			return true;
	}
	return false;
}

/* perf record writes a name for groups that have none. */
static bool is_anonymous(const struct pd_group *group)
{
	return !group->name.length || strcmp(group->name.data, "{anon_group}") == 0;
}

static char *group_name(struct report *report, const struct pd_group *group, size_t first, size_t count)
{
	struct pd_bytes bytes;

	pd_text_clear(report->scratch);
	if (group)
		pd_text_printf(report->scratch, "%s { ", is_anonymous(group) ? "anon group" : group->name.data);
	for (size_t i = 0; i < count; i++)
		pd_text_printf(report->scratch, "%s%s", i ? ", " : "",
			       pd_file_event(report->input.file, first + i)->name);
	if (group)
		pd_text_add(report->scratch, " }");
	bytes = pd_text_bytes(report->scratch);
	return pd_text_failed(report->scratch) ? NULL : strndup((const char *)bytes.data, bytes.size);
}

static const struct pd_group *group_at(struct report *report, size_t event)
{
	const struct pd_group_desc *desc = pd_file_group_desc(report->input.file);
	size_t count = pd_file_event_count(report->input.file);

	for (size_t i = 0; desc && i < desc->groups.count; i++) {
		const struct pd_group *group = PD_ITEM(pd_group, desc->groups, i);

		if (group->leader_index == event && group->nr_members > 1 && group->nr_members <= count - event)
			return group;
	}
	return NULL;
}

static bool add_table(struct report *report, const struct pd_group *group, size_t first, size_t count)
{
	struct table *table;

	if (!has_samples(report, first, count))
		return true;
	table = &report->tables[report->table_count];
	*table = (struct table){ .first_event = first, .event_count = count, .group = count > 1 };
	table->name = group_name(report, group, first, count);
	if (!table->name)
		return false;
	report->table_count++;
	return true;
}

bool tables_make(struct report *report, bool group_all, bool no_group)
{
	size_t count = pd_file_event_count(report->input.file);

	report->tables = calloc(count + 1, sizeof(*report->tables));
	if (!report->tables)
		return false;
	if (group_all && !no_group && count > 1 && !group_at(report, 0))
		return add_table(report, NULL, 0, count);
	for (size_t i = 0; i < count;) {
		const struct pd_group *group = no_group ? NULL : group_at(report, i);
		size_t members = group ? group->nr_members : 1;

		if (!add_table(report, group, i, members))
			return false;
		i += members;
	}
	return true;
}

void report_fini(struct report *report)
{
	for (size_t i = 0; i < report->table_count; i++) {
		free((void *)(uintptr_t)report->tables[i].name);
		table_fini(&report->tables[i]);
	}
	free(report->tables);
	for (size_t i = 0; i < KEYS_MOST; i++)
		value_table_fini(&report->values[i]);
	value_sets_fini(&report->whos);
	value_sets_fini(&report->places);
	free(report->looks);
	free(report->twins);
	free(report->frame_places);
	for (size_t i = 0; i < report->line_count; i++)
		free(report->lines[i]);
	free(report->lines);
	free(report->known);
	free(report->chains);
	pd_text_free(report->scratch);
	pd_trace_free(report->trace);
}
