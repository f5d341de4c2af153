/* SPDX-License-Identifier: MIT */
/* Fills in the caller's struct pd_error. All take NULL and return the status, so that they can end a function. */
#ifndef PD_BASE_ERROR_H
#define PD_BASE_ERROR_H

#include <perfdata/base.h>

enum pd_status pd_fail(struct pd_error *error, enum pd_status status, uint64_t offset, const char *format, ...)
	PD_PRINTF(4, 5);
// With the text of os_errno after the message.
enum pd_status pd_fail_system(struct pd_error *error, int os_errno, const char *format, ...) PD_PRINTF(3, 4);
enum pd_status pd_fail_memory(struct pd_error *error);

#endif
