// Prints how much each function took, its callers as a graph, and the quality of the data.
#include <inttypes.h>
#include <perfdata/perfdata.h>
#include <stdio.h>

static enum pd_status print(struct pd_report *report, struct pd_text *text, struct pd_error *error)
{
	const struct pd_report_table *table = pd_report_table(report, 0);
	struct pd_report_quality quality;
	char cell[PD_REPORT_CELL_BYTES];
	enum pd_status status = PD_OK;

	pd_report_quality(report, &quality);
	pd_text_printf(text, "%" PRIu64 " samples, %" PRIu64 " lost\n", quality.samples, quality.lost);
	for (size_t i = 0; table && i < table->row_count && status == PD_OK; i++) {
		const struct pd_report_amounts *amounts = pd_report_row(report, 0, i);

		pd_text_printf(text, "%6.2f%% %s\n",
			       100.0 * (double)amounts->children_period / (double)table->totals[0],
			       pd_report_cell(report, 0, i, 0, cell));
		status = pd_report_text_graph(report, 0, i, NULL, text, error);
	}
	return status;
}

int main(int argc, char **argv)
{
	struct pd_report_options options = { 0 };
	struct pd_profile_options profile_options = { 0 };
	struct pd_error error;
	struct pd_file *file = NULL;
	struct pd_report *report = NULL;
	struct pd_profile *profile = NULL;
	struct pd_symbols *symbols = NULL;
	struct pd_text *text = pd_text_new();
	enum pd_status status = pd_file_open(argc > 1 ? argv[1] : "perf.data", NULL, &file, &error);

	options.size = sizeof(options);
	options.sort = "sym";
	options.graph.kind = PD_REPORT_GRAPH_TREE;
	options.graph.least_percent = 0.5;
	profile_options.size = sizeof(profile_options);
	if (status == PD_OK)
		status = pd_report_new(file, &options, &report, &error);
	if (status == PD_OK) {
		pd_report_ask(report, &profile_options);
		status = pd_profile_read(file, &profile_options, &profile, &error);
	}
	if (status == PD_OK)
		status = pd_symbols_new(file, pd_profile_state(profile), NULL, &symbols, &error);
	if (status == PD_OK)
		status = pd_profile_name(profile, symbols, &error);
	if (status == PD_OK)
		status = pd_report_build(report, file, profile, symbols, &error);
	if (status == PD_OK)
		status = print(report, text, &error);
	if (status == PD_OK)
		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
	else
		fprintf(stderr, "%s\n", error.message);
	pd_text_free(text);
	pd_report_free(report);
	pd_symbols_free(symbols);
	pd_profile_free(profile);
	pd_file_close(file);
	return status != PD_OK;
}
