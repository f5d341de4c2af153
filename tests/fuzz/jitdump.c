/* SPDX-License-Identifier: MIT */
/* Jitdumps: all codes, lookups of what they say of themselves, and the objects that are made of them. */
#include "object/elf/elf.h"
#include "object/runtime/jitdump.h"
#include "walk.h"

#include <string.h>

static void check_code(const struct pd_jitdump *jit, const struct pd_jit_code *code, size_t size)
{
	struct pd_jit_code found;
	struct pd_jit_line line;

	REQUIRE(code->name && code->code_offset <= size);
	if (code->line_count && pd_jitdump_line(jit, code, code->addr + code->size, &line))
		REQUIRE(line.file && strlen(line.file) <= size);
	// the last address of all is in no code, since an end stands after it
	if (!code->size || code->addr == UINT64_MAX || code->end_time <= code->time)
		return;
	REQUIRE(pd_jitdump_find(jit, code->pid, code->addr, code->time, &found));
	REQUIRE(found.time == code->time && found.pid == code->pid);
	REQUIRE(found.addr <= code->addr && found.size > code->addr - found.addr);
	pd_jitdump_find(jit, PD_JIT_ANY_PID, code->addr + code->size, PD_NO_TIME, &found);
}

// What is made must be read, whatever it was made of.
static void check_object(struct pd_jitdump *jit, const struct pd_jit_code *code)
{
	struct pd_jit_object object;
	struct pd_elf *elf = NULL;
	struct pd_object_id id;
	struct pd_image image;
	struct pd_error error;
	uint64_t addr;

	if (pd_jitdump_object(jit, code, &object, &error)) {
		walk_require_error(error.status, &error);
		return;
	}
	pd_image_open_memory(&image, object.elf.data, object.elf.size);
	REQUIRE(pd_elf_open_image(&elf, &image, "", 0, NULL) == PD_OK);
	REQUIRE(pd_elf_id(elf, &id) && id.size == sizeof(object.build_id));
	REQUIRE(!memcmp(id.bytes, object.build_id, id.size));
	if (code->name[0])
		REQUIRE(pd_elf_symbol_addr(elf, code->name, &addr) && addr == object.text_offset);
	pd_elf_close(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_jitdump *jit = NULL;
	struct pd_image image;
	struct pd_error error;

	pd_image_open_memory(&image, data, size);
	if (pd_jitdump_open_image(&jit, &image, 16 << 20, true, &error)) {
		walk_require_error(error.status, &error);
		return 0;
	}
	for (size_t i = 0; i < pd_jitdump_about(jit).code_count; i++) {
		struct pd_jit_code code = pd_jitdump_code(jit, i);

		check_code(jit, &code, size);
		if (i < 64)
			check_object(jit, pd_jitdump_code_at(jit, i));
	}
	REQUIRE(!pd_jitdump_about(jit).damage == (pd_jitdump_about(jit).damage_offset == PD_NO_OFFSET));
	pd_jitdump_close(jit);
	return 0;
}
