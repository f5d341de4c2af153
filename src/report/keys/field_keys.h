/* SPDX-License-Identifier: MIT */
/* Sort keys that are fields of tracepoints: a file says which there are. */
#ifndef PD_REPORT_KEYS_FIELD_KEYS_H
#define PD_REPORT_KEYS_FIELD_KEYS_H

#include "report/keys/find.h"
#include "report/report.h"

struct pd_member;

struct field_key {
	struct key key;
	size_t event;    /* index, or that of all */
	char *name;      /* of the field; NULL: the one at position */
	size_t position; /* among the fields of an event that are not common to all */
	bool raw;        /* not as the tracepoint prints it */
};

pd_key_find_fn pd_key_field;

static inline bool key_is_field(const struct key *key)
{
	return key->find == pd_key_field;
}

static inline const struct field_key *pd_field_key(const struct key *key)
{
	return (const struct field_key *)key;
}

/* The key of a field, "[EVENT.]FIELD[/raw]", or NULL. */
const struct key *pd_field_key_by_name(struct pd_report *report, struct pd_file *file, const char *name, size_t length);
/* The key of what stands at a position in any event, or NULL. */
const struct key *pd_field_key_at(struct pd_report *report, struct pd_file *file, size_t position);
/* What the key of a field is in a table; NULL: it has no column there. */
const struct pd_member *pd_field_of_table(const struct pd_report *report, const struct key *key,
					  const struct table *table);
/* How it is called there: by its own name if nothing else is, or as the key. */
const char *pd_key_field_name(const struct pd_report *report, const struct key *key, const struct table *table);
/* How wide its column is in perf, at least. */
size_t pd_field_width(const struct pd_member *member);

/** False: the event of the table lacks the field. */
bool pd_column_is_there(const struct pd_report *report, const struct table *table, const struct column *column);

#endif
