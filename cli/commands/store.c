/* SPDX-License-Identifier: MIT */
/* perfdata store: many recordings in one database. The library does it (perfdata/store.h). */
#include "files/analysis.h"
#include "files/target.h"

#include <perfdata/store.h>

#include <string.h>

struct values {
	struct analysis_options analysis;
	struct target_options target;
	struct option_list labels;
	unsigned days;
	enum pd_sql_format format;
};

static const struct option options[] = {
	OPTION("label", 0, LIST, "KEY=VALUE", labels,
	       "add: of these recordings; get: only those with it (may be repeated)"),
	INTEGER("days", 0, "N", days, "get: samples of the last N days; prune: keep these"),
	OPTION("format", 0, CHOICE, "column|csv|json", format, "how rows are printed (default: column)"),
	GROUP(target_group, target),
	GROUP(symbol_group, analysis.symbols),
	{ 0 },
};

/* The call's word is the file. */
static int add_file(const char *path, const struct pd_store_profile *said, const struct call *call)
{
	const struct values *values = call->values;
	struct analysis analysis = { 0 };
	const struct pd_sql_options how = { .size = sizeof(how),
					    .tables = { .symbols = analysis_symbols, .self = &analysis } };
	struct pd_sql *sql = NULL;
	struct pd_error error;
	int code = analysis_open(&analysis, &values->analysis, call);

	if (code == CODE_OK)
		code = code_with_error(pd_sql_new(&analysis.input.file, 1, &how, &sql, &error), &error);
	if (code == CODE_OK)
		code = code_with_error(pd_store_add(path, sql, analysis.input.file, said, &error), &error);
	pd_sql_free(sql);
	return analysis_close(&analysis, code);
}

static int get_samples(const char *path, const struct values *values, const char *credentials)
{
	const struct pd_store_choice choice = { .size = sizeof(choice),
						.labels = values->labels.items,
						.label_count = values->labels.count,
						.from_ns = pd_store_days_ago(values->days),
						.credentials = credentials };
	struct target target = { 0 };
	struct pd_error error;
	enum pd_status status;
	int code = target_take(&target, &values->target, PD_PACK_NONE);

	if (code != CODE_OK)
		return code;
	status = target_open_writer(&target, &error);
	if (status >= 0)
		status = pd_store_get(path, &choice, target.writer, NULL, &error);
	code = status == PD_ERROR_OUTPUT ? target_failed(&target, status, &error) : code_with_error(status, &error);
	return target_close(&target, code);
}

static int run_store(const struct call *call)
{
	const struct values *values = call->values;
	const struct pd_store_profile said = store_said(&values->labels);
	const struct pd_store_options how = { .size = sizeof(how),
					      .format = values->format,
					      .before_ns = pd_store_days_ago(values->days),
					      .profile = &said };
	struct call one = *call;
	struct pd_error error;
	int code = CODE_OK, one_code;

	if (call->word_count == 2 && !strcmp(call->words[0], "get"))
		return get_samples(call->words[1], values, said.credentials);
	if (call->word_count < 3 || strcmp(call->words[0], "add") != 0) {
		enum pd_status status = pd_store_print(call->words, call->word_count, &how, call->out->text, &error);

		return call->out->failure ? CODE_OK : code_with_error(status, &error);
	}
	for (one.words += 2, one.word_count = 1; code != CODE_USAGE && one.words < call->words + call->word_count;
	     one.words++) {
		one_code = add_file(call->words[1], &said, &one);
		code = code == CODE_OK || one_code == CODE_USAGE ? one_code : code;
	}
	return code;
}

const struct command cmd_store = {
	.usage =
		"add STORE FILE... | ls STORE | report STORE [CONDITION]... | flame STORE ... | diff STORE OLD NEW | top STORE ... | get STORE -o FILE | sql STORE SQL | prune STORE --days N | schema [parquet|clickhouse]",
	.text = "Keep recordings in STORE, a file of SQLite: samples summed up in ten seconds and hours, by event, thread and stack. A recording is in it once, however often it is "
		"added. report, flame, folded and diff are the commands of these names, and all that read recordings read a STORE: with functions and objects, but without times and "
		"addresses. get writes the sums as samples of a recording. A CONDITION is a label, KEY=VALUE; a range of times in UTC, FROM..TO, such as "
		"2026-11-28..2026-11-29T12:30 or 7d.. (ago); or a recording by the first digits that ls shows; commas join them. Each recording is a run for diff. top prints the "
		"functions that took most, and the sum of the others. prune removes samples, but no sums of hours.\n\nA STORE that ends with / is a folder of Parquet files, which "
		"other programs read, too, and clickhouse://HOST:PORT/DATABASE a server; prune removes whole days of both. PERFDATA_STORE_CREDENTIALS is USER:PASSWORD, or @FILE of "
		"a file with that. What a server does not take waits in the folder PERFDATA_STORE_SPOOL, or in /var/tmp, for the next add; without a FILE, add sends only that.",
	OPTIONS(options),
	EXAMPLES({ "perfdata store add fleet.db --label service=web *.data", "recordings of a service" },
		 { "perfdata store report fleet.db service=web 7d..", "the last week of a service as one profile" },
		 { "perfdata store diff fleet.db version=1 version=2",
		   "what a version changed, each recording a run" }),
	.usual = "label days output format",
	.max_words = (size_t)-1,
	.run = run_store,
};
