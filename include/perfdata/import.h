/* SPDX-License-Identifier: MIT */
/**
 * import.h - recordings out of the formats of other programs.
 *
 * The input is read once, from a function; the output is written with a writer (writer.h). What a format does not say is
 * not made up: a recording without times or CPUs has no such fields. Where a format has names of functions but no code, each
 * gets addresses of its own, with a KSYMBOL record that names them, so that every reader of perf.data files shows them.
 *
 * Example:
 *
 *	struct pd_import_format format;
 *
 *	for (size_t i = 0; pd_import_format(i, &format); i++)
 *		printf("%s: %s\n", format.name, format.doc);
 */
#ifndef PERFDATA_IMPORT_H
#define PERFDATA_IMPORT_H

#include <perfdata/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A format. The strings are constants. */
struct pd_import_format {
	const char *name; /* "quipper" */
	const char *doc;  /* what it is, in a few words */
};
/** The index-th format, in the order of the help; false past the end. */
PD_API bool pd_import_format(size_t index, struct pd_import_format *format_out);

/** Zero is the default for each member but format and pull. */
struct pd_import_options {
	size_t size;        /* sizeof(struct pd_import_options) */
	const char *format; /* name of a format */
	const char *name;   /* of the input, for messages; NULL: "input" */
	pd_pull_fn *pull;   /* gives the bytes of the input */
	void *self;         /* its first argument */
};

struct pd_import_result {
	uint64_t records;  /* written */
	uint64_t samples;  /* of these */
	uint64_t left_out; /* things that a perf.data file has no place for, or that this version does not know */
	uint64_t damaged;  /* that cannot be read, or not be written */
};

/** Reads all of the input and adds events, records and features to a writer that has nothing yet; it is not finished.
 * Errors: those of pull and of the writer; PD_ERROR_ARGUMENT: there is no such format; PD_ERROR_FORMAT: the input is not of
 * the format; PD_ERROR_LIMIT, PD_ERROR_MEMORY; PD_ERROR_NO_SAMPLES: there is nothing in it. */
PD_API enum pd_status pd_import_run(const struct pd_import_options *options, struct pd_writer *writer,
				    struct pd_import_result *result_out, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
