/* SPDX-License-Identifier: MIT */
/*
 * Text that is put together piece by piece, many millions of times: a small room that is filled
 * without printf and handed to the output when it is full.
 */
#ifndef CLI_SCRIPT_LINE_H
#define CLI_SCRIPT_LINE_H

#include <perfdata/perfdata.h>

#include <string.h>

enum {
	LINE_ROOM = 128 * 1024,
	LINE_PIECE = 64,
	LINE_MUCH = 32 * 1024
};

struct output;

struct line {
	struct output *out;
	struct pd_text *text; /* of the output */
	uint64_t flushes;
	bool escape;                                              /* text of files goes to a terminal */
	void (*take)(void *self, const char *bytes, size_t size); /* instead of the output, or NULL */
	void *self;
	size_t used;
	char room[LINE_ROOM + 2 * LINE_PIECE];
};

/* Hands over what is there. */
void line_flush(struct line *line);

/* Makes room for a piece of LINE_PIECE bytes. */
static inline char *line_piece(struct line *line)
{
	if (line->used + LINE_PIECE >= LINE_ROOM)
		line_flush(line);
	return line->room + line->used;
}

static inline void line_char(struct line *line, char c)
{
	*line_piece(line) = c;
	line->used++;
}

/* A text of the program, shorter than LINE_PIECE. */
static inline void line_word(struct line *line, const char *word)
{
	size_t length = strlen(word);

	memcpy(line_piece(line), word, length);
	line->used += length;
}

/* Any bytes, as they are. */
void line_bytes(struct line *line, const char *bytes, size_t size);
/* The same of a text behind which at least LINE_PIECE bytes can be read. */
static inline void line_padded(struct line *line, const char *bytes, size_t size)
{
	if (size > 2 * LINE_PIECE) {
		line_bytes(line, bytes, size);
		return;
	}
	memcpy(line_piece(line), bytes, LINE_PIECE);
	if (size > LINE_PIECE)
		memcpy(line->room + line->used + LINE_PIECE, bytes + LINE_PIECE, LINE_PIECE);
	line->used += size;
}

/* Spaces. */
void line_spaces(struct line *line, size_t count);
/* A text of the file, as it is or escaped; right-aligned to width. */
void line_foreign(struct line *line, const char *string, size_t width);
/* The same, aligned to the left. */
void line_foreign_left(struct line *line, const char *string, size_t width);
/* Decimal, right-aligned to width, filled with spaces or zeros. */
void line_dec(struct line *line, uint64_t value, unsigned width, char fill);
/* The same with a sign. */
void line_signed(struct line *line, int64_t value, unsigned width, char fill);
/* Decimal, aligned to the left. */
void line_signed_left(struct line *line, int64_t value, unsigned width);
/* Hexadecimal without 0x, right-aligned to width, filled with spaces or zeros. */
void line_hex(struct line *line, uint64_t value, unsigned width, char fill);
/* As %#lx: 0x in front, but not of 0. */
void line_hex_marked(struct line *line, uint64_t value);

#endif
