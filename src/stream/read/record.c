/* SPDX-License-Identifier: MIT */
/* The current record of a stream: what it is read with, and decoding it. */
#include "stream/read/inside.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/lookup/search.h"

const struct pd_record *pd_stream_current(const struct pd_stream *stream)
{
	return &stream->record;
}

struct pd_arena *pd_record_arena(const struct pd_record *record)
{
	record->scratch->used = true;
	return &record->scratch->arena;
}

// ---- decoding ----

// The words of the event are copied only when they are not there from the last record.
static void set_scope(struct pd_scratch *scratch, const struct pd_record *record)
{
	uint64_t *words = scratch->context.scope.words;

	if (scratch->scope_event != scratch->context.event || !scratch->context.event) {
		if (scratch->context.event)
			memcpy(words, scratch->context.event->words, sizeof(scratch->context.scope.words));
		else
			memset(words, 0, sizeof(scratch->context.scope.words));
		scratch->scope_event = scratch->context.event;
	}
	words[PD_WORD_MISC] = record->misc;
	words[PD_WORD_QUIRKS] = pd_file_quirks(scratch->context.file);
	// other records may change words: SET lines, a missing trailer
	if (record->type != PD_RECORD_SAMPLE)
		scratch->scope_event = NULL;
}

static enum pd_status fail_cursor(const struct pd_record *record, const struct pd_cursor *c, struct pd_error *error)
{
	if (c->status == PD_ERROR_MEMORY)
		return pd_fail_memory(error);
	return pd_fail(error, PD_ERROR_FORMAT, record->offset, "%s: offset %" PRIu64 ": %s.%s: %s at byte %zu",
		       pd_file_name(record->scratch->context.file), record->offset,
		       c->layout ? c->layout : pd_record_name(record->type), c->field ? c->field : "body", c->reason,
		       (size_t)(c->failed_at - c->start));
}

static enum pd_status decode(const struct pd_record *record, const void **decoded_out, struct pd_cursor *c,
			     struct pd_error *error)
{
	struct pd_scratch *scratch = record->scratch;
	bool is_sample = record->type == PD_RECORD_SAMPLE;
	const struct pd_layout *layout = is_sample ? &pd_layouts[PD_LAYOUT_sample] : pd_record_layout(record->type);

	if (!layout)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, record->offset,
			       "%s: offset %" PRIu64 ": unknown record type %" PRIu32,
			       pd_file_name(scratch->context.file), record->offset, record->type);
	if (is_sample && !scratch->context.event)
		return pd_fail(error, PD_ERROR_FORMAT, record->offset, "%s: offset %" PRIu64 ": sample: unknown event",
			       pd_file_name(scratch->context.file), record->offset);
	scratch->used = true;
	set_scope(scratch, record);
	*c = pd_cursor(record->bytes.data, record->bytes.size, scratch->context.big_endian);
	*decoded_out = pd_record_take(layout, is_sample ? PD_GROUP_SAMPLE : pd_record_group(record->type),
				      record->bytes, &scratch->context.scope, c);
	return *decoded_out ? PD_OK : fail_cursor(record, c, error);
}

enum pd_status pd_record_decode(const struct pd_record *record, const void **decoded_out, struct pd_error *error)
{
	struct pd_cursor c;
	const void *decoded;
	enum pd_status status = decode(record, &decoded, &c, error);

	if (status == PD_OK)
		*decoded_out = decoded;
	return status;
}

// Whether another stream over the same file has reported the damage of the record.
static bool is_known(const struct pd_places *known, uint64_t place)
{
	size_t from;

	PD_SEARCH(from, 0, known ? known->count : 0, i, known->items[i] < place);
	return known && from < known->count && known->items[from] == place;
}

static void report_damage(const struct pd_record *record, const struct pd_cursor *c, const struct pd_error *error)
{
	struct pd_scratch *scratch = record->scratch;
	char what[64];

	if (scratch->reported)
		return;
	scratch->reported = true;
	scratch->used = true;
	if (is_known(scratch->known, record->place))
		return;
	snprintf(what, sizeof(what), "%s (%" PRIu32 ") of %zu bytes: ", pd_record_name(record->type), record->type,
		 record->bytes.size);
	if (c->reason)
		pd_file_report_cursor(scratch->context.file, PD_PROBLEM_BAD_RECORD, record->offset, what, c);
	else
		pd_file_report(scratch->context.file, PD_PROBLEM_BAD_RECORD, record->offset, NULL, "%s%s", what,
			       error->message);
}

const void *pd_record_as(const struct pd_record *record, uint32_t type)
{
	struct pd_cursor c = { 0 };
	struct pd_error error;
	const void *decoded;

	// an unknown type is reported by the stream, and is no damage
	if (record->type != type || !pd_record_layout(type))
		return NULL;
	if (decode(record, &decoded, &c, &error) == PD_OK)
		return decoded;
	report_damage(record, &c, &error);
	return NULL;
}
