/* SPDX-License-Identifier: MIT */
#include "front/terminal.h"

#include <perfdata/config.h>
#include "front/pager.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
	USUAL_COLUMNS = 80,
	USUAL_LINES = 24,
	MOST = 100000
};

/* As in the variables COLUMNS and LINES; 0: not set, or not a number. */
static unsigned size_of_variable(const char *name)
{
	const char *text = getenv(name);
	char *end = NULL;
	unsigned long size = text ? strtoul(text, &end, 10) : 0;

	return end && end != text && !*end && size <= MOST ? (unsigned)size : 0;
}

static void find_size(struct output *output)
{
	struct winsize size = { 0 };

	output->columns = size_of_variable("COLUMNS");
	output->lines = size_of_variable("LINES");
	(void)ioctl(output->fd, TIOCGWINSZ, &size);
	if (!output->columns)
		output->columns = size.ws_col ? size.ws_col : USUAL_COLUMNS;
	if (!output->lines)
		output->lines = size.ws_row ? size.ws_row : USUAL_LINES;
}

static bool is_dumb(void)
{
	const char *name = getenv("TERM");

	return !name || !*name || strcmp(name, "dumb") == 0;
}

/* The words of --color and of color.ui, as git and perf have them. False if it is none of them. */
static bool take_word(const char *word, bool usual, bool *color_out)
{
	static const struct {
		const char *word;
		enum {
			NEVER,
			ALWAYS,
			AUTO
		} when;
	} words[] = { { "always", ALWAYS }, { "auto", AUTO },   { "true", AUTO },
		      { "", AUTO },         { "never", NEVER }, { "false", NEVER } };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].word, word) == 0) {
			*color_out = words[i].when == AUTO ? usual : words[i].when == ALWAYS;
			return true;
		}
	return false;
}

static bool find_color(struct output *output, const char *option, const char *setting)
{
	const char *none = getenv("NO_COLOR");
	bool usual = output->terminal && !is_dumb() && !(none && *none);

	output->color = usual;
	if (option && !take_word(option, usual, &output->color))
		return print_error("option --color: '%s' is not always, never or auto", option);
	if (!option && setting)
		(void)take_word(setting, usual, &output->color);
	return true;
}

bool terminal_prepare(struct output *output, const struct terminal_options *options, const struct pd_config *config,
		      const char *command, bool usual)
{
	if (!find_color(output, options->color, pd_config_get(config, "color.ui")))
		return false;
	if (!output->terminal)
		return true;
	find_size(output);
	if (!options->no_pager)
		output->pager = pager_command(config, command, options->paginate, usual && !is_dumb());
	return true;
}

/* ---- the edge of the screen ---- */

struct pd_text *terminal_clipped(struct output *output, struct pd_bytes bytes)
{
	const struct pd_bytes rest = { bytes.data + output->clip_from, bytes.size - output->clip_from };
	struct pd_text *text = pd_text_new();

	if (text)
		pd_text_printf(text, "%.*s", (int)output->clip_from, (const char *)bytes.data);
	output->clip_from = 0;
	if (text)
		pd_text_clipped(text, rest, output->columns, &output->column);
	return text;
}

/* ---- the pager ---- */

/* Rows of the screen that a text takes. */
static size_t screen_lines(const struct output *output, struct pd_bytes bytes)
{
	const char *at = (const char *)bytes.data, *end = at + bytes.size;
	size_t lines = 0;

	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((line_end ? line_end : end) - at);

		lines += output->clip || !length ? 1 : (length + output->columns - 1) / output->columns;
		at += length + 1;
	}
	return lines;
}

void terminal_page(struct output *output, struct pd_bytes bytes)
{
	const char *pager = output->pager;

	output->pager = NULL;
	if (output->last && screen_lines(output, bytes) < output->lines)
		return;
	if (output->progress) {
		progress_clear(output->progress);
		output->progress->asked = true;
		output->progress->on = false;
	}
	pager_start(pager);
}
