/* SPDX-License-Identifier: MIT */
/**
 * writer.h - writes perf.data files, pipes and directories, optionally compressed, in either endianness.
 *
 * There are two ways to use a writer, which can be combined. To create a file, add events, features, and records as
 * structs. To modify a file, copy its metadata (pd_writer_copy_metadata) and pass on the records of its
 * stream (pd_writer_pass): unknown data are copied byte for byte, and events and features are converted between
 * records (pipe) and sections (file).
 *
 * A file or directory is written under a temporary name next to its path and renamed in pd_writer_finish: an existing
 * file remains unchanged until the new one is complete. Symbolic links are followed. A signal caught during
 * pd_writer_finish does not undo it. The header is updated periodically, so that the file left behind by a killed
 * program can be opened, with all but the last records.
 *
 * The first error is sticky: every later call returns it, including pd_writer_finish.
 *
 * Example:
 *
 *	const struct pd_writer_options form = { .size = sizeof(form), .inputs = &file, .input_count = 1 };
 *
 *	if (pd_writer_open("new.data", &form, &writer, &error) == PD_OK) {
 *		pd_writer_copy_metadata(writer, file, &error);
 *		while (pd_stream_next(stream, &record, &error) == PD_OK)
 *			pd_writer_pass(writer, stream, record, &error);
 *		pd_writer_finish(writer, &error);
 *	}
 */
#ifndef PERFDATA_WRITER_H
#define PERFDATA_WRITER_H

#include <perfdata/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pd_writer;

enum pd_endian {
	PD_ENDIAN_SAME, /* that of the first input, without inputs that of the host */
	PD_ENDIAN_LITTLE,
	PD_ENDIAN_BIG
};

enum pd_packing {
	/* Compressed records are copied unchanged and the records inside are skipped, if the output format allows;
	 * else they are recompressed. Only for streams in file order that are passed completely. */
	PD_PACK_KEEP,
	PD_PACK_SAME, /* recompressed if the first input is compressed */
	PD_PACK_NONE, /* not compressed */
	PD_PACK_ZSTD, /* COMPRESSED records, for perf 5.2 and later */
	PD_PACK_ZSTD2 /* COMPRESSED2 records, which are aligned, for perf 6.16 and later */
};

/** A program that reads perf.data files, and what it takes. Constant; see table/reader.def. */
struct pd_consumer {
	const char *name; /* "perf-6.1" */
	const char *doc;
	uint32_t attr_size;      /* bytes of an attr, at most */
	uint32_t attr_flag_bits; /* flags of an attr that it knows, from the first one */
	uint32_t sample_type_bits;
	uint32_t last_record;      /* of the kernel: types up to this one */
	uint32_t last_tool_record; /* of perf: types from 64 up to this one */
	uint32_t last_feature;
	enum pd_packing packing; /* PD_PACK_NONE, PD_PACK_ZSTD, or PD_PACK_ZSTD2 (both) */
	bool directory, pipe;    /* forms that it reads beside files */
	bool both_orders;        /* big-endian ones too */
};
/** The index-th reader; NULL past the end. */
PD_API const struct pd_consumer *pd_consumer_at(size_t index);
/** The reader of that name, or NULL. */
PD_API const struct pd_consumer *pd_consumer_find(const char *name);

/** Zero is the default for each member; NULL means all defaults. */
struct pd_writer_options {
	size_t size; /* sizeof(struct pd_writer_options); 0 is PD_ERROR_ARGUMENT */
	enum pd_mode mode;
	enum pd_endian endian;
	enum pd_packing packing;
	int level;                     /* compression level; 0 means 1 */
	struct pd_file *const *inputs; /* files being read, which are never overwritten */
	size_t input_count;
	uint64_t save_bytes; /* update the header every N bytes; 0 means 8 MiB */
};

/** Receives the next bytes of the output. An error is an error of the writer. */
typedef enum pd_status pd_put_fn(void *self, const void *data, size_t size, struct pd_error *error);

/** Where a writer writes: to path, else to put, else to fd. Zero is the default for each member. */
struct pd_writer_place {
	size_t size;      /* sizeof(struct pd_writer_place); 0 is PD_ERROR_ARGUMENT */
	const char *path; /* final name of a file or directory; a FIFO or device is written directly */
	pd_put_fn *put;   /* a function, which gets the pipe form whatever options->mode is */
	void *self;       /* first argument of put */
	int fd; /* remains owned by the caller. The form of a file needs an empty one that can seek; no directory */
	const char *name; /* of put and fd, for messages; NULL: "output" */
};

