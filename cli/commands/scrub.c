/* SPDX-License-Identifier: MIT */
/*
 * perfdata scrub: the same recording without what says who, where and what. This file reads the options and the key,
 * takes every record through the tables and says what was done; docs/scrubbing.md says what each level does, and why.
 */
#include "front/input.h"
#include "front/outfile.h"
#include "scrub.h"
#include "front/target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	LEAST_KEY = 16,
	MOST_KEY = 1 << 20,
	RANDOM_KEY = 32,
	LEAST_SEARCHED = 4,
	CPUS_NOT_KNOWN = 1024,
	MOST_CPUS = 65536,
	KNOWN_MISC = 0xf007, /* bits that the format explains; see flag.def */
	OTHER_TYPES = 127
};

struct values {
	struct input_options input;
	struct target_options target;
	const char *hide;
	const char *key;
	struct option_list keep;
	struct option_list keep_names;
	const char *keep_data;
	const char *map;
	bool json;
	bool verify;
	struct option_number least;
};

static const struct option options[] = {
	INPUT_OPTIONS(struct values, input),
	TARGET_OPTIONS(struct values, target),
	{ "hide", 0, OPTION_STRING, "LEVEL", offsetof(struct values, hide),
	  "names; addresses (default: names and addresses); all (also PIDs, CPUs, times, build ids, the machine)" },
	{ "key", 0, OPTION_STRING, "KEY", offsetof(struct values, key),
	  "key that new names are derived from, at least 16 bytes: a file, hex:DIGITS or env:NAME (default: random)" },
	{ "keep", 0, OPTION_LIST, "PATTERN", offsetof(struct values, keep),
	  "names to keep: dso=libc.so*, comm=java, event=*, or a pattern for any name; may be repeated" },
	{ "keep-names", 0, OPTION_LIST, "FILE", offsetof(struct values, keep_names),
	  "file of names to keep, one pattern per line" },
	{ "keep-data", 0, OPTION_STRING, "LIST", offsetof(struct values, keep_data),
	  "do not drop these data, which may contain anything: raw, regs, stack, aux" },
	{ "map", 0, OPTION_STRING, "FILE", offsetof(struct values, map),
	  "write old and new names to FILE; keep it secret" },
	{ "json", 'j', OPTION_FLAG, NULL, offsetof(struct values, json),
	  "print the summary as JSON on standard output" },
	{ "verify", 0, OPTION_FLAG, NULL, offsetof(struct values, verify),
	  "search RESULT for names of ORIGINAL; writes nothing" },
	{ "min-length", 0, OPTION_NUMBER, "N", offsetof(struct values, least),
	  "with --verify: ignore shorter strings (default: 4)" },
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata scrub -o share.data", "hide names and addresses of perf.data" },
	{ "perfdata scrub --verify perf.data share.data", "check that no name of the original is left" },
	{ "perfdata scrub --hide all -o share.data", "also hide PIDs, CPUs, times and the machine" },
	{ "perfdata scrub --key ~/scrub.key -o new.share new.data", "use the same key for recordings to be compared" },
	{ "perfdata scrub --keep 'dso=libc.so*' --keep 'dso=*.ko*' -o share.data",
	  "keep the names of the C library and of kernel modules" },
	{ 0 },
};

struct job {
	const struct values *values;
	struct input input;
	struct target target;
	struct scrub scrub;
	struct outfile map;
	struct keep_pattern *keep;
	size_t keep_count;
	char *kept_lines[64]; /* contents of --keep-names */
	size_t kept_files;
	bool random_key;
	size_t cpu_count;
	struct pd_error error;
	enum pd_status status;
};

/* ---- the key ---- */

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The bytes of digits, at their own place. */
static bool unhex(char *text, size_t *size)
{
	if (*size % 2)
		return false;
	for (size_t i = 0; i < *size; i += 2) {
		int high = digit(text[i]), low = digit(text[i + 1]);

		if (high < 0 || low < 0)
			return false;
		text[i / 2] = (char)(high << 4 | low);
	}
	*size /= 2;
	return true;
}

/* A file that is small, with a NUL behind its end; NULL if it cannot be read, which was said. */
static char *read_file(const char *path, size_t most, size_t *size_out)
{
	FILE *file = fopen(path, "re");
	char *data = malloc(most + 1);
	size_t size = file && data ? fread(data, 1, most + 1, file) : 0;

	if (!file || !data || ferror(file) || size > most) {
		complain("%s: %s", path, !data ? "out of memory" : file && size > most ? "too large" : strerror(errno));
		free(data);
		data = NULL;
	} else {
		data[size] = 0;
		*size_out = size;
	}
	if (file)
		fclose(file);
	return data;
}

