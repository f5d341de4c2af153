/* SPDX-License-Identifier: MIT */
/* How many addresses with samples have a type, and why others have none, as perf annotate --type-stat and --insn-stat print it. */
#include <inttypes.h>
#include <string.h>

#include "base/lookup/strings.h"
#include "base/memory.h"
#include "base/sort.h"
#include "type/data.h"

static const struct {
	const char *word;
	bool is_type;
} answers[] = {
#define ANSWER(name, word, is_type) { word, is_type },
#include "type/answers.def"
};

/** Addresses of one kind. */
struct count {
	uint64_t good, bad;
};

struct counting {
	const struct pd_type_data *data;
	struct count all, named; // all, and those whose instruction is known
	uint64_t by_answer[PD_TYPE_ANSWERS];
	struct pd_arena texts;
	struct pd_strings words;
	struct count *by_word;
	size_t word_capacity;
	struct pd_sorted *order; // words, as they are printed
	uint32_t last;           // the word that was met last, or PD_INDEX_END
};

// ---- counting ----

// Addresses as perf comes to them: by event, object and address.
static int compare_addresses(const void *self, uint32_t a, uint32_t b)
{
	const struct pd_type_data *data = self;
	const struct pd_place *x = data->addresses[a].place, *y = data->addresses[b].place;
	int result = !x->dso - !y->dso;

	if (x->dso && y->dso)
		result = strcmp(x->dso->name, y->dso->name);
	if (!result && x->dso)
		result = (x->dso->index > y->dso->index) - (x->dso->index < y->dso->index);
	return result ? result : (x->addr > y->addr) - (x->addr < y->addr);
}

static struct pd_sorted *sort_addresses(const struct pd_type_data *data)
{
	struct pd_sorted *order = pd_alloc((data->address_count + 1) * sizeof(*order));

	for (size_t i = 0; order && i < data->address_count; i++)
		order[i] = (struct pd_sorted){ data->addresses[i].event, 0, (uint32_t)i };
	return order;
}

static bool meet_word(void *self, const char *word)
{
	struct counting *c = self;
	size_t known = c->words.count;

	c->last = pd_strings_add(&c->words, &c->texts, word, strlen(word));
	if (c->last == PD_INDEX_END || !PD_GROW(c->by_word, c->word_capacity, (size_t)c->last + 1))
		return false;
	if (c->words.count > known)
		c->by_word[c->last] = (struct count){ 0 };
	return true;
}

static bool count_place(struct counting *c, const struct pd_place *place)
{
	const struct pd_type_access *access = pd_types_at(c->data->types, place);
	struct count *word;
	bool good;

	c->last = PD_INDEX_END;
	if (!access || !pd_types_each_word(c->data->types, place, meet_word, c))
		return false;
	good = answers[access->answer].is_type;
	c->by_answer[access->answer]++;
	*(good ? &c->all.good : &c->all.bad) += 1;
	if (c->last == PD_INDEX_END)
		return true;
	word = &c->by_word[c->last];
	*(good ? &word->good : &word->bad) += 1;
	*(good ? &c->named.good : &c->named.bad) += 1;
	return true;
}

static bool is_same(const struct pd_type_address *a, const struct pd_type_address *b)
{
	return a->event == b->event && a->place->dso == b->place->dso && a->place->addr == b->place->addr;
}

static bool count_all(struct counting *c)
{
	const struct pd_type_data *data = c->data;
	struct pd_sorted *order = sort_addresses(data);
	bool success = order && pd_sort(order, data->address_count, compare_addresses, data, 1);

	for (size_t i = 0; success && i < data->address_count; i++) {
		const struct pd_type_address *address = &data->addresses[order[i].number];

		if (!i || !is_same(address, &data->addresses[order[i - 1].number]))
			success = count_place(c, address->place);
	}
	pd_free(order);
	return success;
}

// ---- text ----

static void put_total(struct pd_text *out, const struct count *count)
{
	uint64_t total = count->good + count->bad;
	double all = total ? (double)total : 1;

	pd_text_printf(out, "total %" PRIu64 ", ok %" PRIu64 " (%.1f%%), bad %" PRIu64 " (%.1f%%)\n", total,
		       count->good, 100 * (double)count->good / all, count->bad, 100 * (double)count->bad / all);
}