/**
 * Creates a perf.data file, at a place. Errors: PD_ERROR_SYSTEM, PD_ERROR_MEMORY; PD_ERROR_ARGUMENT if it is an input, a
 * non-empty directory, or cannot seek in another mode than pipe mode; PD_ERROR_UNSUPPORTED if compression is not built in.
 */
PD_API enum pd_status pd_writer_open_at(const struct pd_writer_place *place, const struct pd_writer_options *options,
					struct pd_writer **writer_out, struct pd_error *error);
/** pd_writer_open_at a path. */
PD_API enum pd_status pd_writer_open(const char *path, const struct pd_writer_options *options,
				     struct pd_writer **writer_out, struct pd_error *error);
/** pd_writer_open_at a descriptor, and a function, as programs of version 0.1 call it. */
PD_API enum pd_status pd_writer_open_fd(int fd, const char *name, const struct pd_writer_options *options,
					struct pd_writer **writer_out, struct pd_error *error);
PD_API enum pd_status pd_writer_open_put(pd_put_fn *put, void *self, const char *name,
					 const struct pd_writer_options *options, struct pd_writer **writer_out,
					 struct pd_error *error);
/** Makes options for what the consumer reads: PD_ENDIAN_SAME, PD_PACK_KEEP and PD_PACK_SAME become what it takes.
 * PD_ERROR_ARGUMENT if it does not read the mode, byte order or compression that they ask for. */
PD_API enum pd_status pd_consumer_fit(const struct pd_consumer *consumer, struct pd_writer_options *options,
				      struct pd_error *error);
/** What the writer copies and passes from now on is for a consumer: attrs have at most the bytes that it knows,
 * and what it does not know (types of records, features, flags of events) is left out and reported to the problem
 * function of the file that is copied. Fields of samples stay, and are reported. The consumer must live as long
 * as the writer. To be called before pd_writer_copy_metadata. Errors: PD_ERROR_ARGUMENT if something was copied
 * already. */
PD_API enum pd_status pd_writer_write_for(struct pd_writer *writer, const struct pd_consumer *consumer,
					  struct pd_error *error);
/** Writes the rest, renames the output and frees the writer, also on failure: then the output is removed. */
PD_API enum pd_status pd_writer_finish(struct pd_writer *writer, struct pd_error *error);
/** Frees the writer and removes the output. */
PD_API void pd_writer_abort(struct pd_writer *writer);
/** Path of the file or directory that is written and gets its final name from pd_writer_finish, for programs that
 * remove it when a signal ends them; NULL if the output is written in place. Owned by the writer, valid as long. */
PD_API const char *pd_writer_unfinished(const struct pd_writer *writer);

/** Adds an event. Events are numbered from 0, for pd_writer_add. name (may be NULL) is stored in the feature
 * EVENT_DESC, unless that is set. An attr.size of 0 selects the smallest size that holds all values and that perf 4.1
 * supports. With several events, samples are identified by their ids: see IDENTIFIER in the manual of the format. */
PD_API enum pd_status pd_writer_add_event(struct pd_writer *writer, const struct pd_attr *attr, struct pd_u64s ids,
					  const char *name, struct pd_error *error);
/** Sets a feature to a struct of pd_feature_layout(feature); NULL removes it. In pipe mode, before the first record.
 * */
PD_API enum pd_status pd_writer_set_feature(struct pd_writer *writer, unsigned feature, const void *decoded,
					    struct pd_error *error);
/** Sets a feature to encoded bytes, in the endianness of the writer. */
PD_API enum pd_status pd_writer_set_feature_bytes(struct pd_writer *writer, unsigned feature, struct pd_bytes bytes,
						  struct pd_error *error);

/** Writes a record from a struct of pd_record_layout(type). event is the number of the event whose attr determines
 * the fields of a sample or trailer. Errors also: PD_ERROR_FORMAT if a value does not fit. */
PD_API enum pd_status pd_writer_add(struct pd_writer *writer, uint32_t type, uint16_t misc, const void *decoded,
				    size_t event, struct pd_error *error);
/** Writes bytes that follow the last record, which contains their total size (AUXTRACE). */
PD_API enum pd_status pd_writer_add_tail(struct pd_writer *writer, struct pd_bytes bytes, struct pd_error *error);

/** Callbacks that modify events and features while they are copied. Functions may be NULL, and may return an
 * error, which is an error of the writer. */
