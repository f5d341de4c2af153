/* SPDX-License-Identifier: MIT */
// The inside of the part that is about JIT-compiled code: code_file.c writes an ELF file for each function, jit.c the maps.
#ifndef PD_INJECT_JIT_H
#define PD_INJECT_JIT_H

#include <perfdata/jitdump.h>

#include "edit/inject/inject.h"

// A map that waits.
struct pd_code_map {
	uint64_t time_ns;
	uint64_t addr, len, pgoff;
	uint32_t pid, tid;
	size_t dump;
	size_t number; // of the code whose file it is
	uint32_t maj, min;
	uint64_t ino;
	struct pd_build_id id;
};

// A dump that was mapped. What its codes are called is made anew for each map.
struct pd_code_dump {
	char *path;
	struct pd_jitdump *jit;
	char *folder;  // as it stands in maps
	bool *repeats; // by number: an earlier code has the same index, and so the name
	uint32_t pid;  // of the process, as the recording has it
	size_t event;
	struct pd_sample_id trailer;
	bool has_trailer;
};

// The path of the ELF file of a function, as it is in maps. False if it is too long.
bool pd_code_file_name(const struct pd_code_dump *dump, const struct pd_jit_code *code, size_t number, char *out,
		       size_t size);
// Writes the ELF file of a function and fills in what its maps say of the file. False, with a warning, if it cannot be
// written.
bool pd_code_file_write(struct pd_inject *inject, const struct pd_code_dump *dump, size_t number,
			struct pd_code_map *map);

#endif
