/* SPDX-License-Identifier: MIT */
/*
 * perfdata inject: the same recording with more in it: build ids, maps of code made at run time, statistics of the
 * scheduler. This file walks the records and says at the end what was done; inject_*.c do it.
 */
#include "inject.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	TOLD_MOST = 20,
	RECORDS_PER_ROUND = 65536 /* in the order of time, so that readers need not keep all of it */
};

#define FLAG(name, letter, member, help)                                                           \
	{ name, letter, OPTION_FLAG, NULL, offsetof(struct inject_values, member), help }
#define STRING(name, letter, argument, member, help)                                               \
	{ name, letter, OPTION_STRING, argument, offsetof(struct inject_values, member), help }

static const struct option options[] = {
	INPUT_OPTIONS(struct inject_values, input),
	FLAG("build-ids", 'b', build_ids, "add build ids of the objects that have samples"),
	FLAG("buildid-all", 0, build_ids_all, "add build ids of all mapped objects"),
	FLAG("mmap2-buildids", 'B', mmap2, "write build ids into the MMAP2 records that have samples; drop others"),
	FLAG("mmap2-buildid-all", 0, mmap2_all, "write build ids into all MMAP2 records"),
	STRING("known-build-ids", 0, "LIST", known,
	       "build ids to use for these paths: 'ID PATH,ID PATH', or file://FILE with lines as buildid-list prints them"),
	FLAG("any-file", 0, any_file, "use the file at a recorded path even if it may have changed since"),
	STRING("symfs", 0, "DIR", symfs, "look up recorded files below DIR instead of /"),
	FLAG("jit", 'j', jit, "add mappings of JIT-compiled code from jit-PID.dump, with an ELF file per function"),
	STRING("jit-dir", 0, "DIR", jit_dir, "directory for these files (default: that of the dump)"),
	FLAG("sched-stat", 's', sched_stat, "merge sched_stat and sched_switch events: where threads slept, and for how long"),
	FLAG("strip", 0, strip, "drop AUX data"),
	TARGET_OPTIONS(struct inject_values, target),
	{ 0 },
};

static const struct example examples[] = {
	{ "perf record -o - -- make | perfdata inject -b -i - -o perf.data", "add build ids while recording" },
	{ "perfdata inject --buildid-all -i perf.data -o whole.data", "add build ids of all mapped objects" },
	{ "perfdata inject -j -i java.data -o named.data", "let perf report resolve JIT-compiled code" },
	{ "perfdata inject -s -i sched.data -o - | perf report -i -", "show where threads slept, and for how long" },
	{ 0 },
};

/* ---- what the parts share ---- */

bool inject_keep(struct inject *inject, enum pd_status status)
{
	if (status < 0)
		inject->status = status;
	return status >= 0;
}

bool inject_no_memory(struct inject *inject)
{
	inject->status = PD_ERROR_MEMORY;
	strcpy(inject->error.message, "out of memory");
	return false;
}

void inject_tell(struct inject *inject, bool lost, const char *format, ...)
{
	char text[1024];
	va_list args;

	inject->lost |= lost;
	if (inject->told++ >= TOLD_MOST || inject->values->input.quiet)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	progress_clear(&inject->input.progress);
	complain("%s: %s", inject->input.name, text);
}

size_t inject_event(const struct pd_record *record)
{
	return record->event ? record->event->index : 0;
}

const char *inject_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- records ---- */

struct walk {
	struct inject *inject;
	uint64_t passed; /* since the last round */
	bool sorted, late;
};

static bool is_aux(uint32_t type)
{
	static const uint32_t types[] = { PD_RECORD_AUX,           PD_RECORD_ITRACE_START, PD_RECORD_AUX_OUTPUT_HW_ID,
					  PD_RECORD_AUXTRACE_INFO, PD_RECORD_AUXTRACE,     PD_RECORD_AUXTRACE_ERROR };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i] == type)
			return true;
	}
	return false;
}

static enum verdict_of_inject judge(struct inject *inject, struct pd_stream *stream, const struct pd_record *record)
{
	enum verdict_of_inject verdict = INJECT_PASS;

	if (inject->values->strip && is_aux(record->type))
		return INJECT_DROP;
	if (inject->jit)
		verdict = jit_record(inject, stream, record);
	if (inject->ids && verdict == INJECT_PASS)
		verdict = ids_record(inject, stream, record);
	if (inject->sched && verdict == INJECT_PASS)
		verdict = sched_record(inject, stream, record);
	return verdict;
}

