/* SPDX-License-Identifier: MIT */
/*
 * What a repair gets back of damaged files. Each file is cut at random places, left unfinished (data.size 0), and has 1 to
 * 64 bytes damaged at random places; each variant is repaired in memory, and the result is held against the undamaged file.
 *
 * A record is intact if none of its bytes is touched, those that follow it (AUX data) included. A compressed record is
 * intact if none of the COMPRESSED records from the begin of its frame to its own end is touched: without them nothing
 * can be inflated; a record in pieces if none of these is. Records that a file has elsewhere (events, features, build ids of a pipe) are not counted.
 *
 * Asked of each variant: are the intact records before the damage in the result, and those behind it; is each record
 * that the repair takes one of the undamaged file (at its place, with its size); has the result no damage. The undamaged
 * file is repaired too, which must leave nothing out and put nothing right.
 *
 * usage: proof [--variants N] [--seed N] [--verbose] [--save DIR] FILE...
 * Prints sums by where the damage was and the worst variant; with --verbose each variant that lost something. --save keeps
 * those. Exit status: 0 all is as promised, 1 not, 2 usage.
 */
#include <perfdata/check.h>
#include <perfdata/repair.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FEWEST_RECORDS = 3,
	MOST_DAMAGED = 64, // bytes
};

// Shares that are promised. Before a damage all records are found, but for those of recorders that write odd ones: of
// these the last one before a damage is not always told from a damaged one.
#define LEAST_BEFORE 0.999999
#define LEAST_AFTER 0.999

// Where the damage of a variant is.
enum region {
	NOTHING,
	CUT,
	UNFINISHED,
	HEADER,
	EVENTS,
	HEAD_OF_PIPE,
	DATA,
	COMPRESSED,
	FEATURES,
	REGION_COUNT
};
static const char *const region_names[] = {
	"nothing",        "cut",     "data.size 0",        "header",  "events and ids",
	"head of a pipe", "records", "compressed records", "features"
};

struct truth {
	uint64_t begin, end; // in the file; of the compressed record it was in
	uint64_t hash;
	uint32_t type;
	uint32_t frame, packed; // numbers of the frame and of the compressed record, from 1; 0: not compressed
	uint32_t size;
};

struct packed {
	uint64_t begin, end;
	uint32_t frame;
};

// Any record outside of compressed ones.
struct place {
	uint64_t begin, size;
};

struct original {
	const char *path;
	uint8_t *data;
	size_t size;
	struct truth *records;
	size_t count, capacity;
	struct packed *packed;
	size_t packed_count, packed_capacity;
	struct place *places;
	size_t place_count, place_capacity;
	struct pd_header header;
	uint64_t pieces;   // where the first piece of a record in pieces is, 0 if there is none
	uint64_t head_end; // of a pipe: where its first record that is about no file begins
	bool damaged;      // before anything was done
};

struct tally {
	uint64_t variants, refused, unsound, invented;
	uint64_t before, before_found, after, after_found;
};

struct proof {
	uint64_t seed;
	unsigned variants;
	bool verbose;
	const char *save;
	struct tally regions[REGION_COUNT];
	struct tally file;
	double worst;
	const char *worst_path;
	uint64_t worst_variant;
	uint64_t files;
};

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t hash_of(const uint8_t *data, size_t size, uint64_t hash)
{
	for (; size >= 8; data += 8, size -= 8) {
		uint64_t word;

		memcpy(&word, data, 8);
		hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
		hash ^= hash >> 32;
	}
	for (; size; size--)
		hash = (hash ^ *data++) * UINT64_C(0x100000001b3);
	return hash;
}

#define GROW(items, count, capacity)                                       \
	if ((count) == (capacity)) {                                       \
		(capacity) = (capacity) ? 2 * (capacity) : 1024;           \
		(items) = realloc((items), (capacity) * sizeof(*(items))); \
		if (!(items))                                              \
			die("memory");                                     \
	}

// ---- the undamaged file ----

static bool is_packed(uint32_t type)
{
	return type == PD_RECORD_COMPRESSED || type == PD_RECORD_COMPRESSED2;
}

