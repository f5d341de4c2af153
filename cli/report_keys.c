/* SPDX-License-Identifier: MIT */
/*
 * The sort keys of perfdata report, by the names that perf gives them. A key finds the value of a
 * sample; values with the same identity are the same.
 */
#include "report.h"

#include "parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORTH_A_PART = 1 << 12
}; /* values */

/* ---- values ---- */

/* Values with the same identity are the same. */
struct identity {
	uint64_t a, b;
};

static uint64_t spread(struct identity id)
{
	uint64_t identity = id.a ^ (id.b << 32 | id.b >> 32) ^ id.b;

	identity *= UINT64_C(0x9e3779b97f4a7c15);
	identity = (identity ^ identity >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return identity ^ identity >> 32;
}

/* More room for numbers; the table need not be looked at. False if there is no memory. */
static bool grow_slots(struct number_slot **slots, size_t *slot_count)
{
	size_t count = *slot_count ? *slot_count * 4 : 64;
	struct number_slot *more = calloc(count, sizeof(*more));

	if (!more)
		return false;
	for (size_t i = 0; i < *slot_count; i++) {
		size_t at = (*slots)[i].hash & (count - 1);

		if (!(*slots)[i].number)
			continue;
		while (more[at].number)
			at = (at + 1) & (count - 1);
		more[at] = (*slots)[i];
	}
	free(*slots);
	*slots = more;
	*slot_count = count;
	return true;
}

static bool grow_items(struct value_table *table)
{
	size_t capacity = table->capacity ? table->capacity * 2 : 64;
	struct value *items = realloc(table->items, capacity * sizeof(*items));

	if (!items)
		return false;
	table->items = items;
	table->capacity = capacity;
	return true;
}

/* False if there is no memory. */
static bool add_item(struct value_table *table, struct identity id, uint32_t *value_out)
{
	if (table->count == table->capacity && !grow_items(table))
		return false;
	*value_out = (uint32_t)table->count;
	table->items[table->count++] = (struct value){ .a = id.a, .b = id.b };
	return true;
}

/* The value of an identity. A new one has no text: *new_out. False if there is no memory. */
static bool find_value(struct value_table *table, struct identity id, uint32_t *value_out, bool *new_out)
{
	uint32_t hash = (uint32_t)spread(id);
	size_t at;

	*new_out = false;
	if (table->in_slots * 2 >= table->slot_count && !grow_slots(&table->slots, &table->slot_count))
		return false;
	for (at = hash & (table->slot_count - 1); table->slots[at].number; at = (at + 1) & (table->slot_count - 1)) {
		*value_out = table->slots[at].number - 1;
		if (table->slots[at].hash == hash && table->items[*value_out].a == id.a &&
		    table->items[*value_out].b == id.b)
			return true;
	}
	if (!add_item(table, id, value_out))
		return false;
	*new_out = true;
	table->slots[at] = (struct number_slot){ hash, *value_out + 1 };
	table->in_slots++;
	return true;
}

/* Where the value of an index is kept, number + 1. NULL if there is no memory. */
static uint32_t *indexed_value(struct value_table *table, size_t index)
{
	if (index >= table->index_count) {
		size_t count = index < 32 ? 64 : index * 2;
		uint32_t *more = realloc(table->by_index, count * sizeof(*more));

		if (!more)
			return NULL;
		memset(more + table->index_count, 0, (count - table->index_count) * sizeof(*more));
		table->by_index = more;
		table->index_count = count;
	}
	return &table->by_index[index];
}

/* Texts one behind the other. */
struct text_block {
	struct text_block *next;
	size_t used, size;
	char texts[];
};

/* NULL if there is no memory. */
static char *block_take(struct text_block **block, size_t size)
{
	enum {
		USUAL = 1 << 16
	};

	if (!*block || (*block)->size - (*block)->used < size) {
		size_t room = size > USUAL ? size : USUAL;
		struct text_block *more = malloc(sizeof(*more) + room);

		if (!more)
			return NULL;
		more->next = *block;
		more->used = 0;
		more->size = room;
		*block = more;
	}
	(*block)->used += size;
	return (*block)->texts + (*block)->used - size;
}

static void blocks_free(struct text_block *block)
{
	while (block) {
		struct text_block *next = block->next;

		free(block);
		block = next;
	}
}

void value_table_fini(struct value_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		if (!table->items[i].borrowed)
			free((void *)(uintptr_t)table->items[i].text);
	free(table->items);
	free(table->slots);
	blocks_free(table->texts);
	free(table->by_index);
	free(table->ranks);
	free(table->fine);
}

/* The first letters of a text, as a number in the same order. */
static uint64_t first_letters(const char *text)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < sizeof(word); i++) {
		word = word << 8 | (unsigned char)*text;
		text += *text != 0;
	}
	return word;
}

