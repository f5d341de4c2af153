/* SPDX-License-Identifier: MIT */
/**
 * filter.h - conditions on records, written as text.
 *
 *	sample.period > 1000 && sample.cpu in (0, 2) && comm == "gcc"
 *	type == MMAP2 && mmap2.filename =~ "*.so*"
 *	sched:sched_switch.prev_pid == 5
 *
 * A name is a field of a record by the names of the format's table, or one of the words of pd_filter_word. A text is
 * compiled once into a list of tests; asking it about a record allocates nothing, and any number of threads may ask at a
 * time. What a record does not have compares false, with any operator. docs/selecting.md has the language.
 */
#ifndef PERFDATA_FILTER_H
#define PERFDATA_FILTER_H

#include <perfdata/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pd_filter;

/** What a filter asks about, besides the record itself. */
enum pd_filter_ask {
	PD_FILTER_COMM = 1,    /* the name of a thread: whoever asks must know it */
	PD_FILTER_DSO = 2,     /* the name of the object at a sample's address */
	PD_FILTER_SYMBOL = 4,  /* the name of the function there */
	PD_FILTER_TRACE = 8,   /* fields of tracepoints: pd_filter_bind must have been called */
	PD_FILTER_RECORDS = 16 /* records that are no samples: their type, or a field of theirs */
};

/** Compiles a text. Errors: PD_ERROR_MEMORY; PD_ERROR_ARGUMENT with the place in the text, in bytes from 0, as offset
 * and a message that says the column. */
PD_API enum pd_status pd_filter_new(const char *text, struct pd_filter **filter_out, struct pd_error *error);
PD_API void pd_filter_free(struct pd_filter *filter);
/** Bits of enum pd_filter_ask. */
PD_API uint32_t pd_filter_asks(const struct pd_filter *filter);
/** Looks fields of tracepoints up in the formats of a file, which must stay open. To be called once the events are
 * known, and again when there are more. With complete true a name that no event of the file has is PD_ERROR_ARGUMENT.
 * Errors also: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_filter_bind(struct pd_filter *filter, struct pd_file *file, bool complete,
				     struct pd_error *error);

/** A field of samples that the condition names and no event of the file records, as it stands in the text: a test of it
 * holds for no sample. Without data if there is none. The text is the filter's. */
PD_API struct pd_str pd_filter_lacks(const struct pd_filter *filter, struct pd_file *file);

/** Who knows names. */
struct pd_filter_names {
	void *self; /* first argument of name */
	/* The name that is asked for, one of PD_FILTER_COMM, PD_FILTER_DSO and PD_FILTER_SYMBOL; NULL if it is not known.
	 * It must stay valid until the next call. */
	const char *(*name)(void *self, const struct pd_record *record, enum pd_filter_ask what);
};

/** Whether the condition holds. names may be NULL: then no name is known. */
PD_API bool pd_filter_takes(const struct pd_filter *filter, const struct pd_record *record,
			    const struct pd_filter_names *names);

/** The index-th word that stands for something of any record ("time", "comm"), and what it is; NULL past the end. */
PD_API const char *pd_filter_word(size_t index, const char **doc_out);

#ifdef __cplusplus
}
#endif
#endif
