/* SPDX-License-Identifier: MIT */
/* Bytes as a file of gzip, without a name and a time: the same bytes give the same file. It has one member: some readers stop after it. */
#ifndef PD_EXPORT_WRITE_GZIP_H
#define PD_EXPORT_WRITE_GZIP_H

#include "base/text/text.h"

// A file that is written in pieces. Zeros are ready for use.
struct pd_gzip {
	void *state;
	bool begun;
	uint32_t crc, size; // without a library: of what was added
};

// Adds what is in `data` to the file, if that is much, and clears it. The file is added to the text, whose `failed` is set if there is no
// memory. With libdeflate, data stays there until the end. Without libdeflate and zlib nothing is compressed.
void pd_gzip_add(struct pd_gzip *gzip, struct pd_text *text, struct pd_text *data);
// Adds the last bytes, and ends the file.
void pd_gzip_end(struct pd_gzip *gzip, struct pd_text *text, const void *data, size_t size);
void pd_gzip_fini(struct pd_gzip *gzip);
// A whole file at once.
void pd_gzip(struct pd_text *text, const void *data, size_t size);

#endif
