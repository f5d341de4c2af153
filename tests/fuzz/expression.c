/* SPDX-License-Identifier: MIT */
/* Expressions of unwind rules, alone and after a CFA: what they compute, and that they come to an end. The memory is the input itself. */
#include "rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_bytes bytes;

	if (size < RULES_HEAD)
		return 0;
	bytes = rules_bytes(data, size);
	rules_evaluate(rules_arch(data), rules_big(data), false, bytes, bytes);
	rules_evaluate(rules_arch(data), rules_big(data), true, bytes, bytes);
	return 0;
}
