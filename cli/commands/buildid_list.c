/* SPDX-License-Identifier: MIT */
/*
 * perfdata buildid-list: the objects of a file with their build ids, as perf buildid-list prints them.
 *
 * The header has a list of them. Where it has none, as in pipes, what is mapped where a sample was taken makes
 * the list, in the order in which it was mapped first.
 */
#include "running.h"
#include "front/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	ID_BYTES = PD_BUILD_ID_SIZE,
	HOST = 0
};

struct values {
	struct input_options input;
	bool hits;
	bool kernel;
	bool kernel_maps;
	bool json;
};

#define FLAG(name, letter, member, help)                                               \
	{                                                                              \
		name, letter, OPTION_FLAG, NULL, offsetof(struct values, member), help \
	}

static const struct option options[] = {
	INPUT_OPTIONS(struct values, input),
	FLAG("with-hits", 'H', hits, "list only objects with samples"),
	FLAG("kernel", 'k', kernel, "print the build id of the running kernel"),
	FLAG("kernel-maps", 'm', kernel_maps, "print build ids and addresses of the running kernel and its modules"),
	FLAG("json", 'j', json, "print JSON, one object per line"),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata buildid-list -i perf.data", "list the build ids in the header" },
	{ "perfdata buildid-list -H perf.data", "list only objects with samples" },
	{ "perfdata buildid-list -i /bin/ls", "print the build id of a program" },
	{ 0 },
};

/* An object under one of its names. */
struct line {
	char *name;
	struct pd_build_id id;
	uint32_t machine; /* as in struct pd_object */
	bool hit;
};

struct line_slot {
	uint64_t hash;
	size_t index_plus_1; /* 0: empty */
};

struct list {
	const struct values *values;
	struct input input;
	struct pd_world *world;
	struct pd_symbols *symbols;
	struct line *lines;
	size_t count, room;
	struct line_slot *slots; /* where lines are, by name and by name and build id */
	size_t slot_count, slots_used;
	uint64_t seed;
	bool only_hits;
	struct pd_error error;
	enum pd_status status;
};

static bool no_memory(struct list *list)
{
	list->status = PD_ERROR_MEMORY;
	strcpy(list->error.message, "out of memory");
	return false;
}

