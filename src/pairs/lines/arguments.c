/* SPDX-License-Identifier: MIT */
// Arguments and results of system calls.
#include <string.h>

#include "pairs/lines/lines.h"

static const struct line {
	const char *name;
	enum pd_call_result result;
	const char *arguments;
} calls[] = {
#define CALL(name, RESULT, arguments) { #name, PD_RESULT_##RESULT, arguments },
#include "pairs/lines/calls.def"
};

static const struct {
	const char *call, *chooser;
	uint32_t mask, value;
	const char *arguments;
} hidden[] = {
#define HIDDEN(call, chooser, mask, value, arguments) { #call, chooser, (uint32_t)(mask), value, arguments },
#include "pairs/lines/hidden.def"
};

// ---- the table ----

static const struct line *find_line(const char *name)
{
	static const struct line unknown = { "", PD_RESULT_NUMBER,
					     "arg0:HEX arg1:HEX arg2:HEX arg3:HEX arg4:HEX arg5:HEX" };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(calls[i].name, name))
			return &calls[i];
	return &unknown;
}

// "name" or "name:KIND"
static void read_argument(struct pd_call_argument *out, const char *word, size_t length)
{
	const char *colon = memchr(word, ':', length);
	size_t rest;

	out->name = word;
	out->length = colon ? (size_t)(colon - word) : length;
	if (!colon)
		return;
	rest = length - out->length - 1;
	out->kind = pd_kind_find(colon + 1, rest);
	if (!out->kind)
		out->list = pd_words_find(colon + 1, rest);
}

const struct pd_call *pd_call_new(struct pd_arena *arena, const char *name)
{
	const struct line *line = find_line(name);
	struct pd_call *call = pd_arena_alloc(arena, sizeof(*call));

	if (!call)
		return NULL;
	call->name = name;
	call->result = line->result;
	call->ends_thread = !strcmp(name, "exit") || !strcmp(name, "exit_group");
	for (const char *at = line->arguments; *at && call->count < PD_CALL_ARGUMENTS;) {
		size_t length = strcspn(at, " ");

		read_argument(&call->arguments[call->count++], at, length);
		at += length + (at[length] == ' ');
	}
	while (call->process < call->count && call->arguments[call->process].kind != pd_kind_pid)
		call->process++;
	return call;
}

// ---- what is printed ----

static bool has_name(const struct pd_call_argument *argument, const char *name, size_t length)
{
	return argument->length == length && !memcmp(argument->name, name, length);
}

// Bits of the arguments that are in a list of names.
static unsigned named(const struct pd_call *call, const char *names)
{
	unsigned bits = 0;

	while (*names) {
		size_t length = strcspn(names, " ");

		for (unsigned i = 0; i < call->count; i++)
			if (has_name(&call->arguments[i], names, length))
				bits |= 1u << i;
		names += length + (names[length] == ' ');
	}
	return bits;
}

static unsigned hidden_arguments(const struct pd_call_values *all)
{
	unsigned bits = 0;

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		unsigned chooser;
		uint32_t value;

		if (strcmp(hidden[i].call, all->call->name) != 0)
			continue;
		chooser = named(all->call, hidden[i].chooser);
		value = chooser ? (uint32_t)all->values[__builtin_ctz(chooser)] : 0;
		if (value && (value & hidden[i].mask) == hidden[i].value)
			bits |= named(all->call, hidden[i].arguments);
	}
	return bits;
}

// perf leaves out what is 0, unless 0 has a name.
static bool is_shown(const struct pd_call_argument *argument, uint64_t value)
{
	return value || (argument->list && argument->list->style == PD_LIST_ENUM);
}

static void print_value(struct pd_text *text, const struct pd_call_values *all, const struct pd_call_argument *argument,
			uint64_t value)
{
	if (argument->kind)
		argument->kind(text, all, value);
	else if (argument->list)
		pd_words_print(text, argument->list, value);
	else
		pd_text_s64(text, (int64_t)value);
}

void pd_call_print(struct pd_text *text, const struct pd_call_values *all)
{
	unsigned bits = hidden_arguments(all);
	bool first = true;

	for (unsigned i = 0; i < all->call->count; i++) {
		const struct pd_call_argument *argument = &all->call->arguments[i];

		if (bits >> i & 1 || !is_shown(argument, all->values[i]))
			continue;
		pd_text_add(text, first ? "" : ", ");
		pd_text_put(text, argument->name, argument->length);
		PD_TEXT_LITERAL(text, ": ");
		print_value(text, all, argument, all->values[i]);
		first = false;
	}
}

void pd_call_json(struct pd_json *json, const struct pd_call_values *all, struct pd_text *scratch)
{
	unsigned bits = hidden_arguments(all);

	for (unsigned i = 0; i < all->call->count; i++) {
		const struct pd_call_argument *argument = &all->call->arguments[i];

		if (bits >> i & 1)
			continue;
		pd_text_clear(scratch);
		pd_text_put(scratch, argument->name, argument->length);
		pd_text_char(scratch, 0);
		print_value(scratch, all, argument, all->values[i]);
		pd_text_char(scratch, 0);
		json->text->failed |= scratch->failed;
		if (!scratch->failed)
			pd_json_string(json, scratch->data, scratch->data + argument->length + 1);
	}
}

void pd_call_note_name(struct pd_sched *sched, const struct pd_call *call, const uint64_t *values,
		       char name[PD_SCHED_NAME])
{
	const char *known = call->process < call->count ? pd_kind_name(sched, values[call->process]) : NULL;

	if (!known)
		name[0] = 0;
	else
		memcpy(name, known, PD_SCHED_NAME);
}

// ---- results ----

// Of the commands of fcntl that return more than a number.
static void print_command_result(struct pd_text *text, const struct pd_call_values *all, uint64_t value)
{
	static const struct {
		int32_t command;
		pd_kind_fn *kind;
		const char *list;
	} results[] = {
		{ 1, NULL, "CLOSE" }, // GETFD
		{ 3, pd_kind_open, NULL },
		{ 9, pd_kind_pid, NULL },
		{ 1025, NULL, "LEASE" },
	};

	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		if (results[i].command != (int32_t)all->values[1])
			continue;
		if (results[i].kind)
			results[i].kind(text, all, value);
		else
			pd_words_print(text, pd_words_find(results[i].list, strlen(results[i].list)), value);
		return;
	}
	pd_text_s64(text, (int64_t)value);
}

static void print_error(struct pd_text *text, uint64_t number)
{
	const char *name = pd_error_name(number), *words = pd_error_text(number);

	PD_TEXT_LITERAL(text, "-1 ");
	pd_text_add(text, name ? name : "(unknown)");
	PD_TEXT_LITERAL(text, " (");
	if (words)
		pd_text_add(text, words);
	else
		pd_text_u64(text, number);
	pd_text_char(text, ')');
}

void pd_call_print_result(struct pd_text *text, const struct pd_call_values *all, int64_t result)
{
	enum pd_call_result kind = all->call->result;

	if (result < 0) {
		print_error(text, 0 - (uint64_t)result);
	} else if (kind == PD_RESULT_TIMEOUT && !result) {
		PD_TEXT_LITERAL(text, "0 (Timeout)");
	} else if (kind == PD_RESULT_HEX) {
		pd_put_hex(text, (uint64_t)result);
	} else if (kind == PD_RESULT_PID) {
		pd_kind_pid(text, all, (uint64_t)result);
	} else if (kind == PD_RESULT_FCNTL) {
		print_command_result(text, all, (uint64_t)result);
	} else {
		pd_text_s64(text, result);
	}
}
