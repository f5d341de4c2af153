/* SPDX-License-Identifier: MIT */
/*
 * A packer for what comes from the kernel in bulk: frames that any reader of zstd inflates (RFC 8878), made in a third
 * to a half of the time that the fastest useful level of libzstd takes.
 *
 * It knows what records look like: they begin at multiples of 8, are made of words of 8 bytes, and much of each is the
 * same as in an earlier one, at a distance that stays the same for long. So it looks for equal words only, at each word
 * first at the distance of before. What lies between two matches is written as it is, and sequences are coded by the
 * tables that the format predefines, so that nothing is counted and no table is made.
 */
#include "write/write.h"

static const uint32_t frame_magic = 0xfd2fb528;

enum {
	WORD = 8,
	BLOCK = 128 << 10,  // most bytes of a block of zstd
	PLACE_BITS = 11,    // small enough for the nearest cache
	REFRESH = 16,       // words of a match between two that are noted
	SHORT = 16,         // literals that are copied at once
	LEAST_MATCH = 3,    // of the format
	STATES = 64,
	LITERAL_CODES = 36,
	MATCH_CODES = 53,
	OFFSET_CODES = 29,
	FRAME_HEADER = 9,
	BLOCK_HEADER = 3,
	SLACK = 64          // words are written whole behind the last byte
};

// Places are numbers of words in a piece.
_Static_assert(PD_PACK_PIECE / WORD <= UINT16_MAX + 1, "a place has 16 bits");

// ---- the predefined tables ----

// How often a code is expected, of 64, 64 and 32; -1 is less than once.
static const int8_t literal_shares[LITERAL_CODES] = {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2,  2,
						     2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
static const int8_t match_shares[MATCH_CODES] = {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1,
						 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
						 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};
static const int8_t offset_shares[OFFSET_CODES] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1,
						   1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};

