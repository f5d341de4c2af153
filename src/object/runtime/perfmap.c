/* SPDX-License-Identifier: MIT */
/* Maps of code made at run time. Names may have spaces; the last line may be cut off while its program writes it. */
#include "object/runtime/perfmap.h"

#include "object/elf/image.h"
#include "object/symbols/scan.h"

static bool read_line(struct pd_scan line, struct pd_symbol *out)
{
	uint64_t size;

	if (!pd_scan_hex(&line, &out->start) || !pd_scan_blanks(&line) || !pd_scan_hex(&line, &size) ||
	    !pd_scan_is_blank(&line))
		return false;
	line.at++;
	// what has no size is at its first address, as perf has it
	size = size ? size : 1;
	out->end = size > UINT64_MAX - out->start ? UINT64_MAX : out->start + size;
	out->name = line.at;
	size = pd_scan_rest(&line);
	out->name_length = (uint32_t)(size < UINT16_MAX ? size : UINT16_MAX);
	return out->name_length > 0;
}

enum pd_status pd_perfmap_read(struct pd_symtab **table_out, const char *text, size_t size, size_t limit,
			       size_t *bad_lines_out, struct pd_error *error)
{
	struct pd_symtab_maker maker = { .rule = PD_SYMTAB_LATER, .limit = limit };
	struct pd_scan all = { text, text + size }, line;
	size_t bad_lines = 0;
	enum pd_status status;

	while (pd_scan_line(&all, &line) && !maker.over_limit && !maker.out_of_memory) {
		struct pd_symbol symbol = { .bind = PD_BIND_LOCAL, .kind = PD_SYMBOL_FUNCTION };

		if (!read_line(line, &symbol))
			bad_lines++;
		else if (symbol.end > symbol.start)
			pd_symtab_add(&maker, &symbol, 0);
	}
	status = pd_symtab_make(&maker, table_out, error);
	if (status == PD_OK && bad_lines_out)
		*bad_lines_out = bad_lines;
	return status;
}

enum pd_status pd_perfmap_open(struct pd_symtab **table_out, const char *path, size_t limit, size_t *bad_lines_out,
			       struct pd_error *error)
{
	uint8_t *text;
	size_t size;
	enum pd_status status = pd_image_read_file(path, limit, &text, &size, error);

	if (status)
		return status;
	status = pd_perfmap_read(table_out, (char *)text, size, limit, bad_lines_out, error);
	pd_free(text);
	return status;
}
