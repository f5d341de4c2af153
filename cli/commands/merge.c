/* SPDX-License-Identifier: MIT */
/*
 * perfdata merge: several recordings as one, in the order of time. merge_look.c learns what each is, merge_plan.c,
 * merge_formats.c and merge_features.c say what becomes of it; here records are passed.
 */
#include "merge.h"
#include "front/target.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	RECORDS_PER_ROUND = 65536, /* so that readers need not keep all of it */
	RECORDS_PER_STEP = 16384 /* between two looks at the clock */
};

struct values {
	struct input_options input;
	struct target_options target;
	const char *align;
	struct option_list offsets;
	const char *machines;
	const char *kernels;
	bool keep_pids;
	bool drop_aux;
};

static const struct option options[] = {
	INPUT_OPTIONS(struct values, input),
	TARGET_OPTIONS(struct values, target),
	{ "align", 0, OPTION_STRING, "HOW", offsetof(struct values, align),
	  "align clocks of different boots: wall (by CLOCK_DATA), first (same start time), none, or auto (the default: wall if "
	  "available, else none)" },
	{ "offset", 0, OPTION_LIST, "FILE=SECONDS", offsetof(struct values, offsets),
	  "add SECONDS (may be negative) to the timestamps of FILE" },
	{ "machines", 0, OPTION_STRING, "HOW", offsetof(struct values, machines),
	  "same: all files are from one boot of one machine; different: none are; auto (the default)" },
	{ "kernels", 0, OPTION_STRING, "HOW", offsetof(struct values, kernels),
	  "different kernels, or kernels at different addresses: move (the default), refuse, or keep, which gives "
	  "wrong function names" },
	{ "keep-pids", 0, OPTION_FLAG, NULL, offsetof(struct values, keep_pids),
	  "do not renumber PIDs of other machines" },
	{ "drop-aux", 0, OPTION_FLAG, NULL, offsetof(struct values, drop_aux), "drop AUX data" },
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata merge morning.data evening.data -o day.data", "merge two recordings" },
	{ "perfdata merge web-*.data --align wall -o fleet.data", "several machines, aligned by wall-clock time" },
	{ "perfdata merge a.data b.data --offset b.data=-1.5 -o -", "shift b by -1.5 s and write a pipe" },
	{ "perfdata merge parts/*.data -o whole.data", "reassemble what split made" },
	{ 0 },
};

enum align { ALIGN_AUTO, ALIGN_WALL, ALIGN_FIRST, ALIGN_NONE };

/* A record of a source that waits. */
struct feed {
	struct source *source;
	size_t number; /* of the source */
	struct pd_stream *stream;
	const struct pd_record *record; /* NULL at the end */
	uint64_t time_ns; /* in the output; for a record without one that of the record before it */
	bool untimed;
	bool begun; /* a record with a time has come */
};

/* A record that was written, for those that come again. */
struct seen {
	uint64_t hash[2];
	uint32_t source_plus_1;
};

struct run {
	const struct values *values;
	struct merge merge;
	struct target target;
	struct feed *feeds, **heap;
	size_t heap_size;
	/* records of pieces that may come again: without time, and of the present time */
	struct seen *timeless;
	size_t timeless_count, timeless_slots;
	struct seen *now;
	size_t now_count, now_room;
	uint64_t now_ns;
	uint64_t secret[2];
	uint64_t *session_members;
	/* counts */
	uint64_t samples, others, twice, left_out, unfit, unfit_samples, single;
	size_t single_session[3]; /* 1 + the session whose records of a kind that can be there once are written */
	uint64_t last_ns, since_round, steps;
	bool late;
};

/* ---- what is wanted ---- */

static bool take_word(const char *option, const char *text, const char *const *words, int *value)
{
	for (int i = 0; text && words[i]; i++) {
		if (!strcmp(text, words[i])) {
			*value = i;
			return true;
		}
	}
	if (text)
		complain("option --%s: unknown value '%s'", option, text);
	return !text;
}

