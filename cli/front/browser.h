/* SPDX-License-Identifier: MIT */
/* Starts a browser. The address has a token in it, and arguments of programs can be read by anyone: it gets a file. */
#ifndef CLI_BROWSER_H
#define CLI_BROWSER_H

#include <stdbool.h>

/* All zero: none was started. */
struct browser {
	char path[256]; /* of the file */
};

/* Nothing where there is no display. */
void browser_start(struct browser *browser, const char *address);
/* Removes the file. */
void browser_forget(struct browser *browser);

#endif
