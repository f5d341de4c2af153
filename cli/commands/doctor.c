/* SPDX-License-Identifier: MIT */
/*
 * perfdata doctor: what is wrong with a recording, how much of it, and what to type against it.
 */
#include "doctor.h"

#include <stdlib.h>

struct values {
	struct analysis_options analysis;
	bool json;
};

static const struct option options[] = {
	INPUT_OPTIONS(struct values, analysis.input),
	{ "json", 'j', OPTION_FLAG, NULL, offsetof(struct values, json), "one JSON object" },
	SYMBOL_OPTIONS(struct values, analysis.symbols),
	ANALYSIS_OPTIONS(struct values, analysis),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata doctor perf.data", "what to change in the next recording" },
	{ "perfdata doctor --symfs root perf.data", "look up the files of another machine below root" },
	{ "perfdata doctor --json perf.data | jq -r '.findings[].code'", "list the codes of the findings" },
	{ 0 },
};

/* Worst first, then what there is most of, then in the order of the checks. */
static int compare(const void *a, const void *b)
{
	const struct finding *left = a, *right = b;
	double left_share = percent(left->count, left->total), right_share = percent(right->count, right->total);

	if (left->severity != right->severity)
		return left->severity < right->severity ? 1 : -1;
	if (left_share < right_share || left_share > right_share)
		return left_share < right_share ? 1 : -1;
	return left->order < right->order ? -1 : left->order > right->order;
}

static int examine(struct doctor *doctor, const struct values *values)
{
	const struct pd_profile_options profile = { .size = sizeof(profile), .by = PD_BY_CHAIN | PD_BY_COMM };
	int code = counts_gather(&doctor->counts, &doctor->analysis.input);

	if (code != CODE_FINE)
		return code;
	check_recording(doctor);
	if (doctor->counts.samples > doctor->counts.unknown_event + doctor->counts.damaged) {
		code = analysis_read(&doctor->analysis, &values->analysis, &profile);
		/* Samples whose counters belong to no event are in no profile. */
		if (code == CODE_FINE)
			check_profile(doctor);
		else if (code != CODE_NOTHING)
			return code;
	}
	if (doctor->failed) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	if (doctor->finding_count)
		qsort(doctor->findings, doctor->finding_count, sizeof(*doctor->findings), compare);
	(values->json ? doctor_json : doctor_print)(doctor, doctor->analysis.input.out->text);
	if (!doctor->counts.samples)
		return CODE_NO_SAMPLES;
	return doctor->finding_count && doctor->findings[0].severity == BAD ? CODE_DAMAGED : CODE_FINE;
}

static void free_findings(struct doctor *doctor)
{
	for (size_t i = 0; i < doctor->finding_count; i++) {
		struct finding *finding = &doctor->findings[i];

		for (size_t k = 0; k < finding->object_count; k++)
			free(finding->objects[k].command);
		free(finding->text);
		free(finding->command);
	}
	free(doctor->findings);
}

static int run(const struct call *call)
{
	const struct values *values = call->values;
	struct analysis_options options_here = values->analysis;
	struct doctor *doctor = calloc(1, sizeof(*doctor));
	int code;

	if (!doctor) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	/* Problems are findings. */
	options_here.input.quiet |= !options_here.input.verbose;
	code = analysis_begin(&doctor->analysis, &options_here, call);
	doctor->analysis.short_names = true;
	if (code == CODE_FINE) {
		code = examine(doctor, values);
		counts_fini(&doctor->counts);
	}
	free_findings(doctor);
	code = analysis_close(&doctor->analysis, code);
	free(doctor);
	return code;
}

const struct command cmd_doctor = {
	.usage = "[OPTION]... [FILE]",
	.text = "Report what is wrong with FILE, worst first: how much is affected, the consequence, and after > what to type, "
		"for the next recording or for reading this one. Each finding is measured in the file or in the objects that "
		"it names.\n"
		"\n"
		"bad: percentages or stacks are not reliable. warning: something that may matter is missing. note: something "
		"could be better. The first line has the profile quality: poor if anything is bad, fair if there is a warning, "
		"good otherwise. The exit code is 0 if it is good or fair, 1 if it is poor, and 6 if there are no samples.\n"
		"\n"
		"With --json it is one object: file, trust (the profile quality), samples, events, duration_ns, and findings, "
		"each with code, severity, count, total, percent, text, meaning, command, objects (name, build_id, samples, "
		"percent, state, detail, command) and more_objects. The codes are stable.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run,
};
