/* SPDX-License-Identifier: MIT */
// Lengths by size.
#include "pairs/histogram.h"

#include <inttypes.h>

enum {
	BAR = 40,
	SUBS = 1 << PD_HISTOGRAM_KEPT
};

static const unsigned percents[] = { 50, 95, 99 };
static const char *const percent_names[] = { "p50_ns", "p95_ns", "p99_ns" };

// Lengths below 128 have a count of their own.
static size_t place_of(uint64_t ns)
{
	unsigned bits = pd_histogram_bits(ns);
	unsigned dropped = bits > PD_HISTOGRAM_KEPT + 1 ? bits - PD_HISTOGRAM_KEPT - 1 : 0;

	return (size_t)dropped * SUBS + (size_t)(ns >> dropped);
}

static uint64_t least_of(size_t place)
{
	size_t dropped = place < 2 * SUBS ? 0 : place / SUBS - 1;

	return (uint64_t)(place - dropped * SUBS) << dropped;
}

void pd_histogram_add(struct pd_histogram *histogram, uint64_t ns)
{
	histogram->counts[place_of(ns)]++;
	histogram->count++;
	histogram->total_ns += ns;
	if (ns > histogram->max_ns)
		histogram->max_ns = ns;
}

uint64_t pd_histogram_percentile(const struct pd_histogram *histogram, unsigned percent)
{
	uint64_t wanted = histogram->count / 100 * percent + (histogram->count % 100 * percent + 99) / 100, sum = 0;

	for (size_t i = 0; i < PD_HISTOGRAM_COUNTS; i++) {
		sum += histogram->counts[i];
		if (sum && sum >= wanted)
			return least_of(i);
	}
	return 0;
}

// ---- by powers of two ----

// Of lengths with so many bits.
static uint64_t count_of(const struct pd_histogram *histogram, unsigned bits)
{
	uint64_t count = 0;

	for (size_t i = place_of(bits ? UINT64_C(1) << (bits - 1) : 0); i < PD_HISTOGRAM_COUNTS; i++) {
		uint64_t least = least_of(i);

		if (pd_histogram_bits(least) != bits)
			break;
		count += histogram->counts[i];
	}
	return count;
}

unsigned pd_histogram_outliers(const struct pd_histogram *histogram, uint64_t *count_out)
{
	unsigned found = 65;
	uint64_t sum = 0;

	*count_out = 0;
	for (unsigned bits = 65; bits--;) {
		sum += count_of(histogram, bits);
		if (sum > histogram->count / 100)
			break;
		if (sum > *count_out)
			found = bits;
		*count_out = sum;
	}
	return found;
}

struct rows {
	unsigned first, last; // numbers of bits
	uint64_t most;
};

static struct rows rows_of(const struct pd_histogram *histogram)
{
	struct rows rows = { .first = 65 };

	for (unsigned bits = 0; bits <= 64; bits++) {
		uint64_t count = count_of(histogram, bits);

		if (!count)
			continue;
		rows.last = bits;
		rows.first = rows.first > bits ? bits : rows.first;
		rows.most = count > rows.most ? count : rows.most;
	}
	return rows;
}

static double in_us(uint64_t ns)
{
	return (double)ns / 1000;
}

void pd_histogram_text(const struct pd_histogram *histogram, struct pd_text *text)
{
	struct rows rows = rows_of(histogram);

	if (!histogram->count)
		return;
	pd_text_printf(text, "mean %.3f us", in_us(histogram->total_ns / histogram->count));
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		pd_text_printf(text, ", p%u %.3f us", percents[i],
			       in_us(pd_histogram_percentile(histogram, percents[i])));
	pd_text_printf(text, ", max %.3f us\n\n       At least us      Below us     Count\n", in_us(histogram->max_ns));
	for (unsigned bits = rows.first; bits <= rows.last; bits++) {
		uint64_t count = count_of(histogram, bits), least = bits ? UINT64_C(1) << (bits - 1) : 0;
		unsigned stars = (unsigned)((double)count / (double)rows.most * BAR);

		pd_text_printf(text, "  %16.3f  %12.3f  %8" PRIu64 "  |%-*.*s|\n", in_us(least),
			       in_us(bits == 64 ? UINT64_MAX : UINT64_C(1) << bits), count, BAR, (int)stars,
			       "****************************************");
	}
}

void pd_histogram_json(const struct pd_histogram *histogram, const char *name, struct pd_json *json)
{
	struct rows rows = rows_of(histogram);

	pd_json_open(json, name, '{');
	pd_json_number(json, "count", histogram->count);
	pd_json_number(json, "total_ns", histogram->total_ns);
	pd_json_number(json, "max_ns", histogram->max_ns);
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		pd_json_number(json, percent_names[i], pd_histogram_percentile(histogram, percents[i]));
	pd_json_open(json, "powers", '[');
	for (unsigned bits = rows.first; bits <= rows.last; bits++) {
		pd_json_open(json, NULL, '{');
		pd_json_number(json, "from_ns", bits ? UINT64_C(1) << (bits - 1) : 0);
		pd_json_number(json, "count", count_of(histogram, bits));
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
	pd_json_close(json, '}');
}
