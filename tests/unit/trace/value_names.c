/* SPDX-License-Identifier: MIT */
/* Names of values, which formats have for fields. */
#include "unit/test.h"
#include "unit/trace/make.h"

#define FORMAT                                                      \
	"name: thing\nID: 7\nformat:\n"                             \
	"\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"           \
	"\tfield:unsigned int b;\toffset:12;\tsize:4;\tsigned:0;\n" \
	"\nprint fmt: %s\n"

static const struct pd_attr attr = { .type = PD_TYPE_TRACEPOINT };
static const struct pd_event event = { .attr = &attr };

// All names of a format, one after another, in a place that stays until the next call.
static const char *names_of(const char *print)
{
	static char buffer[1024];
	struct made_trace made;
	struct pd_trace_value_name name;
	char format[1024];
	size_t used = 0;
	int size = snprintf(format, sizeof(format), FORMAT, print);

	make_trace(&made, format, (size_t)size, false, 8);
	made.trace.found[0] = (struct pd_found_format){ &event, &made.format };
	buffer[0] = 0;
	for (size_t i = 0; pd_trace_value_name_at(&made.trace, &event, i, &name); i++)
		used += (size_t)snprintf(buffer + used, sizeof(buffer) - used, "%s%s %s%s%lld=%s", i ? ", " : "",
					 name.field, name.is_flag ? "flags " : "", name.delimiter,
					 (long long)name.value, name.name);
	made_trace_fini(&made);
	return buffer;
}

static void test_value_names__flags_and_symbols(void)
{
	CHECK_STR(names_of("\"%s\", __print_flags(REC->b, \"|\", { 1, \"A\" }, { 1 << 3, \"B\" })"),
		  "b flags |1=A, b flags |8=B");
	CHECK_STR(names_of("\"%s %d\", __print_symbolic(REC->a, { 6, \"six\" }), REC->b"), "a 6=six");
	CHECK_STR(
		names_of(
			"\"%s%s\", __print_symbolic(REC->a & 0xff, { 1, \"x\" }), __print_flags((int)REC->b, \"\", { 2, \"y\" })"),
		"a 1=x, b flags 2=y");
}

static void test_value_names__inside(void)
{
	CHECK_STR(names_of("\"%s\", REC->a & 7 ? __print_flags(REC->a & 7, \"|\", { 1, \"S\" }, { 2, \"D\" }) : \"R\""),
		  "a flags |1=S, a flags |2=D");
	CHECK_STR(names_of("\"%s\", __print_symbolic(3, { 3, \"three\" })"), " 3=three");
}

static void test_value_names__none(void)
{
	CHECK_STR(names_of("\"%d\", REC->a"), "");
	CHECK_STR(names_of("\"%s\", __print_flags(REC->b, \"|\")"), "");
	CHECK_STR(names_of("\"%s\", __print_flags(REC->b, \"|\", { 1, \"A\" "), "");
}

RUN(TEST_CASE(test_value_names__flags_and_symbols), TEST_CASE(test_value_names__inside),
    TEST_CASE(test_value_names__none))
