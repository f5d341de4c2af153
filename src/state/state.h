/* SPDX-License-Identifier: MIT */
/*
 * The inside of struct pd_state: what was fed, in the order of feeding, and what finalizing makes of it, which
 * lives in one pool and is freed when more is fed.
 */
#ifndef PD_STATE_STATE_H
#define PD_STATE_STATE_H

#include <perfdata/state.h>

#include "base/lookup/hash.h"
#include "base/memory.h"
#include "state/known.h"
#include "state/maps.h"
#include "state/order.h"
#include "state/space/spaces.h"

enum pd_change_kind {
	PD_CHANGE_NAME,
	PD_CHANGE_FORK,
	PD_CHANGE_EXIT,
	PD_CHANGE_NAMESPACES
};

// A thread began, ended, got a name or namespaces.
struct pd_task_change {
	struct pd_moment when; // first: see order.h
	uint32_t pid, tid;
	union {
		struct {
			uint32_t ppid, ptid; // FORK
		};
		uint32_t text;  // NAME: number in texts
		uint32_t links; // NAMESPACES: number in links
	};
	uint8_t kind; // enum pd_change_kind
	bool exec;    // NAME: by exec; FORK: without the mappings of the parent
};

struct pd_bpf_change {
	struct pd_moment when;
	uint32_t id;
	bool unload;
	uint8_t tag[8];
};

// A build id by path.
struct pd_named_build_id {
	const char *key; // see pd_state_build_id_key
	uint32_t machine;
	uint8_t size;
	uint8_t bytes[20];
};

struct pd_object_full {
	struct pd_object object;  // first: what the user sees
	const char *build_id_key; // what its build id may come under
	bool own_build_id;        // by the mapping itself
};

struct pd_cgroup_path {
	uint64_t id;
	const char *path;
	struct pd_moment from;
};

// The user part of call chains of earlier samples.
struct pd_deferred_chain {
	uint64_t cookie;
	struct pd_moment when;
	struct pd_u64s chain;
	uint32_t tid; // 0: not said
};

// A thread number and its lives: so many of threads, from the first on.
struct pd_tid {
	uint32_t tid;
	uint32_t first, count;
};

// What a thread has: up to those of the next thread.
struct pd_thread_parts {
	uint32_t names, links, spaces;
};

struct pd_thread_space {
	struct pd_moment from;
	uint32_t space;
};

struct pd_thread_links {
	struct pd_moment from;
	struct pd_list links;
};

// The address space of a kernel.
struct pd_kernel_space {
	uint32_t machine;
	uint32_t space;
};

struct pd_state {
	uint64_t limit;
	uint64_t seed;
	enum pd_status failure; // of the present call
	// fed
	uint64_t fed_bytes;   // of the lists
	struct pd_arena kept; // texts, objects, namespaces, code, and blocks of lists
	const char **texts;
	size_t text_count, text_capacity;
	struct pd_index text_index;
	struct pd_object_full **objects;
	size_t object_count, object_capacity;
	struct pd_index object_index;
	struct pd_maps maps;
	struct pd_known_maps known;
	struct pd_blocks tasks; // struct pd_task_change
	struct pd_list *namespaces;
	size_t namespace_count, namespace_capacity;
	struct pd_bpf_change *bpf;
	size_t bpf_count, bpf_capacity;
	struct pd_code_change *code;
	size_t code_count, code_capacity;
	struct pd_cgroup_path *cgroups;
	size_t cgroup_count, cgroup_capacity;
	struct pd_index cgroup_index;
	struct pd_arena chains; // of the next
	struct pd_deferred_chain *deferred;
	size_t deferred_count, deferred_capacity;
	struct pd_index deferred_index;
	struct pd_named_build_id *build_ids;
	size_t build_id_count, build_id_capacity;
	// finalized
	bool finalized;
	struct pd_pool pool;
	struct pd_index tid_index;
	struct pd_tid *tids;
	struct pd_thread *threads;     // by tid, then by time
	struct pd_thread_parts *parts; // one more at the end
	size_t thread_count;
	struct pd_thread_name *names;
	struct pd_thread_links *links;
	struct pd_thread_space *spaces;
	struct pd_spaces address_spaces;
	struct pd_map_views views;
	struct pd_index kernel_index;
	struct pd_kernel_space *kernels;
	size_t kernel_count;
	uint32_t ksymbol_space;
	struct pd_bpf *bpfs; // by id, then by time
	size_t finalized_bpf_count;
};

