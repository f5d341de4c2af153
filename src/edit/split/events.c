/* SPDX-License-Identifier: MIT */
// Pieces of events: which events a piece has, and records without the ids of others.
#include "edit/split/split.h"

#include <string.h>

#include "edit/merge/merge.h"
#include "format/traits.h"

bool pd_split_note_event(struct pd_split *split, const struct pd_record *record)
{
	size_t index = record->event->index;

	if (index >= split->event_count) {
		if (!PD_GROW(split->referenced, split->event_capacity, index + 1))
			return false;
		memset(split->referenced + split->event_count, 0, index + 1 - split->event_count);
		split->event_count = index + 1;
	}
	split->referenced[index] = true;
	return true;
}

static bool reads_group(const struct pd_event *event)
{
	return event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_READ) &&
	       event->attr->read_format & PD_MASK(PD_READ_FORMAT_GROUP);
}

// The first event is that of records without an id; samples of a group have values of all its members.
static bool has_event(const struct pd_split *split, const struct pd_split_output *piece, const struct pd_event *event)
{
	return !event->index || event->index == piece->key ||
	       (event->index < split->event_count && split->referenced[event->index]) ||
	       (reads_group(event) && reads_group(pd_file_event(split->file, (size_t)piece->key)));
}

enum pd_status pd_split_write_events(const struct pd_split *split, const struct pd_split_output *piece,
				     struct pd_error *error)
{
	size_t count = pd_file_event_count(split->file);
	bool *is_kept = pd_alloc((count + 1) * sizeof(*is_kept));
	enum pd_status status;

	if (!is_kept)
		return pd_fail_memory(error);
	for (size_t i = 0; i < count; i++)
		is_kept[i] = has_event(split, piece, pd_file_event(split->file, i));
	status = pd_merge_piece_header(split->file, is_kept, piece->shown.first_ns, piece->shown.last_ns, piece->writer,
				       error);
	pd_free(is_kept);
	return status;
}

static bool has_id(const struct pd_split *split, const struct pd_split_output *piece, uint64_t id)
{
	const struct pd_event *event = pd_file_event_by_id(split->file, id);

	return !event || has_event(split, piece, event);
}

struct entries {
	struct pd_id_entry *ids;
	struct pd_id_guest *guests;
	size_t count;
};

static void keep_entries(const struct pd_split *split, const struct pd_split_output *piece,
			 const struct pd_id_index *index, struct entries *kept)
{
	for (size_t i = 0; i < index->entries.count; i++) {
		const struct pd_id_entry *entry = PD_ITEM(pd_id_entry, index->entries, i);

		if (!has_id(split, piece, entry->id))
			continue;
		if (i < index->guests.count)
			kept->guests[kept->count] = *PD_ITEM(pd_id_guest, index->guests, i);
		kept->ids[kept->count++] = *entry;
	}
}

// Entries of ids that a piece does not have would be refused by perf.
static enum pd_status pass_id_index(const struct pd_split *split, const struct pd_split_output *piece,
				    struct pd_stream *stream, const struct pd_record *record,
				    const struct pd_id_index *index, struct pd_error *error)
{
	size_t capacity = index->entries.count + 1;
	struct entries kept = { pd_alloc(capacity * sizeof(*kept.ids)), pd_alloc(capacity * sizeof(*kept.guests)), 0 };
	struct pd_id_index changed = *index;
	enum pd_status status = PD_OK;

	if (!kept.ids || !kept.guests)
		status = pd_fail_memory(error);
	else
		keep_entries(split, piece, index, &kept);
	changed.nr = kept.count;
	changed.entries = (struct pd_list){ kept.ids, kept.count, sizeof(*kept.ids) };
	changed.guests = (struct pd_list){ kept.guests, index->guests.count ? kept.count : 0, sizeof(*kept.guests) };
	if (status >= 0 && kept.count == index->entries.count)
		status = pd_writer_pass(piece->writer, stream, record, error);
	else if (status >= 0 && kept.count)
		status = pd_writer_pass_changed(piece->writer, stream, record, record->misc, &changed, error);
	pd_free(kept.ids);
	pd_free(kept.guests);
	return status;
}

enum pd_status pd_split_pass_of_events(const struct pd_split *split, const struct pd_split_output *piece,
				       struct pd_stream *stream, const struct pd_record *record, struct pd_error *error)
{
	const struct pd_id_index *index = pd_as_id_index(record);
	const struct pd_event_update *update = pd_as_event_update(record);
	const struct pd_stat *stat = pd_as_stat(record);

	if (index)
		return pass_id_index(split, piece, stream, record, index, error);
	if ((update && !has_id(split, piece, update->id)) || (stat && !has_id(split, piece, stat->id)) ||
	    (record->event && !has_event(split, piece, record->event)))
		return PD_OK;
	return pd_writer_pass(piece->writer, stream, record, error);
}
