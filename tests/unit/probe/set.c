/* SPDX-License-Identifier: MIT */
/* Probes in a small program: where they are, what they read, and a folder in the place of tracefs. */
#include <perfdata/probe.h>

#include <fnmatch.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample.h"
#include "unit/test.h"

// The last one is optimized by the linker, or NULL where there is no such linker.
static const char *const samples[] = { PERFDATA_SAMPLES, PERFDATA_LINKED };
enum {
	LINKED = sizeof(samples) / sizeof(samples[0]) - 1
};
static const char readme[] = "  uprobe_events\t\t- Create/append/remove/show the userspace dynamic events\n"
			     "\t           \\imm-value, \\\"imm-string\"\n"
			     "\t     type: s8/16/32/64, u8/16/32/64, x8/16/32/64, char, string, symbol,\n";
static char tracefs[] = "/tmp/perfdata-probe-XXXXXX";
static struct pd_error error;

static void put_file(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", tracefs, name);
	file = fopen(path, "w");
	if (file) {
		fputs(text, file);
		fclose(file);
	}
}

static const char *get_file(const char *name)
{
	static char text[8192];
	char path[128];
	FILE *file;
	size_t size;

	snprintf(path, sizeof(path), "%s/%s", tracefs, name);
	file = fopen(path, "r");
	size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	text[size] = 0;
	if (file)
		fclose(file);
	return text;
}

static struct pd_probes *open_sample(size_t which, bool force)
{
	const struct pd_probe_options options = {
		.size = sizeof(options), .object = samples[which], .tracefs = tracefs, .force = force
	};
	struct pd_probes *probes = NULL;

	error.message[0] = 0;
	return pd_probes_open(&options, &probes, &error) == PD_OK ? probes : NULL;
}

// The text of a definition, "" if it fails.
static const char *define(size_t which, const char *definition)
{
	static char out[4096];
	struct pd_probes *probes = open_sample(which, false);
	struct pd_text *text = pd_text_new();
	struct pd_bytes bytes;

	out[0] = 0;
	if (probes && pd_probes_define(probes, definition, &error) == PD_OK &&
	    pd_print_probe_definitions(text, probes, &error) == PD_OK) {
		bytes = pd_text_bytes(text);
		snprintf(out, sizeof(out), "%.*s", (int)bytes.size, (const char *)bytes.data);
	}
	pd_text_free(text);
	pd_probes_close(probes);
	return out;
}

// Whether the definition becomes one line for each sample that ends with a pattern, after its address.
static bool gives(const char *definition, const char *pattern)
{
	char whole[1024];

	for (size_t i = 0; i < LINKED; i++) {
		const char *got = define(i, definition);

		snprintf(whole, sizeof(whole), "[pr]:probe_probe_*/* %s:0x*%s%s\n", samples[i], *pattern ? " " : "",
			 pattern);
		if (fnmatch(whole, got, 0) == 0 && strchr(got, '\n')[1] == 0)
			continue;
		fprintf(stderr, "# %s: %s\n# got '%s', wanted '%s'\n", definition, error.message, got, whole);
		return false;
	}
	return true;
}

// Pointers have a size in the debug information of gcc only: without one the kernel's own type remains.
#ifdef __clang__
static const char *pointer = "", *any_pointer = "", *long_name = "long";
#else
static const char *pointer = sizeof(void *) == 8 ? ":x64" : ":x32", *any_pointer = ":x*", *long_name = "long int";
#endif

static bool gives_field(const char *field, const char *before, size_t offset, const char *after)
{
	char definition[128], pattern[256];

	snprintf(definition, sizeof(definition), "handle v=request%s", field);
	snprintf(pattern, sizeof(pattern), "v=%s+%zu(*)%s", before, offset, after);
	return gives(definition, pattern);
}

