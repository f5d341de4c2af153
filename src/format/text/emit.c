/* SPDX-License-Identifier: MIT */
/* Nothing is written that the reader of the text works out: counts of what is listed, paddings as encoders make them. */
#include "format/text/emit.h"

#include <math.h>

#include <perfdata/text.h>

#include "format/text/print.h"
#include "format/record.h"

enum {
	LEAST_QUOTED = 16, // bytes that are taken for a text if all of them can be printed
	BYTES_PER_LINE = 64
};

// How fields stand: on one line, or on lines of their own at a depth.
struct shape {
	bool block;
	unsigned indent;
};

static void emit_fields(struct pd_emitter *emitter, const struct pd_layout *layout, const void *decoded,
			struct shape shape);

// ---- texts and bytes ----

static void emit_char(struct pd_text *text, uint8_t c)
{
	switch (c) {
	case '"':
		PD_TEXT_LITERAL(text, "\\\"");
		break;
	case '\\':
		PD_TEXT_LITERAL(text, "\\\\");
		break;
	case '\n':
		PD_TEXT_LITERAL(text, "\\n");
		break;
	case '\t':
		PD_TEXT_LITERAL(text, "\\t");
		break;
	default:
		// what a terminal would obey
		PD_TEXT_LITERAL(text, "\\x");
		pd_text_hex_bytes(text, &c, 1);
		break;
	}
}

static bool is_plain(char c)
{
	return (uint8_t)c >= 0x20 && (uint8_t)c < 0x7f && c != '"' && c != '\\';
}

void pd_emit_text(struct pd_text *text, const char *data, size_t size)
{
	size_t from = 0, at = 0;

	pd_text_char(text, '"');
	for (; at < size; at++) {
		if (is_plain(data[at]))
			continue;
		pd_text_put(text, data + from, at - from);
		from = at + 1;
		if ((uint8_t)data[at] < 0x80) {
			emit_char(text, (uint8_t)data[at]);
			continue;
		}
		// letters of other scripts stay readable
		while (from < size && (uint8_t)data[from] >= 0x80)
			from++;
		pd_text_escaped(text, data + at, from - at);
		at = from - 1;
	}
	pd_text_put(text, data + from, at - from);
	pd_text_char(text, '"');
}

static void emit_hex(struct pd_text *text, const uint8_t *data, size_t size)
{
	PD_TEXT_LITERAL(text, "x\"");
	pd_text_hex_bytes(text, data, size);
	pd_text_char(text, '"');
}

static bool is_printed(struct pd_bytes bytes)
{
	for (size_t i = 0; i < bytes.size; i++)
		if ((bytes.data[i] < 0x20 && bytes.data[i] != '\n' && bytes.data[i] != '\t') || bytes.data[i] >= 0x7f)
			return false;
	return bytes.size >= LEAST_QUOTED;
}

void pd_emit_bytes(struct pd_text *text, struct pd_bytes bytes)
{
	if (is_printed(bytes))
		pd_emit_text(text, (const char *)bytes.data, bytes.size);
	else
		emit_hex(text, bytes.data, bytes.size);
}

static void new_line(struct pd_text *text, unsigned indent)
{
	pd_text_char(text, '\n');
	for (unsigned i = 0; i < indent; i++)
		pd_text_char(text, '\t');
}

// Many bytes stand on several lines: a text by its own lines.
static void emit_long_bytes(struct pd_text *text, struct pd_bytes bytes, struct shape shape)
{
	bool printed = is_printed(bytes);

	if (!shape.block || bytes.size <= BYTES_PER_LINE) {
		pd_emit_bytes(text, bytes);
		return;
	}
	for (size_t at = 0, step; at < bytes.size; at += step) {
		size_t left = bytes.size - at;
		const uint8_t *end = printed ? memchr(bytes.data + at, '\n', left) : NULL;

		step = end                   ? (size_t)(end - bytes.data) - at + 1 :
		       printed               ? left :
		       left < BYTES_PER_LINE ? left :
					       BYTES_PER_LINE;
		new_line(text, shape.indent + 1);
		if (printed)
			pd_emit_text(text, (const char *)bytes.data + at, step);
		else
			emit_hex(text, bytes.data + at, step);
	}
}

static bool are_zeros(const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (data[i])
			return false;
	return true;
}

