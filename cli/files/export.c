/* SPDX-License-Identifier: MIT */
#include "files/export.h"

#include "files/outfile.h"
#include "files/unfinished.h"

#include <inttypes.h>
#include <string.h>

struct exporting {
	struct analysis analysis; /* first: see analysis_choose */
	const struct export_values *values;
	struct pd_export *export_;
	struct pd_export_format format;
	struct pd_outfolder *folder; /* if the format needs one */
	const char *path;            /* of the file that is written, if it is one */
	struct unfinished *unfinished;
};

/* ---- what the library asks ---- */

static struct pd_text *open_file(void *self, const char *name)
{
	struct exporting *exporting = self;

	return pd_outfolder_file(exporting->folder, name);
}

/* ---- options ---- */

static bool find_format(struct exporting *exporting, const char *name)
{
	if (pd_export_format_find(name, &exporting->format))
		return true;
	if (!name)
		print_error("no format given; use --to FORMAT, one of:");
	else
		print_error("option --to: there is no format '%s'; there are:", name);
	for (size_t i = 0; pd_export_format(i, &exporting->format); i++)
		print_error("  %-16s %s", exporting->format.name, exporting->format.doc);
	return false;
}

/* Formats of all records have no samples to choose. */
static bool takes_filters(const struct exporting *exporting)
{
	static const struct pd_select_options none;
	struct pd_select_options given = exporting->values->analysis.select;

	given.size = 0;
	if (!exporting->format.whole || !memcmp(&given, &none, sizeof(none)))
		return true;
	return print_error("%s is of whole recordings; use perfdata filter before it", exporting->format.name);
}

static int read_options(struct exporting *exporting, const struct call *call)
{
	const struct export_values *values = exporting->values;

	if (!find_format(exporting, values->how.format) || !takes_filters(exporting))
		return CODE_USAGE;
	exporting->format.folder &= !values->how.table;
	if ((exporting->format.folder || exporting->format.own_file) &&
	    (!values->output || !strcmp(values->output, "-")))
		return print_failure(
			CODE_USAGE,
			exporting->format.own_file ? "%s needs a file; use -o FILE" :
			exporting->format.tables   ? "%s is a folder of files; use -o DIR, or --table TABLE" :
						     "%s is a folder of files; use -o DIR",
			exporting->format.name);
	if (exporting->format.binary && (!values->output || !strcmp(values->output, "-")) && call->out->terminal)
		return print_failure(CODE_USAGE, "refusing to write %s to a terminal; use -o FILE",
				     exporting->format.name);
	return CODE_OK;
}

/* ---- the export ---- */

static int report_nothing(const struct exporting *exporting, const struct pd_error *error)
{
	struct pd_export_result result = pd_export_result(exporting->export_);

	/* the samples have nothing that the format wants */
	if (result.samples)
		return print_failure(CODE_NOTHING, "%s: %s", exporting->analysis.input.name, error->message);
	return input_nothing(&exporting->analysis.input, exporting->analysis.select, result.samples_read != 0);
}

static void report_dropped(const struct exporting *exporting)
{
	struct pd_text *text = pd_text_new();

	if (text && pd_print_export_dropped(exporting->export_, text) && !pd_text_failed(text))
		print_error("%s: not exported, as %s has no field for them: %.*s", exporting->analysis.input.name,
			    exporting->format.name, (int)pd_text_bytes(text).size,
			    (const char *)pd_text_bytes(text).data);
	pd_text_free(text);
}

static void report_done(const struct exporting *exporting)
{
	struct pd_export_result result = pd_export_result(exporting->export_);

	if (exporting->analysis.input.quiet)
		return;
	copied_stacks_report(exporting->analysis.input.name, result.copied_stacks, result.samples);
	unwinding_report(exporting->analysis.input.name, pd_export_unwinder(exporting->export_));
	report_dropped(exporting);
}

static int run_export(struct exporting *exporting, struct pd_text *text)
{
	struct pd_error error;
	const struct export_values *values = exporting->values;
	const struct pd_select_options *wanted = &values->analysis.select;
	bool by_place = wanted->dsos || wanted->dso || wanted->symbols || wanted->symbol;
	struct pd_export_options how = values->how;
	enum pd_status status;

	how.size = sizeof(how);
	how.name = exporting->analysis.input.name;
	how.choose = analysis_choose;
	how.choose_place = by_place ? analysis_has_place : NULL;
	how.ready = analysis_ready;
	how.progress = input_progress_go_on;
	how.no_unwind = values->analysis.no_unwind;
	how.file = open_file;
	how.path = exporting->path;
	how.symbols = analysis_symbols;
	how.self = exporting;
	status = pd_export_new(&how, text, &exporting->export_, &error);
	if (status >= 0)
		status = pd_export_run(exporting->export_, exporting->analysis.input.file, &error);
	progress_clear(&exporting->analysis.input.progress);
	if (status == PD_ERROR_NO_MATCH)
		return report_nothing(exporting, &error);
	if (exporting->analysis.symbols_asked && !exporting->analysis.symbols)
		return CODE_UNREADABLE;
	return code_of_print(status, &error);
}

static int write_folder(struct exporting *exporting, const struct call *call)
{
	const struct pd_outfile_options how = { .size = sizeof(how),
						.unfinished = unfinished_note,
						.self = &exporting->unfinished };
	struct pd_error error;
	int code =
		code_with_error(pd_outfolder_open(exporting->values->output, &how, &exporting->folder, &error), &error);

	if (code != CODE_OK)
		return code;
	code = run_export(exporting, call->out->text);
	if (code == CODE_OK)
		return code_with_error(pd_outfolder_finish(exporting->folder, &error), &error);
	pd_outfolder_abort(exporting->folder);
	return code;
}

static int write_file(struct exporting *exporting, const struct call *call)
{
	struct outfile file;
	int code = outfile_open(&file, exporting->values->output, call->out, exporting->analysis.input.name);

	exporting->path = code == CODE_OK && file.file ? pd_outfile_temporary(file.file) : NULL;
	if (code == CODE_OK)
		code = outfile_close(&file, run_export(exporting, file.out->text));
	return code;
}

static int write_output(struct exporting *exporting, const struct call *call)
{
	int code = exporting->format.folder ? write_folder(exporting, call) : write_file(exporting, call);

	if (code == CODE_OK)
		report_done(exporting);
	return code;
}

int export_samples(const struct export_values *values, const struct call *call)
{
	struct exporting exporting = { .values = values };
	int code = read_options(&exporting, call);

	if (code != CODE_OK)
		return code;
	code = analysis_begin(&exporting.analysis, &values->analysis, call);
	exporting.analysis.short_names = false;
	if (code == CODE_OK)
		code = write_output(&exporting, call);
	pd_export_free(exporting.export_);
	return analysis_close(&exporting.analysis, code);
}
