/* SPDX-License-Identifier: MIT */
/* Whose record it is: by its own fields, else by its trailer. */
#include <string.h>

#include "stream/read/inside.h"

enum {
	FIELDS_LOOKED_AT = 5
}; // pid and tid stand in front

// Offsets in the struct of the members pid and tid; false if the layout has not both.
static bool find_thread(const struct pd_layout *layout, size_t *pid_out, size_t *tid_out)
{
	size_t count = pd_layout_field_count(layout), found = 0;

	for (size_t i = 0; i < count && i < FIELDS_LOOKED_AT; i++) {
		const struct pd_field *field = pd_layout_field(layout, i);

		if (field->size != sizeof(uint32_t) || !field->name)
			continue;
		if (!strcmp(field->name, "pid")) {
			*pid_out = field->offset;
			found |= 1;
		} else if (!strcmp(field->name, "tid")) {
			*tid_out = field->offset;
			found |= 2;
		}
	}
	return found == 3;
}

static void take_sample(const struct pd_record *record, struct pd_thread_id *thread_out)
{
	struct pd_brief brief;

	if (!pd_record_brief(record, &brief))
		return;
	thread_out->known = record->event->attr->sample_type & MASK_SAMPLE_TYPE(TID);
	thread_out->pid = brief.pid;
	thread_out->tid = brief.tid;
	thread_out->cpu = brief.cpu;
}

static void take_trailer(const struct pd_record *record, const struct pd_sample_id *trailer,
			 struct pd_thread_id *thread_out)
{
	uint64_t has = record->scratch->context.scope.words[PD_WORD_TRAILER];

	if (!thread_out->known && (has & MASK_TRAILER(TID))) {
		thread_out->known = true;
		thread_out->pid = trailer->pid;
		thread_out->tid = trailer->tid;
	}
	if (has & MASK_TRAILER(CPU))
		thread_out->cpu = trailer->cpu;
}

void pd_record_thread(const struct pd_record *record, struct pd_thread_id *thread_out)
{
	const struct pd_layout *layout = pd_record_layout(record->type);
	const struct pd_comm *decoded; // all bodies begin alike
	size_t pid = 0, tid = 0;

	*thread_out = (struct pd_thread_id){ UINT32_MAX, UINT32_MAX, UINT32_MAX, false };
	if (record->type == PD_RECORD_SAMPLE) {
		take_sample(record, thread_out);
		return;
	}
	if (!layout || !(decoded = pd_record_as(record, record->type)))
		return;
	if (find_thread(layout, &pid, &tid)) {
		thread_out->known = true;
		thread_out->pid = (uint32_t)pd_member(decoded, pid, sizeof(uint32_t));
		thread_out->tid = (uint32_t)pd_member(decoded, tid, sizeof(uint32_t));
	}
	if (pd_record_group(record->type) == PD_GROUP_KERNEL && decoded->sample_id)
		take_trailer(record, decoded->sample_id, thread_out);
}
