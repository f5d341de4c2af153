/* SPDX-License-Identifier: MIT */
#include "files/export.h"

#include "files/analysis.h"
#include "files/folder.h"
#include "files/outfile.h"

#include <inttypes.h>
#include <string.h>

struct exporting {
	struct input input; /* first: see input_progress */
	const struct export_values *values;
	struct pd_select *select;
	struct pd_symbols *symbols;
	bool symbols_wrong; /* why is told */
	bool no_unwind;
	struct pd_export *export_;
	struct pd_export_format format;
	struct folder folder; /* if the format needs one */
};

/* ---- what the library asks ---- */

static enum pd_choice filter_sample(const void *self, const struct pd_candidate *candidate)
{
	const struct exporting *exporting = self;

	return pd_select_choose(exporting->select, candidate);
}

static bool choose_place(const void *self, const struct pd_place *place)
{
	const struct exporting *exporting = self;

	return pd_select_has_place(exporting->select, place);
}

static enum pd_status get_ready(void *self, struct pd_window *window, struct pd_error *error)
{
	struct exporting *exporting = self;

	return pd_select_ready(exporting->select, exporting->input.file, window, error);
}

static struct pd_symbols *open_symbols(void *self, const struct pd_state *state)
{
	struct exporting *exporting = self;

	exporting->symbols = symbols_open(&exporting->values->symbols, exporting->input.file, state, false);
	exporting->symbols_wrong = !exporting->symbols;
	return exporting->symbols;
}

static struct pd_text *open_file(void *self, const char *name)
{
	struct exporting *exporting = self;

	return folder_file(&exporting->folder, name);
}

/* ---- options ---- */

static bool find_format(struct exporting *exporting, const char *name)
{
	for (size_t i = 0; pd_export_format(i, &exporting->format); i++)
		if (name && !strcmp(exporting->format.name, name))
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
	struct pd_select_options given = exporting->values->select;

	given.size = 0;
	if (!exporting->format.whole || !memcmp(&given, &none, sizeof(none)))
		return true;
	return print_error("%s is of whole recordings; use perfdata filter before it", exporting->format.name);
}

static int read_options(struct exporting *exporting, const struct call *call)
{
	const struct export_values *values = exporting->values;
	const struct pd_filter *where;

	if (!unwind_parse(values->unwind, &exporting->no_unwind) || !find_format(exporting, values->format) ||
	    !select_take(&exporting->select, &values->select))
		return CODE_USAGE;
	/* Samples are chosen before their places have names. */
	if (!takes_filters(exporting))
		return CODE_USAGE;
	where = pd_select_where(exporting->select);
	if (where && (pd_filter_asks(where) & (PD_FILTER_DSO | PD_FILTER_SYMBOL)))
		return print_failure(CODE_USAGE,
				     "option --where: dso and symbol cannot be used here; use --dsos and --symbols");
	if (exporting->format.folder && (!values->output || !strcmp(values->output, "-")))
		return print_failure(CODE_USAGE, "%s is a folder of files; use -o DIR", exporting->format.name);
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
		return print_failure(CODE_NOTHING, "%s: %s", exporting->input.name, error->message);

	if (!result.samples_read)
		return print_failure(CODE_NO_SAMPLES, "%s: no samples in the file", exporting->input.name);
	print_error("%s: no samples match the filters", exporting->input.name);
	select_report_missing(exporting->select, exporting->input.file);
	return CODE_NOTHING;
}

/* All that was left out, on one line. */
static void report_dropped(const struct exporting *exporting)
{
	struct pd_text *text = pd_text_new();
	struct pd_export_dropped dropped;
	size_t count = 0;

	if (!text)
		return;
	for (; pd_export_dropped(exporting->export_, count, &dropped); count++)
		pd_text_printf(text, "%s%" PRIu64 " %s", count ? ", " : "", dropped.count, dropped.name);
	if (count && !pd_text_failed(text))
		print_error("%s: not exported, as %s has no field for them: %.*s", exporting->input.name,
			    exporting->format.name, (int)pd_text_bytes(text).size,
			    (const char *)pd_text_bytes(text).data);
	pd_text_free(text);
}

static void report_done(const struct exporting *exporting)
{
	struct pd_export_result result = pd_export_result(exporting->export_);

	if (exporting->input.quiet)
		return;
	copied_stacks_report(exporting->input.name, result.copied_stacks, result.samples);
	unwinding_report(exporting->input.name, pd_export_unwinder(exporting->export_));
	report_dropped(exporting);
}

static int run_export(struct exporting *exporting, struct pd_text *text)
{
	struct pd_error error;
	const struct export_values *values = exporting->values;
	const struct pd_select_options *wanted = &values->select;
	bool by_place = wanted->dsos || wanted->dso || wanted->symbols || wanted->symbol;
	const struct pd_export_options how = {
		.size = sizeof(how),
		.format = exporting->format.name,
		.name = exporting->input.name,
		.max_stack = values->max_stack,
		.choose = filter_sample,
		.choose_place = by_place ? choose_place : NULL,
		.ready = get_ready,
		.progress = input_progress_go_on,
		.object = values->object,
		.no_unwind = exporting->no_unwind,
		.remap = values->remap,
		.tasks_and_maps = !values->samples_only,
		.wall_clock = values->wall_clock,
		.file = open_file,
		.symbols = open_symbols,
		.self = exporting,
	};
	enum pd_status status = pd_export_new(&how, text, &exporting->export_, &error);

	if (status >= 0)
		status = pd_export_run(exporting->export_, exporting->input.file, &error);
	progress_clear(&exporting->input.progress);
	if (status == PD_ERROR_NO_MATCH)
		return report_nothing(exporting, &error);
	if (exporting->symbols_wrong)
		return CODE_UNREADABLE;
	/* What cannot be written is reported when the file is closed. */
	return status < 0 && status != PD_ERROR_OUTPUT ? code_with_error(status, &error) : CODE_OK;
}

static int write_folder(struct exporting *exporting, const struct call *call)
{
	int code;

	exporting->folder.path = exporting->values->output;
	code = folder_open(&exporting->folder);
	if (code == CODE_OK)
		code = folder_close(&exporting->folder, run_export(exporting, call->out->text));
	return code;
}

static int write_file(struct exporting *exporting, const struct call *call)
{
	struct outfile file;
	int code = outfile_open(&file, exporting->values->output, call->out, exporting->input.name);

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
	struct input_options input = values->input;
	int code = read_options(&exporting, call);

	input.keep = true;
	if (code == CODE_OK)
		code = input_open(&exporting.input, &input, call, NULL, NULL);
	if (code == CODE_OK) {
		code = write_output(&exporting, call);
		pd_export_free(exporting.export_);
		pd_symbols_free(exporting.symbols);
		code = input_close(&exporting.input, code);
	}
	pd_select_free(exporting.select);
	return code;
}
