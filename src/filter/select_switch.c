/* SPDX-License-Identifier: MIT */
/*
 * Samples between events that switch them on and off, as perf report and perf script select them. What is switched depends on all
 * samples before, so those who see them in another order are told where something changes.
 */
#include <string.h>

#include "base/error.h"
#include "base/lookup/search.h"
#include "base/memory.h"
#include "filter/select.h"
#include "stream/each.h"

void pd_toggle_begin(struct pd_toggle *toggle)
{
	toggle->leaves = toggle->on != NULL;
}

static bool is_named(const struct pd_event *event, const char *name)
{
	return event && name && strcmp(event->name, name) == 0;
}

/* As perf: without an event that switches on, nothing is off but the first sample that should switch off. */
bool pd_toggle_leaves(struct pd_toggle *toggle, const struct pd_event *event)
{
	if (toggle->leaves && toggle->on) {
		toggle->leaves = !is_named(event, toggle->on);
		return toggle->leaves || !toggle->shown;
	}
	if (toggle->leaves || !is_named(event, toggle->off))
		return false;
	toggle->leaves = true;
	return !toggle->shown;
}

struct noting {
	struct pd_select *select;
	struct pd_toggle toggle;
};

static enum pd_status note_sample(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct noting *noting = self;
	struct pd_select *select = noting->select;
	bool before = noting->toggle.leaves, leaves;

	(void)stream;
	if (record->type != PD_RECORD_SAMPLE || !pd_select_has_time(select, record->time_ns))
		return PD_OK;
	leaves = pd_toggle_leaves(&noting->toggle, record->event);
	if (before == noting->toggle.leaves)
		return PD_OK;
	if (!PD_GROW(select->points, select->point_capacity, select->point_count + 1))
		return pd_fail(error, PD_ERROR_MEMORY, PD_NO_OFFSET, "out of memory");
	select->points[select->point_count++] = (struct pd_toggle_point){
		.time_ns = record->time_ns,
		.place = record->place,
		.leaves = leaves,
		.leaves_more = noting->toggle.on && noting->toggle.leaves,
	};
	return PD_OK;
}

static enum pd_status check_event(struct pd_file *file, const char *option, const char *name, struct pd_error *error)
{
	size_t i = 0, count = pd_file_event_count(file);

	while (name && i < count && !is_named(pd_file_event(file, i), name))
		i++;
	return !name || i < count ? PD_OK :
				    pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
					    "option --%s: no event is named '%s'", option, name);
}

enum pd_status pd_toggle_check(const struct pd_toggle *toggle, struct pd_file *file, struct pd_error *error)
{
	enum pd_status status = check_event(file, "switch-on", toggle->on, error);

	return status < 0 ? status : check_event(file, "switch-off", toggle->off, error);
}

enum pd_status pd_select_note_switches(struct pd_select *select, struct pd_file *file, struct pd_error *error)
{
	const struct pd_each each = { .order = PD_ORDER_TIME, .trusts = true };
	struct noting noting = { .select = select, .toggle = select->toggle };
	enum pd_status status = pd_toggle_check(&select->toggle, file, error);

	if (status < 0 || select->in_order || !pd_select_by_switch(select))
		return status;
	select->point_count = 0;
	pd_toggle_begin(&noting.toggle);
	return pd_each_record(file, &each, note_sample, &noting, error);
}

bool pd_select_by_switch(const struct pd_select *select)
{
	return select->toggle.on || select->toggle.off;
}

static bool is_until(const struct pd_toggle_point *point, uint64_t time_ns, uint64_t place)
{
	return point->time_ns < time_ns || (point->time_ns == time_ns && point->place <= place);
}

bool pd_select_is_switched_on(const struct pd_select *select, const struct pd_record *record)
{
	const struct pd_toggle_point *point;
	size_t count;

	if (!pd_select_by_switch(select) || select->in_order)
		return true;
	PD_SEARCH(count, 0, select->point_count, i, is_until(&select->points[i], record->time_ns, record->place));
	if (!count)
		return !select->toggle.on;
	point = &select->points[count - 1];
	return !(point->place == record->place ? point->leaves : point->leaves_more);
}
