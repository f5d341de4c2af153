/* SPDX-License-Identifier: MIT */
/* Names: each line of the input is one. */
#include "object/demangle/demangle.h"
#include "walk.h"

static void check_name(const char *name, size_t length)
{
	struct pd_text text = { 0 };
	bool ok;

	// the library for C++ has its own fuzzers
	ok = pd_demangle_rust(&text, name, length);
	REQUIRE(ok ? text.size > 0 : text.size == 0);
	REQUIRE(text.size <= (64 << 10) + 32);
	text.size = 0;
	ok = pd_demangle_rust_legacy(&text, name, length);
	REQUIRE(ok || text.size == 0);
	text.size = 0;
	pd_demangle_cxx_strip(&text, name, length);
	REQUIRE(text.size <= length);
	text.size = 0;
	pd_text_put(&text, name, length);
	pd_shorten_cxx(&text, 0);
	REQUIRE(text.size <= length);
	free(text.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *end = text + size;

	while (text < end) {
		const char *line = memchr(text, '\n', (size_t)(end - text));

		line = line ? line : end;
		check_name(text, (size_t)(line - text));
		text = line < end ? line + 1 : end;
	}
	return 0;
}
