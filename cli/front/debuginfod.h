/* SPDX-License-Identifier: MIT */
/*
 * Objects and debug files by build id from the servers that the user names in DEBUGINFOD_URLS.
 */
#ifndef CLI_DEBUGINFOD_H
#define CLI_DEBUGINFOD_H

#include <perfdata/symbol.h>

/* Prepares fetching. A file larger than limit_mib (0: 2048) is not fetched, nor one that a server sends too slowly; both are
 * reported. Reports what is missing and returns false then; may be called again. */
bool debuginfod_open(uint64_t limit_mib);
/* A pd_fetch_fn. Its path is valid until the next call. */
const char *debuginfod_fetch(void *self, const uint8_t *build_id, size_t build_id_size, bool debug);

#endif
