/* SPDX-License-Identifier: MIT */
/**
 * symbol.h - what a place is called: from an address in the world to an object, a function, a line.
 *
 * Objects are looked for when an address in them is asked for first, below the directories that the
 * options name and nowhere else; never on the network unless a fetch function is given. What has
 * another build id than the one that was recorded is not used. Each distinct address is looked up once;
 * asking again is a look into a table.
 *
 * Names are those of perf: "[kernel.kallsyms]", "[module]", "/tmp/perf-PID.map".
 *
 * Threads: one at a time.
 */
#ifndef PERFDATA_SYMBOL_H
#define PERFDATA_SYMBOL_H

#include <perfdata/world.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pd_symbols_flag {
	PD_SYMBOLS_NO_FILES = 1,    /* open nothing: objects have names, functions are not known */
	PD_SYMBOLS_RAW_NAMES = 2,   /* names as the linker has them, not demangled */
	PD_SYMBOLS_NO_INLINE = 4,   /* pd_symbols_lines gives the function itself only */
	PD_SYMBOLS_NO_JITDUMP = 8,  /* do not read jit-PID.dump, as perf does without perf inject */
	PD_SYMBOLS_ANY_FILE = 16,   /* pd_symbols_build_id takes what has the path now, whatever it was then */
	PD_SYMBOLS_SHORT_NAMES = 32 /* C++ names without what the standard library has by default: std::string */
};

/** Brings the object or debug file with a build id, as a path that stays valid during the call; NULL if there
 * is none. debug: the file with debug information is wanted. */
typedef const char *pd_fetch_fn(void *self, const uint8_t *build_id, size_t build_id_size, bool debug);

/** Zero is the default for each member; NULL means all defaults. Texts are copied. */
struct pd_symbols_options {
	size_t size;                /* sizeof(struct pd_symbols_options) */
	uint32_t flags;             /* PD_SYMBOLS_... */
	const char *symfs;          /* recorded paths are looked for below it; NULL: "/" */
	const char *kallsyms;       /* symbols of the kernel, none if it is empty; NULL: /proc/kallsyms if the
				     * build id is that of the running kernel, or what the cache has */
	const char *vmlinux;        /* image of the kernel; NULL: the usual places below symfs */
	const char *build_id_cache; /* perf's, such as ~/.debug; NULL: none */
	const char *const *debug_paths; /* for debug files; NULL: /usr/lib/debug */
	size_t debug_path_count;
	const char *index;          /* directory where tables of symbols and lines are kept from run to run, for the
				     * files they were read from; NULL: none. Made if it is missing. */
	pd_fetch_fn *fetch;         /* NULL: nothing is fetched */
	void *fetch_self;
	uint64_t memory_limit;      /* most bytes for one object; 0 means 1 GiB */
	const char *const *archives; /* tar files in the layout of the cache, as perf archive makes them, or bundles; looked
				     * at before directories, at most 12 */
	size_t archive_count;
	const char *spare_archive;  /* one that is looked at when nothing else has an object, and need not exist */
};

struct pd_symbols;

/** How well the functions of an object are known. */
enum pd_dso_state {
	PD_DSO_UNUSED,     /* nobody asked yet */
	PD_DSO_SYMBOLS,    /* it has a table of symbols */
	PD_DSO_NO_SYMBOLS, /* it was found, but has none */
	PD_DSO_MISSING,    /* it was not found */
	PD_DSO_MISMATCH    /* what was found has another build id */
};

/** Objects that go by one name. Lives as long as the symbols, and so does all that it points to. */
struct pd_dso {
	size_t index;          /* see pd_symbols_dso */
	const char *name;      /* short, as perf report shows it: "libc.so.6", "[kernel.kallsyms]", "[vdso]" */
	const char *long_name; /* as perf script shows it: a path, or the short name */
	const struct pd_object *object; /* NULL for code made at run time (perf-PID.map) */
	bool kernel;           /* the kernel, a module, or code that the kernel made */
	enum pd_dso_state state;
	const char *detail;    /* where its symbols came from, or why there are none; "" if not known yet */
};

