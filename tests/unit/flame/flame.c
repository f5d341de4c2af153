/* SPDX-License-Identifier: MIT */
/* Flame graphs of folded stacks and of a recording, by what the public header promises. */
#include <perfdata/perfdata.h>
#include <perfdata/profile.h>
#include <perfdata/symbol.h>
#include <perfdata/viewer.h>

#include <stdlib.h>
#include <unistd.h>

#include "../test.h"

static char folded_path[] = "/tmp/flame-test-XXXXXX";

static void count_warning(void *self, const char *sentence)
{
	*(unsigned *)self += strstr(sentence, "line 2: not a folded stack") != NULL;
}

static enum pd_status read_folded(const char *lines, unsigned *warnings, struct pd_flame **flame,
				  struct pd_error *error)
{
	const struct pd_flame_options options = { .size = sizeof(options) };
	char path[sizeof(folded_path)];
	enum pd_status status;
	FILE *file;
	int fd;

	memcpy(path, folded_path, sizeof(path));
	fd = mkstemp(path);
	file = fdopen(fd, "w");
	fputs(lines, file);
	fclose(file);
	status = pd_flame_read_folded(path, &options, count_warning, warnings, flame, error);
	unlink(path);
	return status;
}

TEST(test_nodes_of_folded_stacks)
{
	static const struct {
		const char *name;
		uint32_t depth;
		uint64_t total;
	} wanted[] = { { "", 0, 12 }, { "a", 1, 7 }, { "b", 2, 3 }, { "c", 2, 4 }, { "z", 1, 5 } };
	struct pd_flame_summary summary;
	struct pd_flame_node node;
	struct pd_flame *flame = NULL;
	unsigned warnings = 0;

	CHECK(read_folded("z 5\nnonsense\na;b 3\na;c 4\n", &warnings, &flame, NULL) == PD_OK);
	CHECK(warnings == 1);
	pd_flame_summary(flame, &summary);
	CHECK(summary.wrong_lines == 1);
	CHECK_STR(summary.unit, "counts");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		CHECK(pd_flame_node(flame, i, &node));
		CHECK_STR(node.name, wanted[i].name);
		CHECK(node.depth == wanted[i].depth && node.total == wanted[i].total);
	}
	CHECK(!pd_flame_node(flame, sizeof(wanted) / sizeof(wanted[0]), &node));
	pd_flame_free(flame);
}

static bool says(const struct pd_text *text, const char *wanted)
{
	struct pd_bytes bytes = pd_text_bytes(text);

	return bytes.size == strlen(wanted) && !memcmp(bytes.data, wanted, bytes.size);
}

static enum pd_status compare(const char *old_text, const char *new_text, struct pd_text *text, struct pd_error *error)
{
	struct pd_bytes old_bytes = { (const uint8_t *)old_text, strlen(old_text) };
	struct pd_bytes new_bytes = { (const uint8_t *)new_text, strlen(new_text) };

	pd_text_clear(text);
	return pd_folded_compare(old_bytes, new_bytes, true, text, error);
}

TEST(test_large_numbers_compared)
{
	static const char *const too_large[] = { "a 1\na;b 18446744073709551616\n", "a 18446744073709551615\nb 1\n" };
	struct pd_text *text = pd_text_new();
	struct pd_error error;

	CHECK(text && compare("a;b 18446744073709551615\n", "a;b 18446744073709551615\n", text, &error) == PD_OK);
	CHECK(says(text, "a;b 18446744073709551615 18446744073709551615\n"));
	CHECK(compare("a;b 1\n", "a;b 18446744073709551615\n", text, &error) == PD_OK);
	CHECK(says(text, "a;b 18446744073709551615 18446744073709551615\n"));
	for (size_t i = 0; i < sizeof(too_large) / sizeof(too_large[0]); i++) {
		CHECK(compare("a 1\n", too_large[i], text, &error) == PD_ERROR_LIMIT);
		CHECK(strstr(error.message, "line 2") != NULL);
	}
	pd_text_free(text);
}

TEST(test_no_stacks)
{
	struct pd_flame *flame = NULL;
	struct pd_error error;
	unsigned warnings = 0;

	CHECK(read_folded("# nothing\n", &warnings, &flame, &error) == PD_ERROR_NO_SAMPLES);
	CHECK(strstr(error.message, "no stacks found") != NULL);
	CHECK(!flame);
}

static bool refuse(void *self, struct pd_text *text)
{
	(void)self;
	pd_text_clear(text);
	return false;
}

