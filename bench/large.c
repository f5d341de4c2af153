/* SPDX-License-Identifier: MIT */
/*
 * Makes a large perf.data from a small one: the samples and rounds of the recording again and again, each
 * time later, until the size is reached. Everything that is said once (mappings, names, maps of ids) stays
 * at the start, the ends of threads go to the end; header features are copied, the time of the last sample
 * corrected. perf reads the result like any other recording.
 *
 * The source must be a little-endian, finished, uncompressed file whose events all have the same
 * sample_type with TIME.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	EXIT_RECORD = 4,
	SAMPLE = 9,
	KERNEL_LAST = 63,
	ROUND = 68,
	FIRST_REFUSED = 80,
	FINISHED_INIT = 82
};
enum {
	HAS_IP = 1,
	HAS_TID = 2,
	HAS_TIME = 4,
	HAS_ID = 64,
	HAS_CPU = 128,
	HAS_STREAM_ID = 512
};
#define HAS_IDENTIFIER 65536u
#define SAMPLE_ID_ALL (UINT64_C(1) << 18)
#define FEATURE_SAMPLE_TIME 21
#define GAP_NS 1000000u // between two repetitions

struct section {
	uint64_t offset, size;
};

struct header {
	uint64_t magic, size, attr_size;
	struct section attrs, data, event_types;
	uint64_t features[4];
};

struct head {
	uint32_t type;
	uint16_t misc;
	uint16_t size;
};

// Bytes that grow, and the places of the times among them.
struct run {
	uint8_t *bytes;
	size_t size;
	size_t *times;
	size_t time_count;
};

struct source {
	uint8_t *bytes;
	size_t size;
	struct header header;
	uint64_t sample_type;
	bool trailers;
	struct run once, again, ends;
	uint64_t first_ns, last_ns;
};

static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("large: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

static uint64_t u64_at(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static void add_to_u64(uint8_t *bytes, uint64_t delta)
{
	uint64_t value = u64_at(bytes) + delta;

	memcpy(bytes, &value, sizeof(value));
}

static void read_all(struct source *source, const char *path)
{
	struct stat st;
	uint8_t *bytes;
	FILE *file = fopen(path, "rb");

	if (!file || fstat(fileno(file), &st))
		die("%s: cannot be opened", path);
	source->size = (size_t)st.st_size;
	bytes = malloc(source->size + 1);
	if (!bytes || fread(bytes, 1, source->size, file) != source->size)
		die("%s: cannot be read", path);
	fclose(file);
	source->bytes = bytes;
}

static bool inside(const struct source *source, const struct section *section)
{
	return section->offset <= source->size && section->size <= source->size - section->offset;
}

static void read_header(struct source *source)
{
	struct header *header = &source->header;
	const uint8_t *attr;
	uint64_t count;

	if (source->size < sizeof(*header))
		die("too short");
	memcpy(header, source->bytes, sizeof(*header));
	if (memcmp(source->bytes, "PERFILE2", 8) || header->size != sizeof(*header))
		die("not a little-endian perf.data in file mode");
	if (!inside(source, &header->attrs) || !inside(source, &header->data) || !header->data.size ||
	    header->attr_size < 80)
		die("not a finished recording");
	if (header->attrs.offset > header->data.offset)
		die("the events stand behind the data");
	count = header->attrs.size / header->attr_size;
	for (uint64_t i = 0; i < count; i++) {
		attr = source->bytes + header->attrs.offset + i * header->attr_size;
		if (i && u64_at(attr + 24) != source->sample_type)
			die("the events have different sample_types");
		source->sample_type = u64_at(attr + 24);
		source->trailers = u64_at(attr + 40) & SAMPLE_ID_ALL;
	}
	if (!count || !(source->sample_type & HAS_TIME))
		die("the samples have no times");
}

static size_t words(const struct source *source, uint64_t bits)
{
	return 8 * (size_t)__builtin_popcountll(source->sample_type & bits);
}

// Place of the time in a record; 0 if there is none.
static size_t time_place(const struct source *source, const struct head *head)
{
	size_t after = words(source, HAS_TIME | HAS_ID | HAS_STREAM_ID | HAS_CPU | HAS_IDENTIFIER);
	size_t place = 0;

	if (head->type == SAMPLE)
		place = sizeof(*head) + words(source, HAS_IDENTIFIER | HAS_IP | HAS_TID);
	else if (head->type <= KERNEL_LAST && source->trailers && after + sizeof(*head) <= head->size)
		place = head->size - after;
	return place + 8 <= head->size ? place : 0;
}

static void *grown(void *old, size_t used, size_t more, size_t unit)
{
	size_t want = used + more, room = 64;
	void *bytes;

	// Grows at powers of two, so nothing needs to be kept about the room.
	while (room < used)
		room *= 2;
	if (old && want <= room)
		return old;
	while (room < want)
		room *= 2;
	bytes = realloc(old, room * unit);
	if (!bytes)
		die("no memory");
	return bytes;
}

static void append(struct run *run, const uint8_t *record, size_t size, size_t time)
{
	run->bytes = grown(run->bytes, run->size, size, 1);
	memcpy(run->bytes + run->size, record, size);
	if (time) {
		run->times = grown(run->times, run->time_count, 1, sizeof(*run->times));
		run->times[run->time_count++] = run->size + time;
	}
	run->size += size;
}

static void sort_out(struct source *source)
{
	const struct section *data = &source->header.data;
	const uint8_t *bytes = source->bytes + data->offset;
	struct run *run;
	struct head head;
	size_t time;
	uint64_t ns;

	source->first_ns = UINT64_MAX;
	for (uint64_t at = 0; at < data->size; at += head.size) {
		if (data->size - at < sizeof(head))
			die("the data end inside a record");
		memcpy(&head, bytes + at, sizeof(head));
		if (head.size < sizeof(head) || head.size > data->size - at)
			die("record at %" PRIu64 " has a wrong size", data->offset + at);
		if (head.type == 71 || (head.type >= FIRST_REFUSED && head.type != FINISHED_INIT))
			die("records of type %" PRIu32 " cannot be repeated", head.type);
		time = time_place(source, &head);
		run = head.type == SAMPLE || head.type == ROUND ? &source->again :
		      head.type == EXIT_RECORD                  ? &source->ends :
								  &source->once;
		append(run, bytes + at, head.size, time);
		// An exit has its time in the body too.
		if (head.type == EXIT_RECORD && head.size >= 32) {
			run->times = grown(run->times, run->time_count, 1, sizeof(*run->times));
			run->times[run->time_count++] = run->size - head.size + 24;
		}
		ns = time ? u64_at(bytes + at + time) : 0;
		if (ns && ns < source->first_ns)
			source->first_ns = ns;
		if (ns > source->last_ns)
			source->last_ns = ns;
	}
	if (!source->again.time_count)
		die("there are no samples");
}

static void shift(struct run *run, uint64_t ns)
{
	for (size_t i = 0; i < run->time_count; i++)
		add_to_u64(run->bytes + run->times[i], ns);
}

static void put(FILE *out, const void *bytes, size_t size)
{
	if (size && fwrite(bytes, 1, size, out) != size)
		die("cannot be written");
}

// Feature table and features, whose places move with the end of the data.
static void put_features(const struct source *source, FILE *out, uint64_t data_size, uint64_t shift_ns)
{
	const struct section *data = &source->header.data;
	uint64_t table = data->offset + data->size, moved = data_size - data->size;
	uint8_t *rest = malloc(source->size - table + 1);
	unsigned entry = 0;

	if (!rest)
		die("no memory");
	memcpy(rest, source->bytes + table, source->size - table);
	for (unsigned bit = 0; bit < 256; bit++) {
		struct section section;

		if (!(source->header.features[bit / 64] >> bit % 64 & 1))
			continue;
		if (table + (entry + 1) * sizeof(section) > source->size)
			die("the feature table is cut off");
		memcpy(&section, source->bytes + table + entry * sizeof(section), sizeof(section));
		if (!inside(source, &section) || section.offset < table)
			die("feature %u is out of place", bit);
		if (bit == FEATURE_SAMPLE_TIME && section.size >= 16)
			add_to_u64(rest + (section.offset - table) + 8, shift_ns);
		add_to_u64(rest + entry * sizeof(section), moved);
		entry++;
	}
	put(out, rest, source->size - table);
	free(rest);
}

static void write_large(struct source *source, FILE *out, uint64_t size)
{
	static const struct head round = { .type = ROUND, .size = sizeof(round) };
	struct header header = source->header;
	uint64_t step = source->last_ns - source->first_ns + GAP_NS, times = 1;
	uint64_t fixed = header.data.offset + source->once.size + source->ends.size;
	size_t again = source->again.size + sizeof(round);

	if (size > fixed + again)
		times = (size - fixed) / again;
	header.data.size = source->once.size + source->ends.size + times * again;
	put(out, &header, sizeof(header));
	put(out, source->bytes + sizeof(header), header.data.offset - sizeof(header));
	put(out, source->once.bytes, source->once.size);
	for (uint64_t i = 0; i < times; i++) {
		if (i)
			shift(&source->again, step);
		put(out, source->again.bytes, source->again.size);
		// Nothing later is older than this repetition: perf may forget it.
		put(out, &round, sizeof(round));
	}
	// All samples have been forgotten by now, so the ends must be younger than any.
	shift(&source->ends, step * times);
	put(out, source->ends.bytes, source->ends.size);
	put_features(source, out, header.data.size, step * (times - 1));
	printf("%" PRIu64 " times %zu samples and rounds, %" PRIu64 " bytes of records\n", times,
	       source->again.time_count, header.data.size);
}

static void forget(struct source *source)
{
	struct run *runs[] = { &source->once, &source->again, &source->ends };

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		free(runs[i]->bytes);
		free(runs[i]->times);
	}
	free(source->bytes);
}

int main(int argc, char **argv)
{
	struct source source = { 0 };
	uint64_t size = 1000000000;
	FILE *out;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: large SMALL LARGE [BYTES]\n");
		return 2;
	}
	if (argc == 4)
		size = strtoull(argv[3], NULL, 0);
	read_all(&source, argv[1]);
	read_header(&source);
	sort_out(&source);
	out = fopen(argv[2], "wb");
	if (!out)
		die("%s: cannot be made", argv[2]);
	setvbuf(out, NULL, _IOFBF, 1 << 20);
	write_large(&source, out, size);
	if (fclose(out))
		die("%s: cannot be written", argv[2]);
	forget(&source);
	return 0;
}
