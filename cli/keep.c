/* SPDX-License-Identifier: MIT */
#include "keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/select_options.h"

#define TYPE(NAME) (UINT64_C(1) << PD_RECORD_##NAME)

bool keep_is_state(uint32_t type)
{
	const uint64_t types = TYPE(COMM) | TYPE(FORK) | TYPE(EXIT) | TYPE(MMAP) | TYPE(MMAP2) | TYPE(NAMESPACES) |
			       TYPE(KSYMBOL) | TYPE(BPF_EVENT) | TYPE(CGROUP) | TYPE(TEXT_POKE) | TYPE(ITRACE_START) |
			       TYPE(AUX_OUTPUT_HW_ID);

	return type < 64 && (types >> type & 1);
}

/* What the rest is read by. */
static bool is_about_file(uint32_t type)
{
	static const uint32_t types[] = { PD_RECORD_HEADER_ATTR,        PD_RECORD_HEADER_EVENT_TYPE,
					  PD_RECORD_HEADER_FEATURE,     PD_RECORD_HEADER_TRACING_DATA,
					  PD_RECORD_EVENT_UPDATE,       PD_RECORD_OLD_FEATURE,
					  PD_RECORD_COMPRESSED,         PD_RECORD_COMPRESSED2,
					  PD_RECORD_SIMPLEPERF_SPLIT,   PD_RECORD_SIMPLEPERF_SPLIT_END,
					  PD_RECORD_SIMPLEPERF_EVENT_ID };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i] == type)
			return true;
	}
	return false;
}

bool keep_is_live(const struct keep *keep)
{
	const struct pd_header *header = pd_file_header(keep->input.file);

	return !header->file_size || header->compression;
}

bool keep_status(struct keep *keep, enum pd_status status)
{
	if (status < 0)
		keep->status = status;
	return status >= 0;
}

/* ---- the begin ---- */

int keep_open(struct keep *keep, const struct keep_options *options, const struct call *call, bool twice)
{
	struct input_options input = options->input;
	int code;

	keep->options = options;
	code = target_take(&keep->target, &options->target, PD_PACK_SAME);
	if (code == CODE_FINE && options->json && !strcmp(options->target.output, "-")) {
		complain("--json and -o - both write to standard output");
		code = CODE_USAGE;
	}
	if (code != CODE_FINE)
		return code;
	input.keep = twice;
	input.verify = true;
	code = input_open(&keep->input, &input, call, NULL, NULL);
	if (code != CODE_FINE)
		return code;
	keep->part_count = pd_file_part_count(keep->input.file);
	keep->rounds = calloc(keep->part_count + 1, sizeof(*keep->rounds));
	if (keep->rounds)
		return CODE_FINE;
	complain("out of memory");
	return CODE_UNREADABLE;
}

int keep_look(struct keep *keep, record_fn *each, void *self)
{
	enum pd_order order = keep->input.order;
	int code;

	keep->input.order = PD_ORDER_FILE;
	code = input_walk(&keep->input, each, self);
	keep->input.order = order;
	if (code == CODE_FINE && keep->status < 0) {
		complain("%s", keep->error.message);
		code = CODE_UNREADABLE;
	}
	keep->input.quiet = true;
	return code;
}

/* ---- features ---- */

/* The times of what is kept are known at the end only, when the features of a pipe are long gone: there it is the time
 * that was asked for. */
static enum pd_status note_time(void *self, struct pd_file *file, unsigned feature, const void **decoded_out,
				bool *kept, struct pd_error *error)
{
	struct keep *keep = self;
	const struct pd_sample_time *noted;

	(void)error;
	if (feature != PD_FEATURE_SAMPLE_TIME || keep->target.wanted.mode != PD_MODE_PIPE ||
	    (!keep->from_ns && !keep->to_ns) || !(noted = pd_file_sample_time(file)))
		return PD_OK;
	keep->noted = *noted;
	if (keep->from_ns > noted->first_ns)
		keep->noted.first_ns = keep->from_ns;
	if (keep->to_ns && keep->to_ns < noted->last_ns)
		keep->noted.last_ns = keep->to_ns;
	*kept = keep->noted.first_ns <= keep->noted.last_ns;
	*decoded_out = *kept ? &keep->noted : NULL;
	return PD_OK;
}

static bool has_feature(struct pd_file *file, unsigned number)
{
	struct pd_feature_section section;

	for (size_t i = 0; pd_file_feature_at(file, i, &section); i++) {
		if (section.number == number)
			return true;
	}
	return false;
}

static int note_end(struct keep *keep)
{
	const struct pd_sample_time times = { .first_ns = keep->first_ns, .last_ns = keep->last_ns };
	enum pd_status status;

	if (keep->target.wanted.mode == PD_MODE_PIPE || !has_feature(keep->input.file, PD_FEATURE_SAMPLE_TIME))
		return CODE_FINE;
	status = pd_writer_set_feature(keep->target.writer, PD_FEATURE_SAMPLE_TIME, &times, &keep->error);
	return status < 0 ? target_failed(&keep->target, status, &keep->error) : CODE_FINE;
}

/* ---- records ---- */

