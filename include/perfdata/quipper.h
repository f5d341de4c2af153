/* SPDX-License-Identifier: MIT */
/**
 * quipper.h - recordings as PerfDataProto, the protocol buffer of quipper (google/perf_data_converter), and back.
 *
 * All records that the proto has a message for are converted, in the order of the file, with events, build ids and what the
 * file says about the machine. Memory is flat in the number of records.
 *
 * Example:
 *
 *	const struct pd_quipper_options options = { .size = sizeof(options), .text = true };
 *	struct pd_quipper_result result;
 *
 *	pd_quipper_write(file, &options, text, &result, &error);
 */
#ifndef PERFDATA_QUIPPER_H
#define PERFDATA_QUIPPER_H

#include <perfdata/text.h>
#include <perfdata/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero is the default for each member; NULL means all defaults. */
struct pd_quipper_options {
	size_t size; /* sizeof(struct pd_quipper_options) */
	bool text;   /* as text instead of binary */
	bool remap; /* writing: addresses become those of a space without gaps, from 0, each mapping after the one before, and records are in the order of time; those in
		      * no mapping get the highest bit */
	/* Called now and then; false ends with PD_ERROR_STOPPED. May be NULL. */
	bool (*progress)(void *self, uint64_t done, uint64_t total);
	void *self; /* first argument of progress */
};

struct pd_quipper_result {
	uint64_t records;  /* converted */
	uint64_t samples;  /* of these */
	uint64_t left_out; /* records that the proto has no message for */
	uint64_t parts;    /* samples with registers, copied stacks or AUX traces, which it has no field for */
	uint64_t damaged;  /* records that cannot be decoded, or not be encoded */
	uint64_t features; /* header features that it has no field for */
	uint64_t unmapped; /* samples whose address is in no mapping, if addresses were replaced */
};

/** Writes a file as PerfDataProto into text, see pd_text_set_sink. Errors: those of pd_stream_next; PD_ERROR_MEMORY,
 * PD_ERROR_STOPPED, PD_ERROR_OUTPUT. */
PD_API enum pd_status pd_quipper_write(struct pd_file *file, const struct pd_quipper_options *options,
				       struct pd_text *text, struct pd_quipper_result *result_out,
				       struct pd_error *error);
/** Reads a PerfDataProto, binary or (options->text) as text, and writes its events, records and features with the writer,
 * which nothing may have been added to. pull is called until the end. Errors: those of pull and of the writer;
 * PD_ERROR_FORMAT, PD_ERROR_LIMIT, PD_ERROR_MEMORY. */
PD_API enum pd_status pd_quipper_read(pd_pull_fn *pull, void *pull_self, const char *name,
				      const struct pd_quipper_options *options, struct pd_writer *writer,
				      struct pd_quipper_result *result_out, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
