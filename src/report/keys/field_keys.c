/* SPDX-License-Identifier: MIT */
/* Fields of tracepoints as sort keys: [EVENT.]FIELD[/raw], and trace_fields, all of them. A key covers several events, of which each
 * has a table of its own. */
#include "report/keys/field_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text/text.h"
#include "trace/trace.h"

enum {
	FIELD_WIDTH_MAX = 256
};

#define NO_EVENT SIZE_MAX
#define EVERY_EVENT (SIZE_MAX - 1)

static const struct pd_member *member_at(struct pd_trace *trace, const struct pd_event *event, size_t index)
{
	return event->attr->type == PD_TYPE_TRACEPOINT ? pd_trace_member_at(trace, event, index) : NULL;
}

/* The index-th field of an event that is not common to all. */
static const struct pd_member *own_member_at(struct pd_trace *trace, const struct pd_event *event, size_t index)
{
	const struct pd_member *member;

	for (size_t i = 0; (member = member_at(trace, event, i)) != NULL; i++)
		if (!member->field.is_common && !index--)
			return member;
	return NULL;
}

static const struct pd_member *named_member(struct pd_trace *trace, const struct pd_event *event, const char *name)
{
	const struct pd_member *member;

	for (size_t i = 0; (member = member_at(trace, event, i)) != NULL; i++)
		if (strcmp(member->field.name, name) == 0)
			return member;
	return NULL;
}

/* What a key is of an event; NULL: nothing. */
static const struct pd_member *member_of(const struct pd_report *report, const struct field_key *key,
					 const struct pd_event *event)
{
	if (key->event != EVERY_EVENT && key->event != event->index)
		return NULL;
	return key->name ? named_member(report->trace, event, key->name) :
			   own_member_at(report->trace, event, key->position);
}

const struct pd_member *pd_field_of_table(const struct pd_report *report, const struct key *key,
					  const struct table *table)
{
	const struct pd_member *member = NULL;

	for (size_t i = 0; i < table->head.event_count && !member; i++)
		member = member_of(report, pd_field_key(key), pd_file_event(report->file, table->head.first_event + i));
	return member;
}

/* Whether a row has something of that name beside what stands at a position. */
static bool is_taken(const struct pd_report *report, const struct key *key, const struct table *table, const char *name)
{
	static const char *const others[] = { "amounts", "callgraph", "thread_comm" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(name, others[i]) == 0)
			return true;
	for (size_t i = 0; i < report->key_count; i++) {
		const struct key *other = report->keys[i];
		const struct pd_member *member = NULL;

		if (other == key)
			continue;
		if (key_is_field(other) && !pd_field_key(other)->name)
			member = pd_field_of_table(report, other, table);
		if (strcmp(name, member ? member->field.name : other->head.json) == 0)
			return true;
	}
	return strncmp(name, "level", strlen("level")) == 0;
}

const char *pd_key_field_name(const struct pd_report *report, const struct key *key, const struct table *table)
{
	const struct pd_member *member = pd_field_of_table(report, key, table);

	if (!member)
		return NULL;
	return pd_field_key(key)->name || is_taken(report, key, table, member->field.name) ? key->head.json :
											     member->field.name;
}

size_t pd_field_width(const struct pd_member *member)
{
	size_t name = strlen(member->field.name),
	       size = member->field.is_string ? member->field.size : member->field.size * 2 + strlen("0x");

	/* a format can say anything */
	size = size < FIELD_WIDTH_MAX ? size : FIELD_WIDTH_MAX;
	return name > size ? name : size;
}

/* ---- values ---- */

/* As perf: what stands behind the name of the field in the text of the tracepoint. False if there is no such name. */
static bool find_in_text(const struct pd_text *all, const char *name, struct pd_text *text)
{
	const char *at = all->data, *end = all->data + all->size;
	size_t length = strlen(name);

	while (at && at < end) {
		const char *word = memchr(at, ' ', (size_t)(end - at));
		size_t size = (size_t)((word ? word : end) - at);

		if (size > length && memcmp(at, name, length) == 0) {
			pd_text_put(text, at + length + 1, size - length - 1);
			return true;
		}
		at = word ? word + 1 : NULL;
	}
	return false;
}

