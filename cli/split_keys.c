/* SPDX-License-Identifier: MIT */
/* Which sample goes into which piece of a recording, and what pieces are called. */
#include "split.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool room_for(void *items, size_t *room, size_t count, size_t item_size)
{
	void **at = items;
	size_t wanted = *room ? *room : 16;
	void *grown;

	if (count <= *room)
		return true;
	while (wanted < count)
		wanted *= 2;
	grown = realloc(*at, wanted * item_size);
	if (!grown)
		return false;
	*at = grown;
	*room = wanted;
	return true;
}

enum pd_status out_of_memory(struct pd_error *error)
{
	*error = (struct pd_error){ .status = PD_ERROR_MEMORY, .offset = PD_NO_OFFSET, .message = "out of memory" };
	return PD_ERROR_MEMORY;
}

enum {
	NAME_BYTES = 96,
	MOST_PIECES = 4096 /* the input is read once for each 64 of them */
};

/* ---- --by ---- */

struct unit {
	const char *name;
	double size;
};

/* A number with a unit. The first unit is what a bare number has. */
static bool take_amount(const char *text, const struct unit *units, double most, uint64_t *amount_out)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || !(number > 0))
		return false;
	for (const struct unit *unit = units; unit->name; unit++) {
		if (strcmp(end, unit->name) != 0 && !(unit == units && !*end))
			continue;
		if (number * unit->size < 1 || number * unit->size > most)
			return false;
		*amount_out = (uint64_t)(number * unit->size + 0.5);
		return true;
	}
	return false;
}

bool split_take(struct split *split, const char *by)
{
	static const char *const words[] = { "event", "pid", "comm", "cpu", "cgroup" };
	static const struct unit times[] = { { "s", 1e9 },  { "ms", 1e6 },   { "us", 1e3 }, { "ns", 1 },
					     { "m", 60e9 }, { "h", 3600e9 }, { 0 } };
	static const struct unit sizes[] = { { "", 1 },           { "K", 1024 }, { "M", 1048576 },
					     { "G", 1073741824 }, { "k", 1024 }, { 0 } };

	if (!by) {
		complain("nothing to split by; use --by event, pid, comm, cpu, cgroup, time=DURATION or size=BYTES");
		return false;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(by, words[i])) {
			split->by = (enum split_by)i;
			return true;
		}
	}
	split->by = BY_TIME;
	if (!strncmp(by, "time=", 5) && take_amount(by + 5, times, 9e18, &split->amount))
		return true;
	split->by = BY_SIZE;
	if (!strncmp(by, "size=", 5) && take_amount(by + 5, sizes, 9e18, &split->amount))
		return true;
	complain(
		"option --by: '%s' is not event, pid, comm, cpu, cgroup, time=DURATION (like 10s) or size=BYTES (like 64M)",
		by);
	return false;
}

/* ---- keys ---- */

static bool key_of_cgroup(const struct pd_record *record, uint64_t *key_out, bool *missing_out)
{
	const struct pd_sample *sample;

	*missing_out = record->event && !(record->event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_CGROUP));
	sample = *missing_out ? NULL : pd_as_sample(record);
	*key_out = sample ? sample->cgroup : KEY_UNKNOWN;
	return sample || *missing_out;
}

static uint64_t key_of_comm(const struct split *split, const struct pd_record *record, const struct pd_brief *brief)
{
	struct pd_view view;

	pd_world_view(split->world, brief->pid, brief->tid, pd_record_moment(record), &view);
	/* equal names are one pointer */
	return view.comm ? (uint64_t)(uintptr_t)view.comm : KEY_UNKNOWN;
}

static uint64_t key_of_size(struct split *split, const struct pd_record *record)
{
	uint64_t room = split->amount - split->common_bytes;

	if (split->piece_bytes && split->piece_bytes + record->bytes.size > room) {
		split->piece_number++;
		split->piece_bytes = 0;
	}
	split->piece_bytes += record->bytes.size;
	return split->piece_number;
}

static uint64_t key_of_time(const struct split *split, const struct pd_record *record)
{
	if (record->time_ns == PD_NO_TIME || record->time_ns < split->window.first_ns)
		return 0;
	return (record->time_ns - split->window.first_ns) / split->amount;
}

bool split_key(struct split *split, const struct pd_record *record, uint64_t *key_out, bool *missing_out)
{
	struct pd_brief brief;

	*missing_out = false;
	if (split->by == BY_SIZE || split->by == BY_TIME) {
		*key_out = split->by == BY_SIZE ? key_of_size(split, record) : key_of_time(split, record);
		return true;
	}
	if (split->by == BY_EVENT) {
		*key_out = record->event ? record->event->index : 0;
		return record->event != NULL;
	}
	if (split->by == BY_CGROUP)
		return key_of_cgroup(record, key_out, missing_out);
	if (!pd_record_brief(record, &brief))
		return false;
	*missing_out = record->event &&
		       !(record->event->attr->sample_type &
			 (split->by == BY_CPU ? PD_MASK(PD_SAMPLE_TYPE_CPU) : PD_MASK(PD_SAMPLE_TYPE_TID)));
	if (*missing_out)
		*key_out = KEY_UNKNOWN;
	else if (split->by == BY_COMM)
		*key_out = key_of_comm(split, record, &brief);
	else
		*key_out = split->by == BY_PID ? brief.pid : brief.cpu;
	return true;
}

