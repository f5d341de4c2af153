/* SPDX-License-Identifier: MIT */
/*
 * The inside of a scrub. scrub.def says what is done with each thing that the format has. By file:
 *
 *   scrub.c       the passes over the records
 *   fields.c      records and features, decoded by the tables
 *   names.c       strings; known.c: those that were met; words.c: words that everybody may know; simpleperf.c: its pairs
 *   numbers.c     processes, CPUs, times, inodes, build ids
 *   addresses.c   addresses, by a plan of what was mapped where
 *   features.c    events and features on their way to the writer; tracing.c: tracing data, made anew
 *   options.c     what the caller wants
 *   summary.c     what was done
 *   search.c      the search for what should be gone; found.c: what it found, as text
 */
#ifndef PD_SCRUB_SCRUB_H
#define PD_SCRUB_SCRUB_H

#include <perfdata/scrub.h>

#include "base/error.h"
#include "base/lookup/u64_map.h"
#include "base/memory.h"
#include "base/sha256.h"

enum pd_value_class {
	PD_CLASS_NONE,
#define CLASS(NAME, text, names, addresses, all) PD_CLASS_##NAME,
#include "edit/scrub/scrub.def"
	PD_CLASS_COUNT
};

struct pd_scrub_class_line {
	const char *name; /* "comm" */
	const char *text;
	uint8_t actions[3]; /* enum pd_scrub_action, by level */
};
extern const struct pd_scrub_class_line pd_scrub_classes[PD_CLASS_COUNT];

enum pd_scrub_fate {
	PD_FATE_NONE,
	PD_FATE_KEEP,
	PD_FATE_DROP,
	PD_FATE_EXCEPT_ALL,
	PD_FATE_WITH_AUX,
	PD_FATE_ASKED,
	PD_FATE_PACKED
};
/* PD_FATE_DROP for what the tables do not know. */
enum pd_scrub_fate pd_scrub_record_fate(uint32_t type);
enum pd_scrub_fate pd_scrub_feature_fate(unsigned feature);

/* ---- names that are known: they can be made again, so they are dropped when they get large ---- */

struct pd_known_names {
	struct pd_known_name *items;
	size_t count, capacity;
	struct pd_index index;
	struct pd_arena strings;
};

/* ---- the plan of addresses ---- */

enum pd_scrub_space {
	PD_SPACE_USER,
	PD_SPACE_KERNEL,
	PD_SPACE_GUEST,
	PD_SPACE_COUNT,
	PD_SPACE_ANY = PD_SPACE_COUNT
};

struct pd_address_range {
	uint64_t start, end; /* end belongs to it */
	uint64_t delta;
};

struct pd_address_space {
	struct pd_address_range *ranges; /* once planned: sorted, apart from each other */
	size_t count, capacity;
	size_t merge_at; /* number of ranges at which they are merged */
	size_t last;     /* where the last address was found */
};

/* ---- what is counted ---- */

struct pd_scrub_counts {
	uint64_t values[PD_CLASS_COUNT];   /* met, by class */
	uint64_t distinct[PD_CLASS_COUNT]; /* texts, as far as they are remembered */
	uint64_t kept[PD_CLASS_COUNT];     /* texts of these that everybody may know, or that were asked for */
	uint64_t dropped_types[PD_SCRUB_TYPES];
	uint64_t dropped_features[PD_FEATURE_LIMIT]; /* bytes + 1 */
};

struct pd_keep_pattern {
	enum pd_value_class class; /* PD_CLASS_NONE: any text */
	const char *pattern;
};

/* Called for each distinct text, with what takes its place. */
typedef void pd_scrub_text_fn(void *self, enum pd_value_class class, const char *text, size_t length, const char *now,
			      size_t now_length);

struct pd_scrub {
	struct pd_scrub_options options;
	struct pd_writer *writer; /* from pd_scrub_write on */
	struct pd_scrub_result result;
	enum pd_scrub_level level;
	bool with[PD_CLASS_COUNT]; /* PD_CLASS_RAW, PD_CLASS_REGS, PD_CLASS_STACK, PD_CLASS_AUX: requested to be kept */
	struct pd_keep_pattern *keep;
	size_t keep_count;
	bool big_endian; /* the output */
	bool failed;     /* no memory */
	bool unsound;    /* an event makes no sense, and so does the file */
	struct pd_hmac key;
	uint64_t seed;              /* of hash tables */
	pd_scrub_text_fn *name_met; /* or NULL */
	void *name_self;
	struct pd_scrub_counts counts;
	struct pd_arena arena;         /* of one record */
	struct pd_arena feature_arena; /* of one feature or event */
	struct pd_text *text;          /* a text that is being made */
	struct pd_known_names names;
	struct pd_u64_map numbers[PD_CLASS_COUNT];
	struct pd_address_space spaces[PD_SPACE_COUNT];
	uint64_t first_ns; /* the oldest time, which becomes 1 */
	uint32_t *cpus;    /* the number of each CPU */
	size_t cpu_count;
	size_t cpu_limit; /* above the largest number that the file says */
	/* of the record that is worked on */
	uint16_t misc;
	enum pd_scrub_space space;  /* where its code is */
	enum pd_value_class string; /* of the feature that is a text */
	const char *named;          /* the name in an EVENT_UPDATE that is on its way to pd_scrub_changes */
	struct pd_file *file;
};

/* Takes the options. Errors: PD_ERROR_MEMORY, PD_ERROR_ARGUMENT. */
enum pd_status pd_scrub_init(struct pd_scrub *scrub, const struct pd_scrub_options *options, struct pd_error *error);
void pd_scrub_fini(struct pd_scrub *scrub);

