/* SPDX-License-Identifier: MIT */
/*
 * The inside of struct pd_symbols: objects by name, where each has its symbols from, and what was looked up already.
 *
 * An address goes through three steps. Its object is found in a table. Its place in the terms of the symbols comes from
 * the segments of the object, or from how far the kernel was moved. The function comes from the memo, else from the
 * table of symbols.
 */
#ifndef PD_SYMBOL_LOOKUP_H
#define PD_SYMBOL_LOOKUP_H

#include <perfdata/symbol.h>

#include "base/memory.h"
#include "base/text/text.h"
#include "object/find/find.h"
#include "object/runtime/jitdump.h"
#include "object/symbols/kallsyms.h"
#include "object/dwarf/lines.h"
#include "base/lookup/u64_map.h"

// Bytes of a file that stand at an address.
struct pd_loaded {
	uint64_t offset;
	uint64_t size;
	uint64_t addr;
};

// How a location becomes a place in the terms of the symbols.
enum pd_terms {
	PD_TERMS_LOCATION, // pd_location.offset as it is
	PD_TERMS_SPANS,    // an offset in a file: by the spans
	PD_TERMS_MOVED     // the recorded address, less pd_dso_full.moved
};

struct pd_dso_full {
	struct pd_dso dso;           // first: what the user sees
	struct pd_object_id id;      // as recorded
	struct pd_object_id file_id; // the same, or that of the file if none was recorded
	uint32_t machine;
	uint32_t pid;                  // of memory without a file, else 0
	const char *path;              // where to look for it
	const struct pd_symtab *table; // or NULL
	struct pd_symtab *own_table;
	struct pd_symtab *reread_table; // the same from the files, where a page of it is damaged; NULL: see reread
	bool reread;                    // was tried
	bool is_module;                 // of the kernel: its symbols are written from where its code begins
	enum pd_terms terms;
	uint64_t moved;
	struct pd_loaded *spans;
	size_t span_count;
	const struct pd_kallsyms *kallsyms; // whose table it is if only the symbols of one module are its own, else NULL
	uint16_t owner;                     // the number of that module
	struct pd_u64_map functions;        // by their number in the table
	struct pd_u64_map inlined;          // functions without a place, by where their names stand in lines
	struct pd_jitdump *const *jits;     // of the process, NULL after the last one; the table has what they lack
	struct pd_symbols *symbols;
	bool has_file;            // lines may be asked for
	struct pd_kernel *kernel; // that it is, or NULL
	bool has_pages;           // the kernel has them, instead of a table or beside it
	bool lines_asked;
	struct pd_lines *lines;     // or NULL
	struct pd_found line_files; // opened for them
	struct pd_file_origin line_origin;
};

struct pd_function_full {
	struct pd_function function; // first: what the user sees
	const struct pd_dso_full *dso;
	uint64_t number; // among those of the dso, see pd_lookup_jit_number
};

// Where the symbols of a kernel come from: a list of symbols, or an image.
struct pd_kernel {
	struct pd_kernel *next;
	uint32_t machine;
	struct pd_kallsyms
		kallsyms; // the table for those who called pd_lookup_kernel_table, or load_list in lookup_kernel.c
	bool has_kallsyms;
	bool is_running;           // they are those of the kernel that runs here
	bool list_failed;          // of which the image alone is known
	struct pd_mapping mapping; // the first that says where a symbol was; without an object if none does
	struct pd_symtab *image;
	const char *kcore_path; // a copy of its code at the addresses of kallsyms, or NULL
	const char *image_path; // for pd_find; NULL: the one that was given, or fetched
	uint64_t moved;         // recorded addresses are this much larger than those of the symbols
	enum pd_dso_state state;
	const char *detail;
};

// A jitdump that a process mapped.
struct pd_jit_mark {
	uint32_t pid;
	const struct pd_object *object;
};

// All that a process mapped, once it was asked for.
struct pd_process_dumps {
	uint32_t pid;
	struct pd_jitdump **jits; // NULL after the last one; NULL if there is none
	const char *detail;       // the first one's path
	const char *tried;        // which could not be read, and why
};

// The file's table of build ids has better names for the kernel and its modules.
struct pd_kernel_names {
	bool read;
	const char *kernel;
	const char **modules;
	size_t count, capacity;
	struct pd_index index; // by the name of the module
};

