/* SPDX-License-Identifier: MIT */
/*
 * What is in a sample, as perf's -D prints it: a line, and one for each entry of a list.
 */
#include "format/layout.h"
#include "format/text/access.h"
#include "samples/raw/raw.h"

#define HAS(attr, FIELD) ((attr)->sample_type & PD_MASK(PD_SAMPLE_TYPE_##FIELD))

static void put_addr(struct pd_line_buffer *line, const char *before, uint64_t value)
{
	pd_line_word(line, before);
	pd_line_hex(line, value, 16, '0');
}

/* "..... 12: " */
static void put_number(struct pd_line_buffer *line, uint64_t number)
{
	pd_line_word(line, "..... ");
	pd_line_dec(line, number, 2, ' ');
	pd_line_word(line, ": ");
}

static void put_entry(struct pd_line_buffer *line, uint64_t number, uint64_t addr)
{
	put_number(line, number);
	put_addr(line, "", addr);
	pd_line_char(line, '\n');
}

static void put_count(struct pd_line_buffer *line, const char *before, uint64_t count)
{
	pd_line_word(line, before);
	pd_line_dec(line, count, 0, ' ');
	pd_line_char(line, '\n');
}

static void put_hex(struct pd_line_buffer *line, const char *before, uint64_t value)
{
	pd_line_word(line, before);
	pd_line_word(line, "0x");
	pd_line_hex(line, value, 0, ' ');
}

/* ---- call chains and branches ---- */

/* Up to the user's part, whose calls are the branches. */
static void print_branch_chain(struct pd_line_buffer *line, const struct pd_sample *sample)
{
	const struct pd_branch_stack *stack = sample->branch_stack;
	size_t kernel = 0;

	while (kernel < sample->callchain.count && sample->callchain.items[kernel] != (uint64_t)PD_CONTEXT_USER)
		kernel++;
	if (!stack || !stack->entries.count || kernel == sample->callchain.count)
		return;
	kernel++;
	put_count(line, "... LBR call chain: nr:", kernel + stack->entries.count + 1);
	for (size_t i = 0; i < kernel; i++)
		put_entry(line, i, sample->callchain.items[i]);
	put_entry(line, kernel, PD_ITEM(pd_branch, stack->entries, 0)->to);
	for (size_t i = 0; i < stack->entries.count; i++)
		put_entry(line, kernel + 1 + i, PD_ITEM(pd_branch, stack->entries, i)->from);
}

static void print_chain(struct pd_line_buffer *line, const struct pd_attr *attr, const struct pd_sample *sample)
{
	if (PD_BITS(attr->branch_sample_type, PD_BRANCH_TYPE_CALL_STACK))
		print_branch_chain(line, sample);
	put_count(line, "... FP chain: nr:", sample->callchain.count);
	for (size_t i = 0; i < sample->callchain.count; i++)
		put_entry(line, i, sample->callchain.items[i]);
}

static void print_branch(struct pd_line_buffer *line, size_t number, const struct pd_branch *branch)
{
	uint64_t speculation = PD_BITS(branch->flags, PD_BRANCH_SPEC);

	put_number(line, number);
	put_addr(line, "", branch->from);
	put_addr(line, " -> ", branch->to);
	pd_line_char(line, ' ');
	pd_line_dec(line, PD_BITS(branch->flags, PD_BRANCH_CYCLES), 0, ' ');
	pd_line_word(line, " cycles ");
	pd_line_char(line, PD_BITS(branch->flags, PD_BRANCH_MISPRED) ? 'M' : ' ');
	pd_line_char(line, PD_BITS(branch->flags, PD_BRANCH_PREDICTED) ? 'P' : ' ');
	pd_line_char(line, PD_BITS(branch->flags, PD_BRANCH_ABORT) ? 'A' : ' ');
	pd_line_char(line, PD_BITS(branch->flags, PD_BRANCH_IN_TX) ? 'T' : ' ');
	pd_line_char(line, ' ');
	pd_line_hex(line, branch->flags >> 33, 0, ' '); /* bits without a meaning */
	pd_line_char(line, ' ');
	pd_line_word(line, pd_samples_branch_kind(branch->flags));
	if (speculation) {
		pd_line_char(line, ' ');
		pd_line_word(line, pd_names_text(&pd_names_branch_spec, (int64_t)speculation));
	}
	pd_line_char(line, '\n');
}

