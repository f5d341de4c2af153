/* SPDX-License-Identifier: MIT */
/**
 * base.h - types and conventions shared by all headers of libperfdata.
 *
 * Conventions of the whole library:
 *
 * - Results. A function that can fail returns enum pd_status: 0 is success, negative is failure,
 *   PD_END is the end of an iteration. Its last parameter is a struct pd_error, which may
 *   be NULL and is written on failure only. Out parameters are written on success only.
 * - Ownership. Returned pointers are owned by their parent object and are valid as long as their comment says. What
 *   is returned through a pointer to a pointer is owned by the caller, who releases it with the matching close or
 *   free. close and free accept NULL.
 * - Threads. One thread at a time for each object; different objects are independent.
 * - State. No environment, no output, no signal handlers; the library never exits. No globals but three, all atomic:
 *   `last_serial` numbers objects of symbols, so that what one has cached is not taken for another's; `gave_up` says that
 *   a C++ name took too long to read, so that it is not tried again; `pd_sqlite_functions` is SQLite, once it is loaded.
 * - Units. _ns are nanoseconds, _bytes are bytes, _offset is a file offset in bytes, _count a number.
 *
 * Example:
 *
 *	if (pd_file_open("perf.data", NULL, &file, &error) < 0)
 *		printf("%s\n", error.message);
 *	pd_file_close(file);
 */
#ifndef PERFDATA_BASE_H
#define PERFDATA_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of these headers; pd_version is that of the linked library. */
#define PD_VERSION_MAJOR 0
#define PD_VERSION_MINOR 1
#define PD_VERSION_PATCH 0

#if defined(__GNUC__)
#define PD_API __attribute__((visibility("default")))
#define PD_PRINTF(string, first) __attribute__((__format__(__printf__, string, first)))
#else
#define PD_API
#define PD_PRINTF(string, first)
#endif

enum pd_status {
	PD_OK = 0,
	PD_END = 1,                /* end of the iteration */
	PD_ERROR_MEMORY = -1,      /* out of memory */
	PD_ERROR_SYSTEM = -2,      /* a system call failed, see pd_error.os_errno */
	PD_ERROR_FORMAT = -3,      /* the data do not follow the format */
	PD_ERROR_LIMIT = -4,       /* larger than the caller's limit */
	PD_ERROR_ARGUMENT = -5,    /* invalid argument */
	PD_ERROR_UNSUPPORTED = -6, /* valid, but not supported, or not built in */
	PD_ERROR_STOPPED = -7,     /* stopped by a callback */
	PD_ERROR_OUTPUT = -8,      /* the output cannot be written */
	PD_ERROR_NO_MATCH = -9,    /* nothing matches what was asked for */
	PD_ERROR_NO_SAMPLES = -10  /* no samples in the file */
};

#define PD_NO_OFFSET UINT64_MAX
#define PD_NO_TIME UINT64_MAX

/** Details of an error. Allocated by the caller, usually on the stack; may be NULL everywhere. */
struct pd_error {
	enum pd_status status;
	int os_errno;       /* for PD_ERROR_SYSTEM, else 0 */
	uint64_t offset;    /* file offset in bytes, or PD_NO_OFFSET */
	char message[1000]; /* "perf.data: offset 4136: mmap2.filename: string has no end" */
};

/** Called with a sentence for the user about something that was not done as requested, although the call goes on. The
 * sentence has no line end and is valid during the call. */
typedef void pd_warn_fn(void *self, const char *sentence);

/** For programs that remove unfinished files if a signal ends them: what happens to a file or directory that is written.
 * STARTS comes before it is created, then EXISTS, FOLDER or FAILED, and after the first two, when it is finished or removed, DONE.
 * FOLDER is a directory whose files are finished or removed by themselves: it is to be removed only if it is empty then. */
enum pd_unfinished {
	PD_UNFINISHED_STARTS,
	PD_UNFINISHED_EXISTS,
	PD_UNFINISHED_FAILED,
	PD_UNFINISHED_DONE,
	PD_UNFINISHED_FOLDER
};
typedef void pd_unfinished_fn(void *self, enum pd_unfinished step, const char *path);

/** Borrowed bytes. */
struct pd_bytes {
	const uint8_t *data;
	size_t size;
};

/** A string from a file. data[length] is always NUL; data is never NULL in a decoded struct whose field is
 * present. size is its encoded size, including NUL and padding; an encoder takes 0 as "the smallest". The bytes
 * need not be UTF-8 or printable. */
struct pd_str {
	const char *data;
	uint32_t length;
	uint32_t size;
};

/** Arrays of numbers in host byte order. */
struct pd_u16s {
	const uint16_t *items;
	size_t count;
};
struct pd_u32s {
	const uint32_t *items;
	size_t count;
};
struct pd_u64s {
	const uint64_t *items;
	size_t count;
};

/** A list of structs, which may be larger than in this header: access its items with PD_ITEM. */
struct pd_list {
	const void *items;
	size_t count;
	size_t stride; /* bytes from one item to the next */
};

/** The item at index as const struct type *. index is not checked. */
#define PD_ITEM(type, list, index) \
	((const struct type *)(const void *)((const char *)(list).items + (index) * (list).stride))

/** Version of the linked library, a static string: "0.1.0". */
PD_API const char *pd_version(void);

/** The closest match of a misspelt word. */
struct pd_nearest {
	const char *word; /* the misspelt word */
	const char *best; /* NULL: no candidate is similar */
	size_t distance;
};
/** Call it for each candidate; candidates must remain valid. */
PD_API void pd_nearest_try(struct pd_nearest *nearest, const char *candidate);

/** Name of a status: "format", "memory" ... Never NULL. */
PD_API const char *pd_status_name(enum pd_status status);

/** Optional libraries: name and version of the index-th, or NULL past the end.
 * *built_in_out (may be NULL) is set to whether it is built in. */
PD_API const char *pd_build_part(size_t index, bool *built_in_out, const char **use_out);
/** What perf can be built with, and other programs look for (perf version --build-options): name of the index-th feature, its macro
 * in perf, and whether it is there, by a library or by own code; NULL past the end. */
PD_API const char *pd_build_feature(size_t index, bool *there_out, const char **macro_out);
/** For programs that build large tables once, and end: from now on the heap of the process takes its memory in huge pages, if
 * the system has them at hand, and keeps it. To be called before other threads are started; does nothing where the C library
 * is another one than glibc. */
PD_API void pd_heap_prepare(void);

#ifdef __cplusplus
}
#endif
#endif
