/* SPDX-License-Identifier: MIT */
/*
 * Strings of recordings as the text of elements of XML, such as pictures in SVG. What is not plain, see pd_text_plain, is a question mark,
 * and so is what XML does not have.
 */
#ifndef PD_BASE_TEXT_XML_H
#define PD_BASE_TEXT_XML_H

#include <perfdata/text.h>

// At most so many characters.
void pd_xml_characters(struct pd_text *text, const char *string, size_t most);
// How many characters these would be.
size_t pd_xml_length(const char *string);

#endif
