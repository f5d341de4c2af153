/* SPDX-License-Identifier: MIT */
/* Lines of the source of a function, summed up as perf annotate -l does. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/print/text.h"

#define LEAST_PERCENT 0.5

struct place {
	const char *file; // as it is shown
	uint32_t line;
	uint64_t addr;  // if the line is not known, which is 0 then
	double *shares; // by event
};

static const char *shown_file(const struct pd_annotate_printing *p, const char *file)
{
	const char *slash = p->options.full_paths ? NULL : strrchr(file, '/');

	return slash ? slash + 1 : file;
}

// A line of a file; or, where no line is known, a place in the object: "libc.so.6[26290]".
static struct place place_at(const struct pd_annotate_printing *p, const struct pd_annotate_line *line)
{
	const char *object = p->code->entry->head.function->dso->name;

	if (line->file && line->line)
		return (struct place){ .file = shown_file(p, line->file), .line = line->line };
	return (struct place){ .file = object, .addr = line->addr };
}

static bool is_same(const struct place *a, const struct place *b)
{
	return a->line == b->line && (a->line || a->addr == b->addr) && !strcmp(a->file, b->file);
}

static void put_place(struct pd_annotate_printing *p, const struct place *place)
{
	pd_annotate_put_name(p, place->file, strlen(place->file));
	if (place->line)
		pd_text_printf(p->out, ":%" PRIu32, place->line);
	else
		pd_text_printf(p->out, "[%" PRIx64 "]", place->addr);
}

void pd_annotate_put_place(struct pd_annotate_printing *p, const struct pd_annotate_line *line)
{
	struct place place = place_at(p, line);
	const struct place last = { .file = p->last_file, .line = p->last_line };

	if (last.file && place.line && is_same(&place, &last))
		return;
	pd_text_add(p->out, " // ");
	put_place(p, &place);
	p->last_file = place.file;
	p->last_line = place.line;
}

static struct place *place_of(struct place *places, size_t *count, const struct place *wanted)
{
	for (size_t i = 0; i < *count; i++)
		if (is_same(&places[i], wanted))
			return &places[i];
	places[*count] = *wanted;
	return &places[(*count)++];
}

bool pd_annotate_is_hot(const struct pd_annotate_printing *p, const struct pd_annotate_sum *sums)
{
	for (size_t i = 0; i < p->events; i++)
		if (pd_annotate_share(p->code->part, p->code->entry->head.sums, &sums[i], i, p->options.percent) >
		    LEAST_PERCENT)
			return true;
	return false;
}

static void add_places(struct pd_annotate_printing *p, struct place *places, size_t *count, double *shares)
{
	const struct pd_annotate_code *code = p->code;

	for (size_t i = 0; i < code->line_count; i++) {
		const struct pd_annotate_line *line = &code->lines[i];
		const struct pd_annotate_sum *sums = pd_annotate_line_sums(code, i);
		struct place *place, wanted;

		if (!sums || !pd_annotate_is_hot(p, sums))
			continue;
		wanted = place_at(p, line);
		place = place_of(places, count, &wanted);
		if (!place->shares)
			place->shares = shares + (size_t)(place - places) * p->events;
		for (size_t k = 0; k < p->events; k++)
			place->shares[k] +=
				pd_annotate_share(code->part, code->entry->head.sums, &sums[k], k, p->options.percent);
	}
}

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	int result = strcmp(a->file, b->file);

	if (a->shares[0] != b->shares[0])
		return a->shares[0] > b->shares[0] ? -1 : 1;
	if (!result)
		result = (a->line > b->line) - (a->line < b->line);
	return result ? result : (a->addr > b->addr) - (a->addr < b->addr);
}

bool pd_annotate_put_summary(struct pd_annotate_printing *p)
{
	const struct pd_dso *dso = p->code->entry->head.function->dso;
	size_t most = p->code->line_count + 1, count = 0;
	struct place *places = pd_alloc(most * sizeof(*places));
	double *shares = pd_alloc(most * p->events * sizeof(*shares));

	if (!places || !shares) {
		pd_free(places);
		pd_free(shares);
		return false;
	}
	add_places(p, places, &count, shares);
	if (count)
		qsort(places, count, sizeof(*places), compare_places);
	pd_text_add(p->out, "\nSorted summary for file ");
	pd_annotate_put_name(p, dso->long_name, strlen(dso->long_name));
	pd_text_add(p->out, "\n----------------------------------------------\n\n");
	if (!count)
		pd_text_add(p->out, " Nothing higher than 0.5%\n");
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < p->events; k++)
			pd_text_printf(p->out, " %7.2f", places[i].shares[k]);
		pd_text_char(p->out, ' ');
		put_place(p, &places[i]);
		pd_text_char(p->out, '\n');
	}
	pd_free(places);
	pd_free(shares);
	return true;
}
