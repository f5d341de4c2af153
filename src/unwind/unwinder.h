/* SPDX-License-Identifier: MIT */
/*
 * The inside of an unwinder. What all threads have in common is a table of modules by object, each loaded once with a lock and
 * read without one. A thread has a cache of rules by address, since code comes again.
 */
#ifndef PD_UNWIND_UNWINDER_H
#define PD_UNWIND_UNWINDER_H

#include <pthread.h>

#include <perfdata/unwind.h>

#include "unwind/rules/arch.h"
#include "unwind/expression.h"
#include "unwind/rules/table.h"

// Bytes of a file that stand at an address of its object.
struct pd_unwind_segment {
	uint64_t offset, size, addr;
	bool is_code;
	bool is_constant; // nobody writes there
};

enum {
	PD_UNWIND_PAGE = 4096
};

// A part of a file.
struct pd_unwind_page {
	struct pd_unwind_page *next;
	uint64_t offset;
	size_t size;
	uint8_t bytes[PD_UNWIND_PAGE];
};

// The rules of one object, whatever paths lead to it.
struct pd_unwind_module {
	const struct pd_dso *dso;
	const struct pd_object *object;
	struct pd_unwind_table table;
	struct pd_unwind_segment *segments; // with code or constants
	size_t segment_count;
	struct pd_unwind_page *pages; // of constants that were read, with the lock
	size_t page_count;
	uint32_t number; // in the order in which they were loaded
	bool big;
	bool found;    // else there is no file
	bool is_saved; // the index had its rules
	struct pd_unwind_module *next;
};

struct pd_unwind_shared {
	struct pd_file *file;
	const struct pd_state *state;
	struct pd_symbols *symbols;
	enum pd_arch machine;
	bool is_big;                       // memory
	pthread_mutex_t own_lock, *lock;   // over symbols, and to load
	struct pd_unwind_module **modules; // by index of the object; NULL: not loaded
	size_t module_count;
	struct pd_unwind_module *first; // the last one that was loaded
	size_t users;                   // unwinders
	bool failed;
};

// What is known of an address.
struct pd_unwind_known {
	const struct pd_unwind_rule *rule;     // NULL: none
	const struct pd_unwind_module *module; // NULL: none
	const struct pd_object *object;
	bool is_mapped, is_code;
};

// Addresses of a process with one mapping, or with none.
struct pd_unwind_span {
	uint64_t begin, size;
	uint64_t bias; // what makes an address one of the rules
	const struct pd_unwind_module *module;
	const struct pd_object *object;
	bool is_mapped, is_code;
};

enum {
	PD_UNWIND_SPANS = 32,
	PD_UNWIND_MAPS = 64,
	PD_UNWIND_CACHED = 1 << 16,
	PD_UNWIND_VIEWS = 1 << 10,
	PD_UNWIND_TRAILS = 16,
	PD_UNWIND_TRAIL = 128,
	PD_UNWIND_STACK = 1024
};

// Those of a process, while its maps stay as they are; a newer one takes the place.
struct pd_unwind_maps {
	uint64_t maps;
	const struct pd_unwind_arch *arch; // a process may begin as one of another
	uint32_t pid;
	uint8_t count, next;
	uint8_t last; // that was asked for
	struct pd_unwind_span spans[PD_UNWIND_SPANS];
};

// The rule at an address of a module. Few bytes, since addresses come from everywhere: what the place in the cache does not say of both.
struct pd_unwind_cached {
	uint32_t rest;
	uint32_t rule_plus_1; // 0: nothing is here
};

// Of a thread for a while.
struct pd_unwind_view {
	struct pd_view view;
	uint32_t pid, tid;
	bool used;
};

// A frame of a thread's last sample. Most of the outer ones are there again in the next one.
struct pd_unwind_trod {
	uint64_t addr, sp;
	struct pd_unwind_known known;
};

