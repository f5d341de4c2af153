/* SPDX-License-Identifier: MIT */
/*
 * Pieces of a sample that have a look of their own: registers, branch stacks, output of BPF
 * programs, page sizes, and where a memory access was served.
 */
#include "format/layout.h"
#include "format/text/access.h"
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

const char *pd_samples_branch_kind(uint64_t flags)
{
	size_t kind = PD_BITS(flags, PD_BRANCH_KIND);
	const char *name =
		kind == PD_BRANCH_KIND_EXTEND_ABI ?
			pd_names_text(&pd_names_branch_new_kind, (int64_t)PD_BITS(flags, PD_BRANCH_NEW_KIND)) :
			pd_names_text(&pd_names_branch_kind, (int64_t)kind);

	return name ? name : "";
}

static void print_branch_flags(struct pd_line_buffer *line, uint64_t flags)
{
	char foretold = PD_BITS(flags, PD_BRANCH_PREDICTED) ? 'P' : PD_BITS(flags, PD_BRANCH_MISPRED) ? 'M' : '-';

	pd_line_char(line, '/');
	pd_line_char(line, foretold);
	pd_line_word(line, PD_BITS(flags, PD_BRANCH_IN_TX) ? "/X" : "/-");
	pd_line_word(line, PD_BITS(flags, PD_BRANCH_ABORT) ? "/A/" : "/-/");
	pd_line_dec(line, PD_BITS(flags, PD_BRANCH_CYCLES), 0, ' ');
	pd_line_char(line, '/');
	pd_line_word(line, pd_samples_branch_kind(flags));
	pd_line_char(line, ' ');
}

void pd_samples_branches(struct pd_samples *samples, const struct pd_shown_sample *hit, uint32_t field)
{
	const struct pd_branch_stack *stack = hit->sample->branch_stack;

	for (size_t i = 0; stack && i < stack->entries.count; i++) {
		const struct pd_branch *branch = PD_ITEM(pd_branch, stack->entries, i);

		if (field != FIELD_BRSTACKSYM) /* perf 6.1 has none there */
			pd_line_char(&samples->line, ' ');
		pd_samples_branch_end(samples, hit, branch->from, field);
		pd_line_char(&samples->line, '/');
		pd_samples_branch_end(samples, hit, branch->to, field);
		print_branch_flags(&samples->line, branch->flags);
	}
}

/* ---- output of BPF programs ---- */

void pd_samples_bytes(struct pd_line_buffer *line, struct pd_bytes raw, size_t at, const char *after_offset)
{
	pd_line_hex(line, at, 4, '0');
	pd_line_word(line, after_offset);
	for (size_t i = at; i < at + PD_LINE_OF_BYTES; i++) {
		if (i < raw.size) {
			pd_line_char(line, ' ');
			pd_line_hex(line, raw.data[i], 2, '0');
		} else {
			pd_line_spaces(line, 3);
		}
	}
	pd_line_spaces(line, 2);
	for (size_t i = at; i < at + PD_LINE_OF_BYTES; i++) {
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
	for (size_t at = 0; at < raw.size; at += PD_LINE_OF_BYTES) {
		pd_line_foreign(line, at ? "           " : "BPF output:", 17);
		pd_line_char(line, ' ');
		pd_samples_bytes(line, raw, at, ":");
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
	struct pd_access_words words = { .length = 0 };

	pd_access_page_size(&words, size);
	pd_line_char(&samples->line, ' ');
	pd_line_word(&samples->line, words.text);
}

/* ---- data_src ---- */

void pd_samples_data_src(struct pd_samples *samples, uint64_t data_src)
{
	struct pd_access_words words = { .length = 0 };
	char number[24];

	snprintf(number, sizeof(number), "%16llx ", (unsigned long long)data_src);
	pd_access_add(&words, number);
	pd_access_source(&words, data_src);
	pd_access_cut(&words);
	/* As wide as the widest one so far. */
	if (samples->data_src_width < words.length)
		samples->data_src_width = words.length;
	pd_line_foreign_left(&samples->line, words.text, samples->data_src_width);
}
