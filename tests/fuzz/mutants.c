/* SPDX-License-Identifier: MIT */
/*
 * Counts what becomes of mutants of files: opened and clean, opened with problems named, or refused with a place.
 * usage: fuzz-mutants N SEED FILE-OR-DIRECTORY...
 * Mutant number n is made of a file and some steps of the mutator, both by SEED and n. A crash, a broken promise or
 * more than ten seconds end the process and name the mutant. Exit status 0: all went right and was named.
 */
#include <string.h>
#include <time.h>

#include "driver.h"
#include "mutate.h"
#include "walk.h"

enum {
	SECONDS = 10,
	MUTANT_LIMIT = INPUT_LIMIT + (64 << 10)
};

struct tally {
	unsigned clean, problems, refused, silent;
	double slowest, sum;
	char slowest_name[512];
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time); // others may be busy too
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void count(struct tally *tally, enum pd_status status, const struct pd_error *error, const struct walk *walk,
		  const char *text)
{
	bool told = walk->told[PD_INFO] || walk->told[PD_WARNING] || walk->told[PD_DAMAGE];

	if (status >= 0 && told) {
		tally->problems++;
	} else if (status >= 0) {
		tally->clean++;
	} else if (error->offset != PD_NO_OFFSET || told) {
		tally->refused++;
	} else {
		printf("%s: no place: %s\n", text, error->message);
		tally->silent++;
	}
}

static void run(struct tally *tally, const struct input *input, unsigned number, unsigned seed, uint8_t *mutant)
{
	struct walk walk = { 0 };
	struct pd_open_options options = walk_options(&walk);
	struct pd_error error = { 0 };
	enum pd_status status;
	size_t size = input->size;
	double begin, took;
	char text[512];

	snprintf(text, sizeof(text), "%s, seed %u, mutant %u", input->path, seed, number);
	watch_next(text, SECONDS);
	memcpy(mutant, input->data, size);
	srand(seed * 1000003 + number);
	for (unsigned steps = 1 + (unsigned)rand() % 3; steps; steps--)
		size = mutate(mutant, size, MUTANT_LIMIT, (unsigned)rand());
	begin = now();
	status = walk_memory(mutant, size, &options, &walk, &error);
	took = now() - begin;
	tally->sum += took;
	if (took > tally->slowest) {
		tally->slowest = took;
		snprintf(tally->slowest_name, sizeof(tally->slowest_name), "%s", text);
	}
	count(tally, status, &error, &walk, text);
}

int main(int argc, char **argv)
{
	struct inputs inputs = { 0 };
	struct tally tally = { 0 };
	uint8_t *mutant = malloc(MUTANT_LIMIT);
	unsigned wanted, seed;

	if (argc < 4 || !mutant) {
		fprintf(stderr, "usage: fuzz-mutants N SEED FILE-OR-DIRECTORY...\n");
		return 2;
	}
	wanted = (unsigned)strtoul(argv[1], NULL, 10);
	seed = (unsigned)strtoul(argv[2], NULL, 10);
	watch_begin(60);
	for (int i = 3; i < argc; i++)
		REQUIRE(inputs_add(&inputs, argv[i]));
	REQUIRE(inputs.count);
	for (unsigned i = 0; i < wanted; i++)
		run(&tally, &inputs.items[i % inputs.count], i, seed, mutant);
	printf("%u mutants of %zu files, seed %u: %u opened clean, %u with problems, %u refused, %u without a place\n",
	       wanted, inputs.count, seed, tally.clean, tally.problems, tally.refused, tally.silent);
	printf("%.1f ms of processor time on average; slowest %.3f s: %s\n", tally.sum / wanted * 1e3, tally.slowest,
	       tally.slowest_name);
	inputs_free(&inputs);
	free(mutant);
	return tally.silent != 0;
}
