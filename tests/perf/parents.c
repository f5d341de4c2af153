/* SPDX-License-Identifier: MIT */
/* Functions that call one another, with system calls between them. */
#include <sys/syscall.h>
#include <unistd.h>

static volatile unsigned long sum;

__attribute__((noinline)) static void inner(int count)
{
	for (int i = 0; i < count; i++)
		sum += (unsigned long)i;
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void middle(int count)
{
	inner(count);
	inner(count / 2);
	sum++;
}

__attribute__((noinline)) static void first(int count)
{
	middle(count);
	sum++;
}

__attribute__((noinline)) static void second(int count)
{
	middle(count / 2);
	inner(count);
	sum++;
}

int main(void)
{
	for (int i = 0; i < 20; i++) {
		first(1000000);
		syscall(SYS_getpgid, 0);
		second(2000000);
		syscall(SYS_getsid, 0);
		first(500000);
	}
	return 0;
}
