/* SPDX-License-Identifier: MIT */
/* What a scrub did: with each class of values, and which records and features it dropped. */
#include "edit/scrub/scrub.h"

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
