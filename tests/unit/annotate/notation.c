/* SPDX-License-Identifier: MIT */
/* Instructions as binutils writes them: from bytes to text, what follows, and where a jump goes. */
#include "annotate/notation/notation.h"
#include "test.h"

#include <string.h>

static struct pd_notation notation_of(const struct pd_code_kind *kind, const char *bytes, size_t size)
{
	void *handle = pd_disassembler_capstone.start(kind);
	struct pd_notation_state state = { 0 };
	struct pd_raw_instruction raw;
	struct pd_notation notation;

	pd_disassembler_capstone.next(handle, (const uint8_t *)bytes, size, 0x1000, &raw);
	pd_notate(kind, &state, (const uint8_t *)bytes, size, 0x1000, &raw, &notation);
	pd_disassembler_capstone.close(handle);
	return notation;
}

struct notation_case {
	const char *bytes;
	size_t size;
	const char *text;
};

static void check_cases(enum pd_isa isa, bool big, const struct notation_case *cases, size_t count)
{
	const struct pd_code_kind kind = { .isa = isa, .big = big };

	for (size_t i = 0; i < count; i++) {
		struct pd_notation notation = notation_of(&kind, cases[i].bytes, cases[i].size);

		CHECK_STR(notation.text, cases[i].text);
		CHECK(notation.size == cases[i].size);
	}
}

#define CHECK_CASES(isa, big, cases) check_cases(isa, big, cases, sizeof(cases) / sizeof((cases)[0]))

