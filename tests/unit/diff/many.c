/* SPDX-License-Identifier: MIT */
/*
 * Many small mutants of a saved profile through all that comparisons print, on either side: nothing crashes, and what cannot be read is said.
 * usage: many [COUNT]; the mutants are the same each time.
 */
#include <perfdata/perfdata.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

#include "compared.h"

static unsigned long mutant_count = 1000;
static uint64_t chance = 88172645463325252u;
static char whole_path[64], mutant_path[64];

static size_t random_below(size_t limit)
{
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	return (size_t)(chance >> 11) % limit;
}

static bool write_text(const char *path, const char *data, size_t size)
{
	FILE *file = fopen(path, "wb");
	bool done = file && fwrite(data, 1, size, file) == size;

	return file && !fclose(file) && done;
}

// Two runs of three threads, as they are saved; NULL if it cannot be made. The caller's.
static char *saved_profile(void)
{
	static const struct thread threads[] = { { "one", 40, 16 }, { "two", 12, 32 }, { "three", 30, 48 }, { 0 } };
	const struct pd_diff_options options = { .size = sizeof(options), .join_names = true };
	struct pd_file *file = record_threads(threads);
	struct pd_text *text = pd_text_new();
	struct pd_diff *diff = NULL;
	char *saved = NULL;

	if (file && text && pd_diff_new(&options, &diff, &error) == PD_OK &&
	    add_file(diff, 0, "old", file, "comm,sym") == PD_OK &&
	    add_file(diff, 0, "old too", file, "comm,sym") == PD_OK && pd_diff_save(diff, text, &error) == PD_OK)
		saved = string_of(text);
	pd_diff_free(diff);
	pd_text_free(text);
	pd_file_close(file);
	return saved;
}

// Bytes, or fields that become odd numbers, or lines that are gone.
static size_t mutate(char *out, const char *from, size_t size)
{
	static const char odd[] = "\t\n\\09-x\xff";

	memcpy(out, from, size);
	for (size_t left = 1 + random_below(4); left; left--) {
		size_t at = random_below(size), count = strcspn(out + at, "\t\n");

		if (random_below(3))
			out[at] = odd[random_below(sizeof(odd) - 1)];
		else if (at + count < size)
			memset(out + at, random_below(2) ? '9' : '0', count);
	}
	return random_below(8) ? size : random_below(size);
}

static enum pd_status print(struct pd_diff *diff, size_t number, struct pd_text *text)
{
	struct pd_diff_gate *gate = NULL;
	enum pd_status status;

	switch (number % 5) {
	case 0:
		return pd_diff_json(diff, text, NULL);
	case 1:
		return pd_diff_markdown(diff, text, NULL);
	case 2:
		return pd_diff_rating_text(diff, NULL, text, NULL);
	case 3:
		status = pd_diff_gate_new("change > 1% and maybe", &gate, NULL);
		if (status == PD_OK)
			status = pd_diff_junit(diff, gate, text, NULL);
		pd_diff_gate_free(gate);
		return status;
	default:
		return pd_diff_text(diff, NULL, text, NULL);
	}
}

// Whether the mutant could be read.
static bool compared(size_t number)
{
	const struct pd_diff_options options = {
		.size = sizeof(options), .ratings = true, .join_names = true, .per = number & 8 ? "run" : NULL
	};
	struct pd_text *text = pd_text_new();
	struct pd_diff *diff = NULL;
	bool done = text && pd_diff_new(&options, &diff, NULL) == PD_OK &&
		    pd_diff_add_saved(diff, 0, number & 1 ? mutant_path : whole_path, NULL) == PD_OK &&
		    pd_diff_add_saved(diff, 1, number & 1 ? whole_path : mutant_path, NULL) == PD_OK &&
		    pd_diff_finish(diff, NULL) == PD_OK && print(diff, number, text) == PD_OK && !pd_text_failed(text);

	pd_diff_free(diff);
	pd_text_free(text);
	return done;
}

TEST(mutants)
{
	char *saved = saved_profile(), *mutant;
	size_t size = saved ? strlen(saved) : 0;
	unsigned long read = 0;

	mutant = malloc(size + 1);
	CHECK(saved && mutant && write_text(whole_path, saved, size));
	mutant[size] = 0;
	for (unsigned long i = 0; i < mutant_count; i++) {
		CHECK(write_text(mutant_path, mutant, mutate(mutant, saved, size)));
		read += compared(i);
	}
	free(saved);
	free(mutant);
	CHECK(read > mutant_count / 20 && read < mutant_count);
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = { TEST_CASE(mutants) };
	int result;

	if (argc > 1)
		mutant_count = strtoul(argv[1], NULL, 10);
	if (!mkdtemp(folder))
		return 1;
	snprintf(whole_path, sizeof(whole_path), "%s/whole", folder);
	snprintf(mutant_path, sizeof(mutant_path), "%s/mutant", folder);
	result = test_run(cases, 1);
	unlink(whole_path);
	unlink(mutant_path);
	rmdir(folder);
	return result;
}
