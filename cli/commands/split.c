/* SPDX-License-Identifier: MIT */
/*
 * perfdata split: one recording as several. A first run counts what would be in each piece, so that all names are known
 * before anything is written; then pieces are written, so many at a time as can be open at once.
 */
#include "split.h"
#include "front/unfinished.h"

#include <perfdata/merge.h>
#include <perfdata/run.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	OPEN_PIECES = 64, /* bits of a mask */
	MOST_TIMES = 64,  /* as much as FILE has of what is no sample */
	MOST_BYTES = 1 << 29,
	MOST_ANCESTORS = 64, /* of a process, whose mappings its piece has */
	COMMON_MARGIN = 1024 /* bytes around records that the writer makes itself */
};

struct values {
	struct input_options input;
	struct target_options target;
	const char *by;
	bool json;
};

static const struct option options[] = {
	INPUT_OPTIONS(struct values, input),
	{ "by", 'b', OPTION_STRING, "WHAT", offsetof(struct values, by),
	  "event, pid, comm, cpu, cgroup, time=DURATION (10s, 500ms) or size=BYTES (64M)" },
	TARGET_OPTIONS(struct values, target),
	{ "json", 'j', OPTION_FLAG, NULL, offsetof(struct values, json), "print what was written as JSON lines" },
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata split --by pid -o out/", "one file per process: out/1234.data ..." },
	{ "perfdata split --by event -o out/%s.data", "one file per event, with this name" },
	{ "perfdata split -i day.data --by time=10m -o slices/", "slices of ten minutes" },
	{ "perfdata split -i big.data --by size=64M -o part-%s.data", "pieces of at most 64 MiB" },
	{ 0 },
};

struct run {
	const struct values *values;
	struct input input;
	struct split split;
	const char *output;      /* with %s, or a directory */
	uint64_t unfit;          /* samples that are damaged or of no event */
	uint64_t missing, known; /* samples without and with what the key is made of */
	/* the pieces that are written at a time */
	struct piece *open;
	size_t open_count;
	struct key_slot *needs; /* process; 1 + mask is in masks */
	uint64_t *masks;
	size_t need_count, need_slots;
	uint64_t copied_bytes; /* of what is no sample, in all pieces */
	size_t too_deep;       /* processes with more ancestors than a piece has */
	bool made_directory;
	struct unfinished *directory;
	struct pd_error error;
	enum pd_status status;
};

/* ---- the first walk: what is no sample ---- */

static bool is_shell(const struct pd_record *record)
{
	return (record->type == PD_RECORD_COMPRESSED || record->type == PD_RECORD_COMPRESSED2) &&
	       !(record->flags & PD_RECORD_INFLATED);
}

/* What happened to an event at a moment, unlike what tells who runs. */
static bool is_of_event(uint32_t type)
{
	return type == PD_RECORD_LOST || type == PD_RECORD_THROTTLE || type == PD_RECORD_UNTHROTTLE ||
	       type == PD_RECORD_READ || type == PD_RECORD_LOST_SAMPLES;
}

static bool note_reference(struct split *split, const struct pd_record *record)
{
	size_t index = record->event->index;

	if (index >= split->event_count) {
		bool *more = realloc(split->referenced, (index + 64) * sizeof(*more));

		if (!more)
			return false;
		split->referenced = more;
		memset(more + split->event_count, 0, index + 64 - split->event_count);
		split->event_count = index + 64;
	}
	split->referenced[index] = true;
	return true;
}

/* With what follows the record, as far as the file goes. */
static uint64_t size_of(const struct pd_stream *stream, const struct pd_record *record)
{
	uint64_t done, total;

	if (!record->tail_size)
		return record->bytes.size;
	pd_stream_progress(stream, &done, &total);
	return record->bytes.size + (total && record->tail_size > total ? total : record->tail_size);
}

static enum pd_status look(void *self, struct pd_stream *stream, const struct pd_record *record, struct pd_error *error)
{
	struct run *run = self;
	struct split *split = &run->split;
	const struct pd_task *task;