struct pd_unwind_trail {
	uint64_t maps;
	const struct pd_unwind_arch *arch;
	uint32_t pid, tid;
	size_t count;
	struct pd_unwind_trod frames[PD_UNWIND_TRAIL];
};

struct pd_unwind_calls;

// How much was done; see struct pd_unwind_stats.
struct pd_unwind_effort {
	uint64_t frames, again, asked, searched;
};

struct pd_unwinder {
	struct pd_unwind_shared *shared;
	struct pd_unwind_options options;
	struct pd_unwind_maps *maps;                         // by a hash
	struct pd_unwind_cached *cached;                     // the same
	struct pd_unwind_view *views;                        // by tid
	struct pd_unwind_trail *trails;                      // one more than there are in the next
	struct pd_unwind_trail *trail[PD_UNWIND_TRAILS + 1]; // by tid; the last one is free
	struct pd_unwind_calls *calls;                       // by tid, to be stitched, or NULL
	uint64_t kept_calls;                                 // of the processor
	uint64_t *chain;
	size_t chain_capacity;
	uint64_t (*counts)[PD_UNWIND_ENDS]; // by object, the first is for none
	size_t count_count;
	struct pd_unwind_effort effort;
	bool failed;
};

// A chain on its way.
struct pd_unwind_walk {
	struct pd_unwinder *unwinder;
	const struct pd_unwind_arch *arch;
	struct pd_unwind_memory memory;
	struct pd_unwind_registers registers;
	uint64_t pc;
	uint64_t maps;
	uint32_t pid, tid;
	struct pd_moment when;
	struct pd_unwind_maps *known;                 // of the process
	const struct pd_unwind_trod *trod, *trod_end; // of the last sample, what was not passed yet
	struct pd_unwind_trail *trail;                // of this one
	unsigned steps_left;                          // of expressions
	bool is_exact;                                // pc is not a return address
	bool has_link;                                // the link register may have the return address
	enum pd_unwind_end end;
	const struct pd_object *object; // that the last address was in
	uint64_t *frames;
	size_t count, most;
};

// ---- module.c ----

struct pd_unwind_shared *pd_unwind_shared_new(struct pd_file *file, const struct pd_state *state,
					      struct pd_symbols *symbols);
void pd_unwind_shared_free(struct pd_unwind_shared *shared);
// Makes room for objects that the state has now. False if there is no memory.
bool pd_unwind_shared_grow(struct pd_unwind_shared *shared);
// The module of a location, which is loaded if it is not yet; NULL if there is no memory.
const struct pd_unwind_module *pd_unwind_module_of(struct pd_unwind_shared *shared, const struct pd_location *location,
						   const struct pd_unwind_arch *arch);
// With the lock.
void pd_unwind_shared_add(struct pd_unwind_shared *shared, struct pd_unwind_module *module);
// The segment of code that an offset in the file is in, or NULL.
const struct pd_unwind_segment *pd_unwind_segment_at(const struct pd_unwind_module *module, uint64_t offset);

// ---- constants.c ----

// Bytes of the memory of a process that are as in the file of an object. False if they are not known. self is the walk.
bool pd_unwind_fetch_constants(void *self, uint64_t addr, unsigned size, uint8_t *bytes_out);

// ---- jitted.c ----

// Rules of code without a file, by address; NULL if nothing says any.
const struct pd_unwind_module *pd_unwind_jitted_module(struct pd_unwind_shared *shared,
						       const struct pd_location *location,
						       const struct pd_unwind_arch *arch);

struct pd_jitdump;
// The rules of all codes of jitdumps; the list ends with NULL. False if there is no memory.
bool pd_unwind_compile_jits(struct pd_jitdump *const *jits, const struct pd_unwind_arch *arch,
			    struct pd_unwind_table *table);

// ---- calls.c ----

