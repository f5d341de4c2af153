/* SPDX-License-Identifier: MIT */
/**
 * assemble.h - a whole perf.data as text, and back.
 *
 * The text has everything: form, events, features, every record with all its fields by their names. What the tables do
 * not describe stands there as bytes. It is written and read line by line, in bounded memory. docs/text.md describes it.
 */
#ifndef PERFDATA_ASSEMBLE_H
#define PERFDATA_ASSEMBLE_H

#include <perfdata/print.h>
#include <perfdata/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- to text ---- */

struct pd_disassembler;

/** Zero is the default for each member; NULL means all defaults. */
struct pd_disassembler_options {
	size_t size; /* sizeof(struct pd_disassembler_options) */
	bool packed; /* compressed records as they are, in place of what they hold */
};

/** The text of a file, which must stay open and have no other stream if it is a pipe.
 * Errors: PD_ERROR_MEMORY, those of pd_stream_open. */
PD_API enum pd_status pd_disassembler_open(struct pd_file *file, const struct pd_disassembler_options *options,
					   struct pd_disassembler **disassembler_out, struct pd_error *error);
PD_API void pd_disassembler_close(struct pd_disassembler *disassembler);
/** Adds the next piece to the text, whole lines: a record with what stands before it, or some of the bytes behind one.
 * PD_END (and what is left) at the end. Errors: those of pd_stream_next. */
PD_API enum pd_status pd_disassembler_next(struct pd_disassembler *disassembler, struct pd_text *text,
					   struct pd_error *error);
/** The stream that is read, for progress only. */
PD_API const struct pd_stream *pd_disassembler_stream(const struct pd_disassembler *disassembler);

/* ---- from text ---- */

struct pd_assembler;

/** Zero is the default for each member but open. */
struct pd_assembler_options {
	size_t size; /* sizeof(struct pd_assembler_options); 0 is PD_ERROR_ARGUMENT */
	/* Opens the writer that is to be filled; called once, when the first thing has to be written, or at the end.
	 * said has what the text says of form, byte order and compression, which may be changed. The writer stays the
	 * caller's, who finishes or aborts it after pd_assembler_finish. */
	enum pd_status (*open)(void *self, const struct pd_writer_options *said, struct pd_writer **writer_out,
			       struct pd_error *error);
	void *self;
	const char *name;      /* of the text, for messages; must stay */
	uint64_t memory_limit; /* most bytes for one statement; 0 means 256 MiB */
};

PD_API enum pd_status pd_assembler_new(const struct pd_assembler_options *options,
				       struct pd_assembler **assembler_out, struct pd_error *error);
/** Takes the next bytes of the text, cut anywhere. The first failure stays.
 * Errors: PD_ERROR_FORMAT for what the text should not have ("NAME:LINE:COLUMN: what is wrong"), PD_ERROR_LIMIT,
 * PD_ERROR_MEMORY, those of open and of a writer. */
PD_API enum pd_status pd_assembler_take(struct pd_assembler *assembler, const char *text, size_t size,
					struct pd_error *error);
/** The text has ended. Errors: as pd_assembler_take. */
PD_API enum pd_status pd_assembler_finish(struct pd_assembler *assembler, struct pd_error *error);
/** Number of records so far, and of those that stood there as bytes (raw_out, may be NULL). */
PD_API uint64_t pd_assembler_records(const struct pd_assembler *assembler, uint64_t *raw_out);
PD_API void pd_assembler_free(struct pd_assembler *assembler);

#ifdef __cplusplus
}
#endif
#endif
