/* SPDX-License-Identifier: MIT */
/* The page that web/ makes, with the data of recordings in it. */
#include <string.h>

#include "base/error.h"
#include "base/text/text.h"
#include "view/view.h"

extern const char pd_viewer_template[];

enum {
	PIECE_BYTES = 3 << 14 // of data that are written at once; whole groups of three
};

static const char title_mark[] = "@@TITLE@@", data_mark[] = "@@DATA@@";

// Three bytes are four characters.
static void put_base64(struct pd_text *text, const uint8_t *data, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		size_t left = size - i;
		uint32_t three = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
				 (left > 2 ? data[i + 2] : 0);

		pd_text_char(text, digits[three >> 18]);
		pd_text_char(text, digits[three >> 12 & 63]);
		pd_text_char(text, left > 1 ? digits[three >> 6 & 63] : '=');
		pd_text_char(text, left > 2 ? digits[three & 63] : '=');
	}
}

static void put_data(struct pd_text *text, struct pd_bytes data)
{
	for (size_t at = 0; at < data.size && !text->failed; at += PIECE_BYTES) {
		put_base64(text, data.data + at, data.size - at < PIECE_BYTES ? data.size - at : PIECE_BYTES);
		pd_text_flush_large(text);
	}
}

// Adds the page up to a mark; returns what is after it.
static const char *put_until(struct pd_text *text, const char *page, const char *mark)
{
	const char *end = strstr(page, mark);

	pd_text_put(text, page, end ? (size_t)(end - page) : strlen(page));
	return end ? end + strlen(mark) : page + strlen(page);
}

enum pd_status pd_viewer_page(struct pd_text *text, const char *title, const struct pd_bytes *data, size_t count,
			      struct pd_error *error)
{
	const char *page = put_until(text, pd_viewer_template, title_mark);

	pd_text_html(text, title, strlen(title));
	page = put_until(text, page, data_mark);
	for (size_t i = 0; i < count; i++) {
		if (i)
			pd_text_char(text, ',');
		put_data(text, data[i]);
	}
	pd_text_add(text, page);
	pd_text_flush_large(text);
	if (text->sink_failed)
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output cannot be written");
	return text->failed ? pd_fail_memory(error) : PD_OK;
}

struct pd_str pd_viewer_policy(void)
{
	static const char before[] = "http-equiv=\"Content-Security-Policy\" content=\"";
	const char *policy = strstr(pd_viewer_template, before);

	if (!policy)
		return (struct pd_str){ "default-src 'none'", 18 };
	policy += sizeof(before) - 1;
	return (struct pd_str){ policy, strcspn(policy, "\"") };
}
