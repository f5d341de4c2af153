/* SPDX-License-Identifier: MIT */
/* Bytes as a file of gzip, without a name and a time: the same bytes give the same file. */
#ifndef PD_EXPORT_WRITE_GZIP_H
#define PD_EXPORT_WRITE_GZIP_H

#include "base/text/text.h"

// Adds the file to the text, whose `failed` is set if there is no memory. Without zlib nothing is compressed.
void pd_gzip(struct pd_text *text, const void *data, size_t size);

#endif
