/* SPDX-License-Identifier: MIT */
/* Flame graphs as a page that opens with them: what pd_flame_read counted, in the format of docs/page.md. */
#include "view/flame.h"

#include <stdio.h>
#include <string.h>

#include <perfdata/viewer.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text/text.h"

// ---- the header ----

static void put_text(struct pd_flame_data *data, struct pd_json *json, const char *name, const char *text)
{
	uint32_t string = pd_tables_text(&data->tables, text);

	pd_json_string(json, name, pd_tables_text_of(&data->tables, string));
}

// Of what links name: functions, events and times.
static void put_fingerprint(const struct pd_flame_data *data, struct pd_json *json)
{
	const struct flame_graph *graph = data->graph;
	struct pd_sha256 sha;
	uint8_t digest[PD_SHA256_BYTES];

	pd_sha256_begin(&sha);
	for (size_t i = 0; i < data->tables.string_count; i++)
		pd_sha256_add(&sha, data->tables.strings[i].text, data->tables.strings[i].size + 1);
	for (size_t i = 0; i < graph->event_count; i++)
		pd_sha256_add(&sha, graph->events[i], strlen(graph->events[i]) + 1);
	pd_sha256_add(&sha, &graph->first_ns, sizeof(graph->first_ns));
	pd_sha256_end(&sha, digest);
	pd_json_hex(json, "fingerprint", (struct pd_bytes){ digest, 8 });
}

static void put_time(const struct flame_graph *graph, struct pd_json *json)
{
	uint64_t length_ns, end_ns;

	// What is beyond 64 bits is at their end.
	if (__builtin_mul_overflow(graph->slice_count, graph->slice_ns, &length_ns) ||
	    __builtin_add_overflow(graph->first_ns, length_ns - (length_ns != 0), &end_ns))
		end_ns = UINT64_MAX;

	pd_json_open(json, "time", '{');
	pd_json_bool(json, "known", graph->slice_count != 0);
	pd_json_number(json, "unit_ns", pd_flame_tick_ns(graph));
	pd_page_put_amount(json, "start", graph->first_ns);
	pd_page_put_amount(json, "end", end_ns);
	pd_json_string(json, "wall", NULL);
	pd_json_close(json, '}');
	pd_json_open(json, "aggregated", '{');
	pd_json_number(json, "slices", graph->slice_count);
	pd_json_close(json, '}');
}

static void put_event(struct pd_flame_data *data, struct pd_json *json, size_t event, const char *name,
		      const char *unit)
{
	uint64_t samples, value;

	pd_flame_sums(data, event, &samples, &value);
	pd_json_open(json, NULL, '{');
	put_text(data, json, "name", name);
	pd_json_string(json, "unit", unit);
	pd_json_number(json, "samples", samples);
	pd_page_put_amount(json, "sum", value);
	pd_json_close(json, '}');
}

static void put_events(struct pd_flame_data *data, struct pd_json *json)
{
	const struct flame_graph *graph = data->graph;

	pd_json_open(json, "events", '[');
	for (size_t i = 0; i < graph->event_count; i++)
		put_event(data, json, i, graph->events[i], pd_flame_unit(graph->units[i]));
	if (!graph->event_count)
		put_event(data, json, 0, "stacks", graph->unit);
	if (pd_flame_has_all(graph))
		put_event(data, json, graph->event_count, "all events", graph->unit);
	pd_json_close(json, ']');
}

static void put_truth(const struct pd_flame_data *data, struct pd_json *json)
{
	const struct stack_result *result = data->result;
	uint64_t samples, value;

	pd_flame_sums(data, data->graph->event_count, &samples, &value);
	if (result->samples)
		samples = result->samples;
	pd_json_open(json, "truth", '{');
	pd_json_number(json, "samples", samples);
	pd_json_number(json, "read", result->samples_in_file > samples ? result->samples_in_file : samples);
	pd_json_number(json, "lost", result->losses.lost);
	pd_json_number(json, "lost_samples", result->losses.lost_samples);
	pd_json_number(json, "throttled", result->losses.throttles);
	pd_json_number(json, "truncated", result->cut);
	pd_json_number(json, "unknown", result->unknown);
	pd_json_number(json, "damaged", result->losses.damaged + result->losses.unknown_event);
	pd_json_number(json, "copied", result->copied);
	pd_json_close(json, '}');
}