const char *split_missing(const struct split *split)
{
	switch (split->by) {
	case BY_CPU:
		return "samples have no CPU (use perf record -a, or --sample-cpu)";
	case BY_CGROUP:
		return "samples have no cgroup (use perf record --all-cgroups)";
	case BY_TIME:
		return "samples have no time (use perf record --timestamp)";
	default:
		return "samples have no PID";
	}
}

/* ---- pieces ---- */

static struct key_slot *find_slot(const struct split *split, uint64_t key)
{
	uint64_t hash = (key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(hash >> 32) & (split->slot_count - 1);

	while (split->slots[at].index_plus_1 && split->slots[at].key != key)
		at = (at + 1) & (split->slot_count - 1);
	return &split->slots[at];
}

static bool grow_slots(struct split *split)
{
	struct key_slot *old = split->slots;

	if (split->slot_count > 2 * split->piece_count)
		return true;
	split->slot_count = split->slot_count ? split->slot_count * 2 : 256;
	split->slots = calloc(split->slot_count, sizeof(*split->slots));
	free(old);
	if (!split->slots)
		return false;
	for (size_t i = 0; i < split->piece_count; i++)
		*find_slot(split, split->pieces[i].key) = (struct key_slot){ split->pieces[i].key, i + 1 };
	return true;
}

struct piece *split_find(const struct split *split, uint64_t key)
{
	const struct key_slot *slot = split->slot_count ? find_slot(split, key) : NULL;

	return slot && slot->index_plus_1 ? &split->pieces[slot->index_plus_1 - 1] : NULL;
}

struct piece *split_add(struct split *split, uint64_t key)
{
	struct piece *piece = split_find(split, key);

	if (piece)
		return piece;
	if (!grow_slots(split) ||
	    !room_for(&split->pieces, &split->piece_room, split->piece_count + 1, sizeof(*split->pieces)))
		return NULL;
	piece = &split->pieces[split->piece_count++];
	*piece = (struct piece){ .key = key };
	*find_slot(split, key) = (struct key_slot){ key, split->piece_count };
	return piece;
}

/* ---- names ---- */

/* Nothing that a shell, a terminal or a file system takes for something else. */
static void write_name(char *name, const char *text)
{
	size_t length = 0;

	for (; *text && length < NAME_BYTES - 1; text++) {
		unsigned char c = (unsigned char)*text;
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
			     c == '.' || c == '+' || c == '=' || c == ':' || c == ',' || c == '@';

		if ((c == '.' || c == '-') && !length)
			plain = false;
		name[length++] = plain ? (char)c : '_';
	}
	if (!length)
		name[length++] = '_';
	name[length] = 0;
}

static void name_cgroup(const struct split *split, uint64_t id, char *name)
{
	const char *path = pd_world_cgroup(split->world, id);
	char number[32];

	snprintf(number, sizeof(number), "cgroup-%" PRIu64, id);
	if (path && path[0] == '/' && path[1])
		path++;
	else if (path && !strcmp(path, "/"))
		path = "root";
	write_name(name, path && *path ? path : number);
}

static void name_piece(const struct split *split, const struct piece *piece, char *name)
{
	if (piece->key == KEY_UNKNOWN) {
		write_name(name, "unknown");
		return;
	}
	switch (split->by) {
	case BY_EVENT:
		write_name(name, pd_file_event(split->file, (size_t)piece->key)->name);
		break;
	case BY_COMM:
		write_name(name, (const char *)(uintptr_t)piece->key);
		break;
	case BY_CGROUP:
		name_cgroup(split, piece->key, name);
		break;
	case BY_PID:
	case BY_CPU:
		snprintf(name, NAME_BYTES, "%" PRId32, (int32_t)piece->key);
		break;
	default:
		snprintf(name, NAME_BYTES, "%04" PRIu64, piece->key);
		break;
	}
}

static char *write_path(const char *output, const char *name, const char *behind)
{
	const char *mark = strstr(output, "%s");
	size_t front = mark ? (size_t)(mark - output) : strlen(output);
	size_t room = strlen(output) + NAME_BYTES + 48;
	char *path = malloc(room);

	if (path)
		snprintf(path, room, "%.*s%s%s%s%s", (int)front, output,
			 mark || (front && output[front - 1] == '/') ? "" : "/", name, behind,
			 mark ? mark + 2 : ".data");
	return path;
}

/* Paths that are taken. */
struct paths {
	const char **slots;
	size_t count;
};

/* False if the path is taken already. */
static bool take_path(struct paths *paths, const char *path)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	size_t at;

