/* SPDX-License-Identifier: MIT */
/*
 * From bytes to structs: pd_decode_mmap2 and so on, one function for each layout.
 * Decodes into zeroed memory of layout->struct_size. Failure is in the cursor.
 */
#ifndef PD_FORMAT_DECODE_H
#define PD_FORMAT_DECODE_H

#include "format/layout.h"

#define PART(layout, doc) void pd_decode_##layout(struct pd_cursor *c, struct pd_scope *s, void *out);
#define BOX(layout, doc) void pd_decode_##layout(struct pd_cursor *c, struct pd_scope *s, void *out);
#define BODY(layout, doc) void pd_decode_##layout(struct pd_cursor *c, struct pd_scope *s, void *out);
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>

#endif
