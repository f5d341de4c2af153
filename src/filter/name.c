/* SPDX-License-Identifier: MIT */
/*
 * From names to operands: words for what any record has, fields of records by the names of the table, fields of
 * tracepoints; and from names of bits and values to numbers.
 */
#include "filter/filter.h"

#include <ctype.h>
#include <string.h>

#include "base/error.h"
#include "stream/read/stream.h"

// ---- words ----

static const struct word {
	const char *name;
	enum pd_source_kind from;
	enum pd_value_kind kind;
	enum pd_filter_ask ask;
	const struct pd_names *names;
	const char *doc;
} words[] = {
	{ "type", PD_FROM_TYPE, PD_VALUE_NUMBER, PD_FILTER_RECORDS, NULL, "type of the record, by name or number" },
	{ "misc", PD_FROM_MISC, PD_VALUE_NUMBER, 0, &pd_names_misc, "misc field of its header" },
	{ "cpumode", PD_FROM_CPUMODE, PD_VALUE_NUMBER, 0, &pd_names_cpumode, "CPU mode: user, kernel, guest_user ..." },
	{ "size", PD_FROM_SIZE, PD_VALUE_NUMBER, 0, NULL, "size of the record" },
	{ "offset", PD_FROM_OFFSET, PD_VALUE_NUMBER, 0, NULL, "offset in the file" },
	{ "time", PD_FROM_TIME, PD_VALUE_NUMBER, 0, NULL, "timestamp in ns" },
	{ "event", PD_FROM_EVENT, PD_VALUE_TEXT, 0, NULL, "name of its event" },
	{ "pid", PD_FROM_PID, PD_VALUE_NUMBER, 0, NULL, "its process" },
	{ "tid", PD_FROM_TID, PD_VALUE_NUMBER, 0, NULL, "its thread" },
	{ "cpu", PD_FROM_CPU, PD_VALUE_NUMBER, 0, NULL, "its CPU" },
	{ "period", PD_FROM_PERIOD, PD_VALUE_NUMBER, 0, NULL, "period of a sample, or of its event" },
	{ "comm", PD_FROM_NAME, PD_VALUE_TEXT, PD_FILTER_COMM, NULL, "name of its thread" },
	{ "dso", PD_FROM_NAME, PD_VALUE_TEXT, PD_FILTER_DSO, NULL, "name of the object at a sample's address" },
	{ "symbol", PD_FROM_NAME, PD_VALUE_TEXT, PD_FILTER_SYMBOL, NULL, "name of the function at a sample's address" },
};

enum {
	WORDS = sizeof(words) / sizeof(words[0])
};

const char *pd_filter_word(size_t index, const char **doc_out)
{
	if (index >= WORDS)
		return NULL;
	if (doc_out)
		*doc_out = words[index].doc;
	return words[index].name;
}

// ---- names that are misspelt ----

// A copy that ends with a NUL; names that are longer are near to nothing.
struct short_name {
	char text[64];
};

static struct short_name short_name(const char *name, size_t length)
{
	struct short_name copy;

	length = length < sizeof(copy.text) - 1 ? length : sizeof(copy.text) - 1;
	memcpy(copy.text, name, length);
	copy.text[length] = 0;
	return copy;
}

static void try_fields(struct pd_nearest *nearest, const struct pd_layout *layout)
{
	for (size_t i = 0; i < pd_layout_field_count(layout); i++)
		pd_nearest_try(nearest, pd_field_name(pd_layout_field(layout, i)));
}

static enum pd_status unknown_word(const char *name, size_t length, size_t at, struct pd_error *error)
{
	struct short_name copy = short_name(name, length);
	struct pd_nearest nearest = { .word = copy.text };
	uint32_t type;

	if (pd_record_type_by_name(copy.text, &type))
		return pd_filter_fail(error, at, "%s is a record: write type == %s, or %s.FIELD", copy.text, copy.text,
				      copy.text);
	for (size_t i = 0; i < WORDS; i++)
		pd_nearest_try(&nearest, words[i].name);
	try_fields(&nearest, &pd_layouts[PD_LAYOUT_sample]);
	if (!nearest.best)
		return pd_filter_fail(error, at, "unknown field '%s'; write RECORD.FIELD", copy.text);
	return pd_filter_fail(error, at, "unknown field '%s'; did you mean '%s'?", copy.text, nearest.best);
}

static enum pd_status unknown_record(const char *name, size_t length, size_t at, struct pd_error *error)
{
	struct short_name copy = short_name(name, length);
	struct pd_nearest nearest = { .word = copy.text };
	uint32_t type;

