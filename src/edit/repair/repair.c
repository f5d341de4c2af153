/* SPDX-License-Identifier: MIT */
/*
 * What can be read of a file, written again. Finding it is the work of a careful stream (stream/resync.c) and of
 * opening with `recover` (file/recover.c), writing it that of the writer; here is decided what goes along.
 */
#include <inttypes.h>
#include <string.h>

#include "format/decode.h"
#include "format/layout.h"
#include "edit/repair/repair.h"
#include "format/traits.h"
#include "write/write.h"

enum {
	RECORDS_PER_STEP = 16384,
	MOST_CPUS = 65536 // more is a damaged number
};

struct repair {
	struct pd_file *file;
	struct pd_writer *writer; // or NULL
	struct pd_repair_options options;
	struct pd_repair_result result;
	uint64_t first_ns, last_ns; // of samples, 0 if there is none
	bool has_stat;              // there are records of perf stat
	uint32_t cpu_count;         // up to the last one that something ran on
	struct pd_write_bytes ids;  // entries of the list of build ids that are sound
	struct pd_build_ids build_ids;
	struct pd_formats formats;
	struct pd_count_maps maps;
};

static void set_bit(uint64_t bits[4], unsigned feature)
{
	bits[feature / 64] |= UINT64_C(1) << feature % 64;
}

static bool has_bit(const uint64_t bits[4], unsigned feature)
{
	return bits[feature / 64] >> feature % 64 & 1;
}

// ---- events and features ----

// A feature that cannot be decoded is one that perf would stumble over.
static bool is_whole(struct pd_file *file, unsigned feature)
{
	return !pd_feature_layout(feature) || pd_file_feature(file, feature);
}

// perf stops with a signal at a build id of more bytes than there is room for.
static bool build_id_is_valid(const struct pd_file *file, const struct pd_record_head *head, struct pd_bytes bytes)
{
	struct pd_arena arena = { .limit = (size_t)pd_file_memory_limit(file) };
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, pd_file_is_big(file));
	struct pd_scope scope = { .arena = &arena };
	const struct pd_header_build_id *id;
	bool valid;

	scope.words[PD_WORD_MISC] = head->misc;
	scope.words[PD_WORD_QUIRKS] = pd_file_quirks(file);
	id = pd_record_take(&pd_layouts[PD_LAYOUT_header_build_id], PD_GROUP_TOOL, bytes, &scope, &c);
	valid = id && id->filename.length < id->filename.size &&
		(!(head->misc & MASK_MISC(BUILD_ID_SIZE)) || id->size <= id->build_id.size);
	pd_arena_fini(&arena);
	return valid;
}

// The sound entries of the list, or NULL if it can stay as it is.
static const struct pd_build_ids *recover_build_ids(struct repair *repair, struct pd_file *file)
{
	const struct pd_build_ids *list = pd_file_build_id(file);
	struct pd_bytes left = list ? list->records : (struct pd_bytes){ 0 };
	bool all = true;

	repair->ids.size = 0;
	while (left.size >= PD_RECORD_HEADER_SIZE) {
		struct pd_record_head head = pd_record_head(left.data, pd_file_is_swapped(file));
		bool fits = head.size >= PD_RECORD_HEADER_SIZE && head.size <= left.size;
		struct pd_bytes entry = { left.data, fits ? (size_t)head.size : left.size };
		bool valid = fits && build_id_is_valid(file, &head, entry);

		all &= valid;
		if (valid && !pd_write_put(&repair->ids, entry.data, entry.size))
			return NULL;
		left.data += entry.size;
		left.size -= entry.size;
	}
	repair->build_ids.records = (struct pd_bytes){ repair->ids.data, repair->ids.size };
	return all ? NULL : &repair->build_ids;
}

// perf's parser does not bear all that can stand in a damaged format.
static enum pd_status recover_formats(struct repair *repair, const void **decoded_out, bool *keep,
				      struct pd_error *error)
{
	const struct pd_tracing_data *data = pd_file_tracing_data(repair->file);
	bool reported = repair->formats.recovered > 0;
	enum pd_status status;

	*keep = data != NULL;
	if (!data)
		return PD_OK;
	pd_formats_fini(&repair->formats);
	status = pd_formats_recover(&repair->formats, repair->file, data, error);
	if (status < 0 || !repair->formats.recovered)
		return status;
	if (!reported)
		pd_file_report(repair->file, PD_PROBLEM_DAMAGED_FORMAT, PD_NO_OFFSET, "tracing_data",
			       "truncated or dropped formats: %zu", repair->formats.recovered);
	*decoded_out = &repair->formats.data;
	return PD_OK;
}

