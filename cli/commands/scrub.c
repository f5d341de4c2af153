/* SPDX-License-Identifier: MIT */
/*
 * perfdata scrub: the same recording without what says who, where and what. The library does it (perfdata/scrub.h); here
 * options, patterns and the key are read. scrub_summary.c says what was done; docs/scrubbing.md what each level does, and why.
 */
#include "commands/scrub_summary.h"
#include "front/input.h"
#include "front/outfile.h"
#include "front/target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	KEY_MIN = 16,
	FILE_MAX = 1 << 20, /* of a key or of names to keep */
	RANDOM_KEY = 32,
	MIN_SEARCHED = 4
};

struct values {
	struct input_options input;
	struct target_options target;
	const char *hide;
	const char *key;
	struct option_list keep;
	struct option_list keep_names;
	const char *keep_data;
	const char *map;
	bool json;
	bool verify;
	struct option_number least;
};

static const struct option options[] = {
	INPUT_OPTIONS(struct values, input),
	TARGET_OPTIONS(struct values, target),
	{ "hide", 0, OPTION_STRING, "LEVEL", offsetof(struct values, hide),
	  "names; addresses (default: names and addresses); all (also PIDs, CPUs, times, build ids, the machine)" },
	{ "key", 0, OPTION_STRING, "KEY", offsetof(struct values, key),
	  "key that new names are derived from, at least 16 bytes: a file, hex:DIGITS or env:NAME (default: random)" },
	{ "keep", 0, OPTION_LIST, "PATTERN", offsetof(struct values, keep),
	  "names to keep: dso=libc.so*, comm=java, event=*, or a pattern for any name; may be repeated" },
	{ "keep-names", 0, OPTION_LIST, "FILE", offsetof(struct values, keep_names),
	  "file of names to keep, one pattern per line" },
	{ "keep-data", 0, OPTION_STRING, "LIST", offsetof(struct values, keep_data),
	  "do not drop these data, which may contain anything: raw, regs, stack, aux" },
	{ "map", 0, OPTION_STRING, "FILE", offsetof(struct values, map),
	  "write old and new names to FILE; keep it secret" },
	{ "json", 'j', OPTION_FLAG, NULL, offsetof(struct values, json),
	  "print the summary as JSON on standard output" },
	{ "verify", 0, OPTION_FLAG, NULL, offsetof(struct values, verify),
	  "search RESULT for names of ORIGINAL; writes nothing" },
	{ "min-length", 0, OPTION_NUMBER, "N", offsetof(struct values, least),
	  "with --verify: ignore shorter strings (default: 4)" },
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata scrub -o share.data", "hide names and addresses of perf.data" },
	{ "perfdata scrub --verify perf.data share.data", "check that no name of the original is left" },
	{ "perfdata scrub --hide all -o share.data", "also hide PIDs, CPUs, times and the machine" },
	{ "perfdata scrub --key ~/scrub.key -o new.share new.data", "use the same key for recordings to be compared" },
	{ "perfdata scrub --keep 'dso=libc.so*' --keep 'dso=*.ko*' -o share.data",
	  "keep the names of the C library and of kernel modules" },
	{ 0 },
};

struct job {
	const struct values *values;
	struct pd_scrub_options options;
	struct input input;
	struct target target;
	struct pd_scrub *scrub;
	struct outfile map;
	const char **keep;
	size_t keep_count;
	char *kept_lines[64]; /* contents of --keep-names */
	size_t kept_files;
	char *key;
};

/* ---- the key ---- */

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The bytes of digits, at their own place. */
static bool unhex(char *text, size_t *size)
{
	if (*size % 2)
		return false;
	for (size_t i = 0; i < *size; i += 2) {
		int high = digit(text[i]), low = digit(text[i + 1]);

		if (high < 0 || low < 0)
			return false;
		text[i / 2] = (char)(high << 4 | low);
	}
	*size /= 2;
	return true;
}

/* A file that is small, with a NUL behind its end; NULL if it cannot be read, which was said. */
static char *read_file(const char *path, size_t most, size_t *size_out)
{
	FILE *file = fopen(path, "re");
	char *data = malloc(most + 1);
	size_t size = file && data ? fread(data, 1, most + 1, file) : 0;

	if (!file || !data || ferror(file) || size > most) {
		complain("%s: %s", path, !data ? "out of memory" : file && size > most ? "too large" : strerror(errno));
		free(data);
		data = NULL;
	} else {
		data[size] = 0;
		*size_out = size;
	}
	if (file)
		fclose(file);
	return data;
}