// What an output has elsewhere, or writes itself.
static bool is_elsewhere(const struct pd_record *record)
{
	return record->type == PD_RECORD_HEADER_ATTR || record->type == PD_RECORD_HEADER_FEATURE ||
	       record->type == PD_RECORD_OLD_FEATURE || record->type == PD_RECORD_HEADER_TRACING_DATA ||
	       record->type == PD_RECORD_HEADER_BUILD_ID || record->type == PD_RECORD_EVENT_UPDATE ||
	       record->type == PD_RECORD_HEADER_EVENT_TYPE ||
	       (record->type > 65 && record->type < 64 + 40 && !pd_record_layout(record->type)) ||
	       pd_record_group(record->type) == PD_GROUP_UNKNOWN;
}

static bool is_piece(const struct pd_record *record)
{
	return record->type == PD_RECORD_SIMPLEPERF_SPLIT || record->type == PD_RECORD_SIMPLEPERF_SPLIT_END;
}

static uint64_t hash_record(struct pd_stream *stream, const struct pd_record *record)
{
	uint64_t hash = hash_of(record->bytes.data, record->bytes.size, 1);
	struct pd_bytes tail;

	if (record->tail_size && pd_stream_tail(stream, &tail, NULL) == PD_OK)
		hash = hash_of(tail.data, tail.size, hash);
	return hash;
}

static bool begins_frame(const struct pd_record *record)
{
	static const uint8_t magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	size_t skip = record->type == PD_RECORD_COMPRESSED2 ? 16 : 8;

	return record->bytes.size >= skip + 4 && !memcmp(record->bytes.data + skip, magic, 4);
}

static void note(struct original *o, struct pd_stream *stream, const struct pd_record *record, uint32_t *frame)
{
	struct truth *truth;

	if (!(record->flags & PD_RECORD_INFLATED)) {
		GROW(o->places, o->place_count, o->place_capacity);
		o->places[o->place_count++] = (struct place){ record->offset, record->bytes.size };
	}
	if (is_packed(record->type) && !(record->flags & PD_RECORD_INFLATED)) {
		*frame += begins_frame(record) || !*frame;
		GROW(o->packed, o->packed_count, o->packed_capacity);
		o->packed[o->packed_count++] =
			(struct packed){ record->offset, record->offset + record->bytes.size, *frame };
		return;
	}
	if (is_piece(record)) {
		o->pieces = o->pieces ? o->pieces : record->offset;
		return;
	}
	if (is_elsewhere(record))
		return;
	if (!o->head_end)
		o->head_end = record->offset;
	GROW(o->records, o->count, o->capacity);
	truth = &o->records[o->count++];
	*truth = (struct truth){ .begin = record->offset,
				 .type = record->type,
				 .size = (uint32_t)record->bytes.size,
				 .end = record->offset + record->bytes.size + record->tail_size };
	if (o->pieces) {
		truth->begin = o->pieces;
		o->pieces = 0;
	} else if (record->flags & PD_RECORD_INFLATED) {
		truth->frame = *frame;
		truth->packed = (uint32_t)o->packed_count;
		truth->end = o->packed_count ? o->packed[o->packed_count - 1].end : truth->begin;
	}
	truth->hash = hash_record(stream, record);
}

// False if there is nothing to damage here.
static bool read_original(struct original *o)
{
	const struct pd_open_options options = { .size = sizeof(options) };
	struct pd_check_result checked;
	const struct pd_record *record;
	struct pd_stream *stream;
	struct pd_file *file;
	uint32_t frame = 0;

	if (pd_file_open_memory(o->data, o->size, &options, &file, NULL) < 0)
		return false;
	if (pd_file_header(file)->compression || pd_check(file, &checked, NULL) < 0) {
		pd_file_close(file);
		return false;
	}
	o->damaged = pd_file_problem_count(file, PD_DAMAGE) > 0 || pd_file_header(file)->unfinished;
	if (pd_stream_open(file, NULL, &stream, NULL) < 0)
		die("stream");
	while (pd_stream_next(stream, &record, NULL) == PD_OK)
		note(o, stream, record, &frame);
	pd_stream_close(stream);
	o->header = *pd_file_header(file);
	pd_file_close(file);
	return o->count >= FEWEST_RECORDS;
}

// ---- a variant ----

struct variant {
	uint8_t *data;
	size_t size;
	uint64_t begin, end; // what was touched
	enum region region;
};

static enum region region_of(const struct original *o, uint64_t place)
{
	const struct pd_header *h = &o->header;