// Bytes that an encoder gives the text if nobody says how many.
static size_t usual_size(const struct pd_emitter *emitter, const struct pd_field *field, const struct pd_str *str)
{
	uintptr_t begin = (uintptr_t)emitter->body.data, at = (uintptr_t)str->data;

	if (field->line == PD_LINE_CHARS)
		return field->count.word || str->length || str->size ? field->count.value : SIZE_MAX;
	switch (field->kind) {
	case PD_KIND_PSTR:
		return str->length ? ((size_t)str->length + 64) & ~(size_t)63 : 0;
	case PD_KIND_STR0:
		if (!begin || at < begin || at >= begin + emitter->body.size)
			return SIZE_MAX;
		return ((at - begin + str->length + 8) & ~(size_t)7) - (at - begin);
	default:
		return (size_t)str->length + 1;
	}
}

// "text", "text"+64 for another place than usual, "text"+x"00ff" for one that is not filled with zeros.
static void emit_str(struct pd_emitter *emitter, const struct pd_field *field, const void *member)
{
	struct pd_str str;

	memcpy(&str, member, sizeof(str));
	pd_emit_text(emitter->text, str.data ? str.data : "", str.length);
	if (!str.data || (str.size > str.length && !are_zeros(str.data + str.length, str.size - str.length))) {
		if (!str.data)
			return;
		pd_text_char(emitter->text, '+');
		emit_hex(emitter->text, (const uint8_t *)str.data + str.length, str.size - str.length);
	} else if (str.size != usual_size(emitter, field, &str)) {
		pd_text_char(emitter->text, '+');
		pd_text_u64(emitter->text, str.size);
	}
}

// ---- numbers ----

static bool is_word(const char *name)
{
	const char *at = name;

	if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_'))
		return false;
	while ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') || *at == '_' ||
	       *at == '-' || *at == '.')
		at++;
	return !*at && strcmp(name, "none") != 0;
}

static void emit_word(struct pd_text *text, const char *name)
{
	if (is_word(name))
		pd_text_add(text, name);
	else
		pd_emit_text(text, name, strlen(name));
}

// The name of a value if it is the only value of that name.
static const char *own_name(const struct pd_names *names, uint64_t value)
{
	const char *name = pd_names_text(names, (int64_t)value);

	for (size_t i = 0; name && i < names->count; i++)
		if (!strcmp(names->items[i].text, name))
			return names->items[i].value == (int64_t)value && *name ? name : NULL;
	return NULL;
}

static void emit_value(struct pd_text *text, const struct pd_names *names, uint64_t value)
{
	const char *name = own_name(names, value);

	if (name)
		emit_word(text, name);
	else
		pd_text_u64(text, value);
}

static uint64_t mask_of(const struct pd_name *item)
{
	return (item->width >= 64 ? UINT64_MAX : (UINT64_C(1) << item->width) - 1) << item->value;
}

// IP|precise_ip(2)|0x100
void pd_emit_bits(struct pd_text *text, const struct pd_names *names, uint64_t word)
{
	bool first = true;

	if (!word)
		pd_text_char(text, '0');
	for (size_t i = 0; i < names->count && word; i++) {
		const struct pd_name *item = &names->items[i];
		uint64_t mask = mask_of(item), value = (word & mask) >> item->value;

		if (!value)
			continue;
		pd_text_put(text, "|", first ? 0 : 1);
		emit_word(text, item->text);
		first = false;
		word &= ~mask;
		if (item->width == 1)
			continue;
		pd_text_char(text, '(');
		if (!item->values)
			pd_text_u64(text, value);
		else if (item->values->bits)
			pd_emit_bits(text, item->values, value);
		else
			emit_value(text, item->values, value);
		pd_text_char(text, ')');
	}
	if (!word)
		return;
	pd_text_put(text, "|", first ? 0 : 1);
	pd_text_hex(text, word);
}

void pd_emit_misc(struct pd_text *text, uint32_t type, uint16_t misc)
{
	const char *mode = misc & 7 ? pd_names_text(&pd_names_cpumode, misc & 7) : NULL;
	uint16_t left = mode ? misc & (uint16_t)~7u : misc;

	pd_text_add(text, mode ? mode : "");
	for (unsigned bit = 12; bit < 16; bit++) {
		const char *name = bit == 12 ? "PROC_MAP_PARSE_TIMEOUT" : pd_misc_bit_name(type, bit);

		if (!(left >> bit & 1) || !name)
			continue;
		pd_text_put(text, "|", left == misc ? 0 : 1);
		pd_text_add(text, name);
		left &= (uint16_t) ~(1u << bit);
	}
	if (!left && misc)
		return;
	pd_text_put(text, "|", left == misc ? 0 : 1);
	pd_text_hex(text, left);
}

