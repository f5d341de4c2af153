/* SPDX-License-Identifier: MIT */
/*
 * Two folded texts as one page: a flame graph as wide as the new one, and one as wide as the old one, in which what is gone still has its
 * place. Colours say how the share of a frame changed. No scripts; names are text wherever they stand.
 */
#include <perfdata/flame.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/lookup/strings.h"
#include "base/lookup/u64_map.h"
#include "base/memory.h"
#include "base/text/text.h"

enum {
	ROW = 17,
	WIDTH = 1200,
	CHARACTERS = 7, // pixels of one
	MOST_DEPTH = 1000
};

#define LEAST_WIDTH 0.1

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-GIw0aSniZ26ks9yUOLk2UtygB6orgx9GlqhitCI/1tE='\">\n"
	"<title>perfdata flame --diff</title>\n<style>\n"
	"body{font:14px system-ui,sans-serif;margin:1em;background:#fbfbfa;color:#17191c}\n"
	"svg{display:block;max-width:100%;height:auto}\n"
	"svg text{font:11px ui-monospace,monospace;fill:#17191c;pointer-events:none}\n"
	"rect:hover{stroke:#000}\n"
	"rect{cursor:pointer}\n"
	"</style></head><body>\n";

// Zooms into a frame, with colours by how shares of it changed. The policy of the page allows no other script: it has the digest of this
// one, which a test compares.
static const char zoom[] =
	"\"use strict\";\n"
	"const color = (before, after) => {\n"
	"\tconst most = Math.max(before, after), change = most ? (after - before) / most : 0, pale = 240 - Math.floor(170 * Math.abs(change));\n"
	"\treturn change > 0 ? `rgb(245,${pale},${pale})` : `rgb(${pale},${pale},245)`;\n"
	"};\n"
	"const read = (rect) => {\n"
	"\tconst title = rect.firstChild.textContent, values = / (\\d+) to (\\d+)(?:, only \\w+)?$/.exec(title), next = rect.nextElementSibling;\n"
	"\tconst [x, y, width] = [\"x\", \"y\", \"width\"].map((name) => Number(rect.getAttribute(name)));\n"
	"\treturn { rect, x, y, width, name: title.replace(/: [\\d.]+% to [^:]*$/, \"\"), before: Number(values[1]), after: Number(values[2]),\n"
	"\t\ttext: next && next.tagName === \"text\" ? next : null };\n"
	"};\n"
	"const label = (frame, x, width) => {\n"
	"\tconst fits = width > 8 ? Math.floor((width - 6) / 7) : 0, letters = [...frame.name];\n"
	"\tif (!frame.text && fits < 3) return;\n"
	"\tif (!frame.text) {\n"
	"\t\tframe.text = document.createElementNS(frame.rect.namespaceURI, \"text\");\n"
	"\t\tframe.text.setAttribute(\"y\", frame.y + 12);\n"
	"\t\tframe.rect.after(frame.text);\n"
	"\t}\n"
	"\tframe.text.setAttribute(\"x\", x + 3);\n"
	"\tframe.text.textContent = fits < 3 ? \"\" : letters.length <= fits ? frame.name : letters.slice(0, fits - 1).join(\"\") + \"\\u2026\";\n"
	"};\n"
	"const show = (frames, zoom) => {\n"
	"\tconst near = 0.02, scale = 1200 / zoom.width, share = (value, all) => (all ? value / all : 0);\n"
	"\tfor (const frame of frames) {\n"
	"\t\tconst below = frame.y > zoom.y && frame.x <= zoom.x + near && frame.x + frame.width >= zoom.x + zoom.width - near;\n"
	"\t\tconst inside = frame.y <= zoom.y && frame.x >= zoom.x - near && frame.x + frame.width <= zoom.x + zoom.width + near;\n"
	"\t\tconst x = below ? 0 : (frame.x - zoom.x) * scale, width = below ? 1200 : frame.width * scale;\n"
	"\t\tframe.rect.setAttribute(\"visibility\", below || inside ? \"visible\" : \"hidden\");\n"
	"\t\tframe.rect.setAttribute(\"x\", x.toFixed(2));\n"
	"\t\tframe.rect.setAttribute(\"width\", width.toFixed(2));\n"
	"\t\tframe.rect.setAttribute(\"fill\", below ? color(1, 1) : color(share(frame.before, zoom.before), share(frame.after, zoom.after)));\n"
	"\t\tlabel(frame, x, below || inside ? width : 0);\n"
	"\t}\n"
	"};\n"
	"const graphs = [...document.querySelectorAll(\"svg\")].map((svg) => [...svg.querySelectorAll(\"rect\")].map(read));\n"
	"const follow = () => {\n"
	"\tconst [graph, frame] = location.hash.slice(1).split(\"-\").map(Number);\n"
	"\tgraphs.forEach((frames, number) => frames.length && show(frames, (number === graph && frames[frame]) || frames[0]));\n"
	"};\n"
	"document.addEventListener(\"click\", (event) => {\n"
	"\tgraphs.forEach((frames, graph) => frames.forEach((frame, number) => frame.rect === event.target && (location.hash = `${graph}-${number}`)));\n"
	"});\n"
	"addEventListener(\"hashchange\", follow);\n"
	"if (location.hash) follow();\n";

