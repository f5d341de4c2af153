/* SPDX-License-Identifier: MIT */
/*
 * Holds pieces that were merged against the recording that they were cut from.
 *
 * usage: compare [--subset] ORIGINAL MERGED      the same samples, byte for byte, in the order of time; other records are
 *                                                the same (with --subset: none is there that ORIGINAL has not)
 *        compare --sum FILE... MERGED            as many samples of each event as in all FILEs
 *        compare --facts FILE                    prints: samples, bytes of them, first and last time
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfdata/perfdata.h>

struct mark {
	uint64_t a, b;
	uint64_t offset;
};

struct marks {
	struct mark *items;
	size_t count, capacity;
};

struct event_count {
	char name[128];
	uint64_t samples;
};

struct look {
	struct marks samples, others;
	uint64_t bytes, first_ns, last_ns, unsorted, late;
	uint64_t problems;
	struct event_count events[256];
	size_t event_count;
};

static void fail(const char *what, const char *detail)
{
	fprintf(stderr, "%s: %s\n", what, detail);
	exit(2);
}

static struct mark mark_of(const struct pd_record *record)
{
	struct mark mark = { 0x243f6a8885a308d3, 0x13198a2e03707344, record->offset };

	for (size_t i = 0; i < record->bytes.size; i++) {
		mark.a = (mark.a ^ record->bytes.data[i]) * 0x100000001b3;
		mark.b = (mark.b + record->bytes.data[i]) * 0x9e3779b97f4a7c15;
		mark.b ^= mark.b >> 31;
	}
	return mark;
}

static void add(struct marks *marks, struct mark mark)
{
	if (marks->count == marks->capacity) {
		marks->capacity = marks->capacity ? 2 * marks->capacity : 1024;
		marks->items = realloc(marks->items, marks->capacity * sizeof(mark));
		if (!marks->items)
			fail("memory", "none");
	}
	marks->items[marks->count++] = mark;
}

static int compare_marks(const void *a, const void *b)
{
	const struct mark *left = a, *right = b;

	if (left->a != right->a)
		return left->a < right->a ? -1 : 1;
	return left->b < right->b ? -1 : left->b > right->b;
}

/* What says how a file is laid out, and ids of events, of which a piece has its own only. */
static bool is_layout(const struct pd_record *record)
{
	switch (record->type) {
	case PD_RECORD_FINISHED_ROUND:
	case PD_RECORD_HEADER_ATTR:
	case PD_RECORD_HEADER_FEATURE:
	case PD_RECORD_HEADER_TRACING_DATA:
	case PD_RECORD_HEADER_EVENT_TYPE:
	case PD_RECORD_HEADER_BUILD_ID:
	case PD_RECORD_OLD_FEATURE:
	case PD_RECORD_COMPRESSED:
	case PD_RECORD_COMPRESSED2:
	case PD_RECORD_EVENT_UPDATE:
	case PD_RECORD_ID_INDEX:
		return true;
	default:
		return false;
	}
}

static void count_event(struct look *look, const struct pd_record *record)
{
	const char *name = record->event ? record->event->name : "none";
	size_t i = 0;

	while (i < look->event_count && strncmp(look->events[i].name, name, sizeof(look->events[i].name) - 1) != 0)
		i++;
	if (i == sizeof(look->events) / sizeof(look->events[0]))
		return;
	if (i == look->event_count)
		snprintf(look->events[look->event_count++].name, sizeof(look->events[i].name), "%s", name);
	look->events[i].samples++;
}

static void take(struct look *look, const struct pd_record *record)
{
	if (record->type != PD_RECORD_SAMPLE) {
		if (!is_layout(record))
			add(&look->others, mark_of(record));
		return;
	}
	add(&look->samples, mark_of(record));
	count_event(look, record);
	look->bytes += record->bytes.size;
	if (record->time_ns == PD_NO_TIME)
		return;
	if (look->last_ns > record->time_ns)
		look->unsorted++;
	if (!look->first_ns || record->time_ns < look->first_ns)
		look->first_ns = record->time_ns;
	if (record->time_ns > look->last_ns)
		look->last_ns = record->time_ns;
}

static bool count_problem(void *self, const struct pd_problem *problem)
{
	struct look *look = self;

	look->problems += problem->severity == PD_DAMAGE;
	look->late += !strcmp(problem->code, "late-records");
	return true;
}