// What is no number is written as its bits.
static void emit_f64(struct pd_text *text, const void *member)
{
	uint64_t bits;
	double value;

	memcpy(&value, member, sizeof(value));
	memcpy(&bits, member, sizeof(bits));
	if (isfinite(value))
		pd_text_double(text, value);
	else
		pd_text_hex(text, bits);
}

static void emit_time(struct pd_text *text, uint64_t ns)
{
	if (ns == UINT64_MAX)
		PD_TEXT_LITERAL(text, "none");
	else
		pd_text_time(text, ns);
}

static void emit_number(struct pd_emitter *emitter, const struct pd_field *field, const void *decoded)
{
	struct pd_text *text = emitter->text;
	uint64_t value = pd_member(decoded, field->offset, field->size);

	if (field->kind == PD_KIND_F64)
		emit_f64(text, (const uint8_t *)decoded + field->offset);
	else if (field->show == PD_SHOW_HEX || field->show == PD_SHOW_ADDR)
		pd_text_hex(text, value);
	else if (field->show == PD_SHOW_TIME)
		emit_time(text, value);
	else if (field->show == PD_SHOW_BITS)
		pd_emit_bits(text, field->names, value);
	else if (field->show == PD_SHOW_NAMES && own_name(field->names, value))
		emit_word(text, own_name(field->names, value));
	else if (field->show == PD_SHOW_SIGNED || field->kind == PD_KIND_S32)
		pd_text_s64(text, pd_signed_member(field, decoded));
	else
		pd_text_u64(text, value);
}

// ---- arrays ----

static void emit_item(struct pd_text *text, const struct pd_field *field, uint64_t value)
{
	const char *marker = field->show == PD_SHOW_CHAIN && value >= PD_CONTEXT_MAX ? own_name(field->names, value) :
										       NULL;

	if (marker)
		emit_word(text, marker);
	else if (field->show == PD_SHOW_DEC)
		pd_text_u64(text, value);
	else if (field->show == PD_SHOW_SIGNED)
		pd_text_s64(text, field->kind == PD_KIND_U32 ? (int32_t)value : (int64_t)value);
	else
		pd_text_hex(text, value);
}

static void emit_array(struct pd_emitter *emitter, const struct pd_field *field, const void *decoded,
		       struct shape shape)
{
	struct pd_bytes array = pd_array_of(decoded, field);
	uint64_t mask = field->show == PD_SHOW_REGS ? emitter->scope.words[field->word] : 0;

	if (field->kind == PD_KIND_U8) {
		emit_long_bytes(emitter->text, array, shape);
		return;
	}
	pd_text_char(emitter->text, '[');
	for (size_t i = 0; i < array.size; i++, mask &= mask - 1) {
		const char *name = mask ? pd_register_name(emitter->arch, (unsigned)__builtin_ctzll(mask)) : NULL;

		pd_text_put(emitter->text, " ", i ? 1 : 0);
		if (name && is_word(name)) {
			pd_text_add(emitter->text, name);
			pd_text_char(emitter->text, ':');
		}
		emit_item(emitter->text, field, pd_array_item(array, field->kind, i));
	}
	pd_text_char(emitter->text, ']');
}

// ---- parts and lists ----

static void emit_part(struct pd_emitter *emitter, const struct pd_layout *layout, const void *part)
{
	pd_text_char(emitter->text, '{');
	emit_fields(emitter, layout, part, (struct shape){ false, 0 });
	pd_text_char(emitter->text, '}');
}

// Items of a block stand on lines of their own. One with a list in it is a block too.
static void begin_item(struct pd_text *text, struct shape shape, size_t index)
{
	if (shape.block)
		new_line(text, shape.indent + 1);
	else
		pd_text_put(text, ", ", index ? 2 : 0);
}

static bool has_lists(const struct pd_layout *layout)
{
	size_t count;
	const struct pd_field *fields = layout->fields(&count);

	for (size_t i = 0; i < count; i++)
		if (fields[i].line == PD_LINE_LIST || (fields[i].line == PD_LINE_ARRAY && fields[i].kind == PD_KIND_U8))
			return true;
	return false;
}

