/* SPDX-License-Identifier: MIT */
/* PerfDataProto of quipper, see src/quipper. */
#include <perfdata/quipper.h>

#include "import/import.h"

static enum pd_status import(const struct pd_import_options *options, bool text, struct pd_writer *writer,
			     struct pd_import_result *result, struct pd_error *error)
{
	const struct pd_quipper_options how = { .size = sizeof(how), .text = text };
	struct pd_quipper_result done;
	enum pd_status status =
		pd_quipper_read(options->pull, options->self, options->name, &how, writer, &done, error);

	if (status >= 0)
		*result = (struct pd_import_result){ done.records, done.samples, done.left_out + done.features,
						     done.damaged };
	return status;
}

enum pd_status pd_import_quipper(const struct pd_import_options *options, struct pd_writer *writer,
				 struct pd_import_result *result, struct pd_error *error)
{
	return import(options, false, writer, result, error);
}

enum pd_status pd_import_quipper_text(const struct pd_import_options *options, struct pd_writer *writer,
				      struct pd_import_result *result, struct pd_error *error)
{
	return import(options, true, writer, result, error);
}
