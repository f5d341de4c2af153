/* SPDX-License-Identifier: MIT */
/*
 * Text for manual pages: escapes, and the few macros of man(7) that the pages use.
 */
#ifndef CLI_ROFF_H
#define CLI_ROFF_H

#include <perfdata/perfdata.h>

/* .TH: title in capitals, section, and the line that names the program. */
void roff_title(struct pd_text *text, const char *title, unsigned section);
void roff_section(struct pd_text *text, const char *name);
void roff_subsection(struct pd_text *text, const char *name);
/* Words inside a line, with everything that roff would obey escaped. */
void roff_add(struct pd_text *text, const char *words);
void roff_bold(struct pd_text *text, const char *words);
void roff_italic(struct pd_text *text, const char *words);
/* Paragraphs that are parted by empty lines. */
void roff_paragraphs(struct pd_text *text, const char *words);
/* Starts an item; its tag is what is added until the next line end. */
void roff_item(struct pd_text *text);

#endif
