/* SPDX-License-Identifier: MIT */
/**
 * stream.h - reads records.
 *
 * A stream returns every record of a file: in file order, the parts of a directory one after another, or in time
 * order. A compressed record is followed by the records it contains (with PD_RECORD_INFLATED). Damage is reported to
 * the problem function of the file, and the stream continues if possible: it never ends early silently.
 *
 * Example:
 *
 *	if (pd_stream_open(file, NULL, &stream, &error) == PD_OK) {
 *		while (pd_stream_next(stream, &record, &error) == PD_OK)
 *			printf("%s\n", pd_record_name(record->type));
 *		pd_stream_close(stream);
 *	}
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
	PD_RECORD_LATE = 2      /* in time order: older than the previous record */
};

struct pd_stream;
struct pd_scratch;

/** A record. Valid until the next call on its stream. */
struct pd_record {
	uint32_t type; /* PD_RECORD_..., as stored but for PD_RECORD_OLD_FEATURE */
	uint16_t misc;
	uint16_t flags;               /* enum pd_record_flag */
	uint64_t offset;              /* in its part; of the compressed record that contains it */
	uint64_t inner_offset;        /* in the decompressed data of the part, or PD_NO_OFFSET */
	uint64_t index;               /* number in stream order, from 0 */
	uint64_t time_ns;             /* PD_NO_TIME if it has no timestamp */
	const struct pd_event *event; /* NULL for records written by tools and for unknown ids */
	struct pd_bytes bytes;        /* as stored, header included */
	uint64_t tail_size;           /* bytes that follow the record and belong to it: AUX data, tracing data */
	uint32_t part;                /* see pd_file_part_name */
	struct pd_scratch *scratch;   /* private */
	uint64_t place;               /* number in file order, from 0, whatever the order of the stream */
};

/** The most used fields of a sample. Fields that the event does not record are 0; pid, tid and cpu UINT32_MAX; period
 * that of the event's attr. */
struct pd_brief {
	uint64_t ip;
	uint64_t addr;
	uint64_t period;
	uint64_t time_ns; /* PD_NO_TIME: none */
	uint32_t pid, tid, cpu;
	unsigned cpumode;         /* PD_CPUMODE_... */
	struct pd_u64s callchain; /* valid until the next call on the stream */
};

