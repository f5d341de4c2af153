/* SPDX-License-Identifier: MIT */
// Lines with most loads of what another cache had modified, and the accesses in each.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text/path.h"
#include "base/text/text.h"
#include "mem/c2c.h"

enum {
	ADDRESS = 18,
	SYMBOL_MOST = 30,
	ADDRESS_SYMBOL = 22,
	ADDRESS_OBJECT = 16,
	NODE_LEAST = 4,
	NODES_TEXT = 256,
	TID_LEAST = 8
};

#define RULE "=================================================\n"

// Widths of columns of a table of entries.
struct widths {
	size_t tid, symbol, dso, source;
};

struct printing {
	struct pd_c2c *c2c;
	struct pd_text *text;
	struct pd_c2c_order order;
	uint64_t *both; // CPUs of a node that accessed
	size_t node_width;
};

// ---- what is shown ----

static bool is_peer(const struct pd_c2c *c2c)
{
	return c2c->options.display == PD_C2C_PEER;
}

// Numbers of bits as 0-3,7.
static void put_bits(struct pd_text *text, const uint64_t *bits, size_t words)
{
	bool first = true;

	for (size_t i = 0; i < words * 64; i++) {
		size_t end = i;

		while (end < words * 64 && (bits[end / 64] >> end % 64 & 1))
			end++;
		if (end == i)
			continue;
		pd_text_printf(text, "%s%zu", first ? "" : ",", i);
		if (end - i > 1)
			pd_text_printf(text, "-%zu", end - 1);
		first = false;
		i = end;
	}
}

// Without memory the output fails.
static size_t nodes_text(struct pd_text *out, uint64_t nodes, char text_out[NODES_TEXT])
{
	struct pd_text text = { 0 };

	put_bits(&text, &nodes, nodes ? 1 : 0);
	snprintf(text_out, NODES_TEXT, "%.*s", (int)text.size, text.data && text.size ? (const char *)text.data : "");
	out->failed |= text.failed;
	pd_free(text.data);
	if (!*text_out)
		snprintf(text_out, NODES_TEXT, "N/A");
	return strlen(text_out);
}

// ---- the table of lines ----

static void put_dots(struct pd_text *text, const size_t *widths, size_t count)
{
	pd_text_add(text, "#");
	for (size_t i = 0; i < count; i++) {
		pd_text_add(text, i ? "  " : " ");
		for (size_t k = 0; k < widths[i]; k++)
			pd_text_add(text, ".");
	}
	pd_text_add(text, "\n#\n");
}

static void put_line_header(const struct printing *p)
{
	static const char *const costly[] = {
		[PD_C2C_TOTAL] = "Tot", [PD_C2C_LOCAL] = "Lcl", [PD_C2C_REMOTE] = "Rmt", [PD_C2C_PEER] = "Peer"
	};
	const size_t widths[] = {
		5, ADDRESS, p->node_width, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 7, 8, 8
	};
	bool peer = is_peer(p->c2c);

	pd_text_printf(
		p->text,
		"#\n#        ----------- Cacheline ----------  %7s  ------- Load %s -------    Total    Total    Total  --------- Stores "
		"--------  ----- Core Load Hit -----  - LLC Load Hit --  - RMT Load Hit --  --- Load Dram ----\n",
		costly[p->c2c->options.display], peer ? "Peer" : "Hitm");
	pd_text_printf(
		p->text,
		"# Index  %18s  %*s  PA cnt  %7s    Total  %7s  %7s  records    Loads   Stores    L1Hit   L1Miss      N/A       FB       L1"
		"       L2    LclHit  LclHitm    RmtHit  RmtHitm       Lcl       Rmt\n",
		"Address", (int)p->node_width, "Node", peer ? "Snoop" : "Hitm", peer ? "Local" : "LclHitm",
		peer ? "Remote" : "RmtHitm");
	put_dots(p->text, widths, sizeof(widths) / sizeof(widths[0]));
}

static void put_numbers(struct pd_text *text, const uint64_t *numbers, size_t count, int width)
{
	for (size_t i = 0; i < count; i++)
		pd_text_printf(text, "  %*" PRIu64, width, numbers[i]);
}

static void put_address(struct pd_text *text, uint64_t addr)
{
	char number[32];

	snprintf(number, sizeof(number), "0x%" PRIx64, addr);
	pd_text_printf(text, "  %18s", number);
}

