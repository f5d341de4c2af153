/* SPDX-License-Identifier: MIT */
/*
 * Every record, feature and piece of the tables, filled at random, in both byte orders: encode,
 * decode, compare each value, encode again bit for bit. Then the bytes are cut and changed: what a
 * decoder takes must give the same bytes again, what is firm must be refused when it is cut, and
 * nothing is read out of bounds.
 *
 * usage: table [--seed N] [--rounds N] [--only LAYOUT]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "deep.h"
#include "fill.h"
#include "format/record.h"
#include "guard.h"

enum {
	ROOM = 256 << 10,
	CUT_EVERYWHERE = 48, // up to this size
	CUTS = 12,
	CHANGES = 6,
	PRINT_ONE_IN = 16,
	MOST_FAILURES = 10,
	MOST_SUBJECTS = 512,
	MOST_SPECIAL_LINES = 5,
};

// What is tested: a layout alone, or as a record of a type.
struct subject {
	const struct pd_layout *layout;
	uint32_t type; // 0: the layout alone
	char name[48];
};

struct sample {
	struct subject *subject;
	struct pd_scope scope; // at the begin of the struct
	struct pd_record_head head;
	void *decoded;
	bool big;
	size_t firm; // bytes
	uint8_t bytes[ROOM];
	size_t size;
};

struct tester {
	struct subject subjects[MOST_SUBJECTS];
	size_t subject_count;
	struct filler filler;
	struct pd_arena arena; // of what was decoded last
	struct guard guard;
	struct pd_text *where;
	struct pd_text *text;
	uint64_t seed, round;
	struct sample sample;
	uint8_t again[ROOM];
	uint8_t cut[ROOM];
	uint64_t encoded, cuts, cuts_refused, changes, changes_refused, printed;
	unsigned failures;
};

static void fail(struct tester *t, const char *what, const char *detail)
{
	struct sample *s = &t->sample;

	t->failures++;
	printf("%s: %s%s%s (%s-endian, %zu bytes, --seed %" PRIu64 ", round %" PRIu64 ")\n", s->subject->name, what,
	       *detail ? ": " : "", detail, s->big ? "big" : "little", s->size, t->seed, t->round);
	if (t->failures >= MOST_FAILURES)
		exit(1);
}

static const char *where_text(struct tester *t)
{
	pd_text_char(t->where, '\0');
	return t->where->data ? t->where->data : "";
}

// ---- encoding and decoding of a subject ----

static struct pd_buffer encode(const struct subject *subject, const struct pd_scope *scope, struct pd_record_head *head,
			       const void *decoded, bool big, uint8_t *data, size_t capacity)
{
	struct pd_scope own = *scope;
	struct pd_buffer buffer = pd_buffer(data, capacity, big);

	if (subject->type)
		pd_record_put(&buffer, head, subject->layout, pd_record_group(subject->type), &own, decoded);
	else
		subject->layout->encode(&buffer, &own, decoded);
	return buffer;
}

// *scope is changed as the decoder does; it is what the record has to be encoded with.
static void *decode(struct tester *t, const struct subject *subject, struct pd_scope *scope, const uint8_t *data,
		    size_t size, bool big, struct pd_cursor *cursor)
{
	struct pd_bytes bytes = { data, size };
	void *out;

	pd_arena_reset(&t->arena);
	scope->arena = &t->arena;
	*cursor = pd_cursor(data, size, big);
	if (subject->type)
		return pd_record_take(subject->layout, pd_record_group(subject->type), bytes, scope, cursor);
	out = pd_arena_alloc(&t->arena, subject->layout->struct_size);
	if (!out) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	subject->layout->decode(cursor, scope, out);
	return cursor->failed ? NULL : out;
}

// Bytes at one end of the guarded memory, the upper one as a rule.
static const uint8_t *guarded(struct tester *t, const uint8_t *data, size_t size)
{
	uint8_t *at = random_once_in(&t->filler.random, 4) ? t->guard.begin : t->guard.end - size;

	if (size)
		memcpy(at, data, size);
	return at;
}

// ---- what is tested ----

static void make_sample(struct tester *t, struct subject *subject)
{
	struct filler *filler = &t->filler;
	struct sample *s = &t->sample;
	enum pd_record_group group = subject->type ? pd_record_group(subject->type) : PD_GROUP_UNKNOWN;
	bool trailer = group == PD_GROUP_KERNEL && !random_once_in(&filler->random, 3);
	struct pd_scope scope;

	fill_reset(filler);
	fill_scope(filler);
	if (subject->type)
		filler->scope.words[PD_WORD_TRAILER] =
			trailer ? filler->scope.words[PD_WORD_SAMPLE_TYPE] & PD_TRAILER_BITS : 0;
	s->subject = subject;
	s->scope = filler->scope;
	s->decoded = fill_layout(filler, subject->layout);
	filler->scope = s->scope;
	if (subject->type && s->scope.words[PD_WORD_TRAILER])
		((struct pd_body_head *)s->decoded)->sample_id = fill_layout(filler, &pd_layouts[PD_LAYOUT_sample_id]);
	s->head = (struct pd_record_head){ .type = subject->type, .misc = (uint16_t)s->scope.words[PD_WORD_MISC] };
	if (group == PD_GROUP_SIMPLEPERF)
		s->head.misc = 0;
	scope = s->scope;
	s->firm = deep_size(subject->layout, s->decoded, &scope).firm + (subject->type ? PD_RECORD_HEADER_SIZE : 0);
}

static size_t wanted_size(const struct sample *s)
{
	struct pd_scope scope = s->scope;
	size_t size = deep_size(s->subject->layout, s->decoded, &scope).size;

	if (s->subject->type)
		size += PD_RECORD_HEADER_SIZE + pd_trailer_size(s->scope.words[PD_WORD_TRAILER]);
	return size;
}

// The encoder must count without memory, stay inside of too little, and write all into enough.
static bool encode_sample(struct tester *t)
{
	struct sample *s = &t->sample;
	size_t few = random_below(&t->filler.random, wanted_size(s) + 1);
	struct pd_buffer counted = encode(s->subject, &s->scope, &s->head, s->decoded, s->big, NULL, 0);
	struct pd_buffer little = encode(s->subject, &s->scope, &s->head, s->decoded, s->big, t->guard.end - few, few);
	struct pd_buffer buffer;

	s->size = counted.need;
	if (counted.failed) {
		fail(t, "cannot be encoded", counted.reason);
		return false;
	}
	if (counted.need != wanted_size(s) || little.need != counted.need || counted.need > ROOM) {
		fail(t, "encodes into another number of bytes", "");
		return false;
	}
	buffer = encode(s->subject, &s->scope, &s->head, s->decoded, s->big, t->guard.end - s->size, s->size);
	if (buffer.failed || buffer.need != s->size) {
		fail(t, "encodes differently the second time", "");
		return false;
	}
	if (s->size)
		memcpy(s->bytes, t->guard.end - s->size, s->size);
	t->encoded++;
	return true;
}

static void print_sample(struct tester *t, const void *decoded)
{
	struct pd_printer printer = { .text = t->text, .scope = t->sample.scope, .arch = PD_ARCH_X86 };

	pd_text_clear(t->text);
	pd_print_struct(&printer, t->sample.subject->layout, decoded, 1);
	printer.scope = t->sample.scope;
	pd_text_clear(t->text);
	pd_json_struct(&printer, t->sample.subject->layout, decoded);
	if (pd_text_failed(t->text) || t->text->size < 2 || t->text->data[0] != '{' ||
	    t->text->data[t->text->size - 1] != '}')
		fail(t, "is no JSON object", "");
	t->printed++;
}

static void check_values(struct tester *t)
{
	struct sample *s = &t->sample;
	struct pd_scope scope = s->scope;
	struct pd_cursor cursor;
	const uint8_t *data = guarded(t, s->bytes, s->size);
	void *decoded = decode(t, s->subject, &scope, data, s->size, s->big, &cursor);
	struct pd_buffer buffer;

	if (!decoded) {
		fail(t, "cannot be decoded", cursor.reason);
		return;
	}
	pd_text_clear(t->where);
	if (!deep_equal(s->subject->layout, s->decoded, decoded, t->where)) {
		fail(t, "decodes into another value", where_text(t));
		return;
	}
	if (cursor.at != data + s->size)
		fail(t, "does not take all bytes", "");
	buffer = encode(s->subject, &s->scope, &s->head, decoded, s->big, t->again, s->size);
	if (buffer.failed || buffer.need != s->size || memcmp(t->again, s->bytes, s->size) != 0)
		fail(t, "encodes into other bytes", buffer.failed ? buffer.reason : "");
	if (random_once_in(&t->filler.random, PRINT_ONE_IN))
		print_sample(t, decoded);
}

// ---- damage ----

// Whatever a decoder takes gives the same bytes again. False if the bytes were refused.
static bool take_and_give_back(struct tester *t, const uint8_t *bytes, size_t size, const char *what)
{
	struct sample *s = &t->sample;
	struct pd_scope begin = s->scope, scope = s->scope;
	const uint8_t *data = guarded(t, bytes, size);
	struct pd_cursor cursor;
	void *decoded = decode(t, s->subject, &scope, data, size, s->big, &cursor);
	size_t taken = (size_t)(cursor.at - data);
	struct pd_buffer buffer;

	if (!decoded)
		return false;
	begin.words[PD_WORD_TRAILER] = s->subject->type ? scope.words[PD_WORD_TRAILER] : begin.words[PD_WORD_TRAILER];
	buffer = encode(s->subject, &begin, &s->head, decoded, s->big, t->again, ROOM);
	if (buffer.failed || buffer.need != taken || memcmp(t->again, bytes, taken) != 0) {
		fail(t, what, buffer.failed ? buffer.reason : "");
		return false;
	}
	return true;
}

// A record says its own size.
static void set_record_size(const struct sample *s, uint8_t *bytes, size_t size)
{
	struct pd_buffer buffer = pd_buffer(bytes + 4, 4, s->big);

	pd_buffer_u16(&buffer, s->subject->type >= PD_RECORD_SIMPLEPERF_FIRST ? (uint16_t)(size >> 16) : s->head.misc);
	pd_buffer_u16(&buffer, (uint16_t)size);
}

static void cut_at(struct tester *t, size_t size)
{
	struct sample *s = &t->sample;
	bool taken;

	// a size of 0 stands for all members of a struct that was made by hand
	if (size == 0 && s->subject->layout == &pd_layouts[PD_LAYOUT_bpf_prog_info])
		return;
	memcpy(t->cut, s->bytes, size);
	if (s->subject->type)
		set_record_size(s, t->cut, size);
	taken = take_and_give_back(t, t->cut, size, "cut bytes are taken, but encode into others");
	t->cuts++;
	t->cuts_refused += !taken;
	if (taken && size < s->firm)
		fail(t, "is taken although a part of it is missing", "");
}

static void cut_sample(struct tester *t)
{
	struct sample *s = &t->sample;
	size_t least = s->subject->type ? PD_RECORD_HEADER_SIZE : 0;

	if (s->size <= CUT_EVERYWHERE) {
		for (size_t size = least; size < s->size; size++)
			cut_at(t, size);
		return;
	}
	for (unsigned i = 0; i < CUTS; i++)
		cut_at(t, least + random_below(&t->filler.random, s->size - least));
}

static void change_sample(struct tester *t)
{
	static const uint8_t extremes[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct random *random = &t->filler.random;
	struct sample *s = &t->sample;
	size_t least = s->subject->type ? PD_RECORD_HEADER_SIZE : 0;

	if (s->size == least)
		return;
	for (unsigned i = 0; i < CHANGES; i++) {
		memcpy(t->cut, s->bytes, s->size);
		for (uint64_t left = 1 + random_below(random, 4); left; left--) {
			size_t at = least + random_below(random, s->size - least);

			t->cut[at] = random_once_in(random, 2) ? extremes[random_below(random, sizeof(extremes))] :
								 (uint8_t)random_next(random);
		}
		t->changes++;
		t->changes_refused +=
			!take_and_give_back(t, t->cut, s->size, "changed bytes are taken, but encode into others");
	}
}

static void test_subject(struct tester *t, struct subject *subject)
{
	make_sample(t, subject);
	for (unsigned big = 0; big < 2; big++) {
		t->sample.big = big;
		if (!encode_sample(t))
			return;
		check_values(t);
		cut_sample(t);
		change_sample(t);
	}
}

// ---- all of the tables ----

static void add_subject(struct tester *t, const struct pd_layout *layout, uint32_t type, const char *kind,
			const char *name, const char *only)
{
	struct subject *subject = &t->subjects[t->subject_count];

	if (only && strcmp(only, layout->name) != 0)
		return;
	if (t->subject_count == MOST_SUBJECTS) {
		fprintf(stderr, "more than %d subjects\n", MOST_SUBJECTS);
		exit(1);
	}
	t->subject_count++;
	subject->layout = layout;
	subject->type = type;
	snprintf(subject->name, sizeof(subject->name), "%s %s", kind, name);
}

static void add_subjects(struct tester *t, const char *only)
{
	size_t records = 0, features = 0;
	uint32_t type;

	for (size_t i = 0; i < PD_LAYOUT_COUNT; i++)
		add_subject(t, &pd_layouts[i], 0, "layout", pd_layouts[i].name, only);
	for (size_t i = 0; pd_record_type_at(i, &type); i++, records++)
		add_subject(t, pd_record_layout(type), type, "record", pd_record_name(type), only);
	for (unsigned i = 0; i < PD_FEATURE_LIMIT; i++) {
		if (!pd_feature_layout(i))
			continue;
		add_subject(t, pd_feature_layout(i), 0, "feature", pd_feature_name(i), only);
		features++;
	}
	printf("%zu layouts, %zu records, %zu features\n", (size_t)PD_LAYOUT_COUNT, records, features);
}

// Lines that walkers have to know by name; a table that has many of them is none.
static void count_special_lines(struct tester *t)
{
	unsigned special = 0;

	for (size_t i = 0; i < PD_LAYOUT_COUNT; i++) {
		size_t count;
		const struct pd_field *fields = pd_layouts[i].fields(&count);

		for (size_t j = 0; j < count; j++)
			special += fields[j].line == PD_LINE_ORDER || fields[j].line == PD_LINE_RECORDS;
	}
	printf("%u lines ORDER and RECORDS, at most %d\n", special, MOST_SPECIAL_LINES);
	t->failures += special > MOST_SPECIAL_LINES;
}

static uint64_t number_argument(int argc, char **argv, int index)
{
	char *end;
	uint64_t value = index < argc ? strtoull(argv[index], &end, 0) : 0;

	if (index >= argc || end == argv[index] || *end) {
		fprintf(stderr, "%s: a number is missing\n", argv[index - 1]);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	static struct tester t;
	uint64_t rounds = 200000;
	const char *only = NULL;

	t.seed = 1;
	for (int i = 1; i < argc; i += 2) {
		if (strcmp(argv[i], "--seed") == 0) {
			t.seed = number_argument(argc, argv, i + 1);
		} else if (strcmp(argv[i], "--rounds") == 0) {
			rounds = number_argument(argc, argv, i + 1);
		} else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
			only = argv[i + 1];
		} else {
			fprintf(stderr, "usage: table [--seed N] [--rounds N] [--only LAYOUT]\n");
			return 2;
		}
	}
	guard_init(&t.guard, ROOM);
	t.where = pd_text_new();
	t.text = pd_text_new();
	add_subjects(&t, only);
	count_special_lines(&t);
	if (!t.subject_count || !t.where || !t.text) {
		fprintf(stderr, "nothing to test\n");
		return 1;
	}
	for (t.round = 0; t.round < rounds; t.round++) {
		// each round can be made again from seed and number alone
		t.filler.random.state = t.seed * UINT64_C(0x2545f4914f6cdd1d) + t.round;
		test_subject(&t, &t.subjects[t.round % t.subject_count]);
	}
	printf("%" PRIu64 " encoded, decoded, compared; %" PRIu64 " cut (%" PRIu64 " refused), %" PRIu64
	       " changed (%" PRIu64 " refused), %" PRIu64 " printed; %" PRIu64 " made twice; %u failures\n",
	       t.encoded, t.cuts, t.cuts_refused, t.changes, t.changes_refused, t.printed, t.filler.retries,
	       t.failures);
	pd_arena_fini(&t.filler.arena);
	pd_arena_fini(&t.arena);
	pd_text_free(t.where);
	pd_text_free(t.text);
	guard_fini(&t.guard);
	return t.failures != 0;
}
