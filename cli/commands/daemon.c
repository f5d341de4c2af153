/* SPDX-License-Identifier: MIT */
/* perfdata daemon: recordings in the background, as perf daemon has them. The library does it (perfdata/daemon.h). */
#include "front/cli.h"
#include "front/signals.h"

#include <perfdata/daemon.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct values {
	struct pd_daemon_options how;
	struct pd_daemon_request request;
	bool foreground;
};

static const struct option options[] = {
	STRING("base", 0, "DIR", how.base, "directory of the daemon (default: the key daemon.base)"),
	STRING("config", 0, "FILE", how.config, "read FILE instead of /etc/perfconfig and ~/.perfconfig"),
	FLAG("foreground", 'f', foreground, "start: stay in the foreground"),
	STRING("session", 0, "NAME", request.session, "signal, ping: only this session (default: all)"),
	FLAG("verbose", 'v', request.verbose, "list files and times, too"),
	OPTION("field-separator", 'x', ATTACHED, "SEP", request.separator,
	       "list all fields, with SEP between them (default: ,)"),
	{ 0 },
};

static struct pd_daemon *running;

static void on_signal(int number)
{
	(void)number;
	pd_daemon_stop(running);
}

static int start(const struct call *call, struct pd_daemon_options *how)
{
	const struct values *values = call->values;
	const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct pd_error error;
	enum pd_status status;

	how->background = !values->foreground;
	how->warn = print_warning;
	status = pd_daemon_open(how, &running, &error);
	/* as perf begins it, so that scripts find it */
	if (status < 0)
		fprintf(stderr, "failed: %s\n", error.message);
	if (status < 0 || !running)
		return code_of(status);
	signals_handle((const int[]){ SIGNALS_ENDING, 0 }, &action, SIGNAL_ALWAYS);
	status = pd_daemon_run(running, &error);
	signals_release((const int[]){ SIGNALS_ENDING, 0 }, on_signal);
	pd_daemon_close(running);
	return code_with_error(status, &error);
}

static int run_daemon(const struct call *call)
{
	const struct values *values = call->values;
	struct pd_daemon_options how = values->how;
	struct pd_daemon_request request = values->request;
	struct pd_error error;

	how.config = how.config ? how.config : getenv("PERF_CONFIG");
	how.home = getenv("HOME");
	request.command = call->word_count ? call->words[0] : "list";
	if (!strcmp(request.command, "start"))
		return start(call, &how);
	return code_with_error(pd_daemon_ask(&how, &request, call->out->text, &error), &error);
}

const struct command cmd_daemon = {
	.usage = "[OPTION]... [COMMAND]",
	.text = "Run recordings in the background, as perf daemon does. COMMAND is start, stop, signal, ping or list, which is the default.\n"
		"\n"
		"The configuration names a directory, daemon.base, and sessions: session-NAME.run has the options of perfdata record. Each "
		"session runs in the directory session-NAME of the base, with its messages in the file output. Useful sessions are those that "
		"write files again and again, or when they are asked to: see --switch-output and --overwrite of perfdata record. When the "
		"configuration changes, sessions are started, ended, or started again.\n"
		"\n"
		"signal sends SIGUSR2 to sessions, which begin another file with --switch-output. ping asks whether they answer.",
	OPTIONS(options),
	DEFAULTS(.how.size = sizeof(struct pd_daemon_options), .request.size = sizeof(struct pd_daemon_request)),
	EXAMPLES({ "perfdata config daemon.base=/var/lib/profiles 'session-cpu.run=-a --overwrite --switch-output'",
		   "a flight recorder of the whole system" },
		 { "perfdata daemon start", "start it" },
		 { "perfdata daemon signal --session cpu", "write what it has" },
		 { "perfdata daemon stop", "end all sessions, and the daemon" }),
	.max_words = 1,
	.run = run_daemon,
	.live = true,
};
