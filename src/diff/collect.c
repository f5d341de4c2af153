/* SPDX-License-Identifier: MIT */
/* Copies rows of a report into a comparison. As perf: functions of one name in one object are one row, and so is all of an object
 * that is in no function. */
#include "diff/diff.h"

#include <string.h>

#include "base/text/text.h"
#include "report/report.h"

bool pd_diff_take_events(struct pd_diff *diff, struct pd_file *file)
{
	size_t count = pd_file_event_count(file);

	diff->events = pd_alloc((count + 1) * sizeof(*diff->events));
	for (size_t i = 0; diff->events && i < count; i++) {
		const struct pd_event *from = pd_file_event(file, i);
		struct diff_event *event = &diff->events[diff->event_count++];

		event->type = from->attr->type;
		event->config = from->attr->config;
		event->sampling = from->attr->sample_period; /* or frequency: they share the word */
		event->frequency = PD_BITS(from->attr->flags, PD_ATTR_FREQ) != 0;
		event->unit = pd_event_unit(from);
		event->head.name = pd_arena_text(&diff->texts, from->name, strlen(from->name));
		event->runs = pd_alloc(diff->run_capacity * sizeof(*event->runs));
		if (!event->head.name || !event->runs)
			return false;
	}
	return diff->events != NULL;
}

/* ---- identity ---- */

static const struct value *value_of(const struct pd_report *report, const struct row *row, size_t key)
{
	return &report->values[key].items[row_value(report, row, key)];
}

static void describe(struct pd_diff *diff, const struct pd_report *report, size_t table, size_t row)
{
	const struct row *from = &report->tables[table].rows[row];

	pd_text_clear(diff->scratch);
	for (size_t i = 0; i < diff->key_count; i++) {
		char cell[PD_REPORT_CELL_BYTES];
		const char *text = pd_report_cell(report, table, row, i, cell);
		bool level = diff->keys[i]->has_level && strlen(text) >= 4;

		/* no name begins with these */
		if (level && value_of(report, from, i)->equivalent)
			pd_text_add(diff->scratch, "\1");
		else
			pd_text_add(diff->scratch, level ? text + 4 : text);
		pd_text_add(diff->scratch, "\2");
	}
}

static uint64_t address_of(const struct pd_diff *diff, const struct pd_report *report, const struct row *row)
{
	for (size_t i = 0; i < diff->key_count; i++)
		if (diff->keys[i]->has_level && value_of(report, row, i)->equivalent)
			return value_of(report, row, i)->addr ^ UINT64_C(1) << 63; /* the kernel's first */
	return 0;
}

/* False if there is no memory. */
static bool take_cells(struct pd_diff *diff, struct diff_row *to, const struct pd_report *report, size_t table,
		       size_t row)
{
	to->cells = pd_arena_alloc(&diff->texts, (diff->key_count + 1) * sizeof(*to->cells));
	for (size_t i = 0; to->cells && i < diff->key_count; i++) {
		char cell[PD_REPORT_CELL_BYTES];
		const char *text = pd_report_cell(report, table, row, i, cell);

		to->cells[i] = pd_arena_text(&diff->texts, text, strlen(text));
		if (!to->cells[i])
			return false;
	}
	return to->cells != NULL;
}

/* ---- rows ---- */

static bool add_row(struct pd_diff *diff, struct diff_event *event, uint64_t hash, uint32_t *number_out)
{
	struct pd_bytes identity = pd_text_bytes(diff->scratch);
	struct diff_row *row;

	if (event->row_count >= UINT32_MAX - 1 || !PD_GROW(event->rows, event->row_capacity, event->row_count + 1) ||
	    !pd_index_add(&event->index, hash, (uint32_t)event->row_count))
		return false;
	row = &event->rows[event->row_count];
	*row = (struct diff_row){ .identity_length = identity.size, .run = diff->run_count - 1 };
	row->identity = pd_arena_text(&diff->texts, identity.data, identity.size);
	if (!row->identity)
		return false;
	*number_out = (uint32_t)event->row_count++;
	return true;
}

