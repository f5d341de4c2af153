/* SPDX-License-Identifier: MIT */
/* Where a changed recording goes, and in what form. */
#include "files/target.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/unfinished.h"

#undef VALUES
#define VALUES struct target_options

static const struct option lines[] = {
	STRING("output", 'o', "FILE", output, "output file; - is standard output"),
	CHOICE("to", 0, "FORM", form, "|file|pipe|dir",
	       "file (the default), pipe (the default for what cannot seek, and for -) or dir"),
	CHOICE("byte-order", 0, "ORDER", byte_order, "same|little|big", "little, big or same (the default)"),
	FLAG("compress", 'z', compress, "compress records, for perf 5.2 and later"),
	FLAG("compress2", 0, compress2, "compress into COMPRESSED2 records, for perf 6.16 and later"),
	NUMBER("level", 0, "N", level, "compression level, 1 (fast, the default) to 22 (small); implies --compress"),
	FLAG("no-compress", 0, no_compress, "write records uncompressed"),
	{ 0 },
};

const struct option_group target_group = { HEADING_OUTPUT, lines };

enum {
	MOST_LEVEL = 22
};

/* What is no file, and has no other form, is written in order. */
static enum pd_mode default_mode(const char *output)
{
	struct stat status;

	if (!strcmp(output, "-"))
		return PD_MODE_PIPE;
	return stat(output, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) ? PD_MODE_PIPE :
												      PD_MODE_FILE;
}

static bool choose_packing(const struct target_options *values, enum pd_packing packing,
			   struct pd_writer_options *wanted)
{
	bool compress = values->compress || values->compress2 || values->level.given;

	if (values->no_compress && compress)
		return print_error("--no-compress cannot be combined with other compression options");
	if (values->level.given && (!values->level.value || values->level.value > MOST_LEVEL))
		return print_error("option --level: %" PRIu64 " is not between 1 and %d", values->level.value,
				   MOST_LEVEL);
	wanted->level = (int)values->level.value;
	wanted->packing = packing;
	if (values->no_compress)
		wanted->packing = PD_PACK_NONE;
	else if (compress)
		wanted->packing = values->compress2 ? PD_PACK_ZSTD2 : PD_PACK_ZSTD;
	return true;
}

static bool choose_form(const struct target_options *values, const char *path, enum pd_packing packing,
			struct pd_writer_options *wanted)
{
	if (!path)
		return print_error("no output given; use -o FILE, or -o - for standard output");
	wanted->mode = values->form ? (enum pd_mode)(values->form - 1) : default_mode(path);
	wanted->endian = values->byte_order;
	return choose_packing(values, packing, wanted);
}

static bool is_standard(const char *path)
{
	return !strcmp(path, "-");
}

int target_take_path(struct target *target, const struct target_options *options, const char *path,
		     enum pd_packing packing)
{
	*target = (struct target){ .wanted.size = sizeof(target->wanted), .path = path };
	if (!choose_form(options, path, packing, &target->wanted))
		return CODE_USAGE;
	if (is_standard(path) && isatty(STDOUT_FILENO))
		return print_failure(CODE_USAGE, "refusing to write binary data to a terminal; use -o FILE");
	return CODE_OK;
}

int target_take(struct target *target, const struct target_options *options, enum pd_packing packing)
{
	return target_take_path(target, options, options->output, packing);
}

int target_failed(const struct target *target, enum pd_status status, const struct pd_error *error)
{
	(void)target;
	print_error("%s", error->message);
	return status == PD_ERROR_ARGUMENT ? CODE_USAGE : CODE_OUTPUT;
}

/* What comes once is lost with what was made of it. */
static bool comes_once(struct pd_file *file)
{
	const struct pd_header *header = pd_file_header(file);

	return !header->file_size || header->compression || !strcmp(pd_file_name(file), "standard input");
}

enum pd_status target_open_writer(struct target *target, struct pd_error *error)
{
	const struct pd_writer_place place = { .size = sizeof(place),
					       .path = is_standard(target->path) ? NULL : target->path,
					       .fd = STDOUT_FILENO,
					       .name = "standard output" };
	enum pd_status status;

	unfinished_begin();
	status = pd_writer_open_at(&place, &target->wanted, &target->writer, error);
	if (status >= 0 && !target->comes_once && pd_writer_unfinished(target->writer))
		target->unfinished = unfinished_add(pd_writer_unfinished(target->writer), UNFINISHED_TREE);
	unfinished_end();
	return status;
}

int target_open(struct target *target, struct pd_file *const *inputs, size_t input_count, bool copy_metadata)
{
	struct pd_error error;
	enum pd_status status;

	target->wanted.inputs = inputs;
	target->wanted.input_count = input_count;
	for (size_t i = 0; i < input_count; i++)
		target->comes_once |= comes_once(inputs[i]);
	if (target->consumer && pd_consumer_fit(target->consumer, &target->wanted, &error) < 0)
		return print_failure(CODE_USAGE, "%s", error.message);
	status = target_open_writer(target, &error);
	if (status >= 0 && target->consumer)
		status = pd_writer_write_for(target->writer, target->consumer, &error);
	if (status >= 0 && copy_metadata)
		status = pd_writer_copy_metadata(target->writer, inputs[0], &error);
	if (status >= 0)
		return CODE_OK;
	target_close(target, CODE_OUTPUT);
	return target_failed(target, status, &error);
}

/* ---- the end ---- */

int target_close(struct target *target, int code)
{
	struct pd_error error;
	enum pd_status status;

	if (!target->writer)
		return code;
	if (code_is_usable(code)) {
		status = pd_writer_finish(target->writer, &error);
		if (status < 0)
			code = target_failed(target, status, &error);
	} else {
		pd_writer_abort(target->writer);
	}
	target->writer = NULL;
	unfinished_done(target->unfinished);
	target->unfinished = NULL;
	return code;
}
