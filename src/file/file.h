/* SPDX-License-Identifier: MIT */
/* What an opened file is for the library: sources, events with the places of id and time, features, problems. */
#ifndef PD_FILE_FILE_H
#define PD_FILE_FILE_H

#include <perfdata/file.h>

#include "base/memory.h"
#include "base/lookup/u64_map.h"
#include "file/source.h"
#include "format/layout.h"
#include "format/record.h"

struct pd_archive;

#define PD_FIELD_MISSING 0xff
#define PD_NO_WORD 0x0fffffffu // more than a sample can have

// In old pipes of ChromeOS the type of a record with a feature is this plus the number of the feature.
enum {
	PD_OLD_FEATURE_BASE = 66
};

// Where samples of an event keep what pd_record_brief wants: bytes from the start of the body, or PD_FIELD_MISSING.
struct pd_brief_places {
	uint8_t ip, addr, period, pid, tid, cpu;
	uint8_t callchain; // its count
	uint8_t size;      // bytes up to the callchain's first entry, or up to what has no fixed place
	bool sufficient;   // nothing that is wanted stands after something of variable size
	bool whole;        // a sample is these bytes, and the callchain if there is one
	bool raw_last;     // then come raw data, and nothing else
};

// An event and where its records keep id and time.
struct pd_event_full {
	struct pd_event event; // first: what the user sees
	uint64_t words[PD_WORD_COUNT];
	uint32_t sample_id; // u64 words from the start of a sample's body, or PD_NO_WORD
	uint32_t sample_time;
	uint8_t trailer_id; // u64 words from the end of other records, 1 is the last
	uint8_t trailer_time;
	uint8_t trailer_size; // bytes, 0 without sample_id_all
	struct pd_brief_places brief;
	bool named;                         // the file says the name
	struct pd_event_full *next_unnamed; // see pd_file_take_unnamed
	size_t id_capacity;
};

// Of events that count ns of a CPU or of a task.
static inline bool pd_attr_is_clock(const struct pd_attr *attr)
{
	return attr->type == PD_TYPE_SOFTWARE && (attr->config == PD_SW_CPU_CLOCK || attr->config == PD_SW_TASK_CLOCK);
}

struct pd_part {
	struct pd_source *source;
	char *name;
	uint64_t begin;
	uint64_t end; // UINT64_MAX if not known
};

// ---- what the library asks of a file; struct pd_file itself is known to this folder alone (inside.h) ----

enum pd_mode pd_file_mode(const struct pd_file *file);
bool pd_file_is_big(const struct pd_file *file);
// Whether numbers are in the other byte order than those of this machine. This never changes.
bool pd_file_is_swapped(const struct pd_file *file);
uint64_t pd_file_quirks(const struct pd_file *file);
void pd_file_add_quirks(struct pd_file *file, uint64_t quirks);
// Whether there are compressed records.
bool pd_file_has_compressed(const struct pd_file *file);
void pd_file_note_compressed(struct pd_file *file);
bool pd_file_has_feature(const struct pd_file *file, unsigned feature);
uint64_t pd_file_feature_offset(const struct pd_file *file, unsigned feature);
bool pd_file_has_ids(const struct pd_file *file);
// An event with the offsets of id and time; index is less than the number of events.
struct pd_event_full *pd_file_full_event(const struct pd_file *file, size_t index);
// The same for the first one, NULL if there is none.
struct pd_event_full *pd_file_first_event(const struct pd_file *file);
// Whether all events have samples of the same form.
bool pd_file_is_uniform(const struct pd_file *file);
// The file itself, or that with the header of a directory.
struct pd_source *pd_file_main_source(const struct pd_file *file);
const struct pd_part *pd_file_part(const struct pd_file *file, size_t part);
// The archive that the file is a part of, and the one with its symbols inside of that. Returns how many there are.
size_t pd_file_archives(const struct pd_file *file, struct pd_archive *archives_out[2]);
// What comes with a file that is made of something else than records, for those who know what it is (object/symbols/given.h). It is freed with
// the file.
void pd_file_give(struct pd_file *file, void *given, void (*free_given)(void *given));
void *pd_file_given(const struct pd_file *file); // or NULL
// A number that differs from run to run, for hashes.
uint64_t pd_file_secret(const struct pd_file *file);
// These never change.
uint64_t pd_file_memory_limit(const struct pd_file *file);
uint64_t pd_file_inflate_limit(const struct pd_file *file);
// For what lives as long as the file.
struct pd_arena *pd_file_arena(struct pd_file *file);

