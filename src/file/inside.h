/* SPDX-License-Identifier: MIT */
/* The inside of an opened file, which only this folder knows, and the steps of opening it, in their order. */
#ifndef PD_FILE_INSIDE_H
#define PD_FILE_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "file/file.h"

struct pd_feature_slot {
	bool present;
	bool loaded;
	_Atomic bool decoded;
	uint64_t offset;
	uint64_t size;
	struct pd_bytes bytes;
	size_t capacity; // of bytes that were joined
	const void *value;
};

struct pd_file {
	char *name;
	struct pd_header header;
	bool swap;
	struct pd_source main;
	struct pd_archive *archive;         // that main is a part of, or NULL
	struct pd_archive *symbols_archive; // inside of it, or NULL
	struct pd_source *extra;            // data.N of a directory
	struct pd_part *parts;
	size_t part_count;
	struct pd_arena arena;
	// events
	struct pd_event_full **events;
	size_t event_count, event_capacity;
	bool uniform;                   // all events have samples of the same form
	struct pd_u64_map ids;          // to one more than the index of the event
	uint64_t id_bytes;              // of all sections of ids so far
	struct pd_event_full **unnamed; // chains of events without a name
	size_t unnamed_capacity;
	uint64_t secret; // differs from run to run
	// features
	struct pd_feature_slot features[PD_FEATURE_LIMIT];
	uint64_t quirks;
	_Atomic enum pd_arch machine; // once it is known
	uint64_t pipe_known;          // pipe mode: metadata records before this offset have been taken
	bool pipe_started;            // a stream has begun to consume a source that cannot seek
	bool compressed;              // there are compressed records
	bool compression_reported;
	// limits and problems
	uint64_t memory_limit;
	uint64_t inflate_limit;
	const char *temp_dir;
	bool keep;    // what comes through a pipe, so that it can be read twice
	bool recover; // what the header says wrongly
	pd_problem_fn *problem;
	void *problem_self;
	uint64_t problem_counts[4];
	_Atomic bool stopped; // the problem function said so
	void *given;          // names that come with it, or NULL, see object/symbols/given.h
	void (*free_given)(void *given);
	pthread_mutex_t lock; // recursive: over problems, and features that are read when they are asked for
	int64_t modified;
};

// ---- steps of opening ----

enum {
	PD_PIPE_HEADER_SIZE = 16
};

// header.c: the header, up to where the sections are
enum pd_status pd_file_read_header(struct pd_file *file, struct pd_error *error);
// header.c: holds the data section against the size of the file, once that is known
void pd_file_check_data_section(struct pd_file *file);
// recover.c: what the header says wrongly, where pd_open_options.recover asks for it; each reports what it corrects
bool pd_file_recover_magic(struct pd_file *file);
uint64_t pd_file_recover_header_size(struct pd_file *file, uint64_t size);
void pd_file_recover_sections(struct pd_file *file);
// Whether this can be the header of a record: the type is known, and the size that of its smallest form or more.
static inline bool pd_is_record_head(const struct pd_record_head *head)
{
	const struct pd_layout *layout = pd_record_layout(head->type);

	return layout && head->size >= PD_RECORD_HEADER_SIZE + (size_t)layout->min_size;
}

// attrs.c: the events
enum pd_status pd_file_read_attrs(struct pd_file *file, struct pd_error *error);
// attrs.c: names of tracepoints in files from before EVENT_DESC
enum pd_status pd_file_read_event_types(struct pd_file *file, struct pd_error *error);
// parts.c: where records are; name is "data" in a directory, else empty
enum pd_status pd_file_add_main_part(struct pd_file *file, const char *name, struct pd_error *error);
// A directory of the system, or inside of the file's archive.
struct pd_folder {
	int fd;             // or -1
	const char *inside; // its name in the archive
};
enum pd_status pd_file_add_directory_parts(struct pd_file *file, const struct pd_folder *folder,
					   struct pd_error *error);

#endif