	if (h->mode == PD_MODE_PIPE) {
		if (place < 16)
			return HEADER;
		if (place < o->head_end)
			return HEAD_OF_PIPE;
	} else {
		if (place < h->size)
			return HEADER;
		if (place < h->data_offset || (place >= h->attrs_offset && place < h->attrs_offset + h->attrs_size))
			return EVENTS;
		if (place >= h->data_offset + h->data_size)
			return FEATURES;
	}
	for (size_t i = 0; i < o->packed_count; i++)
		if (place < o->packed[i].end && place >= o->packed[i].begin)
			return COMPRESSED;
	return DATA;
}

#define UNDAMAGED UINT64_MAX

static struct variant make_variant(const struct original *o, uint64_t kind, uint64_t *state)
{
	struct variant v = { .size = o->size, .end = o->size };

	v.data = malloc(o->size);
	if (!v.data)
		die("memory");
	memcpy(v.data, o->data, o->size);
	if (kind == UNDAMAGED) {
		v.begin = v.end;
	} else if (kind == 0 && o->header.mode == PD_MODE_FILE) {
		// as a recorder that was killed leaves it: no size, and nothing behind the records
		memset(v.data + 48, 0, 8);
		if (o->header.attrs_offset < o->header.data_offset)
			v.size = o->header.data_offset + o->header.data_size;
		// the corpus has files that were cut already
		v.size = v.size < o->size ? v.size : o->size;
		v.begin = v.size;
		v.region = UNFINISHED;
	} else if (kind % 2) {
		uint64_t least = o->header.mode == PD_MODE_PIPE ? 16 : o->header.data_offset;

		v.size = least + next_random(state) % (o->size - least);
		v.begin = v.size;
		v.region = CUT;
	} else {
		size_t bytes = 1 + next_random(state) % MOST_DAMAGED;

		bytes = bytes < o->size ? bytes : o->size;
		v.begin = next_random(state) % (o->size - bytes + 1);
		v.end = v.begin + bytes;
		for (uint64_t i = v.begin; i < v.end; i++)
			v.data[i] = (uint8_t)next_random(state);
		v.region = region_of(o, v.begin);
	}
	return v;
}

static bool is_touched(const struct original *o, const struct variant *v, const struct truth *truth)
{
	if (!truth->packed)
		return truth->begin < v->end && v->begin < truth->end;
	for (size_t i = truth->packed; i-- && o->packed[i].frame == truth->frame;)
		if (o->packed[i].begin < v->end && v->begin < o->packed[i].end)
			return true;
	return false;
}

// ---- what the repair made of it ----

struct problems {
	char first[200];
};

static bool keep_first(void *self, const struct pd_problem *problem)
{
	struct problems *problems = self;

	if (problem->severity == PD_DAMAGE && !problems->first[0])
		snprintf(problems->first, sizeof(problems->first), "%s: %s", problem->code, problem->message);
	return true;
}

static bool note_recovered(void *self, const struct pd_problem *problem)
{
	*(bool *)self |= !strcmp(problem->code, "mended");
	return true;
}

static enum pd_status repair(const struct variant *v, int fd, struct problems *problems)
{
	bool was_recovered = false;
	const struct pd_open_options options = {
		.size = sizeof(options), .problem = note_recovered, .self = &was_recovered, .recover = true
	};
	struct pd_writer_options wanted = { .size = sizeof(wanted), .packing = PD_PACK_SAME, .input_count = 1 };
	static const struct pd_losses none;
	struct pd_repair_result result = { 0 };
	struct pd_writer *writer;
	struct pd_file *file;
	enum pd_status status = pd_file_open_memory(v->data, v->size, &options, &file, NULL);

	if (status < 0)
		return status;
	wanted.inputs = &file;
	if (pd_writer_open_fd(fd, "memory", &wanted, &writer, NULL) < 0)
		die("writer");
	status = pd_repair(file, writer, NULL, &result, NULL);
	if (status < 0)
		pd_writer_abort(writer);
	else
		status = pd_writer_finish(writer, NULL);
	if (v->region == NOTHING && (memcmp(&result.losses, &none, sizeof(none)) || was_recovered))
		snprintf(problems->first, sizeof(problems->first), "%s",
			 was_recovered ? "something was put right" : "something was left out");
	pd_file_close(file);
	return status;
}

// Which intact records of the original are in the result: both have the same order.
static void find_records(const struct original *o, const bool *touched, const uint8_t *data, size_t size, bool *found,
			 struct problems *problems)
{
	const struct pd_open_options options = { .size = sizeof(options), .problem = keep_first, .self = problems };
	struct pd_check_result checked;
	const struct pd_record *record;
	struct pd_stream *stream;
	struct pd_file *file;
	size_t at = 0;

