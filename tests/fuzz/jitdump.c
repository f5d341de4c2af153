/* SPDX-License-Identifier: MIT */
/* Jitdumps: all codes, and lookups of what they say of themselves. */
#include "symbol/jitdump.h"
#include "walk.h"

#include <string.h>

static void check_code(const struct pd_jitdump *jit, const struct pd_jit_code *code, size_t size)
{
	struct pd_jit_code found;
	struct pd_jit_line line;

	REQUIRE(code->name && code->code_offset <= size);
	if (code->line_count && pd_jitdump_line(jit, code, code->addr + code->size, &line))
		REQUIRE(line.file && strlen(line.file) <= size);
	// the last address of all is in no code, since an end stands behind it
	if (!code->size || code->addr == UINT64_MAX || code->end_time <= code->time)
		return;
	REQUIRE(pd_jitdump_find(jit, code->pid, code->addr, code->time, &found));
	REQUIRE(found.time == code->time && found.pid == code->pid);
	REQUIRE(found.addr <= code->addr && found.size > code->addr - found.addr);
	pd_jitdump_find(jit, PD_JIT_ANY_PID, code->addr + code->size, PD_NO_TIME, &found);
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
	}
	REQUIRE(!pd_jitdump_about(jit).damage ==
		(pd_jitdump_about(jit).damage_offset == PD_NO_OFFSET));
	pd_jitdump_close(jit);
	return 0;
}
