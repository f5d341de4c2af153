/* SPDX-License-Identifier: MIT */
/**
 * top.h - a table of what runs now, made again and again: of a recorder in this process, or of a recording that is still written. Linux
 * only, as recorder.h.
 *
 * A session reads until the recording ends, adds up samples by function, and says when a new table is due; what it shows can be
 * changed at each of its steps. The tables are those of pd_top_text and pd_top_json in report.h.
 *
 * Threads: one at a time, except pd_top_session_stop.
 *
 * Example:
 *
 *	const struct pd_top_session_options options = { .size = sizeof(options), .whom = "perf.data" };
 *	struct pd_top_session *session;
 *
 *	if (pd_top_session_new(&options, &session, &error) == PD_OK) {
 *		pd_top_session_settings(session)->delay_ns = 1000000000;
 *		pd_top_session_run(session, NULL, file, &error); // options.step would show each table
 *		pd_top_session_free(session);
 *	}
 */
#ifndef PERFDATA_TOP_H
#define PERFDATA_TOP_H

#include <perfdata/live.h>
#include <perfdata/recorder.h>
#include <perfdata/report.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a session has come to. */
enum pd_top_step {
	PD_TOP_STEP_READ, /* a part of the stream: several in a second */
	PD_TOP_STEP_TABLE /* a table is due, as it is the time or the end */
};

/** What may change from one table to the next. Zero is the default for each member. */
struct pd_top_settings {
	struct pd_top_form form;     /* sort: "dso,sym" if NULL; sort and filter are copied */
	uint64_t delay_ns;           /* between tables; 0: two seconds */
	bool hide_kernel, hide_user; /* of samples since the last table */
	bool paused;                 /* samples are added up, but nothing fades */
	bool zero;                   /* samples before the last table do not count; else they fade */
	uint32_t by;                 /* PD_BY_... of keys that may be asked for later, besides those of the form */
};

struct pd_top_session;

/** Zero is the default for each member but size. Functions must remain valid. */
struct pd_top_session_options {
	size_t size; /* sizeof(struct pd_top_session_options); 0 is PD_ERROR_ARGUMENT */
	struct pd_top_settings settings;
	const char *whom; /* what is recorded, for the first line: "pid 12"; NULL: "all"; copied */
	/* Opens symbols for a state, which the session frees. NULL: those of pd_symbols_new without options. May return NULL, which
	 * ends the session with PD_ERROR_STOPPED. */
	struct pd_symbols *(*symbols)(void *self, struct pd_file *file, const struct pd_state *state);
	/* Called with each step, on the calling thread; false ends the session. May be NULL. */
	bool (*step)(void *self, enum pd_top_step step, struct pd_top_session *session);
	void *self;
	bool stitch_lbr; /* see pd_live_options */
};

/** Errors: PD_ERROR_MEMORY; PD_ERROR_ARGUMENT for a sort key that cannot be had, or a string of more than 127 bytes. */
PD_API enum pd_status pd_top_session_new(const struct pd_top_session_options *options,
					 struct pd_top_session **session_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_top_session_free(struct pd_top_session *session);
/** Reads a recorder that was opened and does not run yet, or else a file, until its end, a step that returns false, or
 * pd_top_session_stop. A recorder is started again when too much of what it described has ended. Errors: those of
 * pd_recorder_open_file, pd_live_read and pd_live_take; PD_ERROR_STOPPED. */
PD_API enum pd_status pd_top_session_run(struct pd_top_session *session, struct pd_recorder *recorder,
					 struct pd_file *file, struct pd_error *error);
/** Ends pd_top_session_run soon, and its recorder. Can be called from signal handlers and any thread. */
PD_API void pd_top_session_stop(struct pd_top_session *session);

/** The settings, to be changed at a step; sort, filter and event by the following functions. Owned by the session. */
PD_API struct pd_top_settings *pd_top_session_settings(struct pd_top_session *session);
/** Other sort keys. Where samples so far were not distinguished by them, counting begins again; of a file they are empty then. Errors: as pd_top_session_new; the old
 * keys remain then. */
PD_API enum pd_status pd_top_session_sort(struct pd_top_session *session, const char *keys, struct pd_error *error);
/** Only rows with this text. Errors: PD_ERROR_ARGUMENT, as pd_top_session_new. */
PD_API enum pd_status pd_top_session_filter(struct pd_top_session *session, const char *text, struct pd_error *error);
/** The next event that has samples. */
PD_API void pd_top_session_next_event(struct pd_top_session *session);
/** Forgets all samples so far. */
PD_API void pd_top_session_reset(struct pd_top_session *session);

/** Prints the present table at a step, see pd_top_text; notice: its second line, or NULL. */
PD_API enum pd_status pd_top_session_text(struct pd_top_session *session, size_t lines, const char *notice,
					  struct pd_text *text, struct pd_error *error);
/** The same by pd_top_json. */
PD_API enum pd_status pd_top_session_json(struct pd_top_session *session, struct pd_text *text, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