static char *random_key(size_t *size)
{
	char *key = malloc(RANDOM_KEY);

	*size = RANDOM_KEY;
	if (key && getrandom(key, RANDOM_KEY, 0) == RANDOM_KEY)
		return key;
	complain("cannot get a random key: %s", strerror(errno));
	free(key);
	return NULL;
}

static char *find_key(const char *option, size_t *size)
{
	bool hex = !strncmp(option, "hex:", 4), environment = !strncmp(option, "env:", 4);
	const char *text = environment ? getenv(option + 4) : hex ? option + 4 : NULL;
	char *key;

	if (environment && !text) {
		complain("option --key: environment variable %s is not set", option + 4);
		return NULL;
	}
	key = text ? strdup(text) : read_file(option, MOST_KEY, size);
	if (!key)
		return NULL;
	if (text)
		*size = strlen(key);
	else if (*size && key[*size - 1] == '\n')
		--*size;
	if (hex && !unhex(key, size)) {
		complain("option --key: hex: must be followed by pairs of hexadecimal digits");
	} else if (*size < LEAST_KEY) {
		complain("option --key: %zu bytes are too short, at least %d are required", *size, LEAST_KEY);
	} else {
		return key;
	}
	free(key);
	return NULL;
}

/* ---- what is wanted ---- */

static bool take_level(struct job *job)
{
	static const char *const names[] = { "names", "addresses", "all" };
	const char *hide = job->values->hide;

	job->scrub.level = LEVEL_ADDRESSES;
	for (size_t i = 0; hide && i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(hide, names[i])) {
			job->scrub.level = (enum scrub_level)i;
			return true;
		}
	}
	if (hide)
		complain("option --hide: '%s' is not one of names, addresses, all", hide);
	return !hide;
}

static bool take_data(struct job *job)
{
	static const struct {
		const char *name;
		enum scrub_class class;
	} words[] = { { "raw", CLASS_RAW }, { "regs", CLASS_REGS }, { "stack", CLASS_STACK }, { "aux", CLASS_AUX } };
	const char *at = job->values->keep_data;

	while (at && *at) {
		size_t size = strcspn(at, ","), i = 0;

		while (i < 4 && (strlen(words[i].name) != size || strncmp(words[i].name, at, size) != 0))
			i++;
		if (i == 4) {
			complain("option --keep-data: '%.*s' is not one of raw, regs, stack, aux", (int)size, at);
			return false;
		}
		job->scrub.with[words[i].class] = true;
		at += size + (at[size] == ',');
	}
	return true;
}

static bool add_pattern(struct job *job, const char *text)
{
	const char *equals = strchr(text, '=');
	enum scrub_class class = equals ? scrub_class_by_name(text, (size_t)(equals - text)) : CLASS_NONE;
	struct keep_pattern *more = realloc(job->keep, (job->keep_count + 1) * sizeof(*more));

	if (!more) {
		complain("out of memory");
		return false;
	}
	job->keep = more;
	if (class == CLASS_COUNT) {
		complain(
			"option --keep: '%.*s' is not one of dso, comm, symbol, host, argument, event, release, pmu, word, name",
			(int)(equals - text), text);
		return false;
	}
	job->keep[job->keep_count++] = (struct keep_pattern){ class, equals ? equals + 1 : text };
	return true;
}

static bool add_patterns_of(struct job *job, const char *path)
{
	size_t size;
	char *text;

	if (job->kept_files == sizeof(job->kept_lines) / sizeof(job->kept_lines[0])) {
		complain("option --keep-names: too many files");
		return false;
	}
	text = read_file(path, MOST_KEY, &size);
	if (!text)
		return false;
	job->kept_lines[job->kept_files++] = text;
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (*line && *line != '#' && !add_pattern(job, line))
			return false;
	}
	return true;
}

static bool take_keep(struct job *job)
{
	for (size_t i = 0; i < job->values->keep.count; i++) {
		if (!add_pattern(job, job->values->keep.items[i]))
			return false;
	}
	for (size_t i = 0; i < job->values->keep_names.count; i++) {
		if (!add_patterns_of(job, job->values->keep_names.items[i]))
			return false;
	}
	job->scrub.keep = job->keep;
	job->scrub.keep_count = job->keep_count;
	return true;
}