void pd_unwind_prepare_calls(struct pd_unwinder *unwinder);
// The chain of a sample whose user part is in its branch stack. False if it is not.
bool pd_unwind_calls(struct pd_unwinder *unwinder, const struct pd_sample *sample, struct pd_unwound *unwound_out);

// ---- parts.c ----

// The chain of a sample that has it in two parts, or lacks its second function. False if there is nothing to add.
bool pd_unwind_parts(struct pd_unwinder *unwinder, const struct pd_record *record, const struct pd_sample *sample,
		     struct pd_unwound *unwound_out);

// ---- step.c ----

// Fills frames, count, end and object.
void pd_unwind_walk(struct pd_unwind_walk *walk);

// ---- known.c ----

// The number of the mappings that a thread has.
uint64_t pd_unwinder_maps(struct pd_unwinder *unwinder, uint32_t pid, uint32_t tid, struct pd_moment when);
// To be called first for a walk.
void pd_unwind_begin(struct pd_unwind_walk *walk);
// The mapping around an address, valid until the next one is asked for.
const struct pd_unwind_span *pd_unwind_span_at(struct pd_unwind_walk *walk, uint64_t addr);
// What is at an address.
struct pd_unwind_known pd_unwind_ask(struct pd_unwind_walk *walk, uint64_t addr);
// To be called last: what was found out is for the next sample of the thread.
void pd_unwind_keep_trail(struct pd_unwind_walk *walk);

// ---- print.c ----

// Samples by how they ended, in all objects.
bool pd_unwinder_is_complete(const struct pd_unwinder *unwinder);
void pd_unwinder_sums(const struct pd_unwinder *unwinder, uint64_t sums_out[PD_UNWIND_ENDS]);

// ---- unwinder.c, for the rest of the library ----

// Others use the symbols with this lock.
void pd_unwinder_set_lock(struct pd_unwinder *unwinder, pthread_mutex_t *lock);
// Samples are unwound once more.
void pd_unwinder_forget_counts(struct pd_unwinder *unwinder);
// The state was finalized anew: mappings may have changed, and there may be more objects. There must be no clones. False if there
// is no memory.
bool pd_unwinder_follow(struct pd_unwinder *unwinder);
// Whether chains of an event are not, or not all, as they were recorded: copied stacks are unwound, parts joined, branches calls.
bool pd_unwinder_wants(const struct pd_attr *attr);
bool pd_unwinder_has_stacks(const struct pd_attr *attr);
bool pd_unwinder_has_calls(const struct pd_attr *attr);
bool pd_unwinder_has_link(const struct pd_attr *attr);
// That of the recording, or this one if it does not say it.
enum pd_arch pd_unwinder_machine(struct pd_file *file);
static inline bool pd_unwinder_joins(const struct pd_attr *attr)
{
	return PD_BITS(attr->flags, PD_ATTR_DEFER_CALLCHAIN);
}
// Whether a chain ends with the number of its rest, and that number.
static inline bool pd_unwinder_has_more(const struct pd_sample *sample)
{
	struct pd_u64s chain = sample->callchain;

	return chain.count >= 2 && chain.items[chain.count - 2] == (uint64_t)PD_CONTEXT_USER_DEFERRED;
}
static inline uint64_t pd_unwinder_more(const struct pd_sample *sample)
{
	return sample->callchain.items[sample->callchain.count - 1];
}
// Whether a sample lacks the rest of its chain, which no record that the state took has.
bool pd_unwinder_waits(const struct pd_state *state, const struct pd_record *record);
// The same as pd_unwinder_sample, of a sample that was decoded.
bool pd_unwinder_decoded(struct pd_unwinder *unwinder, const struct pd_record *record, const struct pd_sample *sample,
			 struct pd_unwound *unwound_out);
// The chain of the last sample as it is written: with a mark at its end if there are more callers, see format/chain.h.
struct pd_u64s pd_unwound_marked(struct pd_unwinder *unwinder, const struct pd_unwound *unwound);

#endif
