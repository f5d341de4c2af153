// SPDX-License-Identifier: MIT
/*
 * A code of a jitdump as an ELF file with one function, for tools that know only files: 32 or 64 bit by its machine, in
 * the byte order of the dump. Sections: .text, .eh_frame and .eh_frame_hdr right after it as the program placed them,
 * .symtab, .strtab, a build id, and DWARF 4 lines with one unit.
 *
 * It is written twice, first to learn its size and where the sections are, then to memory of this size.
 */
#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "object/elf/elf.h"
#include "object/runtime/jitdump.h"

enum {
	TYPE_SHARED = 3,
	SECTION_PROGBITS = 1,
	SECTION_STRTAB = 3,
	SYMBOL_GLOBAL_FUNCTION = 1 << 4 | 2,
	SEGMENT_LOAD = 1,
	SEGMENT_READ_EXEC = 5,
	NOTE_BUILD_ID = 3,
	ID_SIZE = 20,
	OBJECT_MOST = 64 << 20, // bytes of a code and what belongs to it
	SHOWN_SIZE = 101        // of a name in a message
};

// The sections in their order; those without bytes are left out.
enum section {
	NONE,
	TEXT,
	FRAMES,
	FRAMES_HEADER,
	SYMTAB,
	STRTAB,
	NOTE,
	LINES,
	INFO,
	ABBREV,
	NAMES,
	SECTIONS
};

struct place {
	uint64_t offset, size;
	unsigned number; // among those that are there
};

struct making {
	struct pd_jitdump *jit;
	const struct pd_jit_code *code;
	struct pd_buffer buffer;
	bool wide;
	bool failed; // the dump lacks bytes
	uint8_t build_id[ID_SIZE];
	struct place places[SECTIONS]; // as the first round found them
	unsigned section_count;
	uint64_t headers_offset;
};

static const char *const section_names[SECTIONS] = {
	"",
	".text",
	".eh_frame",
	".eh_frame_hdr",
	".symtab",
	".strtab",
	".note.gnu.build-id",
	".debug_line",
	".debug_info",
	".debug_abbrev",
	".shstrtab",
};

// ---- numbers ----

// Machines of 32 bits; all others have 64.
static bool is_narrow(uint32_t machine)
{
	static const uint8_t machines[] = { 2, 3, 4, 6, 7, 8, 10, 15, 18, 20, 40, 42, 45, 93, 94, 195 };

	return machine < 256 && memchr(machines, (int)machine, sizeof(machines));
}

static void put_word(struct making *m, uint64_t value)
{
	if (m->wide)
		pd_buffer_u64(&m->buffer, value);
	else
		pd_buffer_u32(&m->buffer, (uint32_t)value);
}

static void put_align(struct making *m, size_t align)
{
	pd_buffer_zeros(&m->buffer, -m->buffer.need & (align - 1));
}

static void put_uleb(struct pd_buffer *buffer, uint64_t value)
{
	do {
		pd_buffer_u8(buffer, (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0)));
		value >>= 7;
	} while (value);
}

static void put_sleb(struct pd_buffer *buffer, int64_t value)
{
	bool more = true;

	while (more) {
		uint8_t byte = value & 0x7f;

		value >>= 7;
		more = !((value == 0 && !(byte & 0x40)) || (value == -1 && (byte & 0x40)));
		pd_buffer_u8(buffer, (uint8_t)(byte | (more ? 0x80 : 0)));
	}
}

static void put_text(struct pd_buffer *buffer, const char *text)
{
	pd_buffer_bytes(buffer, text, strlen(text) + 1);
}

// Bytes of the dump; only their number while there is no room.
static void put_dump(struct making *m, uint64_t offset, uint64_t size)
{
	struct pd_buffer *buffer = &m->buffer;

	if (buffer->need <= buffer->capacity && size <= buffer->capacity - buffer->need && size &&
	    !pd_jitdump_bytes(m->jit, offset, buffer->data + buffer->need, (size_t)size))
		m->failed = true;
	buffer->need += (size_t)size;
}

// ---- what identifies it ----

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 29;
}

// By what the code is and where it was: two codes with one name are two.
static bool make_id(struct making *m)
{
	const struct pd_jit_code *code = m->code;
	uint64_t words[] = { code->addr, code->size, code->index, code->time, code->pid, pd_jitdump_what(m->jit)->pid };
	uint64_t hashes[3];
	uint8_t piece[4096];

	for (unsigned i = 0; i < 3; i++) {
		hashes[i] = mix(UINT64_C(0xcbf29ce484222325) + i * UINT64_C(0x9e3779b97f4a7c15), words, sizeof(words));
		hashes[i] = mix(hashes[i], code->name, strlen(code->name));
	}
	for (uint64_t at = 0; at < code->size;) {
		size_t size = code->size - at < sizeof(piece) ? (size_t)(code->size - at) : sizeof(piece);

		if (!pd_jitdump_bytes(m->jit, code->code_offset + at, piece, size))
			return false;
		for (unsigned i = 0; i < 3; i++)
			hashes[i] = mix(hashes[i], piece, size);
		at += size;
	}
	memcpy(m->build_id, hashes, ID_SIZE);
	return true;
}

