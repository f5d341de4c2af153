/* SPDX-License-Identifier: MIT */
/* A writer from its start to its end: opening it, finishing what it has written, and giving the output its name. */
#include "write/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t default_save_bytes = UINT64_C(8) << 20;

// ---- begin and end ----

// perf stat writes a feature that says that nothing is compressed.
static bool is_compressed(struct pd_file *file)
{
	const struct pd_compression *compression = pd_file_compressed(file);

	return pd_file_has_compressed(file) && (!compression || compression->type);
}

static void choose_form(struct pd_writer *writer, const struct pd_writer_options *options)
{
	struct pd_file *input = options->input_count ? options->inputs[0] : NULL;

	writer->big = options->endian == PD_ENDIAN_SAME ? (input ? pd_file_is_big(input) : PD_HOST_BIG) :
							  options->endian == PD_ENDIAN_BIG;
	writer->swap = writer->big != PD_HOST_BIG;
	writer->mode = options->mode;
	writer->level = options->level ? options->level : 1;
	writer->save_bytes = options->save_bytes ? options->save_bytes : default_save_bytes;
	writer->packing = options->packing;
	if (writer->packing == PD_PACK_SAME && !(input && is_compressed(input)))
		writer->packing = PD_PACK_NONE;
	if (writer->packing == PD_PACK_ZSTD || writer->packing == PD_PACK_SAME)
		writer->pack_type = PD_RECORD_COMPRESSED;
	if (writer->packing == PD_PACK_ZSTD2)
		writer->pack_type = PD_RECORD_COMPRESSED2;
}

static enum pd_status new_writer(const char *name, const struct pd_writer_options *options,
				 struct pd_writer_options *all, struct pd_writer **writer_out, struct pd_error *error)
{
	struct pd_writer *writer;

	memset(all, 0, sizeof(*all));
	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	if (options)
		memcpy(all, options, options->size < sizeof(*all) ? options->size : sizeof(*all));
	writer = pd_alloc(sizeof(*writer));
	if (!writer)
		return pd_fail_memory(error);
	writer->dir_fd = -1;
	choose_form(writer, all);
	writer->name = strdup(name);
	if (!writer->name) {
		pd_free(writer);
		return pd_fail_memory(error);
	}
	if (writer->pack_type && !pd_packer_zstd.start) {
		pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "%s: cannot compress: built without zstd", name);
		free(writer->name);
		pd_free(writer);
		return PD_ERROR_UNSUPPORTED;
	}
	*writer_out = writer;
	return PD_OK;
}

// What the main part can do decides what forms it can have.
static enum pd_status check_output(struct pd_writer *writer, struct pd_error *error)
{
	struct pd_output *out = &writer->parts[0].out;

	out->random = writer->mode != PD_MODE_PIPE;
	if (out->random && lseek(out->fd, 0, SEEK_CUR) < 0)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "%s: cannot seek; only the pipe form can be written", writer->name);
	return PD_OK;
}

static enum pd_status finish_open(struct pd_writer *writer, enum pd_status status, struct pd_writer **writer_out,
				  struct pd_error *error)
{
	if (status >= 0)
		status = check_output(writer, error);
	if (status < 0)
		pd_writer_abort(writer);
	else
		*writer_out = writer;
	return status;
}

static enum pd_status open_path(struct pd_writer *writer, const char *path, const struct pd_writer_options *options,
				struct pd_error *error)
{
	writer->path = pd_write_target(path);
	return writer->path ? pd_writer_open_path(writer, options, error) :
			      pd_fail_system(error, errno, "%s: cannot resolve the link", path);
}

static enum pd_status open_put(struct pd_writer *writer, const struct pd_writer_place *place, struct pd_error *error)
{
	enum pd_status status;

	writer->mode = PD_MODE_PIPE;
	status = pd_writer_add_output(writer, -1, false, "", error);
	if (status < 0)
		return status;
	writer->parts[0].out.put = place->put;
	writer->parts[0].out.put_self = place->self;
	return PD_OK;
}

static enum pd_status open_fd(struct pd_writer *writer, int fd, const struct pd_writer_options *options,
			      struct pd_error *error)
{
	enum pd_status status = pd_writer_check_descriptor(writer, fd, options, error);

	return status < 0 ? status : pd_writer_add_output(writer, fd, false, "", error);
}

