/* SPDX-License-Identifier: MIT */
/**
 * writer.h - writes a perf.data: a file, a pipe or a directory, plain or compressed, in either byte order.
 *
 * There are two ways to fill one, and they can be mixed. Who makes a perf.data adds events, records as structs
 * and features. Who changes one says which file is carried over (pd_writer_carry) and passes the records of its
 * stream that are to stay (pd_writer_pass): what this version does not know goes along byte for byte, and what the
 * form of the output keeps elsewhere is moved there: events and features are records in a pipe and sections in a file.
 *
 * A file or directory is written beside its name and takes the name in pd_writer_finish: what stood there before stays
 * as it is until the new one is whole. A link to a file stays, and the file gets another content. A signal that is caught
 * while pd_writer_finish runs is too late: what was written is whole, and takes the name. While it is written its header
 * is brought up to date now and then, so that what a killed program leaves behind opens with all but its last moments.
 *
 * The first failure stays: every later call returns it, pd_writer_finish too.
 */
#ifndef PERFDATA_WRITER_H
#define PERFDATA_WRITER_H

#include <perfdata/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pd_writer;

enum pd_endian {
	PD_ENDIAN_SAME,   /* that of the first input, without inputs that of this machine */
	PD_ENDIAN_LITTLE,
	PD_ENDIAN_BIG
};

enum pd_packing {
	/* Compressed records are passed as they are and what they hold is left out, where the output can have them so; else
	 * it is compressed anew. Only for streams in the order of the file that are passed whole. */
	PD_PACK_KEEP,
	PD_PACK_SAME,  /* compressed anew if the first input is compressed */
	PD_PACK_NONE,  /* nothing is compressed */
	PD_PACK_ZSTD,  /* COMPRESSED records, for perf 5.2 and later */
	PD_PACK_ZSTD2  /* COMPRESSED2 records, which keep all others aligned, for perf 6.16 and later */
};

/** A program that reads perf.data files, and what it takes. Constant; see table/reader.def. */
struct pd_consumer {
	const char *name;        /* "perf-6.1" */
	const char *doc;
	uint32_t attr_size;      /* bytes of an attr, at most */
	uint32_t attr_flag_bits; /* flags of an attr that it knows, from the first one */
	uint32_t sample_type_bits;
	uint32_t last_record;      /* of the kernel: types up to this one */
	uint32_t last_tool_record; /* of perf: types from 64 up to this one */
	uint32_t last_feature;
	enum pd_packing packing;   /* PD_PACK_NONE, PD_PACK_ZSTD, or PD_PACK_ZSTD2 (both) */
	bool directory, pipe;      /* forms that it reads beside files */
	bool both_orders;          /* big-endian ones too */
};
/** The index-th reader; NULL past the end. */
PD_API const struct pd_consumer *pd_consumer_at(size_t index);
/** The reader of that name, or NULL. */
PD_API const struct pd_consumer *pd_consumer_find(const char *name);

/** Zero is the default for each member; NULL means all defaults. */
struct pd_writer_options {
	size_t size;                    /* sizeof(struct pd_writer_options); 0 is PD_ERROR_ARGUMENT */
	enum pd_mode mode;
	enum pd_endian endian;
	enum pd_packing packing;
	int level;                      /* of compression; 0 means 1 */
	struct pd_file *const *inputs;  /* files that are read meanwhile: none of them is ever written to */
	size_t input_count;
	uint64_t save_bytes;            /* the header is brought up to date after so many; 0 means 8 MiB */
};

/**
 * Begins a perf.data. path names what pd_writer_finish makes; a FIFO or device is written as it is.
 * Errors: PD_ERROR_SYSTEM, PD_ERROR_MEMORY; PD_ERROR_ARGUMENT if path is an input, a directory that holds something, or
 * cannot seek and is not to have the form of a pipe; PD_ERROR_UNSUPPORTED if compression is not built in.
 */
PD_API enum pd_status pd_writer_open(const char *path, const struct pd_writer_options *options,
				     struct pd_writer **writer_out, struct pd_error *error);
/** The same to a descriptor, which the caller keeps and closes. name is for messages. A file needs one that can seek
 * and is empty; a directory is PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_writer_open_fd(int fd, const char *name, const struct pd_writer_options *options,
					struct pd_writer **writer_out, struct pd_error *error);
/** Makes options for what the consumer reads: PD_ENDIAN_SAME, PD_PACK_KEEP and PD_PACK_SAME become what it takes.
 * PD_ERROR_ARGUMENT if it does not read the mode, byte order or compression that they ask for. */
