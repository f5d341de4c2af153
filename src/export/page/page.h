/* SPDX-License-Identifier: MIT */
/*
 * The data of the page, as docs/page.md describes them: samples wait in a spool until all stacks are known, then everything is
 * written column by column.
 */
#ifndef PD_EXPORT_PAGE_PAGE_H
#define PD_EXPORT_PAGE_PAGE_H

#include <perfdata/interval.h>
#include <perfdata/json.h>

#include "export/export.h"
#include "export/feed/spool.h"
#include "flame/tree.h"

enum {
	PD_PAGE_VERSION = 3,
	PD_PAGE_PLACES = 10,               // bytes of the longest LEB128
	PD_PAGE_NS_SAMPLES = 1000000,      // with more, times are in microseconds
	PD_PAGE_ADDRESS_SAMPLES = 2000000, // with more, sampled addresses are left out
	PD_PAGE_MARKERS_MOST = 1000000,
	PD_PAGE_INTERVALS_MOST = 2000000
};

// ---- columns.c: numbers to blocks ----

struct pd_page_blocks {
	struct pd_text *blocks;                 // compressed, one after another
	struct pd_json columns;                 // where each one is
	struct pd_text *places[PD_PAGE_PLACES]; // the present column: first bytes of its numbers, second bytes, ...
};

enum pd_page_code {
	PD_PAGE_NUMBERS = 'u',
	PD_PAGE_WIDE = 'w',
	PD_PAGE_RISING = 't',
	PD_PAGE_STEPS = 'd',
	PD_PAGE_BYTES = 'b',
	PD_PAGE_STRINGS = 's',
	PD_PAGE_SAME = 'c'
};

struct pd_page_column {
	struct pd_page_blocks *blocks;
	const char *name;
	enum pd_page_code code;
	uint64_t count, first, last;
	bool differs;
};

bool pd_page_blocks_init(struct pd_page_blocks *blocks);
void pd_page_blocks_fini(struct pd_page_blocks *blocks);
bool pd_page_blocks_failed(const struct pd_page_blocks *blocks);
void pd_page_begin(struct pd_page_column *column, struct pd_page_blocks *blocks, const char *name,
		   enum pd_page_code code);
void pd_page_put(struct pd_page_column *column, uint64_t value);
void pd_page_put_string(struct pd_page_column *column, const char *text, size_t size);
void pd_page_end(struct pd_page_column *column);

// ---- rows.c: stacks as a tree of functions ----

struct pd_page_row {
	uint32_t parent; // or UINT32_MAX
	uint32_t function;
	bool inlined;
};

struct pd_page_rows {
	struct pd_page_row *items; // by first use, callers first
	size_t count, capacity;
	struct pd_index index;
	uint64_t seed;
	uint32_t *of_stack; // by stack
	uint32_t *rank;     // by row: its place depth first
	uint32_t *order;    // by place
};

// The number of a row; UINT32_MAX if there is no memory, or there are too many.
uint32_t pd_page_row(struct pd_page_rows *rows, const struct pd_page_row *row);
// After the last row, depth first: rank and order. False if there is no memory.
bool pd_page_rows_order(struct pd_page_rows *rows);
// The rows of all stacks. False if there is no memory, or there are too many.
bool pd_page_rows_init(struct pd_page_rows *rows, const struct pd_tables *tables);
void pd_page_rows_fini(struct pd_page_rows *rows);
void pd_page_put_rows(struct pd_page_blocks *blocks, const struct pd_page_rows *rows);

// ---- leaves.c: what samples end in ----

struct pd_page_leaf {
	uint32_t stack, ip; // of the tables
	uint64_t count;
};

struct pd_page_leaves {
	struct pd_page_leaf *items; // by first use
	size_t count, capacity;
	struct pd_u64_map of; // from stack and address: number and 1
	uint32_t *final;      // by number: its place in the column
	uint32_t *address_of; // by frame of the tables: number and 1
	uint32_t *addresses;  // frames
	size_t address_count;
	struct pd_page_leaf *merged; // stack is the row and 1, ip the address and 1
	uint32_t *merged_order;
	size_t merged_count;
};

// The number of a leaf; UINT32_MAX if there is no memory.
uint32_t pd_page_leaf(struct pd_page_leaves *leaves, uint32_t stack, uint32_t ip);
// False if there is no memory.
bool pd_page_leaves_finish(struct pd_page_leaves *leaves, const struct pd_page_rows *rows,
			   const struct pd_tables *tables, bool with_addresses);
void pd_page_leaves_fini(struct pd_page_leaves *leaves);
void pd_page_put_leaves(struct pd_page_blocks *blocks, const struct pd_page_leaves *leaves,
			const struct pd_tables *tables);

// ---- tasks.c: threads, whatever their names are ----

struct pd_page_task {
	uint32_t pid, tid;
};

struct pd_page_tasks {
	struct pd_page_task *items;
	size_t count, capacity;
	struct pd_u64_map of;
};

// ---- what an export keeps ----

