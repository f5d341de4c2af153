/* SPDX-License-Identifier: MIT */
/* perfdata buildid-list: the objects of a file with their build ids, as perf buildid-list prints them. */
#include "files/input.h"

#include <perfdata/objects.h>

struct values {
	struct input_options input;
	bool hits;
	bool kernel;
	bool kernel_maps;
	bool json;
};

static const struct option options[] = {
	GROUP(input_group, input),
	FLAG("with-hits", 'H', hits, "list only objects with samples"),
	FLAG("kernel", 'k', kernel, "print the build id of the running kernel"),
	FLAG("kernel-maps", 'm', kernel_maps, "print build ids and addresses of the running kernel and its modules"),
	GROUP(json_lines_option, json),
	{ 0 },
};

static int list_file(struct input *input)
{
	const struct values *values = input->call->values;
	const struct pd_objects_options options = { .size = sizeof(options),
						    .only_hits = values->hits,
						    .progress = input_progress_step,
						    .again = input_pass_end,
						    .self = input };
	struct pd_objects *objects;
	struct pd_error error;
	enum pd_status status = pd_objects_read(input->file, &options, &objects, &error);
	int code = CODE_OK;

	if (status < 0) {
		progress_clear(&input->progress);
		return code_with_error(status, &error);
	}
	if (!pd_objects_at(objects, 0)) {
		print_error("%s: no objects in the file", input->name);
		code = CODE_NOTHING;
	}
	if (values->json)
		pd_json_objects(input->out->text, objects);
	else
		pd_print_objects(input->out->text, objects, input->out->terminal);
	pd_objects_free(objects);
	return code;
}

static void print_id(struct pd_text *text, const struct pd_build_id *id)
{
	for (size_t i = 0; i < id->size; i++)
		pd_text_printf(text, "%02x", id->bytes[i]);
	pd_text_add(text, "\n");
}

static int print_elf(const struct call *call, const char *path)
{
	struct pd_build_id id = pd_elf_build_id(path);

	if (!id.size)
		return print_failure(CODE_NOTHING, "%s: an ELF file without a build id", path);
	print_id(call->out->text, &id);
	return CODE_OK;
}

static int run_buildid_list(const struct call *call)
{
	const struct values *values = call->values;
	struct input_options wanted = values->input;
	struct pd_error error;
	struct input input;
	const char *path = values->input.path ? values->input.path : call->word_count ? call->words[0] : NULL;

	if (values->kernel)
		return code_with_error(pd_print_running_kernel(call->out->text, &error), &error);
	if (values->kernel_maps)
		return code_with_error(pd_print_running_modules(call->out->text, &error), &error);
	if (path && pd_is_elf(path))
		return print_elf(call, path);
	wanted.keep = true;
	return input_run(&input, &wanted, call, list_file);
}

const struct command cmd_buildid_list = {
	.usage = "[-H] [OPTION]... [FILE] | -k | -m",
	.text = "List the objects of FILE with their build ids, byte for byte as perf buildid-list (6.1). Without -H, the "
		"list in the header is printed; if there is none, as in a pipe, the objects with samples.\n"
		"\n"
		"Strings of the file are printed unchanged, except that control characters are escaped on a "
		"terminal. FILE may also be an ELF file; then its build id is printed.\n"
		"\n"
		"With --json each line is an object: build_id (or null), name, machine (host, guest, or the pid of "
		"a guest), and hit if only hits are listed.",
	OPTIONS(options),
	EXAMPLES({ "perfdata buildid-list -i perf.data", "list the build ids in the header" },
		 { "perfdata buildid-list -H perf.data", "list only objects with samples" },
		 { "perfdata buildid-list -i /bin/ls", "print the build id of a program" }),
	.max_words = 1,
	.run = run_buildid_list,
};
