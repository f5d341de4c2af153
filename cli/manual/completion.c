/* SPDX-License-Identifier: MIT */
/*
 * Possible values of options: by the option's name if only some words are valid, else by the name of the value in the
 * help.
 */
#include "manual/completion.h"

#include <perfdata/export.h>
#include <perfdata/samples.h>
#include <perfdata/vocabulary.h>

#include <string.h>

/* ---- words ---- */

static void add_command_names(struct pd_text *text)
{
	const struct command_line *line;

	for (size_t i = 0; (line = command_at(i)) != NULL; i++)
		pd_text_printf(text, "%s ", line->name);
	pd_text_add(text, "exit-codes ");
}

static void add_record_names(struct pd_text *text)
{
	uint32_t type;

	for (size_t i = 0; pd_record_type_at(i, &type); i++)
		pd_text_printf(text, "%s ", pd_record_name(type));
}

static void add_feature_names(struct pd_text *text)
{
	for (unsigned feature = 0; feature < PD_FEATURE_LIMIT; feature++)
		if (pd_feature_name(feature))
			pd_text_printf(text, "%s ", pd_feature_name(feature));
}

static void add_explained_names(struct pd_text *text)
{
	const struct pd_names *names;
	const char *problem, *doc, *advice;
	enum pd_severity severity;

	add_record_names(text);
	add_feature_names(text);
	for (size_t i = 0; (names = pd_names_at(i)) != NULL; i++)
		pd_text_printf(text, "%s ", pd_names_name(names));
	for (size_t i = 0; (problem = pd_problem_at(i, &severity, &doc, &advice)) != NULL; i++)
		pd_text_printf(text, "%s ", problem);
}

static void add_sort_keys(struct pd_text *text)
{
	const struct pd_report_key *key;

	for (size_t i = 0; (key = pd_report_key_at(i)) != NULL; i++)
		pd_text_printf(text, "%s ", key->name);
}

static void add_vocabulary(struct pd_text *text, enum pd_vocabulary list)
{
	const char *word, *other, *doc;

	for (size_t i = 0; (word = pd_vocabulary_word(list, i, &other, &doc)) != NULL; i++)
		pd_text_printf(text, "%s ", word);
}

static void add_report_fields(struct pd_text *text)
{
	pd_text_add(text, "overhead overhead_children overhead_sys overhead_us sample period ");
	add_sort_keys(text);
}

/* ---- which ---- */

struct known_value {
	const char *command; /* NULL: every one */
	const char *option;  /* NULL: the arguments */
	enum value_kind kind;
	const char *words; /* or NULL */
	void (*add)(struct pd_text *text);
	enum pd_vocabulary list; /* if neither words nor add, for VALUE_WORD and VALUE_LIST */
};