static int take_options(struct run *run, int *align)
{
	static const char *const aligns[] = { "auto", "wall", "first", "none", NULL };
	static const char *const machines[] = { "auto", "same", "different", NULL };
	static const char *const kernels[] = { "move", "refuse", "keep", NULL };
	int machine = 0, kernel = 0;

	*align = ALIGN_AUTO;
	if (!take_word("align", run->values->align, aligns, align) ||
	    !take_word("machines", run->values->machines, machines, &machine) ||
	    !take_word("kernels", run->values->kernels, kernels, &kernel))
		return CODE_USAGE;
	run->merge.machines = (enum machines)machine;
	run->merge.kernels = (enum kernels)kernel;
	run->merge.keep_tasks = run->values->keep_pids;
	run->merge.quiet = run->values->input.quiet;
	return target_take(&run->target, &run->values->target, PD_PACK_SAME);
}

/* ---- clocks ---- */

static const struct pd_clock_data *clock_of(const struct source *source)
{
	const struct pd_clock_data *data = pd_file_clock_data(source->input.file);

	return data && data->wall_clock_ns && data->clockid_time_ns ? data : NULL;
}

/* The clock of the times, as a number; -1 is that of perf. */
static int64_t clockid_of(const struct source *source)
{
	const struct pd_attr *attr;

	if (!pd_file_event_count(source->input.file))
		return -1;
	attr = pd_file_event(source->input.file, 0)->attr;
	return PD_BITS(attr->flags, PD_ATTR_USE_CLOCKID) ? attr->clockid : -1;
}

static int align_by_wall(struct source *source, const struct source *first, bool must, bool quiet)
{
	const struct pd_clock_data *own = clock_of(source), *other = clock_of(first);

	if (own && other) {
		source->join.time_ns = (int64_t)((own->wall_clock_ns - own->clockid_time_ns) -
						 (other->wall_clock_ns - other->clockid_time_ns));
		return CODE_FINE;
	}
	if (must) {
		complain("%s: has no CLOCK_DATA, so it cannot be aligned by the time of day (record with -k CLOCK)",
			 own ? first->name : source->name);
		return CODE_USAGE;
	}
	if (!quiet)
		complain("%s: clock differs from that of %s and cannot be aligned without CLOCK_DATA: times are unchanged "
			 "(see --align)", source->name, first->name);
	return CODE_FINE;
}

static int align_source(struct source *source, const struct source *first, enum align align, bool quiet)
{
	bool same_clock = source->machine == first->machine && clockid_of(source) == clockid_of(first);

	if (align == ALIGN_NONE || (align == ALIGN_AUTO && same_clock))
		return CODE_FINE;
	if (align != ALIGN_FIRST)
		return align_by_wall(source, first, align == ALIGN_WALL, quiet);
	if (source->first_ns && first->first_ns)
		source->join.time_ns = (int64_t)(first->first_ns - source->first_ns);
	return CODE_FINE;
}

static int take_offset(struct run *run, const char *text)
{
	const char *equals = strrchr(text, '=');
	char *end;
	double seconds;
	bool found = false;

	if (!equals || !equals[1]) {
		complain("option --offset: '%s' is not FILE=SECONDS", text);
		return CODE_USAGE;
	}
	seconds = strtod(equals + 1, &end);
	if (*end || !isfinite(seconds) || fabs(seconds) > 9e9) {
		complain("option --offset: '%s' is not a number of seconds", equals + 1);
		return CODE_USAGE;
	}
	for (size_t i = 0; i < run->merge.source_count; i++) {
		struct source *source = &run->merge.sources[i];

		if (strlen(source->name) != (size_t)(equals - text) || memcmp(source->name, text, strlen(source->name)) != 0)
			continue;
		source->join.time_ns += (int64_t)(seconds * 1e9 + (seconds < 0 ? -0.5 : 0.5));
		found = true;
	}
	if (!found)
		complain("option --offset: '%.*s' is not one of the input files", (int)(equals - text), text);
	return found ? CODE_FINE : CODE_USAGE;
}

