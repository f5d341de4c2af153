/* SPDX-License-Identifier: MIT */
/*
 * A whole recording into a bundle: the objects that its samples refer to, and the list of what was packed and what is
 * missing.
 */
#include <perfdata/bundle.h>
#include <perfdata/json.h>
#include <perfdata/profile.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"
#include "state/locate.h"

enum {
	RECORDS_PER_STEP = 16384, // between two calls of the progress function
	WARNING_BYTES = 9216
};

struct pd_pack {
	struct pd_pack_options options;
	struct pd_pack_result result;
	struct pd_file *file;
	const struct pd_profile *profile;
	struct pd_symbols *symbols;
	struct pd_bundle *bundle; // while it is written
	struct pd_text *manifest;
	struct pd_json json;
	uint64_t *samples; // of each dso
	size_t dso_count;
	bool found;          // something of the current object was packed
	const char *refused; // why something of it was not: a constant of bundle.c; or NULL
	enum pd_status status;
	struct pd_error error;
};

// ---- what samples refer to ----

static void touch(struct pd_pack *pack, uint32_t pid, struct pd_moment when, uint64_t addr)
{
	static const unsigned modes[] = { PD_CPUMODE_USER, PD_CPUMODE_KERNEL };

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		pd_symbols_place(pack->symbols, pid, modes[i], when, addr);
}

// Branches and addresses of data are in no profile.
static void touch_record(struct pd_pack *pack, const struct pd_record *record)
{
	const struct pd_sample *sample;
	struct pd_moment when;

	if (record->type != PD_RECORD_SAMPLE || !(sample = pd_as_sample(record)))
		return;
	when = pd_record_moment(record);
	touch(pack, (uint32_t)sample->pid, when, sample->addr);
	for (size_t i = 0; sample->branch_stack && i < sample->branch_stack->entries.count; i++) {
		const struct pd_branch *branch = PD_ITEM(pd_branch, sample->branch_stack->entries, i);

		touch(pack, (uint32_t)sample->pid, when, branch->from);
		touch(pack, (uint32_t)sample->pid, when, branch->to);
	}
}

static bool any_event_has(const struct pd_file *file, uint64_t bits)
{
	bool any = false;

	for (size_t i = 0; i < pd_file_event_count(file); i++)
		any |= (pd_file_event(file, i)->attr->sample_type & bits) != 0;
	return any;
}

static void touch_mapped(struct pd_pack *pack)
{
	const struct pd_state *state = pd_profile_state(pack->profile);
	struct pd_mapping map;

	for (size_t i = 0; pd_state_get_mapping(state, i, &map); i++) {
		const struct pd_location location = { .mapping = &map,
						      .object = map.object,
						      .offset = map.by_offset ? map.pgoff : map.start };

		if (map.object && map.executable)
			pd_symbols_at(pack->symbols, &location, map.from, map.start);
	}
}

// Copies of stacks are unwound, and traces of the processor decoded, through objects that nobody knows yet.
static bool wants_all(const struct pd_pack *pack)
{
	struct pd_file *file = pack->file;

	return pack->options.all || any_event_has(file, PD_MASK(PD_SAMPLE_TYPE_STACK_USER)) || pd_file_auxtrace(file);
}

static bool count_samples(struct pd_pack *pack)
{
	const struct pd_profile *profile = pack->profile;
	struct pd_profile_entry entry;

	while (pd_symbols_dso(pack->symbols, pack->dso_count))
		pack->dso_count++;
	pack->samples = pd_alloc((pack->dso_count + 1) * sizeof(*pack->samples));
	for (size_t i = 0; pack->samples && pd_profile_entry(profile, i, &entry); i++) {
		const struct pd_stack *stack = pd_profile_stack(profile, entry.stack);
		const struct pd_dso *dso = pd_profile_frame(profile, stack->ip)->place.dso;

		if (dso)
			pack->samples[dso->index] += entry.samples;
	}
	return pack->samples;
}

