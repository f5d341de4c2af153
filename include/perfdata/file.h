/* SPDX-License-Identifier: MIT */
/**
 * file.h - an open perf.data file: a file, a pipe, a directory, or memory.
 *
 * Versions 1 and 2, both endiannesses, file and pipe mode, complete or truncated. Opening reads the header, the
 * events and, if the input is seekable, the features; stream.h reads the records.
 *
 * In pipe mode events and features are records. They are available once the stream has read them:
 * pd_file_event_count grows. Returned pointers remain valid until pd_file_close.
 *
 * Source of the layout: tools/perf/util/header.c and perf.data-file-format.txt of Linux.
 *
 * Example:
 *
 *	const struct pd_event *event;
 *
 *	if (pd_file_open("perf.data", NULL, &file, &error) == PD_OK) {
 *		for (size_t i = 0; (event = pd_file_event(file, i)) != NULL; i++)
 *			printf("%s\n", event->name);
 *		pd_file_close(file);
 *	}
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
	PD_INFO = 1,    /* informational, nothing is wrong */
	PD_WARNING = 2, /* unusual, but everything could be read */
	PD_DAMAGE = 3   /* something was lost or could not be read */
};

/** A problem of a file. Valid during the call only. */
struct pd_problem {
	uint64_t offset; /* file offset in bytes, or PD_NO_OFFSET */
	enum pd_severity severity;
	const char *code;    /* stable name, "truncated-record"; see table/problem.def. Constant. */
	const char *field;   /* "mmap2.filename", or NULL */
	const char *message; /* one line, lower case, no full stop */
	const char *advice;  /* what to do next. Constant, or NULL. */
};

/** Called for each problem. Return false to stop the reader with PD_ERROR_STOPPED. A run with several threads may
 * call it on any of them, but never concurrently. */
typedef bool pd_problem_fn(void *self, const struct pd_problem *problem);

/** Code of the index-th kind of problem, with its severity, meaning and advice; NULL past the end. */
PD_API const char *pd_problem_at(size_t index, enum pd_severity *severity_out, const char **doc_out,
				 const char **advice_out);

/** Zero is the default for each member; NULL means all defaults. */
struct pd_open_options {
	size_t size;            /* sizeof(struct pd_open_options); 0 is PD_ERROR_ARGUMENT */
	pd_problem_fn *problem; /* NULL: problems are only counted */
	void *self;             /* first argument of problem */
	uint64_t memory_limit;  /* maximum bytes per allocation for file contents; 0 means 256 MiB */
	uint64_t inflate_limit; /* maximum decompressed bytes of one file; 0 means 1 TiB. Compressed records
				 * may expand 1000 times, above 64 MiB. */
	const char *temp_dir;   /* for compressed or piped input that needs seeking; NULL means /tmp */
	bool keep;              /* buffer a pipe in memory or a temporary file, so that it can be read twice */
	bool recover;           /* for damaged files: reconstruct invalid header fields from the contents; a
				 * pipe is buffered for that */
};

/**
 * Opens a perf.data file. path is a file, a FIFO or a directory that contains a file named data. A file compressed as
 * a whole with zstd, gzip, xz or bzip2 is decompressed.
 * Errors: PD_ERROR_SYSTEM, PD_ERROR_MEMORY, PD_ERROR_FORMAT if it is not a perf.data file, PD_ERROR_LIMIT,
 * PD_ERROR_UNSUPPORTED if the compression is not built in, PD_ERROR_STOPPED.
 */
PD_API enum pd_status pd_file_open(const char *path, const struct pd_open_options *options, struct pd_file **file_out,
				   struct pd_error *error);
/** Opens a file descriptor, read from its current position. It remains owned by the caller. */
PD_API enum pd_status pd_file_open_fd(int fd, const struct pd_open_options *options, struct pd_file **file_out,
				      struct pd_error *error);
/** Opens a file in memory, which must remain valid and unchanged until pd_file_close. */
PD_API enum pd_status pd_file_open_memory(const void *data, size_t size, const struct pd_open_options *options,
					  struct pd_file **file_out, struct pd_error *error);
/** Reads the next bytes of a perf.data file in pipe mode: at least one, at most size; 0 at the end. May block. */
typedef enum pd_status pd_pull_fn(void *self, void *data, size_t size, size_t *got_out, struct pd_error *error);
/** What pd_pull_descriptor reads: a file, pipe or socket. */
struct pd_descriptor {
	int fd;           /* remains owned by the caller */
	const char *name; /* for messages */
	bool failed;      /* set if it cannot be read */
};
/** A pd_pull_fn for a struct pd_descriptor. Errors: PD_ERROR_SYSTEM. */
PD_API enum pd_status pd_pull_descriptor(void *descriptor, void *data, size_t size, size_t *got_out,
					 struct pd_error *error);
/** Opens a file that a function provides; it is called until pd_file_close. name is used in messages. */
PD_API enum pd_status pd_file_open_pull(pd_pull_fn *pull, void *self, const char *name,
					const struct pd_open_options *options, struct pd_file **file_out,
					struct pd_error *error);