/* Gives a new value the text in the scratch. */
static bool set_text(struct report *report, struct value *value, uint64_t order)
{
	struct pd_bytes bytes = pd_text_bytes(report->scratch);
	char *text = pd_text_failed(report->scratch) || bytes.size > UINT32_MAX ? NULL : malloc(bytes.size + 1);

	if (!text)
		return false;
	if (bytes.size)
		memcpy(text, bytes.data, bytes.size);
	text[bytes.size] = 0;
	value->text = text;
	value->length = (uint32_t)bytes.size;
	value->order = order;
	if (!value->by_addr)
		value->word = first_letters(text + value->unsorted);
	return true;
}

/* A value that is a number, in an order of its own. */
static bool find_ordered_number(struct report *report, size_t key, uint64_t number, uint64_t order, const char *text,
				uint32_t *value_out)
{
	struct value_table *table = &report->values[key];
	bool fresh;

	if (!find_value(table, (struct identity){ number, 0 }, value_out, &fresh))
		return false;
	if (!fresh)
		return true;
	pd_text_clear(report->scratch);
	pd_text_add(report->scratch, text);
	return set_text(report, &table->items[*value_out], order);
}

static bool find_number(struct report *report, size_t key, uint64_t number, const char *text, uint32_t *value_out)
{
	return find_ordered_number(report, key, number, number, text, value_out);
}

/* As perf: the largest first. */
static bool find_cost(struct report *report, size_t key, uint64_t number, const char *text, uint32_t *value_out)
{
	return find_ordered_number(report, key, number, ~number, text, value_out);
}