struct pd_symbols {
	struct pd_file *file;
	const struct pd_state *state;
	uint64_t serial; // from 1, which no others have in this process
	uint64_t seed;
	uint32_t flags;
	struct pd_find_places places;
	struct pd_archive *archives[PD_FIND_ARCHIVES]; // that were opened here
	size_t archive_count;
	const char *spare_path;
	struct pd_archive *spare; // once it was asked for
	bool spare_asked;
	const char *kallsyms_path, *vmlinux_path;
	const char *index;
	size_t open_tables; // whose pages are read from files of the index when they are asked for
	bool own_machine;   // symfs is the root: the running kernel may be the one that was recorded
	pd_fetch_fn *fetch;
	void *fetch_self;
	size_t limit;         // most bytes for one object
	struct pd_arena kept; // options, names, functions
	struct pd_text scratch;
	struct pd_dso_full **by_object;
	size_t by_object_count;
	struct pd_index by_pid;  // memory without a file
	struct pd_index by_name; // dsos by long name and build id
	struct pd_dso_full **dsos;
	size_t dso_count, dso_capacity;
	struct pd_function_full **functions;
	size_t function_count, function_capacity;
	struct pd_index inlined; // functions without a place, by dso and name
	struct pd_kernel_names kernel_names;
	struct pd_kernel *kernels;
	struct pd_kallsyms given_kallsyms;
	struct pd_elf *given_image;
	struct pd_jit_mark *jit_marks;
	size_t jit_mark_count, jit_mark_capacity;
	size_t mappings_searched; // when the marks were looked for
	size_t objects_searched;  // for names of jitdumps
	bool has_jit_objects;
	struct pd_process_dumps *dumps;
	size_t dump_count, dump_capacity;
	struct pd_codes *codes; // or NULL
	bool kernel_checked;
	const char *other_kernel; // why the kernel that runs here is not the one that was recorded, or NULL
	char why[256];            // why there is no build id
	bool failed;
};

// ---- lookup_name.c ----

/** What perf calls an object: the name of scripts, from which pd_lookup_short_name makes that of reports. NULL if there
 * is no memory. Not for memory without a file. */
const char *pd_lookup_name(struct pd_symbols *symbols, const struct pd_object *object);
const char *pd_lookup_short_name(struct pd_symbols *symbols, const char *name, enum pd_object_kind kind);
/** True for code that some program made: its names are in the perf map of its process. */
bool pd_lookup_is_nameless(const struct pd_location *location);
/** True for memory that has no object of its own, so that an address in it has no offset. */
bool pd_lookup_has_no_file(const struct pd_location *location);
/** The name of a module in its path or in brackets. */
bool pd_lookup_module(const char *path, const char **name_out, size_t *length_out);
void pd_lookup_names_fini(struct pd_kernel_names *names);

// ---- lookup_dso.c ----

/** The dso of a location; NULL if there is no memory. */
struct pd_dso_full *pd_lookup_dso(struct pd_symbols *symbols, const struct pd_location *location);

// ---- lookup_load.c ----

/** Loads what most files with samples of the kernel want and what takes long, if it is sure to be used for them: the names of
 * the kernel that runs here. Nothing else may use the symbols meanwhile. In lookup_kernel.c */
void pd_lookup_prepare(struct pd_symbols *symbols);
/** Finds the symbols of a dso; location is one in it. Sets state and detail. */
void pd_lookup_load(struct pd_symbols *symbols, struct pd_dso_full *dso, const struct pd_location *location);
void pd_lookup_unload(struct pd_dso_full *dso);
/** Says where was looked. */
void pd_lookup_report(struct pd_symbols *symbols, struct pd_dso_full *dso, enum pd_dso_state state, const char *format,
		      ...) PD_PRINTF(4, 5);
/** Finds the files of the object at a location; false if it has none that could be found. Close what was found. */
bool pd_lookup_open_files(struct pd_symbols *symbols, const struct pd_location *location, struct pd_found *found_out);
/** What to look for. */
struct pd_find_wanted pd_lookup_wanted(const struct pd_dso_full *dso);
/** Reads the symbol tables of an object and of its debug file, which may be NULL each, and puts them into the index. */
void pd_lookup_read_table(struct pd_symbols *symbols, struct pd_dso_full *dso, struct pd_elf *object,
			  struct pd_elf *debug, const struct pd_file_origin *origin);
/** The table of a dso once more, from its files instead of the index, with the same numbers: for pages that are damaged. NULL if there
 * are none. One thread. */
const struct pd_symtab *pd_lookup_reread_table(struct pd_symbols *symbols, struct pd_dso_full *dso);
/** Loads it from a file: an object and its debug file. */
void pd_lookup_load_file(struct pd_symbols *symbols, struct pd_dso_full *dso);
/** Appends where was looked and why nothing was used; true if something had another build id. */
bool pd_lookup_tries(struct pd_text *text, const struct pd_found *found);
/** A file that the fetch function brings, if it has the build id; or NULL. */
struct pd_elf *pd_lookup_fetch(struct pd_symbols *symbols, const struct pd_object_id *id, bool debug);
/** Sets spans and terms by the segments of an object. */
bool pd_lookup_take_spans(struct pd_symbols *symbols, struct pd_dso_full *dso, const struct pd_elf *elf);