static uint64_t shifted(const struct source *source, uint64_t time_ns)
{
	int64_t moved = (int64_t)(time_ns + (uint64_t)source->join.time_ns);

	return moved > 0 ? (uint64_t)moved : 1;
}

/* What a recorder found when it began was so from then on. For the recording that begins first it was so before all. */
static void set_early(struct merge *merge)
{
	uint64_t oldest = UINT64_MAX;
	size_t oldest_session = 0;

	for (size_t i = 0; i < merge->source_count; i++) {
		const struct source *source = &merge->sources[i];

		if (source->begin_ns && shifted(source, source->begin_ns) < oldest) {
			oldest = shifted(source, source->begin_ns);
			oldest_session = source->session;
		}
	}
	for (size_t i = 0; i < merge->source_count; i++) {
		struct source *source = &merge->sources[i];

		source->early = source->join;
		if (source->session != oldest_session && source->begin_ns)
			source->early.untimed_ns = shifted(source, source->begin_ns);
	}
}

static int align_all(struct run *run, enum align align)
{
	struct merge *merge = &run->merge;
	int code = CODE_FINE;

	for (size_t i = 1; i < merge->source_count && code == CODE_FINE; i++)
		code = align_source(&merge->sources[i], &merge->sources[0], align, merge->quiet);
	for (size_t i = 0; i < run->values->offsets.count && code == CODE_FINE; i++)
		code = take_offset(run, run->values->offsets.items[i]);
	return code;
}

/* ---- what cannot be joined ---- */

static bool has_feature(const struct source *source, unsigned feature)
{
	struct pd_bytes bytes;

	return pd_file_feature_bytes(source->input.file, feature, &bytes, NULL) == PD_OK;
}

/* AUX data say times and numbers of their own recorder, which only a decoder for the machine knows. */
static int check_aux(const struct run *run)
{
	const struct merge *merge = &run->merge;
	const struct source *first = NULL;

	for (size_t i = 0; i < merge->source_count && !run->values->drop_aux; i++) {
		const struct source *source = &merge->sources[i];

		if (!source->has_aux)
			continue;
		if ((first && first->session != source->session) || source->join.time_ns || source->join.tasks) {
			complain("%s: its AUX data cannot be joined with those of another recording, nor moved in time or to "
				 "another machine: --drop-aux leaves them out", source->name);
			return CODE_USAGE;
		}
		first = source;
	}
	return CODE_FINE;
}

static int check_stat(const struct merge *merge)
{
	bool stat = has_feature(&merge->sources[0], PD_FEATURE_STAT);

	for (size_t i = 1; i < merge->source_count; i++) {
		if (has_feature(&merge->sources[i], PD_FEATURE_STAT) == stat)
			continue;
		complain("%s and %s: counts of perf stat and samples cannot be in one file", merge->sources[0].name,
			 merge->sources[i].name);
		return CODE_USAGE;
	}
	for (size_t i = 1; i < merge->source_count && stat; i++) {
		if (!merge->sources[i].session)
			continue;
		complain("%s and %s: counts of several runs of perf stat cannot be in one file", merge->sources[0].name,
			 merge->sources[i].name);
		return CODE_USAGE;
	}
	return CODE_FINE;
}

/* ---- records that come again ---- */