enum pd_status pd_writer_open_at(const struct pd_writer_place *place, const struct pd_writer_options *options,
				 struct pd_writer **writer_out, struct pd_error *error)
{
	struct pd_writer_place where = { 0 };
	struct pd_writer_options all;
	struct pd_writer *writer = NULL;
	enum pd_status status;

	if (!place->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the place is 0");
	memcpy(&where, place, place->size < sizeof(where) ? place->size : sizeof(where));
	status = new_writer(where.path ? where.path :
			    where.name ? where.name :
					 "output",
			    options, &all, &writer, error);
	if (status < 0)
		return status;
	if (where.path)
		status = open_path(writer, where.path, &all, error);
	else
		status = where.put ? open_put(writer, &where, error) : open_fd(writer, where.fd, &all, error);
	return finish_open(writer, status, writer_out, error);
}

enum pd_status pd_writer_open(const char *path, const struct pd_writer_options *options, struct pd_writer **writer_out,
			      struct pd_error *error)
{
	const struct pd_writer_place place = { .size = sizeof(place), .path = path };

	return pd_writer_open_at(&place, options, writer_out, error);
}

enum pd_status pd_writer_open_fd(int fd, const char *name, const struct pd_writer_options *options,
				 struct pd_writer **writer_out, struct pd_error *error)
{
	const struct pd_writer_place place = { .size = sizeof(place), .fd = fd, .name = name };

	return pd_writer_open_at(&place, options, writer_out, error);
}

enum pd_status pd_writer_open_put(pd_put_fn *put, void *self, const char *name, const struct pd_writer_options *options,
				  struct pd_writer **writer_out, struct pd_error *error)
{
	const struct pd_writer_place place = { .size = sizeof(place), .put = put, .self = self, .name = name };

	return pd_writer_open_at(&place, options, writer_out, error);
}

enum pd_status pd_writer_open_in(const char *path, const struct pd_writer_options *options,
				 struct pd_writer **writer_out, struct pd_error *error)
{
	struct pd_writer_options all;
	struct pd_writer *writer = NULL;
	enum pd_status status = new_writer(path, options, &all, &writer, error);

	if (status < 0)
		return status;
	writer->mode = PD_MODE_DIRECTORY;
	writer->path = strdup(path);
	writer->dir_fd = writer->path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (writer->dir_fd < 0)
		status = pd_fail_system(error, errno, "%s: cannot open", path);
	if (status >= 0)
		status = pd_writer_add_part(writer, "data", error);
	return finish_open(writer, status, writer_out, error);
}

enum pd_status pd_writer_open_metadata(const struct pd_file *file, struct pd_writer **writer_out,
				       struct pd_error *error)
{
	const struct pd_writer_options options = { .size = sizeof(options),
						   .endian = pd_file_is_big(file) ? PD_ENDIAN_BIG : PD_ENDIAN_LITTLE };
	struct pd_writer_options all;

