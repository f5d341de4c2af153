/* SPDX-License-Identifier: MIT */
/**
 * file.h - an opened perf.data: a file, a pipe, a directory of files, or memory.
 *
 * Version 1 and 2, both byte orders, file and pipe mode, finished or cut off. Opening reads the header,
 * the events and, where they can be reached, the features; records are read by stream.h.
 *
 * In pipe mode events and features are records. They are known once the stream has passed them;
 * pd_file_event_count grows, pointers that were returned stay valid until pd_file_close.
 *
 * Source of the layout: tools/perf/util/header.c and perf.data-file-format.txt of Linux.
 */
#ifndef PERFDATA_FILE_H
#define PERFDATA_FILE_H

#include <perfdata/format.h>

#include <perfdata/table/save.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pd_file;

enum pd_severity {
	PD_INFO = 1,    /* worth knowing, nothing is wrong */
	PD_WARNING = 2, /* odd, but everything could be read */
	PD_DAMAGE = 3   /* something was lost or could not be read */
};

/** Something that a file should not have. Valid during the call only. */
struct pd_problem {
	uint64_t offset;     /* place in the file in bytes, or PD_NO_OFFSET */
	enum pd_severity severity;
	const char *code;    /* stable name, "truncated-record"; see table/problem.def. Constant. */
	const char *field;   /* "mmap2.filename", or NULL */
	const char *message; /* one line, lower case, no full stop */
	const char *advice;  /* what to do next. Constant, or NULL. */
};

/** Called for each problem. Return false to stop the reader with PD_ERROR_STOPPED. A run with several threads may call
 * it on any of them, but never on two at a time. */
typedef bool pd_problem_fn(void *self, const struct pd_problem *problem);

/** Severity, meaning and advice of the index-th code of problem; NULL past the end. */
PD_API const char *pd_problem_at(size_t index, enum pd_severity *severity_out, const char **doc_out,
				 const char **advice_out);

/** Zero is the default for each member; NULL means all defaults. */
struct pd_open_options {
	size_t size;            /* sizeof(struct pd_open_options); 0 is PD_ERROR_ARGUMENT */
	pd_problem_fn *problem; /* NULL: problems are only counted */
	void *self;             /* first argument of problem */
	uint64_t memory_limit;  /* most bytes for one thing out of the file; 0 means 256 MiB */
	uint64_t inflate_limit; /* most bytes out of one compressed file; 0 means 1 TiB. Compressed records may
				 * give a thousand times their size, above 64 MiB. */
	const char *temp_dir;   /* for compressed or piped input that must be read out of order; 0 means /tmp */
	bool keep;              /* keep what comes through a pipe, in memory or in a temporary file, so that it can be
				 * read twice */
	bool mend;              /* for damaged files: what the header says and cannot be is looked for in the file; what
				 * comes through a pipe is kept for that */
};

/**
 * Opens a perf.data. path is a file, a FIFO or a directory with a file named data. A file that is
 * compressed as a whole by zstd, gzip, xz or bzip2 is read through.
 * Errors: PD_ERROR_SYSTEM, PD_ERROR_MEMORY, PD_ERROR_FORMAT if it is no perf.data, PD_ERROR_LIMIT,
 * PD_ERROR_UNSUPPORTED if a compression is not built in, PD_ERROR_STOPPED.
 */
PD_API enum pd_status pd_file_open(const char *path, const struct pd_open_options *options,
				   struct pd_file **file_out, struct pd_error *error);
/** The same from a descriptor, read from its present position. The caller keeps and closes it. */
PD_API enum pd_status pd_file_open_fd(int fd, const struct pd_open_options *options,
				      struct pd_file **file_out, struct pd_error *error);
/** The same from memory, which must stay as it is until pd_file_close. */
PD_API enum pd_status pd_file_open_memory(const void *data, size_t size,
					  const struct pd_open_options *options,
					  struct pd_file **file_out, struct pd_error *error);
/** Gives the next bytes of a perf.data in the form of a pipe: at least one, up to size; none at the end. May wait. */
typedef enum pd_status pd_pull_fn(void *self, void *data, size_t size, size_t *got_out, struct pd_error *error);
/** The same from a function, which is called whenever more is wanted, until pd_file_close. name is for messages. */
PD_API enum pd_status pd_file_open_pull(pd_pull_fn *pull, void *self, const char *name,
					const struct pd_open_options *options, struct pd_file **file_out,
					struct pd_error *error);
