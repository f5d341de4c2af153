/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON piece by piece. Numbers are written whole, also those above 2^53.
 */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void json_name(struct json *json, const char *name)
{
	if (json->comma)
		pd_text_add(json->text, ",");
	json->comma = true;
	if (name) {
		pd_text_json_string(json->text, name, strlen(name));
		pd_text_add(json->text, ":");
	}
}

void json_open(struct json *json, const char *name, char bracket)
{
	json_name(json, name);
	pd_text_printf(json->text, "%c", bracket);
	json->comma = false;
}

void json_close(struct json *json, char bracket)
{
	pd_text_printf(json->text, "%c", bracket);
	json->comma = true;
}

void json_string(struct json *json, const char *name, const char *value)
{
	json_name(json, name);
	if (value)
		pd_text_json_string(json->text, value, strlen(value));
	else
		pd_text_add(json->text, "null");
}

void json_pd_str(struct json *json, const char *name, struct pd_str value)
{
	json_name(json, name);
	pd_text_json_string(json->text, value.data ? value.data : "", value.length);
}

void json_number(struct json *json, const char *name, uint64_t value)
{
	json_name(json, name);
	pd_text_printf(json->text, "%" PRIu64, value);
}

void json_place(struct json *json, const char *name, uint64_t value)
{
	if (value == PD_NO_OFFSET)
		json_string(json, name, NULL);
	else
		json_number(json, name, value);
}

void json_double(struct json *json, const char *name, double value)
{
	if (isfinite(value)) {
		json_name(json, name);
		pd_text_printf(json->text, "%.17g", value);
	} else {
		json_string(json, name, NULL);
	}
}

void json_bool(struct json *json, const char *name, bool value)
{
	json_name(json, name);
	pd_text_add(json->text, value ? "true" : "false");
}

void json_hex(struct json *json, const char *name, struct pd_bytes bytes)
{
	static const char digits[] = "0123456789abcdef";
	char block[257];
	size_t used = 0;

	json_name(json, name);
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