	if (!is_shell(record))
		split->common_bytes += size_of(stream, record);
	if (split->by == BY_EVENT && record->event && !is_of_event(record->type) && !note_reference(split, record))
		return out_of_memory(error);
	task = split_by_tasks(split) ? pd_as_fork(record) : NULL;
	if (task && task->pid != task->ppid && !pairs_add(&split->parents, (struct pair){ task->pid, task->ppid }))
		return out_of_memory(error);
	return split->world ? pd_world_take(split->world, record, error) : PD_OK;
}

static enum pd_status ready(void *self, struct pd_window *window, struct pd_error *error)
{
	struct run *run = self;
	struct split *split = &run->split;
	struct pd_feature_section section;

	split->window = *window;
	pairs_sort(&split->parents);
	split->common_bytes += COMMON_MARGIN + 64 * pd_file_event_count(split->file);
	for (size_t i = 0; pd_file_feature_at(split->file, i, &section); i++)
		split->common_bytes += section.size + 64;
	for (size_t i = 0; i < pd_file_event_count(split->file); i++)
		split->common_bytes += 8 * pd_file_event(split->file, i)->ids.count + 160;
	if (split->by == BY_SIZE && split->common_bytes >= split->amount) {
		snprintf(error->message, sizeof(error->message),
			 "%s: what every piece must have takes %" PRIu64 " bytes, which is not less than %" PRIu64,
			 run->input.name, split->common_bytes, split->amount);
		return error->status = PD_ERROR_ARGUMENT;
	}
	return split->world ? pd_world_settle(split->world, error) : PD_OK;
}

/* ---- the second walk: samples are counted ---- */

static void note_time(struct piece *piece, uint64_t time_ns)
{
	if (time_ns == PD_NO_TIME)
		return;
	if (!piece->first_ns || time_ns < piece->first_ns)
		piece->first_ns = time_ns;
	if (time_ns > piece->last_ns)
		piece->last_ns = time_ns;
}

static enum pd_status count(void *self, struct pd_stream *stream, const struct pd_record *record,
			    struct pd_error *error)
{
	struct run *run = self;
	struct split *split = &run->split;
	struct pd_brief brief;
	struct piece *piece;
	uint64_t key;
	bool missing;

	(void)stream;
	if (record->type != PD_RECORD_SAMPLE)
		return PD_OK;
	if (!split_key(split, record, &key, &missing)) {
		run->unfit++;
		return PD_OK;
	}
	if (split->by == BY_SIZE && record->bytes.size > split->amount - split->common_bytes) {
		snprintf(error->message, sizeof(error->message),
			 "%s: a sample of %zu bytes and the %" PRIu64
			 " bytes that every piece must have are more than %" PRIu64,
			 run->input.name, record->bytes.size, split->common_bytes, split->amount);
		return error->status = PD_ERROR_ARGUMENT;
	}
	run->missing += missing;
	run->known += !missing;
	piece = split_add(split, key);
	if (!piece)
		return out_of_memory(error);
	piece->samples++;
	note_time(piece, record->time_ns);
	if (split_by_tasks(split) && pd_record_brief(record, &brief) &&
	    !pairs_add(&split->tasks, (struct pair){ brief.pid, key }))
		return out_of_memory(error);
	return PD_OK;
}

static bool show_progress(void *self, uint64_t done, uint64_t total)
{
	struct run *run = self;

	progress_show(&run->input.progress, done, total);
	return true;
}

static int count_all(struct run *run)
{
	struct split *split = &run->split;
	const struct pd_sink sink = { .size = sizeof(sink), .self = run, .record = count };
	const struct pd_run_options wanted = { .size = sizeof(wanted),
					       .threads = 1,
					       .first = look,
					       .ready = ready,
					       .self = run,
					       .progress = show_progress };
	enum pd_status status = PD_OK;

	split->file = run->input.file;
	if (split->by == BY_COMM || split->by == BY_CGROUP)
		status = pd_world_new(NULL, &split->world, &run->error);
	if (status >= 0)
		status = pd_run(split->file, &wanted, &sink, &run->error);
	progress_clear(&run->input.progress);
	input_again(&run->input);
	pairs_sort(&split->tasks);
	if (status >= 0)
		return CODE_FINE;
	complain("%s", run->error.message);
	return status == PD_ERROR_ARGUMENT ? CODE_USAGE : CODE_UNREADABLE;
}

