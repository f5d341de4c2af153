/* SPDX-License-Identifier: MIT */
/*
 * What the rest of the library uses of a writer, beside its public functions: what it keeps, records that are encoded already,
 * its output for files of other kinds. Its members are in inside.h.
 */
#ifndef PD_WRITE_WRITE_H
#define PD_WRITE_WRITE_H

#include <perfdata/writer.h>

#include "stream/read/stream.h"
#include "write/packer.h"

// ---- bytes that grow ----

struct pd_write_bytes {
	uint8_t *data;
	size_t size, capacity;
};

bool pd_write_put(struct pd_write_bytes *bytes, const void *data, size_t size);

// ---- output.c: bytes on their way to a descriptor ----

struct pd_output {
	const char *name; // for messages
	int fd;
	bool owns_fd;
	pd_put_fn *put; // in place of a descriptor, or NULL
	void *put_self;
	bool random;     // can be written anywhere
	uint64_t offset; // of buffer[0] in the file
	uint8_t *buffer;
	size_t used, capacity;
	// Where a saved header has its features, records wait in memory until the next header is saved.
	uint64_t hold_begin, hold_end;
	uint8_t *hold;
};

// The descriptor is closed by fini if it is owned.
enum pd_status pd_output_init(struct pd_output *out, int fd, bool owns_fd, const char *name, struct pd_error *error);
void pd_output_fini(struct pd_output *out);
enum pd_status pd_output_write_more(struct pd_output *out, const void *data, size_t size, struct pd_error *error);
enum pd_status pd_output_flush(struct pd_output *out, struct pd_error *error);
// Writes at once, at a place of its own; only if random.
enum pd_status pd_output_write_at(struct pd_output *out, uint64_t offset, const void *data, size_t size,
				  struct pd_error *error);
// From now on the bytes [begin, begin + size) are held back; those of the last time are written.
enum pd_status pd_output_hold(struct pd_output *out, uint64_t begin, size_t size, struct pd_error *error);

static inline uint64_t pd_output_end(const struct pd_output *out)
{
	return out->offset + out->used;
}

static inline enum pd_status pd_output_write(struct pd_output *out, const void *data, size_t size,
					     struct pd_error *error)
{
	if (PD_UNLIKELY(size > out->capacity - out->used))
		return pd_output_write_more(out, data, size, error);
	memcpy(out->buffer + out->used, data, size);
	out->used += size;
	return PD_OK;
}

enum {
	PD_PACK_PIECE = 512 << 10, // most bytes of records that are compressed at once
};

// ---- opening ----

// writer.c
// A writer that collects the metadata that are copied from a file, in its byte order, and has no output.
enum pd_status pd_writer_open_metadata(const struct pd_file *file, struct pd_writer **writer_out,
				       struct pd_error *error);
// A writer into a directory that is there, with its main file only; what is written keeps its names.
enum pd_status pd_writer_open_in(const char *path, const struct pd_writer_options *options,
				 struct pd_writer **writer_out, struct pd_error *error);
// Large pieces are compressed as frames of their own. quick: by quick.c in place of a level.
void pd_writer_pack_frames(struct pd_writer *writer, bool quick);
// Records in pieces are cut again from the whole, so that there is none without its end.
void pd_writer_rejoin(struct pd_writer *writer);

// files.c
// A further file of a directory. Its name is that of a file, in no other directory.
enum pd_status pd_writer_add_part(struct pd_writer *writer, const char *name, struct pd_error *error);
// The part of that name, which is added if there is none.
enum pd_status pd_writer_find_part(struct pd_writer *writer, const char *name, size_t *part_out,
				   struct pd_error *error);

// ---- what it is and keeps ----

// An event, encoded in the byte order of the writer.
struct pd_write_event {
	uint8_t *attr; // as stored
	size_t attr_size;
	uint64_t *ids;
	size_t id_count;
	char *name;   // for EVENT_DESC, or NULL
	char *update; // in pipes: for an EVENT_UPDATE, which perf wants there; or NULL
	uint64_t words[PD_WORD_COUNT];
};

enum pd_mode pd_writer_mode(const struct pd_writer *writer);
bool pd_writer_is_big(const struct pd_writer *writer);
// Whether records are compressed here.
bool pd_writer_compresses(const struct pd_writer *writer);
bool pd_writer_has_failed(const struct pd_writer *writer);
// Bytes of all parts so far.
uint64_t pd_writer_size(const struct pd_writer *writer);

