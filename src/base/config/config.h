/* SPDX-License-Identifier: MIT */
/* The inside of a configuration (perfdata/config.h): what config.c reads, and config_change.c changes. */
#ifndef PD_BASE_CONFIG_H
#define PD_BASE_CONFIG_H

#include <perfdata/config.h>

#include "base/lookup/strings.h"

enum {
	PD_CONFIG_MOST_BYTES = 1 << 20, // of a file: more is no configuration
	PD_CONFIG_MOST_NAME = 256       // bytes of section.key
};

// A key, and where its line is in the text that it was read from: from the first byte of the key to the end of the value.
struct pd_setting {
	const char *name, *value;
	size_t begin, end;
	bool replaced; // by a later one of the same name
};

struct pd_config {
	struct pd_setting *settings;
	size_t count, capacity;
	struct pd_strings names;
	uint32_t *last; // of each name, the setting that counts
	size_t last_capacity;
	uint32_t *order; // settings that count
	size_t order_count, order_capacity;
	struct pd_arena texts;
};

// All of a file with a NUL after it, for pd_free; NULL with errno.
char *pd_config_read_text(int fd);

#endif