PD_API void pd_file_close(struct pd_file *file);

enum pd_mode {
	PD_MODE_FILE,
	PD_MODE_PIPE,     /* pipe mode, also when it was saved in a file */
	PD_MODE_DIRECTORY
};

/** What the header says. Offsets and sizes are 0 where there is none (pipe mode). */
struct pd_header {
	enum pd_mode mode;
	unsigned version;        /* 1 (PERFFILE) or 2 (PERFILE2) */
	bool big_endian;
	bool unfinished;         /* the recorder never wrote its final header: the data size is 0 */
	bool truncated;          /* the data section extends past the end of the file */
	uint64_t size;           /* bytes of the header: 104, 72, or 16 for a pipe */
	uint64_t attr_size;      /* bytes of an entry of the attr table */
	uint64_t attrs_offset, attrs_size;
	uint64_t data_offset, data_size; /* as the header says */
	uint64_t event_types_offset, event_types_size;
	uint64_t feature_bits[4]; /* bit n of word n / 64: feature n is there */
	uint64_t file_size;       /* bytes of the main file, or 0 if not known (pipe) */
	const char *compression;  /* "zstd", "gzip", "xz", "bzip2" around the whole file, or NULL */
};
PD_API const struct pd_header *pd_file_header(const struct pd_file *file);
/** Name that the file was opened with; "memory", "standard input" or "fd 3" where it had none. */
PD_API const char *pd_file_name(const struct pd_file *file);
/** Number of files that hold records: 1, or more for a directory. */
PD_API size_t pd_file_part_count(const struct pd_file *file);
/** File name of a part ("data.0"); empty for the main file of a single one. */
PD_API const char *pd_file_part_name(const struct pd_file *file, size_t part);
/** Machine by the features ARCH or E_MACHINE. */
PD_API enum pd_arch pd_file_machine(const struct pd_file *file);
/** Modification time of the file, in seconds since 1970, or 0. */
PD_API int64_t pd_file_modified(const struct pd_file *file);

/** An event: one attr and what belongs to it. */
struct pd_event {
	size_t index;
	const struct pd_attr *attr;
	const char *name;      /* as perf names it: "cycles:u", "sched:sched_switch" */
	struct pd_u64s ids;
	const char *unit;      /* by EVENT_UPDATE, or NULL */
	double scale;          /* by EVENT_UPDATE, or 1 */
	uint64_t attr_offset;  /* place of the attr in the file */
};
PD_API size_t pd_file_event_count(const struct pd_file *file);
/** The index-th event. index must be below pd_file_event_count. */
PD_API const struct pd_event *pd_file_event(const struct pd_file *file, size_t index);
/** Event of an id, or NULL. */
PD_API const struct pd_event *pd_file_event_by_id(const struct pd_file *file, uint64_t id);

/** Where a feature stands, and its bytes. */
struct pd_feature_section {
	unsigned number;
	uint64_t offset, size; /* in the file */
};
/** The index-th feature that is there, ascending; false past the end. */
PD_API bool pd_file_feature_at(const struct pd_file *file, size_t index,
			       struct pd_feature_section *section_out);
/** Bytes of a feature as stored; valid until pd_file_close. PD_ERROR_ARGUMENT if it is not there. */
PD_API enum pd_status pd_file_feature_bytes(struct pd_file *file, unsigned feature,
					    struct pd_bytes *bytes_out, struct pd_error *error);
/** Decoded feature: struct of pd_feature_layout(feature), or NULL if it is absent, unknown or damaged
 * (which is a problem). Valid until pd_file_close. */
PD_API const void *pd_file_feature(struct pd_file *file, unsigned feature);

/* pd_file_hostname(file) is pd_file_feature(file, PD_FEATURE_HOSTNAME) with its type, and so on. */
#define FEATURE(NAME, name, number, layout, doc)                                                   \
	static inline const struct pd_##layout *pd_file_##name(struct pd_file *file)              \
	{                                                                                          \
		return (const struct pd_##layout *)pd_file_feature(file, (number));                \
	}
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>

/** Number of problems so far, by severity. */
PD_API uint64_t pd_file_problem_count(const struct pd_file *file, enum pd_severity severity);

#ifdef __cplusplus
}
#endif

#include <perfdata/table/restore.h>
#endif
