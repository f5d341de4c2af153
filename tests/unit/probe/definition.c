/* SPDX-License-Identifier: MIT */
/* Definitions of probes as text, and what the kernel lists. */
#include <stdlib.h>

#include "probe/set.h"
#include "unit/test.h"

static struct pd_arena arena;
static struct pd_probe_definition d;
static struct pd_error error;

static bool parse(const char *text)
{
	pd_arena_fini(&arena);
	arena = (struct pd_arena){ .limit = 0 };
	error = (struct pd_error){ .offset = 0 };
	return pd_probe_parse(&arena, text, &d, &error) == PD_OK;
}

TEST(test_definition__points)
{
	CHECK(parse("main") && !d.event && !d.group && !d.file && !d.line && !d.argument_count);
	CHECK_STR(d.function, "main");
	CHECK(parse("  mine=main@dir/a.c+0x10  "));
	CHECK_STR(d.event, "mine");
	CHECK_STR(d.file, "dir/a.c");
	CHECK(d.offset == 16);
	CHECK(parse("g:mine=main%return $retval"));
	CHECK_STR(d.group, "g");
	CHECK(d.is_return && d.argument_count == 1);
	CHECK_STR(d.arguments[0].variable, "$retval");
	CHECK(parse("main:12") && d.line == 12);
	CHECK_STR(d.event, "main_L12");
	CHECK(parse("a.c:7") && d.line == 7 && !d.function && !d.event);
	CHECK_STR(d.file, "a.c");
	CHECK(parse("a.c;x=*y+1"));
	CHECK_STR(d.pattern, "x=*y+1");
	CHECK(parse("main: a") && !d.line && parse("main+") && !d.offset);
	CHECK(parse("main@*:3") && d.line == 3 && !d.file);
	CHECK(parse("0x1234 %ax") && d.is_addr && d.addr == 0x1234);
	CHECK(parse("foo\\@LIB_1.0") && !d.file);
	CHECK_STR(d.function, "foo@LIB_1.0");
	CHECK(parse("'a+b'@x.c") && !d.offset);
	CHECK_STR(d.function, "a+b");
}

static const char *shown(const char *text)
{
	static struct pd_text out;

	out.size = 0;
	if (!parse(text) || d.argument_count != 1)
		return error.message;
	pd_probe_put_argument(&out, &d.arguments[0]);
	pd_text_char(&out, 0);
	return out.data;
}

TEST(test_definition__arguments)
{
	CHECK_STR(shown("f a"), "a");
	CHECK_STR(shown("f n=a:u8"), "n=a:u8");
	CHECK_STR(shown("f a->b.c[2]:string"), "c=a->b.c[2]:string");
	CHECK(d.arguments[0].fields->is_arrow && !d.arguments[0].fields->next->is_arrow);
	CHECK(d.arguments[0].fields->next->next->index == 2);
	CHECK_STR(shown("f a[-1]"), "a=a[-1]");
	CHECK_STR(shown("f a:b4@2/32"), "a:b4@2/32");
	CHECK_STR(shown("f a:u8[4]"), "a:u8[4]");
	CHECK_STR(shown("f +8(%di):x64"), "+8(%di):x64");
	CHECK_STR(shown("f a->b:ustring@user"), "b=a->b:ustring");
	CHECK(d.arguments[0].is_user);
	CHECK_STR(shown("f @counter"), "@counter");
	CHECK(parse("f a b=c $vars") && d.argument_count == 3);
}

static bool fails(const char *text, size_t column, const char *sentence)
{
	if (parse(text) || error.offset != column || !strstr(error.message, sentence)) {
		fprintf(stderr, "# %s: column %zu: %s\n", text, (size_t)error.offset, error.message);
		return false;
	}
	return true;
}

TEST(test_definition__errors)
{
	CHECK(fails("", 0, "name a function"));
	CHECK(fails("1x=main", 0, "not a name that an event can have: '1x'"));
	CHECK(fails("g-h:x=main", 0, "not a name that a group can have: 'g-h'"));
	CHECK(fails("main:x", 5, "a line is a number"));
	CHECK(fails("main+x", 5, "an offset is a number"));
	CHECK(fails("main%ret", 5, "only %return"));
	CHECK(fails("main:1+2", 0, "a line and an offset"));
	CHECK(fails("a.c:1;x", 0, "a pattern and a line"));
	CHECK(fails("main@a.c@b.c", 9, "given twice"));
	CHECK(fails("main+4%return", 0, "goes with a function only"));
	CHECK(fails("main a:foo", 7, "unknown type 'foo'"));
	CHECK(fails("main a:b4@2", 7, "unknown type"));
	CHECK(fails("main a:u8[", 7, "unknown type"));
	CHECK(fails("main a[x]", 7, "index of an array"));
	CHECK(fails("main a[1]b", 9, "expected ., -> or [ after ]"));
	CHECK(fails("main a->", 8, "name of a field is missing"));
	CHECK(fails("main a-b", 6, "expected -> after"));
	CHECK(fails("main 1=a", 5, "not a name that an argument can have: '1'"));
	CHECK(fails("main x=", 7, "value of an argument is missing"));
	CHECK(fails("main%return a", 12, "use $retval"));
	CHECK(fails("0x12z", 0, "not an address"));
	CHECK(fails("%sdt:x", 0, "events of SDT"));
}

