/* SPDX-License-Identifier: MIT */
/*
 * A writer from its begin to its end: where it writes, what it was told of events and features, records from structs,
 * and giving the output its name.
 */
#include "write/write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/encode.h"

enum {
	NAME_TRIES = 100,
	OLDEST_USUAL_ATTR = 112, // perf 4.1: no reader in use wants less
};

static const uint64_t default_save_bytes = UINT64_C(8) << 20;

enum pd_status pd_writer_fail(struct pd_writer *writer, enum pd_status status, struct pd_error *error)
{
	if (status >= 0 || writer->status < 0)
		return writer->status < 0 ? writer->status : status;
	writer->status = status;
	if (error)
		writer->error = *error;
	else
		pd_fail(&writer->error, status, PD_NO_OFFSET, "%s: cannot write", writer->name);
	return status;
}

static enum pd_status failed_before(const struct pd_writer *writer, struct pd_error *error)
{
	if (error)
		*error = writer->error;
	return writer->status;
}

bool pd_write_put(struct pd_write_bytes *bytes, const void *data, size_t size)
{
	if (!PD_GROW(bytes->data, bytes->capacity, bytes->size + size))
		return false;
	if (size)
		memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
	return true;
}

uint8_t *pd_write_scratch(struct pd_writer *writer, size_t size)
{
	return PD_GROW(writer->scratch.data, writer->scratch.capacity, size) ? writer->scratch.data : NULL;
}

// ---- where to ----

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_input(const struct pd_writer_options *options, const struct stat *target)
{
	struct stat stat_of;

	// what is no file with a content of its own may be both: a terminal, /dev/null
	if (!S_ISREG(target->st_mode) && !S_ISDIR(target->st_mode))
		return false;
	for (size_t i = 0; i < options->input_count; i++) {
		const struct pd_file *file = options->inputs[i];

		if (file->main.fd >= 0 && fstat(file->main.fd, &stat_of) == 0 && is_same_file(&stat_of, target))
			return true;
		if (stat(file->name, &stat_of) == 0 && is_same_file(&stat_of, target))
			return true;
		for (size_t j = 1; j < file->part_count; j++)
			if (fstat(file->parts[j].source->fd, &stat_of) == 0 && is_same_file(&stat_of, target))
				return true;
	}
	return false;
}

// The only thing whose place a directory can take.
static bool is_empty_directory(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool empty = dir != NULL;

	while (empty && (entry = readdir(dir)) != NULL)
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	if (dir)
		closedir(dir);
	return empty;
}

// Rights of a new file: those of the first input, without one as perf has them.
static mode_t new_mode(const struct pd_writer_options *options)
{
	struct stat stat_of;

	if (options->input_count && options->inputs[0]->main.fd >= 0 &&
	    fstat(options->inputs[0]->main.fd, &stat_of) == 0 && S_ISREG(stat_of.st_mode))
		return stat_of.st_mode & 0777;
	return 0600;
}

static enum pd_status add_part(struct pd_writer *writer, int fd, bool owns_fd, const char *name, struct pd_error *error)
{
	struct pd_write_part *parts = pd_realloc(writer->parts, (writer->part_count + 1) * sizeof(*parts));
	struct pd_write_part *part;
	enum pd_status status;

	if (parts)
		writer->parts = parts;
	if (!parts) {
		if (owns_fd)
			close(fd);
		return pd_fail_memory(error);
	}
	part = &parts[writer->part_count++];
	*part = (struct pd_write_part){ .name = strdup(name) };
	status = pd_output_init(&part->out, fd, owns_fd, writer->name, error);
	if (status >= 0 && !part->name)
		status = pd_fail_memory(error);
	return status;
}

// A new name beside the wanted one: a file, or a directory that is made.
static enum pd_status make_beside(struct pd_writer *writer, mode_t mode, int *fd_out, struct pd_error *error)
{
	size_t room = strlen(writer->path) + 32;
	int fd = -1;

