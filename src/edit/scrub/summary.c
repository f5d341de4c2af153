/* SPDX-License-Identifier: MIT */
/* What a scrub did: with each class of values, and which records and features it dropped. */
#include "edit/scrub/scrub.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"

bool pd_scrub_class_at(const struct pd_scrub *scrub, size_t index, struct pd_scrub_class *class_out)
{
	const struct pd_scrub_counts *counts = &scrub->counts;
	size_t class = index + 1;

	if (class >= PD_CLASS_COUNT)
		return false;
	*class_out = (struct pd_scrub_class){
		.name = pd_scrub_classes[class].name,
		.text = pd_scrub_classes[class].text,
		.action = pd_scrub_action(scrub, (enum pd_value_class) class),
		.value_count = counts->values[class],
		.distinct_count = counts->distinct[class],
		.kept_count = counts->kept[class],
	};
	return true;
}

uint64_t pd_scrub_dropped_records(const struct pd_scrub *scrub, uint32_t type)
{
	return type < PD_SCRUB_TYPES ? scrub->counts.dropped_types[type] : 0;
}

bool pd_scrub_dropped_feature(const struct pd_scrub *scrub, unsigned feature, uint64_t *bytes_out)
{
	if (feature >= PD_FEATURE_LIMIT || !scrub->counts.dropped_features[feature])
		return false;
	*bytes_out = scrub->counts.dropped_features[feature] - 1;
	return true;
}

