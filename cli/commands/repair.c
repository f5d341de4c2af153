/* SPDX-License-Identifier: MIT */
/*
 * perfdata repair: writes again what can be read of a damaged file. The library does the work; this file says what came
 * of it: each problem as it is met, and at the end what was kept, left out, put right and made.
 */
#include "files/input.h"
#include "files/target.h"

#include <perfdata/repair.h>

#include <string.h>

enum {
	PROBLEMS_IN_JSON = 1000 /* the others are counted */
};

struct values {
	struct input_options input;
	struct target_options target;
	bool dry_run;
	bool json;
};

static const struct option options[] = {
	GROUP(input_group, input),
	GROUP(target_group, target),
	FLAG("dry-run", 'n', dry_run, "write nothing, only report what would be done"),
	GROUP(json_summary_option, json),
	{ 0 },
};

struct repair {
	struct input input; /* first: see input_progress */
	const struct values *values;
	struct target target;
	struct pd_repair_result result;
	struct pd_text *problems; /* as JSON */
	struct pd_json list;
	uint64_t problem_count, recovered;
};

/* ---- problems ---- */

static bool on_problem(void *self, const struct pd_problem *problem)
{
	struct repair *repair = self;

	repair->recovered += !strcmp(problem->code, "mended");
	if (repair->values->json && repair->problem_count++ < PROBLEMS_IN_JSON)
		pd_repair_problem_json(problem, &repair->list);
	return input_report(&repair->input, problem);
}

/* ---- what came of it ---- */

static void report_result(const struct repair *repair)
{
	struct pd_text *text = repair->values->input.quiet ? NULL : pd_text_new();

	if (text)
		pd_repair_text(&repair->result, !repair->values->dry_run, repair->recovered, text);
	print_and_free(text);
}

static bool has_dropped_features(const struct pd_repair_result *result)
{
	const uint64_t *bits = result->dropped_features;

	return bits[0] || bits[1] || bits[2] || bits[3];
}

static int report_end(struct repair *repair)
{
	if (repair->values->json)
		pd_repair_print_json(repair->input.out->text, &repair->result, repair->input.name,
				     repair->values->dry_run ? NULL : repair->target.path, repair->problems,
				     repair->problem_count, repair->recovered);
	report_result(repair);
	if (repair->result.record_count)
		return repair->recovered || has_dropped_features(&repair->result) ? CODE_DAMAGED : CODE_OK;
	return print_failure(CODE_NOTHING, "%s: no record can be read", repair->input.name);
}

/* ---- the command ---- */

static int repair_opened(struct repair *repair)
{
	const struct pd_repair_options options = { .size = sizeof(options),
						   .progress = input_progress_step,
						   .self = &repair->input };
	bool writes = !repair->values->dry_run;
	int code = writes ? target_open(&repair->target, &repair->input.file, 1, false) : CODE_OK;
	struct pd_error error;
	enum pd_status status;

	if (code != CODE_OK)
		return code;
	status = pd_repair(repair->input.file, repair->target.writer, &options, &repair->result, &error);
	progress_clear(&repair->input.progress);
	if (status < 0)
		code = target_failed(&repair->target, status, &error);
	code = target_close(&repair->target, code);
	return code == CODE_OK ? report_end(repair) : code;
}

static bool options_are_valid(const struct values *values)
{
	const char *output = values->target.output;

	if (values->dry_run && output)
		return print_error("--dry-run writes nothing: leave out --output");
	if (values->json && output && !strcmp(output, "-"))
		return print_error("--json and the recording cannot both be written to standard output");
	return true;
}

static int run_repair(const struct call *call)
{
	struct repair repair = { .values = call->values };
	struct input_options input = repair.values->input;
	int code = CODE_OK;

	if (!options_are_valid(repair.values))
		return CODE_USAGE;
	if (!repair.values->dry_run)
		code = target_take(&repair.target, &repair.values->target, PD_PACK_SAME);
	if (code != CODE_OK)
		return code;
	repair.problems = pd_text_new();
	if (!repair.problems)
		return print_failure(CODE_UNREADABLE, "no memory");
	repair.list.text = repair.problems;
	input.keep = input.recover = true;
	code = input_open(&repair.input, &input, call, on_problem, &repair);
	if (code == CODE_OK)
		code = input_close(&repair.input, repair_opened(&repair));
	pd_text_free(repair.problems);
	return code;
}

const struct command cmd_repair = {
	.usage = "[OPTION]... -o OUTPUT [FILE]",
	.text = "Recover what is readable of a truncated or corrupt recording, or of one whose recorder was killed. OUTPUT is "
		"undamaged, and perf and other programs open it. FILE is never modified.\n\n"
		"Intact records are copied unchanged. Bytes that cannot be a record of FILE, judged by size, type, event ids and "
		"timestamps, are skipped up to the next valid records. In compressed data everything from the damage to the next "
		"frame is lost. Damaged header features are dropped. SAMPLE_TIME and EVENT_DESC are regenerated if a killed recorder did "
		"not write them. HOSTNAME and CMDLINE become 'unknown' where they are missing, and NRCPUS the CPUs seen in samples, "
		"because some readers do not work without. Damaged tracepoint formats keep the fields that can be parsed. A wrong "
		"header is corrected from other parts of the file: attrs and ids from EVENT_DESC, sizes from the offsets, CPUs and "
		"threads of perf stat from its counts.\n\n"
		"A valid record with wrong values (an address, a count) cannot be detected and is kept. If both the attrs "
		"and EVENT_DESC are lost, no program can parse the samples.\n\n"
		"Each problem is reported when it is found, and a summary at the end. The exit code is 1 if something was damaged, "
		"0 if nothing was, or if only the end of a killed recording is missing.",
	OPTIONS(options),
	EXAMPLES({ "perfdata repair -i broken.data -o fixed.data", "recover everything readable" },
		 { "perfdata repair -n broken.data", "show what could be recovered" },
		 { "perfdata repair --json -o fixed.data broken.data | jq .records", "machine-readable summary" }),
	.max_words = 1,
	.run = run_repair,
};
