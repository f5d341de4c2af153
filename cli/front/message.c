/* SPDX-License-Identifier: MIT */
/* What goes to standard error: messages, and the line that shows progress on a terminal. */
#include "front/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_line(const char *format, va_list arguments) PD_PRINTF(1, 0);

static void print_line(const char *format, va_list arguments)
{
	struct pd_text *text = pd_text_new();
	char line[2048];

	vsnprintf(line, sizeof(line), format, arguments);
	if (text) {
		struct pd_bytes bytes;

		pd_text_escaped(text, line, strlen(line));
		bytes = pd_text_bytes(text);
		fprintf(stderr, "perfdata: %.*s\n", (int)bytes.size, (const char *)bytes.data);
	} else {
		fprintf(stderr, "perfdata: out of memory\n");
	}
	pd_text_free(text);
}

bool print_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_line(format, arguments);
	va_end(arguments);
	return false;
}

int print_failure(int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_line(format, arguments);
	va_end(arguments);
	return code;
}

void print_warning(void *self, const char *sentence)
{
	(void)self;
	print_error("%s", sentence);
}

void print_error_lines(const struct pd_text *text)
{
	struct pd_bytes rest = pd_text_bytes(text);

	while (rest.size) {
		const uint8_t *end = memchr(rest.data, '\n', rest.size);
		size_t size = end ? (size_t)(end - rest.data) : rest.size;

		print_error("%.*s", (int)size, (const char *)rest.data);
		rest.data += size + (end != NULL);
		rest.size -= size + (end != NULL);
	}
}

void print_and_free(struct pd_text *text)
{
	if (text)
		print_error_lines(text);
	pd_text_free(text);
}

static int64_t ms_between(const struct timespec *from, const struct timespec *to)
{
	return (int64_t)(to->tv_sec - from->tv_sec) * 1000 + (to->tv_nsec - from->tv_nsec) / 1000000;
}

void progress_show(struct progress *progress, uint64_t done, uint64_t total)
{
	struct timespec now;

	if (!progress->asked) {
		progress->asked = true;
		progress->on = isatty(STDERR_FILENO);
		clock_gettime(CLOCK_MONOTONIC, &progress->started);
		progress->shown = progress->started;
	}
	if (!progress->on)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (ms_between(&progress->started, &now) < 500 || ms_between(&progress->shown, &now) < 100)
		return;
	progress->shown = now;
	progress->visible = true;
	if (total && done <= total)
		fprintf(stderr, "\rperfdata: %3.0f%% of %.0f MiB\033[K", 100.0 * (double)done / (double)total,
			(double)total / 1048576.0);
	else
		fprintf(stderr, "\rperfdata: %.0f MiB\033[K", (double)done / 1048576.0);
	fflush(stderr);
}

void progress_step(struct progress *progress, const struct pd_stream *stream)
{
	uint64_t done, total;

	pd_stream_progress(stream, &done, &total);
	progress_show(progress, done, total);
}

void progress_clear(struct progress *progress)
{
	if (!progress->visible)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress->visible = false;
}
