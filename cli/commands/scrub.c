/* SPDX-License-Identifier: MIT */
/*
 * perfdata scrub: the same recording without what says who, where and what. The library does it (perfdata/scrub.h);
 * docs/scrubbing.md says what each level does, and why.
 */
#include "files/input.h"
#include "files/outfile.h"
#include "files/target.h"

#include <perfdata/scrub.h>

#include <stdlib.h>
#include <string.h>

enum {
	MIN_SEARCHED = 4
};

struct values {
	struct input_options input;
	struct target_options target;
	struct pd_scrub_options how;
	const char *key;
	struct option_list keep;
	struct option_list keep_names;
	const char *keep_data;
	const char *map;
	bool json;
	bool verify;
	size_t least;
};

static const struct option options[] = {
	GROUP(input_group, input),
	GROUP(target_group, target),
	CHOICE("hide", 0, "LEVEL", how.level, "names|addresses|all",
	       "names; addresses (default: names and addresses); all (also PIDs, CPUs, times, build ids, the machine)"),
	STRING("key", 0, "KEY", key,
	       "key that new names are derived from, at least 16 bytes: a file, hex:DIGITS or env:NAME (default: random)"),
	OPTION("keep", 0, LIST, "PATTERN", keep,
	       "names to keep: dso=libc.so*, comm=java, event=*, or a pattern for any name; may be repeated"),
	OPTION("keep-names", 0, LIST, "FILE", keep_names, "file of names to keep, one pattern per line"),
	STRING("keep-data", 0, "LIST", keep_data,
	       "do not drop these data, which may contain anything: raw, regs, stack, aux"),
	STRING("map", 0, "FILE", map, "write old and new names to FILE; keep it secret"),
	GROUP(json_summary_option, json),
	FLAG("verify", 0, verify, "search RESULT for names of ORIGINAL; writes nothing"),
	INTEGER("min-length", 0, "N", least, "with --verify: ignore shorter strings (default: 4)"),
	{ 0 },
};

struct job {
	struct input input; /* first: see input_progress */
	const struct values *values;
	struct pd_scrub_options options;
	struct target target;
	struct pd_scrub *scrub;
	struct outfile map;
	struct pd_scrub_keep *keep;
	struct pd_bytes key;
};

/* ---- options ---- */

static bool parse_data(struct job *job)
{
	struct pd_error error;

	if (!job->values->keep_data || pd_scrub_keep_data_parse(job->values->keep_data, &job->options, &error) == PD_OK)
		return true;
	return print_error("option --keep-data: %s", error.message);
}

/* What is wrong with a file is said of that file. */
static bool report_wrong(const char *option, enum pd_status status, const struct pd_error *error)
{
	if (status == PD_ERROR_ARGUMENT)
		return print_error("option --%s: %s", option, error->message);
	return print_error("%s", error->message);
}

static bool parse_keep(struct job *job)
{
	const struct option_list *patterns = &job->values->keep, *files = &job->values->keep_names;
	struct pd_error error;
	enum pd_status status = pd_scrub_keep_new(&job->keep, &error);

	for (size_t i = 0; status >= 0 && i < patterns->count; i++)
		status = pd_scrub_keep_add(job->keep, patterns->items[i], &error);
	for (size_t i = 0; status >= 0 && i < files->count; i++)
		status = pd_scrub_keep_add_file(job->keep, files->items[i], &error);
	if (status < 0)
		return report_wrong("keep", status, &error);
	pd_scrub_keep_set(job->keep, &job->options);
	return true;
}

/* The library does not know the environment. */
static bool parse_key(struct job *job)
{
	const char *source = job->values->key;
	const char *variable = source && !strncmp(source, "env:", 4) ? source + 4 : NULL;
	const char *text = variable ? getenv(variable) : NULL;
	struct pd_error error;
	enum pd_status status;

	if (variable && !text)
		return print_error("option --key: environment variable %s is not set", variable);
	status = pd_scrub_key_read(source, text, &job->key, &error);
	job->options.key = job->key.data;
	job->options.key_size = job->key.size;
	return status >= 0 || report_wrong("key", status, &error);
}

/* ---- the map ---- */

static void print_name(void *self, const char *class_name, struct pd_bytes from, struct pd_bytes to)
{
	struct job *job = self;

	pd_scrub_print_name(job->map.out->text, class_name, from, to);
	output_flush_large(job->map.out);
}

/* ---- what was done ---- */

static void print_summary(const struct pd_scrub *scrub, bool random_key)
{
	struct pd_text *text = pd_text_new();

	if (text)
		pd_scrub_text(scrub, text);
	print_and_free(text);
	if (random_key)
		print_error("random key: names cannot be matched with those of other results (use --key)");
}

/* ---- anonymizing ---- */

static int write_result(struct job *job)
{
	struct pd_error error;
	enum pd_status status;
	int code = target_open(&job->target, &job->input.file, 1, false);

	if (code != CODE_OK)
		return code;
	status = pd_scrub_write(job->scrub, job->target.writer, NULL, &error);
	progress_clear(&job->input.progress);
	return target_close(&job->target, code_with_error(status, &error));
}

