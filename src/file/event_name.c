/* SPDX-License-Identifier: MIT */
/*
 * Names of events: a word by type and config, then the modifiers that the flags of the attr stand
 * for. Tracepoints are looked up in the format texts of the tracing data, which are plain text
 * without an end mark and come from the file: nothing is read past their stated size.
 */
#include "file/event_name.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// A text in the caller's buffer; length goes on counting where the buffer ends.
struct name {
	char *buffer;
	size_t size;
	size_t length;
};

static void PD_PRINTF(2, 3) append(struct name *name, const char *format, ...)
{
	size_t left = name->length < name->size ? name->size - name->length : 0;
	va_list arguments;
	int count;

	va_start(arguments, format);
	count = vsnprintf(left ? name->buffer + name->length : NULL, left, format, arguments);
	va_end(arguments);
	if (count > 0)
		name->length += (size_t)count;
}

// The word of a number up to last, which is where the words of perf 6.1 end.
static const char *word_of(const char *set, uint64_t number, uint64_t last, const char *unknown)
{
	const char *text = NULL;

	if (number <= last)
		text = pd_names_text(pd_names_by_name(set), (int64_t)number);
	return text ? text : unknown;
}

static void hardware(struct name *name, const struct pd_attr *attr)
{
	const char *word = word_of("hardware_event", (uint32_t)attr->config, PD_HW_REF_CPU_CYCLES, "unknown-hardware");

	// The high half names one PMU of a machine with several; perf falls back to the word cpu.
	append(name, attr->config >> 32 ? "cpu/%s/" : "%s", word);
}

static void software(struct name *name, const struct pd_attr *attr)
{
	append(name, "%s", word_of("software_event", attr->config, PD_SW_DUMMY, "unknown-software"));
}

// Operations that a cache has, a bit for each; by PD_CACHE_...
static const uint8_t cache_operations[] = {
	[PD_CACHE_L1D] = 7,  [PD_CACHE_L1I] = 5, [PD_CACHE_LL] = 7,   [PD_CACHE_DTLB] = 7,
	[PD_CACHE_ITLB] = 1, [PD_CACHE_BPU] = 1, [PD_CACHE_NODE] = 7,
};

static void cache(struct name *name, const struct pd_attr *attr)
{
	unsigned id = attr->config & 0xff;
	unsigned operation = (attr->config >> 8) & 0xff;
	unsigned result = (attr->config >> 16) & 0xff;
	const char *cache_word = word_of("cache_id", id, PD_CACHE_NODE, NULL);
	const char *word = word_of("cache_op", operation, PD_CACHE_OP_PREFETCH, NULL);

	if (!cache_word)
		append(name, "unknown-ext-hardware-cache-type");
	else if (!word)
		append(name, "unknown-ext-hardware-cache-op");
	else if (result > 1)
		append(name, "unknown-ext-hardware-cache-result");
	else if (!(cache_operations[id] >> operation & 1))
		append(name, "invalid-cache");
	else if (result)
		append(name, "%s-%s-misses", cache_word, word);
	else
		append(name, "%s-%s%s", cache_word, word, operation == PD_CACHE_OP_PREFETCH ? "es" : "s");
}

static void raw(struct name *name, const struct pd_attr *attr)
{
	append(name, "raw 0x%" PRIx64, attr->config);
}

static void breakpoint(struct name *name, const struct pd_attr *attr)
{
	append(name, "mem:0x%" PRIx64 ":%s%s%s", attr->config1, PD_BITS(attr->bp_type, PD_BP_R) ? "r" : "",
	       PD_BITS(attr->bp_type, PD_BP_W) ? "w" : "", PD_BITS(attr->bp_type, PD_BP_X) ? "x" : "");
}

// By PD_TYPE_...
static void (*const kinds[])(struct name *name, const struct pd_attr *attr) = {
	[PD_TYPE_HARDWARE] = hardware, [PD_TYPE_SOFTWARE] = software,     [PD_TYPE_HW_CACHE] = cache,
	[PD_TYPE_RAW] = raw,           [PD_TYPE_BREAKPOINT] = breakpoint,
};

struct modifier {
	bool there;
	char character;
};

/*
 * Modes that are counted, precision, and host or guest. Without a mode or precision asked for,
 * perf takes it that the guest is counted unless said otherwise, so nothing excluded at all gives
 * HG.
 */