static void print_branches(struct pd_line_buffer *line, const struct pd_attr *attr, const struct pd_branch_stack *stack)
{
	bool calls = PD_BITS(attr->branch_sample_type, PD_BRANCH_TYPE_CALL_STACK);
	size_t count = stack ? stack->entries.count : 0;

	put_count(line, calls ? "... branch callstack: nr:" : "... branch stack: nr:", count + calls);
	for (size_t i = 0; i < count; i++) {
		const struct pd_branch *branch = PD_ITEM(pd_branch, stack->entries, i);

		if (!calls)
			print_branch(line, i, branch);
		if (calls && i == 0)
			put_entry(line, 0, branch->to);
		if (calls)
			put_entry(line, i + 1, branch->from);
	}
}

/* ---- registers and the stack ---- */

static void print_regs(struct pd_samples *samples, const char *which, uint64_t mask, uint64_t abi, struct pd_u64s regs)
{
	static const char *const abis[] = { "none", "32-bit", "64-bit" };
	struct pd_line_buffer *line = &samples->line;
	size_t at = 0;

	if (!regs.count)
		return;
	pd_line_word(line, which);
	put_hex(line, " regs: mask ", mask);
	pd_line_word(line, " ABI ");
	pd_line_word(line, abi < sizeof(abis) / sizeof(abis[0]) ? abis[abi] : "unknown");
	pd_line_char(line, '\n');
	for (unsigned i = 0; i < 64 && at < regs.count; i++) {
		const char *name = pd_register_name(samples->machine, i);

		if (!(mask >> i & 1))
			continue;
		pd_line_word(line, ".... ");
		pd_line_foreign_left(line, name ? name : "unknown", 5);
		put_addr(line, " 0x", regs.items[at++]);
		pd_line_char(line, '\n');
	}
}

/* The place is that of the size before the bytes. */
static void print_stack(struct pd_line_buffer *line, const struct pd_record *record, const struct pd_user_stack *stack)
{
	bool any = stack && stack->size;
	uint64_t at = stack && stack->data.data ? (uint64_t)(stack->data.data - record->bytes.data) : 0;

	if (at)
		at -= sizeof(stack->size);
	pd_line_word(line, "... ustack: size ");
	pd_line_dec(line, any ? stack->dyn_size : 0, 0, ' ');
	put_hex(line, ", offset ", at);
	pd_line_char(line, '\n');
}

/* ---- values ---- */

static void print_weights(struct pd_line_buffer *line, const struct pd_attr *attr, const struct pd_sample *sample)
{
	uint64_t three = sample->weight_struct;

	pd_line_word(line, "... weight: ");
	if (!HAS(attr, WEIGHT_STRUCT)) {
		pd_line_dec(line, sample->weight, 0, ' ');
	} else {
		pd_line_dec(line, three & UINT32_MAX, 0, ' ');
		put_hex(line, ",", three >> 32 & UINT16_MAX);
		put_hex(line, ",", three >> 48);
	}
	pd_line_char(line, '\n');
}

static void print_page_size(struct pd_line_buffer *line, const char *before, uint64_t size)
{
	struct pd_access_words words = { .length = 0 };

	pd_access_page_size(&words, size);
	pd_line_word(line, before);
	pd_line_word(line, words.text);
	pd_line_char(line, '\n');
}

static void print_memory(struct pd_line_buffer *line, const struct pd_attr *attr, const struct pd_sample *sample)
{
	if (HAS(attr, WEIGHT) || HAS(attr, WEIGHT_STRUCT))
		print_weights(line, attr, sample);
	if (HAS(attr, DATA_SRC)) {
		put_hex(line, " . data_src: ", sample->data_src);
		pd_line_char(line, '\n');
	}
	if (HAS(attr, PHYS_ADDR)) {
		put_hex(line, " .. phys_addr: ", sample->phys_addr);
		pd_line_char(line, '\n');
	}
	if (HAS(attr, DATA_PAGE_SIZE))
		print_page_size(line, " .. data page size: ", sample->data_page_size);
	if (HAS(attr, CODE_PAGE_SIZE))
		print_page_size(line, " .. code page size: ", sample->code_page_size);
	if (HAS(attr, TRANSACTION)) {
		pd_line_word(line, "... transaction: ");
		pd_line_hex(line, sample->transaction, 0, ' ');
		pd_line_char(line, '\n');
	}
}

