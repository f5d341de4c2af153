/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks: frames separated by semicolons, outermost first, and a number. The first frame is the thread, as
 * stackcollapse-perf.pl and perfdata folded write it; it may end in -PID or -PID/TID.
 */
#include <string.h>

#include "base/error.h"
#include "base/text/units.h"
#include "import/builder.h"
#include "import/import.h"
#include "import/input.h"

struct folded {
	struct pd_input lines;
	struct pd_builder builder;
	uint64_t *chain;
	size_t capacity;
	uint64_t sum; // of all numbers, which readers add up in 64 bits
};

// Digits at the end of a text, after one of these characters; 0: there are none.
static size_t digits_before(const char *text, size_t size, uint32_t *value_out)
{
	size_t at = size;
	uint64_t value = 0;

	while (at && text[at - 1] >= '0' && text[at - 1] <= '9' && size - at < 9)
		at--;
	for (size_t i = at; i < size; i++)
		value = value * 10 + (uint64_t)(text[i] - '0');
	*value_out = (uint32_t)value;
	return size - at;
}

static void take_thread(struct folded *self, const char *text, size_t size, struct pd_builder_sample *sample)
{
	size_t digits = digits_before(text, size, &sample->tid), left = size - digits, before;

	if (digits && left > 1 && text[left - 1] == '-') {
		sample->pid = sample->tid;
		pd_builder_thread(&self->builder, sample->pid, sample->tid, text, left - 1);
		return;
	}
	if (digits && left > 1 && text[left - 1] == '/') {
		before = digits_before(text, left - 1, &sample->pid);
		left -= 1 + before;
		if (before && left > 1 && text[left - 1] == '-') {
			pd_builder_thread(&self->builder, sample->pid, sample->tid, text, left - 1);
			return;
		}
	}
	sample->pid = sample->tid = pd_builder_numberless_thread(&self->builder, text, size);
}

// A number without a sign; what is behind a point is cut off. Returns what is wrong with it, or NULL.
static const char *read_value(const char *text, size_t size, uint64_t *value_out)
{
	size_t digits = 0;
	bool fits;

	while (digits < size && text[digits] >= '0' && text[digits] <= '9')
		digits++;
	fits = pd_digits_read(text, digits, value_out);
	if (!digits || (digits < size && text[digits] != '.'))
		return "no stack with a number after it";
	return fits ? NULL : "its number does not fit into 64 bits";
}

static enum pd_status take_value(struct folded *self, const char *text, size_t size, uint64_t *value_out)
{
	const char *wrong = read_value(text, size, value_out);

	if (!wrong && *value_out > UINT64_MAX - self->sum)
		wrong = "the numbers up to this one do not fit into 64 bits together";
	if (wrong)
		return pd_input_wrong(&self->lines, wrong);
	self->sum += *value_out;
	return PD_OK;
}

// Frames into self->chain, innermost first. Returns how many.
static size_t take_frames(struct folded *self, const char *text, size_t size)
{
	size_t count = 0, end = size;

	while (self->builder.status >= 0) {
		const char *begin = end ? memrchr(text, ';', end) : NULL;
		size_t from = begin ? (size_t)(begin - text) + 1 : 0;

		if (!PD_GROW(self->chain, self->capacity, count + 1)) {
			self->builder.status = pd_fail_memory(self->builder.error);
			return 0;
		}
		self->chain[count++] = pd_builder_function(&self->builder, text + from, end - from);
		if (!begin)
			break;
		end = from - 1;
	}
	return count;
}

static enum pd_status take_line(struct folded *self, const char *line, size_t size)
{
	const char *space, *first;
	struct pd_builder_sample sample = { .event = 0 };
	size_t stack;

	while (size && (line[size - 1] == ' ' || line[size - 1] == '\t'))
		size--;
	if (!size || *line == '#')
		return PD_OK;
	space = memrchr(line, ' ', size);
	stack = space ? (size_t)(space - line) : 0;
	if (!stack)
		return pd_input_wrong(&self->lines, "no stack with a number after it");
	if (take_value(self, space + 1, size - stack - 1, &sample.period) < 0)
		return PD_ERROR_FORMAT;
	first = memchr(line, ';', stack);
	sample.event = pd_builder_event(&self->builder, "samples", strlen("samples"), false);
	take_thread(self, line, first ? (size_t)(first - line) : stack, &sample);
	// a thread alone has no function that is known
	sample.count = first ? take_frames(self, first + 1, stack - (size_t)(first + 1 - line)) :
			       take_frames(self, "[unknown]", strlen("[unknown]"));
	sample.chain = self->chain;
	if (self->builder.status >= 0)
		pd_builder_sample(&self->builder, &sample);
	return self->builder.status;
}

enum pd_status pd_import_folded(const struct pd_import_options *options, struct pd_writer *writer,
				struct pd_import_result *result, struct pd_error *error)
{
	struct folded self = { .chain = NULL };
	enum pd_status status = PD_OK;
	const char *line;
	size_t size;

	pd_input_init(&self.lines, options, error);
	pd_builder_init(&self.builder, writer, options, result, error);
	while (status >= 0 && pd_input_next(&self.lines, &line, &size))
		status = take_line(&self, line, size);
	if (status >= 0)
		status = self.lines.status;
	pd_free(self.chain);
	pd_builder_fini(&self.builder);
	pd_input_fini(&self.lines);
	return status;
}
