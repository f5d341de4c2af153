/* SPDX-License-Identifier: MIT */
/*
 * A packer for what comes from the kernel in bulk: frames that any reader of zstd inflates (RFC 8878), made in a third
 * to a half of the time that the fastest useful level of libzstd takes.
 *
 * It knows what records look like: they begin at multiples of 8, are made of words of 8 bytes, and much of each is the
 * same as in an earlier one, at a distance that stays the same for long. So it follows a distance as long as no two words
 * in a row differ at it, and looks for equal words only then. What lies between two matches is written as it is, and
 * sequences are coded by the tables that the format predefines, so that nothing is counted and no table is made.
 *
 * A branch that is guessed wrong costs as much as 30 bytes: what differs is found 64 bytes at a time, as bits.
 */
#include "write/inside.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static const uint32_t frame_magic = 0xfd2fb528;

enum {
	WORD = 8,
	BLOCK = PD_PACK_BLOCK,
	PLACE_BITS = 11, // small enough for the nearest cache
	CHUNK = 64,      // bytes that are compared at once
	AHEAD = 8192,    // bytes: pages of a ring lie anywhere, so that no core guesses what comes next
	REFRESH = 128,   // bytes of a match between two places that are noted
	SHORT = 16,      // literals that are copied at once
	LEAST_MATCH = 3, // of the format
	STATES = 64,
	LITERAL_CODES = 36,
	MATCH_CODES = 53,
	OFFSET_CODES = 29,
	FRAME_HEADER = 9,
	BLOCK_HEADER = 3,
	LITERALS_HEADER = 3,
	SLACK = 64 // words are written whole after the last byte
};

// Places are numbers of words in a piece.
_Static_assert(PD_PACK_PIECE / WORD <= UINT16_MAX + 1, "a place has 16 bits");

// ---- the predefined tables ----

// How often a code is expected, of 64, 64 and 32; -1 is less than once.
static const int8_t literal_shares[LITERAL_CODES] = { 4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
						      2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1 };
static const int8_t match_shares[MATCH_CODES] = { 1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1,  1,  1,  1,  1,  1,  1, 1,
						  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
						  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1 };
static const int8_t offset_shares[OFFSET_CODES] = { 1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
						    1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1 };

// Bits after a code. Each first value is a multiple of what they hold, so that they are the low bits of the value.
static const uint8_t literal_bits[LITERAL_CODES] = { [16] = 1, 1, 1, 1,  2,  2,  3,  3,  4,  6,
						     7,        8, 9, 10, 11, 12, 13, 14, 15, 16 };
static const uint8_t match_bits[MATCH_CODES] = { [32] = 1, 1, 1, 1,  2,  2,  3,  3,  4,  4, 5,
						 7,        8, 9, 10, 11, 12, 13, 14, 15, 16 };

enum {
	SMALL_LITERALS = 256, // lengths with a code in a table; those above have one for each power of 2
	SMALL_MATCHES = 1024,
	LARGE_LITERALS = 19, // code of a power of 2
	LARGE_MATCHES = 36
};

// From the state after a code to the one before it: bits are written then.
struct step {
	uint8_t before, count;
	uint16_t bits;
};

// One of the three coders. Its state is the one that the reader will be in after the code.
struct coder {
	uint8_t bits;               // of a state
	uint8_t first[MATCH_CODES]; // a state that a code can begin with
	struct step steps[MATCH_CODES][STATES];
};

// How a length is written: bits stand after the code.
struct length {
	uint8_t code, count;
	uint16_t bits;
};

// Which code stands at each state: rare ones at the end, the others strewn.
static void strew(uint8_t *code_of, const int8_t *shares, unsigned codes, unsigned states)
{
	unsigned last = states - 1, at = 0, step = states / 2 + states / 8 + 3;

	for (unsigned code = 0; code < codes; code++)
		if (shares[code] < 0)
			code_of[last--] = (uint8_t)code;
	for (unsigned code = 0; code < codes; code++)
		for (int i = 0; i < shares[code]; i++) {
			code_of[at] = (uint8_t)code;
			do
				at = (at + step) % states;
			while (at > last);
		}
}

static unsigned log_of(uint32_t value)
{
	return 31 - (unsigned)__builtin_clz(value);
}