TEST(test_definition__many_arguments)
{
	struct pd_text text = { .data = NULL };

	pd_text_add(&text, "main");
	for (int i = 0; i < PD_PROBE_ARGUMENTS; i++)
		pd_text_printf(&text, " a%d", i);
	pd_text_char(&text, 0);
	CHECK(parse(text.data) && d.argument_count == PD_PROBE_ARGUMENTS);
	text.size--;
	pd_text_add(&text, " more");
	pd_text_char(&text, 0);
	CHECK(fails(text.data, text.size - 5, "too many arguments"));
	free(text.data);
}

TEST(test_definition__ranges)
{
	struct pd_probe_range range;

	CHECK(pd_probe_parse_range(&arena, "main", &range, &error) == PD_OK && range.first == 0 &&
	      range.last == UINT32_MAX);
	CHECK_STR(range.function, "main");
	CHECK(pd_probe_parse_range(&arena, "main@a.c:3+4", &range, &error) == PD_OK && range.first == 3 &&
	      range.last == 6);
	CHECK_STR(range.file, "a.c");
	CHECK(pd_probe_parse_range(&arena, "dir/a.c:10-12", &range, &error) == PD_OK && range.last == 12 &&
	      !range.function);
	CHECK(pd_probe_parse_range(&arena, "main:5-3", &range, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_probe_parse_range(&arena, "main:x", &range, &error) == PD_ERROR_ARGUMENT && error.offset == 5);
	CHECK(pd_probe_parse_range(&arena, ":3", &range, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_probe_parse_range(&arena, "main:3 x", &range, &error) == PD_ERROR_ARGUMENT && error.offset == 6);
}

TEST(test_definition__kernel)
{
	static const char line[] = "r:probe_a/f__return /usr/bin/a:0x0000000000001139 arg1=%ax:s32 b=+8(%di):string";
	struct pd_probe_point point;
	struct pd_text text = { .data = NULL };

	CHECK(pd_probe_parse_event(&arena, line, strlen(line), &point));
	CHECK(point.is_return && point.is_user && point.addr == 0x1139 && point.value_count == 2);
	CHECK_STR(point.group, "probe_a");
	CHECK_STR(point.event, "f__return");
	CHECK_STR(point.module, "/usr/bin/a");
	CHECK_STR(point.values[1].name, "b");
	pd_probe_put_point(&text, &point);
	pd_text_char(&text, 0);
	CHECK_STR(text.data, "r:probe_a/f__return /usr/bin/a:0x1139 arg1=%ax:s32 b=+8(%di):string");
	CHECK(pd_probe_parse_event(&arena, "p:probe/x _text+99", 18, &point) && !point.is_user && point.offset == 99);
	CHECK_STR(point.symbol, "_text");
	CHECK(!pd_probe_parse_event(&arena, "nothing", 7, &point));
	CHECK(!pd_probe_parse_event(&arena, "p:probe/x", 9, &point));
	free(text.data);
}

TEST(test_definition__memory)
{
	struct pd_probe_memory outer = { .offset = -4 }, inner = { .offset = 16, .is_user = true, .next = &outer };
	struct pd_probe_value values[] = { { "a", "%di", "u8", &inner },
					   { "b", "@sym", NULL, &inner },
					   { NULL, "%ax", NULL, NULL } };
	const struct pd_probe_point point = { .group = "g",
					      .event = "e",
					      .module = "ext4",
					      .symbol = "f",
					      .offset = 3,
					      .values = values,
					      .value_count = 3 };
	struct pd_text text = { .data = NULL };

	pd_probe_put_point(&text, &point);
	pd_text_char(&text, 0);
	CHECK_STR(text.data, "p:g/e ext4:f+3 a=-4(+u16(%di)):u8 b=-4(@sym+16) %ax");
	free(text.data);
}

TEST(test_definition__filters)
{
	CHECK(pd_probe_filter("*", "main") && pd_probe_filter("ma?n", "main") && !pd_probe_filter("x*", "main"));
	CHECK(pd_probe_filter("!_* & !*@plt", "main") && !pd_probe_filter("!_* & !*@plt", "_start"));
	CHECK(!pd_probe_filter("!_* & !*@plt", "puts@plt"));
	CHECK(pd_probe_filter("a | main", "main") && pd_probe_filter("a|b & c|main", "main"));
	CHECK(!pd_probe_filter("", "main"));
}

TEST(test_definition__names)
{
	CHECK_STR(pd_probe_group(&arena, "/usr/bin/my-server"), "probe_my");
	CHECK_STR(pd_probe_group(&arena, "/lib/libc.so.6"), "probe_libc");
	CHECK(pd_probe_is_name("_a1") && !pd_probe_is_name("1a") && !pd_probe_is_name("a-b") && !pd_probe_is_name(""));
	pd_arena_fini(&arena);
}

RUN(TEST_CASE(test_definition__points), TEST_CASE(test_definition__arguments), TEST_CASE(test_definition__errors),
    TEST_CASE(test_definition__many_arguments), TEST_CASE(test_definition__ranges), TEST_CASE(test_definition__kernel),
    TEST_CASE(test_definition__memory), TEST_CASE(test_definition__filters), TEST_CASE(test_definition__names))
