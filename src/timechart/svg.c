/* SPDX-License-Identifier: MIT */
/*
 * The picture: a lane is a row of rectangles, and neighbouring pixels that look the same are one. Those of a colour are one path: a browser
 * needs seconds for some 100,000 elements. Each lane has a title, which viewers show as a tooltip.
 */
#include "timechart/timechart.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/xml.h"

enum {
	ROW = 18, // pixels from lane to lane
	BAR = 14, // of them have colour
	LEFT = 190,
	MARGIN = 12,
	HEAD = 50,
	TICK = 60,   // at least, from tick to tick: the time at it has room
	PAGE = 1000, // at least: the first line and the legend are read, too
	NAME = 26,   // characters of a lane's name
	LEGEND = 170
};

static const struct {
	const char *light, *dark, *doc;
} styles[] = {
#define CLASS(NAME, LANE, light, dark, doc) { light, dark, doc },
#include "timechart/classes.def"
};

struct column {
	uint8_t below, height;
};

struct legend {
	unsigned classes[PD_LANE_CLASSES], count;
};

static double ms_of(uint64_t ns)
{
	return (double)ns / 1e6;
}

static unsigned page_width(const struct pd_timechart *chart)
{
	unsigned width = LEFT + chart->options.width + TICK;

	return width < PAGE ? PAGE : width;
}

// ---- head ----

static void put_rules(const struct pd_timechart *chart, bool dark)
{
	for (unsigned i = 0; i < PD_LANE_CLASSES; i++)
		pd_text_printf(chart->text, ".c%u{fill:%s}\n", i, dark ? styles[i].dark : styles[i].light);
}

static void put_facts(const struct pd_timechart *chart)
{
	struct pd_text *text = chart->text;

	pd_text_printf(text, "<text class=\"facts\" x=\"%d\" y=\"18\">%.3f ms from ", MARGIN,
		       ms_of(chart->last_ns - chart->first_ns));
	pd_text_time(text, chart->first_ns);
	pd_text_add(text, " s");
	if (chart->left_out)
		pd_text_printf(text, " \xc2\xb7 %zu lanes with less are not shown (%.3f ms in all)", chart->left_out,
			       ms_of(chart->left_out_ns));
	if (chart->too_many)
		pd_text_printf(text, " \xc2\xb7 %zu lanes are too many for this width", chart->too_many);
	if (chart->lost_records)
		pd_text_printf(text, " \xc2\xb7 %" PRIu64 " records were lost", chart->lost_records);
	if (chart->unknown)
		pd_text_printf(text, " \xc2\xb7 %" PRIu64 " unknown intervals: events are missing", chart->unknown);
	pd_text_add(text, "</text>\n");
}

static void put_head(const struct pd_timechart *chart, size_t height)
{
	struct pd_text *text = chart->text;
	unsigned width = page_width(chart);

	pd_text_printf(
		text,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%zu\" viewBox=\"0 0 %u %zu\" role=\"img\">\n"
		"<title>timechart</title>\n<style>\n.page{fill:#fbfbfa}\n.lane{fill:#eceef1}\n.tick{fill:#c4c8ce}\n"
		"text{font:11px ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;fill:#17191c}\n.facts{fill:#565c66}\n",
		width, height, width, height);
	put_rules(chart, false);
	pd_text_add(
		text,
		"@media (prefers-color-scheme:dark){\n.page{fill:#15181c}\n.lane{fill:#23272d}\n.tick{fill:#4b515a}\n"
		"text{fill:#eceef1}\n.facts{fill:#a2a9b4}\n");
	put_rules(chart, true);
	pd_text_printf(text, "}\n</style>\n<rect class=\"page\" width=\"%u\" height=\"%zu\"/>\n", width, height);
	put_facts(chart);
}

