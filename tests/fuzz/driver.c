/* SPDX-License-Identifier: MIT */
/*
 * Runs a target without libFuzzer: over files, and over mutants of them.
 * usage: fuzz-TARGET [--rounds N] [--seed S] FILE-OR-DIRECTORY...
 * Each file goes in as it is and then N times mutated, each mutant made of the one before; the same seed gives the
 * same mutants. Exit status 0: all went well; else the target ends the process.
 */
#include <string.h>

#include "driver.h"
#include "walk.h"

enum {
	SECONDS = 60,
	MUTANT_LIMIT = 64 << 10,
	AGAIN = 8
};

// Targets without a mutator of their own get the one for bytes.
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	(void)seed;
	return LLVMFuzzerMutate(data, size, max_size);
}

static void run_mutants(const struct input *input, unsigned rounds, unsigned seed)
{
	uint8_t *mutant = malloc(MUTANT_LIMIT);
	size_t size = 0;
	char text[512];

	REQUIRE(mutant);
	for (unsigned i = 0; i < rounds; i++) {
		// some steps away from the file, then from its beginning again
		if (i % AGAIN == 0) {
			size = input->size < MUTANT_LIMIT ? input->size : MUTANT_LIMIT;
			memcpy(mutant, input->data, size);
		}
		snprintf(text, sizeof(text), "%s, seed %u, mutant %u", input->path, seed, i);
		watch_next(text, SECONDS);
		srand(seed + i);
		size = LLVMFuzzerCustomMutator(mutant, size, MUTANT_LIMIT, seed + i);
		LLVMFuzzerTestOneInput(mutant, size);
	}
	free(mutant);
}

int main(int argc, char **argv)
{
	struct inputs inputs = { 0 };
	unsigned rounds = 0, seed = 1;

	watch_begin(SECONDS);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
			rounds = (unsigned)strtoul(argv[++i], NULL, 10);
		} else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
			seed = (unsigned)strtoul(argv[++i], NULL, 10);
		} else if (!inputs_add(&inputs, argv[i])) {
			fprintf(stderr, "%s: cannot read\n", argv[i]);
			return 2;
		}
	}
	for (size_t i = 0; i < inputs.count; i++) {
		watch_next(inputs.items[i].path, SECONDS);
		LLVMFuzzerTestOneInput(inputs.items[i].data, inputs.items[i].size);
		run_mutants(&inputs.items[i], rounds, seed);
	}
	printf("%zu files, %u mutants of each\n", inputs.count, rounds);
	REQUIRE(inputs.count);
	inputs_free(&inputs);
	return 0;
}
