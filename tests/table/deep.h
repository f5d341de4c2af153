/* SPDX-License-Identifier: MIT */
/*
 * Looks at decoded structs by walking their layouts: whether two are equal in every value, and how
 * many bytes one takes on the wire. The size is worked out here once more, not asked of the
 * encoder, so that the two can be held against each other.
 */
#ifndef PD_TEST_DEEP_H
#define PD_TEST_DEEP_H

#include <perfdata/print.h>

#include "format/layout.h"
#include "format/text/print.h"

// Whether `got` has every value of `wanted`. If not, *where says the first member that differs.
bool deep_equal(const struct pd_layout *layout, const void *wanted, const void *got, struct pd_text *where);

struct deep_size {
	size_t size;
	size_t firm; // bytes that have to be there: fewer must be refused
};

// Bytes that a struct takes. scope->words are those at its begin; they are changed by SET lines.
struct deep_size deep_size(const struct pd_layout *layout, const void *decoded, struct pd_scope *scope);
// Bytes of one line that is there.
struct deep_size deep_line_size(const struct pd_field *field, const void *decoded, struct pd_scope *scope);
// Whether a MORE line holds when so many bytes are left.
bool deep_more(const struct pd_field *field, const void *decoded, const struct pd_scope *scope, size_t left);

// Bytes of a number of this kind.
size_t deep_kind_size(unsigned kind);
// The first member of boxes and bodies.
const struct pd_bytes *deep_rest(const struct pd_layout *layout, const void *decoded);

#endif
