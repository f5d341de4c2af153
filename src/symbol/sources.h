/* SPDX-License-Identifier: MIT */
/* The files that symbols and lines of an object come from, for who wants to take them along. */
#ifndef PD_SYMBOL_SOURCES_H
#define PD_SYMBOL_SOURCES_H

#include <perfdata/symbol.h>

#include "object/find/find.h"

enum pd_source_kind {
	PD_SOURCE_OBJECT,
	PD_SOURCE_DEBUG,
	PD_SOURCE_SHARED, // what several debug files share
	PD_SOURCE_KALLSYMS,
	PD_SOURCE_PERFMAP,
	PD_SOURCE_JITDUMP
};

/** Valid during the call only. */
struct pd_symbol_source {
	enum pd_source_kind kind;
	struct pd_image *image; // its bytes; of an object those of elf
	struct pd_elf *elf;     // of objects, else NULL
	const char *from;       // where it was found
	const char *path;       // as it was recorded: "/usr/bin/x", "[ext4]", "/tmp/perf-1.map"; "" if there is none
	const char *link;       // of a debug file that goes by its name and checksum: the name; else NULL
	struct pd_object_id id; // that it is looked for by; size 0: it goes by its path
};

/** False stops. */
typedef bool pd_source_fn(void *self, const struct pd_symbol_source *source);

/** Calls for each file of a dso that was asked for before. False if it was stopped, or memory ran out. */
bool pd_lookup_sources(struct pd_symbols *symbols, const struct pd_dso *dso, pd_source_fn *each, void *self);

/** What debug information has at an address of an object: the innermost function and its line. False if it has nothing. Texts live as
 * long as the symbols. In lookup_lines.c */
struct pd_lines_frame;
bool pd_lookup_innermost(struct pd_symbols *symbols, const struct pd_dso *dso, uint64_t addr,
			 struct pd_lines_frame *frame_out);

/** The object that has the code of a dso, or NULL; it is one of what was found or lives as long as the symbols. found_out is to be
 * closed in any case. In lookup_load.c */
struct pd_elf *pd_lookup_open_code(struct pd_symbols *symbols, const struct pd_dso *dso, struct pd_found *found_out);

/** The file that has the code: for kernels an image or a kcore, for others what was recorded. NULL if none is known. It lives as
 * long as the symbols. In lookup_load.c */
const char *pd_lookup_code_path(const struct pd_symbols *symbols, const struct pd_dso *dso);

/** The code of a function that its program made and wrote to a jitdump; false if it is not such a one. The dump and the
 * names live as long as the symbols. In lookup_lines.c */
struct pd_jitdump;
struct pd_jit_code;
bool pd_lookup_jit_code(struct pd_symbols *symbols, const struct pd_function *function, struct pd_jitdump **jit_out,
			struct pd_jit_code *code_out);

#endif