PD_API enum pd_status pd_consumer_fit(const struct pd_consumer *consumer, struct pd_writer_options *options,
				      struct pd_error *error);
/** What the writer carries over and passes from now on is for a consumer: attrs have at most the bytes that it knows, and
 * what it does not know (types of records, features, flags of events) is left out and reported to the problem function of
 * the file that is carried over. Fields of samples stay, and are reported. The consumer must live as long as the
 * writer. To be called before pd_writer_carry. Errors: PD_ERROR_ARGUMENT if something is carried over already. */
PD_API enum pd_status pd_writer_write_for(struct pd_writer *writer, const struct pd_consumer *consumer,
					  struct pd_error *error);
/** Takes the next bytes of what is written. A failure is one of the writer. */
typedef enum pd_status pd_put_fn(void *self, const void *data, size_t size, struct pd_error *error);
/** The same to a function, in the form of a pipe whatever options->mode is. name is for messages. */
PD_API enum pd_status pd_writer_open_put(pd_put_fn *put, void *self, const char *name,
					 const struct pd_writer_options *options, struct pd_writer **writer_out,
					 struct pd_error *error);
/** Writes what is left and gives the output its name. Takes the writer, also when it fails: then what was written is
 * taken away again. */
PD_API enum pd_status pd_writer_finish(struct pd_writer *writer, struct pd_error *error);
/** Takes the writer and what was written away. */
PD_API void pd_writer_abort(struct pd_writer *writer);
/** Path of the file or directory that is written and gets its final name from pd_writer_finish, for programs that remove
 * it when a signal ends them; NULL if the output is written in place. Owned by the writer, valid as long. */
PD_API const char *pd_writer_unfinished(const struct pd_writer *writer);

/** Adds an event. Its number, from 0 in the order of the calls, is that of pd_writer_add. name (may be NULL) goes into
 * the feature EVENT_DESC, unless that is set. An attr.size of 0 takes the smallest that holds all values and that
 * perf 4.1 knows. With several events, samples are told apart by their ids: see IDENTIFIER in the manual of the format. */
PD_API enum pd_status pd_writer_add_event(struct pd_writer *writer, const struct pd_attr *attr, struct pd_u64s ids,
					  const char *name, struct pd_error *error);
/** Sets a feature to a struct of pd_feature_layout(feature); NULL takes it out. In a pipe before the first record. */
PD_API enum pd_status pd_writer_set_feature(struct pd_writer *writer, unsigned feature, const void *decoded,
					    struct pd_error *error);
/** The same with bytes as they are stored, in the byte order of the writer. */
PD_API enum pd_status pd_writer_set_feature_bytes(struct pd_writer *writer, unsigned feature, struct pd_bytes bytes,
						  struct pd_error *error);

/** Writes a record from a struct of pd_record_layout(type). event is the number of the event whose attr says which
 * fields a sample or trailer has; it must have been added. Errors also: PD_ERROR_FORMAT if a value does not fit. */
PD_API enum pd_status pd_writer_add(struct pd_writer *writer, uint32_t type, uint16_t misc, const void *decoded,
				    size_t event, struct pd_error *error);
/** Writes bytes behind the last record, which says how many they are in all (AUXTRACE). */
PD_API enum pd_status pd_writer_add_tail(struct pd_writer *writer, struct pd_bytes bytes, struct pd_error *error);

/** What changes events and features while they are carried over. Functions may be NULL, and may fail with a status
 * and an error, which is then a failure of the writer. */
struct pd_changes {
	size_t size; /* sizeof(struct pd_changes) */
	void *self;  /* first argument of the functions */
	/* An event on its way: *attr and *name (may be NULL) are copies that may be changed; what name points to must
	 * live until the function is called again or the writer is gone. Asked again when a pipe says a name. In a pipe,
	 * EVENT_UPDATE records behind records of other kinds are not asked for: they are changed like any record. */
	enum pd_status (*event)(void *self, const struct pd_event *event, struct pd_attr *attr, const char **name,
				struct pd_error *error);
	/* A feature on its way. *decoded_out is NULL, and may be set to a struct of pd_feature_layout(feature) that takes
	 * its place; *keep is true, and may be set to false. What *decoded_out points to must live until the function is
	 * called again or the writer is gone. */
	enum pd_status (*feature)(void *self, struct pd_file *file, unsigned feature, const void **decoded_out,
				  bool *keep, struct pd_error *error);
	/* An id of an event on its way: returns the one that takes its place. Records with ids are changed to fit by
	 * whoever passes them. */
	uint64_t (*id)(void *self, uint64_t id);
};
/** To be called before pd_writer_carry. */
PD_API enum pd_status pd_writer_change(struct pd_writer *writer, const struct pd_changes *changes,
				       struct pd_error *error);
