/* SPDX-License-Identifier: MIT */
// Locks as tables.
#include "lock/lock.h"

#include <inttypes.h>
#include <string.h>

#include "base/sort.h"

enum {
	KIND_COUNT,
	KIND_TIME
};

static const struct pd_lock_column_info columns[PD_LOCK_COLUMNS] = {
#define COLUMN(member, KIND, width, name, title, contention, usual, report) \
	{ name, title, KIND_##KIND, usual, width, { contention, report }, offsetof(struct pd_lock, member) },
#include "lock/columns.def"
};

const char *pd_lock_column(size_t index)
{
	return index < PD_LOCK_COLUMNS ? columns[index].name : NULL;
}

const struct pd_lock_column_info *pd_lock_column_of(const struct pd_locks *locks, size_t index)
{
	for (size_t i = 0; i < PD_LOCK_COLUMNS; i++)
		if (columns[i].place[locks->mode] && !index--)
			return &columns[i];
	return NULL;
}

uint64_t pd_lock_value(const struct pd_lock *lock, const struct pd_lock_column_info *column)
{
	uint64_t value;

	memcpy(&value, (const char *)lock + column->offset, sizeof(value));
	return value == UINT64_MAX ? 0 : value;
}

bool pd_lock_is_shown(const struct pd_locks *locks, const struct pd_lock *lock)
{
	return !lock->combined && (locks->mode != PD_LOCK_REPORT || lock->acquired);
}

// ---- which columns ----

static const struct pd_lock_column_info *find_column(const struct pd_locks *locks, const char *name, size_t length)
{
	for (size_t i = 0; i < PD_LOCK_COLUMNS; i++)
		if (columns[i].place[locks->mode] && strlen(columns[i].name) == length &&
		    !memcmp(columns[i].name, name, length))
			return &columns[i];
	return NULL;
}

static bool has_column(const struct pd_locks *locks, const struct pd_lock_column_info *column)
{
	for (size_t i = 0; i < locks->column_count; i++)
		if (locks->columns[i] == column)
			return true;
	return false;
}

static void choose_usual(struct pd_locks *locks)
{
	for (unsigned place = 1; place <= PD_LOCK_COLUMNS; place++)
		for (size_t i = 0; i < PD_LOCK_COLUMNS; i++)
			if (columns[i].place[locks->mode] == place &&
			    (columns[i].usual || locks->mode == PD_LOCK_REPORT))
				locks->columns[locks->column_count++] = &columns[i];
}

static enum pd_status choose_fields(struct pd_locks *locks, const char *list, struct pd_error *error)
{
	while (*(list += strspn(list, ", "))) {
		size_t length = strcspn(list, ", ");
		const struct pd_lock_column_info *column = find_column(locks, list, length);

		if (!column)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "unknown column '%.*s'", (int)length,
				       list);
		if (!has_column(locks, column))
			locks->columns[locks->column_count++] = column;
		list += length;
	}
	return PD_OK;
}

enum pd_status pd_locks_choose_columns(struct pd_locks *locks, struct pd_error *error)
{
	const char *sort = locks->options.sort;
	enum pd_status status = PD_OK;

	if (locks->mode == PD_LOCK_INFO)
		return PD_OK;
	if (!sort)
		sort = locks->mode == PD_LOCK_REPORT ? "acquired" : "wait_total";
	locks->sort = find_column(locks, sort, strlen(sort));
	if (!locks->sort)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "unknown column '%s' to sort by", sort);
	if (locks->options.fields)
		status = choose_fields(locks, locks->options.fields, error);
	else
		choose_usual(locks);
	// what rows are sorted by is shown
	if (status >= 0 && !has_column(locks, locks->sort))
		locks->columns[locks->column_count++] = locks->sort;
	return status;
}

// ---- rows ----

static void print_time(struct pd_text *text, uint64_t ns, unsigned width)
{
	// with the precision of perf
	static const struct {
		float ns;
		const char *name;
	} units[] = {
		{ 3600e9F, "h " }, { 60e9F, "m " }, { 1e9F, "s " }, { 1e6F, "ms" }, { 1e3F, "us" },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if ((float)ns >= units[i].ns) {
			pd_text_printf(text, "%*.2f %s", (int)width - 3, (double)((float)ns / units[i].ns),
				       units[i].name);
			return;
		}
	pd_text_printf(text, "%*" PRIu64 " %s", (int)width - 3, ns, "ns");
}

static void print_cells(struct pd_locks *locks, const struct pd_lock *lock)
{
	struct pd_text *text = locks->pairs.sched.text;

	for (size_t i = 0; i < locks->column_count; i++) {
		const struct pd_lock_column_info *column = locks->columns[i];
		uint64_t value = pd_lock_value(lock, column);

		if (column->is_time)
			print_time(text, value, column->width);
		else
			pd_text_printf(text, "%*" PRIu64, (int)column->width, value);
		pd_text_add(text, " ");
	}
}

static void print_titles(struct pd_locks *locks)
{
	for (size_t i = 0; i < locks->column_count; i++)
		pd_text_printf(locks->pairs.sched.text, "%*s ", (int)locks->columns[i]->width,
			       locks->columns[i]->title);
}

const char *pd_lock_type(uint32_t flags)
{
	enum {
		SPIN = 1,
		READ = 2,
		WRITE = 4,
		RT = 8,
		PERCPU = 16,
		MUTEX = 32
	};
	static const struct {
		uint32_t flags;
		const char *name;
	} types[] = {
		{ 0, "semaphore" },
		{ SPIN, "spinlock" },
		{ SPIN | READ, "rwlock:R" },
		{ SPIN | WRITE, "rwlock:W" },
		{ READ, "rwsem:R" },
		{ WRITE, "rwsem:W" },
		{ RT, "rtmutex" },
		{ RT | READ, "rwlock-rt:R" },
		{ RT | WRITE, "rwlock-rt:W" },
		{ PERCPU | READ, "pcpu-sem:R" },
		{ PERCPU | WRITE, "pcpu-sem:W" },
		{ MUTEX, "mutex" },
		{ MUTEX | SPIN, "mutex" },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].flags == flags)
			return types[i].name;
	return "unknown";
}

