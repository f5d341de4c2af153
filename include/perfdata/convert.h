/* SPDX-License-Identifier: MIT */
/**
 * convert.h - copies a recording into another form: file, pipe or directory, compressed or not, in either endianness,
 * sorted by time.
 *
 * The form is that of the writer. With pd_writer_write_for it is one that an older or other program reads.
 *
 * Example:
 *
 *	const struct pd_writer_options form = { .size = sizeof(form), .mode = PD_MODE_PIPE, .inputs = &file, .input_count = 1 };
 *
 *	if (pd_writer_open_fd(fd, "pipe", &form, &writer, &error) == PD_OK) {
 *		pd_writer_copy_metadata(writer, file, &error);
 *		pd_convert(file, writer, NULL, &error);
 *		pd_writer_finish(writer, &error);
 *	}
 */
#ifndef PERFDATA_CONVERT_H
#define PERFDATA_CONVERT_H

#include <perfdata/file.h>
#include <perfdata/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero is the default for each member; NULL means all defaults. */
struct pd_convert_options {
	size_t size; /* sizeof(struct pd_convert_options); 0 is PD_ERROR_ARGUMENT */
	bool sort; /* by time. A pipe must have been opened with pd_open_options.keep, and the writer's packing must not
		      * be PD_PACK_KEEP. Rounds are written anew */
	/* Called periodically with bytes done and in total (0 if unknown). May be NULL. */
	void (*progress)(void *self, uint64_t done, uint64_t total);
	void *self; /* first argument of progress */
};

/** Copies all records of a file to a writer after pd_writer_copy_metadata. The caller finishes the writer, or aborts it after an
 * error. Errors: those of pd_stream_next; PD_ERROR_OUTPUT and PD_ERROR_ARGUMENT of the writer. Threads: one at a time for
 * the file and the writer. */
PD_API enum pd_status pd_convert(struct pd_file *file, struct pd_writer *writer,
				 const struct pd_convert_options *options, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
