/* SPDX-License-Identifier: MIT */
// The pass over a file.
#include "lock/lock.h"

#include <string.h>

enum {
	STACK = 8,
	SKIP = 3
};

static void forget(struct pd_pairs *pairs)
{
	struct pd_locks *locks = (struct pd_locks *)pairs;

	pd_u64_map_fini(&locks->map);
	pd_u64_map_fini(&locks->uses);
	locks->count = locks->use_count = 0;
	memset(locks->broken, 0, sizeof(locks->broken));
}

static enum pd_status read_all(struct pd_locks *locks, struct pd_file *file, struct pd_text *text,
			       struct pd_error *error)
{
	enum pd_status status = pd_locks_choose_columns(locks, error);

	if (status < 0)
		return status;
	locks->pairs.take = pd_lock_take;
	locks->pairs.forget = forget;
	locks->pairs.resolves = locks->pairs.names_only = locks->pairs.early = true;
	locks->pairs.open = locks->options.symbols;
	locks->pairs.time = locks->options.time;
	locks->pairs.open_self = locks->options.self;
	locks->map.seed = locks->uses.seed = locks->pairs.places.seed = pd_hash_secret();
	if (!locks->options.max_stack)
		locks->options.max_stack = STACK;
	else if (locks->options.max_stack == PD_LOCK_NO_STACK)
		locks->options.max_stack = 0;
	locks->options.skip = locks->options.skip ? locks->options.skip - 1 : SKIP;
	return pd_pairs_run(&locks->pairs, file, text, pd_lock_points, pd_lock_point_count, locks->options.lock_limit,
			    "no events of locks (perfdata lock record)", error);
}

static enum pd_status print(struct pd_locks *locks, struct pd_error *error)
{
	if (locks->mode == PD_LOCK_INFO)
		return pd_locks_print_info(locks, error);
	if ((locks->options.combine && locks->mode == PD_LOCK_REPORT && !pd_locks_combine(locks)) ||
	    !pd_locks_sort(locks))
		return pd_fail_memory(error);
	return (locks->options.json ? pd_locks_print_json : pd_locks_print)(locks, error);
}

static enum pd_status print_locks(struct pd_text *text, struct pd_file *file, const struct pd_lock_options *options,
				  enum pd_lock_mode mode, struct pd_error *error)
{
	struct pd_locks locks = { .mode = mode };
	struct pd_error own;
	enum pd_status status;

	if (!error)
		error = &own;
	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_lock_options.size is 0");
	if (options)
		memcpy(&locks.options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	locks.options.stacks |= locks.options.json;
	status = read_all(&locks, file, text, error);
	if (status >= 0)
		status = print(&locks, error);
	pd_free(locks.all);
	pd_u64_map_fini(&locks.map);
	pd_u64_map_fini(&locks.uses);
	pd_pairs_fini(&locks.pairs);
	return status < 0 ? status : pd_text_flush_or_fail(text, error);
}

enum pd_status pd_print_lock_contention(struct pd_text *text, struct pd_file *file,
					const struct pd_lock_options *options, struct pd_error *error)
{
	return print_locks(text, file, options, PD_LOCK_CONTENTION, error);
}

enum pd_status pd_print_lock_report(struct pd_text *text, struct pd_file *file, const struct pd_lock_options *options,
				    struct pd_error *error)
{
	return print_locks(text, file, options, PD_LOCK_REPORT, error);
}

enum pd_status pd_print_lock_info(struct pd_text *text, struct pd_file *file, const struct pd_lock_options *options,
				  struct pd_error *error)
{
	return print_locks(text, file, options, PD_LOCK_INFO, error);
}