struct pd_changes {
	size_t size; /* sizeof(struct pd_changes) */
	void *self;  /* first argument of the functions */
	/* An event: *attr and *name (may be NULL) are copies that may be changed; name must remain valid until the
	 * next call or the end of the writer. Called again when a pipe has an event name. In a pipe, EVENT_UPDATE
	 * records after records of other kinds are not passed here, but are changed like any record. */
	enum pd_status (*event)(void *self, const struct pd_event *event, struct pd_attr *attr, const char **name,
				struct pd_error *error);
	/* A feature: *decoded_out is NULL, and may be set to a replacement, a struct of pd_feature_layout(feature),
	 * which must remain valid until the next call or the end of the writer; *keep is true, and may be set to
	 * false. */
	enum pd_status (*feature)(void *self, struct pd_file *file, unsigned feature, const void **decoded_out,
				  bool *keep, struct pd_error *error);
	/* An event id: returns its replacement. The caller has to change records with ids accordingly. */
	uint64_t (*id)(void *self, uint64_t id);
};
/** Sets the callbacks, before pd_writer_copy_metadata. */
PD_API enum pd_status pd_writer_change(struct pd_writer *writer, const struct pd_changes *changes,
				       struct pd_error *error);
/** Copies events and features of a file, and in pipe mode those among the passed records. At most one file;
 * before the first record. */
PD_API enum pd_status pd_writer_copy_metadata(struct pd_writer *writer, struct pd_file *file, struct pd_error *error);
/** Writes the current record of a stream and the bytes that follow it, in the endianness of the writer; what cannot
 * be converted is reported to the problem function of the file and copied unchanged. To pass the bytes that follow to
 * several writers, call pd_stream_tail first. */
PD_API enum pd_status pd_writer_pass(struct pd_writer *writer, struct pd_stream *stream, const struct pd_record *record,
				     struct pd_error *error);
/** Writes the current record with other contents: a struct of pd_record_layout(record->type), usually a modified copy
 * of the decoded record, and another misc. Position, event, tail and compression remain those of the record.
 * Errors also: PD_ERROR_FORMAT if a value does not fit, PD_ERROR_ARGUMENT for a record of unknown type. */
PD_API enum pd_status pd_writer_pass_changed(struct pd_writer *writer, struct pd_stream *stream,
					     const struct pd_record *record, uint16_t misc, const void *decoded,
					     struct pd_error *error);
/** Writes samples of the same event that follow the current record, as far as this is cheap, and skips them in the
 * stream (more may follow). Returns their number. For programs that pass all records. */
PD_API uint64_t pd_writer_pass_following(struct pd_writer *writer, struct pd_stream *stream);

/* ---- merging files: no metadata are copied, events are added, records are passed with these ---- */

/** Replacement of a number. */
struct pd_number_change {
	uint64_t from, to;
};

/** Relocation of the addresses [start, end): start becomes to. */
struct pd_address_change {
	uint64_t start, end, to;
};

/** How records of a file are changed to match the output. Zero members change nothing. It and all it points to must
 * remain valid and unchanged until the end of the writer. Lists are sorted by from and start. */
struct pd_join {
	size_t size; /* sizeof(struct pd_join) */
	/* For each event of the file its number in the output (see pd_writer_add_event). Records get the fields of
	 * that event, and its id if they had none. If a sample then exceeds the maximum record size, its stack copy
	 * is shortened by 8 bytes. */
	const size_t *events;
	size_t event_count;
	const struct pd_number_change *ids; /* of events */
	size_t id_count;
	const struct pd_number_change *tracepoints; /* attr.config of tracepoints, which is also in their raw data */
	size_t tracepoint_count;
	bool raw_big_endian;                       /* endianness of raw data */
	int64_t time_ns;                           /* added to times */
	uint32_t tasks;                            /* added to pids and tids, except 0 and -1 */
	const struct pd_address_change *addresses; /* of the kernel */
	size_t address_count;
	uint64_t untimed_ns; /* time for kernel records, except samples, without one; 0: none */
};

/** Writes the current record of a stream like pd_writer_pass, changed by the join. Pipe records of events and
 * features must not be passed. Errors also: PD_ERROR_FORMAT for a record that cannot be decoded: it is not written,
 * and the caller may continue. PD_ERROR_ARGUMENT for an event without a number. */
PD_API enum pd_status pd_writer_pass_joined(struct pd_writer *writer, struct pd_stream *stream,
					    const struct pd_record *record, const struct pd_join *join,
					    struct pd_error *error);
/** Copies a feature of a file, in the endianness of the writer. Build ids are added to the existing ones, which are
 * not changed: a conflicting build id is reported to the problem function of the file. Other features replace an
 * earlier one. In pipe mode, before the first record. */
PD_API enum pd_status pd_writer_join_feature(struct pd_writer *writer, struct pd_file *file, unsigned feature,
					     struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
