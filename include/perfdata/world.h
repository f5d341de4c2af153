/* SPDX-License-Identifier: MIT */
/**
 * world.h - who ran and what was mapped, as a function of time.
 *
 * A world is fed the records of a file, in any order; it keeps the few that change it. After
 * pd_world_settle it answers for each moment: the name of a thread, what stood at an address, the path
 * of a cgroup. Lookups change nothing: any number of threads may make them on a settled world, without
 * locks. What they return lives until the next pd_world_take, pd_world_settle or pd_world_free.
 *
 * The rules are the kernel's:
 * - a new mapping hides older ones where they overlap;
 * - a process inherits the mappings of its parent by fork and loses all of them by exec;
 * - after its end a process answers as before, until a fork uses its number again;
 * - what a recorder found when it began (time 0) was there before everything else.
 * Threads are told apart by tid alone, as perf does. Code that the kernel makes (BPF) is known by its
 * KSYMBOL records.
 *
 * Sources of the facts: include/uapi/linux/perf_event.h of Linux, and what perf prints.
 */
#ifndef PERFDATA_WORLD_H
#define PERFDATA_WORLD_H

#include <perfdata/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A moment: time, then place in the stream. In files whose records carry no time (or only samples do)
 * time_ns is 0 and the place alone counts.
 */
struct pd_moment {
	uint64_t time_ns; /* 0: before everything that has a time */
	uint64_t order;   /* pd_record.place; UINT64_MAX: after everything of that time */
};

/** The end of what goes on. */
#define PD_NEVER UINT64_MAX

/** When a record was. */
PD_API struct pd_moment pd_record_moment(const struct pd_record *record);

enum pd_object_kind {
	PD_OBJECT_FILE,     /* a file that somebody mapped */
	PD_OBJECT_KERNEL,   /* path is "[kernel.kallsyms]", or the name of that of a guest */
	PD_OBJECT_MODULE,   /* of the kernel; path is a file or "[name]" */
	PD_OBJECT_KSYMBOL,  /* code that the kernel made; path is the name of the symbol */
	PD_OBJECT_VDSO,     /* "[vdso]" */
	PD_OBJECT_VSYSCALL, /* "[vsyscall]" */
	PD_OBJECT_ANON      /* memory without a file: "//anon", "[heap]", "[stack]", "/memfd:...", "/SYSV..." */
};

/** Something that can be mapped. Two files of one path and different inode or build id are two. */
struct pd_object {
	size_t index;            /* see pd_world_object */
	const char *path;        /* as the file says it; not checked to be printable */
	enum pd_object_kind kind;
	uint32_t machine;        /* 0: the host, else pid of the guest, or PD_GUEST_DEFAULT */
	uint8_t build_id_size;   /* 0: not known */
	uint8_t build_id[20];
	uint32_t maj, min;       /* device; 0 if not known */
	uint64_t ino;            /* 0 if not known */
	uint64_t ino_generation;
};

/** The guest whose maps have pid 0. */
#define PD_GUEST_DEFAULT UINT32_MAX

/** A range of addresses and what stands there, as recorded: parts of it may be hidden by later ones. */
struct pd_mapping {
	uint64_t start, end;   /* end is the first address behind it */
	uint64_t pgoff;        /* offset of start in the file; for a kernel the address of its symbol */
	const struct pd_object *object; /* NULL: a KSYMBOL went; only in enumerations */
	const char *symbol;    /* reference symbol of a kernel ("_text"), else NULL */
	uint32_t pid, tid;     /* who mapped it; UINT32_MAX for kernels and modules */
	uint32_t prot, flags;  /* PD_PROT_..., PD_MAP_...; flags of a KSYMBOL: PD_KSYMBOL_... */
	bool executable;       /* false: only data can be there */
	bool anonymous;        /* no file behind it, also huge pages: names are in the perf map of pid */
	bool by_offset;        /* places in the object are offsets, not addresses */
	struct pd_moment from;
};

/** What stands at an address. Also what stood there before the last exec, if nothing is known to have come
 * since: samples inside of exec still have addresses of the caller. */
struct pd_location {
	const struct pd_mapping *mapping;
	const struct pd_object *object;   /* mapping->object */
	const struct pd_mapping *ksymbol; /* code that the kernel made there, or NULL; may be mapping */
	bool before_exec;                 /* it went by the last exec */
	uint64_t offset;                  /* in the object if mapping->by_offset, else the address */
	uint64_t begin, end;              /* for all addresses in it, end is not, the mappings are the same ones; none
					   * of them if nothing is known to be there */
};

/** A thread, from its fork (or first mention) to the next fork with the same number. */
struct pd_thread {
	size_t index;            /* see pd_world_thread */
	uint32_t pid, tid;
	uint32_t ppid, ptid;     /* by its FORK record, else UINT32_MAX */
	struct pd_moment begin;  /* its FORK, or the beginning of time */
	struct pd_moment end;    /* its EXIT; time_ns is PD_NEVER if there is none */
};

/** A name of a thread. */
struct pd_thread_name {
	const char *comm;
	struct pd_moment from;
	bool exec; /* it came by exec */
};

/** A BPF program, from load to unload. */
struct pd_bpf {
	uint32_t id;
	uint8_t tag[8];
	struct pd_moment from;
	struct pd_moment until; /* time_ns is PD_NEVER if it was not unloaded */
};

