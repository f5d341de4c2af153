/* SPDX-License-Identifier: MIT */
/* Instructions from their text: operands, and what they do. */
#include "type/inside.h"
#include "test.h"

#include <stdio.h>

static struct pd_type_instruction read_text(const char *text)
{
	struct pd_notation notation = { .size = 1 };
	struct pd_type_instruction instruction;

	snprintf(notation.text, sizeof(notation.text), "%s", text);
	pd_type_instruction_read(&notation, 0x1000, &instruction);
	return instruction;
}

static void check_operand(const struct pd_type_operand *operand, bool is_memory, int reg, int64_t offset)
{
	CHECK(operand->is_memory == is_memory);
	CHECK(operand->reg == reg);
	CHECK(operand->offset == offset);
}

static void loads(void)
{
	struct pd_type_instruction i = read_text("mov    0x8(%rax,%rsi,1),%r8");

	CHECK(i.action == PD_TYPE_MOVE);
	check_operand(&i.from, true, 0, 8);
	check_operand(&i.to, false, 8, 0);
	i = read_text("movzbl -0x40(%rbp),%edx");
	check_operand(&i.from, true, 6, -0x40);
	check_operand(&i.to, false, 1, 0);
	i = read_text("movsd  (%r13),%xmm2");
	check_operand(&i.from, true, 13, 0);
	check_operand(&i.to, false, 19, 0);
	i = read_text("mov    0x2fca(%rip),%rbx        # 4060");
	check_operand(&i.from, true, PD_TYPE_PC, 0x2fca);
	check_operand(&i.to, false, 3, 0);
}

static void stores(void)
{
	struct pd_type_instruction i = read_text("movq   $0x5,0x10(%rsp)");

	CHECK(i.from.is_constant);
	check_operand(&i.from, false, PD_TYPE_NO_REGISTER, 5);
	check_operand(&i.to, true, 7, 0x10);
	i = read_text("incl   0x8(%rsi)");
	check_operand(&i.to, true, 4, 8);
	i = read_text("lock cmpxchg %ecx,0x8(%rdi)");
	check_operand(&i.to, true, 5, 8);
	CHECK(i.action == PD_TYPE_OTHER);
}

static void unread(void)
{
	// these have no operands for perf
	struct pd_type_instruction i = read_text("negq   (%rsi)");

	CHECK(!i.from.is_memory && !i.to.is_memory);
	i = read_text("cvtsi2sdl (%rdi),%xmm0");
	CHECK(!i.from.is_memory && !i.to.is_memory);
	i = read_text("imulq  (%rsi)");
	CHECK(!i.from.is_memory && !i.to.is_memory);
}

static void flow(void)
{
	CHECK(read_text("jne    116f").is_conditional);
	CHECK(read_text("jmp    116f").is_jump && !read_text("jmp    116f").is_conditional);
	CHECK(read_text("call   1129").is_call && read_text("call   1129").is_stack);
	CHECK(read_text("ret").is_return && read_text("ret").is_stack);
	CHECK(read_text("push   %rbx").is_stack && read_text("pop    %rbx").is_stack);
	CHECK(!read_text("popcnt 0x8(%rsi),%eax").is_stack);
	CHECK(read_text("cmpl   $0x3,0x8(%rsi)").fuses && read_text("vaddsd 0x8(%rsi),%xmm1,%xmm2").fuses);
	CHECK(read_text("cmp    %rax,%rdx").fuses ==
	      (PD_TYPE_NEHALEM | PD_TYPE_LATER | PD_TYPE_BULLDOZER | PD_TYPE_ZEN_3));
	CHECK(read_text("addq   $0x1,0x8(%rsi)").fuses == (PD_TYPE_LATER | PD_TYPE_ZEN_3));
	CHECK(read_text("vaddsd 0x8(%rsi),%xmm1,%xmm2").fuses == PD_TYPE_LATER);
	CHECK(read_text("xor    0x8(%rsi),%eax").fuses == PD_TYPE_ZEN_3);
	CHECK(!read_text("cmpxchg %ecx,0x8(%rdi)").fuses && !read_text("lock incl (%rdi)").fuses);
	CHECK(read_text("jmp    *%rax").never_fused && !read_text("je     1000").never_fused);
}