/** A function. Two places in the same function have the same pointer. */
struct pd_function {
	size_t index;            /* dense, in the order of first use; see pd_symbols_function */
	const struct pd_dso *dso;
	const char *name;        /* demangled, unless PD_SYMBOLS_RAW_NAMES; never NULL */
	const char *linker_name; /* as it stands in the object */
	uint64_t start, end;     /* in the addresses of its symbols, end behind it; 0, 0 if it was inlined */
	char bind;               /* 'g' global, 'l' local, 'w' weak, 'u' not known */
};

/** What stands at an address. */
struct pd_place {
	const struct pd_dso *dso;           /* NULL: nothing is known to be mapped there */
	const struct pd_function *function; /* NULL: not known */
	uint64_t addr; /* the address as the symbols of dso have it; as recorded if dso is NULL */
	uint64_t recorded; /* the address as it was recorded */
};

/** Where code comes from. */
struct pd_line {
	const struct pd_function *function; /* which was inlined, or the function itself; never NULL */
	const char *file; /* path as the compiler had it, or NULL */
	uint32_t line;    /* 0: not known */
	bool inlined;     /* its code stands inside of the next entry's function */
};

/** The file gives names of kernel objects and its machine; world must stay settled as long as places are
 * asked for, and both must live longer than the symbols. If the file is a bundle (bundle.h), objects are looked for in it
 * first, and what has no build id nowhere else, unless symfs is given.
 * Errors: PD_ERROR_MEMORY, PD_ERROR_ARGUMENT; PD_ERROR_SYSTEM and PD_ERROR_FORMAT for a kallsyms, vmlinux or archive
 * that was given and cannot be read. */
PD_API enum pd_status pd_symbols_new(struct pd_file *file, const struct pd_world *world,
				     const struct pd_symbols_options *options, struct pd_symbols **symbols_out,
				     struct pd_error *error);
PD_API void pd_symbols_free(struct pd_symbols *symbols);

/** What stands at an address of a process: pd_world_locate, then its function. cpumode is PD_CPUMODE_...
 * Never fails: without memory things are not known, see pd_symbols_failed. */
PD_API struct pd_place pd_symbols_place(struct pd_symbols *symbols, uint32_t pid, unsigned cpumode,
					struct pd_moment when, uint64_t addr);
/** The same for a location that is known already; addr is the recorded address. */
PD_API struct pd_place pd_symbols_at(struct pd_symbols *symbols, const struct pd_location *location,
				     struct pd_moment when, uint64_t addr);
/** Lines of a place and of the functions that were inlined there: innermost first, the function itself last. Returns
 * how many there are, which may be more than capacity; 0 if the function is not known. */
PD_API size_t pd_symbols_lines(struct pd_symbols *symbols, const struct pd_place *place,
			       struct pd_line *lines_out, size_t capacity);
/** A build id. */
struct pd_build_id {
	uint8_t size; /* 0: none */
	uint8_t bytes[20];
};

/** The build id of an object: what was recorded, else that of what is there now and is known to be the same: its file
 * below symfs; the kernel that runs here, its modules and its vdso. A file that has another inode than the one that was
 * recorded, or was changed later than the recording, is not the same. False if there is none: *why_out then says why,
 * and is valid until the next call. The object must be of the world of the symbols. */
PD_API bool pd_symbols_build_id(struct pd_symbols *symbols, const struct pd_object *object,
				struct pd_build_id *id_out, const char **why_out);
/** True if memory ran out: some names are missing. */
PD_API bool pd_symbols_failed(const struct pd_symbols *symbols);

/** The index-th object that was asked for, and function; NULL past the end. */
PD_API const struct pd_dso *pd_symbols_dso(const struct pd_symbols *symbols, size_t index);
PD_API const struct pd_function *pd_symbols_function(const struct pd_symbols *symbols, size_t index);

#ifdef __cplusplus
}
#endif
#endif
