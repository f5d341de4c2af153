/* SPDX-License-Identifier: MIT */
/*
 * ELF files: executables, shared objects, kernel modules, their debug files; 32 and 64 bit, both byte orders. Only what
 * names and addresses need: sections, segments, the build id, the link to a debug file, symbols. No DWARF.
 */
#ifndef PD_OBJECT_ELF_ELF_H
#define PD_OBJECT_ELF_ELF_H

#include "object/elf/image.h"
#include "object/symbols/symbols.h"

enum {
	PD_ELF_TYPE_REL = 1,
	PD_ELF_SECTION_SYMTAB = 2,
	PD_ELF_SECTION_NOTE = 7,
	PD_ELF_SECTION_NOBITS = 8,
	PD_ELF_SECTION_DYNSYM = 11,
	PD_ELF_FLAG_ALLOC = 2,
	PD_ELF_FLAG_EXEC = 4
};

/** What identifies an object for ever. size is 0 if it has none. */
struct pd_object_id {
	uint8_t bytes[64];
	uint8_t size;
};

/** True if both are the same; what was kept in 20 bytes may be filled with zeros, or cut off there. */
bool pd_object_id_equal(const struct pd_object_id *a, const struct pd_object_id *b);

/** Finds the build id in notes, such as those of /sys/kernel/notes. False if there is none. */
bool pd_object_id_from_notes(const void *notes, size_t size, bool big, struct pd_object_id *id_out);

struct pd_elf_section {
	const char *name; // never NULL
	uint32_t type;
	uint32_t link;
	uint32_t info;
	bool placed; // addr is where it is when it runs
	uint64_t flags;
	uint64_t addr; // in a module: from where its code begins
	uint64_t offset;
	uint64_t size;
	uint64_t entry_size;
	uint64_t align;
};

struct pd_elf_segment {
	uint32_t type;
	uint32_t flags;
	uint64_t offset;
	uint64_t addr;
	uint64_t file_size;
	uint64_t memory_size;
	uint64_t align;
};

struct pd_elf {
	struct pd_image image;
	struct pd_arena arena;
	size_t limit;
	bool big;
	bool wide; // 64 bit
	uint16_t type;
	uint16_t machine;
	uint32_t flags;
	uint64_t entry; // where it starts to run; 0: it does not
	struct pd_elf_section *sections;
	size_t section_count;
	struct pd_elf_segment *segments;
	size_t segment_count;
};

/** Opens an object; one that is compressed as a whole (.ko.xz, .ko.zst, .ko.gz) is inflated into memory. limit is
 * the most bytes to keep of it, 0 means 1 GiB. PD_ERROR_FORMAT if it is no ELF file. */
enum pd_status pd_elf_open(struct pd_elf **elf_out, const char *path, size_t limit, struct pd_error *error);
/** The same for an image, which it takes, also on failure. name is for messages. */
enum pd_status pd_elf_open_image(struct pd_elf **elf_out, struct pd_image *image, const char *name, size_t limit,
				 struct pd_error *error);
void pd_elf_close(struct pd_elf *elf);

/** The first section of that name, or NULL. */
const struct pd_elf_section *pd_elf_section_by_name(const struct pd_elf *elf, const char *name);
/** The bytes of a section, valid until close; data is NULL if they are not in the file. */
struct pd_bytes pd_elf_section_bytes(struct pd_elf *elf, const struct pd_elf_section *section);

bool pd_elf_id(struct pd_elf *elf, struct pd_object_id *id_out);
/** Name (valid until close) and checksum of the file that has the debug information. False if there is no link. */
bool pd_elf_debuglink(struct pd_elf *elf, const char **name_out, uint32_t *crc_out);

/** From a place in the file, as mappings have it, to the address that symbols are written in; and back. Code comes
 * first where several segments hold it. False if nothing is loaded from there. */
bool pd_elf_addr(const struct pd_elf *elf, uint64_t offset, uint64_t *addr_out);
bool pd_elf_offset(const struct pd_elf *elf, uint64_t addr, uint64_t *offset_out);

struct pd_elf_symbol_options {
	bool data;    // variables too
	size_t limit; // of the table, see struct pd_symtab_maker
};

/** The small object that is packed into one (.gnu_debugdata), or NULL. */
struct pd_elf *pd_elf_open_packed(struct pd_elf *elf);

/** True if the file has the full table, not only what the dynamic linker needs. */
bool pd_elf_has_symtab(const struct pd_elf *elf);

/**
 * The symbols of an object: from its debug file if that has them (debug may be NULL), else its own, else those of the
 * dynamic linker and of the small object that is packed into it; and stubs as name@plt. Addresses are those of
 * pd_elf_addr. What cannot be read is left out; an object without symbols gives an empty table.
 */
enum pd_status pd_elf_symtab(struct pd_elf *object, struct pd_elf *debug, const struct pd_elf_symbol_options *options,
			     struct pd_symtab **table_out, struct pd_error *error);

/** The address of the first symbol of that name, whatever it is. False if there is none. */
bool pd_elf_symbol_addr(struct pd_elf *elf, const char *name, uint64_t *addr_out);

/** Inside of the ELF reader: adds stubs. */
void pd_elf_add_plt(struct pd_elf *elf, struct pd_symtab_maker *maker);
/** The text at an offset of a table of names; false if it is none. */
bool pd_elf_name(struct pd_bytes names, uint64_t offset, const char **name_out, uint32_t *length_out);

#endif
