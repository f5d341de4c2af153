/* SPDX-License-Identifier: MIT */
/*
 * The language of -F: a list sets the fields of all kinds of events or, after "sw:", of one; a
 * word with + or - changes what is there. What an event does not record is left out in silence,
 * unless it was asked for.
 */
#include <perfdata/samples.h>

#include "samples/fields.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

#define BASE (FIELD_COMM | FIELD_TID | FIELD_CPU | FIELD_TIME | FIELD_EVENT)
#define PLACE (FIELD_IP | FIELD_SYM | FIELD_SYMOFF | FIELD_DSO)
#define MEMORY                                                                                                        \
	(FIELD_ADDR | FIELD_DATA_SRC | FIELD_WEIGHT | FIELD_PHYS_ADDR | FIELD_DATA_PAGE_SIZE | FIELD_CODE_PAGE_SIZE | \
	 FIELD_INS_LAT)

#define NOT_PLAIN (FIELD_BPF_OUTPUT | FIELD_TRACE)

static const struct {
	const char *name; /* in -F, or NULL */
	const char *text; /* in messages */
	uint32_t shown;
	uint32_t invalid;
} kinds[KIND_COUNT] = {
	[KIND_HW] = { "hw", "hardware", BASE | PLACE | FIELD_PERIOD, NOT_PLAIN },
	[KIND_SW] = { "sw", "software", BASE | PLACE | FIELD_PERIOD | FIELD_BPF_OUTPUT, FIELD_TRACE },
	[KIND_TRACE] = { "trace", "tracepoint", BASE | FIELD_TRACE, 0 },
	[KIND_CACHE] = { NULL, "hardware cache", BASE | PLACE | FIELD_PERIOD, NOT_PLAIN },
	[KIND_RAW] = { "raw", "raw", BASE | PLACE | FIELD_PERIOD | MEMORY, NOT_PLAIN },
	[KIND_BREAKPOINT] = { "break", "breakpoint", BASE | PLACE | FIELD_PERIOD, NOT_PLAIN },
	[KIND_SYNTH] = { "synth", "synthetic", BASE | PLACE, NOT_PLAIN },
	[KIND_OTHER] = { NULL, "other", BASE | PLACE | FIELD_PERIOD, NOT_PLAIN },
};

static const struct {
	const char *word;
	uint64_t needs;
	const char *attribute;
} table[FIELD_COUNT] = {
#define X(NAME, bit, word, needs, attribute, doc) [bit] = { word, (needs), attribute },
	PD_SAMPLE_FIELDS(X)
#undef X
};

const char *pd_samples_field(size_t index, const char **doc_out)
{
	static const struct {
		const char *word, *doc;
	} words[] = {
#define X(NAME, bit, word, needs, attribute, doc) { word, doc },
		PD_SAMPLE_FIELDS(X)
#undef X
	};

	if (index >= FIELD_COUNT)
		return NULL;
	if (doc_out)
		*doc_out = words[index].doc;
	return words[index].word;
}

enum pd_event_kind pd_event_kind(const struct pd_event *event)
{
	uint32_t type = event->attr->type;

	if (type < KIND_SYNTH)
		return (enum pd_event_kind)type;
	return type == (uint32_t)PD_TYPE_SYNTH ? KIND_SYNTH : KIND_OTHER;
}

void pd_sample_fields_init(struct pd_sample_fields fields[KIND_COUNT])
{
	for (size_t kind = 0; kind < KIND_COUNT; kind++)
		fields[kind] = (struct pd_sample_fields){ .shown = kinds[kind].shown };
}

static enum pd_status find_kind(const char *name, size_t length, size_t *kind_out, struct pd_error *error)
{
	for (size_t kind = 0; kind < KIND_COUNT; kind++) {
		if (kinds[kind].name && strlen(kinds[kind].name) == length && !memcmp(kinds[kind].name, name, length)) {
			*kind_out = kind;
			return PD_OK;
		}
	}
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
		       "unknown event type '%.*s': not one of hw, sw, trace, raw, break, synth", (int)length, name);
}

