/* SPDX-License-Identifier: MIT */
/*
 * What one pass over all records tells of a file: counts, time, losses, compression, and what a
 * reader of the file will miss.
 */
#ifndef CLI_FACTS_H
#define CLI_FACTS_H

#include "front/input.h"
#include "stats.h"

struct facts {
	struct pd_file *file;
	struct stats stats;
	uint64_t first_ns, last_ns; /* of the samples, else of all records; PD_NO_TIME if unknown */
	bool times_of_samples;
	uint64_t lost_records;
	uint64_t lost_samples;
	uint64_t throttle_count;
	uint64_t compressed_bytes; /* inside of compressed records */
	uint64_t inflated_bytes;   /* what they held */
	uint64_t trace_bytes;      /* AUX data */
	bool maps_have_build_ids;
	bool has_tracing_record;
};

/* Reads all records. facts_fini is due either way. Returns CODE_FINE or CODE_UNREADABLE. */
int facts_gather(struct facts *facts, struct input *input);
void facts_fini(struct facts *facts);

/* The index-th thing that is missing, in words, or NULL past the end. */
const char *facts_missing(const struct facts *facts, size_t index);

/* Wall clock of a time of the file in ns since 1970, or PD_NO_TIME if the file does not say. */
uint64_t facts_wall_clock(const struct facts *facts, uint64_t time_ns);
/* Name of the clock of the times. */
const char *facts_clock(const struct facts *facts);

/* The index-th thing worth knowing about how an event was set up, or NULL past the end. */
const char *event_trait(const struct pd_event *event, size_t index);

#endif