bool pd_diff_find_row(struct pd_diff *diff, struct diff_event *event, uint32_t *number_out)
{
	struct pd_bytes identity = pd_text_bytes(diff->scratch);
	uint64_t hash = pd_hash(diff->seed, identity.data, identity.size);
	size_t at = hash;
	uint32_t number;

	if (pd_text_failed(diff->scratch))
		return false;
	while ((number = pd_index_next(&event->index, hash, &at)) != PD_INDEX_END) {
		const struct diff_row *row = &event->rows[number];

		if (row->identity_length == identity.size && memcmp(row->identity, identity.data, identity.size) == 0) {
			*number_out = number;
			return true;
		}
	}
	return add_row(diff, event, hash, number_out);
}

bool pd_diff_add_sum(struct diff_event *event, size_t run, uint32_t row, uint64_t period, uint64_t samples)
{
	struct run_sums *sums = &event->runs[run];

	if (!PD_GROW(sums->items, sums->capacity, (size_t)row + 1))
		return false;
	for (; sums->count <= row; sums->count++)
		sums->items[sums->count] = (struct pd_diff_sum){ 0 };
	sums->items[row].period += period;
	sums->items[row].samples += samples;
	sums->items[row].present = true;
	return true;
}

/* How a row is shown: as in the first run that has it, and there as the first address. False if there is no memory. */
static bool show_as(struct pd_diff *diff, struct diff_row *row, const struct pd_report *report, size_t table,
		    size_t from)
{
	uint64_t addr = address_of(diff, report, &report->tables[table].rows[from]);

	if (row->cells && (row->run != diff->run_count - 1 || addr >= row->addr))
		return true;
	row->addr = addr;
	return take_cells(diff, row, report, table, from);
}

static bool take_row(struct pd_diff *diff, struct diff_event *event, const struct pd_report *report, size_t table,
		     size_t from)
{
	const struct pd_report_amounts *amounts = pd_report_row(report, table, from);
	const struct pd_function *function;
	uint32_t number;

	describe(diff, report, table, from);
	if (!pd_diff_find_row(diff, event, &number) ||
	    !pd_diff_add_sum(event, diff->run_count - 1, number, amounts->period, amounts->samples))
		return false;
	function = pd_diff_function_of(diff, report, &report->tables[table].rows[from]);
	return show_as(diff, &event->rows[number], report, table, from) &&
	       pd_diff_take_place(diff, event, number, report, function) &&
	       pd_diff_take_blocks(diff, &event->rows[number], report, function);
}

/* Periods differ where a frequency was asked for: a few large ones tell little. Of the samples that agree in all that the profile
 * distinguishes only the sum is known. */
static double effective_samples(const struct pd_report *report, const struct pd_report_table *table)
{
	struct pd_profile_entry entry;
	double squares = 0, sum = 0;

	for (size_t i = 0; pd_profile_entry(report->profile, i, &entry); i++)
		if (entry.event->index == table->first_event && entry.samples) {
			sum += (double)entry.period;
			squares += (double)entry.period * (double)entry.period / (double)entry.samples;
		}
	return squares > 0 ? sum * sum / squares : (double)table->samples[0];
}

static bool take_table(struct pd_diff *diff, struct diff_event *event, const struct pd_report *report, size_t table)
{
	const struct pd_report_table *from = pd_report_table(report, table);
	struct run_sums *sums = &event->runs[diff->run_count - 1];

	sums->total = (struct pd_diff_sum){ .period = from->totals[0], .samples = from->samples[0], .present = true };
	sums->effective = effective_samples(report, from);
	for (size_t i = 0; i < from->row_count; i++)
		if (!take_row(diff, event, report, table, i))
			return false;
	return pd_diff_find_inlined(diff, event, report, table);
}

bool pd_diff_take_rows(struct pd_diff *diff, struct pd_file *file, const struct pd_report *report)
{
	for (size_t i = 0; i < diff->event_count; i++) {
		bool first = diff->run_count == 1;
		const struct pd_event *event = first ? pd_file_event(file, i) :
						       pd_diff_event_like(file, &diff->events[i]);
		const struct pd_report_table *table;

		if (!event)
			continue;
		diff->events[i].runs[diff->run_count - 1].total.present = true;
		for (size_t k = 0; (table = pd_report_table(report, k)) != NULL; k++)
			if (table->first_event == event->index && !take_table(diff, &diff->events[i], report, k))
				return false;
	}
	return true;
}