static void init_coder(struct coder *coder, const int8_t *shares, unsigned codes, unsigned bits)
{
	uint8_t code_of[STATES], nth[MATCH_CODES];
	unsigned states = 1u << bits;

	coder->bits = (uint8_t)bits;
	strew(code_of, shares, codes, states);
	for (unsigned code = 0; code < codes; code++)
		nth[code] = (uint8_t)(shares[code] < 0 ? 1 : shares[code]);
	for (unsigned state = 0; state < states; state++) {
		unsigned code = code_of[state], n = nth[code]++;
		unsigned low = bits - log_of(n);
		unsigned base = (n << low) - states;

		coder->first[code] = (uint8_t)state;
		for (unsigned i = 0; i < 1u << low; i++)
			coder->steps[code][base + i] =
				(struct step){ .before = (uint8_t)state,
					       .count = (uint8_t)low,
					       .bits = (uint16_t)((base + i) & ((1u << low) - 1)) };
	}
}

// ---- state ----

// Literals, and a match after them.
struct sequence {
	uint32_t literals, match, offset; // in bytes; offset as the format numbers it
};

struct quick {
	struct coder literals, matches, offsets;
	struct length literal_lengths[SMALL_LITERALS], match_lengths[SMALL_MATCHES];
	// of a piece
	const uint8_t *data;
	size_t size;
	uint32_t recent[3]; // offsets, which have short numbers
	size_t distance;    // in words, of the latest match; 0: none
	uint16_t places[1 << PLACE_BITS];
	// of a block
	size_t anchor; // where literals begin that are in no sequence yet
	size_t sequence_count;
	uint8_t *text; // where the next literals go, in the output
	struct sequence sequences[BLOCK / WORD + 1];
	uint32_t edges[BLOCK + CHUNK];
};

static void init_lengths(struct length *lengths, size_t count, const uint8_t *bits)
{
	size_t value = 0;

	for (uint8_t code = 0; value < count; code++)
		for (size_t i = 0; i < (size_t)1 << bits[code]; i++)
			lengths[value++] = (struct length){ .code = code, .count = bits[code], .bits = (uint16_t)i };
}

static void *open_quick(int level)
{
	struct quick *quick = pd_alloc(sizeof(*quick));

	(void)level; // there is one
	if (!quick)
		return NULL;
	init_coder(&quick->literals, literal_shares, LITERAL_CODES, 6);
	init_coder(&quick->matches, match_shares, MATCH_CODES, 6);
	init_coder(&quick->offsets, offset_shares, OFFSET_CODES, 5);
	init_lengths(quick->literal_lengths, SMALL_LITERALS, literal_bits);
	init_lengths(quick->match_lengths, SMALL_MATCHES, match_bits);
	return quick;
}

static void close_quick(void *self)
{
	pd_free(self);
}

// ---- matches ----

// Little-endian on each machine, so that the lowest bits are those of the first byte.
PD_ALWAYS_INLINE uint64_t word_at(const struct quick *quick, size_t word)
{
	return pd_load_u64(quick->data + word * WORD, PD_HOST_BIG);
}

// By two words: one alone is that of too many places.
PD_ALWAYS_INLINE uint16_t *place_of(struct quick *quick, size_t word)
{
	uint64_t hash = word_at(quick, word) * UINT64_C(0x9e3779b97f4a7c15) ^
			word_at(quick, word + 1) * UINT64_C(0xc2b2ae3d27d4eb4f);

	return &quick->places[hash >> (64 - PLACE_BITS)];
}

PD_ALWAYS_INLINE bool equal(const struct quick *quick, size_t one, size_t other)
{
	return word_at(quick, one) == word_at(quick, other);
}

// How far back the words at a place stand again; 0: not known. Two words are readable.
PD_ALWAYS_INLINE size_t find_distance(struct quick *quick, size_t word)
{
	size_t distance = quick->distance, candidate;
	uint16_t *place;

	if (distance && equal(quick, word, word - distance))
		return distance;
	place = place_of(quick, word);
	candidate = *place;
	*place = (uint16_t)word;
	// after a match, a record that differs in one word is worth more than another one
	if (distance && word == quick->anchor / WORD && equal(quick, word + 1, word + 1 - distance))
		return 0;
	if (candidate < word && equal(quick, word, candidate) && equal(quick, word + 1, candidate + 1))
		return word - candidate;
	return 0;
}

// The number of an offset: recent ones have 1 to 3, which mean others where no literals stand before the match.
static uint32_t number_of(uint32_t *recent, uint32_t offset, bool literals)
{
	uint32_t first = recent[0], second = recent[1], third = recent[2];

	if (offset == first && literals)
		return 1;
	recent[0] = offset;
	recent[1] = first;
	if (offset == second)
		return literals ? 2 : 1;
	recent[2] = second;
	if (offset == third)
		return literals ? 3 : 2;
	return offset + 3;
}

