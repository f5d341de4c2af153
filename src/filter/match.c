/* SPDX-License-Identifier: MIT */
/*
 * Asking a filter about a record. The record is decoded when a test wants a field of it, and not at all where the
 * brief form of a sample is enough. A list compares as its items do: it is enough that one of them does.
 */
#include <string.h>

#include "base/cursor.h"
#include "filter/filter.h"
#include "stream/read/stream.h"

enum {
	SHOWN_BYTES = 512 /* of a list of bytes, as hexadecimal digits */
};

struct match {
	const struct pd_filter *filter;
	const struct pd_record *record;
	const struct pd_filter_names *names;
	const void *decoded;
	bool decode_tried;
	struct pd_brief brief;
	bool brief_tried, has_brief;
	struct pd_thread_id thread;
	bool thread_tried;
};

// True: that was it, no other values are wanted.
typedef bool visit_fn(void *self, const struct pd_filter_value *value);

// ---- what a record has ----

static const void *decoded_of(struct match *match)
{
	if (!match->decode_tried)
		match->decoded = pd_record_as(match->record, match->record->type);
	match->decode_tried = true;
	return match->decoded;
}

static const struct pd_brief *brief_of(struct match *match)
{
	if (!match->brief_tried)
		match->has_brief = pd_record_brief(match->record, &match->brief);
	match->brief_tried = true;
	return match->has_brief ? &match->brief : NULL;
}

static const struct pd_thread_id *thread_of(struct match *match)
{
	if (!match->thread_tried)
		pd_record_thread(match->record, &match->thread);
	match->thread_tried = true;
	return &match->thread;
}

// ---- values ----

static bool give_number(const struct pd_filter_operand *operand, uint64_t number, bool negative, visit_fn *visit,
			void *self)
{
	struct pd_filter_value value = { .kind = PD_VALUE_NUMBER, .negative = negative };

	if (operand->mask) {
		number = number >> operand->shift & operand->mask;
		value.negative = false;
	}
	value.number = number;
	return visit(self, &value);
}

static bool give_signed(const struct pd_filter_operand *operand, uint64_t number, size_t size, visit_fn *visit,
			void *self)
{
	unsigned shift = 64 - 8 * (unsigned)size;
	int64_t wide = (int64_t)(number << shift) >> shift;

	return give_number(operand, (uint64_t)wide, wide < 0, visit, self);
}

static bool give_id(const struct pd_filter_operand *operand, uint32_t id, bool there, visit_fn *visit, void *self)
{
	return there && give_signed(operand, id, sizeof(id), visit, self);
}

static bool give_text(const char *text, size_t size, visit_fn *visit, void *self)
{
	struct pd_filter_value value = { .kind = PD_VALUE_TEXT, .text = text, .size = size };

	return text && visit(self, &value);
}

static bool give_bytes(const uint8_t *data, size_t size, visit_fn *visit, void *self)
{
	struct pd_filter_value value = { .kind = PD_VALUE_BYTES, .text = (const char *)data, .size = size };

	return data && visit(self, &value);
}

// ---- fields of the table ----

static bool is_signed(const struct pd_field *field)
{
	return field->kind == PD_KIND_S32 || field->show == PD_SHOW_SIGNED;
}

static bool give_member(const struct pd_filter_operand *operand, const struct pd_field *field, const uint8_t *member,
			size_t size, visit_fn *visit, void *self)
{
	uint64_t number = pd_member(member, 0, size);
	struct pd_filter_value real = { .kind = PD_VALUE_REAL };

	if (field->kind == PD_KIND_F64) {
		memcpy(&real.real, &number, sizeof(real.real));
		return visit(self, &real);
	}
	return is_signed(field) ? give_signed(operand, number, size, visit, self) :
				  give_number(operand, number, false, visit, self);
}

// Arrays of numbers have one form: where they are, and how many.
static bool give_array(const struct pd_filter_operand *operand, const struct pd_field *field, const uint8_t *member,
		       visit_fn *visit, void *self)
{
	static const uint8_t sizes[] = { [PD_KIND_U16] = 2, [PD_KIND_U32] = 4, [PD_KIND_U64] = 8 };
	struct pd_bytes list;
	size_t size;

	memcpy(&list, member, sizeof(list));
	if (operand->count)
		return give_number(operand, list.size, false, visit, self);
	if (field->kind == PD_KIND_U8 || field->line == PD_LINE_RECORDS)
		return give_bytes(list.data, list.size, visit, self);
	size = field->kind < sizeof(sizes) ? sizes[field->kind] : 0;
	for (size_t i = 0; size && i < list.size; i++)
		if (give_member(operand, field, list.data + i * size, size, visit, self))
			return true;
	return false;
}