static void look_at(const char *path, struct look *look)
{
	const struct pd_open_options options = { .size = sizeof(options), .problem = count_problem, .self = look };
	struct pd_file *file;
	struct pd_stream *stream = NULL;
	const struct pd_record *record;
	struct pd_error error;
	enum pd_status status;

	look->last_ns = 0;
	if (pd_file_open(path, &options, &file, &error) < 0 || pd_stream_open(file, NULL, &stream, &error) < 0)
		fail(path, error.message);
	while ((status = pd_stream_next(stream, &record, &error)) == PD_OK)
		take(look, record);
	if (status < 0)
		fail(path, error.message);
	pd_stream_close(stream);
	pd_file_close(file);
}

static void forget(struct look *look)
{
	free(look->samples.items);
	free(look->others.items);
}

static void sort(struct marks *marks)
{
	if (marks->count)
		qsort(marks->items, marks->count, sizeof(*marks->items), compare_marks);
}

/* Numbers of those that are in one only. */
static void differences(const struct marks *a, const struct marks *b, uint64_t *only_a, uint64_t *only_b,
			uint64_t *where)
{
	size_t i = 0, j = 0;

	*only_a = *only_b = 0;
	while (i < a->count || j < b->count) {
		int order = i == a->count ? 1 : j == b->count ? -1 : compare_marks(&a->items[i], &b->items[j]);

		if (order)
			*where = order < 0 ? a->items[i].offset : b->items[j].offset;
		*only_a += order < 0;
		*only_b += order > 0;
		i += order <= 0;
		j += order >= 0;
	}
}

static int compare(const char *original, const char *merged, bool subset)
{
	struct look a = { 0 }, b = { 0 };
	uint64_t lost, added, where = 0;
	int failures = 0;

	look_at(original, &a);
	look_at(merged, &b);
	sort(&a.samples);
	sort(&b.samples);
	sort(&a.others);
	sort(&b.others);
	differences(&a.samples, &b.samples, &lost, &added, &where);
	if (lost || added)
		failures += printf("%" PRIu64 " of %zu samples are lost, %" PRIu64 " are new, one at %#" PRIx64 "\n",
				   lost, a.samples.count, added, where);
	differences(&a.others, &b.others, &lost, &added, &where);
	if ((lost && !subset) || added)
		failures += printf("%" PRIu64 " of %zu other records are lost, %" PRIu64 " are new, one at %#" PRIx64
				   "\n",
				   lost, a.others.count, added, where);
	/* only the order of time that can be had: pipes and compressed records come once */
	if (b.unsorted && !a.late)
		failures += printf("%" PRIu64 " samples are not in the order of time\n", b.unsorted);
	if (b.problems > a.problems)
		failures += printf("%" PRIu64 " problems, %" PRIu64 " before\n", b.problems, a.problems);
	forget(&a);
	forget(&b);
	return failures != 0;
}

static const char *name_at(const struct look *look, size_t i)
{
	return look->events[i].name;
}

static uint64_t samples_of(const struct look *look, const char *name)
{
	for (size_t i = 0; i < look->event_count; i++)
		if (!strcmp(name_at(look, i), name))
			return look->events[i].samples;
	return 0;
}

static int sum(char **paths, int count)
{
	struct look before = { 0 }, after = { 0 };
	int failures = 0;

	for (int i = 0; i + 1 < count; i++)
		look_at(paths[i], &before);
	look_at(paths[count - 1], &after);
	for (size_t i = 0; i < before.event_count; i++)
		if (samples_of(&after, name_at(&before, i)) != before.events[i].samples)
			failures += printf("%s: %" PRIu64 " samples, %" PRIu64 " before\n", name_at(&before, i),
					   samples_of(&after, name_at(&before, i)), before.events[i].samples);
	if (after.samples.count != before.samples.count)
		failures += printf("%zu samples, %zu before\n", after.samples.count, before.samples.count);
	if (after.unsorted)
		failures += printf("%" PRIu64 " samples are not in the order of time\n", after.unsorted);
	if (after.problems > before.problems)
		failures += printf("%" PRIu64 " problems, %" PRIu64 " before\n", after.problems, before.problems);
	forget(&before);
	forget(&after);
	return failures != 0;
}

int main(int argc, char **argv)
{
	struct look look = { 0 };

	if (argc == 3 && !strcmp(argv[1], "--facts")) {
		look_at(argv[2], &look);
		printf("%zu %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", look.samples.count, look.bytes, look.first_ns,
		       look.last_ns);
		forget(&look);
		return 0;
	}
	if (argc > 3 && !strcmp(argv[1], "--sum"))
		return sum(argv + 2, argc - 2);
	if (argc == 4 && !strcmp(argv[1], "--subset"))
		return compare(argv[2], argv[3], true);
	if (argc == 3)
		return compare(argv[1], argv[2], false);
	fprintf(stderr, "usage: compare [--subset] ORIGINAL MERGED | --sum FILE... MERGED | --facts FILE\n");
	return 2;
}