static void end_list(struct pd_text *text, struct shape shape, bool any)
{
	if (shape.block && any)
		new_line(text, shape.indent);
	pd_text_char(text, ']');
}

static void emit_list(struct pd_emitter *emitter, const struct pd_field *field, const struct pd_list *list,
		      struct shape shape)
{
	struct shape inner = { shape.block && has_lists(field->part), shape.indent + 2 };

	pd_text_char(emitter->text, '[');
	for (size_t i = 0; i < list->count; i++) {
		begin_item(emitter->text, shape, i);
		pd_text_char(emitter->text, '{');
		emit_fields(emitter, field->part, (const uint8_t *)list->items + i * list->stride, inner);
		if (inner.block)
			new_line(emitter->text, shape.indent + 1);
		pd_text_char(emitter->text, '}');
	}
	end_list(emitter->text, shape, list->count);
}

// One of the records in a feature, if it is as an encoder makes it.
static bool emit_record(struct pd_emitter *emitter, const struct pd_layout *layout, struct pd_bytes record)
{
	struct pd_record_head head = pd_record_head(record.data, emitter->big != PD_HOST_BIG);
	struct pd_cursor c = pd_cursor(record.data, record.size, emitter->big);
	struct pd_buffer buffer = pd_buffer(NULL, 0, emitter->big);
	struct pd_emitter inner = *emitter;
	const void *decoded;

	inner.scope.words[PD_WORD_MISC] = head.misc;
	inner.body = (struct pd_bytes){ record.data + PD_RECORD_HEADER_SIZE, record.size - PD_RECORD_HEADER_SIZE };
	decoded = pd_record_take(layout, PD_GROUP_TOOL, record, &inner.scope, &c);
	emitter->text->failed |= c.status == PD_ERROR_MEMORY;
	if (decoded)
		pd_record_put(&buffer, &head, layout, PD_GROUP_TOOL, &inner.scope, decoded);
	if (!decoded || buffer.failed || buffer.need != record.size)
		return false;
	pd_text_char(emitter->text, '{');
	if (head.type)
		pd_text_printf(emitter->text, "type: %u, ", head.type);
	if (head.misc) {
		PD_TEXT_LITERAL(emitter->text, "misc: ");
		pd_text_hex(emitter->text, head.misc);
		PD_TEXT_LITERAL(emitter->text, ", ");
	}
	emit_fields(&inner, layout, decoded, (struct shape){ false, 0 });
	pd_text_char(emitter->text, '}');
	return true;
}

// Records one after another; what is none goes along as bytes.
static void emit_records(struct pd_emitter *emitter, const struct pd_field *field, struct pd_bytes left,
			 struct shape shape)
{
	const struct pd_layout *layout = pd_record_layout(field->count.value);
	bool any = left.size > 0;
	size_t index = 0;

	pd_text_char(emitter->text, '[');
	for (; left.size >= PD_RECORD_HEADER_SIZE; index++) {
		struct pd_record_head head = pd_record_head(left.data, emitter->big != PD_HOST_BIG);
		size_t before = emitter->text->size;

		if (head.size < PD_RECORD_HEADER_SIZE || head.size > left.size)
			break;
		begin_item(emitter->text, shape, index);
		if (!emit_record(emitter, layout, (struct pd_bytes){ left.data, (size_t)head.size })) {
			emitter->text->size = before;
			break;
		}
		left.data += head.size;
		left.size -= (size_t)head.size;
	}
	if (left.size) {
		begin_item(emitter->text, shape, index);
		emit_hex(emitter->text, left.data, left.size);
	}
	end_list(emitter->text, shape, any);
}

// ---- fields ----

// Whether the reader finds the number by counting what is listed.
static bool is_counted(struct pd_emitter *emitter, const struct pd_field *fields, size_t count,
		       const struct pd_field *field, const void *decoded)
{
	for (size_t i = 0; i < count; i++) {
		const struct pd_field *other = &fields[i];

		if (other->count.op == PD_COUNT_MEMBER && other->count.offset == field->offset &&
		    (other->line == PD_LINE_ARRAY || other->line == PD_LINE_LIST || other->line == PD_LINE_BOXED) &&
		    pd_when_holds(&other->when, &emitter->scope, decoded))
			return true;
	}
	return false;
}

static bool is_number(const struct pd_field *field)
{
	return field->line == PD_LINE_FIELD || field->line == PD_LINE_FLAGS;
}