static bool give_last(const struct match *match, const struct pd_filter_operand *operand, const struct pd_field *field,
		      const uint8_t *parent, visit_fn *visit, void *self)
{
	const uint8_t *member = parent + field->offset;
	struct pd_list list;
	struct pd_str text;

	switch (field->line) {
	case PD_LINE_TEXT:
	case PD_LINE_CHARS:
		memcpy(&text, member, sizeof(text));
		return give_text(text.data, text.length, visit, self);
	case PD_LINE_LIST:
		memcpy(&list, member, sizeof(list));
		return give_number(operand, list.count, false, visit, self);
	case PD_LINE_ARRAY:
	case PD_LINE_RECORDS:
		return give_array(operand, field, member, visit, self);
	default:
		return (field->line == PD_LINE_MORE ||
			pd_when_holds(&field->when, pd_record_scope(match->record), parent)) &&
		       give_member(operand, field, member, field->size, visit, self);
	}
}

// From a struct along the steps from step on. Lists are gone through; there are few steps.
static bool give_path(const struct match *match, const struct pd_filter_operand *operand, size_t step,
		      const uint8_t *parent, visit_fn *visit, void *self)
{
	const struct pd_field *field;
	const uint8_t *part;
	struct pd_list list;

	for (; step + 1 < operand->step_count; step++) {
		field = operand->steps[step];
		if (field->line == PD_LINE_LIST) {
			memcpy(&list, parent + field->offset, sizeof(list));
			for (size_t i = 0; i < list.count; i++)
				if (give_path(match, operand, step + 1, (const uint8_t *)list.items + i * list.stride,
					      visit, self))
					return true;
			return false;
		}
		memcpy(&part, parent + field->offset, sizeof(part));
		if (!part)
			return false;
		parent = part;
	}
	return give_last(match, operand, operand->steps[step], parent, visit, self);
}

// A field of a sample that the brief form has.
static bool give_brief(const struct match *match, const struct pd_filter_operand *operand, const struct pd_brief *brief,
		       visit_fn *visit, void *self)
{
	const struct pd_field *field = operand->steps[0];
	const uint64_t *words = pd_record_full_event(match->record)->words;

	if ((words[field->when.word] & field->when.mask) != field->when.want)
		return false;
	return give_member(operand, field, (const uint8_t *)brief + operand->brief, operand->brief_size, visit, self);
}

static bool give_record(struct match *match, const struct pd_filter_operand *operand, visit_fn *visit, void *self)
{
	const struct pd_brief *brief;
	const void *decoded;

	if (match->record->type != operand->type)
		return false;
	// the time of a brief is not there where the field is 0
	if (operand->brief_size && (brief = brief_of(match)) != NULL &&
	    (operand->brief != offsetof(struct pd_brief, time_ns) || brief->time_ns != PD_NO_TIME))
		return give_brief(match, operand, brief, visit, self);
	decoded = decoded_of(match);
	return decoded && give_path(match, operand, 0, decoded, visit, self);
}

static bool give_trailer(struct match *match, const struct pd_filter_operand *operand, visit_fn *visit, void *self)
{
	const struct pd_comm *decoded; // all bodies begin alike

	if (pd_record_group(match->record->type) != PD_GROUP_KERNEL)
		return false;
	decoded = decoded_of(match);
	return decoded && decoded->sample_id &&
	       give_path(match, operand, 0, (const uint8_t *)decoded->sample_id, visit, self);
}

// ---- tracepoints ----