/* What the tracepoint prints of the field. False if it prints nothing of that name. */
static bool print_part(struct pd_report *report, const struct pd_event *event, const struct pd_member *member,
		       struct pd_bytes raw, struct pd_text *text)
{
	struct pd_text all = { .data = NULL };
	bool printed = pd_trace_print(report->trace, event, raw, &all) && find_in_text(&all, member->field.name, text);

	text->failed |= all.failed;
	pd_free(all.data);
	return printed;
}

/* As perf, which compares bytes: those of a number as if the first one were the highest. */
static uint64_t first_bytes(const struct pd_member *member, struct pd_bytes raw)
{
	uint64_t number = 0;

	for (size_t i = 0; i < member->field.size && i < sizeof(number); i++)
		number = number << 8 | (member->field.offset + i < raw.size ? raw.data[member->field.offset + i] : 0);
	return number;
}

/* A text or an array, not one number. */
static bool is_long(const struct pd_member *member)
{
	return member->field.is_string || member->is_dynamic || member->field.size > sizeof(uint64_t);
}

/* Of an event, so that those of different events are different ones. What is told apart is the field, however much of it is printed. */
static struct identity identity_of(const struct pd_report *report, const struct pd_event *event,
				   const struct pd_member *member, struct pd_bytes raw, const struct pd_text *whole)
{
	uint64_t value = is_long(member) ? pd_hash((uintptr_t)report, whole->data, whole->size) :
					   first_bytes(member, raw);

	return (struct identity){ value, event->index + 1 };
}

static bool add_value(struct pd_report *report, size_t key, struct identity id, const struct pd_member *member,
		      const struct pd_text *text, uint32_t *value_out)
{
	struct value_table *table = &report->values[key];
	const struct pd_bytes bytes = { (const uint8_t *)text->data, text->size };
	bool fresh;

	if (!pd_value_find(table, id, value_out, &fresh))
		return false;
	return !fresh || pd_value_set_text(table, *value_out, bytes, is_long(member) ? 0 : id.a);
}

/* As perf: a column is as wide as what is printed, and cuts what is not; of strings that have a place of their own the byte at their end
 * counts. */
static bool find_value(struct pd_report *report, size_t key, const struct pd_event *event,
		       const struct pd_member *member, struct pd_bytes raw, uint32_t *value_out)
{
	struct pd_text whole = { .data = NULL }, part = { .data = NULL };
	bool printed = !pd_field_key(report->keys[key])->raw && print_part(report, event, member, raw, &part), done;

	pd_trace_print_field(report->trace, event, raw, member->field.name, &whole);
	done = !whole.failed && !part.failed &&
	       add_value(report, key, identity_of(report, event, member, raw, &whole), member, printed ? &part : &whole,
			 value_out);
	pd_free(whole.data);
	pd_free(part.data);
	if (!done)
		return false;
	report->values[key].items[*value_out].clipped = !printed && !member->is_dynamic;
	report->values[key].items[*value_out].padding = member->is_dynamic;
	return true;
}

bool pd_key_field(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	const struct pd_event *event = context->entry->event;
	const struct pd_member *member = member_of(report, pd_field_key(report->keys[key]), event);

	if (!member)
		return pd_value_find_text(&report->values[key], "", 0, (uintptr_t)report, value_out);
	return find_value(report, key, event, member, pd_key_raw(report, context->entry), value_out);
}

/* ---- which ---- */