static bool take_key(struct job *job)
{
	const char *option = job->values->key;
	size_t size;
	char *key = option ? find_key(option, &size) : random_key(&size);
	bool fine = key && scrub_init(&job->scrub, key, size);

	job->random_key = !option;
	if (key && !fine)
		complain("out of memory");
	free(key);
	return fine;
}

/* ---- the first walk: what has to be known before anything is written ---- */

static void note_cpus(struct job *job, const struct pd_record *record)
{
	const struct pd_id_index *index = pd_as_id_index(record);

	for (size_t i = 0; index && i < index->entries.count; i++) {
		uint64_t cpu = PD_ITEM(pd_id_entry, index->entries, i)->cpu;

		if (cpu < MOST_CPUS && cpu >= job->cpu_count)
			job->cpu_count = (size_t)cpu + 1;
	}
}

static bool note(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct job *job = self;
	struct scrub *scrub = &job->scrub;

	if (record->time_ns && record->time_ns < scrub->first_ns)
		scrub->first_ns = record->time_ns;
	if (record->type == PD_RECORD_SAMPLE) {
		if (scrub->level < LEVEL_ALL)
			pd_stream_pass(stream);
		return true;
	}
	note_cpus(job, record);
	if (scrub_note_mapping(scrub, record))
		return true;
	scrub->failed = true;
	return false;
}

static int no_memory(void)
{
	complain("out of memory");
	return CODE_UNREADABLE;
}

static int plan(struct job *job)
{
	struct scrub *scrub = &job->scrub;
	const struct pd_nrcpus *cpus;
	int code = CODE_FINE;

	scrub->first_ns = PD_NO_TIME;
	if (scrub->level == LEVEL_NAMES)
		return CODE_FINE;
	code = input_walk(&job->input, note, job);
	if (code != CODE_FINE)
		return code;
	input_again(&job->input);
	if (scrub->failed || !scrub_plan_addresses(scrub))
		return no_memory();
	if (scrub->level < LEVEL_ALL)
		return CODE_FINE;
	cpus = pd_file_nrcpus(job->input.file);
	if (cpus && cpus->available > job->cpu_count && cpus->available <= MOST_CPUS)
		job->cpu_count = cpus->available;
	return scrub_plan_cpus(scrub, job->cpu_count ? job->cpu_count : CPUS_NOT_KNOWN) ? CODE_FINE : no_memory();
}

/* ---- the second walk ---- */

static void drop(struct job *job, const struct pd_record *record, uint64_t *why)
{
	struct scrub_counts *counts = &job->scrub.counts;

	if (record->type == PD_RECORD_SAMPLE)
		counts->dropped_samples++;
	else
		++*why;
	counts->dropped_types[record->type < OTHER_TYPES ? record->type : OTHER_TYPES]++;
	if (record->type == PD_RECORD_AUXTRACE)
		counts->aux_bytes += record->tail_size;
}

static bool pass(struct job *job, struct pd_stream *stream, const struct pd_record *record)
{
	struct scrub *scrub = &job->scrub;
	uint16_t misc = record->misc;
	const void *decoded;
	void *now;

	if (pd_record_decode(record, &decoded, NULL) < 0) {
		drop(job, record, &scrub->counts.dropped_damaged);
		return true;
	}
	if (pd_record_group(record->type) != PD_GROUP_SIMPLEPERF)
		misc &= KNOWN_MISC;
	room_reset(&scrub->room);
	scrub_trim(scrub);
	now = scrub_record(scrub, record->type, misc, decoded);
	if (!now)
		return false;
	if (record->type == PD_RECORD_EVENT_UPDATE)
		scrub->named = ((struct pd_event_update *)now)->name.data;
	job->status = pd_writer_pass_changed(job->target.writer, stream, record, misc, now, &job->error);
	scrub->named = NULL;
	if (job->status == PD_ERROR_FORMAT && !scrub->unsound) {
		/* It has become too long. */
		job->status = PD_OK;
		drop(job, record, &scrub->counts.dropped_damaged);
	} else if (job->status >= 0) {
		if (record->type == PD_RECORD_SAMPLE)
			scrub->counts.samples++;
		else
			scrub->counts.records++;
	}
	return job->status >= 0;
}