TEST(test_set__fields)
{
	CHECK(gives_field("->id", "", 0, ":s32"));
	CHECK(gives_field("->id:u8", "", 0, ":u8"));
	CHECK(gives_field("->id:x", "", 0, ":x32"));
	CHECK(gives_field("->parts[1].high", "", offsetof(struct outer, parts[1].high), ":x16"));
	CHECK(gives_field("->name:string", "", offsetof(struct outer, name), ":string"));
	CHECK(gives_field("->name[2]", "", offsetof(struct outer, name[2]), ":?8"));
	CHECK(gives_field("->text:string", "+0(", offsetof(struct outer, text), "):string"));
	CHECK(gives_field("->text[3]:u8", "+3(", offsetof(struct outer, text), "):u8"));
	CHECK(gives_field("->next->id", "+0(", offsetof(struct outer, next), "):s32"));
	CHECK(gives_field("->next", "", offsetof(struct outer, next), pointer));
	CHECK(gives_field("->whole", "", offsetof(struct outer, whole), ":x64"));
	CHECK(gives_field("->half.high", "", offsetof(struct outer, half.high), ":x16"));
	CHECK(gives_field("[2].id", "", 2 * sizeof(struct outer), ":s32"));
	CHECK(gives("handle v=request->next->id@user", "v=+u0(+u*(*)):s32"));
}

TEST(test_set__bit_fields)
{
	const uint16_t one = 1;

	// the numbers are those of little-endian machines
	if (!*(const uint8_t *)&one)
		return;
	CHECK(gives_field("->flag", "", sizeof(int), ":b3@0/32"));
	CHECK(gives_field("->rest", "", sizeof(int), ":b5@3/32"));
}

TEST(test_set__variables)
{
	char parameters[128];

	CHECK(gives("handle size", "size=*:s*"));
	CHECK(gives("handle what:string", "what_string=+0(*):string"));
	CHECK(gives("handle total", "total=@total+0:x64"));
	CHECK(gives("handle counter", "counter=@counter+0:s32"));
	CHECK(gives("handle %ax n=$stack2:u8 @total", "%ax n=$stack2:u8 @total"));
	CHECK(gives("scale small on", "small=*:s8 on=*:x8"));
	snprintf(parameters, sizeof(parameters), "request=*%s size=*:s* what=*%s", any_pointer, any_pointer);
	CHECK(gives("handle $params", parameters));
	CHECK(gives("mine=handle", ""));
	CHECK(gives("handle%return r=$retval:s32", "r=$retval:s32"));
}

TEST(test_set__places)
{
	for (size_t i = 0; i < LINKED; i++) {
		const char *name = strrchr(samples[i], '/') + 1;
		char wanted[512], first[256];
		const char *got = define(i, "twice number");
		size_t lines = 0;

		// both copies, under one name
		for (const char *at = got; *at; at++)
			lines += *at == '\n';
		CHECK(lines == 2);
		snprintf(first, sizeof(first), "p:probe_%s/twice %s:0x", name, samples[i]);
		CHECK(strncmp(got, first, strlen(first)) == 0 &&
		      strncmp(strchr(got, '\n') + 1, first, strlen(first)) == 0);
		snprintf(wanted, sizeof(wanted), "p:probe_%s/abs_1234 %s:0x1234 %%ax\n", name, samples[i]);
		CHECK_STR(define(i, "0x1234 %ax"), wanted);
		snprintf(first, sizeof(first), "p:probe_%s/handle_L4 %s:0x", name, samples[i]);
		// optimized code need not have the line
		CHECK(i || strncmp(define(i, "handle:4"), first, strlen(first)) == 0);
		snprintf(first, sizeof(first), "p:probe_%s/handle ", name);
		CHECK(strncmp(define(i, "handle@sample.c"), first, strlen(first)) == 0);
		snprintf(first, sizeof(first), "p:probe_%s/scale ", name);
		CHECK(strncmp(define(i, "sc?le"), first, strlen(first)) == 0);
	}
}

static bool fails(const char *definition, enum pd_status wanted, const char *sentence)
{
	for (size_t i = 0; i < LINKED; i++) {
		struct pd_probes *probes = open_sample(i, false);
		enum pd_status status = probes ? pd_probes_define(probes, definition, &error) : PD_OK;

		pd_probes_close(probes);
		if (status == wanted && strstr(error.message, sentence))
			continue;
		fprintf(stderr, "# %s: %d: %s\n", definition, status, error.message);
		return false;
	}
	return true;
}

