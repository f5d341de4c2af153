/* SPDX-License-Identifier: MIT */
/*
 * Decoded structs as text that can be read back without loss, by walking their layout; parse.h is the way back. What
 * text looks like is described in docs/text.md.
 */
#ifndef PD_FORMAT_TEXT_EMIT_H
#define PD_FORMAT_TEXT_EMIT_H

#include "base/text/text.h"
#include "format/layout.h"

struct pd_emitter {
	struct pd_text *text;
	struct pd_scope scope; // words that were valid when the struct was decoded
	enum pd_arch arch;     // for register names
	bool big;              // byte order of records in features
	struct pd_bytes body;  // what the struct was decoded from: paddings of texts depend on their place
};

// Fields on one line: "pid: 12, tid: 12".
void pd_emit_struct(struct pd_emitter *emitter, const struct pd_layout *layout, const void *decoded);
// Fields and items of lists on a line each, indented by a step. Numbers that are 0 are left out.
void pd_emit_block(struct pd_emitter *emitter, const struct pd_layout *layout, const void *decoded);

// Pieces: a text in quotes, bytes as x"0a", bits of a word, misc of a record.
void pd_emit_text(struct pd_text *text, const char *data, size_t size);
void pd_emit_bytes(struct pd_text *text, struct pd_bytes bytes);
void pd_emit_bits(struct pd_text *text, const struct pd_names *names, uint64_t word);
void pd_emit_misc(struct pd_text *text, uint32_t type, uint16_t misc);

#endif