static inline enum pd_scrub_action pd_scrub_action(const struct pd_scrub *scrub, enum pd_value_class class)
{
	return scrub->with[class] ? PD_SCRUB_KEEP : (enum pd_scrub_action)pd_scrub_classes[class].actions[scrub->level];
}

/* A number that the key makes of a value; the class parts the uses of a key. */
uint64_t pd_scrub_number_of(const struct pd_scrub *scrub, enum pd_value_class class, uint64_t value);
uint64_t pd_scrub_number_of_text(const struct pd_scrub *scrub, enum pd_value_class class, const void *text,
				 size_t size);

/* ---- fields.c ---- */

/* A changed copy of a decoded record or feature, valid until pd_arena_reset(&scrub->arena). NULL if there is no memory. */
void *pd_scrub_record(struct pd_scrub *scrub, uint32_t type, uint16_t misc, const void *decoded);
void *pd_scrub_feature(struct pd_scrub *scrub, unsigned feature, const void *decoded);
void pd_scrub_attr(struct pd_scrub *scrub, struct pd_attr *attr);
/* Members that cannot be changed one by one. layout is what the table calls it. */
void pd_scrub_special_attr(struct pd_scrub *scrub, struct pd_attr *attr);
void pd_scrub_special_mmap(struct pd_scrub *scrub, struct pd_mmap *mmap);
void pd_scrub_special_mmap2(struct pd_scrub *scrub, struct pd_mmap2 *mmap2);
void pd_scrub_special_header_build_id(struct pd_scrub *scrub, struct pd_header_build_id *id);
void pd_scrub_special_cpu_map_data(struct pd_scrub *scrub, struct pd_cpu_map_data *map);
void pd_scrub_special_simpleperf_pair(struct pd_scrub *scrub, struct pd_simpleperf_pair *pair);

/* ---- names.c ---- */

/* Adds what takes the place of a text to scrub->text. */
void pd_scrub_put_name(struct pd_scrub *scrub, enum pd_value_class class, const char *text, size_t length);

/* ---- known.c ---- */

/* What takes the place of a text, ended by a NUL; valid until pd_scrub_trim. "" if there is no memory. */
const char *pd_scrub_name(struct pd_scrub *scrub, enum pd_value_class class, const char *text, size_t length,
			  size_t *length_out);
/* Between records: forgets texts if they are many. */
void pd_scrub_trim(struct pd_scrub *scrub);
/* ---- words.c ---- */

bool pd_scrub_is_word_of_events(const char *word, size_t length);
bool pd_scrub_is_word_of_arguments(const char *word, size_t length);
bool pd_scrub_is_word_of_units(const char *word, size_t length);
bool pd_scrub_is_tracepoint_system(const char *word, size_t length);
bool pd_scrub_is_pmu(const char *word, size_t length);
bool pd_scrub_is_architecture(const char *word, size_t length);
bool pd_scrub_is_marker(const char *text, size_t length);
bool pd_scrub_is_meta_key(const char *word, size_t length);
/* Texts that stand in results without being taken from the original; NULL past the end. */
const char *pd_scrub_public_text(size_t index);

/* ---- numbers.c ---- */

/* The number that takes the place of a key: a known one, or what make makes of it. */
uint64_t pd_scrub_known_number(struct pd_scrub *scrub, enum pd_value_class class, uint64_t key,
			       uint64_t (*make)(struct pd_scrub *, uint64_t));
uint64_t pd_scrub_task(struct pd_scrub *scrub, uint64_t task, unsigned bytes);
uint64_t pd_scrub_cpu(struct pd_scrub *scrub, uint64_t cpu);
uint64_t pd_scrub_time(struct pd_scrub *scrub, uint64_t ns);
uint64_t pd_scrub_file(struct pd_scrub *scrub, uint64_t number, unsigned bytes);
uint64_t pd_scrub_id(struct pd_scrub *scrub, uint64_t id);
/* Changes size bytes in place. */
void pd_scrub_build_id(struct pd_scrub *scrub, uint8_t *id, size_t size);
/* Gives each of so many CPUs its number. False if there is no memory. */
bool pd_scrub_plan_cpus(struct pd_scrub *scrub, size_t count);

/* ---- addresses.c ---- */

enum pd_scrub_space pd_scrub_space_of(uint16_t misc);
/* Notes what a record maps. False if there is no memory. */
bool pd_scrub_note_mapping(struct pd_scrub *scrub, const struct pd_record *record);
/* After the last one: decides where everything goes. False if there is no memory. */
bool pd_scrub_plan_addresses(struct pd_scrub *scrub);
uint64_t pd_scrub_address(struct pd_scrub *scrub, enum pd_scrub_space space, uint64_t address, bool data);
void pd_scrub_chain(struct pd_scrub *scrub, uint64_t *items, size_t count);

/* ---- tracing.c ---- */

/* Tracing data with the names and numbers of the events that there are, without which perf does not open a file. NULL if
 * the file has none, or there is no memory. */
const void *pd_scrub_tracing_data(struct pd_scrub *scrub);

/* ---- features.c ---- */

/* What the writer asks; self is the struct pd_scrub, whose file must be set. */
extern const struct pd_changes pd_scrub_changes;
/* Fails if there is an event that cannot be anonymized. */
enum pd_status pd_scrub_check_events(struct pd_scrub *scrub, struct pd_error *error);
/* Goes through the texts of a feature, also of one that is dropped. */
void pd_scrub_collect_feature(struct pd_scrub *scrub, unsigned feature);

#endif