enum pd_page_track {
	PD_PAGE_TIME,
	PD_PAGE_THREAD,
	PD_PAGE_CPU,
	PD_PAGE_WEIGHT,
	PD_PAGE_LEAF,
	PD_PAGE_CGROUP,
	PD_PAGE_RECORD,
	PD_PAGE_TRACKS
};

enum {
	PD_PAGE_CPUS_MOST = 65536 // more is a damaged number
};

// The cell of a CPU; 0: it is not known.
static inline uint32_t pd_page_cpu(uint32_t cpu)
{
	return cpu < PD_PAGE_CPUS_MOST ? cpu + 1 : 0;
}

struct pd_page_event {
	struct pd_spool_track tracks[PD_PAGE_TRACKS];
	uint64_t count, last_ns;
};

struct pd_page_markers {
	struct pd_spool_track time, kind, task, cpu, value;
	uint64_t count, cut;
	uint64_t last_ns;
};

struct pd_page_truth {
	uint64_t lost, lost_samples, throttled, truncated, unknown;
};

struct pd_page_interval {
	uint64_t begin_ns, length_ns;
	uint32_t pid, task; // task: the tid, until tasks are numbered
	uint32_t cpu, kind;
};

struct pd_page_intervals {
	struct pd_intervals *from; // NULL: the file has no context switches, or not all that it takes
	bool begun;
	struct pd_page_interval *items;
	size_t count, capacity;
	uint64_t cut;
};

struct pd_page {
	struct pd_spool spool;
	bool prepared;
	struct pd_page_event *events; // by event of the file
	size_t event_count;
	struct pd_page_leaves leaves;
	struct pd_page_tasks tasks;
	struct pd_page_markers markers;
	struct pd_page_truth truth;
	uint64_t *cgroups;
	size_t cgroup_count, cgroup_capacity;
	struct pd_u64_map cgroup_of;
	uint64_t base_ns; // the first time; UINT64_MAX: none
	uint64_t unit_ns;
	struct pd_page_intervals intervals;
	struct pd_doctor *doctor;
	struct pd_profile *profile; // of all samples, by address and call chain, until it is no more needed
	struct pd_page_blocks blocks;
	struct pd_page_rows rows;
};

// Makes what samples and markers are put in. False if there is no memory.
bool pd_page_prepare(struct pd_export *self);
// The number of a task; UINT32_MAX if there is no memory.
uint32_t pd_page_task(struct pd_export *self, uint32_t pid, uint32_t tid);
// Units since the beginning.
#define PD_PAGE_NUMBER_MOST ((UINT64_C(1) << 53) - 1) // that numbers of JavaScript hold
uint64_t pd_page_time(const struct pd_page *page, uint64_t time_ns);
void pd_page_put_tasks(struct pd_export *self);

// ---- samples.c ----

void pd_page_take_sample(struct pd_export *self, const struct pd_export_sample *sample);
void pd_page_put_samples(struct pd_export *self);

// ---- visits.c: what wants to see all of the file, whatever is exported ----

enum pd_status pd_page_first(struct pd_export *self, const struct pd_record *record, struct pd_error *error);
enum pd_status pd_page_every(struct pd_export *self, const struct pd_record *record, struct pd_error *error);
// After the last record: ends the doctor, and reads the profile. Errors stop the export.
void pd_page_end_visits(struct pd_export *self);
// What is said of code needs it no more.
void pd_page_end_profile(struct pd_page *page);
void pd_page_free_visits(struct pd_page *page);

// ---- markers.c, intervals.c ----

void pd_page_take_record(struct pd_export *self, const struct pd_record *record);
void pd_page_put_markers(struct pd_export *self);
// Every record of the file, in the order of time. Errors: PD_ERROR_MEMORY.
enum pd_status pd_page_take_interval(struct pd_export *self, const struct pd_record *record, struct pd_error *error);
void pd_page_put_intervals(struct pd_export *self);

// ---- code.c, findings.c, tables.c, header.c ----

// The code of functions with samples.
void pd_page_put_code(struct pd_export *self);
void pd_page_put_findings(struct pd_export *self, struct pd_json *json);

void pd_page_put_tables(struct pd_export *self);
// Writes everything.
void pd_page_put_header(struct pd_export *self);

// ---- what other data of the page have, too ----

enum pd_page_kind {
#define KIND(NAME, name, code) PD_PAGE_KIND_##NAME,
#include "export/page/function_kind.def"
};

// What sort of code a function is, by what flame graphs call it and by the name and path of its object.
enum pd_page_kind pd_page_kind(enum frame_kind kind, const char *name, const char *object, const char *path);
void pd_page_put_strings(struct pd_page_blocks *blocks, const struct pd_tables *tables);
// Members of the header: which format, the kinds of functions, and amounts, as strings of digits: JSON has no exact number above 2^53.
void pd_page_put_format(struct pd_json *json);
void pd_page_put_kinds(struct pd_json *json);
void pd_page_put_amount(struct pd_json *json, const char *name, uint64_t value);
// Ends the header, which lacks its columns, and writes it and the blocks. Nothing is written if there is no memory: false.
bool pd_page_put_container(struct pd_text *text, struct pd_json *header, const struct pd_page_blocks *blocks);

#endif
