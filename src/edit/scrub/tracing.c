/* SPDX-License-Identifier: MIT */
/*
 * Tracing data, made anew: the names and numbers of the events that are there, without which perf does not open a file.
 */
#include "edit/scrub/scrub.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
static const char *name_now(struct pd_scrub *scrub, const char *system, const char *name, size_t length,
			    size_t *now_length)
{
	char both[512];
	int size = snprintf(both, sizeof(both), "%s:%.*s", system, (int)length, name);

	if (size < 0 || (size_t)size >= sizeof(both))
		return NULL;
	return pd_scrub_name(scrub, PD_CLASS_EVENT, both, (size_t)size, now_length);
}

static bool put_format(struct pd_scrub *scrub, const char *system, const struct pd_sized_text *format,
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
	text = pd_arena_alloc(&scrub->arena, sizeof(form) + now_length + 32);
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
static bool put_system(struct pd_scrub *scrub, const char *name, const struct pd_list *formats,
		       struct pd_tracing_system *now)
{
	struct pd_sized_text *texts = pd_arena_alloc(&scrub->arena, (formats->count + 1) * sizeof(*texts));
	const char *system = "";
	size_t count = 0, length = 0;
	char *copy;

	scrub->failed |= !texts;
	for (size_t i = 0; texts && i < formats->count; i++)
		count += put_format(scrub, name, PD_ITEM(pd_sized_text, *formats, i), &texts[count], &system, &length);
	copy = pd_arena_alloc(&scrub->arena, length + 1);
	scrub->failed |= !copy;
	if (!count || !copy)
		return false;
	memcpy(copy, system, length);
	now->name = (struct pd_str){ copy, (uint32_t)length, 0 };
	now->formats = (struct pd_list){ texts, count, sizeof(*texts) };
	return true;
}

/* What a ring buffer of the kernel looks like: perf wants to read that, and it is the same everywhere. */
static void put_ring_buffer(struct pd_scrub *scrub, struct pd_tracing_data *now)
{
	static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				   "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
				   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				   "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n";
	static const char event[] = "# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n"
				    "\tarray       :   32 bits\n";
	unsigned word = now->long_size == 4 ? 4 : 8, rest = now->page_size > 16 ? now->page_size : 4096;
	char *text = pd_arena_alloc(&scrub->arena, sizeof(page) + 32);

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

const void *pd_scrub_tracing_data(struct pd_scrub *scrub)
{
	static const uint8_t magic[10] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	const struct pd_tracing_data *data = pd_file_tracing_data(scrub->file);
	struct pd_tracing_data *now;
	struct pd_tracing_system *systems;
	size_t count = 0;

	if (!data)
		return NULL;
	now = pd_arena_alloc(&scrub->arena, sizeof(*now));
	systems = pd_arena_alloc(&scrub->arena, (data->systems.count + 1) * sizeof(*systems));
	if (!now || !systems) {
		scrub->failed = true;
		return NULL;
	}
	scrub->counts.values[PD_CLASS_GONE]++;
	now->magic = (struct pd_bytes){ magic, sizeof(magic) };
	now->version = constant("0.6");
	now->has_cmdlines = true;
	now->big_endian = data->big_endian != 0;
	now->long_size = data->long_size;
	now->page_size = data->page_size;
	now->header_page_name = constant("header_page");
	now->header_event_name = constant("header_event");
	if (scrub->with[PD_CLASS_RAW]) {
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
