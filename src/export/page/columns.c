/* SPDX-License-Identifier: MIT */
/*
 * Numbers as columns: each is packed while it is put, and compressed when it ends. Bytes of one place of LEB128 lie together:
 * they are more alike than those of one number, so that the column is smaller by a tenth.
 */
#include "export/page/page.h"

#include "base/text/text.h"
#include "export/write/gzip.h"

enum {
	PIECE = 256 << 10 // bytes that are compressed at once
};

bool pd_page_blocks_init(struct pd_page_blocks *blocks)
{
	bool done = true;

	*blocks = (struct pd_page_blocks){ .blocks = pd_text_new() };
	blocks->columns.text = pd_text_new();
	for (size_t i = 0; i < PD_PAGE_PLACES; i++)
		done &= (blocks->places[i] = pd_text_new()) != NULL;
	return done && blocks->blocks && blocks->columns.text;
}

void pd_page_blocks_fini(struct pd_page_blocks *blocks)
{
	pd_text_free(blocks->blocks);
	for (size_t i = 0; i < PD_PAGE_PLACES; i++)
		pd_text_free(blocks->places[i]);
	pd_text_free(blocks->columns.text);
}

bool pd_page_blocks_failed(const struct pd_page_blocks *blocks)
{
	bool failed = blocks->blocks->failed || blocks->columns.text->failed;

	for (size_t i = 0; i < PD_PAGE_PLACES; i++)
		failed |= blocks->places[i]->failed;
	return failed;
}

void pd_page_begin(struct pd_page_column *column, struct pd_page_blocks *blocks, const char *name,
		   enum pd_page_code code)
{
	*column = (struct pd_page_column){ .blocks = blocks, .name = name, .code = code };
	for (size_t i = 0; i < PD_PAGE_PLACES; i++)
		pd_text_clear(blocks->places[i]);
}

static void put_number(struct pd_page_blocks *blocks, uint64_t value)
{
	struct pd_text **place = blocks->places;

	for (; value > 127; value >>= 7)
		pd_text_char(*place++, (char)(value | 128));
	pd_text_char(*place, (char)value);
}

void pd_page_put(struct pd_page_column *column, uint64_t value)
{
	struct pd_page_blocks *blocks = column->blocks;
	uint64_t step = value - column->last;

	if (!column->count++)
		column->first = value;
	column->differs |= value != column->first;
	column->last = value;
	if (column->code == PD_PAGE_BYTES)
		pd_text_char(blocks->places[0], (char)value);
	else if (column->code == PD_PAGE_RISING)
		put_number(blocks, step);
	else if (column->code == PD_PAGE_STEPS)
		put_number(blocks, step << 1 ^ (uint64_t)((int64_t)step >> 63));
	else
		put_number(blocks, value);
}

void pd_page_put_string(struct pd_page_column *column, const char *text, size_t size)
{
	column->count++;
	column->differs = true;
	pd_text_put(column->blocks->places[0], text, size);
	pd_text_char(column->blocks->places[0], 0);
}

// All places one after another. They are compressed in pieces, as there must be room for what could come out of each of these.
static size_t put_packed(struct pd_page_blocks *blocks)
{
	struct pd_gzip gzip = { .state = NULL };
	size_t bytes = 0;

	for (size_t i = 0; i < PD_PAGE_PLACES; i++) {
		const struct pd_text *raw = blocks->places[i];

		for (size_t at = 0; at < raw->size; at += PIECE)
			pd_gzip_add(&gzip, blocks->blocks, raw->data + at,
				    raw->size - at < PIECE ? raw->size - at : PIECE);
		bytes += raw->size;
	}
	pd_gzip_end(&gzip, blocks->blocks, "", 0);
	pd_gzip_fini(&gzip);
	return bytes;
}

void pd_page_end(struct pd_page_column *column)
{
	struct pd_page_blocks *blocks = column->blocks;
	struct pd_json *json = &blocks->columns;
	const char code[] = { (char)(column->differs ? column->code : PD_PAGE_SAME), 0 };
	size_t at = blocks->blocks->size;

	pd_json_open(json, column->name, '{');
	pd_json_string(json, "code", code);
	pd_json_number(json, "count", column->count);
	if (column->differs) {
		size_t bytes = put_packed(blocks);

		pd_json_number(json, "at", at);
		pd_json_number(json, "size", blocks->blocks->size - at);
		pd_json_number(json, "bytes", bytes);
	} else {
		pd_json_number(json, "value", column->first);
	}
	pd_json_close(json, '}');
}