static char *random_key(size_t *size)
{
	char *key = malloc(RANDOM_KEY);

	*size = RANDOM_KEY;
	if (key && getrandom(key, RANDOM_KEY, 0) == RANDOM_KEY)
		return key;
	complain("cannot get a random key: %s", strerror(errno));
	free(key);
	return NULL;
}

static char *find_key(const char *option, size_t *size)
{
	bool hex = !strncmp(option, "hex:", 4), environment = !strncmp(option, "env:", 4);
	const char *text = environment ? getenv(option + 4) : hex ? option + 4 : NULL;
	char *key;

	if (environment && !text) {
		complain("option --key: environment variable %s is not set", option + 4);
		return NULL;
	}
	key = text ? strdup(text) : read_file(option, FILE_MAX, size);
	if (!key)
		return NULL;
	if (text)
		*size = strlen(key);
	else if (*size && key[*size - 1] == '\n')
		--*size;
	if (hex && !unhex(key, size)) {
		complain("option --key: hex: must be followed by pairs of hexadecimal digits");
	} else if (*size < KEY_MIN) {
		complain("option --key: %zu bytes are too short, at least %d are required", *size, KEY_MIN);
	} else {
		return key;
	}
	free(key);
	return NULL;
}

/* ---- options ---- */

static bool parse_level(struct job *job)
{
	static const char *const names[] = { "names", "addresses", "all" };
	const char *hide = job->values->hide;

	job->options.level = PD_SCRUB_ADDRESSES;
	for (size_t i = 0; hide && i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(hide, names[i])) {
			job->options.level = (enum pd_scrub_level)i;
			return true;
		}
	}
	if (hide)
		complain("option --hide: '%s' is not one of names, addresses, all", hide);
	return !hide;
}

static bool parse_data(struct job *job)
{
	const struct {
		const char *name;
		bool *keep;
	} words[] = { { "raw", &job->options.keep_raw },
		      { "regs", &job->options.keep_regs },
		      { "stack", &job->options.keep_stack },
		      { "aux", &job->options.keep_aux } };
	const char *at = job->values->keep_data;

	while (at && *at) {
		size_t size = strcspn(at, ","), i = 0;

		while (i < 4 && (strlen(words[i].name) != size || strncmp(words[i].name, at, size) != 0))
			i++;
		if (i == 4) {
			complain("option --keep-data: '%.*s' is not one of raw, regs, stack, aux", (int)size, at);
			return false;
		}
		*words[i].keep = true;
		at += size + (at[size] == ',');
	}
	return true;
}

static bool add_pattern(struct job *job, const char *pattern)
{
	const char **more = realloc(job->keep, (job->keep_count + 1) * sizeof(*more));

	if (!more) {
		complain("out of memory");
		return false;
	}
	job->keep = more;
	if (!pd_scrub_knows_class(pattern)) {
		complain(
			"option --keep: '%.*s' is not one of dso, comm, symbol, host, argument, event, release, pmu, word, name",
			(int)strcspn(pattern, "="), pattern);
		return false;
	}
	job->keep[job->keep_count++] = pattern;
	return true;
}

static bool add_patterns_of(struct job *job, const char *path)
{
	size_t size;
	char *text;

	if (job->kept_files == sizeof(job->kept_lines) / sizeof(job->kept_lines[0])) {
		complain("option --keep-names: too many files");
		return false;
	}
	text = read_file(path, FILE_MAX, &size);
	if (!text)
		return false;
	job->kept_lines[job->kept_files++] = text;
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (*line && *line != '#' && !add_pattern(job, line))
			return false;
	}
	return true;
}

static bool parse_keep(struct job *job)
{
	for (size_t i = 0; i < job->values->keep.count; i++) {
		if (!add_pattern(job, job->values->keep.items[i]))
			return false;
	}
	for (size_t i = 0; i < job->values->keep_names.count; i++) {
		if (!add_patterns_of(job, job->values->keep_names.items[i]))
			return false;
	}
	job->options.keep = job->keep;
	job->options.keep_count = job->keep_count;
	return true;
}

static bool parse_key(struct job *job)
{
	const char *option = job->values->key;

	job->key = option ? find_key(option, &job->options.key_size) : random_key(&job->options.key_size);
	job->options.key = job->key;
	return job->key;
}

/* ---- the map ---- */

static void print_name(void *self, const char *class_name, struct pd_bytes from, struct pd_bytes to)
{
	struct job *job = self;
	struct pd_text *text = job->map.out->text;

	pd_text_printf(text, "%s\t", class_name);
	pd_text_escaped(text, (const char *)to.data, to.size);
	pd_text_add(text, "\t");
	pd_text_escaped(text, (const char *)from.data, from.size);
	pd_text_add(text, "\n");
	output_spill(job->map.out);
}

