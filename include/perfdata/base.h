/* SPDX-License-Identifier: MIT */
/**
 * base.h - the words that every other header of libperfdata uses.
 *
 * Rules that hold for the whole library:
 *
 * - Results. A function that can fail returns enum pd_status: 0 is success, negative is failure,
 *   PD_END says that an iterator has nothing more. Its last parameter is a struct pd_error, which may
 *   be NULL and is written on failure only. Out parameters are written on success only.
 * - Ownership. What is returned belongs to its parent and lives as long as its comment says. What comes
 *   through a pointer to a pointer belongs to the caller, who gives it back with the close or free
 *   that stands beside it. close and free accept NULL.
 * - Threads. One thread at a time for each object; different objects are independent.
 * - State. No globals, no environment, no output, no signal handlers; the library never exits.
 * - Units. _ns are nanoseconds, _bytes are bytes, _offset is a place in a file, _count a number.
 */
#ifndef PERFDATA_BASE_H
#define PERFDATA_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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
	PD_END = 1,                /* an iterator has nothing more */
	PD_ERROR_MEMORY = -1,      /* no memory */
	PD_ERROR_SYSTEM = -2,      /* a system call failed, see pd_error.os_errno */
	PD_ERROR_FORMAT = -3,      /* the bytes are not what the format says */
	PD_ERROR_LIMIT = -4,       /* refused: larger than the caller allows */
	PD_ERROR_ARGUMENT = -5,    /* a value that cannot be used */
	PD_ERROR_UNSUPPORTED = -6, /* valid, but unknown or not built in */
	PD_ERROR_STOPPED = -7      /* a callback asked to stop */
};

#define PD_NO_OFFSET UINT64_MAX
#define PD_NO_TIME UINT64_MAX

/** What went wrong. The caller's memory, usually on the stack; NULL is allowed everywhere. */
struct pd_error {
	enum pd_status status;
	int os_errno;      /* for PD_ERROR_SYSTEM, else 0 */
	uint64_t offset;   /* place in the file in bytes, or PD_NO_OFFSET */
	char message[240]; /* "perf.data: offset 4136: mmap2.filename: string has no end" */
};

/** Bytes that belong to somebody else. */
struct pd_bytes {
	const uint8_t *data;
	size_t size;
};

/** A text from a file. data always has a NUL at data[length]; data is never NULL in a decoded struct
 * whose field is present. size is what it takes on the wire, NUL and padding included; an encoder
 * takes size 0 as "the smallest". The bytes are not checked to be UTF-8 or printable. */
struct pd_str {
	const char *data;
	uint32_t length;
	uint32_t size;
};

/** Arrays of numbers in the byte order of this machine. */
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

/** A list of structs that may be longer than the ones this header knows: walk it with PD_ITEM. */
struct pd_list {
	const void *items;
	size_t count;
	size_t stride; /* bytes from one item to the next */
};

/** The item at index as const struct type *. index is not checked. */
#define PD_ITEM(type, list, index)                                                                 \
	((const struct type *)(const void *)((const char *)(list).items + (index) * (list).stride))

/** Version of the library that is linked, as text: "0.1.0". Never freed. */
PD_API const char *pd_version(void);

/** The word that is nearest to a misspelt one. */
struct pd_nearest {
	const char *word; /* that was not found */
	const char *best; /* NULL: none is near */
	size_t distance;
};
/** To be called with each word that might have been meant, which must stay. */
PD_API void pd_nearest_try(struct pd_nearest *nearest, const char *candidate);

/** The name of a status: "format", "memory" ... Never NULL. */
PD_API const char *pd_status_name(enum pd_status status);

/** Optional libraries: name and version of the index-th, or NULL past the end.
 * *built_in_out (may be NULL) says whether this build has it. */
PD_API const char *pd_build_part(size_t index, bool *built_in_out, const char **use_out);

#ifdef __cplusplus
}
#endif
#endif