/* ---- the list of the header ---- */

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++) {
		hash = (hash ^ bytes[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash;
}

/* Of a name, or of a name and a build id. */
static uint64_t hash_of(const struct list *list, const char *name, uint32_t machine, const struct pd_build_id *id)
{
	uint64_t hash = mix(list->seed ^ machine, name, strlen(name));

	return id->size ? mix(~hash, id->bytes, ID_BYTES) : hash;
}

static bool is_line(const struct line *line, const char *name, uint32_t machine, const struct pd_build_id *id)
{
	return line->machine == machine && !strcmp(line->name, name) &&
	       (!id->size || (line->id.size && !memcmp(line->id.bytes, id->bytes, ID_BYTES)));
}

/* The slot of the first line of a name, or of a name and a build id; an empty one if there is none. */
static struct line_slot *find_slot(const struct list *list, const char *name, uint32_t machine,
				   const struct pd_build_id *id)
{
	uint64_t hash = hash_of(list, name, machine, id);
	size_t at = (size_t)hash & (list->slot_count - 1);

	for (; list->slots[at].index_plus_1; at = (at + 1) & (list->slot_count - 1)) {
		if (list->slots[at].hash == hash &&
		    is_line(&list->lines[list->slots[at].index_plus_1 - 1], name, machine, id))
			break;
	}
	list->slots[at].hash = hash;
	return &list->slots[at];
}

static void put_line(struct list *list, size_t index, const struct pd_build_id *id)
{
	const struct line *line = &list->lines[index];
	struct line_slot *slot = find_slot(list, line->name, line->machine, id);

	list->slots_used += !slot->index_plus_1;
	if (!slot->index_plus_1 || index < slot->index_plus_1 - 1)
		slot->index_plus_1 = index + 1;
}

/* Puts all lines into the table: it has to grow, or they have changed places. */
static bool put_lines(struct list *list)
{
	const struct pd_build_id none = { 0 };
	struct line_slot *slots;

	while (list->slot_count < 8 * (list->count + 1))
		list->slot_count = list->slot_count ? 2 * list->slot_count : 256;
	slots = calloc(list->slot_count, sizeof(*slots));
	if (!slots)
		return no_memory(list);
	free(list->slots);
	list->slots = slots;
	list->slots_used = 0;
	for (size_t i = 0; i < list->count; i++) {
		put_line(list, i, &none);
		if (list->lines[i].id.size)
			put_line(list, i, &list->lines[i].id);
	}
	return true;
}

static bool set_id(struct list *list, struct line *line, const struct pd_build_id *id)
{
	line->id = *id;
	if (!id->size)
		return true;
	if (2 * list->slots_used >= list->slot_count)
		return put_lines(list);
	put_line(list, (size_t)(line - list->lines), id);
	return true;
}

/* The first line of a name that has this build id or none yet, as perf has it; NULL if there is none. Only the first line of a
 * name has none. */
static struct line *find_line(struct list *list, const char *name, uint32_t machine, const struct pd_build_id *id)
{
	const struct pd_build_id none = { 0 };
	struct line_slot *slot = list->slot_count ? find_slot(list, name, machine, &none) : NULL;

	if (slot && slot->index_plus_1 && id->size && list->lines[slot->index_plus_1 - 1].id.size)
		slot = find_slot(list, name, machine, id);
	return slot && slot->index_plus_1 ? &list->lines[slot->index_plus_1 - 1] : NULL;
}

/* The line of a name, a new one if there is none. */
static struct line *line_of(struct list *list, const char *name, uint32_t machine, const struct pd_build_id *id)
{
	const struct pd_build_id none = { 0 };
	struct line *more, *line = find_line(list, name, machine, id);

	if (line)
		return line;
	if (2 * list->slots_used >= list->slot_count && !put_lines(list))
		return NULL;
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 64;
		more = realloc(list->lines, list->room * sizeof(*more));
		if (!more) {
			no_memory(list);
			return NULL;
		}
		list->lines = more;
	}
	list->lines[list->count] = (struct line){ .name = strdup(name), .machine = machine };
	if (!list->lines[list->count].name) {
		no_memory(list);
		return NULL;
	}
	put_line(list, list->count, &none);
	return &list->lines[list->count++];
}

static uint32_t machine_of(uint32_t pid)
{
	return pid == UINT32_MAX ? HOST : pid ? pid : PD_GUEST_DEFAULT;
}

static bool take_entry(struct list *list, const struct pd_build_id_entry *entry)
{
	unsigned mode = (unsigned)PD_BITS(entry->misc, PD_MISC_CPUMODE);
	struct pd_build_id none = { 0 };
	struct line *line;

	if (mode == PD_CPUMODE_UNKNOWN || mode == PD_CPUMODE_HYPERVISOR)
		return true;
	line = line_of(list, entry->name, machine_of(entry->pid), &none);
	return line && set_id(list, line, &entry->id);
}

static bool take_header(struct list *list)
{
	const struct pd_build_ids *ids = pd_file_build_id(list->input.file);
	struct pd_build_id_walk walk = { .big_endian = pd_file_header(list->input.file)->big_endian };
	struct pd_build_id_entry entry;

	if (!ids)
		return true;
	walk.records = ids->records;
	while (pd_build_id_next(&walk, &entry)) {
		if (!take_entry(list, &entry))
			return false;
	}
	return true;
}

/* ---- what samples are in ---- */

static bool keep(struct list *list, enum pd_status status)
{
	if (status < 0)
		list->status = status;
	return status >= 0;
}

static bool take_record(struct list *list, const struct pd_record *record)
{
	const struct pd_header_build_id *in = pd_as_header_build_id(record);
	struct pd_build_id none = { 0 };

	return !in || line_of(list, in->filename.data, machine_of((uint32_t)in->pid), &none);
}

static bool feed(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct list *list = self;

	if (record->type == PD_RECORD_SAMPLE) {
		pd_stream_pass(stream);
		return true;
	}
	/* They stand in front of the maps that they are for, and so in front in the list. */
	if (record->type == PD_RECORD_HEADER_BUILD_ID && !take_record(list, record))
		return false;
	return keep(list, pd_world_take(list->world, record, &list->error));
}

static struct pd_build_id id_of(const struct pd_object *object)
{
	struct pd_build_id id = { 0 };

	if (object) {
		id.size = object->build_id_size;
		memcpy(id.bytes, object->build_id, object->build_id_size);
	}
	return id;
}

/* perf script calls a module that no list names [name], this list calls it by its path. */
static const char *name_of(const struct pd_dso *dso)
{
	const struct pd_object *object = dso->object;

	return object && object->kind == PD_OBJECT_MODULE && dso->long_name[0] == '[' ? object->path : dso->long_name;
}

static struct line *line_of_dso(struct list *list, const struct pd_dso *dso)
{
	struct pd_build_id id = id_of(dso->object);
	struct line *line = line_of(list, name_of(dso), dso->object ? dso->object->machine : HOST, &id);

	if (line && !line->id.size && !set_id(list, line, &id))
		return NULL;
	return line;
}

static bool take_mappings(struct list *list, bool timed)
{
	const struct pd_mapping *mapping;

	for (size_t i = 0; (mapping = pd_world_mapping(list->world, i)) != NULL; i++) {
		struct pd_location location = { .mapping = mapping, .object = mapping->object };
		struct pd_place place;

		if (!mapping->object || (mapping->from.time_ns != 0) != timed)
			continue;
		place = pd_symbols_at(list->symbols, &location, mapping->from, mapping->start);
		if (place.dso && !line_of_dso(list, place.dso))
			return false;
	}
	return true;
}

/* Objects come in the order in which perf meets them: maps without a time at once, then the build ids that the records
 * of a pipe tell, then the other maps, which wait for their turn. */
static bool take_objects(struct list *list)
{
	size_t told = pd_file_header(list->input.file)->mode == PD_MODE_PIPE ? list->count : 0;
	struct line *lines = calloc(told + 1, sizeof(*lines));

	if (!lines || !take_mappings(list, false)) {
		free(lines);
		return lines ? false : no_memory(list);
	}
	if (told) {
		memcpy(lines, list->lines, told * sizeof(*lines));
		memmove(list->lines, list->lines + told, (list->count - told) * sizeof(*lines));
		memcpy(list->lines + list->count - told, lines, told * sizeof(*lines));
	}
	free(lines);
	return put_lines(list) && take_mappings(list, true);
}

static bool mark(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct list *list = self;
	struct pd_brief brief;
	struct pd_place place;
	struct line *line;

	(void)stream;
	if (!pd_record_brief(record, &brief))
		return true;
	place = pd_symbols_place(list->symbols, brief.pid, brief.cpumode, pd_record_moment(record), brief.ip);
	line = place.dso ? line_of_dso(list, place.dso) : NULL;
	if (line)
		line->hit = true;
	return line || !place.dso;
}

static int walk(struct list *list, record_fn *each)
{
	int code;

	list->input.order = PD_ORDER_TIME;
	code = input_walk(&list->input, each, list);
	if (code != CODE_FINE || list->status >= 0)
		return code;
	complain("%s", list->error.message);
	return CODE_UNREADABLE;
}

static int find_hits(struct list *list)
{
	const struct pd_symbols_options options = { .size = sizeof(options), .flags = PD_SYMBOLS_NO_FILES };
	int code;

	if (!keep(list, pd_world_new(NULL, &list->world, &list->error)) ||
	    !keep(list, pd_world_take_features(list->world, list->input.file, &list->error))) {
		complain("%s", list->error.message);
		return CODE_UNREADABLE;
	}
	code = walk(list, feed);
	if (code != CODE_FINE)
		return code;
	if (!keep(list, pd_world_settle(list->world, &list->error)) ||
	    !keep(list, pd_symbols_new(list->input.file, list->world, &options, &list->symbols, &list->error)) ||
	    !take_objects(list)) {
		complain("%s", list->error.message);
		return CODE_UNREADABLE;
	}
	input_again(&list->input);
	return walk(list, mark);
}

/* ---- printing ---- */

static void print_id(struct pd_text *text, const struct pd_build_id *id, int width)
{
	char digits[2 * ID_BYTES + 1] = "";

	for (size_t i = 0; i < id->size; i++)
		snprintf(digits + 2 * i, 3, "%02x", id->bytes[i]);
	pd_text_printf(text, "%-*s", width, digits);
}

static void print_line(const struct list *list, const struct line *line)
{
	struct pd_text *text = list->input.out->text;
	struct pd_json json = { .text = text };

	if (!list->values->json) {
		print_id(text, &line->id, 2 * ID_BYTES);
		pd_text_add(text, " ");
		if (list->input.out->terminal)
			pd_text_escaped(text, line->name, strlen(line->name));
		else
			pd_text_add(text, line->name);
		pd_text_add(text, "\n");
		return;
	}
	pd_json_open(&json, NULL, '{');
	pd_json_name(&json, "build_id");
	pd_text_add(text, line->id.size ? "\"" : "null");
	print_id(text, &line->id, 0);
	pd_text_add(text, line->id.size ? "\"" : "");
	pd_json_string(&json, "name", line->name);
	if (line->machine == PD_GUEST_DEFAULT || line->machine == HOST)
		pd_json_string(&json, "machine", line->machine == HOST ? "host" : "guest");
	else
		pd_json_number(&json, "machine", line->machine);
	if (list->only_hits)
		pd_json_bool(&json, "hit", line->hit);
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}

/* The host first, as perf has it. */
static size_t print_lines(const struct list *list)
{
	size_t printed = 0;

	for (int guests = 0; guests < 2; guests++) {
		for (size_t i = 0; i < list->count; i++) {
			const struct line *line = &list->lines[i];

			if ((line->machine != HOST) != guests || (list->only_hits && !line->hit))
				continue;
			print_line(list, line);
			printed++;
		}
	}
	return printed;
}

/* ---- the command ---- */

static bool has_feature(struct pd_file *file, unsigned feature)
{
	struct pd_feature_section section;

	for (size_t i = 0; pd_file_feature_at(file, i, &section); i++) {
		if (section.number == feature)
			return true;
	}
	return false;
}

static int list_file(struct list *list)
{
	struct pd_file *file = list->input.file;
	bool pipe = pd_file_header(file)->mode == PD_MODE_PIPE;
	int code = CODE_FINE;

	/* As perf: what AUX data would hit takes too long to find out. */
	list->only_hits = !has_feature(file, PD_FEATURE_BUILD_ID) ||
			  (list->values->hits && (pipe || !has_feature(file, PD_FEATURE_AUXTRACE)));
	if (!pipe && !take_header(list))
		code = CODE_UNREADABLE;
	if (code == CODE_FINE && (list->only_hits || pipe))
		code = find_hits(list);
	if (code == CODE_FINE && !print_lines(list)) {
		complain("%s: no objects in the file", list->input.name);
		code = CODE_NOTHING;
	}
	pd_symbols_free(list->symbols);
	pd_world_free(list->world);
	for (size_t i = 0; i < list->count; i++)
		free(list->lines[i].name);
	free(list->lines);
	free(list->slots);
	return code;
}

static int print_elf(const struct call *call, const char *path)
{
	struct pd_build_id id = elf_file_build_id(path);

	if (!id.size) {
		complain("%s: an ELF file without a build id", path);
		return CODE_NOTHING;
	}
	print_id(call->out->text, &id, 0);
	pd_text_add(call->out->text, "\n");
	return CODE_FINE;
}

static int run(const struct call *call)
{
	const struct values *values = call->values;
	struct input_options input = values->input;
	struct list list = { .values = values };
	const char *path = values->input.path ? values->input.path : call->word_count ? call->words[0] : NULL;
	int code;

	if (values->kernel)
		return running_kernel(call->out->text);
	if (values->kernel_maps)
		return running_maps(call->out->text);
	if (path && elf_file_is(path))
		return print_elf(call, path);
	/* nobody who writes a file can know which names collide */
	if (getrandom(&list.seed, sizeof(list.seed), 0) != sizeof(list.seed)) {
		complain("cannot get random numbers");
		return CODE_UNREADABLE;
	}
	input.keep = true;
	code = input_open(&list.input, &input, call, NULL, NULL);
	if (code != CODE_FINE)
		return code;
	return input_close(&list.input, list_file(&list));
}

const struct command cmd_buildid_list = {
	.usage = "[-H] [OPTION]... [FILE] | -k | -m",
	.text = "List the objects of FILE with their build ids, byte for byte as perf buildid-list (6.1). Without -H, the "
		"list in the header is printed; if there is none, as in a pipe, the objects with samples.\n"
		"\n"
		"Strings of the file are printed unchanged, except that control characters are escaped on a "
		"terminal. FILE may also be an ELF file; then its build id is printed.\n"
		"\n"
		"With --json each line is an object: build_id (or null), name, machine (host, guest, or the pid of "
		"a guest), and hit if only hits are listed.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run,
};
