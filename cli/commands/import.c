/* SPDX-License-Identifier: MIT */
/* perfdata import: a recording out of a file of another program. The library reads it (perfdata/import.h). */
#include "front/cli.h"
#include "files/input.h"
#include "files/target.h"

#include <perfdata/import.h>

#include <inttypes.h>
#include <string.h>

struct values {
	struct target_options target;
	const char *format, *input;
};

static const struct option options[] = {
	STRING("from", 'f', "FORMAT", format, "what to read, by name"),
	STRING("input", 'i', "FILE", input, "file to read; - is standard input"),
	GROUP(target_group, target),
	{ 0 },
};

static int report_done(const struct pd_descriptor *input, const struct pd_import_result *result)
{
	if (result->left_out)
		print_error("%s: left out, as a perf.data file has no place for them: %" PRIu64 " records or features",
			    input->name, result->left_out);
	if (result->damaged)
		print_error("%s: cannot be imported: %" PRIu64 " damaged or too large records", input->name,
			    result->damaged);
	return result->damaged ? CODE_DAMAGED : CODE_OK;
}

static int import_opened(const struct values *values, struct target *target, struct pd_descriptor *input)
{
	const struct pd_import_options how = { .size = sizeof(how),
					       .format = values->format,
					       .name = input->name,
					       .pull = pd_pull_descriptor,
					       .self = input };
	struct pd_import_result result = { 0 };
	struct pd_error error;
	enum pd_status status = target_open_writer(target, &error);
	int code = status < 0 ? target_failed(target, status, &error) : CODE_OK;

	if (code != CODE_OK)
		return code;
	status = pd_import_run(&how, target->writer, &result, &error);
	if (status == PD_ERROR_FORMAT || status == PD_ERROR_LIMIT || status == PD_ERROR_NO_SAMPLES || input->failed) {
		print_error("%s", error.message);
		code = status == PD_ERROR_NO_SAMPLES ? CODE_NO_SAMPLES : CODE_UNREADABLE;
	} else {
		code = status < 0 ? target_failed(target, status, &error) : report_done(input, &result);
	}
	return target_close(target, code);
}

static bool find_format(const char *name)
{
	struct pd_import_format format;

	for (size_t i = 0; name && pd_import_format(i, &format); i++)
		if (!strcmp(format.name, name))
			return true;
	if (name)
		print_error("option --from: there is no format '%s'; there are:", name);
	else
		print_error("no format given; use --from FORMAT, one of:");
	for (size_t i = 0; pd_import_format(i, &format); i++)
		print_error("  %-16s %s", format.name, format.doc);
	return false;
}

static int run_import(const struct call *call)
{
	const struct values *values = call->values;
	struct target target = { 0 };
	struct pd_descriptor input;
	const char *path;
	int code;

	if (!input_path(values->input, call, "-", &path))
		return CODE_USAGE;
	if (!find_format(values->format))
		return CODE_USAGE;
	code = target_take(&target, &values->target, PD_PACK_NONE);
	if (code != CODE_OK)
		return code;
	code = descriptor_open(path, &input);
	if (code != CODE_OK)
		return code;
	code = import_opened(values, &target, &input);
	descriptor_close(&input);
	return code;
}

const struct command cmd_import = {
	.usage = "--from FORMAT [OPTION]... -o OUTPUT [FILE]",
	.text = "Write a recording from FILE (default: standard input), a file of another program. perf and every other reader of "
		"perf.data files can read it. What FILE does not say is left out, not made up.\n"
		"\n"
		"What cannot be imported is counted on standard error. OUTPUT appears when it is complete.",
	OPTIONS(options),
	EXAMPLES({ "perfdata import --from quipper -o perf.data profile.pb",
		   "read what pipelines built on quipper have stored" },
		 { "perfdata import --from folded -o perf.data stacks.folded && perf report",
		   "folded stacks in the viewers of perf" },
		 { "perfdata export --to quipper-text perf.data | perfdata import --from quipper-text -o new.data",
		   "edit a recording as text of protocol buffers" }),
	.usual = "from output input",
	.max_words = 1,
	.run = run_import,
};