	writer->beside = pd_alloc(room);
	if (!writer->beside)
		return pd_fail_memory(error);
	for (unsigned i = 0; i < NAME_TRIES; i++) {
		snprintf(writer->beside, room, "%s.new-%ld-%u", writer->path, (long)getpid(), i);
		if (writer->mode == PD_MODE_DIRECTORY)
			fd = mkdir(writer->beside, 0700);
		else
			fd = open(writer->beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	if (fd < 0) {
		int saved = errno;

		// nothing of ours is there
		pd_free(writer->beside);
		writer->beside = NULL;
		return pd_fail_system(error, saved, "%s: cannot create the file", writer->path);
	}
	*fd_out = fd;
	return PD_OK;
}

// Opens a file of the directory that is being made.
enum pd_status pd_writer_add_part(struct pd_writer *writer, const char *name, struct pd_error *error)
{
	int fd = openat(writer->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return pd_fail_system(error, errno, "%s: cannot create %s", writer->path, name);
	return add_part(writer, fd, true, name, error);
}

// A directory gets the same parts as the first input, if that is one, else parts by CPU.
static enum pd_status open_directory(struct pd_writer *writer, const struct pd_writer_options *options,
				     struct pd_error *error)
{
	const struct pd_file *input = options->input_count ? options->inputs[0] : NULL;
	enum pd_status status;
	int made;

	status = make_beside(writer, 0, &made, error);
	if (status < 0)
		return status;
	writer->dir_fd = open(writer->beside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (writer->dir_fd < 0)
		return pd_fail_system(error, errno, "%s: cannot create the file", writer->path);
	writer->by_cpu = input && input->header.mode != PD_MODE_DIRECTORY;
	status = pd_writer_add_part(writer, "data", error);
	for (size_t i = 1; status >= 0 && input && input->header.mode == PD_MODE_DIRECTORY && i < input->part_count;
	     i++)
		status = pd_writer_add_part(writer, input->parts[i].name, error);
	return status;
}

static enum pd_status open_path(struct pd_writer *writer, const struct pd_writer_options *options,
				struct pd_error *error)
{
	struct stat target;
	bool there = stat(writer->path, &target) == 0;
	mode_t mode = there ? target.st_mode & 0777 : new_mode(options);
	enum pd_status status;
	int fd;

	if (there && is_input(options, &target))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: refusing to overwrite the input",
			       writer->name);
	if (writer->mode == PD_MODE_DIRECTORY) {
		if (there && !is_empty_directory(writer->path))
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: already exists", writer->path);
		return open_directory(writer, options, error);
	}
	if (there && S_ISDIR(target.st_mode))
		return pd_fail_system(error, EISDIR, "%s: cannot write", writer->path);
	if (there && !S_ISREG(target.st_mode)) {
		fd = open(writer->path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			return pd_fail_system(error, errno, "%s: cannot open", writer->path);
	} else {
		status = make_beside(writer, mode, &fd, error);
		if (status < 0)
			return status;
	}
	return add_part(writer, fd, true, "", error);
}

static enum pd_status check_descriptor(struct pd_writer *writer, int fd, const struct pd_writer_options *options,
				       struct pd_error *error)
{
	struct stat target;
	off_t position = lseek(fd, 0, SEEK_CUR);

	if (fstat(fd, &target) == 0 && is_input(options, &target))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: refusing to overwrite the input",
			       writer->name);
	if (writer->mode == PD_MODE_DIRECTORY)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: cannot write a directory here",
			       writer->name);
	if (writer->mode == PD_MODE_PIPE)
		return PD_OK;
	if (position < 0)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "%s: cannot seek; only the pipe form can be written", writer->name);
	if (position > 0 || fcntl(fd, F_GETFL) & O_APPEND || (S_ISREG(target.st_mode) && target.st_size))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "%s: not empty; only the pipe form can be written", writer->name);
	return PD_OK;
}

// ---- begin and end ----

// perf stat writes a feature that says that nothing is compressed.
static bool is_compressed(struct pd_file *file)
{
	const struct pd_compression *compression = pd_file_compressed(file);

	return file->compressed && (!compression || compression->type);
}

static void choose(struct pd_writer *writer, const struct pd_writer_options *options)
{
	struct pd_file *input = options->input_count ? options->inputs[0] : NULL;

	writer->big = options->endian == PD_ENDIAN_SAME ? (input ? input->header.big_endian : PD_HOST_BIG) :
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
	choose(writer, all);
	writer->name = strdup(name);
	if (!writer->name) {
		pd_free(writer);
		return pd_fail_memory(error);
	}
	if (writer->pack_type && !pd_packer_zstd.open) {
		pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "%s: cannot compress: built without zstd", name);
		free(writer->name);
		pd_free(writer);
		return PD_ERROR_UNSUPPORTED;
	}
	*writer_out = writer;
	return PD_OK;
}

