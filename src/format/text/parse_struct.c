/* SPDX-License-Identifier: MIT */
/* Fields by the lines of a layout; parse.c reads what stands after their names. */
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "format/encode.h"
#include "format/text/parse.h"
#include "format/text/print.h"
#include "format/record.h"

enum {
	MOST_FIELDS = 128,
	MOST_MADE = 1 << 16, // items that are made because nobody wrote them
};

// ---- fields ----

static void put_number(void *out, size_t offset, size_t size, uint64_t value)
{
	uint8_t *at = (uint8_t *)out + offset;
	uint16_t two = (uint16_t)value;
	uint32_t four = (uint32_t)value;

	if (size == 1)
		*at = (uint8_t)value;
	else if (size == 2)
		memcpy(at, &two, sizeof(two));
	else if (size == 4)
		memcpy(at, &four, sizeof(four));
	else
		memcpy(at, &value, sizeof(value));
}

static void parse_number(struct pd_parser *p, const struct pd_field *field, void *out)
{
	uint64_t value;

	if (field->kind == PD_KIND_F64) {
		double number = pd_parse_f64(p);

		memcpy((uint8_t *)out + field->offset, &number, sizeof(number));
		return;
	}
	if (field->show == PD_SHOW_TIME)
		value = pd_parse_time(p);
	else if (field->show == PD_SHOW_NAMES)
		value = pd_parse_value(p, field->names, field->size);
	else if (field->show == PD_SHOW_BITS)
		value = pd_parse_bits(p, field->names);
	else
		value = pd_parse_sized(p, field->size);
	if (field->size < 8 && value >> field->size * 8)
		pd_parse_fail(p, p->at, "%s has only %u bytes", field->name, field->size);
	else
		put_number(out, field->offset, field->size, value);
}

// Padding after a text: "abc"+64 or "abc"+x"00ff".
static void parse_padding(struct pd_parser *p, struct pd_bytes text, struct pd_str *str)
{
	const char *begin = p->at;
	uint8_t *copy;
	uint64_t size;

	if (pd_parse_at_bytes(p)) {
		struct pd_bytes padding = pd_parse_bytes(p);

		size = text.size + padding.size;
		copy = pd_parse_memory(p, size + 1);
		if (copy && padding.size)
			memcpy(copy + text.size, padding.data, padding.size);
	} else {
		size = pd_parse_u64(p, UINT32_MAX - 1);
		if (size < text.size)
			pd_parse_fail(p, begin, "the string alone has %zu bytes", text.size);
		copy = p->failed_at ? NULL : pd_parse_memory(p, size + 1);
	}
	if (!copy)
		return;
	if (text.size)
		memcpy(copy, text.data, text.size);
	str->data = (const char *)copy;
	str->size = (uint32_t)size;
}

static void parse_str(struct pd_parser *p, const struct pd_field *field, void *member)
{
	struct pd_bytes text = pd_parse_quoted(p);
	struct pd_str str = { .data = (const char *)text.data, .length = (uint32_t)text.size };

	if (p->failed_at)
		return;
	if (text.size > UINT32_MAX - 1)
		pd_parse_fail(p, p->at, "the string is too long");
	else if (p->at < p->end && *p->at == '+') {
		p->at++;
		parse_padding(p, text, &str);
	} else if (field->line == PD_LINE_CHARS && !text.size) {
		str.data = NULL; // all of its place, not one that was cut off
	}
	memcpy(member, &str, sizeof(str));
}

static uint64_t parse_item(struct pd_parser *p, const struct pd_field *field, size_t size)
{
	if (field->show == PD_SHOW_CHAIN)
		return pd_parse_value(p, field->names, size);
	return pd_parse_sized(p, size);
}

// "AX:" in front of a register has to be the name of the one that stands there.
static void parse_register(struct pd_parser *p, uint64_t mask)
{
	const char *begin;
	char word[PD_PARSE_WORD];
	const char *name;

	pd_parse_more(p);
	begin = p->at;
	if (!pd_parse_word_length(p))
		return;
	pd_parse_word(p, word, sizeof(word));
	name = mask ? pd_register_name(p->arch, (unsigned)__builtin_ctzll(mask)) : NULL;
	if (name && strcasecmp(name, word) != 0)
		pd_parse_fail(p, begin, "expected register %s", name);
	pd_parse_want(p, ':');
}