// Steps of 1, 2 or 5 times a power of ten, at most so many.
static uint64_t step_of(uint64_t span_ns, unsigned ticks)
{
	uint64_t step = 1;

	while (step <= span_ns / ticks) {
		static const uint64_t next[] = { 2, 5, 10 };
		unsigned i = 0;

		if (step > UINT64_MAX / 10)
			return UINT64_MAX;
		while (i < 2 && step * next[i] <= span_ns / ticks)
			i++;
		if (i < 2)
			return step * next[i];
		step *= 10;
	}
	return step;
}

static void put_tick(const struct pd_timechart *chart, uint64_t at_ns, uint64_t step_ns, size_t height)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } };
	double x = LEFT + (double)at_ns / (double)(chart->last_ns - chart->first_ns) * chart->options.width;
	unsigned unit = 0;

	while (step_ns < units[unit].ns)
		unit++;
	pd_text_printf(chart->text,
		       "<rect class=\"tick\" x=\"%.2f\" y=\"%d\" width=\"0.5\" height=\"%zu\"/>"
		       "<text class=\"facts\" x=\"%.2f\" y=\"%d\">%" PRIu64 " %s</text>\n",
		       x, HEAD - 8, height - HEAD + 8, x + 2, HEAD - 4, at_ns / units[unit].ns, units[unit].name);
}

static void put_ticks(const struct pd_timechart *chart, size_t height)
{
	uint64_t span = chart->last_ns - chart->first_ns;
	unsigned most = chart->options.width / TICK;
	uint64_t step = step_of(span, most > 2 ? most : 2);

	for (uint64_t at = 0; at <= span; at += step) {
		put_tick(chart, at, step, height);
		if (at > UINT64_MAX - step)
			break;
	}
}

// ---- legend ----

static bool is_shown(const struct pd_timechart *chart, unsigned class)
{
	for (size_t i = 0; i < chart->shown; i++) {
		unsigned first = pd_lane_first(chart->lanes[i]->kind);

		if (class >= first && class < first + pd_lane_classes(chart->lanes[i]->kind) &&
		    chart->lanes[i]->sums[class - first])
			return true;
	}
	return false;
}

static struct legend find_legend(const struct pd_timechart *chart)
{
	struct legend legend = { .count = 0 };

	for (unsigned i = 0; i < PD_LANE_CLASSES; i++) {
		bool there = is_shown(chart, i);

		// what CPUs have, too, was there before
		for (unsigned k = 0; k < legend.count && there; k++)
			there = strcmp(styles[legend.classes[k]].doc, styles[i].doc) != 0;
		if (there)
			legend.classes[legend.count++] = i;
	}
	return legend;
}

static unsigned legend_columns(const struct pd_timechart *chart)
{
	return (page_width(chart) - 2 * MARGIN) / LEGEND;
}

static void put_legend(const struct pd_timechart *chart, const struct legend *legend, size_t top)
{
	unsigned columns = legend_columns(chart);

	for (unsigned i = 0; i < legend->count; i++) {
		unsigned class = legend->classes[i], x = MARGIN + i % columns * LEGEND;
		size_t y = top + (size_t)(i / columns) * ROW;

		pd_text_printf(chart->text,
			       "<rect class=\"c%u\" x=\"%u\" y=\"%zu\" width=\"10\" height=\"10\"/>"
			       "<text class=\"facts\" x=\"%u\" y=\"%zu\">%s</text>\n",
			       class, x, y, x + 14, y + 9, styles[class].doc);
	}
}

// ---- lanes ----

static void put_title(const struct pd_timechart *chart, const struct pd_lane *lane)
{
	unsigned first = pd_lane_first(lane->kind);
	struct pd_text *text = chart->text;

	pd_text_add(text, "<title>");
	if (lane->kind < PD_LANE_THREAD)
		pd_text_printf(text, "CPU %" PRIu32, lane->number);
	else if (*lane->name)
		pd_xml_characters(text, lane->name, sizeof(lane->name));
	else
		pd_text_add(text, "thread");
	if (lane->kind >= PD_LANE_THREAD)
		pd_text_printf(text, ", thread %" PRIu32, lane->number);
	if (lane->kind >= PD_LANE_THREAD && lane->pid != UINT32_MAX)
		pd_text_printf(text, " of process %" PRIu32, lane->pid);
	for (unsigned i = 0; i < pd_lane_classes(lane->kind); i++)
		if (lane->sums[i])
			pd_text_printf(text, "; %s %.3f ms", styles[first + i].doc, ms_of(lane->sums[i]));
	pd_text_add(text, "</title>");
}

