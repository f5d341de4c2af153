/* SPDX-License-Identifier: MIT */
// Memory accesses one by one.
#include "mem/pass.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/text/text.h"
#include "format/text/access.h"

struct raw {
	struct pd_mem_pass pass; // first
	struct pd_mem_options options;
	struct pd_text *text;
};

static void put_name(struct pd_text *text, const char *name)
{
	if (name)
		pd_text_escaped(text, name, strlen(name));
	else
		pd_text_add(text, "???");
}

// Modules of the kernel by their files.
static const char *object_name(const struct pd_dso *dso)
{
	const struct pd_object *object = dso ? dso->object : NULL;

	if (object && object->kind == PD_OBJECT_MODULE && object->path[0] == '/')
		return object->path;
	return dso ? dso->long_name : NULL;
}

static enum pd_status print_sample(struct pd_mem_pass *pass, const struct pd_mem_sample *sample, struct pd_error *error)
{
	const struct raw *raw = (const struct raw *)pass;
	const char *separator = raw->options.separator;
	struct pd_text *text = raw->text;
	struct pd_access_words page = { .length = 0 };

	if (raw->options.hide_unresolved && !sample->code.function)
		return PD_OK;
	pd_text_printf(text, "%d%s%d%s0x%" PRIx64 "%s0x%" PRIx64 "%s", (int32_t)sample->brief.pid, separator,
		       (int32_t)sample->brief.tid, separator, sample->brief.ip, separator, sample->sample->addr,
		       separator);
	if (raw->options.phys_addr)
		pd_text_printf(text, "0x%016" PRIx64 "%s", sample->sample->phys_addr, separator);
	if (raw->options.page_size) {
		pd_access_page_size(&page, sample->sample->data_page_size);
		pd_text_printf(text, "%s%s", page.text, separator);
	}
	pd_text_printf(text, "%" PRIu64 "%s0x%" PRIx64 "%s", sample->weight, separator, sample->data_src, separator);
	put_name(text, object_name(sample->code.dso));
	pd_text_add(text, ":");
	put_name(text, sample->code.function ? sample->code.function->name : NULL);
	pd_text_add(text, "\n");
	return pd_text_flush_or_fail(text, error);
}

enum pd_status pd_print_mem_samples(struct pd_text *text, struct pd_file *file, const struct pd_mem_options *options,
				    struct pd_error *error)
{
	struct raw raw = { .pass = { .file = file, .take = print_sample }, .text = text };
	enum pd_status status;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_mem_options.size is 0");
	if (options)
		memcpy(&raw.options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	if (!raw.options.separator)
		raw.options.separator = " ";
	raw.pass.open = raw.options.symbols;
	raw.pass.self = raw.options.self;
	pd_text_printf(text, "# PID, TID, IP, ADDR, %s%sLOCAL WEIGHT, DSRC, SYMBOL\n",
		       raw.options.phys_addr ? "PHYS ADDR, " : "", raw.options.page_size ? "DATA PAGE SIZE, " : "");
	status = pd_mem_pass_run(&raw.pass, error);
	pd_mem_pass_fini(&raw.pass);
	return status < 0 ? status : pd_text_flush_or_fail(text, error);
}