	for (size_t i = 0; pd_record_type_at(i, &type); i++)
		pd_nearest_try(&nearest, pd_record_name(type));
	pd_nearest_try(&nearest, "attr");
	pd_nearest_try(&nearest, "trace");
	pd_nearest_try(&nearest, "sample_id");
	if (!nearest.best)
		return pd_filter_fail(error, at, "unknown record '%s'", copy.text);
	return pd_filter_fail(error, at, "unknown record '%s'; did you mean '%s'?", copy.text, nearest.best);
}

static enum pd_status unknown_field(const struct pd_layout *layout, const char *name, size_t length, size_t at,
				    struct pd_error *error)
{
	struct short_name copy = short_name(name, length);
	struct pd_nearest nearest = { .word = copy.text };

	try_fields(&nearest, layout);
	if (!nearest.best)
		return pd_filter_fail(error, at, "%s has no field '%s'; perfdata explain %s lists them",
				      pd_layout_name(layout), copy.text, pd_layout_name(layout));
	return pd_filter_fail(error, at, "%s has no field '%s'; did you mean '%s'?", pd_layout_name(layout), copy.text,
			      nearest.best);
}

// ---- values ----

// Names of values are written in many ways: guest-kernel is GUEST_KERNEL.
static bool is_name(const char *name, const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		char a = name[i] == '-' ? '_' : (char)tolower((unsigned char)name[i]);
		char b = word[i] == '-' ? '_' : (char)tolower((unsigned char)word[i]);

		if (!a || a != b)
			return false;
	}
	return !name[length];
}

static bool find_type(const char *word, size_t length, uint64_t *number_out)
{
	struct short_name copy = short_name(word, length);
	uint32_t type;

	if (length >= sizeof(copy.text) || !pd_record_type_by_name(copy.text, &type))
		return false;
	*number_out = type;
	return true;
}

// Bits 13 to 15 are called differently in each record.
static bool find_misc(const char *word, size_t length, uint64_t *number_out)
{
	uint32_t type;

	for (size_t i = 0; pd_record_type_at(i, &type); i++)
		for (unsigned bit = 13; bit < 16; bit++) {
			const char *name = pd_misc_bit_name(type, bit);

			if (name && is_name(name, word, length)) {
				*number_out = UINT64_C(1) << bit;
				return true;
			}
		}
	return false;
}

bool pd_filter_constant(const struct pd_filter_operand *operand, const char *word, size_t length, uint64_t *number_out)
{
	const struct pd_names *names = operand->names;
	const char *text;
	int64_t value;
	unsigned width;

	if (operand->from == PD_FROM_TYPE)
		return find_type(word, length, number_out);
	for (size_t i = 0; names && pd_names_item(names, i, &text, &value, &width, NULL); i++) {
		if (!is_name(text, word, length))
			continue;
		*number_out = (uint64_t)value;
		if (pd_names_are_bits(names))
			*number_out = (width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1) << value;
		return true;
	}
	return operand->from == PD_FROM_MISC && find_misc(word, length, number_out);
}

enum pd_status pd_filter_no_constant(const struct pd_filter *filter, const struct pd_filter_operand *operand,
				     const struct pd_token *token, struct pd_error *error)
{
	size_t quote = token->kind == PD_TOKEN_TEXT;
	struct short_name copy = short_name(filter->text + token->at + quote, token->length - 2 * quote);
	struct pd_nearest nearest = { .word = copy.text };
	const char *text;
	uint32_t type;

	for (size_t i = 0; operand->from == PD_FROM_TYPE && pd_record_type_at(i, &type); i++)
		pd_nearest_try(&nearest, pd_record_name(type));
	for (size_t i = 0; operand->names && pd_names_item(operand->names, i, &text, NULL, NULL, NULL); i++)
		pd_nearest_try(&nearest, text);
	if (!nearest.best)
		return pd_filter_fail(error, token->at, "'%s' is not a value of %.*s", copy.text, (int)operand->length,
				      filter->text + operand->at);
	return pd_filter_fail(error, token->at, "'%s' is not a value of %.*s; did you mean '%s'?", copy.text,
			      (int)operand->length, filter->text + operand->at, nearest.best);
}

// ---- fields ----

static const struct pd_field *find_field(const struct pd_layout *layout, const char *name, size_t length)
{
	for (size_t i = 0; i < pd_layout_field_count(layout); i++) {
		const struct pd_field *field = pd_layout_field(layout, i);

		if (field->line != PD_LINE_SET && field->line != PD_LINE_ORDER && field->name &&
		    strlen(field->name) == length && !memcmp(field->name, name, length))
			return field;
	}
	return NULL;
}