TEST(test_set__errors)
{
	CHECK(fails("nofunction", PD_ERROR_NO_MATCH, "no function 'nofunction'"));
	CHECK(fails("nofunction a", PD_ERROR_NO_MATCH, "no such place"));
	CHECK(fails("handle nothing", PD_ERROR_NO_MATCH, "'nothing'"));
	CHECK(fails("handle request.id", PD_ERROR_ARGUMENT, "needs ->"));
	CHECK(fails("handle request->parts->low", PD_ERROR_ARGUMENT, "neither a structure nor a union"));
	CHECK(fails("handle request->next.id", PD_ERROR_ARGUMENT, "needs ->"));
	CHECK(fails("handle size->x", PD_ERROR_ARGUMENT, "neither a structure nor a union"));
	CHECK(fails("handle request->nomember", PD_ERROR_ARGUMENT, "no member 'nomember'"));
	CHECK(fails("handle request->id:string", PD_ERROR_ARGUMENT, "is no string"));
	CHECK(fails("handle@other.c", PD_ERROR_NO_MATCH, "no such place"));
	CHECK(fails("handle+100000", PD_ERROR_NO_MATCH, "outside of"));
	CHECK(fails("sample.c:9999", PD_ERROR_NO_MATCH, "no such place"));
	CHECK(fails("handle a:b", PD_ERROR_ARGUMENT, "unknown type 'b'"));
}

TEST(test_set__kernel)
{
	struct pd_probes *probes = open_sample(0, false);
	const struct pd_probe_options options = { .size = sizeof(options), .tracefs = tracefs };
	const char *name = strrchr(samples[0], '/') + 1;
	struct pd_text *text = pd_text_new();
	char wanted[512], got[1024];

	put_file("uprobe_events", "");
	CHECK(probes && pd_probes_define(probes, "handle id=request->id", &error) == PD_OK);
	CHECK(pd_probes_count(probes) == 1 && pd_probes_add(probes, &error) == PD_OK);
	snprintf(wanted, sizeof(wanted), "p:probe_%s/handle %s:0x* id=*:s32\n", name, samples[0]);
	CHECK(fnmatch(wanted, get_file("uprobe_events"), 0) == 0);
	// the name is used now
	CHECK(pd_probes_add(probes, &error) == PD_ERROR_NO_MATCH && strstr(error.message, "is there already"));
	pd_probes_close(probes);
	probes = open_sample(0, true);
	CHECK(pd_probes_define(probes, "handle", &error) == PD_OK && pd_probes_add(probes, &error) == PD_OK);
	snprintf(wanted, sizeof(wanted), "*\np:probe_%s/handle_1 %s:0x*\n", name, samples[0]);
	CHECK(fnmatch(wanted, get_file("uprobe_events"), 0) == 0);
	pd_probes_close(probes);
	CHECK(pd_print_probes(text, &options, "*:handle_?", &error) == PD_OK);
	snprintf(got, sizeof(got), "%.*s", (int)pd_text_bytes(text).size, (const char *)pd_text_bytes(text).data);
	snprintf(wanted, sizeof(wanted), "  probe_%s:handle_1* (on handle*@*sample.c* in %s)\n", name, samples[0]);
	CHECK(fnmatch(wanted, got, 0) == 0);
	CHECK(pd_probes_remove(text, &options, "handle_1", &error) == PD_OK);
	snprintf(wanted, sizeof(wanted), "\n-:probe_%s/handle_1\n", name);
	CHECK(strstr(get_file("uprobe_events"), wanted));
	CHECK(pd_probes_remove(text, &options, "nothing", &error) == PD_ERROR_NO_MATCH);
	pd_text_free(text);
}

static const char *printed(enum pd_status (*print)(struct pd_text *, struct pd_probes *, const char *,
						   struct pd_error *),
			   size_t which, const char *item)
{
	static char out[8192];
	struct pd_probes *probes = open_sample(which, false);
	struct pd_text *text = pd_text_new();

	out[0] = 0;
	if (probes && print(text, probes, item, &error) == PD_OK)
		snprintf(out, sizeof(out), "%.*s", (int)pd_text_bytes(text).size,
			 (const char *)pd_text_bytes(text).data);
	pd_text_free(text);
	pd_probes_close(probes);
	return out;
}

TEST(test_set__lines)
{
	for (size_t i = 0; i < LINKED; i++) {
		const char *got = printed(pd_print_probe_lines, i, "handle");

		CHECK(fnmatch("<handle@*sample.c:0>\n      0  __attribute__((noinline)) int handle(*", got, 0) == 0);
		CHECK(i || strstr(got, "\n      2  \tint sum = twice(request->id);\n"));
		CHECK(strstr(got, "\n         \n"));
		got = printed(pd_print_probe_lines, i, "handle:4+2");
		CHECK(fnmatch("<handle@*sample.c:4>\n*  \tif (size > 3)\n      5  *", got, 0) == 0);
		CHECK(printed(pd_print_probe_lines, i, "nothing")[0] == 0);
	}
}

