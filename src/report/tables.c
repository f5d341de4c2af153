/* SPDX-License-Identifier: MIT */
/* Which tables a report has: one for each event or group of events that has samples. */
#include "report/report.h"

#include <string.h>

static bool has_samples(const struct pd_report *report, size_t first, size_t count)
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

static char *copy(struct pd_bytes bytes)
{
	char *string = pd_alloc(bytes.size + 1);

	if (string && bytes.size)
		memcpy(string, bytes.data, bytes.size);
	return string;
}

static char *group_name(struct pd_report *report, const struct pd_group *group, size_t first, size_t count)
{
	pd_text_clear(report->scratch.text);
	if (group)
		pd_text_printf(report->scratch.text, "%s { ", is_anonymous(group) ? "anon group" : group->name.data);
	for (size_t i = 0; i < count; i++)
		pd_text_printf(report->scratch.text, "%s%s", i ? ", " : "",
			       pd_file_event(report->file, first + i)->name);
	if (group)
		pd_text_add(report->scratch.text, " }");
	return pd_text_failed(report->scratch.text) ? NULL : copy(pd_text_bytes(report->scratch.text));
}

static const struct pd_group *group_at(struct pd_report *report, size_t event)
{
	const struct pd_group_desc *desc = pd_file_group_desc(report->file);
	size_t count = pd_file_event_count(report->file);

	for (size_t i = 0; desc && i < desc->groups.count; i++) {
		const struct pd_group *group = PD_ITEM(pd_group, desc->groups, i);

		if (group->leader_index == event && group->nr_members > 1 && group->nr_members <= count - event)
			return group;
	}
	return NULL;
}

static bool add_table(struct pd_report *report, const struct pd_group *group, size_t first, size_t count)
{
	struct table *table;

	if (!report->options.empty_tables && !has_samples(report, first, count))
		return true;
	table = &report->tables[report->table_count];
	*table = (struct table){ .head = { .first_event = first, .event_count = count, .group = count > 1 } };
	table->name = group_name(report, group, first, count);
	if (!table->name)
		return false;
	table->head.name = table->name;
	report->table_count++;
	return true;
}

bool pd_tables_create(struct pd_report *report)
{
	size_t count = pd_file_event_count(report->file);
	bool no_group = report->options.no_groups;

	report->tables = pd_alloc((count + 1) * sizeof(*report->tables));
	if (!report->tables)
		return false;
	if (report->options.all_in_one_table && !no_group && count > 1 && !group_at(report, 0))
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

bool pd_table_begin_totals(struct table *table)
{
	size_t count = table->head.event_count;

	table->totals = pd_alloc(count * sizeof(*table->totals));
	table->samples = pd_alloc(count * sizeof(*table->samples));
	table->latencies = pd_alloc(count * sizeof(*table->latencies));
	return table->totals && table->samples && table->latencies;
}

void pd_table_fini(struct table *table)
{
	pd_free(table->name);
	pd_free(table->rows);
	pd_free(table->amounts);
	pd_free(table->percentiles);
	pd_free(table->accesses);
	pd_free(table->totals);
	pd_free(table->samples);
	pd_free(table->latencies);
	pd_free(table->links);
}
