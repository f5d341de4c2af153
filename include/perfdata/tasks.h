/* SPDX-License-Identifier: MIT */
/**
 * tasks.h - the threads of a recording as a tree, with what was mapped, as perf report --tasks and --mmaps (6.1).
 *
 * The parent of a thread is the one that its FORK record names. Of threads with the same tid the last one is listed.
 *
 * Example:
 *
 *	struct pd_tasks *tasks;
 *	const struct pd_listed_task *task;
 *
 *	if (pd_tasks_read(file, NULL, &tasks, &error) == PD_OK) {
 *		for (size_t i = 0; (task = pd_tasks_at(tasks, i)) != NULL; i++)
 *			printf("%*s%s\n", (int)task->level, "", task->comm);
 *		pd_tasks_free(tasks);
 *	}
 */
#ifndef PERFDATA_TASKS_H
#define PERFDATA_TASKS_H

#include <perfdata/file.h>
#include <perfdata/stream.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A thread; -1 in the numbers: unknown. */
struct pd_listed_task {
	int32_t pid, tid;
	int32_t parent;   /* its tid */
	unsigned level;   /* 0: nothing is known of its parent */
	const char *comm; /* its last name, or ":TID"; owned by the list */
};

struct pd_tasks_options {
	size_t size; /* sizeof(struct pd_tasks_options) */
	/* Called periodically while records are read. May be NULL. */
	void (*progress)(void *self, const struct pd_stream *stream);
	void *self;
};

struct pd_tasks;

/** Reads all records of a file. Errors: PD_ERROR_MEMORY, PD_ERROR_LIMIT, and those of pd_stream_next. */
PD_API enum pd_status pd_tasks_read(struct pd_file *file, const struct pd_tasks_options *options,
				    struct pd_tasks **tasks_out, struct pd_error *error);
PD_API void pd_tasks_free(struct pd_tasks *tasks);
/** The index-th thread, each after its parent; NULL past the end. */
PD_API const struct pd_listed_task *pd_tasks_at(const struct pd_tasks *tasks, size_t index);

/** Prints a line for each thread and, with mmaps, one for each range of addresses that was mapped at its end; escape: as a
 * terminal needs it. */
PD_API void pd_print_tasks(struct pd_text *text, const struct pd_tasks *tasks, bool mmaps, bool escape);
/** Prints a JSON object for each thread, a line each; with mmaps it has an array of them. */
PD_API void pd_json_tasks(struct pd_text *text, const struct pd_tasks *tasks, bool mmaps);

#ifdef __cplusplus
}
#endif
#endif