struct node {
	uint32_t name, parent, depth;
	uint64_t values[2];   // old, new; with what is below
	double used;          // of its width, by those below that are placed
	double x;             // below 0: not drawn
	double most;          // the largest change of it and of what is below
	uint32_t first, next; // children, as a list; 0: none
};

struct difference {
	struct pd_strings names;
	struct pd_arena arena;
	struct pd_u64_map children; // by parent and name, plus 1
	struct node *nodes;         // a parent before those below it
	size_t count, capacity;
	uint32_t depth;
	bool failed;
};

// ---- the tree ----

static uint32_t child_of(struct difference *d, uint32_t parent, const char *name, size_t length)
{
	uint32_t text = pd_strings_add(&d->names, &d->arena, name, length);
	uint64_t key = ((uint64_t)parent << 32 | text) + 1, known = pd_u64_map_find(&d->children, key);

	if (known)
		return (uint32_t)(known - 1);
	if (text == PD_INDEX_END || !PD_GROW(d->nodes, d->capacity, d->count + 1) ||
	    !pd_u64_map_add(&d->children, key, d->count + 1)) {
		d->failed = true;
		return 0;
	}
	d->nodes[d->count] = (struct node){ .name = text, .parent = parent, .depth = d->nodes[parent].depth + 1 };
	if (d->nodes[d->count].depth > d->depth)
		d->depth = d->nodes[d->count].depth;
	return (uint32_t)d->count++;
}

static void add_values(struct difference *d, uint32_t node, const uint64_t values[2])
{
	d->nodes[node].values[0] += values[0];
	d->nodes[node].values[1] += values[1];
}

static uint64_t last_number(const char *line, size_t *length)
{
	size_t at = *length;
	uint64_t value = 0;

	while (at && line[at - 1] >= '0' && line[at - 1] <= '9')
		at--;
	for (size_t i = at; i < *length; i++)
		value = value * 10 + (uint64_t)(line[i] - '0');
	*length = at ? at - 1 : 0;
	return value;
}

// "a;b;c 12 34"
static void add_line(struct difference *d, const char *line, size_t length)
{
	uint64_t values[2];
	uint32_t node = 0;

	values[1] = last_number(line, &length);
	values[0] = last_number(line, &length);
	add_values(d, 0, values);
	for (size_t at = 0; at < length && !d->failed && d->nodes[node].depth < MOST_DEPTH;) {
		const char *end = memchr(line + at, ';', length - at);
		size_t size = end ? (size_t)(end - line) - at : length - at;

		node = child_of(d, node, line + at, size);
		if (!d->failed)
			add_values(d, node, values);
		at += size + 1;
	}
}

static void read_lines(struct difference *d, struct pd_bytes text)
{
	const char *at = (const char *)text.data, *end = at + text.size;

	d->failed = !PD_GROW(d->nodes, d->capacity, 1);
	if (d->failed)
		return;
	d->nodes[d->count++] = (struct node){ 0 };
	while (at < end && !d->failed) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		add_line(d, at, (size_t)((newline ? newline : end) - at));
		at = newline ? newline + 1 : end;
	}
}

// ---- drawing ----

static void put_html(struct pd_text *out, const char *text, size_t length)
{
	while (length) {
		size_t size = pd_text_plain(text, length);

		if (*text && strchr("<>&\"'", *text))
			pd_text_printf(out, "&#%d;", *text);
		else
			pd_text_escaped(out, text, size ? size : 1);
		text += size ? size : 1;
		length -= size ? size : 1;
	}
}

