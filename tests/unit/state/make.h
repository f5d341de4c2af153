/* SPDX-License-Identifier: MIT */
/* Makes a file in memory record by record, and the state of it. */
#ifndef PD_TEST_STATE_MAKE_H
#define PD_TEST_STATE_MAKE_H

#include <perfdata/perfdata.h>

#include "unit/image.h"

enum {
	MAKE_KERNEL = 1,
	MAKE_USER = 2,
	MAKE_GUEST_KERNEL = 4,
	MAKE_GUEST_USER = 5,
	MAKE_EXEC = 1 << 13, // COMM_EXEC, FORK_EXEC
	MAKE_DATA = 1 << 13, // MMAP_DATA
	MAKE_BUILD_ID = 1 << 14,
	MAKE_TID_TIME = 1 << 1 | 1 << 2,
};

#define MAKE_NOBODY UINT32_MAX

struct made {
	struct image image;
	struct pd_file *file;
	struct pd_state *state;
	bool untimed; // no trailers
};

static inline struct made make_begin(void)
{
	struct made made = { 0 };

	image_file(&made.image, MAKE_TID_TIME, UINT64_C(1) << IMAGE_SAMPLE_ID_ALL);
	return made;
}

// A file whose records carry no time.
static inline struct made make_begin_untimed(void)
{
	struct made made = { .untimed = true };

	image_file(&made.image, MAKE_TID_TIME, 0);
	return made;
}

static inline void make_text(struct made *made, const char *text)
{
	image_text(&made->image, text, (strlen(text) + 8) & ~(size_t)7);
}

static inline void make_end(struct made *made, size_t record, uint32_t pid, uint32_t tid, uint64_t time)
{
	if (!made->untimed) {
		image_u32(&made->image, pid);
		image_u32(&made->image, tid);
		image_u64(&made->image, time);
	}
	image_end(&made->image, record);
}

static inline void make_mmap(struct made *made, uint16_t misc, uint32_t pid, uint64_t addr, uint64_t len,
			     uint64_t pgoff, const char *path, uint64_t time)
{
	size_t record = image_record(&made->image, PD_RECORD_MMAP, misc);

	image_u32(&made->image, pid);
	image_u32(&made->image, pid);
	image_u64(&made->image, addr);
	image_u64(&made->image, len);
	image_u64(&made->image, pgoff);
	make_text(made, path);
	make_end(made, record, pid, pid, time);
}

struct made_mmap2 {
	uint16_t misc;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff, ino;
	uint32_t prot, flags;
	const uint8_t *build_id; // 20 bytes
	const char *path;
	uint64_t time;
};

static inline void make_mmap2(struct made *made, const struct made_mmap2 *in)
{
	size_t record = image_record(&made->image, PD_RECORD_MMAP2, in->misc);

	image_u32(&made->image, in->pid);
	image_u32(&made->image, in->tid);
	image_u64(&made->image, in->addr);
	image_u64(&made->image, in->len);
	image_u64(&made->image, in->pgoff);
	if (in->build_id) {
		image_u32(&made->image, 20 << (made->image.big ? 24 : 0));
		image_bytes(&made->image, in->build_id, 20);
	} else {
		image_u32(&made->image, 8);
		image_u32(&made->image, 1);
		image_u64(&made->image, in->ino);
		image_u64(&made->image, 0);
	}
	image_u32(&made->image, in->prot);
	image_u32(&made->image, in->flags);
	make_text(made, in->path);
	make_end(made, record, in->pid, in->tid, in->time);
}

static inline void make_comm(struct made *made, uint16_t misc, uint32_t pid, uint32_t tid, const char *comm,
			     uint64_t time)
{
	size_t record = image_record(&made->image, PD_RECORD_COMM, misc);

	image_u32(&made->image, pid);
	image_u32(&made->image, tid);
	make_text(made, comm);
	make_end(made, record, pid, tid, time);
}

static inline void make_task(struct made *made, uint32_t type, uint16_t misc, uint32_t pid, uint32_t tid, uint32_t ppid,
			     uint32_t ptid, uint64_t time)
{
	size_t record = image_record(&made->image, type, misc);

	image_u32(&made->image, pid);
	image_u32(&made->image, ppid);
	image_u32(&made->image, tid);
	image_u32(&made->image, ptid);
	image_u64(&made->image, time);
	make_end(made, record, pid, tid, time);
}

static inline void make_fork(struct made *made, uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid, uint64_t time)
{
	make_task(made, PD_RECORD_FORK, 0, pid, tid, ppid, ptid, time);
}

static inline void make_exit(struct made *made, uint32_t pid, uint32_t tid, uint64_t time)
{
	make_task(made, PD_RECORD_EXIT, 0, pid, tid, 1, 1, time);
}

static inline void make_ksymbol(struct made *made, uint64_t addr, uint32_t len, bool gone, const char *name,
				uint64_t time)
{
	size_t record = image_record(&made->image, PD_RECORD_KSYMBOL, 0);

	image_u64(&made->image, addr);
	image_u32(&made->image, len);
	image_u16(&made->image, PD_KSYMBOL_BPF);
	image_u16(&made->image, gone);
	make_text(made, name);
	make_end(made, record, 0, 0, time);
}

// Reads the file and finalizes its state. False if something failed, which is printed.
static inline bool make_state(struct made *made, const struct pd_state_options *options)
{
	struct pd_stream *stream = NULL;
	const struct pd_record *record;
	struct pd_error error = { 0 };
	enum pd_status status;

	image_file_end(&made->image);
	if (pd_file_open_memory(made->image.data, made->image.size, NULL, &made->file, &error) < 0 ||
	    pd_state_new(options, &made->state, &error) < 0 || pd_stream_open(made->file, NULL, &stream, &error) < 0) {
		printf("# %s\n", error.message);
		return false;
	}
	while ((status = pd_stream_next(stream, &record, &error)) == PD_OK) {
		status = pd_state_take(made->state, record, &error);
		if (status < 0)
			break;
	}
	pd_stream_close(stream);
	if (status >= 0)
		status = pd_state_take_features(made->state, made->file, &error);
	if (status >= 0)
		status = pd_state_finalize(made->state, &error);
	if (status < 0)
		printf("# %s\n", error.message);
	return status >= 0 && !pd_file_problem_count(made->file, PD_DAMAGE);
}

static inline void make_free(struct made *made)
{
	pd_state_free(made->state);
	pd_file_close(made->file);
	image_free(&made->image);
}

// After everything of that time.
static inline struct pd_moment at(uint64_t time)
{
	return (struct pd_moment){ time, UINT64_MAX };
}

#endif
