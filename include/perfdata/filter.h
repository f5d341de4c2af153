/* SPDX-License-Identifier: MIT */
/**
 * filter.h - filter expressions on records.
 *
 *	sample.period > 1000 && sample.cpu in (0, 2) && comm == "gcc"
 *	type == MMAP2 && mmap2.filename =~ "*.so*"
 *	sched:sched_switch.prev_pid == 5
 *
 * A name is a field of a record, as named by the format tables, or a keyword of pd_filter_word. An expression is
 * compiled once; matching a record does not allocate, and any number of threads may match concurrently. A comparison
 * with a field that a record lacks is false, with any operator. docs/selecting.md describes the language.
 *
 * Example:
 *
 *	struct pd_filter *filter;
 *
 *	if (pd_filter_new("sample.cpu in (0, 2) && sample.period > 1000", &filter, &error) == PD_OK) {
 *		while (pd_stream_next(stream, &record, &error) == PD_OK)
 *			if (pd_filter_takes(filter, record, NULL))
 *				pd_print_record(text, record);
 *		pd_filter_free(filter);
 *	}
 */
#ifndef PERFDATA_FILTER_H
#define PERFDATA_FILTER_H

#include <perfdata/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pd_filter;

/** What a filter needs besides the record itself. */
enum pd_filter_ask {
	PD_FILTER_COMM = 1,    /* thread names, provided by the caller */
	PD_FILTER_DSO = 2,     /* names of the objects at sample addresses */
	PD_FILTER_SYMBOL = 4,  /* names of the functions at sample addresses */
	PD_FILTER_TRACE = 8,   /* tracepoint fields: pd_filter_bind must have been called */
	PD_FILTER_RECORDS = 16 /* type or fields of records other than samples */
};

/** Compiles an expression. Errors: PD_ERROR_MEMORY; PD_ERROR_ARGUMENT with the position in the text, in bytes from 0,
 * as offset, and the column in the message. */
PD_API enum pd_status pd_filter_new(const char *text, struct pd_filter **filter_out, struct pd_error *error);
PD_API void pd_filter_free(struct pd_filter *filter);
/** Bits of enum pd_filter_ask. */
PD_API uint32_t pd_filter_asks(const struct pd_filter *filter);
/** Resolves tracepoint fields with the formats of a file, which must remain open. Call it when the events are known,
 * and again if there are more. If complete is true, a name that no event has is PD_ERROR_ARGUMENT.
 * Errors also: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_filter_bind(struct pd_filter *filter, struct pd_file *file, bool complete,
				     struct pd_error *error);

/** A sample field in the expression that no event of the file records: comparisons with it are always false.
 * Empty if there is none. Owned by the filter. */
PD_API struct pd_str pd_filter_missing_field(const struct pd_filter *filter, struct pd_file *file);

/** Provider of names. */
struct pd_filter_names {
	void *self; /* first argument of name */
	/* The name that `what` selects: PD_FILTER_COMM, PD_FILTER_DSO or PD_FILTER_SYMBOL; NULL if unknown. Must
	 * remain valid until the next call. */
	const char *(*name)(void *self, const struct pd_record *record, enum pd_filter_ask what);
};

/** True if the record matches. names may be NULL: then names are unknown. */
PD_API bool pd_filter_takes(const struct pd_filter *filter, const struct pd_record *record,
			    const struct pd_filter_names *names);

/** The index-th keyword ("time", "comm") and its meaning; NULL past the end. */
PD_API const char *pd_filter_word(size_t index, const char **doc_out);

#ifdef __cplusplus
}
#endif
#endif
