/* SPDX-License-Identifier: MIT */
#include "import/import.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"

static const struct {
	struct pd_import_format about;
	pd_import_fn *run;
} formats[] = {
#define FORMAT(name, shown, doc) { { shown, doc }, pd_import_##name },
#include "import/formats.def"
};

bool pd_import_format(size_t index, struct pd_import_format *format_out)
{
	if (index >= sizeof(formats) / sizeof(formats[0]))
		return false;
	*format_out = formats[index].about;
	return true;
}

enum pd_status pd_import_run(const struct pd_import_options *options, struct pd_writer *writer,
			     struct pd_import_result *result_out, struct pd_error *error)
{
	struct pd_import_options all = { .size = 0 };
	struct pd_import_result result = { .records = 0 };
	enum pd_status status = PD_OK;
	size_t i = 0;

	memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	all.name = all.name ? all.name : "input";
	while (i < sizeof(formats) / sizeof(formats[0]) &&
	       (!all.format || strcmp(formats[i].about.name, all.format) != 0))
		i++;
	if (i == sizeof(formats) / sizeof(formats[0]))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "there is no format of this name");
	status = formats[i].run(&all, writer, &result, error);
	if (status >= 0 && !result.records && result.left_out)
		return pd_fail(error, PD_ERROR_NO_SAMPLES, PD_NO_OFFSET,
			       "%s: nothing to import: none of %" PRIu64 " lines or records is a sample", all.name,
			       result.left_out);
	if (status >= 0 && !result.records)
		return pd_fail(error, PD_ERROR_NO_SAMPLES, PD_NO_OFFSET, "%s: nothing to import", all.name);
	if (status >= 0 && result_out)
		*result_out = result;
	return status;
}