// What the main part can do decides what forms it can have.
static enum pd_status look_at_output(struct pd_writer *writer, struct pd_error *error)
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
		status = look_at_output(writer, error);
	if (status < 0)
		pd_writer_abort(writer);
	else
		*writer_out = writer;
	return status;
}

// The file that a link leads to: who takes its name must not take that of the link.
static char *where_it_leads(const char *path)
{
	struct stat link, target;

	if (lstat(path, &link) == 0 && S_ISLNK(link.st_mode) && stat(path, &target) == 0 && S_ISREG(target.st_mode))
		return realpath(path, NULL);
	return strdup(path);
}

enum pd_status pd_writer_open(const char *path, const struct pd_writer_options *options, struct pd_writer **writer_out,
			      struct pd_error *error)
{
	struct pd_writer_options all;
	struct pd_writer *writer = NULL;
	enum pd_status status = new_writer(path, options, &all, &writer, error);

	if (status < 0)
		return status;
	writer->path = where_it_leads(path);
	status = writer->path ? open_path(writer, &all, error) :
				pd_fail_system(error, errno, "%s: cannot resolve the link", path);
	return finish_open(writer, status, writer_out, error);
}

enum pd_status pd_writer_open_fd(int fd, const char *name, const struct pd_writer_options *options,
				 struct pd_writer **writer_out, struct pd_error *error)
{
	struct pd_writer_options all;
	struct pd_writer *writer = NULL;
	enum pd_status status = new_writer(name, options, &all, &writer, error);

	if (status < 0)
		return status;
	status = check_descriptor(writer, fd, &all, error);
	if (status >= 0)
		status = add_part(writer, fd, false, "", error);
	return finish_open(writer, status, writer_out, error);
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

enum pd_status pd_writer_open_put(pd_put_fn *put, void *self, const char *name, const struct pd_writer_options *options,
				  struct pd_writer **writer_out, struct pd_error *error)
{
	struct pd_writer_options all;
	struct pd_writer *writer = NULL;
	enum pd_status status = new_writer(name, options, &all, &writer, error);

	if (status < 0)
		return status;
	writer->mode = PD_MODE_PIPE;
	status = add_part(writer, -1, false, "", error);
	if (status >= 0) {
		writer->parts[0].out.put = put;
		writer->parts[0].out.put_self = self;
	}
	return finish_open(writer, status, writer_out, error);
}

enum pd_status pd_writer_open_nowhere(const struct pd_file *file, struct pd_writer **writer_out, struct pd_error *error)
{
	const struct pd_writer_options options = { .size = sizeof(options),
						   .endian = file->header.big_endian ? PD_ENDIAN_BIG :
										       PD_ENDIAN_LITTLE };
	struct pd_writer_options all;

	return new_writer(file->name, &options, &all, writer_out, error);
}

static void remove_beside(struct pd_writer *writer)
{
	if (!writer->beside)
		return;
	pd_writer_remove_beside(writer);
	for (size_t i = 0; i < writer->part_count && writer->dir_fd >= 0; i++)
		unlinkat(writer->dir_fd, writer->parts[i].name, 0);
	if (writer->mode == PD_MODE_DIRECTORY)
		rmdir(writer->beside);
	else
		unlink(writer->beside);
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
	pd_spread_free(writer->spread);
	pd_free(writer->events);
	pd_free(writer->parts);
	pd_free(writer->event_types.data);
	pd_free(writer->aux_index.data);
	pd_free(writer->build_ids.data);
	pd_free(writer->scratch.data);
	pd_free(writer->changed_bytes.data);
	pd_free(writer->beside);
	free(writer->path);
	free(writer->name);
	pd_free(writer);
}

void pd_writer_abort(struct pd_writer *writer)
{
	if (!writer)
		return;
	remove_beside(writer);
	free_writer(writer);
}

const char *pd_writer_unfinished(const struct pd_writer *writer)
{
	return writer->beside;
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
	if (status >= 0 && writer->beside && rename(writer->beside, writer->path) < 0)
		status = pd_fail_system(error, errno, "%s: cannot rename the output to this name", writer->path);
	return status;
}

enum pd_status pd_writer_finish(struct pd_writer *writer, struct pd_error *error)
{
	enum pd_status status = writer->status < 0 ? failed_before(writer, error) : finish_all(writer, error);

