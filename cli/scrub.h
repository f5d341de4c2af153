/* SPDX-License-Identifier: MIT */
/*
 * The inside of `perfdata scrub`: values that say who, where and what are replaced by others that a key makes of them, so
 * that equal ones stay equal and nobody without the key can try names.
 *
 *   scrub.def           what is done with each thing that the format has
 *   scrub_walk.c        records and features, taken apart by the tables
 *   scrub_names.c       texts;  scrub_words.c: words that everybody may know
 *   scrub_numbers.c     processes, CPUs, times, inodes, build ids
 *   scrub_addresses.c   addresses, by a plan of what was mapped where
 *   scrub_features.c    events and features on their way to the writer
 *   scrub_verify.c      the search for what should be gone
 */
#ifndef CLI_SCRUB_H
#define CLI_SCRUB_H

#include "front/cli.h"
#include "hmac.h"

#include <perfdata/writer.h>

enum scrub_level {
	LEVEL_NAMES,
	LEVEL_ADDRESSES,
	LEVEL_ALL
};

enum scrub_class {
	CLASS_NONE,
#define CLASS(NAME, text, names, addresses, all) CLASS_##NAME,
#include "scrub.def"
	CLASS_COUNT
};

enum scrub_action {
	ACTION_KEEP,
	ACTION_REPLACE,
	ACTION_MOVE,
	ACTION_ZERO,
	ACTION_DROP
};

struct scrub_class_line {
	const char *name; /* "comm" */
	const char *text;
	uint8_t actions[3]; /* enum scrub_action, by level */
};
extern const struct scrub_class_line scrub_classes[CLASS_COUNT];

enum scrub_fate {
	FATE_NONE,
	FATE_KEEP,
	FATE_DROP,
	FATE_EXCEPT_ALL,
	FATE_WITH_AUX,
	FATE_ASKED,
	FATE_PACKED
};
/* FATE_DROP for what the tables do not know. */
enum scrub_fate scrub_record_fate(uint32_t type);
enum scrub_fate scrub_feature_fate(unsigned feature);

/* ---- memory ---- */

/* Memory that is given back all at once. */
struct room {
	struct room_piece *pieces;
	size_t used;  /* of the first piece */
	size_t total; /* of all pieces */
};
/* Zeroed and aligned for anything, or NULL. */
void *room_take(struct room *room, size_t size);
/* Keeps one piece for what comes next. */
void room_reset(struct room *room);
void room_fini(struct room *room);

/* ---- what is remembered: all of it can be made again, so it is dropped when it gets large ---- */

struct number_memo {
	uint64_t *keys, *values;
	size_t used, capacity; /* a power of 2 */
};

struct text_memo {
	struct text_entry *entries;
	size_t used, capacity;
	struct room room;
};

/* ---- the plan of addresses ---- */

enum scrub_space {
	SPACE_USER,
	SPACE_KERNEL,
	SPACE_GUEST,
	SPACE_COUNT,
	SPACE_ANY = SPACE_COUNT
};

struct range {
	uint64_t start, end; /* end belongs to it */
	uint64_t delta;
};

struct space {
	struct range *ranges; /* once planned: sorted, apart from each other */
	size_t count, capacity;
	size_t merge_at; /* number of ranges at which they are merged */
	size_t last;     /* where the last address was found */
};

/* ---- what is counted ---- */

struct scrub_counts {
	uint64_t values[CLASS_COUNT];   /* met, by class */
	uint64_t distinct[CLASS_COUNT]; /* texts, as far as they are remembered */
	uint64_t kept[CLASS_COUNT];     /* texts of these that everybody may know, or that were asked for */
	uint64_t samples, records;      /* written; records are the others */
	uint64_t dropped_samples;
	uint64_t dropped_known, dropped_unknown, dropped_damaged;
	uint64_t dropped_types[128]; /* by number, the last is for all others */
	uint64_t dropped_features[PD_FEATURE_LIMIT];
	uint64_t aux_bytes;
	uint64_t unplaced; /* mappings too large to be moved with what is in them */
	uint64_t memory;
};

struct keep_pattern {
	enum scrub_class class; /* CLASS_NONE: any text */
	const char *pattern;
};

/* Called for each distinct text, with what takes its place. */
typedef void scrub_text_fn(void *self, enum scrub_class class, const char *text, size_t length, const char *now,
			   size_t now_length);

struct scrub {
	enum scrub_level level;
	bool with[CLASS_COUNT]; /* CLASS_RAW, CLASS_REGS, CLASS_STACK, CLASS_AUX: told to be kept */
	const struct keep_pattern *keep;
	size_t keep_count;
	bool big_endian; /* the output */
	bool failed;     /* no memory */
	bool unsound;    /* an event makes no sense, and so does the file */
	struct hmac key;
	scrub_text_fn *told; /* or NULL */
	void *told_self;
	struct scrub_counts counts;
	struct room room;         /* of one record */
	struct room feature_room; /* of one feature or event */
	struct pd_text *text;     /* a text that is being made */
	struct text_memo texts;
	struct number_memo memos[CLASS_COUNT];
	struct space spaces[SPACE_COUNT];
	uint64_t first_ns; /* the oldest time, which becomes 1 */
	uint32_t *cpus;    /* the number of each CPU */
	size_t cpu_count;
	/* of the record that is worked on */
	uint16_t misc;
	enum scrub_space space;  /* where its code is */
	enum scrub_class string; /* of the feature that is a text */
	const char *named;       /* the name in an EVENT_UPDATE that is on its way to scrub_changes */
	struct pd_file *file;
};

