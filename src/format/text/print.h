/* SPDX-License-Identifier: MIT */
/* Decoded structs as text and as JSON, by walking their layout. */
#ifndef PD_FORMAT_TEXT_PRINT_H
#define PD_FORMAT_TEXT_PRINT_H

#include "base/text/text.h"
#include "format/layout.h"

struct pd_printer {
	struct pd_text *text;
	struct pd_scope scope; // words that were valid when the struct was decoded
	enum pd_arch arch;     // for register names
};

// Fields, one a line, with a line end after each.
void pd_print_struct(struct pd_printer *printer, const struct pd_layout *layout, const void *decoded, unsigned indent);
// The value of one line.
void pd_json_value(struct pd_printer *printer, const struct pd_field *field, const void *decoded);
// {"member":value,...}
void pd_json_struct(struct pd_printer *printer, const struct pd_layout *layout, const void *decoded);

// What BOX and BODY structs begin with.
struct pd_body_head {
	struct pd_bytes rest;
	const struct pd_sample_id *sample_id; // BODY only
};

// Applies a SET line to the scope.
static inline void pd_printer_set(struct pd_printer *printer, const struct pd_field *field, const void *decoded)
{
	printer->scope.words[field->word] = pd_member(decoded, field->offset, field->size);
}

// Whether a line shows something of this struct.
bool pd_printer_shows(struct pd_printer *printer, const struct pd_field *field, const void *decoded);
// An array of numbers as bytes, and the size of one; all arrays are {pointer, count}.
static inline struct pd_bytes pd_array_of(const void *decoded, const struct pd_field *field)
{
	struct pd_bytes array;

	memcpy(&array, (const uint8_t *)decoded + field->offset, sizeof(array));
	return array;
}
uint64_t pd_array_item(struct pd_bytes array, enum pd_kind kind, size_t index);
// A number as it is wide, signed kinds extended.
int64_t pd_signed_member(const struct pd_field *field, const void *decoded);

#endif