static enum pd_status change_feature(void *self, struct pd_file *file, unsigned feature, const void **decoded_out,
				     bool *keep, struct pd_error *error)
{
	const struct pd_event_desc *desc = feature == PD_FEATURE_EVENT_DESC ? pd_file_event_desc(file) : NULL;
	struct repair *repair = self;

	if (feature == PD_FEATURE_BUILD_ID) {
		*decoded_out = recover_build_ids(repair, file);
		*keep = !*decoded_out || (repair->ids.size && pd_writer_is_big(repair->writer) == pd_file_is_big(file));
		return PD_OK;
	}
	if (feature == PD_FEATURE_TRACING_DATA)
		return recover_formats(repair, decoded_out, keep, error);
	// a pipe has the names of its events elsewhere too
	*keep = is_whole(file, feature) && (!desc || pd_file_describes_events(file, desc));
	return PD_OK;
}

// Names that the attrs give: then the feature that has them is made.
static enum pd_status name_event(void *self, const struct pd_event *event, struct pd_attr *attr, const char **name,
				 struct pd_error *error)
{
	(void)self;
	(void)attr;
	(void)error;
	if (!*name)
		*name = event->name;
	return PD_OK;
}

// Whether something that a recorder writes at its end is missing. Of a pipe this is not known before its end.
static bool lacks_end(const struct repair *repair)
{
	const struct pd_header *header = pd_file_header(repair->file);

	return header->mode != PD_MODE_PIPE && pd_file_event_count(repair->file) &&
	       (header->unfinished || header->truncated);
}

// Events as they are in the table of attrs, of which the damaged description is not.
static bool lacks_event_desc(const struct repair *repair)
{
	const struct pd_event_desc *desc = pd_file_event_desc(repair->file);

	if (!desc)
		return lacks_end(repair);
	return pd_file_mode(repair->file) != PD_MODE_PIPE && !pd_file_describes_events(repair->file, desc);
}

static enum pd_status start_writer(struct repair *repair, struct pd_error *error)
{
	struct pd_changes changes = { .size = sizeof(changes), .self = repair, .feature = change_feature };
	enum pd_status status;

	if (lacks_event_desc(repair)) {
		changes.event = name_event;
		set_bit(repair->result.made_features, PD_FEATURE_EVENT_DESC);
	}
	if (!repair->writer)
		return PD_OK;
	pd_writer_rejoin(repair->writer);
	status = pd_writer_change(repair->writer, &changes, error);
	return status < 0 ? status : pd_writer_copy_metadata(repair->writer, repair->file, error);
}

static void count_features(struct repair *repair)
{
	struct pd_feature_section section;

	for (size_t i = 0; pd_file_feature_at(repair->file, i, &section); i++)
		set_bit(is_whole(repair->file, section.number) ? repair->result.kept_features :
								 repair->result.dropped_features,
			section.number);
	// those that the header promises and that are not there
	for (unsigned i = 0; i < PD_FEATURE_LIMIT; i++)
		if (has_bit(pd_file_header(repair->file)->feature_bits, i) && !has_bit(repair->result.kept_features, i))
			set_bit(repair->result.dropped_features, i);
}

// When the first and the last sample were, if a file should say so and does not.
static enum pd_status make_sample_time(struct repair *repair, struct pd_error *error)
{
	const struct pd_sample_time time = { .first_ns = repair->first_ns, .last_ns = repair->last_ns };

	if (!repair->first_ns || has_bit(repair->result.kept_features, PD_FEATURE_SAMPLE_TIME) ||
	    !(lacks_end(repair) || has_bit(repair->result.dropped_features, PD_FEATURE_SAMPLE_TIME)))
		return PD_OK;
	// a pipe has its features in front
	if (repair->writer && pd_writer_mode(repair->writer) == PD_MODE_PIPE)
		return PD_OK;
	set_bit(repair->result.made_features, PD_FEATURE_SAMPLE_TIME);
	if (!repair->writer)
		return PD_OK;
	return pd_writer_set_feature(repair->writer, PD_FEATURE_SAMPLE_TIME, &time, error);
}

// Whether no event has a period, so that there can be no samples.
static bool counts_only(const struct pd_file *file)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		if (pd_file_full_event(file, i)->event.attr->sample_period)
			return false;
	return pd_file_event_count(file) > 0;
}

static bool lacks(const struct repair *repair, unsigned feature)
{
	return !has_bit(repair->result.kept_features, feature);
}

