/* SPDX-License-Identifier: MIT */
/*
 * Values of sort keys: each key has a table of its values, equal ones have one number; and sets of values, one for all
 * keys, which are numbered too.
 */
#ifndef PD_REPORT_KEYS_VALUES_H
#define PD_REPORT_KEYS_VALUES_H

#include <perfdata/report.h>

#include "base/lookup/hash.h"
#include "base/memory.h"

/* What distinguishes values. */
struct identity {
	uint64_t a, b;
};

/* A value of a key. */
struct value {
	uint64_t a, b;  /* its identity */
	uint64_t order; /* before the string: values with a smaller one come first */
	uint64_t word;  /* next in the order: the address, or the first bytes of the string */
	union {
		const char *text; /* of functions: their name without level, until all values are known */
		uint64_t addr; /* where there is no function: there are many, so their texts are made when they are shown */
	};
	uint32_t length;     /* of the text */
	char level;          /* of functions and addresses; of functions until they have a text */
	uint8_t padding;     /* that perf leaves behind the text */
	uint32_t unsorted;   /* this many bytes in front do not count in the order */
	uint32_t sorted;     /* after these, only this many do; 0: all */
	bool is_addr : 1;    /* there is no text */
	bool by_addr : 1;    /* in the order of addresses, not of strings */
	bool clipped : 1;    /* no wider than its column */
	bool equivalent : 1; /* all such values of an order are one to the keys after this one */
};

/* Sets of values of several keys, numbered: equal ones have one number. */
struct value_sets {
	uint32_t *values; /* by number, then by key */
	size_t count, capacity;
	uint32_t *firsts; /* by the value of one key: the first set that has it, + 1 */
	size_t first_count;
	struct pd_index index; /* by a hash of the values: those that are not the first ones */
};

struct value_table {
	struct value *items;
	size_t count, capacity;
	struct pd_index index;       /* by a hash of the identity; some values are not in it */
	struct pd_arena texts;       /* strings, but those of functions */
	struct pd_arena *part_texts; /* those of functions, by the thread that made them */
	size_t part_count;
	uint32_t *by_index; /* number + 1 by the index of a function; of objects, 0: none */
	size_t index_count;
	bool any_equivalent;
	/* By value, once all are known. */
	uint32_t *ranks; /* in the order of the values */
	uint32_t *exact; /* the same where equivalent ones are distinguished, if any are */
};

/* An entry of a branch stack. */
struct taken_branch {
	struct pd_frame from, to;
	uint64_t flags; /* PD_BRANCH_... */
};

/* What a key is asked about: an entry, at the place of one of its frames or, for branches, where a branch went. */
struct key_context {
	const struct pd_profile_entry *entry;
	uint32_t frame;
	unsigned cpumode;                  /* level of the place */
	const struct taken_branch *branch; /* or NULL */
	const struct pd_frame *merged;     /* in the place of the frame, or NULL */
};

struct key {
	struct pd_report_key head;
	bool of_frame; /* depends on the frame alone */
	bool of_chain; /* depends on the whole call chain */
	/* Adds the value in a context to the key's table; false if there is no memory. */
	bool (*find)(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out);
	size_t width;            /* of the column, at least */
	size_t ns_width;         /* the same with nanoseconds, if it is another */
	bool descending;         /* rows of equal shares go the other way, as in perf */
	bool right;              /* aligned to the right */
	bool of_function;        /* is the same for all frames of a function */
	bool unpadded;           /* not padded at the end of a line, as in perf */
	bool times_samples;      /* the value is that of one sample: a row shows its product with the samples */
	bool has_level;          /* strings begin with a level: "[k] " */
	bool has_number;         /* strings begin with a number: "1234:comm" */
	bool unknown_is_address; /* perf keeps the width of an address where it is unknown */
	bool fixed_width;        /* whatever rows there are */
	const char *ipc_name;    /* perf adds a column where the key is requested by this name */
};

/* The index-th key, or NULL past the end. */
const struct key *pd_key_at(size_t index);
/* The key of a name, or NULL. */
const struct key *pd_key_by_name(const char *name, size_t length);
/* The key that takes the place of another one where callers have rows. */
const struct key *pd_key_of_callers(const struct key *key);

/* Why a sort key of perf is not here, and what to use instead; NULL: there is no such key. */
const char *pd_key_absent(const char *name, size_t length);

/* ---- values.c ---- */

/* Makes room for so many values, some of them addresses, or sets of values, so that they need not be moved while they come. False if there is no memory. */
bool pd_value_reserve(struct value_table *table, size_t count, size_t addr_count);
bool pd_value_sets_reserve(struct value_sets *sets, size_t keys, size_t count);
/* The value of an identity, which is new: *new_out. False if there is no memory. */
bool pd_value_find(struct value_table *table, struct identity id, uint32_t *value_out, bool *new_out);
/* A new value without slot. False if there is no memory. */
bool pd_value_add(struct value_table *table, struct identity id, uint32_t *value_out);
/* Where the value of an index is kept, number + 1. NULL if there is no memory. */
uint32_t *pd_value_indexed(struct value_table *table, size_t index);
/* How long the text of an address is. */
uint32_t pd_value_addr_length(uint64_t addr);
/* Gives a new value a copy of a string. False if there is no memory. */
bool pd_value_set_text(struct value_table *table, uint32_t value, struct pd_bytes text, uint64_t order);
/* A value that is a number, printed as text, in an order of its own. */
bool pd_value_find_number(struct value_table *table, uint64_t number, uint64_t order, const char *text,
			  uint32_t *value_out);
/* A value that is a string: equal strings of the same order are one value. seed: what no file can know. */
bool pd_value_find_text(struct value_table *table, const char *text, uint64_t order, uintptr_t seed,
			uint32_t *value_out);
/* No value is added any more. */
void pd_value_table_close(struct value_table *table);
void pd_value_table_fini(struct value_table *table);
/* The number of a set of values, which is added if it is new; by: always the same key, which most of them differ in. False if there is
 * no memory. */
bool pd_value_set_find(struct value_sets *sets, const uint32_t *values, size_t keys, size_t by, uint32_t *number_out);
void pd_value_sets_close(struct value_sets *sets);
void pd_value_sets_fini(struct value_sets *sets);
/* The first bytes of a string, as a number in the same order. */
uint64_t pd_value_word(const char *text);

#endif
