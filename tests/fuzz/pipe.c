/* SPDX-License-Identifier: MIT */
/*
 * Bytes out of a real pipe. What has no magic number gets the header of a pipe in front, so that records are
 * reached; a file with a data section goes through a copy, because it is read out of order. Those of odd size are
 * read in the order of time.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "mutate.h"
#include "walk.h"

static const uint8_t pipe_header[16] = { 'P', 'E', 'R', 'F', 'I', 'L', 'E', '2', 16 };

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return mutate(data, size, max_size, seed);
}

static bool fill(int fd, const uint8_t *data, size_t size)
{
	bool has_magic = size >= 8 && (memcmp(data, "PERF", 4) == 0 || memcmp(data, "2ELIFREP", 8) == 0);

	if (size + sizeof(pipe_header) > 65536 && fcntl(fd, F_SETPIPE_SZ, (int)size + 65536) < 0)
		return false;
	if (!has_magic && write(fd, pipe_header, sizeof(pipe_header)) != (ssize_t)sizeof(pipe_header))
		return false;
	return size == 0 || write(fd, data, size) == (ssize_t)size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct walk walk = { .order = size & 1 ? PD_ORDER_TIME : PD_ORDER_FILE };
	struct pd_open_options options = walk_options(&walk);
	struct pd_file *file = NULL;
	struct pd_stream *stream;
	struct pd_error error;
	enum pd_status status;
	int fds[2];

	REQUIRE(pipe(fds) == 0);
	if (size < (1 << 20) - 65536 && fill(fds[1], data, size)) {
		close(fds[1]);
		status = pd_file_open_fd(fds[0], &options, &file, &error);
		if (status == PD_OK)
			status = walk_file(file, &walk, &error);
		if (status < 0)
			walk_require_error(status, &error);
		REQUIRE(status != PD_ERROR_MEMORY && status != PD_ERROR_SYSTEM);
		if (file && pd_file_header(file)->mode == PD_MODE_PIPE)
			REQUIRE(pd_stream_open(file, NULL, &stream, &error) == PD_ERROR_ARGUMENT);
		pd_file_close(file);
	} else {
		close(fds[1]);
	}
	close(fds[0]);
	return 0;
}
