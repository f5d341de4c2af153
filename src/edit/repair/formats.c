/* SPDX-License-Identifier: MIT */
/*
 * Formats of tracepoints: perf opens no file with tracepoints that has none, and its parser does not bear some that are
 * damaged. What is made has the fields that all tracepoints have; where only the expressions of a format are damaged, the
 * fields stay.
 */
#include "edit/repair/repair.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	FORMAT_SIZE = 1024
};

// The fields that all tracepoints have.
static const char common_fields[] = "format:\n"
				    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
				    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
				    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
				    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
				    "\n"
				    "\tfield:char lost[0];\toffset:8;\tsize:0;\tsigned:0;\n"
				    "\n"
				    "print fmt: \"\"\n";

// How records stand in a page of the kernel's buffer, which perf insists on and does not use.
static const char page_header[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
static const char event_header[] = "# compressed entry header\n";

static struct pd_bytes bytes_of(const char *text)
{
	return (struct pd_bytes){ (const uint8_t *)text, strlen(text) };
}

static bool is_word(const char *text, size_t length)
{
	static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	return length && length < 128 && strspn(text, characters) >= length;
}

// By the name of the event, if the file says it.
static bool add_format(struct pd_formats *formats, const struct pd_event_full *full)
{
	struct pd_tracing_system *system = &formats->systems[formats->count++];
	struct pd_sized_text *text = pd_arena_alloc(&formats->arena, sizeof(*text));
	char *format = pd_arena_alloc(&formats->arena, FORMAT_SIZE), lost[32];
	const char *name = full->event.name, *colon = full->named ? strchr(name, ':') : NULL;
	size_t length = colon ? strcspn(colon + 1, ":") : 0;

	if (!text || !format)
		return false;
	if (colon && is_word(name, (size_t)(colon - name)) && is_word(colon + 1, length)) {
		system->name.data = pd_arena_text(&formats->arena, name, (size_t)(colon - name));
		system->name.length = (uint32_t)(colon - name);
		name = colon + 1;
	} else {
		system->name = (struct pd_str){ "lost", 4, 0 };
		snprintf(lost, sizeof(lost), "tracepoint_%" PRIu64, full->event.attr->config);
		name = lost;
		length = strlen(lost);
	}
	snprintf(format, FORMAT_SIZE, "name: %.*s\nID: %" PRIu64 "\n%s", (int)length, name, full->event.attr->config,
		 common_fields);
	text->data = bytes_of(format);
	system->formats = (struct pd_list){ text, 1, sizeof(*text) };
	return system->name.data != NULL;
}

static bool is_tracepoint(const struct pd_event_full *full)
{
	return full->event.attr->type == PD_TYPE_TRACEPOINT;
}

bool pd_file_has_tracepoints(const struct pd_file *file)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		if (is_tracepoint(pd_file_full_event(file, i)))
			return true;
	return false;
}

static bool allocate_systems(struct pd_formats *formats, size_t count)
{
	formats->systems = pd_arena_alloc(&formats->arena, (count + 1) * sizeof(*formats->systems));
	return formats->systems != NULL;
}

static void choose_formats(struct pd_formats *formats)
{
	formats->data.systems = (struct pd_list){ formats->systems, formats->count, sizeof(*formats->systems) };
}

enum pd_status pd_formats_make(struct pd_formats *formats, const struct pd_file *file, struct pd_error *error)
{
	static const uint8_t magic[10] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

	formats->data = (struct pd_tracing_data){
		.magic = { magic, sizeof(magic) },
		.version = { "0.6", 3, 0 },
		.big_endian = pd_file_is_big(file),
		.long_size = 8,
		.page_size = 4096,
		.header_page_name = { "header_page", 11, 0 },
		.header_event_name = { "header_event", 12, 0 },
		.has_cmdlines = true,
		.header_page = bytes_of(page_header),
		.header_event = bytes_of(event_header),
	};
	if (!allocate_systems(formats, pd_file_event_count(file)))
		return pd_fail_memory(error);
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		if (is_tracepoint(pd_file_full_event(file, i)) && !add_format(formats, pd_file_full_event(file, i)))
			return pd_fail_memory(error);
	choose_formats(formats);
	return PD_OK;
}

// ---- damaged ones ----

static bool is_plain(struct pd_bytes text)
{
	for (size_t i = 0; i < text.size; i++)
		if ((text.data[i] < ' ' && text.data[i] != '\n' && text.data[i] != '\t') || text.data[i] > '~')
			return false;
	return true;
}

