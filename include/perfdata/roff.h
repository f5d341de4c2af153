/* SPDX-License-Identifier: MIT */
/**
 * roff.h - text for manual pages: escapes, and the few macros of man(7) that pages use.
 *
 * Threads: a text is printed by one thread at a time.
 *
 * Example:
 *
 *	pd_roff_title(text, "PERFDATA", 1);
 *	pd_roff_section(text, "NAME");
 *	pd_roff_add(text, "perfdata - reads perf.data");
 */
#ifndef PERFDATA_ROFF_H
#define PERFDATA_ROFF_H

#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** .TH: title in capitals, section, and the name and version of perfdata. */
PD_API void pd_roff_title(struct pd_text *text, const char *title, unsigned section);
PD_API void pd_roff_section(struct pd_text *text, const char *name);
PD_API void pd_roff_subsection(struct pd_text *text, const char *name);
/** Words inside a line, with everything that roff would obey escaped. */
PD_API void pd_roff_add(struct pd_text *text, const char *words);
PD_API void pd_roff_bold(struct pd_text *text, const char *words);
PD_API void pd_roff_italic(struct pd_text *text, const char *words);
/** Paragraphs that are separated by empty lines. */
PD_API void pd_roff_paragraphs(struct pd_text *text, const char *words);
/** Starts an item; its tag is what is added until the next end of a line. */
PD_API void pd_roff_item(struct pd_text *text);

#ifdef __cplusplus
}
#endif
#endif