static void add_features(const struct pd_scrub *scrub, struct pd_json *json)
{
	uint64_t bytes;

	pd_json_open(json, "dropped_features", '[');
	for (unsigned feature = 0; feature < PD_FEATURE_LIMIT; feature++) {
		if (!pd_scrub_dropped_feature(scrub, feature, &bytes))
			continue;
		pd_json_open(json, NULL, '{');
		pd_json_number(json, "number", feature);
		pd_json_string(json, "name", pd_feature_name(feature));
		pd_json_number(json, "bytes", bytes);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

static void add_classes(const struct pd_scrub *scrub, struct pd_json *json)
{
	static const char *const actions[] = { "keep", "replace", "move", "zero", "drop" };
	struct pd_scrub_class class;

	pd_json_open(json, "classes", '[');
	for (size_t i = 0; pd_scrub_class_at(scrub, i, &class); i++) {
		if (!*class.text)
			continue;
		pd_json_open(json, NULL, '{');
		pd_json_string(json, "class", class.name);
		pd_json_string(json, "what", class.text);
		pd_json_string(json, "action", actions[class.action]);
		pd_json_number(json, "values", class.value_count);
		pd_json_number(json, "distinct", class.distinct_count);
		pd_json_number(json, "kept", class.kept_count);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

void pd_scrub_json(const struct pd_scrub *scrub, struct pd_json *json)
{
	const struct pd_scrub_result *result = &scrub->result;

	pd_json_number(json, "samples", result->sample_count);
	pd_json_number(json, "records", result->other_count);
	pd_json_number(json, "dropped_samples", result->dropped_sample_count);
	pd_json_number(json, "dropped_records",
		       result->dropped_known_count + result->dropped_unknown_count + result->dropped_damaged_count);
	pd_json_number(json, "dropped_damaged", result->dropped_damaged_count);
	pd_json_number(json, "dropped_unknown", result->dropped_unknown_count);
	pd_json_number(json, "dropped_aux_bytes", result->dropped_aux_bytes);
	add_features(scrub, json);
	add_classes(scrub, json);
	pd_json_number(json, "maps_too_large", result->large_map_count);
}

void pd_scrub_print_json(const struct pd_scrub *scrub, bool random_key, struct pd_text *text)
{
	struct pd_json json = { text };

	pd_json_open(&json, NULL, '{');
	pd_json_string(&json, "hide", pd_scrub_level_name(scrub->options.level));
	pd_json_string(&json, "key", random_key ? "random" : "given");
	pd_scrub_json(scrub, &json);
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}

/* ---- as text ---- */

/* A line: what it is about, and items with their counts; nothing if there are none. */
struct item_line {
	struct pd_text *text;
	const char *head;
	bool has_items;
};

static void add_item(struct item_line *line, const char *what, uint64_t count)
{
	pd_text_printf(line->text, "%s%s%s (%" PRIu64 ")", line->has_items ? ", " : line->head,
		       line->has_items ? "" : ": ", what, count);
	line->has_items = true;
}

static void end_line(const struct item_line *line)
{
	if (line->has_items)
		pd_text_add(line->text, "\n");
}

static void print_dropped_records(const struct pd_scrub *scrub, struct pd_text *text)
{
	struct item_line line = { text, "dropped records", false };
	char unknown[40];

	for (uint32_t type = 0; type < PD_SCRUB_TYPES; type++) {
		const char *name = type < PD_SCRUB_OTHER_TYPES ? pd_record_name(type) : "records of other types";
		uint64_t count = pd_scrub_dropped_records(scrub, type);

		snprintf(unknown, sizeof(unknown), "records of type %" PRIu32, type);
		if (count)
			add_item(&line, name ? name : unknown, count);
	}
	end_line(&line);
}

static void print_dropped_features(const struct pd_scrub *scrub, struct pd_text *text)
{
	struct item_line line = { text, "dropped features, in bytes", false };
	uint64_t bytes;

	for (unsigned feature = 0; feature < PD_FEATURE_LIMIT; feature++) {
		const char *name = pd_feature_name(feature);

		if (pd_scrub_dropped_feature(scrub, feature, &bytes))
			add_item(&line, name ? name : "unknown feature", bytes);
	}
	end_line(&line);
}

/* Number of values, or of names the number of different ones, that the action of their class was applied to. */
static uint64_t treated_count(const struct pd_scrub_class *class)
{
	if (!class->distinct_count)
		return class->value_count;
	return class->distinct_count - (class->action == PD_SCRUB_REPLACE ? class->kept_count : 0);
}

static void print_classes(const struct pd_scrub *scrub, struct pd_text *text)
{
	static const char *const actions[] = { "kept", "replaced", "moved", "zeroed", "dropped data" };
	struct item_line kept = { text, "names kept (common names, and --keep)", false };
	struct pd_scrub_class class;

	for (size_t action = 0; action < sizeof(actions) / sizeof(actions[0]); action++) {
		struct item_line line = { text, actions[action], false };

		for (size_t i = 0; pd_scrub_class_at(scrub, i, &class); i++) {
			if (class.action == (enum pd_scrub_action)action && *class.text && treated_count(&class))
				add_item(&line, class.text, treated_count(&class));
		}
		end_line(&line);
	}
	for (size_t i = 0; pd_scrub_class_at(scrub, i, &class); i++) {
		if (class.kept_count && class.action == PD_SCRUB_REPLACE)
			add_item(&kept, class.name, class.kept_count);
	}
	end_line(&kept);
}

void pd_scrub_print_name(struct pd_text *text, const char *class_name, struct pd_bytes from, struct pd_bytes to)
{
	pd_text_printf(text, "%s\t", class_name);
	pd_text_escaped(text, (const char *)to.data, to.size);
	pd_text_char(text, '\t');
	pd_text_escaped(text, (const char *)from.data, from.size);
	pd_text_char(text, '\n');
}

void pd_scrub_text(const struct pd_scrub *scrub, struct pd_text *text)
{
	const struct pd_scrub_result *result = &scrub->result;
	uint64_t dropped = result->dropped_known_count + result->dropped_unknown_count + result->dropped_damaged_count;

	pd_text_printf(text,
		       "kept %" PRIu64 " sample%s and %" PRIu64 " other record%s, dropped %" PRIu64
		       " sample%s and %" PRIu64 " other record%s\n",
		       result->sample_count, pd_plural(result->sample_count), result->other_count,
		       pd_plural(result->other_count), result->dropped_sample_count,
		       pd_plural(result->dropped_sample_count), dropped, pd_plural(dropped));
	print_dropped_records(scrub, text);
	print_dropped_features(scrub, text);
	print_classes(scrub, text);
	if (result->large_map_count)
		pd_text_printf(text, "%" PRIu64 " mapping%s %s too large: addresses in them are replaced\n",
			       result->large_map_count, pd_plural(result->large_map_count),
			       pd_was_or_were(result->large_map_count));
	pd_text_printf(text, "not hidden: counts, sizes, flags, order%s\n",
		       scrub->level < PD_SCRUB_ALL ? ", times, PIDs, CPUs, build ids, the machine" : "");
}
