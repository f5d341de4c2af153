/* SPDX-License-Identifier: MIT */
/* Bytes in memory as a file: everything in it is looked at. Mutants are made of its fields and records. */
#include "mutate.h"
#include "walk.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return mutate(data, size, max_size, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct walk walk = { 0 };
	struct pd_open_options options = walk_options(&walk);
	struct pd_error error;
	enum pd_status status = walk_memory(data, size, &options, &walk, &error);

	REQUIRE(status != PD_ERROR_SYSTEM && status != PD_ERROR_MEMORY);
	return 0;
}