static enum pd_status make(struct repair *repair, unsigned feature, const void *decoded, struct pd_error *error)
{
	set_bit(repair->result.made_features, feature);
	return repair->writer ? pd_writer_set_feature(repair->writer, feature, decoded, error) : PD_OK;
}

// hotspot's parser waits for these for ever, and perf 7.2 takes the number of CPUs for the largest there is. What the file
// does not say is called unknown; CPUs are those that were seen.
static enum pd_status make_machine(struct repair *repair, struct pd_error *error)
{
	static const char unknown[] = "unknown";
	const struct pd_str text = { .data = unknown, .length = sizeof(unknown) - 1 };
	const struct pd_string host = { .value = text };
	const struct pd_argument argument = { .value = text };
	const struct pd_cmdline command = { .arguments = { &argument, 1, sizeof(argument) } };
	uint32_t cpus = repair->cpu_count ? repair->cpu_count : 1;
	const struct pd_nrcpus nrcpus = { .available = cpus, .online = cpus };
	enum pd_status status = PD_OK;

	// a pipe has its features in front
	if (!repair->result.record_count || (repair->writer && pd_writer_mode(repair->writer) == PD_MODE_PIPE))
		return PD_OK;
	if (lacks(repair, PD_FEATURE_HOSTNAME))
		status = make(repair, PD_FEATURE_HOSTNAME, &host, error);
	if (status >= 0 && lacks(repair, PD_FEATURE_NRCPUS))
		status = make(repair, PD_FEATURE_NRCPUS, &nrcpus, error);
	if (status >= 0 && lacks(repair, PD_FEATURE_CMDLINE))
		status = make(repair, PD_FEATURE_CMDLINE, &command, error);
	return status;
}

// A file of perf stat is known by a feature without content.
static enum pd_status mark_stat(struct repair *repair, struct pd_error *error)
{
	bool is_lost = has_bit(repair->result.dropped_features, PD_FEATURE_STAT) || lacks_end(repair);

	// a file that has such records has the feature
	if (has_bit(repair->result.kept_features, PD_FEATURE_STAT) ||
	    !(repair->has_stat || (is_lost && counts_only(repair->file))))
		return PD_OK;
	set_bit(repair->result.made_features, PD_FEATURE_STAT);
	if (!repair->writer || pd_writer_mode(repair->writer) == PD_MODE_PIPE)
		return PD_OK;
	return pd_writer_set_feature_bytes(repair->writer, PD_FEATURE_STAT, (struct pd_bytes){ NULL, 0 }, error);
}

// perf opens no file with tracepoints whose formats are lost.
static enum pd_status make_formats(struct repair *repair, struct pd_error *error)
{
	enum pd_status status;

	if (has_bit(repair->result.kept_features, PD_FEATURE_TRACING_DATA) || !pd_file_has_tracepoints(repair->file) ||
	    (repair->writer && pd_writer_mode(repair->writer) == PD_MODE_PIPE))
		return PD_OK;
	set_bit(repair->result.made_features, PD_FEATURE_TRACING_DATA);
	if (!repair->writer)
		return PD_OK;
	pd_formats_fini(&repair->formats);
	status = pd_formats_make(&repair->formats, repair->file, error);
	return status < 0 ?
		       status :
		       pd_writer_set_feature(repair->writer, PD_FEATURE_TRACING_DATA, &repair->formats.data, error);
}

// ---- records ----

static bool is_packed(const struct pd_record *record)
{
	return pd_record_is(record->type, PD_TRAIT_COMPRESSED) && !(record->flags & PD_RECORD_INFLATED);
}

static void note_cpu(struct repair *repair, const struct pd_record *record)
{
	struct pd_thread_id thread;

	pd_record_thread(record, &thread);
	if (thread.cpu < MOST_CPUS && thread.cpu >= repair->cpu_count)
		repair->cpu_count = thread.cpu + 1;
}

static void count_record(struct repair *repair, const struct pd_record *record)
{
	if (is_packed(record) || pd_record_is(record->type, PD_TRAIT_SECTION) ||
	    pd_record_is(record->type, PD_TRAIT_CHUNK))
		return;
	repair->result.record_count++;
	repair->has_stat |= record->type >= PD_RECORD_STAT_CONFIG && record->type <= PD_RECORD_STAT_ROUND;
	if (record->type != PD_RECORD_SAMPLE)
		return;
	repair->result.sample_count++;
	note_cpu(repair, record);
	if (record->time_ns == PD_NO_TIME)
		return;
	if (!repair->first_ns || record->time_ns < repair->first_ns)
		repair->first_ns = record->time_ns;
	if (record->time_ns > repair->last_ns)
		repair->last_ns = record->time_ns;
}

