/* SPDX-License-Identifier: MIT */
/* Numbers as columns: each is packed while it is put, and compressed when it ends. */
#include "export/page/page.h"

#include "base/text/proto.h"
#include "base/text/text.h"
#include "export/write/gzip.h"

bool pd_page_blocks_init(struct pd_page_blocks *blocks)
{
	*blocks = (struct pd_page_blocks){ .blocks = pd_text_new(), .raw = pd_text_new() };
	blocks->columns.text = pd_text_new();
	return blocks->blocks && blocks->raw && blocks->columns.text;
}

void pd_page_blocks_fini(struct pd_page_blocks *blocks)
{
	pd_text_free(blocks->blocks);
	pd_text_free(blocks->raw);
	pd_text_free(blocks->columns.text);
}

bool pd_page_blocks_failed(const struct pd_page_blocks *blocks)
{
	return blocks->blocks->failed || blocks->raw->failed || blocks->columns.text->failed;
}

void pd_page_begin(struct pd_page_column *column, struct pd_page_blocks *blocks, const char *name,
		   enum pd_page_code code)
{
	*column = (struct pd_page_column){ .blocks = blocks, .name = name, .code = code };
	pd_text_clear(blocks->raw);
}

void pd_page_put(struct pd_page_column *column, uint64_t value)
{
	struct pd_text *raw = column->blocks->raw;
	uint64_t step = value - column->last;

	if (!column->count++)
		column->first = value;
	column->differs |= value != column->first;
	column->last = value;
	if (column->code == PD_PAGE_BYTES)
		pd_text_char(raw, (char)value);
	else if (column->code == PD_PAGE_RISING)
		pd_proto_varint(raw, step);
	else if (column->code == PD_PAGE_STEPS)
		pd_proto_varint(raw, step << 1 ^ (uint64_t)((int64_t)step >> 63));
	else
		pd_proto_varint(raw, value);
}

void pd_page_put_string(struct pd_page_column *column, const char *text, size_t size)
{
	column->count++;
	column->differs = true;
	pd_text_put(column->blocks->raw, text, size);
	pd_text_char(column->blocks->raw, 0);
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
		pd_gzip(blocks->blocks, blocks->raw->data, blocks->raw->size);
		pd_json_number(json, "at", at);
		pd_json_number(json, "size", blocks->blocks->size - at);
		pd_json_number(json, "bytes", blocks->raw->size);
	} else {
		pd_json_number(json, "value", column->first);
	}
	pd_json_close(json, '}');
}
