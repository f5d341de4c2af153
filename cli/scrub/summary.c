/* SPDX-License-Identifier: MIT */
/* What perfdata scrub did, as the library says it, and what is to be known about the key. */
#include "scrub/scrub.h"

void scrub_print_json(const struct pd_scrub *scrub, enum pd_scrub_level level, bool random_key, struct pd_text *text)
{
	struct pd_json json = { text };

	pd_json_open(&json, NULL, '{');
	pd_json_string(&json, "hide", pd_scrub_level_name(level));
	pd_json_string(&json, "key", random_key ? "random" : "given");
	pd_scrub_json(scrub, &json);
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}

void scrub_print_summary(const struct pd_scrub *scrub, bool random_key)
{
	struct pd_text *text = pd_text_new();

	if (text) {
		pd_scrub_text(scrub, text);
		print_error_lines(text);
	}
	pd_text_free(text);
	if (random_key)
		print_error("random key: names cannot be matched with those of other results (use --key)");
}
