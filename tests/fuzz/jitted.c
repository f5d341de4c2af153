/* SPDX-License-Identifier: MIT */
/* Jitdumps with unwind rules of their codes, for each architecture. */
#include "object/runtime/jitdump.h"
#include "unwind/unwinder.h"

#include "rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_jitdump *jits[2] = { NULL, NULL };
	struct pd_unwind_table table;
	const struct pd_unwind_arch *arch;
	struct pd_image image;
	struct pd_error error;

	if (size < RULES_HEAD)
		return 0;
	arch = rules_arch(data);
	pd_image_open_memory(&image, data + RULES_HEAD, size - RULES_HEAD);
	if (pd_jitdump_open_image(&jits[0], &image, 16 << 20, true, &error)) {
		walk_require_error(error.status, &error);
		return 0;
	}
	REQUIRE(pd_unwind_compile_jits(jits, arch, &table));
	rules_check(&table, arch, pd_jitdump_about(jits[0]).big, rules_bytes(data, size));
	pd_unwind_table_fini(&table);
	pd_jitdump_close(jits[0]);
	return 0;
}
