/* SPDX-License-Identifier: MIT */
/* Sets of bits and names: flag.def as data, and what is asked of it. */
#include <stdio.h>
#include <strings.h>

#include "format/layout.h"

#define BITS(SET, set, doc) static const struct pd_name items_##set[] = {
#define BIT(SET, NAME, position, width, text, values) { text, position, width, &pd_names_##values },
#define END_BITS(SET, set) \
	}                  \
	;
#define ENUM(SET, set, doc) static const struct pd_name items_##set[] = {
#define VALUE(SET, NAME, number, text) { text, number, 0, NULL },
#define END_ENUM(SET, set) \
	}                  \
	;
#include <perfdata/table/flag.def>

#define BITS(SET, set, doc)                                                                                            \
	const struct pd_names pd_names_##set = { #set, doc, items_##set, sizeof(items_##set) / sizeof(items_##set[0]), \
						 true };
#define ENUM(SET, set, doc)                                                                                            \
	const struct pd_names pd_names_##set = { #set, doc, items_##set, sizeof(items_##set) / sizeof(items_##set[0]), \
						 false };
#include <perfdata/table/flag.def>

static const struct pd_names *const all[] = {
#define BITS(SET, set, doc) &pd_names_##set,
#define ENUM(SET, set, doc) &pd_names_##set,
#include <perfdata/table/flag.def>
};

const struct pd_names *pd_names_at(size_t index)
{
	return index < sizeof(all) / sizeof(all[0]) ? all[index] : NULL;
}

const struct pd_names *pd_names_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcasecmp(all[i]->name, name) == 0)
			return all[i];
	return NULL;
}

const char *pd_names_name(const struct pd_names *names)
{
	return names->name;
}

const char *pd_names_doc(const struct pd_names *names)
{
	return names->doc;
}

bool pd_names_are_bits(const struct pd_names *names)
{
	return names->bits;
}

bool pd_names_item(const struct pd_names *names, size_t index, const char **text_out, int64_t *value_out,
		   unsigned *width_out, const struct pd_names **values_out)
{
	const struct pd_name *item;

	if (index >= names->count)
		return false;
	item = &names->items[index];
	if (text_out)
		*text_out = item->text;
	if (value_out)
		*value_out = item->value;
	if (width_out)
		*width_out = item->width;
	if (values_out)
		*values_out = item->values;
	return true;
}

const char *pd_names_text(const struct pd_names *names, int64_t value)
{
	if (names->bits)
		return NULL;
	// lists mostly count from 0
	if (value >= 0 && value < names->count && names->items[value].value == value)
		return names->items[value].text;
	for (size_t i = 0; i < names->count; i++)
		if (names->items[i].value == value)
			return names->items[i].text;
	return NULL;
}

static uint64_t low_bits(unsigned width)
{
	return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

struct writer {
	char *text;
	size_t size;
	size_t need;
};

static void append(struct writer *w, const char *string)
{
	for (; *string; string++, w->need++)
		if (w->need + 1 < w->size)
			w->text[w->need] = *string;
}

static void put_number(struct writer *w, const char *format, uint64_t value)
{
	char number[32];

	snprintf(number, sizeof(number), format, (unsigned long long)value);
	append(w, number);
}

// One item of a word: "TIME", "precise_ip=2", "lvl=HIT|L1".
static void put_item(struct writer *w, const struct pd_name *item, uint64_t value)
{
	char inner[256];

	append(w, item->text);
	if (item->width == 1)
		return;
	append(w, "=");
	if (!item->values) {
		put_number(w, "%llu", value);
	} else if (item->values->bits) {
		pd_names_print(item->values, value, inner, sizeof(inner));
		append(w, inner);
	} else {
		const char *text = pd_names_text(item->values, (int64_t)value);

		if (text)
			append(w, text);
		else
			put_number(w, "%llu", value);
	}
}

size_t pd_names_print(const struct pd_names *names, uint64_t word, char *text, size_t size)
{
	struct writer w = { text, size, 0 };

	for (size_t i = 0; i < names->count; i++) {
		const struct pd_name *item = &names->items[i];
		uint64_t mask = low_bits(item->width) << item->value;

		if (!names->bits || !(word & mask))
			continue;
		if (w.need)
			append(&w, "|");
		put_item(&w, item, (word & mask) >> item->value);
		word &= ~mask;
	}
	if (word || !w.need) {
		if (w.need)
			append(&w, "|");
		put_number(&w, word ? "0x%llx" : "%llu", word);
	}
	if (size)
		text[w.need < size ? w.need : size - 1] = '\0';
	return w.need;
}

const char *pd_misc_bit_name(uint32_t type, unsigned bit)
{
	static const struct {
		uint32_t type;
		unsigned bit;
		const char *name;
	} bits[] = {
#define MISC_OF(TYPE, NAME) { PD_RECORD_##TYPE, PD_MISC_##NAME##_SHIFT, #NAME },
#include <perfdata/table/flag.def>
	};

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (bits[i].type == type && bits[i].bit == bit)
			return bits[i].name;
	return NULL;
}

static uint64_t reverse_bits(uint64_t v, unsigned bits)
{
	v = (v >> 1 & 0x5555555555555555) | (v & 0x5555555555555555) << 1;
	v = (v >> 2 & 0x3333333333333333) | (v & 0x3333333333333333) << 2;
	v = (v >> 4 & 0x0f0f0f0f0f0f0f0f) | (v & 0x0f0f0f0f0f0f0f0f) << 4;
	return __builtin_bswap64(v) >> (64 - bits);
}

// Reverses the bits inside each field of more than one bit.
static uint64_t reverse_fields(const struct pd_names *set, uint64_t word)
{
	for (size_t i = 0; i < set->count; i++) {
		unsigned width = set->items[i].width;
		unsigned shift = (unsigned)set->items[i].value;
		uint64_t mask = low_bits(width) << shift;

		if (width > 1 && word & mask)
			word = (word & ~mask) | reverse_bits((word & mask) >> shift, width) << shift;
	}
	return word;
}

uint64_t pd_bits_from_big(const struct pd_names *set, uint64_t word, unsigned bits)
{
	return reverse_fields(set, reverse_bits(word, bits));
}

uint64_t pd_bits_to_big(const struct pd_names *set, uint64_t word, unsigned bits)
{
	return reverse_bits(reverse_fields(set, word), bits);
}