// Items double the memory: what is left behind goes with the statement.
static bool grow(struct pd_parser *p, uint8_t **items, size_t *capacity, size_t count, size_t size)
{
	size_t more = *capacity ? *capacity * 2 : 8;
	uint8_t *grown;

	if (count < *capacity)
		return true;
	grown = pd_parse_memory(p, more * size);
	if (!grown)
		return false;
	if (count)
		memcpy(grown, *items, count * size);
	*items = grown;
	*capacity = more;
	return true;
}

static bool at_item(struct pd_parser *p)
{
	return !p->failed_at && pd_parse_more(p) && *p->at != ']';
}

static void parse_numbers(struct pd_parser *p, const struct pd_field *field, void *member)
{
	static const uint8_t sizes[] = { [PD_KIND_U8] = 1, [PD_KIND_U16] = 2, [PD_KIND_U32] = 4, [PD_KIND_U64] = 8 };
	uint64_t mask = field->show == PD_SHOW_REGS ? p->scope.words[field->word] : 0;
	size_t size = sizes[field->kind], count = 0, capacity = 0;
	struct pd_bytes array;
	uint8_t *items = NULL;

	for (pd_parse_want(p, '['); at_item(p) && grow(p, &items, &capacity, count, size); count++) {
		if (field->show == PD_SHOW_REGS)
			parse_register(p, mask);
		put_number(items, count * size, size, parse_item(p, field, size));
		mask &= mask - 1;
	}
	pd_parse_want(p, ']');
	array = (struct pd_bytes){ items, count };
	memcpy(member, &array, sizeof(array));
}

struct pd_u64s pd_parse_u64s(struct pd_parser *p)
{
	static const struct pd_field numbers = { .kind = PD_KIND_U64 };
	struct pd_u64s array = { NULL, 0 };

	parse_numbers(p, &numbers, &array);
	return array;
}

static void parse_braced(struct pd_parser *p, const struct pd_layout *layout, void *out)
{
	pd_parse_want(p, '{');
	if (++p->depth > PD_PARSE_MOST_DEPTH)
		pd_parse_fail(p, p->at, "nested too deeply");
	else
		pd_parse_struct(p, layout, out);
	p->depth--;
	pd_parse_want(p, '}');
}

static void parse_list(struct pd_parser *p, const struct pd_layout *layout, struct pd_list *list)
{
	size_t count = 0, capacity = 0;
	uint8_t *items = NULL;

	for (pd_parse_want(p, '['); at_item(p) && grow(p, &items, &capacity, count, layout->struct_size); count++)
		parse_braced(p, layout, items + count * layout->struct_size);
	pd_parse_want(p, ']');
	*list = (struct pd_list){ items, count, layout->struct_size };
}

// One of the records in a feature, encoded.
static struct pd_bytes parse_record(struct pd_parser *p, const struct pd_layout *layout)
{
	struct pd_record_head head = { 0 };
	struct pd_bytes record = { NULL, 0 };
	struct pd_parser before;
	void *decoded = pd_parse_memory(p, layout->struct_size);
	struct pd_buffer buffer;
	uint8_t *data;

	pd_parse_want(p, '{');
	if (pd_parse_key(p, "type"))
		head.type = (uint32_t)pd_parse_u64(p, UINT32_MAX);
	if (pd_parse_key(p, "misc"))
		head.misc = pd_parse_misc(p, PD_RECORD_HEADER_BUILD_ID);
	before = *p;
	p->scope.words[PD_WORD_MISC] = head.misc;
	if (decoded)
		pd_parse_struct(p, layout, decoded);
	pd_parse_want(p, '}');
	p->scope = before.scope;
	if (p->failed_at)
		return record;
	data = pd_parse_memory(p, UINT16_MAX + 1);
	if (!data)
		return record;
	buffer = pd_buffer(data, UINT16_MAX + 1, p->big);
	pd_record_put(&buffer, &head, layout, PD_GROUP_TOOL, &p->scope, decoded);
	if (buffer.failed || pd_buffer_full(&buffer))
		pd_parse_fail(p, before.at, "%s: %s", buffer.field ? buffer.field : layout->name,
			      buffer.failed ? buffer.reason : "record is too large");
	return (struct pd_bytes){ data, p->failed_at ? 0 : buffer.need };
}

