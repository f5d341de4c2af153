/* SPDX-License-Identifier: MIT */
#include "driver.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "walk.h"

static bool read_file(struct inputs *inputs, const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	struct input *item;

	if (!file)
		return false;
	inputs->items = realloc(inputs->items, (inputs->count + 1) * sizeof(*inputs->items));
	REQUIRE(inputs->items);
	item = &inputs->items[inputs->count++];
	*item = (struct input){ .path = strdup(path), .data = malloc(size + 1), .size = size };
	REQUIRE(item->path && item->data);
	item->size = fread(item->data, 1, size, file);
	fclose(file);
	return true;
}

static bool add_directory(struct inputs *inputs, const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, alphasort);
	bool ok = count >= 0;

	for (int i = 0; i < count; i++) {
		char child[4096];

		snprintf(child, sizeof(child), "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			ok = inputs_add(inputs, child) && ok;
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return ok;
}

bool inputs_add(struct inputs *inputs, const char *path)
{
	struct stat stat_;

	if (stat(path, &stat_) < 0)
		return false;
	if (S_ISDIR(stat_.st_mode))
		return add_directory(inputs, path);
	return stat_.st_size >= INPUT_LIMIT || read_file(inputs, path, (size_t)stat_.st_size);
}

void inputs_free(struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++) {
		free(inputs->items[i].path);
		free(inputs->items[i].data);
	}
	free(inputs->items);
	*inputs = (struct inputs){ 0 };
}

static char running[512];

static void say(int signal_number)
{
	static const char slow[] = "took too long: ", broken[] = "broken by: ";
	ssize_t n;

	if (signal_number == SIGPROF)
		n = write(STDERR_FILENO, slow, sizeof(slow) - 1);
	else
		n = write(STDERR_FILENO, broken, sizeof(broken) - 1);
	n = write(STDERR_FILENO, running, strlen(running));
	n = write(STDERR_FILENO, "\n", 1);
	(void)n;
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

// Of processor time: others may be busy too.
static void limit(unsigned seconds)
{
	struct itimerval timer = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_PROF, &timer, NULL);
}

void watch_begin(unsigned seconds)
{
	signal(SIGPROF, say);
	signal(SIGABRT, say);
	signal(SIGSEGV, say);
	limit(seconds);
}

void watch_next(const char *text, unsigned seconds)
{
	snprintf(running, sizeof(running), "%s", text);
	limit(seconds);
}

// Bytes are flipped, overwritten, taken out, put in or cut off.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
	size_t at = size ? (size_t)rand() % size : 0, left = size - at;
	size_t step = left ? (size_t)rand() % (left < 16 ? left : 16) + 1 : 0;

	switch (size ? rand() % 6 : 4) {
	case 0:
		data[at] ^= (uint8_t)(1 << rand() % 8);
		break;
	case 1:
		for (size_t i = 0; i < step; i++)
			data[at + i] = (uint8_t)rand();
		break;
	case 2:
		memset(data + at, rand() % 2 ? 0xff : 0, step);
		break;
	case 3:
		memmove(data + at, data + at + step, left - step);
		return size - step;
	case 4:
		if (size == max_size)
			break;
		memmove(data + at + 1, data + at, left);
		data[at] = (uint8_t)rand();
		return size + 1;
	default:
		return at;
	}
	return size;
}
