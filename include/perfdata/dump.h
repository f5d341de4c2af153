/* SPDX-License-Identifier: MIT */
/**
 * dump.h - prints the records of a file as they are, or those that are selected; or counts them; or prints what stands in front.
 *
 * Example:
 *
 *	struct pd_dump_options options = { .size = sizeof(options), .stats = true };
 *
 *	if (pd_dump(text, file, &options, &error) == PD_OK)
 *		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 */
#ifndef PERFDATA_DUMP_H
#define PERFDATA_DUMP_H

#include <perfdata/filter.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero is the default for each member; NULL means all defaults. A record is selected if all that is given holds. */
struct pd_dump_options {
	size_t size;     /* sizeof(struct pd_dump_options); 0 is PD_ERROR_ARGUMENT */
	bool json;       /* JSON, an object for each record, feature, or all counts */
	bool hex;        /* also the bytes of records and features */
	bool by_time;    /* in the order of time, not of the file */
	bool stats;      /* only counts: of records by type, and of samples by event */
	bool header;     /* instead of records: the header of the file, and its events */
	bool features;   /* instead of records: the features of the header */
	bool one_record; /* the record with the number `record`, from 0 */
	bool one_offset; /* the record at `offset`, and those that are compressed in it */
	uint64_t record, offset;
	const uint32_t *types; /* records of these types; NULL: all */
	size_t type_count;
	struct pd_filter *where; /* records that meet a condition, which is bound to the file; NULL: all */
	/* Called periodically with bytes done and in total (0 if unknown). May be NULL. */
	void (*progress)(void *self, uint64_t done, uint64_t total);
	void *self; /* first argument of progress */
};

/** Appends the text, and writes it out (pd_text_flush_large) where it is long, or where a pipe ends a round. Errors: those of
 * pd_stream_next and pd_filter_bind; PD_ERROR_NO_MATCH if no record is selected, with the reason; PD_ERROR_MEMORY, also if counts
 * are incomplete, which are printed; PD_ERROR_OUTPUT. */
PD_API enum pd_status pd_dump(struct pd_text *text, struct pd_file *file, const struct pd_dump_options *options,
			      struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
