/* SPDX-License-Identifier: MIT */
/* What lines.c and lines_compare.py ask about: places with known names, in functions that are inlined for certain. */
int outer(int x);
int plain(int x);

#ifdef __s390x__
#define NOTHING "nopr"
#else
#define NOTHING "nop"
#endif

/* A symbol at an instruction. */
#define MARK(name, x) __asm__ volatile(".globl " name "\n" name ":\n\t" NOTHING : "+r"(x))
#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noclone))
#endif

/* Lines are counted from here, so that the test knows them. */
#line 100 "lines_sample.c"
INLINE int inner(int x)
{
	MARK("mark_inner", x);
	return x + 1;
}

INLINE int middle(int x)
{
	x = x * 3;
	return inner(x) + 2;
}

#line 200 "lines_sample.c"
ALONE int outer(int x)
{
	x = middle(x);
	MARK("mark_outer", x);
	return x * 5;
}

#line 300 "lines_sample.c"
ALONE int plain(int x)
{
	MARK("mark_plain", x);
	return x * 7;
}

#line 400 "lines_sample.c"
int main(int argc, char **argv)
{
	(void)argv;
	return outer(argc) + plain(argc) > 1000;
}