// Where the brief form of a sample has a field of it.
static void find_brief(struct pd_filter_operand *operand)
{
#define BRIEF(field, member)                                                                      \
	{                                                                                         \
#field, offsetof(struct pd_brief, member), sizeof(((struct pd_brief *)0)->member) \
	}
	static const struct {
		const char *name;
		uint8_t offset, size;
	} members[] = { BRIEF(ip, ip),   BRIEF(addr, addr), BRIEF(period, period), BRIEF(time_ns, time_ns),
			BRIEF(pid, pid), BRIEF(tid, tid),   BRIEF(cpu, cpu) };
#undef BRIEF

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (!strcmp(operand->steps[0]->name, members[i].name)) {
			operand->brief = members[i].offset;
			operand->brief_size = members[i].size;
		}
}

static enum pd_value_kind kind_of(const struct pd_field *field)
{
	switch (field->line) {
	case PD_LINE_TEXT:
	case PD_LINE_CHARS:
		return PD_VALUE_TEXT;
	case PD_LINE_ARRAY:
		return field->kind == PD_KIND_U8 ? PD_VALUE_BYTES : PD_VALUE_NUMBER;
	case PD_LINE_RECORDS:
		return PD_VALUE_BYTES;
	default:
		return field->kind == PD_KIND_F64 ? PD_VALUE_REAL : PD_VALUE_NUMBER;
	}
}

// A part of a word: data_src.lvl, attr.flags.precise_ip.
static enum pd_status take_bits(struct pd_filter_operand *operand, const struct pd_field *field, const char *name,
				size_t length, size_t at, struct pd_error *error)
{
	const struct pd_names *names = field->names, *values;
	struct short_name copy = short_name(name, length);
	struct pd_nearest nearest = { .word = copy.text };
	const char *text;
	unsigned width;
	int64_t position;

	for (size_t i = 0; names && names->bits && pd_names_item(names, i, &text, &position, &width, &values); i++) {
		pd_nearest_try(&nearest, text);
		if (!is_name(text, name, length))
			continue;
		operand->shift = (uint8_t)position;
		operand->mask = width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
		operand->names = values;
		return PD_OK;
	}
	if (!nearest.best)
		return pd_filter_fail(error, at, "%s has no part '%s'", field->name, copy.text);
	return pd_filter_fail(error, at, "%s has no part '%s'; did you mean '%s'?", field->name, copy.text,
			      nearest.best);
}

static bool is_list(const struct pd_field *field)
{
	return field->line == PD_LINE_LIST || field->line == PD_LINE_ARRAY || field->line == PD_LINE_RECORDS;
}

static bool has_part(const struct pd_field *field)
{
	return field->line == PD_LINE_ONE || field->line == PD_LINE_AGAIN || field->line == PD_LINE_BOXED ||
	       field->line == PD_LINE_LIST;
}

// Follows the names from a layout on. at is the place of path in the text.
static enum pd_status take_path(struct pd_filter_operand *operand, const struct pd_layout *layout, const char *path,
				size_t size, size_t at, struct pd_error *error)
{
	const char *end = path + size;

	for (;;) {
		const char *dot = memchr(path, '.', (size_t)(end - path)), *next = dot ? dot + 1 : end;
		size_t length = (size_t)((dot ? dot : end) - path), rest = (size_t)(end - next);
		const struct pd_field *field = find_field(layout, path, length);

		if (!field)
			return unknown_field(layout, path, length, at, error);
		if (operand->step_count == PD_FILTER_STEPS)
			return pd_filter_fail(error, at, "nested too deeply");
		operand->steps[operand->step_count++] = field;
		operand->kind = kind_of(field);
		operand->names = field->names;
		at += length + 1;
		if (rest == 5 && !memcmp(next, "count", 5) && is_list(field)) {
			operand->count = true;
			operand->kind = PD_VALUE_NUMBER;
			operand->names = NULL;
			return PD_OK;
		}
		if (dot && !has_part(field))
			return take_bits(operand, field, next, rest, at, error);
		if (!dot && has_part(field))
			return pd_filter_fail(error, at - 1, "%s has fields: write %s.%s", field->name, field->name,
					      field->part && pd_layout_field_count(field->part) ?
						      pd_field_name(pd_layout_field(field->part, 0)) :
						      "FIELD");
		if (!dot)
			return PD_OK;
		layout = field->part;
		path = next;
	}
}

// ---- tracepoints ----

