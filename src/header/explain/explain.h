/* SPDX-License-Identifier: MIT */
/*
 * What can be explained of the format, and its forms: topics.c, what has a name; explain.c, which are asked
 * for; a file for each form. Everything comes from the tables of the
 * library; only what they cannot say, the frame around records, is written down in format_text.def.
 */
#ifndef PD_HEADER_EXPLAIN_H
#define PD_HEADER_EXPLAIN_H

#include <perfdata/explain.h>
#include <perfdata/file.h>
#include <perfdata/header.h>
#include <perfdata/text.h>

enum pd_explain_topic_kind {
	PD_TOPIC_RECORD,
	PD_TOPIC_FEATURE,
	PD_TOPIC_LAYOUT,
	PD_TOPIC_NAMES,
	PD_TOPIC_PROBLEM
};

/* One thing that has a name. */
struct pd_explain_topic {
	enum pd_explain_topic_kind kind;
	uint32_t number; /* of a record or feature */
	const char *name;
	const char *doc;
	const struct pd_layout *layout; /* of a record, feature or layout */
	const struct pd_field *only;    /* the one field that was asked for, or NULL for all */
	const struct pd_names *names;
	enum pd_severity severity; /* of a problem */
	const char *advice;
};

/* Everything, chapter by chapter. */
struct pd_explain_topics {
	struct pd_explain_topic *items;
	size_t count, capacity;
	bool failed; /* memory ran out */
};
void pd_explain_topics_init(struct pd_explain_topics *topics);
void pd_explain_topics_fini(struct pd_explain_topics *topics);

/* Title of the chapter of a topic. */
const char *pd_explain_topic_chapter(const struct pd_explain_topic *topic);
/* "record 10, written by the kernel", "bits of a word", "damage" ... */
void pd_explain_topic_kind_text(const struct pd_explain_topic *topic, char *text, size_t size);
/* The index-th field that is to be shown, or NULL past the end. */
const struct pd_field *pd_explain_topic_field(const struct pd_explain_topic *topic, size_t index);
/* True for records that may end with a sample_id. */
bool pd_explain_topic_has_trailer(const struct pd_explain_topic *topic);
/* True if the layout is the body of a record. */
bool pd_explain_layout_is_body(const struct pd_layout *layout);

/* Wire form, condition ("" for always) and names of a field. */
struct pd_explain_field_text {
	char wire[96];
	char when[96];
	const char *names; /* or NULL */
};
void pd_explain_field_text(const struct pd_field *field, struct pd_explain_field_text *text);

/* An item of a set: "3" or "5-18", its text, and the set of its values or NULL. False past the end. */
struct pd_explain_name_text {
	char place[48];
	const char *text;
	const struct pd_names *values;
};
bool pd_explain_name_text(const struct pd_names *names, size_t index, struct pd_explain_name_text *text);

/* The frame of the format, from format_text.def. */
enum pd_explain_frame_kind {
	PD_FRAME_CHAPTER,
	PD_FRAME_TEXT,
	PD_FRAME_ROW
};
struct pd_explain_frame_line {
	enum pd_explain_frame_kind kind;
	const char *place; /* of a row */
	const char *name;  /* of a row */
	const char *text;
};
/* The index-th line, or NULL past the end. */
const struct pd_explain_frame_line *pd_explain_frame_at(size_t index);

/* A form. Members may be NULL. begin, chapter and end are for all of the format only. */
struct pd_explain_form {
	void (*begin)(struct pd_text *text);
	void (*chapter)(struct pd_text *text, const char *title);
	void (*topic)(struct pd_text *text, const struct pd_explain_topic *topic);
	void (*end)(struct pd_text *text);
};
extern const struct pd_explain_form pd_explain_as_text;
extern const struct pd_explain_form pd_explain_as_list; /* a line for each topic */
extern const struct pd_explain_form pd_explain_as_c;
extern const struct pd_explain_form pd_explain_as_json;
extern const struct pd_explain_form pd_explain_as_man;
extern const struct pd_explain_form pd_explain_as_markdown;

#endif
