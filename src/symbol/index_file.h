/* SPDX-License-Identifier: MIT */
/*
 * What was learnt about objects, kept from run to run: a directory with one file for each build id and kind. It is a
 * cache: what is damaged, cut off, of another version or hostile is as if it were not there, and where nothing can be
 * written nothing is. A file is written beside and renamed, so that readers see the old one or the new one; of several
 * writers the last one wins. Objects whose build id has less than 8 bytes have no place here.
 */
#ifndef PD_SYMBOL_INDEX_FILE_H
#define PD_SYMBOL_INDEX_FILE_H

#include "symbol/elf.h"

/**
 * Finds the symbols of an object. *shape_out (pd_elf_close) is what pd_elf_addr and pd_elf_offset need of the object,
 * type and machine too, but has no bytes; *table_out is for pd_symtab_free. variant is what was given to save, such
 * as the flags that the table was made with. False if they are not there.
 */
bool pd_index_load_symbols(const char *index, const struct pd_object_id *id, uint32_t variant, size_t limit,
			   struct pd_elf **shape_out, struct pd_symtab **table_out);

/** Keeps them. object is the one that has the segments, not its debug file. Only what is complete should be kept: a
 * table of a stripped object would hide the debug file that is found later. */
void pd_index_save_symbols(const char *index, const struct pd_object_id *id, uint32_t variant,
			   const struct pd_elf *object, const struct pd_symtab *table);

#endif