static enum pd_status take_trace(struct pd_filter *filter, struct pd_filter_operand *operand, const char *event,
				 size_t event_length, const char *field, size_t length, struct pd_error *error)
{
	struct pd_filter_trace *trace;

	if (!length)
		return pd_filter_fail(error, operand->at + operand->length,
				      "expected a field of the tracepoint: .FIELD");
	if (!PD_GROW(filter->traces, filter->trace_capacity, filter->trace_count + 1))
		return pd_fail_memory(error);
	trace = &filter->traces[filter->trace_count];
	*trace = (struct pd_filter_trace){ .at = operand->at };
	if (event)
		trace->event = pd_arena_text(&filter->arena, event, event_length);
	trace->field = pd_arena_text(&filter->arena, field, length);
	if ((event && !trace->event) || !trace->field)
		return pd_fail_memory(error);
	operand->from = PD_FROM_TRACE;
	operand->kind = PD_VALUE_ANY;
	operand->trace = filter->trace_count++;
	filter->asks |= PD_FILTER_TRACE;
	return PD_OK;
}

// ---- all ----

static bool is_word(const char *name, size_t length, const char *word)
{
	return strlen(word) == length && !memcmp(name, word, length);
}

static enum pd_status take_record(struct pd_filter *filter, struct pd_filter_operand *operand, const char *name,
				  size_t length, const char *path, size_t size, struct pd_error *error)
{
	const struct pd_layout *layout;
	uint64_t type;
	enum pd_status status;

	// a field of samples may stand without their name
	if (!find_type(name, length, &type) && find_field(&pd_layouts[PD_LAYOUT_sample], name, length)) {
		type = PD_RECORD_SAMPLE;
		size += (size_t)(path - name);
		path = name;
		length = SIZE_MAX;
	} else if (!find_type(name, length, &type)) {
		return unknown_record(name, length, operand->at, error);
	}
	layout = pd_record_layout((uint32_t)type);
	operand->from = PD_FROM_RECORD;
	operand->type = (uint32_t)type;
	if (type != PD_RECORD_SAMPLE)
		filter->asks |= PD_FILTER_RECORDS;
	status = take_path(operand, layout, path, size, operand->at + length + 1, error);
	if (status >= 0 && type == PD_RECORD_SAMPLE && operand->step_count == 1)
		find_brief(operand);
	return status;
}

static enum pd_status take_bare(struct pd_filter *filter, struct pd_filter_operand *operand, const char *name,
				size_t length, struct pd_error *error)
{
	enum pd_status status;

	for (size_t i = 0; i < WORDS; i++) {
		if (!is_word(name, length, words[i].name))
			continue;
		operand->from = words[i].from;
		operand->kind = words[i].kind;
		operand->ask = words[i].ask;
		operand->names = words[i].names;
		filter->asks |= (uint32_t)words[i].ask;
		return PD_OK;
	}
	if (!find_field(&pd_layouts[PD_LAYOUT_sample], name, length))
		return unknown_word(name, length, operand->at, error);
	operand->from = PD_FROM_RECORD;
	operand->type = PD_RECORD_SAMPLE;
	status = take_path(operand, &pd_layouts[PD_LAYOUT_sample], name, length, operand->at, error);
	if (status >= 0)
		find_brief(operand);
	return status;
}

enum pd_status pd_filter_find(struct pd_filter *filter, const struct pd_token *token, struct pd_filter_operand *operand,
			      struct pd_error *error)
{
	const char *name = filter->text + token->at, *end = name + token->length, *path;
	const char *dot = memchr(name, '.', token->length), *last = memrchr(name, '.', token->length);
	size_t length = (size_t)((dot ? dot : end) - name);

	*operand = (struct pd_filter_operand){ .at = token->at, .length = token->length };
	if (memchr(name, ':', token->length))
		return take_trace(filter, operand, name, (size_t)((last ? last : end) - name), last ? last + 1 : end,
				  last ? (size_t)(end - last - 1) : 0, error);
	if (!dot)
		return take_bare(filter, operand, name, length, error);
	path = dot + 1;
	if (is_word(name, length, "trace"))
		return take_trace(filter, operand, NULL, 0, path, (size_t)(end - path), error);
	if (is_word(name, length, "attr")) {
		operand->from = PD_FROM_ATTR;
		return take_path(operand, &pd_layouts[PD_LAYOUT_attr], path, (size_t)(end - path),
				 token->at + length + 1, error);
	}
	if (is_word(name, length, "sample_id")) {
		operand->from = PD_FROM_TRAILER;
		filter->asks |= PD_FILTER_RECORDS;
		return take_path(operand, &pd_layouts[PD_LAYOUT_sample_id], path, (size_t)(end - path),
				 token->at + length + 1, error);
	}
	return take_record(filter, operand, name, length, path, (size_t)(end - path), error);
}
