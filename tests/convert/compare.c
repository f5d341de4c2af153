/* SPDX-License-Identifier: MIT */
/*
 * Whether two perf.data hold the same, whatever their layouts: form, byte order, compression, places of features. Held
 * against each other are the events, the features and every record: type, misc, event, time, each field, and what
 * follows it. What only says how a file is laid out is left out.
 *
 * usage: compare [--pipe] [--sorted] [--spread] A B
 * --pipe: B was a pipe once, which cannot hold some features.
 * --sorted: B has the records of A in the order of time (both in the same byte order).
 * --spread: B has them in any order, and no rounds: it was a directory with a file for each CPU.
 * Prints what differs, then one line. Exit status: 0 equal; 1 not; 3 a file was refused.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/record.h"
#include "stream/read/stream.h"
#include "table/deep.h"

enum {
	MOST_TOLD = 20,
	MOST_IN_PIPE = 65519 // bytes of a feature
};

struct side {
	const char *path;
	struct pd_file *file;
	struct pd_stream *stream;
	const struct pd_record *record; // NULL at the end
	bool pipe;
	bool in_head;              // only records about the file so far
	struct pd_text *build_ids; // entries as text, in order
	uint64_t *aux;             // places of AUXTRACE records
	size_t aux_count, aux_capacity;
	uint64_t records;
	bool counts; // there are records of perf stat
};

struct compare {
	struct side a, b;
	bool was_pipe;
	bool sorted;
	bool spread;
	bool joined; // one is a directory of several files, the other is not
	struct pd_text *where;
	uint64_t differences;
};

static void differ(struct compare *c, const char *what, const char *detail)
{
	if (c->differences++ < MOST_TOLD)
		printf("%s and %s: %s%s%s\n", c->a.path, c->b.path, what, detail && *detail ? ": " : "",
		       detail ? detail : "");
}

static const char *text_of(struct pd_text *text)
{
	pd_text_char(text, '\0');
	return text->data ? text->data : "";
}

static void refuse(const char *message)
{
	fprintf(stderr, "%s\n", message);
	exit(3);
}

// ---- build ids, which are records in pipes ----

static void add_build_id(struct side *side, const struct pd_header_build_id *id, unsigned misc)
{
	pd_text_printf(side->build_ids, "%" PRId32 " %u %u ", id->pid, misc, id->size);
	for (size_t i = 0; i < id->build_id.size; i++)
		pd_text_printf(side->build_ids, "%02x", id->build_id.data[i]);
	pd_text_printf(side->build_ids, " %s\n", id->filename.data);
}

static void add_feature_build_ids(struct side *side)
{
	struct pd_arena arena = { 0 };
	struct pd_bytes left;
	struct pd_error error;

	if (pd_file_feature_bytes(side->file, PD_FEATURE_BUILD_ID, &left, &error) < 0)
		return;
	while (left.size >= PD_RECORD_HEADER_SIZE) {
		struct pd_record_head head = pd_record_head(left.data, pd_file_is_swapped(side->file));
		struct pd_bytes bytes = { left.data, (size_t)head.size };
		struct pd_cursor cursor = pd_cursor(left.data, (size_t)head.size, pd_file_is_big(side->file));
		struct pd_scope scope = { .arena = &arena };
		void *decoded;

		if (head.size < PD_RECORD_HEADER_SIZE || head.size > left.size)
			break;
		scope.words[PD_WORD_MISC] = head.misc;
		scope.words[PD_WORD_QUIRKS] = pd_file_quirks(side->file);
		decoded = pd_record_take(&pd_layouts[PD_LAYOUT_header_build_id], PD_GROUP_TOOL, bytes, &scope, &cursor);
		if (decoded)
			add_build_id(side, decoded, head.misc);
		left.data += head.size;
		left.size -= (size_t)head.size;
	}
	pd_arena_fini(&arena);
}

// ---- records ----

static bool is_about_file(const struct pd_record *record)
{
	switch (record->type) {
	case PD_RECORD_HEADER_ATTR:
	case PD_RECORD_HEADER_FEATURE:
	case PD_RECORD_OLD_FEATURE:
		return true;
	default:
		return false;
	}
}

static void note_aux(struct side *side, const struct pd_record *record)
{
	if (record->type != PD_RECORD_AUXTRACE || record->part)
		return;
	if (!PD_GROW(side->aux, side->aux_capacity, side->aux_count + 1))
		refuse("no memory");
	side->aux[side->aux_count++] = record->offset;
}

// Records that say how the file is laid out.
static bool is_layout(struct compare *c, struct side *side, const struct pd_record *record)
{
	const struct pd_header_build_id *id;

	if (record->type == PD_RECORD_COMPRESSED || record->type == PD_RECORD_COMPRESSED2)
		return true;
	// they are learned as a feature, and pieces are followed by their whole
	if (record->type == PD_RECORD_HEADER_TRACING_DATA || record->type == PD_RECORD_SIMPLEPERF_SPLIT ||
	    record->type == PD_RECORD_SIMPLEPERF_SPLIT_END)
		return true;
	if (record->type == PD_RECORD_FINISHED_ROUND && (c->sorted || c->spread || c->joined))
		return true;
	if (side->pipe && is_about_file(record))
		return true;
	if (side->pipe && side->in_head && record->type == PD_RECORD_HEADER_EVENT_TYPE)
		return true;
	if (side->pipe && side->in_head && record->type == PD_RECORD_HEADER_BUILD_ID) {
		id = pd_as_header_build_id(record);
		if (id)
			add_build_id(side, id, record->misc);
		return true;
	}
	if (side->pipe && side->in_head && record->type == PD_RECORD_EVENT_UPDATE) {
		const struct pd_event_update *update = pd_as_event_update(record);

		// a name, which is that of the event
		if (update && update->type == PD_EVENT_UPDATE_NAME)
			return true;
	}
	side->in_head = false;
	return false;
}

static void next(struct compare *c, struct side *side)
{
	struct pd_error error;
	enum pd_status status;

	do {
		status = pd_stream_next(side->stream, &side->record, &error);
		if (status < 0)
			refuse(error.message);
		if (status == PD_END) {
			side->record = NULL;
			return;
		}
		note_aux(side, side->record);
	} while (is_layout(c, side, side->record));
	side->records++;
	side->counts |= side->record->type >= PD_RECORD_STAT_CONFIG && side->record->type <= PD_RECORD_STAT_ROUND;
}

static const char *place_of(struct compare *c, const char *name)
{
	static char text[200];

	snprintf(text, sizeof(text), "record %" PRIu64 ": %s", c->a.records, name ? name : "of unknown type");
	return text;
}

static void compare_bodies(struct compare *c, const struct pd_record *a, const struct pd_record *b)
{
	const char *name = pd_record_name(a->type);
	const void *left, *right;
	bool has_left = pd_record_decode(a, &left, NULL) == PD_OK;
	bool has_right = pd_record_decode(b, &right, NULL) == PD_OK;

	if (has_left != has_right) {
		differ(c, place_of(c, name), "only one can be taken apart");
		return;
	}
	if (!has_left) {
		if (a->bytes.size != b->bytes.size ||
		    memcmp(a->bytes.data + 8, b->bytes.data + 8, a->bytes.size - 8) != 0)
			differ(c, place_of(c, name), "other bytes");
		return;
	}
	pd_text_clear(c->where);
	if (!deep_equal(pd_record_layout(a->type), left, right, c->where))
		differ(c, place_of(c, name), text_of(c->where));
}

static void compare_tails(struct compare *c)
{
	const char *name = pd_record_name(c->a.record->type);
	struct pd_bytes left, right;
	struct pd_error error;

	if (!c->a.record->tail_size && !c->b.record->tail_size)
		return;
	if (pd_stream_tail(c->a.stream, &left, &error) < 0 || pd_stream_tail(c->b.stream, &right, &error) < 0)
		refuse(error.message);
	if (left.size != right.size || (left.size && memcmp(left.data, right.data, left.size) != 0))
		differ(c, place_of(c, name), "other bytes behind it");
}

static void compare_records(struct compare *c)
{
	const struct pd_record *a = c->a.record, *b = c->b.record;

	if (a->type != b->type || a->misc != b->misc)
		differ(c, place_of(c, pd_record_name(a->type)), "another type or misc");
	else if (a->time_ns != b->time_ns)
		differ(c, place_of(c, pd_record_name(a->type)), "another time");
	else if (!a->event != !b->event || (a->event && a->event->index != b->event->index))
		differ(c, place_of(c, pd_record_name(a->type)), "another event");
	else
		compare_bodies(c, a, b);
	compare_tails(c);
}

static void compare_in_order(struct compare *c)
{
	for (;;) {
		next(c, &c->a);
		next(c, &c->b);
		if (!c->a.record || !c->b.record)
			break;
		compare_records(c);
	}
	// data of no size would be taken for those of a recorder that was killed
	if (c->b.record && c->b.record->type == PD_RECORD_FINISHED_ROUND && !c->a.records)
		next(c, &c->b);
	if (c->a.record || c->b.record)
		differ(c, "one has more records", NULL);
}

// ---- sorted ----

struct hashes {
	uint64_t *items;
	size_t count, capacity;
};

static int compare_words(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static uint64_t hash_of(const struct pd_record *record)
{
	uint64_t hash = UINT64_C(1469598103934665603);

	for (size_t i = 0; i < record->bytes.size; i++)
		hash = (hash ^ record->bytes.data[i]) * UINT64_C(1099511628211);
	return hash ^ record->bytes.size;
}

static void read_hashes(struct compare *c, struct side *side, struct hashes *hashes, bool in_order)
{
	uint64_t last_ns = 0;

	for (next(c, side); side->record; next(c, side)) {
		const struct pd_record *record = side->record;

		if (!PD_GROW(hashes->items, hashes->capacity, hashes->count + 1))
			refuse("no memory");
		hashes->items[hashes->count++] = hash_of(record);
		if (!in_order || record->time_ns == PD_NO_TIME)
			continue;
		if (record->time_ns < last_ns)
			differ(c, "not in the order of time", NULL);
		last_ns = record->time_ns;
	}
	if (hashes->count)
		qsort(hashes->items, hashes->count, sizeof(hashes->items[0]), compare_words);
}

static void compare_sorted(struct compare *c)
{
	struct hashes a = { 0 }, b = { 0 };

	read_hashes(c, &c->a, &a, false);
	read_hashes(c, &c->b, &b, c->sorted);
	if (a.count != b.count || (a.count && memcmp(a.items, b.items, a.count * sizeof(a.items[0])) != 0))
		differ(c, "other records", NULL);
	pd_free(a.items);
	pd_free(b.items);
}

// ---- events ----

static struct pd_bytes without_zeros(struct pd_bytes bytes)
{
	while (bytes.size && !bytes.data[bytes.size - 1])
		bytes.size--;
	return bytes;
}

// All but the size, which is that of the largest one in a file.
static void compare_attrs(struct compare *c, const struct pd_attr *a, const struct pd_attr *b)
{
	struct pd_bytes left = without_zeros(a->rest), right = without_zeros(b->rest);
	size_t count;
	const struct pd_field *fields = pd_layouts[PD_LAYOUT_attr].fields(&count);

	for (size_t i = 0; i < count; i++) {
		size_t at = fields[i].offset;

		if (at != offsetof(struct pd_attr, size) &&
		    memcmp((const char *)a + at, (const char *)b + at, fields[i].size) != 0)
			differ(c, "attr", fields[i].name);
	}
	if (left.size != right.size || (left.size && memcmp(left.data, right.data, left.size) != 0))
		differ(c, "attr", "bytes behind what is known");
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static void compare_events(struct compare *c)
{
	size_t count = pd_file_event_count(c->a.file);

	if (count != pd_file_event_count(c->b.file)) {
		differ(c, "another number of events", NULL);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const struct pd_event *a = pd_file_event(c->a.file, i), *b = pd_file_event(c->b.file, i);

		compare_attrs(c, a->attr, b->attr);
		if (a->ids.count != b->ids.count ||
		    (a->ids.count && memcmp(a->ids.items, b->ids.items, a->ids.count * 8) != 0))
			differ(c, "event", "ids");
		if (strcmp(a->name, b->name) != 0)
			differ(c, "names of an event", b->name);
		if (!same_text(a->unit, b->unit) || memcmp(&a->scale, &b->scale, sizeof(a->scale)) != 0)
			differ(c, "event", "unit or scale");
	}
}

// ---- features ----

// What says how the file is laid out, or is compared elsewhere.
static bool is_left_out(unsigned feature)
{
	return feature == PD_FEATURE_COMPRESSED || feature == PD_FEATURE_DIR_FORMAT || feature == PD_FEATURE_AUXTRACE ||
	       feature == PD_FEATURE_BUILD_ID || feature == 0;
}

static bool get_bytes(struct side *side, unsigned feature, struct pd_bytes *bytes_out)
{
	static const uint8_t zeros[4];
	struct pd_error error;

	if (pd_file_feature_bytes(side->file, feature, bytes_out, &error) < 0)
		return false;
	// an empty name of the host only marks the byte order
	return feature != PD_FEATURE_HOSTNAME || bytes_out->size != 4 || memcmp(bytes_out->data, zeros, 4) != 0;
}

static void compare_feature(struct compare *c, unsigned feature)
{
	const struct pd_layout *layout = pd_feature_layout(feature);
	const char *name = pd_feature_name(feature);
	const void *left = pd_file_feature(c->a.file, feature), *right = pd_file_feature(c->b.file, feature);
	bool same_order = pd_file_is_big(c->a.file) == pd_file_is_big(c->b.file);
	struct pd_bytes a, b;
	bool has_a = get_bytes(&c->a, feature, &a), has_b = get_bytes(&c->b, feature, &b);

	if (!has_a && !has_b)
		return;
	// what a pipe of counts lacks and perf wants in a file
	if (feature == PD_FEATURE_STAT && !has_a && c->a.pipe && c->a.counts)
		return;
	if (has_a != has_b) {
		if (!has_a || !c->was_pipe || (a.size && a.size <= MOST_IN_PIPE))
			differ(c, "only one has the feature", name);
		return;
	}
	// its arrays have the order of the file
	if (feature == PD_FEATURE_BPF_PROG_INFO && !same_order)
		return;
	if (feature == PD_FEATURE_TRACING_DATA || !left || !right) {
		a = without_zeros(a);
		b = without_zeros(b);
		if (a.size != b.size || (a.size && memcmp(a.data, b.data, a.size) != 0))
			differ(c, "bytes of a feature", name);
		return;
	}
	pd_text_clear(c->where);
	if (!deep_equal(layout, left, right, c->where))
		differ(c, "feature", text_of(c->where));
}

// The index of B, if it has one, names just its AUXTRACE records.
static void check_aux_index(struct compare *c)
{
	const struct pd_auxtrace_index *index = pd_file_auxtrace(c->b.file);

	if (!index || c->b.pipe)
		return;
	if (index->entries.count != c->b.aux_count) {
		differ(c, "the index of AUX data", "another number of records");
		return;
	}
	for (size_t i = 0; i < c->b.aux_count; i++)
		if (PD_ITEM(pd_auxtrace_index_entry, index->entries, i)->file_offset != c->b.aux[i])
			differ(c, "the index of AUX data", "another place");
}

static void compare_features(struct compare *c)
{
	for (unsigned i = 0; i < PD_FEATURE_LIMIT; i++)
		if (!is_left_out(i))
			compare_feature(c, i);
	add_feature_build_ids(&c->a);
	add_feature_build_ids(&c->b);
	if (strcmp(text_of(c->a.build_ids), text_of(c->b.build_ids)) != 0)
		differ(c, "other build ids", NULL);
	check_aux_index(c);
}

// ---- all ----

static void open_side(struct side *side, const char *path)
{
	struct pd_error error;

	side->path = path;
	side->build_ids = pd_text_new();
	side->in_head = true;
	if (!side->build_ids || pd_file_open(path, NULL, &side->file, &error) < 0 ||
	    pd_stream_open(side->file, NULL, &side->stream, &error) < 0)
		refuse(side->build_ids ? error.message : "no memory");
	side->pipe = pd_file_header(side->file)->mode == PD_MODE_PIPE;
}

static void close_side(struct side *side)
{
	pd_stream_close(side->stream);
	pd_file_close(side->file);
	pd_text_free(side->build_ids);
	pd_free(side->aux);
}

int main(int argc, char **argv)
{
	struct compare c = { 0 };

	for (; argc > 1 && argv[1][0] == '-'; argv++, argc--) {
		c.sorted |= strcmp(argv[1], "--sorted") == 0;
		c.spread |= strcmp(argv[1], "--spread") == 0;
		c.was_pipe |= strcmp(argv[1], "--pipe") == 0;
	}
	if (argc != 3) {
		fprintf(stderr, "usage: compare [--pipe] [--sorted] [--spread] A B\n");
		return 2;
	}
	c.where = pd_text_new();
	if (!c.where)
		refuse("no memory");
	open_side(&c.a, argv[1]);
	open_side(&c.b, argv[2]);
	c.joined = pd_file_part_count(c.a.file) != pd_file_part_count(c.b.file);
	if (c.sorted || c.spread)
		compare_sorted(&c);
	else
		compare_in_order(&c);
	compare_events(&c);
	compare_features(&c);
	printf("%" PRIu64 " records, %zu events: ", c.a.records, pd_file_event_count(c.a.file));
	printf(c.differences ? "%" PRIu64 " differ\n" : "equal\n", c.differences);
	close_side(&c.a);
	close_side(&c.b);
	pd_text_free(c.where);
	return c.differences != 0;
}