// Bits behind a code. Each first value is a multiple of what they hold, so that they are the low bits of the value.
static const uint8_t literal_bits[LITERAL_CODES] = {[16] = 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static const uint8_t match_bits[MATCH_CODES] = {[32] = 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

enum {
	SMALL_LITERALS = 64, // lengths with a code in a table; those above have one for each power of 2
	SMALL_MATCHES = 128,
	LARGE_LITERALS = 19, // code of a power of 2
	LARGE_MATCHES = 36
};

// One of the three coders. Its state is the one that the reader will be in behind the code.
struct coder {
	uint8_t bits;              // of a state
	uint8_t first[MATCH_CODES]; // a state that a code can begin with
	// by code and state: the state before in the low byte, above it how many low bits of the state are written
	uint16_t before[MATCH_CODES][STATES];
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
			coder->before[code][base + i] = (uint16_t)(state | low << 8);
	}
}

// ---- state ----

// Literals, and a match behind them.
struct sequence {
	uint32_t literals, match, offset; // in bytes; offset as the format numbers it
};

struct quick {
	struct coder literals, matches, offsets;
	uint8_t literal_code[SMALL_LITERALS], match_code[SMALL_MATCHES];
	// of a piece
	const uint8_t *data;
	size_t size;
	uint32_t recent[3]; // offsets, which have short numbers
	size_t distance;    // in words, of the latest match; 0: none
	uint16_t places[1 << PLACE_BITS];
	// of a block
	size_t anchor; // where literals begin that are in no sequence yet
	size_t sequence_count, literal_count;
	struct sequence sequences[BLOCK / WORD];
	uint8_t text[BLOCK + SHORT];
};

static void init_codes(uint8_t *codes, size_t count, const uint8_t *bits)
{
	size_t value = 0;

	for (uint8_t code = 0; value < count; code++)
		for (size_t i = 0; i < (size_t)1 << bits[code]; i++)
			codes[value++] = code;
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
	init_codes(quick->literal_code, SMALL_LITERALS, literal_bits);
	init_codes(quick->match_code, SMALL_MATCHES, match_bits);
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
PD_ALWAYS_INLINE size_t look_back(struct quick *quick, size_t word)
{
	size_t distance = quick->distance, candidate;
	uint16_t *place;

	if (distance && equal(quick, word, word - distance))
		return distance;
	place = place_of(quick, word);
	candidate = *place;
	*place = (uint16_t)word;
	// behind a match, a record that differs in one word is worth more than another one
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

static void add_literals(struct quick *quick, size_t size)
{
	uint8_t *to = quick->text + quick->literal_count;
	const uint8_t *from = quick->data + quick->anchor;

	if (size <= SHORT && quick->anchor + SHORT <= quick->size)
		memcpy(to, from, SHORT);
	else
		memcpy(to, from, size);
	quick->literal_count += size;
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

// Takes the match at a word; returns the word that it ends in.
static size_t take_match(struct quick *quick, size_t word, size_t distance, size_t last)
{
	size_t end = word + 1, begin = begin_of(quick, word, distance), end_byte;
	uint64_t differing = 0;
	uint32_t literals = (uint32_t)(begin - quick->anchor);

	while (end < last && !(differing = word_at(quick, end) ^ word_at(quick, end - distance)))
		end++;
	end_byte = end * WORD + (differing ? (size_t)__builtin_ctzll(differing) / 8 : 0);
	add_literals(quick, literals);
	quick->sequences[quick->sequence_count++] =
		(struct sequence){.literals = literals, .match = (uint32_t)(end_byte - begin),
				  .offset = number_of(quick->recent, (uint32_t)(distance * WORD), literals)};
	for (size_t at = word + REFRESH; at + 1 < end; at += REFRESH)
		*place_of(quick, at) = (uint16_t)at;
	quick->anchor = end_byte;
	quick->distance = distance;
	return end;
}

static void find_sequences(struct quick *quick, size_t begin, size_t end)
{
	size_t last = end / WORD;

	quick->anchor = begin;
	quick->sequence_count = quick->literal_count = 0;
	for (size_t word = begin / WORD; word + 1 < last;) {
		size_t distance = look_back(quick, word);

		word = distance ? take_match(quick, word, distance, last) : word + 1;
	}
	add_literals(quick, end - quick->anchor);
}

// ---- bits ----

// Readers begin at the end: what is read first is written last.
struct bits {
	uint8_t *to;
	uint64_t word;
	unsigned count;
};

PD_ALWAYS_INLINE void add_bits(struct bits *bits, uint64_t value, unsigned count)
{
	bits->word |= (value & ((UINT64_C(1) << count) - 1)) << bits->count;
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

PD_ALWAYS_INLINE void add_code(struct bits *bits, const struct coder *coder, unsigned code, unsigned *state)
{
	unsigned before = coder->before[code][*state];

	add_bits(bits, *state, before >> 8);
	*state = before & 0xff;
}

static uint8_t *put_sequences(const struct quick *quick, uint8_t *to)
{
	struct bits bits = {.to = to};
	unsigned literals = 0, matches = 0, offsets = 0;

	for (size_t i = quick->sequence_count; i-- > 0;) {
		const struct sequence *one = &quick->sequences[i];
		uint32_t match = one->match - LEAST_MATCH;
		unsigned literal_code = one->literals < SMALL_LITERALS ? quick->literal_code[one->literals]
								       : log_of(one->literals) + LARGE_LITERALS;
		unsigned match_code = match < SMALL_MATCHES ? quick->match_code[match] : log_of(match) + LARGE_MATCHES;
		unsigned offset_code = log_of(one->offset);

		if (i + 1 == quick->sequence_count) {
			literals = quick->literals.first[literal_code];
			matches = quick->matches.first[match_code];
			offsets = quick->offsets.first[offset_code];
		} else {
			add_code(&bits, &quick->offsets, offset_code, &offsets);
			add_code(&bits, &quick->matches, match_code, &matches);
			add_code(&bits, &quick->literals, literal_code, &literals);
		}
		// 7 + 17 + 32 bits are the most until here
		add_bits(&bits, one->literals, literal_bits[literal_code]);
		add_bits(&bits, match, match_bits[match_code]);
		flush_bits(&bits);
		add_bits(&bits, one->offset, offset_code);
	}
	// 7 + 22 + 17 and the mark of the end
	add_bits(&bits, matches, quick->matches.bits);
	add_bits(&bits, offsets, quick->offsets.bits);
	add_bits(&bits, literals, quick->literals.bits);
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

static uint8_t *put_body(const struct quick *quick, uint8_t *to)
{
	// literals as they are, with a size of three bytes
	to = put_number(to, quick->literal_count << 4 | 3 << 2, 3);
	memcpy(to, quick->text, quick->literal_count);
	to = put_count(to + quick->literal_count, quick->sequence_count);
	if (!quick->sequence_count)
		return to;
	// all three tables are the predefined ones
	return put_sequences(quick, put_number(to, 0, 1));
}

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
	find_sequences(quick, begin, begin + size);
	end = put_body(quick, body);
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
static size_t put_frame(void *self, const void *data, size_t size, void *packed, size_t capacity, const char **reason_out)
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
	memcpy(quick->recent, (const uint32_t[3]){1, 4, 8}, sizeof(quick->recent));
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
	.open = open_quick,
	.bound = bound,
	.pack = put_frame,
	.finish = put_frame,
	.close = close_quick,
};
