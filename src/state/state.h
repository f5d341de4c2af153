/* SPDX-License-Identifier: MIT */
/*
 * The inside of struct pd_state: what was fed, in the order of feeding, and what finalizing makes of it, which
 * lives in one pool and is freed when more is fed.
 */
#ifndef PD_STATE_STATE_H
#define PD_STATE_STATE_H

#include <perfdata/state.h>

#include "base/memory.h"
#include "state/intervals.h"
#include "base/lookup/hash.h"
#include "state/order.h"

enum pd_change_kind {
	PD_CHANGE_MAPPING, // number of a mapping
	PD_CHANGE_NAME,    // numbers of fed_tasks
	PD_CHANGE_FORK,
	PD_CHANGE_EXIT,
	PD_CHANGE_NAMESPACES
};

// A thread began, ended, got a name or namespaces.
struct pd_task_change {
	uint32_t pid, tid;
	uint32_t ppid, ptid;  // FORK
	bool exec;            // NAME: by exec; FORK: without the mappings of the parent
	const char *text;     // NAME
	struct pd_list links; // NAMESPACES
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

// A thread number and its lives: threads[first] up to those of the next one.
struct pd_tid {
	uint32_t tid;
	uint32_t first;
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
	struct pd_arena kept; // texts, objects, namespaces, code
	const char **texts;
	size_t text_count, text_capacity;
	struct pd_index text_index;
	struct pd_object_full **objects;
	size_t object_count, object_capacity;
	struct pd_index object_index;
	struct pd_mapping *mappings; // object NULL: code that went
	size_t mapping_count, mapping_capacity;
	struct pd_task_change *tasks;
	size_t task_count, task_capacity;
	struct pd_order_item *order; // of mappings and tasks
	size_t order_count, order_capacity;
	struct pd_bpf_change *bpf;
	size_t bpf_count, bpf_capacity;
	struct pd_code_change *code;
	size_t code_count, code_capacity;
	struct pd_cgroup_path *cgroups;
	size_t cgroup_count, cgroup_capacity;
	struct pd_index cgroup_index;
	struct pd_named_build_id *build_ids;
	size_t build_id_count, build_id_capacity;
	// finalized
	bool finalized;
	struct pd_pool pool;
	struct pd_index tid_index;
	struct pd_tid *tids; // by tid; one more at the end
	size_t tid_count;
	struct pd_thread *threads;     // by tid, then by time
	struct pd_thread_parts *parts; // one more at the end
	size_t thread_count;
	struct pd_thread_name *names;
	struct pd_thread_links *links;
	struct pd_thread_space *spaces;
	struct pd_intervals intervals;
	struct pd_index kernel_index;
	struct pd_kernel_space *kernels;
	size_t kernel_count;
	uint32_t ksymbol_space;
	struct pd_bpf *bpfs; // by id, then by time
	size_t finalized_bpf_count;
};

static inline bool pd_moment_before(struct pd_moment a, struct pd_moment b)
{
	return a.time_ns < b.time_ns || (a.time_ns == b.time_ns && a.order < b.order);
}

// Memory of the state, zeroed if data is NULL. NULL or false, and state->failure set, if there is none
// or the limit is reached.
void *pd_state_keep(struct pd_state *state, const void *data, size_t size);
bool pd_state_reserve(struct pd_state *state, void **items, size_t *capacity, size_t want, size_t size);
// Reserves memory for one more item of a list.
#define PD_STATE_GROW(state, items, item)                                                                         \
	pd_state_reserve((state), (void **)&(state)->items, &(state)->item##_capacity, (state)->item##_count + 1, \
			 sizeof(*(state)->items))
// The one copy of a text.
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

// The number of a thread number in tids, or PD_INDEX_END.
uint32_t pd_state_tid(const struct pd_state *state, uint32_t tid);
// The number of a kernel in kernels, or PD_INDEX_END.
uint32_t pd_state_kernel(const struct pd_state *state, const struct pd_kernel_space *kernels, uint32_t machine);

// Bytes of what was fed, and of what finalizing made of it.
void pd_state_memory(const struct pd_state *state, uint64_t *fed_out, uint64_t *finalized_out);
// What finalizing makes of threads and their spaces. False if there is no memory.
bool pd_state_replay(struct pd_state *state, struct pd_pool *temp);
// Frees what was finalized.
void pd_state_drop_finalized(struct pd_state *state);

#endif
