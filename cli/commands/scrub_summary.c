/* SPDX-License-Identifier: MIT */
#include "commands/scrub_summary.h"

#include <inttypes.h>
#include <stdio.h>

/* Adds ", what (how many)" to a list. */
static void add_item(struct pd_text *list, const char *what, uint64_t count)
{
	pd_text_printf(list, "%s%s (%" PRIu64 ")", pd_text_bytes(list).size ? ", " : "", what, count);
}

static void print_list(const char *head, struct pd_text *list)
{
	struct pd_bytes bytes = pd_text_bytes(list);

	if (bytes.size)
		complain("%s: %.*s", head, (int)bytes.size, (const char *)bytes.data);
	pd_text_clear(list);
}

static void print_dropped(const struct pd_scrub *scrub, struct pd_text *list)
{
	char unknown[40];
	uint64_t bytes;

	for (uint32_t type = 0; type < PD_SCRUB_TYPES; type++) {
		const char *name = type < PD_SCRUB_OTHER_TYPES ? pd_record_name(type) : "records of other types";

		snprintf(unknown, sizeof(unknown), "records of type %" PRIu32, type);
		if (pd_scrub_dropped_records(scrub, type))
			add_item(list, name ? name : unknown, pd_scrub_dropped_records(scrub, type));
	}
	print_list("dropped records", list);
	for (unsigned feature = 0; feature < PD_FEATURE_LIMIT; feature++) {
		const char *name = pd_feature_name(feature);

		if (pd_scrub_dropped_feature(scrub, feature, &bytes))
			add_item(list, name ? name : "unknown feature", bytes);
	}
	print_list("dropped features, in bytes", list);
}

/* How many values, or of names how many different ones, were treated as their class is. */
static uint64_t count_of(const struct pd_scrub_class *class)
{
	if (!class->distinct_count)
		return class->value_count;
	return class->distinct_count - (class->action == PD_SCRUB_REPLACE ? class->kept_count : 0);
}

static void print_classes(const struct pd_scrub *scrub, struct pd_text *list)
{
	static const char *const did[] = { "kept", "replaced", "moved", "zeroed", "dropped data" };
	struct pd_scrub_class class;

	for (size_t action = 0; action < sizeof(did) / sizeof(did[0]); action++) {
		for (size_t i = 0; pd_scrub_class_at(scrub, i, &class); i++) {
			if (class.action == (enum pd_scrub_action)action && *class.text && count_of(&class))
				add_item(list, class.text, count_of(&class));
		}
		print_list(did[action], list);
	}
	for (size_t i = 0; pd_scrub_class_at(scrub, i, &class); i++) {
		if (class.kept_count && class.action == PD_SCRUB_REPLACE)
			add_item(list, class.name, class.kept_count);
	}
	print_list("names kept (common names, and --keep)", list);
}

void scrub_summary(const struct pd_scrub *scrub, const struct pd_scrub_result *result, enum pd_scrub_level level,
		   bool random_key)
{
	struct pd_text *list = pd_text_new();
	uint64_t dropped = result->dropped_known_count + result->dropped_unknown_count + result->dropped_damaged_count;

	complain("kept %" PRIu64 " sample%s and %" PRIu64 " other record%s, dropped %" PRIu64 " sample%s and %" PRIu64
		 " other record%s",
		 result->sample_count, plural(result->sample_count), result->other_count, plural(result->other_count),
		 result->dropped_sample_count, plural(result->dropped_sample_count), dropped, plural(dropped));
	if (list) {
		print_dropped(scrub, list);
		print_classes(scrub, list);
	}
	pd_text_free(list);
	if (result->large_map_count)
		complain("%" PRIu64 " mapping%s %s too large: addresses in them are replaced", result->large_map_count,
			 plural(result->large_map_count), was_or_were(result->large_map_count));
	complain("not hidden: counts, sizes, flags, order%s",
		 level < PD_SCRUB_ALL ? ", times, PIDs, CPUs, build ids, the machine" : "");
	if (random_key)
		complain("random key: names cannot be matched with those of other results (use --key)");
}

void scrub_summary_json(const struct pd_scrub *scrub, enum pd_scrub_level level, bool random_key, struct pd_text *text)
{
	static const char *const levels[] = { "names", "addresses", "all" };
	struct pd_json json = { text };

	pd_json_open(&json, NULL, '{');
	pd_json_string(&json, "hide", levels[level]);
	pd_json_string(&json, "key", random_key ? "random" : "given");
	pd_scrub_json(scrub, &json);
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}

int scrub_finds(const struct pd_scrub_search *search, size_t min_length, struct pd_text *text)
{
	struct pd_scrub_search_result result;
	struct pd_scrub_find find;

	for (size_t i = 0; pd_scrub_search_at(search, i, &find); i++) {
		pd_text_printf(text, "found %-9s ", find.class_name);
		pd_text_escaped(text, (const char *)find.name.data, find.name.size);
		pd_text_printf(text, ": %" PRIu64 " times, first in %s at offset 0x%" PRIx64 "\n", find.count,
			       find.where, find.offset);
	}
	pd_scrub_search_count(search, &result);
	pd_text_printf(text, "%zu of %zu strings found in %" PRIu64 " bytes", result.find_count, result.name_count,
		       result.searched_bytes);
	pd_text_printf(text, "; %" PRIu64 " more only inside known words, %" PRIu64 " shorter than %zu bytes ignored\n",
		       result.excused_count, result.too_short_count, min_length);
	return result.find_count ? CODE_DAMAGED : CODE_FINE;
}

int scrub_finds_json(const struct pd_scrub_search *search, struct pd_text *text)
{
	struct pd_scrub_search_result result;
	struct pd_json json = { text };
	struct pd_scrub_find find;

	pd_json_open(&json, NULL, '{');
	pd_json_open(&json, "found", '[');
	for (size_t i = 0; pd_scrub_search_at(search, i, &find); i++) {
		pd_json_open(&json, NULL, '{');
		pd_json_string(&json, "class", find.class_name);
		pd_json_string(&json, "text", (const char *)find.name.data);
		pd_json_number(&json, "count", find.count);
		pd_json_string(&json, "where", find.where);
		pd_json_number(&json, "offset", find.offset);
		pd_json_close(&json, '}');
	}
	pd_json_close(&json, ']');
	pd_scrub_search_count(search, &result);
	pd_json_number(&json, "searched", result.name_count);
	pd_json_number(&json, "known_to_all", result.excused_count);
	pd_json_number(&json, "too_short", result.too_short_count);
	pd_json_number(&json, "bytes", result.searched_bytes);
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
	return result.find_count ? CODE_DAMAGED : CODE_FINE;
}
