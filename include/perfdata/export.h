/* SPDX-License-Identifier: MIT */
/**
 * export.h - the samples of a file in the formats of other programs: viewers, scripts, services.
 *
 * Samples are exported in time order, those of tables in the order of the file. Memory grows with distinct stacks, not with samples.
 * The output has no timestamps or names of its own, so that two exports of a file are equal.
 *
 * Example:
 *
 *	const struct pd_export_options options = { .size = sizeof(options), .format = "jsonl" };
 *	struct pd_export *export_;
 *
 *	if (pd_export_new(&options, text, &export_, &error) == PD_OK) {
 *		pd_export_run(export_, file, &error);
 *		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 *		pd_export_free(export_);
 *	}
 */
#ifndef PERFDATA_EXPORT_H
#define PERFDATA_EXPORT_H

#include <perfdata/profile.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A format. The strings are constants. */
struct pd_export_format {
	const char *name;   /* "pprof" */
	const char *suffix; /* of files, ".pb.gz" */
	const char *doc;    /* what it is, in a few words */
	bool binary;        /* not text */
	bool whole;         /* of all records: the choice of samples is ignored */
	bool folder;        /* several files in a folder, see pd_export_options.file */
	bool tables;        /* tables, see table.h, not samples only */
	bool own_file;      /* see pd_export_options.path */
};
/** The index-th format, in the order of the help; false past the end. */
PD_API bool pd_export_format(size_t index, struct pd_export_format *format_out);
/** The format of a name, which may be NULL; false if there is none. */
PD_API bool pd_export_format_find(const char *name, struct pd_export_format *format_out);

/** A program that shows files of a format. The strings are constants. */
struct pd_export_viewer {
	const char *name, *format;
	const char *program;      /* to be started; NULL: it is none, but a page for a browser */
	const char *arguments[5]; /* before the file; ended by NULL */
	const char *otherwise;    /* what shows the file without the program, also without a network */
};
/** The index-th viewer; NULL past the end. */
PD_API const struct pd_export_viewer *pd_export_viewer(size_t index);

/** Zero is the default for each member but format. Strings and functions must remain valid until pd_export_free. */
struct pd_export_options {
	size_t size;        /* sizeof(struct pd_export_options) */
	const char *format; /* name of a format */
	const char *name;   /* of the recording, for titles; NULL: "perf.data" */
	unsigned max_stack; /* entries of a call chain, from the innermost; 0: all */
	/* Which samples are exported; as in pd_profile_options, PD_CHOICE_COUNT and PD_CHOICE_LEAVE leave them out. May
	 * be NULL. */
	enum pd_choice (*choose)(const void *self, const struct pd_candidate *candidate);
	/* Of those, by the location of the sampled address. May be NULL. */
	bool (*choose_place)(const void *self, const struct pd_place *place);
	/* See pd_run_options. */
	enum pd_status (*ready)(void *self, struct pd_window *window, struct pd_error *error);
	bool (*progress)(void *self, uint64_t done, uint64_t total);
	/* Opens the symbols for this state, once. They are the caller's, and must remain valid until pd_export_free.
	 * NULL: those of pd_symbols_new without options. May return NULL, which ends the export. */
	struct pd_symbols *(*symbols)(void *self, const struct pd_state *state);
	void *self;           /* first argument of the functions */
	const char *temp_dir; /* for what has to wait and does not fit in memory; NULL: /tmp */
	const char *
		object; /* name or path of the object whose branches are exported, for compilers; NULL: with the most */
	bool no_unwind; /* call chains as they were recorded; otherwise copied user stacks are unwound */
	bool remap;     /* of quipper: see pd_quipper_options */
	bool record_numbers; /* page: each sample with the number of its record in the file */
	/* Of ctf: records of threads and mappings are exported, too; times are those of the wall clock if the file has it. */
	bool tasks_and_maps, wall_clock;
	/* Of a format in a folder: opens the file of a name, which is the same for no two files. The text needs a sink, or gets all of
	 * the file; it is the caller's, who writes what is left in it after pd_export_run. NULL ends the export. */
	struct pd_text *(*file)(void *self, const char *name);
	/* Of formats of tables: the only one that is exported, to the text; NULL: all, into a folder. */
	const char *table;
	const char *path; /* of sqlite, which does not write to the text: a new or empty file */
};

struct pd_export_result {
	uint64_t samples;       /* exported */
	uint64_t samples_read;  /* before the choice; 0 also if the file has none */
	uint64_t damaged;       /* samples and other records that cannot be decoded, or of no known event */
	uint64_t copied_stacks; /* exported samples with a copied user stack that is not unwound */
};

/** What the file has and the format has no field for. */
struct pd_export_dropped {
	const char *name; /* "branch stacks"; a constant */
	uint64_t count;   /* samples or records that have it */
};

struct pd_export;

/** Parses the options. text gets the output and must outlive the export; set a sink (pd_text_set_sink) unless all of it fits in
 * memory. A format in a folder leaves it empty. Errors: PD_ERROR_MEMORY; PD_ERROR_ARGUMENT: there is no such format, or file is NULL
 * and needed. */
PD_API enum pd_status pd_export_new(const struct pd_export_options *options, struct pd_text *text,
				    struct pd_export **export_out, struct pd_error *error);
PD_API void pd_export_free(struct pd_export *export_);
/** Exports a file that can be read twice (see pd_run), once. Errors: those of pd_run and of the functions in the options;
 * PD_ERROR_MEMORY; PD_ERROR_SYSTEM: no temporary file; PD_ERROR_NO_MATCH: no sample is exported, or nothing of it is for the format, and nothing was written;
 * PD_ERROR_OUTPUT: the text's sink failed. */
PD_API enum pd_status pd_export_run(struct pd_export *export_, struct pd_file *file, struct pd_error *error);
/** Counts of what was done. */
PD_API struct pd_export_result pd_export_result(const struct pd_export *export_);
/** How unwinding ended, for pd_unwinder_count; NULL if nothing was to be unwound. Owned by the export. */
PD_API const struct pd_unwinder *pd_export_unwinder(const struct pd_export *export_);
/** The index-th thing that was left out because the format has no field for it; false past the end. */
PD_API bool pd_export_dropped(const struct pd_export *export_, size_t index, struct pd_export_dropped *dropped_out);
/** All of it, "3 branch stacks, 1 address". False if there is nothing. */
PD_API bool pd_print_export_dropped(const struct pd_export *export_, struct pd_text *text);

#ifdef __cplusplus
}
#endif
#endif
