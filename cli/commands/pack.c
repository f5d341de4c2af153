/* SPDX-License-Identifier: MIT */
/*
 * perfdata pack: a recording with the objects that its samples need, in one tar file that can be read anywhere.
 */
#include "analysis.h"
#include "front/outfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MOST_LEVEL = 22,
	USUAL_LEVEL = 3,
	MISSING_SHOWN = 20
};

struct values {
	struct analysis_options analysis;
	const char *output;
	const char *objects;
	bool all, compress;
	struct option_number level;
};

static const struct option options[] = {
	INPUT_OPTIONS(struct values, analysis.input),
	{ "output", 'o', OPTION_STRING, "FILE", offsetof(struct values, output),
	  "bundle to write, such as x.tar or x.tar.zst; - is standard output" },
	{ "objects", 0, OPTION_STRING, "HOW", offsetof(struct values, objects),
	  "symbols (default): objects without code and data; full: complete objects" },
	{ "all", 'a', OPTION_FLAG, NULL, offsetof(struct values, all),
	  "pack all mapped objects, not only those with samples" },
	{ "compress", 'z', OPTION_FLAG, NULL, offsetof(struct values, compress),
	  "compress with zstd (default if OUTPUT ends in .zst)" },
	{ "level", 0, OPTION_NUMBER, "N", offsetof(struct values, level),
	  "compression level, 1 (fast) to 22 (small) (default: 3); implies --compress" },
	SYMBOL_OPTIONS(struct values, analysis.symbols),
	ANALYSIS_OPTIONS(struct values, analysis),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata pack -o bundle.tar", "bundle perf.data with the objects it needs" },
	{ "perfdata report bundle.tar", "read the bundle on any machine; other commands do, too" },
	{ "perfdata pack -o bundle.tar.zst perf.data", "compress the bundle" },
	{ "perfdata pack --objects full -o bundle.tar", "include code, for disassembly" },
	{ "perf record -g -o - -- make | perfdata pack -i - -o make.tar", "bundle a recording from a pipe" },
	{ 0 },
};

/* What was packed of an object, for the manifest. */
struct packing {
	struct analysis analysis;
	struct pd_bundle *bundle;
	struct pd_text *manifest;
	struct pd_json json;
	uint64_t *samples; /* of each dso */
	size_t dso_count;
	uint64_t objects, files, size, packed, missing;
	bool found; /* something of the present object was packed */
	bool quiet;
	enum pd_status status;
	struct pd_error error;
};

/* ---- what samples touch ---- */

static void touch(struct packing *packing, uint32_t pid, struct pd_moment when, uint64_t addr)
{
	static const unsigned modes[] = { PD_CPUMODE_USER, PD_CPUMODE_KERNEL };

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		pd_symbols_place(packing->analysis.symbols, pid, modes[i], when, addr);
}

/* Branches and addresses of data are in no profile. */
static bool touch_record(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	const struct pd_sample *sample;
	struct pd_moment when;

	(void)stream;
	if (record->type != PD_RECORD_SAMPLE || !(sample = pd_as_sample(record)))
		return true;
	when = pd_record_moment(record);
	touch(self, (uint32_t)sample->pid, when, sample->addr);
	for (size_t i = 0; sample->branch_stack && i < sample->branch_stack->entries.count; i++) {
		const struct pd_branch *branch = PD_ITEM(pd_branch, sample->branch_stack->entries, i);

		touch(self, (uint32_t)sample->pid, when, branch->from);
		touch(self, (uint32_t)sample->pid, when, branch->to);
	}
	return true;
}

/* Shows what is damaged in records that the profile does not decode. */
static bool pass_over(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	(void)self;
	(void)record;
	pd_stream_pass(stream);
	return true;
}

static bool any_event_has(const struct pd_file *file, uint64_t bits)
{
	bool any = false;

	for (size_t i = 0; i < pd_file_event_count(file); i++)
		any |= (pd_file_event(file, i)->attr->sample_type & bits) != 0;
	return any;
}

