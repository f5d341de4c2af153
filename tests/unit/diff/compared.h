/* SPDX-License-Identifier: MIT */
/* Recordings of threads with some samples each, and comparisons of them. */
#ifndef PD_TEST_COMPARED_H
#define PD_TEST_COMPARED_H

#include "recording.h"

static struct pd_error error;

/* A thread of a recording: its samples, which have a period of 1000 and are all at one address. */
struct thread {
	const char *comm;
	unsigned samples;
	unsigned address;
};

/* A recording of threads up to one without a name. NULL if it cannot be made. */
static inline struct pd_file *record_threads(const struct thread *threads)
{
	struct pd_text *text = pd_text_new();
	struct pd_file *file = NULL;
	unsigned time = 0;
	char *copy;

	pd_text_add(text, "header form: file, byte_order: little\n"
			  "event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 1000, "
			  "sample_type: IP|TID|TIME|PERIOD|IDENTIFIER, flags: sample_id_all}\n");
	for (unsigned i = 0; threads[i].comm; i++) {
		pd_text_printf(text, "COMM pid: %u, tid: %u, comm: \"%s\"\n", i + 5, i + 5, threads[i].comm);
		for (unsigned k = 0; k < threads[i].samples; k++)
			pd_text_printf(text,
				       "SAMPLE misc: user, identifier: 7, ip: %u, pid: %u, tid: %u, time_ns: %u, "
				       "period: 1000\n",
				       threads[i].address, i + 5, i + 5, ++time);
	}
	copy = strndup((const char *)pd_text_bytes(text).data, pd_text_bytes(text).size);
	if (copy)
		file = open_text(copy);
	free(copy);
	pd_text_free(text);
	return file;
}

static inline enum pd_status add_file(struct pd_diff *diff, size_t side, const char *name, struct pd_file *file,
				      const char *sort)
{
	struct pd_report_options options = { .size = sizeof(options), .sort = sort, .threads = 1 };
	struct pd_report *report = NULL;
	enum pd_status status;

	pd_diff_ask(diff, &options);
	status = pd_report_read(file, &options, NULL, &report, &error);
	if (status == PD_OK)
		status = pd_diff_add(diff, side, name, file, report, &error);
	pd_report_free(report);
	return status;
}

/* What a text has, as a string of the caller's; empty if there is no memory. */
static inline char *string_of(const struct pd_text *text)
{
	return strndup((const char *)pd_text_bytes(text).data, pd_text_bytes(text).size);
}

#endif
