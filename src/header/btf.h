/* SPDX-License-Identifier: MIT */
/*
 * Names of types out of the type information of BPF programs (BTF). Types have no numbers and no
 * table: they stand one after another, so the places of all of them are noted when one is asked
 * for first.
 */
#ifndef PD_HEADER_BTF_H
#define PD_HEADER_BTF_H

#include <perfdata/file.h>
#include <perfdata/text.h>

/* Every BTF of a file, by number; of two with one number the first. */
struct pd_btf_set;

/* btf may be NULL. big: its numbers are big endian. NULL without memory. btf must outlive the
 * set. */
struct pd_btf_set *pd_btf_new(const struct pd_bpf_btf *btf, bool big);
void pd_btf_free(struct pd_btf_set *set);

size_t pd_btf_count(const struct pd_btf_set *set);
/* Number of the index-th BTF, ascending. */
uint32_t pd_btf_number(const struct pd_btf_set *set, size_t index);
/* Whether there is a BTF of that number, and which it is. */
bool pd_btf_find(const struct pd_btf_set *set, uint32_t number, size_t *index_out);
/* Name of a type in the index-th BTF; empty if it has none. Belongs to the file. */
struct pd_bytes pd_btf_type_name(struct pd_btf_set *set, size_t index, uint64_t type);

/* A place in the types of one BTF, given as bytes: that of the enum of this name, for pd_btf_enum_word; 0: there is none. */
uint64_t pd_btf_enum_find(struct pd_bytes btf, bool big, const char *name);
/* The word that the enum at a place has for a value, which counts in its low 32 bits if the enum is of so many; empty if there is
 * none. */
struct pd_bytes pd_btf_enum_word(struct pd_bytes btf, bool big, uint64_t place, uint64_t value);

/* The number of size bytes at offset, or 0 past the end. */
uint64_t pd_btf_word(struct pd_bytes bytes, uint64_t offset, unsigned size, bool big);
/* At most size bytes at offset. */
struct pd_bytes pd_btf_bytes(struct pd_bytes bytes, uint64_t offset, uint64_t size);

#endif