/** The vdso that the kernel gave to this process, or NULL; of programs of 64 bits only. */
struct pd_elf *pd_lookup_own_vdso(void);
/** The same, if it is certain that it is that of the recording. */
struct pd_elf *pd_lookup_own_vdso_of(struct pd_symbols *symbols, const struct pd_dso_full *dso);

// ---- lookup_lines.c ----

/** Whether pd_symbols_lines has something to say of a dso, which opens its lines. One thread. */
bool pd_lookup_has_lines(struct pd_symbols *symbols, const struct pd_dso_full *dso);
void pd_lookup_lines_fini(struct pd_dso_full *dso);

// ---- lookup.c ----

/** A readable form of a linker's name, which lives as long as the symbols; tail: bytes after it that are none of the
 * linker's. */
const char *pd_lookup_readable(struct pd_symbols *symbols, const struct pd_dso_full *dso, const char *name,
			       size_t length, size_t tail);
/** Adds a function; NULL, and symbols->failed, without memory. */
struct pd_function_full *pd_lookup_add_function(struct pd_symbols *symbols, const struct pd_dso_full *dso,
						const struct pd_function *function);

/** Many places in objects that are known: all that several threads may do at the same time, once the objects are loaded, and
 * what only one may do. They are those that pd_symbols_place would find.
 *
 * The dso of an object, if it is loaded, else NULL. */
const struct pd_dso_full *pd_lookup_loaded(const struct pd_symbols *symbols, size_t object);
/** An address of a location in the terms of the symbols; not of memory without a file. */
uint64_t pd_lookup_addr(const struct pd_dso_full *dso, uint64_t offset, bool by_offset, uint64_t recorded);
/** The symbol that an address is in: its number in the table, PD_NO_SYMBOL, or PD_LOOKUP_ASK if one thread has to ask for it. */
#define PD_LOOKUP_ASK (PD_NO_SYMBOL - 1)
uint32_t pd_lookup_symbol(const struct pd_dso_full *dso, uint64_t addr);
/** The number of the function at an address in the terms of the symbols, among those of the dso; false if there is none. Not of
 * code that programs made. More of a kernel may be loaded: one thread then. */
bool pd_lookup_number(struct pd_symbols *symbols, const struct pd_dso_full *dso, uint64_t addr, uint64_t *number_out);
/** Asks for the memory that it will need, in stages as pd_symtab_prefetch. */
void pd_lookup_prefetch_number(const struct pd_dso_full *dso, uint64_t addr, unsigned stage);
/** One thread: loads the dso of a location. */
void pd_lookup_open(struct pd_symbols *symbols, const struct pd_location *location);
/** Numbers of dsos in an order of their own, whatever the order in which they were loaded: those from first on, as they are
 * noted. What is loaded meanwhile must be noted at once. */
struct pd_lookup_order {
	struct pd_symbols *symbols;
	uint32_t *numbers; // new ones by old ones; UINT32_MAX until they are noted
	size_t count, first, next;
};
/** False if there is no memory. */
bool pd_lookup_order_begin(struct pd_lookup_order *order, struct pd_symbols *symbols, size_t first);
/** False if the object is not loaded. */
bool pd_lookup_order_note(struct pd_lookup_order *order, size_t object);
void pd_lookup_order_end(struct pd_lookup_order *order);
/** Asks for the memory that pd_lookup_function will need. */
void pd_lookup_prefetch(const struct pd_symbols *symbols, const struct pd_place *place, uint32_t symbol);
/** One thread: the function of a symbol that was found for a place. */
const struct pd_function *pd_lookup_function(struct pd_symbols *symbols, const struct pd_place *place, uint32_t symbol);

// A code of the n-th jitdump of a process. Numbers of tables are smaller.
static inline uint64_t pd_lookup_jit_number(size_t dump, size_t code)
{
	return (uint64_t)(dump + 1) << 48 ^ code;
}

// The other way round; false for what is in the table.
static inline bool pd_lookup_jit_of(uint64_t number, size_t *dump_out, size_t *code_out)
{
	*dump_out = (size_t)(number >> 48) - 1;
	*code_out = (size_t)(number & ((UINT64_C(1) << 48) - 1));
	return number >> 48 != 0;
}

// ---- lookup_kernel.c ----

