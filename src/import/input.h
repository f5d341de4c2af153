/* SPDX-License-Identifier: MIT */
/* The input of an import, line by line, or as a whole. */
#ifndef PD_IMPORT_INPUT_H
#define PD_IMPORT_INPUT_H

#include <perfdata/import.h>

struct pd_input {
	pd_pull_fn *pull;
	void *pull_self;
	const char *name;
	struct pd_error *error;
	char *data;
	size_t at, size, capacity;
	bool ended;
	enum pd_status status;
	uint64_t number; // of the present line, from 1
};

void pd_input_init(struct pd_input *lines, const struct pd_import_options *options, struct pd_error *error);
void pd_input_fini(struct pd_input *lines);
// The next line without its end, valid until the next call. False at the end, or if lines->status is a failure.
bool pd_input_next(struct pd_input *lines, const char **line_out, size_t *size_out);
// Everything that is left. False if lines->status is a failure.
bool pd_input_rest(struct pd_input *lines, struct pd_bytes *bytes_out);
enum pd_status pd_input_wrong(struct pd_input *lines, const char *why);

#endif