PD_API void pd_file_close(struct pd_file *file);

enum pd_mode {
	PD_MODE_FILE,
	PD_MODE_PIPE, /* pipe mode, also if saved to a file */
	PD_MODE_DIRECTORY
};

/** The file header. Offsets and sizes are 0 if absent (pipe mode). */
struct pd_header {
	enum pd_mode mode;
	unsigned version; /* 1 (PERFFILE) or 2 (PERFILE2) */
	bool big_endian;
	bool unfinished;    /* the recorder did not finish: the data size is 0 */
	bool truncated;     /* the data section extends past the end of the file */
	uint64_t size;      /* of the header in bytes: 104, 72, or 16 in pipe mode */
	uint64_t attr_size; /* of an entry of the attr table in bytes */
	uint64_t attrs_offset, attrs_size;
	uint64_t data_offset, data_size; /* as stored in the header */
	uint64_t event_types_offset, event_types_size;
	uint64_t feature_bits[4]; /* bit n % 64 of element n / 64: feature n is present */
	uint64_t file_size;       /* of the main file in bytes, or 0 if unknown (pipe) */
	const char *compression;  /* of the whole file: "zstd", "gzip", "xz", "bzip2", or NULL */
};
/** The header. Owned by the file. */
PD_API const struct pd_header *pd_file_header(const struct pd_file *file);
/** Name of the file as opened; "memory", "standard input" or "fd 3" if it had none. */
PD_API const char *pd_file_name(const struct pd_file *file);
/** Number of files that contain records: 1, or more for a directory. */
PD_API size_t pd_file_part_count(const struct pd_file *file);
/** File name of a part ("data.0"); empty for a single file, NULL past the end. */
PD_API const char *pd_file_part_name(const struct pd_file *file, size_t part);
/** Architecture, from the features ARCH or E_MACHINE. */
PD_API enum pd_arch pd_file_machine(const struct pd_file *file);
/** Modification time of the file, in seconds since 1970, or 0. */
PD_API int64_t pd_file_modified(const struct pd_file *file);

/** An event: an attr with its ids, name and unit. */
struct pd_event {
	size_t index;
	const struct pd_attr *attr;
	const char *name; /* as perf names it: "cycles:u", "sched:sched_switch" */
	struct pd_u64s ids;
	const char *unit;     /* from EVENT_UPDATE, or NULL */
	double scale;         /* from EVENT_UPDATE, or 1 */
	uint64_t attr_offset; /* file offset of the attr */
};
/** Number of events; of a pipe, those of the records read so far. */
PD_API size_t pd_file_event_count(const struct pd_file *file);
/** The index-th event; NULL past the end. */
PD_API const struct pd_event *pd_file_event(const struct pd_file *file, size_t index);
/** Event of an id, or NULL. */
PD_API const struct pd_event *pd_file_event_by_id(const struct pd_file *file, uint64_t id);

/** Section of a feature. */
struct pd_feature_section {
	unsigned number;
	uint64_t offset, size; /* in the file */
};
/** The index-th present feature, in ascending order; false past the end. */
PD_API bool pd_file_feature_at(const struct pd_file *file, size_t index, struct pd_feature_section *section_out);
/** Bytes of a feature as stored; valid until pd_file_close. PD_ERROR_ARGUMENT if it is absent. */
PD_API enum pd_status pd_file_feature_bytes(struct pd_file *file, unsigned feature, struct pd_bytes *bytes_out,
					    struct pd_error *error);
/** A decoded feature: a struct of pd_feature_layout(feature), or NULL if it is absent, unknown or damaged (which is
 * reported as a problem). Valid until pd_file_close. */
PD_API const void *pd_file_feature(struct pd_file *file, unsigned feature);

enum {
	PD_BUILD_ID_SIZE = 20
}; /* maximum bytes of a build id */

/** A build id. */
struct pd_build_id {
	uint8_t size; /* 0: none */
	uint8_t bytes[20];
};

/** An entry of the feature BUILD_ID. */
struct pd_build_id_entry {
	uint16_t misc;
	uint32_t pid; /* of the virtual machine; UINT32_MAX: the host, also where old versions of perf wrote none */
	struct pd_build_id id;
	const char *name; /* ends with a NUL */
};

/** An iteration over the bytes of the feature. Set the first two members, the others are 0. */
struct pd_build_id_walk {
	struct pd_bytes records; /* pd_build_ids.records */
	bool big_endian;
	bool begun, lacks_pid;
	size_t at;
	size_t unreadable; /* bytes of damaged entries, once the end is reached */
};

/** The next entry; false at the end. */
PD_API bool pd_build_id_next(struct pd_build_id_walk *walk, struct pd_build_id_entry *entry_out);

/* pd_file_hostname(file) is pd_file_feature(file, PD_FEATURE_HOSTNAME) with its type, and so on. */
#define FEATURE(NAME, name, number, layout, doc)                                     \
	static inline const struct pd_##layout *pd_file_##name(struct pd_file *file) \
	{                                                                            \
		return (const struct pd_##layout *)pd_file_feature(file, (number));  \
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