/* What is compressed is counted as what it holds. */
static bool is_counted(const struct pd_record *record)
{
	return record->type != PD_RECORD_COMPRESSED && record->type != PD_RECORD_COMPRESSED2;
}

static void count(struct inject *inject, uint32_t type, uint64_t seen, bool kept)
{
	bool sample = type == PD_RECORD_SAMPLE;

	*(sample ? &inject->samples_seen : &inject->others_seen) += seen;
	*(sample ? &inject->samples_kept : &inject->others_kept) += kept ? seen : 0;
}

static bool begin_round(struct walk *walk)
{
	const struct pd_finished_round round = { 0 };
	struct inject *inject = walk->inject;

	walk->passed = 0;
	return walk->late || inject_keep(inject, pd_writer_add(inject->target.writer, PD_RECORD_FINISHED_ROUND, 0, &round, 0,
							       &inject->error));
}

static bool pass(struct walk *walk, struct pd_stream *stream, const struct pd_record *record)
{
	struct inject *inject = walk->inject;

	if (!inject_keep(inject, pd_writer_pass(inject->target.writer, stream, record, &inject->error)))
		return false;
	if (!inject->sched && !ids_look(inject) && !(inject->jit && jit_waits(inject)))
		count(inject, PD_RECORD_SAMPLE, pd_writer_pass_following(inject->target.writer, stream), true);
	return true;
}

static bool inject_record(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct walk *walk = self;
	struct inject *inject = walk->inject;
	enum verdict_of_inject verdict;
	uint32_t type = record->type;

	if (walk->sorted) {
		walk->late |= record->flags & PD_RECORD_LATE;
		/* Rounds say how far the order of the input was from that of time. */
		if (type == PD_RECORD_FINISHED_ROUND)
			return true;
		if (++walk->passed > RECORDS_PER_ROUND && !begin_round(walk))
			return false;
	}
	verdict = judge(inject, stream, record);
	if (is_counted(record))
		count(inject, type, 1, verdict == INJECT_PASS || verdict == INJECT_PASSED);
	if (verdict == INJECT_PASS)
		return pass(walk, stream, record);
	return verdict != INJECT_FAILED;
}

/* ---- features ---- */

static enum pd_status change_feature(void *self, struct pd_file *file, unsigned feature, const void **decoded_out,
				     bool *keep, struct pd_error *error)
{
	const struct inject *inject = self;

	(void)file;
	(void)decoded_out;
	(void)error;
	if (inject->values->strip && feature == PD_FEATURE_AUXTRACE)
		*keep = false;
	return PD_OK;
}

/* ---- all ---- */

static bool choose(const struct inject_values *values)
{
	int ids = values->build_ids + values->build_ids_all + values->mmap2 + values->mmap2_all;

	if (ids > 1) {
		complain("--build-ids, --buildid-all, --mmap2-buildids and --mmap2-buildid-all cannot be combined");
		return false;
	}
	if ((values->known || values->any_file) && !ids) {
		complain("--%s requires --build-ids, --buildid-all, --mmap2-buildids or --mmap2-buildid-all",
			 values->known ? "known-build-ids" : "any-file");
		return false;
	}
	if (values->jit_dir && !values->jit) {
		complain("--jit-dir requires --jit");
		return false;
	}
	if (values->jit && values->symfs && !values->jit_dir) {
		complain("--jit with --symfs requires --jit-dir");
		return false;
	}
	return true;
}

/* Records that all stay as they are can stay compressed as they are. */
static enum pd_packing packing(const struct inject_values *values)
{
	bool changes = values->mmap2 || values->mmap2_all || values->jit || values->sched_stat || values->strip;
	bool adds = values->build_ids || values->build_ids_all;
	bool to_pipe = values->target.output && !strcmp(values->target.output, "-");

	return changes || (adds && (to_pipe || values->target.to)) ? PD_PACK_SAME : PD_PACK_KEEP;
}

static void tell_end(const struct inject *inject)
{
	const uint64_t counts[] = { inject->samples_kept, inject->samples_seen, inject->others_kept, inject->others_seen };
	bool all = inject->others_kept == inject->others_seen;
	struct pd_text *text = pd_text_new();
	struct pd_bytes bytes;
	char numbers[4][32];

	if (inject->told > TOLD_MOST)
		complain("%s: %" PRIu64 " more such object%s", inject->input.name, inject->told - TOLD_MOST,
			 plural(inject->told - TOLD_MOST));
	if (!text)
		return;
	for (size_t i = 0; i < 4; i++)
		grouped(counts[i], numbers[i]);
	pd_text_printf(text, "kept %s of %s sample%s, %s%s%s other record%s", numbers[0], numbers[1], plural(counts[1]),
		       all ? "all " : numbers[2], all ? "" : " of ", numbers[3], plural(counts[3]));
	ids_count(inject, text);
	jit_count(inject, text);
	sched_count(inject, text);
	bytes = pd_text_bytes(text);
	complain("%.*s", (int)bytes.size, (const char *)bytes.data);
	pd_text_free(text);
}