enum pd_order {
	PD_ORDER_FILE,
	/* Equal times keep file order. Records without a timestamp are returned where perf has them: when they are
	 * read, before records that wait for the end of a round. Seekable uncompressed input is read twice and sorted
	 * exactly; other input is sorted by rounds, and a record later than its round allows is returned when it is
	 * read, with PD_RECORD_LATE. */
	PD_ORDER_TIME
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_stream_options {
	size_t size; /* sizeof(struct pd_stream_options) */
	enum pd_order order;
	/* For damaged files: each record is checked against what is known about the file, and implausible ones are
	 * skipped and reported. Recovers more after damage, but is slower. File order only. */
	bool careful;
	/* Each record is validated against its layout, whether or not it is decoded: for programs that pass records
	 * on and have to report what pd_check would. Samples with fixed fields and a call chain cost one comparison,
	 * others are decoded. */
	bool verify;
};

/** Opens a stream. The file must remain open; a pipe can have one stream at a time.
 * Errors: PD_ERROR_MEMORY, PD_ERROR_SYSTEM, PD_ERROR_ARGUMENT if a pipe is read a second time. */
PD_API enum pd_status pd_stream_open(struct pd_file *file, const struct pd_stream_options *options,
				     struct pd_stream **stream_out, struct pd_error *error);
PD_API void pd_stream_close(struct pd_stream *stream);
/** The next record, or PD_END. Errors: PD_ERROR_SYSTEM, PD_ERROR_MEMORY, PD_ERROR_LIMIT, PD_ERROR_STOPPED. */
PD_API enum pd_status pd_stream_next(struct pd_stream *stream, const struct pd_record **record_out,
				     struct pd_error *error);
/** Skips samples that follow the current sample and belong to the same event, as far as this is cheap (more may
 * follow). Returns how many were skipped; 0 if the current record is not a sample. For programs that only count. The
 * current record remains valid. */
PD_API uint64_t pd_stream_pass(struct pd_stream *stream);
/** Continues at an offset of the main file, which should be the start of a record. PD_ERROR_ARGUMENT for compressed
 * data and pipes. */
PD_API enum pd_status pd_stream_seek(struct pd_stream *stream, uint64_t offset, struct pd_error *error);
/** Bytes that follow the current record: tail_size, or fewer at the end of the input. Valid until the next call on
 * the stream.
 * PD_ERROR_LIMIT if they exceed the memory limit of the file. */
PD_API enum pd_status pd_stream_tail(struct pd_stream *stream, struct pd_bytes *bytes_out, struct pd_error *error);
/** Bytes of the parts read so far, and in total (0 if unknown), for progress reports. */
PD_API void pd_stream_progress(const struct pd_stream *stream, uint64_t *done_out, uint64_t *total_out);

/** What a stream has skipped so far, as reported by its problems. */
struct pd_losses {
	uint64_t records;      /* damaged, skipped as a whole */
	uint64_t places;       /* where bytes up to the next record were skipped */
	uint64_t bytes;        /* of both, including those inside compressed records */
	uint64_t cut_bytes;    /* of an incomplete last record; known at the end */
	uint64_t packed_bytes; /* compressed bytes that could not be decompressed; known at the end */
};
/** Losses so far. */
PD_API void pd_stream_losses(const struct pd_stream *stream, struct pd_losses *losses_out);

/** Decodes a record. *decoded_out is a struct of pd_record_layout(record->type), valid until the next call on the
 * stream. Errors: PD_ERROR_UNSUPPORTED for an unknown type, PD_ERROR_FORMAT with offset and field if the record does
 * not fit its layout. */
PD_API enum pd_status pd_record_decode(const struct pd_record *record, const void **decoded_out,
				       struct pd_error *error);

/** The most used fields of a sample, several times faster than decoding it. False if it is not a sample, its event is
 * unknown, or it is damaged, which is reported as a problem. */
PD_API bool pd_record_brief(const struct pd_record *record, struct pd_brief *brief_out);

/** True if the user-space callers of a sample can be found only by unwinding: it has a copy of the user stack and
 * registers, and no user address in its call chain. See unwind.h. */
PD_API bool pd_sample_needs_unwinding(const struct pd_sample *sample);

/** Thread and CPU of a record. pid, tid and cpu are UINT32_MAX if not recorded; pid and tid also for the kernel. */
struct pd_thread_id {
	uint32_t pid, tid;
	uint32_t cpu;
	bool known; /* pid and tid are recorded */
};
/** The thread that a record describes, from its fields, else from its trailer. Not known if the record is damaged. */
PD_API void pd_record_thread(const struct pd_record *record, struct pd_thread_id *thread_out);

/** Mends a copy of a decoded MMAP2 record whose build id is none. The kernel sets the bit MMAP_BUILD_ID of misc for an event that
 * wants build ids, and leaves it set for the events of other recorders that run at the same time (perf_event_mmap_output() of
 * kernel/events/core.c, seen in 6.18): what stands in the place of the build id is a device and an inode. True: they are now in
 * maj, min, ino and ino_generation of *map, and its build id is empty. False: nothing was changed. Any thread. */
PD_API bool pd_mmap2_recover(const struct pd_record *record, struct pd_mmap2 *map);

/* pd_as_mmap2(record) is the decoded MMAP2 record, or NULL if it has another type or is damaged. */
PD_API const void *pd_record_as(const struct pd_record *record, uint32_t type);
#define RECORD(NAME, name, number, layout, GROUP, doc)                                       \
	static inline const struct pd_##layout *pd_as_##name(const struct pd_record *record) \
	{                                                                                    \
		return (const struct pd_##layout *)pd_record_as(record, (number));           \
	}
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>

#ifdef __cplusplus
}
#endif

#include <perfdata/table/restore.h>
#endif
