/* SPDX-License-Identifier: MIT */
/* Strings of recordings as text of XML. */
#include "base/text/xml.h"

#include <string.h>

#include "base/text/text.h"

enum {
	LONGEST = 4 // bytes of a character
};

// Length of a character that XML has and that is plain, 0 if there is none. Noncharacters of Unicode are none.
static size_t length_of(const char *string)
{
	size_t length = pd_text_plain(string, strnlen(string, LONGEST));

	return length == 3 && !memcmp(string, "\xef\xbf", 2) && (uint8_t)string[2] >= 0xbe ? 0 : length;
}

void pd_xml_characters(struct pd_text *text, const char *string, size_t most)
{
	for (size_t i = 0; i < most && *string; i++) {
		size_t length = length_of(string);
		const char *entity = *string == '<' ? "&lt;" :
				     *string == '>' ? "&gt;" :
				     *string == '&' ? "&amp;" :
						      NULL;

		if (entity || !length)
			pd_text_add(text, entity ? entity : "?");
		else
			pd_text_put(text, string, length);
		string += length ? length : 1;
	}
}

size_t pd_xml_length(const char *string)
{
	size_t count = 0;

	for (; *string; count++) {
		size_t length = length_of(string);

		string += length ? length : 1;
	}
	return count;
}
