/* SPDX-License-Identifier: MIT */
/* Bytes to a descriptor, all of them. */
#ifndef PD_BASE_WRITE_ALL_H
#define PD_BASE_WRITE_ALL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

// False with errno.
static inline bool pd_write_all(int fd, const void *data, size_t size)
{
	const uint8_t *at = data;

	while (size) {
		ssize_t done = write(fd, at, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		at += done;
		size -= (size_t)done;
	}
	return true;
}

#endif
