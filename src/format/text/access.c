/* SPDX-License-Identifier: MIT */
#include "format/text/access.h"

#include <stdio.h>
#include <string.h>

#include <perfdata/format.h>
#include <perfdata/print.h>

#include "base/text/text.h"

void pd_access_add(struct pd_access_words *words, const char *word)
{
	size_t length = strlen(word);

	if (words->length + length >= sizeof(words->text))
		length = sizeof(words->text) - 1 - words->length;
	memcpy(words->text + words->length, word, length);
	words->length += length;
}

/* The names of the bits that are set, with "or" between them. */
static size_t add_bits(struct pd_access_words *words, uint64_t bits, const char *const *names, size_t count,
		       size_t before)
{
	for (size_t i = 0; i < count; i++) {
		if (!(bits >> i & 1))
			continue;
		if (before++)
			pd_access_add(words, " or ");
		pd_access_add(words, names[i]);
	}
	return before;
}

#define ADD_BITS(words, bits, names, before) add_bits(words, bits, names, sizeof(names) / sizeof((names)[0]), before)

static void add_hit(struct pd_access_words *words, uint64_t bits, unsigned hit, unsigned miss)
{
	if (bits >> hit & 1)
		pd_access_add(words, " hit");
	if (bits >> miss & 1)
		pd_access_add(words, " miss");
}

void pd_access_level(struct pd_access_words *words, uint64_t data_src)
{
	static const char *const levels[] = { "N/A",
					      "HIT",
					      "MISS",
					      "L1",
					      "LFB/MAB",
					      "L2",
					      "L3",
					      "Local RAM",
					      "Remote RAM (1 hop)",
					      "Remote RAM (2 hops)",
					      "Remote Cache (1 hop)",
					      "Remote Cache (2 hops)",
					      "I/O",
					      "Uncached" };
	static const char *const numbers[16] = { [9] = "CXL",  [10] = "I/O",  [11] = "Any cache", [12] = "LFB/MAB",
						 [13] = "RAM", [14] = "PMEM", [15] = "N/A" };
	static const char *const hops[8] = { "N/A", "core, same node", "node, same socket", "socket, same board",
					     "board" };
	uint64_t bits = PD_BITS(data_src, PD_DATA_SRC_LVL);
	size_t number = PD_BITS(data_src, PD_DATA_SRC_LVL_NUM);
	size_t hop = PD_BITS(data_src, PD_DATA_SRC_HOPS);
	size_t before = words->length, count = 0;
	char plain[8];

	if (PD_BITS(data_src, PD_DATA_SRC_REMOTE))
		pd_access_add(words, "Remote ");
	if (hop) {
		pd_access_add(words, hops[hop] ? hops[hop] : "");
		pd_access_add(words, " ");
	} else {
		count = ADD_BITS(words, bits & ~UINT64_C(6), levels, 0);
	}
	if (number) {
		snprintf(plain, sizeof(plain), "L%d", (int)number);
		pd_access_add(words, count ? " or " : "");
		pd_access_add(words, numbers[number] ? numbers[number] : plain);
	}
	if (words->length == before)
		pd_access_add(words, "N/A");
	add_hit(words, bits, 1, 2);
}

void pd_access_snoop(struct pd_access_words *words, uint64_t data_src)
{
	static const char *const snoops[] = { "N/A", "None", "Hit", "Miss", "HitM" };
	static const char *const more[] = { "Fwd", "Peer" };
	size_t count = ADD_BITS(words, PD_BITS(data_src, PD_DATA_SRC_SNOOP), snoops, 0);

	if (!ADD_BITS(words, PD_BITS(data_src, PD_DATA_SRC_SNOOPX), more, count))
		pd_access_add(words, "N/A");
}

void pd_access_tlb(struct pd_access_words *words, uint64_t data_src)
{
	static const char *const names[] = { "N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault" };
	uint64_t bits = PD_BITS(data_src, PD_DATA_SRC_DTLB);

	if (!ADD_BITS(words, bits & ~UINT64_C(6), names, 0))
		pd_access_add(words, "N/A");
	add_hit(words, bits, 1, 2);
}

void pd_access_lock(struct pd_access_words *words, uint64_t data_src)
{
	uint64_t lock = PD_BITS(data_src, PD_DATA_SRC_LOCK);

	pd_access_add(words, lock & 1 ? "N/A" : lock & 2 ? "Yes" : "No");
}

void pd_access_blocked(struct pd_access_words *words, uint64_t data_src)
{
	uint64_t blocked = PD_BITS(data_src, PD_DATA_SRC_BLK);

	if (!blocked || (blocked & 1)) {
		pd_access_add(words, " N/A");
		return;
	}
	pd_access_add(words, blocked & 2 ? " Data" : "");
	pd_access_add(words, blocked & 4 ? " Addr" : "");
}

void pd_access_page_size(struct pd_access_words *words, uint64_t size)
{
	static const char units[] = "BKMG";
	char text[32];
	size_t unit = 0;

	if (!size) {
		pd_access_add(words, "N/A");
		return;
	}
	while (size / 1024 > 1 && unit < 3) {
		size /= 1024;
		unit++;
	}
	snprintf(text, sizeof(text), "%llu%c", (unsigned long long)size, units[unit]);
	pd_access_add(words, text);
}

void pd_access_transaction(struct pd_access_words *words, uint64_t transaction)
{
	static const char *const names[] = { "EL ",    "TX ",  "SYNC ",      "ASYNC ",
					     "RETRY ", "CON ", "CAP-WRITE ", "CAP-READ " };
	uint64_t code = PD_BITS(transaction, PD_TXN_ABORT_CODE);
	char text[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (transaction >> i & 1)
			pd_access_add(words, names[i]);
	if (transaction && !PD_BITS(transaction, PD_TXN_SYNC) && !PD_BITS(transaction, PD_TXN_ASYNC))
		pd_access_add(words, "NEITHER ");
	snprintf(text, sizeof(text), ":%llx", (unsigned long long)code);
	pd_access_add(words, code ? text : "");
}

/* ---- all of it ---- */

enum {
	SOURCE_MOST = 99
};

static const char *operation(uint64_t op)
{
	static const char *const names[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (op >> i & 1)
			return names[i];
	}
	return "No";
}

void pd_access_source(struct pd_access_words *words, uint64_t data_src)
{
	pd_access_add(words, "|OP ");
	pd_access_add(words, operation(PD_BITS(data_src, PD_DATA_SRC_OP)));
	pd_access_add(words, "|LVL ");
	pd_access_level(words, data_src);
	pd_access_add(words, "|SNP ");
	pd_access_snoop(words, data_src);
	pd_access_add(words, "|TLB ");
	pd_access_tlb(words, data_src);
	pd_access_add(words, "|LCK ");
	pd_access_lock(words, data_src);
	pd_access_add(words, "|BLK ");
	pd_access_blocked(words, data_src);
}

void pd_access_cut(struct pd_access_words *words)
{
	if (words->length > SOURCE_MOST)
		words->length = SOURCE_MOST;
	words->text[words->length] = 0;
}

void pd_print_data_src(struct pd_text *text, uint64_t data_src)
{
	struct pd_access_words words = { .length = 0 };

	pd_access_source(&words, data_src);
	pd_access_cut(&words);
	pd_text_put(text, words.text, words.length);
}