static int write_all(struct inject *inject)
{
	const struct pd_changes changes = { .size = sizeof(changes), .self = inject, .feature = change_feature };
	struct pd_file *const inputs[] = { inject->input.file };
	struct walk walk = { .inject = inject, .sorted = inject->values->sched_stat };
	int code = target_open(&inject->target, inputs, 1, false);

	if (code != CODE_FINE)
		return code;
	if (inject_keep(inject, pd_writer_change(inject->target.writer, &changes, &inject->error)) &&
	    inject_keep(inject, pd_writer_carry(inject->target.writer, inject->input.file, &inject->error)))
		code = input_walk(&inject->input, inject_record, &walk);
	if (code == CODE_FINE && inject->status >= 0 && inject->jit)
		jit_write(inject, UINT64_MAX);
	if (code == CODE_FINE && inject->status >= 0 && inject->ids)
		ids_finish(inject);
	progress_clear(&inject->input.progress);
	if (code == CODE_FINE && inject->status < 0)
		code = target_failed(&inject->target, inject->status, &inject->error);
	return code;
}

static int inject_opened(struct inject *inject)
{
	const struct inject_values *values = inject->values;
	int code = ids_open(inject);

	if (code == CODE_FINE && values->jit)
		code = jit_open(inject);
	if (code == CODE_FINE && values->sched_stat)
		code = sched_open(inject);
	inject->input.order = values->sched_stat ? PD_ORDER_TIME : PD_ORDER_FILE;
	if (code == CODE_FINE)
		code = target_close(&inject->target, write_all(inject));
	if (code == CODE_FINE && !inject->values->input.quiet)
		tell_end(inject);
	if (code == CODE_FINE && inject->lost)
		code = CODE_DAMAGED;
	sched_close(inject);
	jit_close(inject);
	ids_close(inject);
	return code;
}

static int run(const struct call *call)
{
	struct inject inject = { .values = call->values };
	struct input_options input = inject.values->input;
	int code;

	if (!choose(inject.values))
		return CODE_USAGE;
	code = target_take(&inject.target, &inject.values->target, packing(inject.values));
	if (code != CODE_FINE)
		return code;
	input.keep = ids_need_twice(inject.values);
	input.verify = true;
	code = input_open(&inject.input, &input, call, NULL, NULL);
	if (code != CODE_FINE)
		return code;
	return input_close(&inject.input, inject_opened(&inject));
}

const struct command cmd_inject = {
	.usage = "[OPTION]... -o OUTPUT [FILE]",
	.text = "Copy FILE and add information to it. Without options, OUTPUT is a plain copy.\n\n"
		"Build ids identify the version of a recorded object. They are read from the files at the recorded paths. "
		"Objects that may have changed get none and are reported: files with a different inode or device, or newer "
		"than FILE; the kernel and its modules if a different kernel or boot was recorded. --any-file uses such files "
		"anyway. --build-ids adds the objects that samples and their call chains are in, or all objects if there are "
		"AUX data. In a file the build ids are a list in the header, in a pipe records before the samples; --build-ids "
		"and --mmap2-buildids read a pipe to its end before writing. --mmap2-buildids keeps all MMAP2 records if "
		"there are AUX data or stack copies, which may need any of them.\n\n"
		"perfdata reads jit-PID.dump directly. For perf, --jit writes jitted-PID-N.so for each function, with code, "
		"line numbers and unwind information, and adds MMAP2 records from the time the function was compiled. The mapping "
		"of the dump and anonymous mappings of the same process are dropped, as perf does. The recording must use the "
		"clock of the dump: perf record -k mono.\n\n"
		"--sched-stat merges sched_switch, sched_process_exit and sched_stat events into one event: for each "
		"sched_stat, the last sched_switch of its thread with the time and period of the sched_stat. Other events of "
		"the three are dropped.\n\n"
		"Objects without a build id are reported, but are not an error. If a dump cannot be read, the exit status is 1 and "
		"OUTPUT is complete.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct inject_values),
	.max_words = 1,
	.run = run,
};
