/* SPDX-License-Identifier: MIT */
/* perfdata scrub --verify: searches a result for names of its original. */
#include "scrub/scrub.h"

enum {
	MIN_SEARCHED = 4
};

static void print_search(const struct pd_scrub_search *search, bool as_json, struct pd_text *text)
{
	struct pd_json json = { text };

	if (!as_json) {
		pd_scrub_search_text(search, text);
		return;
	}
	pd_json_open(&json, NULL, '{');
	pd_scrub_search_json(search, &json);
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}

int scrub_verify(const struct pd_scrub_options *options, struct option_number min_length, bool json,
		 const struct call *call)
{
	size_t min = min_length.given ? (size_t)min_length.value : MIN_SEARCHED;
	struct pd_scrub_search_result result;
	struct pd_scrub_search *search;
	struct pd_error error;
	enum pd_status status;

	if (call->word_count != 2 || min < MIN_SEARCHED)
		return print_failure(CODE_USAGE, call->word_count != 2 ?
							 "--verify requires two files: ORIGINAL and RESULT" :
							 "option --min-length: must be at least 4");
	status = pd_scrub_search_new(call->words[0], call->words[1], options, min, &search, &error);
	if (status < 0)
		return code_with_error(status, &error);
	print_search(search, json, call->out->text);
	pd_scrub_search_count(search, &result);
	pd_scrub_search_free(search);
	return result.find_count ? CODE_DAMAGED : CODE_OK;
}