/* A value that is a text: equal texts of the same order are one value. */
static bool find_ordered_text(struct report *report, size_t key, const char *text, uint64_t order, uint32_t *value_out)
{
	struct value_table *table = &report->values[key];
	/* Where the report lies differs from run to run, so that no file can choose texts that fall together. */
	struct identity id = { (UINT64_C(0xcbf29ce484222325) ^ (uintptr_t)report) + order, 0 };
	bool fresh;

	for (const char *at = text; *at; at++)
		id.a = (id.a ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	/* Texts with the same hash get the next free identity. */
	for (;; id.b++) {
		if (!find_value(table, id, value_out, &fresh))
			return false;
		if (fresh ||
		    (table->items[*value_out].order == order && strcmp(table->items[*value_out].text, text) == 0))
			break;
	}
	if (!fresh)
		return true;
	pd_text_clear(report->scratch);
	pd_text_add(report->scratch, text);
	return set_text(report, &table->items[*value_out], order);
}

static bool find_text(struct report *report, size_t key, const char *text, uint32_t *value_out)
{
	return find_ordered_text(report, key, text, 0, value_out);
}

/* ---- keys of entries ---- */

static bool find_comm(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	return find_text(report, key, subject->entry->comm ? subject->entry->comm : "", value_out);
}

/* The name that a thread had at last. */
static const char *last_name(const struct report *report, uint32_t tid, char *unknown)
{
	struct pd_moment end = { PD_NEVER - 1, UINT64_MAX };

	return pd_world_comm(pd_profile_world(report->profile), tid, end, unknown);
}

static bool find_thread_named(struct report *report, size_t key, uint32_t number, uint32_t tid, uint32_t *value_out)
{
	char unknown[PD_THREAD_NAME_BYTES], text[64];

	if (number == UINT32_MAX)
		return find_number(report, key, number, "     -1:", value_out);
	snprintf(text, sizeof(text), "%7d:%s", (int32_t)number, last_name(report, tid, unknown));
	return find_number(report, key, number, text, value_out);
}

/* What perf calls pid is the thread. */
static bool find_tid(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	return find_thread_named(report, key, subject->entry->tid, subject->entry->tid, value_out);
}

static bool find_tgid(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	return find_thread_named(report, key, subject->entry->pid, subject->entry->pid, value_out);
}

static bool find_cpu(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	char text[16];

	snprintf(text, sizeof(text), "%.3d", (int32_t)subject->entry->cpu);
	return find_number(report, key, subject->entry->cpu, text, value_out);
}

int socket_of(struct report *report, uint32_t cpu)
{
	const struct pd_cpu_topology *topology = pd_file_cpu_topology(report->input.file);
	const struct pd_cpu_place *place;

	if (!topology || cpu >= topology->places.count)
		return -1;
	place = PD_ITEM(pd_cpu_place, topology->places, cpu);
	return (int)place->package_id;
}

static bool find_socket(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	int socket = socket_of(report, subject->entry->cpu);
	char text[16];

	snprintf(text, sizeof(text), "%.3d", socket);
	return find_number(report, key, (uint64_t)(int64_t)socket, text, value_out);
}

static bool find_cgroup(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	const char *path = pd_world_cgroup(pd_profile_world(report->profile), subject->entry->cgroup);

	return find_text(report, key, path ? path : "N/A", value_out);
}

/* As perf: of the namespace of cgroups of the thread, the largest first. */
static bool find_cgroup_id(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	struct pd_moment end = { PD_NEVER - 1, UINT64_MAX };
	struct pd_list list = pd_world_namespaces(pd_profile_world(report->profile), subject->entry->tid, end);
	struct value_table *table = &report->values[key];
	struct identity id = { 0, 0 };
	bool fresh;

	if (list.count > PD_NAMESPACE_CGROUP) {
		const struct pd_namespace *link = PD_ITEM(pd_namespace, list, PD_NAMESPACE_CGROUP);

		id = (struct identity){ link->inode, link->dev };
	}
	if (!find_value(table, id, value_out, &fresh))
		return false;
	if (!fresh)
		return true;
	pd_text_clear(report->scratch);
	pd_text_printf(report->scratch, "%" PRIu64 "/0x%" PRIx64, id.b, id.a);
	return set_text(report, &table->items[*value_out], ~(id.b << 32 | (id.a & UINT32_MAX)));
}

/* Instructions per cycle are not known of samples. */
static bool find_ipc(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	(void)subject;
	return find_text(report, key, "-      -", value_out);
}

static bool find_weight(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, subject->entry->weight);
	return find_cost(report, key, subject->entry->weight, text, value_out);
}

static bool find_time(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	uint64_t ns = subject->entry->slice_ns;
	char text[48];

	snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns % 1000000000 / 1000);
	return find_number(report, key, ns, text, value_out);
}

/* %ps in the format of a tracepoint names a function of the kernel. */
static const char *function_at(void *self, uint64_t addr, uint64_t *start_out)
{
	struct report *report = self;
	struct pd_moment end = { PD_NEVER - 1, UINT64_MAX };
	struct pd_place place = pd_symbols_place(report->symbols, 0, PD_CPUMODE_KERNEL, end, addr);

	if (!place.function)
		return NULL;
	*start_out = addr - (place.addr - place.function->start);
	return place.function->name;
}

/* What a tracepoint recorded, in its own format. */
static bool find_trace(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	struct pd_trace_options options = { .size = sizeof(options), .function = function_at, .self = report };
	const struct pd_profile_entry *entry = subject->entry;
	struct pd_text *text;
	struct pd_bytes bytes;
	bool done = false;

	if (!report->trace && pd_trace_new(report->input.file, &options, &report->trace, NULL) != PD_OK)
		return false;
	text = pd_text_new();
	if (!text)
		return false;
	if (entry->event->attr->type != PD_TYPE_TRACEPOINT ||
	    !pd_trace_print(report->trace, entry->event, entry->raw, text))
		pd_text_add(text, "N/A");
	pd_text_printf(text, "%c", 0);
	bytes = pd_text_bytes(text);
	if (!pd_text_failed(text))
		done = find_text(report, key, (const char *)bytes.data, value_out);
	pd_text_free(text);
	return done;
}

