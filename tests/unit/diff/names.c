/* SPDX-License-Identifier: MIT */
/* Names of functions and objects without what compilers and linkers add to them. */
#include <stdlib.h>

#include "diff/diff.h"
#include "test.h"

static const char *plain(const char *name, void print(struct pd_text *out, const char *name))
{
	static char result[256];
	struct pd_text *text = pd_text_new();

	print(text, name);
	snprintf(result, sizeof(result), "%.*s", (int)pd_text_bytes(text).size, (const char *)pd_text_bytes(text).data);
	pd_text_free(text);
	return result;
}

TEST(functions)
{
	static const struct {
		const char *name, *plain;
	} names[] = {
		{ "f.cold", "f" },
		{ "f.isra.0.constprop.1.cold", "f" },
		{ "helper.llvm.1234567890123", "helper" },
		{ "f.__uniq.1234567", "f" },
		{ "abort@@GLIBC_2.17", "abort" },
		{ "abort@plt", "abort@plt" },
		{ "app<main::{lambda(int)#1}>(int) [clone .constprop.0]", "app<main::{lambda(int)}>(int)" },
		{ "main::{lambda(int)#2}", "main::{lambda(int)}" },
		{ "r::app::step::h26eb651168c35fa7", "r::app::step" },
		{ "_ZN1r3app4step17h26eb651168c35fa7E", "_ZN1r3app4step" },
		{ "main.main.func1.1", "main.main.func" },
		{ "tagged[abi:v2](int)", "tagged(int)" },
		{ "sha256.part.1", "sha256" },
		{ "sha256", "sha256" },
		{ "foo.2", "foo.2" },
		{ "matrix.4x4", "matrix.4x4" },
		{ "f.avx2.1", "f.avx2.1" },
		{ ".cold", ".cold" },
		{ "[clone .x]", "[clone .x]" },
		{ "@", "@" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK_STR(plain(names[i].name, pd_diff_plain_function), names[i].plain);
}

TEST(objects)
{
	static const struct {
		const char *name, *plain;
	} names[] = {
		{ "libx.so.1.2.3", "libx.so" },
		{ "libfoo-0123456789abcdef.so.1", "libfoo.so" },
		{ "[kernel.kallsyms]", "[kernel]" },
		{ "vmlinux", "[kernel]" },
		{ "jitted-123-4.so", "jitted" },
		{ "hot (deleted)", "hot" },
		{ "[vdso]", "[vdso]" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK_STR(plain(names[i].name, pd_diff_plain_object), names[i].plain);
}

RUN(TEST_CASE(functions), TEST_CASE(objects))
