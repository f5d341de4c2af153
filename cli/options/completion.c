/* SPDX-License-Identifier: MIT */
/*
 * Possible values of options: the words of a choice; by the option's name if only some others are valid; else by the name of the
 * value in the help.
 */
#include "options/describe.h"

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
	pd_text_add(
		text,
		"overhead overhead_children overhead_sys overhead_us sample period count total mean p50 p95 p99 max weight1 weight2 weight3 op cache memory snoop dtlb ");
	add_sort_keys(text);
}

/* ---- which ---- */

struct known_value {
	const char *command; /* NULL: every one */
	const char *option;  /* NULL: the arguments */
	enum manual_kind kind;
	const char *words; /* or NULL */
	void (*add)(struct pd_text *text);
	enum pd_vocabulary list; /* if neither words nor add */
};

static const struct known_value known_values[] = {
	{ NULL, "color", MANUAL_WORD, "auto always never ", NULL },
	{ "export", "to", MANUAL_WORD, NULL, NULL, PD_VOCABULARY_EXPORT_FORMATS },
	{ NULL, "clockid", MANUAL_WORD, "monotonic monotonic_raw boottime realtime tai ", NULL },
	{ "record", "call-graph", MANUAL_WORD, "fp dwarf lbr ", NULL },
	{ "record", "event", MANUAL_EVENTS, NULL, NULL },
	{ "record", "synth", MANUAL_LIST, "all task mmap cgroup no ", NULL },
	{ "record", "branch-filter", MANUAL_LIST, "any any_call any_ret ind_call ind_jmp call cond u k hv save_type ",
	  NULL },
	{ "record", NULL, MANUAL_PROGRAM, NULL, NULL },
	{ "top", "call-graph", MANUAL_WORD, "fp lbr ", NULL },
	{ "top", "event", MANUAL_EVENTS, NULL, NULL },
	{ "top", "sort", MANUAL_LIST, NULL, add_sort_keys },
	{ "stat", "event", MANUAL_EVENTS, NULL, NULL },
	{ "stat", "metrics", MANUAL_LIST, NULL, NULL, PD_VOCABULARY_METRICS },
	{ "stat", NULL, MANUAL_PROGRAM, NULL, NULL },
	{ "list", NULL, MANUAL_WORD, "hw sw cache tracepoint pmu ", NULL },
	{ "report", "sort", MANUAL_LIST, NULL, add_sort_keys },
	{ "report", "fields", MANUAL_LIST, NULL, add_report_fields },
	{ "report", "call-graph", MANUAL_LIST,
	  "graph fractal flat folded none caller callee function address percent period count ", NULL },
	{ "script", "fields", MANUAL_LIST, NULL, NULL, PD_VOCABULARY_SAMPLE_FIELDS },
	{ "dump", "type", MANUAL_LIST, NULL, add_record_names },
	{ "explain", NULL, MANUAL_WORD, NULL, add_explained_names },
	{ "split", "by", MANUAL_WORD, "event pid comm cpu cgroup time= size= ", NULL },
	{ "scrub", "keep-data", MANUAL_LIST, "raw regs stack aux ", NULL },
	{ "help", "completion", MANUAL_WORD, "bash zsh fish ", NULL },
	{ "help", NULL, MANUAL_WORD, NULL, add_command_names },
};

static bool is_same(const char *one, const char *other)
{
	return one == other || (one && other && strcmp(one, other) == 0);
}

static enum manual_kind kind_by_argument(const char *argument)
{
	if (!argument)
		return MANUAL_NONE;
	if (strcmp(argument, "DIR") == 0)
		return MANUAL_FOLDER;
	return strcmp(argument, "FILE") == 0 || strcmp(argument, "TEXT") == 0 ? MANUAL_FILE : MANUAL_NONE;
}

static const struct known_value *find_known(const struct command_line *line, const struct option *option)
{
	for (size_t i = 0; i < sizeof(known_values) / sizeof(known_values[0]); i++)
		if ((!known_values[i].command || is_same(known_values[i].command, line->name)) &&
		    is_same(known_values[i].option, option ? option->name : NULL))
			return &known_values[i];
	return NULL;
}

static void add_words(const void *words, struct pd_text *text)
{
	const struct known_value *known = words;

	if (known->words)
		pd_text_add(text, known->words);
	else if (known->add)
		known->add(text);
	else
		add_vocabulary(text, known->list);
}

/* "one|two|three"; one that is empty is none. */
static void add_choices(const void *words, struct pd_text *text)
{
	for (const char *word = words; *word;) {
		size_t length = strcspn(word, "|");

		if (length)
			pd_text_printf(text, "%.*s ", (int)length, word);
		word += length + (word[length] == '|');
	}
}

void describe_value(const struct command_line *line, const struct option *option, struct manual_value *value)
{
	const struct known_value *known = find_known(line, option);

	if (option && option->kind == OPTION_CHOICE) {
		value->kind = MANUAL_WORD;
		value->add_words = add_choices;
		value->words = option->words ? option->words : option->argument;
	} else if (known) {
		value->kind = known->kind;
		value->add_words = add_words;
		value->words = known;
	} else if (option) {
		value->kind = kind_by_argument(option->argument);
	} else {
		value->kind = value->name ? MANUAL_FILE : MANUAL_NONE;
	}
}