static bool give_trace(struct match *match, const struct pd_filter_operand *operand, visit_fn *visit, void *self)
{
	const struct pd_filter_trace *trace = &match->filter->traces[operand->trace];
	const struct pd_event *event = match->record->event;
	const struct pd_trace_field *field;
	const struct pd_sample *sample;
	bool swap = pd_record_is_swapped(match->record);
	size_t at, size;

	if (match->record->type != PD_RECORD_SAMPLE || !event || event->index >= match->filter->bound)
		return false;
	field = &trace->found[event->index];
	if (!field->size || !(sample = decoded_of(match)) || field->offset > sample->raw.size ||
	    field->size > sample->raw.size - field->offset)
		return false;
	at = field->offset;
	size = field->size;
	// a word says where it stands: from the start of the data, or from after the word
	if (size == 4 && (!strncmp(field->type, "__data_loc", 10) || !strncmp(field->type, "__rel_loc", 9))) {
		uint32_t place = pd_load_u32(sample->raw.data + at, swap);

		at = (place & 0xffff) + (field->type[2] == 'r' ? at + 4 : 0);
		size = place >> 16;
		if (at > sample->raw.size || size > sample->raw.size - at)
			return false;
	} else if (!field->is_string && !strchr(field->type, '[') && size <= 8 && !(size & (size - 1))) {
		const uint8_t *data = sample->raw.data + at;
		uint64_t number = size == 8 ? pd_load_u64(data, swap) :
				  size == 4 ? pd_load_u32(data, swap) :
				  size == 2 ? pd_load_u16(data, swap) :
					      *data;

		return field->is_signed ? give_signed(operand, number, size, visit, self) :
					  give_number(operand, number, false, visit, self);
	}
	if (field->is_string)
		return give_text((const char *)sample->raw.data + at,
				 strnlen((const char *)sample->raw.data + at, size), visit, self);
	return give_bytes(sample->raw.data + at, size, visit, self);
}

// ---- any operand ----

static bool give_name(const struct match *match, const struct pd_filter_operand *operand, visit_fn *visit, void *self)
{
	const char *name = match->names ? match->names->name(match->names->self, match->record, operand->ask) : NULL;

	return name && give_text(name, strlen(name), visit, self);
}

// True as soon as visit is.
static bool give(struct match *match, const struct pd_filter_operand *operand, visit_fn *visit, void *self)
{
	const struct pd_record *record = match->record;
	const struct pd_thread_id *thread;
	const struct pd_brief *brief;

	switch (operand->from) {
	case PD_FROM_CONSTANT:
		return visit(self, &operand->value);
	case PD_FROM_TYPE:
		return give_number(operand, record->type, false, visit, self);
	case PD_FROM_MISC:
		return give_number(operand, record->misc, false, visit, self);
	case PD_FROM_CPUMODE:
		return give_number(operand, PD_BITS(record->misc, PD_MISC_CPUMODE), false, visit, self);
	case PD_FROM_SIZE:
		return give_number(operand, record->bytes.size + record->tail_size, false, visit, self);
	case PD_FROM_OFFSET:
		return give_number(operand, record->offset, false, visit, self);
	case PD_FROM_TIME:
		return record->time_ns != PD_NO_TIME && give_number(operand, record->time_ns, false, visit, self);
	case PD_FROM_EVENT:
		return record->event && give_text(record->event->name, strlen(record->event->name), visit, self);
	case PD_FROM_PID:
		thread = thread_of(match);
		return give_id(operand, thread->pid, thread->known, visit, self);
	case PD_FROM_TID:
		thread = thread_of(match);
		return give_id(operand, thread->tid, thread->known, visit, self);
	case PD_FROM_CPU:
		thread = thread_of(match);
		return give_id(operand, thread->cpu, thread->cpu != UINT32_MAX, visit, self);
	case PD_FROM_PERIOD:
		brief = brief_of(match);
		return brief && give_number(operand, brief->period, false, visit, self);
	case PD_FROM_NAME:
		return give_name(match, operand, visit, self);
	case PD_FROM_RECORD:
		return give_record(match, operand, visit, self);
	case PD_FROM_TRAILER:
		return give_trailer(match, operand, visit, self);
	case PD_FROM_ATTR:
		return record->event && give_path(match, operand, 0, (const uint8_t *)record->event->attr, visit, self);
	case PD_FROM_TRACE:
		return give_trace(match, operand, visit, self);
	}
	return false;
}

// ---- comparing ----

