/* SPDX-License-Identifier: MIT */
/* Sort keys of memory accesses and transactions. Values are in perf's order, which is that of the recorded bits. */
#include "format/text/access.h"
#include "report/keys/find.h"
#include "report/report.h"
#include "symbol/data.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	TRANSACTION_BYTES = 32
};

/* The profile was asked for it by pd_report_ask. */
static struct pd_access access_of(const struct key_context *context)
{
	struct pd_access access = { .data_src = PD_NO_DATA_SRC };

	if (context->entry->raw.size >= sizeof(access))
		memcpy(&access, context->entry->raw.data, sizeof(access));
	return access;
}

static bool find_count(struct pd_report *report, size_t key, uint32_t count, uint32_t *value_out)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, count);
	return pd_value_find_number(&report->values[key], count, ~(uint64_t)count, text, value_out);
}

bool pd_key_latency(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_count(report, key, access_of(context).latency, value_out);
}

bool pd_key_stage(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_count(report, key, access_of(context).stage, value_out);
}

bool pd_key_code_page_size(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t size = access_of(context).code_page_size;
	struct pd_access_words words = { .length = 0 };

	pd_access_page_size(&words, size);
	return pd_value_find_number(&report->values[key], size, ~size, words.text, value_out);
}

bool pd_key_data_page_size(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t size = access_of(context).data_page_size;
	struct pd_access_words words = { .length = 0 };

	pd_access_page_size(&words, size);
	return pd_value_find_number(&report->values[key], size, size, words.text, value_out);
}

bool pd_key_transaction(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t transaction = access_of(context).transaction;
	struct pd_access_words words = { .length = 0 };

	pd_access_transaction(&words, transaction);
	if (!pd_value_find_number(&report->values[key], transaction, ~transaction, words.text, value_out))
		return false;
	/* as perf: if there are any, the column has room for all that can be said */
	if (transaction && words.length < TRANSACTION_BYTES)
		report->values[key].items[*value_out].padding = (uint8_t)(TRANSACTION_BYTES - words.length);
	return true;
}

/* As perf: other bits of data_src, which the words have too, distinguish nothing. */
static bool find_part(struct pd_report *report, size_t key, const struct key_context *context, uint64_t bits,
		      void (*add)(struct pd_access_words *words, uint64_t data_src), uint32_t *value_out)
{
	struct pd_access_words words = { .length = 0 };

	add(&words, access_of(context).data_src);
	return pd_value_find_number(&report->values[key], bits, bits, words.text, value_out);
}

bool pd_key_mem(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t bits = PD_BITS(access_of(context).data_src, PD_DATA_SRC_LVL);

	return find_part(report, key, context, bits, pd_access_level, value_out);
}

bool pd_key_snoop(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t bits = PD_BITS(access_of(context).data_src, PD_DATA_SRC_SNOOP);

	return find_part(report, key, context, bits, pd_access_snoop, value_out);
}

bool pd_key_tlb(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t bits = PD_BITS(access_of(context).data_src, PD_DATA_SRC_DTLB);

	return find_part(report, key, context, bits, pd_access_tlb, value_out);
}

bool pd_key_locked(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t bits = PD_BITS(access_of(context).data_src, PD_DATA_SRC_LOCK);

	return find_part(report, key, context, bits, pd_access_lock, value_out);
}

bool pd_key_blocked(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t bits = PD_BITS(access_of(context).data_src, PD_DATA_SRC_BLK);

	return find_part(report, key, context, bits, pd_access_blocked, value_out);
}

/* ---- places of data ---- */

enum {
	ADDRESS_DIGITS = 16,
	LEVEL_BYTES = 4,  /* "[.] " */
	PADDING_BYTES = 2 /* perf leaves more than it prints */
};

static struct pd_data_place place_of(const struct key_context *context)
{
	struct pd_data_place place = { 0 };
	const struct pd_bytes raw = context->entry->raw;

	if (raw.size >= sizeof(struct pd_access) + sizeof(place))
		memcpy(&place, raw.data + sizeof(struct pd_access), sizeof(place));
	return place;
}

/* Where the sample was. */
static const struct pd_frame *frame_of(const struct pd_report *report, const struct key_context *context)
{
	const struct pd_stack *stack = pd_profile_stack(report->profile, context->entry->stack);

	return pd_profile_frame(report->profile, stack->ip);
}

static unsigned mode_of(const struct pd_report *report, const struct key_context *context)
{
	return frame_of(report, context)->cpumode;
}

/* What a key shows of an address. */
struct shown {
	char level;
	const struct pd_function *function; /* or NULL */
	uint64_t offset;                    /* in a variable */
	uint64_t addr;
	uint64_t order; /* before the address */
	size_t padding; /* that perf leaves beyond a name and an address */
};