/* ---- which tasks a piece has to know ---- */

static uint64_t *need_of(struct run *run, uint64_t pid, bool add)
{
	size_t at = (size_t)(pid * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (run->need_slots - 1);

	while (run->needs[at].index_plus_1 && run->needs[at].key != pid)
		at = (at + 1) & (run->need_slots - 1);
	if (!run->needs[at].index_plus_1 && add)
		run->needs[at] = (struct key_slot){ pid, ++run->need_count };
	return run->needs[at].index_plus_1 ? &run->masks[run->needs[at].index_plus_1 - 1] : NULL;
}

/* A process has what its parent had mapped, and so on, the nearest first. Each piece of a chain of forks would have all
 * of the chain before it, so there is a limit. */
static void need_parents(struct run *run, uint64_t pid, uint64_t bits)
{
	uint64_t queue[1 + MOST_ANCESTORS] = { pid };
	bool too_deep = false;
	size_t count = 1;

	for (size_t next = 0; next < count; next++) {
		uint64_t *mask = need_of(run, queue[next], true);
		size_t parents;
		const struct pair *pairs = pairs_find(&run->split.parents, queue[next], &parents);

		if (*mask & bits)
			continue;
		*mask |= bits;
		for (size_t i = 0; i < parents && !too_deep; i++) {
			const uint64_t *known = need_of(run, pairs[i].second, false);

			if (known && *known & bits)
				continue;
			too_deep = count > MOST_ANCESTORS;
			if (!too_deep)
				queue[count++] = pairs[i].second;
		}
	}
	run->too_deep += too_deep;
}

static bool note_needs(struct run *run)
{
	const struct split *split = &run->split;

	run->need_slots = 1024;
	while (run->need_slots < 2 * (split->tasks.count + 2 * split->parents.count))
		run->need_slots *= 2;
	if (!run->needs) {
		run->needs = malloc(run->need_slots * sizeof(*run->needs));
		run->masks = malloc(run->need_slots * sizeof(*run->masks));
	}
	if (!run->needs || !run->masks)
		return false;
	memset(run->needs, 0, run->need_slots * sizeof(*run->needs));
	memset(run->masks, 0, run->need_slots * sizeof(*run->masks));
	run->need_count = 0;
	for (size_t i = 0; i < split->tasks.count; i++) {
		const struct piece *piece = split_find(split, split->tasks.items[i].second);
		size_t at = (size_t)(piece - run->open);

		if (piece >= run->open && at < run->open_count)
			need_parents(run, split->tasks.items[i].first, UINT64_C(1) << at);
	}
	return true;
}

/* The process that a record is about, or UINT32_MAX: it concerns all. */
static uint32_t task_of(const struct pd_record *record)
{
	switch (record->type) {
	case PD_RECORD_COMM: {
		const struct pd_comm *comm = pd_as_comm(record);

		return comm ? comm->pid : UINT32_MAX;
	}
	case PD_RECORD_MMAP: {
		const struct pd_mmap *map = pd_as_mmap(record);

		return map ? map->pid : UINT32_MAX;
	}
	case PD_RECORD_MMAP2: {
		const struct pd_mmap2 *map = pd_as_mmap2(record);

		return map ? map->pid : UINT32_MAX;
	}
	case PD_RECORD_FORK:
	case PD_RECORD_EXIT: {
		const struct pd_task *task = pd_record_as(record, record->type);

		return task ? task->pid : UINT32_MAX;
	}
	case PD_RECORD_NAMESPACES: {
		const struct pd_namespaces *namespaces = pd_as_namespaces(record);

		return namespaces ? namespaces->pid : UINT32_MAX;
	}
	case PD_RECORD_SWITCH: {
		const struct pd_switch *swap = pd_as_switch(record);

		return swap && swap->sample_id && swap->sample_id->pid ? swap->sample_id->pid : UINT32_MAX;
	}
	default:
		return UINT32_MAX;
	}
}

#define TYPE(NAME) (UINT64_C(1) << PD_RECORD_##NAME)

static bool keep_is_state(uint32_t type)
{
	const uint64_t types = TYPE(COMM) | TYPE(FORK) | TYPE(EXIT) | TYPE(MMAP) | TYPE(MMAP2) | TYPE(NAMESPACES) |
			       TYPE(KSYMBOL) | TYPE(BPF_EVENT) | TYPE(CGROUP) | TYPE(TEXT_POKE) | TYPE(ITRACE_START) |
			       TYPE(AUX_OUTPUT_HW_ID);

	return type < 64 && (types >> type & 1);
}

static uint64_t slice_begin(const struct split *split, const struct piece *piece)
{
	return split->window.first_ns + piece->key * split->amount;
}

/* The open pieces that a record goes into, as bits. */
static uint64_t pieces_of(struct run *run, const struct pd_record *record)
{
	uint64_t all = run->open_count < 64 ? (UINT64_C(1) << run->open_count) - 1 : UINT64_MAX;
	const struct split *split = &run->split;
	uint64_t bits = 0;
	uint32_t pid;

	if (split_by_tasks(split)) {
		const uint64_t *mask;

		pid = task_of(record);
		mask = pid == UINT32_MAX ? NULL : need_of(run, pid, false);
		return pid == UINT32_MAX ? all : mask ? *mask : 0;
	}
	if (split->by != BY_TIME || record->time_ns == PD_NO_TIME || record->type >= 64)
		return all;
	/* what tells who runs is needed by all that comes later; a slice lasts until the next one that has samples */
	for (size_t i = 0; i < run->open_count; i++) {
		const struct piece *piece = &run->open[i];
		bool is_last = piece == &split->pieces[split->piece_count - 1];

		if ((is_last || record->time_ns < slice_begin(split, piece + 1)) &&
		    (keep_is_state(record->type) || piece == split->pieces ||
		     record->time_ns >= slice_begin(split, piece)))
			bits |= UINT64_C(1) << i;
	}
	return bits;
}

/* ---- pieces of events ---- */

static bool reads_group(const struct pd_event *event)
{
	return event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_READ) &&
	       event->attr->read_format & PD_MASK(PD_READ_FORMAT_GROUP);
}

