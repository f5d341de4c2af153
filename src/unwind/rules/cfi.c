/* SPDX-License-Identifier: MIT */
/* Entries of .eh_frame and .debug_frame. */
#include "unwind/rules/cfi.h"

#include "object/dwarf/dwarf.h"
#include "unwind/ends/ends.h"

enum {
	SMALLEST = 4,          // of a length
	WORDS_LEAST = 1 << 12, // of rules that any section may have; each further one takes two bytes of it,
	CODE_OF_A_WORD = 16    // or these of code
};

// ---- entries ----

// The bytes of an entry after its id.
struct entry {
	uint64_t offset; // in the section
	struct pd_cursor c;
	uint64_t common; // offset of the common entry; UINT64_MAX: it is one itself
	bool is_64;      // offsets have 8 bytes
};

static struct pd_cursor cursor_at(const struct pd_cfi_section *section, uint64_t offset)
{
	struct pd_cursor c = pd_cursor(section->bytes.data, section->bytes.size, section->big);

	pd_cursor_take(&c, offset);
	return c;
}

// False at the end. *next_out is where the next one is.
static bool read_entry(const struct pd_cfi_section *section, uint64_t offset, struct entry *entry, uint64_t *next_out)
{
	struct pd_cursor c = cursor_at(section, offset);
	uint64_t size, id, at;
	const uint8_t *end;

	if (pd_cursor_left(&c) < SMALLEST)
		return false;
	*entry = (struct entry){ .offset = offset };
	size = pd_cursor_u32(&c);
	if (size == UINT32_MAX) {
		entry->is_64 = true;
		size = pd_cursor_u64(&c);
	}
	if (c.failed || size > pd_cursor_left(&c))
		return false;
	end = c.at + size;
	*next_out = (uint64_t)(end - section->bytes.data);
	at = (uint64_t)(c.at - section->bytes.data);
	entry->c = c;
	entry->c.end = end;
	// zero ends a list, but lists may follow each other
	if (!size)
		return true;
	if (entry->is_64 && section->is_debug)
		id = pd_cursor_u64(&entry->c);
	else
		id = pd_cursor_u32(&entry->c);
	if (section->is_debug)
		entry->common = id == (entry->is_64 ? UINT64_MAX : UINT32_MAX) ? UINT64_MAX : id;
	else
		entry->common = !id ? UINT64_MAX : at - id;
	return true;
}

static bool is_empty(const struct entry *entry)
{
	return !pd_cursor_left(&entry->c) || entry->c.failed;
}

// ---- common entries ----

// What "zR" and the like announce.
static bool read_augmentation(const struct pd_cfi_section *section, struct pd_cursor *c, const char *augmentation,
			      struct pd_cfi_common *common)
{
	uint64_t size = pd_dwarf_uleb(c), addr;
	struct pd_cursor own = *c;

	if (!pd_cursor_take(c, size))
		return false;
	own.end = c->at;
	for (; *augmentation; augmentation++) {
		switch (*augmentation) {
		case 'R':
			common->encoding = pd_cursor_u8(&own);
			break;
		case 'L':
			pd_cursor_u8(&own);
			break;
		case 'P':
			if (!pd_cfi_address(section, &own, pd_cursor_u8(&own) & 0x7f, &addr))
				return false;
			break;
		case 'S':
			common->is_signal = true;
			break;
		case 'B': // of pointer authentication
		case 'G': // of memory tags
			break;
		default: // the rest is not known; what is known may be enough
			return true;
		}
	}
	return !own.failed;
}

static bool read_head(const struct pd_cfi_section *section, struct pd_cursor *c, struct pd_cfi_common *common)
{
	uint8_t version = pd_cursor_u8(c);
	const char *augmentation = (const char *)c->at;
	const uint8_t *end = memchr(c->at, 0, pd_cursor_left(c));

	if (!end || (version != 1 && version != 3 && version != 4))
		return false;
	c->at = end + 1;
	if (strncmp(augmentation, "eh", 2) == 0)
		pd_cfi_word(c, section->word);
	if (version == 4 && section->is_debug && (pd_cursor_u8(c) != section->word || pd_cursor_u8(c)))
		return false;
	common->code_align = pd_dwarf_uleb(c);
	common->data_align = pd_dwarf_sleb(c);
	common->ra = version == 1 ? pd_cursor_u8(c) : pd_dwarf_uleb(c);
	common->has_augmentation = augmentation[0] == 'z';
	if (common->has_augmentation)
		return read_augmentation(section, c, augmentation + 1, common);
	return !augmentation[0] || strcmp(augmentation, "eh") == 0;
}

