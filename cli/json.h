/* SPDX-License-Identifier: MIT */
/*
 * JSON objects and arrays with their commas. A name of NULL is for the items of an array and for the
 * outermost object.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <perfdata/perfdata.h>

struct json {
	struct pd_text *text;
	bool comma; /* something stands before in the same brackets */
};

/* bracket is { or [, and } or ]. */
void json_open(struct json *json, const char *name, char bracket);
void json_close(struct json *json, char bracket);
/* Comma and name; the caller adds one value to json->text. */
void json_name(struct json *json, const char *name);
/* A value of NULL is written as null. */
void json_string(struct json *json, const char *name, const char *value);
void json_pd_str(struct json *json, const char *name, struct pd_str value);
void json_number(struct json *json, const char *name, uint64_t value);
/* null for PD_NO_OFFSET, which is PD_NO_TIME too. */
void json_place(struct json *json, const char *name, uint64_t value);
/* null for what JSON cannot say: infinite, not a number. */
void json_double(struct json *json, const char *name, double value);
void json_bool(struct json *json, const char *name, bool value);
/* Bytes as a string of hexadecimal digits. */
void json_hex(struct json *json, const char *name, struct pd_bytes bytes);

#endif
