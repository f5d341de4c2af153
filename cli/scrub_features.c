/* SPDX-License-Identifier: MIT */
/*
 * Events and features on their way to the writer, and those of them that are made anew: the list of build ids, and of
 * tracing data the names and numbers of the events that are there, without which perf does not open a file.
 */
#include "scrub.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum pd_status no_memory(struct pd_error *error)
{
	if (error)
		*error = (struct pd_error){ .status = PD_ERROR_MEMORY,
					    .offset = PD_NO_OFFSET,
					    .message = "out of memory" };
	return PD_ERROR_MEMORY;
}

/* ---- events ---- */

static bool is_probe(struct scrub *scrub, uint32_t type)
{
	const struct pd_pmu_mappings *mappings = pd_file_pmu_mappings(scrub->file);

	for (size_t i = 0; mappings && i < mappings->pmus.count; i++) {
		const struct pd_pmu_mapping *pmu = PD_ITEM(pd_pmu_mapping, mappings->pmus, i);

		if (pmu->type == type)
			return !strcmp(pmu->name.data, "kprobe") || !strcmp(pmu->name.data, "uprobe");
	}
	return false;
}

/* What most events have there are bits of the PMU; breakpoints and probes have addresses. */
void scrub_special_attr(struct scrub *scrub, struct pd_attr *attr)
{
	if (scrub_action(scrub, CLASS_CONFIG) == ACTION_KEEP)
		return;
	if (attr->type == PD_TYPE_BREAKPOINT) {
		scrub->counts.values[CLASS_CONFIG]++;
		attr->config1 = scrub_address(scrub, SPACE_ANY, attr->config1, true);
	} else if (attr->type > PD_TYPE_BREAKPOINT && (attr->config1 || attr->config2) && is_probe(scrub, attr->type)) {
		scrub->counts.values[CLASS_CONFIG]++;
		attr->config1 = attr->config2 = 0;
	}
}

/* The bits of a word that the format explains. */
static uint64_t known_bits(const char *set)
{
	const struct pd_names *names = pd_names_by_name(set), *values;
	const char *text;
	unsigned width;
	uint64_t bits = 0;
	int64_t at;

	for (size_t i = 0; names && pd_names_item(names, i, &text, &at, &width, &values); i++)
		bits |= (~UINT64_C(0) >> (64 - width)) << at;
	return bits;
}

/* Of an event whose fields are not known nothing can be told from a name that stands there. */
static bool is_sound(const struct pd_attr *attr)
{
	return !(attr->sample_type & ~known_bits("sample_type")) && !(attr->read_format & ~known_bits("read_format")) &&
	       !(attr->branch_sample_type & ~known_bits("branch_sample_type"));
}

static enum pd_status not_sound(struct scrub *scrub, const struct pd_event *event, struct pd_error *error)
{
	scrub->unsound = true;
	if (error) {
		*error = (struct pd_error){ .status = PD_ERROR_FORMAT, .offset = event->attr_offset };
		snprintf(error->message, sizeof(error->message),
			 "event %zu has unknown fields: its samples cannot be anonymized", event->index);
	}
	return PD_ERROR_FORMAT;
}

static uint64_t dropped_fields(const struct scrub *scrub)
{
	uint64_t bits = 0;

	if (!scrub->with[CLASS_RAW])
		bits |= PD_MASK(PD_SAMPLE_TYPE_RAW);
	if (!scrub->with[CLASS_REGS])
		bits |= PD_MASK(PD_SAMPLE_TYPE_REGS_USER) | PD_MASK(PD_SAMPLE_TYPE_REGS_INTR);
	if (!scrub->with[CLASS_STACK])
		bits |= PD_MASK(PD_SAMPLE_TYPE_STACK_USER);
	if (!scrub->with[CLASS_AUX])
		bits |= PD_MASK(PD_SAMPLE_TYPE_AUX);
	return bits;
}

/* Members are changed in a room of their own: a record may be on its way meanwhile. */
static void change_rooms(struct scrub *scrub)
{
	struct room room = scrub->room;

	scrub->room = scrub->feature_room;
	scrub->feature_room = room;
}

static enum pd_status change_event(void *self, const struct pd_event *event, struct pd_attr *attr, const char **name,
				   struct pd_error *error)
{
	struct scrub *scrub = self;
	size_t length;

