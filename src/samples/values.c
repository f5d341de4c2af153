/* SPDX-License-Identifier: MIT */
/*
 * Pieces of a sample that have a look of their own: registers, branch stacks, output of BPF
 * programs, page sizes, and where a memory access was served.
 */
#include "samples/samples.h"

#include <ctype.h>
#include <stdio.h>

void pd_samples_regs(struct pd_samples *samples, uint64_t mask, uint64_t abi, struct pd_u64s regs)
{
	struct pd_line_buffer *line = &samples->line;
	size_t at = 0;

	pd_line_word(line, " ABI:");
	pd_line_dec(line, abi, 0, ' ');
	pd_line_char(line, ' ');
	for (unsigned i = 0; i < 64 && at < regs.count; i++) {
		const char *name = pd_register_name(samples->machine, i);

		if (!(mask >> i & 1))
			continue;
		pd_line_foreign(line, name ? name : "unknown", 5);
		pd_line_word(line, ":0x");
		pd_line_hex(line, regs.items[at++], 0, ' ');
		pd_line_char(line, ' ');
	}
}

/* ---- branch stacks ---- */

static void print_branch_flags(struct pd_line_buffer *line, uint64_t flags)
{
	static const char *const kinds[] = { "",         "COND", "UNCOND",  "IND",    "CALL",
					     "IND_CALL", "RET",  "SYSCALL", "SYSRET", "COND_CALL",
					     "COND_RET", "ERET", "IRQ",     "SERROR", "NO_TX" };
	size_t kind = PD_BITS(flags, PD_BRANCH_KIND);
	char foretold = PD_BITS(flags, PD_BRANCH_MISPRED) ? 'M' : PD_BITS(flags, PD_BRANCH_PREDICTED) ? 'P' : '-';

	pd_line_char(line, '/');
	pd_line_char(line, foretold);
	pd_line_word(line, PD_BITS(flags, PD_BRANCH_IN_TX) ? "/X" : "/-");
	pd_line_word(line, PD_BITS(flags, PD_BRANCH_ABORT) ? "/A/" : "/-/");
	pd_line_dec(line, PD_BITS(flags, PD_BRANCH_CYCLES), 0, ' ');
	pd_line_char(line, '/');
	pd_line_word(line, kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[kind] : "");
	pd_line_char(line, ' ');
}

void pd_samples_branches(struct pd_samples *samples, const struct pd_shown_sample *hit, uint32_t field)
{
	const struct pd_branch_stack *stack = hit->sample->branch_stack;

	for (size_t i = 0; stack && i < stack->entries.count; i++) {
		const struct pd_branch *branch = PD_ITEM(pd_branch, stack->entries, i);

		pd_line_char(&samples->line, ' ');
		pd_samples_branch_end(samples, hit, branch->from, field);
		pd_line_char(&samples->line, '/');
		pd_samples_branch_end(samples, hit, branch->to, field);
		print_branch_flags(&samples->line, branch->flags);
	}
}

/* ---- output of BPF programs ---- */

enum {
	BYTES_PER_LINE = 16
};

static void print_bytes(struct pd_line_buffer *line, struct pd_bytes raw, size_t at)
{
	pd_line_char(line, ' ');
	pd_line_hex(line, at, 4, '0');
	pd_line_char(line, ':');
	for (size_t i = at; i < at + BYTES_PER_LINE; i++) {
		if (i < raw.size) {
			pd_line_char(line, ' ');
			pd_line_hex(line, raw.data[i], 2, '0');
		} else {
			pd_line_spaces(line, 3);
		}
	}
	pd_line_spaces(line, 2);
	for (size_t i = at; i < at + BYTES_PER_LINE; i++) {
		unsigned char c = i < raw.size ? raw.data[i] : ' ';

		pd_line_char(line, c >= 0x20 && c < 0x7f ? (char)c : '.');
	}
	pd_line_char(line, '\n');
}

/* True for a text that ends with NULs. */
static bool is_string(struct pd_bytes raw)
{
	size_t length = 0;

	while (length < raw.size && isprint(raw.data[length]))
		length++;
	if (length == raw.size)
		return false;
	for (size_t i = length; i < raw.size; i++) {
		if (raw.data[i])
			return false;
	}
	return true;
}

void pd_samples_bpf_output(struct pd_samples *samples, struct pd_bytes raw)
{
	struct pd_line_buffer *line = &samples->line;

	pd_line_char(line, '\n');
	for (size_t at = 0; at < raw.size; at += BYTES_PER_LINE) {
		pd_line_foreign(line, at ? "           " : "BPF output:", 17);
		print_bytes(line, raw, at);
	}
	if (is_string(raw)) {
		pd_line_foreign(line, "BPF string:", 17);
		pd_line_word(line, " \"");
		pd_line_foreign(line, (const char *)raw.data, 0);
		pd_line_word(line, "\"\n");
	}
}

/* ---- numbers ---- */

void pd_samples_page_size(struct pd_samples *samples, uint64_t size)
{
	static const char units[] = "BKMG";
	size_t unit = 0;

	pd_line_char(&samples->line, ' ');
	if (!size) {
		pd_line_word(&samples->line, "N/A");
		return;
	}
	while (size / 1024 > 1 && unit < 3) {
		size /= 1024;
		unit++;
	}
	pd_line_dec(&samples->line, size, 0, ' ');
	pd_line_char(&samples->line, units[unit]);
}