/* key: at least one byte. False if there is no memory. */
bool scrub_init(struct scrub *scrub, const void *key, size_t key_size);
void scrub_fini(struct scrub *scrub);

static inline enum scrub_action scrub_action(const struct scrub *scrub, enum scrub_class class)
{
	return scrub->with[class] ? ACTION_KEEP : (enum scrub_action)scrub_classes[class].actions[scrub->level];
}

/* A number that the key makes of a value; the class parts the uses of a key. */
uint64_t scrub_number_of(const struct scrub *scrub, enum scrub_class class, uint64_t value);
uint64_t scrub_number_of_text(const struct scrub *scrub, enum scrub_class class, const void *text, size_t size);

/* ---- scrub_walk.c ---- */

/* A changed copy of a decoded record or feature, valid until room_reset(&scrub->room). NULL if there is no memory. */
void *scrub_record(struct scrub *scrub, uint32_t type, uint16_t misc, const void *decoded);
void *scrub_feature(struct scrub *scrub, unsigned feature, const void *decoded);
void scrub_attr(struct scrub *scrub, struct pd_attr *attr);
/* Members that cannot be changed one by one. layout is what the table calls it. */
void scrub_special_attr(struct scrub *scrub, struct pd_attr *attr);
void scrub_special_mmap(struct scrub *scrub, struct pd_mmap *mmap);
void scrub_special_mmap2(struct scrub *scrub, struct pd_mmap2 *mmap2);
void scrub_special_header_build_id(struct scrub *scrub, struct pd_header_build_id *id);
void scrub_special_cpu_map_data(struct scrub *scrub, struct pd_cpu_map_data *map);
void scrub_special_simpleperf_pair(struct scrub *scrub, struct pd_simpleperf_pair *pair);

/* ---- scrub_names.c ---- */

/* What takes the place of a text, ended by a NUL; valid until scrub_trim. "" if there is no memory. */
const char *scrub_name(struct scrub *scrub, enum scrub_class class, const char *text, size_t length,
		       size_t *length_out);
/* Between records: forgets texts if they are many. */
void scrub_trim(struct scrub *scrub);
/* Class of a word in --keep; CLASS_COUNT if it is none. */
enum scrub_class scrub_class_by_name(const char *name, size_t length);

/* ---- scrub_words.c ---- */

bool is_word_of_events(const char *word, size_t length);
bool is_word_of_arguments(const char *word, size_t length);
bool is_word_of_units(const char *word, size_t length);
bool is_tracepoint_system(const char *word, size_t length);
bool is_pmu(const char *word, size_t length);
bool is_architecture(const char *word, size_t length);
bool is_marker(const char *text, size_t length);
bool is_meta_key(const char *word, size_t length);
/* Texts that stand in results without being taken from the original; NULL past the end. */
const char *public_text(size_t index);

/* ---- scrub_numbers.c ---- */

uint64_t memo_get(struct scrub *scrub, enum scrub_class class, uint64_t key,
		  uint64_t (*make)(struct scrub *, uint64_t));
void memo_fini(struct number_memo *memo);
uint64_t scrub_task(struct scrub *scrub, uint64_t task, unsigned bytes);
uint64_t scrub_cpu(struct scrub *scrub, uint64_t cpu);
uint64_t scrub_time(struct scrub *scrub, uint64_t ns);
uint64_t scrub_file(struct scrub *scrub, uint64_t number, unsigned bytes);
uint64_t scrub_id(struct scrub *scrub, uint64_t id);
/* Changes size bytes in place. */
void scrub_build_id(struct scrub *scrub, uint8_t *id, size_t size);
/* Gives each of so many CPUs its number. False if there is no memory. */
bool scrub_plan_cpus(struct scrub *scrub, size_t count);

/* ---- scrub_addresses.c ---- */

enum scrub_space scrub_space_of(uint16_t misc);
/* Notes what a record maps. False if there is no memory. */
bool scrub_note_mapping(struct scrub *scrub, const struct pd_record *record);
/* After the last one: decides where everything goes. False if there is no memory. */
bool scrub_plan_addresses(struct scrub *scrub);
uint64_t scrub_address(struct scrub *scrub, enum scrub_space space, uint64_t address, bool data);
void scrub_chain(struct scrub *scrub, uint64_t *items, size_t count);

/* ---- scrub_features.c ---- */

/* What the writer asks; self is the struct scrub, whose file must be set. */
extern const struct pd_changes scrub_changes;
/* Goes through the texts of a feature, also of one that is dropped. */
void scrub_collect_feature(struct scrub *scrub, unsigned feature);

/* ---- scrub_verify.c ---- */

struct verify_options {
	bool json;
	uint64_t least; /* bytes of a text that is searched for */
};
/* Searches the result for what the original says. scrub says what may be there. Returns an exit code. */
int scrub_verify(struct scrub *scrub, const char *original, const char *result, const struct verify_options *options,
		 struct output *out);

#endif
