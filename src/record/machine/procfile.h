/* SPDX-License-Identifier: MIT */
/* Files of /proc and /sys: small, made when they are read, gone when their process is. */
#ifndef PD_RECORD_PROCFILE_H
#define PD_RECORD_PROCFILE_H

#include "base/memory.h"

// A text that is read again and again into the same memory.
struct pd_procfile {
	char *data; // with a NUL after it
	size_t size, capacity;
	bool cut; // there is more than is read at most
};

// Reads all of a file. False if it is not there, or there is no memory: then it is empty.
bool pd_procfile_read(struct pd_procfile *file, const char *path);
// At least the first line of a file: does not ask again whether more follows, as these files are many.
bool pd_procfile_read_line(struct pd_procfile *file, const char *path);
void pd_procfile_fini(struct pd_procfile *file);

// The next line of *at, without its end, as a text of its own; NULL at the end. The text is changed.
char *pd_procfile_line(char **at);
// What stands after a name and a colon at the begin of a line, without blanks: "Tgid" of /proc/PID/status. NULL if
// there is none. The text is not changed.
const char *pd_procfile_value(const struct pd_procfile *file, const char *name);

// The number in a file of one; fallback if there is none.
uint64_t pd_record_number(const char *path, uint64_t fallback);

#endif
