/* SPDX-License-Identifier: MIT */
/*
 * Notes of ELF: where build ids stand.
 */
#ifndef CLI_NOTE_H
#define CLI_NOTE_H

#include "running.h"

/* The build id among notes that stand one after another; size 0 if there is none. */
struct pd_build_id note_build_id(const uint8_t *notes, size_t size, bool big_endian);

#endif