static void modifiers(struct name *name, uint64_t flags)
{
	bool user = PD_BITS(flags, PD_ATTR_EXCLUDE_USER);
	bool kernel = PD_BITS(flags, PD_ATTR_EXCLUDE_KERNEL);
	bool hypervisor = PD_BITS(flags, PD_ATTR_EXCLUDE_HV);
	bool host = PD_BITS(flags, PD_ATTR_EXCLUDE_HOST);
	bool guest = PD_BITS(flags, PD_ATTR_EXCLUDE_GUEST);
	bool mode = user || kernel || hypervisor;
	unsigned precise = (unsigned)PD_BITS(flags, PD_ATTR_PRECISE_IP);
	bool where = host || guest == (mode || precise);
	const struct modifier modifiers[] = {
		{ mode && !kernel, 'k' }, { mode && !user, 'u' },   { mode && !hypervisor, 'h' },
		{ precise > 0, 'p' },     { precise > 1, 'p' },     { precise > 2, 'p' },
		{ where && !host, 'H' },  { where && !guest, 'G' },
	};
	const char *colon = ":";

	for (size_t i = 0; i < sizeof(modifiers) / sizeof(modifiers[0]); i++) {
		if (!modifiers[i].there)
			continue;
		append(name, "%s%c", colon, modifiers[i].character);
		colon = "";
	}
}

size_t pd_event_name(const struct pd_attr *attr, const char *tracepoint_name, char *buffer, size_t size)
{
	struct name name = { buffer, size, 0 };

	if (size)
		buffer[0] = '\0';
	if (attr->type == PD_TYPE_TRACEPOINT) {
		append(&name, "%s", tracepoint_name ? tracepoint_name : "unknown tracepoint");
	} else if (attr->type < sizeof(kinds) / sizeof(kinds[0])) {
		kinds[attr->type](&name, attr);
		modifiers(&name, attr->flags);
	} else {
		// Signed, as perf prints it: its own event types have the highest bit set.
		append(&name, "unknown attr type: %" PRId32, (int32_t)attr->type);
	}
	return name.length;
}

// Takes the first line off a text, without its line end.
static struct pd_bytes take_line(struct pd_bytes *text)
{
	const uint8_t *end = text->size ? memchr(text->data, '\n', text->size) : NULL;
	struct pd_bytes line = { text->data, end ? (size_t)(end - text->data) : text->size };
	size_t taken = line.size + (end ? 1 : 0);

	text->data += taken;
	text->size -= taken;
	return line;
}

// If line begins with "key:", the rest of it without spaces around.
static bool value_of(struct pd_bytes line, const char *key, struct pd_bytes *value_out)
{
	size_t length = strlen(key);

	if (line.size < length || memcmp(line.data, key, length) != 0)
		return false;
	line.data += length;
	line.size -= length;
	while (line.size && strchr(" \t", line.data[0]) && line.data[0]) {
		line.data++;
		line.size--;
	}
	while (line.size && strchr(" \t\r", line.data[line.size - 1]))
		line.size--;
	*value_out = line;
	return true;
}

static bool number_of(struct pd_bytes digits, uint64_t *number_out)
{
	uint64_t number = 0;

	if (!digits.size || digits.size > 19)
		return false;
	for (size_t i = 0; i < digits.size; i++) {
		if (digits.data[i] < '0' || digits.data[i] > '9')
			return false;
		number = number * 10 + (digits.data[i] - '0');
	}
	*number_out = number;
	return true;
}

bool pd_tracepoint_name(struct pd_bytes text, uint64_t *id_out, struct pd_bytes *name_out)
{
	struct pd_bytes name = { NULL, 0 }, value;
	bool found = false;

	while (text.size && !(found && name.size)) {
		struct pd_bytes line = take_line(&text);

		if (value_of(line, "name:", &value))
			name = value;
		else if (value_of(line, "ID:", &value))
			found = number_of(value, id_out);
		else if (value_of(line, "format:", &value))
			break;
	}
	*name_out = name;
	return found && name.size;
}

// ftrace's own formats come last, as if they were a system.
static const struct pd_list *formats_at(const struct pd_tracing_data *data, size_t index, const char **system_out)
{
	const struct pd_tracing_system *system;

	if (index == data->systems.count) {
		*system_out = "ftrace";
		return &data->ftrace_formats;
	}
	if (index > data->systems.count)
		return NULL;
	system = PD_ITEM(pd_tracing_system, data->systems, index);
	*system_out = system->name.data;
	return &system->formats;
}

bool pd_tracepoints_next(struct pd_tracepoints *walk, uint64_t *id_out, char *name, size_t size)
{
	const struct pd_list *formats;
	const char *system;
	struct pd_bytes text;

	while ((formats = formats_at(walk->data, walk->system, &system)) != NULL) {
		if (walk->format == formats->count) {
			walk->system++;
			walk->format = 0;
			continue;
		}
		if (!pd_tracepoint_name(PD_ITEM(pd_sized_text, *formats, walk->format++)->data, id_out, &text))
			continue;
		// A precision is an int; no event has a name of that length.
		snprintf(name, size, "%s:%.*s", system, text.size > 4096 ? 4096 : (int)text.size,
			 (const char *)text.data);
		return true;
	}
	return false;
}
