/* SPDX-License-Identifier: MIT */
/*
 * The inside of a writer, which only this folder knows, from below: output.c puts bytes into a file, pack.c compresses records
 * on their way there, header.c knows what stands around records in each form, convert.c gives things the other byte order,
 * copy.c and pass.c take events, features and records of another file over, join.c those of several files.
 */
#ifndef PD_WRITE_INSIDE_H
#define PD_WRITE_INSIDE_H

#include "write/write.h"

enum {
	PD_FILE_HEADER_SIZE = 104,
	PD_MOST_PADDED = 65528,       // bytes of a record whose size is a multiple of 8
	PD_MOST_FEATURE = 65535 - 16, // bytes of a feature in a record
};

// ---- pack.c: compressed records, by quick.c or zstd ----

struct pd_pack {
	const struct pd_packer *packer;
	void *state;    // NULL until something was compressed
	uint8_t *plain; // whole records that wait
	size_t used, capacity;
	uint8_t *packed;
	size_t packed_capacity;
	bool in_frame; // what was cut into records ended inside a frame of zstd
	uint64_t plain_total, packed_total;
};

enum {
	// What readers are promised to have room for: a piece, after the begin of a record that the one before it ended in.
	PD_PACK_MMAP_LEN = PD_PACK_PIECE + (64 << 10)
};

// ---- the writer ----

struct pd_write_feature {
	bool present;
	uint8_t *data;
	size_t size;
	struct pd_file *from; // that it was joined from, or NULL
};

// A file with records: the main one, and data.N of a directory.
struct pd_write_part {
	struct pd_output out;
	struct pd_pack pack;
	char *name;
};

struct pd_cpu_split;

struct pd_writer {
	enum pd_mode mode;
	bool big;
	bool swap; // the order is not the one of this machine
	enum pd_packing packing;
	uint32_t pack_type; // of compressed records that are made here, or 0
	bool whole_frames;  // a large piece is compressed as a frame of its own
	bool quick;         // compressed by quick.c in place of a level
	int level;
	uint64_t save_bytes;
	// what is written, and what it will be called
	char *name;      // for messages
	char *path;      // NULL: a descriptor of the caller
	char *temporary; // NULL: path itself is written
	int dir_fd;      // of a directory that is being made, or -1
	struct pd_write_part *parts;
	size_t part_count;
	bool by_cpu;                    // records of the kernel go to a part of their CPU
	struct pd_cpu_split *cpu_split; // where to
	bool started;                   // the header is written
	bool header_dirty;              // events came after the header
	uint64_t data_offset;
	uint64_t attrs_offset, attrs_size, attr_entry_size;
	uint64_t types_offset;
	uint64_t saved_end; // end of the data as the header says
	// what surrounds records
	struct pd_write_event *events;
	size_t event_count, event_capacity;
	size_t events_sent; // in a pipe
	struct pd_write_feature features[PD_FEATURE_LIMIT];
	bool sent[PD_FEATURE_LIMIT];       // in a pipe
	struct pd_write_bytes event_types; // entries of PD_TYPE_ENTRY_SIZE
	struct pd_write_bytes aux_index;   // entries of 16 bytes
	uint64_t end_marker;               // number of the feature that ends the list in a pipe, 0 if there was none
	// what is copied
	struct pd_file *source;
	size_t source_events; // taken so far
	bool started_learning;
	bool source_features[PD_FEATURE_LIMIT]; // taken
	struct pd_write_bytes
		build_ids; // records from before the first one of another kind, as feature BUILD_ID has them
	bool repack;       // compressed records of the source cannot stay as they are
	bool rejoin;       // records in pieces are cut again from the whole, so that there is none without its end
	bool in_pieces;    // the next record that counts as inflated is a join of records that were passed
	struct pd_changes changes; // of what is copied
	// The record that is passed, if it has another content: decoded, and encoded in the order of the writer.
	const void *changed;
	struct pd_write_bytes changed_bytes;
	uint64_t reported_types; // problems reported, by low bits of the type
	uint64_t unturned_count,
		unturned_offset;          // samples of the source that the other byte order cannot have, and the first
	const struct pd_consumer *reader; // that the output is for, or NULL
	uint64_t reported_left_out;       // records that it does not know, the same way
	// scratch
	struct pd_arena arena;
	struct pd_write_bytes scratch;
	struct pd_error error; // the first failure
	enum pd_status status;
};

// Tells the first failure, which there was. Returns its status.
enum pd_status pd_writer_failed_before(const struct pd_writer *writer, struct pd_error *error);

// Numbers in the byte order of the writer.
bool pd_write_u32(struct pd_writer *writer, struct pd_write_bytes *bytes, uint32_t value);
bool pd_write_u64(struct pd_writer *writer, struct pd_write_bytes *bytes, uint64_t value);

// records.c
// Writes a record that is encoded, compressed if it may be.
enum pd_status pd_writer_put(struct pd_writer *writer, size_t part, uint32_t type, const void *data, size_t size,
			     struct pd_error *error);
// Notes that the next bytes are an AUXTRACE record.
enum pd_status pd_writer_note_aux(struct pd_writer *writer, size_t part, struct pd_error *error);

// pack.c
enum pd_status pd_pack_put(struct pd_writer *writer, struct pd_write_part *part, const void *data, size_t size,
			   struct pd_error *error);
enum pd_status pd_pack_flush(struct pd_writer *writer, struct pd_write_part *part, struct pd_error *error);
// The same if anything waits to be compressed.
enum pd_status pd_pack_flush_waiting(struct pd_writer *writer, struct pd_write_part *part, struct pd_error *error);
void pd_pack_fini(struct pd_pack *pack);