static void put_share(struct pd_text *text, uint64_t part, uint64_t whole)
{
	char number[32];

	snprintf(number, sizeof(number), "%.2f%%", pd_mem_percent(part, whole));
	pd_text_printf(text, "  %7s", number);
}

static void put_line(const struct printing *p, size_t index, const struct pd_c2c_line *line)
{
	const struct pd_mem_counts *c = &line->counts;
	bool peer = is_peer(p->c2c);
	const uint64_t sums[] = { peer ? c->peer : c->hitm,
				  peer ? c->local_peer : c->local_hitm,
				  peer ? c->remote_peer : c->remote_hitm,
				  pd_mem_records(c),
				  pd_mem_loads(c),
				  c->stores,
				  c->store_l1,
				  c->store_l1_miss,
				  c->store_no_level,
				  c->load_buffer,
				  c->load_l1,
				  c->load_l2 };
	char nodes[NODES_TEXT];

	nodes_text(p->text, line->who.nodes, nodes);
	pd_text_printf(p->text, "  %5zu", index);
	put_address(p->text, line->addr);
	pd_text_printf(p->text, "  %*s  %6" PRIu64, (int)p->node_width, nodes, line->who.phys_changes);
	put_share(p->text, pd_c2c_measure(p->c2c, c), pd_c2c_measure(p->c2c, &p->c2c->counts));
	put_numbers(p->text, sums, sizeof(sums) / sizeof(sums[0]), 7);
	pd_text_printf(p->text,
		       "  %8" PRIu64 "  %7" PRIu64 "  %8" PRIu64 "  %7" PRIu64 "  %8" PRIu64 "  %8" PRIu64 "\n",
		       c->load_l3, c->local_hitm, c->remote_hit, c->remote_hitm, c->local_ram, c->remote_ram);
}

// ---- accesses of a line ----

const char *pd_c2c_comm(const struct pd_c2c *c2c, const struct pd_c2c_entry *entry, char *unknown)
{
	return pd_state_comm(c2c->pass.state, entry->tid, (struct pd_moment){ PD_NEVER - 1, UINT64_MAX }, unknown);
}

static char level_of(unsigned cpumode)
{
	return cpumode == PD_CPUMODE_KERNEL       ? 'k' :
	       cpumode == PD_CPUMODE_GUEST_KERNEL ? 'g' :
	       cpumode == PD_CPUMODE_GUEST_USER   ? 'u' :
	       cpumode == PD_CPUMODE_HYPERVISOR   ? 'H' :
						    '.';
}

// As perf: a line, else the place in the function, else that in the object.
void pd_c2c_source(const struct pd_c2c *c2c, const struct pd_place *place, char *text, size_t size)
{
	struct pd_line line;

	if (pd_symbols_lines(c2c->pass.symbols, place, &line, 1) && line.file && line.line)
		snprintf(text, size, "%s:%" PRIu32, pd_path_leaf(line.file), line.line);
	else if (place->function)
		snprintf(text, size, "%s+%" PRIu64, place->function->name, place->addr - place->function->start);
	else if (place->dso)
		snprintf(text, size, "%s[%" PRIx64 "]", place->dso->name, place->addr);
	else
		snprintf(text, size, "??:0");
}

static bool has_source(const struct pd_c2c *c2c)
{
	return c2c->by_ip && !c2c->options.no_source;
}

// Bytes of a name of the recording as it is printed.
static size_t shown_size(const char *name)
{
	size_t shown = 0;

	for (size_t size = strlen(name), plain; size; name += plain, size -= plain) {
		plain = pd_text_plain(name, size);
		shown += plain ? plain : sizeof("\\xNN") - 1;
		plain += !plain;
	}
	return shown;
}

static void widen(size_t *width, size_t needed)
{
	if (*width < needed)
		*width = needed;
}

// As perf: by all accesses of a line, shown or not.
static void widen_by(const struct printing *p, struct widths *widths, const struct pd_c2c_entry *entry)
{
	char source[PD_C2C_SOURCE_BYTES], unknown[PD_THREAD_NAME_BYTES];
	const struct pd_place *code = &entry->code;

	widen(&widths->tid, shown_size(pd_c2c_comm(p->c2c, entry, unknown)) + TID_LEAST);
	widen(&widths->symbol, code->function ? strlen(code->function->name) + 4 : ADDRESS_SYMBOL);
	widen(&widths->dso, code->function ? 0 : ADDRESS_OBJECT);
	widen(&widths->dso, code->dso ? strlen(code->dso->name) : 0);
	if (!has_source(p->c2c))
		return;
	pd_c2c_source(p->c2c, code, source, sizeof(source));
	widen(&widths->source, strlen(source));
}

