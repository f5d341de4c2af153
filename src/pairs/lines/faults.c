/* SPDX-License-Identifier: MIT */
/* Page faults: a line for each, with the code that accessed memory and what is mapped there. */
#include <inttypes.h>
#include <string.h>

#include "pairs/lines/lines.h"

// An end of the access: the code, or the data.
struct end {
	struct pd_place place;
	uint64_t shown; // address
};

static struct end end_of(const struct pd_lines *lines, const struct pd_fault *fault, uint64_t addr)
{
	struct end end;

	end.place = pd_lines_place(lines, &fault->point.chain, fault->cpumode, addr, &end.shown);
	return end;
}

static void print_code(struct pd_text *text, const struct end *code)
{
	const struct pd_function *function = code->place.function;

	if (function)
		pd_text_escaped(text, function->name, strlen(function->name));
	pd_text_printf(text, "%s0x%" PRIx64, function ? "+" : "",
		       function ? code->place.addr - function->start : code->shown);
}

static void print_data(struct pd_text *text, const struct end *data)
{
	const struct pd_dso *dso = data->place.dso;

	if (dso) {
		pd_text_escaped(text, dso->long_name, strlen(dso->long_name));
		pd_text_char(text, '@');
	}
	pd_text_printf(text, "0x%" PRIx64, data->shown);
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
	const struct end code = end_of(lines, fault, fault->ip), data = end_of(lines, fault, fault->addr);
	struct pd_text *text = lines->sched->text;

	lines->printed++;
	if (lines->options->json) {
		json_fault(lines, fault, &code.place, &data.place);
		return pd_text_flush_or_fail(text, error);
	}
	pd_lines_fault_head(lines, &fault->point);
	pd_text_printf(text, "%.3sfault [", name_of(fault));
	print_code(text, &code);
	PD_TEXT_LITERAL(text, "] => ");
	print_data(text, &data);
	pd_text_printf(text, " (%c%c)\n", data.place.dso ? 'd' : '?', fault->cpumode == PD_CPUMODE_USER ? '.' : 'k');
	pd_lines_print_chain(lines, &fault->point.chain);
	return pd_text_flush_or_fail(text, error);
}
