/* SPDX-License-Identifier: MIT */
/* Files for targets that run without libFuzzer, and a stand-in for its mutator of bytes. */
#ifndef PD_TEST_DRIVER_H
#define PD_TEST_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input {
	char *path;
	uint8_t *data;
	size_t size;
};

struct inputs {
	struct input *items;
	size_t count;
};

enum {
	INPUT_LIMIT = 300 << 10
}; // larger files are left out

// Adds a file, or all files below a directory. False if path cannot be read.
bool inputs_add(struct inputs *inputs, const char *path);
void inputs_free(struct inputs *inputs);

// Says on a crash or after seconds of processor time what was running; text is copied.
void watch_begin(unsigned seconds);
void watch_next(const char *text, unsigned seconds);

#endif