// Bytes of at most so many characters.
static size_t cut(const char *text, size_t length, size_t most)
{
	size_t at = 0;

	while (at < length && most--) {
		at++;
		while (at < length && (text[at] & 0xc0) == 0x80)
			at++;
	}
	return at;
}

static double share(const struct difference *d, const struct node *node, int side)
{
	return d->nodes[0].values[side] ? (double)node->values[side] / (double)d->nodes[0].values[side] : 0;
}

// Red for more, blue for less: the stronger, the larger the change is of the larger share.
static void put_color(struct pd_text *out, double old, double new)
{
	double most = old > new ? old : new, change = most > 0 ? (new - old) / most : 0;
	int pale = 240 - (int)(170 * fabs(change));

	if (change > 0)
		pd_text_printf(out, "rgb(245,%d,%d)", pale, pale);
	else
		pd_text_printf(out, "rgb(%d,%d,245)", pale, pale);
}

static void put_node(const struct difference *d, const struct node *node, double width, double y, struct pd_text *out)
{
	const char *name = node->depth ? d->names.items[node->name] : "all";
	size_t fits = width > 8 ? (size_t)((width - 6) / CHARACTERS) : 0, length = strlen(name);
	double old = share(d, node, 0), new = share(d, node, 1);

	pd_text_printf(out, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"", node->x, y, width,
		       ROW - 1);
	put_color(out, old, new);
	pd_text_add(out, "\"><title>");
	put_html(out, name, length);
	pd_text_printf(out, ": %.2f%% to %.2f%% (%+.2f points), %" PRIu64 " to %" PRIu64 "%s</title></rect>\n",
		       old * 100, new * 100, (new - old) * 100, node->values[0], node->values[1],
		       !node->values[1] ? ", only before" :
		       !node->values[0] ? ", only after" :
					  "");
	if (fits < 3)
		return;
	pd_text_printf(out, "<text x=\"%.2f\" y=\"%.0f\">", node->x + 3, y + 12);
	put_html(out, name, length <= fits ? length : cut(name, length, fits - 1));
	pd_text_add(out, length <= fits ? "</text>\n" : "\xe2\x80\xa6</text>\n");
}

static bool draw(struct difference *d, int side, struct pd_text *out)
{
	double height = (double)(d->depth + 1) * ROW;

	pd_text_printf(out, "<svg viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" role=\"img\">\n", WIDTH, height,
		       WIDTH, height);
	for (size_t i = 0; i < d->count; i++) {
		struct node *node = &d->nodes[i], *parent = &d->nodes[node->parent];
		double width = share(d, node, side) * WIDTH;

		node->used = 0;
		node->x = i ? parent->x + parent->used : 0;
		if (i)
			parent->used += width;
		if ((i && parent->x < 0) || width < LEAST_WIDTH)
			node->x = -1;
		else
			put_node(d, node, width, height - (double)(node->depth + 1) * ROW, out);
		if (!pd_text_flush_large(out))
			return false;
	}
	pd_text_add(out, "</svg>\n");
	return true;
}

static bool print_page(struct difference *d, const char *old_name, const char *new_name, struct pd_text *out)
{
	pd_text_add(out, head);
	pd_text_add(out, "<h1>");
	put_html(out, old_name, strlen(old_name));
	pd_text_add(out, " \xe2\x86\x92 ");
	put_html(out, new_name, strlen(new_name));
	pd_text_printf(
		out,
		"</h1>\n<p>%" PRIu64 " before, %" PRIu64
		" after. Red frames have a larger share of all than before, blue ones a "
		"smaller one: the stronger, the larger the change beside the larger of both shares. A click zooms: shares are those of "
		"the frame then.</p>\n<h2>As wide as "
		"after</h2>\n",
		d->nodes[0].values[0], d->nodes[0].values[1]);
	if (!draw(d, 1, out))
		return false;
	pd_text_add(out, "<h2>As wide as before</h2>\n");
	if (!draw(d, 0, out))
		return false;
	pd_text_add(out, "<script>");
	pd_text_add(out, zoom);
	pd_text_add(out, "</script></body></html>\n");
	return true;
}

// ---- as a tree of text ----

static double change(const struct difference *d, const struct node *node)
{
	return (share(d, node, 1) - share(d, node, 0)) * 100;
}

