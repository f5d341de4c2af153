/* SPDX-License-Identifier: MIT */
/*
 * Text to a writer, one statement at a time. A statement ends with its line, or with the line that closes its last
 * bracket.
 */
#include <string.h>

#include "edit/asm/asm.h"

static const uint64_t default_memory_limit = UINT64_C(256) << 20;

static enum pd_status keep(struct pd_assembler *a, enum pd_status status)
{
	if (a->status >= 0)
		a->status = status;
	return a->status;
}

// ---- lines ----

static enum pd_status put_waiting(struct pd_assembler *a, struct pd_asm_lines *to, const char *text, size_t size)
{
	if (size > a->arena.limit - (to->size < a->arena.limit ? to->size : a->arena.limit))
		return pd_asm_fail_line(a, PD_ERROR_LIMIT, "the statement is longer than the limit of memory");
	if (!PD_GROW(to->data, to->capacity, to->size + size))
		return pd_fail_memory(&a->error);
	if (size)
		memcpy(to->data + to->size, text, size);
	to->size += size;
	return PD_OK;
}

// Brackets that are open at the end of a line.
static unsigned depth_after(unsigned depth, const char *line, size_t size)
{
	bool quoted = false;

	for (size_t i = 0; i < size; i++) {
		switch (line[i]) {
		case '"':
			quoted = !quoted;
			break;
		case '\\':
			i += quoted;
			break;
		case '{':
		case '[':
			depth += !quoted;
			break;
		case '}':
		case ']':
			depth -= !quoted && depth;
			break;
		case '#':
			if (!quoted)
				return depth;
			break;
		default:
			break;
		}
	}
	return depth;
}

static enum pd_status take_line(struct pd_assembler *a, const char *line, size_t size)
{
	struct pd_asm_lines *waiting = &a->waiting;
	unsigned depth = depth_after(waiting->depth, line, size);
	enum pd_status status;

	if (!waiting->size)
		a->line = a->next_line;
	a->next_line++;
	if (!depth && !waiting->size)
		return pd_asm_take_statement(a, line, size);
	waiting->depth = depth;
	status = put_waiting(a, waiting, line, size);
	if (status >= 0)
		status = put_waiting(a, waiting, "\n", 1);
	if (status < 0 || depth)
		return status;
	status = pd_asm_take_statement(a, waiting->data, waiting->size);
	waiting->size = 0;
	return status;
}

static enum pd_status assemble_lines(struct pd_assembler *a, const char *text, size_t size)
{
	enum pd_status status = PD_OK;

	while (status >= 0 && size) {
		const char *end = memchr(text, '\n', size);
		size_t length = end ? (size_t)(end - text) : size;

		if (!end || a->part_line.size)
			status = put_waiting(a, &a->part_line, text, length);
		if (status < 0 || !end)
			break;
		if (a->part_line.size)
			status = take_line(a, a->part_line.data, a->part_line.size);
		else
			status = take_line(a, text, length);
		a->part_line.size = 0;
		text += length + 1;
		size -= length + 1;
	}
	return status;
}

enum pd_status pd_assembler_take(struct pd_assembler *a, const char *text, size_t size, struct pd_error *error)
{
	enum pd_status status = a->status < 0 ? a->status : keep(a, assemble_lines(a, text, size));

	if (status < 0 && error)
		*error = a->error;
	return status;
}

static enum pd_status finish(struct pd_assembler *a)
{
	enum pd_status status = PD_OK;

	if (a->part_line.size)
		status = take_line(a, a->part_line.data, a->part_line.size);
	a->part_line.size = 0;
	if (status >= 0 && a->waiting.size)
		return pd_asm_fail_line(a, PD_ERROR_FORMAT, "the text ends before the statement that begins here");
	// such as what a pipe gets of a program that failed
	if (status >= 0 && !a->had_statement) {
		a->line = 1;
		return pd_asm_fail_line(a, PD_ERROR_FORMAT, "the text is empty");
	}
	return status < 0 ? status : pd_asm_open_writer(a);
}

enum {
	PIECE = 128 * 1024 // of a text, at a time
};

enum pd_status pd_assembler_finish(struct pd_assembler *a, struct pd_error *error)
{
	enum pd_status status = a->status < 0 ? a->status : keep(a, finish(a));

	if (status < 0 && error)
		*error = a->error;
	return status;
}

enum pd_status pd_assembler_pull(struct pd_assembler *a, pd_pull_fn *pull, void *self, struct pd_error *error)
{
	char *piece = pd_alloc(PIECE);
	enum pd_status status = piece ? PD_OK : pd_fail_memory(error);
	size_t size = piece ? PIECE : 0;

	while (status >= 0 && size) {
		status = pull(self, piece, PIECE, &size, error);
		if (status >= 0 && size)
			status = pd_assembler_take(a, piece, size, error);
	}
	pd_free(piece);
	return status < 0 ? status : pd_assembler_finish(a, error);
}

enum pd_status pd_assembler_new(const struct pd_assembler_options *options, struct pd_assembler **assembler_out,
				struct pd_error *error)
{
	struct pd_assembler *a;

	if (!options->size || !options->open)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size or open member of the options is 0");
	a = pd_alloc(sizeof(*a));
	if (!a)
		return pd_fail_memory(error);
	memcpy(&a->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	if (!a->options.name)
		a->options.name = "text";
	a->said.size = sizeof(a->said);
	a->next_line = 1;
	a->arena.limit = a->options.memory_limit ? a->options.memory_limit : default_memory_limit;
	*assembler_out = a;
	return PD_OK;
}

uint64_t pd_assembler_records(const struct pd_assembler *a, uint64_t *raw_out)
{
	if (raw_out)
		*raw_out = a->raw;
	return a->records;
}

void pd_assembler_free(struct pd_assembler *a)
{
	if (!a)
		return;
	pd_arena_fini(&a->arena);
	pd_free(a->part_line.data);
	pd_free(a->waiting.data);
	pd_free(a);
}

bool pd_assembler_fill(struct pd_writer_options *options, const struct pd_writer_options *said, bool mode_is_open)
{
	bool is_other = said->endian != PD_ENDIAN_SAME && options->endian != said->endian &&
			options->endian != PD_ENDIAN_SAME;

	if (mode_is_open && options->mode == PD_MODE_FILE)
		options->mode = said->mode;
	if (options->endian == PD_ENDIAN_SAME)
		options->endian = said->endian;
	if (options->packing == PD_PACK_KEEP) {
		options->packing = said->packing;
		options->level = said->level;
	}
	return is_other;
}
