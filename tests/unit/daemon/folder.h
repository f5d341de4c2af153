/* SPDX-License-Identifier: MIT */
/* A folder with a base, a configuration and a script in the place of the recorder, which answers as one does. */
#ifndef PD_TESTS_UNIT_DAEMON_FOLDER_H
#define PD_TESTS_UNIT_DAEMON_FOLDER_H

#include <perfdata/daemon.h>
#include <perfdata/outfile.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct folder {
	char path[64], base[80], config[80], program[80];
} folder;

static inline bool write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	return file && fputs(text, file) >= 0 && fclose(file) == 0;
}

/* The configuration: its base, and other lines. */
static inline bool configure(const char *lines)
{
	char text[4096];

	snprintf(text, sizeof(text), "[daemon]\nbase = %s\n%s", folder.base, lines);
	return write_file(folder.config, text);
}

/* Its words are in the file words of the session; each SIGUSR2 is a line in signals. "deaf" does not answer, "ends" ends, "stubborn"
 * does not end when it is asked to. */
static const char script[] = "#!/bin/sh\n"
			     "trap 'echo signal >>signals' USR2\n"
			     "case $3 in stubborn) trap '' TERM;; ends) exit 3;; esac\n"
			     "exec 3<>control 4<>ack\n"
			     "echo \"$@\" >words\n"
			     "while :; do\n"
			     "	read line <&3 || continue\n"
			     "	[ \"$3\" = deaf ] || echo ack >&4\n"
			     "done\n";

static inline bool folder_make(void)
{
	snprintf(folder.path, sizeof(folder.path), "/tmp/perfdata-daemon-XXXXXX");
	if (!mkdtemp(folder.path))
		return false;
	snprintf(folder.base, sizeof(folder.base), "%s/base", folder.path);
	snprintf(folder.config, sizeof(folder.config), "%s/config", folder.path);
	snprintf(folder.program, sizeof(folder.program), "%s/program", folder.path);
	return mkdir(folder.base, 0755) == 0 && write_file(folder.program, script) && chmod(folder.program, 0755) == 0;
}

static inline void folder_remove(void)
{
	pd_remove_tree(folder.path);
}

static inline struct pd_daemon_options daemon_options(void)
{
	return (struct pd_daemon_options){ .size = sizeof(struct pd_daemon_options),
					   .config = folder.config,
					   .program = folder.program };
}

#endif