static void touch_mapped(struct packing *packing)
{
	const struct pd_world *world = pd_profile_world(packing->analysis.profile);
	const struct pd_mapping *map;

	for (size_t i = 0; (map = pd_world_mapping(world, i)) != NULL; i++) {
		const struct pd_location location = { .mapping = map,
						      .object = map->object,
						      .offset = map->by_offset ? map->pgoff : map->start };

		if (map->object && map->executable)
			pd_symbols_at(packing->analysis.symbols, &location, map->from, map->start);
	}
}

/* Copies of stacks are unwound, and traces of the processor decoded, through objects that nobody knows yet. */
static bool wants_all(const struct packing *packing, const struct values *values)
{
	struct pd_file *file = packing->analysis.input.file;

	return values->all || any_event_has(file, PD_MASK(PD_SAMPLE_TYPE_STACK_USER)) || pd_file_auxtrace(file);
}

static bool count_samples(struct packing *packing)
{
	const struct pd_profile *profile = packing->analysis.profile;
	const struct pd_profile_entry *entry;

	while (pd_symbols_dso(packing->analysis.symbols, packing->dso_count))
		packing->dso_count++;
	packing->samples = calloc(packing->dso_count + 1, sizeof(*packing->samples));
	for (size_t i = 0; packing->samples && (entry = pd_profile_entry(profile, i)) != NULL; i++) {
		const struct pd_stack *stack = pd_profile_stack(profile, entry->stack);
		const struct pd_dso *dso = pd_profile_frame(profile, stack->ip)->place.dso;

		if (dso)
			packing->samples[dso->index] += entry->samples;
	}
	return packing->samples;
}

static int find_objects(struct packing *packing, const struct values *values)
{
	struct analysis_options options_here = values->analysis;
	const struct pd_profile_options profile = { .size = sizeof(profile), .by = PD_BY_CHAIN };
	struct analysis *analysis = &packing->analysis;
	int code;

	/* What an earlier run kept of a file does not say where the file is. */
	options_here.symbols.no_index = true;
	code = analysis_read(analysis, &options_here, &profile);
	if (code == CODE_NO_SAMPLES) {
		analysis->symbols = symbols_open(&options_here.symbols, analysis->input.file,
						 pd_profile_world(analysis->profile), false);
		code = analysis->symbols ? CODE_FINE : CODE_UNREADABLE;
	}
	input_again(&analysis->input);
	if (code == CODE_FINE &&
	    any_event_has(analysis->input.file, PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK) | PD_MASK(PD_SAMPLE_TYPE_ADDR)))
		code = input_walk(&analysis->input, touch_record, packing);
	else if (code == CODE_FINE)
		code = input_walk(&analysis->input, pass_over, NULL);
	if (code != CODE_FINE)
		return code;
	if (wants_all(packing, values))
		touch_mapped(packing);
	if (count_samples(packing) && !pd_symbols_failed(analysis->symbols))
		return CODE_FINE;
	complain("out of memory");
	return CODE_UNREADABLE;
}

/* ---- packing, and the manifest ---- */

static void put_build_id(struct packing *packing, const uint8_t *build_id, size_t size)
{
	if (size)
		pd_json_hex(&packing->json, "build_id", (struct pd_bytes){ build_id, size });
	else
		pd_json_string(&packing->json, "build_id", NULL);
}

static void take_file(void *self, const struct pd_bundled *file)
{
	struct packing *packing = self;
	struct pd_json *json = &packing->json;

	packing->found |= !file->missing;
	packing->files += file->packed != 0;
	packing->size += file->packed ? file->size : 0;
	packing->packed += file->packed;
	pd_json_open(json, NULL, '{');
	pd_json_string(json, "kind", file->kind);
	pd_json_string(json, "name", file->name);
	put_build_id(packing, file->build_id.bytes, file->build_id.size);
	pd_json_string(json, "from", file->from);
	pd_json_number(json, "size", file->size);
	pd_json_number(json, "packed", file->packed);
	pd_json_string(json, "missing", file->missing);
	pd_json_close(json, '}');
}

