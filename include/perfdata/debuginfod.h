/* SPDX-License-Identifier: MIT */
/**
 * debuginfod.h - objects and debug files by build id, from the servers that the environment variable DEBUGINFOD_URLS names.
 *
 * The client of elfutils does the work: it has the cache, the time limits and the settings that its users know. It is loaded
 * when it is opened and not before: it brings a library for the web, which no other program should have to load or to trust.
 *
 * Threads: one at a time for each.
 *
 * Example:
 *
 *	struct pd_symbols_options options = { .size = sizeof(options), .fetch = pd_debuginfod_fetch };
 *	struct pd_debuginfod *servers;
 *
 *	if (pd_debuginfod_open(64 << 20, NULL, NULL, &servers, &error) == PD_OK) {
 *		options.fetch_self = servers;
 *		// pd_symbols_new(file, state, &options, &symbols, &error)
 *		pd_debuginfod_close(servers);
 *	}
 */
#ifndef PERFDATA_DEBUGINFOD_H
#define PERFDATA_DEBUGINFOD_H

#include <perfdata/symbol.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pd_debuginfod;

/** Loads the client. A file larger than limit_bytes (0: 2 GiB) is not fetched, nor one that a server sends too slowly; both are
 * reported to warn, which may be NULL. Errors: PD_ERROR_UNSUPPORTED if there is no client; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_debuginfod_open(uint64_t limit_bytes, pd_warn_fn *warn, void *self,
					 struct pd_debuginfod **debuginfod_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_debuginfod_close(struct pd_debuginfod *debuginfod);
/** For pd_symbols_options.fetch, with fetch_self from pd_debuginfod_open. The path is valid until the next call. */
PD_API const char *pd_debuginfod_fetch(void *debuginfod, const uint8_t *build_id, size_t build_id_size, bool debug);

#ifdef __cplusplus
}
#endif
#endif