static bool scrub_one(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct job *job = self;
	struct scrub *scrub = &job->scrub;
	bool keep = false;

	switch (scrub_record_fate(record->type)) {
	case FATE_PACKED:
		return true;
	case FATE_ASKED:
		/* In a file they say nothing. */
		if (pd_file_header(job->input.file)->mode == PD_MODE_PIPE) {
			job->status = pd_writer_pass(job->target.writer, stream, record, &job->error);
			return job->status >= 0;
		}
		break;
	case FATE_KEEP:
		keep = true;
		break;
	case FATE_EXCEPT_ALL:
		keep = scrub->level < LEVEL_ALL;
		break;
	case FATE_WITH_AUX:
		keep = scrub->with[CLASS_AUX];
		break;
	default:
		break;
	}
	if (keep)
		return pass(job, stream, record);
	drop(job, record, pd_record_name(record->type) ? &scrub->counts.dropped_known : &scrub->counts.dropped_unknown);
	return true;
}

static enum pd_status change(struct job *job)
{
	struct pd_changes changes = scrub_changes;

	changes.self = &job->scrub;
	return pd_writer_change(job->target.writer, &changes, &job->error);
}

/* Sections that lie over each other may make numbers of names. */
static bool is_sound(const struct pd_header *header)
{
	uint64_t end = header->attrs_offset + header->attrs_size;

	if (header->mode == PD_MODE_PIPE)
		return true;
	return end >= header->attrs_offset && (!header->file_size || end <= header->file_size) &&
	       (end <= header->data_offset || header->attrs_offset >= header->data_offset + header->data_size ||
		!header->attrs_size);
}

static int write_result(struct job *job)
{
	struct pd_file *const inputs[] = { job->input.file };
	enum pd_endian endian = job->target.wanted.endian;
	int code;

	if (!is_sound(pd_file_header(job->input.file))) {
		complain("%s: the event table is damaged: the file cannot be anonymized", job->input.name);
		return CODE_UNREADABLE;
	}
	job->scrub.file = job->input.file;
	job->scrub.big_endian = endian == PD_ENDIAN_SAME ? pd_file_header(job->input.file)->big_endian :
							   endian == PD_ENDIAN_BIG;
	code = target_open(&job->target, inputs, 1, false);
	if (code != CODE_FINE)
		return code;
	job->status = change(job);
	if (job->status >= 0)
		job->status = pd_writer_carry(job->target.writer, job->input.file, &job->error);
	if (job->status >= 0)
		code = input_walk(&job->input, scrub_one, job);
	if (job->scrub.failed && job->status >= 0)
		code = no_memory();
	if (job->status < 0)
		code = target_failed(&job->target, job->status, &job->error);
	code = target_close(&job->target, code);
	return job->scrub.unsound ? CODE_UNREADABLE : code;
}

/* ---- what was done ---- */

static const char *const did[] = { "kept", "replaced", "moved", "zeroed", "dropped data" };
static const char *const words[] = { "keep", "replace", "move", "zero", "drop" };

static uint64_t dropped_records(const struct scrub_counts *counts)
{
	return counts->dropped_known + counts->dropped_unknown + counts->dropped_damaged;
}

/* Adds ", what (how many)" to a list. */
static void add_item(struct pd_text *list, const char *what, uint64_t count)
{
	pd_text_printf(list, "%s%s (%" PRIu64 ")", pd_text_bytes(list).size ? ", " : "", what, count);
}

static void say_list(const char *head, struct pd_text *list)
{
	struct pd_bytes bytes = pd_text_bytes(list);

	if (bytes.size)
		complain("%s: %.*s", head, (int)bytes.size, (const char *)bytes.data);
	pd_text_clear(list);
}

static void say_dropped(const struct scrub_counts *counts, struct pd_text *list)
{
	char unknown[40];

	for (uint32_t type = 0; type <= OTHER_TYPES; type++) {
		const char *name = type < OTHER_TYPES ? pd_record_name(type) : "records of other types";

		snprintf(unknown, sizeof(unknown), "records of type %" PRIu32, type);
		if (counts->dropped_types[type])
			add_item(list, name ? name : unknown, counts->dropped_types[type]);
	}
	say_list("dropped records", list);
	for (unsigned feature = 0; feature < PD_FEATURE_LIMIT; feature++) {
		const char *name = pd_feature_name(feature);

		if (counts->dropped_features[feature])
			add_item(list, name ? name : "unknown feature", counts->dropped_features[feature] - 1);
	}
	say_list("dropped features, in bytes", list);
}

