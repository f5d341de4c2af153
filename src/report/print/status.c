/* SPDX-License-Identifier: MIT */
/* How calls that print a report end. */
#include "report/print/print.h"

#include "base/error.h"

enum pd_status pd_print_flush_large(struct pd_text *text)
{
	if (pd_text_flush_large(text))
		return PD_OK;
	return pd_text_failed(text) ? PD_ERROR_MEMORY : PD_ERROR_OUTPUT;
}

enum pd_status pd_print_end(enum pd_status status, const struct pd_text *text, struct pd_error *error)
{
	if (status == PD_ERROR_MEMORY || pd_text_failed(text))
		return pd_report_no_memory(error);
	if (status == PD_ERROR_OUTPUT)
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output cannot be written");
	return status;
}
