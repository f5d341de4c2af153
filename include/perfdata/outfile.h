/* SPDX-License-Identifier: MIT */
/**
 * outfile.h - an output file, or a folder with files, that appears when it is complete, or not at all.
 *
 * What is written goes to a temporary file beside it, which is renamed at the end. A perf.data file, the file that is being read, and
 * standard input are never overwritten. Pipes and devices are written directly.
 *
 * Threads: one at a time for each file.
 *
 * Example:
 *
 *	struct pd_outfile *out;
 *
 *	if (pd_outfile_open("report.txt", NULL, &out, &error) == PD_OK) {
 *		if (write(pd_outfile_fd(out), "text\n", 5) == 5)
 *			pd_outfile_finish(out, &error);
 *		else
 *			pd_outfile_abort(out);
 *	}
 */
#ifndef PERFDATA_OUTFILE_H
#define PERFDATA_OUTFILE_H

#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pd_outfile;

/** Zero is the default for each member; NULL means all defaults. */
struct pd_outfile_options {
	size_t size;       /* sizeof(struct pd_outfile_options) */
	const char *input; /* path of a file that is being read; NULL, or what is no path: none but standard input */
	/* Tells of the temporary file, for programs that remove it if they are interrupted. May be NULL. */
	pd_unfinished_fn *unfinished;
	void *self; /* first argument of unfinished */
};

/** Creates the temporary file, with the permissions of a file that is there, else by the umask, which is changed for a moment. path
 * must remain valid. Errors: PD_ERROR_ARGUMENT: what is there is not overwritten; PD_ERROR_SYSTEM; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_outfile_open(const char *path, const struct pd_outfile_options *options,
				      struct pd_outfile **file_out, struct pd_error *error);
/** What to write to. Owned by the file. */
PD_API int pd_outfile_fd(const struct pd_outfile *file);
/** The path of what is written to: that of the temporary file, if there is one. Owned by the file. */
PD_API const char *pd_outfile_temporary(const struct pd_outfile *file);
/** Closes and renames the file, and frees it in any case. Errors: PD_ERROR_SYSTEM; PD_ERROR_ARGUMENT: a perf.data file has appeared in
 * its place. The temporary file is removed then. */
PD_API enum pd_status pd_outfile_finish(struct pd_outfile *file, struct pd_error *error);
/** Closes and removes what was written, and frees the file. NULL is ignored. */
PD_API void pd_outfile_abort(struct pd_outfile *file);

/** A folder with files in it, which appears when all of them are complete, or not at all. */
struct pd_outfolder;
/** Makes it under a temporary name, with the permissions of the umask, which is changed for a moment. path must remain valid; what is
 * there may only be an empty folder. options: as above, but for input. Errors: PD_ERROR_OUTPUT, PD_ERROR_MEMORY. */
PD_API enum pd_status pd_outfolder_open(const char *path, const struct pd_outfile_options *options,
					struct pd_outfolder **folder_out, struct pd_error *error);
/** The text of a new file, which is written when it is large (pd_text_flush_large), and at the end. Owned by the folder. NULL if the file
 * cannot be made: pd_outfolder_finish returns why. */
PD_API struct pd_text *pd_outfolder_file(struct pd_outfolder *folder, const char *name);
/** Writes what is left, renames the folder, and frees it in any case. Errors: PD_ERROR_OUTPUT: not all could be written; it is removed
 * then. */
PD_API enum pd_status pd_outfolder_finish(struct pd_outfolder *folder, struct pd_error *error);
/** Removes what was written, and frees the folder. NULL is ignored. */
PD_API void pd_outfolder_abort(struct pd_outfolder *folder);
/** Whether a folder may appear at a path: nothing is there, or an empty folder. Else errno says why. */
PD_API bool pd_outfolder_is_free(const char *path);

/** Paths of several files: by a name with %s in it, which is replaced, or NAME.data in a folder, which is made if it is not there. */
struct pd_outfiles;
/** Of no files. output must remain valid. options: as above; the folder is told of. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_outfiles_new(const char *output, const struct pd_outfile_options *options,
				      struct pd_outfiles **files_out, struct pd_error *error);
/** Adds the path for a name that is harmless in paths. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_outfiles_add(struct pd_outfiles *files, const char *name, struct pd_error *error);
/** The index-th path; NULL past the end. Owned by the files. */
PD_API const char *pd_outfiles_at(const struct pd_outfiles *files, size_t index);
/** Makes the folder, if none of the paths exists. Errors: PD_ERROR_OUTPUT. */
PD_API enum pd_status pd_outfiles_begin(struct pd_outfiles *files, struct pd_error *error);
/** To be called when the files are written; else the folder is removed, if it was made and is empty. */
PD_API void pd_outfiles_end(struct pd_outfiles *files, bool done);
/** NULL is ignored. */
PD_API void pd_outfiles_free(struct pd_outfiles *files);

/** Files of text for the samples of each event, as perf script --per-event-dump writes them: PREFIX.EVENT.dump. Events of one name have
 * one file. */
/** Whether a path ("-": standard output) is the regular file that is open as fd. */
PD_API bool pd_is_same_file(const char *path, int fd);

struct pd_event_files;
/** One of them: its path, owned by the files; how much is written, once they are finished; and how often its text was asked for. */
struct pd_event_file {
	const char *path;
	uint64_t bytes, samples;
};
/** Without files. prefix must remain valid. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_event_files_new(const char *prefix, struct pd_event_files **files_out, struct pd_error *error);
/** Begins a file. What paths cannot have in them is replaced by _. Errors: those of pd_outfile_open. */
PD_API enum pd_status pd_event_files_add(struct pd_event_files *files, const char *event,
					 const struct pd_outfile_options *options, struct pd_error *error);
/** The text of a file, which is begun if it is not there; NULL if that failed: pd_event_files_finish returns why. */
PD_API struct pd_text *pd_event_files_text(struct pd_event_files *files, const char *event);
/** The index-th file; NULL past the end. */
PD_API const struct pd_event_file *pd_event_files_at(const struct pd_event_files *files, size_t index);
/** Writes what is left, and renames the files. Errors: PD_ERROR_MEMORY; PD_ERROR_SYSTEM; those of pd_outfile_finish. */
PD_API enum pd_status pd_event_files_finish(struct pd_event_files *files, struct pd_error *error);
/** Removes those that are not finished. NULL is ignored. */
/** Adds a line for each of them once they are complete: size, path and samples. */
PD_API void pd_event_files_print(struct pd_text *text, const struct pd_event_files *files);
PD_API void pd_event_files_free(struct pd_event_files *files);

/** Removes a file, or a directory with all that is in it, up to 64 levels of directories. Links are removed, not followed. Makes
 * system calls and nothing else, so signal handlers can call it. */
PD_API void pd_remove_tree(const char *path);

#ifdef __cplusplus
}
#endif
#endif