// Where a match begins: as many bytes before the word as are equal, too.
static size_t begin_of(const struct quick *quick, size_t word, size_t distance)
{
	size_t begin = word * WORD;
	uint64_t differing = 0;

	if (begin <= quick->anchor)
		return quick->anchor;
	while (begin > quick->anchor && word > distance) {
		differing = word_at(quick, word - 1) ^ word_at(quick, word - 1 - distance);
		if (differing)
			break;
		begin -= WORD;
		word--;
	}
	if (differing)
		begin -= (size_t)__builtin_clzll(differing) / 8;
	return begin > quick->anchor ? begin : quick->anchor;
}

// Which bytes of a chunk are equal, the first in the lowest bit.
PD_ALWAYS_INLINE uint64_t equal_bytes(const uint8_t *one, const uint8_t *other)
{
	uint64_t equal = 0;

#ifdef __SSE2__
	for (unsigned i = 0; i < CHUNK; i += 16) {
		__m128i a = _mm_loadu_si128((const __m128i *)(one + i)),
			b = _mm_loadu_si128((const __m128i *)(other + i));

		equal |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) << i;
	}
#else
	for (unsigned i = 0; i < CHUNK; i += WORD) {
		const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
		uint64_t differing = pd_load_u64(one + i, PD_HOST_BIG) ^ pd_load_u64(other + i, PD_HOST_BIG);
		uint64_t high = ~(((differing & low) + low) | differing | low); // a bit for each byte that is 0

		equal |= (high >> 7) * UINT64_C(0x0102040810204080) >> 56 << i;
	}
#endif
	return equal;
}

// Of less than a chunk, after which nothing may be read.
static uint64_t equal_at_end(const uint8_t *one, const uint8_t *other, size_t size)
{
	uint8_t a[CHUNK] = { 0 }, b[CHUNK] = { 0 };

	memcpy(a, one, size);
	memcpy(b, other, size);
	return equal_bytes(a, b) & ((UINT64_C(1) << size) - 1);
}

// Where two words in a row differ.
PD_ALWAYS_INLINE uint64_t gaps_of(uint64_t equal)
{
	const uint64_t each = UINT64_C(0x0101010101010101);
	uint64_t words = equal & equal >> 1;

	words &= words >> 2;
	words &= words >> 4;
	words = ~words & each;
	return words & words >> 8;
}

// The bits below the first byte that differs in a gap or right before it.
static uint64_t before_gap(uint64_t equal, uint64_t gaps)
{
	uint64_t reached = equal | ((gaps & -gaps) - 1);

	return reached & ~(reached + 1);
}

PD_ALWAYS_INLINE uint32_t *add_edges(uint32_t *edge, size_t at, uint64_t edges)
{
	for (; edges; edges &= edges - 1)
		*edge++ = (uint32_t)(at + (size_t)__builtin_ctzll(edges));
	return edge;
}

PD_ALWAYS_INLINE void copy_literals(const struct quick *quick, uint8_t *text, size_t from, size_t size)
{
	if (PD_LIKELY(size <= SHORT && from + SHORT <= quick->size))
		memcpy(text, quick->data + from, SHORT);
	else
		memcpy(text, quick->data + from, size);
}

// Makes sequences of runs of equal bytes, each from one edge to the next; those of less than a word are not worth it.
static void take_runs(struct quick *quick, size_t distance, const uint32_t *edges, size_t count)
{
	struct sequence *sequence = quick->sequences + quick->sequence_count;
	uint32_t anchor = (uint32_t)quick->anchor;
	uint32_t offset = number_of(quick->recent, (uint32_t)(distance * WORD), edges[0] > anchor);
	uint8_t *text = quick->text;

	for (size_t i = 0; i < count; i += 2) {
		uint32_t literals = edges[i] - anchor, match = edges[i + 1] - edges[i];
		bool taken = match >= WORD;

		sequence->literals = literals;
		sequence->match = match;
		sequence->offset = offset;
		copy_literals(quick, text, anchor, literals);
		sequence += taken;
		text += taken ? literals : 0;
		anchor = taken ? edges[i + 1] : anchor;
		offset = 1; // literals stand between
	}
	quick->anchor = anchor;
	quick->sequence_count = (size_t)(sequence - quick->sequences);
	quick->text = text;
}