/* ---- keys of frames ---- */

/* In the view of branches the place is where the branch went. */
static const struct pd_frame *frame_of(const struct report *report, const struct subject *subject)
{
	return subject->branch ? &subject->branch->to : pd_profile_frame(report->profile, subject->frame);
}

static const char *dso_name(const struct pd_frame *frame)
{
	return frame->place.dso ? frame->place.dso->name : "[unknown]";
}

static bool find_object(struct report *report, size_t key, const struct pd_frame *frame, uint32_t *value_out)
{
	const struct pd_dso *dso = frame->place.dso;
	uint32_t *known = indexed_value(&report->values[key], dso ? dso->index + 1 : 0);

	if (!known)
		return false;
	if (!*known) {
		/* What is in no object comes behind all that is. */
		if (!find_ordered_text(report, key, dso_name(frame), dso ? 0 : 1, value_out))
			return false;
		*known = *value_out + 1;
	}
	*value_out = *known - 1;
	return true;
}

static bool find_dso(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	return find_object(report, key, frame_of(report, subject), value_out);
}

static char level_letter(unsigned cpumode)
{
	switch (cpumode) {
	case PD_CPUMODE_KERNEL:
		return 'k';
	case PD_CPUMODE_GUEST_KERNEL:
		return 'g';
	case PD_CPUMODE_GUEST_USER:
		return 'u';
	case PD_CPUMODE_HYPERVISOR:
		return 'H';
	default:
		return '.';
	}
}

/* As perf: the kernel's addresses come first. */
static uint64_t in_order(uint64_t addr)
{
	return addr ^ UINT64_C(1) << 63;
}

/* Functions have numbers without gaps. False if there is no memory. */
static bool find_function_value(struct value_table *table, const struct pd_function *function, uint32_t *value_out,
				bool *new_out)
{
	uint32_t *known = indexed_value(table, function->index);

	*new_out = known && !*known;
	if (!known || (!*known && !add_item(table, (struct identity){ function->index, UINT64_MAX }, value_out)))
		return false;
	if (*new_out)
		*known = *value_out + 1;
	*value_out = *known - 1;
	return true;
}

/* The value of a function, else of what an address is told apart by. */
static bool find_function(struct report *report, size_t key, const struct pd_frame *frame, unsigned cpumode,
			  struct identity id, uint32_t *value_out)
{
	enum {
		RESOLVED,
		UNRESOLVED
	};
	const struct pd_function *function = frame->place.function;
	struct value_table *table = &report->values[key];
	struct value *value;
	bool fresh;

	if (!(function ? find_function_value(table, function, value_out, &fresh) :
			 find_value(table, id, value_out, &fresh)))
		return false;
	if (!fresh)
		return true;
	value = &table->items[*value_out];
	/* As perf, which tells the ends of branches apart at once, and has no order of their names. */
	value->by_addr = !function || report->keys[key]->of_branch;
	if (value->by_addr)
		value->word = in_order(function ? function->start : id.a);
	value->alike = !function && !report->keys[key]->of_branch;
	table->any_alike |= value->alike;
	value->order = function ? RESOLVED : UNRESOLVED;
	value->level = level_letter(cpumode);
	value->borrowed = true;
	value->text = function ? function->name : NULL;
	value->addr = frame->place.addr;
	return true;
}

/* Functions are told apart by object and place. As perf: addresses without one by address alone, unless objects are a key. */
static bool find_symbol(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	struct pd_frame frame = *frame_of(report, subject);
	struct identity id;

	/* As perf: where branches went is shown as it was recorded. */
	if (subject->branch)
		frame.place.addr = frame.place.recorded;
	/* What is in no object may be of another level in each table. */
	id = (struct identity){ frame.place.addr, frame.place.dso ? 0 : report->first_event };
	return find_function(report, key, &frame, subject->cpumode, id, value_out);
}