static int write_with_map(struct job *job)
{
	int code = outfile_open(&job->map, job->values->map, job->input.out, job->input.name);

	return code == CODE_OK ? outfile_close(&job->map, write_result(job)) : code;
}

static int scrub_opened(struct job *job)
{
	struct pd_error error;
	enum pd_status status;

	job->options.name = job->values->map ? print_name : NULL;
	job->options.progress = input_progress;
	job->options.self = job;
	status = pd_scrub_new(job->input.file, &job->options, &job->scrub, &error);
	progress_clear(&job->input.progress);
	// the same problems come again
	if (job->options.level > PD_SCRUB_NAMES)
		input_again(&job->input);
	if (status < 0)
		return code_with_error(status, &error);
	return job->values->map ? write_with_map(job) : write_result(job);
}

static int scrub_input(struct job *job, const struct call *call)
{
	struct input_options input = job->values->input;
	int code = target_take(&job->target, &job->values->target, PD_PACK_SAME);

	if (code != CODE_OK)
		return code;
	if (job->values->json && !strcmp(job->target.path, "-"))
		return print_failure(CODE_USAGE, "--json and -o - both write to standard output");
	if (job->values->map && !strcmp(job->target.path, job->values->map))
		return print_failure(CODE_USAGE, "--map and --output both write to '%s'", job->values->map);
	input.keep = job->options.level > PD_SCRUB_NAMES;
	input.verify = true;
	code = input_open(&job->input, &input, call, NULL, NULL);
	if (code != CODE_OK)
		return code;
	code = input_close(&job->input, scrub_opened(job));
	if (code != CODE_OK && code != CODE_DAMAGED)
		return code;
	if (job->values->json)
		pd_scrub_print_json(job->scrub, !job->values->key, call->out->text);
	else if (!job->values->input.quiet)
		print_summary(job->scrub, !job->values->key);
	return code;
}

/* ---- --verify ---- */

static int verify(const struct pd_scrub_options *options, size_t min, bool json, const struct call *call)
{
	struct pd_scrub_search_result result;
	struct pd_scrub_search *search;
	struct pd_error error;
	enum pd_status status;

	if (call->word_count != 2 || min < MIN_SEARCHED)
		return print_failure(CODE_USAGE, call->word_count != 2 ?
							 "--verify requires two files: ORIGINAL and RESULT" :
							 "option --min-length: must be at least 4");
	status = pd_scrub_search_new(call->words[0], call->words[1], options, min, &search, &error);
	if (status < 0)
		return code_with_error(status, &error);
	(json ? pd_scrub_search_print_json : pd_scrub_search_text)(search, call->out->text);
	pd_scrub_search_count(search, &result);
	pd_scrub_search_free(search);
	return result.find_count ? CODE_DAMAGED : CODE_OK;
}

/* ---- all ---- */

static int run_scrub(const struct call *call)
{
	const struct values *values = call->values;
	struct job job = { .values = values, .options = values->how };
	int code = CODE_USAGE;

	if (parse_data(&job) && parse_keep(&job) && parse_key(&job)) {
		if (job.values->verify)
			code = verify(&job.options, job.values->least, job.values->json, call);
		else if (call->word_count > 1)
			print_error("unexpected argument '%s' (only one FILE is accepted)", call->words[1]);
		else
			code = scrub_input(&job, call);
	}
	pd_scrub_free(job.scrub);
	pd_scrub_keep_free(job.keep);
	pd_scrub_key_free(&job.key);
	return code;
}

const struct command cmd_scrub = {
	.usage = "[OPTION]... -o OUTPUT [FILE], or --verify ORIGINAL RESULT",
	.text = "Anonymize FILE: replace the names of threads, files, functions, hosts and cgroups and the arguments of the "
		"command line; drop raw data, registers, stack copies and AUX data; move addresses together with the mapping they "
		"are in. Samples and counts are kept, so reports have the same rows under other names.\n\n"
		"New names are a keyed hash (HMAC-SHA256) of the old ones, so equal names stay equal, also in other files scrubbed "
		"with the same key. Anyone with the key can test guesses, so keep it secret; without --key a random key is used "
		"and discarded.\n\n"
		"docs/scrubbing.md lists what each --hide LEVEL does to each kind of value, and what a result still reveals. "
		"--verify searches the bytes of RESULT for every name of ORIGINAL; the exit code is 1 if one is found.",
	OPTIONS(options),
	HOW(how),
	DEFAULTS(.how.level = PD_SCRUB_ADDRESSES, .least = MIN_SEARCHED),
	EXAMPLES({ "perfdata scrub -o share.data", "hide names and addresses of perf.data" },
		 { "perfdata scrub --verify perf.data share.data", "check that no name of the original is left" },
		 { "perfdata scrub --hide all -o share.data", "also hide PIDs, CPUs, times and the machine" },
		 { "perfdata scrub --key ~/scrub.key -o new.share new.data",
		   "use the same key for recordings to be compared" },
		 { "perfdata scrub --keep 'dso=libc.so*' --keep 'dso=*.ko*' -o share.data",
		   "keep the names of the C library and of kernel modules" }),
	.max_words = 2,
	.run = run_scrub,
};
