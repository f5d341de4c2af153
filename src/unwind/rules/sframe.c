/* SPDX-License-Identifier: MIT */
#include "unwind/rules/sframe.h"

#include <string.h>

enum {
	MAGIC = 0xdee2,
	HEADER = 28,
	FUNCTION_1 = 17, // bytes of a function in version 1
	FUNCTION_2 = 20,
	FLAG_PC_RELATIVE = 4,
	KIND_MASK = 16, // rows are repeated, as in a PLT
	BLOCKS_MOST = 1 << 16,
	SAVED_MOST = 2
};

struct header {
	unsigned version, flags, function_size;
	int8_t fixed_fp, fixed_ra; // 0: rows say it
	uint32_t function_count;
	uint64_t functions, rows; // offsets
	bool big;
};

struct function {
	uint64_t start, size;
	uint64_t rows;
	uint32_t row_count;
	unsigned addr_size;
	uint64_t block; // 0: rows are not repeated
};

struct compiler {
	const struct pd_sframe *sframe;
	const struct pd_unwind_arch *arch;
	struct pd_unwind_table *table;
	struct header header;
	uint64_t work_left; // rows
};

static struct pd_cursor cursor_at(const struct compiler *c, uint64_t offset)
{
	struct pd_cursor cursor = pd_cursor(c->sframe->bytes.data, c->sframe->bytes.size, c->header.big);

	pd_cursor_take(&cursor, offset);
	return cursor;
}

// The magic number says the byte order.
static bool read_header(struct compiler *c)
{
	struct header *header = &c->header;
	struct pd_cursor cursor = cursor_at(c, 0);
	unsigned extra;

	if (pd_cursor_u16(&cursor) != MAGIC) {
		header->big = true;
		cursor = cursor_at(c, 0);
		if (pd_cursor_u16(&cursor) != MAGIC)
			return false;
	}
	header->version = pd_cursor_u8(&cursor);
	header->flags = pd_cursor_u8(&cursor);
	pd_cursor_u8(&cursor); // architecture and byte order: known
	header->fixed_fp = (int8_t)pd_cursor_u8(&cursor);
	header->fixed_ra = (int8_t)pd_cursor_u8(&cursor);
	extra = pd_cursor_u8(&cursor);
	header->function_count = pd_cursor_u32(&cursor);
	pd_cursor_u32(&cursor); // rows
	pd_cursor_u32(&cursor); // bytes of rows
	header->functions = HEADER + (uint64_t)extra + pd_cursor_u32(&cursor);
	header->rows = HEADER + (uint64_t)extra + pd_cursor_u32(&cursor);
	header->function_size = header->version == 1 ? FUNCTION_1 : FUNCTION_2;
	return !cursor.failed && (header->version == 1 || header->version == 2);
}

static bool read_function(const struct compiler *c, uint32_t index, struct function *function)
{
	uint64_t at = c->header.functions + (uint64_t)index * c->header.function_size;
	struct pd_cursor cursor = cursor_at(c, at);
	uint64_t from = c->sframe->addr + (c->header.flags & FLAG_PC_RELATIVE ? at : 0);
	unsigned info;

	*function = (struct function){ .start = from + (uint64_t)(int64_t)pd_cursor_s32(&cursor) };
	function->size = pd_cursor_u32(&cursor);
	function->rows = c->header.rows + pd_cursor_u32(&cursor);
	function->row_count = pd_cursor_u32(&cursor);
	info = pd_cursor_u8(&cursor);
	function->addr_size = 1u << (info & 0xf);
	if (info & KIND_MASK)
		function->block = c->header.version == 1 ? 16 : pd_cursor_u8(&cursor);
	return !cursor.failed && function->addr_size <= 4 && (!(info & KIND_MASK) || function->block);
}

static uint64_t read_unsigned(struct pd_cursor *cursor, unsigned size)
{
	return size == 1 ? pd_cursor_u8(cursor) : size == 2 ? pd_cursor_u16(cursor) : pd_cursor_u32(cursor);
}

