/* SPDX-License-Identifier: MIT */
/*
 * Names of types out of the type information of BPF programs (BTF). Types have no numbers and no
 * table: they stand one after another, so the places of all of them are noted when one is asked
 * for first.
 */
#ifndef CLI_BTF_H
#define CLI_BTF_H

#include <perfdata/perfdata.h>

/* Every BTF of a file, by number; of two with one number the first. */
struct btf_set;

/* btf may be NULL. big: its numbers are big endian. NULL without memory. btf must outlive the
 * set. */
struct btf_set *btf_set_new(const struct pd_bpf_btf *btf, bool big);
void btf_set_free(struct btf_set *set);

size_t btf_set_count(const struct btf_set *set);
/* Number of the index-th BTF, ascending. */
uint32_t btf_set_number(const struct btf_set *set, size_t index);
/* Whether there is a BTF of that number, and which it is. */
bool btf_set_find(const struct btf_set *set, uint32_t number, size_t *index_out);
/* Name of a type in the index-th BTF; empty if it has none. Belongs to the file. */
struct pd_bytes btf_set_type_name(struct btf_set *set, size_t index, uint64_t type);

/* The number of size bytes at offset, or 0 behind the end. */
uint64_t btf_number(struct pd_bytes bytes, uint64_t offset, unsigned size, bool big);
/* At most size bytes at offset. */
struct pd_bytes btf_piece(struct pd_bytes bytes, uint64_t offset, uint64_t size);

#endif
