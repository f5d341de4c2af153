/* SPDX-License-Identifier: MIT */
#include "round.h"

#include <string.h>

#include "format/text/parse.h"
#include "format/text/print.h"
#include "format/text/emit.h"
#include "walk.h"

struct side {
	struct pd_arena arena;
	struct pd_scope scope;
	struct pd_text *text;
	const void *decoded;
};

// Decodes, and says what it is as JSON; prints too, only to see that it goes well.
static bool take(const struct round *round, const uint8_t *data, size_t size, bool big, struct side *side)
{
	struct pd_cursor c = pd_cursor(data, size, big);
	struct pd_printer printer = { .arch = PD_ARCH_X86 };

	*side = (struct side){ .arena.limit = 64 << 20 };
	memcpy(side->scope.words, round->words, sizeof(side->scope.words));
	side->scope.arena = &side->arena;
	if (round->group) {
		side->decoded =
			pd_record_take(round->layout, round->group, (struct pd_bytes){ data, size }, &side->scope, &c);
	} else {
		void *out = pd_arena_alloc(&side->arena, round->layout->struct_size);

		REQUIRE(out);
		round->layout->decode(&c, &side->scope, out);
		side->decoded = c.failed ? NULL : out;
	}
	if (!side->decoded) {
		REQUIRE(c.failed && c.reason && c.failed_at >= data && c.failed_at <= data + size);
		REQUIRE(c.status == PD_ERROR_FORMAT);
		pd_arena_fini(&side->arena);
		return false;
	}
	REQUIRE(!c.failed && c.at == c.end);
	printer.scope = side->scope;
	printer.text = side->text = pd_text_new();
	pd_print_struct(&printer, round->layout, side->decoded, 0);
	pd_text_clear(side->text);
	memcpy(printer.scope.words, side->scope.words, sizeof(side->scope.words));
	pd_json_struct(&printer, round->layout, side->decoded);
	REQUIRE(!pd_text_failed(side->text));
	return true;
}

static void drop(struct side *side)
{
	pd_text_free(side->text);
	pd_arena_fini(&side->arena);
}

static void encode(const struct round *round, const struct side *side, struct pd_buffer *buffer)
{
	struct pd_scope scope = { .arena = NULL };

	memcpy(scope.words, round->words, sizeof(scope.words));
	scope.words[PD_WORD_TRAILER] = side->scope.words[PD_WORD_TRAILER];
	if (round->group)
		pd_record_put(buffer, &round->head, round->layout, round->group, &scope, side->decoded);
	else
		round->layout->encode(buffer, &scope, side->decoded);
	if (buffer->failed)
		fprintf(stderr, "%s: %s.%s: %s\n", round->layout->name, buffer->layout ? buffer->layout : "",
			buffer->field ? buffer->field : "", buffer->reason);
	REQUIRE(!buffer->failed);
}

static void other_order(const struct round *round, const struct side *side, size_t size)
{
	uint8_t *bytes = malloc(size ? size : 1);
	struct pd_buffer buffer = pd_buffer(bytes, size, !round->big);
	struct pd_bytes one = pd_text_bytes(side->text), two;
	struct side other;

	encode(round, side, &buffer);
	REQUIRE(buffer.need == size);
	REQUIRE(take(round, bytes, size, !round->big, &other));
	two = pd_text_bytes(other.text);
	if (one.size != two.size || memcmp(one.data, two.data, one.size) != 0)
		fprintf(stderr, "%.*s\n%.*s\n", (int)one.size, one.data, (int)two.size, two.data);
	REQUIRE(one.size == two.size && memcmp(one.data, two.data, one.size) == 0);
	drop(&other);
	free(bytes);
}

// As text, and from there the same bytes.
static void through_text(const struct round *round, const struct side *side, const uint8_t *data, size_t size,
			 bool block)
{
	size_t head = round->group ? PD_RECORD_HEADER_SIZE : 0;
	struct pd_emitter emitter = { .text = pd_text_new(), .arch = PD_ARCH_X86, .big = round->big };
	struct pd_arena arena = { .limit = 64 << 20 };
	uint8_t *bytes = malloc(size ? size : 1);
	struct pd_buffer buffer = pd_buffer(bytes, size, round->big);
	struct side parsed = *side;
	struct pd_parser p;
	void *out;

	memcpy(emitter.scope.words, round->words, sizeof(round->words));
	// samples have no trailer, other records may lack it
	emitter.scope.words[PD_WORD_TRAILER] = round->group == PD_GROUP_SAMPLE ? 0 : side->scope.words[PD_WORD_TRAILER];
	emitter.scope.arena = &arena;
	emitter.body = (struct pd_bytes){ data + head, size - head };
	p = pd_parser(NULL, 0, &arena);
	memcpy(p.scope.words, emitter.scope.words, sizeof(p.scope.words));
	(block ? pd_emit_block : pd_emit_struct)(&emitter, round->layout, side->decoded);
	REQUIRE(!emitter.text->failed);
	p.start = p.at = emitter.text->data;
	p.end = emitter.text->size ? p.at + emitter.text->size : p.at;
	p.arch = PD_ARCH_X86;
	p.big = round->big;
	out = pd_arena_alloc(&arena, round->layout->struct_size);
	REQUIRE(out);
	if (emitter.text->size)
		pd_parse_struct(&p, round->layout, out);
	if (p.failed_at)
		fprintf(stderr, "%.*s\n%s.%s: %s, at byte %zu\n", (int)emitter.text->size, emitter.text->data,
			p.layout ? p.layout : "", p.field ? p.field : "", p.reason, (size_t)(p.failed_at - p.start));
	REQUIRE(!p.failed_at && !pd_parse_more(&p));
	parsed.decoded = out;
	encode(round, &parsed, &buffer);
	if (buffer.need != size || memcmp(bytes, data, size) != 0)
		fprintf(stderr, "%s: %.*s\n", round->layout->name, (int)emitter.text->size, emitter.text->data);
	REQUIRE(buffer.need == size && memcmp(bytes, data, size) == 0);
	free(bytes);
	pd_text_free(emitter.text);
	pd_arena_fini(&arena);
}

bool round_trip(const struct round *round, const uint8_t *data, size_t size)
{
	struct side side;
	struct pd_buffer buffer, count;
	uint8_t *bytes;

	if (!take(round, data, size, round->big, &side))
		return false;
	// without room the buffer says how much it needs
	count = pd_buffer(NULL, 0, round->big);
	encode(round, &side, &count);
	REQUIRE(count.need == size);
	bytes = malloc(size ? size : 1);
	buffer = pd_buffer(bytes, size, round->big);
	encode(round, &side, &buffer);
	REQUIRE(buffer.need == size && !pd_buffer_full(&buffer));
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] != data[i])
			fprintf(stderr, "%s: byte %zu of %zu: %02x, was %02x\n", round->layout->name, i, size, bytes[i],
				data[i]);
		REQUIRE(bytes[i] == data[i]);
	}
	free(bytes);
	other_order(round, &side, size);
	through_text(round, &side, data, size, false);
	through_text(round, &side, data, size, true);
	drop(&side);
	return true;
}