// A stream begins to read: a source that cannot seek has no other one.
void pd_file_start_pipe(struct pd_file *file);
bool pd_file_pipe_has_started(const struct pd_file *file);
// Whether nobody has taken the metadata record at an offset of the first part before; from now on it is taken.
bool pd_file_take_metadata(struct pd_file *file, uint64_t offset);

// What is known of a file by now, for a thread that reads while another one learns more. It must not outlive the file, and
// nothing is reported to it or added. NULL if there is no memory.
struct pd_file *pd_file_view_new(const struct pd_file *file);
void pd_file_view_free(struct pd_file *view);

enum pd_problem_id {
#define PROBLEM(NAME, code, severity, doc, advice) PD_PROBLEM_##NAME,
#include <perfdata/table/problem.def>
	PD_PROBLEM_COUNT
};

// Tells a problem. field may be NULL.
void pd_file_report(struct pd_file *file, enum pd_problem_id id, uint64_t offset, const char *field, const char *format,
		    ...) PD_PRINTF(5, 6);
// The same for the failure of a cursor over bytes that begin at offset. where: what they are, in front of the reason; may be "".
void pd_file_report_cursor(struct pd_file *file, enum pd_problem_id id, uint64_t offset, const char *where,
			   const struct pd_cursor *cursor);
// Becomes true when the problem function says so.
const _Atomic bool *pd_file_stop_flag(const struct pd_file *file);
// pd_file_open_fd with a descriptor that the file closes, also if it cannot be opened.
enum pd_status pd_file_open_owned(int fd, const struct pd_open_options *options, struct pd_file **file_out,
				  struct pd_error *error);

enum pd_status pd_file_stopped(struct pd_error *error);
// Tells once if the input was compressed as a whole and damaged.
void pd_file_report_compression(struct pd_file *file);

// Adds an event; attr is in the file's arena. ids are copied.
enum pd_status pd_file_add_event(struct pd_file *file, const struct pd_attr *attr, uint64_t attr_offset,
				 struct pd_u64s ids, struct pd_error *error);
enum pd_status pd_file_add_id(struct pd_file *file, size_t event, uint64_t id, struct pd_error *error);
struct pd_event_full *pd_file_find_event(const struct pd_file *file, uint64_t id);
// Takes an event without a name off the list of those; NULL if there is none of that type and config.
struct pd_event_full *pd_file_take_unnamed(struct pd_file *file, uint64_t type, uint64_t config);
// False if there is no memory.
bool pd_file_set_name(struct pd_file *file, struct pd_event_full *full, const char *name, size_t length);
// Names events that have none by EVENT_DESC, event types, tracing data, or their attr.
enum pd_status pd_file_name_events(struct pd_file *file, struct pd_error *error);

// Takes bytes of a feature that came in a record; they are copied.
enum pd_status pd_file_put_feature(struct pd_file *file, unsigned feature, uint64_t offset, struct pd_bytes bytes,
				   struct pd_error *error);

// Whether each counter of a group is of an event: perf looks for it. recover.c
bool pd_file_knows_counters(const struct pd_file *file, uint64_t read_format, const struct pd_counts *read);
// Whether EVENT_DESC has the events as they are known. recover.c
bool pd_file_describes_events(const struct pd_file *file, const struct pd_event_desc *desc);
// Where EVENT_DESC has other events, those that fit more of the records from a place on are taken. recover.c
enum pd_status pd_file_recover_events(struct pd_file *file, uint64_t from, struct pd_error *error);

// Reads the table of features after the data.
enum pd_status pd_file_read_features(struct pd_file *file, struct pd_error *error);

#endif
