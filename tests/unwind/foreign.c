/* SPDX-License-Identifier: MIT */
/*
 * For foreign.py: functions of which each has one caller, with frames of all kinds, for any architecture and without a C library. They
 * are called again and again, for as long as somebody looks.
 */

#define FUNCTION __attribute__((noinline)) unsigned

// Bundles keep whole blocks of 512 bytes: before and after the code is room, so that it is in none with what is kept of any program.
asm(".text\n.space 4096\n");

volatile unsigned total, seed = 3, ended;

// Without a frame.
FUNCTION spin(unsigned n)
{
	for (unsigned i = 0; i < 3; i++)
		total += n ^ i;
	return n + 1;
}

// A frame of a fixed size.
FUNCTION inner(unsigned n)
{
	volatile unsigned space[9];

	space[n & 7] = n;
	return spin(n) + space[n & 7];
}

// A frame of a size that is only known when it runs: rules go by the frame pointer.
FUNCTION dynamic(unsigned n)
{
	volatile unsigned *space = __builtin_alloca(sizeof(*space) * ((n & 7) + 8));

	space[n & 7] = n;
	return inner(n + 1) + space[n & 7];
}

// A frame that is aligned.
FUNCTION aligned(unsigned n)
{
	_Alignas(64) volatile unsigned space[24];

	space[n & 15] = n;
	return dynamic(n + 1) + space[n & 15];
}

// Many registers are saved.
FUNCTION saving(unsigned n)
{
	unsigned a = seed, b = seed * 3, c = seed ^ n, d = seed + 9, e = seed << 1, f = seed * n, g = seed - n;

	n = aligned(n);
	return n + (a ^ b) + (c ^ d) + (e ^ f) + g;
}

// More than one page.
FUNCTION large(unsigned n)
{
	volatile unsigned space[1500];

	space[n & 1023] = n;
	return saving(n + 1) + space[n & 1023];
}

void begin(void)
{
	// it never is, but the compiler does not know
	while (!ended)
		seed += large(seed);
}

#ifdef __arm__
// what lists of .ARM.exidx name, and nobody calls here
void __aeabi_unwind_cpp_pr0(void)
{
}
void __aeabi_unwind_cpp_pr1(void)
{
}
#endif

void after(void)
{
	asm(".space 4096");
}

// Nobody calls what a program starts with.
#if defined(__x86_64__) || defined(__i386__)
asm(".globl _start\n_start: call begin\n");
#elif defined(__arm__)
asm(".globl _start\n.type _start, %function\n_start: bl begin\n");
#elif defined(__aarch64__)
asm(".globl _start\n_start: bl begin\nnop\n");
#elif defined(__powerpc64__)
asm(".globl _start\n_start: bl 1f\n1: mflr 2\naddis 2, 2, .TOC.-1b@ha\naddi 2, 2, .TOC.-1b@l\nbl begin\nnop\n");
#elif defined(__riscv)
asm(".globl _start\n_start: call begin\n");
#elif defined(__mips__)
asm(".globl _start\n.set noreorder\n_start: jal begin\nnop\n");
#elif defined(__s390x__)
asm(".globl _start\n_start: aghi %r15, -160\nbrasl %r14, begin\n");
#endif