	if (status < 0)
		remove_beside(writer);
	free_writer(writer);
	return status;
}

// ---- events and features ----

// The smallest attr that perf has had and that holds all that is not zero.
static size_t attr_size_of(const uint8_t *attr, size_t size)
{
	static const size_t sizes[] = { OLDEST_USUAL_ATTR, 120, 128, 136, 144 };
	size_t used = size;

	while (used && !attr[used - 1])
		used--;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (used <= sizes[i])
			return sizes[i];
	return size;
}

static enum pd_status encode_attr(struct pd_writer *writer, const struct pd_attr *attr, struct pd_write_event *event,
				  struct pd_error *error)
{
	struct pd_scope scope = { .arena = NULL };
	struct pd_pen pen = pd_pen(NULL, 0, writer->big);

	pd_encode_attr(&pen, &scope, attr);
	event->attr = pd_alloc(pen.need);
	if (!event->attr)
		return pd_fail_memory(error);
	pen = pd_pen(event->attr, pen.need, writer->big);
	pd_encode_attr(&pen, &scope, attr);
	event->attr_size = pen.need;
	// one that was made by hand says no size
	if (!attr->wire_size && !attr->size)
		event->attr_size = attr_size_of(event->attr, pen.need);
	else if (!attr->wire_size && attr->size < pen.need && attr->size >= PD_MIN_attr)
		event->attr_size = attr->size;
	if (event->attr_size != PD_MIN_attr || attr->size) {
		struct pd_pen size = pd_pen(event->attr + 4, 4, writer->big);

		pd_pen_u32(&size, (uint32_t)event->attr_size);
	}
	return PD_OK;
}

static void set_words(struct pd_write_event *event, const struct pd_attr *attr)
{
	event->words[PD_WORD_SAMPLE_TYPE] = attr->sample_type;
	event->words[PD_WORD_READ_FORMAT] = attr->read_format;
	event->words[PD_WORD_BRANCH_TYPE] = attr->branch_sample_type;
	event->words[PD_WORD_REGS_USER] = attr->sample_regs_user;
	event->words[PD_WORD_REGS_INTR] = attr->sample_regs_intr;
	if (PD_BITS(attr->flags, PD_ATTR_SAMPLE_ID_ALL))
		event->words[PD_WORD_TRAILER] = attr->sample_type & PD_TRAILER_BITS;
}

enum pd_status pd_writer_keep_event(struct pd_writer *writer, const struct pd_attr *attr, struct pd_u64s ids,
				    const char *name, struct pd_error *error)
{
	struct pd_write_event event = { .id_count = ids.count };
	struct pd_attr fitting = *attr;
	enum pd_status status;

	if (!PD_GROW(writer->events, writer->event_capacity, writer->event_count + 1))
		return pd_fail_memory(error);
	pd_consumer_fit_attr(writer, &fitting);
	status = encode_attr(writer, &fitting, &event, error);
	if (status < 0)
		return status;
	pd_consumer_cut_attr(writer, &event);
	set_words(&event, attr);
	event.ids = pd_alloc(ids.count * sizeof(*event.ids));
	event.name = name ? strdup(name) : NULL;
	if (event.ids && ids.count)
		memcpy(event.ids, ids.items, ids.count * sizeof(*event.ids));
	writer->events[writer->event_count++] = event;
	writer->header_dirty = writer->started;
	return event.ids && (event.name || !name) ? PD_OK : pd_fail_memory(error);
}

enum pd_status pd_writer_add_event(struct pd_writer *writer, const struct pd_attr *attr, struct pd_u64s ids,
				   const char *name, struct pd_error *error)
{
	struct pd_error own;
	enum pd_status status;

	if (writer->status < 0)
		return failed_before(writer, error);
	status = pd_writer_keep_event(writer, attr, ids, name, error ? error : &own);
	if (status >= 0 && writer->started && writer->mode == PD_MODE_PIPE)
		status = pd_writer_send(writer, error ? error : &own);
	return pd_writer_fail(writer, status, error ? error : &own);
}

enum pd_status pd_writer_keep_feature(struct pd_writer *writer, unsigned feature, struct pd_bytes bytes,
				      struct pd_error *error)
{
	struct pd_write_feature *slot = &writer->features[feature];
	uint8_t *copy;

