/* SPDX-License-Identifier: MIT */
/* Sections of .debug_frame, for each architecture. */
#include "cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return cfi_check(data, size, true);
}
