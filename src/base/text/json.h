/* SPDX-License-Identifier: MIT */
/* The JSON writer, which is public. */
#ifndef PD_BASE_JSON_H
#define PD_BASE_JSON_H

#include <perfdata/json.h>

#endif
