/* SPDX-License-Identifier: MIT */
/* Messages as text and back, as protocol buffers have it. */
#ifndef PD_QUIPPER_TEXT_H
#define PD_QUIPPER_TEXT_H

#include "base/text/proto.h"
#include "quipper/schema.h"

// A field of PerfDataProto, or of another message. False: the bytes are no message.
bool pd_quipper_print(struct pd_text *text, const struct pd_quipper_line *line, struct pd_bytes message);

// What reads text. A function gives the next bytes, 0 at the end.
struct pd_quipper_parser {
	size_t (*more)(void *self, char *data, size_t size);
	void *self;
	char data[4096];
	size_t at, size;
	uint64_t line; // from 1
	bool ended;
	const char *wrong;    // or NULL
	struct pd_text *word; // the present name, or string
};

// The next field of PerfDataProto as bytes (several, if they are in brackets). False at the end, or if something is wrong.
bool pd_quipper_parse(struct pd_quipper_parser *parser, struct pd_text *message);

#endif