/* Code whose names were recorded, and memory that holds none, need no files. */
static bool needs_files(const struct pd_dso *dso)
{
	return !dso->object || dso->object->kind == PD_OBJECT_FILE || dso->object->kind == PD_OBJECT_KERNEL ||
	       dso->object->kind == PD_OBJECT_MODULE || dso->object->kind == PD_OBJECT_VDSO;
}

static void tell_missing(struct packing *packing, const struct pd_dso *dso, const char *why)
{
	if (packing->missing++ < MISSING_SHOWN && !packing->quiet)
		complain("not packed: %s: %s", dso->long_name, why);
}

static bool pack_object(struct packing *packing, const struct pd_dso *dso)
{
	struct pd_json *json = &packing->json;
	const struct pd_object *object = dso->object;
	const char *missing = NULL;

	if (!needs_files(dso))
		return true;
	packing->found = false;
	packing->objects++;
	pd_json_open(json, NULL, '{');
	pd_json_string(json, "name", dso->long_name);
	put_build_id(packing, object ? object->build_id : NULL, object ? object->build_id_size : 0);
	pd_json_number(json, "samples", packing->samples[dso->index]);
	pd_json_open(json, "files", '[');
	packing->status =
		pd_bundle_add_dso(packing->bundle, packing->analysis.symbols, dso, take_file, packing, &packing->error);
	pd_json_close(json, ']');
	if (!packing->found)
		missing = dso->state == PD_DSO_SYMBOLS ? "the file no longer exists" : dso->detail;
	if (missing && packing->status >= 0)
		tell_missing(packing, dso, missing);
	pd_json_string(json, "missing", missing);
	pd_json_close(json, '}');
	return packing->status >= 0;
}

static void pack_all(struct packing *packing, const struct values *values)
{
	struct pd_json *json = &packing->json;
	const struct pd_dso *dso;

	packing->status = pd_bundle_add_file(packing->bundle, packing->analysis.input.file, &packing->error);
	pd_json_open(json, NULL, '{');
	pd_json_string(json, "form", "perfdata bundle");
	pd_json_number(json, "version", 1);
	pd_json_string(json, "objects_are", values->objects ? values->objects : "symbols");
	pd_json_bool(json, "all_mapped", wants_all(packing, values));
	pd_json_open(json, "objects", '[');
	for (size_t i = 0; packing->status >= 0 && (dso = pd_symbols_dso(packing->analysis.symbols, i)) != NULL; i++)
		pack_object(packing, dso);
	pd_json_close(json, ']');
	pd_json_close(json, '}');
	pd_text_add(packing->manifest, "\n");
	if (packing->status >= 0 && pd_text_failed(packing->manifest)) {
		packing->status = PD_ERROR_MEMORY;
		snprintf(packing->error.message, sizeof(packing->error.message), "out of memory");
	}
	if (packing->status >= 0)
		packing->status = pd_bundle_add_bytes(packing->bundle, "manifest.json",
						      pd_text_bytes(packing->manifest), &packing->error);
}

static int write_bundle(struct packing *packing, const struct values *values, int fd, int level)
{
	struct pd_bundle_options wanted = { .size = sizeof(wanted), .level = level };
	const char *name = strcmp(values->output, "-") ? values->output : "standard output";

	wanted.flags = values->objects && !strcmp(values->objects, "full") ? PD_BUNDLE_FULL : 0;
	packing->status = pd_bundle_open_fd(fd, name, &wanted, &packing->bundle, &packing->error);
	if (packing->status >= 0)
		pack_all(packing, values);
	if (packing->status >= 0)
		packing->status = pd_bundle_finish(packing->bundle, &packing->error);
	else
		pd_bundle_abort(packing->bundle);
	if (packing->status >= 0)
		return CODE_FINE;
	complain("%s", packing->error.message);
	return CODE_OUTPUT;
}

