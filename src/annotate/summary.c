/* SPDX-License-Identifier: MIT */
/* Lines of the source of a function, summed up as perf annotate -l does. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/text.h"

#define LEAST_PERCENT 0.5

struct place {
	const char *file; // as it is shown
	uint32_t line;
	double *shares; // by event
};

static const char *shown_file(const struct pd_annotate_printing *p, const char *file)
{
	const char *slash = p->options.full_paths ? NULL : strrchr(file, '/');

	return slash ? slash + 1 : file;
}

void pd_annotate_put_place(struct pd_annotate_printing *p, const struct pd_annotate_line *line)
{
	const char *file = shown_file(p, line->file);

	if (p->last_file && line->line == p->last_line && !strcmp(file, p->last_file))
		return;
	pd_text_add(p->out, " // ");
	pd_annotate_put_name(p, file, strlen(file));
	pd_text_printf(p->out, ":%" PRIu32, line->line);
	p->last_file = file;
	p->last_line = line->line;
}

static struct place *place_of(struct place *places, size_t *count, const char *file, uint32_t line)
{
	for (size_t i = 0; i < *count; i++)
		if (places[i].line == line && !strcmp(places[i].file, file))
			return &places[i];
	places[*count] = (struct place){ .file = file, .line = line };
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
		struct place *place;

		if (!sums || !line->file || !line->line || !pd_annotate_is_hot(p, sums))
			continue;
		place = place_of(places, count, shown_file(p, line->file), line->line);
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
	return result ? result : (a->line > b->line) - (a->line < b->line);
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
		pd_annotate_put_name(p, places[i].file, strlen(places[i].file));
		pd_text_printf(p->out, ":%" PRIu32 "\n", places[i].line);
	}
	pd_free(places);
	pd_free(shares);
	return true;
}