// Memory of the state, zeroed if data is NULL. NULL or false, and state->failure set, if there is none
// or the limit is reached.
void *pd_state_keep(struct pd_state *state, const void *data, size_t size);
bool pd_state_reserve(struct pd_state *state, void **items, size_t *capacity, size_t want, size_t size);
// Reserves memory for one more item of a list.
#define PD_STATE_GROW(state, items, item)                                                                         \
	pd_state_reserve((state), (void **)&(state)->items, &(state)->item##_capacity, (state)->item##_count + 1, \
			 sizeof(*(state)->items))
// The rest of a chain that ends with a cookie, of a sample of this moment; empty if no record has it. It begins with its marker.
struct pd_u64s pd_state_deferred(const struct pd_state *state, uint64_t cookie, uint32_t tid, struct pd_moment when);
// For who reads a recording once: the first of these records, in the order in which they were taken, have no samples to come.
void pd_state_forget_deferred(struct pd_state *state, size_t count);
// A new item of a list, zeroed; NULL as above.
void *pd_state_add(struct pd_state *state, struct pd_blocks *list, size_t item_size);
// The number of the one copy of a text, or PD_INDEX_END as above.
uint32_t pd_state_text_number(struct pd_state *state, const char *data, size_t length);
// That copy, or NULL.
const char *pd_state_text(struct pd_state *state, const char *data, size_t length);
// The one object that is like this one, whose path has a length instead of an end.
const struct pd_object *pd_state_object_like(struct pd_state *state, const struct pd_object *like, size_t path_length);
// What build ids come under, as the one copy of a text: the path; "[name]" for a module, which stands under a
// path here and a name there; "[kernel.kallsyms]" for a kernel, which may come as the file of its image.
const char *pd_state_build_id_key(struct pd_state *state, const char *path, size_t length, bool of_kernel);
// Gives objects without a build id the one that came with their path. False if there is no memory.
bool pd_state_name_objects(struct pd_state *state);
// What kind of thing users map under a path.
enum pd_object_kind pd_object_kind_of(const char *path);

// The number of what is mapped, or PD_INDEX_END if there is no memory. Bytes between its members are zero.
uint32_t pd_state_map_kind(struct pd_state *state, const struct pd_map_kind *kind);
// Adds a mapping. False if there is no memory.
bool pd_state_put_map(struct pd_state *state, struct pd_moment from, uint64_t start, uint32_t kind,
		      struct pd_map_owner owner);
// The mapping with a number, which is less than their count, as users see it. NULL if there is no memory, which may be
// so only before finalizing.
const struct pd_mapping *pd_state_map_view(const struct pd_state *state, uint32_t number);
bool pd_state_make_views(struct pd_state *state);

// The number of a thread number in tids, or PD_INDEX_END.
uint32_t pd_state_tid(const struct pd_state *state, uint32_t tid);
// The number of a kernel in kernels, or PD_INDEX_END.
uint32_t pd_state_kernel(const struct pd_state *state, const struct pd_kernel_space *kernels, uint32_t machine);

// How much was fed, and what finalizing made of it.
struct pd_state_sizes {
	uint64_t fed_count, fed_bytes; // mappings and changes of threads
	uint64_t space_count, finalized_bytes;
};
struct pd_state_sizes pd_state_measure(const struct pd_state *state);
// What finalizing makes of threads and their spaces. False if there is no memory.
bool pd_state_replay(struct pd_state *state, struct pd_pool *temp);
// Frees what was finalized.
void pd_state_drop_finalized(struct pd_state *state);

#endif
