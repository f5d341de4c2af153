/* SPDX-License-Identifier: MIT */
/* Which samples of a store, as people type it, and as a condition of SQL. */
#include "store/store.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"

enum {
	LEAST_DIGITS = 4, // of a recording
	NS_PER_SECOND = 1000000000
};

struct kept {
	struct pd_store_choice choice; // first: what the caller sees
	struct pd_arena arena;
	const char **labels;
	size_t capacity;
};

// ---- times ----

// "7d", "12h", "30m": ago.
static bool take_ago(const char *text, uint64_t *time_out)
{
	static const struct {
		char sign;
		unsigned seconds;
	} units[] = { { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };
	char *end;
	unsigned long long number = strtoull(text, &end, 10);
	uint64_t now = (uint64_t)time(NULL);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (*end == units[i].sign && !end[1] && number < now / units[i].seconds) {
			*time_out = now - number * units[i].seconds;
			return true;
		}
	return false;
}

// "2026-11-28", "2026-11-28T10:30" or "...:59", in UTC.
static bool take_date(const char *text, uint64_t *time_out)
{
	static const char *const forms[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm day = { 0 };
		const char *end = strptime(text, forms[i], &day);
		time_t found = end && !*end ? timegm(&day) : 0;

		if (found > 0) {
			*time_out = (uint64_t)found;
			return true;
		}
	}
	return false;
}

// Nothing: open.
static bool take_time(const char *text, uint64_t *ns_out)
{
	uint64_t seconds = 0;

	if (*text && !(isdigit((unsigned char)*text) && (take_ago(text, &seconds) || take_date(text, &seconds))))
		return false;
	*ns_out = seconds < UINT64_MAX / NS_PER_SECOND ? seconds * NS_PER_SECOND : UINT64_MAX;
	return true;
}

static bool take_range(char *text, char *dots, struct pd_store_choice *choice)
{
	*dots = 0;
	if (take_time(text, &choice->from_ns) && take_time(dots + 2, &choice->to_ns))
		return true;
	*dots = '.';
	return false;
}

// ---- what people type ----

static bool is_profile(const char *text)
{
	return strlen(text) >= LEAST_DIGITS && text[strspn(text, "0123456789abcdef")] == 0;
}

static enum pd_status take_term(struct kept *kept, char *term, struct pd_error *error)
{
	char *dots = strstr(term, "..");

	if (strchr(term, '=') && *term != '=') {
		if (!PD_GROW(kept->labels, kept->capacity, kept->choice.label_count + 1))
			return pd_fail_memory(error);
		kept->labels[kept->choice.label_count++] = term;
	} else if (is_profile(term)) {
		kept->choice.profile = term;
	} else if (!dots || !take_range(term, dots, &kept->choice)) {
		return pd_fail(
			error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			"'%s' is no KEY=VALUE, no FROM..TO of times (2026-11-28, 2026-11-28T10:30, 7d, 12h), and no recording",
			term);
	}
	return PD_OK;
}

// Up to a comma; one behind a backslash is part of it. Returns where the next one begins, or NULL.
static const char *split_term(const char *text, char *term)
{
	for (; *text && *text != ','; text++) {
		text += *text == '\\' && text[1];
		*term++ = *text;
	}
	*term = 0;
	return *text ? text + 1 : NULL;
}

static enum pd_status take_word(struct kept *kept, const char *word, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	while (status >= 0 && word) {
		char *term = pd_arena_alloc(&kept->arena, strlen(word) + 1);

		if (!term)
			return pd_fail_memory(error);
		word = split_term(word, term);
		status = *term ? take_term(kept, term, error) : PD_OK;
	}
	return status;
}

enum pd_status pd_store_choice_new(const char *const *words, size_t count, const char *credentials,
				   struct pd_store_choice **choice_out, struct pd_error *error)
{
	struct kept *kept = pd_alloc(sizeof(*kept));
	enum pd_status status = kept ? PD_OK : pd_fail_memory(error);

	for (size_t i = 0; status >= 0 && i < count; i++)
		status = take_word(kept, words[i], error);
	if (status < 0) {
		pd_store_choice_free(kept ? &kept->choice : NULL);
		return status;
	}
	kept->choice.size = sizeof(kept->choice);
	kept->choice.labels = kept->labels;
	kept->choice.credentials = credentials;
	*choice_out = &kept->choice;
	return PD_OK;
}

void pd_store_choice_free(struct pd_store_choice *choice)
{
	struct kept *kept = (struct kept *)choice;

	if (!kept)
		return;
	pd_free(kept->labels);
	pd_arena_fini(&kept->arena);
	pd_free(kept);
}

// ---- SQL ----

const char *pd_store_label_value(const char *label, struct pd_error *error)
{
	const char *equals = strchr(label, '=');

	if (equals && equals != label)
		return equals + 1;
	pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "label '%s' is no KEY=VALUE", label);
	return NULL;
}

static void put_quoted(struct pd_text *text, const char *string, size_t size)
{
	pd_text_char(text, '\'');
	for (size_t i = 0; i < size; i++) {
		if (string[i] == '\'')
			pd_text_char(text, '\'');
		pd_text_char(text, string[i]);
	}
	pd_text_char(text, '\'');
}

enum pd_status pd_store_put_profiles(const struct pd_store_choice *choice, struct pd_text *text, struct pd_error *error)
{
	PD_TEXT_LITERAL(text, "true");
	for (size_t i = 0; i < choice->label_count; i++) {
		const char *label = choice->labels[i], *value = pd_store_label_value(label, error);

		if (!value)
			return PD_ERROR_ARGUMENT;
		PD_TEXT_LITERAL(text, " AND profile IN (SELECT profile FROM labels WHERE key = ");
		put_quoted(text, label, (size_t)(value - 1 - label));
		PD_TEXT_LITERAL(text, " AND value = ");
		put_quoted(text, value, strlen(value));
		pd_text_char(text, ')');
	}
	if (choice->profile) {
		pd_text_printf(text, " AND substr(profile, 1, %zu) = ", strlen(choice->profile));
		put_quoted(text, choice->profile, strlen(choice->profile));
	}
	return text->failed ? pd_fail_memory(error) : PD_OK;
}

void pd_store_put_times(const struct pd_store_choice *choice, struct pd_text *text)
{
	pd_text_printf(text, " AND time >= %" PRIu64, choice->from_ns / NS_PER_SECOND);
	if (choice->to_ns)
		pd_text_printf(text, " AND time < %" PRIu64, choice->to_ns / NS_PER_SECOND);
}

enum pd_status pd_store_put_chosen(const struct pd_store_choice *choice, struct pd_text *text, struct pd_error *error)
{
	enum pd_status status = pd_store_put_profiles(choice, text, error);

	PD_TEXT_LITERAL(text, " AND EXISTS (SELECT 1 FROM samples s WHERE s.profile = p.profile");
	pd_store_put_times(choice, text);
	pd_text_char(text, ')');
	return status;
}

enum pd_status pd_store_ask_for(struct pd_sql_database *database, const struct pd_store_choice *choice,
				const char *before, const char *after, struct pd_sql_statement **row_out,
				struct pd_error *error)
{
	struct pd_text text = { 0 };
	const char *rest;
	enum pd_status status;

	pd_text_add(&text, before);
	status = pd_store_put_profiles(choice, &text, error);
	pd_store_put_times(choice, &text);
	pd_text_add(&text, after);
	pd_text_char(&text, 0);
	if (status >= 0)
		status = text.failed ? pd_fail_memory(error) :
				       pd_sql_sqlite.prepare(database, text.data, row_out, &rest, error);
	pd_free(text.data);
	return status;
}