TEST(test_failing_sink)
{
	struct pd_text *text = pd_text_new();
	struct pd_flame *flame = NULL;
	struct pd_error error;
	unsigned warnings = 0;

	CHECK(text && read_folded("a;b 3\n", &warnings, &flame, NULL) == PD_OK);
	// so much that it does not stay in memory
	for (size_t i = 0; i < 1 << 14; i++)
		pd_text_add(text, "<!-- before -->\n");
	pd_text_set_sink(text, refuse, NULL);
	CHECK(pd_viewer_flame_page(text, &flame, 1, &error) == PD_ERROR_OUTPUT);
	pd_flame_free(flame);
	pd_text_free(text);
}

TEST(test_page)
{
	struct pd_text *text = pd_text_new();
	struct pd_flame *flames[3] = { NULL };
	struct pd_error error;
	unsigned warnings = 0;

	CHECK(text && read_folded("a;b 3\n", &warnings, &flames[0], NULL) == PD_OK);
	flames[1] = flames[2] = flames[0];
	CHECK(pd_viewer_flame_page(text, flames, 0, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_viewer_flame_page(text, flames, 3, &error) == PD_ERROR_ARGUMENT);
	CHECK(!pd_text_bytes(text).size);
	CHECK(pd_viewer_flame_page(text, flames, 2, &error) == PD_OK);
	CHECK(pd_text_bytes(text).size > 100 && !memcmp(pd_text_bytes(text).data, "<!doctype html>", 15));
	pd_flame_free(flames[0]);
	pd_text_free(text);
}

/* Sum of the numbers at the ends of lines. */
static uint64_t sum_of(struct pd_bytes text)
{
	uint64_t sum = 0, number = 0;

	for (size_t i = 0; i < text.size; i++) {
		char c = (char)text.data[i];

		if (c == '\n')
			sum += number;
		number = c >= '0' && c <= '9' ? 10 * number + (uint64_t)(c - '0') : 0;
	}
	return sum;
}

struct recording {
	struct pd_file *file;
	struct pd_profile *profile;
	struct pd_symbols *symbols;
};

static bool open_recording(struct recording *r, const struct pd_flame_options *options)
{
	const struct pd_symbols_options plain = { .size = sizeof(plain), .flags = PD_SYMBOLS_NO_FILES };
	struct pd_profile_options profile = { .size = sizeof(profile) };

	pd_flame_profile_options(options, &profile);
	return pd_file_open(PERFDATA_TEST_DATA "/hot.data", NULL, &r->file, NULL) == PD_OK &&
	       pd_profile_read(r->file, &profile, &r->profile, NULL) == PD_OK &&
	       pd_symbols_new(r->file, pd_profile_state(r->profile), &plain, &r->symbols, NULL) == PD_OK &&
	       pd_profile_name(r->profile, r->symbols, NULL) == PD_OK;
}

static void close_recording(struct recording *r)
{
	pd_symbols_free(r->symbols);
	pd_profile_free(r->profile);
	pd_file_close(r->file);
}

TEST(test_recording)
{
	const struct pd_flame_options options = { .size = sizeof(options), .root = PD_FLAME_ROOT_COMM, .name = "hot" };
	struct recording r = { 0 };
	struct pd_flame *lines = NULL, *tree = NULL;
	struct pd_text *text = pd_text_new();
	struct pd_flame_node root;

	CHECK(text && open_recording(&r, &options));
	CHECK(pd_flame_read(r.profile, r.symbols, &options, &lines, NULL) == PD_OK);
	CHECK(pd_flame_read(r.profile, r.symbols, &options, &tree, NULL) == PD_OK);
	CHECK(pd_flame_print_folded(lines, text, NULL) == PD_OK);
	CHECK(pd_flame_node(tree, 0, &root) && root.total > 0);
	CHECK(sum_of(pd_text_bytes(text)) == root.total);
	pd_text_clear(text);
	CHECK(pd_flame_print_svg(tree, 1200, 0.5, text, NULL) == PD_OK);
	CHECK(pd_text_bytes(text).size > 100 && !memcmp(pd_text_bytes(text).data, "<", 1));
	pd_flame_free(lines);
	pd_flame_free(tree);
	close_recording(&r);
	pd_text_free(text);
}

static bool none(void *self, const struct pd_place *place)
{
	(void)self, (void)place;
	return false;
}

TEST(test_nothing_wanted)
{
	const struct pd_flame_options options = { .size = sizeof(options), .name = "hot", .wanted = none };
	struct recording r = { 0 };
	struct pd_flame *flame = NULL;

	CHECK(open_recording(&r, &options));
	CHECK(pd_flame_read(r.profile, r.symbols, &options, &flame, NULL) == PD_ERROR_NO_MATCH);
	close_recording(&r);
}

RUN(TEST_CASE(test_nodes_of_folded_stacks), TEST_CASE(test_large_numbers_compared), TEST_CASE(test_no_stacks),
    TEST_CASE(test_failing_sink), TEST_CASE(test_page), TEST_CASE(test_recording), TEST_CASE(test_nothing_wanted))