size_t pd_writer_event_count(const struct pd_writer *writer);
// NULL if there are not so many. Valid until another event is added.
const struct pd_write_event *pd_writer_event(const struct pd_writer *writer, size_t index);
// Whether it has the feature, and its bytes.
bool pd_writer_has_feature(const struct pd_writer *writer, unsigned feature, struct pd_bytes *bytes_out);
// Entries of old files with names of tracepoints, PD_TYPE_ENTRY_SIZE bytes each.
struct pd_bytes pd_writer_event_types(const struct pd_writer *writer);
// Number of the feature that ends the list in a pipe, 0 if there was none.
uint64_t pd_writer_end_marker(const struct pd_writer *writer);

// metadata.c
enum {
	PD_TYPE_ENTRY_SIZE = 72
};
// Adds an entry of at most PD_TYPE_ENTRY_SIZE bytes, which is filled up with zeros.
enum pd_status pd_writer_add_event_type(struct pd_writer *writer, struct pd_bytes entry, struct pd_error *error);
void pd_writer_set_end_marker(struct pd_writer *writer, uint64_t feature);
// Bytes of a feature, in the scratch of the writer.
enum pd_status pd_writer_feature_bytes(struct pd_writer *writer, const struct pd_layout *layout, const void *decoded,
				       struct pd_bytes *bytes_out, struct pd_error *error);
// header.c
// Whether EVENT_DESC is there and is what the writer would make of its events if it were not.
bool pd_writer_makes_event_desc(struct pd_writer *writer);
// copy.c
// Takes events and features that the source has learned meanwhile.
enum pd_status pd_writer_learn(struct pd_writer *writer, struct pd_error *error);
// Of a writer without output, before the first record: takes what is known of the source, with the names of its events.
enum pd_status pd_writer_collect(struct pd_writer *writer, struct pd_error *error);
// pass.c
// A record of a pipe that an output has in another form, or at another place. True if that is all.
bool pd_writer_takes_pipe_record(struct pd_writer *writer, const struct pd_record *record, enum pd_status *status,
				 struct pd_error *error);
// Whether a record is the whole of the pieces that came right before it. To be asked of each record, in order.
bool pd_writer_is_whole(struct pd_writer *writer, const struct pd_record *record);

// ---- failures ----

// Keeps the first failure. Returns its status.
enum pd_status pd_writer_fail(struct pd_writer *writer, enum pd_status status, struct pd_error *error);
// The status for callers who read and write: a failure of the writer is PD_ERROR_OUTPUT, unless it is an argument.
static inline enum pd_status pd_writer_output_status(enum pd_status status, struct pd_error *error)
{
	if (status >= 0 || status == PD_ERROR_ARGUMENT)
		return status;
	if (error)
		error->status = PD_ERROR_OUTPUT;
	return PD_ERROR_OUTPUT;
}

// ---- records that are encoded ----

// size bytes of scratch memory, or NULL. Valid until the next call on the writer.
uint8_t *pd_write_scratch(struct pd_writer *writer, size_t size);

// header.c
// Writes what stands before records.
enum pd_status pd_writer_start(struct pd_writer *writer, struct pd_error *error);

// records.c
// Writes a record, and before the first one what stands before records.
enum pd_status pd_writer_put_encoded(struct pd_writer *writer, size_t part, uint32_t type, struct pd_bytes bytes,
				     struct pd_error *error);
// Writes whole records of the kernel to a part that is started, compressed if the writer compresses.
enum pd_status pd_writer_put_records(struct pd_writer *writer, size_t part, struct pd_bytes records,
				     struct pd_error *error);
// The same, as they are; what waits to be compressed goes first.
enum pd_status pd_writer_put_outside(struct pd_writer *writer, size_t part, const void *data, size_t size,
				     struct pd_error *error);
// Writes bytes that follow the last record.
enum pd_status pd_writer_put_tail(struct pd_writer *writer, size_t part, struct pd_bytes bytes, struct pd_error *error);
// Sets a feature; in a pipe whose records have begun, it is sent.
enum pd_status pd_writer_put_feature(struct pd_writer *writer, unsigned feature, struct pd_bytes bytes,
				     struct pd_error *error);

// writer.c
// Brings the output up to date: what waits is written; a file gets a header that says so.
enum pd_status pd_writer_flush(struct pd_writer *writer, struct pd_error *error);

#endif
