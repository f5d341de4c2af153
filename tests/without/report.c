/* SPDX-License-Identifier: MIT */
/* A report with call graphs of a recording or bundle in memory: the same program with all of the library, and without parts. */
#include <stdio.h>
#include <stdlib.h>

#include <perfdata/perfdata.h>

static uint8_t *read_all(const char *path, size_t *size_out)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long size;

	if (!file)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
		data = malloc((size_t)size + 1);
		*size_out = data ? fread(data, 1, (size_t)size, file) : 0;
	}
	fclose(file);
	return data;
}

static enum pd_status print(struct pd_report *report, struct pd_text *text, struct pd_error *error)
{
	const struct pd_report_table *table = pd_report_table(report, 0);
	char cell[PD_REPORT_CELL_BYTES];
	enum pd_status status = PD_OK;

	for (size_t i = 0; table && i < table->row_count && status == PD_OK; i++) {
		const struct pd_report_amounts *amounts = pd_report_row(report, 0, i);

		pd_text_printf(text, "%6.2f%% %s\n",
			       100.0 * (double)amounts->children_period / (double)table->totals[0],
			       pd_report_cell(report, 0, i, 0, cell));
		status = pd_report_text_graph(report, 0, i, NULL, text, error);
	}
	return status;
}

// Objects are looked for below root only.
static enum pd_status report(struct pd_file *file, const char *root, struct pd_text *text, struct pd_error *error)
{
	struct pd_report_options options = { .size = sizeof(options), .sort = "sym" };
	const struct pd_symbols_options from = { .size = sizeof(from),
						 .symfs = root,
						 .kallsyms = "",
						 .debug_paths = &root,
						 .debug_path_count = root ? 1 : 0 };
	struct pd_profile_options by = { .size = sizeof(by) };
	struct pd_report *report = NULL;
	struct pd_profile *profile = NULL;
	struct pd_symbols *symbols = NULL;
	enum pd_status status;

	options.graph.kind = PD_REPORT_GRAPH_TREE;
	options.graph.least_percent = 0.5;
	status = pd_report_new(file, &options, &report, error);
	if (status == PD_OK) {
		pd_report_ask(report, &by);
		status = pd_profile_read(file, &by, &profile, error);
	}
	if (status == PD_OK)
		status = pd_symbols_new(file, pd_profile_state(profile), &from, &symbols, error);
	if (status == PD_OK)
		status = pd_profile_name(profile, symbols, error);
	if (status == PD_OK)
		status = pd_report_build(report, file, profile, symbols, error);
	if (status == PD_OK)
		status = print(report, text, error);
	pd_report_free(report);
	pd_symbols_free(symbols);
	pd_profile_free(profile);
	return status;
}

static bool print_problem(void *self, const struct pd_problem *problem)
{
	(void)self;
	fprintf(stderr, "%s: %s\n", problem->code, problem->message);
	return true;
}

int main(int argc, char **argv)
{
	struct pd_text *text = pd_text_new();
	struct pd_file *file = NULL;
	struct pd_error error = { .message = "usage: report FILE [EMPTY-FOLDER]" };
	enum pd_status status = PD_ERROR_ARGUMENT;
	const struct pd_open_options options = { .size = sizeof(options), .problem = print_problem };
	size_t size = 0;
	uint8_t *data = argc > 1 ? read_all(argv[1], &size) : NULL;

	if (data)
		status = pd_file_open_memory(data, size, &options, &file, &error);
	if (status == PD_OK)
		status = report(file, argc > 2 ? argv[2] : NULL, text, &error);
	if (status == PD_OK)
		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
	else
		fprintf(stderr, "%s\n", error.message);
	pd_file_close(file);
	pd_text_free(text);
	free(data);
	return status != PD_OK;
}