static void print_value(struct pd_line_buffer *line, uint64_t format, uint64_t id, uint64_t value, uint64_t lost)
{
	put_addr(line, "..... id ", id);
	put_addr(line, ", value ", value);
	if (PD_BITS(format, PD_READ_FORMAT_LOST)) {
		pd_line_word(line, ", lost ");
		pd_line_dec(line, lost, 0, ' ');
	}
	pd_line_char(line, '\n');
}

static void print_counts(struct pd_line_buffer *line, uint64_t format, const struct pd_counts *counts)
{
	pd_line_word(line, "... sample_read:\n");
	if (PD_BITS(format, PD_READ_FORMAT_TOTAL_TIME_ENABLED)) {
		put_addr(line, "...... time enabled ", counts->time_enabled_ns);
		pd_line_char(line, '\n');
	}
	if (PD_BITS(format, PD_READ_FORMAT_TOTAL_TIME_RUNNING)) {
		put_addr(line, "...... time running ", counts->time_running_ns);
		pd_line_char(line, '\n');
	}
	if (!PD_BITS(format, PD_READ_FORMAT_GROUP)) {
		print_value(line, format, counts->id, counts->value, counts->lost);
		return;
	}
	put_count(line, ".... group nr ", counts->members.count);
	for (size_t i = 0; i < counts->members.count; i++) {
		const struct pd_count *member = PD_ITEM(pd_count, counts->members, i);

		print_value(line, format, member->id, member->value, member->lost);
	}
}

/* ---- all of it ---- */

static void print_first_line(struct pd_line_buffer *line, const struct pd_record *record, const struct pd_brief *brief)
{
	put_hex(line, "(IP, ", record->misc);
	pd_line_word(line, "): ");
	pd_line_signed(line, (int32_t)brief->pid, 0, ' ');
	pd_line_char(line, '/');
	pd_line_signed(line, (int32_t)brief->tid, 0, ' ');
	pd_line_word(line, ": ");
	pd_line_hex_marked(line, brief->ip);
	pd_line_word(line, " period: ");
	pd_line_dec(line, brief->period, 0, ' ');
	pd_line_word(line, " addr: ");
	pd_line_hex_marked(line, brief->addr);
	pd_line_char(line, '\n');
}

void pd_samples_raw_sample(struct pd_samples *samples, const struct pd_record *record)
{
	struct pd_line_buffer *line = &samples->line;
	const struct pd_attr *attr = record->event ? record->event->attr : NULL;
	const struct pd_sample *sample = attr ? pd_as_sample(record) : NULL;
	struct pd_brief brief;

	if (!sample || !pd_record_brief(record, &brief))
		return;
	print_first_line(line, record, &brief);
	if (HAS(attr, CALLCHAIN))
		print_chain(line, attr, sample);
	if (HAS(attr, BRANCH_STACK))
		print_branches(line, attr, sample->branch_stack);
	if (HAS(attr, REGS_USER) && sample->user_regs)
		print_regs(samples, "... user", attr->sample_regs_user, sample->user_regs->abi,
			   sample->user_regs->regs);
	if (HAS(attr, REGS_INTR) && sample->intr_regs)
		print_regs(samples, "... intr", attr->sample_regs_intr, sample->intr_regs->abi,
			   sample->intr_regs->regs);
	if (HAS(attr, STACK_USER))
		print_stack(line, record, sample->user_stack);
	print_memory(line, attr, sample);
	if (HAS(attr, READ) && sample->read)
		print_counts(line, attr->read_format, sample->read);
}

void pd_samples_raw_place(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	struct pd_line_buffer *line = &samples->line;
	const char *path = pd_samples_path(samples, hit);
	bool known = hit->cpumode == PD_CPUMODE_USER || hit->cpumode == PD_CPUMODE_KERNEL;

	pd_line_word(line, " ... thread: ");
	pd_line_foreign(line, hit->comm, 0);
	pd_line_char(line, ':');
	pd_line_signed(line, (int32_t)hit->tid, 0, ' ');
	pd_line_word(line, "\n ...... dso: ");
	pd_line_foreign(line, path ? path : known ? "<not found>" : "[hypervisor]", 0);
	pd_line_char(line, '\n');
}