static void put_name(const struct pd_timechart *chart, const struct pd_lane *lane, size_t y)
{
	static const char *const after[] = { "", " idle states", " frequency", "", " calls" };
	char number[16];
	int length = snprintf(number, sizeof(number), " %" PRIu32, lane->number);

	pd_text_printf(chart->text, "<text x=\"%d\" y=\"%zu\">", MARGIN, y + BAR - 3);
	if (lane->kind < PD_LANE_THREAD)
		pd_text_add(chart->text, "CPU");
	else
		pd_xml_characters(chart->text, *lane->name ? lane->name : "thread",
				  NAME - (size_t)length - strlen(after[lane->kind]));
	pd_text_printf(chart->text, "%s%s</text>\n", number, after[lane->kind]);
}

// Where a class stands in a pixel. What is there at all is seen, if there is room.
static struct column measure(const struct pd_lane *lane, unsigned classes, unsigned class, unsigned x)
{
	struct column column = { 0 };

	for (unsigned i = 0; i <= class; i++) {
		float share = lane->cells[(size_t)x * classes + i];
		unsigned most = BAR - column.below - column.height;
		unsigned height = share > 0 ? (unsigned)(share * BAR + 0.5F) : 0;

		height = share > 0 && !height ? 1 : height;
		column.below = (uint8_t)(column.below + column.height);
		column.height = (uint8_t)(height < most ? height : most);
	}
	return column.height ? column : (struct column){ 0 };
}

static void put_class(const struct pd_timechart *chart, const struct pd_lane *lane, unsigned class, size_t y)
{
	unsigned classes = pd_lane_classes(lane->kind), width = chart->options.width, from = 0;
	struct column last = { 0 };
	bool begun = false;

	for (unsigned x = 0; x <= width; x++) {
		struct column next = x < width ? measure(lane, classes, class, x) : (struct column){ 0 };

		if (next.below == last.below && next.height == last.height)
			continue;
		if (last.height && !begun)
			pd_text_printf(chart->text, "<path class=\"c%u\" d=\"", pd_lane_first(lane->kind) + class);
		begun |= last.height != 0;
		if (last.height)
			pd_text_printf(chart->text, "M%u %zuh%uv%uh-%uz", LEFT + from,
				       y + BAR - last.below - last.height, x - from, (unsigned)last.height, x - from);
		last = next;
		from = x;
	}
	if (begun)
		pd_text_add(chart->text, "\"/>\n");
}

static void put_lane(const struct pd_timechart *chart, const struct pd_lane *lane, size_t y)
{
	pd_text_add(chart->text, "<g>");
	put_title(chart, lane);
	put_name(chart, lane, y);
	pd_text_printf(chart->text, "<rect class=\"lane\" x=\"%d\" y=\"%zu\" width=\"%u\" height=\"%d\"/>\n", LEFT, y,
		       chart->options.width, BAR);
	for (unsigned i = 0; i < pd_lane_classes(lane->kind); i++)
		if (lane->sums[i])
			put_class(chart, lane, i, y);
	pd_text_add(chart->text, "</g>\n");
}

void pd_timechart_print(struct pd_timechart *chart)
{
	struct legend legend = find_legend(chart);
	size_t end = HEAD + chart->shown * ROW,
	       rows = (legend.count + legend_columns(chart) - 1) / legend_columns(chart);

	put_head(chart, end + (rows + 1) * ROW);
	for (size_t i = 0; i < chart->shown && pd_text_flush_large(chart->text); i++)
		put_lane(chart, chart->lanes[i], HEAD + i * ROW);
	put_ticks(chart, end);
	put_legend(chart, &legend, end + ROW / 2);
	pd_text_add(chart->text, "</svg>\n");
}
