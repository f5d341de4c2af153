/* SPDX-License-Identifier: MIT */
/* perfdata doctor: what is wrong with a recording, how much of it, and what to type against it. */
#include "files/analysis.h"

#include <perfdata/doctor.h>

struct values {
	struct analysis_options analysis;
	bool json;
};

static const struct option options[] = {
	GROUP(input_group, analysis.input),      GROUP(json_option, json),
	GROUP(symbol_group, analysis.symbols),   GROUP(unwind_option, analysis.no_unwind),
	GROUP(threads_option, analysis.threads), { 0 },
};

static int add_profile(struct pd_doctor *doctor, struct analysis *analysis, const struct values *values)
{
	const struct pd_profile_options profile = { .size = sizeof(profile), .by = PD_BY_CHAIN | PD_BY_COMM };
	struct pd_error error;
	int code = analysis_read(analysis, &values->analysis, &profile);

	/* Samples whose counters belong to no event are in no profile. */
	if (code == CODE_NOTHING)
		return CODE_OK;
	return code == CODE_OK ?
		       code_with_error(pd_doctor_take_profile(doctor, analysis->profile, analysis->symbols, &error),
				       &error) :
		       code;
}

static int examine(struct pd_doctor *doctor, struct analysis *analysis, const struct values *values)
{
	struct pd_text *text = analysis->input.out->text;
	int code = pd_doctor_has_samples(doctor) ? add_profile(doctor, analysis, values) : CODE_OK;

	if (code != CODE_OK)
		return code;
	if (values->json) {
		pd_json_doctor(text, doctor, analysis->input.name);
		pd_text_add(text, "\n");
	} else {
		pd_print_doctor(text, doctor, analysis->input.name);
	}
	if (!pd_doctor_sample_count(doctor))
		return CODE_NO_SAMPLES;
	return pd_doctor_finding(doctor, 0) && pd_doctor_finding(doctor, 0)->severity == PD_FINDING_BAD ? CODE_DAMAGED :
													  CODE_OK;
}

static int doctor_opened(struct analysis *analysis, const struct values *values)
{
	const struct pd_doctor_options doctor_options = { .size = sizeof(doctor_options),
							  .progress = input_progress,
							  .self = &analysis->input };
	struct pd_doctor *doctor;
	struct pd_error error;
	enum pd_status status = pd_doctor_new(analysis->input.file, &doctor_options, &doctor, &error);
	int code;

	progress_clear(&analysis->input.progress);
	if (status < 0)
		return code_with_error(status, &error);
	code = examine(doctor, analysis, values);
	pd_doctor_free(doctor);
	return code;
}

static int run_doctor(const struct call *call)
{
	const struct values *values = call->values;
	struct analysis_options options_here = values->analysis;
	struct analysis analysis;
	int code;

	/* Problems are findings. */
	options_here.input.quiet |= !options_here.input.verbose;
	code = analysis_begin(&analysis, &options_here, call);
	analysis.short_names = true;
	if (code == CODE_OK)
		code = doctor_opened(&analysis, values);
	return analysis_close(&analysis, code);
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
		"percent, state, detail, command) and more_objects. The codes are stable: {findings}.",
	OPTIONS(options),
	EXAMPLES({ "perfdata doctor perf.data", "what to change in the next recording" },
		 { "perfdata doctor --symfs root perf.data", "look up the files of another machine below root" },
		 { "perfdata doctor --json perf.data | jq -r '.findings[].code'", "list the codes of the findings" }),
	.max_words = 1,
	.run = run_doctor,
};