// ---- lines ----

static bool has_lines(const struct making *m)
{
	for (size_t i = 0; i < m->code->line_count; i++)
		if (pd_jitdump_line_at(m->jit, m->code, i).addr < m->code->size)
			return true;
	return false;
}

static void put_extended(struct making *m, uint8_t op, size_t size)
{
	pd_buffer_u8(&m->buffer, 0);
	put_uleb(&m->buffer, size + 1);
	pd_buffer_u8(&m->buffer, op);
}

// A name of a file is a number; it is said where it is needed first. Lines of one file mostly stand together.
static void put_line(struct making *m, const struct pd_jit_line *line, const struct pd_jit_line *before,
		     uint64_t *files)
{
	enum {
		COPY = 1,
		ADVANCE_PC,
		ADVANCE_LINE,
		SET_FILE,
		DEFINE_FILE = 3
	};
	struct pd_buffer *buffer = &m->buffer;

	if (!before || strcmp(before->file, line->file) != 0) {
		put_extended(m, DEFINE_FILE, strlen(line->file) + 1 + 3);
		put_text(buffer, line->file);
		pd_buffer_zeros(buffer, 3); // directory, time, size
		pd_buffer_u8(buffer, SET_FILE);
		put_uleb(buffer, ++*files);
	}
	pd_buffer_u8(buffer, ADVANCE_PC);
	put_uleb(buffer, line->addr - (before ? before->addr : 0));
	pd_buffer_u8(buffer, ADVANCE_LINE);
	put_sleb(buffer, (int64_t)line->line - (before ? (int64_t)before->line : 1));
	pd_buffer_u8(buffer, COPY);
}

static void put_line_program(struct making *m)
{
	enum {
		SET_ADDRESS = 2,
		END_SEQUENCE = 1,
		ADVANCE_PC = 2
	};
	struct pd_jit_line line, before = { .addr = 0 };
	uint64_t files = 0;

	put_extended(m, SET_ADDRESS, m->wide ? 8 : 4);
	put_word(m, m->places[TEXT].offset);
	for (size_t i = 0; i < m->code->line_count; i++) {
		line = pd_jitdump_line_at(m->jit, m->code, i);
		if (line.addr >= m->code->size)
			break; // they are in order
		put_line(m, &line, files ? &before : NULL, &files);
		before = line;
	}
	pd_buffer_u8(&m->buffer, ADVANCE_PC);
	put_uleb(&m->buffer, m->code->size - before.addr);
	put_extended(m, END_SEQUENCE, 0);
}

