/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON piece by piece. Numbers are written whole, also those above 2^53.
 */
#include <perfdata/json.h>

#include <math.h>
#include <string.h>

#include "base/text/text.h"

void pd_json_name(struct pd_json *json, const char *name)
{
	if (json->comma)
		pd_text_char(json->text, ',');
	json->comma = true;
	if (name) {
		pd_text_json_string(json->text, name, strlen(name));
		pd_text_char(json->text, ':');
	}
}

void pd_json_open(struct pd_json *json, const char *name, char bracket)
{
	pd_json_name(json, name);
	pd_text_char(json->text, bracket);
	json->comma = false;
}

void pd_json_close(struct pd_json *json, char bracket)
{
	pd_text_char(json->text, bracket);
	json->comma = true;
}

void pd_json_string(struct pd_json *json, const char *name, const char *value)
{
	pd_json_name(json, name);
	if (value)
		pd_text_json_string(json->text, value, strlen(value));
	else
		pd_text_add(json->text, "null");
}

void pd_json_str(struct pd_json *json, const char *name, struct pd_str value)
{
	pd_json_name(json, name);
	pd_text_json_string(json->text, value.data ? value.data : "", value.length);
}

void pd_json_number(struct pd_json *json, const char *name, uint64_t value)
{
	pd_json_name(json, name);
	pd_text_u64(json->text, value);
}

void pd_json_offset(struct pd_json *json, const char *name, uint64_t value)
{
	if (value == PD_NO_OFFSET)
		pd_json_string(json, name, NULL);
	else
		pd_json_number(json, name, value);
}

void pd_json_double(struct pd_json *json, const char *name, double value)
{
	if (isfinite(value)) {
		pd_json_name(json, name);
		pd_text_double(json->text, value);
	} else {
		pd_json_string(json, name, NULL);
	}
}

void pd_json_bool(struct pd_json *json, const char *name, bool value)
{
	pd_json_name(json, name);
	pd_text_add(json->text, value ? "true" : "false");
}

void pd_json_hex(struct pd_json *json, const char *name, struct pd_bytes bytes)
{
	static const char digits[] = "0123456789abcdef";
	char block[257];
	size_t used = 0;

	pd_json_name(json, name);
	pd_text_add(json->text, "\"");
	for (size_t i = 0; i < bytes.size; i++) {
		block[used++] = digits[bytes.data[i] >> 4];
		block[used++] = digits[bytes.data[i] & 15];
		if (used == sizeof(block) - 1 || i + 1 == bytes.size) {
			block[used] = '\0';
			pd_text_add(json->text, block);
			used = 0;
		}
	}
	pd_text_add(json->text, "\"");
}
