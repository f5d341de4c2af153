/* SPDX-License-Identifier: MIT */
#include "round.h"

#include <string.h>

#include "format/print.h"
#include "walk.h"

struct side {
	struct pd_arena arena;
	struct pd_scope scope;
	struct pd_text *text;
	const void *decoded;
};

// Decodes, and says what it is as JSON; prints too, only to see that it goes well.
static bool take(const struct round *round, const uint8_t *data, size_t size, bool big,
		 struct side *side)
{
	struct pd_cursor c = pd_cursor(data, size, big);
	struct pd_printer printer = { .arch = PD_ARCH_X86 };

	*side = (struct side){ .arena.limit = 64 << 20 };
	memcpy(side->scope.words, round->words, sizeof(side->scope.words));
	side->scope.arena = &side->arena;
	if (round->group) {
		side->decoded = pd_record_take(round->layout, round->group,
					       (struct pd_bytes){ data, size }, &side->scope, &c);
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

static void encode(const struct round *round, const struct side *side, struct pd_pen *pen)
{
	struct pd_scope scope = { .arena = NULL };

	memcpy(scope.words, round->words, sizeof(scope.words));
	scope.words[PD_WORD_TRAILER] = side->scope.words[PD_WORD_TRAILER];
	if (round->group)
		pd_record_put(pen, &round->head, round->layout, round->group, &scope,
			      side->decoded);
	else
		round->layout->encode(pen, &scope, side->decoded);
	if (pen->failed)
		fprintf(stderr, "%s: %s.%s: %s\n", round->layout->name,
			pen->layout ? pen->layout : "", pen->field ? pen->field : "", pen->reason);
	REQUIRE(!pen->failed);
}

static void other_order(const struct round *round, const struct side *side, size_t size)
{
	uint8_t *bytes = malloc(size ? size : 1);
	struct pd_pen pen = pd_pen(bytes, size, !round->big);
	struct pd_bytes one = pd_text_bytes(side->text), two;
	struct side other;

	encode(round, side, &pen);
	REQUIRE(pen.need == size);
	REQUIRE(take(round, bytes, size, !round->big, &other));
	two = pd_text_bytes(other.text);
	if (one.size != two.size || memcmp(one.data, two.data, one.size) != 0)
		fprintf(stderr, "%.*s\n%.*s\n", (int)one.size, one.data, (int)two.size, two.data);
	REQUIRE(one.size == two.size && memcmp(one.data, two.data, one.size) == 0);
	drop(&other);
	free(bytes);
}

bool round_trip(const struct round *round, const uint8_t *data, size_t size)
{
	struct side side;
	struct pd_pen pen, count;
	uint8_t *bytes;

	if (!take(round, data, size, round->big, &side))
		return false;
	// without room the pen says how much it needs
	count = pd_pen(NULL, 0, round->big);
	encode(round, &side, &count);
	REQUIRE(count.need == size);
	bytes = malloc(size ? size : 1);
	pen = pd_pen(bytes, size, round->big);
	encode(round, &side, &pen);
	REQUIRE(pen.need == size && !pd_pen_full(&pen));
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] != data[i])
			fprintf(stderr, "%s: byte %zu of %zu: %02x, was %02x\n",
				round->layout->name, i, size, bytes[i], data[i]);
		REQUIRE(bytes[i] == data[i]);
	}
	free(bytes);
	other_order(round, &side, size);
	drop(&side);
	return true;
}
