/* SPDX-License-Identifier: MIT */
/**
 * json.h - writes JSON objects and arrays into a text, with their commas.
 *
 * Numbers are written in full, also those above 2^53. A name of NULL is for items of an array and for the outermost object.
 *
 * Example:
 *
 *	struct pd_json json = { .text = text };
 *
 *	pd_json_open(&json, NULL, '{');
 *	pd_json_number(&json, "samples", 3);
 *	pd_json_close(&json, '}');
 */
#ifndef PERFDATA_JSON_H
#define PERFDATA_JSON_H

#include <perfdata/format.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A writer; all zero but for text. */
struct pd_json {
	struct pd_text *text;
	bool comma; /* something precedes in the same brackets */
};

/** bracket is { or [, and } or ]. */
PD_API void pd_json_open(struct pd_json *json, const char *name, char bracket);
PD_API void pd_json_close(struct pd_json *json, char bracket);
/** Comma and name; the caller adds one value to json->text. */
PD_API void pd_json_name(struct pd_json *json, const char *name);
/** A value of NULL is written as null. */
PD_API void pd_json_string(struct pd_json *json, const char *name, const char *value);
PD_API void pd_json_str(struct pd_json *json, const char *name, struct pd_str value);
/** A number. */
PD_API void pd_json_number(struct pd_json *json, const char *name, uint64_t value);
/** null for PD_NO_OFFSET, which is PD_NO_TIME too. */
PD_API void pd_json_offset(struct pd_json *json, const char *name, uint64_t value);
/** null for what JSON cannot express: infinite, not a number. */
PD_API void pd_json_double(struct pd_json *json, const char *name, double value);
/** true or false. */
PD_API void pd_json_bool(struct pd_json *json, const char *name, bool value);
/** Bytes as a string of hexadecimal digits. */
PD_API void pd_json_hex(struct pd_json *json, const char *name, struct pd_bytes bytes);

#ifdef __cplusplus
}
#endif
#endif
