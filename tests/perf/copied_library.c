// SPDX-License-Identifier: MIT
// What copied.c loads while it runs.
#include <stdint.h>

uint64_t in_library(uint64_t (*call)(uint64_t), uint64_t a);

__attribute__((noinline)) uint64_t in_library(uint64_t (*call)(uint64_t), uint64_t a)
{
	return call(a) + 1;
}
