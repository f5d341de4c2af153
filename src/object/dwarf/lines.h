/* SPDX-License-Identifier: MIT */
/*
 * From an address of an object to the line of the source that its code came from, and to the functions that were
 * inlined there. Debug information is read unit by unit, when an address in it is asked for first; what was made of it
 * is kept in an index (index_file.h) if there is a directory for one, so that the next run reads no debug information.
 *
 * Files are the caller's: none is opened but those that he brings and, for what several debug files share (dwz), those
 * below his directories that have the build id that is asked for. Units whose information is in files of their own
 * (-gsplit-dwarf) are not known.
 */
#ifndef PD_OBJECT_DWARF_LINES_H
#define PD_OBJECT_DWARF_LINES_H

#include "object/find/find.h"

/** Brings the files of an object when they are needed, which is once at most, and not if the index knows all. Either
 * may be NULL; they must live until pd_lines_close. */
typedef void pd_lines_files_fn(void *self, struct pd_elf **object_out, struct pd_elf **debug_out);

struct pd_lines_source {
	struct pd_object_id id;              // with less than 8 bytes nothing is kept in the index
	const struct pd_file_origin *origin; // of the files; NULL: the index does not ask for it. Must live as long
	pd_lines_files_fn *files;
	void *self;
	const struct pd_find_places
		*places;   // where shared debug information is looked for; may be NULL. Must live as long
	const char *index; // directory, or NULL. Must live as long
	size_t limit;      // most bytes to take, 0 means 1 GiB
};

/** A function at an address. Texts live until pd_lines_close; they come from files, and may be anything. */
struct pd_lines_frame {
	const char *name; // as the linker has it if that is known, else as in the source; NULL if it has none
	const char *file; // path as the compiler had it, or NULL
	uint32_t line;    // 0: not known
	bool inlined;     // its code stands inside of the next frame's function
};

struct pd_lines;

/** Reads nothing of the object yet. PD_ERROR_MEMORY. */
enum pd_status pd_lines_open(struct pd_lines **lines_out, const struct pd_lines_source *source, struct pd_error *error);

/** The functions at an address of the object (as its symbols have them; pd_elf_addr), innermost first, the one that is
 * not inlined last. Returns how many there are, which may be more than capacity; 0 if nothing is known. Where code
 * has lines but no function it is one frame without a name. Never fails: without memory less is known. */
size_t pd_lines_find(struct pd_lines *lines, uint64_t addr, struct pd_lines_frame *frames_out, size_t capacity);

/** Whether anything is known of any address. */
bool pd_lines_any(struct pd_lines *lines);
/** True if memory ran out or the limit was reached: some lines are missing. */
bool pd_lines_failed(const struct pd_lines *lines);

/** Puts what was learnt into the index. Called by close; may be called before. */
void pd_lines_save(struct pd_lines *lines);
void pd_lines_close(struct pd_lines *lines);

/** For tests: the index is an image, which it takes, also on failure; nothing is read where it is empty. */
enum pd_status pd_lines_open_index(struct pd_lines **lines_out, const struct pd_lines_source *source,
				   struct pd_image *file, struct pd_error *error);

#endif
