/* SPDX-License-Identifier: MIT */
/* Feeding a state: each record that changes it becomes a few numbers and texts that are kept once. */
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "format/decode.h"
#include "state/state.h"

enum {
	PART_OF_LIMIT = 4 // of what a state may have: chains are not worth more
};

struct pd_moment pd_record_moment(const struct pd_record *record)
{
	const struct pd_attr *attr = record->event ? record->event->attr : NULL;
	struct pd_moment moment = { .order = record->place };
	// where other records have no time, that of samples says nothing about what came before them
	bool timed = !attr ||
		     (PD_BITS(attr->flags, PD_ATTR_SAMPLE_ID_ALL) && PD_BITS(attr->sample_type, PD_SAMPLE_TYPE_TIME));

	if (timed && record->time_ns != PD_NO_TIME)
		moment.time_ns = record->time_ns;
	return moment;
}

static unsigned cpumode_of(const struct pd_record *record)
{
	return (unsigned)PD_BITS(record->misc, PD_MISC_CPUMODE);
}

// ---- mappings ----

// What MMAP and MMAP2 have in common.
struct mmap {
	struct pd_mapping mapping;
	struct pd_object object; // its path is `length` bytes
	size_t length;
	uint32_t kind; // PD_INDEX_END: nothing was mapped
};

static uint8_t place_of(const struct pd_object *object)
{
	if (!object || object->kind == PD_OBJECT_KSYMBOL)
		return PD_MAP_KSYMBOL;
	return object->kind == PD_OBJECT_KERNEL || object->kind == PD_OBJECT_MODULE ? PD_MAP_KERNEL : PD_MAP_USER;
}

// The number of what is mapped; PD_INDEX_END if there is no memory.
static uint32_t kind_of(struct pd_state *state, const struct pd_mapping *mapping)
{
	struct pd_map_kind kind;

	// it is compared as bytes
	memset(&kind, 0, sizeof(kind));
	kind.object = mapping->object;
	kind.symbol = mapping->symbol;
	kind.size = mapping->end - mapping->start;
	kind.pgoff = mapping->pgoff;
	kind.prot = mapping->prot;
	kind.flags = mapping->flags;
	kind.executable = mapping->executable;
	kind.anonymous = mapping->anonymous;
	kind.by_offset = mapping->by_offset;
	kind.place = place_of(mapping->object);
	return pd_state_map_kind(state, &kind);
}

static bool put_mapping(struct pd_state *state, const struct pd_mapping *mapping, uint32_t *kind_out)
{
	uint32_t kind = kind_of(state, mapping);
	struct pd_map_owner owner = { mapping->pid, mapping->tid };

	if (kind_out)
		*kind_out = kind;
	return kind != PD_INDEX_END && pd_state_put_map(state, mapping->from, mapping->start, kind, owner);
}

