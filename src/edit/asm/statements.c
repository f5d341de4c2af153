/* SPDX-License-Identifier: MIT */
/*
 * What the statements of the text say. What a statement holds is read by the tables (format/text/parse.h); here is what the
 * words in front of it mean.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "edit/asm/asm.h"
#include "format/encode.h"
#include "format/text/parse.h"
#include "format/text/print.h"
#include "format/record.h"
#include "format/traits.h"
#include "stream/read/stream.h"

enum {
	NAME_CAPACITY = 64
};

// ---- failures ----

// Line and column of a place in a statement; columns count bytes.
static enum pd_status fail_at(struct pd_assembler *a, const struct pd_parser *p)
{
	const char *line = p->start;
	uint64_t number = a->line;

	if (p->status == PD_ERROR_MEMORY)
		return pd_fail_memory(&a->error);
	for (const char *at = p->start; at < p->failed_at; at++) {
		if (*at != '\n')
			continue;
		line = at + 1;
		number++;
	}
	return pd_fail(&a->error, p->status, PD_NO_OFFSET, "%s:%" PRIu64 ":%zu: %s%s%s%s%s", a->options.name, number,
		       (size_t)(p->failed_at - line) + 1, p->layout ? p->layout : "", p->layout ? "." : "",
		       p->layout ? p->field : "", p->layout ? ": " : "", p->reason);
}

enum pd_status pd_asm_fail_line(struct pd_assembler *a, enum pd_status status, const char *reason)
{
	return pd_fail(&a->error, status, PD_NO_OFFSET, "%s:%" PRIu64 ": %s", a->options.name, a->line, reason);
}

// What a writer says of a value is said of its line.
static enum pd_status fail_value(struct pd_assembler *a, enum pd_status status, const struct pd_buffer *buffer,
				 const struct pd_layout *layout)
{
	char reason[160];

	if (status == PD_ERROR_MEMORY)
		return pd_fail_memory(&a->error);
	snprintf(reason, sizeof(reason), "%s.%s: %s", buffer->layout ? buffer->layout : layout->name,
		 buffer->field ? buffer->field : "body", buffer->failed ? buffer->reason : "record is too large");
	return pd_asm_fail_line(a, status, reason);
}

// ---- the writer ----

enum pd_status pd_asm_open_writer(struct pd_assembler *a)
{
	enum pd_status status;

	if (a->writer)
		return PD_OK;
	status = (a->options.open)(a->options.self, &a->said, &a->writer, &a->error);
	if (status >= 0 && a->end_marker)
		pd_writer_set_end_marker(a->writer, a->end_marker);
	return status;
}

static bool find_known(struct pd_parser *p, const char *word, const char *const *words, int *value)
{
	struct pd_nearest nearest = { .word = word };
	const char *at = p->at - strlen(word);

	for (int i = 0; words[i]; i++) {
		if (!strcasecmp(words[i], word)) {
			*value = i;
			return true;
		}
		pd_nearest_try(&nearest, words[i]);
	}
	if (nearest.best)
		pd_parse_fail(p, at, "unknown name '%s', did you mean '%s'?", word, nearest.best);
	else
		pd_parse_fail(p, at, "unknown name '%s'", word);
	return false;
}

static int parse_choice(struct pd_parser *p, const char *const *words)
{
	char word[PD_ASM_WORD_BYTES];
	int value = 0;

	pd_parse_word(p, word, sizeof(word));
	find_known(p, word, words, &value);
	return value;
}

// header form: file, byte_order: little, compression: zstd, level: 1
static enum pd_status take_header(struct pd_assembler *a, struct pd_parser *p)
{
	static const char *const forms[] = { "file", "pipe", "dir", NULL };
	static const char *const orders[] = { "same", "little", "big", NULL };
	static const char *const packings[] = { "none", "zstd", "zstd2", NULL };
	static const enum pd_packing values[] = { PD_PACK_NONE, PD_PACK_ZSTD, PD_PACK_ZSTD2 };

	if (a->writer || a->had_header)
		pd_parse_fail(p, p->start, "the header must come first");
	a->had_header = true;
	while (!p->failed_at && pd_parse_more(p)) {
		if (pd_parse_key(p, "form"))
			a->said.mode = (enum pd_mode)parse_choice(p, forms);
		else if (pd_parse_key(p, "byte_order"))
			a->said.endian = (enum pd_endian)parse_choice(p, orders);
		else if (pd_parse_key(p, "compression"))
			a->said.packing = values[parse_choice(p, packings)];
		else if (pd_parse_key(p, "level"))
			a->said.level = (int)pd_parse_u64(p, INT32_MAX);
		else if (pd_parse_key(p, "end_marker"))
			a->end_marker = pd_parse_u64(p, PD_FEATURE_LIMIT - 1);
		else
			pd_parse_fail(p, p->at, "expected form, byte_order, compression, level or end_marker");
	}
	a->in_parts = a->said.mode == PD_MODE_DIRECTORY;
	return PD_OK;
}

// ---- events and features ----

static enum pd_status take_event(struct pd_assembler *a, struct pd_parser *p)
{
	struct pd_attr attr = { .rest = { NULL, 0 } };
	struct pd_u64s ids = { NULL, 0 };
	const char *name = NULL;
	bool braced = pd_parse_take(p, '{');

	for (bool more = true; more && !p->failed_at;) {
		if (pd_parse_key(p, "name"))
			name = pd_parse_text(p);
		else if (pd_parse_key(p, "ids"))
			ids = pd_parse_u64s(p);
		else
			more = false;
	}
	pd_parse_struct(p, &pd_layouts[PD_LAYOUT_attr], &attr);
	if (braced)
		pd_parse_want(p, '}');
	if (p->failed_at)
		return PD_OK;
	return pd_writer_add_event(a->writer, &attr, ids, name, &a->error);
}

static enum pd_status take_event_type(struct pd_assembler *a, struct pd_parser *p)
{
	const struct pd_layout *layout = &pd_layouts[PD_LAYOUT_header_event_type];
	struct pd_header_event_type decoded = { .rest = { NULL, 0 } };
	uint8_t entry[PD_TYPE_ENTRY_SIZE];
	struct pd_buffer buffer = pd_buffer(entry, sizeof(entry), pd_writer_is_big(a->writer));

	pd_parse_struct(p, layout, &decoded);
	if (p->failed_at)
		return PD_OK;
	layout->encode(&buffer, &p->scope, &decoded);
	if (buffer.failed || pd_buffer_full(&buffer))
		return fail_value(a, PD_ERROR_FORMAT, &buffer, layout);
	return pd_writer_add_event_type(a->writer, (struct pd_bytes){ entry, buffer.need }, &a->error);
}

static unsigned parse_feature_name(struct pd_parser *p)
{
	struct pd_nearest nearest = { 0 };
	char word[PD_ASM_WORD_BYTES];
	const char *begin;

	pd_parse_more(p);
	begin = p->at;
	if (p->at < p->end && *p->at >= '0' && *p->at <= '9')
		return (unsigned)pd_parse_u64(p, PD_FEATURE_LIMIT - 1);
	pd_parse_word(p, word, sizeof(word));
	nearest.word = word;
	for (unsigned i = 1; i < PD_FEATURE_LIMIT; i++) {
		const char *name = pd_feature_name(i);

		if (!name)
			continue;
		if (!strcasecmp(name, word))
			return i;
		pd_nearest_try(&nearest, name);
	}
	if (!*word)
		pd_parse_fail(p, begin, "expected the name or number of a feature");
	else if (nearest.best)
		pd_parse_fail(p, begin, "unknown feature '%s', did you mean '%s'?", word, nearest.best);
	else
		pd_parse_fail(p, begin, "unknown feature '%s'", word);
	return 0;
}

// Names of registers are those of the machine.
static void learn_machine(struct pd_assembler *a, unsigned feature, const void *decoded)
{
	if (feature == PD_FEATURE_ARCH) {
		const struct pd_string *arch = decoded;

		a->arch = arch->value.data ? pd_arch_by_name(arch->value.data) : PD_ARCH_UNKNOWN;
	} else if (feature == PD_FEATURE_E_MACHINE && a->arch == PD_ARCH_UNKNOWN) {
		a->arch = pd_arch_by_elf(((const struct pd_e_machine *)decoded)->e_machine);
	}
}

static enum pd_status take_raw_feature(struct pd_assembler *a, struct pd_parser *p, unsigned feature)
{
	struct pd_bytes bytes = { NULL, 0 };
	bool braced = pd_parse_take(p, '{');

	if (pd_parse_more(p) && *p->at != '}')
		bytes = pd_parse_bytes(p);
	if (braced)
		pd_parse_want(p, '}');
	if (pd_parse_more(p))
		pd_parse_fail(p, p->at, "expected the bytes of the feature");
	a->raw += !p->failed_at;
	return p->failed_at ? PD_OK : pd_writer_put_feature(a->writer, feature, bytes, &a->error);
}

static enum pd_status take_feature(struct pd_assembler *a, struct pd_parser *p)
{
	const char *begin = pd_parse_more(p) ? p->at : p->end;
	unsigned feature = parse_feature_name(p);
	const struct pd_layout *layout = pd_feature_layout(feature);
	struct pd_bytes bytes;
	enum pd_status status;
	struct pd_error error;
	void *decoded;
	bool braced;

	if (!p->failed_at && !feature)
		pd_parse_fail(p, begin, "feature 0 does not exist");
	if (p->failed_at)
		return PD_OK;
	if (pd_writer_has_feature(a->writer, feature, NULL))
		pd_parse_fail(p, begin, "duplicate feature");
	if (pd_parse_more(p) && p->end - p->at > 3 && !memcmp(p->at, "raw", 3) && p->at[3] != ':') {
		p->at += 3;
		return take_raw_feature(a, p, feature);
	}
	if (!layout)
		pd_parse_fail(p, p->at, "unknown layout of this feature; write its bytes after 'raw'");
	decoded = p->failed_at ? NULL : pd_arena_alloc(&a->arena, layout->struct_size);
	if (!decoded)
		return p->failed_at ? PD_OK : pd_fail_memory(&a->error);
	braced = pd_parse_take(p, '{');
	pd_parse_struct(p, layout, decoded);
	if (braced)
		pd_parse_want(p, '}');
	if (p->failed_at)
		return PD_OK;
	status = pd_writer_feature_bytes(a->writer, layout, decoded, &bytes, &error);
	if (status < 0)
		return status == PD_ERROR_FORMAT ? pd_asm_fail_line(a, status, error.message) :
						   pd_fail_memory(&a->error);
	learn_machine(a, feature, decoded);
	return pd_writer_put_feature(a->writer, feature, bytes, &a->error);
}

// ---- records ----

// Whether bytes that the last record speaks of are there. At the end of a recording that was cut they may not be.
static enum pd_status check_tail(struct pd_assembler *a)
{
	char reason[128];

	if (!a->tail_left)
		return PD_OK;
	snprintf(reason, sizeof(reason), "the preceding %s announces %" PRIu64 " more bytes, as 'tail'",
		 pd_record_name(a->tail_type) ? pd_record_name(a->tail_type) : "record", a->tail_left);
	return pd_asm_fail_line(a, PD_ERROR_FORMAT, reason);
}

static enum pd_status put_record(struct pd_assembler *a, uint32_t type, struct pd_bytes bytes)
{
	struct pd_writer *writer = a->writer;
	const struct pd_record record = { .type = type, .bytes = bytes };

	// rounds of one file say nothing about the others once they are one
	if (type == PD_RECORD_FINISHED_ROUND && a->in_parts && pd_writer_mode(writer) != PD_MODE_DIRECTORY)
		return pd_writer_fail(writer, pd_writer_start(writer, &a->error), &a->error);
	a->records++;
	a->tail_left = pd_stream_tail_size(&record, pd_writer_is_big(writer) != PD_HOST_BIG);
	a->tail_type = type;
	return pd_writer_put_encoded(writer, a->part, type, bytes, &a->error);
}

// What was compressed goes on as one stream, in its byte order.
static bool breaks_stream(const struct pd_assembler *a)
{
	bool other_order = a->said.endian != PD_ENDIAN_SAME &&
			   (a->said.endian == PD_ENDIAN_BIG) != pd_writer_is_big(a->writer);

	return pd_writer_compresses(a->writer) || other_order ||
	       (a->in_parts && pd_writer_mode(a->writer) != PD_MODE_DIRECTORY);
}

// In a pipe such records would be taken for what the writer says itself.
static void check_place(struct pd_assembler *a, struct pd_parser *p, uint32_t type)
{
	if (pd_record_is(type, PD_TRAIT_COMPRESSED) && breaks_stream(a))
		pd_parse_fail(p, p->start,
			      "compressed records can only be kept unchanged: in the form and byte order of the text, "
			      "and not compressed again");
	if (pd_writer_mode(a->writer) == PD_MODE_PIPE && pd_record_is(type, PD_TRAIT_SECTION))
		pd_parse_fail(p, p->start, "in a pipe, write this record as 'event' or 'feature'");
}

// The words of a record's event. True if it has an event.
static bool take_event_number(struct pd_assembler *a, struct pd_parser *p, enum pd_record_group group)
{
	const char *begin = p->at;
	uint64_t event = 0;
	const struct pd_write_event *known;

	if (pd_parse_key(p, "event")) {
		pd_parse_more(p);
		begin = p->at;
		if (p->end - p->at >= 4 && !memcmp(p->at, "none", 4)) {
			p->at += 4;
			return false;
		}
		event = pd_parse_u64(p, UINT32_MAX);
		if (!p->failed_at && event >= pd_writer_event_count(a->writer))
			pd_parse_fail(p, begin, "event %" PRIu64 " is not defined yet", event);
	}
	known = p->failed_at ? NULL : pd_writer_event(a->writer, event);
	if (!known)
		return false;
	memcpy(p->scope.words, known->words, sizeof(p->scope.words));
	if (group != PD_GROUP_KERNEL)
		p->scope.words[PD_WORD_TRAILER] = 0;
	p->id = known->id_count ? known->ids[0] : 0;
	return true;
}

static enum pd_status take_record(struct pd_assembler *a, struct pd_parser *p, uint32_t type)
{
	const struct pd_layout *layout = pd_record_layout(type);
	enum pd_record_group group = pd_record_group(type);
	struct pd_record_head head = { .type = type };
	bool has_event = false;
	struct pd_scope scope;
	struct pd_buffer buffer;
	uint8_t *scratch;
	void *decoded;

	check_place(a, p, type);
	if (group == PD_GROUP_SAMPLE || group == PD_GROUP_KERNEL)
		has_event = take_event_number(a, p, group);
	if (!p->failed_at && group == PD_GROUP_SAMPLE && !has_event)
		pd_parse_fail(p, p->start, "a sample needs an event, and none was defined before it");
	p->scope.words[PD_WORD_QUIRKS] = a->quirks;
	if (pd_parse_key(p, "misc"))
		head.misc = pd_parse_misc(p, type);
	p->scope.words[PD_WORD_MISC] = head.misc;
	scope = p->scope;
	decoded = p->failed_at ? NULL : pd_arena_alloc(&a->arena, layout->struct_size);
	if (!decoded)
		return p->failed_at ? PD_OK : pd_fail_memory(&a->error);
	pd_parse_struct(p, layout, decoded);
	if (!p->failed_at && pd_parse_more(p))
		pd_parse_fail(p, p->at, "unmatched closing bracket");
	if (p->failed_at)
		return PD_OK;
	scratch = pd_write_scratch(a->writer, UINT16_MAX + 1);
	if (!scratch)
		return pd_fail_memory(&a->error);
	buffer = pd_buffer(scratch, UINT16_MAX + 1, p->big);
	pd_record_put(&buffer, &head, layout, group, &scope, decoded);
	if (!buffer.failed && pd_buffer_full(&buffer) && buffer.need <= a->arena.limit &&
	    (scratch = pd_write_scratch(a->writer, buffer.need)) != NULL) {
		buffer = pd_buffer(scratch, buffer.need, p->big);
		scope = p->scope;
		pd_record_put(&buffer, &head, layout, group, &scope, decoded);
	}
	if (buffer.failed || pd_buffer_full(&buffer))
		return fail_value(a, PD_ERROR_FORMAT, &buffer, layout);
	return put_record(a, type, (struct pd_bytes){ buffer.data, buffer.need });
}

// raw type: 90, misc: 0x2, body: x"00ff"
static enum pd_status take_raw(struct pd_assembler *a, struct pd_parser *p)
{
	struct pd_bytes body = { NULL, 0 };
	uint64_t type = 0, misc = 0, size;
	struct pd_buffer buffer;
	uint8_t *scratch;
	bool large;

	while (!p->failed_at && pd_parse_more(p)) {
		if (pd_parse_key(p, "type"))
			type = pd_parse_u64(p, UINT32_MAX);
		else if (pd_parse_key(p, "misc"))
			misc = pd_parse_u64(p, UINT16_MAX);
		else if (pd_parse_key(p, "body"))
			body = pd_parse_bytes(p);
		else
			pd_parse_fail(p, p->at, "expected type, misc or body");
	}
	check_place(a, p, (uint32_t)type);
	large = pd_record_has_large_size((uint32_t)type);
	size = body.size + PD_RECORD_HEADER_SIZE;
	if (!p->failed_at && size > (large ? UINT32_MAX : UINT16_MAX))
		pd_parse_fail(p, p->start, "record is too large");
	if (p->failed_at)
		return PD_OK;
	scratch = pd_write_scratch(a->writer, (size_t)size);
	if (!scratch)
		return pd_fail_memory(&a->error);
	buffer = pd_buffer(scratch, (size_t)size, p->big);
	pd_buffer_u32(&buffer, (uint32_t)type);
	pd_buffer_u16(&buffer, large ? (uint16_t)(size >> 16) : (uint16_t)misc);
	pd_buffer_u16(&buffer, (uint16_t)size);
	pd_buffer_bytes(&buffer, body.data, body.size);
	a->raw++;
	return put_record(a, (uint32_t)type, (struct pd_bytes){ scratch, (size_t)size });
}

static enum pd_status take_tail(struct pd_assembler *a, struct pd_parser *p)
{
	struct pd_bytes bytes = pd_parse_bytes(p);

	if (!p->failed_at && pd_parse_more(p))
		pd_parse_fail(p, p->at, "expected only bytes");
	if (!p->failed_at && bytes.size > a->tail_left)
		pd_parse_fail(p, p->start, "the preceding record has no bytes after it (its size includes them)");
	if (p->failed_at)
		return PD_OK;
	a->tail_left -= bytes.size;
	return pd_writer_put_tail(a->writer, a->part, bytes, &a->error);
}

// ---- parts of a directory ----

static bool is_part_name(const char *name)
{
	if (strncmp(name, "data.", 5) != 0 || !name[5] || strlen(name) >= NAME_CAPACITY)
		return false;
	for (const char *at = name; *at; at++)
		if (*at == '/' || (unsigned char)*at <= ' ')
			return false;
	return true;
}

static enum pd_status take_part(struct pd_assembler *a, struct pd_parser *p)
{
	const char *begin = pd_parse_more(p) ? p->at : p->end;
	const char *name = pd_parse_text(p);

	if (!p->failed_at && !a->in_parts)
		pd_parse_fail(p, p->start, "only a directory has parts; use 'header form: dir'");
	if (!p->failed_at && strcmp(name, "data") != 0 && !is_part_name(name))
		pd_parse_fail(p, begin, "a part needs a name like \"data.0\"");
	// in one file they come one after another
	if (p->failed_at || pd_writer_mode(a->writer) != PD_MODE_DIRECTORY)
		return PD_OK;
	return pd_writer_find_part(a->writer, name, &a->part, &a->error);
}

// ---- statements ----

static enum pd_status take_quirks(struct pd_assembler *a, struct pd_parser *p)
{
	a->quirks = pd_parse_bits(p, &pd_names_quirks);
	return PD_OK;
}

static const struct statement {
	const char *word;
	enum pd_status (*take)(struct pd_assembler *a, struct pd_parser *p);
} statements[] = {
	{ "header", take_header },   { "event", take_event },   { "event_type", take_event_type },
	{ "feature", take_feature }, { "quirks", take_quirks }, { "part", take_part },
	{ "raw", take_raw },         { "tail", take_tail },
};

enum {
	STATEMENT_COUNT = sizeof(statements) / sizeof(statements[0])
};

static const struct statement *find_statement(const char *word)
{
	for (size_t i = 0; i < STATEMENT_COUNT; i++)
		if (!strcmp(statements[i].word, word))
			return &statements[i];
	return NULL;
}

static void fail_word(struct pd_parser *p, const char *word)
{
	struct pd_nearest nearest = { .word = word };
	const char *begin = p->at - strlen(word);
	uint32_t type;

	for (size_t i = 0; i < STATEMENT_COUNT; i++)
		pd_nearest_try(&nearest, statements[i].word);
	for (size_t i = 0; pd_record_type_at(i, &type); i++)
		pd_nearest_try(&nearest, pd_record_name(type));
	if (!*word)
		pd_parse_fail(p, p->at, "expected the name of a record, or header, event, feature, part, raw, tail");
	else if (nearest.best)
		pd_parse_fail(p, begin, "unknown record '%s', did you mean '%s'?", word, nearest.best);
	else
		pd_parse_fail(p, begin, "unknown record '%s'", word);
}

static enum pd_status take_statement_of(struct pd_assembler *a, struct pd_parser *p)
{
	const struct statement *statement;
	char word[PD_ASM_WORD_BYTES];
	enum pd_status status;

	pd_parse_word(p, word, sizeof(word));
	statement = find_statement(word);
	if (statement && statement->take == take_header)
		return take_header(a, p);
	status = pd_asm_open_writer(a);
	if (status < 0)
		return status;
	p->big = pd_writer_is_big(a->writer);
	if (statement && statement->take == take_tail)
		return take_tail(a, p);
	// a part of a recording that was cut may end before its bytes do
	if (statement && statement->take == take_part)
		a->tail_left = 0;
	status = check_tail(a);
	if (status < 0)
		return status;
	if (statement)
		return statement->take(a, p);
	if (!*word || strcmp(word, a->name) != 0) {
		if (!pd_record_type_by_name(word, &a->type)) {
			a->name[0] = '\0';
			fail_word(p, word);
			return PD_OK;
		}
		memcpy(a->name, word, sizeof(word));
	}
	return take_record(a, p, a->type);
}

enum pd_status pd_asm_take_statement(struct pd_assembler *a, const char *text, size_t size)
{
	struct pd_parser p = pd_parser(text, size, &a->arena);
	enum pd_status status;

	if (!pd_parse_more(&p))
		return PD_OK;
	a->had_statement = true;
	pd_arena_reset(&a->arena);
	p.arch = a->arch;
	p.scope.words[PD_WORD_QUIRKS] = a->quirks;
	status = take_statement_of(a, &p);
	if (status >= 0 && !p.failed_at && pd_parse_more(&p))
		pd_parse_fail(&p, p.at, "unexpected token");
	return p.failed_at ? fail_at(a, &p) : status;
}
