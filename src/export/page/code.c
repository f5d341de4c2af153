/* SPDX-License-Identifier: MIT */
/* The code of the hottest functions: instructions and lines of the source, which a page cannot find by itself. */
#include <perfdata/annotate.h>

#include "export/page/page.h"

enum {
	FUNCTIONS_MOST = 100,
	LINES_MOST = 30000,
	FUNCTION_LINES_MOST = 4000 // a larger one would leave no room for others
};

struct line {
	uint32_t text, file, line;
	uint8_t kind, flow;
	uint64_t addr, target; // target: and 1, or 0
};

struct code {
	struct pd_export *self;
	uint32_t functions[FUNCTIONS_MOST]; // numbers
	size_t ends[FUNCTIONS_MOST];        // of their lines
	size_t count;
	struct line *lines;
	size_t line_count, line_capacity;
};

// The number of a function and 1; 0 if it is in no exported stack.
static uint32_t number_of(const struct pd_export *self, const struct pd_function *function)
{
	return function->index < self->tables.function_of_capacity ? self->tables.function_of[function->index] : 0;
}

static bool add_line(struct code *code, const struct pd_annotate_line *line)
{
	struct pd_tables *tables = &code->self->tables;

	if (!PD_GROW(code->lines, code->line_capacity, code->line_count + 1))
		return false;
	code->lines[code->line_count++] = (struct line){
		.text = pd_tables_text(tables, line->text),
		.file = pd_tables_text(tables, line->file),
		.line = line->line,
		.kind = (uint8_t)line->kind,
		.flow = (uint8_t)line->flow,
		.addr = line->addr,
		.target = line->has_target ? line->target + 1 : 0,
	};
	return true;
}

// A function whose code cannot be had is left out.
static void add_function(struct code *code, struct pd_annotate *annotate, size_t index)
{
	const struct pd_annotate_function *function = pd_annotate_function(annotate, 0, index);
	uint32_t number = number_of(code->self, function->function);
	struct pd_annotate_code *opened = NULL;
	const struct pd_annotate_line *line;
	enum pd_status status = number ? pd_annotate_open(annotate, 0, index, &opened, NULL) : PD_END;
	size_t before = code->line_count;

	if (status == PD_OK && pd_annotate_line(opened, FUNCTION_LINES_MOST))
		status = PD_END;
	for (size_t i = 0; status == PD_OK && (line = pd_annotate_line(opened, i)) != NULL; i++)
		if (!add_line(code, line))
			status = PD_ERROR_MEMORY;
	pd_annotate_close(opened);
	code->self->failed |= status == PD_ERROR_MEMORY;
	if (status != PD_OK) {
		code->line_count = before;
		return;
	}
	code->functions[code->count] = number - 1;
	code->ends[code->count++] = code->line_count;
}

static enum pd_status read_code(struct code *code, struct pd_annotate *annotate)
{
	struct pd_export *self = code->self;
	const struct pd_page *page = self->sink;
	struct pd_error error;
	enum pd_status status = pd_annotate_build(annotate, self->file, page->profile, self->symbols, &error);

	for (size_t i = 0; status >= 0 && pd_annotate_function(annotate, 0, i); i++) {
		if (code->count == FUNCTIONS_MOST || code->line_count >= LINES_MOST)
			break;
		add_function(code, annotate, i);
	}
	return status;
}

// ---- columns ----

typedef uint64_t line_cell_fn(const struct line *line);

static uint64_t text_of(const struct line *line)
{
	return line->text;
}

static uint64_t file_of(const struct line *line)
{
	return line->file;
}

static uint64_t line_of(const struct line *line)
{
	return line->line;
}

static uint64_t kind_of(const struct line *line)
{
	return line->kind;
}

static uint64_t flow_of(const struct line *line)
{
	return line->flow;
}

static uint64_t address_of(const struct line *line)
{
	return line->addr;
}

static uint64_t target_of(const struct line *line)
{
	return line->target;
}

static void put_lines(struct pd_page_blocks *blocks, const struct code *code)
{
	static const struct {
		const char *name;
		enum pd_page_code code;
		line_cell_fn *cell;
	} columns[] = {
		{ "lines.kind", PD_PAGE_BYTES, kind_of },    { "lines.text", PD_PAGE_NUMBERS, text_of },
		{ "lines.file", PD_PAGE_NUMBERS, file_of },  { "lines.line", PD_PAGE_NUMBERS, line_of },
		{ "lines.flow", PD_PAGE_BYTES, flow_of },    { "lines.address", PD_PAGE_WIDE, address_of },
		{ "lines.target", PD_PAGE_WIDE, target_of },
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		struct pd_page_column column;

		pd_page_begin(&column, blocks, columns[i].name, columns[i].code);
		for (size_t k = 0; k < code->line_count; k++)
			pd_page_put(&column, columns[i].cell(&code->lines[k]));
		pd_page_end(&column);
	}
}

static void put_functions(struct pd_page_blocks *blocks, const struct code *code)
{
	struct pd_page_column column;

	pd_page_begin(&column, blocks, "code.function", PD_PAGE_NUMBERS);
	for (size_t i = 0; i < code->count; i++)
		pd_page_put(&column, code->functions[i]);
	pd_page_end(&column);
	pd_page_begin(&column, blocks, "code.lines", PD_PAGE_NUMBERS);
	for (size_t i = 0; i < code->count; i++)
		pd_page_put(&column, code->ends[i] - (i ? code->ends[i - 1] : 0));
	pd_page_end(&column);
}

void pd_page_put_code(struct pd_export *self)
{
	const struct pd_annotate_options options = { .size = sizeof(options), .all_in_one_table = true };
	struct pd_page *page = self->sink;
	struct code code = { .self = self };
	struct pd_annotate *annotate = NULL;
	struct pd_error error;
	enum pd_status status = pd_annotate_new(&options, &annotate, &error);

	if (status >= 0)
		status = read_code(&code, annotate);
	self->failed |= status == PD_ERROR_MEMORY;
	// without a disassembler there is none
	if (!self->failed && code.count) {
		put_functions(&page->blocks, &code);
		put_lines(&page->blocks, &code);
	}
	pd_annotate_free(annotate);
	pd_free(code.lines);
}
