/* SPDX-License-Identifier: MIT */
/*
 * From structs to bytes: pd_encode_mmap2 and so on, one function for each layout.
 * Failure is in the buffer; when buffer->need is above its capacity, more room is needed.
 */
#ifndef PD_FORMAT_ENCODE_H
#define PD_FORMAT_ENCODE_H

#include "format/layout.h"

#define PART(layout, doc) void pd_encode_##layout(struct pd_buffer *p, struct pd_scope *s, const void *in);
#define BOX(layout, doc) void pd_encode_##layout(struct pd_buffer *p, struct pd_scope *s, const void *in);
#define BODY(layout, doc) void pd_encode_##layout(struct pd_buffer *p, struct pd_scope *s, const void *in);
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>

#endif