// Follows a distance from a word that is equal at it, until two words in a row differ; returns the first of them. Where
// the next chunk begins is known before this one was compared, but for the last one, so that a core can work at several.
static size_t follow(struct quick *quick, size_t word, size_t distance, size_t end)
{
	const uint8_t *data = quick->data;
	size_t at = (word + 1) * WORD, back = distance * WORD;
	uint32_t *edge = quick->edges;
	uint64_t inside = 1, gaps = 0;

	quick->distance = distance;
	*edge++ = (uint32_t)begin_of(quick, word, distance);
	for (; at < end; at += CHUNK) {
		size_t left = end - at;
		uint64_t equal;

		if (PD_LIKELY(left >= CHUNK)) {
			__builtin_prefetch(data + at + AHEAD);
			equal = equal_bytes(data + at, data + at - back);
			if (at % REFRESH < CHUNK)
				*place_of(quick, at / WORD) = (uint16_t)(at / WORD);
			if (equal == UINT64_MAX && inside)
				continue;
		} else {
			equal = equal_at_end(data + at, data + at - back, left);
		}
		gaps = gaps_of(equal);
		if (gaps)
			equal = equal & before_gap(equal, gaps);
		edge = add_edges(edge, at, equal ^ (equal << 1 | inside));
		inside = equal >> 63;
		if (gaps)
			break;
	}
	if (gaps)
		at += (size_t)__builtin_ctzll(gaps);
	if (at > end)
		at = end;
	if (inside)
		*edge++ = (uint32_t)at;
	take_runs(quick, distance, quick->edges, (size_t)(edge - quick->edges));
	return at / WORD;
}

// Literals go to the text, which has room for as many bytes as there are, and for SHORT more.
static void find_sequences(struct quick *quick, size_t begin, size_t end, uint8_t *text)
{
	size_t last = end / WORD;

	quick->anchor = begin;
	quick->sequence_count = 0;
	quick->text = text;
	for (size_t word = begin / WORD; word + 1 < last;) {
		size_t distance = find_distance(quick, word);

		word = distance ? follow(quick, word, distance, end) : word + 1;
	}
	copy_literals(quick, quick->text, quick->anchor, end - quick->anchor);
	quick->text += end - quick->anchor;
}

// ---- bits ----

// Readers begin at the end: what is read first is written last.
struct bits {
	uint8_t *to;
	uint64_t word;
	unsigned count;
};

// Without others above them.
PD_ALWAYS_INLINE void add_bits(struct bits *bits, uint64_t value, unsigned count)
{
	bits->word |= value << bits->count;
	bits->count += count;
}

PD_ALWAYS_INLINE void flush_bits(struct bits *bits)
{
	uint64_t word = PD_HOST_BIG ? __builtin_bswap64(bits->word) : bits->word;

	memcpy(bits->to, &word, sizeof(word));
	bits->to += bits->count / 8;
	bits->word >>= bits->count & ~7u;
	bits->count &= 7;
}

// The step into a state; the next one begins there.
PD_ALWAYS_INLINE void add_code(struct bits *bits, const struct coder *coder, unsigned code, struct step *step)
{
	*step = coder->steps[code][step->before];
	add_bits(bits, step->bits, step->count);
}

static struct length large_length(uint32_t value, unsigned code)
{
	unsigned log = log_of(value);

	return (struct length){ .code = (uint8_t)(log + code),
				.count = (uint8_t)log,
				.bits = (uint16_t)(value - (1u << log)) };
}

PD_ALWAYS_INLINE struct length literals_of(const struct quick *quick, uint32_t value)
{
	return PD_LIKELY(value < SMALL_LITERALS) ? quick->literal_lengths[value] : large_length(value, LARGE_LITERALS);
}

PD_ALWAYS_INLINE struct length match_of(const struct quick *quick, uint32_t value)
{
	return PD_LIKELY(value < SMALL_MATCHES) ? quick->match_lengths[value] : large_length(value, LARGE_MATCHES);
}

PD_ALWAYS_INLINE unsigned offset_code_of(uint32_t offset)
{
	return PD_LIKELY(offset == 1) ? 0 : log_of(offset);
}

PD_ALWAYS_INLINE void add_lengths(struct bits *bits, struct length literals, struct length match)
{
	add_bits(bits, literals.bits, literals.count);
	add_bits(bits, match.bits, match.count);
	flush_bits(bits);
}

PD_ALWAYS_INLINE void add_offset(struct bits *bits, uint32_t offset, unsigned code)
{
	if (PD_LIKELY(!code))
		return;
	add_bits(bits, offset - (1u << code), code);
	flush_bits(bits);
}

