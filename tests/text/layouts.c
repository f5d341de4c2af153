/* SPDX-License-Identifier: MIT */
/*
 * Every record, feature and piece of the tables, filled at random, in both byte orders: as text on one line and in a block,
 * and from there the same bytes. A new line in the tables is tested without a word here.
 *
 * usage: layouts [ROUNDS [SEED]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/text/print.h"
#include "fuzz/round.h"
#include "table/fill.h"

enum {
	ROOM = 1 << 20,
	MOST_REFUSED = 100 // in a thousand: what is longer than a record can be
};

struct counts {
	uint64_t made, refused;
};

static uint8_t bytes[ROOM];

// Fills one, encodes it, and sends the bytes around.
static void try_one(struct filler *filler, const struct pd_layout *layout, uint32_t type, bool big,
		    struct counts *counts)
{
	struct round round = { .layout = layout, .big = big, .group = type ? pd_record_group(type) : PD_GROUP_UNKNOWN };
	struct pd_buffer buffer = pd_buffer(bytes, sizeof(bytes), big);
	struct pd_scope scope;
	void *it;

	fill_reset(filler);
	fill_scope(filler);
	filler->scope.words[PD_WORD_TRAILER] =
		round.group == PD_GROUP_KERNEL ? filler->scope.words[PD_WORD_SAMPLE_TYPE] & PD_TRAILER_BITS : 0;
	scope = filler->scope;
	memcpy(round.words, scope.words, sizeof(round.words));
	it = fill_layout(filler, layout);
	if (scope.words[PD_WORD_TRAILER]) {
		filler->scope = scope;
		((struct pd_body_head *)it)->sample_id = fill_layout(filler, &pd_layouts[PD_LAYOUT_sample_id]);
	}
	round.head = (struct pd_record_head){ .type = type, .misc = (uint16_t)scope.words[PD_WORD_MISC] };
	if (round.group == PD_GROUP_SIMPLEPERF)
		round.head.misc = 0;
	if (type)
		pd_record_put(&buffer, &round.head, layout, round.group, &scope, it);
	else
		layout->encode(&buffer, &scope, it);
	counts->made++;
	counts->refused += buffer.failed || pd_buffer_full(&buffer) || !round_trip(&round, bytes, buffer.need);
}

int main(int argc, char **argv)
{
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct filler filler = { .random.state = seed };
	struct counts counts = { 0 };
	uint32_t type;

	for (uint64_t i = 0; i < rounds; i++) {
		for (size_t j = 0; pd_layout_at(j); j++)
			try_one(&filler, pd_layout_at(j), 0, i & 1, &counts);
		for (size_t j = 0; pd_record_type_at(j, &type); j++)
			try_one(&filler, pd_record_layout(type), type, i & 1, &counts);
	}
	printf("%" PRIu64 " structs as text, %" PRIu64 " refused\n", counts.made, counts.refused);
	fill_reset(&filler);
	pd_arena_fini(&filler.arena);
	return !counts.made || counts.refused > counts.made * MOST_REFUSED / 1000;
}