static void describe_line(struct report *report, const struct pd_frame *frame, bool whole)
{
	const struct pd_place *place = &frame->place;
	struct pd_line line;
	const char *name;

	pd_text_clear(report->scratch);
	if (pd_symbols_lines(report->symbols, place, &line, 1) && line.file && line.line) {
		name = strrchr(line.file, '/') ? strrchr(line.file, '/') + 1 : line.file;
		if (whole)
			pd_text_printf(report->scratch, "%s:%" PRIu32, name, line.line);
		else
			pd_text_add(report->scratch, name);
	} else if (!whole) {
		/* As perf: nothing. */
		return;
	} else if (place->function) {
		pd_text_printf(report->scratch, "%s+%" PRIu64, place->function->name,
			       place->addr - place->function->start);
	} else if (place->dso) {
		pd_text_printf(report->scratch, "%s[%" PRIx64 "]", place->dso->name, place->addr);
	} else {
		pd_text_add(report->scratch, "??:0");
	}
}

static bool find_line_text(struct report *report, size_t key, const struct pd_frame *frame, bool whole,
			   uint32_t *value_out)
{
	struct pd_bytes bytes;
	char *text;
	bool done;

	describe_line(report, frame, whole);
	bytes = pd_text_bytes(report->scratch);
	text = pd_text_failed(report->scratch) ? NULL :
	       bytes.size                      ? strndup((const char *)bytes.data, bytes.size) :
						 strdup("");
	done = text && find_text(report, key, text, value_out);
	free(text);
	return done;
}

static bool find_srcline(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	return find_line_text(report, key, frame_of(report, subject), true, value_out);
}

static bool find_srcfile(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	return find_line_text(report, key, frame_of(report, subject), false, value_out);
}

static bool find_symbol_size(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	const struct pd_function *function = frame_of(report, subject)->place.function;
	char text[32];

	if (!function)
		return find_number(report, key, UINT64_MAX, "unknown", value_out);
	snprintf(text, sizeof(text), "%" PRIu64, function->end - function->start);
	return find_number(report, key, function->end - function->start, text, value_out);
}

/* ---- keys of branches ---- */

static bool find_dso_from(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	return find_object(report, key, &subject->branch->from, value_out);
}

static bool find_dso_to(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	return find_object(report, key, &subject->branch->to, value_out);
}

/* As perf: addresses without a function are told apart as they were recorded. */
static bool find_end(struct report *report, size_t key, const struct pd_frame *end, uint32_t *value_out)
{
	struct identity id = { end->place.recorded, 0 };

	return find_function(report, key, end, end->cpumode, id, value_out);
}

static bool find_symbol_from(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	return find_end(report, key, &subject->branch->from, value_out);
}

static bool find_symbol_to(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	return find_end(report, key, &subject->branch->to, value_out);
}

static bool find_srcline_from(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	return find_line_text(report, key, &subject->branch->from, true, value_out);
}

static bool find_srcline_to(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	return find_line_text(report, key, &subject->branch->to, true, value_out);
}

static bool find_mispredict(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	uint64_t flags = subject->branch->flags;
	const char *text = PD_BITS(flags, PD_BRANCH_PREDICTED) ? "N" : PD_BITS(flags, PD_BRANCH_MISPRED) ? "Y" : "N/A";

	return find_text(report, key, text, value_out);
}

static bool find_in_tx(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	return find_text(report, key, PD_BITS(subject->branch->flags, PD_BRANCH_IN_TX) ? "T" : ".", value_out);
}

static bool find_abort(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	return find_text(report, key, PD_BITS(subject->branch->flags, PD_BRANCH_ABORT) ? "A" : ".", value_out);
}

/* As perf: a signed number of 16 bits, and none is a dash. */
static bool find_cycles(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	uint64_t cycles = PD_BITS(subject->branch->flags, PD_BRANCH_CYCLES);
	char text[16];

	snprintf(text, sizeof(text), "%d", (int16_t)cycles);
	return find_cost(report, key, cycles, cycles ? text : "-", value_out);
}

/* ---- the table ---- */

