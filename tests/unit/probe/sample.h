/* SPDX-License-Identifier: MIT */
/* What the program has and its test knows. */
#ifndef PD_TESTS_UNIT_PROBE_SAMPLE_H
#define PD_TESTS_UNIT_PROBE_SAMPLE_H

#include <stdint.h>

struct inner {
	uint16_t low, high;
};

struct outer {
	int id;
	unsigned flag : 3, rest : 5;
	char name[16];
	const char *text;
	struct inner parts[4];
	struct outer *next;
	union {
		uint64_t whole;
		struct inner half;
	};
};

#endif
