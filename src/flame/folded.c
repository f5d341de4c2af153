/* SPDX-License-Identifier: MIT */
/*
 * Reads folded stacks, "root;caller;function 12", as stackcollapse scripts and other profilers print them: one
 * stack a line, the count after the last space. Marks at the end of names (_[k], _[i], _[j]) tell kinds.
 */
#include "flame/graph.h"

#include "base/error.h"
#include "base/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LINES_REPORTED = 10
};

struct folded {
	struct flame_graph *graph;
	struct stack_lines *out;
	const char *name; /* for messages */
	uint64_t lines, stacks, wrong;
	uint64_t sum;       /* of the counts */
	const char **parts; /* of the line, root first */
	size_t *lengths;
	size_t capacity;
	pd_warn_fn *warn; /* or NULL */
	void *self;
};

static enum frame_kind kind_of(const char *name, size_t *length)
{
	static const struct {
		const char *mark;
		enum frame_kind kind;
	} marks[] = { { "_[k]", FRAME_KERNEL }, { "_[i]", FRAME_INLINED }, { "_[j]", FRAME_JIT } };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		size_t own = strlen(marks[i].mark);

		if (*length > own && !memcmp(name + *length - own, marks[i].mark, own)) {
			*length -= own;
			return marks[i].kind;
		}
	}
	return *length > 2 && name[0] == '[' && name[*length - 1] == ']' ? FRAME_UNKNOWN : FRAME_USER;
}

static uint32_t frame_of(struct folded *folded, size_t index)
{
	struct tree *tree = &folded->graph->tree;
	size_t length = folded->lengths[index];
	enum frame_kind kind = kind_of(folded->parts[index], &length);
	uint32_t name = pd_tree_text(tree, folded->parts[index], length);

	if (tree->failed)
		return 0;
	if (!index)
		kind = FRAME_TASK;
	return pd_tree_frame(tree, name, 0, pd_frame_kind_by_name(kind, tree->texts.items[name], ""));
}

static bool reserve_parts(struct folded *folded, size_t count)
{
	size_t wanted = count * 2 + 64;
	const char **parts;
	size_t *lengths;

	if (count < folded->capacity)
		return true;
	parts = pd_realloc(folded->parts, wanted * sizeof(*parts));
	if (parts)
		folded->parts = parts;
	lengths = pd_realloc(folded->lengths, wanted * sizeof(*lengths));
	if (lengths)
		folded->lengths = lengths;
	if (!parts || !lengths)
		return false;
	folded->capacity = wanted;
	return true;
}

/* Splits at the semicolons; 0 if there is no memory. */
static size_t split(struct folded *folded, const char *line, size_t length)
{
	size_t count = 0, at = 0;

	while (at <= length) {
		const char *end = memchr(line + at, ';', length - at);
		size_t size = end ? (size_t)(end - (line + at)) : length - at;

		if (!reserve_parts(folded, count))
			return 0;
		folded->parts[count] = line + at;
		folded->lengths[count++] = size;
		at += size + 1;
	}
	return count;
}

static const char not_a_stack[] = "not a folded stack (STACK COUNT)";

/* A count: digits, also hexadecimal ones after 0x. Returns what is wrong with it, or NULL. */
static const char *parse_count(const char *string, uint64_t *count_out)
{
	bool hex = string[0] == '0' && (string[1] == 'x' || string[1] == 'X');
	char *end;

	if (string[strspn(string, hex ? "0123456789abcdefABCDEFxX" : "0123456789")])
		return not_a_stack;
	errno = 0;
	*count_out = strtoull(string, &end, hex ? 16 : 10);
	if (errno == ERANGE)
		return "its number does not fit into 64 bits";
	return *end || errno ? not_a_stack : NULL;
}

/* Returns what is wrong with the line, or NULL. */
static const char *add_line(struct folded *folded, char *line, size_t length)
{
	struct tree *tree = &folded->graph->tree;
	char *space = memrchr(line, ' ', length);
	const char *wrong;
	uint64_t value;
	size_t count;

	if (!space || space == line || space[1] < '0' || space[1] > '9')
		return not_a_stack;
	wrong = parse_count(space + 1, &value);
	if (!wrong && value > UINT64_MAX - folded->sum)
		wrong = "the numbers up to this one do not fit into 64 bits together";
	if (wrong)
		return wrong;
	folded->sum += value;
	count = split(folded, line, (size_t)(space - line));
	if (!count)
		tree->failed = true;
	for (size_t i = 0; i < count; i++) {
		size_t index = folded->graph->reverse ? count - 1 - i : i;

		pd_lines_frame(folded->out, frame_of(folded, index));
	}
	pd_lines_end(folded->out, value, 0);
	folded->stacks++;
	return NULL;
}

static void warn(const struct folded *folded, const char *format, ...) PD_PRINTF(2, 3);
static void warn(const struct folded *folded, const char *format, ...)
{
	char sentence[2048];
	va_list arguments;

	if (!folded->warn)
		return;
	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	folded->warn(folded->self, sentence);
}

static void read_lines(struct folded *folded, FILE *stream)
{
	char *line = NULL;
	const char *wrong;
	size_t capacity = 0;
	ssize_t length;

	while (!folded->graph->tree.failed && !folded->out->failed &&
	       (length = getline(&line, &capacity, stream)) >= 0) {
		folded->lines++;
		while (length && (line[length - 1] == '\n' || line[length - 1] == '\r'))
			line[--length] = '\0';
		wrong = length && line[0] != '#' ? add_line(folded, line, (size_t)length) : NULL;
		if (wrong && folded->wrong++ < LINES_REPORTED)
			warn(folded, "%s: line %" PRIu64 ": %s", folded->name, folded->lines, wrong);
	}
	free(line);
}

enum pd_status pd_flame_read_lines(struct flame_graph *graph, struct stack_lines *lines, const char *path,
				   pd_warn_fn *warn_fn, void *self, uint64_t *wrong_out, struct pd_error *error)
{
	bool standard = !strcmp(path, "-");
	struct folded folded = {
		.graph = graph, .out = lines, .name = standard ? "standard input" : path, .warn = warn_fn, .self = self
	};
	FILE *stream = standard ? stdin : fopen(path, "re");
	enum pd_status status = PD_OK;
	char number[32];

	if (stream)
		read_lines(&folded, stream);
	if (!stream || ferror(stream)) {
		status = pd_fail(error, PD_ERROR_SYSTEM, PD_NO_OFFSET, "%s: %s", folded.name, strerror(errno));
	} else if (folded.wrong) {
		if (folded.wrong > LINES_REPORTED)
			warn(&folded, "%s: %" PRIu64 " more lines are not folded stacks", folded.name,
			     folded.wrong - LINES_REPORTED);
		pd_flame_info(graph, true, "%s lines were not folded stacks", pd_flame_number(number, folded.wrong));
	}
	*wrong_out = folded.wrong;
	if (stream && !standard)
		fclose(stream);
	pd_free(folded.parts);
	pd_free(folded.lengths);
	return status;
}
