// SPDX-License-Identifier: MIT
/*
 * A program of 32 bits that needs no library, whose copied stacks are unwound.
 */
#define KEEP __attribute__((noinline, noclone, used))

volatile unsigned sink;

KEEP void spin(void)
{
	for (unsigned i = 0; i < 3000000; i++)
		sink += i * i;
}

KEEP unsigned inner(unsigned a)
{
	spin();
	return a + sink;
}

KEEP unsigned dynamic(unsigned a)
{
	volatile char *room = __builtin_alloca(100 + a % 1000);

	room[a % 100] = 1;
	return inner(a) + (unsigned)room[a % 100];
}

KEEP unsigned aligned(unsigned a)
{
	_Alignas(64) volatile char room[128];

	room[a % 128] = 1;
	return dynamic(a) + (unsigned)room[a % 128];
}

KEEP unsigned recursive(unsigned depth)
{
	volatile char room[64];

	room[0] = (char)depth;
	return (depth ? recursive(depth - 1) : aligned(1)) + (unsigned)room[0];
}

KEEP int begin(void)
{
	for (int i = 0; i < 100; i++)
		sink += recursive(5);
	return 0;
}

__asm__(".globl _start\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined eip\n"
	"xor %ebp, %ebp\n"
	"call begin\n"
	"movl $1, %eax\n"
	"xor %ebx, %ebx\n"
	"int $0x80\n"
	".cfi_endproc\n");
