/* SPDX-License-Identifier: MIT */
/*
 * One recording as another that says less: a first pass, where addresses or times are hidden, learns what must be known before
 * anything is written; the second takes every record through the tables.
 */
#include "edit/scrub/scrub.h"

#include <string.h>

#include "stream/each.h"
#include "stream/read/stream.h"
#include "write/write.h"

enum {
	CPUS_NOT_KNOWN = 1024,
	CPUS_MAX = 65536,
	KNOWN_MISC = 0xf007 /* bits that the format explains; see flag.def */
};

/* ---- the first pass ---- */

static void note_cpus(struct pd_scrub *scrub, const struct pd_record *record)
{
	const struct pd_id_index *index = pd_as_id_index(record);

	for (size_t i = 0; index && i < index->entries.count; i++) {
		uint64_t cpu = PD_ITEM(pd_id_entry, index->entries, i)->cpu;

		if (cpu < CPUS_MAX && cpu >= scrub->cpu_limit)
			scrub->cpu_limit = (size_t)cpu + 1;
	}
}

static enum pd_status note_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct pd_scrub *scrub = self;

	if (record->time_ns && record->time_ns < scrub->first_ns)
		scrub->first_ns = record->time_ns;
	if (record->type == PD_RECORD_SAMPLE) {
		if (scrub->level < PD_SCRUB_ALL)
			pd_stream_pass(stream);
		return PD_OK;
	}
	note_cpus(scrub, record);
	return pd_scrub_note_mapping(scrub, record) ? PD_OK : pd_fail_memory(error);
}

static enum pd_status each_record(struct pd_scrub *scrub, pd_each_fn *function, struct pd_error *error)
{
	const struct pd_each each = { .progress = scrub->options.progress, .progress_self = scrub->options.self };

	return pd_each_record(scrub->file, &each, function, scrub, error);
}

static enum pd_status plan(struct pd_scrub *scrub, struct pd_error *error)
{
	const struct pd_nrcpus *cpus;
	enum pd_status status;

	scrub->first_ns = PD_NO_TIME;
	if (scrub->level == PD_SCRUB_NAMES)
		return PD_OK;
	status = each_record(scrub, note_record, error);
	if (status < 0)
		return status;
	if (!pd_scrub_plan_addresses(scrub))
		return pd_fail_memory(error);
	if (scrub->level < PD_SCRUB_ALL)
		return PD_OK;
	cpus = pd_file_nrcpus(scrub->file);
	if (cpus && cpus->available > scrub->cpu_limit && cpus->available <= CPUS_MAX)
		scrub->cpu_limit = cpus->available;
	return pd_scrub_plan_cpus(scrub, scrub->cpu_limit ? scrub->cpu_limit : CPUS_NOT_KNOWN) ? PD_OK :
												 pd_fail_memory(error);
}

/* Sections that lie over each other may make numbers of names. */
static bool is_valid(const struct pd_header *header)
{
	uint64_t end = header->attrs_offset + header->attrs_size;

	if (header->mode == PD_MODE_PIPE)
		return true;
	return end >= header->attrs_offset && (!header->file_size || end <= header->file_size) &&
	       (end <= header->data_offset || header->attrs_offset >= header->data_offset + header->data_size ||
		!header->attrs_size);
}

static void show_name(void *self, enum pd_value_class class, const char *text, size_t length, const char *now,
		      size_t now_length)
{
	const struct pd_scrub *scrub = self;

	scrub->options.name(scrub->options.self, pd_scrub_classes[class].name,
			    (struct pd_bytes){ (const uint8_t *)text, length },
			    (struct pd_bytes){ (const uint8_t *)now, now_length });
}

enum pd_status pd_scrub_new(struct pd_file *file, const struct pd_scrub_options *options, struct pd_scrub **scrub_out,
			    struct pd_error *error)
{
	struct pd_scrub *scrub = pd_alloc(sizeof(*scrub));
	enum pd_status status;

	if (!scrub)
		return pd_fail_memory(error);
	scrub->file = file;
	status = pd_scrub_init(scrub, options, error);
	if (status >= 0)
		status = plan(scrub, error);
	if (status >= 0 && !is_valid(pd_file_header(file)))
		status = pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET,
				 "%s: the event table is damaged: the file cannot be anonymized", pd_file_name(file));
	if (scrub->options.name) {
		scrub->name_met = show_name;
		scrub->name_self = scrub;
	}
	if (status < 0)
		pd_scrub_free(scrub);
	else
		*scrub_out = scrub;
	return status < 0 ? status : PD_OK;
}

