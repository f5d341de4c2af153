/* SPDX-License-Identifier: MIT */
/*
 * JSON objects and arrays with their commas. A name of NULL is for the items of an array and for the
 * outermost object.
 */
#ifndef PD_BASE_JSON_H
#define PD_BASE_JSON_H

#include <perfdata/text.h>

struct pd_json {
	struct pd_text *text;
	bool comma; /* something stands before in the same brackets */
};

/* bracket is { or [, and } or ]. */
void pd_json_open(struct pd_json *json, const char *name, char bracket);
void pd_json_close(struct pd_json *json, char bracket);
/* Comma and name; the caller adds one value to json->text. */
void pd_json_name(struct pd_json *json, const char *name);
/* A value of NULL is written as null. */
void pd_json_string(struct pd_json *json, const char *name, const char *value);
void pd_json_str(struct pd_json *json, const char *name, struct pd_str value);
void pd_json_number(struct pd_json *json, const char *name, uint64_t value);
/* null for PD_NO_OFFSET, which is PD_NO_TIME too. */
void pd_json_offset(struct pd_json *json, const char *name, uint64_t value);
/* null for what JSON cannot say: infinite, not a number. */
void pd_json_double(struct pd_json *json, const char *name, double value);
void pd_json_bool(struct pd_json *json, const char *name, bool value);
/* Bytes as a string of hexadecimal digits. */
void pd_json_hex(struct pd_json *json, const char *name, struct pd_bytes bytes);

#endif
