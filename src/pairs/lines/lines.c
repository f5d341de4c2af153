/* SPDX-License-Identifier: MIT */
/*
 * A line for each system call, when it ends; two if another thread has begun one meanwhile. As in perf, a call whose end is missing
 * is forgotten, and one whose begin is missing has no arguments.
 */
#include <string.h>

#include "pairs/lines/lines.h"

enum {
	RESULT_COLUMN = 70, // from the name of the call on
	DOTS_COLUMN = 66,
	NAME_MOST = 14
};

// perf prints so much of a name, whose characters are not cut here.
static size_t name_length(const char *name)
{
	size_t length = strnlen(name, NAME_MOST);

	while (length && ((unsigned char)name[length] & 0xc0) == 0x80)
		length--;
	return length;
}

static void print_time(struct pd_lines *lines, uint64_t time_ns)
{
	pd_text_fixed(lines->sched->text, (double)(time_ns - lines->base_ns) / 1e6, 10, 3);
}

static void print_thread(struct pd_lines *lines, const struct pd_sched_thread *thread)
{
	struct pd_text *text = lines->sched->text;

	if (lines->options->without_threads)
		return;
	if (!lines->options->without_names) {
		pd_text_put(text, thread->comm, name_length(thread->comm));
		pd_text_char(text, '/');
	}
	pd_text_s64(text, thread->tid);
	pd_text_char(text, ' ');
}

static void print_head(struct pd_lines *lines, const struct pd_sched_thread *thread, uint64_t begin_ns, bool ended,
		       uint64_t duration_ns)
{
	struct pd_text *text = lines->sched->text;

	if (begin_ns)
		print_time(lines, begin_ns);
	else
		PD_TEXT_LITERAL(text, "         ?");
	PD_TEXT_LITERAL(text, " (");
	if (ended)
		pd_text_fixed(text, (double)duration_ns / 1e6, 6, 3);
	pd_text_add(text, ended ? " ms): " : "         ): ");
	print_thread(lines, thread);
}

static void print_call(struct pd_lines *lines, const struct pd_line_entry *entry, const struct pd_call *call)
{
	const struct pd_call_values all = { call, entry->values, lines->sched, lines->is_arm, entry->called };
	struct pd_text *text = lines->sched->text;

	pd_text_add(text, call->name);
	pd_text_char(text, '(');
	pd_call_print(text, &all);
	pd_text_char(text, ')');
}

// Up to a column, which is counted from where the text was so long; something may be beyond it.
static void fill(struct pd_text *text, size_t from, size_t column, size_t least)
{
	size_t length = text->size - from;

	for (size_t i = 0; i < least || length + i < column; i++)
		pd_text_char(text, ' ');
}

// Reading ends with the last line of those that are wanted, or what they are the first of is read on.
static bool prints_all(const struct pd_lines *lines)
{
	const struct pd_syscalls_options *options = lines->options;

	return !options->min_duration_ns && !options->failed_only && !options->min_stack &&
	       (options->live || !options->max_lines);
}

static void print_interrupted(struct pd_lines *lines)
{
	struct pd_text *text = lines->sched->text;
	size_t from;

	if (!lines->current_entry || !lines->current_entry->pending)
		return;
	print_head(lines, lines->current, lines->current_entry->time_ns, false, 0);
	from = text->size;
	print_call(lines, lines->current_entry, lines->current_entry->call);
	fill(text, from, DOTS_COLUMN, 0);
	PD_TEXT_LITERAL(text, " ...\n");
	lines->current_entry->pending = false;
}

void pd_lines_point_head(struct pd_lines *lines, const struct pd_point *point, bool with_calls)
{
	if (prints_all(lines))
		print_interrupted(lines);
	print_time(lines, point->time_ns);
	pd_text_add(lines->sched->text, with_calls ? " (         ): " : " ");
	print_thread(lines, point->thread);
}

void pd_lines_fault_head(struct pd_lines *lines, const struct pd_point *point)
{
	print_head(lines, point->thread, point->time_ns, true, 0);
}

// ---- JSON ----

void pd_lines_json_begin(struct pd_lines *lines)
{
	if (lines->json_begun)
		return;
	lines->json_begun = true;
	pd_json_open(&lines->json, NULL, '{');
	if (lines->options->text != PD_SYSCALLS_SUMMARY)
		pd_json_open(&lines->json, "calls", '[');
}

static void json_result(struct pd_json *json, int64_t result)
{
	pd_json_name(json, "result");
	pd_text_s64(json->text, result);
	if (result < 0)
		pd_json_string(json, "error", pd_error_name(0 - (uint64_t)result));
}