/* ---- anonymizing ---- */

static void show_progress(void *self, uint64_t done, uint64_t total)
{
	struct job *job = self;

	progress_show(&job->input.progress, done, total);
}

static int write_result(struct job *job, struct pd_scrub_result *result)
{
	struct pd_file *const inputs[] = { job->input.file };
	struct pd_error error;
	enum pd_status status;
	int code = target_open(&job->target, inputs, 1, false);

	if (code != CODE_FINE)
		return code;
	status = pd_scrub_write(job->scrub, job->target.writer, result, &error);
	progress_clear(&job->input.progress);
	return target_close(&job->target, code_with_error(status, &error));
}

static int write_with_map(struct job *job, struct pd_scrub_result *result)
{
	int code = CODE_FINE;

	if (job->values->map)
		code = outfile_open(&job->map, job->values->map, job->input.out, job->input.name);
	if (code != CODE_FINE)
		return code;
	code = write_result(job, result);
	return job->values->map ? outfile_close(&job->map, code) : code;
}

static int scrub_opened(struct job *job, struct pd_scrub_result *result)
{
	struct pd_error error;
	enum pd_status status;

	job->options.size = sizeof(job->options);
	job->options.name = job->values->map ? print_name : NULL;
	job->options.progress = show_progress;
	job->options.self = job;
	status = pd_scrub_new(job->input.file, &job->options, &job->scrub, &error);
	progress_clear(&job->input.progress);
	// the same problems come again
	if (job->options.level > PD_SCRUB_NAMES)
		input_again(&job->input);
	return status < 0 ? code_with_error(status, &error) : write_with_map(job, result);
}

static int scrub_input(struct job *job, const struct call *call)
{
	struct input_options input = job->values->input;
	struct pd_scrub_result result = { 0 };
	int code = target_take(&job->target, &job->values->target, PD_PACK_SAME);

	if (code != CODE_FINE)
		return code;
	if (job->values->json && !strcmp(job->target.path, "-")) {
		complain("--json and -o - both write to standard output");
		return CODE_USAGE;
	}
	if (job->values->map && !strcmp(job->target.path, job->values->map)) {
		complain("--map and --output both write to '%s'", job->values->map);
		return CODE_USAGE;
	}
	input.keep = job->options.level > PD_SCRUB_NAMES;
	input.verify = true;
	code = input_open(&job->input, &input, call, NULL, NULL);
	if (code != CODE_FINE)
		return code;
	code = input_close(&job->input, scrub_opened(job, &result));
	if (code != CODE_FINE && code != CODE_DAMAGED)
		return code;
	if (job->values->json)
		scrub_summary_json(job->scrub, job->options.level, !job->values->key, call->out->text);
	else if (!job->values->input.quiet)
		scrub_summary(job->scrub, &result, job->options.level, !job->values->key);
	return code;
}

/* ---- searching ---- */

static int verify(struct job *job, const struct call *call)
{
	size_t min = job->values->least.given ? (size_t)job->values->least.value : MIN_SEARCHED;
	struct pd_scrub_search *search;
	struct pd_error error;
	enum pd_status status;
	int code;

	if (call->word_count != 2 || min < MIN_SEARCHED) {
		complain(call->word_count != 2 ? "--verify requires two files: ORIGINAL and RESULT" :
						 "option --min-length: must be at least 4");
		return CODE_USAGE;
	}
	job->options.size = sizeof(job->options);
	status = pd_scrub_search_new(call->words[0], call->words[1], &job->options, min, &search, &error);
	if (status < 0)
		return code_with_error(status, &error);
	code = job->values->json ? scrub_finds_json(search, call->out->text) :
				   scrub_finds(search, min, call->out->text);
	pd_scrub_search_free(search);
	return code;
}

static int run_scrub(const struct call *call)
{
	struct job job = { .values = call->values };
	int code = CODE_USAGE;

	if (parse_level(&job) && parse_data(&job) && parse_keep(&job) && parse_key(&job)) {
		if (job.values->verify)
			code = verify(&job, call);
		else if (call->word_count > 1)
			complain("unexpected argument '%s' (only one FILE is accepted)", call->words[1]);
		else
			code = scrub_input(&job, call);
	}
	pd_scrub_free(job.scrub);
	for (size_t i = 0; i < job.kept_files; i++)
		free(job.kept_lines[i]);
	free(job.keep);
	free(job.key);
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
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 2,
	.run = run_scrub,
};