/* How many values, or of texts how many different ones, were treated as their class is. */
static uint64_t count_of(const struct scrub_counts *counts, int class, enum scrub_action action)
{
	if (!counts->distinct[class])
		return counts->values[class];
	return counts->distinct[class] - (action == ACTION_REPLACE ? counts->kept[class] : 0);
}

static void say_classes(const struct scrub *scrub, struct pd_text *list)
{
	const struct scrub_counts *counts = &scrub->counts;

	for (size_t action = 0; action < sizeof(did) / sizeof(did[0]); action++) {
		for (int class = 1; class < CLASS_COUNT; class ++) {
			uint64_t count = count_of(counts, class, (enum scrub_action)action);

			if (count && *scrub_classes[class].text &&
			    scrub_action(scrub, (enum scrub_class) class) == (enum scrub_action)action)
				add_item(list, scrub_classes[class].text, count);
		}
		say_list(did[action], list);
	}
	for (int class = 1; class < CLASS_COUNT; class ++) {
		if (counts->kept[class] && scrub_action(scrub, (enum scrub_class) class) == ACTION_REPLACE)
			add_item(list, scrub_classes[class].name, counts->kept[class]);
	}
	say_list("names kept (common names, and --keep)", list);
}

static void say(const struct job *job)
{
	const struct scrub *scrub = &job->scrub;
	const struct scrub_counts *counts = &scrub->counts;
	struct pd_text *list = pd_text_new();
	uint64_t dropped = dropped_records(counts);

	complain("kept %" PRIu64 " sample%s and %" PRIu64 " other record%s, dropped %" PRIu64 " sample%s and %" PRIu64
		 " other record%s",
		 counts->samples, plural(counts->samples), counts->records, plural(counts->records),
		 counts->dropped_samples, plural(counts->dropped_samples), dropped, plural(dropped));
	if (list) {
		say_dropped(counts, list);
		say_classes(scrub, list);
	}
	pd_text_free(list);
	if (counts->unplaced)
		complain("%" PRIu64 " mapping%s %s too large: addresses in them are replaced", counts->unplaced,
			 plural(counts->unplaced), was_or_were(counts->unplaced));
	complain("not hidden: counts, sizes, flags, order%s",
		 scrub->level < LEVEL_ALL ? ", times, PIDs, CPUs, build ids, the machine" : "");
	if (job->random_key)
		complain("random key: names cannot be matched with those of other results (use --key)");
}

static void put_json(const struct job *job, struct pd_text *text)
{
	static const char *const levels[] = { "names", "addresses", "all" };
	const struct scrub *scrub = &job->scrub;
	const struct scrub_counts *counts = &scrub->counts;
	struct pd_json json = { text };

	pd_json_open(&json, NULL, '{');
	pd_json_string(&json, "hide", levels[scrub->level]);
	pd_json_string(&json, "key", job->random_key ? "random" : "given");
	pd_json_number(&json, "samples", counts->samples);
	pd_json_number(&json, "records", counts->records);
	pd_json_number(&json, "dropped_samples", counts->dropped_samples);
	pd_json_number(&json, "dropped_records", dropped_records(counts));
	pd_json_number(&json, "dropped_damaged", counts->dropped_damaged);
	pd_json_number(&json, "dropped_unknown", counts->dropped_unknown);
	pd_json_number(&json, "dropped_aux_bytes", counts->aux_bytes);
	pd_json_open(&json, "dropped_features", '[');
	for (unsigned feature = 0; feature < PD_FEATURE_LIMIT; feature++) {
		if (!counts->dropped_features[feature])
			continue;
		pd_json_open(&json, NULL, '{');
		pd_json_number(&json, "number", feature);
		pd_json_string(&json, "name", pd_feature_name(feature));
		pd_json_number(&json, "bytes", counts->dropped_features[feature] - 1);
		pd_json_close(&json, '}');
	}
	pd_json_close(&json, ']');
	pd_json_open(&json, "classes", '[');
	for (int class = 1; class < CLASS_COUNT; class ++) {
		if (!*scrub_classes[class].text)
			continue;
		pd_json_open(&json, NULL, '{');
		pd_json_string(&json, "class", scrub_classes[class].name);
		pd_json_string(&json, "what", scrub_classes[class].text);
		pd_json_string(&json, "action", words[scrub_action(scrub, (enum scrub_class) class)]);
		pd_json_number(&json, "values", counts->values[class]);
		pd_json_number(&json, "distinct", counts->distinct[class]);
		pd_json_number(&json, "kept", counts->kept[class]);
		pd_json_close(&json, '}');
	}
	pd_json_close(&json, ']');
	pd_json_number(&json, "maps_too_large", counts->unplaced);
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}