// entry is NULL if the begin of the call is not known, result if it does not end.
static void json_call(struct pd_lines *lines, const struct pd_sched_thread *thread, const struct pd_line_entry *entry,
		      const struct pd_call *call, uint64_t duration_ns, const int64_t *result,
		      const struct pd_line_chain *chain)
{
	struct pd_json *json = &lines->json;

	pd_lines_json_begin(lines);
	pd_json_open(json, NULL, '{');
	pd_json_offset(json, "time_ns", entry ? entry->time_ns : PD_NO_TIME);
	pd_json_offset(json, "duration_ns", entry && result ? duration_ns : PD_NO_TIME);
	pd_sched_json_thread(json, "thread", thread);
	pd_json_string(json, "name", call->name);
	if (entry) {
		const struct pd_call_values all = { call, entry->values, lines->sched, lines->is_arm, entry->called };

		pd_json_open(json, "arguments", '{');
		pd_call_json(json, &all, &lines->scratch);
		pd_json_close(json, '}');
	}
	if (result)
		json_result(json, *result);
	if (chain)
		pd_lines_json_chain(lines, chain);
	pd_json_close(json, '}');
}

// ---- calls ----

static void print_last_call(struct pd_lines *lines, const struct pd_sched_thread *thread, struct pd_line_entry *entry)
{
	struct pd_text *text = lines->sched->text;
	size_t from;

	entry->pending = false;
	if (lines->options->json) {
		json_call(lines, thread, entry, entry->call, 0, NULL, NULL);
		return;
	}
	print_head(lines, thread, entry->time_ns, false, 0);
	from = text->size;
	print_call(lines, entry, entry->call);
	fill(text, from, RESULT_COLUMN, 1);
	PD_TEXT_LITERAL(text, "= ?\n");
}

void pd_lines_enter(struct pd_lines *lines, struct pd_line_entry *entry, const struct pd_call *call, uint64_t time_ns)
{
	if (prints_all(lines) && !lines->options->json)
		print_interrupted(lines);
	entry->call = call;
	entry->time_ns = time_ns;
	entry->pending = true;
}

void pd_lines_entered(struct pd_lines *lines, const struct pd_sched_thread *thread, struct pd_line_entry *entry)
{
	pd_call_note_name(lines->sched, entry->call, entry->values, entry->called);
	if (entry->call->ends_thread && prints_all(lines))
		print_last_call(lines, thread, entry);
	lines->current = thread;
	lines->current_entry = entry;
}

static bool is_wanted(const struct pd_lines *lines, bool entered, uint64_t duration_ns, int64_t result)
{
	const struct pd_syscalls_options *options = lines->options;

	if (options->min_duration_ns && (!entered || duration_ns < options->min_duration_ns))
		return false;
	if (options->max_lines && lines->printed >= options->max_lines)
		return false;
	return !options->failed_only || result < 0;
}

enum pd_status pd_lines_exit(struct pd_lines *lines, const struct pd_sched_thread *thread, struct pd_line_entry *entry,
			     const struct pd_call *call, const struct pd_line_chain *chain, int64_t result,
			     struct pd_error *error)
{
	struct pd_text *text = lines->sched->text;
	bool entered = entry->call == call, whole = entered && entry->pending;
	struct pd_call_values all = { call, entry->values, lines->sched, lines->is_arm,
				      entered ? entry->called : NULL };
	uint64_t duration_ns = entered && chain->time_ns > entry->time_ns ? chain->time_ns - entry->time_ns : 0;
	size_t from;

	entry->pending = false;
	entry->call = NULL;
	// what is there is that of another call
	if (!entered)
		memset(entry->values, 0, sizeof(entry->values));
	if (!is_wanted(lines, entered, duration_ns, result))
		return PD_OK;
	// of what is not printed names need not be known
	if (pd_pairs_follow_state(lines->pairs, error) < 0)
		return error->status;
	if (!pd_lines_chain_is_long_enough(lines, chain))
		return PD_OK;
	lines->printed++;
	if (lines->options->json) {
		json_call(lines, thread, entered ? entry : NULL, call, duration_ns, &result, chain);
		return pd_text_flush_or_fail(text, error);
	}
	print_head(lines, thread, entered ? entry->time_ns : 0, entered, duration_ns);
	from = text->size;
	if (whole) {
		print_call(lines, entry, call);
	} else {
		PD_TEXT_LITERAL(text, " ... [continued]: ");
		pd_text_add(text, call->name);
		PD_TEXT_LITERAL(text, "())");
	}
	fill(text, from, RESULT_COLUMN, 1);
	PD_TEXT_LITERAL(text, "= ");
	pd_call_print_result(text, &all, result);
	pd_text_char(text, '\n');
	pd_lines_print_chain(lines, chain);
	return pd_text_flush_or_fail(text, error);
}
