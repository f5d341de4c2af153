/* SPDX-License-Identifier: MIT */
/* Commands that print something of one file, for which the library has one function. */
#ifndef CLI_PRINT_FILE_H
#define CLI_PRINT_FILE_H

#include "files/input.h"

/* values are those of the call. */
typedef enum pd_status print_fn(struct input *input, const void *values, struct pd_error *error);

/* Opens the file of a call, prints from it and closes it; says what is wrong. */
int print_file(const struct call *call, const struct input_options *options, print_fn *print);

#endif