/** Carries events and features of a file over: those that it has, and in pipes those that come with the records that
 * are passed. At most one file; before the first record. */
PD_API enum pd_status pd_writer_carry(struct pd_writer *writer, struct pd_file *file, struct pd_error *error);
/** Writes the current record of a stream, with what follows it. In the byte order of the writer; what cannot be
 * converted is told to the problem function of the file and stays as it is. To pass what follows it to several writers,
 * call pd_stream_tail before. */
PD_API enum pd_status pd_writer_pass(struct pd_writer *writer, struct pd_stream *stream,
				     const struct pd_record *record, struct pd_error *error);
/** The same with another content: a struct of pd_record_layout(record->type), mostly a changed copy of what
 * pd_record_decode gave, and another misc. Place, event, tail and compression stay those of the record.
 * Errors also: PD_ERROR_FORMAT if a value does not fit, PD_ERROR_ARGUMENT for a record of unknown type. */
PD_API enum pd_status pd_writer_pass_changed(struct pd_writer *writer, struct pd_stream *stream,
					     const struct pd_record *record, uint16_t misc, const void *decoded,
					     struct pd_error *error);
/** Writes samples behind the current record that are of its event, as far as this costs next to nothing, and leaves
 * them out of the stream (there may be more). Returns their number. For programs that pass all of a stream. */
PD_API uint64_t pd_writer_pass_following(struct pd_writer *writer, struct pd_stream *stream);

/* ---- one output of several files: nothing is carried, events are added, records are passed by these ---- */

/** A number that becomes another. */
struct pd_number_change {
	uint64_t from, to;
};

/** Addresses from start up to, but without, end: start becomes to. */
struct pd_address_change {
	uint64_t start, end, to;
};

/** What makes the records of a file fit the events of an output. Zero for each member changes nothing. It and what it
 * points to must stay, and stay as they are, until the writer is gone. Lists ascend by from and start. */
struct pd_join {
	size_t size; /* sizeof(struct pd_join) */
	/* For each event of the file its number in the output (see pd_writer_add_event). Records get the fields of that
	 * event; ids of the event stand where the file had none. If a sample becomes larger than a record can be by that,
	 * the copy of its stack loses its last 8 bytes. */
	const size_t *events;
	size_t event_count;
	const struct pd_number_change *ids; /* of events */
	size_t id_count;
	const struct pd_number_change *tracepoints; /* attr.config of tracepoints, which their raw data repeat */
	size_t tracepoint_count;
	bool raw_big_endian; /* byte order of raw data */
	int64_t time_ns;     /* added to times */
	uint32_t tasks;      /* added to numbers of processes and threads, but not to 0 and -1 */
	const struct pd_address_change *addresses; /* of the kernel */
	size_t address_count;
	uint64_t untimed_ns; /* time for records of the kernel, but samples, that have none; 0: none */
};

/** Writes the current record of a stream as pd_writer_pass, changed by the join. Records of pipes about events and
 * features must be left out. Errors also: PD_ERROR_FORMAT for a record that has to be taken apart for that and cannot:
 * it is not written, and the caller may go on. PD_ERROR_ARGUMENT for an event without a number. */
PD_API enum pd_status pd_writer_pass_joined(struct pd_writer *writer, struct pd_stream *stream,
					    const struct pd_record *record, const struct pd_join *join,
					    struct pd_error *error);
/** Takes a feature of a file over, in the byte order of the writer. Build ids are added to those that are there, of which
 * none is changed: an object that has another one in the file is told to its problem function. Other features take the
 * place of an earlier one. In a pipe before the first record. */
PD_API enum pd_status pd_writer_join_feature(struct pd_writer *writer, struct pd_file *file, unsigned feature,
					     struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
