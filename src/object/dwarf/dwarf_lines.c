/* SPDX-License-Identifier: MIT */
/* Line programs: a small machine that makes rows, and the files that they name. */
#include "object/dwarf/dwarf.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
	CONTENT_PATH = 1,
	CONTENT_FOLDER = 2,
	MOST_FORMATS = 32 // of an entry of the tables of version 5
};

struct program {
	struct pd_dwarf *d;
	const struct pd_dwarf_unit_head *u;
	struct pd_dwarf_files *files;
	struct pd_cursor c;
	struct pd_dwarf_unit_head forms; // sizes of this program, which may be others than those of the unit
	unsigned version;
	uint8_t instruction_size, most_operations, first_special, line_range;
	int8_t line_base;
	bool begins_as_statement, is_statement, is_after_prologue;
	const uint8_t *operands; // of the standard instructions, counted from 1

	uint64_t addr, file;
	uint32_t op, line;
	uint64_t row_file; // that row_text belongs to
	uint32_t row_text;
	size_t sequence; // its first row
};

// ---- files ----

static bool add_folder(struct pd_dwarf_files *files, const char *name)
{
	if (!PD_GROW(files->folders, files->folder_capacity, files->folder_count + 1)) {
		files->maker->failed = true;
		return false;
	}
	files->folders[files->folder_count++] = name;
	return true;
}

static bool add_file(struct pd_dwarf_files *files, const char *name, uint64_t folder)
{
	if (!PD_GROW(files->items, files->capacity, files->count + 1)) {
		files->maker->failed = true;
		return false;
	}
	files->items[files->count++] = (struct pd_dwarf_file){ .name = name, .folder = folder };
	return true;
}

void pd_dwarf_files_fini(struct pd_dwarf_files *files)
{
	pd_free(files->folders);
	pd_free(files->items);
	files->folders = NULL;
	files->items = NULL;
}

static uint32_t joined_text(struct pd_dwarf_files *files, const struct pd_dwarf_file *file)
{
	const char *folder = file->folder < files->folder_count ? files->folders[file->folder] : NULL;
	const char *base = files->folder;
	char path[PATH_MAX];
	int length;

	if (!file->name || file->name[0] == '/' || (!folder && !base))
		return pd_unit_maker_text(files->maker, file->name ? file->name : "");
	// folder 0 is the one where the compiler ran
	if (!folder || !folder[0] || !base || folder[0] == '/' || strcmp(folder, base) == 0) {
		length = snprintf(path, sizeof(path), "%s/%s", folder && folder[0] ? folder : base, file->name);
		if (!folder && !base[0])
			length = -1;
	} else {
		length = snprintf(path, sizeof(path), "%s/%s/%s", base, folder, file->name);
	}
	return pd_unit_maker_text(files->maker, length > 0 && (size_t)length < sizeof(path) ? path : file->name);
}

uint32_t pd_dwarf_file_text(struct pd_dwarf_files *files, uint64_t file)
{
	if (file >= files->count)
		return pd_unit_maker_text(files->maker, "");
	if (!files->items[file].has_text) {
		files->items[file].text = joined_text(files, &files->items[file]);
		files->items[file].has_text = true;
	}
	return files->items[file].text;
}

static const char *take_text(struct pd_cursor *c)
{
	const char *text = (const char *)c->at;
	size_t length = strnlen(text, pd_cursor_left(c));

	pd_cursor_take(c, (uint64_t)length + 1);
	return c->failed ? NULL : text;
}

static void take_old_file(struct program *p, struct pd_cursor *c, const char *name)
{
	uint64_t folder = pd_dwarf_uleb(c);

	pd_dwarf_uleb(c); // time
	pd_dwarf_uleb(c); // size
	if (!c->failed)
		add_file(p->files, name, folder);
}

// Before version 5: what stands first is not in the lists.
static void read_old_tables(struct program *p, struct pd_cursor *c)
{
	const char *name;

	if (!add_folder(p->files, p->files->folder) || !add_file(p->files, NULL, 0))
		return;
	while ((name = take_text(c)) && name[0] && add_folder(p->files, name))
		;
	while ((name = take_text(c)) && name[0] && !p->files->maker->failed)
		take_old_file(p, c, name);
}

