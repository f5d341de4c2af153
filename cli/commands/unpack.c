/* SPDX-License-Identifier: MIT */
/* perfdata unpack: the files of a bundle in a new directory. The library does it (perfdata/bundle.h). */
#include "files/input.h"
#include "files/unfinished.h"

#include <perfdata/bundle.h>
#include <perfdata/outfile.h>

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct values {
	const char *input;
	const char *output;
	bool quiet;
};

static const struct option options[] = {
	STRING("input", 'i', "FILE", input, "bundle to read; - is standard input"),
	STRING("output", 'o', "DIR", output, "directory to create"),
	FLAG("quiet", 'q', quiet, "do not report skipped members"),
	{ 0 },
};

static int report_result(const struct pd_archive *archive, const struct pd_unpack_result *result,
			 const struct values *values)
{
	uint64_t offset = 0;
	const char *damage = pd_archive_damage(archive, &offset);
	struct pd_text *text = values->quiet ? NULL : pd_text_new();

	if (result->refused_count > PD_UNPACK_WARNINGS && !values->quiet)
		print_error("skipped: %" PRIu64 " more", result->refused_count - PD_UNPACK_WARNINGS);
	if (damage)
		print_error("%s: offset 0x%" PRIx64 ": %s", pd_archive_name(archive), offset, damage);
	if (text)
		pd_unpack_text(result, values->output, text);
	print_and_free(text);
	return damage || result->refused_count ? CODE_DAMAGED : CODE_OK;
}

static int unpack(const struct pd_archive *archive, const struct values *values)
{
	struct unfinished *unfinished = NULL;
	mode_t mask = umask(0);
	struct pd_unpack_options options = { .size = sizeof(options),
					     .mode = 0777 & ~mask,
					     .warn = values->quiet ? NULL : print_warning,
					     .unfinished = unfinished_note,
					     .self = &unfinished };
	struct pd_unpack_result result;
	struct pd_error error;
	enum pd_status status;

	umask(mask);
	status = pd_archive_unpack(archive, values->output, &options, &result, &error);
	if (status >= 0)
		return report_result(archive, &result, values);
	print_error("%s", error.message);
	if (*result.incomplete)
		print_error("incomplete output is in %s", result.incomplete);
	return code_of(status);
}

static int run_unpack(const struct call *call)
{
	const struct values *values = call->values;
	const char *input;
	struct pd_archive *archive = NULL;
	struct pd_error error;
	enum pd_status status;
	int code;

	if (!input_path(values->input, call, NULL, &input))
		return CODE_USAGE;
	if (!input || !values->output)
		return print_failure(CODE_USAGE, input ? "no output given; use -o DIR" :
							 "no input given; name a BUNDLE, or - for standard input");
	if (!pd_outfolder_is_free(values->output))
		return print_failure(CODE_OUTPUT, "%s: already exists", values->output);
	if (strcmp(input, "-") != 0)
		status = pd_archive_open(input, NULL, &archive, &error);
	else
		status = pd_archive_open_fd(STDIN_FILENO, NULL, &archive, &error);
	if (status < 0)
		return print_failure(CODE_UNREADABLE, "%s", error.message);
	code = unpack(archive, values);
	pd_archive_close(archive);
	return code;
}

const struct command cmd_unpack = {
	.usage = "[OPTION]... BUNDLE -o DIR",
	.text = "Unpack a bundle, or any tar file, into a new or empty directory, which can be used with --symfs and "
		"--buildid-dir, also of perf.\n"
		"\n"
		"DIR appears when it is complete; an interrupted run removes its files. Members outside of DIR, and those that are not files, "
		"directories or links, are skipped and reported; the exit code is 1 then. A bundle is an ordinary tar file, so tar "
		"can unpack it, too.",
	OPTIONS(options),
	EXAMPLES({ "perfdata unpack bundle.tar -o there", "unpack perf.data and its objects into the directory there" },
		 { "perfdata report --symfs there there/perf.data", "use them" },
		 { "perf --buildid-dir there report -i there/perf.data", "the same with perf" }),
	.max_words = 1,
	.run = run_unpack,
};
