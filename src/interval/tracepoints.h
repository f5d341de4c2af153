/* SPDX-License-Identifier: MIT */
/*
 * Samples of a few tracepoints that a table names, with the numbers in their raw data. Formats are looked up once for each event,
 * samples are not decoded: who counts pairs of events pays for nothing else.
 */
#ifndef PD_INTERVAL_TRACEPOINTS_H
#define PD_INTERVAL_TRACEPOINTS_H

#include <perfdata/trace.h>

#include "interval/raw.h"
#include "stream/order/pack.h"
#include "stream/read/stream.h"

enum {
	PD_TRACEPOINT_FIELDS = 6,
	PD_TRACEPOINT_UNWANTED = 255
};

struct pd_tracepoint {
	const char *name;                         // a '*' at its end: whatever begins so
	const char *fields[PD_TRACEPOINT_FIELDS]; // that it must have, up to NULL; '?' before one that it may lack
};

struct pd_tracepoint_sample {
	size_t which; // line of the table
	const struct pd_event *event;
	struct pd_raw_brief brief;
	struct pd_bytes raw;
	uint64_t values[PD_TRACEPOINT_FIELDS]; // 0 for what it lacks; signed fields are extended
};

struct pd_tracepoints {
	struct pd_file *file;
	struct pd_trace *trace;
	const struct pd_tracepoint *table;
	size_t table_count;
	struct pd_tracepoint_event *events; // by index
	size_t event_count, event_capacity;
	uint64_t found;      // lines of the table that events of the file are
	uint64_t unreadable; // samples without raw data, or with too little
};

enum pd_status pd_tracepoints_init(struct pd_tracepoints *tracepoints, struct pd_file *file,
				   const struct pd_tracepoint *table, size_t count, struct pd_error *error);
void pd_tracepoints_fini(struct pd_tracepoints *tracepoints);
// PD_OK: a sample of the table. PD_END: another record, or nothing that can be read. Errors: PD_ERROR_MEMORY; PD_ERROR_FORMAT if
// a format is missing or lacks a field.
enum pd_status pd_tracepoints_take(struct pd_tracepoints *tracepoints, const struct pd_record *record,
				   struct pd_tracepoint_sample *sample_out, struct pd_error *error);
// The same of a sample that is no record, see pd_order_sample_fn, and of an event that is known. What is PD_TRACEPOINT_UNWANTED of one
// that is not in the table. False: it is wanted as a record.
bool pd_tracepoints_take_sample(struct pd_tracepoints *tracepoints, const struct pd_event_full *event,
				struct pd_bytes bytes, uint64_t time_ns, struct pd_tracepoint_sample *sample_out);
// For samples that wait for their turn: adds the numbers of an event of the table to what is kept of them. False: samples are.
bool pd_tracepoints_pack(struct pd_tracepoints *tracepoints, const struct pd_event *event, struct pd_pack *pack);
// The numbers out of these words; of the sample they set nothing but which and event. Errors: PD_ERROR_MEMORY
enum pd_status pd_tracepoints_unpack(struct pd_tracepoints *tracepoints, const struct pd_event *event,
				     const uint64_t *words, struct pd_tracepoint_sample *sample_out,
				     struct pd_error *error);
// Whether an event of the file is in the table.
bool pd_tracepoints_wants(const struct pd_tracepoints *tracepoints, const struct pd_event *event);
// Whether an event of the table has a field, by its number there.
bool pd_tracepoints_has(const struct pd_tracepoints *tracepoints, const struct pd_event *event, unsigned field);
// Of a sample; those that end with their raw data, as is usual, are not decoded. False: it has none.
bool pd_sample_raw(const struct pd_record *record, struct pd_raw_brief *brief_out, struct pd_bytes *raw_out);
// Whether the file has an event of this name.
bool pd_file_has_tracepoint(struct pd_file *file, const char *name);
// The string of a field of the raw data, which need not end with a NUL; empty if there is none.
struct pd_bytes pd_tracepoint_string(struct pd_tracepoints *tracepoints, const struct pd_tracepoint_sample *sample,
				     const char *field);

#endif