void pd_scrub_free(struct pd_scrub *scrub)
{
	if (!scrub)
		return;
	pd_scrub_fini(scrub);
	pd_free(scrub);
}

/* ---- the second pass ---- */

static void drop(struct pd_scrub *scrub, const struct pd_record *record, uint64_t *reason)
{
	if (record->type == PD_RECORD_SAMPLE)
		scrub->result.dropped_sample_count++;
	else
		++*reason;
	scrub->counts.dropped_types[record->type < PD_SCRUB_OTHER_TYPES ? record->type : PD_SCRUB_OTHER_TYPES]++;
	if (record->type == PD_RECORD_AUXTRACE)
		scrub->result.dropped_aux_bytes += record->tail_size;
}

static enum pd_status write_changed(struct pd_scrub *scrub, struct pd_stream *stream, const struct pd_record *record,
				    uint16_t misc, const void *changed, struct pd_error *error)
{
	enum pd_status status;

	if (record->type == PD_RECORD_EVENT_UPDATE)
		scrub->named = ((const struct pd_event_update *)changed)->name.data;
	status = pd_writer_pass_changed(scrub->writer, stream, record, misc, changed, error);
	scrub->named = NULL;
	if (status == PD_ERROR_FORMAT && !scrub->unsound) {
		// it has become too long
		drop(scrub, record, &scrub->result.dropped_damaged_count);
		return PD_OK;
	}
	if (scrub->unsound)
		return status;
	if (status >= 0 && record->type == PD_RECORD_SAMPLE)
		scrub->result.sample_count++;
	else if (status >= 0)
		scrub->result.other_count++;
	return pd_writer_output_status(status, error);
}

static enum pd_status change_record(struct pd_scrub *scrub, struct pd_stream *stream, const struct pd_record *record,
				    struct pd_error *error)
{
	uint16_t misc = record->misc;
	const void *decoded, *changed;
	struct pd_mmap2 mended;

	if (pd_record_decode(record, &decoded, NULL) < 0) {
		drop(scrub, record, &scrub->result.dropped_damaged_count);
		return PD_OK;
	}
	if (pd_record_group(record->type) != PD_GROUP_SIMPLEPERF)
		misc &= KNOWN_MISC;
	pd_arena_reset(&scrub->arena);
	pd_scrub_trim(scrub);
	decoded = pd_record_unmark(record, decoded, &misc, &mended);
	changed = pd_scrub_record(scrub, record->type, misc, decoded);
	return changed ? write_changed(scrub, stream, record, misc, changed, error) : pd_fail_memory(error);
}

static bool is_kept(const struct pd_scrub *scrub, enum pd_scrub_fate fate)
{
	return fate == PD_FATE_KEEP || (fate == PD_FATE_EXCEPT_ALL && scrub->level < PD_SCRUB_ALL) ||
	       (fate == PD_FATE_WITH_AUX && scrub->with[PD_CLASS_AUX]);
}

static enum pd_status scrub_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				   struct pd_error *error)
{
	struct pd_scrub *scrub = self;
	enum pd_scrub_fate fate = pd_scrub_record_fate(record->type);

	if (fate == PD_FATE_PACKED)
		return PD_OK;
	// in a file they say nothing
	if (fate == PD_FATE_ASKED && pd_file_header(scrub->file)->mode == PD_MODE_PIPE) {
		enum pd_status status = pd_writer_pass(scrub->writer, stream, record, error);

		return scrub->unsound ? status : pd_writer_output_status(status, error);
	}
	if (is_kept(scrub, fate))
		return change_record(scrub, stream, record, error);
	drop(scrub, record,
	     pd_record_name(record->type) ? &scrub->result.dropped_known_count : &scrub->result.dropped_unknown_count);
	return PD_OK;
}

enum pd_status pd_scrub_write(struct pd_scrub *scrub, struct pd_writer *writer, struct pd_scrub_result *result_out,
			      struct pd_error *error)
{
	struct pd_changes changes = pd_scrub_changes;
	enum pd_status status;

	changes.self = scrub;
	scrub->writer = writer;
	scrub->big_endian = pd_writer_is_big(writer);
	status = pd_writer_change(writer, &changes, error);
	if (status >= 0)
		status = pd_writer_copy_metadata(writer, scrub->file, error);
	if (status < 0)
		return scrub->unsound ? status : pd_writer_output_status(status, error);
	status = each_record(scrub, scrub_record, error);
	if (status >= 0 && scrub->failed)
		status = pd_fail_memory(error);
	// the writer asks for events when it is finished, too late for an error of the file
	if (status >= 0)
		status = pd_scrub_check_events(scrub, error);
	if (result_out)
		*result_out = scrub->result;
	return status;
}
