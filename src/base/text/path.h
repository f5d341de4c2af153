/* SPDX-License-Identifier: MIT */
/* Names in paths. */
#ifndef PD_BASE_PATH_H
#define PD_BASE_PATH_H

#include <string.h>

// What follows the last slash of a path; "" if it ends in one.
static inline const char *pd_path_leaf(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

// The same, to be shown: a path that ends in a slash is its own name.
static inline const char *pd_path_name(const char *path)
{
	const char *leaf = pd_path_leaf(path);

	return *leaf ? leaf : path;
}

#endif