static int32_t read_signed(struct pd_cursor *cursor, unsigned size)
{
	return size == 1 ? (int8_t)pd_cursor_u8(cursor) :
	       size == 2 ? (int16_t)pd_cursor_u16(cursor) :
			   pd_cursor_s32(cursor);
}

static void add_saved(uint64_t *words, size_t *count, uint8_t number, int32_t value)
{
	const struct pd_saved saved = { .number = number, .kind = PD_SAVED_AT_CFA, .value = value };

	memcpy(&words[(*count)++], &saved, sizeof(saved));
}

// The rule of a row; 0 if it says what is not known. False if there is no memory.
static bool read_rule(struct compiler *c, struct pd_cursor *cursor, uint32_t *rule_out)
{
	unsigned info = pd_cursor_u8(cursor), count = info >> 1 & 0xf, size = 1u << (info >> 5 & 3), used = 1;
	struct pd_unwind_rule rule = { .kind = PD_CFA_REGISTER,
				       .cfa_register = info & 1 ? c->arch->sp : c->arch->fp,
				       .ra = c->arch->ra };
	int32_t offsets[15] = { 0 };
	uint64_t words[1 + SAVED_MOST];
	int32_t ra = c->header.fixed_ra, fp = c->header.fixed_fp;
	size_t words_used = 1;

	*rule_out = 0;
	for (unsigned i = 0; i < count && i < 15; i++)
		offsets[i] = read_signed(cursor, size > 4 ? 4 : size);
	if (cursor->failed || !count || size > 4)
		return true;
	rule.cfa = offsets[0];
	if (!ra && used < count)
		ra = offsets[used++];
	if (!fp && used < count)
		fp = offsets[used++];
	if (ra)
		add_saved(words, &words_used, c->arch->ra, ra);
	if (fp)
		add_saved(words, &words_used, c->arch->fp, fp);
	rule.count = (uint8_t)(words_used - 1) & 0x7f;
	memcpy(words, &rule, sizeof(rule));
	*rule_out = pd_unwind_table_rule(c->table, words, words_used);
	return *rule_out;
}

// The rows of a function, or of one block of it.
static bool add_rows(struct compiler *c, const struct function *function, uint64_t start, uint64_t size)
{
	struct pd_cursor cursor = cursor_at(c, function->rows);
	uint32_t rule;

	// a block without rows is work, too
	c->work_left--;
	for (uint32_t i = 0; i < function->row_count && c->work_left; i++, c->work_left--) {
		uint64_t at = read_unsigned(&cursor, function->addr_size);

		if (!read_rule(c, &cursor, &rule))
			return false;
		if (cursor.failed || at >= size)
			break;
		if (!pd_unwind_table_add(c->table, start + at, rule))
			return false;
	}
	return true;
}

static bool add_function(struct compiler *c, const struct function *function)
{
	uint64_t end = function->start + function->size, step = function->block ? function->block : function->size;

	for (uint64_t at = function->start, i = 0; at < end && i < BLOCKS_MOST && c->work_left; at += step, i++)
		if (!add_rows(c, function, at, step < end - at ? step : end - at))
			return false;
	return pd_unwind_table_add(c->table, end, 0);
}

bool pd_sframe_compile(const struct pd_sframe *sframe, const struct pd_unwind_arch *arch, struct pd_unwind_table *table)
{
	struct compiler c = { .sframe = sframe, .arch = arch, .table = table };
	struct function function;

	// a row has three bytes at least; few are repeated
	c.work_left = 4 * (uint64_t)sframe->bytes.size;
	if (!read_header(&c))
		return true;
	for (uint32_t i = 0; i < c.header.function_count && read_function(&c, i, &function); i++) {
		if (function.start < sframe->code_start || function.start >= sframe->code_end || !function.size ||
		    pd_unwind_table_find(table, function.start))
			continue;
		if (!add_function(&c, &function))
			return false;
	}
	return pd_unwind_table_sort(table);
}
