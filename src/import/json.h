/* SPDX-License-Identifier: MIT */
/*
 * JSON in memory, read from front to back: what is not wanted is skipped. Failure sticks in the cursor. Nesting is limited, and
 * nothing calls itself.
 */
#ifndef PD_IMPORT_JSON_H
#define PD_IMPORT_JSON_H

#include "base/cursor.h"
#include "base/text/text.h"

// At the bracket of an object or array: enters it. False if there is none.
bool pd_json_enter(struct pd_cursor *c, char bracket);
// The next member, whose value comes next; false at the end of the object, which is left.
bool pd_json_member(struct pd_cursor *c, struct pd_text *key);
// Whether another item comes next; false at the end of the array, which is left.
bool pd_json_item(struct pd_cursor *c);
void pd_json_skip(struct pd_cursor *c);
bool pd_json_take_string(struct pd_cursor *c, struct pd_text *text);
// A number times a factor, as a whole number; below 0 it is 0, and too large ones are the largest.
bool pd_json_take_number(struct pd_cursor *c, uint64_t factor, uint64_t *value_out);
bool pd_json_is(const struct pd_text *text, const char *string);

#endif
