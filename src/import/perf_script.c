/* SPDX-License-Identifier: MIT */
/*
 * The text of perf script: a line for each sample, lines for its frames below it, an empty line after them. A sample without
 * frames has its address and function on its own line. Functions come back by name; their objects and addresses are those of
 * other files, which a recording made of names has no place for.
 */
#include <string.h>

#include "base/error.h"
#include "import/builder.h"
#include "import/import.h"
#include "import/input.h"

struct script {
	struct pd_input input;
	struct pd_builder builder;
	struct pd_builder_sample sample; // that is read
	bool has_sample, begun;
	uint64_t *chain;
	size_t count, capacity;
};

struct word {
	const char *text;
	size_t size;
};

// ---- words ----

static bool next_word(const char **at, const char *end, struct word *word_out)
{
	const char *begin = *at;

	while (begin < end && (*begin == ' ' || *begin == '\t'))
		begin++;
	*at = begin;
	while (*at < end && **at != ' ' && **at != '\t')
		++*at;
	*word_out = (struct word){ begin, (size_t)(*at - begin) };
	return *at > begin;
}

// Digits, of which there are at least one and at most eighteen. Returns how many.
static size_t read_digits(const char *text, size_t size, uint64_t *value_out)
{
	size_t i = 0;

	*value_out = 0;
	for (; i < size && i < 18 && text[i] >= '0' && text[i] <= '9'; i++)
		*value_out = *value_out * 10 + (uint64_t)(text[i] - '0');
	return i;
}

// "123", "123/124", "-1" or "?".
static bool read_task(const struct word *word, uint32_t *pid_out, uint32_t *tid_out)
{
	bool minus = word->size > 1 && *word->text == '-';
	uint64_t first, second;
	size_t digits = read_digits(word->text + minus, word->size - minus, &first) + minus;

	if (digits == minus)
		return false;
	*pid_out = *tid_out = (uint32_t)(minus ? -first : first);
	if (digits == word->size)
		return true;
	if (word->text[digits] != '/' ||
	    digits + 1 + read_digits(word->text + digits + 1, word->size - digits - 1, &second) != word->size)
		return false;
	*tid_out = (uint32_t)second;
	return true;
}

// "[003]"; "[-01]" of a sample that has none.
static bool read_cpu(const struct word *word, uint32_t *cpu_out)
{
	bool minus = word->size > 3 && word->text[1] == '-';
	size_t before = minus ? 2 : 1;
	uint64_t cpu;

	if (word->size < before + 2 || word->text[0] != '[' || word->text[word->size - 1] != ']' ||
	    read_digits(word->text + before, word->size - before - 1, &cpu) != word->size - before - 1)
		return false;
	*cpu_out = (uint32_t)(minus ? -cpu : cpu);
	return true;
}

// "12.345678:" or with nine digits.
static bool read_time(const struct word *word, uint64_t *time_out)
{
	uint64_t seconds, part;
	size_t before = read_digits(word->text, word->size, &seconds), after;

	if (!before || before + 1 >= word->size || word->text[before] != '.' || word->text[word->size - 1] != ':' ||
	    seconds > UINT32_MAX)
		return false;
	after = read_digits(word->text + before + 1, word->size - before - 2, &part);
	if (before + after + 2 != word->size || after > 9 || !after)
		return false;
	for (; after < 9; after++)
		part *= 10;
	*time_out = seconds * 1000000000 + part;
	return true;
}

// ---- samples ----

static void end_sample(struct script *self)
{
	static const char unknown[] = "[unknown]";

	if (!self->has_sample)
		return;
	self->has_sample = false;
	if (!PD_GROW(self->chain, self->capacity, self->count + 1))
		self->builder.status = pd_fail_memory(self->builder.error);
	if (self->builder.status < 0)
		return;
	if (!self->count)
		self->chain[self->count++] = pd_builder_function(&self->builder, unknown, strlen(unknown));
	self->sample.chain = self->chain;
	self->sample.count = self->count;
	pd_builder_sample(&self->builder, &self->sample);
}

// "ffff work+0x20 (/bin/demo)": a name may have spaces and brackets.
static bool take_frame(struct script *self, const char *line, const char *end)
{
	struct word address;
	const char *open, *plus;
	size_t size;

	if (!next_word(&line, end, &address))
		return false;
	for (size_t i = 0; i < address.size; i++)
		if (!strchr("0123456789abcdef", address.text[i]) || !address.text[i])
			return false;
	while (line < end && *line == ' ')
		line++;
	open = memrchr(line, '(', (size_t)(end - line));
	size = open && open > line ? (size_t)(open - line) : (size_t)(end - line);
	while (size && line[size - 1] == ' ')
		size--;
	plus = size ? memrchr(line, '+', size) : NULL;
	if (plus && plus > line && (size_t)(line + size - plus) > 3 && plus[1] == '0' && plus[2] == 'x')
		size = (size_t)(plus - line);
	if (!size)
		return false;
	if (!PD_GROW(self->chain, self->capacity, self->count + 1)) {
		self->builder.status = pd_fail_memory(self->builder.error);
		return true;
	}
	self->chain[self->count++] = pd_builder_function(&self->builder, line, size);
	return true;
}

