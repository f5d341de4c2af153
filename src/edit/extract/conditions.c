/* SPDX-License-Identifier: MIT */
// Whether a record is selected, by itself or by what is known of its thread and place.
#include "edit/extract/match.h"

// ---- names ----

static const char *comm_of(struct pd_extract_match *match, uint32_t tid, struct pd_moment when)
{
	return pd_state_comm(match->state, tid, when, match->unknown);
}

// As script has it: guests need to be known by more than the file.
static struct pd_place place_of(struct pd_extract_match *match, const struct pd_record *record,
				const struct pd_brief *brief)
{
	if (brief->cpumode != PD_CPUMODE_USER && brief->cpumode != PD_CPUMODE_KERNEL)
		return (struct pd_place){ .addr = brief->ip, .recorded = brief->ip };
	return pd_symbols_place(match->symbols, brief->pid, brief->cpumode, pd_record_moment(record), brief->ip);
}

static const char *name_of(void *self, const struct pd_record *record, enum pd_filter_ask what)
{
	struct pd_extract_match *match = self;
	struct pd_thread_id thread;
	struct pd_brief brief;
	struct pd_place place;

	if (what == PD_FILTER_COMM) {
		pd_record_thread(record, &thread);
		return thread.known ? comm_of(match, thread.tid, pd_record_moment(record)) : NULL;
	}
	if (!pd_record_brief(record, &brief))
		return NULL;
	place = place_of(match, record, &brief);
	if (what == PD_FILTER_DSO)
		return place.dso ? place.dso->name : NULL;
	return place.function ? place.function->name : NULL;
}

// ---- conditions ----

// The members of a group that is read as a whole have samples in those of its leader.
static bool has_event(const struct pd_extract *extract, const struct pd_record *record)
{
	const struct pd_select *select = extract->options.select;
	const struct pd_event *event = record->event;
	const struct pd_sample *sample;

	if (!pd_select_by_event(select) || !event)
		return !pd_select_by_event(select);
	if (!(event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_READ)) || !(sample = pd_as_sample(record)) ||
	    !sample->read)
		return pd_select_has_event(select, event);
	if (!PD_BITS(event->attr->read_format, PD_READ_FORMAT_GROUP))
		return pd_select_has_event(select, pd_file_event_by_id(extract->file, sample->read->id));
	for (size_t i = 0; i < sample->read->members.count; i++) {
		const struct pd_count *member = PD_ITEM(pd_count, sample->read->members, i);

		if (pd_select_has_event(select, pd_file_event_by_id(extract->file, member->id)))
			return true;
	}
	return false;
}

static bool has_thread(const struct pd_extract *extract, const struct pd_record *record, const struct pd_brief *brief)
{
	const struct pd_select *select = extract->options.select;
	const char *comm = NULL;

	if (pd_select_has_list(select, PD_SELECT_COMMS))
		comm = comm_of(extract->context, brief->tid, pd_record_moment(record));
	return pd_select_has_thread(select, brief->pid, brief->tid, comm);
}

bool pd_extract_has_where(const struct pd_extract *extract, const struct pd_record *record)
{
	struct pd_extract_match *match = extract->context;
	const struct pd_filter_names names = { match, name_of };

	return pd_select_has_where(extract->options.select, record, match->state ? &names : NULL);
}

static bool matches(struct pd_extract *extract, const struct pd_record *record)
{
	const struct pd_select *select = extract->options.select;
	struct pd_place place;
	struct pd_brief brief;

	if (!pd_record_brief(record, &brief))
		return false;
	if (!pd_select_has_time(select, brief.time_ns) || !pd_select_has_cpu(select, brief.cpu) ||
	    !has_event(extract, record) || !has_thread(extract, record, &brief) ||
	    !pd_extract_has_where(extract, record))
		return false;
	if (!pd_select_by_place(select))
		return true;
	place = place_of(extract->context, record, &brief);
	return pd_select_has_place(select, &place);
}

// Events of a pipe come one after another.
static enum pd_status learn_events(struct pd_extract *extract, struct pd_error *error)
{
	struct pd_extract_match *match = extract->context;
	size_t count = pd_file_event_count(extract->file);

	if (match->known_event_count == count)
		return PD_OK;
	match->known_event_count = count;
	return pd_select_learn(extract->options.select, extract->file, error);
}

enum pd_status pd_extract_matches(struct pd_extract *extract, const struct pd_record *record, bool *matches_out,
				  struct pd_error *error)
{
	enum pd_status status = learn_events(extract, error);

	*matches_out = status >= 0 && record->type == PD_RECORD_SAMPLE && matches(extract, record);
	return status;
}