/* As perf: a column is as wide as the name, an address and a level. */
static bool set_text(struct pd_report *report, size_t key, uint32_t number, const struct shown *shown)
{
	struct value *value = &report->values[key].items[number];
	struct pd_text *text = report->scratch.text;
	size_t wide = LEVEL_BYTES + ADDRESS_DIGITS + PADDING_BYTES;

	pd_text_clear(text);
	pd_text_printf(text, "[%c] ", shown->level);
	if (!shown->function)
		pd_text_printf(text, "%#-.*" PRIx64, ADDRESS_DIGITS, shown->addr);
	else if (shown->function->data)
		pd_text_printf(text, "%s+0x%" PRIx64, shown->function->name, shown->offset);
	else
		pd_text_add(text, shown->function->name);
	if (shown->function)
		wide += strlen(shown->function->name) + shown->padding;
	value->by_addr = true;
	value->word = pd_addr_order(shown->addr);
	if (pd_text_failed(text) || !pd_value_set_text(&report->values[key], number, pd_text_bytes(text), shown->order))
		return false;
	value->padding =
		(uint8_t)(wide > value->length && wide - value->length <= UINT8_MAX ? wide - value->length : 0);
	return true;
}

static bool find_data(struct pd_report *report, size_t key, const struct key_context *context,
		      const struct pd_data_place *data, uint32_t *value_out)
{
	struct pd_place place = pd_symbols_data(report->symbols, data->mapping, mode_of(report, context), data->addr);
	struct shown shown = { .level = pd_key_level(mode_of(report, context)),
			       .function = place.function,
			       .addr = data->addr };

	if (place.function)
		shown.offset = place.addr - place.function->start;
	return set_text(report, key, *value_out, &shown);
}

/* As perf: addresses are distinguished, whatever is there. */
bool pd_key_symbol_daddr(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	struct pd_data_place data = place_of(context);
	struct identity id = { data.addr, mode_of(report, context) };
	bool fresh;

	if (!pd_value_find(&report->values[key], id, value_out, &fresh))
		return false;
	return !fresh || find_data(report, key, context, &data, value_out);
}

bool pd_key_symbol_iaddr(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	const struct pd_frame *frame = frame_of(report, context);
	struct shown shown = { .level = pd_key_level(frame->cpumode), .addr = place_of(context).ip };
	struct identity id = { shown.addr, frame->cpumode };
	bool fresh;

	if (!pd_value_find(&report->values[key], id, value_out, &fresh))
		return false;
	shown.function = frame->place.function;
	return !fresh || set_text(report, key, *value_out, &shown);
}

bool pd_key_dso_daddr(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	struct pd_data_place data = place_of(context);
	struct pd_place place = pd_symbols_data(report->symbols, data.mapping, mode_of(report, context), data.addr);

	return pd_value_find_text(&report->values[key], place.dso ? place.dso->name : "[unknown]", place.dso ? 0 : 1,
				  (uintptr_t)report, value_out);
}

bool pd_key_phys_daddr(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	struct identity id = { place_of(context).phys_addr, 0 };
	char text[32];
	bool fresh;

	if (!pd_value_find(&report->values[key], id, value_out, &fresh))
		return false;
	if (!fresh)
		return true;
	snprintf(text, sizeof(text), "[%c] %#-.*" PRIx64, pd_key_level(mode_of(report, context)), ADDRESS_DIGITS, id.a);
	return pd_value_set_text(&report->values[key], *value_out,
				 (struct pd_bytes){ (const uint8_t *)text, strlen(text) }, pd_addr_order(id.a));
}

/* s: shared between processes; X: nothing is known of it. */
static char line_level(unsigned cpumode, const struct pd_mapping *mapping)
{
	const struct pd_object *object = mapping ? mapping->object : NULL;

	if (!object)
		return 'X';
	if (cpumode != PD_CPUMODE_KERNEL && !(mapping->prot & PD_MASK(PD_PROT_EXEC)) &&
	    (mapping->flags & PD_MASK(PD_MAP_SHARED)) &&
	    (object->maj || object->min || object->ino || object->ino_generation))
		return 's';
	return pd_key_level(cpumode);
}

bool pd_key_dcacheline(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	struct pd_data_place data = place_of(context);
	struct pd_cache_line line =
		pd_cache_line_of(data.mapping, mode_of(report, context), context->entry->pid, data.addr);
	struct pd_place place;
	struct shown shown;
	bool fresh;

	if (!pd_value_find(&report->values[key], (struct identity){ line.addr, line.group }, value_out, &fresh))
		return false;
	if (!fresh)
		return true;
	place = pd_symbols_data(report->symbols, data.mapping, mode_of(report, context), data.addr);
	shown = (struct shown){
		.level = line_level(mode_of(report, context), data.mapping),
		.function = place.function,
		.addr = line.addr,
		.order = line.order,
		.padding = 1,
	};
	/* As perf, which subtracts an address of the process from one of the file. */
	if (place.function)
		shown.offset = line.addr - (data.addr - (place.addr - place.function->start));
	return set_text(report, key, *value_out, &shown);
}
