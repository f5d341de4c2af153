/* SPDX-License-Identifier: MIT */
/* perfdata pack: a recording with the objects that its samples need, in one tar file that can be read anywhere. */
#include "files/analysis.h"
#include "files/outfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MOST_LEVEL = 22
};

struct values {
	struct analysis_options analysis;
	const char *output;
	bool full, all, compress;
	struct option_number level;
};

static const struct option options[] = {
	GROUP(input_group, analysis.input),
	STRING("output", 'o', "FILE", output, "bundle to write, such as x.tar or x.tar.zst; - is standard output"),
	CHOICE("objects", 0, "HOW", full, "symbols|full",
	       "symbols (default): objects without code and data; full: complete objects"),
	FLAG("all", 'a', all, "pack all mapped objects, not only those with samples"),
	FLAG("compress", 'z', compress, "compress with zstd (default if OUTPUT ends in .zst)"),
	NUMBER("level", 0, "N", level, "compression level, 1 (fast) to 22 (small) (default: 3); implies --compress"),
	GROUP(symbol_group, analysis.symbols),
	GROUP(threads_option, analysis.threads),
	{ 0 },
};

struct packing {
	struct analysis analysis; /* first, as the input in it: see input_progress */
	const struct values *values;
	struct pd_pack *pack;
	struct pd_pack_result result;
};

static int find_objects(struct packing *packing)
{
	const struct values *values = packing->values;
	struct analysis_options options_here = values->analysis;
	const struct pd_profile_options profile = { .size = sizeof(profile), .by = PD_BY_CHAIN };
	const struct pd_pack_options wanted = { .size = sizeof(wanted),
						.all = values->all,
						.full = values->full,
						.warn = values->analysis.input.quiet ? NULL : input_warn,
						.progress = input_progress,
						.self = packing };
	struct analysis *analysis = &packing->analysis;
	struct pd_error error;
	enum pd_status status;
	int code;

	/* What an earlier run kept of a file does not say where the file is. */
	options_here.symbols.no_index = true;
	code = analysis_read(analysis, &options_here, &profile);
	if (code == CODE_NO_SAMPLES) {
		analysis->symbols = symbols_open(&options_here.symbols, analysis->input.file,
						 pd_profile_state(analysis->profile), false);
		code = analysis->symbols ? CODE_OK : CODE_UNREADABLE;
	}
	input_again(&analysis->input);
	if (code != CODE_OK)
		return code;
	status = pd_pack_new(analysis->input.file, analysis->profile, analysis->symbols, &wanted, &packing->pack,
			     &error);
	if (status >= 0)
		return CODE_OK;
	progress_clear(&analysis->input.progress);
	return print_failure(CODE_UNREADABLE, "%s", error.message);
}

static int write_bundle(struct packing *packing, int fd, int level)
{
	const struct values *values = packing->values;
	struct pd_bundle_options wanted = { .size = sizeof(wanted), .level = level };
	const char *name = strcmp(values->output, "-") ? values->output : "standard output";
	struct pd_bundle *bundle = NULL;
	struct pd_error error;
	enum pd_status status;

	wanted.flags = values->full ? PD_BUNDLE_FULL : 0;
	status = pd_bundle_open_fd(fd, name, &wanted, &bundle, &error);
	if (status >= 0)
		status = pd_pack_write(packing->pack, bundle, &packing->result, &error);
	if (status >= 0)
		status = pd_bundle_finish(bundle, &error);
	else
		pd_bundle_abort(bundle);
	if (status >= 0)
		return CODE_OK;
	return print_failure(CODE_OUTPUT, "%s", error.message);
}

static void report_result(const struct packing *packing)
{
	struct pd_text *text = packing->values->analysis.input.quiet ? NULL : pd_text_new();

	if (text)
		pd_pack_text(&packing->result, text);
	print_and_free(text);
}

/* ---- the command ---- */

/* False, said on stderr, for what makes no sense. */
static bool check(const struct values *values, int *level_out)
{
	if (!values->output)
		return print_error("no output given; use -o FILE, or -o - for standard output");
	if (!strcmp(values->output, "-") && isatty(STDOUT_FILENO))
		return print_error("refusing to write binary data to a terminal; use -o FILE");
	if (values->level.given && (!values->level.value || values->level.value > MOST_LEVEL))
		return print_error("option --level: %" PRIu64 " is not between 1 and %d", values->level.value,
				   MOST_LEVEL);
	*level_out = pd_bundle_level(values->compress ? "x.zst" : values->output);
	if (values->level.given)
		*level_out = (int)values->level.value;
	return true;
}

