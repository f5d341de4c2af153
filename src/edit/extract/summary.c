/* SPDX-License-Identifier: MIT */
/* What an extraction kept, in words and as JSON. */
#include <inttypes.h>

#include <perfdata/json.h>

#include "base/text/text.h"
#include "edit/extract/extract.h"

void pd_extract_weights_text(const struct pd_extract *extract, struct pd_text *text)
{
	const struct pd_extract_result *result = &extract->result;

	if (result->unscaled_count)
		pd_text_printf(text,
			       "%" PRIu64 " samples of frequency events have no period: their sums are now %" PRIu64
			       " times smaller, percentages are unchanged\n",
			       result->unscaled_count, extract->options.rate);
	if (result->overflow_count)
		pd_text_printf(text, "%" PRIu64 " periods overflow 64 bits and were set to the maximum\n",
			       result->overflow_count);
}

// "3 of 1,000 samples"; all: "all 3" where none is missing. How many more there are may not be known.
static void print_kept(struct pd_text *text, const char *noun, uint64_t kept, uint64_t count, bool all, bool ended)
{
	if (!ended && all && kept == count)
		pd_text_add(text, "all ");
	else
		pd_text_grouped(text, kept);
	if (!ended && !(all && kept == count))
		pd_text_add(text, " of ");
	if (!ended)
		pd_text_grouped(text, count);
	pd_text_printf(text, " %s%s", noun, pd_plural(ended ? kept : count));
}

void pd_extract_text(const struct pd_extract *extract, struct pd_text *text)
{
	const struct pd_extract_result *result = &extract->result;

	pd_text_add(text, result->ended ? "kept the first " : "kept ");
	print_kept(text, "sample", result->kept_sample_count, result->sample_count, false, result->ended);
	pd_text_add(text, result->ended ? ", and " : ", ");
	print_kept(text, "other record", result->kept_other_count, result->other_count, true, result->ended);
	pd_text_add(text, "\n");
}

static void json_kept(struct pd_json *json, const char *name, uint64_t kept, uint64_t count)
{
	pd_json_open(json, name, '{');
	pd_json_number(json, "kept", kept);
	pd_json_number(json, "of", count);
	pd_json_close(json, '}');
}

void pd_extract_json(const struct pd_extract *extract, struct pd_text *text)
{
	const struct pd_extract_result *result = &extract->result;
	struct pd_json json = { .text = text };

	pd_json_open(&json, NULL, '{');
	json_kept(&json, "samples", result->kept_sample_count, result->sample_count);
	json_kept(&json, "records", result->kept_other_count, result->other_count);
	pd_json_offset(&json, "first_ns", result->first_ns ? result->first_ns : PD_NO_TIME);
	pd_json_offset(&json, "last_ns", result->last_ns ? result->last_ns : PD_NO_TIME);
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}
