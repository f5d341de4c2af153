/* SPDX-License-Identifier: MIT */
/*
 * Many small mutants of an object with debug information, and of the recording, through all that annotations print: what is printed is
 * whatever it is, but nothing crashes, and each of the texts ends. usage: many [COUNT]; the mutants are the same each time.
 */
#include <perfdata/perfdata.h>

#include <string.h>

#include "../test.h"
#include "scene.h"

static unsigned long mutant_count = 1000;
static uint64_t chance = 88172645463325252u;

static size_t random_below(size_t limit)
{
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	return (size_t)(chance >> 11) % limit;
}

// Some bytes are others; one in eight is cut off.
static size_t mutate(uint8_t *out, const unsigned char *from, size_t size)
{
	static const unsigned char odd[] = { 0, 1, 0x7f, 0x80, 0xff };

	memcpy(out, from, size);
	for (size_t left = 1 + random_below(random_below(4) ? 4 : 40); left; left--)
		out[random_below(size)] = random_below(2) ? odd[random_below(sizeof(odd))] : (uint8_t)random_below(256);
	return random_below(8) ? size : random_below(size);
}

static enum pd_status print(struct pd_annotate *annotate, size_t number, struct pd_text *text)
{
	struct pd_annotate_text_options options = { .size = sizeof(options) };

	options.hot_only = options.cycles = number & 1;
	options.lines = options.raw = number & 2;
	switch (number % 5) {
	case 0:
		return pd_annotate_json(annotate, text, NULL);
	case 1:
		return pd_annotate_html(annotate, text, NULL);
	case 2:
		return pd_annotate_source_text(annotate, &options, text, NULL);
	default:
		return pd_annotate_text(annotate, &options, text, NULL);
	}
}

// Whether the recording still had samples.
static bool annotated(size_t number)
{
	const struct pd_symbols_options where = { .size = sizeof(where), .symfs = folder, .memory_limit = 64 << 20 };
	const struct pd_annotate_options options = { .size = sizeof(options), .nameless = true, .intel = number & 4 };
	struct pd_profile_options how = { .size = sizeof(how), .threads = 1 };
	struct pd_annotate *annotate = NULL;
	struct pd_profile *profile = NULL;
	struct pd_symbols *symbols = NULL;
	struct pd_text *text = pd_text_new();
	struct pd_file *file = NULL;
	char path[64];
	bool done;

	snprintf(path, sizeof(path), "%s/demo.data", folder);
	done = text && pd_annotate_new(&options, &annotate, NULL) == PD_OK;
	if (done)
		pd_annotate_ask(annotate, &how);
	done = done && pd_file_open(path, NULL, &file, NULL) == PD_OK &&
	       pd_profile_read(file, &how, &profile, NULL) == PD_OK &&
	       pd_symbols_new(file, pd_profile_state(profile), &where, &symbols, NULL) == PD_OK &&
	       pd_profile_name(profile, symbols, NULL) == PD_OK &&
	       pd_annotate_build(annotate, file, profile, symbols, NULL) == PD_OK &&
	       print(annotate, number, text) == PD_OK && !pd_text_failed(text);
	pd_annotate_free(annotate);
	pd_text_free(text);
	pd_symbols_free(symbols);
	pd_profile_free(profile);
	pd_file_close(file);
	return done;
}

TEST(mutants_of_the_object)
{
	static uint8_t bytes[sizeof(demo_program)];
	unsigned long printed = 0;

	CHECK(make_scene());
	for (unsigned long i = 0; i < mutant_count; i++) {
		CHECK(write_file("usr/bin/demo", bytes, mutate(bytes, demo_program, sizeof(demo_program))));
		printed += annotated(i);
	}
	CHECK(printed == mutant_count);
}

TEST(mutants_of_the_recording)
{
	static uint8_t bytes[sizeof(demo_recording)];
	unsigned long printed = 0;

	CHECK(write_file("usr/bin/demo", demo_program, sizeof(demo_program)));
	for (unsigned long i = 0; i < mutant_count; i++) {
		CHECK(write_file("demo.data", bytes, mutate(bytes, demo_recording, sizeof(demo_recording))));
		printed += annotated(i);
	}
	CHECK(printed > mutant_count / 4);
	remove_scene();
}

static const struct test_case cases[] = { TEST_CASE(mutants_of_the_object), TEST_CASE(mutants_of_the_recording) };

int main(int argc, char **argv)
{
	if (argc > 1)
		mutant_count = strtoul(argv[1], NULL, 10);
	return test_run(cases, sizeof(cases) / sizeof(cases[0]));
}