static bool is_left_out(struct pd_emitter *emitter, const struct pd_field *fields, size_t count,
			const struct pd_field *field, const void *decoded, struct shape shape)
{
	if (!is_number(field))
		return false;
	// what depends on bytes that are there says so by being there
	if (shape.block && field->when.op != PD_WHEN_NOT && !pd_member(decoded, field->offset, field->size))
		return true;
	return is_counted(emitter, fields, count, field, decoded);
}

static void emit_field(struct pd_emitter *emitter, const struct pd_field *field, const void *decoded,
		       struct shape shape)
{
	const void *member = (const uint8_t *)decoded + field->offset;

	switch (field->line) {
	case PD_LINE_TEXT:
	case PD_LINE_CHARS:
		emit_str(emitter, field, member);
		break;
	case PD_LINE_ARRAY:
		emit_array(emitter, field, decoded, shape);
		break;
	case PD_LINE_LIST:
		emit_list(emitter, field, member, shape);
		break;
	case PD_LINE_RECORDS:
		emit_records(emitter, field, pd_array_of(decoded, field), shape);
		break;
	case PD_LINE_ONE:
	case PD_LINE_AGAIN:
	case PD_LINE_BOXED:
		emit_part(emitter, field->part, *(const void *const *)member);
		break;
	default:
		emit_number(emitter, field, decoded);
		break;
	}
}

static void emit_key(struct pd_text *text, const char *name, struct shape shape, bool *first)
{
	if (shape.block)
		new_line(text, shape.indent);
	else
		pd_text_put(text, ", ", *first ? 0 : 2);
	*first = false;
	pd_text_add(text, name);
	PD_TEXT_LITERAL(text, ": ");
}

static void emit_ends(struct pd_emitter *emitter, const struct pd_layout *layout, const void *decoded,
		      struct shape shape, bool first)
{
	const struct pd_body_head *head = decoded;

	if (layout->form != PD_FORM_PART && head->rest.size) {
		emit_key(emitter->text, "rest", shape, &first);
		emit_long_bytes(emitter->text, head->rest, shape);
	}
	if (layout->form == PD_FORM_BODY && head->sample_id) {
		emit_key(emitter->text, "sample_id", shape, &first);
		emit_part(emitter, &pd_layouts[PD_LAYOUT_sample_id], head->sample_id);
	}
}

// Whether the size of the place decides otherwise on what is there than the one that the struct says, if it does.
static bool has_other_size(const struct pd_layout *layout, const void *decoded, uint64_t *wire_size)
{
	uint64_t said = pd_layout_said_size(layout, decoded);
	size_t count;
	const struct pd_field *fields = layout->fields(&count);

	for (size_t i = 0; i < count; i++) {
		const struct pd_when *when = &fields[i].when;

		if (when->op != PD_WHEN_SINCE)
			continue;
		*wire_size = pd_member(decoded, when->offset, when->size);
		if ((!*wire_size || *wire_size >= when->want) != (!said || said >= when->want))
			return true;
	}
	return false;
}

static void emit_fields(struct pd_emitter *emitter, const struct pd_layout *layout, const void *decoded,
			struct shape shape)
{
	size_t count;
	const struct pd_field *fields = layout->fields(&count);
	uint64_t wire_size;
	struct pd_printer printer = { .scope = emitter->scope };
	bool first = true;

	for (size_t i = 0; i < count; i++) {
		const struct pd_field *field = &fields[i];

		if (field->line == PD_LINE_SET) {
			pd_printer_set(&printer, field, decoded);
			emitter->scope.words[field->word] = printer.scope.words[field->word];
		}
		if (!pd_printer_shows(&printer, field, decoded) ||
		    is_left_out(emitter, fields, count, field, decoded, shape))
			continue;
		emit_key(emitter->text, field->name, shape, &first);
		emit_field(emitter, field, decoded, shape);
	}
	if (has_other_size(layout, decoded, &wire_size)) {
		emit_key(emitter->text, "wire_size", shape, &first);
		pd_text_u64(emitter->text, wire_size);
	}
	emit_ends(emitter, layout, decoded, shape, first);
}

void pd_emit_struct(struct pd_emitter *emitter, const struct pd_layout *layout, const void *decoded)
{
	emit_fields(emitter, layout, decoded, (struct shape){ false, 0 });
}

void pd_emit_block(struct pd_emitter *emitter, const struct pd_layout *layout, const void *decoded)
{
	emit_fields(emitter, layout, decoded, (struct shape){ true, 1 });
}
