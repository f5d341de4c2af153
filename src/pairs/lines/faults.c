/* SPDX-License-Identifier: MIT */
/* Page faults: a line for each, with the code that accessed memory and what is mapped there. */
#include <inttypes.h>
#include <string.h>

#include "pairs/lines/lines.h"

static struct pd_place place_of(const struct pd_lines *lines, const struct pd_fault *fault, uint64_t addr)
{
	const struct pd_moment when = { fault->point.time_ns, UINT64_MAX };
	const struct pd_place unknown = { .addr = addr };

	return lines->pairs->symbols ?
		       pd_symbols_place(lines->pairs->symbols, fault->point.chain.pid, fault->cpumode, when, addr) :
		       unknown;
}

static void print_code(struct pd_text *text, const struct pd_place *place, uint64_t addr)
{
	if (place->function) {
		pd_text_escaped(text, place->function->name, strlen(place->function->name));
		pd_text_printf(text, "+0x%" PRIx64, place->addr - place->function->start);
	} else {
		pd_text_printf(text, "0x%" PRIx64, place->dso ? place->addr : addr);
	}
}

static void print_data(struct pd_text *text, const struct pd_place *place, uint64_t addr)
{
	if (place->dso) {
		pd_text_escaped(text, place->dso->long_name, strlen(place->dso->long_name));
		pd_text_char(text, '@');
	}
	pd_text_printf(text, "0x%" PRIx64, place->dso ? place->addr : addr);
}

static const char *name_of(const struct pd_fault *fault)
{
	return fault->is_major ? "major" : "minor";
}

static void json_fault(struct pd_lines *lines, const struct pd_fault *fault, const struct pd_place *code,
		       const struct pd_place *data)
{
	struct pd_json *json = &lines->json;

	pd_lines_json_begin(lines);
	pd_json_open(json, NULL, '{');
	pd_json_offset(json, "time_ns", fault->point.time_ns);
	pd_sched_json_thread(json, "thread", fault->point.thread);
	pd_json_string(json, "fault", name_of(fault));
	pd_json_string(json, "symbol", code->function ? code->function->name : NULL);
	pd_json_string(json, "dso", code->dso ? code->dso->long_name : NULL);
	pd_json_number(json, "ip", fault->ip);
	pd_json_number(json, "addr", fault->addr);
	pd_json_string(json, "mapped", data->dso ? data->dso->long_name : NULL);
	pd_lines_json_chain(lines, &fault->point.chain);
	pd_json_close(json, '}');
}

enum pd_status pd_lines_fault(struct pd_lines *lines, const struct pd_fault *fault, struct pd_error *error)
{
	const struct pd_place code = place_of(lines, fault, fault->ip), data = place_of(lines, fault, fault->addr);
	struct pd_text *text = lines->sched->text;

	lines->printed++;
	if (lines->options->json) {
		json_fault(lines, fault, &code, &data);
		return pd_text_flush_or_fail(text, error);
	}
	pd_lines_fault_head(lines, &fault->point);
	pd_text_printf(text, "%.3sfault [", name_of(fault));
	print_code(text, &code, fault->ip);
	PD_TEXT_LITERAL(text, "] => ");
	print_data(text, &data, fault->addr);
	pd_text_printf(text, " (%c%c)\n", data.dso ? 'd' : '?', fault->cpumode == PD_CPUMODE_USER ? '.' : 'k');
	pd_lines_print_chain(lines, &fault->point.chain);
	return pd_text_flush_or_fail(text, error);
}
