/* SPDX-License-Identifier: MIT */
/* Recordings, lists of them and saved profiles, one after another. */
#include "files/compare.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name with a comma is that of a file if there is one. */
bool compare_is_list(const char *word)
{
	return strchr(word, ',') && access(word, F_OK) != 0;
}

static void ask_report(struct compare *compare)
{
	compare->report = (struct pd_report_options){
		.size = sizeof(compare->report),
		.sort = compare->sort,
		.relative = compare->relative,
		.threads = compare->options->threads,
	};
	pd_report_select(&compare->report, compare->analysis.select);
	pd_diff_ask(compare->diff, &compare->report);
}

static int add_report(struct compare *compare, size_t side, struct pd_report *report)
{
	struct analysis *analysis = &compare->analysis;
	struct pd_profile_options how = { 0 };
	struct pd_error error;
	enum pd_status status;
	int code;

	pd_report_ask(report, &how);
	code = analysis_read(analysis, compare->options, &how);
	if (code != CODE_OK)
		return code;
	status = pd_report_build(report, analysis->input.file, analysis->profile, analysis->symbols, &error);
	if (status == PD_OK)
		status = pd_diff_add(compare->diff, side, analysis->input.name, analysis->input.file, report, &error);
	progress_clear(&analysis->input.progress);
	return code_with_error(status, &error);
}

/* What cannot be read twice is a recording. */
static bool is_saved(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && pd_diff_is_saved(path);
}

/* A recording is closed before the next one is opened. */
static int add_recording(struct compare *compare, size_t side, const char *path, const char *const *words, size_t count)
{
	const struct call alone = {
		.values = compare->call->values, .out = compare->call->out, .words = words, .word_count = count
	};
	struct pd_report *report = NULL;
	struct pd_error error;
	int code;

	if (count == 1 && is_saved(path))
		return code_with_error(pd_diff_add_saved(compare->diff, side, path, &error), &error);
	code = analysis_begin(&compare->analysis, compare->options, &alone);
	if (code == CODE_OK) {
		compare->analysis.input.name = path;
		ask_report(compare);
		code = code_with_error(pd_report_new(compare->analysis.input.file, &compare->report, &report, &error),
				       &error);
	}
	if (code == CODE_OK)
		code = add_report(compare, side, report);
	pd_report_free(report);
	return analysis_close(&compare->analysis, code);
}

/* Recordings, or with a store the hashes of some that have which. */
static int add_list(struct compare *compare, size_t side, const char *list, const char *store, const char *which)
{
	int worst = CODE_OK, code = CODE_OK;

	while (code_is_usable(code) && *list) {
		size_t length = strcspn(list, ",");
		char *path = strndup(list, length);
		const char *const words[] = { store, which, path };

		if (!path)
			return print_failure(CODE_UNREADABLE, "out of memory");
		if (*path)
			code = add_recording(compare, side, store ? which : path, words + 2 * !store, store ? 3 : 1);
		worst = code != CODE_OK ? code : worst;
		free(path);
		list += length + (list[length] == ',');
	}
	return worst;
}

/* Each recording of a store is a run. */
static int add_stored(struct compare *compare, size_t side, const char *store, const char *which)
{
	const struct pd_store_profile said = store_said(NULL);
	struct pd_text *list = pd_text_new();
	struct pd_error error;
	int code = code_with_error(pd_store_profiles(store, &which, 1, &said, list, &error), &error);

	if (code == CODE_OK)
		code = add_list(compare, side, (const char *)pd_text_bytes(list).data, store, which);
	pd_text_free(list);
	return code;
}

bool compare_is_stored(const char *const *words, size_t count)
{
	return count > 1 && pd_store_is(words[0]) && access(words[1], F_OK) != 0;
}

int compare_add_all(struct compare *compare, const char *const *paths, size_t count)
{
	size_t first = compare_is_stored(paths, count);
	int worst = CODE_OK;

	for (size_t i = first; i < count && code_is_usable(worst); i++) {
		int code = first                     ? add_stored(compare, i - 1, paths[0], paths[i]) :
			   compare_is_list(paths[i]) ? add_list(compare, i, paths[i], NULL, NULL) :
						       add_recording(compare, i, paths[i], paths + i, 1);

		worst = code != CODE_OK ? code : worst;
	}
	return worst;
}
