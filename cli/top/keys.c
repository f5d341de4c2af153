/* SPDX-License-Identifier: MIT */
/* The keyboard of perfdata top: keys, and questions that are answered in the line below the head. */
#include "top/top.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void top_notice(struct top *top, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(top->notice, sizeof(top->notice), format, arguments);
	va_end(arguments);
}

bool top_parse_delay(const char *text, uint64_t *ns_out)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0.1 && seconds <= 86400))
		return false;
	*ns_out = (uint64_t)(seconds * 1e9);
	return true;
}

/* What is wrong is said on the screen. */
static bool sort_by(struct top *top, const char *keys)
{
	struct pd_error error;

	if (pd_top_session_sort(top->session, keys, &error) >= 0)
		return true;
	top_notice(top, "%s", error.message);
	return false;
}

static void next_sort(struct top *top)
{
	static const char *const usual[] = { "dso,sym", "comm,dso,sym", "sym", "dso", "comm", "pid", "comm,dso" };
	enum {
		COUNT = sizeof(usual) / sizeof(usual[0])
	};
	size_t at = 0;

	while (at < COUNT && strcmp(usual[at], top->settings->form.sort) != 0)
		at++;
	if (sort_by(top, usual[(at + 1) % COUNT]))
		top_notice(top, "sorted by %s", usual[(at + 1) % COUNT]);
}

static void take_filter(struct top *top, const char *text)
{
	if (pd_top_session_filter(top->session, text, NULL) >= 0 && *text)
		top_notice(top, "only rows with '%s'", text);
}

static void take_answer(struct top *top)
{
	const char *answer = top->answer;
	uint64_t number;

	top->question = NULL;
	top_notice(top, "%s", "");
	if (top->question_key == 'f')
		take_filter(top, answer);
	else if (top->question_key == 's' && *answer)
		sort_by(top, answer);
	else if (top->question_key == 'E' && pd_number_parse(answer, &number))
		top->settings->form.entries = (size_t)number;
	else if (top->question_key == 'd' && !top_parse_delay(answer, &top->settings->delay_ns))
		top_notice(top, "'%s' is not a number of seconds of at least 0.1", answer);
}

static void ask(struct top *top, int key, const char *question)
{
	top->question = question;
	top->question_key = key;
	top->answer_length = 0;
	top->answer[0] = 0;
}

static void type(struct top *top, int key)
{
	enum {
		ESCAPE = 27,
		DELETE = 127
	};

	if (key == '\n' || key == '\r') {
		take_answer(top);
	} else if (key == ESCAPE) {
		top->question = NULL;
		top_notice(top, "%s", "");
	} else if (key == DELETE || key == '\b') {
		top->answer[top->answer_length -= top->answer_length > 0] = 0;
	} else if (key >= ' ' && top->answer_length + 1 < sizeof(top->answer)) {
		top->answer[top->answer_length++] = (char)key;
		top->answer[top->answer_length] = 0;
	}
}

static void press(struct top *top, int key)
{
	struct pd_top_settings *settings = top->settings;

	switch (key) {
	case 'q':
		top->over = true;
		break;
	case 'd':
		ask(top, key, "seconds between two tables");
		break;
	case 'E':
		ask(top, key, "rows (0: as many as fit)");
		break;
	case 'f':
		ask(top, key, "only rows with this text (empty: all)");
		break;
	case 's':
		ask(top, key, "sort keys");
		break;
	case 'S':
		next_sort(top);
		break;
	case 'e':
		pd_top_session_next_event(top->session);
		break;
	case 'n':
		settings->form.samples = !settings->form.samples;
		break;
	case 'z':
		pd_top_session_reset(top->session);
		break;
	case 'p':
		settings->paused = !settings->paused;
		top_notice(top, "%s", settings->paused ? "paused" : "");
		break;
	case 'K':
		settings->hide_kernel = !settings->hide_kernel;
		top_notice(top, "%s the kernel", settings->hide_kernel ? "without" : "with");
		break;
	case 'U':
		settings->hide_user = !settings->hide_user;
		top_notice(top, "%s programs", settings->hide_user ? "without" : "with");
		break;
	case 'h':
	case '?':
		top->help = true;
		break;
	default:
		break;
	}
}

bool top_take_keys(struct top *top)
{
	bool any = screen_changed(&top->screen);
	int key;

	while (!top->over && (key = screen_key(&top->screen)) != 0) {
		any = true;
		if (top->help)
			top->help = false;
		else if (top->question)
			type(top, key);
		else
			press(top, key);
	}
	return any;
}
