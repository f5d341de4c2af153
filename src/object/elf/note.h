/* SPDX-License-Identifier: MIT */
/*
 * Notes of ELF: where build ids stand.
 */
#ifndef PD_OBJECT_ELF_NOTE_H
#define PD_OBJECT_ELF_NOTE_H

#include <perfdata/file.h>

/* The build id among notes that stand one after another; size 0 if there is none. */
struct pd_build_id pd_note_build_id(const uint8_t *notes, size_t size, bool big_endian);
/* The same of a file of notes of this machine, such as /sys/kernel/notes. */
struct pd_build_id pd_note_file_build_id(const char *path);

#endif