static void actions(void)
{
	CHECK(read_text("add    $0x8,%rdi").action == PD_TYPE_ADD);
	CHECK(read_text("sub    $0x8,%rdi").action == PD_TYPE_SUBTRACT);
	CHECK(read_text("lea    0x8(%rdi),%rax").action == PD_TYPE_ADDRESS);
	CHECK(read_text("xor    %eax,%eax").action == PD_TYPE_CLEAR);
	CHECK(read_text("xor    %eax,%edx").action == PD_TYPE_OTHER);
	CHECK(read_text("and    $0x3,%edx").action == PD_TYPE_SPOIL);
	CHECK(read_text("andl   $0x3,(%rdx)").action == PD_TYPE_OTHER);
}

static void gs(void)
{
	struct pd_type_instruction i = read_text("mov    %gs:0x28,%rax");

	CHECK(i.from.is_percpu && i.from.offset == 0x28 && !i.from.is_memory);
	CHECK(!read_text("mov    %fs:0x28,%rax").from.is_percpu);
}

// ---- what is far away ----

struct followed {
	struct pd_types types;
	struct pd_type_query query;
	struct pd_type_state state;
};

static void begin(struct followed *f)
{
	*f = (struct followed){ .types = { .work = 1000 } };
	f->query.types = &f->types;
	f->state.query = &f->query;
	f->state.frame = PD_TYPE_NO_REGISTER;
}

static void follow(struct followed *f, const char *text)
{
	const struct pd_type_instruction i = read_text(text);

	pd_type_follow(&f->state, &i);
}

static void numbers_without_end(void)
{
	struct followed f;
	const struct pd_type_register *rax = &f.state.registers[0], *rdx = &f.state.registers[1];

	begin(&f);
	f.state.registers[1] = (struct pd_type_register){ .holds = PD_TYPE_NUMBER, .offset = INT64_MIN };
	f.state.registers[0] = (struct pd_type_register){ .holds = PD_TYPE_POINTER, .offset = 8 };
	follow(&f, "sub    %rdx,%rax");
	CHECK(rax->holds == PD_TYPE_POINTER && rax->offset == INT64_MIN + 8);
	f.state.registers[0].offset = INT64_MAX;
	follow(&f, "lea    0x8(%rax),%rdx");
	CHECK(rdx->holds == PD_TYPE_POINTER && rdx->offset == INT64_MIN + 7);
	follow(&f, "mov    0x8(%rax),%rdx");
	CHECK(rdx->holds == PD_TYPE_VALUE && rdx->offset == 0);
}

static void slots_far_away(void)
{
	struct followed f;
	struct pd_type_slot slot = { .at = INT64_MIN, .size = 16, .is_compound = true };

	begin(&f);
	f.state.slots = &slot;
	f.state.slot_count = 1;
	CHECK(pd_type_slot_at(&f.state, INT64_MIN + 15) == &slot);
	CHECK(!pd_type_slot_at(&f.state, INT64_MIN + 16));
	CHECK(!pd_type_slot_at(&f.state, INT64_MAX));
	f.state.frame_offset = -16;
	f.state.registers[0] = (struct pd_type_register){ .holds = PD_TYPE_POINTER, .offset = 8 };
	f.state.frame = 6;
	follow(&f, "mov    -0x8(%rbp),%rax");
	CHECK(f.state.registers[0].holds == PD_TYPE_NOTHING);
}

RUN(TEST_CASE(loads), TEST_CASE(stores), TEST_CASE(unread), TEST_CASE(flow), TEST_CASE(actions), TEST_CASE(gs),
    TEST_CASE(numbers_without_end), TEST_CASE(slots_far_away))