static bool is_word(const char *known, const char *word, size_t length)
{
	return strlen(known) == length && !memcmp(known, word, length);
}

/* PD_END: perf has no such field either. */
static enum pd_status find_absent(const char *word, size_t length, struct pd_error *error)
{
	static const struct {
		const char *name, *instead; /* NULL: nothing is printed */
	} absents[] = {
#define ABSENT_FIELD(name, instead) { name, instead },
#define OF_TRACE(name) { name, NULL },
#include "samples/absent.def"
	};

	for (size_t i = 0; i < sizeof(absents) / sizeof(absents[0]); i++) {
		if (!is_word(absents[i].name, word, length))
			continue;
		return absents[i].instead ?
			       pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the field %s of perf is not here: %s",
				       absents[i].name, absents[i].instead) :
			       PD_OK;
	}
	return PD_END;
}

/* *field_out is 0 for what has nothing to print. */
static enum pd_status find_field(const char *word, size_t length, uint32_t *field_out, struct pd_error *error)
{
	char name[32];
	struct pd_nearest nearest = { .word = name };
	enum pd_status status;

	for (size_t i = 0; i < FIELD_COUNT; i++) {
		if (is_word(table[i].word, word, length)) {
			*field_out = UINT32_C(1) << i;
			return PD_OK;
		}
	}
	status = find_absent(word, length, error);
	if (status != PD_END)
		return status;
	snprintf(name, sizeof(name), "%.*s", (int)(length < 31 ? length : 31), word);
	for (size_t i = 0; i < FIELD_COUNT; i++)
		pd_nearest_try(&nearest, table[i].word);
	if (nearest.best)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "unknown field '%s'; did you mean %s?", name,
			       nearest.best);
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "unknown field '%s'; perfdata help script lists them",
		       name);
}

static void change(struct pd_sample_fields *fields, uint32_t field, bool remove)
{
	if (remove) {
		fields->shown &= ~field;
		fields->set &= ~field;
		fields->unset |= field;
	} else {
		fields->shown |= field;
		fields->set |= field;
		fields->unset &= ~field;
	}
	fields->by_user = true;
}

static enum pd_status change_kind(struct pd_sample_fields fields[KIND_COUNT], size_t kind, uint32_t field, bool remove,
				  struct pd_error *error)
{
	if (kinds[kind].invalid & field)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s events do not have this field",
			       kinds[kind].text);
	/* As perf: of one kind what was not recorded is left out without a word. */
	fields[kind].shown = remove ? fields[kind].shown & ~field : fields[kind].shown | field;
	return PD_OK;
}

static void change_all(struct pd_sample_fields fields[KIND_COUNT], uint32_t field, bool remove)
{
	for (size_t kind = 0; kind < KIND_COUNT; kind++) {
		if (kinds[kind].invalid & field)
			continue;
		change(&fields[kind], field, remove);
		fields[kind].by_wildcard = true;
	}
}

/* As perf: flags belong to no kind of event, and who asks for them chooses no fields otherwise. */
static void change_flags(struct pd_sample_fields fields[KIND_COUNT], bool remove)
{
	for (size_t kind = 0; kind < KIND_COUNT; kind++)
		fields[kind].shown = remove ? fields[kind].shown & ~FIELD_FLAGS : fields[kind].shown | FIELD_FLAGS;
}

static enum pd_status parse_words(struct pd_sample_fields fields[KIND_COUNT], const char *words, size_t kind,
				  struct pd_error *error)
{
	bool plain = false, changed = false;
	enum pd_status status = PD_OK;

