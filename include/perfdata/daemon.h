/* SPDX-License-Identifier: MIT */
/**
 * daemon.h - recordings that run in the background, as perf daemon has them.
 *
 * A daemon runs recorders as its configuration (config.h) says, and others ask it through a socket:
 *
 *	[daemon]
 *		base = /var/lib/profiles        # a directory, which has one daemon at a time
 *	[session-cpu]
 *		run = -e cycles --switch-output=1h -a
 *
 * Each session is the program with "record --control=fifo:control,ack" and the words of run, in the directory session-NAME of the
 * base, with its messages in the file output. When the configuration changes, sessions are started, ended, or started again; one that ended
 * by itself is forgotten until then. A session ends with its daemon.
 *
 * In the base: control, the socket; lock, with the process id of the daemon; output, its messages if it runs in the background.
 * Who asks must be the user of the daemon, or root.
 *
 * Threads: one at a time for each daemon, but for pd_daemon_stop.
 *
 * Source of the facts: perf-daemon(1).
 *
 * Example:
 *
 *	const struct pd_daemon_options options = { .size = sizeof(options), .home = "/root", .program = "/usr/bin/perfdata" };
 *	struct pd_daemon *daemon;
 *
 *	if (pd_daemon_open(&options, &daemon, &error) == PD_OK) {
 *		pd_daemon_run(daemon, &error); // until pd_daemon_stop, or somebody asks for it
 *		pd_daemon_close(daemon);
 *	}
 */
#ifndef PERFDATA_DAEMON_H
#define PERFDATA_DAEMON_H

#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero is the default for each member but size. Strings must live as long as the daemon. */
struct pd_daemon_options {
	size_t size;         /* sizeof(struct pd_daemon_options); 0 is PD_ERROR_ARGUMENT */
	const char *config;  /* the file to read; NULL: /etc/perfconfig and .perfconfig in home; "": none */
	const char *home;    /* the value of HOME, or NULL */
	const char *base;    /* the directory; NULL: the key daemon.base */
	const char *program; /* of the sessions; NULL: the program that calls */
	bool background;     /* see pd_daemon_open */
	pd_warn_fn *warn;    /* what happens to sessions, and what is wrong; may be NULL */
	void *self;
};

struct pd_daemon;

/** Takes the base, and listens; sessions begin with pd_daemon_run. With background set the process forks: in the caller, *daemon_out is NULL
 * when the daemon is ready; in the new process, which has a session and a process group of its own, and whose standard output and standard
 * error are the file output, it is the daemon. A new process that fails exits, and the caller gets its error. Errors: PD_ERROR_ARGUMENT if
 * the configuration is damaged or names no base; PD_ERROR_OUTPUT if the base belongs to another daemon, or cannot be used;
 * PD_ERROR_SYSTEM, PD_ERROR_MEMORY. */
PD_API enum pd_status pd_daemon_open(const struct pd_daemon_options *options, struct pd_daemon **daemon_out,
				     struct pd_error *error);
/** Runs the sessions until the daemon is stopped, and ends them. Errors: PD_ERROR_MEMORY, PD_ERROR_SYSTEM. */
PD_API enum pd_status pd_daemon_run(struct pd_daemon *daemon, struct pd_error *error);
/** Ends pd_daemon_run. May be called by any thread, and by a signal handler. */
PD_API void pd_daemon_stop(struct pd_daemon *daemon);
/** Gives the base back; NULL is ignored. Who asked the daemon to stop is answered then. */
PD_API void pd_daemon_close(struct pd_daemon *daemon);

struct pd_daemon_request {
	size_t size;           /* sizeof(struct pd_daemon_request); 0 is PD_ERROR_ARGUMENT */
	const char *command;   /* what to do:
				* "list"    a line for the daemon and for each session
				* "ping"    ask the sessions whether they answer
				* "signal"  send SIGUSR2 to the sessions: record --switch-output begins another file
				* "stop"    end the daemon and its sessions */
	const char *session;   /* the only one to ping or to signal; NULL: all */
	const char *separator; /* of a list: all fields, with this between them ("": a comma); NULL: as a text */
	bool verbose;          /* of a list as a text: with files and times */
};

/** Asks the daemon that the options name, by base, config and home, and adds its answer to the text. Errors: PD_ERROR_NO_MATCH: no daemon
 * runs there, or, with the answer, a session does not answer or is not there; PD_ERROR_ARGUMENT: no such command, and as pd_daemon_open;
 * PD_ERROR_SYSTEM, PD_ERROR_MEMORY. */
PD_API enum pd_status pd_daemon_ask(const struct pd_daemon_options *options, const struct pd_daemon_request *request,
				    struct pd_text *answer, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
