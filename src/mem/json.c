/* SPDX-License-Identifier: MIT */
// Lines of the cache and the accesses in each as JSON.
#include <perfdata/json.h>

#include "base/error.h"
#include "base/text/text.h"
#include "mem/c2c.h"

static void add_counts(struct pd_json *json, const char *name, const struct pd_mem_counts *counts)
{
	pd_json_open(json, name, '{');
#define COUNT(name) pd_json_number(json, #name, counts->name);
#include "mem/counts.def"
	pd_json_close(json, '}');
}

static void add_who(struct pd_json *json, const struct pd_c2c_who *who)
{
	pd_json_open(json, "nodes", '[');
	for (unsigned node = 0; node < PD_C2C_NODES; node++)
		if (who->nodes >> node & 1)
			pd_json_number(json, NULL, node);
	pd_json_close(json, ']');
	pd_json_number(json, "phys_addr_changes", who->phys_changes);
}

static void add_code(const struct pd_c2c *c2c, struct pd_json *json, const struct pd_c2c_entry *entry)
{
	const struct pd_place *code = &entry->code;
	char source[PD_C2C_SOURCE_BYTES];

	if (c2c->by_ip) {
		pd_json_number(json, "code_addr", entry->ip);
		pd_json_string(json, "symbol", code->function ? code->function->name : NULL);
	}
	if (c2c->by_ip || c2c->by_dso)
		pd_json_string(json, "object", code->dso ? code->dso->name : NULL);
	if (!c2c->by_ip || c2c->options.no_source)
		return;
	pd_c2c_source(c2c, code, source, sizeof(source));
	pd_json_string(json, "source", source);
}

static void add_means(struct pd_json *json, const struct pd_c2c_entry *entry)
{
	static const char *const names[PD_C2C_MEANS] = {
		[PD_C2C_MEAN_REMOTE_HITM] = "remote_hitm",
		[PD_C2C_MEAN_LOCAL_HITM] = "local_hitm",
		[PD_C2C_MEAN_REMOTE_PEER] = "remote_peer",
		[PD_C2C_MEAN_LOCAL_PEER] = "local_peer",
		[PD_C2C_MEAN_LOAD] = "load",
	};

	pd_json_open(json, "mean_cycles", '{');
	for (unsigned i = 0; i < PD_C2C_MEANS; i++)
		if (entry->means[i].count)
			pd_json_double(json, names[i], entry->means[i].value);
	pd_json_close(json, '}');
}

static void add_entry(const struct pd_c2c *c2c, struct pd_json *json, const struct pd_c2c_entry *entry)
{
	char unknown[PD_THREAD_NAME_BYTES];

	pd_json_open(json, NULL, '{');
	pd_json_number(json, "offset", entry->offset);
	if (c2c->by_pid)
		pd_json_number(json, "pid", entry->pid);
	if (c2c->by_tid) {
		pd_json_number(json, "tid", entry->tid);
		pd_json_string(json, "comm", pd_c2c_comm(c2c, entry, unknown));
	}
	add_code(c2c, json, entry);
	add_counts(json, "counts", &entry->counts);
	add_means(json, entry);
	pd_json_number(json, "cpus", pd_c2c_cpus(entry));
	add_who(json, &entry->who);
	pd_json_close(json, '}');
}

static enum pd_status add_lines(const struct pd_c2c *c2c, struct pd_json *json, const struct pd_c2c_order *order,
				struct pd_error *error)
{
	enum pd_status status = PD_OK;

	pd_json_open(json, "lines", '[');
	for (size_t from = 0, end; status >= 0 && from < c2c->entry_count; from = end) {
		const struct pd_c2c_line *line = &c2c->lines[c2c->entries[order->entries[from].number].line];

		end = pd_c2c_line_end(c2c, order, from);
		if (!pd_c2c_shows_line(c2c, line))
			continue;
		pd_json_open(json, NULL, '{');
		pd_json_number(json, "addr", line->addr);
		add_counts(json, "counts", &line->counts);
		add_who(json, &line->who);
		pd_json_open(json, "accesses", '[');
		for (size_t i = from; i < end; i++)
			if (pd_c2c_shows_entry(c2c, &c2c->entries[order->entries[i].number]))
				add_entry(c2c, json, &c2c->entries[order->entries[i].number]);
		pd_json_close(json, ']');
		pd_json_close(json, '}');
		status = pd_text_flush_or_fail(json->text, error);
	}
	pd_json_close(json, ']');
	return status;
}

enum pd_status pd_c2c_json(struct pd_c2c *c2c, struct pd_error *error)
{
	struct pd_json json = { .text = c2c->text };
	struct pd_c2c_order order = { 0 };
	enum pd_status status = PD_OK;

	if (!c2c->options.stats_only && !pd_c2c_sort(c2c, &order))
		status = pd_fail_memory(error);
	if (status >= 0) {
		pd_json_open(&json, NULL, '{');
		add_counts(&json, "counts", &c2c->counts);
		pd_json_number(&json, "shared_lines", c2c->shared_lines);
		add_counts(&json, "shared", &c2c->shared);
		if (!c2c->options.stats_only)
			status = add_lines(c2c, &json, &order, error);
		pd_json_close(&json, '}');
		pd_text_char(json.text, '\n');
	}
	pd_c2c_order_fini(&order);
	return status < 0 ? status : pd_text_flush_or_fail(json.text, error);
}
