/* SPDX-License-Identifier: MIT */
/**
 * explain.h - what the tables of the format say of a name, or all of it.
 *
 * Threads: a text is printed by one thread at a time.
 *
 * Example:
 *
 *	if (pd_explain(text, "MMAP2", PD_EXPLAIN_TEXT, &error) == PD_OK)
 *		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 */
#ifndef PERFDATA_EXPLAIN_H
#define PERFDATA_EXPLAIN_H

#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pd_explain_as {
	PD_EXPLAIN_TEXT, /* for people; of everything a list of names */
	PD_EXPLAIN_C,    /* the structs of format.h */
	PD_EXPLAIN_JSON, /* one object per line */
	PD_EXPLAIN_MAN,  /* roff; of everything the manual page perf.data(5) */
	PD_EXPLAIN_MARKDOWN
};

/** Explains every record, feature, part of them, set of bits or names, field (layout.field), number and problem code with a
 * name, in upper or lower case; NULL: everything. Errors: PD_ERROR_NO_MATCH; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_explain(struct pd_text *text, const char *name, enum pd_explain_as as, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