	while (*words) {
		size_t length = strcspn(words, ",");
		const char *word = words;
		bool remove = *word == '-', sign = remove || *word == '+';
		uint32_t field = 0;

		words += length + (words[length] == ',');
		word += sign;
		length -= sign;
		if (!length)
			continue;
		plain |= !sign;
		changed |= sign;
		if (plain && changed)
			return pd_fail(
				error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				"field lists with + or - cannot be combined with names that replace the default");
		status = find_field(word, length, &field, error);
		if (status != PD_OK)
			return status;
		if (field == FIELD_FLAGS)
			change_flags(fields, remove);
		else if (kind == KIND_COUNT)
			change_all(fields, field, remove);
		else
			status = change_kind(fields, kind, field, remove, error);
		if (status != PD_OK)
			return status;
	}
	return PD_OK;
}

enum pd_status pd_sample_fields_parse(struct pd_sample_fields fields[KIND_COUNT], const char *argument,
				      struct pd_error *error)
{
	const char *colon = strchr(argument, ':');
	size_t kind = KIND_COUNT;
	enum pd_status status;

	if (colon) {
		status = find_kind(argument, (size_t)(colon - argument), &kind, error);
		if (status != PD_OK)
			return status;
		argument = colon + 1;
		if (!strchr(argument, '+') && !strchr(argument, '-'))
			fields[kind].shown = 0;
		fields[kind].by_user = true;
		fields[kind].by_wildcard = false;
	} else if (!*argument) {
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "no fields are left for any event type");
	} else if (!strchr(argument, '+') && !strchr(argument, '-')) {
		/* The - of bpf-output counts too: with it a list adds to what is there. */
		for (size_t i = 0; i < KIND_COUNT; i++) {
			fields[i].shown = 0;
			fields[i].by_user = true;
			fields[i].by_wildcard = true;
		}
	}
	return parse_words(fields, argument, kind, error);
}

static bool has_feature(const struct pd_header *header, unsigned feature)
{
	return header->feature_bits[feature / 64] >> feature % 64 & 1;
}

/* What a decoded trace may have although its event does not. */
#define OF_TRACES (FIELD_CPU | FIELD_ADDR | FIELD_DATA_SRC | FIELD_WEIGHT | FIELD_PHYS_ADDR | FIELD_IREGS)

enum pd_status pd_sample_fields_check(struct pd_sample_fields fields[KIND_COUNT], const struct pd_event *event,
				      const struct pd_header *header, struct pd_error *error)
{
	bool has_trace = has_feature(header, PD_FEATURE_AUXTRACE);
	struct pd_sample_fields *own = &fields[pd_event_kind(event)];
	uint64_t has = event->attr->sample_type;

	if (own->checked || has_feature(header, PD_FEATURE_STAT))
		return PD_OK;
	own->checked = true;
	if ((own->shown & FIELD_TOD) && !has_feature(header, PD_FEATURE_CLOCK_DATA))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "Can't provide 'tod' time, missing clock data. Please record with -k/--clockid option.");
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		uint32_t field = UINT32_C(1) << i;

		if (!(own->shown & field) || !table[i].needs || (has & table[i].needs))
			continue;
		if ((own->set & field) && has_trace && (field & OF_TRACES))
			continue;
		if (own->set & field) {
			/* perf's sentence, which perf2bolt looks for */
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				       "Samples for '%s' event do not have %s attribute set. Cannot print '%s' field.",
				       event->name, table[i].attribute, table[i].word);
		}
		own->shown &= ~field;
	}
	return PD_OK;
}

void pd_sample_fields_warn_unmet(const struct pd_sample_fields fields[KIND_COUNT], pd_warn_fn *warn, void *self)
{
	char sentence[128];

	for (size_t kind = 0; kind < KIND_COUNT; kind++) {
		if (!fields[kind].by_user || fields[kind].by_wildcard || fields[kind].checked)
			continue;
		snprintf(sentence, sizeof(sentence), "no %s events in the file: their -F has no effect",
			 kinds[kind].text);
		warn(self, sentence);
	}
}