static void parse_records(struct pd_parser *p, const struct pd_field *field, void *member)
{
	const struct pd_layout *layout = pd_record_layout(field->count.value);
	size_t capacity = 0;
	struct pd_bytes all = { NULL, 0 };
	uint8_t *data = NULL;

	for (pd_parse_want(p, '['); at_item(p);) {
		struct pd_bytes piece = *p->at == '{' ? parse_record(p, layout) : pd_parse_bytes(p);

		while (!p->failed_at && capacity - all.size < piece.size) {
			size_t filled = all.size;

			// grows when it is full
			if (!grow(p, &data, &capacity, capacity, 1))
				filled = 0;
			all.size = filled;
		}
		if (p->failed_at)
			break;
		if (piece.size)
			memcpy(data + all.size, piece.data, piece.size);
		all.size += piece.size;
	}
	pd_parse_want(p, ']');
	all.data = data;
	memcpy(member, &all, sizeof(all));
}

static void parse_field(struct pd_parser *p, const struct pd_field *field, void *out)
{
	void *member = (uint8_t *)out + field->offset;
	struct pd_bytes bytes;
	void *part;

	switch (field->line) {
	case PD_LINE_TEXT:
	case PD_LINE_CHARS:
		parse_str(p, field, member);
		break;
	case PD_LINE_ARRAY:
		if (field->kind != PD_KIND_U8) {
			parse_numbers(p, field, member);
			break;
		}
		bytes = pd_parse_bytes(p);
		memcpy(member, &bytes, sizeof(bytes));
		break;
	case PD_LINE_LIST:
		parse_list(p, field->part, member);
		break;
	case PD_LINE_RECORDS:
		parse_records(p, field, member);
		break;
	case PD_LINE_ONE:
	case PD_LINE_AGAIN:
	case PD_LINE_BOXED:
		part = pd_parse_memory(p, field->part->struct_size);
		if (part)
			parse_braced(p, field->part, part);
		memcpy(member, &part, sizeof(part));
		break;
	default:
		parse_number(p, field, out);
		break;
	}
}

// ---- structs ----

// A struct while its fields are read.
struct reading {
	const struct pd_layout *layout;
	const struct pd_field *fields;
	size_t count;
	void *out;
	const char *given[MOST_FIELDS]; // where a field stands
	bool has_size, has_id;
};

static bool has_bytes(const struct pd_field *field)
{
	return field->line < PD_LINE_MORE;
}

// The field of a name, of which there may be two; looks after the last one first.
static size_t find_field(const struct reading *r, size_t last, const char *name, size_t length)
{
	for (size_t i = 0; i < r->count; i++) {
		size_t at = (last + i) % r->count;

		if (has_bytes(&r->fields[at]) && strlen(r->fields[at].name) == length &&
		    !memcmp(r->fields[at].name, name, length))
			return at;
	}
	return r->count;
}

static void fail_field(struct pd_parser *p, const struct reading *r, const char *at, size_t length)
{
	char name[PD_PARSE_WORD];
	struct pd_nearest nearest = { .word = name };

	snprintf(name, sizeof(name), "%.*s", length < sizeof(name) ? (int)length : (int)sizeof(name) - 1, at);
	for (size_t i = 0; i < r->count; i++)
		if (has_bytes(&r->fields[i]))
			pd_nearest_try(&nearest, r->fields[i].name);
	if (!length)
		pd_parse_fail(p, at, "expected the name of a field of %s", r->layout->name);
	else if (nearest.best)
		pd_parse_fail(p, at, "%s has no field '%s', did you mean '%s'?", r->layout->name, name, nearest.best);
	else
		pd_parse_fail(p, at, "%s has no field '%s'", r->layout->name, name);
}

// What every struct of some form may have. True if it was that.
static bool parse_end(struct pd_parser *p, struct reading *r)
{
	struct pd_body_head *head = r->out;
	struct pd_sample_id *sample_id;

	if (r->layout->form != PD_FORM_PART && pd_parse_key(p, "rest")) {
		head->rest = pd_parse_bytes(p);
		return true;
	}
	if (r->layout->form != PD_FORM_BODY || !pd_parse_key(p, "sample_id"))
		return false;
	r->has_id = true;
	head->sample_id = NULL;
	if (pd_parse_more(p) && pd_parse_word_length(p) == 4 && !memcmp(p->at, "none", 4)) {
		p->at += 4;
		return true;
	}
	sample_id = pd_parse_memory(p, sizeof(*sample_id));
	if (sample_id)
		parse_braced(p, &pd_layouts[PD_LAYOUT_sample_id], sample_id);
	head->sample_id = sample_id;
	return true;
}