	for (const char *c = path; *c; c++)
		hash = (hash ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
	for (at = (size_t)(hash >> 20) & (paths->count - 1); paths->slots[at]; at = (at + 1) & (paths->count - 1))
		if (!strcmp(paths->slots[at], path))
			return false;
	paths->slots[at] = path;
	return true;
}

/* Different keys may have equal names: the number of the piece tells them apart. */
static bool give_path(struct split *split, struct paths *paths, size_t index, const char *output)
{
	struct piece *piece = &split->pieces[index];
	char name[NAME_BYTES], behind[48] = "";

	name_piece(split, piece, name);
	for (unsigned again = 0;; again++) {
		piece->path = write_path(output, name, behind);
		if (!piece->path)
			return false;
		if (take_path(paths, piece->path))
			return true;
		free(piece->path);
		piece->path = NULL;
		snprintf(behind, sizeof(behind), again ? "-%zu-%u" : "-%zu", index + 1, again);
	}
}

static int compare_keys(const void *a, const void *b)
{
	const struct piece *left = a, *right = b;

	return left->key < right->key ? -1 : left->key > right->key;
}

static int compare_comms(const void *a, const void *b)
{
	const struct piece *left = a, *right = b;

	if (left->key == KEY_UNKNOWN || right->key == KEY_UNKNOWN)
		return compare_keys(a, b);
	return strcmp((const char *)(uintptr_t)left->key, (const char *)(uintptr_t)right->key);
}

/* Keys of threads are pointers, which say nothing about the order. */
static void sort_pieces(struct split *split)
{
	qsort(split->pieces, split->piece_count, sizeof(*split->pieces),
	      split->by == BY_COMM ? compare_comms : compare_keys);
	memset(split->slots, 0, split->slot_count * sizeof(*split->slots));
	for (size_t i = 0; i < split->piece_count; i++)
		*find_slot(split, split->pieces[i].key) = (struct key_slot){ split->pieces[i].key, i + 1 };
}

int split_name(struct split *split, const char *output)
{
	struct paths paths = { .count = 1024 };
	bool done;

	if (split->piece_count > MOST_PIECES) {
		complain("%zu files would be written, the limit is %d", split->piece_count, MOST_PIECES);
		return CODE_USAGE;
	}
	sort_pieces(split);
	while (paths.count < 2 * split->piece_count)
		paths.count *= 2;
	paths.slots = calloc(paths.count, sizeof(*paths.slots));
	done = paths.slots != NULL;
	for (size_t i = 0; i < split->piece_count && done; i++)
		done = give_path(split, &paths, i, output);
	free(paths.slots);
	if (!done)
		complain("out of memory");
	return done ? CODE_FINE : CODE_UNREADABLE;
}

/* ---- pairs ---- */

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *left = a, *right = b;

	if (left->first != right->first)
		return left->first < right->first ? -1 : 1;
	return left->second < right->second ? -1 : left->second > right->second;
}

void pairs_sort(struct pairs *pairs)
{
	size_t kept = 0;

	if (pairs->count)
		qsort(pairs->items, pairs->count, sizeof(*pairs->items), compare_pairs);
	for (size_t i = 0; i < pairs->count; i++)
		if (!kept || compare_pairs(&pairs->items[kept - 1], &pairs->items[i]) != 0)
			pairs->items[kept++] = pairs->items[i];
	pairs->count = pairs->sorted = kept;
}

bool pairs_add(struct pairs *pairs, struct pair pair)
{
	if (pairs->count && !compare_pairs(&pairs->items[pairs->count - 1], &pair))
		return true;
	/* repeated ones take no room for long */
	if (pairs->count == pairs->room && pairs->count > 2 * pairs->sorted + 4096)
		pairs_sort(pairs);
	if (!room_for(&pairs->items, &pairs->room, pairs->count + 1, sizeof(pair)))
		return false;
	pairs->items[pairs->count++] = pair;
	return true;
}

const struct pair *pairs_find(const struct pairs *pairs, uint64_t first, size_t *count_out)
{
	size_t from = 0, to = pairs->count, end;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (pairs->items[middle].first < first)
			from = middle + 1;
		else
			to = middle;
	}
	for (end = from; end < pairs->count && pairs->items[end].first == first;)
		end++;
	*count_out = end - from;
	return end > from ? pairs->items + from : NULL;
}

void split_fini(struct split *split)
{
	for (size_t i = 0; i < split->piece_count; i++)
		free(split->pieces[i].path);
	free(split->pieces);
	free(split->slots);
	free(split->tasks.items);
	free(split->parents.items);
	free(split->referenced);
	pd_world_free(split->world);
}