/* Two hashes with a secret: bytes that agree in both are the same. */
static void hash_record(const struct run *run, const struct feed *feed, struct seen *seen)
{
	const struct pd_record *record = feed->record;
	uint64_t hash[2] = { run->secret[0] ^ record->tail_size, run->secret[1] ^ feed->source->session };
	struct pd_bytes bytes = record->bytes;

	hash[0] ^= (uint64_t)feed->source->join.time_ns;
	for (size_t i = 0; i < bytes.size; i += 8) {
		uint64_t word = 0;

		memcpy(&word, bytes.data + i, bytes.size - i < 8 ? bytes.size - i : 8);
		for (size_t j = 0; j < 2; j++) {
			unsigned __int128 product =
				(unsigned __int128)(word ^ hash[j]) * (run->secret[1 - j] | 1);

			hash[j] = (uint64_t)product ^ (uint64_t)(product >> 64) ^ (hash[j] << 7 | hash[j] >> 57);
		}
	}
	*seen = (struct seen){ { hash[0], hash[1] ^ bytes.size }, (uint32_t)feed->number + 1 };
}

static bool is_same(const struct seen *a, const struct seen *b)
{
	return a->hash[0] == b->hash[0] && a->hash[1] == b->hash[1];
}

static struct seen *find_timeless(const struct run *run, const struct seen *seen)
{
	size_t at = (size_t)seen->hash[0] & (run->timeless_slots - 1);

	while (run->timeless[at].source_plus_1 && !is_same(&run->timeless[at], seen))
		at = (at + 1) & (run->timeless_slots - 1);
	return &run->timeless[at];
}

static bool grow_timeless(struct run *run)
{
	struct seen *old = run->timeless;
	size_t count = run->timeless_slots;

	if (run->timeless_slots > 2 * run->timeless_count)
		return true;
	run->timeless_slots = count ? count * 2 : 4096;
	run->timeless = calloc(run->timeless_slots, sizeof(*run->timeless));
	for (size_t i = 0; i < count && run->timeless; i++)
		if (old[i].source_plus_1)
			*find_timeless(run, &old[i]) = old[i];
	free(old);
	return run->timeless != NULL;
}

/* The one that was written, or where the new one is kept. NULL if there is no memory. */
static struct seen *find_seen(struct run *run, const struct feed *feed, const struct seen *seen)
{
	if (feed->untimed) {
		struct seen *slot = grow_timeless(run) ? find_timeless(run, seen) : NULL;

		run->timeless_count += slot && !slot->source_plus_1;
		return slot;
	}
	if (feed->time_ns != run->now_ns)
		run->now_count = 0;
	run->now_ns = feed->time_ns;
	for (size_t i = 0; i < run->now_count; i++)
		if (is_same(&run->now[i], seen))
			return &run->now[i];
	if (!room_for(&run->now, &run->now_room, run->now_count + 1, sizeof(*run->now)))
		return NULL;
	run->now[run->now_count] = (struct seen){ { 0 } };
	return &run->now[run->now_count++];
}

/* Pieces of a recording have what is no sample in common: what another piece has brought is left out. What one piece
 * has twice stays. */
static int came_already(struct run *run, const struct feed *feed)
{
	struct seen seen, *slot;

	if (run->session_members[feed->source->session] < 2)
		return 0;
	hash_record(run, feed, &seen);
	slot = find_seen(run, feed, &seen);
	if (!slot)
		return -1;
	if (!slot->source_plus_1)
		*slot = seen;
	return slot->source_plus_1 != seen.source_plus_1;
}

/* ---- records in the order of time ---- */

static bool is_before(const struct feed *a, const struct feed *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	if (a->untimed != b->untimed)
		return a->untimed;
	return a->number < b->number;
}

static void sift_down(struct run *run, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1;
		struct feed *feed = run->heap[at];

		if (child >= run->heap_size)
			return;
		if (child + 1 < run->heap_size && is_before(run->heap[child + 1], run->heap[child]))
			child++;
		if (!is_before(run->heap[child], feed))
			return;
		run->heap[at] = run->heap[child];
		run->heap[child] = feed;
		at = child;
	}
}