static uint32_t machine_of(uint32_t pid, unsigned cpumode)
{
	if (cpumode != PD_CPUMODE_GUEST_KERNEL && cpumode != PD_CPUMODE_GUEST_USER)
		return 0;
	return pid && pid != UINT32_MAX ? pid : PD_GUEST_DEFAULT;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static const char host_kernel[] = "[kernel.kallsyms]";

// "[kernel.kallsyms]_text" is the kernel and its symbol; so is "[kernel.kallsyms._text]" of old files.
static bool split_kernel(struct pd_state *state, struct mmap *mmap)
{
	const char *path = mmap->object.path, *symbol = path + sizeof(host_kernel) - 1;
	const char *close = strchr(path, ']');
	size_t symbol_length;

	if (begins(path, "[kernel.kallsyms.")) {
		symbol_length = close > symbol ? (size_t)(close - symbol) : strlen(symbol);
		mmap->object.path = host_kernel;
		mmap->length = sizeof(host_kernel) - 1;
	} else {
		symbol = close ? close + 1 : path + mmap->length;
		symbol_length = (size_t)(path + mmap->length - symbol);
		mmap->length = (size_t)(symbol - path);
	}
	mmap->mapping.symbol = pd_state_text(state, symbol, symbol_length);
	return mmap->mapping.symbol;
}

// Kernels and modules. Sets mmap->length to 0 if the record says nothing.
static bool aim_kernel(struct pd_state *state, struct mmap *mmap)
{
	struct pd_mapping *mapping = &mmap->mapping;
	const char *path = mmap->object.path;

	mmap->object.kind = PD_OBJECT_KERNEL;
	mapping->executable = true;
	mapping->pid = mapping->tid = UINT32_MAX;
	if (begins(path, "[kernel.kallsyms") || begins(path, "[guest.kernel.kallsyms")) {
		// the range of a kernel that hides its addresses is not known
		if (!mapping->start && !mapping->end)
			mapping->end = UINT64_MAX;
		return split_kernel(state, mmap);
	}
	if (strcmp(path, "__entry_SYSCALL_64_trampoline") == 0) {
		mmap->object.path = host_kernel;
		mmap->length = sizeof(host_kernel) - 1;
		return true;
	}
	mmap->object.kind = PD_OBJECT_MODULE;
	mapping->by_offset = true;
	if (path[0] != '/' && path[0] != '[')
		mmap->length = 0;
	return true;
}

static void aim_user(struct mmap *mmap)
{
	mmap->object.kind = pd_object_kind_of(mmap->object.path);
	mmap->mapping.anonymous = mmap->object.kind == PD_OBJECT_ANON ||
				  (mmap->mapping.flags & PD_MASK(PD_MAP_HUGETLB));
	mmap->mapping.by_offset = !mmap->mapping.anonymous;
	// it is always whole, and where it stands in the kernel says nothing
	if (mmap->object.kind == PD_OBJECT_VDSO)
		mmap->mapping.pgoff = 0;
}

static bool take_mapping(struct pd_state *state, const struct pd_record *record, struct mmap *mmap, uint64_t len,
			 struct pd_str path)
{
	struct pd_mapping *mapping = &mmap->mapping;
	unsigned cpumode = cpumode_of(record);

	mmap->kind = PD_INDEX_END;
	mapping->from = pd_record_moment(record);
	mapping->end = mapping->start + len < mapping->start ? UINT64_MAX : mapping->start + len;
	mmap->object.path = path.data;
	mmap->length = path.length;
	mmap->object.machine = machine_of(mapping->pid, cpumode);
	if (cpumode == PD_CPUMODE_KERNEL || cpumode == PD_CPUMODE_GUEST_KERNEL) {
		if (!aim_kernel(state, mmap))
			return false;
	} else if (cpumode == PD_CPUMODE_GUEST_USER) {
		return true;
	} else {
		aim_user(mmap);
	}
	if (mapping->end <= mapping->start || !mmap->length)
		return true;
	mapping->object = pd_state_object_like(state, &mmap->object, mmap->length);
	return mapping->object && put_mapping(state, mapping, &mmap->kind);
}

static bool take_mmap(struct pd_state *state, const struct pd_record *record, const void *decoded)
{
	const struct pd_mmap *in = decoded;
	struct mmap mmap = { 0 };

	mmap.mapping = (struct pd_mapping){
		.start = in->addr,
		.pgoff = in->pgoff,
		.pid = in->pid,
		.tid = in->tid,
		.executable = !(record->misc & PD_MASK(PD_MISC_MMAP_DATA)),
	};
	return take_mapping(state, record, &mmap, in->len, in->filename);
}

static uint8_t copy_build_id(uint8_t *to, struct pd_bytes bytes, size_t size)
{
	size = size < bytes.size ? size : bytes.size;
	size = size < 20 ? size : 20;
	if (size)
		memcpy(to, bytes.data, size);
	for (size_t i = 0; i < size; i++) {
		if (to[i])
			return (uint8_t)size;
	}
	return 0;
}

static bool take_mmap2(struct pd_state *state, const struct pd_record *record, const void *decoded)
{
	const struct pd_mmap2 *in = decoded;
	struct pd_mmap2 mended = *in;
	struct mmap mmap = { 0 };

	if (pd_mmap2_recover(record, &mended))
		in = &mended;
	mmap.mapping = (struct pd_mapping){
		.start = in->addr,
		.pgoff = in->pgoff,
		.pid = in->pid,
		.tid = in->tid,
		.prot = in->prot,
		.flags = in->flags,
		.executable = (in->prot & PD_MASK(PD_PROT_EXEC)) ||
			      (!in->prot && !(record->misc & PD_MASK(PD_MISC_MMAP_DATA))),
	};
	mmap.object = (struct pd_object){
		.maj = in->maj, .min = in->min, .ino = in->ino, .ino_generation = in->ino_generation
	};
	mmap.object.build_id_size = copy_build_id(mmap.object.build_id, in->build_id, in->build_id_size);
	if (!take_mapping(state, record, &mmap, in->len, in->filename))
		return false;
	if (mmap.kind != PD_INDEX_END && cpumode_of(record) == PD_CPUMODE_USER &&
	    state->maps.kinds[mmap.kind].size == in->len)
		pd_known_map_add(&state->known, state->seed, record,
				 (const uint8_t *)in->filename.data + in->filename.size, mmap.kind);
	return true;
}

// True if the record was taken, without decoding it. A length that goes round the end is not the one that was decoded.
static bool take_known(struct pd_state *state, const struct pd_record *record, bool *done_out)
{
	const struct pd_known_map *known = pd_known_map_find(&state->known, state->seed, record);
	struct pd_known_record read;

	if (!known)
		return false;
	read = pd_known_map_read(record);
	if (read.addr + state->maps.kinds[known->kind].size < read.addr)
		return false;
	*done_out = pd_state_put_map(state, pd_record_moment(record), read.addr, known->kind,
				     (struct pd_map_owner){ read.pid, read.tid });
	return true;
}

static bool take_ksymbol(struct pd_state *state, const struct pd_record *record, const void *decoded)
{
	const struct pd_ksymbol *in = decoded;
	struct pd_object object = { .kind = PD_OBJECT_KSYMBOL };
	struct pd_mapping mapping = { .executable = true, .pid = UINT32_MAX, .tid = UINT32_MAX };

	if (!in->len)
		return true;
	mapping.start = mapping.pgoff = in->addr;
	mapping.end = in->addr + in->len < in->addr ? UINT64_MAX : in->addr + in->len;
	mapping.flags = in->ksym_type;
	mapping.from = pd_record_moment(record);
	if (in->flags & PD_MASK(PD_KSYMBOL_FLAG_UNREGISTER))
		return put_mapping(state, &mapping, NULL);
	object.path = in->name.data;
	mapping.object = pd_state_object_like(state, &object, in->name.length);
	return mapping.object && put_mapping(state, &mapping, NULL);
}

// ---- threads ----

static bool put_task(struct pd_state *state, const struct pd_record *record, const struct pd_task_change *change)
{
	struct pd_task_change *task = pd_state_add(state, &state->tasks, sizeof(*task));

	if (!task)
		return false;
	*task = *change;
	task->when = pd_record_moment(record);
	return true;
}

static bool take_comm(struct pd_state *state, const struct pd_record *record, const void *decoded)
{
	const struct pd_comm *in = decoded;
	struct pd_task_change change = { .kind = PD_CHANGE_NAME, .pid = in->pid, .tid = in->tid };

	change.exec = record->misc & PD_MASK(PD_MISC_COMM_EXEC);
	change.text = pd_state_text_number(state, in->comm.data, in->comm.length);
	return change.text != PD_INDEX_END && put_task(state, record, &change);
}

static bool take_fork(struct pd_state *state, const struct pd_record *record, const void *decoded)
{
	const struct pd_task *in = decoded;
	struct pd_task_change change = {
		.kind = PD_CHANGE_FORK, .pid = in->pid, .tid = in->tid, .ppid = in->ppid, .ptid = in->ptid
	};

	// the recorder lists all mappings of the processes that it finds
	change.exec = (record->misc & PD_MASK(PD_MISC_FORK_EXEC)) || !in->time_ns;
	return put_task(state, record, &change);
}

static bool take_exit(struct pd_state *state, const struct pd_record *record, const void *decoded)
{
	const struct pd_task *in = decoded;
	const struct pd_task_change change = { .kind = PD_CHANGE_EXIT, .pid = in->pid, .tid = in->tid };

	return put_task(state, record, &change);
}

static bool take_namespaces(struct pd_state *state, const struct pd_record *record, const void *decoded)
{
	const struct pd_namespaces *in = decoded;
	struct pd_task_change change = { .kind = PD_CHANGE_NAMESPACES, .pid = in->pid, .tid = in->tid };
	struct pd_namespace *links;

	links = pd_state_keep(state, NULL, in->links.count * sizeof(*links));
	if (!links || !PD_STATE_GROW(state, namespaces, namespace))
		return false;
	for (size_t i = 0; i < in->links.count; i++)
		links[i] = *PD_ITEM(pd_namespace, in->links, i);
	change.links = (uint32_t)state->namespace_count;
	state->namespaces[state->namespace_count++] = (struct pd_list){ links, in->links.count, sizeof(*links) };
	return put_task(state, record, &change);
}

// ---- the rest ----

static bool take_bpf(struct pd_state *state, const struct pd_record *record, const void *decoded)
{
	const struct pd_bpf_event *in = decoded;
	struct pd_bpf_change *change;

	if (in->type != PD_BPF_EVENT_PROG_LOAD && in->type != PD_BPF_EVENT_PROG_UNLOAD)
		return true;
	if (!PD_STATE_GROW(state, bpf, bpf))
		return false;
	change = &state->bpf[state->bpf_count++];
	*change = (struct pd_bpf_change){ .when = pd_record_moment(record),
					  .id = in->id,
					  .unload = in->type == PD_BPF_EVENT_PROG_UNLOAD };
	memcpy(change->tag, in->tag.data, in->tag.size < 8 ? in->tag.size : 8);
	return true;
}

static bool take_code(struct pd_state *state, const struct pd_record *record, const void *decoded)
{
	const struct pd_text_poke *in = decoded;
	uint8_t *before, *after;

	before = pd_state_keep(state, in->old_bytes.data, in->old_bytes.size);
	after = pd_state_keep(state, in->new_bytes.data, in->new_bytes.size);
	if (!before || !after || !PD_STATE_GROW(state, code, code))
		return false;
	state->code[state->code_count++] = (struct pd_code_change){
		.addr = in->addr,
		.before = { before, in->old_bytes.size },
		.after = { after, in->new_bytes.size },
		.when = pd_record_moment(record),
	};
	return true;
}

static bool take_cgroup(struct pd_state *state, const struct pd_record *record, const void *decoded)
{
	const struct pd_cgroup *in = decoded;
	uint64_t hash = pd_hash_u64(state->seed, in->id);
	struct pd_moment from = pd_record_moment(record);
	size_t at = (uint32_t)hash;
	const char *path;

	path = pd_state_text(state, in->path.data, in->path.length);
	if (!path || !PD_STATE_GROW(state, cgroups, cgroup))
		return false;
	for (uint32_t i; (i = pd_index_next(&state->cgroup_index, hash, &at)) != PD_INDEX_END;) {
		struct pd_cgroup_path *known = &state->cgroups[i];

		if (known->id != in->id)
			continue;
		if (!pd_moment_before(from, known->from))
			*known = (struct pd_cgroup_path){ in->id, path, from };
		return true;
	}
	if (!pd_index_add(&state->cgroup_index, hash, (uint32_t)state->cgroup_count)) {
		state->failure = PD_ERROR_MEMORY;
		return false;
	}
	state->cgroups[state->cgroup_count++] = (struct pd_cgroup_path){ in->id, path, from };
	return true;
}

// ---- parts of call chains ----

// Without memory for more of them samples are shown without; that is counted where they are looked for.
static bool take_deferred(struct pd_state *state, const struct pd_record *record, const void *decoded)
{
	const struct pd_callchain_deferred *in = decoded;
	struct pd_deferred_chain chain = { .cookie = in->cookie, .when = pd_record_moment(record) };
	size_t size = in->callchain.count * sizeof(*in->callchain.items);
	uint64_t hash = pd_hash_u64(state->seed, in->cookie);

	chain.tid = in->sample_id ? in->sample_id->tid : 0;
	chain.chain.count = in->callchain.count;
	state->chains.limit = (size_t)(state->limit / PART_OF_LIMIT);
	if (!size || !(chain.chain.items = pd_arena_copy(&state->chains, in->callchain.items, size)))
		return true;
	if (!PD_STATE_GROW(state, deferred, deferred))
		return false;
	if (!pd_index_add(&state->deferred_index, hash, (uint32_t)state->deferred_count)) {
		state->failure = PD_ERROR_MEMORY;
		return false;
	}
	state->deferred[state->deferred_count++] = chain;
	return true;
}

// ---- build ids ----

static bool put_build_id(struct pd_state *state, const struct pd_header_build_id *in, uint16_t misc)
{
	unsigned cpumode = (unsigned)PD_BITS(misc, PD_MISC_CPUMODE);
	struct pd_named_build_id id = { .machine = machine_of((uint32_t)in->pid, cpumode) };
	size_t size = in->build_id.size;

	if (misc & PD_MASK(PD_MISC_BUILD_ID_SIZE)) {
		size = in->size;
	} else {
		// without a size, what is zero at its end is not part of it
		while (size >= 4 && !memcmp(in->build_id.data + size - 4, "\0\0\0", 4))
			size -= 4;
	}
	id.size = copy_build_id(id.bytes, in->build_id, size);
	id.key = pd_state_build_id_key(state, in->filename.data, in->filename.length,
				       cpumode == PD_CPUMODE_KERNEL || cpumode == PD_CPUMODE_GUEST_KERNEL);
	if (!id.key || !PD_STATE_GROW(state, build_ids, build_id))
		return false;
	if (id.size)
		state->build_ids[state->build_id_count++] = id;
	return true;
}

static bool take_build_id(struct pd_state *state, const struct pd_record *record, const void *decoded)
{
	const struct pd_header_build_id *in = decoded;

	return put_build_id(state, in, record->misc);
}

// ---- all ----

typedef bool take_fn(struct pd_state *state, const struct pd_record *record, const void *decoded);

static take_fn *const takers[] = {
	[PD_RECORD_MMAP] = take_mmap,       [PD_RECORD_COMM] = take_comm,
	[PD_RECORD_EXIT] = take_exit,       [PD_RECORD_FORK] = take_fork,
	[PD_RECORD_MMAP2] = take_mmap2,     [PD_RECORD_NAMESPACES] = take_namespaces,
	[PD_RECORD_KSYMBOL] = take_ksymbol, [PD_RECORD_BPF_EVENT] = take_bpf,
	[PD_RECORD_CGROUP] = take_cgroup,   [PD_RECORD_CALLCHAIN_DEFERRED] = take_deferred,
	[PD_RECORD_TEXT_POKE] = take_code,  [PD_RECORD_HEADER_BUILD_ID] = take_build_id,
};

static enum pd_status fail(const struct pd_state *state, struct pd_error *error)
{
	if (state->failure == PD_ERROR_MEMORY)
		return pd_fail_memory(error);
	return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET,
		       "processes and mappings: more than %llu bytes would be needed",
		       (unsigned long long)state->limit);
}