	if (!is_sound(attr))
		return not_sound(scrub, event, error);
	change_rooms(scrub);
	room_reset(&scrub->room);
	scrub_attr(scrub, attr);
	change_rooms(scrub);
	attr->flags &= known_bits("attr_flags");
	attr->sample_type &= ~dropped_fields(scrub);
	/* The name in an EVENT_UPDATE was changed with its record. */
	if (*name && *name != scrub->named)
		*name = scrub_name(scrub, CLASS_EVENT, *name, strlen(*name), &length);
	return scrub->failed ? no_memory(error) : PD_OK;
}

/* ---- build ids ---- */

static void put_number(uint8_t *at, uint64_t value, unsigned bytes, bool big)
{
	for (unsigned i = 0; i < bytes; i++)
		at[big ? bytes - 1 - i : i] = (uint8_t)(value >> (8 * i));
}

enum {
	ENTRY_BYTES = 36,
	NAME_GRAIN = 64
};

static size_t put_build_id(struct scrub *scrub, const struct pd_build_id_entry *entry, uint8_t **at)
{
	uint16_t known = PD_BITS(entry->misc, PD_MISC_CPUMODE) | (entry->misc & PD_MASK(PD_MISC_BUILD_ID_SIZE));
	size_t length, size;
	const char *name = scrub_name(scrub, CLASS_PATH, entry->name, strlen(entry->name), &length);
	bool big = scrub->big_endian;

	size = ENTRY_BYTES + (length / NAME_GRAIN + 1) * NAME_GRAIN;
	if (size > UINT16_MAX)
		return 0;
	scrub->counts.values[CLASS_BUILD_ID]++;
	*at = room_take(&scrub->room, size);
	if (!*at) {
		scrub->failed = true;
		return 0;
	}
	put_number(*at + 4, known, 2, big);
	put_number(*at + 6, size, 2, big);
	put_number(*at + 8, scrub_task(scrub, entry->pid, 4), 4, big);
	memcpy(*at + 12, entry->id.bytes, entry->id.size);
	scrub_build_id(scrub, *at + 12, entry->id.size);
	if (known & PD_MASK(PD_MISC_BUILD_ID_SIZE))
		(*at)[32] = (uint8_t)entry->id.size;
	memcpy(*at + ENTRY_BYTES, name, length);
	return size;
}

static const void *make_build_ids(struct scrub *scrub)
{
	const struct pd_build_ids *ids = pd_file_build_id(scrub->file);
	struct pd_build_id_walk walk = { .big_endian = pd_file_header(scrub->file)->big_endian };
	struct pd_build_id_entry entry;
	struct pd_build_ids *now;
	size_t size = 0, capacity = 0;
	uint8_t *data = NULL, *more;

	if (!ids)
		return NULL;
	walk.records = ids->records;
	while (pd_build_id_next(&walk, &entry)) {
		uint8_t *from;
		size_t some = put_build_id(scrub, &entry, &from);

		if (size + some > capacity) {
			capacity = 2 * (size + some);
			more = room_take(&scrub->room, capacity);
			if (!more) {
				scrub->failed = true;
				return NULL;
			}
			if (size)
				memcpy(more, data, size);
			data = more;
		}
		if (some)
			memcpy(data + size, from, some);
		size += some;
	}
	scrub->counts.values[CLASS_ZERO] += walk.unreadable;
	now = room_take(&scrub->room, sizeof(*now));
	scrub->failed |= !now;
	if (now)
		now->records = (struct pd_bytes){ data, size };
	return now;
}

/* ---- tracing data ---- */

static bool has_tracepoint(struct pd_file *file, uint64_t id)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++) {
		const struct pd_attr *attr = pd_file_event(file, i)->attr;

		if (attr->type == PD_TYPE_TRACEPOINT && attr->config == id)
			return true;
	}
	return false;
}

/* The rest of the line that begins with a word; NULL if there is none. */
static const char *line_of(const struct pd_sized_text *format, const char *word, size_t *length_out)
{
	const char *at = (const char *)format->data.data, *end = at + format->data.size;
	size_t size = strlen(word);

	while (at && at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		if (!line_end)
			line_end = end;
		if ((size_t)(line_end - at) > size && !memcmp(at, word, size)) {
			*length_out = (size_t)(line_end - at) - size;
			return at + size;
		}
		at = line_end < end ? line_end + 1 : end;
	}
	return NULL;
}

static bool id_of(const struct pd_sized_text *format, uint64_t *id_out)
{
	size_t length;
	const char *text = line_of(format, "ID: ", &length);
	uint64_t id = 0;

	if (!text || !length || length > 9)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		id = id * 10 + (uint64_t)(text[i] - '0');
	}
	*id_out = id;
	return true;
}

