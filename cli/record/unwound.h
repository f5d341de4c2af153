/* SPDX-License-Identifier: MIT */
/* A recording whose stacks are unwound while it is made, so that they never reach the disk. */
#ifndef CLI_RECORD_UNWOUND_H
#define CLI_RECORD_UNWOUND_H

#include "front/cli.h"

#include <perfdata/recorder.h>

/* Records until the end, in place of pd_recorder_run. The recorder was opened without an output; path (NULL: fd) and output are where
 * chains go. Reports what is incomplete, unless quiet. bytes_out: what was written. Returns the exit code; on failure it has been reported. */
int record_unwound(struct pd_recorder *recorder, const struct pd_recorder_options *options, bool quiet);

#endif