	if (pd_file_open_memory(data, size, &options, &file, NULL) < 0 || pd_check(file, &checked, NULL) < 0) {
		snprintf(problems->first, sizeof(problems->first), "the result cannot be read");
		return;
	}
	if (pd_stream_open(file, NULL, &stream, NULL) < 0)
		die("stream");
	while (pd_stream_next(stream, &record, NULL) == PD_OK) {
		uint64_t hash;
		size_t i = at;

		if (is_elsewhere(record) || is_piece(record) ||
		    (is_packed(record->type) && !(record->flags & PD_RECORD_INFLATED)))
			continue;
		hash = hash_record(stream, record);
		while (i < o->count && (touched[i] || o->records[i].hash != hash))
			i++;
		if (i == o->count)
			continue; // one that was touched
		found[i] = true;
		at = i + 1;
	}
	pd_stream_close(stream);
	pd_file_close(file);
}

static int compare_begin(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	return left->begin < right->begin ? -1 : left->begin > right->begin;
}

// Records that the repair takes though the undamaged file has none of that size there.
static uint64_t count_invented(const struct original *o, const struct variant *v)
{
	const struct pd_open_options options = { .size = sizeof(options), .recover = true };
	const struct pd_stream_options careful = { .size = sizeof(careful), .careful = true };
	const struct pd_record *record;
	struct pd_stream *stream;
	struct pd_file *file;
	uint64_t count = 0;

	if (pd_file_open_memory(v->data, v->size, &options, &file, NULL) < 0)
		return 0;
	if (pd_stream_open(file, &careful, &stream, NULL) < 0)
		die("stream");
	while (pd_stream_next(stream, &record, NULL) == PD_OK) {
		const struct place key = { .begin = record->offset };
		const struct place *place;

		if (record->flags & PD_RECORD_INFLATED)
			continue;
		place = bsearch(&key, o->places, o->place_count, sizeof(key), compare_begin);
		count += !place || place->size != record->bytes.size;
	}
	pd_stream_close(stream);
	pd_file_close(file);
	return count;
}

static void add(struct tally *to, const struct tally *from)
{
	to->variants += from->variants;
	to->refused += from->refused;
	to->unsound += from->unsound;
	to->invented += from->invented;
	to->before += from->before;
	to->before_found += from->before_found;
	to->after += from->after;
	to->after_found += from->after_found;
}

static void save(const struct proof *proof, const struct original *o, const struct variant *v, uint64_t number)
{
	const char *name = strrchr(o->path, '/');
	char path[4096];
	FILE *out;

	if (!proof->save)
		return;
	snprintf(path, sizeof(path), "%s/%s-%" PRIu64, proof->save, name ? name + 1 : o->path, number);
	out = fopen(path, "wb");
	if (!out || fwrite(v->data, 1, v->size, out) != v->size || fclose(out))
		die(path);
}

