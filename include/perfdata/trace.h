/* SPDX-License-Identifier: MIT */
/**
 * trace.h - prints the fields of tracepoint samples.
 *
 * The tracing data of a file contain the format of each tracepoint: a list of fields, and a printf format with C
 * expressions. The output is that of perf 6.1, including what perf cannot parse ("[FAILED TO PARSE]" and the plain
 * fields). A format is parsed when first needed.
 *
 * Strings from the file are printed unescaped.
 *
 * Example:
 *
 *	struct pd_trace *trace;
 *
 *	if (pd_trace_new(file, NULL, &trace, &error) == PD_OK) {
 *		while (pd_stream_next(stream, &record, &error) == PD_OK)
 *			if (pd_as_sample(record) && !pd_trace_print(trace, record->event, pd_as_sample(record)->raw, text))
 *				printf("no format is known\n");
 *		pd_trace_free(trace);
 *	}
 */
#ifndef PERFDATA_TRACE_H
#define PERFDATA_TRACE_H

#include <perfdata/print.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero is the default for each member; NULL means all defaults. */
struct pd_trace_options {
	size_t size; /* sizeof(struct pd_trace_options) */
	/* Name and first address of the kernel's function at an address, for %ps and %pS; NULL: unknown. The name
	 * must remain valid until the next call. May be NULL. */
	const char *(*function)(void *self, uint64_t addr, uint64_t *start_out);
	void *self;            /* first argument of function */
	uint64_t memory_limit; /* maximum bytes for formats; 0 means 256 MiB */
};

/** A field of a tracepoint. */
struct pd_trace_field {
	const char *name;
	const char *type;      /* as in the format, without brackets: "unsigned long", "__data_loc char[]" */
	uint32_t offset, size; /* in the raw data, in bytes */
	bool is_signed;
	bool is_string;
	bool is_common; /* common to all tracepoints */
};

/** What the format of an event calls a value of a field, by __print_flags or __print_symbolic. */
struct pd_trace_value_name {
	const char *field; /* empty if none is named */
	bool is_flag;
	const char *delimiter; /* between flags; empty for symbols */
	int64_t value;         /* -1: not a number */
	const char *name;
};

struct pd_trace;

/** The file must remain open. In pipe mode, tracing data are available once the stream has read them.
 * Errors: PD_ERROR_MEMORY, PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_trace_new(struct pd_file *file, const struct pd_trace_options *options,
				   struct pd_trace **trace_out, struct pd_error *error);
PD_API void pd_trace_free(struct pd_trace *trace);
/** Adds the tracing data of a SIMPLEPERF_TRACING_DATA record; other records are ignored.
 * Errors: PD_ERROR_MEMORY, PD_ERROR_LIMIT. */
PD_API enum pd_status pd_trace_take(struct pd_trace *trace, const struct pd_record *record, struct pd_error *error);

/** Prints the raw data of a sample, without a newline. False, with no output, if the format is unknown. */
PD_API bool pd_trace_print(struct pd_trace *trace, const struct pd_event *event, struct pd_bytes raw,
			   struct pd_text *text);
/** The index-th field of an event, common fields first; false past the end or if the format is unknown. Strings are
 * valid as long as the trace. */
PD_API bool pd_trace_field_at(struct pd_trace *trace, const struct pd_event *event, size_t index,
			      struct pd_trace_field *field_out);
/** The index-th name of a value in the format of an event; false past the end or if the format is unknown. Strings are valid as
 * long as the trace. */
PD_API bool pd_trace_value_name_at(struct pd_trace *trace, const struct pd_event *event, size_t index,
				   struct pd_trace_value_name *name_out);
/** Prints the value of a field like perf report -s FIELD. False if there is no such field. */
PD_API bool pd_trace_print_field(struct pd_trace *trace, const struct pd_event *event, struct pd_bytes raw,
				 const char *name, struct pd_text *text);

#ifdef __cplusplus
}
#endif
#endif
