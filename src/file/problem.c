/* SPDX-License-Identifier: MIT */
/* Problems: telling them to the caller, and the list of all that there can be. */
#include <stdarg.h>
#include <stdio.h>

#include "file/inside.h"

static const struct {
	const char *code;
	enum pd_severity severity;
	const char *doc;
	const char *advice;
} problems[] = {
#define PROBLEM(NAME, code, severity, doc, advice) { code, severity, doc, advice },
#include <perfdata/table/problem.def>
};

const char *pd_problem_at(size_t index, enum pd_severity *severity_out, const char **doc_out, const char **advice_out)
{
	if (index >= PD_PROBLEM_COUNT)
		return NULL;
	if (severity_out)
		*severity_out = problems[index].severity;
	if (doc_out)
		*doc_out = problems[index].doc;
	if (advice_out)
		*advice_out = problems[index].advice;
	return problems[index].code;
}

void pd_file_report(struct pd_file *file, enum pd_problem_id id, uint64_t offset, const char *field, const char *format,
		    ...)
{
	char message[240];
	struct pd_problem problem = {
		.offset = offset,
		.severity = problems[id].severity,
		.code = problems[id].code,
		.field = field,
		.message = message,
		.advice = problems[id].advice,
	};
	va_list args;

	if (file->problem) {
		va_start(args, format);
		vsnprintf(message, sizeof(message), format, args);
		va_end(args);
	}
	pthread_mutex_lock(&file->lock);
	file->problem_counts[problem.severity]++;
	if (file->problem && !file->stopped && !file->problem(file->problem_self, &problem))
		file->stopped = true;
	pthread_mutex_unlock(&file->lock);
}

void pd_file_report_cursor(struct pd_file *file, enum pd_problem_id id, uint64_t offset, const char *where,
			   const struct pd_cursor *cursor)
{
	char field[128] = "";

	if (cursor->layout)
		snprintf(field, sizeof(field), "%s.%s", cursor->layout, cursor->field);
	pd_file_report(file, id, offset, cursor->layout ? field : NULL, "%s%s at byte %zu", where, cursor->reason,
		       (size_t)(cursor->failed_at - cursor->start));
}

const _Atomic bool *pd_file_stop_flag(const struct pd_file *file)
{
	return &file->stopped;
}

enum pd_status pd_file_stopped(struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_STOPPED, PD_NO_OFFSET, "stopped by the problem callback");
}

uint64_t pd_file_problem_count(const struct pd_file *file, enum pd_severity severity)
{
	// a lock is no part of what the file means
	pthread_mutex_t *lock = &((struct pd_file *)(uintptr_t)file)->lock;
	uint64_t count;

	pthread_mutex_lock(lock);
	count = file->problem_counts[severity & 3];
	pthread_mutex_unlock(lock);
	return count;
}

void pd_file_report_compression(struct pd_file *file)
{
	if (!file->main.damaged || file->compression_reported)
		return;
	file->compression_reported = true;
	pd_file_report(file, PD_PROBLEM_BAD_COMPRESSION, PD_NO_OFFSET, NULL, "%s: %s", file->main.codec->name,
		       file->main.damage);
}
