/* SPDX-License-Identifier: MIT */
/*
 * Code made at run time with its history, as programs write it to jit-PID.dump: what was where from when on, and which
 * lines it came from. The bytes of the code are not read; only their offset is returned.
 */
#ifndef PD_OBJECT_RUNTIME_JITDUMP_H
#define PD_OBJECT_RUNTIME_JITDUMP_H

#include <perfdata/jitdump.h>

#include "object/elf/image.h"

struct pd_jit_line {
	uint64_t addr;
	uint32_t line;
	uint32_t column; // or discriminator: programs differ
	const char *file;
};

enum {
	PD_JIT_ANY_PID = -1
};

/** Reads an image, which it takes, also on failure. limit is the most memory to take, 0 means 1 GiB. keep: the bytes of codes
 * will be asked for. PD_ERROR_FORMAT if it is no jitdump; damage after the header only ends the reading. */
enum pd_status pd_jitdump_open_image(struct pd_jitdump **jit_out, struct pd_image *image, size_t limit, bool keep,
				     struct pd_error *error);

struct pd_jitdump_about pd_jitdump_about(const struct pd_jitdump *jit);
/** Codes in the order of the file. index must be less than the count. */
struct pd_jit_code pd_jitdump_code(const struct pd_jitdump *jit, size_t index);

/** The code that was last put at an address up to a time; PD_NO_TIME asks for the last of all. False if there is none. */
bool pd_jitdump_find(const struct pd_jitdump *jit, int64_t pid, uint64_t addr, uint64_t time,
		     struct pd_jit_code *code_out);
/** The line of an address in a code; false if it has none. */
bool pd_jitdump_line(const struct pd_jitdump *jit, const struct pd_jit_code *code, uint64_t addr,
		     struct pd_jit_line *line_out);

/** Inside of the reader: a line of a code, addr being from its beginning, and bytes of the dump, which must have been kept;
 * false if they are not in it. */
struct pd_jit_line pd_jitdump_line_at(const struct pd_jitdump *jit, const struct pd_jit_code *code, size_t index);
bool pd_jitdump_bytes(struct pd_jitdump *jit, uint64_t offset, void *data, size_t size);
uint64_t pd_jitdump_size(const struct pd_jitdump *jit);
/** Memory for the object that is made, until the next call; NULL if there is none. */
uint8_t *pd_jitdump_object_buffer(struct pd_jitdump *jit, size_t size);

#endif