	return new_writer(pd_file_name(file), &options, &all, writer_out, error);
}

static void free_writer(struct pd_writer *writer)
{
	for (size_t i = 0; i < writer->part_count; i++) {
		pd_output_fini(&writer->parts[i].out);
		pd_pack_fini(&writer->parts[i].pack);
		free(writer->parts[i].name);
	}
	if (writer->dir_fd >= 0)
		close(writer->dir_fd);
	for (size_t i = 0; i < writer->event_count; i++) {
		pd_free(writer->events[i].attr);
		pd_free(writer->events[i].ids);
		free(writer->events[i].name);
		free(writer->events[i].update);
	}
	for (size_t i = 0; i < PD_FEATURE_LIMIT; i++)
		pd_free(writer->features[i].data);
	pd_arena_fini(&writer->arena);
	pd_cpu_split_free(writer->cpu_split);
	pd_free(writer->events);
	pd_free(writer->parts);
	pd_free(writer->event_types.data);
	pd_free(writer->aux_index.data);
	pd_free(writer->build_ids.data);
	pd_free(writer->scratch.data);
	pd_free(writer->changed_bytes.data);
	pd_free(writer->temporary);
	free(writer->path);
	free(writer->name);
	pd_free(writer);
}

void pd_writer_abort(struct pd_writer *writer)
{
	if (!writer)
		return;
	pd_writer_remove_files(writer);
	free_writer(writer);
}

const char *pd_writer_unfinished(const struct pd_writer *writer)
{
	return writer->temporary;
}

// ---- what other folders ask ----

void pd_writer_pack_frames(struct pd_writer *writer, bool quick)
{
	writer->whole_frames = true;
	writer->quick = quick;
}

void pd_writer_rejoin(struct pd_writer *writer)
{
	writer->rejoin = true;
}

enum pd_mode pd_writer_mode(const struct pd_writer *writer)
{
	return writer->mode;
}

bool pd_writer_is_big(const struct pd_writer *writer)
{
	return writer->big;
}

bool pd_writer_compresses(const struct pd_writer *writer)
{
	return writer->pack_type;
}

bool pd_writer_has_failed(const struct pd_writer *writer)
{
	return writer->status < 0;
}

uint64_t pd_writer_size(const struct pd_writer *writer)
{
	uint64_t size = 0;

	for (size_t i = 0; i < writer->part_count; i++)
		size += pd_output_end(&writer->parts[i].out);
	return size;
}

size_t pd_writer_event_count(const struct pd_writer *writer)
{
	return writer->event_count;
}

const struct pd_write_event *pd_writer_event(const struct pd_writer *writer, size_t index)
{
	return index < writer->event_count ? &writer->events[index] : NULL;
}

bool pd_writer_has_feature(const struct pd_writer *writer, unsigned feature, struct pd_bytes *bytes_out)
{
	const struct pd_write_feature *slot = &writer->features[feature];

	if (slot->present && bytes_out)
		*bytes_out = (struct pd_bytes){ slot->data, slot->size };
	return slot->present;
}

struct pd_bytes pd_writer_event_types(const struct pd_writer *writer)
{
	return (struct pd_bytes){ writer->event_types.data, writer->event_types.size };
}

uint64_t pd_writer_end_marker(const struct pd_writer *writer)
{
	return writer->end_marker;
}

void pd_writer_set_end_marker(struct pd_writer *writer, uint64_t feature)
{
	writer->end_marker = feature;
}

// ---- up to date, and the end ----

enum pd_status pd_writer_flush(struct pd_writer *writer, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < writer->part_count && status >= 0; i++) {
		status = pd_pack_flush(writer, &writer->parts[i], error);
		if (status >= 0 && i)
			status = pd_output_flush(&writer->parts[i].out, error);
	}
	if (status < 0)
		return status;
	return writer->mode == PD_MODE_PIPE ? pd_output_flush(&writer->parts[0].out, error) :
					      pd_writer_save(writer, false, error);
}

// A descriptor may tell only now that bytes were lost.
static enum pd_status close_outputs(struct pd_writer *writer, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < writer->part_count; i++) {
		struct pd_output *out = &writer->parts[i].out;

		if (!out->owns_fd)
			continue;
		if (close(out->fd) < 0 && status >= 0)
			status = pd_fail_system(error, errno, "%s: cannot write", writer->name);
		out->fd = -1;
	}
	return status;
}

static enum pd_status finish_all(struct pd_writer *writer, struct pd_error *error)
{
	enum pd_status status = writer->source ? pd_writer_learn(writer, error) : PD_OK;

	if (status >= 0)
		status = pd_writer_start(writer, error);
	pd_convert_sum_up(writer);
	for (size_t i = 0; i < writer->part_count && status >= 0; i++)
		status = pd_pack_flush(writer, &writer->parts[i], error);
	if (status >= 0 && writer->mode != PD_MODE_PIPE)
		status = pd_writer_save(writer, true, error);
	for (size_t i = 0; i < writer->part_count && status >= 0; i++)
		status = pd_output_flush(&writer->parts[i].out, error);
	if (status >= 0)
		status = close_outputs(writer, error);
	if (status >= 0 && writer->temporary && rename(writer->temporary, writer->path) < 0)
		status = pd_fail_system(error, errno, "%s: cannot rename the output to this name", writer->path);
	return status;
}

enum pd_status pd_writer_finish(struct pd_writer *writer, struct pd_error *error)
{
	enum pd_status status = writer->status < 0 ? pd_writer_failed_before(writer, error) : finish_all(writer, error);

	if (status < 0)
		pd_writer_remove_files(writer);
	free_writer(writer);
	return status;
}