static void put_lines(struct making *m)
{
	static const uint8_t operands[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	struct pd_buffer *buffer = &m->buffer;
	uint32_t head = 6 + sizeof(operands) + 2;

	pd_buffer_u32(buffer, (uint32_t)(m->places[LINES].size - 4));
	pd_buffer_u16(buffer, 4);
	pd_buffer_u32(buffer, head);
	pd_buffer_u8(buffer, 1);           // bytes of the smallest instruction
	pd_buffer_u8(buffer, 1);           // most operations of one
	pd_buffer_u8(buffer, 1);           // is a statement
	pd_buffer_u8(buffer, (uint8_t)-5); // line_base and line_range, of opcodes that are not used
	pd_buffer_u8(buffer, 14);
	pd_buffer_u8(buffer, sizeof(operands) + 1);
	pd_buffer_bytes(buffer, operands, sizeof(operands));
	pd_buffer_zeros(buffer, 2); // no directories, no files yet
	put_line_program(m);
}

static void put_info(struct making *m)
{
	struct pd_buffer *buffer = &m->buffer;

	pd_buffer_u32(buffer, (uint32_t)(m->places[INFO].size - 4));
	pd_buffer_u16(buffer, 4);
	pd_buffer_u32(buffer, 0); // of .debug_abbrev
	pd_buffer_u8(buffer, m->wide ? 8 : 4);
	put_uleb(buffer, 1);
	pd_buffer_u32(buffer, 0); // of .debug_line
	put_word(m, m->places[TEXT].offset);
	pd_buffer_u64(buffer, m->code->size);
}

static void put_abbrev(struct making *m)
{
	// 1: compile_unit without children: stmt_list sec_offset, low_pc addr, high_pc data8
	static const uint8_t abbrev[] = { 1, 0x11, 0, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0, 0 };

	pd_buffer_bytes(&m->buffer, abbrev, sizeof(abbrev));
}

// ---- the other sections ----

static void put_symbols(struct making *m)
{
	struct pd_buffer *buffer = &m->buffer;

	pd_buffer_zeros(buffer, m->wide ? 24 : 16);
	pd_buffer_u32(buffer, 1); // name
	if (m->wide) {
		pd_buffer_u8(buffer, SYMBOL_GLOBAL_FUNCTION);
		pd_buffer_u8(buffer, 0);
		pd_buffer_u16(buffer, TEXT);
	}
	put_word(m, m->places[TEXT].offset);
	put_word(m, m->code->size);
	if (!m->wide) {
		pd_buffer_u8(buffer, SYMBOL_GLOBAL_FUNCTION);
		pd_buffer_u8(buffer, 0);
		pd_buffer_u16(buffer, TEXT);
	}
}

static void put_note(struct making *m)
{
	pd_buffer_u32(&m->buffer, 4);
	pd_buffer_u32(&m->buffer, ID_SIZE);
	pd_buffer_u32(&m->buffer, NOTE_BUILD_ID);
	pd_buffer_bytes(&m->buffer, "GNU", 4);
	pd_buffer_bytes(&m->buffer, m->build_id, ID_SIZE);
}

static void put_section(struct making *m, enum section section)
{
	const struct pd_jit_code *code = m->code;

	if (section == TEXT) {
		put_dump(m, code->code_offset, code->size);
	} else if (section == FRAMES) {
		put_dump(m, code->frames_offset, code->frames_size - code->frames_header_size);
	} else if (section == FRAMES_HEADER) {
		put_dump(m, code->frames_offset + code->frames_size - code->frames_header_size,
			 code->frames_header_size);
	} else if (section == SYMTAB) {
		put_symbols(m);
	} else if (section == STRTAB) {
		pd_buffer_u8(&m->buffer, 0);
		put_text(&m->buffer, code->name);
	} else if (section == NOTE) {
		put_note(m);
	} else if (section == LINES) {
		put_lines(m);
	} else if (section == INFO) {
		put_info(m);
	} else if (section == ABBREV) {
		put_abbrev(m);
	} else if (section == NAMES) {
		for (unsigned i = 0; i < SECTIONS; i++)
			put_text(&m->buffer, section_names[i]);
	}
}

static bool is_there(const struct making *m, enum section section)
{
	bool lines = section == LINES || section == INFO || section == ABBREV;

	if (section == FRAMES)
		return m->code->frames_size > m->code->frames_header_size;
	if (section == FRAMES_HEADER)
		return m->code->frames_header_size > 0;
	return !lines || has_lines(m);
}

static size_t align_of(enum section section)
{
	return section == TEXT                             ? 16 :
	       section == FRAMES || section == SYMTAB      ? 8 :
	       section == NOTE || section == FRAMES_HEADER ? 4 :
							     1;
}

// ---- headers ----

static void put_file_header(struct making *m)
{
	const struct pd_jitdump_about *about = pd_jitdump_what(m->jit);
	const uint8_t ident[16] = { 0x7f, 'E', 'L', 'F', m->wide ? 2 : 1, about->big ? 2 : 1, 1 };
	struct pd_buffer *buffer = &m->buffer;

	pd_buffer_bytes(buffer, ident, sizeof(ident));
	pd_buffer_u16(buffer, TYPE_SHARED);
	pd_buffer_u16(buffer, (uint16_t)about->machine);
	pd_buffer_u32(buffer, 1);
	put_word(m, m->places[TEXT].offset);
	put_word(m, m->wide ? 64 : 52); // of the segments
	put_word(m, m->headers_offset);
	pd_buffer_u32(buffer, 0);
	pd_buffer_u16(buffer, m->wide ? 64 : 52);
	pd_buffer_u16(buffer, m->wide ? 56 : 32);
	pd_buffer_u16(buffer, 1);
	pd_buffer_u16(buffer, m->wide ? 64 : 40);
	pd_buffer_u16(buffer, (uint16_t)m->section_count);
	pd_buffer_u16(buffer, (uint16_t)m->places[NAMES].number);
}

// Addresses are offsets, so that nothing has to be added.
static void put_segment(struct making *m)
{
	const struct place *text = &m->places[TEXT];
	uint64_t end = text->offset + text->size;

	for (unsigned i = FRAMES; i <= FRAMES_HEADER; i++)
		if (m->places[i].size)
			end = m->places[i].offset + m->places[i].size;
	pd_buffer_u32(&m->buffer, SEGMENT_LOAD);
	if (m->wide)
		pd_buffer_u32(&m->buffer, SEGMENT_READ_EXEC);
	put_word(m, text->offset);
	put_word(m, text->offset);
	put_word(m, text->offset);
	put_word(m, end - text->offset);
	put_word(m, end - text->offset);
	if (!m->wide)
		pd_buffer_u32(&m->buffer, SEGMENT_READ_EXEC);
	put_word(m, 16);
}

static uint32_t type_of(enum section section)
{
	if (section == NONE)
		return 0;
	if (section == SYMTAB)
		return PD_ELF_SECTION_SYMTAB;
	if (section == NOTE)
		return PD_ELF_SECTION_NOTE;
	return section == STRTAB || section == NAMES ? SECTION_STRTAB : SECTION_PROGBITS;
}

static void put_section_header(struct making *m, enum section section)
{
	const struct place *place = &m->places[section];
	bool loaded = section >= TEXT && section <= FRAMES_HEADER;
	uint32_t name = 0;

	for (unsigned i = 0; i < section; i++)
		name += (uint32_t)strlen(section_names[i]) + 1;
	pd_buffer_u32(&m->buffer, name);
	pd_buffer_u32(&m->buffer, type_of(section));
	put_word(m, (loaded || section == NOTE ? PD_ELF_FLAG_ALLOC : 0) | (section == TEXT ? PD_ELF_FLAG_EXEC : 0));
	put_word(m, loaded ? place->offset : 0);
	put_word(m, place->offset);
	put_word(m, place->size);
	pd_buffer_u32(&m->buffer, section == SYMTAB ? m->places[STRTAB].number : 0);
	pd_buffer_u32(&m->buffer, section == SYMTAB ? 1 : 0); // of the first global symbol
	put_word(m, section ? align_of(section) : 0);
	put_word(m, section == SYMTAB ? (m->wide ? 24 : 16) : 0);
}

// ---- all ----

static void put_all(struct making *m)
{
	unsigned count = 1;

	put_file_header(m);
	put_segment(m);
	for (unsigned i = TEXT; i < SECTIONS; i++) {
		struct place *place = &m->places[i];

		if (!is_there(m, i))
			continue;
		put_align(m, align_of(i));
		place->number = count++;
		place->offset = m->buffer.need;
		put_section(m, i);
		place->size = m->buffer.need - place->offset;
	}
	m->section_count = count;
	put_align(m, 8);
	m->headers_offset = m->buffer.need;
	for (unsigned i = NONE; i < SECTIONS; i++)
		if (!i || is_there(m, i))
			put_section_header(m, i);
}

static bool has_bytes(const struct making *m)
{
	uint64_t size = pd_jitdump_size(m->jit);

	return m->code->code_offset && m->code->code_offset <= size && m->code->size <= size - m->code->code_offset &&
	       (!m->code->frames_size ||
		(m->code->frames_offset <= size && m->code->frames_size <= size - m->code->frames_offset));
}

// A name in a message is one line, whatever the dump has.
static void show(const char *name, char out[SHOWN_SIZE])
{
	size_t n = 0;

	for (; name[n] && n + 1 < SHOWN_SIZE; n++)
		out[n] = (unsigned char)name[n] < ' ' || name[n] == 0x7f ? '?' : name[n];
	out[n] = 0;
}

enum pd_status pd_jitdump_object(struct pd_jitdump *jit, const struct pd_jit_code *code,
				 struct pd_jit_object *object_out, struct pd_error *error)
{
	struct making m = { .jit = jit, .code = code, .wide = !is_narrow(pd_jitdump_what(jit)->machine) };
	bool big = pd_jitdump_what(jit)->big;
	char name[SHOWN_SIZE];
	uint8_t *data;

	show(code->name, name);
	if (!has_bytes(&m))
		return pd_fail(error, PD_ERROR_FORMAT, code->code_offset, "the jitdump has no code for %s", name);
	if (code->size > OBJECT_MOST || code->frames_size > OBJECT_MOST)
		return pd_fail(error, PD_ERROR_LIMIT, code->code_offset, "%s is larger than %d bytes", name,
			       OBJECT_MOST);
	if (!make_id(&m))
		return pd_fail(error, PD_ERROR_SYSTEM, code->code_offset, "the code of %s cannot be read", name);
	m.buffer = pd_buffer(NULL, 0, big);
	put_all(&m);
	data = pd_jitdump_object_buffer(jit, m.buffer.need);
	if (!data)
		return pd_fail_memory(error);
	m.buffer = pd_buffer(data, m.buffer.need, big);
	put_all(&m);
	if (m.failed || pd_buffer_full(&m.buffer))
		return pd_fail(error, PD_ERROR_SYSTEM, code->code_offset, "the code of %s cannot be read", name);
	object_out->elf = (struct pd_bytes){ data, m.buffer.need };
	object_out->text_offset = m.places[TEXT].offset;
	memcpy(object_out->build_id, m.build_id, ID_SIZE);
	return PD_OK;
}
