/* SPDX-License-Identifier: MIT */
/* Buffered standard output with every write checked, messages on standard error, and progress. */
#include "front/cli.h"
#include "front/terminal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum {
	FLUSH_BYTES = 128 * 1024
};

static bool write_text(void *self, struct pd_text *text)
{
	(void)text;
	return output_flush(self);
}

bool output_init(struct output *output, int fd)
{
	memset(output, 0, sizeof(*output));
	output->fd = fd;
	output->terminal = isatty(fd);
	output->text = pd_text_new();
	if (output->text)
		pd_text_set_sink(output->text, write_text, output);
	return output->text != NULL;
}

void output_fini(struct output *output)
{
	pd_text_free(output->text);
	output->text = NULL;
}

/* Whether a pipe takes another page without blocking: not if nobody reads it for a second after the end. */
static bool wait_for_reader(const struct output *output)
{
	enum {
		STEP_MS = 200,
		STEPS = 5
	};
	struct pollfd reader = { output->fd, POLLOUT, 0 };

	for (unsigned steps = 0; steps < STEPS; steps += *output->ended != 0)
		if (poll(&reader, 1, STEP_MS) > 0)
			return true;
	return false;
}

static ssize_t write_some(const struct output *output, struct pd_bytes bytes)
{
	if (!output->ended)
		return write(output->fd, bytes.data, bytes.size);
	if (wait_for_reader(output))
		return write(output->fd, bytes.data, bytes.size < PIPE_BUF ? bytes.size : PIPE_BUF);
	errno = ECANCELED;
	return -1;
}

static void write_all(struct output *output, struct pd_bytes bytes)
{
	size_t done = 0;

	if (output->progress && output->terminal)
		progress_clear(output->progress);
	while (done < bytes.size) {
		ssize_t count = write_some(output, (struct pd_bytes){ bytes.data + done, bytes.size - done });

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0) {
			output->failure = errno;
			return;
		}
		done += (size_t)count;
	}
}

static void write_to_terminal(struct output *output, struct pd_bytes bytes)
{
	struct pd_text *text = output->clip ? terminal_clipped(output, bytes) : NULL;

	if (output->pager && bytes.size)
		terminal_page(output, bytes);
	if (output->clip && (!text || pd_text_failed(text)))
		output->failure = ENOMEM;
	else
		write_all(output, text ? pd_text_bytes(text) : bytes);
	pd_text_free(text);
}

bool output_flush(struct output *output)
{
	if (pd_text_failed(output->text) && !output->failure)
		output->failure = ENOMEM;
	if (!output->failure && output->columns)
		write_to_terminal(output, pd_text_bytes(output->text));
	else if (!output->failure)
		write_all(output, pd_text_bytes(output->text));
	pd_text_clear(output->text);
	return !output->failure;
}

void output_clip(struct output *output)
{
	output->clip = output->columns != 0;
	output->clip_from = pd_text_bytes(output->text).size;
}

bool output_flush_large(struct output *output)
{
	if (pd_text_bytes(output->text).size >= FLUSH_BYTES || pd_text_failed(output->text))
		output_flush(output);
	return !output->failure;
}

int code_of(enum pd_status status)
{
	switch (status) {
	case PD_OK:
	case PD_END:
		return CODE_OK;
	case PD_ERROR_ARGUMENT:
		return CODE_USAGE;
	case PD_ERROR_OUTPUT:
		return CODE_OUTPUT;
	case PD_ERROR_NO_MATCH:
		return CODE_NOTHING;
	case PD_ERROR_NO_SAMPLES:
		return CODE_NO_SAMPLES;
	default:
		return CODE_UNREADABLE;
	}
}

bool code_is_usable(int code)
{
	return code == CODE_OK || code == CODE_DAMAGED;
}

int code_with_error(enum pd_status status, const struct pd_error *error)
{
	if (status < 0)
		print_error("%s", error->message);
	return code_of(status);
}

int code_of_print(enum pd_status status, const struct pd_error *error)
{
	return status == PD_ERROR_OUTPUT ? CODE_OK : code_with_error(status, error);
}

int output_finish(struct output *output)
{
	output->last = true;
	output_flush(output);
	/* A closed pipe is not an error worth a message, and one that nobody reads takes none. */
	if (output->failure && output->failure != EPIPE &&
	    !(output->failure == ECANCELED && output->fd == STDERR_FILENO))
		print_error("%s: %s", output->name ? output->name : "standard output", strerror(output->failure));
	return output->failure ? CODE_OUTPUT : CODE_OK;
}

const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}
