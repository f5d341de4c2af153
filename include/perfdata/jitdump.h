/* SPDX-License-Identifier: MIT */
/**
 * jitdump.h - code that programs made at run time, as they wrote it to jit-PID.dump: what was where from when on, its
 * names, lines and bytes.
 *
 * A program says that it writes a dump by mapping it executable: the recording has an MMAP2 of the file. symbol.h reads
 * dumps by itself; this is for who wants the codes, or each as an object that other tools can read.
 *
 * Threads: one at a time for each dump.
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
	bool arch_timestamps; /* times are of the processor's counter, not of the clock of perf */
	bool closed;          /* the program ended its list */
	uint32_t machine;     /* as in ELF */
	uint32_t pid;         /* as the program sees itself */
	uint64_t start_time;
	size_t code_count;
	size_t line_count;
	const char *damage;   /* why reading ended early, or NULL */
	uint64_t damage_offset;
};

/** Code at [addr, addr + size) in [time, end_time). Lives as long as the dump. */
struct pd_jit_code {
	uint64_t time;     /* of perf's clock in ns, or see arch_timestamps */
	uint64_t end_time; /* when it was moved away, else PD_NO_TIME */
	uint64_t addr;
	uint64_t size;
	uint64_t index;       /* the program's number for it */
	uint64_t code_offset; /* where in the dump its bytes are; 0 if they are not in it */
	uint32_t pid;
	uint32_t tid;
	const char *name;
	size_t first_line;
	size_t line_count;
	size_t number; /* see pd_jitdump_code_at */
	bool moved;    /* it is what an earlier one with this index became */
	/* How to unwind it: where in the dump the bytes of .eh_frame and of .eh_frame_hdr behind it are, bytes of both and
	 * of the latter, and how many the program mapped behind the code. 0: nothing is known. */
	uint64_t frames_offset, frames_size, frames_header_size, frames_mapped;
};

/** True for the name of a jitdump: jit-PID.dump, in any directory. */
PD_API bool pd_jitdump_is(const char *path);
/** Opens a dump at a path as it was recorded, below a directory (NULL: "/"). Only a regular file of root or of the user
 * is opened. memory_limit is the most memory to take in bytes, 0 means 1 GiB. Damage behind the header ends the list, see
 * damage. Errors: PD_ERROR_SYSTEM, PD_ERROR_MEMORY, PD_ERROR_FORMAT if it is no jitdump, PD_ERROR_UNSUPPORTED for another
 * version and for what is no regular file. */
PD_API enum pd_status pd_jitdump_open(const char *root, const char *path, uint64_t memory_limit,
				      struct pd_jitdump **jit_out, struct pd_error *error);
PD_API void pd_jitdump_close(struct pd_jitdump *jit);
/** Lives as long as the dump. */
PD_API const struct pd_jitdump_about *pd_jitdump_what(const struct pd_jitdump *jit);
/** The index-th code, in the order of the dump; NULL past the end. */
PD_API const struct pd_jit_code *pd_jitdump_code_at(const struct pd_jitdump *jit, size_t index);

/** An object with one function. */
struct pd_jit_object {
	struct pd_bytes elf; /* the ELF file */
	uint64_t text_offset; /* of the code in it */
	uint8_t build_id[20];
};
/** Makes an ELF file of a code: its bytes, its name as a symbol, a build id, lines and how to unwind it if the dump says so.
 * Valid until the next call, or until close. Errors: PD_ERROR_MEMORY, PD_ERROR_LIMIT; PD_ERROR_FORMAT if the dump does not
 * have the bytes. */
PD_API enum pd_status pd_jitdump_object(struct pd_jitdump *jit, const struct pd_jit_code *code,
					struct pd_jit_object *object_out, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
