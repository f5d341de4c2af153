/* SPDX-License-Identifier: MIT */
// Values of arguments as words.
#include <inttypes.h>
#include <string.h>

#include "pairs/lines/lines.h"

#define WORD(name, value) { name, (uint32_t)(value) },
#define LIST(NAME, style, words) static const struct pd_named_value NAME##_words[] = { words };
#include "pairs/lines/words.def"

#define ENUM PD_LIST_ENUM, 0
#define SOME PD_LIST_SOME, 0
#define CHOICE PD_LIST_CHOICE, 0
#define FLAGS PD_LIST_FLAGS, 0
#define PARTS(mask) PD_LIST_PARTS, (uint32_t)(mask)
static const struct pd_word_list lists[] = {
#define LIST(NAME, style, words) { #NAME, style, NAME##_words, sizeof(NAME##_words) / sizeof(NAME##_words[0]) },
#include "pairs/lines/words.def"
};

const struct pd_word_list *pd_words_find(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (strlen(lists[i].name) == length && !memcmp(lists[i].name, name, length))
			return &lists[i];
	return NULL;
}

static const char *find_word(const struct pd_word_list *list, uint64_t value)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->words[i].value == value)
			return list->words[i].name;
	return NULL;
}

void pd_put_hex(struct pd_text *text, uint64_t value)
{
	if (value)
		pd_text_hex(text, value);
	else
		pd_text_char(text, '0');
}

// The words of bits that are not in a mask; something is in front of them already, or not.
static void print_flags(struct pd_text *text, const struct pd_word_list *list, uint64_t value, bool first)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct pd_named_value *word = &list->words[i];

		if (!(word->value & ~(uint64_t)list->mask) || (value & word->value) != word->value)
			continue;
		pd_text_add(text, first ? "" : "|");
		pd_text_add(text, word->name);
		value &= ~word->value;
		first = false;
	}
	if (!value)
		return;
	pd_text_add(text, first ? "" : "|");
	pd_put_hex(text, value);
}

static void print_one(struct pd_text *text, const struct pd_word_list *list, uint64_t value)
{
	const char *word = find_word(list, value);

	if (word)
		pd_text_add(text, word);
	else if (list->style <= PD_LIST_SOME)
		pd_text_s64(text, (int32_t)value);
	else
		pd_put_hex(text, value);
}

// Arguments are registers, of which the calls take 32 bits.
void pd_words_print(struct pd_text *text, const struct pd_word_list *list, uint64_t value)
{
	value = (uint32_t)value;
	if (list->style == PD_LIST_FLAGS) {
		print_flags(text, list, value, true);
		return;
	}
	print_one(text, list, list->style == PD_LIST_PARTS ? value & list->mask : value);
	if (list->style == PD_LIST_PARTS)
		print_flags(text, list, value & ~(uint64_t)list->mask, false);
}
