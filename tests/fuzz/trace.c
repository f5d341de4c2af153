/* SPDX-License-Identifier: MIT */
/*
 * Formats of tracepoints and raw data. The first byte says byte order and size of a long, the format goes up to a NUL, and
 * what follows is raw data.
 */
#include <string.h>

#include "unit/trace/make.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data + 1, 0, size - 1) : NULL;
	struct made_trace made;
	struct pd_text text = { 0 };
	struct pd_bytes raw;

	if (!end)
		return 0;
	raw = (struct pd_bytes){ end + 1, size - (size_t)(end + 1 - data) };
	make_trace(&made, (const char *)data + 1, (size_t)(end - data - 1), data[0] & 1, data[0] & 2 ? 4 : 8);
	if (made.format.usable) {
		pd_trace_print_format(&made.trace, &made.format, raw, &text);
		for (size_t i = 0; i < made.format.member_count; i++)
			pd_trace_print_member(&made.trace, &made.format.members[i], raw, &text);
		REQUIRE(!text.failed);
		// each piece and field adds at most a few times the raw data
		REQUIRE(text.size <= PD_TRACE_TEXT_MOST + (1 << 20) + 8 * size * (made.format.member_count + 1));
	}
	pd_free(text.data);
	made_trace_fini(&made);
	return 0;
}