static const char form[] =
	"name: %.*s\nID: %" PRIu64 "\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\tfield:int hidden;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";

/* "system:name" as it is now; the colon stays where it is. */
static const char *name_now(struct scrub *scrub, const char *system, const char *name, size_t length,
			    size_t *now_length)
{
	char both[512];
	int size = snprintf(both, sizeof(both), "%s:%.*s", system, (int)length, name);

	if (size < 0 || (size_t)size >= sizeof(both))
		return NULL;
	return scrub_name(scrub, CLASS_EVENT, both, (size_t)size, now_length);
}

static bool put_format(struct scrub *scrub, const char *system, const struct pd_sized_text *format,
		       struct pd_sized_text *now, const char **system_now, size_t *system_length)
{
	size_t length, now_length;
	const char *name = line_of(format, "name: ", &length), *both, *colon;
	char *text;
	uint64_t id;
	int size;

	if (!name || !id_of(format, &id) || !has_tracepoint(scrub->file, id))
		return false;
	both = name_now(scrub, system, name, length, &now_length);
	colon = both ? strchr(both, ':') : NULL;
	text = room_take(&scrub->room, sizeof(form) + now_length + 32);
	if (!colon || !text) {
		scrub->failed |= !text;
		return false;
	}
	size = snprintf(text, sizeof(form) + now_length + 32, form, (int)(now_length - (size_t)(colon + 1 - both)),
			colon + 1, id);
	now->data = (struct pd_bytes){ (const uint8_t *)text, (size_t)size };
	*system_now = both;
	*system_length = (size_t)(colon - both);
	return true;
}

/* False if nothing of the system is used. */
static bool put_system(struct scrub *scrub, const char *name, const struct pd_list *formats,
		       struct pd_tracing_system *now)
{
	struct pd_sized_text *texts = room_take(&scrub->room, (formats->count + 1) * sizeof(*texts));
	const char *system = "";
	size_t count = 0, length = 0;
	char *copy;

	scrub->failed |= !texts;
	for (size_t i = 0; texts && i < formats->count; i++)
		count += put_format(scrub, name, PD_ITEM(pd_sized_text, *formats, i), &texts[count], &system, &length);
	copy = room_take(&scrub->room, length + 1);
	scrub->failed |= !copy;
	if (!count || !copy)
		return false;
	memcpy(copy, system, length);
	now->name = (struct pd_str){ copy, (uint32_t)length, 0 };
	now->formats = (struct pd_list){ texts, count, sizeof(*texts) };
	return true;
}

/* What a ring buffer of the kernel looks like: perf wants to read that, and it is the same everywhere. */
static void put_ring_buffer(struct scrub *scrub, struct pd_tracing_data *now)
{
	static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				   "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
				   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				   "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n";
	static const char event[] = "# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n"
				    "\tarray       :   32 bits\n";
	unsigned word = now->long_size == 4 ? 4 : 8, rest = now->page_size > 16 ? now->page_size : 4096;
	char *text = room_take(&scrub->room, sizeof(page) + 32);

	scrub->failed |= !text;
	if (text)
		now->header_page =
			(struct pd_bytes){ (const uint8_t *)text, (size_t)snprintf(text, sizeof(page) + 32, page, word,
										   8 + word, rest - 8 - word) };
	now->header_event = (struct pd_bytes){ (const uint8_t *)event, sizeof(event) - 1 };
}

static struct pd_str constant(const char *text)
{
	return (struct pd_str){ text, (uint32_t)strlen(text), 0 };
}

static const void *make_tracing_data(struct scrub *scrub)
{
	static const uint8_t magic[10] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	const struct pd_tracing_data *data = pd_file_tracing_data(scrub->file);
	struct pd_tracing_data *now;
	struct pd_tracing_system *systems;
	size_t count = 0;

	if (!data)
		return NULL;
	now = room_take(&scrub->room, sizeof(*now));
	systems = room_take(&scrub->room, (data->systems.count + 1) * sizeof(*systems));
	if (!now || !systems) {
		scrub->failed = true;
		return NULL;
	}
	scrub->counts.values[CLASS_GONE]++;
	now->magic = (struct pd_bytes){ magic, sizeof(magic) };
	now->version = constant("0.6");
	now->has_cmdlines = true;
	now->big_endian = data->big_endian != 0;
	now->long_size = data->long_size;
	now->page_size = data->page_size;
	now->header_page_name = constant("header_page");
	now->header_event_name = constant("header_event");
	if (scrub->with[CLASS_RAW]) {
		now->header_page = data->header_page;
		now->header_event = data->header_event;
		now->ftrace_formats = data->ftrace_formats;
		now->systems = data->systems;
		return now;
	}
	put_ring_buffer(scrub, now);
	if (put_system(scrub, "ftrace", &data->ftrace_formats, &systems[count]))
		count++;
	for (size_t i = 0; i < data->systems.count; i++) {
		const struct pd_tracing_system *system = PD_ITEM(pd_tracing_system, data->systems, i);

		count += put_system(scrub, system->name.data, &system->formats, &systems[count]);
	}
	now->systems = (struct pd_list){ systems, count, sizeof(*systems) };
	return now;
}

