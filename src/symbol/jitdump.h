/* SPDX-License-Identifier: MIT */
/*
 * Code made at run time with its history, as programs write it to jit-PID.dump: what was where from when on, and which
 * lines it came from. The bytes of the code are not read; their place is told.
 */
#ifndef PD_SYMBOL_JITDUMP_H
#define PD_SYMBOL_JITDUMP_H

#include "symbol/image.h"

struct pd_jitdump;

struct pd_jitdump_about {
	bool big;
	bool arch_timestamps; // times are of the processor's counter, not of the clock of perf
	bool closed;          // the program ended its list
	uint32_t machine;     // as in ELF
	uint32_t pid;
	uint64_t start_time;
	size_t code_count;
	size_t line_count;
	const char *damage;   // why reading ended early, or NULL
	uint64_t damage_offset;
};

/** Code at [addr, addr + size) in [time, end_time). Names live as long as the jitdump. */
struct pd_jit_code {
	uint64_t time;
	uint64_t end_time; // when it was moved away, else PD_NO_TIME
	uint64_t addr;
	uint64_t size;
	uint64_t index;       // the program's number for it
	uint64_t code_offset; // where in the file its bytes are
	uint32_t pid;
	uint32_t tid;
	const char *name;
	size_t first_line;
	size_t line_count;
	size_t number; // for pd_jitdump_code
};

struct pd_jit_line {
	uint64_t addr;
	uint32_t line;
	uint32_t column; // or discriminator: programs differ
	const char *file;
};

enum { PD_JIT_ANY_PID = -1 };

/** Reads a regular file. limit is the most memory to take, 0 means 1 GiB. PD_ERROR_FORMAT if it is no jitdump;
 * damage behind the header only ends the reading. */
enum pd_status pd_jitdump_open(struct pd_jitdump **jit_out, const char *path, size_t limit, struct pd_error *error);
/** The same for an image, which it takes, also on failure. */
enum pd_status pd_jitdump_open_image(struct pd_jitdump **jit_out, struct pd_image *image, size_t limit,
				     struct pd_error *error);
void pd_jitdump_close(struct pd_jitdump *jit);

struct pd_jitdump_about pd_jitdump_about(const struct pd_jitdump *jit);
/** Codes in the order of the file. index must be less than the count. */
struct pd_jit_code pd_jitdump_code(const struct pd_jitdump *jit, size_t index);

/** The code that was last put at an address up to a time; PD_NO_TIME asks for the last of all. False if there is none. */
bool pd_jitdump_find(const struct pd_jitdump *jit, int64_t pid, uint64_t addr, uint64_t time,
		     struct pd_jit_code *code_out);
/** The line of an address in a code; false if it has none. */
bool pd_jitdump_line(const struct pd_jitdump *jit, const struct pd_jit_code *code, uint64_t addr,
		     struct pd_jit_line *line_out);

#endif
