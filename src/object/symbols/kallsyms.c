/* SPDX-License-Identifier: MIT */
/*
 * "ffffffff81000000 T _text" and, with a tab and the name in brackets, symbols of modules. Only code becomes symbols;
 * everything else says where the function before it ends.
 */
#include "object/symbols/kallsyms.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/lookup/hash.h"
#include "object/elf/image.h"
#include "object/index/index_pages.h"
#include "object/symbols/scan.h"

enum {
	MODULES = 8192, // most; a system has some hundreds
	PAGE = 4096
};

const char *const pd_kernel_sections[PD_KERNEL_SECTIONS] = { "__sched_text_start", "__sched_text_end",
							     "__lock_text_start", "__lock_text_end" };

struct line {
	uint64_t addr;
	char type;
	const char *name;
	size_t name_length;
	const char *module;
	size_t module_length;
};

struct reading {
	struct pd_kallsyms *kallsyms;
	struct pd_symtab_maker maker;
	struct pd_index owners; // by their names
	uint16_t last;
	uint64_t text_addr, stext_addr;
	uint64_t last_addr; // the last symbol of those that end a section of the image
	size_t lines;
	bool any_addr;
};

static bool read_line(struct pd_scan line, struct line *out)
{
	*out = (struct line){ 0 };
	if (!pd_scan_hex(&line, &out->addr) || !pd_scan_blanks(&line) || line.at == line.end)
		return false;
	out->type = *line.at++;
	if (!pd_scan_blanks(&line))
		return false;
	out->name = line.at;
	while (line.at < line.end && *line.at && !pd_scan_is_blank(&line))
		line.at++;
	out->name_length = (size_t)(line.at - out->name);
	if (!out->name_length)
		return false;
	pd_scan_blanks(&line);
	if (line.at < line.end && *line.at == '[') {
		const char *end = memchr(line.at, ']', (size_t)(line.end - line.at));

		out->module = line.at + 1;
		out->module_length = end ? strnlen(out->module, (size_t)(end - out->module)) : 0;
	}
	return true;
}

static bool is_module(const struct pd_kallsyms *k, uint16_t owner, const struct line *line)
{
	const char *name = k->modules[owner - 1];

	return strlen(name) == line->module_length && memcmp(name, line->module, line->module_length) == 0;
}

static bool add_module(struct pd_kallsyms *k, const struct line *line)
{
	char *name = pd_alloc(line->module_length + 1);

	if (!name || !PD_GROW(k->modules, k->module_capacity, k->module_count + 1)) {
		pd_free(name);
		return false;
	}
	memcpy(name, line->module, line->module_length);
	k->modules[k->module_count++] = name;
	return true;
}

// The number of a line's module. Symbols of one module mostly stand together.
static bool find_owner(struct reading *r, const struct line *line, uint16_t *owner_out)
{
	struct pd_kallsyms *k = r->kallsyms;
	uint64_t hash;
	size_t at;

	*owner_out = 0;
	if (!line->module_length)
		return true;
	*owner_out = r->last;
	if (r->last && is_module(k, r->last, line))
		return true;
	hash = pd_hash((uintptr_t)r, line->module, line->module_length);
	at = (uint32_t)hash;
	for (uint32_t i; (i = pd_index_next(&r->owners, hash, &at)) != PD_INDEX_END;) {
		if (!is_module(k, (uint16_t)i, line))
			continue;
		*owner_out = r->last = (uint16_t)i;
		return true;
	}
	if (k->module_count == MODULES) {
		r->maker.over_limit = true;
		return true;
	}
	if (!add_module(k, line) || !pd_index_add(&r->owners, hash, (uint32_t)k->module_count))
		return false;
	*owner_out = r->last = (uint16_t)k->module_count;
	return true;
}

static bool is_name(const struct line *line, const char *name)
{
	return line->name_length == strlen(name) && memcmp(line->name, name, line->name_length) == 0;
}

static bool ends_section(const struct line *line)
{
	return !line->module_length && (is_name(line, "_etext") || is_name(line, "_einittext") ||
					is_name(line, "_edata") || is_name(line, "_end"));
}

static void note_section(struct pd_kallsyms *k, const struct line *line)
{
	if (line->module_length || line->name_length < 2 || line->name[0] != '_' || line->name[1] != '_')
		return;
	for (unsigned i = 0; i < PD_KERNEL_SECTIONS; i++)
		if (!k->sections[i] && is_name(line, pd_kernel_sections[i]))
			k->sections[i] = line->addr;
}

// What is read only says nothing of how far the kernel goes.
static void stretch(struct pd_kallsyms *k, const struct line *line)
{
	if (!line->addr || line->module_length || !memchr("tTwWdDbB", line->type, 8))
		return;
	if (!k->end || line->addr < k->first)
		k->first = line->addr;
	if (!k->end || line->addr >= k->end)
		k->end = line->addr < UINT64_MAX ? line->addr + 1 : line->addr;
}

static bool is_code(const struct line *line)
{
	return memchr("tTwW", line->type, 4) != NULL;
}

