/* SPDX-License-Identifier: MIT */
/*
 * Several recordings as one: what is known of each input, how their events become one list, and what stands around the
 * records. cmd_merge.c says what is wanted and passes records; cmd_split.c writes pieces with the same means.
 */
#ifndef CLI_MERGE_H
#define CLI_MERGE_H

#include "front/input.h"

#include <perfdata/writer.h>

/* Numbers that grow. */
struct numbers {
	uint64_t *items;
	size_t count, room;
};

/* False if there is no memory. */
bool numbers_add(struct numbers *numbers, uint64_t number);
/* Fills in the error; returns its status. */
enum pd_status out_of_memory(struct pd_error *error);
/* Makes *items hold count elements. False if there is no memory. */
bool room_for(void *items, size_t *room, size_t count, size_t item_size);

/* Where the kernel or one of its modules was. */
struct kernel_map {
	char *name;
	uint64_t start, end;
	uint64_t pgoff;
	bool written; /* in the output */
};

/* A change of numbers, as the writer wants it. */
struct changes {
	struct pd_number_change *items;
	size_t count, room;
};

/* One of the recordings. */
struct source {
	struct input input;
	const char *name;
	uint64_t first_ns, last_ns; /* of samples; 0 if none has a time */
	uint64_t begin_ns;          /* oldest time of any record, or 0 */
	struct kernel_map *maps;    /* of the kernel, the image first */
	size_t map_count, map_room;
	bool has_aux; /* AUXTRACE records */
	bool raw_big_endian;
	/* what is made of it */
	size_t machine; /* number of the boot that it ran in, from 0 */
	size_t session; /* index of the first source that is a piece of the same recording */
	size_t *events; /* in the output, by index of the event */
	struct changes ids, tracepoints;
	struct pd_address_change *addresses; /* of the kernel */
	size_t address_count;
	bool kernel_apart; /* it is another one than that of the first */
	struct pd_join join;
	struct pd_join early; /* for what ran before the recording */
};

/* An event of the output. */
struct joined_event {
	struct pd_attr attr;
	const char *name;
	struct numbers ids;
	size_t source; /* where it comes from */
	size_t index;  /* there */
	size_t taken;  /* 1 + the last source that has it */
};

struct joined_events {
	struct joined_event *items;
	size_t count, room;
};

/* Formats of tracepoints. */
struct formats;

/* How machines are told apart. */
enum machines { MACHINES_AUTO, MACHINES_SAME, MACHINES_DIFFERENT };
/* What is done where kernels of several boots have addresses of their own. */
enum kernels { KERNELS_MOVE, KERNELS_REFUSE, KERNELS_KEEP };

struct merge {
	struct source *sources;
	size_t source_count;
	struct joined_events events;
	struct formats *formats;
	enum machines machines;
	enum kernels kernels;
	uint64_t kernel_free; /* below this no kernel is */
	bool keep_tasks;
	bool quiet;
};

/* ---- merge_look.c: what a source is ---- */

/* Reads a source once. Says on stderr what is wrong and returns another code than CODE_FINE then. */
int source_look(struct source *source, const struct input_options *options, const struct call *call);
/* Closes. Returns code, or CODE_DAMAGED if code is CODE_FINE and something was damaged. */
int source_close(struct source *source, int code);
/* Text of a feature that is one, or NULL. */
const char *source_text(const struct source *source, unsigned feature);

/* ---- merge_plan.c: what is made of it ---- */

/* Which sources ran in the same boot, and which are pieces of one recording. */
void merge_place(struct merge *merge);
/* One list of events, and the changes that make records fit it. Says on stderr what is wrong and returns another code
 * than CODE_FINE then. */
int merge_events(struct merge *merge);
void merge_fini(struct merge *merge);

/* ---- merge_kernel.c ---- */

/* One space of kernel addresses; fills in the changes of addresses. Says what is wrong as those above. */
int merge_kernels(struct merge *merge);
/* A record that maps the image or a module of the kernel, or NULL. */
const struct pd_mmap *kernel_mmap(const struct pd_record *record);
const struct pd_mmap2 *kernel_mmap2(const struct pd_record *record);
/* True for the image of the kernel, not for a module. */
bool kernel_is_image(const char *name);
/* The map with a name, or NULL. */
struct kernel_map *kernel_find(const struct source *source, const char *name);
/* Whether another source has written the same map of the kernel; else it is noted that this one writes it. */
bool kernel_map_is_written(const struct merge *merge, const struct source *source, const char *name, uint64_t start,
			   uint64_t pgoff);
/* What the image or a module of another kernel is called. */
void kernel_rename(const struct source *source, const char *name, char *renamed, size_t size);

/* ---- merge_formats.c ---- */

/* One list of tracepoint formats; fills in the changes of tracepoints. */
int merge_formats(struct merge *merge);
void formats_free(struct formats *formats);
/* Gives the writer TRACING_DATA. PD_OK if there is none. */
enum pd_status formats_write(const struct merge *merge, struct pd_writer *writer, struct pd_error *error);
/* What a tracepoint of a source is called by the output: attr.config. */
uint64_t formats_config(const struct source *source, uint64_t config);

/* ---- merge_features.c ---- */

/* Gives the writer events and features. */
enum pd_status merge_header(const struct merge *merge, struct pd_writer *writer, struct pd_error *error);

#endif