static void put_fact(struct pd_flame_data *data, struct pd_json *json, const char *text, bool bad)
{
	pd_json_open(json, NULL, '{');
	put_text(data, json, "text", text);
	pd_json_bool(json, "bad", bad);
	pd_json_close(json, '}');
}

static void put_facts(struct pd_flame_data *data, struct pd_json *json)
{
	const struct flame_graph *graph = data->graph;
	char number[32], text[80];

	pd_json_open(json, "facts", '[');
	for (size_t i = 0; i < graph->info_count; i++)
		put_fact(data, json, graph->infos[i].text, graph->infos[i].bad);
	if (graph->tree.left_out) {
		snprintf(text, sizeof(text), "%s small frames omitted", pd_flame_number(number, graph->tree.left_out));
		put_fact(data, json, text, false);
	}
	pd_json_close(json, ']');
}

// What the page opens with. Inverted graphs hang from the top in it unless they are turned.
static void put_link(const struct flame_graph *graph, bool compared, struct pd_json *json)
{
	char link[64];

	snprintf(link, sizeof(link), "1&v=flame%s%s%s", graph->reverse ? "&i=1" : "",
		 graph->inverted != graph->reverse ? "&down=1" : "", compared ? "&col=change" : "");
	pd_json_string(json, "link", link);
}

static void put_members(struct pd_flame_data *data, bool compared, struct pd_json *json)
{
	pd_page_put_format(json);
	put_fingerprint(data, json);
	put_text(data, json, "name", data->graph->title);
	put_link(data->graph, compared, json);
	put_time(data->graph, json);
	put_events(data, json);
	put_truth(data, json);
	put_facts(data, json);
	pd_page_put_kinds(json);
}

// ---- the page ----

static void fini(struct pd_flame_data *data)
{
	pd_tables_fini(&data->tables);
	pd_page_blocks_fini(&data->blocks);
	pd_page_rows_fini(&data->rows);
	pd_free(data->functions);
	pd_free(data->function_of);
	pd_free(data->objects);
	pd_free(data->row_of);
	pd_free(data->leaf_of);
	pd_free(data->order);
	pd_free(data->by_event);
	pd_free(data->begins);
}

// Adds the data of a flame graph. False if there is no memory.
static bool put_data(struct pd_flame *flame, bool compared, struct pd_text *text)
{
	struct pd_flame_data data = { .graph = pd_flame_graph(flame), .result = pd_flame_result(flame) };
	struct pd_json json = { .text = pd_text_new() };
	bool done = data.graph && json.text;

	if (done) {
		pd_tables_init(&data.tables, data.graph->tree.texts.seed);
		data.rows.seed = data.tables.seed;
		pd_flame_put_columns(&data);
		done = !data.failed && !data.tables.failed;
	}
	if (done) {
		pd_json_open(&json, NULL, '{');
		put_members(&data, compared, &json);
		pd_page_put_strings(&data.blocks, &data.tables);
		done = !data.tables.failed && pd_page_put_container(text, &json, &data.blocks) && !text->failed;
	}
	fini(&data);
	pd_text_free(json.text);
	return done;
}

enum {
	GRAPHS_MOST = 2
};

enum pd_status pd_viewer_flame_page(struct pd_text *text, struct pd_flame *const *flames, size_t count,
				    struct pd_error *error)
{
	struct pd_text *texts[GRAPHS_MOST] = { NULL };
	struct pd_bytes data[GRAPHS_MOST];
	enum pd_status status = PD_OK;

	if (!count || count > GRAPHS_MOST)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "a page has one flame graph or two");
	for (size_t i = 0; i < count && status == PD_OK; i++) {
		texts[i] = pd_text_new();
		if (!texts[i] || !put_data(flames[i], count > 1, texts[i]))
			status = pd_fail_memory(error);
		else
			data[i] = pd_text_bytes(texts[i]);
	}
	if (status == PD_OK)
		status = pd_viewer_page(text, pd_flame_graph(flames[count - 1])->title, data, count, error);
	for (size_t i = 0; i < count; i++)
		pd_text_free(texts[i]);
	return status;
}
