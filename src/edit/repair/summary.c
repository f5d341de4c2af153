/* SPDX-License-Identifier: MIT */
/* What a repair did, in words and as JSON. */
#include <perfdata/header.h>
#include <perfdata/repair.h>

#include <stdio.h>

#include "base/text/text.h"

enum {
	FEATURES = 256
};

static bool has_feature(const uint64_t bits[4], unsigned number)
{
	return bits[number / 64] >> number % 64 & 1;
}

static const char *feature_name(unsigned number, char text[16])
{
	const char *name = pd_feature_name(number);

	snprintf(text, 16, "%u", number);
	return name ? name : text;
}

/* "; dropped 3 gaps", ", 1 byte": *before is what comes before the next item of a list. */
static void print_count(struct pd_text *text, const char **before, uint64_t count, const char *one, const char *many)
{
	if (!count)
		return;
	pd_text_printf(text, "%s ", *before);
	pd_text_grouped(text, count);
	pd_text_printf(text, " %s", count == 1 ? one : many);
	*before = ",";
}

static void print_features(struct pd_text *text, const char *before, const uint64_t bits[4])
{
	char number[16];

	for (unsigned i = 0; i < FEATURES; i++) {
		if (!has_feature(bits, i))
			continue;
		pd_text_printf(text, "%s %s", before, feature_name(i, number));
		before = ",";
	}
}

static void print_losses(const struct pd_losses *losses, const char **before, struct pd_text *text)
{
	print_count(text, before, losses->records, "damaged record", "damaged records");
	print_count(text, before, losses->places, "gap", "gaps");
	if (losses->records || losses->places)
		print_count(text, before, losses->bytes, "byte in them", "bytes in them");
	print_count(text, before, losses->cut_bytes, "byte of a truncated record at the end",
		    "bytes of a truncated record at the end");
	print_count(text, before, losses->packed_bytes, "compressed byte", "compressed bytes");
}

void pd_repair_text(const struct pd_repair_result *result, bool written, uint64_t corrected_count, struct pd_text *text)
{
	const char *before = "; dropped";
	unsigned features = 0;

	for (unsigned i = 0; i < FEATURES; i++)
		features += has_feature(result->kept_features, i);
	pd_text_add(text, written ? "kept " : "would keep ");
	pd_text_grouped(text, result->record_count);
	pd_text_printf(text, " record%s (", pd_plural(result->record_count));
	pd_text_grouped(text, result->sample_count);
	pd_text_printf(text, " sample%s) and %u feature%s", pd_plural(result->sample_count), features,
		       pd_plural(features));
	print_losses(&result->losses, &before, text);
	print_features(text, *before == ',' ? ", features" : "; dropped features", result->dropped_features);
	print_features(text, "; regenerated", result->made_features);
	before = "; corrected";
	print_count(text, &before, corrected_count, "invalid value", "invalid values");
	pd_text_add(text, "\n");
}

static void features_json(struct pd_json *json, const char *name, const uint64_t bits[4])
{
	char number[16];

	pd_json_open(json, name, '[');
	for (unsigned i = 0; i < FEATURES; i++) {
		if (has_feature(bits, i))
			pd_json_string(json, NULL, feature_name(i, number));
	}
	pd_json_close(json, ']');
}

void pd_repair_problem_json(const struct pd_problem *problem, struct pd_json *list)
{
	pd_json_open(list, NULL, '{');
	pd_json_string(list, "severity", pd_severity_name(problem->severity));
	pd_json_string(list, "code", problem->code);
	pd_json_offset(list, "offset", problem->offset);
	pd_json_string(list, "field", problem->field);
	pd_json_string(list, "message", problem->message);
	pd_json_close(list, '}');
}

void pd_repair_json(const struct pd_repair_result *result, struct pd_json *json)
{
	pd_json_open(json, "records", '{');
	pd_json_number(json, "kept", result->record_count);
	pd_json_number(json, "samples", result->sample_count);
	pd_json_number(json, "left_out", result->losses.records);
	pd_json_number(json, "gaps", result->losses.places);
	pd_json_number(json, "bytes", result->losses.bytes);
	pd_json_number(json, "torn_bytes", result->losses.cut_bytes);
	pd_json_number(json, "compressed_bytes", result->losses.packed_bytes);
	pd_json_close(json, '}');
	pd_json_open(json, "features", '{');
	features_json(json, "kept", result->kept_features);
	features_json(json, "left_out", result->dropped_features);
	features_json(json, "made", result->made_features);
	pd_json_close(json, '}');
}

void pd_repair_print_json(struct pd_text *text, const struct pd_repair_result *result, const char *file,
			  const char *output, const struct pd_text *problems, uint64_t problem_count,
			  uint64_t corrected_count)
{
	struct pd_json json = { .text = text };

	pd_json_open(&json, NULL, '{');
	pd_json_string(&json, "file", file);
	pd_json_string(&json, "output", output);
	pd_repair_json(result, &json);
	pd_json_number(&json, "mended", corrected_count);
	pd_json_number(&json, "problem_count", problem_count);
	pd_json_name(&json, "problems");
	pd_text_char(text, '[');
	pd_text_put(text, problems->data, problems->size);
	pd_text_char(text, ']');
	pd_json_close(&json, '}');
	pd_text_char(text, '\n');
}