// What a pipe says of itself is known before the writer takes it: a part of it may be better than another.
static enum pd_status learn(struct repair *repair, struct pd_error *error)
{
	const struct pd_stream_options careful = { .size = sizeof(careful), .careful = true };
	struct pd_file *file = repair->file;
	const struct pd_record *record = NULL;
	struct pd_stream *stream;
	enum pd_status status;
	uint64_t from = 0;

	if (pd_file_mode(file) != PD_MODE_PIPE || !pd_file_main_source(file)->seekable)
		return PD_OK;
	status = pd_stream_open(file, &careful, &stream, error);
	if (status < 0)
		return status;
	pd_stream_be_quiet(stream);
	while ((status = pd_stream_next(stream, &record, error)) == PD_OK && record->type >= 64)
		from = record->offset;
	pd_stream_close(stream);
	return status < 0 ? status : pd_file_recover_events(file, from, error);
}

// perf ends with a signal at a build id of more than 20 bytes, which a device may look like.
static enum pd_status pass_record(struct repair *repair, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	const struct pd_mmap2 *map = pd_as_mmap2(record);
	uint16_t misc = record->misc;
	struct pd_mmap2 mended;

	if (!map || pd_record_unmark(record, map, &misc, &mended) == map)
		return repair->writer ? pd_writer_pass(repair->writer, stream, record, error) : PD_OK;
	pd_file_report(repair->file, PD_PROBLEM_NO_BUILD_ID, record->offset, "mmap2.build_id",
		       "a device and inode are marked as a build id");
	return repair->writer ? pd_writer_pass_changed(repair->writer, stream, record, misc, &mended, error) : PD_OK;
}

static enum pd_status pass_records(struct repair *repair, struct pd_stream *stream, struct pd_error *error)
{
	const struct pd_record *record;
	uint64_t record_count = 0, without_event = 0, without_map = 0;
	enum pd_status status;

	while ((status = pd_stream_next(stream, &record, error)) == PD_OK) {
		if (repair->options.progress && ++record_count % RECORDS_PER_STEP == 0)
			repair->options.progress(repair->options.self, stream);
		if (record->type == PD_RECORD_SAMPLE && !record->event) {
			without_event++; // which the stream has reported
			continue;
		}
		status = pd_count_maps_pass(&repair->maps, repair->file, repair->writer, record, error);
		if (status < 0)
			return status;
		if (!pd_count_maps_keep(&repair->maps, stream, record)) {
			without_map++;
			continue;
		}
		count_record(repair, record);
		status = pass_record(repair, stream, record, error);
		if (status < 0)
			return status;
	}
	pd_stream_losses(stream, &repair->result.losses);
	repair->result.losses.records += without_event + without_map;
	return status < 0 ? status : PD_OK;
}

enum pd_status pd_repair(struct pd_file *file, struct pd_writer *writer, const struct pd_repair_options *options,
			 struct pd_repair_result *result_out, struct pd_error *error)
{
	const struct pd_stream_options careful = { .size = sizeof(careful), .careful = true };
	struct repair repair = { .file = file, .writer = writer };
	struct pd_stream *stream;
	enum pd_status status;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	if (options)
		memcpy(&repair.options, options,
		       options->size < sizeof(repair.options) ? options->size : sizeof(repair.options));
	status = learn(&repair, error);
	if (status >= 0 && counts_only(file) && pd_file_main_source(file)->seekable)
		status = pd_count_maps_learn(&repair.maps, file, error);
	if (status >= 0)
		status = start_writer(&repair, error);
	if (status >= 0)
		status = pd_stream_open(file, &careful, &stream, error);
	if (status >= 0) {
		status = pass_records(&repair, stream, error);
		pd_stream_close(stream);
		count_features(&repair);
	}
	// of a pipe without records all that is copied comes now, while there is who changes it
	if (status >= 0 && writer)
		status = pd_writer_learn(writer, error);
	if (status >= 0)
		status = make_sample_time(&repair, error);
	if (status >= 0)
		status = make_machine(&repair, error);
	if (status >= 0)
		status = mark_stat(&repair, error);
	if (status >= 0)
		status = make_formats(&repair, error);
	if (status >= 0)
		*result_out = repair.result;
	pd_free(repair.ids.data);
	pd_formats_fini(&repair.formats);
	pd_count_maps_fini(&repair.maps);
	return status < 0 ? status : PD_OK;
}
