/* SPDX-License-Identifier: MIT */
/* Strings of recordings as text of XML. */
#include "base/text/xml.h"

void pd_xml_text(struct pd_text *text, const char *string, size_t length)
{
	for (size_t i = 0; i < length && string[i];) {
		size_t plain = pd_text_plain(string + i, length - i);
		char c = string[i];

		if (c == '<' || c == '>' || c == '&' || !plain)
			pd_text_add(text, c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : "?");
		else
			pd_text_printf(text, "%.*s", (int)plain, string + i);
		i += plain ? plain : 1;
	}
}

/* Length of a UTF-8 sequence at text, 0 if there is none. */
static size_t utf8_length(const unsigned char *text)
{
	size_t length = text[0] < 0x80                    ? 1 :
			text[0] >= 0xc2 && text[0] < 0xe0 ? 2 :
			(text[0] & 0xf0) == 0xe0          ? 3 :
			text[0] >= 0xf0 && text[0] < 0xf5 ? 4 :
							    0;

	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	}
	/* too long a form, halves of pairs, past the last code point, and what XML does not have */
	if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
	    (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f) ||
	    (text[0] == 0xef && text[1] == 0xbf && text[2] >= 0xbe))
		return 0;
	return length;
}

void pd_xml_characters(struct pd_text *text, const char *string, size_t most)
{
	const unsigned char *at = (const unsigned char *)string;

	for (size_t i = 0; i < most && *at; i++) {
		size_t length = utf8_length(at);

		if (length)
			pd_xml_text(text, (const char *)at, length);
		else
			pd_text_add(text, "?");
		at += length ? length : 1;
	}
}

size_t pd_xml_length(const char *string)
{
	size_t count = 0;

	for (const unsigned char *at = (const unsigned char *)string; *at; count++) {
		size_t length = utf8_length(at);

		at += length ? length : 1;
	}
	return count;
}