struct head {
	struct word comm, event;
	uint32_t pid, tid;
	bool has_cpu, has_time;
	const char *rest; // after the event
};

// The numbers of the task are the first word that is some, and is followed by a CPU or time.
static bool read_task_words(struct script *self, struct head *head, const char *line, const char *end,
			    const char **at_out)
{
	const char *at = line, *after;
	struct word word, next;

	if (!next_word(&at, end, &word))
		return false;
	head->comm = (struct word){ word.text, 0 };
	while (next_word(&at, end, &word)) {
		head->comm.size = (size_t)(word.text - head->comm.text);
		after = at;
		if (!read_task(&word, &head->pid, &head->tid) || !next_word(&after, end, &next))
			continue;
		head->has_cpu = read_cpu(&next, &self->sample.cpu);
		if (head->has_cpu) {
			at = after;
			if (!next_word(&after, end, &next))
				return false;
		}
		head->has_time = read_time(&next, &self->sample.time_ns);
		if (head->has_time)
			at = after;
		if (head->has_time || head->has_cpu || next.text[next.size - 1] == ':') {
			*at_out = at;
			return true;
		}
	}
	return false;
}

static bool read_head(struct script *self, struct head *head, const char *line, const char *end)
{
	const char *at;
	struct word word;
	uint64_t period;

	self->sample.period = 1;
	if (!read_task_words(self, head, line, end, &at) || !next_word(&at, end, &word))
		return false;
	if (read_digits(word.text, word.size, &period) == word.size) {
		self->sample.period = period;
		if (!next_word(&at, end, &word))
			return false;
	}
	if (word.size < 2 || word.text[word.size - 1] != ':')
		return false;
	head->event = (struct word){ word.text, word.size - 1 };
	head->rest = at;
	while (head->comm.size && head->comm.text[head->comm.size - 1] == ' ')
		head->comm.size--;
	return true;
}

static enum pd_status take_head(struct script *self, const char *line, const char *end)
{
	struct head head = { .pid = 0 };
	uint64_t had;

	if (!read_head(self, &head, line, end)) {
		// perf prints other records between samples, too
		self->builder.result->left_out++;
		return PD_OK;
	}
	had = (head.has_time ? PD_MASK(PD_SAMPLE_TYPE_TIME) : 0) | (head.has_cpu ? PD_MASK(PD_SAMPLE_TYPE_CPU) : 0);
	if (!self->begun)
		self->builder.sample_type = had;
	else if (self->builder.sample_type & ~had)
		return pd_input_wrong(&self->input, "a sample lacks the time or CPU that others have");
	self->begun = self->has_sample = true;
	self->count = 0;
	self->sample.event = pd_builder_event(&self->builder, head.event.text, head.event.size, false);
	self->sample.pid = head.pid;
	self->sample.tid = head.tid;
	pd_builder_thread(&self->builder, head.pid, head.tid, head.comm.text, head.comm.size);
	if (head.rest < end)
		take_frame(self, head.rest, end);
	return self->builder.status;
}

static enum pd_status take_line(struct script *self, const char *line, size_t size)
{
	const char *end = line + size;

	if (!size) {
		end_sample(self);
	} else if (*line == '#') {
		return PD_OK;
	} else if (*line != '\t') {
		end_sample(self);
		return take_head(self, line, end);
	} else if (!self->has_sample || !take_frame(self, line, end)) {
		self->builder.result->left_out++;
	}
	return self->builder.status;
}

enum pd_status pd_import_perf_script(const struct pd_import_options *options, struct pd_writer *writer,
				     struct pd_import_result *result, struct pd_error *error)
{
	struct script self = { .chain = NULL };
	enum pd_status status = PD_OK;
	const char *line;
	size_t size;

	pd_input_init(&self.input, options, error);
	pd_builder_init(&self.builder, writer, options, result, error);
	while (status >= 0 && pd_input_next(&self.input, &line, &size))
		status = take_line(&self, line, size);
	if (status >= 0) {
		end_sample(&self);
		status = self.builder.status < 0 ? self.builder.status : self.input.status;
	}
	pd_free(self.chain);
	pd_builder_fini(&self.builder);
	pd_input_fini(&self.input);
	return status;
}