static void read_common(struct pd_cfi_compiler *compiler, uint64_t offset, struct pd_cfi_common *common)
{
	const struct pd_cfi_section *section = compiler->section;
	struct pd_cfi_run run = { .compiler = compiler, .common = common, .is_common = true };
	struct entry entry;
	uint64_t next;

	*common = (struct pd_cfi_common){ .offset = offset };
	if (offset >= section->bytes.size || !read_entry(section, offset, &entry, &next) ||
	    entry.common != UINT64_MAX || is_empty(&entry) || pd_cursor_left(&entry.c) > compiler->work_left)
		return;
	compiler->work_left -= pd_cursor_left(&entry.c);
	if (!read_head(section, &entry.c, common))
		return;
	pd_cfi_execute(&run, &entry.c);
	common->initial = run.state;
	common->is_good = !run.stopped && !entry.c.failed;
}

static const struct pd_cfi_common *common_of(struct pd_cfi_compiler *compiler, uint64_t offset)
{
	struct pd_cfi_common *common = &compiler->commons[pd_hash_u64(0, offset) % PD_CFI_COMMON_SLOTS];

	if (common->offset != offset)
		read_common(compiler, offset, common);
	return common->is_good ? common : NULL;
}

// ---- functions ----

static bool read_range(const struct pd_cfi_section *section, struct pd_cursor *c, const struct pd_cfi_common *common,
		       uint64_t *start_out, uint64_t *size_out)
{
	if (section->is_debug) {
		*start_out = pd_cfi_word(c, section->word);
		*size_out = pd_cfi_word(c, section->word);
		return !c->failed;
	}
	return pd_cfi_address(section, c, common->encoding, start_out) &&
	       pd_cfi_encoded(c, common->encoding, section->word, size_out);
}

// Functions do not overlap, but for hostile ones.
static void correct_ends(struct pd_cfi_compiler *compiler, struct pd_cfi_run *run, size_t first, uint64_t size)
{
	if (size > compiler->code_left || compiler->out_of_memory)
		return;
	compiler->code_left -= size;
	if (!pd_ends_correct(run, compiler->section->code, first))
		compiler->out_of_memory = true;
}

static void compile_function(struct pd_cfi_compiler *compiler, struct pd_cfi_run *run, struct entry *entry)
{
	const struct pd_cfi_section *section = compiler->section;
	const struct pd_cfi_common *common = common_of(compiler, entry->common);
	struct pd_cursor *c = &entry->c;
	size_t first = compiler->table->row_count;
	uint64_t start, size;

	if (!common || !read_range(section, c, common, &start, &size) || start < section->code_start ||
	    start >= section->code_end || !size || size > UINT64_MAX - start)
		return;
	if (common->has_augmentation)
		pd_cursor_take(c, pd_dwarf_uleb(c));
	if (c->failed || (section->is_debug && pd_unwind_table_find(compiler->table, start)))
		return;
	run->common = common;
	run->state = common->initial;
	run->remembered_count = 0;
	run->at = start;
	run->end = start + size;
	run->changed = true;
	run->stopped = false;
	pd_cfi_execute(run, c);
	correct_ends(compiler, run, first, size);
	if (!pd_unwind_table_add(compiler->table, run->end, 0))
		compiler->out_of_memory = true;
}

uint64_t pd_cfi_words_most(const struct pd_unwind_table *table, uint64_t size, const struct pd_code *code)
{
	return table->rule_count + WORDS_LEAST + size / 2 + (code ? code->bytes.size / CODE_OF_A_WORD : 0);
}

bool pd_cfi_compile(const struct pd_cfi_section *section, const struct pd_unwind_arch *arch,
		    struct pd_unwind_table *table)
{
	struct pd_cfi_compiler compiler = { section, arch, table, .work_left = 16 * (uint64_t)section->bytes.size };
	struct pd_cfi_run *run = pd_alloc(sizeof(*run));
	struct entry entry;

	compiler.code_left = section->code ? section->code->bytes.size : 0;
	compiler.words_most = pd_cfi_words_most(table, section->bytes.size, section->code);
	compiler.commons = pd_alloc(PD_CFI_COMMON_SLOTS * sizeof(*compiler.commons));
	compiler.out_of_memory = !run || !compiler.commons;
	for (size_t i = 0; compiler.commons && i < PD_CFI_COMMON_SLOTS; i++)
		compiler.commons[i].offset = UINT64_MAX;
	if (run)
		run->compiler = &compiler;
	for (uint64_t at = 0; !compiler.out_of_memory && read_entry(section, at, &entry, &at);)
		if (!is_empty(&entry) && entry.common != UINT64_MAX)
			compile_function(&compiler, run, &entry);
	pd_free(run);
	pd_free(compiler.commons);
	return !compiler.out_of_memory;
}