// The last sequence has no state after it.
static uint8_t *put_sequences(const struct quick *quick, uint8_t *to)
{
	const struct sequence *one = &quick->sequences[quick->sequence_count - 1];
	struct length literals = literals_of(quick, one->literals), match = match_of(quick, one->match - LEAST_MATCH);
	unsigned offset_code = offset_code_of(one->offset);
	struct step literal_step = { .before = quick->literals.first[literals.code] };
	struct step match_step = { .before = quick->matches.first[match.code] };
	struct step offset_step = { .before = quick->offsets.first[offset_code] };
	struct bits bits = { .to = to };

	add_lengths(&bits, literals, match);
	add_offset(&bits, one->offset, offset_code);
	while (one > quick->sequences) {
		one--;
		literals = literals_of(quick, one->literals);
		match = match_of(quick, one->match - LEAST_MATCH);
		offset_code = offset_code_of(one->offset);
		// 7 + 17 + 32 bits are the most until they are flushed
		add_code(&bits, &quick->offsets, offset_code, &offset_step);
		add_code(&bits, &quick->matches, match.code, &match_step);
		add_code(&bits, &quick->literals, literals.code, &literal_step);
		add_lengths(&bits, literals, match);
		add_offset(&bits, one->offset, offset_code);
	}
	// 7 + 17 and the mark of the end
	add_bits(&bits, match_step.before, quick->matches.bits);
	add_bits(&bits, offset_step.before, quick->offsets.bits);
	add_bits(&bits, literal_step.before, quick->literals.bits);
	add_bits(&bits, 1, 1);
	bits.count += 7; // to the end of the byte
	flush_bits(&bits);
	return bits.to;
}

// ---- blocks and frames ----

static uint8_t *put_number(uint8_t *to, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		*to++ = (uint8_t)(value >> 8 * i);
	return to;
}

static uint8_t *put_count(uint8_t *to, size_t count)
{
	if (count < 128)
		return put_number(to, count, 1);
	if (count < 0x7f00)
		return put_number(to, count >> 8 | 0x80 | (count & 0xff) << 8, 2);
	return put_number(to, 0xff | (count - 0x7f00) << 8, 3);
}

// Literals as they are, with a size of three bytes, and sequences.
static uint8_t *put_body(struct quick *quick, size_t begin, size_t end, uint8_t *to)
{
	uint8_t *text = to + LITERALS_HEADER;

	find_sequences(quick, begin, end, text);
	put_number(to, (uint64_t)(quick->text - text) << 4 | 3 << 2, LITERALS_HEADER);
	to = put_count(quick->text, quick->sequence_count);
	if (!quick->sequence_count)
		return to;
	// all three tables are the predefined ones
	return put_sequences(quick, put_number(to, 0, 1));
}

_Static_assert(BLOCK % CHUNK == 0, "chunks lie in one block");

enum {
	BLOCK_RAW = 0,
	BLOCK_COMPRESSED = 2
};

static uint8_t *put_block(struct quick *quick, size_t begin, size_t size, uint8_t *to)
{
	uint32_t recent[3];
	uint8_t *body = to + BLOCK_HEADER, *end;
	unsigned last = begin + size == quick->size, type = BLOCK_COMPRESSED;
	size_t packed;

	memcpy(recent, quick->recent, sizeof(recent));
	end = put_body(quick, begin, begin + size, body);
	packed = (size_t)(end - body);
	if (packed >= size) {
		// such a block leaves the offsets of readers as they were
		memcpy(quick->recent, recent, sizeof(recent));
		memcpy(body, quick->data + begin, size);
		type = BLOCK_RAW;
		packed = size;
	}
	put_number(to, last | type << 1 | (uint64_t)packed << 3, BLOCK_HEADER);
	return body + packed;
}

static size_t bound(size_t size)
{
	return FRAME_HEADER + size + (size / BLOCK + 1) * BLOCK_HEADER + SLACK;
}

// A frame of one segment, whose size it says; at most PD_PACK_PIECE bytes.
static size_t put_frame(void *self, const void *data, size_t size, void *packed, size_t capacity,
			const char **reason_out)
{
	struct quick *quick = self;
	uint8_t *to = packed;
	size_t at = 0;

	if (size > PD_PACK_PIECE || capacity < bound(size)) {
		*reason_out = "no room";
		return 0;
	}
	quick->data = data;
	quick->size = size;
	quick->distance = 0;
	memcpy(quick->recent, (const uint32_t[3]){ 1, 4, 8 }, sizeof(quick->recent));
	memset(quick->places, 0, sizeof(quick->places));
	to = put_number(to, frame_magic, 4);
	to = put_number(to, 0xa0, 1);
	to = put_number(to, size, 4);
	do {
		size_t next = size - at < BLOCK ? size : at + BLOCK;

		to = put_block(quick, at, next - at, to);
		at = next;
	} while (at < size);
	return (size_t)(to - (uint8_t *)packed);
}

const struct pd_packer pd_packer_quick = {
	.start = open_quick,
	.bound = bound,
	.pack = put_frame,
	.finish = put_frame,
	.close = close_quick,
};
