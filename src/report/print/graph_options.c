/* SPDX-License-Identifier: MIT */
/* What perf report -g has as its argument. */
#include <perfdata/report.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Of a number that may be anything. */
static uint64_t whole(double number)
{
	if (!(number < 18446744073709551616.0))
		return UINT64_MAX;
	return number > 0 ? (uint64_t)number : 0;
}

static bool parse_word(struct pd_report_graph *options, const char *word, size_t length)
{
	static const struct {
		const char *word;
		int kind, value;
		int caller, address;
	} words[] = {
		{ "graph", PD_REPORT_GRAPH_TREE, -1, -1, -1 },
		{ "fractal", PD_REPORT_GRAPH_FRACTAL, -1, -1, -1 },
		{ "flat", PD_REPORT_GRAPH_FLAT, -1, -1, -1 },
		{ "folded", PD_REPORT_GRAPH_FOLDED, -1, -1, -1 },
		{ "none", PD_REPORT_GRAPH_NONE, -1, -1, -1 },
		{ "caller", -1, -1, 1, -1 },
		{ "callee", -1, -1, 0, -1 },
		{ "function", -1, -1, -1, 0 },
		{ "address", -1, -1, -1, 1 },
		{ "percent", -1, PD_REPORT_GRAPH_PERCENT, -1, -1 },
		{ "period", -1, PD_REPORT_GRAPH_PERIOD, -1, -1 },
		{ "count", -1, PD_REPORT_GRAPH_COUNT, -1, -1 },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].word) != length || memcmp(words[i].word, word, length) != 0)
			continue;
		if (words[i].kind >= 0)
			options->kind = (enum pd_report_graph_kind)words[i].kind;
		if (words[i].value >= 0)
			options->value = (enum pd_report_graph_value)words[i].value;
		if (words[i].caller >= 0) {
			options->caller = words[i].caller;
			options->order_given = true;
		}
		if (words[i].address >= 0)
			options->by_address = words[i].address;
		return true;
	}
	return false;
}

enum pd_status pd_report_graph_parse(const char *list, struct pd_report_graph *graph, struct pd_error *error)
{
	bool least_given = false;

	for (const char *at = list; *at;) {
		size_t length = strcspn(at, ",");
		char *end;
		double number = strtod(at, &end);

		if (length && end == at + length && !least_given) {
			graph->least_percent = number;
			least_given = true;
		} else if (length && end == at + length && number >= 0) {
			graph->max_lines = whole(number);
		} else if (length && !parse_word(graph, at, length)) {
			return pd_fail(
				error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				"option --call-graph: '%.*s' is not one of graph, fractal, flat, folded, none, caller, "
				"callee, function, address, percent, period, count, or a number",
				(int)length, at);
		}
		at += length;
		at += *at == ',';
	}
	return PD_OK;
}