static int compare_numbers(const struct pd_filter_value *a, const struct pd_filter_value *b)
{
	if (a->negative != b->negative)
		return a->negative ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static double real_of(const struct pd_filter_value *value)
{
	if (value->kind == PD_VALUE_REAL)
		return value->real;
	return value->negative ? (double)(int64_t)value->number : (double)value->number;
}

static bool holds(enum pd_filter_op op, int order)
{
	switch (op) {
	case PD_TEST_EQ:
	case PD_TEST_IN:
		return order == 0;
	case PD_TEST_NE:
		return order != 0;
	case PD_TEST_LT:
		return order < 0;
	case PD_TEST_LE:
		return order <= 0;
	case PD_TEST_GT:
		return order > 0;
	case PD_TEST_GE:
		return order >= 0;
	default:
		return false;
	}
}

// * stands for any characters, ? for one. Goes back to the last * only, so its time is the product of the lengths at most.
static bool fits(const char *glob, size_t glob_size, const char *text, size_t size)
{
	size_t g = 0, t = 0, star = SIZE_MAX, mark = 0;

	while (t < size) {
		if (g < glob_size && glob[g] == '*') {
			star = g++;
			mark = t;
		} else if (g < glob_size && (glob[g] == '?' || glob[g] == text[t])) {
			g++;
			t++;
		} else if (star != SIZE_MAX) {
			g = star + 1;
			t = ++mark;
		} else {
			return false;
		}
	}
	while (g < glob_size && glob[g] == '*')
		g++;
	return g == glob_size;
}

static bool compare_texts(enum pd_filter_op op, const char *a, size_t a_size, const char *b, size_t b_size)
{
	bool equal = a_size == b_size && !memcmp(a, b, a_size);

	if (op == PD_TEST_GLOB)
		return fits(b, b_size, a, a_size);
	return op == PD_TEST_NE ? !equal : op == PD_TEST_EQ || op == PD_TEST_IN ? equal : false;
}

// Bytes are compared by their digits; of long lists the first ones count.
static size_t digits_of(const struct pd_filter_value *value, char digits[2 * SHOWN_BYTES])
{
	static const char hex[] = "0123456789abcdef";
	size_t count = value->size < SHOWN_BYTES ? value->size : SHOWN_BYTES;

	for (size_t i = 0; i < count; i++) {
		digits[2 * i] = hex[(uint8_t)value->text[i] >> 4];
		digits[2 * i + 1] = hex[value->text[i] & 15];
	}
	return 2 * count;
}

static bool compare(enum pd_filter_op op, const struct pd_filter_value *a, const struct pd_filter_value *b)
{
	bool numbers = a->kind <= PD_VALUE_REAL && b->kind <= PD_VALUE_REAL;
	char digits[2 * SHOWN_BYTES];
	double x, y;

	if (numbers && a->kind == PD_VALUE_NUMBER && b->kind == PD_VALUE_NUMBER)
		return holds(op, compare_numbers(a, b));
	if (numbers) {
		x = real_of(a);
		y = real_of(b);
		return x == x && y == y && holds(op, (x > y) - (x < y));
	}
	if (a->kind <= PD_VALUE_REAL || b->kind <= PD_VALUE_REAL)
		return false;
	if (a->kind == b->kind)
		return compare_texts(op, a->text, a->size, b->text, b->size);
	if (a->kind == PD_VALUE_BYTES)
		return compare_texts(op, digits, digits_of(a, digits), b->text, b->size);
	return compare_texts(op, a->text, a->size, digits, digits_of(b, digits));
}

// ---- tests ----

struct trial {
	struct match *match;
	const struct pd_filter_test *test;
	const struct pd_filter_value *left;
};

static bool visit_right(void *self, const struct pd_filter_value *value)
{
	const struct trial *trial = self;

	return compare(trial->test->op, trial->left, value);
}

static bool is_true(const struct pd_filter_value *value)
{
	return value->kind == PD_VALUE_NUMBER ? value->number != 0 :
	       value->kind == PD_VALUE_REAL   ? value->real != 0 :
						value->size != 0;
}

static bool visit_left(void *self, const struct pd_filter_value *value)
{
	struct trial *trial = self;
	const struct pd_filter_test *test = trial->test;
	const struct pd_filter_operand *right = &trial->match->filter->operands[test->right];

	if (test->op == PD_TEST_TRUE)
		return is_true(value);
	for (size_t i = 0; test->op == PD_TEST_IN && i < test->count; i++)
		if (compare(PD_TEST_IN, value, &right[i].value))
			return true;
	if (test->op == PD_TEST_IN)
		return false;
	if (right->from == PD_FROM_CONSTANT)
		return compare(test->op, value, &right->value);
	trial->left = value;
	return give(trial->match, right, visit_right, trial);
}

bool pd_filter_takes(const struct pd_filter *filter, const struct pd_record *record,
		     const struct pd_filter_names *names)
{
	struct match match = { .filter = filter, .record = record, .names = names };
	struct trial trial = { .match = &match };
	uint16_t at = filter->start;

	// each test leads to ones after it only
	while (at < PD_FILTER_NO) {
		trial.test = &filter->tests[at];
		at = give(&match, &filter->operands[trial.test->left], visit_left, &trial) ? trial.test->yes :
											     trial.test->no;
	}
	return at == PD_FILTER_YES;
}