/* Reads the next record of a source. */
static int step(struct run *run, struct feed *feed)
{
	struct pd_error error;
	enum pd_status status = pd_stream_next(feed->stream, &feed->record, &error);

	(void)run;
	if (status == PD_END) {
		feed->record = NULL;
		return CODE_FINE;
	}
	if (status < 0) {
		progress_clear(&feed->source->input.progress);
		complain("%s", error.message);
		return CODE_UNREADABLE;
	}
	feed->untimed = feed->record->time_ns == PD_NO_TIME;
	if (!feed->untimed) {
		feed->time_ns = shifted(feed->source, feed->record->time_ns);
		feed->begun = true;
	} else if (!feed->begun) {
		feed->time_ns = feed->source->early.untimed_ns;
	}
	return CODE_FINE;
}

/* What pipes say of events and features is in the header; records in others were taken out of them; rounds are new. */
static bool is_around(const struct pd_record *record, bool pipe)
{
	switch (record->type) {
	case PD_RECORD_HEADER_ATTR:
	case PD_RECORD_HEADER_FEATURE:
	case PD_RECORD_HEADER_TRACING_DATA:
	case PD_RECORD_OLD_FEATURE:
	case PD_RECORD_HEADER_EVENT_TYPE:
		return pipe;
	case PD_RECORD_COMPRESSED:
	case PD_RECORD_COMPRESSED2:
		return !(record->flags & PD_RECORD_INFLATED);
	case PD_RECORD_FINISHED_ROUND:
		return true;
	default:
		return false;
	}
}

static bool is_aux(const struct pd_record *record)
{
	return record->type == PD_RECORD_AUXTRACE || record->type == PD_RECORD_AUXTRACE_INFO ||
	       record->type == PD_RECORD_AUXTRACE_ERROR || record->type == PD_RECORD_AUX ||
	       record->type == PD_RECORD_ITRACE_START || record->type == PD_RECORD_AUX_OUTPUT_HW_ID;
}

/* What a file has once, for the tools that look at it: those of the first recording that has them. */
static bool is_surplus(struct run *run, const struct feed *feed)
{
	static const uint32_t types[] = { PD_RECORD_THREAD_MAP, PD_RECORD_CPU_MAP, PD_RECORD_TIME_CONV };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (feed->record->type != types[i])
			continue;
		if (!run->single_session[i])
			run->single_session[i] = feed->source->session + 1;
		return run->single_session[i] != feed->source->session + 1;
	}
	return false;
}

/* All that follows is not older than what is written, unless an input had it so. */
static enum pd_status end_round(struct run *run, struct pd_error *error)
{
	const struct pd_finished_round round = { 0 };

	run->since_round = 0;
	if (run->late || run->target.wanted.mode == PD_MODE_DIRECTORY)
		return PD_OK;
	return pd_writer_add(run->target.writer, PD_RECORD_FINISHED_ROUND, 0, &round, 0, error);
}

static const struct pd_join *join_of(const struct feed *feed)
{
	return feed->untimed && !feed->begun ? &feed->source->early : &feed->source->join;
}

static int write_record(struct run *run, struct feed *feed)
{
	struct pd_error error;
	enum pd_status status = PD_OK;

	run->late |= feed->record->flags & PD_RECORD_LATE || (!feed->untimed && feed->time_ns < run->last_ns);
	if (!feed->untimed)
		run->last_ns = feed->time_ns;
	if (++run->since_round > RECORDS_PER_ROUND)
		status = end_round(run, &error);
	if (status >= 0)
		status = pd_writer_pass_joined(run->target.writer, feed->stream, feed->record, join_of(feed), &error);
	if (status == PD_ERROR_FORMAT || status == PD_ERROR_UNSUPPORTED) {
		if (!run->unfit++)
			complain("%s: dropped: %s", feed->source->name, error.message);
		run->unfit_samples += feed->record->type == PD_RECORD_SAMPLE;
		return CODE_FINE;
	}
	if (status < 0)
		return target_failed(&run->target, status, &error);
	run->samples += feed->record->type == PD_RECORD_SAMPLE;
	run->others += feed->record->type != PD_RECORD_SAMPLE;
	return CODE_FINE;
}