static const struct key keys[] = {
	{ "comm", NULL, "Command", "comm", PD_BY_COMM, false, false, find_comm, "name of the thread" },
	{ "pid", "tid", "    Pid:Command", "tid", PD_BY_TID, false, false, find_tid, "thread (as pid in perf)" },
	{ "tgid", NULL, "   Tgid:Command", "pid", PD_BY_PID, false, false, find_tgid, "process" },
	{ "dso", NULL, "Shared Object", "dso", 0, true, false, find_dso, "object", .of_function = true },
	{ "sym", "symbol", "Symbol", "symbol", 0, true, false, find_symbol, "function", .of_function = true,
	  .ragged = true },
	{ "cpu", NULL, "CPU", "cpu", PD_BY_CPU, false, false, find_cpu, "CPU" },
	{ "socket", NULL, "Socket", "socket", PD_BY_CPU, false, false, find_socket, "processor", .right = true },
	{ "srcline", NULL, "Source:Line", "srcline", 0, true, false, find_srcline, "file and line" },
	{ "srcfile", NULL, "Source File", "srcfile", 0, true, false, find_srcfile, "file", .ragged = true },
	{ "cgroup", NULL, "Cgroup", "cgroup", PD_BY_CGROUP, false, false, find_cgroup, "path of the cgroup",
	  .ragged = true },
	{ "cgroup_id", NULL, "cgroup id (dev/inode)", "cgroup_id", PD_BY_TID, false, false, find_cgroup_id,
	  "device and inode of the cgroup namespace", .ragged = true },
	{ "ipc_null", NULL, "IPC   [IPC Coverage]", "ipc", 0, false, false, find_ipc,
	  "instructions per cycle (not in samples)", .width = 20 },
	{ "weight", NULL, "Weight", "weight", PD_BY_WEIGHT, false, false, find_weight,
	  "cost of all samples of a row with the same cost", .width = 12, .times_samples = true },
	{ "local_weight", NULL, "Local Weight", "local_weight", PD_BY_WEIGHT, false, false, find_weight,
	  "cost of one sample", .width = 12 },
	{ "time", NULL, "Time", "time", PD_BY_TIME, false, false, find_time, "time slice of --time-quantum",
	  .width = 12, .ragged = true },
	{ "trace", NULL, "Trace output", "trace", PD_BY_RAW, false, false, find_trace, "what a tracepoint recorded",
	  .ragged = true },
	{ "symbol_size", NULL, "Symbol size", "symbol_size", 0, true, false, find_symbol_size,
	  "size of the function in bytes", .of_function = true, .right = true },
	{ "dso_from", NULL, "Source Shared Object", "dso_from", 0, false, true, find_dso_from,
	  "source object of a branch", .falling = true },
	{ "dso_to", NULL, "Target Shared Object", "dso_to", 0, false, true, find_dso_to, "target object of a branch",
	  .falling = true },
	{ "symbol_from", NULL, "Source Symbol", "symbol_from", 0, false, true, find_symbol_from,
	  "source function of a branch", .ragged = true },
	{ "symbol_to", NULL, "Target Symbol", "symbol_to", 0, false, true, find_symbol_to,
	  "target function of a branch", .ragged = true },
	{ "srcline_from", NULL, "From Source:Line", "srcline_from", 0, false, true, find_srcline_from,
	  "source line of a branch" },
	{ "srcline_to", NULL, "To Source:Line", "srcline_to", 0, false, true, find_srcline_to,
	  "target line of a branch" },
	{ "mispredict", NULL, "Branch Mispredicted", "mispredict", 0, false, true, find_mispredict,
	  "N: predicted, Y: mispredicted, N/A: unknown" },
	{ "in_tx", NULL, "Branch in transaction", "in_tx", 0, false, true, find_in_tx, "T: in a transaction" },
	{ "abort", NULL, "Transaction abort", "abort", 0, false, true, find_abort, "A: the transaction was aborted" },
	{ "cycles", NULL, "Basic Block Cycles", "cycles", 0, false, true, find_cycles, "since the branch before" },
};

const struct key *key_at(size_t index)
{
	return index < sizeof(keys) / sizeof(keys[0]) ? &keys[index] : NULL;
}

const struct key *key_by_name(const char *name, size_t length)
{
	const struct key *key;

	for (size_t i = 0; (key = key_at(i)) != NULL; i++) {
		if ((strlen(key->name) == length && !memcmp(key->name, name, length)) ||
		    (key->other_name && strlen(key->other_name) == length && !memcmp(key->other_name, name, length)))
			return key;
	}
	return NULL;
}