static const struct known_value known_values[] = {
	{ NULL, "color", VALUE_WORD, "auto always never ", NULL },
	{ "export", "to", VALUE_WORD, NULL, NULL, PD_VOCABULARY_EXPORT_FORMATS },
	{ NULL, "to", VALUE_WORD, "file pipe dir ", NULL },
	{ NULL, "byte-order", VALUE_WORD, "little big same ", NULL },
	{ NULL, "weight", VALUE_WORD, "samples period ", NULL },
	{ NULL, "clockid", VALUE_WORD, "monotonic monotonic_raw boottime realtime tai ", NULL },
	{ "record", "call-graph", VALUE_WORD, "fp dwarf lbr ", NULL },
	{ "record", "event", VALUE_EVENTS, NULL, NULL },
	{ "record", "synth", VALUE_LIST, "all task mmap cgroup no ", NULL },
	{ "record", "branch-filter", VALUE_LIST, "any any_call any_ret ind_call ind_jmp call cond u k hv save_type ",
	  NULL },
	{ "record", NULL, VALUE_PROGRAM, NULL, NULL },
	{ "top", "call-graph", VALUE_WORD, "fp lbr ", NULL },
	{ "top", "event", VALUE_EVENTS, NULL, NULL },
	{ "top", "sort", VALUE_LIST, NULL, add_sort_keys },
	{ "stat", "event", VALUE_EVENTS, NULL, NULL },
	{ "stat", "metrics", VALUE_LIST, NULL, NULL, PD_VOCABULARY_METRICS },
	{ "stat", NULL, VALUE_PROGRAM, NULL, NULL },
	{ "list", NULL, VALUE_WORD, "hw sw cache tracepoint pmu ", NULL },
	{ "report", "sort", VALUE_LIST, NULL, add_sort_keys },
	{ "report", "fields", VALUE_LIST, NULL, add_report_fields },
	{ "report", "percentage", VALUE_WORD, "absolute relative ", NULL },
	{ "report", "call-graph", VALUE_LIST,
	  "graph fractal flat folded none caller callee function address percent period count ", NULL },
	{ "script", "fields", VALUE_LIST, NULL, NULL, PD_VOCABULARY_SAMPLE_FIELDS },
	{ "flame", "format", VALUE_WORD, "html svg ", NULL },
	{ "flame", "by", VALUE_WORD, "comm pid tid cpu none ", NULL },
	{ "dump", "type", VALUE_LIST, NULL, add_record_names },
	{ "explain", NULL, VALUE_WORD, NULL, add_explained_names },
	{ "merge", "align", VALUE_WORD, "auto wall first none ", NULL },
	{ "merge", "machines", VALUE_WORD, "auto same different ", NULL },
	{ "merge", "kernels", VALUE_WORD, "move refuse keep ", NULL },
	{ "split", "by", VALUE_WORD, "event pid comm cpu cgroup time= size= ", NULL },
	{ "scrub", "hide", VALUE_WORD, "names addresses all ", NULL },
	{ "scrub", "keep-data", VALUE_LIST, "raw regs stack aux ", NULL },
	{ "pack", "objects", VALUE_WORD, "symbols full ", NULL },
	{ "help", "completion", VALUE_WORD, "bash zsh fish ", NULL },
	{ "help", NULL, VALUE_WORD, NULL, add_command_names },
};

static bool is_same(const char *one, const char *other)
{
	return one == other || (one && other && strcmp(one, other) == 0);
}

static enum value_kind kind_by_argument(const char *argument)
{
	if (!argument)
		return VALUE_NONE;
	if (strcmp(argument, "DIR") == 0)
		return VALUE_FOLDER;
	return strcmp(argument, "FILE") == 0 || strcmp(argument, "TEXT") == 0 ? VALUE_FILE : VALUE_NONE;
}

static const struct known_value *find_known(const struct command_line *line, const struct option *option)
{
	for (size_t i = 0; i < sizeof(known_values) / sizeof(known_values[0]); i++)
		if ((!known_values[i].command || is_same(known_values[i].command, line->name)) &&
		    is_same(known_values[i].option, option ? option->name : NULL))
			return &known_values[i];
	return NULL;
}

static void add_words(struct pd_text *text, const struct known_value *known)
{
	if (known->words)
		pd_text_add(text, known->words);
	else if (known->add)
		known->add(text);
	else
		add_vocabulary(text, known->list);
}

enum value_kind completion_kind(const struct command_line *line, const struct option *option)
{
	const struct known_value *known = find_known(line, option);

	if (known)
		return known->kind;
	return option ? kind_by_argument(option->argument) : line->command->max_words ? VALUE_FILE : VALUE_NONE;
}

void completion_add(struct pd_text *text, const struct completion_form forms[VALUE_KINDS],
		    const struct command_line *line, const struct option *option)
{
	enum value_kind kind = completion_kind(line, option);

	pd_text_add(text, forms[kind].before);
	if (!forms[kind].after)
		return;
	add_words(text, find_known(line, option));
	pd_text_add(text, forms[kind].after);
}

void completion_quoted(struct pd_text *text, const char *string, const char *special, const char *quote)
{
	for (; *string; string++) {
		if (*string == '\'')
			pd_text_add(text, quote);
		else
			pd_text_printf(text, "%s%c", strchr(special, *string) ? "\\" : "", *string);
	}
}