static const struct source *first_kernel(const struct run *run)
{
	size_t i = 0;

	while (!run->merge.sources[i].map_count)
		i++;
	return &run->merge.sources[i];
}

static uint64_t moved_address(const struct source *source, uint64_t address)
{
	for (size_t i = 0; i < source->address_count; i++) {
		const struct pd_address_change *change = &source->addresses[i];

		if (address >= change->start && address < change->end)
			return address - change->start + change->to;
	}
	return address;
}

/* A map of the kernel that another recording has brought. */
static bool is_known_kernel_map(const struct run *run, const struct feed *feed)
{
	const struct pd_mmap *map = kernel_mmap(feed->record);
	const struct pd_mmap2 *map2 = kernel_mmap2(feed->record);

	if (map)
		return kernel_map_is_written(&run->merge, feed->source, map->filename.data, map->addr, map->pgoff);
	return map2 && kernel_map_is_written(&run->merge, feed->source, map2->filename.data, map2->addr, map2->pgoff);
}

/* The map of a kernel that is placed anew: known of the first one, or with another name. *done_out: that is all. */
static enum pd_status pass_kernel_map(struct run *run, const struct feed *feed, bool *done_out, struct pd_error *error)
{
	const struct pd_mmap *map = kernel_mmap(feed->record);
	const struct pd_mmap2 *map2 = kernel_mmap2(feed->record);
	const struct source *source = feed->source;
	const char *name = map ? map->filename.data : map2 ? map2->filename.data : NULL;
	struct pd_mmap changed;
	char renamed[512];

	*done_out = name && source->address_count && !source->kernel_apart && kernel_find(first_kernel(run), name);
	run->twice += *done_out;
	if (!name || !source->address_count || !source->kernel_apart || name[0] != '[')
		return PD_OK;
	kernel_rename(source, name, renamed, sizeof(renamed));
	changed = map ? *map : (struct pd_mmap){ .pid = map2->pid, .tid = map2->tid, .addr = map2->addr, .len = map2->len };
	changed.addr = moved_address(source, changed.addr);
	changed.pgoff = 0;
	changed.rest = (struct pd_bytes){ 0 };
	changed.sample_id = &(const struct pd_sample_id){ .time_ns = join_of(feed)->untimed_ns };
	changed.filename = (struct pd_str){ .data = renamed, .length = (uint32_t)strlen(renamed) };
	*done_out = true;
	run->others++;
	return pd_writer_add(run->target.writer, PD_RECORD_MMAP, PD_CPUMODE_KERNEL, &changed, 0, error);
}

static int take(struct run *run, struct feed *feed)
{
	const struct pd_record *record = feed->record;
	int again = 0;

	if (is_around(record, pd_file_header(feed->source->input.file)->mode == PD_MODE_PIPE))
		return CODE_FINE;
	if (run->values->drop_aux && is_aux(record)) {
		run->left_out++;
		return CODE_FINE;
	}
	if (is_surplus(run, feed)) {
		run->single++;
		return CODE_FINE;
	}
	if (record->type != PD_RECORD_SAMPLE)
		again = came_already(run, feed);
	if (again < 0) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	run->twice += (uint64_t)again;
	if (!again && !feed->source->address_count && is_known_kernel_map(run, feed)) {
		run->twice++;
		return CODE_FINE;
	}
	if (!again && feed->source->address_count) {
		struct pd_error error;
		bool done;
		enum pd_status status = pass_kernel_map(run, feed, &done, &error);

		if (status < 0)
			return target_failed(&run->target, status, &error);
		again = done;
	}
	return again ? CODE_FINE : write_record(run, feed);
}

