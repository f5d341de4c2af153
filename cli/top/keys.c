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

bool top_parse_seconds(const char *text, double *seconds_out)
{
	char *end;

	*seconds_out = strtod(text, &end);
	return end != text && !*end && *seconds_out >= 0.1 && *seconds_out <= 86400;
}

static void next_sort(struct top *top)
{
	static const char *const usual[] = { "dso,sym", "comm,dso,sym", "sym", "dso", "comm", "pid", "comm,dso" };
	enum {
		COUNT = sizeof(usual) / sizeof(usual[0])
	};
	size_t at = 0;

	while (at < COUNT && strcmp(usual[at], top->sort) != 0)
		at++;
	snprintf(top->sort, sizeof(top->sort), "%s", usual[(at + 1) % COUNT]);
	top_notice(top, "sorted by %s", top->sort);
}

/* The next that has samples. */
static void next_event(struct top *top)
{
	const struct pd_profile *profile = pd_sum_profile(top->sum, top->input.file, pd_live_state(top->live));

	top->form.event = pd_top_next_event(profile, top->form.event, pd_file_event_count(top->input.file));
	top_describe_rate(top);
}

static void take_sort(struct top *top, const char *keys)
{
	char before[PROMPT_MOST];
	uint32_t by;

	memcpy(before, top->sort, sizeof(before));
	snprintf(top->sort, sizeof(top->sort), "%s", keys);
	/* what is wrong would be reported on the screen */
	for (const char *at = keys; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
		if (!pd_report_key_by_name(at, strcspn(at, ",")) || !strncmp(at, "src", 3) || !strncmp(at, "time", 4)) {
			memcpy(top->sort, before, sizeof(before));
			top_notice(top, "sort key '%.*s' is not supported by top", (int)strcspn(at, ","), at);
			return;
		}
	if (!top_by(top, &by) || !(by & ~top->by))
		return;
	/* samples so far were not distinguished by that */
	pd_sum_fade(top->sum, 0, 1, NULL);
	top_begin_anew(top);
}

static void take_answer(struct top *top)
{
	const char *answer = top->answer;
	uint64_t number;

	top->question = NULL;
	top_notice(top, "%s", "");
	if (top->question_key == 'f')
		snprintf(top->filter, sizeof(top->filter), "%s", answer);
	else if (top->question_key == 's' && *answer)
		take_sort(top, answer);
	else if (top->question_key == 'E' && pd_number_parse(answer, &number))
		top->form.entries = (size_t)number;
	else if (top->question_key == 'd' && !top_parse_seconds(answer, &top->delay))
		top_notice(top, "'%s' is not a number of seconds of at least 0.1", answer);
	if (top->delay < 0.1)
		top->delay = 2;
	if (*top->filter && top->question_key == 'f')
		top_notice(top, "only rows with '%s'", top->filter);
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
		next_event(top);
		break;
	case 'n':
		top->form.samples = !top->form.samples;
		break;
	case 'z':
		pd_sum_fade(top->sum, 0, 1, NULL);
		break;
	case 'p':
		top->paused = !top->paused;
		top_notice(top, "%s", top->paused ? "paused" : "");
		break;
	case 'K':
		top->hide_kernel = !top->hide_kernel;
		top_notice(top, "%s the kernel", top->hide_kernel ? "without" : "with");
		break;
	case 'U':
		top->hide_user = !top->hide_user;
		top_notice(top, "%s programs", top->hide_user ? "without" : "with");
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