static void tell_result(const struct packing *packing)
{
	char packed[32], size[32];

	if (packing->quiet)
		return;
	if (packing->missing > MISSING_SHOWN)
		complain("not packed: %" PRIu64 " more; see manifest.json", packing->missing - MISSING_SHOWN);
	size_text(packing->packed, packed);
	size_text(packing->size, size);
	complain("packed %" PRIu64 " of %" PRIu64 " object%s: %" PRIu64 " file%s, %s of %s",
		 packing->objects - packing->missing, packing->objects, plural(packing->objects), packing->files,
		 plural(packing->files), packed, size);
}

/* ---- the command ---- */

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length > tail && !strcmp(text + length - tail, end);
}

/* False, said on stderr, for what makes no sense. */
static bool check(const struct values *values, int *level_out)
{
	if (!values->output) {
		complain("no output given; use -o FILE, or -o - for standard output");
		return false;
	}
	if (!strcmp(values->output, "-") && isatty(STDOUT_FILENO)) {
		complain("refusing to write binary data to a terminal; use -o FILE");
		return false;
	}
	if (values->objects && strcmp(values->objects, "full") && strcmp(values->objects, "symbols")) {
		complain("option --objects: '%s' is neither symbols nor full", values->objects);
		return false;
	}
	if (values->level.given && (!values->level.value || values->level.value > MOST_LEVEL)) {
		complain("option --level: %" PRIu64 " is not between 1 and %d", values->level.value, MOST_LEVEL);
		return false;
	}
	*level_out = values->compress || ends_with(values->output, ".zst") ? USUAL_LEVEL : 0;
	if (values->level.given)
		*level_out = (int)values->level.value;
	return true;
}

static int pack(struct packing *packing, const struct values *values, struct output *out, int level)
{
	struct outfile file;
	int code = find_objects(packing, values);

	if (code != CODE_FINE)
		return code;
	code = outfile_open(&file, values->output, out, packing->analysis.input.name);
	if (code != CODE_FINE)
		return code;
	code = write_bundle(packing, values, file.out->fd, level);
	code = outfile_close(&file, code);
	if (code == CODE_FINE)
		tell_result(packing);
	return code;
}

static int run(const struct call *call)
{
	const struct values *values = call->values;
	struct packing packing = { .quiet = values->analysis.input.quiet };
	struct analysis_options wanted = values->analysis;
	int code, level;

	if (!check(values, &level))
		return CODE_USAGE;
	packing.manifest = pd_text_new();
	packing.json.text = packing.manifest;
	if (!packing.manifest) {
		complain("out of memory");
		return CODE_OUTPUT;
	}
	wanted.input.verify = true;
	code = analysis_begin(&packing.analysis, &wanted, call);
	if (code == CODE_FINE)
		code = pack(&packing, values, call->out, level);
	code = analysis_close(&packing.analysis, code);
	pd_text_free(packing.manifest);
	free(packing.samples);
	return code;
}

const struct command cmd_pack = {
	.usage = "[OPTION]... -o OUTPUT [FILE]",
	.text = "Write a bundle: a tar file with FILE and the objects that its samples, call chains and branches refer to, "
		"their debug files, kernel symbols, and perf maps and jitdumps of JIT-compiled code. All commands read a "
		"bundle like a recording, on any machine, and resolve the same symbols as here.\n"
		"\n"
		"Objects keep symbols, debug and unwind information; code and data are omitted unless --objects full is "
		"given. Files keep their paths: a bundle unpacked with perfdata unpack or tar is a directory for --symfs, and "
		"for perf --buildid-dir. If the recording has user stack copies or AUX data, all mapped objects are packed, "
		"as with --all.\n"
		"\n"
		"manifest.json in the bundle lists for each object what was packed, from where, and what is missing and why. "
		"Missing objects are also reported on standard error. FILE determines which files of this machine are packed: "
		"check the manifest before you share a bundle of somebody else's recording. The same input gives the same "
		"bytes. OUTPUT appears when it is complete.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run,
};