static int pass_all(struct run *run)
{
	int code = CODE_FINE;

	while (run->heap_size && code == CODE_FINE) {
		struct feed *feed = run->heap[0];

		code = take(run, feed);
		if (code == CODE_FINE)
			code = step(run, feed);
		if (++run->steps % RECORDS_PER_STEP == 0)
			progress_step(&feed->source->input.progress, feed->stream);
		if (!feed->record)
			run->heap[0] = run->heap[--run->heap_size];
		sift_down(run, 0);
	}
	return code;
}

static int open_feeds(struct run *run)
{
	const struct pd_stream_options wanted = { .size = sizeof(wanted), .order = PD_ORDER_TIME, .verify = true };
	size_t count = run->merge.source_count;
	int code = CODE_FINE;

	run->feeds = calloc(count, sizeof(*run->feeds));
	run->heap = calloc(count, sizeof(*run->heap));
	run->session_members = calloc(count, sizeof(*run->session_members));
	if (!run->feeds || !run->heap || !run->session_members ||
	    getrandom(run->secret, sizeof(run->secret), 0) != sizeof(run->secret)) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	for (size_t i = 0; i < count && code == CODE_FINE; i++) {
		struct feed *feed = &run->feeds[i];
		struct pd_error error;

		feed->source = &run->merge.sources[i];
		feed->number = i;
		run->session_members[feed->source->session]++;
		if (pd_stream_open(feed->source->input.file, &wanted, &feed->stream, &error) < 0) {
			complain("%s", error.message);
			return CODE_UNREADABLE;
		}
		code = step(run, feed);
		if (feed->record)
			run->heap[run->heap_size++] = feed;
	}
	for (size_t i = run->heap_size; i-- > 0;)
		sift_down(run, i);
	return code;
}

static void close_feeds(struct run *run)
{
	for (size_t i = 0; run->feeds && i < run->merge.source_count; i++)
		pd_stream_close(run->feeds[i].stream);
	free(run->feeds);
	free(run->heap);
	free(run->session_members);
	free(run->timeless);
	free(run->now);
}

/* ---- all ---- */

static void tell_machines(const struct merge *merge)
{
	for (size_t i = 0; i < merge->source_count && !merge->quiet; i++) {
		const struct source *source = &merge->sources[i];
		const char *host = source_text(source, PD_FEATURE_HOSTNAME);

		if (source->join.tasks)
			complain("%s: of another machine or boot%s%s: %" PRIu32 " is added to numbers of processes", source->name,
				 host ? ", " : "", host ? host : "", source->join.tasks);
	}
}

static void tell_counts(const struct run *run)
{
	if (run->merge.quiet)
		return;
	complain("%zu file%s merged: %" PRIu64 " sample%s of %zu event%s and %" PRIu64 " other record%s; %" PRIu64
		 " found in several pieces %s written once",
		 run->merge.source_count, plural(run->merge.source_count), run->samples, plural(run->samples),
		 run->merge.events.count, plural(run->merge.events.count), run->others, plural(run->others), run->twice,
		 was_or_were(run->twice));
	if (run->left_out)
		complain("%" PRIu64 " record%s of AUX data %s dropped", run->left_out, plural(run->left_out),
			 was_or_were(run->left_out));
	if (run->single)
		complain("%" PRIu64 " THREAD_MAP, CPU_MAP and TIME_CONV record%s %s dropped: those of the first recording are kept",
			 run->single, plural(run->single), was_or_were(run->single));
	if (run->unfit)
		complain("%" PRIu64 " record%s (%" PRIu64 " sample%s) that cannot be decoded %s dropped", run->unfit,
			 plural(run->unfit), run->unfit_samples, plural(run->unfit_samples), was_or_were(run->unfit));
}