/* ---- data_src ---- */

enum {
	DATA_SRC_MOST = 99
}; /* characters that perf has room for */

struct words {
	char text[160];
	size_t length;
};

static void append_word(struct words *words, const char *word)
{
	size_t length = strlen(word);

	if (words->length + length >= sizeof(words->text))
		length = sizeof(words->text) - 1 - words->length;
	memcpy(words->text + words->length, word, length);
	words->length += length;
}

/* The names of the bits that are set, with "or" between them. */
static size_t add_bits(struct words *words, uint64_t bits, const char *const *names, size_t count, size_t before)
{
	for (size_t i = 0; i < count; i++) {
		if (!(bits >> i & 1))
			continue;
		if (before++)
			append_word(words, " or ");
		append_word(words, names[i]);
	}
	return before;
}

#define ADD_BITS(words, bits, names, before) add_bits(words, bits, names, sizeof(names) / sizeof((names)[0]), before)

static const char *operation(uint64_t op)
{
	static const char *const names[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (op >> i & 1)
			return names[i];
	}
	return "No";
}

static void add_hit(struct words *words, uint64_t bits, unsigned hit, unsigned miss)
{
	if (bits >> hit & 1)
		append_word(words, " hit");
	if (bits >> miss & 1)
		append_word(words, " miss");
}

static void add_level(struct words *words, uint64_t data_src)
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
	static const char *const numbers[16] = {
		[11] = "Any cache", [12] = "LFB/MAB", [13] = "RAM", [14] = "PMEM", [15] = "N/A"
	};
	static const char *const hops[8] = { "N/A", "core, same node", "node, same socket", "socket, same board",
					     "board" };
	uint64_t bits = PD_BITS(data_src, PD_DATA_SRC_LVL);
	size_t number = PD_BITS(data_src, PD_DATA_SRC_LVL_NUM);
	size_t hop = PD_BITS(data_src, PD_DATA_SRC_HOPS);
	size_t before = words->length, count = 0;
	char plain[8];

	if (PD_BITS(data_src, PD_DATA_SRC_REMOTE))
		append_word(words, "Remote ");
	if (hop) {
		append_word(words, hops[hop] ? hops[hop] : "");
		append_word(words, " ");
	} else {
		count = ADD_BITS(words, bits & ~UINT64_C(6), levels, 0);
	}
	if (number) {
		snprintf(plain, sizeof(plain), "L%d", (int)number);
		append_word(words, count ? " or " : "");
		append_word(words, numbers[number] ? numbers[number] : plain);
	}
	if (words->length == before)
		append_word(words, "N/A");
	add_hit(words, bits, 1, 2);
}

static void add_snoop(struct words *words, uint64_t data_src)
{
	static const char *const snoops[] = { "N/A", "None", "Hit", "Miss", "HitM" };
	static const char *const more[] = { "Fwd", "Peer" };
	size_t count = ADD_BITS(words, PD_BITS(data_src, PD_DATA_SRC_SNOOP), snoops, 0);

	if (!ADD_BITS(words, PD_BITS(data_src, PD_DATA_SRC_SNOOPX), more, count))
		append_word(words, "N/A");
}

static void add_tlb(struct words *words, uint64_t bits)
{
	static const char *const names[] = { "N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault" };

	if (!ADD_BITS(words, bits & ~UINT64_C(6), names, 0))
		append_word(words, "N/A");
	add_hit(words, bits, 1, 2);
}

static void add_rest(struct words *words, uint64_t data_src)
{
	uint64_t lock = PD_BITS(data_src, PD_DATA_SRC_LOCK);
	uint64_t blocked = PD_BITS(data_src, PD_DATA_SRC_BLK);

	append_word(words, "|LCK ");
	append_word(words, lock & 1 ? "N/A" : lock & 2 ? "Yes" : "No");
	append_word(words, "|BLK ");
	if (!blocked || (blocked & 1)) {
		append_word(words, " N/A");
		return;
	}
	append_word(words, blocked & 2 ? " Data" : "");
	append_word(words, blocked & 4 ? " Addr" : "");
}

void pd_samples_data_src(struct pd_samples *samples, uint64_t data_src)
{
	struct words words = { .length = 0 };
	char number[24];

	snprintf(number, sizeof(number), "%16llx |OP ", (unsigned long long)data_src);
	append_word(&words, number);
	append_word(&words, operation(PD_BITS(data_src, PD_DATA_SRC_OP)));
	append_word(&words, "|LVL ");
	add_level(&words, data_src);
	append_word(&words, "|SNP ");
	add_snoop(&words, data_src);
	append_word(&words, "|TLB ");
	add_tlb(&words, PD_BITS(data_src, PD_DATA_SRC_DTLB));
	add_rest(&words, data_src);
	if (words.length > DATA_SRC_MOST)
		words.length = DATA_SRC_MOST;
	words.text[words.length] = 0;
	/* As wide as the widest one so far. */
	if (samples->data_src_width < words.length)
		samples->data_src_width = words.length;
	pd_line_foreign_left(&samples->line, words.text, samples->data_src_width);
}
