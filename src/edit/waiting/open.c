/* SPDX-License-Identifier: MIT */
// A recording of waiting to be read at once, in a temporary file that disappears when it is closed.
#include <unistd.h>

#include <perfdata/waiting.h>

#include "base/error.h"
#include "file/file.h"
#include "file/source.h"

static enum pd_status write_all(struct pd_file *file, int fd, const struct pd_waiting_options *options,
				struct pd_waiting_result *result_out, struct pd_error *error)
{
	const struct pd_writer_options form = { .size = sizeof(form), .inputs = &file, .input_count = 1 };
	const struct pd_writer_place place = { .size = sizeof(place), .fd = fd, .name = "waiting" };
	struct pd_writer *writer;
	enum pd_status status = pd_writer_open_at(&place, &form, &writer, error);

	if (status < 0)
		return status;
	status = pd_waiting_write(file, writer, options, result_out, error);
	if (status >= 0)
		return pd_writer_finish(writer, error);
	pd_writer_abort(writer);
	return status;
}

enum pd_status pd_waiting_open(struct pd_file *file, const struct pd_waiting_options *options,
			       const struct pd_open_options *open_options, struct pd_file **file_out,
			       struct pd_waiting_result *result_out, struct pd_error *error)
{
	int fd = pd_source_temporary("/tmp", error);
	enum pd_status status;

	if (fd < 0)
		return PD_ERROR_SYSTEM;
	status = write_all(file, fd, options, result_out, error);
	if (status >= 0 && lseek(fd, 0, SEEK_SET) == 0)
		return pd_file_open_owned(fd, open_options, file_out, error);
	close(fd);
	return status;
}
