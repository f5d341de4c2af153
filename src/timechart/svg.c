/* SPDX-License-Identifier: MIT */
/*
 * The picture: a lane is a row of rectangles, and neighbouring pixels that look the same are one. Each lane has a title, which viewers show
 * as a tooltip.
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
	TICKS = 10,
	NAME = 26, // characters of a lane's name
	LEGEND = 170
};

static const struct {
	const char *light, *dark, *doc;
} styles[] = {
#define CLASS(NAME, LANE, light, dark, doc) { light, dark, doc },
#include "timechart/classes.def"
};

static double ms_of(uint64_t ns)
{
	return (double)ns / 1e6;
}

// ---- head ----

static void put_rules(const struct pd_timechart *chart, bool dark)
{
	for (unsigned i = 0; i < PD_LANE_CLASSES; i++)
		pd_text_printf(chart->text, ".c%u{fill:%s}\n", i, dark ? styles[i].dark : styles[i].light);
}

static void put_head(const struct pd_timechart *chart, size_t height)
{
	struct pd_text *text = chart->text;
	unsigned width = LEFT + chart->options.width + MARGIN;

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
	pd_text_printf(text, "<text class=\"facts\" x=\"%d\" y=\"18\">%.3f ms from %" PRIu64 ".%09" PRIu64 " s", MARGIN,
		       ms_of(chart->last_ns - chart->first_ns), chart->first_ns / 1000000000,
		       chart->first_ns % 1000000000);
	if (chart->left_out)
		pd_text_printf(text, " \xc2\xb7 %zu lanes with less are not shown (%.3f ms in all)", chart->left_out,
			       ms_of(chart->left_out_ns));
	if (chart->lost)
		pd_text_printf(text, " \xc2\xb7 records were lost in %" PRIu64 " times between two events",
			       chart->lost);
	pd_text_add(text, "</text>\n");
}

// Steps of 1, 2 or 5 times a power of ten.
static uint64_t step_of(uint64_t span_ns)
{
	uint64_t step = 1;

	while (step <= span_ns / TICKS) {
		static const uint64_t next[] = { 2, 5, 10 };
		unsigned i = 0;

		while (i < 2 && step * next[i] <= span_ns / TICKS)
			i++;
		if (i < 2 || step > UINT64_MAX / 10)
			return step * next[i];
		step *= 10;
	}
	return step;
}

static void put_ticks(const struct pd_timechart *chart, size_t height)
{
	uint64_t span = chart->last_ns - chart->first_ns, step = step_of(span);

	for (uint64_t at = 0; at <= span; at += step) {
		double x = LEFT + (double)at / (double)span * chart->options.width;

		pd_text_printf(chart->text,
			       "<rect class=\"tick\" x=\"%.2f\" y=\"%d\" width=\"0.5\" height=\"%zu\"/>"
			       "<text class=\"facts\" x=\"%.2f\" y=\"%d\">%g ms</text>\n",
			       x, HEAD - 8, height - HEAD + 8, x + 2, HEAD - 4, ms_of(at));
		if (at > UINT64_MAX - step)
			break;
	}
}

static void put_legend(const struct pd_timechart *chart, size_t y)
{
	unsigned x = MARGIN;

	for (unsigned i = 0; i < PD_LANE_CLASSES; i++) {
		bool there = false;

		for (size_t lane = 0; lane < chart->shown && !there; lane++) {
			unsigned first = pd_lane_first(chart->lanes[lane]->kind);

			there = i >= first && i < first + pd_lane_classes(chart->lanes[lane]->kind) &&
				chart->lanes[lane]->sums[i - first];
		}
		// what CPUs have, too, was there before
		for (unsigned before = 0; before < i && there; before++)
			there = strcmp(styles[before].doc, styles[i].doc) != 0;
		if (!there)
			continue;
		pd_text_printf(chart->text,
			       "<rect class=\"c%u\" x=\"%u\" y=\"%zu\" width=\"10\" height=\"10\"/>"
			       "<text class=\"facts\" x=\"%u\" y=\"%zu\">%s</text>\n",
			       i, x, y, x + 14, y + 9, styles[i].doc);
		x += LEGEND;
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
		pd_xml_text(text, lane->name, sizeof(lane->name));
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

// How high each class stands in a pixel. What is there at all is seen, if there is room.
static void measure(const struct pd_lane *lane, unsigned classes, unsigned x, uint8_t heights[PD_LANE_MOST])
{
	unsigned used = 0;

	for (unsigned i = 0; i < classes; i++) {
		float share = lane->cells[(size_t)x * classes + i];
		unsigned height = share > 0 ? (unsigned)(share * BAR + 0.5F) : 0;

		height = share > 0 && !height ? 1 : height;
		heights[i] = (uint8_t)(height < BAR - used ? height : BAR - used);
		used += heights[i];
	}
}

static void put_columns(const struct pd_timechart *chart, unsigned first, unsigned classes,
			const uint8_t heights[PD_LANE_MOST], unsigned x, unsigned width, size_t y)
{
	size_t bottom = y + BAR;

	for (unsigned i = 0; i < classes; i++) {
		if (!heights[i])
			continue;
		bottom -= heights[i];
		pd_text_printf(chart->text, "<rect class=\"c%u\" x=\"%u\" y=\"%zu\" width=\"%u\" height=\"%u\"/>\n",
			       first + i, LEFT + x, bottom, width, (unsigned)heights[i]);
	}
}

static void put_lane(const struct pd_timechart *chart, const struct pd_lane *lane, size_t y)
{
	unsigned classes = pd_lane_classes(lane->kind), width = chart->options.width, from = 0;
	uint8_t heights[PD_LANE_MOST] = { 0 }, next[PD_LANE_MOST] = { 0 };

	pd_text_add(chart->text, "<g>");
	put_title(chart, lane);
	put_name(chart, lane, y);
	pd_text_printf(chart->text, "<rect class=\"lane\" x=\"%d\" y=\"%zu\" width=\"%u\" height=\"%d\"/>\n", LEFT, y,
		       width, BAR);
	measure(lane, classes, 0, heights);
	for (unsigned x = 1; x <= width; x++) {
		if (x < width)
			measure(lane, classes, x, next);
		if (x < width && !memcmp(heights, next, sizeof(heights)))
			continue;
		put_columns(chart, pd_lane_first(lane->kind), classes, heights, from, x - from, y);
		memcpy(heights, next, sizeof(heights));
		from = x;
	}
	pd_text_add(chart->text, "</g>\n");
}

void pd_timechart_print(struct pd_timechart *chart)
{
	size_t end = HEAD + chart->shown * ROW, height = end + 2 * ROW;

	put_head(chart, height);
	for (size_t i = 0; i < chart->shown && pd_text_flush_large(chart->text); i++)
		put_lane(chart, chart->lanes[i], HEAD + i * ROW);
	put_ticks(chart, end);
	put_legend(chart, end + ROW / 2);
	pd_text_add(chart->text, "</svg>\n");
}
