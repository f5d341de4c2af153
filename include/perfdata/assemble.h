/* SPDX-License-Identifier: MIT */
/**
 * assemble.h - converts a whole perf.data file to text and back.
 *
 * The text is complete: layout, events, features, and every record with all its named fields. Data that the tables do
 * not describe are printed as bytes. It is written and parsed line by line, in bounded memory. docs/text.md describes
 * it.
 *
 * Example:
 *
 *	struct pd_disassembler *disassembler;
 *
 *	if (pd_disassembler_open(file, NULL, &disassembler, &error) == PD_OK) {
 *		while (pd_disassembler_next(disassembler, text, &error) == PD_OK)
 *			;
 *		pd_disassembler_close(disassembler);
 *	}
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
	bool packed; /* print compressed records unchanged, not the records inside */
	/* Of pd_disassemble: called periodically with bytes done and in total (0 if unknown). May be NULL. */
	void (*progress)(void *self, uint64_t done, uint64_t total);
	void *self; /* first argument of progress */
};

/** Opens a file for conversion. The file must remain open, and a pipe must have no other stream.
 * Errors: PD_ERROR_MEMORY, those of pd_stream_open. */
PD_API enum pd_status pd_disassembler_open(struct pd_file *file, const struct pd_disassembler_options *options,
					   struct pd_disassembler **disassembler_out, struct pd_error *error);
PD_API void pd_disassembler_close(struct pd_disassembler *disassembler);
/** Adds the next lines to the text: a record with the statements before it, or part of the bytes that follow one.
 * PD_END (with the last lines) at the end. Errors: those of pd_stream_next. */
PD_API enum pd_status pd_disassembler_next(struct pd_disassembler *disassembler, struct pd_text *text,
					   struct pd_error *error);
/** All of a file in one call. What is long is written out (pd_text_flush_large). Errors: those of both; PD_ERROR_OUTPUT. */
PD_API enum pd_status pd_disassemble(struct pd_text *text, struct pd_file *file,
				     const struct pd_disassembler_options *options, struct pd_error *error);
/** The underlying stream, for progress only. */
PD_API const struct pd_stream *pd_disassembler_stream(const struct pd_disassembler *disassembler);

/* ---- from text ---- */

struct pd_assembler;

/** Zero is the default for each member except open. */
struct pd_assembler_options {
	size_t size; /* sizeof(struct pd_assembler_options); 0 is PD_ERROR_ARGUMENT */
	/* Opens the writer; called once, before the first write, or at the end. said has the layout, endianness and
	 * compression of the header statement, which may be overridden. The writer is owned by the caller, who
	 * finishes or aborts it after pd_assembler_finish. */
	enum pd_status (*open)(void *self, const struct pd_writer_options *said, struct pd_writer **writer_out,
			       struct pd_error *error);
	void *self;
	const char *name;      /* of the text, for messages; must remain valid */
	uint64_t memory_limit; /* maximum bytes per statement; 0 means 256 MiB */
};

/** Fills what options of a writer leave open as the text says, of whose options said is: the mode (if mode_is_open), the byte order and
 * how it is packed. True if the byte order is then another one than that of the text. */
PD_API bool pd_assembler_fill(struct pd_writer_options *options, const struct pd_writer_options *said,
			      bool mode_is_open);
/** A parser that has not seen any text. Errors: PD_ERROR_ARGUMENT, PD_ERROR_MEMORY. */
PD_API enum pd_status pd_assembler_new(const struct pd_assembler_options *options, struct pd_assembler **assembler_out,
				       struct pd_error *error);
/** Parses the next bytes of the text, split anywhere. The first error is sticky.
 * Errors: PD_ERROR_FORMAT for a syntax error ("NAME:LINE:COLUMN: what is wrong"), PD_ERROR_LIMIT,
 * PD_ERROR_MEMORY, those of open and of a writer. */
PD_API enum pd_status pd_assembler_take(struct pd_assembler *assembler, const char *text, size_t size,
					struct pd_error *error);
/** Ends the text. Errors: those of pd_assembler_take. */
PD_API enum pd_status pd_assembler_finish(struct pd_assembler *assembler, struct pd_error *error);
/** Parses all that a function provides, which returns 0 bytes at the end, and ends the text. Errors: those of pull, too. */
PD_API enum pd_status pd_assembler_pull(struct pd_assembler *assembler, pd_pull_fn *pull, void *self,
					struct pd_error *error);
/** Number of records so far, and of those given as bytes (*raw_out; may be NULL). */
PD_API uint64_t pd_assembler_records(const struct pd_assembler *assembler, uint64_t *raw_out);
PD_API void pd_assembler_free(struct pd_assembler *assembler);

#ifdef __cplusplus
}
#endif
#endif
