/* SPDX-License-Identifier: MIT */
/**
 * jitdump.h - reads jit-PID.dump files: addresses, lifetime, names, source lines and bytes of JIT-compiled code.
 *
 * A program announces its dump by mapping it executable: the recording has an MMAP2 record of the file. symbol.h
 * reads dumps by itself; this interface enumerates the code, and converts it to ELF files for other tools.
 *
 * Threads: one at a time for each dump.
 *
 * Example:
 *
 *	struct pd_jitdump *dump;
 *	const struct pd_jit_code *code;
 *
 *	if (pd_jitdump_open(".", "jit-1.dump", 0, &dump, &error) == PD_OK) {
 *		for (size_t i = 0; (code = pd_jitdump_code_at(dump, i)) != NULL; i++)
 *			printf("%llx %s\n", (unsigned long long)code->addr, code->name);
 *		pd_jitdump_close(dump);
 *	}
 */
#ifndef PERFDATA_JITDUMP_H
#define PERFDATA_JITDUMP_H

#include <perfdata/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pd_jitdump;

struct pd_jitdump_about {
	bool big;
	bool arch_timestamps; /* timestamps are CPU counter values, not of perf's clock */
	bool closed;          /* the dump has an end record */
	uint32_t machine;     /* ELF e_machine */
	uint32_t pid;         /* in the namespace of the program */
	uint64_t start_time;
	size_t code_count;
	size_t line_count;
	const char *damage; /* why reading ended early, or NULL */
	uint64_t damage_offset;
};

/** Code at [addr, addr + size) in [time, end_time). Valid as long as the dump. */
struct pd_jit_code {
	uint64_t time;     /* ns of perf's clock, but see arch_timestamps */
	uint64_t end_time; /* when it was moved, else PD_NO_TIME */
	uint64_t addr;
	uint64_t size;
	uint64_t index;       /* number given by the program */
	uint64_t code_offset; /* offset of its bytes in the dump; 0: absent */
	uint32_t pid;
	uint32_t tid;
	const char *name;
	size_t first_line;
	size_t line_count;
	size_t number; /* see pd_jitdump_code_at */
	bool moved;    /* result of a move of an earlier code with this index */
	/* Unwind information: offset in the dump of .eh_frame, followed by .eh_frame_hdr; size of both, and of the
	 * latter; and how much the program mapped after the code. 0: none. */
	uint64_t frames_offset, frames_size, frames_header_size, frames_mapped;
};

/** True for the name of a jitdump: jit-PID.dump, in any directory. */
PD_API bool pd_jitdump_is(const char *path);
/** Opens the dump at a recorded path, below a root directory (NULL: "/"). It must be a regular file owned by root or
 * the user. memory_limit is the maximum memory in bytes, 0 means 1 GiB. Damage after the header ends the list, see
 * damage. Errors: PD_ERROR_SYSTEM, PD_ERROR_MEMORY, PD_ERROR_FORMAT if it is not a jitdump, PD_ERROR_UNSUPPORTED for
 * another version and if it is not a regular file. */
PD_API enum pd_status pd_jitdump_open(const char *root, const char *path, uint64_t memory_limit,
				      struct pd_jitdump **jit_out, struct pd_error *error);
PD_API void pd_jitdump_close(struct pd_jitdump *jit);
/** Header and summary of the dump. Valid as long as the dump. */
PD_API const struct pd_jitdump_about *pd_jitdump_what(const struct pd_jitdump *jit);
/** The index-th code, in dump order; NULL past the end. */
PD_API const struct pd_jit_code *pd_jitdump_code_at(const struct pd_jitdump *jit, size_t index);

/** An ELF file with one function. */
struct pd_jit_object {
	struct pd_bytes elf;  /* the ELF file */
	uint64_t text_offset; /* offset of the code in it */
	uint8_t build_id[20];
};
/** Converts a code to an ELF file: its bytes, its name as a symbol, a build id, and lines and unwind information if
 * present. Valid until the next call, or until close. Errors: PD_ERROR_MEMORY, PD_ERROR_LIMIT; PD_ERROR_FORMAT if the
 * dump lacks the bytes. */
PD_API enum pd_status pd_jitdump_object(struct pd_jitdump *jit, const struct pd_jit_code *code,
					struct pd_jit_object *object_out, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
