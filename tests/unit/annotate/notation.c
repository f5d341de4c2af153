/* SPDX-License-Identifier: MIT */
/* Instructions as binutils writes them: from bytes to text, what follows, and where a jump goes. */
#include "annotate/notation.h"
#include "test.h"

static struct pd_notation notation_of(const struct pd_code_kind *kind, const char *bytes, size_t size)
{
	void *handle = pd_disassembler_capstone.start(kind);
	struct pd_raw_instruction raw;
	struct pd_notation notation;

	pd_disassembler_capstone.next(handle, (const uint8_t *)bytes, size, 0x1000, &raw);
	pd_notate(kind, (const uint8_t *)bytes, size, 0x1000, &raw, &notation);
	pd_disassembler_capstone.close(handle);
	return notation;
}

TEST(att)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *text;
	} cases[] = {
		{ "\x45\x89\xfb", 3, "mov    %r15d,%r11d" },
		{ "\xc7\x00\x00\x00\x00\x00", 6, "movl   $0x0,(%rax)" },
		{ "\x48\x83\xc4\x80", 4, "add    $0xffffffffffffff80,%rsp" },
		{ "\x80\xf9\x80", 3, "cmp    $0x80,%cl" },
		{ "\x0f\x1f\x44\x00\x00", 5, "nopl   0x0(%rax,%rax,1)" },
		{ "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 10, "cs nopw 0x0(%rax,%rax,1)" },
		{ "\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 11, "data16 cs nopw 0x0(%rax,%rax,1)" },
		{ "\x66\x90", 2, "xchg   %ax,%ax" },
		{ "\xf3\x48\xab", 3, "rep stos %rax,%es:(%rdi)" },
		{ "\x48\xd1\xeb", 3, "shr    %rbx" },
		{ "\xf0\x0f\xb1\x17", 4, "lock cmpxchg %edx,(%rdi)" },
		{ "\x48\x8d\x04\xc5\x00\x00\x00\x00", 8, "lea    0x0(,%rax,8),%rax" },
		{ "\x66\x48\x0f\x6e\xc0", 5, "movq   %rax,%xmm0" },
		{ "\xf2\x48\x0f\x2a\xc2", 5, "cvtsi2sd %rdx,%xmm0" },
		{ "\x48\x0f\x44\xf8", 4, "cmove  %rax,%rdi" },
		{ "\xde\xc9", 2, "fmulp  %st,%st(1)" },
		{ "\xff\x25\x02\x2e\x00\x00", 6, "jmp    *0x2e02(%rip)" },
		{ "\xc3", 1, "ret" },
		{ "\x06", 1, "(bad)" },
	};
	const struct pd_code_kind kind = { .isa = PD_ISA_X86_64 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pd_notation notation = notation_of(&kind, cases[i].bytes, cases[i].size);

		CHECK_STR(notation.text, cases[i].text);
		CHECK(notation.size == cases[i].size);
	}
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
	CHECK(address.has_reference == 1);
	CHECK(address.reference == 0x1107);
}

/* Whatever bytes there are, an instruction has a size that does not exceed them. */
TEST(any_bytes)
{
	const struct pd_code_kind kind = { .isa = PD_ISA_X86_64 };
	uint32_t chance = 1;
	char bytes[16];

	for (unsigned i = 0; i < 20000; i++) {
		size_t size = 1 + i % sizeof(bytes);
		struct pd_notation notation;

		for (size_t k = 0; k < sizeof(bytes); k++) {
			chance = chance * 1103515245 + 12345;
			bytes[k] = (char)(chance >> 16);
		}
		notation = notation_of(&kind, bytes, size);
		CHECK(notation.size && notation.size <= size && notation.text[0]);
	}
}

RUN(TEST_CASE(att), TEST_CASE(targets), TEST_CASE(any_bytes))
