/* SPDX-License-Identifier: MIT */
/* The user's configuration, in the files of perf config: see perfdata/config.h. */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include <perfdata/config.h>

/* Reads the files; what is wrong in one is reported on stderr, and the rest of that file is ignored. NULL, which is reported,
 * without memory. */
struct pd_config *config_load(void);

#endif
