/* SPDX-License-Identifier: MIT */
/*
 * Text that is composed in small pieces, many millions of times: a buffer that is filled without printf and added to
 * the text when it is full.
 */
#ifndef PD_SAMPLES_LINE_H
#define PD_SAMPLES_LINE_H

#include <string.h>

#include "base/text/text.h"

enum {
	PD_LINE_PIECE = 64,
	PD_LINE_CAPACITY = 128 * 1024 + 2 * PD_LINE_PIECE,
	PD_LINE_ALLOCATED = PD_LINE_CAPACITY + 2 * PD_LINE_PIECE
};

struct pd_line_buffer {
	struct pd_text *text; /* where it goes */
	uint64_t flushes;
	bool escape;                                           /* text of files goes to a terminal */
	void (*take)(void *self, struct pd_line_buffer *line); /* instead of text, or NULL; may exchange bytes */
	void *self;
	size_t used;
	char *bytes; /* PD_LINE_ALLOCATED */
};

/* False if there is no memory. */
bool pd_line_init(struct pd_line_buffer *line);
void pd_line_fini(struct pd_line_buffer *line);
/* Hands over what is there. */
void pd_line_flush(struct pd_line_buffer *line);

/* Reserves a piece of PD_LINE_PIECE bytes. */
static inline char *pd_line_piece(struct pd_line_buffer *line)
{
	if (line->used + PD_LINE_PIECE >= PD_LINE_CAPACITY)
		pd_line_flush(line);
	return line->bytes + line->used;
}

static inline void pd_line_char(struct pd_line_buffer *line, char c)
{
	*pd_line_piece(line) = c;
	line->used++;
}

/* A text of the program, shorter than PD_LINE_PIECE. */
static inline void pd_line_word(struct pd_line_buffer *line, const char *word)
{
	size_t length = strlen(word);

	memcpy(pd_line_piece(line), word, length);
	line->used += length;
}

/* Any bytes, as they are. */
void pd_line_bytes(struct pd_line_buffer *line, const char *bytes, size_t size);
/* The same of a text after which at least PD_LINE_PIECE bytes can be read. */
static inline void pd_line_padded(struct pd_line_buffer *line, const char *bytes, size_t size)
{
	if (size > 2 * PD_LINE_PIECE) {
		pd_line_bytes(line, bytes, size);
		return;
	}
	memcpy(pd_line_piece(line), bytes, PD_LINE_PIECE);
	if (size > PD_LINE_PIECE)
		memcpy(line->bytes + line->used + PD_LINE_PIECE, bytes + PD_LINE_PIECE, PD_LINE_PIECE);
	line->used += size;
}

/* Spaces. */
void pd_line_spaces(struct pd_line_buffer *line, size_t count);
/* A text of the file, as it is or escaped; right-aligned to width. */
void pd_line_foreign(struct pd_line_buffer *line, const char *string, size_t width);
/* The same, aligned to the left. */
void pd_line_foreign_left(struct pd_line_buffer *line, const char *string, size_t width);
/* Decimal, right-aligned to width, filled with spaces or zeros. */
void pd_line_dec(struct pd_line_buffer *line, uint64_t value, unsigned width, char fill);
/* The same with a sign. */
void pd_line_signed(struct pd_line_buffer *line, int64_t value, unsigned width, char fill);
/* Decimal, aligned to the left. */
void pd_line_signed_left(struct pd_line_buffer *line, int64_t value, unsigned width);
/* Hexadecimal without 0x, right-aligned to width, filled with spaces or zeros. */
void pd_line_hex(struct pd_line_buffer *line, uint64_t value, unsigned width, char fill);
/* As %16lx. */
void pd_line_addr(struct pd_line_buffer *line, uint64_t addr);
/* The same after a tabulator and before a text of PD_LINE_PIECE bytes at most, of which so many can be read. */
void pd_line_entry(struct pd_line_buffer *line, uint64_t addr, const char *text, size_t size);
/* As %#lx: 0x in front, but not of 0. */
void pd_line_hex_marked(struct pd_line_buffer *line, uint64_t value);

#endif