/* "%1", "sched:sched_switch", or a part of a name that only one event has. NO_EVENT: none. */
static size_t find_event(struct pd_file *file, const char *name)
{
	size_t found = NO_EVENT, count = pd_file_event_count(file);

	if (*name == '%') {
		char *end;
		unsigned long number = strtoul(name + 1, &end, 10);

		return name[1] >= '0' && name[1] <= '9' && !*end && number && number <= count ? number - 1 : NO_EVENT;
	}
	for (size_t i = 0; i < count; i++) {
		const char *own = pd_file_event(file, i)->name;

		if (!(strchr(name, ':') ? strcmp(own, name) == 0 : strstr(own, name) != NULL))
			continue;
		if (found != NO_EVENT)
			return NO_EVENT;
		found = i;
	}
	return found;
}

/* Where a key is of all events, how many of them have it. */
static size_t count_members(const struct pd_report *report, struct pd_file *file, const struct field_key *key)
{
	size_t count = 0;

	for (size_t i = 0; i < pd_file_event_count(file); i++)
		count += member_of(report, key, pd_file_event(file, i)) != NULL;
	return count;
}

/* Room for a key, with a name that lives as long. NULL if there is no memory. */
static struct field_key *new_key(struct pd_report *report, const char *name, size_t length)
{
	struct field_key *key;
	char *text;

	if (!report->fields)
		report->fields = pd_alloc((PD_REPORT_KEYS_MAX + 1) * sizeof(*report->fields));
	/* of one too many the list of keys says so */
	if (!report->fields || report->field_count > PD_REPORT_KEYS_MAX)
		return NULL;
	key = &report->fields[report->field_count];
	text = pd_arena_text(&report->field_texts, name, length);
	if (!text)
		return NULL;
	*key = (struct field_key){
		.key = { .find = pd_key_field,
			 .head = { text, NULL, text, text, PD_BY_RAW, false, "field of a tracepoint" },
			 .descending = true,
			 .right = true },
		.event = EVERY_EVENT,
		.raw = report->options.raw_trace,
		.name = pd_arena_text(&report->field_texts, name, length),
	};
	return key->name ? key : NULL;
}

/* Takes EVENT. and /raw away from the name. False if there is no such event. */
static bool split_name(struct pd_file *file, struct field_key *key)
{
	char *name = key->name, *dot = strchr(name, '.'), *slash = strrchr(name, '/');

	if (slash && strcmp(slash, "/raw") == 0) {
		*slash = 0;
		key->raw = true;
	}
	if (!dot)
		return true;
	*dot = 0;
	key->event = find_event(file, name);
	key->name = dot + 1;
	return key->event != NO_EVENT;
}

const struct key *pd_field_key_by_name(struct pd_report *report, struct pd_file *file, const char *name, size_t length)
{
	struct field_key *key;

	for (size_t i = 0; i < report->field_count; i++) {
		const char *known = report->fields[i].key.head.name;

		if (report->fields[i].name && strlen(known) == length && memcmp(known, name, length) == 0)
			return &report->fields[i].key;
	}
	if (!file || !pd_report_trace(report, file))
		return NULL;
	key = new_key(report, name, length);
	if (!key || !split_name(file, key) || !count_members(report, file, key))
		return NULL;
	report->field_count++;
	return &key->key;
}

const struct key *pd_field_key_at(struct pd_report *report, struct pd_file *file, size_t position)
{
	struct field_key *key;
	char name[32];

	if (!file || !pd_report_trace(report, file))
		return NULL;
	for (size_t i = 0; i < report->field_count; i++)
		if (!report->fields[i].name && report->fields[i].position == position)
			return &report->fields[i].key;
	snprintf(name, sizeof(name), "field%zu", position + 1);
	key = new_key(report, name, strlen(name));
	if (!key)
		return NULL;
	key->name = NULL;
	key->position = position;
	if (!count_members(report, file, key))
		return NULL;
	report->field_count++;
	return &key->key;
}

bool pd_column_is_there(const struct pd_report *report, const struct table *table, const struct column *column)
{
	return column->kind != COLUMN_KEY || !key_is_field(report->keys[column->key]) ||
	       pd_field_of_table(report, report->keys[column->key], table);
}
