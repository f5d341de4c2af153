// Prints the functions of a recording with their callers, in thirty lines.
#include <perfdata/perfdata.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	char cell[PD_REPORT_CELL_BYTES];
	struct pd_error error;
	struct pd_file *file = NULL;
	struct pd_report *report = NULL;
	struct pd_text *text = pd_text_new();
	struct pd_report_options options = { 0 };
	enum pd_status status = pd_file_open(argc > 1 ? argv[1] : "perf.data", NULL, &file, &error);

	options.size = sizeof(options);
	options.sort = "sym";
	options.graph.kind = PD_REPORT_GRAPH_TREE;
	if (status == PD_OK)
		status = pd_report_read(file, &options, NULL, &report, &error);
	for (size_t i = 0; status == PD_OK && pd_report_row(report, 0, i); i++) {
		pd_text_printf(text, "%s\n", pd_report_cell(report, 0, i, 0, cell));
		status = pd_report_text_graph(report, 0, i, NULL, text, &error);
	}
	printf("%.*s", (int)pd_text_bytes(text).size, (const char *)pd_text_bytes(text).data);
	pd_report_free(report);
	pd_file_close(file);
	pd_text_free(text);
	return status == PD_OK ? 0 : fprintf(stderr, "%s\n", error.message);
}