/* The first event is that of records without an id; samples of a group have values of all its members. */
static bool has_event(const struct run *run, const struct piece *piece, const struct pd_event *event)
{
	return !event->index || event->index == piece->key ||
	       (event->index < run->split.event_count && run->split.referenced[event->index]) ||
	       (reads_group(event) && reads_group(pd_file_event(run->split.file, (size_t)piece->key)));
}

static enum pd_status write_event_header(struct run *run, struct piece *piece, struct pd_error *error)
{
	size_t count = pd_file_event_count(run->split.file);
	bool *is_kept = calloc(count + 1, sizeof(*is_kept));
	enum pd_status status;

	if (!is_kept)
		return out_of_memory(error);
	for (size_t i = 0; i < count; i++)
		is_kept[i] = has_event(run, piece, pd_file_event(run->split.file, i));
	status = pd_merge_piece_header(run->split.file, is_kept, piece->first_ns, piece->last_ns, piece->target.writer,
				       error);
	free(is_kept);
	return status;
}

static bool has_id(const struct run *run, const struct piece *piece, uint64_t id)
{
	const struct pd_event *event = pd_file_event_by_id(run->split.file, id);

	return !event || has_event(run, piece, event);
}

/* Entries of ids that a piece does not have would be refused by perf. */
static enum pd_status pass_id_index(struct run *run, struct piece *piece, struct pd_stream *stream,
				    const struct pd_record *record, const struct pd_id_index *index)
{
	struct pd_id_index changed = *index;
	struct pd_id_entry *entries = malloc((index->entries.count + 1) * sizeof(*entries));
	struct pd_id_guest *guests = malloc((index->entries.count + 1) * sizeof(*guests));
	enum pd_status status = PD_OK;
	size_t count = 0;

	if (!entries || !guests)
		status = out_of_memory(&run->error);
	for (size_t i = 0; i < index->entries.count && status >= 0; i++) {
		const struct pd_id_entry *entry = PD_ITEM(pd_id_entry, index->entries, i);

		if (!has_id(run, piece, entry->id))
			continue;
		if (i < index->guests.count)
			guests[count] = *PD_ITEM(pd_id_guest, index->guests, i);
		entries[count++] = *entry;
	}
	changed.nr = count;
	changed.entries = (struct pd_list){ entries, count, sizeof(*entries) };
	changed.guests = (struct pd_list){ guests, index->guests.count ? count : 0, sizeof(*guests) };
	if (status >= 0 && count == index->entries.count)
		status = pd_writer_pass(piece->target.writer, stream, record, &run->error);
	else if (status >= 0 && count)
		status = pd_writer_pass_changed(piece->target.writer, stream, record, record->misc, &changed,
						&run->error);
	free(entries);
	free(guests);
	return status;
}

