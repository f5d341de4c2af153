/* SPDX-License-Identifier: MIT */
/* Words for what a sample accessed, as perf has them: the parts of data_src, sizes of pages, transactions. */
#ifndef PD_FORMAT_TEXT_ACCESS_H
#define PD_FORMAT_TEXT_ACCESS_H

#include <stddef.h>
#include <stdint.h>

/* Nothing is known of the access. */
#define PD_NO_DATA_SRC UINT64_C(0x5080021)

/* A text that is cut where it is full; ends with a NUL. */
struct pd_access_words {
	char text[160];
	size_t length;
};

void pd_access_add(struct pd_access_words *words, const char *word);
void pd_access_level(struct pd_access_words *words, uint64_t data_src);
void pd_access_snoop(struct pd_access_words *words, uint64_t data_src);
void pd_access_tlb(struct pd_access_words *words, uint64_t data_src);
void pd_access_lock(struct pd_access_words *words, uint64_t data_src);
void pd_access_blocked(struct pd_access_words *words, uint64_t data_src);
/* All parts with their names. */
void pd_access_source(struct pd_access_words *words, uint64_t data_src);
/* To as many characters as perf has room for in script. */
void pd_access_cut(struct pd_access_words *words);
void pd_access_page_size(struct pd_access_words *words, uint64_t size);
void pd_access_transaction(struct pd_access_words *words, uint64_t transaction);

#endif
