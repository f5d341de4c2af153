/* SPDX-License-Identifier: MIT */
/* Sort keys of addresses: of samples, of callers and of both ends of branches; and of mappings. */
#include "base/text/text.h"
#include "report/keys/find.h"
#include "report/report.h"
#include "symbol/data.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	ADDRESS_DIGITS = 16,
	OFFSET_DIGITS = 9, /* perf has so many where no function is known */
	LEVEL_BYTES = 4    /* "[.] " */
};

static bool find_addr(struct pd_report *report, size_t key, uint64_t addr, uint32_t *value_out)
{
	char text[32];

	snprintf(text, sizeof(text), "%#" PRIx64, addr);
	return pd_value_find_number(&report->values[key], addr, pd_addr_order(addr), text, value_out);
}

bool pd_key_addr(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	const struct pd_bytes raw = context->entry->raw;
	struct pd_data_place place = { 0 };

	if (context->branch)
		return find_addr(report, key, context->branch->to.place.recorded, value_out);
	if (raw.size >= sizeof(struct pd_access) + sizeof(place))
		memcpy(&place, raw.data + sizeof(struct pd_access), sizeof(place));
	return find_addr(report, key, place.ip, value_out);
}

bool pd_key_frame_addr(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_addr(report, key, pd_key_frame(report, context)->place.recorded, value_out);
}

/* A number with so many digits, as C prints it: nothing has no 0x. */
static void add_digits(struct pd_text *text, uint64_t number, int digits)
{
	pd_text_printf(text, "%#.*" PRIx64, digits, number);
}

static void describe(struct pd_text *text, const struct pd_frame *frame, uint64_t unresolved, int digits)
{
	const struct pd_function *function = frame->place.function;

	pd_text_clear(text);
	pd_text_printf(text, "[%c] ", pd_key_level(frame->cpumode));
	if (function)
		pd_text_printf(text, "%s+0x%" PRIx64, function->name, frame->place.addr - function->start);
	else
		add_digits(text, unresolved, digits);
}

/* As perf: functions by name, then by offset, the largest first. */
bool pd_key_symoff(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	const struct pd_frame *frame = pd_key_frame(report, context);
	const struct pd_function *function = frame->place.function;
	struct identity id = { ~frame->place.addr, function ? function->index + 1 : 0 };
	struct value_table *table = &report->values[key];
	struct value *value;
	bool fresh;

	if (!pd_value_find(table, id, value_out, &fresh))
		return false;
	if (!fresh)
		return true;
	value = &table->items[*value_out];
	describe(report->scratch.text, frame, frame->place.addr, OFFSET_DIGITS);
	value->unsorted = LEVEL_BYTES;
	value->by_addr = !function;
	value->word = ~pd_addr_order(frame->place.addr);
	value->sorted = function ? (uint32_t)strlen(function->name) : 0;
	if (pd_text_failed(report->scratch.text) ||
	    !pd_value_set_text(table, *value_out, pd_text_bytes(report->scratch.text), !function))
		return false;
	if (function)
		value->word = pd_value_word(function->name);
	return true;
}

/* Ends of branches are distinguished by object and address, as they were recorded. As perf: the order is that of the names of
 * objects, which stand behind the text. */
static bool find_end(struct pd_report *report, size_t key, const struct pd_frame *end, uint32_t *value_out)
{
	const struct pd_dso *dso = end->place.dso;
	struct identity id = { ~end->place.recorded, dso ? dso->index + 1 : 0 };
	struct pd_text *text = report->scratch.text;
	struct value_table *table = &report->values[key];
	size_t length;
	bool fresh;

	if (!pd_value_find(table, id, value_out, &fresh))
		return false;
	if (!fresh)
		return true;
	describe(text, end, end->place.addr, ADDRESS_DIGITS);
	length = pd_text_bytes(text).size;
	pd_text_char(text, 0);
	pd_text_add(text, dso ? dso->name : "");
	if (pd_text_failed(text) || length >= UINT32_MAX)
		return false;
	table->items[*value_out].unsorted = (uint32_t)length + 1;
	if (!pd_value_set_text(table, *value_out, pd_text_bytes(text), 0))
		return false;
	table->items[*value_out].length = (uint32_t)length;
	return true;
}

bool pd_key_addr_from(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_end(report, key, &context->branch->from, value_out);
}

bool pd_key_addr_to(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_end(report, key, &context->branch->to, value_out);
}

/* What other mappings have left of it. */
static uint64_t mapping_size(const struct pd_location *location)
{
	const struct pd_mapping *mapping = location->mapping;
	uint64_t start = mapping->start, end = mapping->end;

	if (mapping->pid != UINT32_MAX) {
		start = location->begin > start ? location->begin : start;
		end = location->end < end ? location->end : end;
	}
	return end - start;
}

/* As perf: of the mapping that the address is in, which has a part of the object. */
bool pd_key_dso_size(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	const struct pd_frame *frame = pd_key_frame(report, context);
	uint32_t pid = context->branch ? context->entry->pid : frame->pid;
	struct pd_location location;
	uint64_t size;
	char text[32];

	if (!pd_state_locate(pd_profile_state(report->profile), pid, frame->cpumode, frame->when, frame->place.recorded,
			     &location))
		return pd_value_find_number(&report->values[key], UINT64_MAX, 0, "unknown", value_out);
	size = mapping_size(&location);
	snprintf(text, sizeof(text), "%" PRIu64, size);
	return pd_value_find_number(&report->values[key], size, size, text, value_out);
}