static void put_rule(struct pd_text *out)
{
	pd_text_add(out, "-----------------------------------------------------------\n");
}

static void put_answers(const struct counting *c, struct pd_text *out)
{
	pd_text_add(out, "Annotate data type stats:\n");
	put_total(out, &c->all);
	put_rule(out);
	for (size_t i = 0; i < PD_TYPE_ANSWERS; i++)
		if (c->by_answer[i] && *answers[i].word)
			pd_text_printf(out, "%10" PRIu64 " : %s\n", c->by_answer[i], answers[i].word);
	pd_text_char(out, '\n');
}

static int keep_order(const void *self, uint32_t a, uint32_t b)
{
	(void)self;
	return (a > b) - (a < b);
}

// Names of instructions, the most frequent first. False without memory.
static bool sort_words(struct counting *c)
{
	size_t count = c->words.count;

	c->order = pd_alloc((count + 1) * sizeof(*c->order));
	if (!c->order)
		return false;
	for (size_t i = 0; i < count; i++)
		c->order[i] = (struct pd_sorted){ ~(c->by_word[i].good + c->by_word[i].bad), 0, (uint32_t)i };
	return pd_sort(c->order, count, keep_order, NULL, 1);
}

static void put_words(const struct counting *c, struct pd_text *out)
{
	pd_text_add(out, "Annotate Instruction stats\n");
	put_total(out, &c->named);
	pd_text_printf(out, "\n  %-20s: %5s %5s\n", "Name/opcode", "Good", "Bad");
	put_rule(out);
	for (size_t i = 0; i < c->words.count; i++) {
		uint32_t word = c->order[i].number;

		pd_text_printf(out, "  %-20s: %5" PRIu64 " %5" PRIu64 "\n", c->words.items[word], c->by_word[word].good,
			       c->by_word[word].bad);
	}
	pd_text_char(out, '\n');
}

// ---- JSON ----

static void json_count(struct pd_json *json, const struct count *count)
{
	pd_json_number(json, "ok", count->good);
	pd_json_number(json, "bad", count->bad);
}

static void json_answers(const struct counting *c, struct pd_json *json)
{
	pd_json_open(json, "type_stat", '{');
	json_count(json, &c->all);
	pd_json_open(json, "answers", '{');
	for (size_t i = 0; i < PD_TYPE_ANSWERS; i++)
		if (c->by_answer[i] && *answers[i].word)
			pd_json_number(json, answers[i].word, c->by_answer[i]);
	pd_json_close(json, '}');
	pd_json_close(json, '}');
}

static void json_words(const struct counting *c, struct pd_json *json)
{
	pd_json_open(json, "insn_stat", '[');
	for (size_t i = 0; i < c->words.count; i++) {
		uint32_t word = c->order[i].number;

		pd_json_open(json, NULL, '{');
		pd_json_string(json, "name", c->words.items[word]);
		json_count(json, &c->by_word[word]);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

// ---- both ----

static void counting_fini(struct counting *c)
{
	pd_strings_fini(&c->words);
	pd_arena_fini(&c->texts);
	pd_free(c->by_word);
	pd_free(c->order);
}

bool pd_type_put_counts(const struct pd_type_data *data, bool by_answer, bool by_word, struct pd_text *out)
{
	struct counting c = { .data = data };
	bool success = (!by_answer && !by_word) || (count_all(&c) && sort_words(&c));

	if (success && by_answer)
		put_answers(&c, out);
	if (success && by_word)
		put_words(&c, out);
	counting_fini(&c);
	return success && !out->failed;
}

bool pd_type_json_counts(const struct pd_type_data *data, bool by_answer, bool by_word, struct pd_json *json)
{
	struct counting c = { .data = data };
	bool success = (!by_answer && !by_word) || (count_all(&c) && sort_words(&c));

	if (success && by_answer)
		json_answers(&c, json);
	if (success && by_word)
		json_words(&c, json);
	counting_fini(&c);
	return success && !json->text->failed;
}