static struct widths widths_of(const struct printing *p, size_t from, size_t end)
{
	struct widths widths = { .source = strlen("Source:Line") };

	for (size_t i = from; i < end; i++)
		widen_by(p, &widths, &p->c2c->entries[p->order.entries[i].number]);
	if (!p->c2c->options.full_symbols && widths.symbol > SYMBOL_MOST)
		widths.symbol = SYMBOL_MOST;
	return widths;
}

static const char *node_title(const struct pd_c2c *c2c)
{
	if (c2c->options.node_info == 2)
		return "Node{cpu list}";
	if (c2c->options.node_info == 1)
		return is_peer(c2c) ? "Node{cpus %peers %stores}" : "Node{cpus %hitms %stores}";
	return "Node";
}

struct title {
	bool there;
	const char *top, *name;
	size_t width;
};

static void put_titles(struct pd_text *text, const struct title *titles, size_t count, bool top)
{
	for (size_t i = 0; i < count; i++)
		if (titles[i].there)
			pd_text_printf(text, "  %*s", (int)titles[i].width, top ? titles[i].top : titles[i].name);
}

static void put_entry_header(const struct printing *p, const struct widths *w)
{
	const struct pd_c2c *c2c = p->c2c;
	bool peer = is_peer(c2c);
	const struct title who[] = { { c2c->by_pid, "", "Pid", 7 },
				     { c2c->by_tid, "", "Tid", w->tid },
				     { c2c->by_ip, "", "Code address", ADDRESS } };
	const struct title where[] = { { c2c->by_ip, "", "Symbol", w->symbol },
				       { c2c->by_ip || c2c->by_dso, "Shared", "Object", w->dso },
				       { has_source(c2c), "", "Source:Line", w->source },
				       { true, "", node_title(c2c), NODE_LEAST } };
	size_t widths[24] = { 5, 7, 7, 7, 7, 7, ADDRESS, p->node_width, 6 }, count = 9;

	pd_text_printf(p->text, "#        %s  ------- Store Refs ------  --------- Data address ---------",
		       peer ? "-- Peer Snoop --" : "----- HITM -----");
	put_titles(p->text, who, 3, true);
	pd_text_add(p->text, "  ---------- cycles ----------    Total       cpu");
	put_titles(p->text, where, 4, true);
	pd_text_printf(p->text, "\n#   Num  %7s  %7s   L1 Hit  L1 Miss      N/A  %18s  %*s  PA cnt",
		       peer ? "Rmt" : "RmtHitm", peer ? "Lcl" : "LclHitm", "Offset", (int)p->node_width, "Node");
	put_titles(p->text, who, 3, false);
	pd_text_printf(p->text, "  %8s  %8s      load  records       cnt", peer ? "rmt peer" : "rmt hitm",
		       peer ? "lcl peer" : "lcl hitm");
	put_titles(p->text, where, 4, false);
	pd_text_add(p->text, "\n");
	for (size_t i = 0; i < 3; i++)
		if (who[i].there)
			widths[count++] = who[i].width;
	memcpy(&widths[count], (const size_t[]){ 8, 8, 8, 7, 8 }, 5 * sizeof(size_t));
	count += 5;
	for (size_t i = 0; i < 4; i++)
		if (where[i].there)
			widths[count++] = where[i].width;
	put_dots(p->text, widths, count);
}

static void put_metric(struct pd_text *text, uint64_t part, uint64_t whole, const char *end)
{
	if (whole)
		pd_text_printf(text, "%5.1f%%%s", pd_mem_percent(part, whole), end);
	else
		pd_text_printf(text, "%6s%s", "n/a", end);
}