static void count(struct keep *keep, const struct pd_record *record, bool kept)
{
	bool sample = record->type == PD_RECORD_SAMPLE;
	struct kept *counts = sample ? &keep->samples : &keep->others;

	counts->seen++;
	counts->kept += kept;
	if (kept && record->part < keep->part_count)
		keep->rounds[record->part]++;
	if (!sample || !kept || record->time_ns == PD_NO_TIME)
		return;
	if (!keep->first_ns || record->time_ns < keep->first_ns)
		keep->first_ns = record->time_ns;
	if (record->time_ns > keep->last_ns)
		keep->last_ns = record->time_ns;
}

static bool pass(struct keep *keep, struct pd_stream *stream, const struct pd_record *record)
{
	return keep_status(keep, pd_writer_pass(keep->target.writer, stream, record, &keep->error));
}

/* A round in which nothing was kept says nothing. */
static bool pass_round(struct keep *keep, struct pd_stream *stream, const struct pd_record *record)
{
	uint64_t *passed = record->part < keep->part_count ? &keep->rounds[record->part] : NULL;

	if (passed && !*passed)
		return true;
	if (passed)
		*passed = 0;
	return pass(keep, stream, record);
}

static bool take(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct keep *keep = self;
	enum verdict verdict;

	if (is_about_file(record->type))
		return pass(keep, stream, record);
	if (record->type == PD_RECORD_FINISHED_ROUND)
		return keep->input.order == PD_ORDER_TIME || pass_round(keep, stream, record);
	verdict = keep->choose(keep->self, stream, record);
	keep->ended = verdict == VERDICT_END;
	if (keep->ended)
		return false;
	count(keep, record, verdict == VERDICT_PASS || verdict == VERDICT_PASSED);
	if (verdict == VERDICT_FAILED)
		return false;
	return verdict != VERDICT_PASS || pass(keep, stream, record);
}

int keep_write(struct keep *keep)
{
	const struct pd_changes changes = {
		.size = sizeof(changes), .self = keep, .event = keep->event, .feature = note_time
	};
	struct pd_file *const inputs[] = { keep->input.file };
	int code;

	code = target_open(&keep->target, inputs, 1, false);
	if (code != CODE_FINE)
		return code;
	if (keep_status(keep, pd_writer_change(keep->target.writer, &changes, &keep->error)) &&
	    keep_status(keep, pd_writer_carry(keep->target.writer, keep->input.file, &keep->error)))
		code = input_walk(&keep->input, take, keep);
	progress_clear(&keep->input.progress);
	if (code == CODE_FINE && keep->status < 0)
		code = target_failed(&keep->target, keep->status, &keep->error);
	return code == CODE_FINE ? note_end(keep) : code;
}

/* ---- the end ---- */

static void tell_counts(const struct keep *keep)
{
	char numbers[4][32];
	bool all = keep->others.kept == keep->others.seen;

	for (size_t i = 0; i < 4; i++)
		grouped(i == 0 ? keep->samples.kept :
			i == 1 ? keep->samples.seen :
			i == 2 ? keep->others.kept :
				 keep->others.seen,
			numbers[i]);
	/* How many more there are is not known. */
	if (keep->ended)
		complain("kept the first %s sample%s, and %s other record%s", numbers[0], plural(keep->samples.kept),
			 numbers[2], plural(keep->others.kept));
	else
		complain("kept %s of %s sample%s, %s%s%s other record%s", numbers[0], numbers[1],
			 plural(keep->samples.seen), all ? "all " : numbers[2], all ? "" : " of ", numbers[3],
			 plural(keep->others.seen));
}

static void kept_json(struct pd_json *json, const char *name, const struct kept *counts)
{
	pd_json_open(json, name, '{');
	pd_json_number(json, "kept", counts->kept);
	pd_json_number(json, "of", counts->seen);
	pd_json_close(json, '}');
}

static void counts_json(const struct keep *keep)
{
	struct pd_json json = { .text = keep->input.out->text };

	pd_json_open(&json, NULL, '{');
	kept_json(&json, "samples", &keep->samples);
	kept_json(&json, "records", &keep->others);
	pd_json_offset(&json, "first_ns", keep->first_ns ? keep->first_ns : PD_NO_TIME);
	pd_json_offset(&json, "last_ns", keep->last_ns ? keep->last_ns : PD_NO_TIME);
	pd_json_close(&json, '}');
	pd_text_add(json.text, "\n");
}

/* What was kept is there, even if it is nothing: a slice of a recording may be empty. */
static int tell_end(struct keep *keep)
{
	if (keep->options->json)
		counts_json(keep);
	if (!keep->options->input.quiet)
		tell_counts(keep);
	if (keep->samples.kept || keep->any_record)
		return CODE_FINE;
	complain(keep->samples.seen ? "%s: no samples match the filters" : "%s: no samples in the file",
		 keep->input.name);
	if (keep->samples.seen && keep->select)
		select_tell_lack(keep->select, keep->input.file);
	return keep->samples.seen ? CODE_NOTHING : CODE_NO_SAMPLES;
}

int keep_close(struct keep *keep, int code)
{
	if (!keep->input.file) {
		free(keep->rounds);
		return code;
	}
	code = target_close(&keep->target, code);
	if (code == CODE_FINE)
		code = tell_end(keep);
	free(keep->rounds);
	return input_close(&keep->input, code);
}
