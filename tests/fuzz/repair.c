/* SPDX-License-Identifier: MIT */
/*
 * Damaged files, repaired: the samples that a repair says it keeps are in the result, and a dry run says the same.
 */
#include <perfdata/check.h>
#include <perfdata/repair.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mutate.h"
#include "walk.h"

static bool ignore(void *self, const struct pd_problem *problem)
{
	(void)self;
	(void)problem;
	return true;
}

// Repairs into a descriptor, or nowhere (-1). False if the input was refused, or has what an output cannot have.
static bool repair(const uint8_t *data, size_t size, int fd, enum pd_mode mode, struct pd_repair_result *result)
{
	const struct pd_open_options options = { .size = sizeof(options),
						 .problem = ignore,
						 .memory_limit = 16 << 20,
						 .inflate_limit = 16 << 20,
						 .recover = true };
	struct pd_writer_options wanted = {
		.size = sizeof(wanted), .mode = mode, .packing = PD_PACK_SAME, .input_count = 1, .save_bytes = 4096
	};
	struct pd_writer *writer = NULL;
	struct pd_file *file;
	enum pd_status status = pd_file_open_memory(data, size, &options, &file, NULL);

	REQUIRE(status != PD_ERROR_MEMORY);
	if (status < 0)
		return false;
	wanted.inputs = &file;
	if (fd >= 0)
		REQUIRE(pd_writer_open_fd(fd, "memory", &wanted, &writer, NULL) == PD_OK);
	status = pd_repair(file, writer, NULL, result, NULL);
	REQUIRE(status != PD_ERROR_SYSTEM);
	if (status < 0)
		pd_writer_abort(writer);
	else if (writer)
		status = pd_writer_finish(writer, NULL);
	pd_file_close(file);
	return status >= 0;
}

static uint64_t count_samples(const uint8_t *data, size_t size)
{
	const struct pd_open_options options = { .size = sizeof(options), .memory_limit = 16 << 20 };
	struct pd_check_result checked;
	struct pd_file *file;

	REQUIRE(pd_file_open_memory(data, size, &options, &file, NULL) == PD_OK);
	REQUIRE(pd_check(file, &checked, NULL) == PD_OK);
	pd_file_close(file);
	return checked.sample_count;
}

static void try_mode(const uint8_t *data, size_t size, enum pd_mode mode)
{
	int fd = memfd_create("repair", 0);
	struct pd_repair_result result, again;

	REQUIRE(fd >= 0);
	if (repair(data, size, fd, mode, &result)) {
		off_t end = lseek(fd, 0, SEEK_END);
		uint8_t *made = mmap(NULL, (size_t)end, PROT_READ, MAP_PRIVATE, fd, 0);

		REQUIRE(end > 0 && made != MAP_FAILED);
		REQUIRE(!result.sample_count || count_samples(made, (size_t)end) == result.sample_count);
		munmap(made, (size_t)end);
		REQUIRE(repair(data, size, -1, mode, &again));
		REQUIRE(again.record_count == result.record_count && again.sample_count == result.sample_count);
		REQUIRE(!memcmp(&again.losses, &result.losses, sizeof(again.losses)));
	}
	close(fd);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return mutate(data, size, max_size, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_mode(data, size, PD_MODE_FILE);
	try_mode(data, size, PD_MODE_PIPE);
	return 0;
}
