/* SPDX-License-Identifier: MIT */
// Lists of objects, as perf buildid-list prints them and as JSON.
#include <stdio.h>
#include <string.h>

#include <perfdata/json.h>
#include <perfdata/objects.h>
#include <perfdata/state.h>

enum {
	ID_DIGITS = 2 * PD_BUILD_ID_SIZE,
	HOST = 0
};

static void print_id(struct pd_text *text, const struct pd_build_id *id, int width)
{
	char digits[ID_DIGITS + 1] = "";

	for (size_t i = 0; i < id->size; i++)
		snprintf(digits + 2 * i, 3, "%02x", id->bytes[i]);
	pd_text_printf(text, "%-*s", width, digits);
}

void pd_print_objects(struct pd_text *text, const struct pd_objects *objects, bool escape)
{
	const struct pd_listed_object *object;

	for (size_t i = 0; (object = pd_objects_at(objects, i)) != NULL; i++) {
		print_id(text, &object->id, ID_DIGITS);
		pd_text_add(text, " ");
		if (escape)
			pd_text_escaped(text, object->name, strlen(object->name));
		else
			pd_text_add(text, object->name);
		pd_text_add(text, "\n");
	}
}

static void put_object(struct pd_text *text, const struct pd_listed_object *object, bool are_hits)
{
	struct pd_json json = { .text = text };

	pd_json_open(&json, NULL, '{');
	pd_json_name(&json, "build_id");
	pd_text_add(text, object->id.size ? "\"" : "null");
	print_id(text, &object->id, 0);
	pd_text_add(text, object->id.size ? "\"" : "");
	pd_json_string(&json, "name", object->name);
	if (object->machine == PD_GUEST_DEFAULT || object->machine == HOST)
		pd_json_string(&json, "machine", object->machine == HOST ? "host" : "guest");
	else
		pd_json_number(&json, "machine", object->machine);
	if (are_hits)
		pd_json_bool(&json, "hit", object->hit);
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}

void pd_json_objects(struct pd_text *text, const struct pd_objects *objects)
{
	const struct pd_listed_object *object;

	for (size_t i = 0; (object = pd_objects_at(objects, i)) != NULL; i++)
		put_object(text, object, pd_objects_are_hits(objects));
}