// Nodes of the CPUs that accessed.
static void put_nodes(const struct printing *p, const struct pd_c2c_entry *entry)
{
	const struct pd_c2c *c2c = p->c2c;
	uint64_t *both = p->both;
	bool first = true;

	for (size_t i = 0; i < c2c->node_count; i++) {
		unsigned cpus = 0;

		for (size_t k = 0; k < entry->who.cpu_words; k++) {
			both[k] = entry->who.cpus[k] & c2c->nodes[i].cpus[k];
			cpus += (unsigned)__builtin_popcountll(both[k]);
		}
		if (!cpus) {
			if (c2c->options.node_info == 1)
				pd_text_printf(p->text, "%21s", " ");
			continue;
		}
		pd_text_add(p->text, first ? "" : " ");
		first = false;
		pd_text_printf(p->text, "%2zu", i);
		if (c2c->options.node_info == 1) {
			const struct pd_mem_counts *counts = &entry->nodes[i].counts;

			pd_text_printf(p->text, "{%2u ", cpus);
			put_metric(p->text, pd_c2c_measure(c2c, counts), pd_c2c_measure(c2c, &entry->counts), " ");
			put_metric(p->text, counts->stores, entry->counts.stores, "}");
		} else if (c2c->options.node_info == 2) {
			pd_text_add(p->text, "{");
			put_bits(p->text, both, entry->who.cpu_words);
			pd_text_add(p->text, "}");
		}
	}
}

unsigned pd_c2c_cpus(const struct pd_c2c_entry *entry)
{
	unsigned cpus = 0;

	for (size_t i = 0; i < entry->who.cpu_words; i++)
		cpus += (unsigned)__builtin_popcountll(entry->who.cpus[i]);
	return cpus;
}

static double mean_of(const struct pd_c2c_entry *entry, enum pd_c2c_mean mean)
{
	return entry->means[mean].value;
}

static void put_name(struct pd_text *text, const char *name, size_t width)
{
	pd_text_escaped(text, name, strlen(name));
	for (size_t size = shown_size(name); size < width; size++)
		pd_text_char(text, ' ');
}

static void put_cut(struct pd_text *text, const char *string, size_t width)
{
	size_t length = strlen(string);

	pd_text_add(text, "  ");
	pd_text_escaped(text, string, length < width ? length : width);
	for (; length < width; length++)
		pd_text_add(text, " ");
}

static void put_code(const struct printing *p, const struct pd_c2c_entry *entry, const struct widths *w)
{
	const struct pd_place *code = &entry->code;
	char text[PD_C2C_SOURCE_BYTES];

	if (p->c2c->by_ip) {
		if (code->function)
			snprintf(text, sizeof(text), "[%c] %s", level_of(entry->cpumode), code->function->name);
		else
			snprintf(text, sizeof(text), "[%c] %#-.16" PRIx64, level_of(entry->cpumode), code->addr);
		put_cut(p->text, text, w->symbol);
	}
	if (p->c2c->by_ip || p->c2c->by_dso)
		put_cut(p->text, code->dso ? code->dso->name : "[unknown]", w->dso);
	if (has_source(p->c2c)) {
		pd_c2c_source(p->c2c, code, text, sizeof(text));
		put_cut(p->text, text, w->source);
	}
	pd_text_add(p->text, "  ");
}

static void put_entry(const struct printing *p, const struct pd_c2c_line *line, const struct pd_c2c_entry *entry,
		      const struct widths *w)
{
	const struct pd_mem_counts *c = &entry->counts, *all = &line->counts;
	bool peer = is_peer(p->c2c);
	char nodes[NODES_TEXT], unknown[PD_THREAD_NAME_BYTES];

	nodes_text(p->text, entry->who.nodes, nodes);
	pd_text_add(p->text, "       ");
	put_share(p->text, peer ? c->remote_peer : c->remote_hitm, peer ? all->remote_peer : all->remote_hitm);
	put_share(p->text, peer ? c->local_peer : c->local_hitm, peer ? all->local_peer : all->local_hitm);
	put_share(p->text, c->store_l1, all->store_l1);
	put_share(p->text, c->store_l1_miss, all->store_l1_miss);
	put_share(p->text, c->store_no_level, all->store_no_level);
	put_address(p->text, entry->offset);
	pd_text_printf(p->text, "  %*s  %6" PRIu64, (int)p->node_width, nodes, entry->who.phys_changes);
	if (p->c2c->by_pid)
		pd_text_printf(p->text, "  %7d", (int32_t)entry->pid);
	if (p->c2c->by_tid) {
		pd_text_printf(p->text, "  %7d:", (int32_t)entry->tid);
		put_name(p->text, pd_c2c_comm(p->c2c, entry, unknown), w->tid - TID_LEAST);
	}
	if (p->c2c->by_ip)
		put_address(p->text, entry->ip);
	pd_text_printf(p->text, "  %8.0f  %8.0f  %8.0f  %7" PRIu64 "  %8u",
		       mean_of(entry, peer ? PD_C2C_MEAN_REMOTE_PEER : PD_C2C_MEAN_REMOTE_HITM),
		       mean_of(entry, peer ? PD_C2C_MEAN_LOCAL_PEER : PD_C2C_MEAN_LOCAL_HITM),
		       mean_of(entry, PD_C2C_MEAN_LOAD), pd_mem_records(c), pd_c2c_cpus(entry));
	put_code(p, entry, w);
	put_nodes(p, entry);
	pd_text_add(p->text, "\n");
}

