/* SPDX-License-Identifier: MIT */
/**
 * stream.h - everything that yields records.
 *
 * A stream over a file yields every record: in the order of the file, the parts of a directory one
 * after another, or in the order of time. A compressed record comes first itself, then the records it holds (with
 * PD_RECORD_INFLATED). Damage is told to the problem function of the file and the stream goes on where
 * it can: a stream never ends early in silence.
 */
#ifndef PERFDATA_STREAM_H
#define PERFDATA_STREAM_H

#include <perfdata/file.h>

#include <perfdata/table/save.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pd_record_flag {
	PD_RECORD_INFLATED = 1, /* was inside a compressed record */
	PD_RECORD_LATE = 2      /* in the order of time: older than what came before it */
};

struct pd_stream;
struct pd_scratch;

/** A record. Borrowed until the next call on its stream. */
struct pd_record {
	uint32_t type;                /* PD_RECORD_..., as stored but for PD_RECORD_OLD_FEATURE */
	uint16_t misc;
	uint16_t flags;               /* enum pd_record_flag */
	uint64_t offset;              /* in its part; of the compressed record if it was inside one */
	uint64_t inner_offset;        /* in the inflated data of the part, or PD_NO_OFFSET */
	uint64_t index;               /* number in the stream, from 0; in the order of the stream */
	uint64_t time_ns;             /* PD_NO_TIME when it carries none */
	const struct pd_event *event; /* NULL for records written by tools and where the id is unknown */
	struct pd_bytes bytes;        /* as stored, header included */
	uint64_t tail_size;           /* bytes that follow the record and belong to it: AUX data, tracing data */
	uint32_t part;                /* see pd_file_part_name */
	struct pd_scratch *scratch;   /* private */
	uint64_t place;               /* number in the order of the file, from 0, whatever the order of the stream */
};

/** What most programs want of a sample. What the event does not record is 0, pid, tid and cpu UINT32_MAX, and a
 * period that is not recorded is that of the event's attr. */
struct pd_brief {
	uint64_t ip;
	uint64_t addr;
	uint64_t period;
	uint64_t time_ns; /* PD_NO_TIME: none */
	uint32_t pid, tid, cpu;
	unsigned cpumode; /* PD_CPUMODE_... */
	struct pd_u64s callchain; /* valid until the next call on the stream */
};

enum pd_order {
	PD_ORDER_FILE,
	/* Equal times keep the order of the file. Records without time come where perf has them: when they
	 * are read, before those that then wait for a round to end. What can seek and is not compressed is read
	 * twice, and its order is exact; else rounds decide, and a record that is later than they allow comes when it
	 * is read, with PD_RECORD_LATE. */
	PD_ORDER_TIME
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_stream_options {
	size_t size;         /* sizeof(struct pd_stream_options) */
	enum pd_order order;
	/* For damaged files: each record is held against what is known of the file before it is shown, and what cannot be a
	 * record is left out and told. Finds more behind damage, and is slower. In the order of the file only. */
	bool careful;
	/* Each record is held against its layout and what does not fit is reported, whether or not it is decoded: for
	 * programs that pass records on and have to report what pd_check would. Samples of fixed fields and a callchain
	 * cost a comparison each, others are decoded. */
	bool verify;
};

/** A stream over a file. The file must stay open; one stream at a time over a pipe.
 * Errors: PD_ERROR_MEMORY, PD_ERROR_SYSTEM, PD_ERROR_ARGUMENT for a second pass over a pipe. */
PD_API enum pd_status pd_stream_open(struct pd_file *file, const struct pd_stream_options *options,
				     struct pd_stream **stream_out, struct pd_error *error);
PD_API void pd_stream_close(struct pd_stream *stream);
/** The next record, or PD_END. Errors: PD_ERROR_SYSTEM, PD_ERROR_MEMORY, PD_ERROR_LIMIT, PD_ERROR_STOPPED. */
PD_API enum pd_status pd_stream_next(struct pd_stream *stream, const struct pd_record **record_out,
				     struct pd_error *error);
/** Passes over samples without showing them: those that follow the current record and are of its event, as
 * far as this costs nothing (there may be more). Returns their number, 0 if the current record is no sample. For
 * programs that only count. The record stays valid. */
PD_API uint64_t pd_stream_pass(struct pd_stream *stream);
/** Goes on at a place of the main file, which should be the start of a record. PD_ERROR_ARGUMENT for
 * compressed data and pipes. */
PD_API enum pd_status pd_stream_seek(struct pd_stream *stream, uint64_t offset,
				     struct pd_error *error);
/** Bytes behind the current record: tail_size, or those that are there where the input ends. Valid until the next call on
 * the stream.
 * PD_ERROR_LIMIT if they are more than the memory limit of the file. */
PD_API enum pd_status pd_stream_tail(struct pd_stream *stream, struct pd_bytes *bytes_out,
				     struct pd_error *error);
/** Bytes of the stream's parts read so far and in all (0 if not known), for progress. */
PD_API void pd_stream_progress(const struct pd_stream *stream, uint64_t *done_out,
			       uint64_t *total_out);

/** What a stream has left out so far: see the problems that it told. */
struct pd_losses {
	uint64_t records;      /* that were damaged inside, and left out whole */
	uint64_t places;       /* where more was left out, up to the next record */
	uint64_t bytes;        /* of both, and of records in compressed ones */
	uint64_t cut_bytes;    /* at the end of the data, less than a record; known at the end */
	uint64_t packed_bytes; /* compressed bytes that could not be inflated; known at the end */
};
PD_API void pd_stream_losses(const struct pd_stream *stream, struct pd_losses *losses_out);

/** Takes a record apart. *decoded_out is the struct of pd_record_layout(record->type), valid until the
 * next call on the stream. Errors: PD_ERROR_UNSUPPORTED for an unknown type, PD_ERROR_FORMAT with
 * place and field if the bytes do not fit. */
PD_API enum pd_status pd_record_decode(const struct pd_record *record, const void **decoded_out,
				       struct pd_error *error);

/** The brief form of a sample, several times faster than taking it apart. False if it is no sample, its event is not
 * known or it is damaged, which is a problem. */
PD_API bool pd_record_brief(const struct pd_record *record, struct pd_brief *brief_out);

/** True if only unwinding could tell the callers of a sample in user space: the user stack and registers were copied, and
 * the call chain has no address of user space. The library does not unwind. */
PD_API bool pd_sample_needs_unwinding(const struct pd_sample *sample);

/** Whose a record is. pid, tid and cpu are UINT32_MAX where it does not say; pid and tid are also that for the kernel. */
struct pd_thread_id {
	uint32_t pid, tid;
	uint32_t cpu;
	bool known; /* pid and tid are there */
};
/** The thread that a record is about, by its own fields, else that whose trailer it has. What is damaged says nothing. */
PD_API void pd_record_thread(const struct pd_record *record, struct pd_thread_id *thread_out);

/* pd_as_mmap2(record) is the decoded record with its type, or NULL if it is not one or is damaged. */
PD_API const void *pd_record_as(const struct pd_record *record, uint32_t type);
#define RECORD(NAME, name, number, layout, GROUP, doc)                                             \
	static inline const struct pd_##layout *pd_as_##name(const struct pd_record *record)      \
	{                                                                                          \
		return (const struct pd_##layout *)pd_record_as(record, (number));                 \
	}
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>

#ifdef __cplusplus
}
#endif

#include <perfdata/table/restore.h>
#endif
