/* SPDX-License-Identifier: MIT */
#include "front/signals.h"

#include <stdbool.h>
#include <stddef.h>

static bool is_wanted(int number, enum signal_rule rule)
{
	struct sigaction before;

	if (rule == SIGNAL_ALWAYS)
		return true;
	if (sigaction(number, NULL, &before) < 0)
		return false;
	return rule == SIGNAL_IF_USUAL ? before.sa_handler == SIG_DFL : before.sa_handler != SIG_IGN;
}

void signals_handle(const int *numbers, const struct sigaction *action, enum signal_rule rule)
{
	for (; *numbers; numbers++)
		if (is_wanted(*numbers, rule))
			sigaction(*numbers, action, NULL);
}

void signals_release(const int *numbers, void (*handler)(int))
{
	struct sigaction before;

	for (; *numbers; numbers++)
		if (sigaction(*numbers, NULL, &before) == 0 && before.sa_handler == handler)
			signal(*numbers, SIG_DFL);
}

void signal_die(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

void signals_end_counting(const struct sigaction *action)
{
	signals_handle((const int[]){ SIGINT, SIGTERM, 0 }, action, SIGNAL_ALWAYS);
	signals_handle((const int[]){ SIGHUP, 0 }, action, SIGNAL_UNLESS_IGNORED);
}

void signals_end_recording(const struct sigaction *action)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	signals_end_counting(action);
	signals_handle((const int[]){ SIGPIPE, 0 }, &ignore, SIGNAL_ALWAYS);
}
