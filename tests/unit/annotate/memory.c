/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of an annotation and of its texts fails once, each in turn: it is said then, or the text is what it is with all memory, or
 * one with fewer names. Allocations are wrapped by the linker (--wrap).
 */
#include <perfdata/perfdata.h>

#include <stdio.h>
#include <string.h>

#include "../failing.h"
#include "../test.h"
#include "scene.h"

/* Capstone 5 does not look at what it is given when it opens a handle: what fails there is not tested. */
int __real_cs_open(int arch, int mode, size_t *handle);
int __wrap_cs_open(int arch, int mode, size_t *handle);

int __wrap_cs_open(int arch, int mode, size_t *handle)
{
	long kept = left;
	int result;

	left = -1;
	result = __real_cs_open(arch, mode, handle);
	left = kept;
	return result;
}

enum what {
	TEXT,
	HOT,
	SUMMARY,
	JSON,
	HTML,
	SOURCE,
	SOURCE_JSON,
	WHATS
};

static enum pd_status print(struct pd_annotate *annotate, enum what what, struct pd_text *text)
{
	struct pd_annotate_text_options options = { .size = sizeof(options) };

	options.hot_only = what == HOT || what == SOURCE;
	options.color = options.cycles = what == HOT;
	options.lines = options.raw = what == SUMMARY;
	switch (what) {
	case JSON:
		return pd_annotate_json(annotate, text, NULL);
	case HTML:
		return pd_annotate_html(annotate, text, NULL);
	case SOURCE:
		return pd_annotate_source_text(annotate, &options, text, NULL);
	case SOURCE_JSON:
		return pd_annotate_source_json(annotate, text, NULL);
	default:
		return pd_annotate_text(annotate, &options, text, NULL);
	}
}

// Size of the text, 0 if it was said that there is no memory.
static size_t annotated(struct pd_file *file, const struct pd_profile *profile, struct pd_symbols *symbols,
			enum what what)
{
	const struct pd_annotate_options options = { .size = sizeof(options), .nameless = true };
	struct pd_text *text = pd_text_new();
	struct pd_annotate *annotate = NULL;
	size_t size = 0;

	if (text && pd_annotate_new(&options, &annotate, NULL) == PD_OK &&
	    pd_annotate_build(annotate, file, profile, symbols, NULL) == PD_OK &&
	    print(annotate, what, text) == PD_OK && !pd_text_failed(text))
		size = pd_text_bytes(text).size;
	pd_annotate_free(annotate);
	pd_text_free(text);
	return size;
}

// The same of a file that is opened anew, with the turn-th allocation of the annotation failing; below 0: none.
static size_t annotated_anew(enum what what, long turn)
{
	const struct pd_symbols_options where = { .size = sizeof(where), .symfs = folder };
	struct pd_profile_options how = { .size = sizeof(how), .by = PD_BY_ADDRESS, .no_unwind = true, .threads = 1 };
	struct pd_profile *profile = NULL;
	struct pd_symbols *symbols = NULL;
	struct pd_file *file = NULL;
	char path[64];
	size_t size = 0;

	snprintf(path, sizeof(path), "%s/demo.data", folder);
	if (pd_file_open(path, NULL, &file, NULL) == PD_OK && pd_profile_read(file, &how, &profile, NULL) == PD_OK &&
	    pd_symbols_new(file, pd_profile_state(profile), &where, &symbols, NULL) == PD_OK &&
	    pd_profile_name(profile, symbols, NULL) == PD_OK) {
		has_failed = false;
		left = turn;
		size = annotated(file, profile, symbols, what);
		left = -1;
	}
	pd_symbols_free(symbols);
	pd_profile_free(profile);
	pd_file_close(file);
	return size;
}

TEST(every_allocation)
{
	for (enum what what = 0; what < WHATS; what++) {
		size_t whole = annotated_anew(what, -1);
		long turn = 0;

		CHECK(whole > 300);
		do {
			size_t size = annotated_anew(what, turn++);

			CHECK(has_failed || size == whole);
			CHECK(size <= whole + 2000);
		} while (has_failed);
		CHECK(turn > 20);
	}
}

TEST(scene)
{
	CHECK(make_scene());
}

TEST(end)
{
	remove_scene();
	CHECK(access(folder, F_OK) != 0);
}

RUN(TEST_CASE(scene), TEST_CASE(every_allocation), TEST_CASE(end))