static enum pd_status pass_of_events(struct run *run, struct piece *piece, struct pd_stream *stream,
				     const struct pd_record *record)
{
	const struct pd_id_index *index = pd_as_id_index(record);
	const struct pd_event_update *update = pd_as_event_update(record);
	const struct pd_stat *stat = pd_as_stat(record);

	if (index)
		return pass_id_index(run, piece, stream, record, index);
	if ((update && !has_id(run, piece, update->id)) || (stat && !has_id(run, piece, stat->id)) ||
	    (record->event && !has_event(run, piece, record->event)))
		return PD_OK;
	return pd_writer_pass(piece->target.writer, stream, record, &run->error);
}

/* ---- writing ---- */

/* Events and features of a pipe come as records; for pieces of events they are in the header already. */
static bool is_around(const struct pd_record *record)
{
	return record->type == PD_RECORD_HEADER_ATTR || record->type == PD_RECORD_HEADER_FEATURE ||
	       record->type == PD_RECORD_HEADER_TRACING_DATA || record->type == PD_RECORD_OLD_FEATURE ||
	       record->type == PD_RECORD_HEADER_EVENT_TYPE;
}

/* What all pieces need makes many files of a small one, and a file can be made to need more than there is room for. */
static bool is_within(struct run *run, uint64_t bytes)
{
	const uint64_t most = MOST_BYTES + MOST_TIMES * run->split.common_bytes;

	run->copied_bytes += bytes;
	if (run->copied_bytes <= most)
		return true;
	snprintf(run->error.message, sizeof(run->error.message),
		 "%s: stopped: the mappings and names needed in each file take more than %" PRIu64
		 " MiB; filter it first",
		 run->input.name, most >> 20);
	run->status = run->error.status = PD_ERROR_LIMIT;
	return false;
}

static bool pass_other(struct run *run, struct pd_stream *stream, const struct pd_record *record)
{
	uint64_t bits = pieces_of(run, record);
	bool by_event = run->split.by == BY_EVENT;

	if (is_shell(record) ||
	    (by_event && is_around(record) && pd_file_header(run->split.file)->mode == PD_MODE_PIPE))
		return true;
	if (!is_within(run, size_of(stream, record) * (uint64_t)__builtin_popcountll(bits)))
		return false;
	for (; bits && run->status >= 0; bits &= bits - 1) {
		struct piece *piece = &run->open[__builtin_ctzll(bits)];

		if (by_event)
			run->status = pass_of_events(run, piece, stream, record);
		else
			run->status = pd_writer_pass(piece->target.writer, stream, record, &run->error);
	}
	return run->status >= 0;
}

static bool write_record(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct run *run = self;
	struct piece *piece;
	uint64_t key;
	bool missing;

	if (record->type != PD_RECORD_SAMPLE)
		return pass_other(run, stream, record);
	if (!split_key(&run->split, record, &key, &missing))
		return true;
	piece = split_find(&run->split, key);
	if (!piece || piece < run->open || piece >= run->open + run->open_count)
		return true;
	run->status = pd_writer_pass(piece->target.writer, stream, record, &run->error);
	return run->status >= 0;
}

static enum pd_status change_feature(void *self, struct pd_file *file, unsigned feature, const void **decoded_out,
				     bool *keep, struct pd_error *error)
{
	struct piece *piece = self;

	(void)file;
	(void)keep;
	(void)error;
	if (feature == PD_FEATURE_SAMPLE_TIME) {
		piece->times = (struct pd_sample_time){ .first_ns = piece->first_ns, .last_ns = piece->last_ns };
		*decoded_out = &piece->times;
	}
	return PD_OK;
}

