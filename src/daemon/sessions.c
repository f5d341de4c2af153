/* SPDX-License-Identifier: MIT */
/*
 * The sessions: what the configuration names is started, what it names no more is ended, and what it names otherwise is ended and started
 * again. One that ended by itself is dropped, until the configuration changes.
 */
#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "daemon/parts.h"

enum {
	MOST = 1000,
	CHECK_MS = PD_DAEMON_SECOND_MS / 2 // how often processes are looked at that cannot be waited for
};

// ---- from the configuration ----

static struct pd_daemon_session *find(struct pd_daemon_sessions *sessions, const char *name, size_t length)
{
	for (size_t i = 0; i < sessions->count; i++) {
		const char *own = sessions->items[i].name;

		if (strlen(own) == length && !memcmp(own, name, length))
			return &sessions->items[i];
	}
	return NULL;
}

static struct pd_daemon_session *add_session(struct pd_daemon_sessions *sessions, const char *name, size_t length)
{
	struct pd_daemon_session *session;
	char *copy;

	if (!PD_GROW(sessions->items, sessions->capacity, sessions->count + 1))
		return NULL;
	copy = pd_daemon_copy(name, length);
	if (!copy)
		return NULL;
	session = &sessions->items[sessions->count++];
	*session = (struct pd_daemon_session){ .name = copy, .process = -1, .dir = -1 };
	return session;
}

static bool set_session(struct pd_daemon_sessions *sessions, const char *name, size_t length, const char *run)
{
	struct pd_daemon_session *session = find(sessions, name, length);
	char *next;

	if (!session)
		session = add_session(sessions, name, length);
	if (!session)
		return false;
	session->named = true;
	// what ends already, because it was named no more, or otherwise, begins again
	if (session->pid && !session->kill_ms && !strcmp(session->run, run)) {
		pd_free(session->next);
		session->next = NULL;
		return true;
	}
	next = pd_daemon_copy(run, strlen(run));
	if (!next)
		return false;
	pd_free(session->next);
	session->next = next;
	return true;
}

static enum pd_status check_names(const struct pd_config *config, struct pd_error *error)
{
	const char *setting, *run, *name;
	size_t length, count = 0;

	for (size_t i = 0; (setting = pd_config_at(config, i, &run)) != NULL; i++) {
		if (!pd_daemon_session_of(setting, &name, &length))
			continue;
		if (memchr(name, '/', length))
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				       "session '%.*s': the name is no name of a directory", (int)length, name);
		if (++count > MOST)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "more than %d sessions", MOST);
	}
	return PD_OK;
}

static void name_all(struct pd_daemon_sessions *sessions, bool named)
{
	for (size_t i = 0; i < sessions->count; i++)
		sessions->items[i].named = named;
}

enum pd_status pd_daemon_sessions_set(struct pd_daemon_sessions *sessions, const struct pd_config *config,
				      struct pd_error *error)
{
	enum pd_status status = check_names(config, error);
	const char *setting, *run, *name;
	size_t length;

	if (status < 0)
		return status;
	name_all(sessions, false);
	for (size_t i = 0; (setting = pd_config_at(config, i, &run)) != NULL; i++) {
		if (pd_daemon_session_of(setting, &name, &length) && !set_session(sessions, name, length, run)) {
			// nobody's session ends for lack of memory
			name_all(sessions, true);
			return pd_fail_memory(error);
		}
	}
	return PD_OK;
}

// ---- what is to be done ----

void pd_daemon_sessions_end(struct pd_daemon_sessions *sessions)
{
	name_all(sessions, false);
}

// Whether it stays.
static bool step_session(struct pd_daemon_session *session, const struct pd_daemon_options *options,
			 const struct pd_daemon_base *base)
{
	struct pd_error error;

	if (!pd_daemon_session_has_ended(session, options)) {
		if (!session->named || session->next)
			pd_daemon_session_end(session);
		return true;
	}
	if (!session->named || !session->next)
		return false;
	pd_free(session->run);
	session->run = session->next;
	session->next = NULL;
	if (pd_daemon_session_start(session, options, base, &error) < 0) {
		pd_daemon_warn(options, "%s", error.message);
		return false;
	}
	pd_daemon_warn(options, "session '%s' [%d] has started: record %s", session->name, (int)session->pid,
		       session->run);
	return true;
}

// When to look at it again.
static uint64_t wait_ms(const struct pd_daemon_session *session, uint64_t now)
{
	uint64_t wait = session->process < 0 ? CHECK_MS : UINT64_MAX, left;

	if (!session->kill_ms)
		return wait;
	left = session->kill_ms > now ? session->kill_ms - now : 1;
	return left < wait ? left : wait;
}

int pd_daemon_sessions_step(struct pd_daemon_sessions *sessions, const struct pd_daemon_options *options,
			    const struct pd_daemon_base *base)
{
	uint64_t least = UINT64_MAX, now = pd_daemon_now_ms();
	size_t kept = 0;

	for (size_t i = 0; i < sessions->count; i++) {
		struct pd_daemon_session *session = &sessions->items[i];
		uint64_t wait;

		if (!step_session(session, options, base)) {
			pd_daemon_session_fini(session);
			continue;
		}
		wait = wait_ms(session, now);
		least = wait < least ? wait : least;
		sessions->items[kept++] = *session;
	}
	sessions->count = kept;
	return least > INT_MAX ? -1 : (int)least;
}

void pd_daemon_sessions_fini(struct pd_daemon_sessions *sessions)
{
	for (size_t i = 0; i < sessions->count; i++)
		pd_daemon_session_fini(&sessions->items[i]);
	pd_free(sessions->items);
	*sessions = (struct pd_daemon_sessions){ 0 };
}
