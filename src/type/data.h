/* SPDX-License-Identifier: MIT */
/* Types of data with their samples by offset, of the profile of an annotation. */
#ifndef PD_TYPE_DATA_H
#define PD_TYPE_DATA_H

#include <perfdata/json.h>

#include "annotate/base.h"
#include "base/lookup/u64_map.h"
#include "base/text/text.h"
#include "type/type.h"

/** A type in an object. */
struct pd_type_row {
	const struct pd_dso *dso;
	const struct pd_type_access *access; // one of it
	size_t first, count;                 // hits, by event and offset
};

/** Samples of an event at an offset of a type. */
struct pd_type_hit {
	uint64_t offset; // UINT64_MAX: it is outside of the type
	uint32_t row, event;
	struct pd_annotate_sum sum; // once they are sorted: of all hits before it, which may be more than 64 bits hold
};

/** An address with samples of an event. */
struct pd_type_address {
	const struct pd_place *place;
	uint32_t event;
};

struct pd_type_data {
	const struct pd_annotate *annotate;
	struct pd_annotate_base base;
	struct pd_types *types;
	struct pd_type_row *rows;
	size_t row_count, row_capacity;
	struct pd_u64_map by_type; // of an object: index in rows, plus 1
	struct pd_type_hit *hits;  // and one more behind the last one
	size_t hit_count, hit_capacity;
	struct pd_type_address *addresses; // if counts of answers are wanted
	size_t address_count, address_capacity;
};

/** Adds up; False without memory. pd_type_data_fini in any case. */
bool pd_type_data_collect(struct pd_type_data *data, bool with_counts);
void pd_type_data_fini(struct pd_type_data *data);
/** The first hit of a row at an offset of an event, or after it. */
size_t pd_type_data_at(const struct pd_type_data *data, const struct pd_type_row *row, size_t event, uint64_t offset);
/** What hits from one up to another one add up to. */
struct pd_annotate_sum pd_type_data_sum(const struct pd_type_data *data, size_t from, size_t to);
/** Rows of a table in the order of perf, those of one name or all (NULL); pd_free. NULL without memory. */
uint32_t *pd_type_data_order(const struct pd_type_data *data, const struct pd_annotate_table *table, const char *name,
			     size_t *count_out);

// ---- counts.c ----

/** Appends how many addresses have a type, and why others have none; and the same by the name of the instruction. False without memory. */
bool pd_type_put_counts(const struct pd_type_data *data, bool by_answer, bool by_word, struct pd_text *out);
/** The same as members of the object that is open. */
bool pd_type_json_counts(const struct pd_type_data *data, bool by_answer, bool by_word, struct pd_json *json);

// ---- data_each.c ----

/** Types that are printed one after another. */
struct pd_type_printing {
	struct pd_type_data data;
	struct pd_annotate_types_options types;
	struct pd_text *out;
	const struct pd_annotate_table *table;
	size_t *columns; // events of the file that are shown
	size_t column_count;
	struct pd_annotate_sum *sums; // by column, for who prints
	const struct pd_type_row *row;
	bool found; // any type
};

/** Adds up. Errors: PD_ERROR_UNSUPPORTED, PD_ERROR_MEMORY. */
enum pd_status pd_type_printing_init(struct pd_type_printing *p, struct pd_annotate *annotate,
				     const struct pd_annotate_types_options *types, struct pd_text *out,
				     struct pd_error *error);
/** In any case. */
void pd_type_printing_fini(struct pd_type_printing *p);
/** Goes to a table; false if there are no more. */
bool pd_type_printing_table(struct pd_type_printing *p, size_t index);
/** Calls put with each row of the table, in order; it returns false without memory. */
enum pd_status pd_type_printing_each(struct pd_type_printing *p, bool (*put)(void *self), void *self,
				     struct pd_error *error);
/** Samples of the row at offsets, of a column. Those outside of the type are in no size. */
struct pd_annotate_sum pd_type_printing_sum(const struct pd_type_printing *p, size_t column, uint64_t offset,
					    uint64_t size);
/** All samples of the row, of some events of the file. */
struct pd_annotate_sum pd_type_printing_all(const struct pd_type_printing *p, size_t event, size_t count);
/** At the end. Errors: PD_ERROR_NO_MATCH if there was no type. */
enum pd_status pd_type_printing_check(const struct pd_type_printing *p, struct pd_error *error);

#endif
