/* SPDX-License-Identifier: MIT */
/* ELF files, also as their own debug files. */
#include "object/elf/elf.h"
#include "table.h"

static void check_symbols(struct pd_elf *elf, struct pd_elf *debug, bool data)
{
	struct pd_elf_symbol_options options = { .data = data, .limit = 16 << 20 };
	struct pd_symtab *table = NULL;
	struct pd_error error;

	if (pd_elf_symtab(elf, debug, &options, &table, &error) == PD_OK)
		check_table(table);
	else
		walk_require_error(error.status, &error);
	pd_symtab_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_object_id id = { .size = 0 };
	struct pd_elf *elf = NULL;
	struct pd_image image;
	struct pd_error error;
	const char *link;
	uint64_t value;
	uint32_t crc;

	pd_image_open_memory(&image, data, size);
	if (pd_elf_open_image(&elf, &image, "input", 4 << 20, &error)) {
		walk_require_error(error.status, &error);
		return 0;
	}
	if (pd_elf_id(elf, &id))
		REQUIRE(id.size && pd_object_id_equal(&id, &id));
	if (pd_elf_debuglink(elf, &link, &crc))
		REQUIRE(link[0]);
	for (uint64_t offset = 0; offset < size; offset += 64)
		if (pd_elf_addr(elf, offset, &value))
			pd_elf_offset(elf, value, &value);
	check_symbols(elf, NULL, false);
	check_symbols(elf, elf, true);
	pd_elf_close(elf);
	return 0;
}
