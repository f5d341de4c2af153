/* SPDX-License-Identifier: MIT */
/* What all files of a comparison use. */
#include "diff/diff.h"

#include "base/error.h"

enum pd_status pd_diff_no_memory(struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_MEMORY, PD_NO_OFFSET, "out of memory");
}

size_t pd_diff_run_at(const struct pd_diff *diff, size_t side, size_t run)
{
	for (size_t i = 0; i < diff->run_count; i++)
		if (diff->runs[i].side == side && !run--)
			return i;
	return SIZE_MAX;
}
