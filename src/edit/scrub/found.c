/* SPDX-License-Identifier: MIT */
/* What a search found, as text and as JSON. */
#include <perfdata/scrub.h>

#include <inttypes.h>

#include "base/text/text.h"

void pd_scrub_search_text(const struct pd_scrub_search *search, struct pd_text *text)
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
		       result.excused_count, result.too_short_count, result.min_length);
}

void pd_scrub_search_json(const struct pd_scrub_search *search, struct pd_json *json)
{
	struct pd_scrub_search_result result;
	struct pd_scrub_find find;

	pd_json_open(json, "found", '[');
	for (size_t i = 0; pd_scrub_search_at(search, i, &find); i++) {
		pd_json_open(json, NULL, '{');
		pd_json_string(json, "class", find.class_name);
		pd_json_string(json, "text", (const char *)find.name.data);
		pd_json_number(json, "count", find.count);
		pd_json_string(json, "where", find.where);
		pd_json_number(json, "offset", find.offset);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
	pd_scrub_search_count(search, &result);
	pd_json_number(json, "searched", result.name_count);
	pd_json_number(json, "known_to_all", result.excused_count);
	pd_json_number(json, "too_short", result.too_short_count);
	pd_json_number(json, "bytes", result.searched_bytes);
}

void pd_scrub_search_print_json(const struct pd_scrub_search *search, struct pd_text *text)
{
	struct pd_json json = { text };

	pd_json_open(&json, NULL, '{');
	pd_scrub_search_json(search, &json);
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}
