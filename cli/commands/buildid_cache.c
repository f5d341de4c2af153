/* SPDX-License-Identifier: MIT */
/*
 * perfdata buildid-cache: lists and changes perf's cache of objects, as perf buildid-cache does. The library does it
 * (perfdata/build_id_cache.h).
 */
#include "files/input.h"
#include "options/symbol_options.h"

#include <perfdata/build_id_cache.h>
#include <perfdata/objects.h>

struct values {
	struct option_tags actions; /* in the order given */
	const char *missing;
	bool list, purge_all, force, verbose, json;
};

static const struct option options[] = {
	OPTION("add", 'a', TAGGED, "FILE,...", actions, "add objects; [kernel.kallsyms] is the running kernel"),
	OPTION("remove", 'r', TAGGED, "FILE,...", actions, "remove the objects with the build IDs of these files"),
	OPTION("purge", 'p', TAGGED, "FILE,...", actions, "remove all objects that were added from these paths"),
	OPTION("update", 'u', TAGGED, "FILE,...", actions,
	       "replace what was added from these paths by what is there now"),
	FLAG("purge-all", 'P', purge_all, "remove all objects"),
	FLAG("list", 'l', list, "list build IDs and paths"),
	STRING("missing", 'M', "FILE", missing, "list the objects of a recording that are not in the cache"),
	FLAG("force", 'f', force, "read recordings of other users, too"),
	FLAG("verbose", 'v', verbose, "report each change"),
	GROUP(json_lines_option, json),
	{ 0 },
};

static void report_done(void *self, const char *path, const char *what, const struct pd_error *error)
{
	const struct values *values = self;

	if (!what)
		print_error("%s", error->message);
	else if (values->verbose)
		print_error("%s: %s", path, what);
}

static int purge_all(struct pd_build_id_cache *cache, const struct values *values)
{
	struct pd_error error;
	int code = code_with_error(pd_build_id_cache_clear(cache, &error), &error);

	if (code == CODE_OK && values->verbose)
		print_error("removed all objects");
	return code;
}

static int print_missing(struct pd_build_id_cache *cache, const struct values *values, const struct call *call)
{
	const struct input_options wanted = { .path = values->missing, .force = values->force, .keep = true };
	const struct pd_objects_options read = { .size = sizeof(read) };
	struct pd_objects *objects;
	struct pd_error error;
	struct input input;
	enum pd_status status;
	int code = input_open(&input, &wanted, call, NULL, NULL);

	if (code != CODE_OK)
		return code;
	status = pd_objects_read(input.file, &read, &objects, &error);
	if (status < 0)
		return input_close(&input, code_with_error(status, &error));
	pd_objects_keep_missing(objects, cache);
	if (values->json)
		pd_json_objects(call->out->text, objects);
	else
		pd_print_objects(call->out->text, objects, call->out->terminal);
	pd_objects_free(objects);
	return input_close(&input, CODE_OK);
}

static int change(struct pd_build_id_cache *cache, const struct values *values)
{
	int code = values->purge_all ? purge_all(cache, values) : CODE_OK;

	for (size_t i = 0; i < values->actions.count; i++) {
		const struct option_tag *tag = &values->actions.items[i];
		int own = code_of(
			pd_build_id_cache_change(cache, tag->name, tag->value, report_done, (void *)values, NULL));

		code = code != CODE_OK ? code : own;
	}
	return code;
}

static int print(struct pd_build_id_cache *cache, const struct values *values, const struct call *call)
{
	if (values->missing)
		return print_missing(cache, values, call);
	if (values->list && values->json)
		pd_json_build_id_cache(call->out->text, cache);
	else if (values->list)
		pd_print_build_id_cache(call->out->text, cache, call->out->terminal);
	return CODE_OK;
}

static int run_buildid_cache(const struct call *call)
{
	const struct values *values = call->values;
	char path[BUILD_ID_DIRECTORY_SIZE];
	const char *directory = build_id_directory(path);
	struct pd_build_id_cache *cache;
	struct pd_error error;
	enum pd_status status;
	int code, shown;

	if (!values->actions.count && !values->missing && !values->list && !values->purge_all)
		return print_failure(
			CODE_USAGE,
			"nothing to do; give --add, --remove, --purge, --update, --purge-all, --missing or --list");
	if (!directory)
		return print_failure(CODE_USAGE,
				     "no cache: HOME is not set; use perfdata --buildid-dir DIR buildid-cache");
	status = pd_build_id_cache_open(directory, &cache, &error);
	if (status < 0)
		return code_with_error(status, &error);
	code = change(cache, values);
	shown = print(cache, values, call);
	pd_build_id_cache_close(cache);
	return code != CODE_OK ? code : shown;
}

const struct command cmd_buildid_cache = {
	.usage = "[-a FILE] [-r FILE] [-p FILE] [-u FILE] [-P] [-l] [-M FILE]",
	.text = "List and change perf's cache of objects by build ID, which perf and perfdata use to find the objects of a "
		"recording after they were rebuilt or removed.\n"
		"\n"
		"The cache is ~/.debug, or the directory of perfdata --buildid-dir DIR buildid-cache, of the environment variable "
		"PERF_BUILDID_DIR, or of the key buildid.dir in ~/.perfconfig. With one of these three, perfdata record adds the "
		"objects of each recording.",
	OPTIONS(options),
	EXAMPLES({ "perfdata buildid-cache -a ./server", "keep a copy, as the next build overwrites it" },
		 { "perfdata buildid-cache -l", "list what is kept" },
		 { "perfdata buildid-cache -M perf.data", "list which objects of a recording are not kept" }),
	.run = run_buildid_cache,
};