static int open_piece(struct run *run, struct piece *piece)
{
	struct pd_file *const inputs[] = { run->split.file };
	const struct pd_changes changes = { .size = sizeof(changes), .self = piece, .feature = change_feature };
	int code = target_take_path(&piece->target, &run->values->target, piece->path, PD_PACK_SAME);

	if (code == CODE_FINE)
		code = target_open(&piece->target, inputs, 1, false);
	if (code != CODE_FINE)
		return code;
	if (run->split.by == BY_EVENT) {
		run->status = write_event_header(run, piece, &run->error);
	} else {
		run->status = pd_writer_change(piece->target.writer, &changes, &run->error);
		if (run->status >= 0)
			run->status = pd_writer_carry(piece->target.writer, run->split.file, &run->error);
	}
	return run->status < 0 ? target_failed(&piece->target, run->status, &run->error) : CODE_FINE;
}

/* Writes the pieces from one on, so many as can be open at a time. */
static int write_group(struct run *run, size_t from)
{
	struct split *split = &run->split;
	size_t left = split->piece_count - from;
	int code = CODE_FINE;

	run->open = &split->pieces[from];
	run->open_count = left < OPEN_PIECES ? left : OPEN_PIECES;
	split->piece_bytes = split->piece_number = 0;
	if (split_by_tasks(split) && !note_needs(run)) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	for (size_t i = 0; i < run->open_count && code == CODE_FINE; i++)
		code = open_piece(run, &run->open[i]);
	if (code == CODE_FINE)
		code = input_walk(&run->input, write_record, run);
	input_again(&run->input);
	if (code == CODE_FINE && run->status < 0)
		code = target_failed(&run->open[0].target, run->status, &run->error);
	for (size_t i = 0; i < run->open_count; i++)
		code = target_close(&run->open[i].target, code);
	return code;
}

/* Nothing is written over. */
static int check_paths(const struct run *run)
{
	struct stat status;

	for (size_t i = 0; i < run->split.piece_count; i++) {
		const char *path = run->split.pieces[i].path;

		if (lstat(path, &status) == 0) {
			complain("%s: already exists; nothing is written", path);
			return CODE_OUTPUT;
		}
	}
	return CODE_FINE;
}

static int make_directory(struct run *run)
{
	const char *output = run->output;
	struct stat status;

	if (strstr(output, "%s") || stat(output, &status) == 0)
		return CODE_FINE;
	unfinished_begin();
	run->made_directory = mkdir(output, 0777) == 0;
	if (run->made_directory)
		run->directory = unfinished_add(output, UNFINISHED_IF_EMPTY);
	unfinished_end();
	if (run->made_directory)
		return CODE_FINE;
	complain("%s: cannot create: %s", output, strerror(errno));
	return CODE_OUTPUT;
}

/* Without a piece in it, it goes again. */
static void leave_directory(struct run *run, int code)
{
	unfinished_done(run->directory);
	if (run->made_directory && code != CODE_FINE)
		rmdir(run->output);
}

/* ---- what was written ---- */

static void print_pieces(const struct run *run, struct output *out)
{
	for (size_t i = 0; i < run->split.piece_count; i++) {
		const struct piece *piece = &run->split.pieces[i];
		struct stat status;
		uint64_t size = stat(piece->path, &status) == 0 && S_ISREG(status.st_mode) ? (uint64_t)status.st_size :
											     0;

		if (run->values->json) {
			struct pd_json json = { .text = out->text };

			pd_json_open(&json, NULL, '{');
			pd_json_string(&json, "file", piece->path);
			pd_json_number(&json, "samples", piece->samples);
			pd_json_number(&json, "bytes", size);
			pd_json_close(&json, '}');
			pd_text_add(out->text, "\n");
		} else {
			pd_text_printf(out->text, "%10" PRIu64 " samples  ", piece->samples);
			pd_text_escaped(out->text, piece->path, strlen(piece->path));
			pd_text_add(out->text, "\n");
		}
		if (!output_spill(out))
			return;
	}
}