void values_expect(const struct report *report, const struct row *row, unsigned stage)
{
	for (size_t i = 0; i < report->key_count; i++) {
		const struct value *value;

		if (!stage) {
			__builtin_prefetch(report->keys[i]->of_frame ?
						   &report->places.values[row->place * report->key_count] :
						   &report->whos.values[row->who * report->key_count]);
			continue;
		}
		value = &report->values[i].items[row_value(report, row, i)];
		__builtin_prefetch(stage == 1 ? (const void *)value : value->text);
	}
}

const char *value_text(const struct report *report, size_t key, const struct row *row, char *room)
{
	const struct value *value = &report->values[key].items[row_value(report, row, key)];

	if (!report->keys[key]->times_samples)
		return value->text;
	snprintf(room, VALUE_TEXT_BYTES, "%" PRIu64, value->a * row->amounts->samples);
	return room;
}

/* ---- sets of values ---- */

static size_t hash_values(const uint32_t *values, size_t count)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < count; i++) {
		hash = (hash ^ values[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return (size_t)hash;
}

static bool add_set(struct value_sets *sets, const uint32_t *values, size_t keys)
{
	if (sets->count == sets->capacity) {
		size_t capacity = sets->capacity ? sets->capacity * 2 : 256;
		/* There may be no keys. */
		uint32_t *more = realloc(sets->values, capacity * keys * sizeof(*more) + 1);

		if (!more)
			return false;
		sets->values = more;
		sets->capacity = capacity;
	}
	memcpy(&sets->values[sets->count++ * keys], values, keys * sizeof(*values));
	return true;
}

/* The number of values, which are added if they are new. False if there is no memory. */
static bool find_set(struct value_sets *sets, const uint32_t *values, size_t keys, uint32_t *number_out)
{
	uint32_t hash = (uint32_t)hash_values(values, keys);
	size_t at;

	if (sets->count * 2 >= sets->slot_count && !grow_slots(&sets->slots, &sets->slot_count))
		return false;
	for (at = hash & (sets->slot_count - 1); sets->slots[at].number; at = (at + 1) & (sets->slot_count - 1)) {
		*number_out = sets->slots[at].number - 1;
		if (sets->slots[at].hash == hash &&
		    memcmp(&sets->values[*number_out * keys], values, keys * sizeof(*values)) == 0)
			return true;
	}
	*number_out = (uint32_t)sets->count;
	sets->slots[at] = (struct number_slot){ hash, *number_out + 1 };
	return add_set(sets, values, keys);
}

bool values_find(struct report *report, const struct subject *subject, bool of_frame, uint32_t *number_out)
{
	uint32_t values[KEYS_MOST] = { 0 };

	for (size_t i = 0; i < report->key_count; i++)
		if (report->keys[i]->of_frame == of_frame && !report->keys[i]->find(report, i, subject, &values[i]))
			return false;
	return find_set(of_frame ? &report->places : &report->whos, values, report->key_count, number_out);
}

void value_sets_fini(struct value_sets *sets)
{
	free(sets->values);
	free(sets->slots);
}

/* ---- texts of functions ---- */

/* As C prints %#018lx: nothing has no 0x. */
static size_t print_address(char *text, uint64_t addr)
{
	char *at = text;

	if (addr) {
		*at++ = '0';
		*at++ = 'x';
	}
	for (int shift = 60; shift >= 0; shift -= 4)
		*at++ = "0123456789abcdef"[addr >> shift & 15];
	*at = 0;
	return (size_t)(at - text);
}

/* False if there is no memory. */
static bool make_text(struct value *value, struct text_block **block)
{
	enum {
		LEVEL_LETTERS = 4 /* "[.] " */
	};
	char address[24];
	const char *name = value->text ? value->text : address;
	size_t length = value->text ? strlen(name) : print_address(address, value->addr);
	char *text = length < UINT32_MAX - LEVEL_LETTERS ? block_take(block, LEVEL_LETTERS + length + 1) : NULL;

	if (!text)
		return false;
	text[0] = '[';
	text[1] = value->level;
	text[2] = ']';
	text[3] = ' ';
	memcpy(text + LEVEL_LETTERS, name, length + 1);
	value->text = text;
	value->length = (uint32_t)(LEVEL_LETTERS + length);
	value->unsorted = LEVEL_LETTERS;
	value->level = 0;
	if (!value->by_addr)
		value->word = first_letters(text + LEVEL_LETTERS);
	return true;
}

struct texting {
	struct value_table *table;
	size_t parts;
	struct text_block *blocks[PARTS_MOST]; /* by part, until they are those of the table */
	bool failed[PARTS_MOST];
};

static void make_texts_part(void *self, size_t part)
{
	enum {
		AHEAD = 8
	};
	struct texting *texting = self;
	struct value_table *table = texting->table;
	struct text_block *blocks = NULL;
	size_t end = part_begin(table->count, texting->parts, part + 1);
	bool failed = false;

	for (size_t i = part_begin(table->count, texting->parts, part); !failed && i < end; i++) {
		if (i + AHEAD < end && table->items[i + AHEAD].level)
			__builtin_prefetch(table->items[i + AHEAD].text);
		failed = table->items[i].level && !make_text(&table->items[i], &blocks);
	}
	texting->blocks[part] = blocks;
	texting->failed[part] = failed;
}

static void keep_blocks(struct value_table *table, struct text_block *blocks)
{
	while (blocks) {
		struct text_block *next = blocks->next;

		blocks->next = table->texts;
		table->texts = blocks;
		blocks = next;
	}
}

/* False if there is no memory. */
static bool make_texts(struct value_table *table, size_t threads)
{
	struct texting texting = { .table = table };
	bool done = true;

	texting.parts = part_count(thread_count(threads), table->count, WORTH_A_PART);
	parts_do(texting.parts, make_texts_part, &texting);
	for (size_t i = 0; i < texting.parts; i++) {
		done = done && !texting.failed[i];
		keep_blocks(table, texting.blocks[i]);
	}
	return done;
}

/* ---- order ---- */

/* Texts that agree in their first letters, and what has the same address. */
static int compare_values(const void *self, uint32_t a, uint32_t b)
{
	const struct value_table *table = self;
	const struct value *x = &table->items[a], *y = &table->items[b];
	int order = x->by_addr && y->by_addr ? 0 : strcmp(x->text + x->unsorted, y->text + y->unsorted);

	return order ? order : x->a < y->a ? -1 : x->a > y->a;
}

static void set_ranks(struct value_table *table, const struct sorted *sorted, bool falling)
{
	enum {
		AHEAD = 16
	};

	for (size_t i = 0; i < table->count; i++) {
		const struct value *value = &table->items[sorted[i].number];
		const struct value *before = i ? &table->items[sorted[i - 1].number] : NULL;
		bool alike = before && value->alike && before->alike && value->order == before->order;
		uint32_t rank = (uint32_t)(falling ? table->count - 1 - i : i);

		if (i + AHEAD < table->count)
			__builtin_prefetch(&table->items[sorted[i + AHEAD].number]);
		if (table->any_alike)
			table->fine[sorted[i].number] = rank;
		table->ranks[sorted[i].number] = alike ? table->ranks[sorted[i - 1].number] : rank;
	}
}

static bool rank_values(struct value_table *table, bool falling, size_t threads)
{
	struct sorted *sorted = malloc((table->count + 1) * sizeof(*sorted));
	bool done;

	table->ranks = malloc((table->count + 1) * sizeof(*table->ranks));
	if (table->any_alike)
		table->fine = malloc((table->count + 1) * sizeof(*table->fine));
	done = sorted && table->ranks && (table->fine || !table->any_alike);
	for (size_t i = 0; done && i < table->count; i++)
		sorted[i] = (struct sorted){ table->items[i].order, table->items[i].word, (uint32_t)i };
	done = done && sort_all(sorted, table->count, compare_values, table, threads);
	if (done)
		set_ranks(table, sorted, falling);
	free(sorted);
	return done;
}

bool keys_rank(struct report *report)
{
	for (size_t i = 0; i < report->key_count; i++)
		if (!make_texts(&report->values[i], report->threads) ||
		    !rank_values(&report->values[i], report->keys[i]->falling, report->threads))
			return false;
	return true;
}
