/* SPDX-License-Identifier: MIT */
/* MD5 (RFC 1321), for formats that ask for it: the first eight bytes of the digest of a string, as a big-endian number. */
#ifndef PD_BASE_MD5_H
#define PD_BASE_MD5_H

#include <stddef.h>
#include <stdint.h>

uint64_t pd_md5_prefix(const void *data, size_t size);

#endif