static bool take_line(struct reading *r, const struct line *line)
{
	bool code = is_code(line);
	struct pd_symbol symbol = {
		.start = line->addr,
		.end = line->addr,
		.name = line->name,
		.name_length = (uint32_t)(line->name_length < UINT16_MAX ? line->name_length : UINT16_MAX),
		.bind = line->type == 'T' ? PD_BIND_GLOBAL :
			line->type == 't' ? PD_BIND_LOCAL :
					    PD_BIND_WEAK,
		.kind = code ? PD_SYMBOL_FUNCTION : PD_SYMBOL_BOUND,
	};

	r->lines++;
	if (!find_owner(r, line, &symbol.owner))
		return false;
	if (code && line->addr)
		r->any_addr = true;
	if (code && is_name(line, "_text"))
		r->text_addr = line->addr;
	if (code && is_name(line, "_stext"))
		r->stext_addr = line->addr;
	if (ends_section(line) && line->addr > r->last_addr)
		r->last_addr = line->addr;
	note_section(r->kallsyms, line);
	stretch(r->kallsyms, line);
	if (line->addr)
		pd_symtab_add(&r->maker, &symbol, 0);
	return true;
}

// The size of the last symbol is not known: its page and one more.
static uint64_t page_after(uint64_t end)
{
	uint64_t page = (end + PAGE - 2) & -(uint64_t)PAGE;

	return end && page < UINT64_MAX - PAGE && page >= end - 1 ? page + PAGE : end;
}

static enum pd_status read_lines(struct reading *r, struct pd_scan text, struct pd_error *error)
{
	size_t text_size = (size_t)(text.end - text.at);
	struct pd_scan part;
	struct line line;

	while (pd_scan_line(&text, &part) && !r->maker.over_limit && !r->maker.out_of_memory) {
		if (!read_line(part, &line))
			r->kallsyms->bad_lines++;
		else if (!take_line(r, &line))
			return pd_fail_memory(error);
	}
	if (!r->lines && text_size)
		return pd_fail(error, PD_ERROR_FORMAT, 0, "not a list of kernel symbols");
	return PD_OK;
}

enum pd_status pd_kallsyms_read(struct pd_kallsyms *kallsyms_out, const char *text, size_t size, size_t limit,
				struct pd_error *error)
{
	struct pd_kallsyms k = { 0 };
	struct reading r = { .kallsyms = &k, .maker = { .rule = PD_SYMTAB_INNER, .limit = limit } };
	enum pd_status status;

	status = read_lines(&r, (struct pd_scan){ text, text + size }, error);
	if (status == PD_OK)
		status = pd_symtab_make(&r.maker, &k.table, error);
	pd_symtab_maker_fini(&r.maker);
	pd_index_fini(&r.owners);
	if (status) {
		pd_kallsyms_close(&k);
		return status;
	}
	k.hidden = !r.any_addr;
	k.end = page_after(k.end);
	k.text_addr = r.text_addr ? r.text_addr : r.stext_addr;
	k.stext_addr = r.stext_addr;
	if (k.text_addr && r.last_addr > k.text_addr) {
		k.image_from = k.text_addr;
		k.image_to = r.last_addr;
	}
	*kallsyms_out = k;
	return PD_OK;
}

enum pd_status pd_kallsyms_open(struct pd_kallsyms *kallsyms_out, const char *path, size_t limit,
				struct pd_error *error)
{
	uint8_t *text;
	size_t size;
	enum pd_status status = pd_image_read_file(path, limit, &text, &size, error);

	if (status)
		return status;
	status = pd_kallsyms_read(kallsyms_out, (char *)text, size, limit, error);
	pd_free(text);
	if (status == PD_ERROR_FORMAT)
		return pd_fail(error, status, 0, "%s: not a list of kernel symbols", path);
	return status;
}

uint64_t pd_kallsyms_find(const char *path, const char *symbol)
{
	FILE *file = fopen(path, "re");
	bool is_text = strcmp(symbol, "_text") == 0, found = false;
	uint64_t addr = 0, stext_addr = 0;
	size_t capacity = 0;
	char *text = NULL;
	ssize_t length;

	while (file && !found && (length = getline(&text, &capacity, file)) > 0) {
		struct line line;

		length -= text[length - 1] == '\n';
		if (!read_line((struct pd_scan){ text, text + length }, &line) || !is_code(&line))
			continue;
		found = is_name(&line, symbol);
		addr = found ? line.addr : 0;
		if (is_text && is_name(&line, "_stext"))
			stext_addr = line.addr;
	}
	free(text);
	if (file)
		fclose(file);
	return found ? addr : stext_addr;
}

bool pd_kallsyms_head(const char *path, uint8_t head[PD_KALLSYMS_HEAD])
{
	struct pd_image image;
	size_t size;

	if (pd_image_open(&image, path, 0, NULL))
		return false;
	image.size = PD_KALLSYMS_HEAD; // files of /proc do not tell theirs
	size = pd_image_copy(&image, 0, head, PD_KALLSYMS_HEAD);
	pd_image_close(&image);
	return size == PD_KALLSYMS_HEAD;
}

void pd_kallsyms_close(struct pd_kallsyms *kallsyms)
{
	pd_symtab_free(kallsyms->table);
	pd_index_pages_free(kallsyms->image);
	for (size_t i = 0; i < kallsyms->module_count; i++)
		pd_free(kallsyms->modules[i]);
	pd_free(kallsyms->modules);
	*kallsyms = (struct pd_kallsyms){ 0 };
}

const char *pd_kallsyms_module(const struct pd_kallsyms *kallsyms, uint16_t owner)
{
	return owner && owner <= kallsyms->module_count ? kallsyms->modules[owner - 1] : NULL;
}
