/* SPDX-License-Identifier: MIT */
/*
 * What perfdata explain explains, and the forms it can take. Everything comes from the tables of the
 * library; only what they cannot say, the frame around records, is written down in format_text.def.
 */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include <perfdata/perfdata.h>

enum subject_kind {
	SUBJECT_RECORD,
	SUBJECT_FEATURE,
	SUBJECT_LAYOUT,
	SUBJECT_NAMES,
	SUBJECT_PROBLEM
};

/* One thing that has a name. */
struct subject {
	enum subject_kind kind;
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
struct subjects {
	struct subject *items;
	size_t count;
	bool failed; /* memory ran out */
};
void subjects_init(struct subjects *subjects);
void subjects_fini(struct subjects *subjects);

/* Title of the chapter of a subject. */
const char *subject_chapter(const struct subject *subject);
/* "record 10, written by the kernel", "bits of a word", "damage" ... */
void subject_kind_text(const struct subject *subject, char *text, size_t size);
/* The index-th field that is to be shown, or NULL past the end. */
const struct pd_field *subject_field(const struct subject *subject, size_t index);
/* True for records that may end with a sample_id. */
bool subject_has_trailer(const struct subject *subject);
/* True if the layout is the body of a record. */
bool layout_is_body(const struct pd_layout *layout);

/* Wire form, condition ("" for always) and names of a field. */
struct field_text {
	char wire[96];
	char when[96];
	const char *names; /* or NULL */
};
void field_text(const struct pd_field *field, struct field_text *text);

/* An item of a set: "3" or "5-18", its text, and the set of its values or NULL. False past the end. */
struct name_text {
	char place[48];
	const char *text;
	const struct pd_names *values;
};
bool name_text(const struct pd_names *names, size_t index, struct name_text *text);

/* The frame of the format, from format_text.def. */
enum frame_kind {
	FRAME_CHAPTER,
	FRAME_TEXT,
	FRAME_ROW
};
struct frame_line {
	enum frame_kind kind;
	const char *place; /* of a row */
	const char *name;  /* of a row */
	const char *text;
};
/* The index-th line, or NULL past the end. */
const struct frame_line *frame_at(size_t index);

/* A form. Members may be NULL. begin, chapter and end are for all of the format only. */
struct explain_form {
	void (*begin)(struct pd_text *text);
	void (*chapter)(struct pd_text *text, const char *title);
	void (*subject)(struct pd_text *text, const struct subject *subject);
	void (*end)(struct pd_text *text);
};
extern const struct explain_form explain_as_text;
extern const struct explain_form explain_as_list; /* a line for each subject */
extern const struct explain_form explain_as_c;
extern const struct explain_form explain_as_json;
extern const struct explain_form explain_as_man;
extern const struct explain_form explain_as_markdown;

#endif
