/* SPDX-License-Identifier: MIT */
/*
 * The parts of a daemon, which only they know. settings.c reads the configuration, base.c opens the directory, observer.c notices
 * changes, session.c runs one recorder, sessions.c all of them, request.c answers, start.c forks, daemon.c is the whole, and ask.c
 * is the other side.
 */
#ifndef PD_DAEMON_PARTS_H
#define PD_DAEMON_PARTS_H

#include <perfdata/config.h>
#include <perfdata/daemon.h>

#include <limits.h>
#include <sys/types.h>

#include "base/memory.h"

enum {
	PD_DAEMON_PATH = 4096,
	PD_DAEMON_FILES = 2, // of a configuration
	PD_DAEMON_REQUEST = 1024,
	PD_DAEMON_SECOND_MS = 1000
};

// The first byte of an answer.
enum {
	PD_DAEMON_YES = '+',    // a text follows
	PD_DAEMON_NO = '-',     // the same, and a session did not do what was asked for
	PD_DAEMON_FAILED = '!', // an error follows
};

// ---- common.c ----

uint64_t pd_daemon_now_ms(void);
// A string of its own, for pd_free; NULL without memory.
char *pd_daemon_copy(const char *string, size_t length);
// A sentence about what happens.
void pd_daemon_warn(const struct pd_daemon_options *options, const char *format, ...) PD_PRINTF(2, 3);

// ---- settings.c: what the configuration says ----

// The files, up to a NULL; home is in path.
void pd_daemon_config_files(const struct pd_daemon_options *options, char path[PD_DAEMON_PATH],
			    const char *files[PD_DAEMON_FILES + 1]);
// An error if anything is wrong with it: half of a configuration must not end sessions.
enum pd_status pd_daemon_config_load(const struct pd_daemon_options *options, struct pd_config **config_out,
				     struct pd_error *error);
// The base, without links and dots.
enum pd_status pd_daemon_base_path(const struct pd_daemon_options *options, const struct pd_config *config,
				   char path[PD_DAEMON_PATH], struct pd_error *error);
// Name and command of the session that a setting defines; false if it defines none. The name is what its directory is called after
// "session-", and ends with a '.'.
bool pd_daemon_session_of(const char *setting, const char **name_out, size_t *length_out);
// Words as a shell has them: quotes and backslashes keep blanks. The words are in text, which is changed. False if there is no memory.
bool pd_daemon_split(char *text, char ***words, size_t *capacity, size_t *count);

// ---- base.c: the directory ----

struct pd_daemon_base {
	char path[PD_DAEMON_PATH];
	int dir;      // descriptors; -1: none
	int lock;     // held as long as the daemon runs
	int listener; // the socket, which is called control
};

enum pd_status pd_daemon_base_open(struct pd_daemon_base *base, struct pd_error *error);
// Removes the socket.
void pd_daemon_base_fini(struct pd_daemon_base *base);
// The address of the socket. Errors: PD_ERROR_ARGUMENT: the path is too long for one.
struct sockaddr_un;
enum pd_status pd_daemon_address(const char *base, struct sockaddr_un *address, struct pd_error *error);

// ---- observer.c: changes of the configuration ----

struct pd_daemon_observer {
	int fd; // -1: changes are not noticed
	struct {
		int number;
		char name[NAME_MAX + 1];
	} files[PD_DAEMON_FILES];
};

void pd_daemon_observer_init(struct pd_daemon_observer *observer, const struct pd_daemon_options *options);
// Takes what has come; whether one of the files was changed.
bool pd_daemon_observer_take(struct pd_daemon_observer *observer);
void pd_daemon_observer_fini(struct pd_daemon_observer *observer);

// ---- session.c: one recorder ----

struct pd_daemon_session {
	char *name, *run;
	char *next;  // to run as soon as the process has ended, or NULL
	pid_t pid;   // 0: none
	int process; // a descriptor of it that can be waited for; -1: there is no such thing
	int dir;
	uint64_t started_ms;
	uint64_t kill_ms; // it was asked to end, and is killed then; 0: it was not
	bool named;       // by the configuration that is read
};

enum pd_status pd_daemon_session_start(struct pd_daemon_session *session, const struct pd_daemon_options *options,
				       const struct pd_daemon_base *base, struct pd_error *error);
// Asks it to end.
void pd_daemon_session_end(struct pd_daemon_session *session);
// Whether it has none, or no more; ended by itself is reported.
bool pd_daemon_session_has_ended(struct pd_daemon_session *session, const struct pd_daemon_options *options);
void pd_daemon_session_fini(struct pd_daemon_session *session);
// Asks for an answer, before several are waited for. False if it cannot be asked.
bool pd_daemon_session_ask(const struct pd_daemon_session *session, int *answer_out);

// ---- sessions.c: all ----

struct pd_daemon_sessions {
	struct pd_daemon_session *items;
	size_t count, capacity;
};

// Makes them those of the configuration.
enum pd_status pd_daemon_sessions_set(struct pd_daemon_sessions *sessions, const struct pd_config *config,
				      struct pd_error *error);
// All are to end.
void pd_daemon_sessions_end(struct pd_daemon_sessions *sessions);
// Starts, ends and forgets what is to be; returns in how many ms to come back at the latest, -1: never.
int pd_daemon_sessions_step(struct pd_daemon_sessions *sessions, const struct pd_daemon_options *options,
			    const struct pd_daemon_base *base);
void pd_daemon_sessions_fini(struct pd_daemon_sessions *sessions);

// ---- the whole ----

struct pd_daemon {
	struct pd_daemon_options options;
	struct pd_daemon_base base;
	struct pd_daemon_observer observer;
	struct pd_daemon_sessions sessions;
	struct pollfd *polls;
	size_t polls_capacity;
	int wake[2]; // a byte ends it
	int stopper; // who asked for it, and waits; -1: nobody
	bool stopping;
	uint64_t started_ms;
	struct pd_text *answer;
	char config[PD_DAEMON_PATH], program[PD_DAEMON_PATH]; // absolute
};

// request.c: takes who waits at the listener, and answers. False: the daemon is to end.
void pd_daemon_serve(struct pd_daemon *daemon);
// Sends an answer and closes the connection.
void pd_daemon_answer(int fd, char kind, struct pd_bytes text);

// start.c: forks. *ready_out is where the new process reports to, -1 in the old one, which has waited for that.
enum pd_status pd_daemon_fork(int *ready_out, struct pd_error *error);
// Reports; a new process that failed ends here.
void pd_daemon_ready(int ready, enum pd_status status, const struct pd_error *error);

#endif