static int write_all(struct run *run)
{
	struct merge *merge = &run->merge;
	struct pd_file **files = calloc(merge->source_count, sizeof(struct pd_file *));
	struct pd_error error;
	enum pd_status status;
	int code;

	if (!files) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	for (size_t i = 0; i < merge->source_count; i++)
		files[i] = merge->sources[i].input.file;
	code = target_open(&run->target, files, merge->source_count, false);
	free(files);
	if (code != CODE_FINE)
		return code;
	status = merge_header(merge, run->target.writer, &error);
	if (status < 0)
		code = target_failed(&run->target, status, &error);
	if (code == CODE_FINE)
		code = open_feeds(run);
	if (code == CODE_FINE)
		code = pass_all(run);
	for (size_t i = 0; i < merge->source_count; i++)
		progress_clear(&merge->sources[i].input.progress);
	code = target_close(&run->target, code);
	close_feeds(run);
	if (code == CODE_FINE)
		tell_counts(run);
	return code == CODE_FINE && run->unfit ? CODE_DAMAGED : code;
}

static int join(struct run *run, enum align align)
{
	struct merge *merge = &run->merge;
	int code;

	merge_place(merge);
	code = check_stat(merge);
	if (code == CODE_FINE)
		code = merge_kernels(merge);
	if (code == CODE_FINE)
		code = align_all(run, align);
	if (code == CODE_FINE)
		code = check_aux(run);
	if (code == CODE_FINE)
		code = merge_formats(merge);
	if (code == CODE_FINE)
		code = merge_events(merge);
	if (code != CODE_FINE)
		return code;
	set_early(merge);
	tell_machines(merge);
	return write_all(run);
}

/* The files in the order in which they were named; that of -i comes first. */
static int look_at_all(struct run *run, const struct call *call)
{
	size_t count = call->word_count + (run->values->input.path != NULL);
	size_t standard = 0;
	int code = CODE_FINE;

	if (!count) {
		complain("no input given; name the files to merge");
		return CODE_USAGE;
	}
	run->merge.sources = calloc(count, sizeof(*run->merge.sources));
	if (!run->merge.sources) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	for (size_t i = 0; i < count && code == CODE_FINE; i++) {
		struct input_options input = run->values->input;

		if (i || !input.path)
			input.path = call->words[i - (run->values->input.path != NULL)];
		standard += !strcmp(input.path, "-");
		if (standard > 1) {
			complain("standard input can be read only once");
			return CODE_USAGE;
		}
		run->merge.source_count++;
		code = source_look(&run->merge.sources[i], &input, call);
	}
	return code;
}

static int run_merge(const struct call *call)
{
	struct run run = { .values = call->values };
	int align, code = take_options(&run, &align);

	if (code != CODE_FINE)
		return code;
	code = look_at_all(&run, call);
	if (code == CODE_FINE)
		code = join(&run, (enum align)align);
	merge_fini(&run.merge);
	for (size_t i = 0; i < run.merge.source_count; i++)
		code = source_close(&run.merge.sources[i], code);
	free(run.merge.sources);
	return code;
}

const struct command cmd_merge = {
	.usage = "[OPTION]... -o OUTPUT FILE...",
	.text = "Merge recordings into one, sorted by time.\n\n"
		"Equal events are merged, others are added; where ids or sample fields conflict, records are rewritten. Pieces of one "
		"recording, as made by split and cut, are reassembled: samples keep their bytes, and records found in several pieces, "
		"such as the map of the kernel, are written once.\n\n"
		"Recordings from the same boot share a clock. Those from another boot or machine (detected by host name, release and "
		"kernel address) are aligned by CLOCK_DATA if they have it, and their PIDs are renumbered: 10000000 is "
		"added for the second machine, 20000000 for the third. So report -s pid, or --where 'pid >= 10000000', separates "
		"machines, except for idle tasks, which have PID 0 on each. Raw tracepoint data is unchanged. "
		"A file has a single kernel address space: the same kernel, loaded elsewhere by another boot, is moved onto the "
		"first one; a different kernel is moved to a free range and named [kernel-HOST].\n\n"
		"Host name, command line and the like are those of the first file that has them; differences are "
		"reported. AUX data is kept if it comes from a single recording and nothing about it changes: two hardware traces "
		"cannot be separated in one file.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = SIZE_MAX,
	.run = run_merge,
};