TEST(test_set__names_of_variables)
{
	char size[64];

	snprintf(size, sizeof(size), "\t\t%s\tsize\n", long_name);
	for (size_t i = 0; i < LINKED; i++) {
		const char *got = printed(pd_print_probe_variables, i, "handle");

		CHECK(fnmatch("Available variables at handle\n\t@<handle+*>\n*", got, 0) == 0);
		CHECK(strstr(got, "\t\tstruct outer*\trequest\n") && strstr(got, size));
		CHECK(strstr(got, "\t\tchar*\twhat\n") && !strstr(got, "\ttotal\n"));
	}
}

// What was declared in one unit has its code in another one.
TEST(test_set__linked)
{
	char wanted[512];

	if (!samples[LINKED])
		return;
	snprintf(wanted, sizeof(wanted), "p:probe_probe_linked/handle %s:0x* v=+%zu(*):x16\n", samples[LINKED],
		 offsetof(struct outer, parts[1].high));
	CHECK(fnmatch(wanted, define(LINKED, "handle v=request->parts[1].high"), 0) == 0);
	CHECK(fnmatch(wanted, define(LINKED, "handle@sample.c v=request->parts[1].high"), 0) == 0);
	CHECK(fnmatch("<handle@*sample.c:0>\n*", printed(pd_print_probe_lines, LINKED, "handle"), 0) == 0);
}

// A sample in which each "request" has another letter in the place of its 'u'.
static bool make_other(const char *path, char letter)
{
	FILE *from = fopen(samples[0], "rb"), *to = fopen(path, "wb");
	static const char name[] = "request";
	size_t at = 0;
	int c;

	if (!from || !to)
		return false;
	while ((c = getc(from)) != EOF) {
		at = c == name[at] ? at + 1 : c == name[0];
		putc(at == 4 ? letter : c, to);
		at = name[at] ? at : 0;
	}
	return fclose(from) == 0 && fclose(to) == 0;
}

TEST(test_set__hostile_names)
{
	struct pd_probe_options options = { .size = sizeof(options), .tracefs = tracefs, .escape = true };
	const struct pd_probe_step vars = { "vars", "handle" };
	struct pd_probes *probes;
	struct pd_text *text = pd_text_new();
	char path[128];

	snprintf(path, sizeof(path), "%s/other", tracefs);
	options.object = path;
	// a line end would begin another command of the kernel
	CHECK(make_other(path, '\n'));
	put_file("uprobe_events", "");
	CHECK(pd_probes_open(&options, &probes, &error) == PD_OK);
	CHECK(pd_probes_define(probes, "handle $params", &error) == PD_OK);
	CHECK(pd_probes_add(probes, &error) == PD_ERROR_FORMAT);
	CHECK_STR(get_file("uprobe_events"), "");
	pd_probes_close(probes);
	// nor does anything act on a terminal
	CHECK(make_other(path, '\033'));
	CHECK(pd_probe_run(text, &options, &vars, 1, NULL, 0, &error) == PD_OK);
	pd_text_printf(text, "%c", 0);
	CHECK(strstr((const char *)pd_text_bytes(text).data, "req\\x1best\n"));
	CHECK(!strchr((const char *)pd_text_bytes(text).data, '\033'));
	pd_text_free(text);
	CHECK(remove(path) == 0);
}

static bool make_tracefs(void)
{
	char path[128];

	if (!mkdtemp(tracefs))
		return false;
	snprintf(path, sizeof(path), "%s/events", tracefs);
	if (mkdir(path, 0700))
		return false;
	put_file("README", readme);
	return true;
}

TEST(test_set__begin)
{
	CHECK(make_tracefs());
}

TEST(test_set__end)
{
	static const char *const names[] = { "README", "uprobe_events", "events" };
	char path[128];

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", tracefs, names[i]);
		CHECK(remove(path) == 0);
	}
	CHECK(rmdir(tracefs) == 0);
}

RUN(TEST_CASE(test_set__begin), TEST_CASE(test_set__fields), TEST_CASE(test_set__bit_fields),
    TEST_CASE(test_set__variables), TEST_CASE(test_set__places), TEST_CASE(test_set__errors),
    TEST_CASE(test_set__kernel), TEST_CASE(test_set__lines), TEST_CASE(test_set__names_of_variables),
    TEST_CASE(test_set__linked), TEST_CASE(test_set__hostile_names), TEST_CASE(test_set__end))
