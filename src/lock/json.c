/* SPDX-License-Identifier: MIT */
// Waiting for locks as JSON: whatever columns are chosen, rows have all that there are.
#include "lock/lock.h"

#include <inttypes.h>
#include <stdio.h>

#include <perfdata/json.h>

#include "base/text/text.h"

static enum pd_status add_stack(struct pd_locks *locks, struct pd_json *json, const struct pd_lock *lock,
				struct pd_error *error)
{
	if (!lock->stack_count)
		return PD_OK;
	pd_json_open(json, "stack", '[');
	for (size_t i = 0; i < lock->stack_count; i++) {
		const struct pd_pair_place *place = pd_pair_place(&locks->pairs, lock->stack[i]);

		if (!place)
			return pd_fail_memory(error);
		pd_json_open(json, NULL, '{');
		pd_json_number(json, "addr", lock->stack[i]);
		pd_json_string(json, "symbol", place->name);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
	return PD_OK;
}

// What a row is of: a thread, a caller or a lock.
static enum pd_status add_owner(struct pd_locks *locks, struct pd_json *json, const struct pd_lock *lock,
				struct pd_error *error)
{
	const struct pd_sched_thread *thread;

	if (!locks->options.by_thread) {
		pd_json_string(json, locks->mode == PD_LOCK_CONTENTION ? "caller" : "name", lock->name);
		if (locks->mode == PD_LOCK_CONTENTION)
			pd_json_string(json, "type", pd_lock_type(lock->flags));
		else if (!locks->options.combine)
			pd_json_number(json, "addr", lock->key);
		return add_stack(locks, json, lock, error);
	}
	thread = pd_sched_find(&locks->pairs.sched, -1, (int32_t)lock->key, error);
	if (!thread)
		return error->status;
	pd_sched_json_thread(json, "thread", thread);
	return PD_OK;
}

static enum pd_status add_row(struct pd_locks *locks, struct pd_json *json, const struct pd_lock *lock,
			      struct pd_error *error)
{
	const struct pd_lock_column_info *column;
	enum pd_status status;
	char name[32];

	pd_json_open(json, NULL, '{');
	status = add_owner(locks, json, lock, error);
	for (size_t i = 0; (column = pd_lock_column_of(locks, i)) != NULL; i++) {
		snprintf(name, sizeof(name), "%s%s", column->name, column->is_time ? "_ns" : "");
		pd_json_number(json, name, pd_lock_value(lock, column));
	}
	pd_json_close(json, '}');
	return status < 0 ? status : pd_text_flush_or_fail(json->text, error);
}

static enum pd_status add_rows(struct pd_locks *locks, struct pd_json *json, struct pd_error *error)
{
	enum pd_status status = PD_OK;
	uint64_t bad = 0, printed = 0;

	pd_json_open(json, "rows", '[');
	for (size_t i = 0; i < locks->count && status >= 0; i++) {
		bad += locks->all[i]->broken && !locks->all[i]->combined;
		if (!pd_lock_is_shown(locks, locks->all[i]) ||
		    (locks->options.entries && printed == locks->options.entries))
			continue;
		status = add_row(locks, json, locks->all[i], error);
		printed++;
	}
	pd_json_close(json, ']');
	pd_json_number(json, "bad", bad);
	return status;
}

static void add_broken(struct pd_locks *locks, struct pd_json *json)
{
	static const char *const names[PD_LOCK_BROKEN_COUNT] = { "acquire", "acquired", "contended", "release" };

	pd_json_open(json, "broken", '{');
	for (unsigned i = 0; i < PD_LOCK_BROKEN_COUNT; i++)
		pd_json_number(json, names[i], locks->broken[i]);
	pd_json_close(json, '}');
}

enum pd_status pd_locks_print_json(struct pd_locks *locks, struct pd_error *error)
{
	struct pd_json json = { .text = locks->pairs.sched.text };
	enum pd_status status;

	pd_json_open(&json, NULL, '{');
	status = add_rows(locks, &json, error);
	add_broken(locks, &json);
	pd_json_number(&json, "lost", locks->pairs.lost);
	pd_json_close(&json, '}');
	pd_text_char(json.text, '\n');
	return status;
}