static void validate(struct proof *proof, const struct original *o, const struct variant *v, uint64_t number)
{
	bool *found = calloc(o->count, sizeof(*found)), *touched = calloc(o->count, sizeof(*touched));
	int fd = memfd_create("repair", MFD_CLOEXEC);
	struct tally tally = { .variants = 1 };
	struct problems problems = { "" };
	enum pd_status status;
	struct stat stat_of;
	double share;

	if (!found || !touched || fd < 0)
		die("memory");
	for (size_t i = 0; i < o->count; i++)
		touched[i] = is_touched(o, v, &o->records[i]);
	status = repair(v, fd, &problems);
	tally.refused = status < 0;
	if (status >= 0 && fstat(fd, &stat_of) == 0 && stat_of.st_size) {
		void *data = mmap(NULL, (size_t)stat_of.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (data == MAP_FAILED)
			die("mmap");
		find_records(o, touched, data, (size_t)stat_of.st_size, found, &problems);
		munmap(data, (size_t)stat_of.st_size);
	}
	close(fd);
	tally.unsound = problems.first[0] != '\0';
	tally.invented = o->damaged ? 0 : count_invented(o, v);
	for (size_t i = 0; i < o->count && !o->damaged; i++) {
		if (touched[i])
			continue;
		if (o->records[i].begin < v->begin) {
			tally.before++;
			tally.before_found += found[i];
		} else {
			tally.after++;
			tally.after_found += found[i];
		}
	}
	share = tally.before + tally.after ?
			(double)(tally.before_found + tally.after_found) / (double)(tally.before + tally.after) :
			1;
	if (share < proof->worst) {
		proof->worst = share;
		proof->worst_path = o->path;
		proof->worst_variant = number;
	}
	if (tally.unsound || tally.invented || tally.before_found < tally.before ||
	    tally.after_found * 100 < tally.after * 99) {
		save(proof, o, v, number);
		if (proof->verbose)
			printf("%s: variant %" PRIu64 ": %s at %" PRIu64 " + %" PRIu64 ": before %" PRIu64 "/%" PRIu64
			       ", after %" PRIu64 "/%" PRIu64 "%s, invented %" PRIu64 "%s%s\n",
			       o->path, number, region_names[v->region], v->begin, v->end - v->begin,
			       tally.before_found, tally.before, tally.after_found, tally.after,
			       tally.refused ? ", refused" : "", tally.invented, tally.unsound ? ", result: " : "",
			       problems.first);
	}
	add(&proof->regions[v->region], &tally);
	add(&proof->file, &tally);
	free(found);
	free(touched);
}

// ---- all ----

static void print_tally(const char *name, const struct tally *t)
{
	printf("%-20s %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %12" PRIu64 " %10.5f %12" PRIu64 " %10.5f\n",
	       name, t->variants, t->refused, t->unsound, t->invented, t->before,
	       t->before ? 100.0 * (double)t->before_found / (double)t->before : 100, t->after,
	       t->after ? 100.0 * (double)t->after_found / (double)t->after : 100);
}

static bool read_file(const char *path, struct original *o)
{
	FILE *in = fopen(path, "rb");
	struct stat stat_of;

	if (!in || fstat(fileno(in), &stat_of) < 0)
		die(path);
	o->size = (size_t)stat_of.st_size;
	o->data = malloc(o->size + 1);
	if (!o->data || fread(o->data, 1, o->size, in) != o->size)
		die(path);
	fclose(in);
	o->path = path;
	return o->size > 16;
}

static void prove(struct proof *proof, const char *path)
{
	struct original o = { 0 };
	uint64_t state;

	if (read_file(path, &o) && read_original(&o)) {
		const char *name = strrchr(path, '/');

		// the same variants wherever the file is and whatever stands before it
		state = hash_of((const uint8_t *)o.data, o.size < 4096 ? o.size : 4096, proof->seed);
		proof->files++;
		memset(&proof->file, 0, sizeof(proof->file));
		for (uint64_t i = o.damaged ? 0 : UNDAMAGED; i != 2 * (uint64_t)proof->variants + 1; i++) {
			struct variant v = make_variant(&o, i, &state);

			validate(proof, &o, &v, i);
			free(v.data);
		}
		if (proof->verbose)
			print_tally(name ? name + 1 : path, &proof->file);
	}
	free(o.records);
	free(o.packed);
	free(o.places);
	free(o.data);
}

int main(int argc, char **argv)
{
	struct proof proof = { .seed = 1, .variants = 200, .worst = 2 };
	struct tally all = { 0 };
	int i = 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--verbose"))
			proof.verbose = true;
		else if (i + 1 < argc && !strcmp(argv[i], "--variants"))
			proof.variants = (unsigned)strtoul(argv[++i], NULL, 0);
		else if (i + 1 < argc && !strcmp(argv[i], "--seed"))
			proof.seed = strtoull(argv[++i], NULL, 0);
		else if (i + 1 < argc && !strcmp(argv[i], "--save"))
			proof.save = argv[++i];
		else
			return 2;
	}
	for (; i < argc; i++)
		prove(&proof, argv[i]);
	printf("%-20s %8s %8s %8s %8s %12s %10s %12s %10s\n", "damage", "variants", "refused", "unsound", "invented",
	       "before", "% found", "after", "% found");
	for (unsigned r = 0; r < REGION_COUNT; r++) {
		print_tally(region_names[r], &proof.regions[r]);
		add(&all, &proof.regions[r]);
	}
	print_tally("all", &all);
	printf("%" PRIu64 " files; worst: %.4f of the intact records in variant %" PRIu64 " of %s\n", proof.files,
	       proof.worst, proof.worst_variant, proof.worst_path ? proof.worst_path : "none");
	return all.unsound || all.invented || (double)all.before_found < (double)all.before * LEAST_BEFORE ||
	       (double)all.after_found < (double)all.after * LEAST_AFTER;
}