static bool parse_wire_size(struct pd_parser *p, struct reading *r)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct pd_when *when = &r->fields[i].when;

		if (when->op != PD_WHEN_SINCE)
			continue;
		if (!pd_parse_key(p, "wire_size"))
			return false;
		put_number(r->out, when->offset, when->size, pd_parse_u64(p, UINT32_MAX));
		r->has_size = true;
		return true;
	}
	return false;
}

static void set_words(struct pd_parser *p, const struct reading *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->fields[i].line == PD_LINE_SET)
			p->scope.words[r->fields[i].word] = pd_member(r->out, r->fields[i].offset, r->fields[i].size);
}

static void parse_fields(struct pd_parser *p, struct reading *r)
{
	size_t last = 0;

	while (!p->failed_at && pd_parse_more(p) && *p->at != '}') {
		const char *begin = p->at;
		size_t length = pd_parse_word_length(p);
		size_t at = find_field(r, last, begin, length);

		if (at == r->count) {
			if (parse_end(p, r) || parse_wire_size(p, r))
				continue;
			fail_field(p, r, begin, length);
			return;
		}
		if (r->given[at])
			pd_parse_fail(p, begin, "duplicate field");
		r->given[at] = begin;
		p->at += length;
		pd_parse_want(p, ':');
		if (!p->failed_at)
			parse_field(p, &r->fields[at], r->out);
		if (p->failed_at && !p->field) {
			p->layout = r->layout->name;
			p->field = r->fields[at].name;
		}
		set_words(p, r);
		last = at + 1;
	}
}

// ---- what is left out ----

static size_t find_member(const struct reading *r, size_t offset)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->fields[i].line == PD_LINE_FIELD && r->fields[i].offset == offset)
			return i;
	return r->count;
}

static uint64_t count_of(struct pd_parser *p, const struct reading *r, const struct pd_field *field)
{
	const void *member = (const uint8_t *)r->out + field->offset;
	struct pd_buffer buffer = pd_buffer(NULL, 0, p->big);
	struct pd_scope scope = p->scope;
	struct pd_list list;
	const void *part;

	switch (field->line) {
	case PD_LINE_ARRAY:
		return pd_array_of(r->out, field).size;
	case PD_LINE_LIST:
		memcpy(&list, member, sizeof(list));
		return list.count;
	default:
		memcpy(&part, member, sizeof(part));
		if (part)
			field->part->encode(&buffer, &scope, part);
		return buffer.need;
	}
}

// Counts that nobody wrote are those of what is listed.
static void count_members(struct pd_parser *p, const struct reading *r)
{
	for (size_t i = 0; i < r->count && !p->failed_at; i++) {
		const struct pd_field *field = &r->fields[i];
		size_t member = field->count.op == PD_COUNT_MEMBER || field->count.op == PD_COUNT_BITMAP ?
					find_member(r, field->count.offset) :
					r->count;
		uint64_t count;

		if (!r->given[i] || member == r->count || r->given[member] || field->line == PD_LINE_MORE)
			continue;
		count = count_of(p, r, field) * (field->count.op == PD_COUNT_BITMAP ? 64 : 1);
		if (field->count.size < 8 && count >> field->count.size * 8)
			pd_parse_fail(p, r->given[i], "%s.%s: too many items for the count field", r->layout->name,
				      field->name);
		put_number(r->out, field->count.offset, field->count.size, count);
	}
}

// Whether more follows is said by what is there.
static void find_more(const struct reading *r)
{
	for (size_t i = 0; i < r->count; i++) {
		bool *more = (bool *)((uint8_t *)r->out + r->fields[i].offset);

		if (r->fields[i].line != PD_LINE_MORE)
			continue;
		for (size_t j = 0; j < r->count; j++)
			if (r->given[j] && r->fields[j].when.op == PD_WHEN_NOT &&
			    r->fields[j].when.offset == r->fields[i].offset)
				*more = true;
	}
}

static void take_said_size(const struct reading *r)
{
	uint64_t said = pd_layout_said_size(r->layout, r->out);

	for (size_t i = 0; i < r->count && said && !r->has_size; i++)
		if (r->fields[i].when.op == PD_WHEN_SINCE)
			put_number(r->out, r->fields[i].when.offset, r->fields[i].when.size, said);
}

// A field may have two places; one of them is enough.
static bool is_there(struct pd_parser *p, const struct reading *r, size_t at)
{
	if (pd_when_holds(&r->fields[at].when, &p->scope, r->out))
		return true;
	for (size_t i = 0; i < r->count; i++)
		if (has_bytes(&r->fields[i]) && r->fields[i].offset == r->fields[at].offset &&
		    pd_when_holds(&r->fields[i].when, &p->scope, r->out))
			return true;
	return false;
}