enum pd_status pd_state_take(struct pd_state *state, const struct pd_record *record, struct pd_error *error)
{
	take_fn *take = record->type < sizeof(takers) / sizeof(takers[0]) ? takers[record->type] : NULL;
	const void *decoded;
	enum pd_status status;
	bool done;

	if (!take)
		return PD_OK;
	// parts of call chains are no part of what is finalized
	if ((state->finalized || state->views.views) && take != take_deferred)
		pd_state_drop_finalized(state);
	if (take == take_mmap2 && take_known(state, record, &done))
		return done ? PD_OK : fail(state, error);
	status = pd_record_decode(record, &decoded, error);
	if (status == PD_ERROR_MEMORY)
		return status;
	if (status < 0) {
		pd_record_as(record, record->type); // reports the damage
		return PD_OK;
	}
	return take(state, record, decoded) ? PD_OK : fail(state, error);
}

// Records of the feature have type 0 but are as HEADER_BUILD_ID else.
static bool take_build_ids(struct pd_state *state, struct pd_file *file, struct pd_bytes records,
			   struct pd_arena *arena)
{
	struct pd_cursor c = pd_cursor(records.data, records.size, pd_file_is_big(file));

	while (pd_cursor_left(&c) >= PD_RECORD_HEADER_SIZE) {
		struct pd_record_head head = pd_record_head(c.at, c.swap);
		struct pd_scope scope = { .arena = arena };
		struct pd_header_build_id in = { 0 };
		struct pd_cursor body;

		if (head.size < PD_RECORD_HEADER_SIZE || head.size > pd_cursor_left(&c))
			return true;
		scope.words[PD_WORD_MISC] = head.misc;
		scope.words[PD_WORD_QUIRKS] = pd_file_quirks(file);
		body = pd_cursor(c.at, head.size, pd_file_is_big(file));
		body.at += PD_RECORD_HEADER_SIZE;
		pd_decode_header_build_id(&body, &scope, &in);
		if (!body.failed && !put_build_id(state, &in, head.misc))
			return false;
		pd_arena_reset(arena);
		pd_cursor_take(&c, head.size);
	}
	return true;
}

enum pd_status pd_state_take_features(struct pd_state *state, struct pd_file *file, struct pd_error *error)
{
	const struct pd_build_ids *ids = pd_file_build_id(file);
	struct pd_arena arena = { 0 };
	bool done;

	if (!ids)
		return PD_OK;
	if (state->finalized)
		pd_state_drop_finalized(state);
	done = take_build_ids(state, file, ids->records, &arena);
	pd_arena_fini(&arena);
	return done ? PD_OK : fail(state, error);
}