TEST(att)
{
	static const struct notation_case cases[] = {
		{ "\x45\x89\xfb", 3, "mov    %r15d,%r11d" },
		{ "\xc7\x00\x00\x00\x00\x00", 6, "movl   $0x0,(%rax)" },
		{ "\x48\x83\xc4\x80", 4, "add    $0xffffffffffffff80,%rsp" },
		{ "\x80\xf9\x80", 3, "cmp    $0x80,%cl" },
		{ "\x0f\x1f\x44\x00\x00", 5, "nopl   0x0(%rax,%rax,1)" },
		{ "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 10, "cs nopw 0x0(%rax,%rax,1)" },
		{ "\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 11, "data16 cs nopw 0x0(%rax,%rax,1)" },
		{ "\x66\x90", 2, "xchg   %ax,%ax" },
		{ "\x66\x48\x8d\x64\x24\x08", 6, "data16 lea 0x8(%rsp),%rsp" },
		{ "\x66\x66\x48\xe8\x00\x00\x00\x00", 8, "data16 data16 rex.W call 1008" },
		{ "\x66\x48\xff\xd0", 4, "data16 rex.W call *%rax" },
		{ "\x66\x48\x83\xc0\x01", 5, "data16 add $0x1,%rax" },
		{ "\x48\xc3", 2, "rex.W ret" },
		{ "\x66\x48\x98", 3, "data16 cltq" },
		{ "\xf3\x48\xab", 3, "rep stos %rax,%es:(%rdi)" },
		{ "\x48\xd1\xeb", 3, "shr    %rbx" },
		{ "\xf0\x0f\xb1\x17", 4, "lock cmpxchg %edx,(%rdi)" },
		{ "\x48\x8d\x04\xc5\x00\x00\x00\x00", 8, "lea    0x0(,%rax,8),%rax" },
		{ "\x66\x48\x0f\x6e\xc0", 5, "movq   %rax,%xmm0" },
		{ "\xf2\x48\x0f\x2a\xc2", 5, "cvtsi2sd %rdx,%xmm0" },
		{ "\x48\x0f\x44\xf8", 4, "cmove  %rax,%rdi" },
		{ "\xde\xc9", 2, "fmulp  %st,%st(1)" },
		{ "\xff\x25\x02\x2e\x00\x00", 6, "jmp    *0x2e02(%rip)        # 3e08" },
		{ "\xc3", 1, "ret" },
		{ "\x06", 1, "(bad)" },
	};
	CHECK_CASES(PD_ISA_X86_64, false, cases);
}

TEST(targets)
{
	const struct pd_code_kind kind = { .isa = PD_ISA_X86_64 };
	struct pd_notation branch = notation_of(&kind, "\x74\x76", 2);
	struct pd_notation call = notation_of(&kind, "\xe8\xfb\x00\x00\x00", 5);
	struct pd_notation address = notation_of(&kind, "\x48\x8d\x3d\x00\x01\x00\x00", 7);

	CHECK_STR(branch.text, "je     1078");
	CHECK(branch.target == 0x1078);
	CHECK(branch.flow == PD_FLOW_BRANCH);
	CHECK(call.target == 0x1100);
	CHECK(call.flow == PD_FLOW_CALL);
	CHECK(address.has_name == 1);
	CHECK(address.named == 0x1107);
}

TEST(arm64)
{
	static const struct notation_case cases[] = {
		{ "\x0f\x02\x80\x52", 4, "mov     w15, #0x10                      // #16" },
		{ "\x21\x04\x7a\xb9", 4, "ldr     w1, [x1, #14852]" },
		{ "\xc1\x00\x00\x54", 4, "b.ne    1018  // b.any" },
		{ "\x42\x10\x9f\x9a", 4, "csel    x2, x2, xzr, ne // ne = any" },
		{ "\x00\x04\x00\x91", 4, "add     x0, x0, #0x1" },
		{ "\x06\x00\x00\x94", 4, "bl      1018" },
		{ "\x00\x00\x00\x00", 4, "udf     #0" },
	};

	CHECK_CASES(PD_ISA_ARM64, false, cases);
}

TEST(thumb)
{
	static const struct notation_case cases[] = {
		{ "\x0c\x23", 2, "movs    r3, #12" },
		{ "\x2f\x2b", 2, "cmp     r3, #47 @ 0x2f" },
		{ "\x01\x68", 2, "ldr     r1, [r0, #0]" },
		{ "\xd8\xf8\x00\x60", 4, "ldr.w   r6, [r8]" },
		{ "\x07\xf0\x1f\x01", 4, "and.w   r1, r7, #31" },
		{ "\x02\xd1", 2, "bne.n   1008" },
		{ "\x2d\xe9\xf0\x4f", 4, "stmdb   sp!, {r4, r5, r6, r7, r8, r9, sl, fp, lr}" },
	};

	CHECK_CASES(PD_ISA_THUMB, false, cases);
}

TEST(ppc)
{
	static const struct notation_case cases[] = {
		{ "\xb8\x01\xa1\xeb", 4, "ld      r29,440(r1)" }, { "\x78\x1b\x7e\x7c", 4, "mr      r30,r3" },
		{ "\x42\xd9\xa8\x78", 4, "srdi    r8,r5,5" },     { "\x18\x00\x82\x41", 4, "beq     1018" },
		{ "\x01\x00\x00\x44", 4, "scv     0" },           { "\x05\x00\x9f\x42", 4, "bcl     20,4*cr7+so,1004" },
		{ "\x00\x00\x00\x00", 4, ".long 0x0" },
	};

	CHECK_CASES(PD_ISA_PPC64, false, cases);
}

TEST(s390)
{
	static const struct notation_case cases[] = {
		{ "\xe3\x80\xf0\xa8\x00\x24", 6, "stg     %r8,168(%r15)" },
		{ "\xd2\x07\xf1\x30\xb0\x28", 6, "mvc     304(8,%r15),40(%r11)" },
		{ "\x07\x07", 2, "nopr    %r7" },
		{ "\xec\x55\x3e\xbf\x00\x55", 6, "risbgz  %r5,%r5,62,63,0" },
		{ "\xc0\xe5\x00\x00\x00\x0c", 6, "brasl   %r14,1018" },
		{ "\xec\x56\x00\x0c\x00\x7c", 6, "cgijne  %r5,0,1018" },
		{ "\xec\x54\x20\x08\xc0\xf6", 6, "crbnh   %r5,%r4,8(%r2)" },
		{ "\xec\x50\x00\x01\xa0\x73", 6, "clfitnl %r5,1" },
		{ "\xa7\x04\x00\x0c", 4, "jnop    1018" },
	};

	CHECK_CASES(PD_ISA_S390X, true, cases);
}

TEST(riscv)
{
	static const struct notation_case cases[] = {
		{ "\x26\x67", 2, "ld      a4,72(sp)" },
		{ "\x82\x80", 2, "ret" },
		{ "\x3e\x85", 2, "mv      a0,a5" },
		{ "\x13\x05\x10\x00", 4, "li      a0,1" },
		{ "\x93\x17\x37\x00", 4, "sll     a5,a4,0x3" },
		{ "\x63\x0c\x05\x00", 4, "beqz    a0,1018" },
	};

	CHECK_CASES(PD_ISA_RISCV64, false, cases);
}

/* An address in two instructions is said at the second. */
TEST(riscv_addr)
{
	const struct pd_code_kind kind = { .isa = PD_ISA_RISCV64 };
	void *handle = pd_disassembler_capstone.start(&kind);
	static const uint8_t code[] = "\x17\x15\x00\x00\x13\x05\x85\xff"; // auipc a0,0x1; addi a0,a0,-8
	struct pd_notation_state state = { 0 };
	struct pd_raw_instruction raw;
	struct pd_notation notation;

	for (size_t i = 0; i < 8; i += 4) {
		pd_disassembler_capstone.next(handle, code + i, 8 - i, 0x1000 + i, &raw);
		pd_notate(&kind, &state, code + i, 8 - i, 0x1000 + i, &raw, &notation);
	}
	pd_disassembler_capstone.close(handle);
	CHECK_STR(notation.text, "add     a0,a0,-8 # 1ff8");
	CHECK(notation.named == 0x1ff8);
}

TEST(mips)
{
	static const struct notation_case cases[] = {
		{ "\x20\x00\xb3\xdf", 4, "ld      s3,32(sp)" },     { "\x00\x00\xc8\x8e", 4, "lw      a4,0(s6)" },
		{ "\x00\x04\x04\x24", 4, "li      a0,1024" },       { "\x00\x80\x42\x30", 4, "andi    v0,v0,0x8000" },
		{ "\x3c\x19\x20\x46", 4, "c.lt.d  $fcc1,$f3,$f0" },
	};

	CHECK_CASES(PD_ISA_MIPS64, false, cases);
}

/* As LLVM spells it, but for where jumps go. */
TEST(loongarch)
{
	static const struct {
		struct pd_raw_instruction raw;
		const char *text;
		enum pd_flow flow;
		uint64_t target;
	} cases[] = {
		{ { 4, "addi.d", "$sp, $sp, -64" }, "addi.d  $sp, $sp, -64", PD_FLOW_NEXT, 0 },
		{ { 4, "beqz", "$a3, 144" }, "beqz    $a3, 1090", PD_FLOW_BRANCH, 0x1090 },
		{ { 4, "bltu", "$s1, $s4, -68" }, "bltu    $s1, $s4, fbc", PD_FLOW_BRANCH, 0xfbc },
		{ { 4, "b", "32" }, "b       1020", PD_FLOW_JUMP, 0x1020 },
		{ { 4, "bl", "-4096" }, "bl      0", PD_FLOW_CALL, 0 },
		{ { 4, "jirl", "$ra, $t0, 8" }, "jirl    $ra, $t0, 8", PD_FLOW_CALL, 0 },
		{ { 4, "jr", "$t0" }, "jr      $t0", PD_FLOW_JUMP, 0 },
		{ { 4, "ret", "" }, "ret", PD_FLOW_RETURN, 0 },
	};
	const struct pd_code_kind kind = { .isa = PD_ISA_LOONGARCH64 };
	struct pd_notation_state state = { 0 };
	struct pd_notation notation;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pd_raw_instruction raw = cases[i].raw;

		pd_notate(&kind, &state, (const uint8_t *)"\0\0\0\0", 4, 0x1000, &raw, &notation);
		CHECK_STR(notation.text, cases[i].text);
		CHECK(notation.flow == cases[i].flow && notation.target == cases[i].target && notation.size == 4);
	}
}

/* Whatever bytes there are, an instruction has a size that does not exceed them. */
TEST(any_bytes)
{
	static const enum pd_isa isas[] = { PD_ISA_X86_64, PD_ISA_X86_32, PD_ISA_ARM64,   PD_ISA_ARM,    PD_ISA_THUMB,
					    PD_ISA_PPC64,  PD_ISA_S390X,  PD_ISA_RISCV64, PD_ISA_MIPS64, PD_ISA_BPF };
	uint32_t chance = 1;
	char bytes[16];

	for (unsigned i = 0; i < 100000; i++) {
		const struct pd_code_kind kind = { .isa = isas[i % 10], .big = i % 10 == 6 };
		size_t size = 1 + i / 10 % sizeof(bytes);
		struct pd_notation notation;

		for (size_t k = 0; k < sizeof(bytes); k++) {
			chance = chance * 1103515245 + 12345;
			bytes[k] = (char)(chance >> 16);
		}
		notation = notation_of(&kind, bytes, size);
		CHECK(notation.size && notation.size <= size && notation.text[0]);
		CHECK(!notation.has_name ||
		      (notation.name_start < notation.name_end && notation.name_end <= strlen(notation.text)));
	}
}

RUN(TEST_CASE(att), TEST_CASE(targets), TEST_CASE(arm64), TEST_CASE(thumb), TEST_CASE(ppc), TEST_CASE(s390),
    TEST_CASE(riscv), TEST_CASE(riscv_addr), TEST_CASE(mips), TEST_CASE(loongarch), TEST_CASE(any_bytes))
