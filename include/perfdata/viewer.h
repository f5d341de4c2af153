/* SPDX-License-Identifier: MIT */
/**
 * viewer.h - a recording as a page for a browser: one file with everything inside, or a page and the answers that it asks for.
 *
 * Data and requests are described in docs/page.md. There is no network here: a program that serves the page passes on what was
 * requested and sends the answer. A view is used by one thread at a time.
 *
 * Example:
 *
 *	const struct pd_viewer_options options = { .size = sizeof(options), .alone = true };
 *	struct pd_viewer *view;
 *	struct pd_bytes data;
 *
 *	if (pd_viewer_new(file, &options, &view, &error) == PD_OK) {
 *		data = pd_viewer_data(view);
 *		pd_viewer_page(text, "perf.data", &data, 1, &error);
 *		pd_viewer_free(view);
 *	}
 */
#ifndef PERFDATA_VIEWER_H
#define PERFDATA_VIEWER_H

#include <perfdata/flame.h>
#include <perfdata/select.h>
#include <perfdata/symbol.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero is the default for each member. Strings and functions must remain valid until pd_viewer_free. */
struct pd_viewer_options {
	size_t size;                            /* sizeof(struct pd_viewer_options); 0 is PD_ERROR_ARGUMENT */
	const char *name;                       /* of the recording, for the title; NULL: "perf.data" */
	const struct pd_select_options *select; /* the samples that are shown; NULL: all */
	/* Opens symbols for a state. The view frees them. NULL: those of pd_symbols_new without options. May return NULL,
	 * which ends what is done. */
	struct pd_symbols *(*symbols)(void *self, struct pd_file *file, const struct pd_state *state);
	/* See pd_run_options. */
	bool (*progress)(void *self, uint64_t done, uint64_t total);
	void *self;       /* first argument of the functions */
	unsigned threads; /* as in pd_run_options */
	bool no_unwind;   /* call chains as they were recorded; otherwise copied user stacks are unwound */
	bool alone;       /* for a page without a server: without what only requests need */
	bool no_data;     /* only requests are answered: the file is not read before, and there is no data */
};

struct pd_viewer;

/** Reads a file that can be read twice (see pd_run), and must outlive the view. Errors: those of pd_select_new and pd_export_run;
 * PD_ERROR_NO_MATCH: no sample is wanted, and *view_out is a view without data then, unless it is NULL. */
PD_API enum pd_status pd_viewer_new(struct pd_file *file, const struct pd_viewer_options *options,
				    struct pd_viewer **view_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_viewer_free(struct pd_viewer *view);
/** The data of the page. Owned by the view. */
PD_API struct pd_bytes pd_viewer_data(const struct pd_viewer *view);
/** Samples in the file, shown or not; 0 of a view without data. */
PD_API uint64_t pd_viewer_samples_read(const struct pd_viewer *view);

/** Writes the page, with the data of one or two recordings in it; without any it asks for them. Appends to text, and writes it
 * out (pd_text_flush_large). Errors: PD_ERROR_MEMORY; PD_ERROR_OUTPUT. */
PD_API enum pd_status pd_viewer_page(struct pd_text *text, const char *title, const struct pd_bytes *data, size_t count,
				     struct pd_error *error);
/** Writes the same page with a flame graph in it, which it opens with, or with two, the earlier one first, which are compared. Stacks have sums in it and no single
 * samples. Errors: as above; PD_ERROR_ARGUMENT: not one or two. */
PD_API enum pd_status pd_viewer_flame_page(struct pd_text *text, struct pd_flame *const *flames, size_t count,
					   struct pd_error *error);
/** The content policy of the page, as it stands in it: for a header of HTTP. Static, and not ended by a NUL. */
PD_API struct pd_str pd_viewer_policy(void);

/** A parameter of a request, decoded. */
struct pd_viewer_parameter {
	const char *name, *value;
};

struct pd_viewer_answer {
	unsigned code;         /* of HTTP: 200; 400, 404 or 500, and the body is JSON with the member error */
	const char *type;      /* of the body; constant */
	const char *file_name; /* under which a browser is to save it, or NULL; constant */
	struct pd_bytes body;  /* owned by the view; valid until the next answer */
};

/** Answers a request for a path relative to the page: "", "data", "records" ... What is wrong with a request is in the answer.
 * Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_viewer_answer(struct pd_viewer *view, const char *path,
				       const struct pd_viewer_parameter *parameters, size_t count,
				       struct pd_viewer_answer *answer_out, struct pd_error *error);

enum {
	PD_VIEWER_TOKEN_BYTES = 16,
	PD_VIEWER_TOKEN_CHARS = 2 * PD_VIEWER_TOKEN_BYTES,
	PD_VIEWER_TOKEN_SIZE = PD_VIEWER_TOKEN_CHARS + 1 /* with its NUL */
};

/** Who may ask a server on this machine: a page of its own, of a browser here. Other programs do not know the token, with which paths
 * begin; other pages, also those whose name was made to lead here, have another host, origin or site. */
struct pd_viewer_guard {
	char token[PD_VIEWER_TOKEN_SIZE];
	unsigned port; /* of the server; set by the caller */
};

/** What a request says of itself, by its headers; NULL: nothing. */
struct pd_viewer_caller {
	const char *method, *url;
	const char *host;
	size_t hosts; /* how many headers of this name */
	const char *origin;
	const char *site, *mode; /* Sec-Fetch-Site, Sec-Fetch-Mode */
};

/** Makes a token. False, with errno, if there are no random numbers. */
PD_API bool pd_viewer_guard_init(struct pd_viewer_guard *guard);
/** The path of a request below the token, which is a part of its url; NULL and the code of HTTP to refuse it with. */
PD_API const char *pd_viewer_admit(const struct pd_viewer_guard *guard, const struct pd_viewer_caller *caller,
				   unsigned *code_out);

#ifdef __cplusplus
}
#endif
#endif
