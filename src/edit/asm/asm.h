/* SPDX-License-Identifier: MIT */
// The inside of an assembler: assemble.c cuts the text into statements, statements.c does what they say.
#ifndef PD_ASM_ASM_H
#define PD_ASM_ASM_H

#include <perfdata/assemble.h>

#include "base/error.h"
#include "write/write.h"

enum {
	PD_ASM_WORD_BYTES = 64
};

// Lines of a statement that has not ended.
struct pd_asm_lines {
	char *data;
	size_t size, capacity;
	unsigned depth; // of brackets
};

struct pd_assembler {
	struct pd_assembler_options options;
	struct pd_writer_options said;
	struct pd_writer *writer; // of the caller, once it is open
	uint64_t line;            // of the statement, from 1
	uint64_t next_line;
	struct pd_asm_lines part_line; // a line that was cut
	struct pd_asm_lines waiting;
	struct pd_arena arena;
	enum pd_arch arch;
	uint64_t quirks;
	uint64_t end_marker;
	bool had_header;
	bool had_statement;
	bool in_parts; // the text is that of a directory
	size_t part;
	uint64_t tail_left; // bytes that have to follow the last record
	uint32_t tail_type;
	uint64_t records, raw;
	// the last record's name, which mostly comes again
	char name[PD_ASM_WORD_BYTES];
	uint32_t type;
	enum pd_status status;
	struct pd_error error; // the first failure
};

// ---- statements.c ----

enum pd_status pd_asm_fail_line(struct pd_assembler *a, enum pd_status status, const char *reason);
// Opens the writer of the caller, once.
enum pd_status pd_asm_open_writer(struct pd_assembler *a);
// A statement, which has all of its lines.
enum pd_status pd_asm_take_statement(struct pd_assembler *a, const char *text, size_t size);

#endif
