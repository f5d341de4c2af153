/* SPDX-License-Identifier: MIT */
/*
 * A merge from its start to its end: the order in which things are decided, and recordings that cannot be merged.
 */
#include "edit/merge/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "write/write.h"

enum pd_status pd_merge_new(const struct pd_merge_options *options, struct pd_merge **merge_out, struct pd_error *error)
{
	struct pd_merge *merge;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	merge = pd_alloc(sizeof(*merge));
	if (!merge)
		return pd_fail_memory(error);
	if (options)
		memcpy(&merge->options, options,
		       options->size < sizeof(merge->options) ? options->size : sizeof(merge->options));
	merge->failure = pd_alloc(PD_MERGE_TEXT_BYTES);
	if (!merge->failure || getrandom(merge->secret, sizeof(merge->secret), 0) != (ssize_t)sizeof(merge->secret)) {
		int saved = errno;
		bool random = merge->failure;

		pd_merge_free(merge);
		return random ? pd_fail_system(error, saved, "cannot get random numbers") : pd_fail_memory(error);
	}
	*merge_out = merge;
	return PD_OK;
}

void pd_merge_free(struct pd_merge *merge)
{
	if (!merge)
		return;
	for (size_t i = 0; i < merge->source_count; i++)
		pd_merge_source_free(merge->sources[i]);
	pd_free(merge->sources);
	for (size_t i = 0; i < merge->events.count; i++)
		pd_free(merge->events.items[i].ids.items);
	pd_free(merge->events.items);
	pd_merge_formats_free(merge->formats);
	pd_free(merge->failure);
	pd_free(merge);
}

enum pd_status pd_merge_add(struct pd_merge *merge, struct pd_file *file, struct pd_error *error)
{
	struct pd_merge_source *source;

	if (!PD_GROW(merge->sources, merge->source_capacity, merge->source_count + 1))
		return pd_fail_memory(error);
	source = pd_alloc(sizeof(*source));
	if (!source)
		return pd_fail_memory(error);
	source->merge = merge;
	source->index = merge->source_count;
	source->file = file;
	source->name = pd_file_name(file);
	merge->sources[merge->source_count++] = source;
	return pd_merge_scan(source, error);
}

// ---- recordings that cannot be merged ----

static bool has_counts(const struct pd_merge_source *source)
{
	struct pd_bytes bytes;

	return pd_merge_feature_bytes(source, PD_FEATURE_STAT, &bytes);
}

static enum pd_status check_counts(const struct pd_merge *merge, struct pd_error *error)
{
	bool counts = has_counts(merge->sources[0]);

	for (size_t i = 1; i < merge->source_count; i++)
		if (has_counts(merge->sources[i]) != counts)
			return pd_merge_fail(merge, error, PD_ERROR_ARGUMENT,
					     "%s and %s: counts of perf stat and samples cannot be in one file",
					     merge->sources[0]->name, merge->sources[i]->name);
	for (size_t i = 1; i < merge->source_count && counts; i++)
		if (merge->sources[i]->session)
			return pd_merge_fail(merge, error, PD_ERROR_ARGUMENT,
					     "%s and %s: counts of several runs of perf stat cannot be in one file",
					     merge->sources[0]->name, merge->sources[i]->name);
	return PD_OK;
}

// AUX data have times and numbers of their own recorder, which only a decoder for the machine knows.
static enum pd_status check_aux(const struct pd_merge *merge, struct pd_error *error)
{
	const struct pd_merge_source *first = NULL;

	for (size_t i = 0; i < merge->source_count && !merge->options.drop_aux; i++) {
		const struct pd_merge_source *source = merge->sources[i];

		if (!source->has_aux)
			continue;
		if ((first && first->session != source->session) || source->join.time_ns || source->join.tasks)
			return pd_merge_fail(
				merge, error, PD_ERROR_ARGUMENT,
				"%s: its AUX data cannot be joined with those of another recording, nor moved in time or to "
				"another machine: --drop-aux leaves them out",
				source->name);
		first = source;
	}
	return PD_OK;
}

// ---- one step after the other ----

enum pd_status pd_merge_compare(struct pd_merge *merge, struct pd_error *error)
{
	enum pd_status status;

	if (!merge->source_count)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "no recording to merge");
	pd_merge_find_machines(merge);
	status = check_counts(merge, error);
	if (status >= 0)
		status = pd_merge_plan_kernels(merge, error);
	return status < 0 ? status : pd_merge_plan_clocks(merge, error);
}

const char *pd_merge_failure(const struct pd_merge *merge)
{
	return *merge->failure ? merge->failure : NULL;
}

void pd_merge_shift(struct pd_merge *merge, size_t file, int64_t ns)
{
	if (file < merge->source_count)
		merge->sources[file]->join.time_ns += ns;
}

enum pd_status pd_merge_shift_parse(struct pd_merge *merge, const char *text, struct pd_error *error)
{
	const char *equals = strrchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : 0;
	char *end;
	double seconds;
	bool found = false;

	if (!equals || !equals[1])
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is not FILE=SECONDS", text);
	seconds = strtod(equals + 1, &end);
	if (*end || !isfinite(seconds) || fabs(seconds) > 9e9)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is not a number of seconds", equals + 1);
	for (size_t i = 0; i < merge->source_count; i++) {
		const char *name = pd_file_name(merge->sources[i]->file);

		if (strlen(name) != length || memcmp(name, text, length) != 0)
			continue;
		pd_merge_shift(merge, i, (int64_t)(seconds * 1e9 + (seconds < 0 ? -0.5 : 0.5)));
		found = true;
	}
	if (found)
		return PD_OK;
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%.*s' is not one of the input files", (int)length,
		       text);
}

static void warn_of_machines(const struct pd_merge *merge)
{
	for (size_t i = 0; i < merge->source_count && !merge->options.quiet; i++) {
		const struct pd_merge_source *source = merge->sources[i];
		const char *host = pd_merge_text(source, PD_FEATURE_HOSTNAME);

		if (source->join.tasks)
			pd_merge_warn(merge,
				      "%s: of another machine or boot%s%s: %" PRIu32
				      " is added to numbers of processes",
				      source->name, host ? ", " : "", host ? host : "", source->join.tasks);
	}
}

enum pd_status pd_merge_plan(struct pd_merge *merge, struct pd_error *error)
{
	enum pd_status status = check_aux(merge, error);

	if (status >= 0)
		status = pd_merge_plan_formats(merge, error);
	if (status >= 0)
		status = pd_merge_plan_events(merge, error);
	if (status < 0)
		return status;
	pd_merge_plan_early(merge);
	warn_of_machines(merge);
	return PD_OK;
}

enum pd_status pd_merge_write(struct pd_merge *merge, struct pd_writer *writer, struct pd_merge_result *result_out,
			      struct pd_error *error)
{
	struct pd_merge_result result = { .event_count = merge->events.count };
	struct pd_error own;
	enum pd_status status;

	error = error ? error : &own;
	status = pd_writer_output_status(pd_merge_header(merge, writer, error), error);
	if (status >= 0)
		status = pd_merge_pass(merge, writer, &result, error);
	if (status >= 0 && result_out)
		*result_out = result;
	return status;
}