static void put_title(const struct printing *p, size_t index, const struct pd_c2c_line *line)
{
	static const char rule[] = "  ----------------------------------------------------------------------\n";
	const struct pd_mem_counts *c = &line->counts;
	const uint64_t counts[] = { is_peer(p->c2c) ? c->remote_peer : c->remote_hitm,
				    is_peer(p->c2c) ? c->local_peer : c->local_hitm, c->store_l1, c->store_l1_miss,
				    c->store_no_level };

	pd_text_printf(p->text, "%s  %5zu", rule, index);
	put_numbers(p->text, counts, 5, 7);
	put_address(p->text, line->addr);
	pd_text_printf(p->text, "\n%s", rule);
}

static enum pd_status put_accesses(struct printing *p, struct pd_error *error)
{
	const struct pd_c2c *c2c = p->c2c;
	enum pd_status status = PD_OK;
	size_t index = 0, from = 0;

	for (size_t end; status == PD_OK && from < c2c->entry_count; from = end) {
		const struct pd_c2c_line *line = &c2c->lines[c2c->entries[p->order.entries[from].number].line];
		struct widths widths;

		end = pd_c2c_line_end(c2c, &p->order, from);
		if (!pd_c2c_shows_line(c2c, line))
			continue;
		widths = widths_of(p, from, end);
		if (index)
			pd_text_add(p->text, "\n");
		else
			put_entry_header(p, &widths);
		put_title(p, index++, line);
		for (size_t i = from; i < end; i++)
			if (pd_c2c_shows_entry(c2c, &c2c->entries[p->order.entries[i].number]))
				put_entry(p, line, &c2c->entries[p->order.entries[i].number], &widths);
		status = pd_text_flush_or_fail(p->text, error);
	}
	return status;
}

static void find_node_width(struct printing *p)
{
	const struct pd_c2c *c2c = p->c2c;
	char nodes[NODES_TEXT];

	p->node_width = NODE_LEAST;
	for (size_t i = 0; i < c2c->line_count; i++)
		if (pd_c2c_shows_line(c2c, &c2c->lines[i]))
			widen(&p->node_width, nodes_text(p->text, c2c->lines[i].who.nodes, nodes));
}

static enum pd_status put_tables(struct printing *p, struct pd_error *error)
{
	struct pd_c2c *c2c = p->c2c;
	size_t index = 0;

	p->both = pd_alloc(c2c->cpu_words * sizeof(*p->both));
	if (!p->both || !pd_c2c_sort(c2c, &p->order))
		return pd_fail_memory(error);
	find_node_width(p);
	pd_text_add(p->text, "\n" RULE "           Shared Data Cache Line Table          \n" RULE);
	put_line_header(p);
	for (size_t i = 0; i < c2c->line_count; i++)
		if (pd_c2c_shows_line(c2c, &c2c->lines[p->order.lines[i].number]))
			put_line(p, index++, &c2c->lines[p->order.lines[i].number]);
	pd_text_add(p->text, "\n" RULE "      Shared Cache Line Distribution Pareto      \n" RULE "#\n");
	return put_accesses(p, error);
}

enum pd_status pd_c2c_print(struct pd_c2c *c2c, struct pd_error *error)
{
	struct printing p = { .c2c = c2c, .text = c2c->text };
	enum pd_status status = PD_OK;

	pd_c2c_print_sums(c2c);
	if (!c2c->options.stats_only)
		status = put_tables(&p, error);
	pd_c2c_order_fini(&p.order);
	pd_free(p.both);
	return status == PD_OK ? pd_text_flush_or_fail(p.text, error) : status;
}