static enum pd_status print_stack(struct pd_locks *locks, const struct pd_lock *lock, struct pd_error *error)
{
	for (size_t i = 0; i < lock->stack_count; i++) {
		const struct pd_pair_place *place = pd_pair_place(&locks->pairs, lock->stack[i]);

		if (!place)
			return pd_fail_memory(error);
		pd_text_printf(locks->pairs.sched.text, "\t\t\t%#" PRIx64 "  %s", lock->stack[i],
			       place->name ? place->name : "");
		if (place->function && place->offset)
			pd_text_printf(locks->pairs.sched.text, "+%#" PRIx64, place->offset);
		pd_text_add(locks->pairs.sched.text, "\n");
	}
	return PD_OK;
}

static const struct pd_sched_thread *thread_of(struct pd_locks *locks, const struct pd_lock *lock,
					       struct pd_error *error)
{
	return pd_sched_find(&locks->pairs.sched, -1, (int32_t)lock->key, error);
}

static enum pd_status print_caller(struct pd_locks *locks, const struct pd_lock *lock, struct pd_error *error)
{
	struct pd_text *text = locks->pairs.sched.text;
	const struct pd_sched_thread *thread;

	print_cells(locks, lock);
	if (!locks->options.by_thread) {
		pd_text_printf(text, "  %10s   %s\n", pd_lock_type(lock->flags), lock->name);
		return print_stack(locks, lock, error);
	}
	thread = thread_of(locks, lock, error);
	if (!thread)
		return error->status;
	pd_text_printf(text, "  %10d   %s\n", (int32_t)lock->key, thread->comm);
	return PD_OK;
}

static enum pd_status print_lock(struct pd_locks *locks, const struct pd_lock *lock, struct pd_error *error)
{
	enum {
		WIDTH = 20,
		CUT = 16
	};
	struct pd_text *text = locks->pairs.sched.text;
	const struct pd_sched_thread *thread = NULL;
	size_t length = strlen(lock->name);

	// the name of a thread is printed where that of a lock would not be cut
	if (locks->options.by_thread && length < WIDTH) {
		thread = thread_of(locks, lock, error);
		if (!thread)
			return error->status;
	}
	if (length < WIDTH)
		pd_text_printf(text, "%20s ", thread ? thread->comm : lock->name);
	else
		pd_text_printf(text, " %.*s... ", CUT, lock->name);
	print_cells(locks, lock);
	pd_text_add(text, "\n");
	return PD_OK;
}

// ---- tables ----

static void print_head(struct pd_locks *locks)
{
	struct pd_text *text = locks->pairs.sched.text;

	if (locks->options.no_header)
		return;
	if (locks->mode == PD_LOCK_REPORT)
		pd_text_printf(text, "%20s ", "Name");
	print_titles(locks);
	if (locks->mode == PD_LOCK_CONTENTION)
		pd_text_printf(text, "  %10s   %s", locks->options.by_thread ? "pid" : "type",
			       locks->options.by_thread ? "comm" : "caller");
	pd_text_add(text, "\n\n");
}

static void print_broken(struct pd_locks *locks, uint64_t bad, uint64_t total)
{
	static const char *const names[] = { "acquire", "acquired", "contended", "release" };
	struct pd_text *text = locks->pairs.sched.text;
	uint64_t all = 0;

	for (unsigned i = 0; i < PD_LOCK_BROKEN_COUNT; i++)
		all += locks->broken[i];
	if (locks->options.no_header || (!all && !locks->options.broken))
		return;
	pd_text_printf(text, "\n=== output for debug===\n\nbad: %" PRIu64 ", total: %" PRIu64 "\nbad rate: %.2f %%\n",
		       bad, total, (double)bad / (double)total * 100);
	pd_text_add(text, "histogram of events caused bad sequence\n");
	for (unsigned i = 0; i < PD_LOCK_BROKEN_COUNT; i++)
		pd_text_printf(text, " %10s: %" PRIu64 "\n", names[i], locks->broken[i]);
}

enum pd_status pd_locks_print(struct pd_locks *locks, struct pd_error *error)
{
	bool report = locks->mode == PD_LOCK_REPORT;
	uint64_t total = 0, bad = 0, printed = 0;
	enum pd_status status = PD_OK;

	print_head(locks);
	for (size_t i = 0; i < locks->count && status >= 0; i++) {
		const struct pd_lock *lock = locks->all[i];

		if (lock->combined)
			continue;
		total++;
		bad += lock->broken;
		if (!pd_lock_is_shown(locks, lock))
			continue;
		status = report ? print_lock(locks, lock, error) : print_caller(locks, lock, error);
		if (++printed == locks->options.entries ||
		    (status >= 0 && !pd_text_flush_large(locks->pairs.sched.text)))
			break;
	}
	if (status >= 0)
		print_broken(locks, bad, total);
	return status;
}