/* ---- features ---- */

static enum scrub_class class_of_string(unsigned feature)
{
	switch (feature) {
	case PD_FEATURE_HOSTNAME:
		return CLASS_HOST;
	case PD_FEATURE_OSRELEASE:
	case PD_FEATURE_VERSION:
		return CLASS_RELEASE;
	case PD_FEATURE_ARCH:
		return CLASS_WORD;
	case PD_FEATURE_CPUDESC:
	case PD_FEATURE_CPUID:
		return CLASS_MACHINE;
	}
	return CLASS_NAME;
}

static const void *make_feature(struct scrub *scrub, unsigned feature)
{
	const void *decoded;

	if (feature == PD_FEATURE_TRACING_DATA)
		return make_tracing_data(scrub);
	if (feature == PD_FEATURE_BUILD_ID)
		return make_build_ids(scrub);
	decoded = pd_file_feature(scrub->file, feature);
	scrub->string = class_of_string(feature);
	return decoded ? scrub_feature(scrub, feature, decoded) : NULL;
}

/* Where the bits of the header are damaged, each text may stand where another should be. */
static bool are_sound(struct pd_file *file)
{
	struct pd_feature_section section;

	for (size_t i = 0; pd_file_feature_at(file, i, &section); i++)
		if (pd_feature_layout(section.number) && !pd_file_feature(file, section.number))
			return false;
	return true;
}

static bool keeps(const struct scrub *scrub, unsigned feature)
{
	if ((feature == PD_FEATURE_CPUDESC || feature == PD_FEATURE_CPUID) && !are_sound(scrub->file))
		return false;
	switch (scrub_feature_fate(feature)) {
	case FATE_KEEP:
	case FATE_ASKED:
		return true;
	case FATE_EXCEPT_ALL:
		return scrub->level < LEVEL_ALL;
	case FATE_WITH_AUX:
		return scrub->with[CLASS_AUX];
	default:
		return false;
	}
}

static const void *changed_feature(struct scrub *scrub, unsigned feature)
{
	const void *now = NULL;

	change_rooms(scrub);
	room_reset(&scrub->room);
	if (keeps(scrub, feature))
		now = make_feature(scrub, feature);
	change_rooms(scrub);
	return now;
}

void scrub_collect_feature(struct scrub *scrub, unsigned feature)
{
	const void *decoded;

	change_rooms(scrub);
	room_reset(&scrub->room);
	scrub->string = class_of_string(feature);
	if (feature == PD_FEATURE_TRACING_DATA || feature == PD_FEATURE_BUILD_ID)
		make_feature(scrub, feature);
	else if ((decoded = pd_file_feature(scrub->file, feature)) != NULL)
		scrub_feature(scrub, feature, decoded);
	change_rooms(scrub);
}

static enum pd_status change_feature(void *self, struct pd_file *file, unsigned feature, const void **decoded_out,
				     bool *keep, struct pd_error *error)
{
	struct scrub *scrub = self;
	struct pd_bytes bytes;

	*decoded_out = changed_feature(scrub, feature);
	if (scrub->failed)
		return no_memory(error);
	if (*decoded_out)
		return PD_OK;
	*keep = false;
	if (feature < PD_FEATURE_LIMIT && pd_file_feature_bytes(file, feature, &bytes, NULL) == PD_OK)
		scrub->counts.dropped_features[feature] = bytes.size + 1;
	return PD_OK;
}

static uint64_t change_id(void *self, uint64_t id)
{
	return scrub_id(self, id);
}

const struct pd_changes scrub_changes = {
	.size = sizeof(struct pd_changes),
	.event = change_event,
	.feature = change_feature,
	.id = change_id,
};