/** A change of the kernel's code. */
struct pd_code_change {
	uint64_t addr;
	struct pd_bytes before; /* empty: the code is new */
	struct pd_bytes after;  /* empty: the code went */
	struct pd_moment when;
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_world_options {
	size_t size;           /* sizeof(struct pd_world_options) */
	uint64_t memory_limit; /* most bytes for the world; 0 means 4 GiB */
};

struct pd_world;

/* ---- feeding ---- */

/** An empty world. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_world_new(const struct pd_world_options *options, struct pd_world **world_out,
				   struct pd_error *error);
PD_API void pd_world_free(struct pd_world *world);
/** Takes what a record says about the world; most say nothing. The record is not kept, and a record that
 * cannot be taken apart is left out. Lookups are valid again after pd_world_settle.
 * Errors: PD_ERROR_MEMORY, PD_ERROR_LIMIT. */
PD_API enum pd_status pd_world_take(struct pd_world *world, const struct pd_record *record,
				    struct pd_error *error);
/** Takes what the header features of a file say: build ids. Errors: PD_ERROR_MEMORY, PD_ERROR_LIMIT. */
PD_API enum pd_status pd_world_take_features(struct pd_world *world, struct pd_file *file,
					     struct pd_error *error);
/** Ends feeding. May be fed and settled again, which takes as long as the first time.
 * Errors: PD_ERROR_MEMORY, PD_ERROR_LIMIT; then lookups find nothing. */
PD_API enum pd_status pd_world_settle(struct pd_world *world, struct pd_error *error);

/* ---- lookups ---- */

enum { PD_THREAD_NAME_BYTES = 16 };

/** Name of a thread. A thread has the name of the one that forked it until it gets its own. If none is
 * known, unknown (NULL, or PD_THREAD_NAME_BYTES bytes) is filled with ":TID" and returned. */
PD_API const char *pd_world_comm(const struct pd_world *world, uint32_t tid, struct pd_moment when,
				 char *unknown);
/** What stood at an address, for a CPU mode (PD_CPUMODE_...). With PD_CPUMODE_UNKNOWN the process
 * is asked before the kernel. For PD_CPUMODE_GUEST_KERNEL pid is the guest, as in samples. False if
 * nothing is known to be there, then *location_out has only begin and end; a hypervisor and users of guests are
 * not known. */
PD_API bool pd_world_locate(const struct pd_world *world, uint32_t pid, unsigned cpumode,
			    struct pd_moment when, uint64_t addr, struct pd_location *location_out);
/** Some programs copy their code into huge pages: anonymous memory between two pieces of their file. If
 * *location is code in such memory, at addr, it becomes the place in the file and true is returned; its
 * mapping is then the piece before. perf does not do so. */
PD_API bool pd_world_locate_copied(const struct pd_world *world, uint32_t pid, struct pd_moment when,
				   uint64_t addr, struct pd_location *location);
/** The thread with a number, or NULL. */
PD_API const struct pd_thread *pd_world_find_thread(const struct pd_world *world, uint32_t tid,
						struct pd_moment when);
/** Namespaces of a thread, a list of struct pd_namespace: net, uts, ipc, pid, user, mnt, cgroup. Empty if
 * not known. */
PD_API struct pd_list pd_world_namespaces(const struct pd_world *world, uint32_t tid,
					  struct pd_moment when);
/** Path of a cgroup, or NULL. */
PD_API const char *pd_world_cgroup(const struct pd_world *world, uint64_t id);
/** A BPF program by its number, or NULL. */
PD_API const struct pd_bpf *pd_world_bpf(const struct pd_world *world, uint32_t id,
							 struct pd_moment when);

/** What is true of a thread for a span of time. For two moments and threads of one process with equal maps,
 * pd_world_locate gives equal answers for the kernel and for user space. */
struct pd_view {
	struct pd_moment from;  /* the span, [from, until) */
	struct pd_moment until; /* time_ns is PD_NEVER if there is no end */
	const char *comm;       /* NULL if it is not known; equal names are one pointer */
	uint64_t maps;          /* a number for what is mapped; differs between processes, but for a fork
				 * that has changed nothing */
};
/** The kernel's part of maps: views of any processes in which it is equal have one kernel. */
static inline uint32_t pd_view_kernel(const struct pd_view *view)
{
	return (uint32_t)view->maps;
}
/** The view of a moment. If nothing is known of the thread, comm is NULL. */
PD_API void pd_world_view(const struct pd_world *world, uint32_t pid, uint32_t tid, struct pd_moment when,
			  struct pd_view *view_out);

/* ---- everything there is; NULL past the end ---- */

/** The index-th thread; by tid, then by time. */
PD_API const struct pd_thread *pd_world_thread(const struct pd_world *world, size_t index);
/** Names of a thread, a list of struct pd_thread_name by time. */
PD_API struct pd_list pd_world_thread_names(const struct pd_world *world, const struct pd_thread *thread);
/** The index-th object, in the order in which they were fed. */
PD_API const struct pd_object *pd_world_object(const struct pd_world *world, size_t index);
/** The index-th mapping, in the order in which they were fed. */
PD_API const struct pd_mapping *pd_world_mapping(const struct pd_world *world, size_t index);
/** The index-th change of the kernel's code, by time. */
PD_API const struct pd_code_change *pd_world_code_change(const struct pd_world *world, size_t index);

#ifdef __cplusplus
}
#endif
#endif