static uint64_t made_count(struct pd_parser *p, const struct reading *r, const struct pd_field *field)
{
	switch (field->count.op) {
	case PD_COUNT_FIXED:
		return field->count.value;
	case PD_COUNT_POPCOUNT:
		return (uint64_t)__builtin_popcountll(p->scope.words[field->count.word]);
	case PD_COUNT_BITS_OF:
		return (uint64_t)__builtin_popcountll(pd_member(r->out, field->count.offset, field->count.size));
	case PD_COUNT_MEMBER:
		return pd_member(r->out, field->count.offset, field->count.size);
	case PD_COUNT_BITMAP:
		return pd_member(r->out, field->count.offset, field->count.size) / 64 + 1;
	default:
		return 0;
	}
}

static void make_array(struct pd_parser *p, const struct reading *r, const struct pd_field *field)
{
	uint64_t count = made_count(p, r, field);
	struct pd_bytes array = { NULL, (size_t)count };

	// the encoder will miss it
	if (!count || count > MOST_MADE)
		return;
	array.data = pd_parse_memory(p, (size_t)count * 8);
	if (array.data)
		memcpy((uint8_t *)r->out + field->offset, &array, sizeof(array));
}

// A struct of which nobody wrote anything.
static void *make_struct(struct pd_parser *p, const struct pd_layout *layout)
{
	const char *at = p->at;
	void *out = pd_parse_memory(p, layout->struct_size);

	p->at = p->end;
	if (out)
		pd_parse_struct(p, layout, out);
	if (!p->failed_at)
		p->at = at;
	return out;
}

static void make_part(struct pd_parser *p, const struct reading *r, const struct pd_field *field)
{
	void *part = make_struct(p, field->part);

	memcpy((uint8_t *)r->out + field->offset, &part, sizeof(part));
}

static void make_field(struct pd_parser *p, const struct reading *r, const struct pd_field *field)
{
	switch (field->line) {
	case PD_LINE_FIELD:
		if (field->role == PD_ROLE_ID && p->id)
			put_number(r->out, field->offset, field->size, p->id);
		break;
	case PD_LINE_ARRAY:
		make_array(p, r, field);
		break;
	case PD_LINE_ONE:
	case PD_LINE_AGAIN:
	case PD_LINE_BOXED:
		make_part(p, r, field);
		break;
	default:
		break;
	}
}

// Kernel records have a trailer where their event says so.
static void make_sample_id(struct pd_parser *p, const struct reading *r)
{
	struct pd_body_head *head = r->out;

	if (r->layout->form == PD_FORM_BODY && !r->has_id && p->scope.words[PD_WORD_TRAILER])
		head->sample_id = make_struct(p, &pd_layouts[PD_LAYOUT_sample_id]);
}

static bool is_given(const struct reading *r, size_t at)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->given[i] && r->fields[i].offset == r->fields[at].offset && has_bytes(&r->fields[i]))
			return true;
	return false;
}

static void finish(struct pd_parser *p, const struct reading *r)
{
	count_members(p, r);
	find_more(r);
	take_said_size(r);
	set_words(p, r);
	for (size_t i = 0; i < r->count && !p->failed_at; i++) {
		const struct pd_field *field = &r->fields[i];

		if (r->given[i] && !is_there(p, r, i))
			pd_parse_fail(p, r->given[i], "%s.%s exists only if %s", r->layout->name, field->name,
				      field->when.text);
	}
	for (size_t i = 0; i < r->count && !p->failed_at; i++) {
		const struct pd_field *field = &r->fields[i];

		if (!r->given[i] && has_bytes(field) && pd_when_holds(&field->when, &p->scope, r->out) &&
		    !is_given(r, i))
			make_field(p, r, field);
	}
	if (!p->failed_at)
		make_sample_id(p, r);
}

void pd_parse_struct(struct pd_parser *p, const struct pd_layout *layout, void *out)
{
	struct reading r;

	r.layout = layout;
	r.fields = layout->fields(&r.count);
	r.out = out;
	r.has_size = r.has_id = false;
	if (r.count > MOST_FIELDS)
		pd_parse_fail(p, p->at, "%s has too many fields", layout->name);
	if (p->failed_at)
		return;
	memset(r.given, 0, r.count * sizeof(r.given[0]));
	parse_fields(p, &r);
	if (!p->failed_at)
		finish(p, &r);
}