struct format {
	uint64_t content, form;
};

// One table of version 5: folders, or files.
static void read_table(struct program *p, struct pd_cursor *c, bool of_files)
{
	struct format formats[MOST_FORMATS];
	unsigned format_count = pd_cursor_u8(c);
	uint64_t count;

	if (format_count > MOST_FORMATS)
		return pd_cursor_fail(c, "has too many formats");
	for (unsigned i = 0; i < format_count; i++) {
		formats[i].content = pd_dwarf_uleb(c);
		formats[i].form = pd_dwarf_uleb(c);
	}
	count = pd_dwarf_uleb(c);
	if (!format_count && count)
		return pd_cursor_fail(c, "has a count larger than the data");
	for (uint64_t n = 0; n < count && pd_cursor_left(c) && !p->files->maker->failed; n++) {
		const char *name = NULL;
		uint64_t folder = 0;

		for (unsigned i = 0; i < format_count; i++) {
			struct pd_dwarf_value value = pd_dwarf_value(c, &p->forms, (unsigned)formats[i].form, 0);

			if (formats[i].content == CONTENT_PATH)
				name = pd_dwarf_text(p->d, &p->forms, &value);
			else if (formats[i].content == CONTENT_FOLDER)
				folder = value.number;
		}
		if (c->failed)
			return;
		if (of_files)
			add_file(p->files, name, folder);
		else
			add_folder(p->files, name);
	}
}

// ---- the machine ----

static void reset(struct program *p)
{
	p->addr = 0;
	p->op = 0;
	p->file = 1;
	p->line = 1;
	p->is_statement = p->begins_as_statement;
	p->sequence = p->files->maker->row_count;
}

static void put_row(struct program *p, bool ends)
{
	struct pd_unit_maker *maker = p->files->maker;
	struct pd_unit_row row = { .addr = p->addr, .file = PD_NO_TEXT };
	size_t n = maker->row_count;

	if (p->files->row) {
		p->files->row(p->files->row_self, &(struct pd_dwarf_row){ p->addr, p->file, p->line, p->is_statement,
									  p->is_after_prologue, ends });
		p->is_after_prologue = false;
		return;
	}
	if (!ends) {
		if (p->row_file != p->file) {
			p->row_text = pd_dwarf_file_text(p->files, p->file);
			p->row_file = p->file;
		}
		row.file = p->row_text;
		row.line = p->line;
	}
	if (n > p->sequence && maker->rows[n - 1].addr == row.addr)
		maker->rows[n - 1] = row;
	else if (ends || n == p->sequence || maker->rows[n - 1].file != row.file || maker->rows[n - 1].line != row.line)
		pd_unit_maker_row(maker, &row);
}

// What the linker left out is below all code, or at the very end.
static void end_sequence(struct program *p)
{
	struct pd_unit_maker *maker = p->files->maker;
	uint64_t last = p->forms.addr_size == 4 ? UINT32_MAX : UINT64_MAX;

	put_row(p, true);
	if (maker->row_count > p->sequence &&
	    (maker->rows[p->sequence].addr < p->d->image->first_addr || maker->rows[p->sequence].addr >= last - 1))
		maker->row_count = p->sequence;
	reset(p);
}

static void advance(struct program *p, uint64_t operations)
{
	if (p->most_operations <= 1) {
		p->addr += operations * p->instruction_size;
		return;
	}
	operations += p->op;
	p->addr += operations / p->most_operations * p->instruction_size;
	p->op = (uint32_t)(operations % p->most_operations);
}

static void run_extended(struct program *p)
{
	uint64_t size = pd_dwarf_uleb(&p->c);
	const uint8_t *at = pd_cursor_take(&p->c, size);
	struct pd_cursor c = pd_cursor(at, at ? (size_t)size : 0, p->c.big);
	const char *name;

	switch (pd_cursor_u8(&c)) {
	case 1:
		end_sequence(p);
		break;
	case 2:
		size = pd_cursor_left(&c);
		p->addr = size <= 8 ? pd_dwarf_number(&c, (unsigned)size) : 0;
		p->op = 0;
		break;
	case 3:
		name = take_text(&c);
		if (name)
			take_old_file(p, &c, name);
		break;
	default: // discriminators, and what others invented
		break;
	}
}