// ---- pack, and the manifest ----

static void put_build_id(struct pd_pack *pack, const uint8_t *build_id, size_t size)
{
	if (size)
		pd_json_hex(&pack->json, "build_id", (struct pd_bytes){ build_id, size });
	else
		pd_json_string(&pack->json, "build_id", NULL);
}

static void take_file(void *self, const struct pd_bundled *file)
{
	struct pd_pack *pack = self;
	struct pd_json *json = &pack->json;

	pack->found |= !file->missing;
	pack->refused = file->missing ? file->missing : pack->refused;
	pack->result.file_count += file->packed != 0;
	pack->result.file_bytes += file->packed ? file->size : 0;
	pack->result.packed_bytes += file->packed;
	pd_json_open(json, NULL, '{');
	pd_json_string(json, "kind", file->kind);
	pd_json_string(json, "name", file->name);
	put_build_id(pack, file->build_id.bytes, file->build_id.size);
	pd_json_string(json, "from", file->from);
	pd_json_number(json, "size", file->size);
	pd_json_number(json, "packed", file->packed);
	pd_json_string(json, "missing", file->missing);
	pd_json_close(json, '}');
}

// Code whose names were recorded, and memory that holds none, need no files.
static bool needs_files(const struct pd_dso *dso)
{
	return !dso->object || dso->object->kind == PD_OBJECT_FILE || dso->object->kind == PD_OBJECT_KERNEL ||
	       dso->object->kind == PD_OBJECT_MODULE || dso->object->kind == PD_OBJECT_VDSO;
}

static void warn_missing(struct pd_pack *pack, const struct pd_dso *dso, const char *why)
{
	char message[WARNING_BYTES];

	if (pack->result.missing_count++ >= PD_PACK_WARNINGS || !pack->options.warn)
		return;
	snprintf(message, sizeof(message), "not packed: %s: %s", dso->long_name, why);
	pack->options.warn(pack->options.self, message);
}

static bool pack_object(struct pd_pack *pack, const struct pd_dso *dso)
{
	struct pd_json *json = &pack->json;
	const struct pd_object *object = dso->object;
	const char *missing = NULL;

	if (!needs_files(dso))
		return true;
	pack->found = false;
	pack->refused = NULL;
	pack->result.object_count++;
	pd_json_open(json, NULL, '{');
	pd_json_string(json, "name", dso->long_name);
	put_build_id(pack, object ? object->build_id : NULL, object ? object->build_id_size : 0);
	pd_json_number(json, "samples", pack->samples[dso->index]);
	pd_json_open(json, "files", '[');
	pack->status = pd_bundle_add_dso(pack->bundle, pack->symbols, dso, take_file, pack, &pack->error);
	pd_json_close(json, ']');
	if (!pack->found && pack->refused)
		missing = pack->refused;
	else if (!pack->found)
		missing = dso->state == PD_DSO_SYMBOLS ? "the file no longer exists" : dso->detail;
	if (missing && pack->status >= 0)
		warn_missing(pack, dso, missing);
	pd_json_string(json, "missing", missing);
	pd_json_close(json, '}');
	return pack->status >= 0;
}

static void pack_all(struct pd_pack *pack)
{
	struct pd_json *json = &pack->json;
	const struct pd_dso *dso;

	pack->status = pd_bundle_add_file(pack->bundle, pack->file, &pack->error);
	pd_json_open(json, NULL, '{');
	pd_json_string(json, "form", "perfdata bundle");
	pd_json_number(json, "version", 1);
	pd_json_string(json, "objects_are", pack->options.full ? "full" : "symbols");
	pd_json_bool(json, "all_mapped", wants_all(pack));
	pd_json_open(json, "objects", '[');
	for (size_t i = 0; pack->status >= 0 && (dso = pd_symbols_dso(pack->symbols, i)) != NULL; i++)
		pack_object(pack, dso);
	pd_json_close(json, ']');
	pd_json_close(json, '}');
	pd_text_add(pack->manifest, "\n");
	if (pack->status >= 0 && pd_text_failed(pack->manifest))
		pack->status = pd_fail_memory(&pack->error);
	if (pack->status >= 0)
		pack->status =
			pd_bundle_add_bytes(pack->bundle, "manifest.json", pd_text_bytes(pack->manifest), &pack->error);
}