	if (!pd_consumer_takes_feature(writer, feature))
		return PD_OK;
	copy = pd_alloc(bytes.size ? bytes.size : 1);
	if (!copy)
		return pd_fail_memory(error);
	if (bytes.size)
		memcpy(copy, bytes.data, bytes.size);
	pd_free(slot->data);
	*slot = (struct pd_write_feature){ true, copy, bytes.size };
	return PD_OK;
}

enum pd_status pd_writer_set_feature_bytes(struct pd_writer *writer, unsigned feature, struct pd_bytes bytes,
					   struct pd_error *error)
{
	struct pd_error own;
	enum pd_status status;

	if (writer->status < 0)
		return failed_before(writer, error);
	if (!feature || feature >= PD_FEATURE_LIMIT)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%u: invalid feature number", feature);
	if (writer->started && writer->mode == PD_MODE_PIPE)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "%s: records have been written already, in a pipe features come first",
			       pd_feature_name(feature) ? pd_feature_name(feature) : writer->name);
	status = pd_writer_keep_feature(writer, feature, bytes, error ? error : &own);
	return pd_writer_fail(writer, status, error ? error : &own);
}

// Without a file there are no quirks; topology wants the number of CPUs, which it says itself.
enum pd_status pd_writer_feature_bytes(struct pd_writer *writer, const struct pd_layout *layout, const void *decoded,
				       struct pd_bytes *bytes_out, struct pd_error *error)
{
	struct pd_scope scope = { .arena = NULL };
	struct pd_pen pen = pd_pen(NULL, 0, writer->big);
	struct pd_scope start;
	uint8_t *room;

	if (layout == &pd_layouts[PD_LAYOUT_cpu_topology])
		scope.words[PD_WORD_NRCPUS] = ((const struct pd_cpu_topology *)decoded)->places.count;
	start = scope;
	layout->encode(&pen, &scope, decoded);
	room = pd_write_scratch(writer, pen.need + 1);
	if (!room)
		return pd_fail_memory(error);
	if (!pen.failed) {
		pen = pd_pen(room, pen.need, writer->big);
		layout->encode(&pen, &start, decoded);
	}
	if (pen.failed)
		return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: %s.%s: %s", writer->name,
			       pen.layout ? pen.layout : layout->name, pen.field ? pen.field : "body", pen.reason);
	*bytes_out = (struct pd_bytes){ room, pen.need };
	return PD_OK;
}

enum pd_status pd_writer_encode_feature(struct pd_writer *writer, unsigned feature, const void *decoded,
					struct pd_error *error)
{
	const struct pd_layout *layout = pd_feature_layout(feature);
	struct pd_bytes bytes;
	enum pd_status status;

	if (!layout)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%u: unknown feature", feature);
	status = pd_writer_feature_bytes(writer, layout, decoded, &bytes, error);
	return status < 0 ? status : pd_writer_keep_feature(writer, feature, bytes, error);
}

enum pd_status pd_writer_set_feature(struct pd_writer *writer, unsigned feature, const void *decoded,
				     struct pd_error *error)
{
	const struct pd_layout *layout = pd_feature_layout(feature);
	struct pd_bytes bytes;
	enum pd_status status;

	if (writer->status < 0)
		return failed_before(writer, error);
	if (!layout)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%u: unknown feature", feature);
	if (!decoded) {
		pd_free(writer->features[feature].data);
		writer->features[feature] = (struct pd_write_feature){ 0 };
		writer->source_features[feature] = true;
		return PD_OK;
	}
	status = pd_writer_feature_bytes(writer, layout, decoded, &bytes, error);
	return status < 0 ? status : pd_writer_set_feature_bytes(writer, feature, bytes, error);
}

// ---- records ----

// Before a record: all that was written is whole.
static enum pd_status save_if_due(struct pd_writer *writer, size_t part, struct pd_error *error)
{
	uint64_t end = pd_output_end(&writer->parts[part].out);

	if (writer->mode == PD_MODE_PIPE || part != 0 || end < writer->saved_end ||
	    end - writer->saved_end < writer->save_bytes)
		return PD_OK;
	return pd_writer_save(writer, false, error);
}