static void run_standard(struct program *p, unsigned code)
{
	switch (code) {
	case 1:
		put_row(p, false);
		break;
	case 2:
		advance(p, pd_dwarf_uleb(&p->c));
		break;
	case 3:
		p->line += (uint32_t)pd_dwarf_sleb(&p->c);
		break;
	case 4:
		p->file = pd_dwarf_uleb(&p->c);
		break;
	case 6:
		p->is_statement = !p->is_statement;
		break;
	case 10:
		p->is_after_prologue = true;
		break;
	case 8:
		advance(p, (255u - p->first_special) / p->line_range);
		break;
	case 9:
		p->addr += pd_cursor_u16(&p->c);
		p->op = 0;
		break;
	default: // columns, blocks, and what is not known
		for (unsigned i = 0; i < p->operands[code - 1]; i++)
			pd_dwarf_uleb(&p->c);
		break;
	}
}

static void run_program(struct program *p)
{
	reset(p);
	p->row_file = UINT64_MAX;
	while (pd_cursor_left(&p->c) && !p->files->maker->failed) {
		unsigned code = pd_cursor_u8(&p->c);

		if (code >= p->first_special) {
			code -= p->first_special;
			advance(p, code / p->line_range);
			p->line += (uint32_t)(p->line_base + (int)(code % p->line_range));
			put_row(p, false);
		} else if (code) {
			run_standard(p, code);
		} else {
			run_extended(p);
		}
	}
	// what has no end covers nothing
	p->files->maker->row_count = p->sequence < p->files->maker->row_count ? p->sequence :
										p->files->maker->row_count;
}

// ---- the head ----

static bool read_head(struct program *p, struct pd_cursor *tables_out)
{
	struct pd_cursor *c = &p->c;
	uint64_t size = pd_cursor_u32(c);
	const uint8_t *at;

	p->forms = *p->u;
	p->forms.offset_size = 4;
	if (size == UINT32_MAX) {
		size = pd_cursor_u64(c);
		p->forms.offset_size = 8;
	}
	if (size < pd_cursor_left(c))
		c->end = c->at + size;
	p->version = pd_cursor_u16(c);
	if (p->version < 2 || p->version > 5)
		return false;
	if (p->version >= 5) {
		p->forms.addr_size = pd_cursor_u8(c);
		pd_cursor_u8(c); // of segments
		if (p->forms.addr_size != 4 && p->forms.addr_size != 8)
			return false;
	}
	size = pd_dwarf_number(c, p->forms.offset_size);
	at = pd_cursor_take(c, size);
	if (!at)
		return false;
	*tables_out = pd_cursor(at, (size_t)size, c->big);
	c = tables_out;
	p->instruction_size = pd_cursor_u8(c);
	p->most_operations = p->version >= 4 ? pd_cursor_u8(c) : 1;
	p->begins_as_statement = pd_cursor_u8(c) != 0;
	p->line_base = (int8_t)pd_cursor_u8(c);
	p->line_range = pd_cursor_u8(c);
	p->first_special = pd_cursor_u8(c);
	p->operands = pd_cursor_take(c, p->first_special ? p->first_special - 1u : 0);
	return !c->failed && p->first_special && p->line_range;
}

void pd_dwarf_lines(struct pd_dwarf *d, const struct pd_dwarf_unit_head *u, uint64_t offset,
		    struct pd_dwarf_files *files)
{
	struct program p = { .d = d, .u = u, .files = files, .c = pd_dwarf_cursor(d, PD_DEBUG_LINE, offset) };
	struct pd_cursor tables;

	if (!read_head(&p, &tables))
		return;
	if (p.version >= 5) {
		read_table(&p, &tables, false);
		read_table(&p, &tables, true);
	} else {
		read_old_tables(&p, &tables);
	}
	run_program(&p);
}