enum pd_status pd_pack_write(struct pd_pack *pack, struct pd_bundle *bundle, struct pd_pack_result *result_out,
			     struct pd_error *error)
{
	pack->bundle = bundle;
	pack->manifest = pd_text_new();
	pack->json.text = pack->manifest;
	if (!pack->manifest)
		return pd_fail_memory(error);
	pack_all(pack);
	pd_text_free(pack->manifest);
	if (pack->status < 0 && error)
		*error = pack->error;
	if (pack->status >= 0 && result_out)
		*result_out = pack->result;
	return pack->status;
}

// ---- start and end ----

// Records that the profile does not decode are looked at all the same, so that damage in them is reported.
static enum pd_status read_records(struct pd_pack *pack, struct pd_error *error)
{
	const struct pd_stream_options options = { .size = sizeof(options), .verify = true };
	bool touches = any_event_has(pack->file, PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK) | PD_MASK(PD_SAMPLE_TYPE_ADDR));
	const struct pd_record *record;
	struct pd_stream *stream = NULL;
	enum pd_status status = pd_stream_open(pack->file, &options, &stream, error);
	uint64_t count = 0, done, total;

	while (status == PD_OK) {
		status = pd_stream_next(stream, &record, error);
		if (status != PD_OK)
			break;
		if (touches)
			touch_record(pack, record);
		else
			pd_stream_pass(stream);
		if (++count % RECORDS_PER_STEP == 0 && pack->options.progress) {
			pd_stream_progress(stream, &done, &total);
			pack->options.progress(pack->options.self, done, total);
		}
	}
	pd_stream_close(stream);
	return status;
}

static enum pd_status find_objects(struct pd_pack *pack, struct pd_error *error)
{
	enum pd_status status = read_records(pack, error);

	if (status < 0)
		return status;
	if (wants_all(pack))
		touch_mapped(pack);
	return count_samples(pack) && !pd_symbols_failed(pack->symbols) ? PD_OK : pd_fail_memory(error);
}

enum pd_status pd_pack_new(struct pd_file *file, const struct pd_profile *profile, struct pd_symbols *symbols,
			   const struct pd_pack_options *options, struct pd_pack **pack_out, struct pd_error *error)
{
	struct pd_pack *pack;
	enum pd_status status;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	pack = pd_alloc(sizeof(*pack));
	if (!pack)
		return pd_fail_memory(error);
	if (options)
		memcpy(&pack->options, options,
		       options->size < sizeof(pack->options) ? options->size : sizeof(pack->options));
	pack->file = file;
	pack->profile = profile;
	pack->symbols = symbols;
	status = find_objects(pack, error);
	if (status < 0)
		pd_pack_free(pack);
	else
		*pack_out = pack;
	return status;
}

void pd_pack_free(struct pd_pack *pack)
{
	if (!pack)
		return;
	pd_free(pack->samples);
	pd_free(pack);
}

void pd_pack_text(const struct pd_pack_result *result, struct pd_text *text)
{
	char packed[32], size[32];

	if (result->missing_count > PD_PACK_WARNINGS)
		pd_text_printf(text, "not packed: %" PRIu64 " more; see manifest.json\n",
			       result->missing_count - PD_PACK_WARNINGS);
	pd_text_printf(text, "packed %" PRIu64 " of %" PRIu64 " object%s: %" PRIu64 " file%s, %s of %s\n",
		       result->object_count - result->missing_count, result->object_count,
		       pd_plural(result->object_count), result->file_count, pd_plural(result->file_count),
		       pd_size_string(result->packed_bytes, packed), pd_size_string(result->file_bytes, size));
}
