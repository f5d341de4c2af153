/* SPDX-License-Identifier: MIT */
/*
 * What the targets share: a file is opened and everything in it is looked at, while the promises of the headers
 * are held against what happens. A broken promise ends the process, so that a fuzzer notices it.
 */
#ifndef PD_TEST_WALK_H
#define PD_TEST_WALK_H

#include <stdio.h>
#include <stdlib.h>

#include <perfdata/check.h>
#include <perfdata/print.h>

#define REQUIRE(condition)                                                              \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                        \
		}                                                                       \
	} while (0)

struct walk {
	uint64_t told[4];     // problems by severity
	uint64_t records;     // outside and inside of compressed records
	enum pd_order order;  // of the first pass; the second one is in the order of time
	bool once;            // no second pass
	size_t text_limit;    // most bytes to print; 0 means 1 MiB
	bool memory_may_fail; // a limit or the test lets memory run out
	bool memory_failed;   // and so it did, and was said to have done
	bool with_digest;
	uint64_t digest;      // of all that was printed
	uint64_t told_digest; // of the problems
};

// Defaults with problems counted in walk.
struct pd_open_options walk_options(struct walk *walk);
// Decodes all of an open file. Damage is no error.
enum pd_status walk_file(struct pd_file *file, struct walk *walk, struct pd_error *error);
// Opens bytes, walks through them and closes again.
enum pd_status walk_memory(const void *data, size_t size, const struct pd_open_options *options, struct walk *walk,
			   struct pd_error *error);
// A failure that is allowed, and has words for itself.
void walk_require_error(enum pd_status status, const struct pd_error *error);

// What libFuzzer calls; driver.c does too.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#endif