// Children by the largest change in them.
static void insert_child(struct difference *d, uint32_t number)
{
	struct node *node = &d->nodes[number];
	uint32_t *place = &d->nodes[node->parent].first;

	while (*place && d->nodes[*place].most >= node->most)
		place = &d->nodes[*place].next;
	node->next = *place;
	*place = number;
}

static void link_nodes(struct difference *d, double least)
{
	for (size_t i = d->count; i-- > 1;) {
		struct node *node = &d->nodes[i], *parent = &d->nodes[node->parent];

		node->most = fmax(node->most, fabs(change(d, node)));
		parent->most = fmax(parent->most, node->most);
		if (node->most >= least)
			insert_child(d, (uint32_t)i);
	}
}

static void put_changed(const struct difference *d, const struct node *node, bool escape, struct pd_text *out)
{
	const char *name = d->names.items[node->name];

	pd_text_printf(out, " %7.2f%% %7.2f%% %+8.2f%%  %*s", share(d, node, 0) * 100, share(d, node, 1) * 100,
		       change(d, node), (int)(node->depth - 1) * 2, "");
	if (escape)
		pd_text_escaped(out, name, strlen(name));
	else
		pd_text_add(out, name);
	pd_text_char(out, '\n');
}

// Depth first, without recursion: stacks may be deep.
static bool put_tree(const struct difference *d, bool escape, struct pd_text *out)
{
	uint32_t at = d->nodes[0].first;

	while (at) {
		put_changed(d, &d->nodes[at], escape, out);
		if (!pd_text_flush_large(out))
			return false;
		if (d->nodes[at].first) {
			at = d->nodes[at].first;
			continue;
		}
		while (at && !d->nodes[at].next)
			at = d->nodes[at].parent;
		at = at ? d->nodes[at].next : 0;
	}
	return true;
}

static void free_difference(struct difference *d)
{
	pd_strings_fini(&d->names);
	pd_arena_fini(&d->arena);
	pd_u64_map_fini(&d->children);
	pd_free(d->nodes);
}

// The nodes have their names in the text, which is the caller's to free, as they are.
static enum pd_status read_both(struct pd_bytes old_text, struct pd_bytes new_text, struct difference *d,
				struct pd_text **merged_out, struct pd_error *error)
{
	enum pd_status status;

	*merged_out = pd_text_new();
	if (!*merged_out)
		return pd_fail_memory(error);
	status = pd_folded_compare(old_text, new_text, false, *merged_out, error);
	if (status != PD_OK)
		return status;
	read_lines(d, pd_text_bytes(*merged_out));
	return d->failed ? pd_fail_memory(error) : PD_OK;
}

static bool print_changes(struct difference *d, double least, bool escape, struct pd_text *text)
{
	link_nodes(d, least);
	pd_text_printf(text,
		       "# %" PRIu64 " before, %" PRIu64 " after; without what changed by less than %.2f points\n#\n"
		       "#  Before    After    Change  Function, and its callers below\n#\n",
		       d->nodes[0].values[0], d->nodes[0].values[1], least);
	return put_tree(d, escape, text);
}

// What was read goes.
static enum pd_status end_difference(struct difference *d, struct pd_text *merged, enum pd_status status, bool printed,
				     const struct pd_text *text, struct pd_error *error)
{
	pd_text_free(merged);
	free_difference(d);
	if (status < 0)
		return status;
	if (pd_text_failed(text))
		return pd_fail_memory(error);
	return printed ? PD_OK : pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "cannot write the output");
}

enum pd_status pd_flame_print_changes(struct pd_bytes old_text, struct pd_bytes new_text, double least, bool escape,
				      struct pd_text *text, struct pd_error *error)
{
	struct difference d = { 0 };
	struct pd_text *merged;
	enum pd_status status = read_both(old_text, new_text, &d, &merged, error);
	bool printed = status >= 0 && print_changes(&d, least, escape, text);

	return end_difference(&d, merged, status, printed, text, error);
}

enum pd_status pd_flame_print_difference(struct pd_bytes old_text, struct pd_bytes new_text, const char *old_name,
					 const char *new_name, struct pd_text *text, struct pd_error *error)
{
	struct difference d = { 0 };
	struct pd_text *merged;
	enum pd_status status = read_both(old_text, new_text, &d, &merged, error);
	bool printed = status >= 0 && print_page(&d, old_name, new_name, text);

	return end_difference(&d, merged, status, printed, text, error);
}