// After a word, NULL if it is not there.
static const char *find_after(struct pd_bytes text, const char *word)
{
	const char *found = memmem(text.data, text.size, word, strlen(word));

	return found ? found + strlen(word) : NULL;
}

// Number of the tracepoint, UINT64_MAX if the text does not say it.
static uint64_t id_of(struct pd_bytes text)
{
	const char *at = find_after(text, "\nID: "), *end = (const char *)text.data + text.size;
	uint64_t id = 0;
	unsigned digits = 0;

	for (; at && at < end && *at >= '0' && *at <= '9' && digits < 19; at++, digits++)
		id = id * 10 + (uint64_t)(*at - '0');
	return at && at < end && *at == '\n' && digits ? id : UINT64_MAX;
}

// Its name, number and fields can be read. What is after them is not looked at.
static bool has_fields(struct pd_bytes text, struct pd_bytes *fields_out)
{
	const char *print = find_after(text, "\nprint fmt:"), *format = find_after(text, "\nformat:\n");

	if (!print || !format || format > print)
		return false;
	*fields_out = (struct pd_bytes){ text.data, (size_t)(print - (const char *)text.data) };
	return is_plain(*fields_out) && id_of(text) != UINT64_MAX && !memcmp(text.data, "name: ", 6);
}

// The fields, with no expressions.
static bool cut_format(struct pd_formats *formats, struct pd_bytes fields, struct pd_bytes *text_out)
{
	static const char nothing[] = " \"\"\n";
	uint8_t *text = pd_arena_alloc(&formats->arena, fields.size + sizeof(nothing));

	if (!text)
		return false;
	memcpy(text, fields.data, fields.size);
	memcpy(text + fields.size, nothing, sizeof(nothing) - 1);
	*text_out = (struct pd_bytes){ text, fields.size + sizeof(nothing) - 1 };
	return true;
}

// The formats of a list that can stay, or their fields.
static bool recover_list(struct pd_formats *formats, struct pd_list *list)
{
	struct pd_sized_text *texts = pd_arena_alloc(&formats->arena, (list->count + 1) * sizeof(*texts));
	size_t count = 0;

	for (size_t i = 0; texts && i < list->count; i++) {
		struct pd_bytes text = PD_ITEM(pd_sized_text, *list, i)->data, fields;
		bool readable = has_fields(text, &fields);

		if (readable && is_plain(text)) {
			texts[count++].data = text;
			continue;
		}
		formats->recovered++;
		if (readable && !cut_format(formats, fields, &texts[count++].data))
			return false;
	}
	*list = (struct pd_list){ texts, count, sizeof(*texts) };
	return texts != NULL;
}

static bool has_format(const struct pd_formats *formats, uint64_t id)
{
	for (size_t i = 0; i < formats->count; i++)
		for (size_t j = 0; j < formats->systems[i].formats.count; j++)
			if (id_of(PD_ITEM(pd_sized_text, formats->systems[i].formats, j)->data) == id)
				return true;
	return false;
}

static bool recover_all(struct pd_formats *formats, const struct pd_file *file, const struct pd_tracing_data *data)
{
	if (!allocate_systems(formats, data->systems.count + pd_file_event_count(file)) ||
	    !recover_list(formats, &formats->data.ftrace_formats))
		return false;
	for (size_t i = 0; i < data->systems.count; i++) {
		formats->systems[formats->count] = *PD_ITEM(pd_tracing_system, data->systems, i);
		if (!recover_list(formats, &formats->systems[formats->count++].formats))
			return false;
	}
	// those which are not needed can be missing
	for (size_t i = 0; i < pd_file_event_count(file) && formats->recovered; i++)
		if (is_tracepoint(pd_file_full_event(file, i)) &&
		    !has_format(formats, pd_file_full_event(file, i)->event.attr->config) &&
		    !add_format(formats, pd_file_full_event(file, i)))
			return false;
	return true;
}

enum pd_status pd_formats_recover(struct pd_formats *formats, const struct pd_file *file,
				  const struct pd_tracing_data *data, struct pd_error *error)
{
	formats->data = *data;
	if (!recover_all(formats, file, data))
		return pd_fail_memory(error);
	choose_formats(formats);
	return PD_OK;
}

void pd_formats_fini(struct pd_formats *formats)
{
	pd_arena_fini(&formats->arena);
	*formats = (struct pd_formats){ 0 };
}
