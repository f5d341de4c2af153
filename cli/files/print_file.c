/* SPDX-License-Identifier: MIT */
/* Opening, printing, closing. */
#include "files/print_file.h"

int print_file(const struct call *call, const struct input_options *options, print_fn *print)
{
	struct input_options from = *options;
	struct pd_error error;
	enum pd_status status;
	struct input input;
	int code;

	from.keep = true; /* time order may need two passes */
	code = input_open(&input, &from, call, NULL, NULL);
	if (code != CODE_OK)
		return code;
	status = print(&input, call->values, &error);
	if (status == PD_ERROR_NO_SAMPLES)
		code = print_failure(CODE_NO_SAMPLES, "%s: %s", input.name, error.message);
	else if (status < 0 && status != PD_ERROR_OUTPUT)
		code = code_with_error(status, &error);
	return input_close(&input, code);
}