enum pd_status pd_writer_put_outside(struct pd_writer *writer, size_t part, const void *data, size_t size,
				     struct pd_error *error)
{
	struct pd_write_part *to = &writer->parts[part];
	enum pd_status status = PD_OK;

	if (to->pack.used)
		status = pd_pack_flush(writer, to, error);
	if (status >= 0)
		status = save_if_due(writer, part, error);
	return status < 0 ? status : pd_output_write(&to->out, data, size, error);
}

enum pd_status pd_writer_put(struct pd_writer *writer, size_t part, uint32_t type, const void *data, size_t size,
			     struct pd_error *error)
{
	// as perf: what comes from the kernel is compressed
	if (writer->pack_type && type < 64 && size <= PD_PACK_PIECE) {
		enum pd_status status = pd_pack_put(writer, &writer->parts[part], data, size, error);

		return status < 0 ? status : save_if_due(writer, part, error);
	}
	return pd_writer_put_outside(writer, part, data, size, error);
}

enum pd_status pd_writer_note_aux(struct pd_writer *writer, size_t part, struct pd_error *error)
{
	uint8_t entry[16];
	struct pd_pen pen = pd_pen(entry, sizeof(entry), writer->big);
	enum pd_status status;

	if (writer->mode == PD_MODE_PIPE || part != 0)
		return PD_OK;
	status = pd_pack_flush(writer, &writer->parts[part], error);
	if (status < 0)
		return status;
	pd_pen_u64(&pen, pd_output_end(&writer->parts[part].out));
	pd_pen_u64(&pen, 48);
	return pd_write_put(&writer->aux_index, entry, sizeof(entry)) ? PD_OK : pd_fail_memory(error);
}

static enum pd_status add_record(struct pd_writer *writer, uint32_t type, uint16_t misc, const void *decoded,
				 size_t event, struct pd_error *error)
{
	const struct pd_layout *layout = pd_record_layout(type);
	enum pd_record_group group = pd_record_group(type);
	const struct pd_record_head head = { .type = type, .misc = misc };
	struct pd_scope scope = { .arena = NULL };
	enum pd_status status;
	struct pd_pen pen;

	if (group == PD_GROUP_SAMPLE || (group == PD_GROUP_KERNEL && event < writer->event_count))
		memcpy(scope.words, writer->events[event].words, sizeof(scope.words));
	scope.words[PD_WORD_MISC] = misc;
	if (!pd_write_scratch(writer, UINT16_MAX + 1))
		return pd_fail_memory(error);
	pen = pd_pen(writer->scratch.data, writer->scratch.capacity, writer->big);
	pd_record_put(&pen, &head, layout, group, &scope, decoded);
	if (pen.failed || pd_pen_full(&pen))
		return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: %s.%s: %s", writer->name,
			       pen.layout ? pen.layout : layout->name, pen.field ? pen.field : "body",
			       pen.failed ? pen.reason : "record is too large");
	// see spread.c
	if (type == PD_RECORD_FINISHED_ROUND && pd_writer_spreads(writer))
		return PD_OK;
	status = pd_writer_start(writer, error);
	if (status >= 0 && type == PD_RECORD_AUXTRACE)
		status = pd_writer_note_aux(writer, 0, error);
	return status < 0 ? status : pd_writer_put(writer, 0, type, pen.data, pen.need, error);
}

enum pd_status pd_writer_add(struct pd_writer *writer, uint32_t type, uint16_t misc, const void *decoded, size_t event,
			     struct pd_error *error)
{
	struct pd_error own;
	enum pd_status status;

	if (writer->status < 0)
		return failed_before(writer, error);
	if (!pd_record_layout(type))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%" PRIu32 ": unknown record type", type);
	if (type == PD_RECORD_SAMPLE && event >= writer->event_count)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%zu: no such event", event);
	status = add_record(writer, type, misc, decoded, event, error ? error : &own);
	// a value that does not fit is the fault of the caller, who may go on
	return status == PD_ERROR_FORMAT ? status : pd_writer_fail(writer, status, error ? error : &own);
}

enum pd_status pd_writer_add_tail(struct pd_writer *writer, struct pd_bytes bytes, struct pd_error *error)
{
	struct pd_error own;

	if (writer->status < 0)
		return failed_before(writer, error);
	return pd_writer_fail(writer,
			      pd_output_write(&writer->parts[0].out, bytes.data, bytes.size, error ? error : &own),
			      error ? error : &own);
}