// files.c
// What path leads to, if it is a link to a file; else path itself. Allocated by malloc, or NULL.
char *pd_write_target(const char *path);
// Opens writer->path, or what is renamed to it.
enum pd_status pd_writer_open_path(struct pd_writer *writer, const struct pd_writer_options *options,
				   struct pd_error *error);
// Whether a descriptor can be written in the form of the writer.
enum pd_status pd_writer_check_descriptor(struct pd_writer *writer, int fd, const struct pd_writer_options *options,
					  struct pd_error *error);
// Adds a part to an open descriptor, which is closed on failure if it is owned.
enum pd_status pd_writer_add_output(struct pd_writer *writer, int fd, bool owns_fd, const char *name,
				    struct pd_error *error);
// Removes what was written.
void pd_writer_remove_files(struct pd_writer *writer);

// metadata.c
enum pd_status pd_writer_keep_event(struct pd_writer *writer, const struct pd_attr *attr, struct pd_u64s ids,
				    const char *name, struct pd_error *error);
enum pd_status pd_writer_keep_feature(struct pd_writer *writer, unsigned feature, struct pd_bytes bytes,
				      struct pd_error *error);
enum pd_status pd_writer_encode_feature(struct pd_writer *writer, unsigned feature, const void *decoded,
					struct pd_error *error);

// header.c
// In a pipe: writes events and features that were not sent so far.
enum pd_status pd_writer_send(struct pd_writer *writer, struct pd_error *error);
// Brings the header of a file up to date. At the end nothing is held back any more.
enum pd_status pd_writer_save(struct pd_writer *writer, bool last, struct pd_error *error);

// pipe.c
// Writes bytes to a pipe, after what waits to be compressed.
enum pd_status pd_writer_send_bytes(struct pd_writer *writer, const void *data, size_t size, struct pd_error *error);
enum pd_status pd_writer_send_record(struct pd_writer *writer, uint32_t type, uint16_t misc, struct pd_bytes body,
				     struct pd_error *error);
// Sends a feature, or a piece of it, that fits into a record of a pipe.
enum pd_status pd_writer_send_feature_bytes(struct pd_writer *writer, unsigned feature, struct pd_bytes bytes,
					    struct pd_error *error);
// Tells whoever reads the source what the output cannot have.
void pd_writer_report_too_large(struct pd_writer *writer, unsigned feature, size_t size);

// large.c: a feature that does not fit into a record of a pipe
enum pd_status pd_writer_send_large(struct pd_writer *writer, unsigned feature, struct pd_bytes bytes,
				    struct pd_error *error);

// sidecars.c: copies of the kernel next to the data of a directory
// Copies it, or reports that it cannot.
enum pd_status pd_writer_copy_sidecars(struct pd_writer *writer, struct pd_file *file, struct pd_error *error);
// Takes the copies away again.
void pd_writer_remove_sidecars(struct pd_writer *writer);

// convert.c: the other byte order. What is returned lives in the scratch of the writer, or is what was given.
enum pd_status pd_convert_record(struct pd_writer *writer, const struct pd_record *record, struct pd_bytes *bytes_out,
				 struct pd_error *error);
// Tells how many samples of the source were not converted.
void pd_convert_sum_up(const struct pd_writer *writer);
enum pd_status pd_convert_feature(struct pd_writer *writer, struct pd_file *file, unsigned feature,
				  struct pd_bytes bytes, struct pd_bytes *bytes_out, struct pd_error *error);

// pass.c
// Encodes a record with another content into changed_bytes. words are those of its event in the output, or NULL. A value
// that does not fit is PD_ERROR_FORMAT.
enum pd_status pd_writer_encode_changed(struct pd_writer *writer, const struct pd_record *record, uint16_t misc,
					const void *decoded, const uint64_t *words, struct pd_error *error);
// Writes the current record with changed_bytes in its place. changed is its content, or anything but NULL.
enum pd_status pd_writer_pass_instead(struct pd_writer *writer, struct pd_stream *stream,
				      const struct pd_record *record, const void *changed, struct pd_error *error);

// cpu_split.c: parts by CPU
// Whether records go to several parts, so that rounds say nothing.
bool pd_writer_splits_by_cpu(const struct pd_writer *writer);
// The part of a record of a file that is no directory.
enum pd_status pd_writer_split_by_cpu(struct pd_writer *writer, const struct pd_record *record, size_t *part_out,
				      struct pd_error *error);
void pd_cpu_split_free(struct pd_cpu_split *cpu_split);

// consumer.c
// Of a writer for no consumer everything is taken.
void pd_consumer_fit_attr(struct pd_writer *writer, struct pd_attr *attr);
void pd_consumer_cut_attr(struct pd_writer *writer, struct pd_write_event *event);
bool pd_consumer_takes_feature(struct pd_writer *writer, unsigned feature);
bool pd_consumer_takes_record(struct pd_writer *writer, const struct pd_record *record);

// copy.c
// Bytes of a feature of a file, in the byte order of the writer; in its scratch, or those of the file.
enum pd_status pd_writer_feature_of(struct pd_writer *writer, struct pd_file *file, unsigned feature,
				    struct pd_bytes *bytes_out, struct pd_error *error);
// Events as the output has them, so that their names are made anew and not copied.
static inline bool pd_writer_changes_events(const struct pd_writer *writer)
{
	return writer->changes.event || writer->reader;
}
// Takes a name that a pipe gives to an event in front of all records.
enum pd_status pd_writer_take_name(struct pd_writer *writer, uint64_t id, const char *name, struct pd_error *error);

#endif