static void tell(const struct run *run)
{
	uint64_t there = run->known + run->missing, all = there + run->unfit;

	if (run->values->input.quiet)
		return;
	if (run->too_deep)
		complain("warning: %zu process%s %d or more ancestors: their files lack mappings "
			 "inherited from more distant ones",
			 run->too_deep, run->too_deep == 1 ? " has" : "es have", MOST_ANCESTORS + 1);
	complain("%" PRIu64 " of %" PRIu64 " sample%s in %zu file%s", there, all, plural(all), run->split.piece_count,
		 plural(run->split.piece_count));
	if (run->missing)
		complain("%" PRIu64 " of them in the file named unknown: %s", run->missing, split_missing(&run->split));
	if (run->unfit)
		complain("%" PRIu64 " sample%s in no file: damaged, or of an unknown event", run->unfit,
			 plural(run->unfit));
}

static int split_all(struct run *run, struct output *out)
{
	struct split *split = &run->split;
	int code = count_all(run);

	if (code != CODE_FINE)
		return code;
	if (!split->piece_count) {
		complain("%s: there are no samples%s", run->input.name, run->unfit ? " that can be read" : "");
		return CODE_NO_SAMPLES;
	}
	if (!run->known || (split->by == BY_TIME && !split->window.last_ns)) {
		complain("%s: %s", run->input.name, split_missing(split));
		return CODE_NOTHING;
	}
	code = split_name(split, run->output);
	if (code == CODE_FINE)
		code = check_paths(run);
	if (code == CODE_FINE)
		code = make_directory(run);
	for (size_t i = 0; i < split->piece_count && code == CODE_FINE; i += OPEN_PIECES)
		code = write_group(run, i);
	leave_directory(run, code);
	progress_clear(&run->input.progress);
	if (code != CODE_FINE)
		return code;
	print_pieces(run, out);
	tell(run);
	return run->unfit || run->too_deep ? CODE_DAMAGED : CODE_FINE;
}

/* The form of the pieces is the same for all, so it is checked before anything is read. */
static int take_options(struct run *run)
{
	const struct values *values = run->values;
	struct target target;

	if (!split_take(&run->split, values->by))
		return CODE_USAGE;
	run->output = values->target.output;
	if (!run->output || !*run->output || !strcmp(run->output, "-")) {
		complain("no output given; use -o DIRECTORY, or -o FILE with %%s in its name");
		return CODE_USAGE;
	}
	return target_take_path(&target, &values->target, run->output, PD_PACK_SAME);
}

static int run_split(const struct call *call)
{
	struct run run = { .values = call->values };
	struct input_options input = run.values->input;
	int code = take_options(&run);

	input.keep = input.verify = true;
	if (code == CODE_FINE)
		code = input_open(&run.input, &input, call, NULL, NULL);
	if (code != CODE_FINE)
		return code;
	code = split_all(&run, call->out);
	split_fini(&run.split);
	free(run.needs);
	free(run.masks);
	return input_close(&run.input, code);
}

const struct command cmd_split = {
	.usage = "[OPTION]... --by WHAT -o DIRECTORY [FILE]",
	.text = "Split a recording into several: one per event, process, thread name, CPU or cgroup, or slices by time or size. "
		"Each is a complete recording with all that its samples need: tasks, mappings, and the description of machine and "
		"events. merge joins them again.\n\n"
		"OUTPUT is a directory, created if missing, or a file name with %s, which is replaced by the event, number or name; "
		"special characters become _. Nothing is overwritten: if one of the files exists, none is written. The files written "
		"are listed.\n\n"
		"Files by process, thread name or cgroup omit what is known about other processes. Files by event also contain the "
		"first event of the recording and those that task records belong to. Time slices begin with the first sample. Files "
		"are written 64 at a time; FILE is read once for each 64.\n\n"
		"The file of a process includes the mappings of its ancestors, up to 64; if it has more, a warning is printed and the "
		"exit code is 1. At most 4096 files are written, and at most 512 MiB plus 64 times the input of records other than "
		"samples.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run_split,
};