/** Reads the kallsyms and opens the vmlinux that were given. */
enum pd_status pd_lookup_kernel_given(struct pd_symbols *symbols, struct pd_error *error);
void pd_lookup_load_kernel(struct pd_symbols *symbols, struct pd_dso_full *dso, const struct pd_location *location);
/** The table that has an address of a kernel, in the terms of its symbols, or NULL: that of the image, which may be all
 * that was read so far, else that of the whole list. The latter's symbols have numbers from *numbers_out on. */
const struct pd_symtab *pd_lookup_kernel_table(struct pd_symbols *symbols, struct pd_kernel *kernel, uint64_t addr,
					       uint64_t *numbers_out);
/** The kernel may go on after what was recorded of it: true if its list of symbols has an address that nothing is mapped
 * at. Loads the list. */
bool pd_lookup_kernel_past_end(struct pd_symbols *symbols, uint64_t addr, struct pd_location *location_out);
/** Where sections of the host's kernel were when it was recorded; false if it is not known of all. */
bool pd_lookup_kernel_sections(struct pd_symbols *symbols, uint64_t addrs_out[PD_KERNEL_SECTIONS]);
void pd_lookup_kernels_fini(struct pd_symbols *symbols);
/** The build id that was recorded of the kernel of a machine, the host being 0. */
struct pd_object_id pd_lookup_kernel_id(const struct pd_symbols *symbols, uint32_t machine);
/** The build id of the kernel that runs here, and where its reference symbol stands, if the recording says what they were:
 * false if one differs, so that it was another kernel or another boot. True if nothing is known against it. */
bool pd_lookup_kernel_may_run(struct pd_symbols *symbols);
/** Where an image of a kernel may be, from 0 on; "" if the path is too long. False past the last one. */
bool pd_lookup_image_path(size_t index, const char *release, char *path, size_t size);
/** Build id of the kernel that runs here. */
bool pd_lookup_running_id(struct pd_object_id *id_out);
/** Build id in a file of notes, such as /sys/kernel/notes. */
bool pd_lookup_notes_id(const char *path, struct pd_object_id *id_out);
/** The kernel of a machine, with what was found of it; NULL if there is no memory. */
struct pd_kernel *pd_lookup_kernel_of(struct pd_symbols *symbols, uint32_t machine);
/** Reads the list of symbols if the image alone is known. False if that fails, now and later. */
bool pd_lookup_kernel_load_list(struct pd_symbols *symbols, struct pd_kernel *kernel);
/** The release of the kernel that was recorded, else of this one, for which here is the memory; "" if it is not known. */
struct utsname;
const char *pd_lookup_kernel_release(const struct pd_symbols *symbols, struct utsname *here);

// ---- lookup_kcore.c ----

/** The list of symbols beside a copy of the kernel's code, in the recording's own folder; which folder that is. False if there is none. */
bool pd_lookup_kcore_recorded(const struct pd_symbols *symbols, char *folder_out, size_t size,
			      struct pd_kallsyms *kallsyms_out);
/** The same in perf's cache, of the boot that was recorded. */
bool pd_lookup_kcore_cached(const struct pd_symbols *symbols, const struct pd_object_id *id,
			    const struct pd_mapping *reference, char *folder_out, size_t size,
			    struct pd_kallsyms *kallsyms_out);
/** The copy of the code of a kernel whose symbols are those of a list, or NULL. */
const char *pd_lookup_kcore_path(const struct pd_kernel *kernel);
/** Opens it. NULL if there is none, or it may not be read. */
struct pd_elf *pd_lookup_open_kcore(const struct pd_symbols *symbols, const struct pd_kernel *kernel);

// ---- lookup_module.c ----

void pd_lookup_load_module(struct pd_symbols *symbols, struct pd_dso_full *dso, const struct pd_location *location);

// ---- lookup_runtime.c ----

/** Code that programs made: perf-PID.map and jit-PID.dump. */
void pd_lookup_load_runtime(struct pd_symbols *symbols, struct pd_dso_full *dso);
/** Takes the names that came with the file, see pd_file_given. */
void pd_lookup_load_given(struct pd_symbols *symbols, struct pd_dso_full *dso);
/** The dumps of the index-th process that mapped one; NULL after the last one, without memory, and if dumps are not wanted. */
const struct pd_process_dumps *pd_lookup_dumps_at(struct pd_symbols *symbols, size_t index);
void pd_lookup_dumps_fini(struct pd_symbols *symbols);
/** Opens a file that a program made: of an archive, else of root or the user; says why not. */
bool pd_lookup_open_own(const struct pd_symbols *symbols, const char *path, struct pd_image *image,
			const char **reason);

// ---- codes.c ----

struct pd_codes;
void pd_lookup_codes_fini(struct pd_codes *codes);

#endif
