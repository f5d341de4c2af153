/* SPDX-License-Identifier: MIT */
/* Bytes as a file of gzip, without a name and a time: the same bytes give the same file. */
#ifndef PD_EXPORT_WRITE_GZIP_H
#define PD_EXPORT_WRITE_GZIP_H

#include "base/text/text.h"

// A file that is written in pieces. Zeros are ready for use.
struct pd_gzip {
	void *state;
	bool begun;
	uint32_t crc, size; // without zlib: of what was added
};

// Adds bytes to the file, which is added to the text. The text's `failed` is set if there is no memory. Without zlib nothing is compressed.
void pd_gzip_add(struct pd_gzip *gzip, struct pd_text *text, const void *data, size_t size);
// The same, and ends the file.
void pd_gzip_end(struct pd_gzip *gzip, struct pd_text *text, const void *data, size_t size);
void pd_gzip_fini(struct pd_gzip *gzip);
// A whole file at once.
void pd_gzip(struct pd_text *text, const void *data, size_t size);

#endif