static int pack(struct packing *packing, struct output *out, int level)
{
	struct outfile file;
	int code = find_objects(packing);

	if (code != CODE_OK)
		return code;
	code = outfile_open(&file, packing->values->output, out, packing->analysis.input.name);
	if (code != CODE_OK)
		return code;
	code = write_bundle(packing, file.out->fd, level);
	code = outfile_close(&file, code);
	if (code == CODE_OK)
		report_result(packing);
	return code;
}

static int run_pack(const struct call *call)
{
	const struct values *values = call->values;
	struct packing packing = { .values = values };
	struct analysis_options wanted = values->analysis;
	int code, level = 0;

	if (!check(values, &level))
		return CODE_USAGE;
	wanted.input.verify = true;
	code = analysis_begin(&packing.analysis, &wanted, call);
	if (code == CODE_OK)
		code = pack(&packing, call->out, level);
	pd_pack_free(packing.pack);
	code = analysis_close(&packing.analysis, code);
	return code;
}

const struct command cmd_pack = {
	.usage = "[OPTION]... -o OUTPUT [FILE]",
	.text = "Write a bundle: a tar file with FILE and the objects that its samples, call chains and branches refer to, "
		"their debug files, kernel symbols, and perf maps and jitdumps of JIT-compiled code. All commands read a "
		"bundle like a recording, on any machine, and resolve the same symbols as here.\n"
		"\n"
		"Objects keep symbols, debug and unwind information; code and data are omitted unless --objects full is "
		"given. Files keep their paths: a bundle unpacked with perfdata unpack or tar is a directory for --symfs, and "
		"for perf --buildid-dir. If the recording has user stack copies or AUX data, all mapped objects are packed, "
		"as with --all.\n"
		"\n"
		"manifest.json in the bundle lists for each object what was packed, from where, and what is missing and why. "
		"Missing objects are also reported on standard error. FILE determines which files of this machine are packed: "
		"check the manifest before you share a bundle of somebody else's recording. The same input gives the same "
		"bytes. OUTPUT appears when it is complete.",
	OPTIONS(options),
	EXAMPLES({ "perfdata pack -o bundle.tar", "bundle perf.data with the objects it needs" },
		 { "perfdata report bundle.tar", "read the bundle on any machine; other commands do, too" },
		 { "perfdata pack -o bundle.tar.zst perf.data", "compress the bundle" },
		 { "perfdata pack --objects full -o bundle.tar", "include code, for disassembly" },
		 { "perf record -g -o - -- make | perfdata pack -i - -o make.tar", "bundle a recording from a pipe" }),
	.max_words = 1,
	.run = run_pack,
};

/* ---- archive ---- */

static int run_archive(const struct call *call)
{
	struct values values = *(const struct values *)call->values;
	struct call packing = *call;
	char output[4096];
	const char *input;
	int code;

	if (!input_path(values.analysis.input.path, call, "perf.data", &input))
		return CODE_USAGE;
	snprintf(output, sizeof(output), "%s.tar.zst", strcmp(input, "-") ? input : "perf.data");
	values.output = values.output ? values.output : output;
	values.full = true;
	packing.values = &values;
	code = run_pack(&packing);
	if (code == CODE_OK)
		pd_text_printf(
			call->out->text,
			"Now please run:\n\n$ tar xvf %s -C ~/.debug\n\nwherever you need to run 'perf report' on.\n",
			values.output);
	return code;
}

const struct command cmd_archive = {
	.usage = "[OPTION]... [FILE]",
	.text = "Write the objects of FILE by build ID to FILE.tar.zst, as perf archive does: unpacked into ~/.debug elsewhere, perf finds them "
		"there. It is a bundle with complete objects, see perfdata pack, so that the commands of perfdata also read it as it is.",
	OPTIONS(options),
	EXAMPLES({ "perfdata archive perf.data", "write perf.data.tar.zst" }),
	.max_words = 1,
	.run = run_archive,
};
