/* SPDX-License-Identifier: MIT */
/*
 * What options of the recording commands are given; see "what users write" in perfdata/recorder.h. All say on stderr what is
 * wrong, with the name of the option, and return false then.
 */
#ifndef CLI_RECORD_VALUES_H
#define CLI_RECORD_VALUES_H

#include "front/cli.h"

#include <perfdata/recorder.h>

/* Whether the library could read the value. */
bool value_is(const char *option, enum pd_status status, const struct pd_error *error);
/* 1,2,3 as numbers, which the caller frees. */
bool value_numbers(const char *option, const char *text, uint32_t **numbers_out, size_t *count_out);
/* A name or a number. */
bool value_user(const char *option, const char *text, uint32_t *uid_out);
/* ax,bx ... as a mask; "" is all of this machine, "?" prints the names and returns false */
bool value_registers(const char *option, const char *text, uint64_t *mask_out);

#endif
