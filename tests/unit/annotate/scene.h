/* SPDX-License-Identifier: MIT */
/* The files of demo.h in a folder of their own. */
#ifndef PD_TESTS_UNIT_ANNOTATE_SCENE_H
#define PD_TESTS_UNIT_ANNOTATE_SCENE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "demo.h"

static char folder[] = "/tmp/perfdata-annotate-XXXXXX";

static bool write_file(const char *name, const unsigned char *data, size_t size)
{
	char path[64];
	FILE *file;
	bool done;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	done = file && fwrite(data, 1, size, file) == size;
	return file && !fclose(file) && done;
}

static bool make_scene(void)
{
	char path[64];

	if (!mkdtemp(folder))
		return false;
	snprintf(path, sizeof(path), "%s/usr", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/usr/bin", folder);
	mkdir(path, 0700);
	return write_file("demo.data", demo_recording, sizeof(demo_recording)) &&
	       write_file("usr/bin/demo", demo_program, sizeof(demo_program));
}

static void remove_scene(void)
{
	static const char *const names[] = { "demo.data", "usr/bin/demo", "usr/bin", "usr", "" };
	char path[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		remove(path);
	}
}

#endif
