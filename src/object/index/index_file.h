/* SPDX-License-Identifier: MIT */
/*
 * What was learnt about objects, kept from run to run: a directory with one file for each build id and kind. It is a
 * cache: what is damaged, cut off, of another version or hostile is as if it were not there, and where nothing can be
 * written nothing is. A temporary file is written and renamed, so that readers see the old one or the new one; of several
 * writers the last one wins. Objects whose build id has less than 8 bytes have no place here.
 *
 * A build id is what a file says of itself. So what was learnt belongs to the place of the object, and is used if the
 * files that are there now are those that it was learnt from; or if none is there any more, since the object at that
 * place had that build id once. Files that belong to somebody else, or that others may write, are not used.
 */
#ifndef PD_OBJECT_INDEX_INDEX_FILE_H
#define PD_OBJECT_INDEX_INDEX_FILE_H

#include "object/find/find.h"
#include "object/symbols/kallsyms.h"

/** Of the files of all kinds. It changes with their layout, and with the rules that make names: which of several names
 * of an address is taken, what stubs are called, where symbols end. */
enum {
	PD_INDEX_FORMAT = 11
};

/**
 * Finds the symbols of an object. *shape_out (pd_elf_close) is what pd_elf_addr and pd_elf_offset need of the object,
 * type and machine too, but has no bytes; *table_out is for pd_symtab_free. variant is what was given to save, such
 * as the flags that the table was made with. False if they are not there.
 */
bool pd_index_load_symbols(const char *index, const struct pd_object_id *id, const struct pd_file_origin *origin,
			   uint32_t variant, size_t limit, struct pd_elf **shape_out, struct pd_symtab **table_out);

/** Keeps them. object is the one that has the segments, not its debug file. The table of a stripped object should be of a
 * variant of its own: it would hide the debug file that is found later. */
void pd_index_save_symbols(const char *index, const struct pd_object_id *id, const struct pd_file_origin *origin,
			   uint32_t variant, const struct pd_elf *object, const struct pd_symtab *table);

/** The same for the image of a kernel that runs, by its build id and the head of its list: sets image and what is known of
 * the list without reading it. */
bool pd_index_load_kernel(const char *index, const struct pd_object_id *id, const uint8_t head[PD_KALLSYMS_HEAD],
			  size_t limit, struct pd_kallsyms *kallsyms_out);
/** Keeps it. Lists that do not say where the image is are not kept. */
void pd_index_save_kernel(const char *index, const struct pd_object_id *id, const uint8_t head[PD_KALLSYMS_HEAD],
			  const struct pd_kallsyms *kallsyms);

// ---- inside of the index ----

enum pd_index_kind {
	PD_INDEX_SYMBOLS,
	PD_INDEX_LINES,
	PD_INDEX_KERNEL,
	PD_INDEX_UNWIND
};

/** What identifies a file of the index. */
struct pd_index_key {
	const struct pd_object_id *id;
	enum pd_index_kind kind;
	uint32_t variant;
	const struct pd_file_origin *origin; // of the files; NULL for what comes from none
};

/** A piece of a file to be written: memory, or a part of another file if image is not NULL. */
struct pd_index_part {
	const void *data;
	const struct pd_image *image;
	uint64_t offset;
	uint64_t size;
};

/** Opens a file of the index and notes that it was used. False if it is not there. */
bool pd_index_open(const char *index, const struct pd_index_key *key, struct pd_image *image_out);
/** The first part of a file. */
struct pd_index_content {
	void *block;         // pd_free; data stands in it
	const uint8_t *data; // 16-aligned
	size_t size;
	uint64_t end; // where in the file it ends
};

/** Reads the first part of a file, which is checked as a whole. The content is given away. False if this is no file of that
 * key, or damaged. */
bool pd_index_first(const struct pd_image *image, const struct pd_index_key *key, size_t limit,
		    struct pd_index_content *content_out);
/** Writes a file whose first part is the first of the parts. False if it could not be written. */
bool pd_index_write(const char *index, const struct pd_index_key *key, const struct pd_index_part *parts, size_t count);
void pd_index_remove(const char *index, const struct pd_index_key *key);
/** Bytes in front of the first part. */
size_t pd_index_head_size(const struct pd_index_key *key);
/** Most bytes of a file. */
uint64_t pd_index_file_limit(void);
/** Of damage, not of forgery. */
uint64_t pd_index_sum(const void *data, size_t size);
/** Puts the right head in front of a first part of that size; data has room for it. file_size is that of all. */
void pd_index_seal(uint8_t *data, const struct pd_index_key *key, size_t first_size, uint64_t file_size);

/** The symbols of such a file, which is checked like one from a directory. It is taken over if the table is in pages. */
bool pd_index_read_symbols(struct pd_image *file, const struct pd_index_key *key, size_t limit,
			   struct pd_elf **shape_out, struct pd_symtab **table_out);

/** The same for a kernel; the file is taken over, if it succeeds. */
bool pd_index_read_kernel(struct pd_image *file, const struct pd_index_key *key, const uint8_t head[PD_KALLSYMS_HEAD],
			  size_t limit, struct pd_kallsyms *kallsyms_out);

#endif