/* ---- the map ---- */

static void put_map(void *self, enum scrub_class class, const char *from, size_t length, const char *now,
		    size_t now_length)
{
	struct job *job = self;
	struct pd_text *text = job->map.out->text;

	pd_text_printf(text, "%s\t", scrub_classes[class].name);
	pd_text_escaped(text, now, now_length);
	pd_text_add(text, "\t");
	pd_text_escaped(text, from, length);
	pd_text_add(text, "\n");
	output_spill(job->map.out);
}

static int run_with_map(struct job *job)
{
	int code = CODE_FINE;

	if (job->values->map) {
		code = outfile_open(&job->map, job->values->map, job->input.out, job->input.name);
		if (code != CODE_FINE)
			return code;
		job->scrub.told = put_map;
		job->scrub.told_self = job;
	}
	code = write_result(job);
	return job->values->map ? outfile_close(&job->map, code) : code;
}

/* ---- the whole ---- */

static int scrub_input(struct job *job, const struct call *call)
{
	struct input_options input = job->values->input;
	int code = target_take(&job->target, &job->values->target, PD_PACK_SAME);

	if (code != CODE_FINE)
		return code;
	if (job->values->json && !strcmp(job->target.path, "-")) {
		complain("--json and -o - both write to standard output");
		return CODE_USAGE;
	}
	if (job->values->map && !strcmp(job->target.path, job->values->map)) {
		complain("--map and --output both write to '%s'", job->values->map);
		return CODE_USAGE;
	}
	input.keep = job->scrub.level > LEVEL_NAMES;
	input.verify = true;
	code = input_open(&job->input, &input, call, NULL, NULL);
	if (code != CODE_FINE)
		return code;
	code = plan(job);
	if (code == CODE_FINE)
		code = run_with_map(job);
	code = input_close(&job->input, code);
	if (code != CODE_FINE && code != CODE_DAMAGED)
		return code;
	if (job->values->json)
		put_json(job, call->out->text);
	else if (!job->values->input.quiet)
		say(job);
	return code;
}

static int verify(struct job *job, const struct call *call)
{
	struct verify_options wanted = { .json = job->values->json, .least = LEAST_SEARCHED };

	if (job->values->least.given)
		wanted.least = job->values->least.value;
	if (call->word_count != 2 || wanted.least < LEAST_SEARCHED) {
		complain(call->word_count != 2 ? "--verify requires two files: ORIGINAL and RESULT" :
						 "option --min-length: must be at least 4");
		return CODE_USAGE;
	}
	return scrub_verify(&job->scrub, call->words[0], call->words[1], &wanted, call->out);
}

static int run(const struct call *call)
{
	struct job job = { .values = call->values };
	int code = CODE_USAGE;

	if (take_level(&job) && take_data(&job) && take_keep(&job) && take_key(&job)) {
		if (job.values->verify)
			code = verify(&job, call);
		else if (call->word_count > 1)
			complain("unexpected argument '%s' (only one FILE is accepted)", call->words[1]);
		else
			code = scrub_input(&job, call);
	}
	scrub_fini(&job.scrub);
	for (size_t i = 0; i < job.kept_files; i++)
		free(job.kept_lines[i]);
	free(job.keep);
	return code;
}

const struct command cmd_scrub = {
	.usage = "[OPTION]... -o OUTPUT [FILE], or --verify ORIGINAL RESULT",
	.text = "Anonymize FILE: replace the names of threads, files, functions, hosts and cgroups and the arguments of the "
		"command line; drop raw data, registers, stack copies and AUX data; move addresses together with the mapping they "
		"are in. Samples and counts are kept, so reports have the same rows under other names.\n\n"
		"New names are a keyed hash (HMAC-SHA256) of the old ones, so equal names stay equal, also in other files scrubbed "
		"with the same key. Anyone with the key can test guesses, so keep it secret; without --key a random key is used "
		"and discarded.\n\n"
		"docs/scrubbing.md lists what each --hide LEVEL does to each kind of value, and what a result still reveals. "
		"--verify searches the bytes of RESULT for every name of ORIGINAL; the exit code is 1 if one is found.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 2,
	.run = run,
};
