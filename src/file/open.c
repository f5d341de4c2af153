/* SPDX-License-Identifier: MIT */
/*
 * Opening: finds out what a file is, reads its header, events and the places of its features. What the header
 * says is held against the size of the file; what cannot be true is told and left out.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/file.h"
#include "format/decode.h"

enum {
	PIPE_HEADER_SIZE = 16,
	OLD_HEADER_SIZE = 72, // without feature bits
	HEADER_SIZE = 104,
	ID_ENTRY_SIZE = 16, // {offset, size} of the ids behind each attr
	MAX_ATTR_SIZE = 65536,
};

static const uint64_t default_memory_limit = UINT64_C(256) << 20;
static const uint64_t default_inflate_limit = UINT64_C(1) << 40;

static enum pd_status no_perf_data(const struct pd_file *file, uint64_t offset, const char *why,
				   struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_FORMAT, offset, "%s: offset %" PRIu64 ": not a perf.data: %s", file->name,
		       offset, file->main.damaged ? file->main.damage : why);
}

// ---- header ----

// Sizes of table entries that version 1 files have; the byte order that gives one of them is the file's.
static bool is_attr_entry_size(uint64_t size)
{
	return size >= 80 && size <= 160 && size % 8 == 0;
}

static enum pd_status find_version(struct pd_file *file, const uint8_t *head, size_t size, struct pd_error *error)
{
	struct pd_header *header = &file->header;

	if (size == 0)
		return no_perf_data(file, 0, "the file is empty", error);
	if (size >= 8 && memcmp(head, "PERFILE2", 8) == 0) {
		header->version = 2;
	} else if (size >= 8 && memcmp(head, "2ELIFREP", 8) == 0) {
		header->version = 2;
		header->big_endian = true;
	} else if (size >= 8 && memcmp(head, "PERFFILE", 8) == 0) {
		header->version = 1;
	} else {
		return no_perf_data(file, 0, size < 8 ? "it is shorter than a header" : "the magic number is another", error);
	}
	if (size < PIPE_HEADER_SIZE)
		return no_perf_data(file, size, "the header is cut off", error);
	if (header->version == 1) {
		bool is_pipe = pd_load_u64(head + 8, false) == PIPE_HEADER_SIZE ||
			       pd_load_u64(head + 8, true) == PIPE_HEADER_SIZE;

		if (is_pipe)
			header->big_endian = (pd_load_u64(head + 8, false) == PIPE_HEADER_SIZE) == PD_HOST_BIG;
		else if (size >= 24 && is_attr_entry_size(pd_load_u64(head + 16, PD_HOST_BIG)))
			header->big_endian = false;
		else if (size >= 24 && is_attr_entry_size(pd_load_u64(head + 16, !PD_HOST_BIG)))
			header->big_endian = true;
		else
			return no_perf_data(file, 16, "version 1, but the size of the attrs fits no byte order", error);
	}
	file->swap = header->big_endian != PD_HOST_BIG;
	return PD_OK;
}

// The bitmap of features was written as words of the recorder's long. HOSTNAME is in every file of perf, so the
// view that shows it is right.
static void read_feature_bits(struct pd_file *file, const uint8_t *at)
{
	uint64_t *bits = file->header.feature_bits;
	uint64_t narrow[4] = {0};

	for (unsigned i = 0; i < 4; i++) {
		bits[i] = pd_load_u64(at + 8 * i, file->swap);
		narrow[i] = pd_load_u32(at + 8 * i, file->swap) |
			    (uint64_t)pd_load_u32(at + 8 * i + 4, file->swap) << 32;
	}
	if (!file->header.big_endian || bits[0] >> PD_FEATURE_HOSTNAME & 1)
		return;
	if (narrow[0] >> PD_FEATURE_HOSTNAME & 1) {
		memcpy(bits, narrow, sizeof(narrow));
		return;
	}
	// neither: only what perf takes for granted
	if (bits[0] || bits[1] || bits[2] || bits[3])
		memset(bits, 0, sizeof(narrow));
}

static void tell_header(struct pd_file *file, const char *field, const char *what, uint64_t value)
{
	pd_file_tell(file, PD_PROBLEM_BAD_HEADER, 0, field, "%s: %s (%" PRIu64 ")", field, what, value);
}

static void check_data_section(struct pd_file *file)
{
	struct pd_header *header = &file->header;
	uint64_t end = header->data_offset + header->data_size;

	if (header->data_size == 0) {
		// an empty recording has features behind its data; a killed one has records there
		header->unfinished = true;
		pd_file_tell(file, PD_PROBLEM_UNFINISHED, 40, "header.data.size",
			     "the data size is 0: the recorder did not finish");
	} else if (end < header->data_offset || end > file->main.size) {
		header->truncated = true;
		pd_file_tell(file, PD_PROBLEM_DATA_PAST_END, 40, "header.data.size",
			     "%" PRIu64 " bytes of data at %" PRIu64 ", but the file has %" PRIu64, header->data_size,
			     header->data_offset, file->main.size);
	}
	if (header->unfinished || header->truncated)
		memset(header->feature_bits, 0, sizeof(header->feature_bits));
}

// A pipe that begins with a text in a record of type 69 is one of those in which features were records of type 66
// plus their number: HOSTNAME came first.
static enum pd_status find_old_features(struct pd_file *file, struct pd_error *error)
{
	uint8_t at[12];
	size_t got;
	enum pd_status status = pd_source_read(&file->main, PIPE_HEADER_SIZE, at, sizeof(at), &got, error);
	struct pd_record_head head;

	if (status < 0 || got < sizeof(at))
		return status;
	head = pd_record_head(at, file->swap);
	if (head.type == PD_OLD_FEATURE_BASE + PD_FEATURE_HOSTNAME && head.size >= sizeof(at) &&
	    pd_load_u32(at + 8, file->swap) == head.size - sizeof(at))
		file->quirks |= MASK_QUIRKS(OLD_FEATURES);
	return PD_OK;
}

static enum pd_status read_header(struct pd_file *file, struct pd_error *error)
{
	struct pd_header *header = &file->header;
	uint8_t at[HEADER_SIZE] = {0};
	enum pd_status status;
	size_t got;

	status = pd_source_read(&file->main, 0, at, sizeof(at), &got, error);
	if (status < 0)
		return status;
	status = find_version(file, at, got, error);
	if (status < 0)
		return status;
	header->size = pd_load_u64(at + 8, file->swap);
	if (header->size == PIPE_HEADER_SIZE) {
		header->mode = PD_MODE_PIPE;
		return find_old_features(file, error);
	}
	if (header->size < OLD_HEADER_SIZE || got < OLD_HEADER_SIZE)
		return no_perf_data(file, 8, header->size < OLD_HEADER_SIZE ? "the size of the header makes no sense"
									    : "the header is cut off", error);
	header->attr_size = pd_load_u64(at + 16, file->swap);
	header->attrs_offset = pd_load_u64(at + 24, file->swap);
	header->attrs_size = pd_load_u64(at + 32, file->swap);
	header->data_offset = pd_load_u64(at + 40, file->swap);
	header->data_size = pd_load_u64(at + 48, file->swap);
	header->event_types_offset = pd_load_u64(at + 56, file->swap);
	header->event_types_size = pd_load_u64(at + 64, file->swap);
	if (header->size != HEADER_SIZE && header->size != OLD_HEADER_SIZE)
		tell_header(file, "header.size", "is neither 104 nor 72", header->size);
	if (header->size >= HEADER_SIZE && got >= HEADER_SIZE)
		read_feature_bits(file, at + OLD_HEADER_SIZE);
	return PD_OK;
}

// ---- events ----

static enum pd_status read_ids(struct pd_file *file, uint64_t entry_offset, uint64_t offset, uint64_t size,
			       struct pd_u64s *ids_out, struct pd_error *error)
{
	enum pd_status status;
	uint64_t *ids;
	size_t got;

	*ids_out = (struct pd_u64s){0};
	if (!size)
		return PD_OK;
	// sections that lie over each other could give more ids than the file has bytes
	if (offset > file->main.size || size > file->main.size - offset || size > file->memory_limit || size % 8 ||
	    size > file->main.size - file->id_bytes) {
		pd_file_tell(file, PD_PROBLEM_BAD_IDS, entry_offset, "attrs.ids",
			     "%" PRIu64 " bytes of ids at %" PRIu64 " do not fit into the file", size, offset);
		return PD_OK;
	}
	file->id_bytes += size;
	ids = pd_alloc((size_t)size);
	if (!ids)
		return pd_fail_memory(error);
	status = pd_source_read(&file->main, offset, ids, (size_t)size, &got, error);
	if (status < 0) {
		pd_free(ids);
		return status;
	}
	for (size_t i = 0; i < got / 8; i++)
		ids[i] = pd_load_u64(&ids[i], file->swap);
	*ids_out = (struct pd_u64s){ids, got / 8};
	return PD_OK;
}

static enum pd_status read_attr(struct pd_file *file, const uint8_t *entry, uint64_t offset,
				struct pd_error *error)
{
	size_t attr_size = (size_t)file->header.attr_size - ID_ENTRY_SIZE;
	struct pd_cursor c = pd_cursor(entry, attr_size, file->header.big_endian);
	struct pd_scope scope = {.arena = &file->arena};
	struct pd_attr *attr = pd_arena_alloc(&file->arena, sizeof(*attr));
	struct pd_u64s ids;
	enum pd_status status;

	// the entry is in a buffer that goes away, and the attr may keep bytes it does not know
	entry = pd_arena_copy(&file->arena, entry, attr_size + ID_ENTRY_SIZE);
	if (!attr || !entry)
		return pd_fail_memory(error);
	c = pd_cursor(entry, attr_size, file->header.big_endian);
	pd_decode_attr(&c, &scope, attr);
	if (c.failed) {
		pd_file_tell_cursor(file, PD_PROBLEM_BAD_ATTRS, offset, &c);
		return PD_OK;
	}
	if ((attr->size ? attr->size : PD_MIN_attr) != attr_size)
		pd_file_tell(file, PD_PROBLEM_ATTR_STRIDE, offset + 4, "attr.size",
			     "attr.size is %u, but the table has room for %zu", attr->size, attr_size);
	status = read_ids(file, offset + attr_size, pd_load_u64(entry + attr_size, file->swap),
			  pd_load_u64(entry + attr_size + 8, file->swap), &ids, error);
	if (status < 0)
		return status;
	status = pd_file_add_event(file, attr, offset, ids, error);
	pd_free((void *)(uintptr_t)ids.items);
	return status;
}

// A file whose table entries have no size that makes sense may still have an attr that tells its own.
static bool attr_size_is_usable(struct pd_file *file)
{
	struct pd_header *header = &file->header;

	if (header->attr_size >= PD_MIN_attr + ID_ENTRY_SIZE && header->attr_size <= MAX_ATTR_SIZE)
		return true;
	pd_file_tell(file, PD_PROBLEM_BAD_ATTRS, 16, "header.attr_size", "the size of an attr makes no sense (%" PRIu64 ")",
		     header->attr_size);
	return false;
}

static enum pd_status read_attrs(struct pd_file *file, struct pd_error *error)
{
	struct pd_header *header = &file->header;
	uint64_t count;
	uint8_t *entry;

	if (!attr_size_is_usable(file))
		return PD_OK;
	count = header->attrs_size / header->attr_size;
	if (header->attrs_offset > file->main.size || header->attrs_size > file->main.size - header->attrs_offset) {
		pd_file_tell(file, PD_PROBLEM_BAD_ATTRS, 24, "header.attrs",
			     "%" PRIu64 " bytes of attrs at %" PRIu64 " do not fit into the file", header->attrs_size,
			     header->attrs_offset);
		count = header->attrs_offset > file->main.size
				? 0
				: (file->main.size - header->attrs_offset) / header->attr_size;
	}
	entry = pd_alloc((size_t)header->attr_size);
	if (!entry)
		return pd_fail_memory(error);
	for (uint64_t i = 0; i < count && !file->stopped; i++) {
		uint64_t offset = header->attrs_offset + i * header->attr_size;
		size_t got;
		enum pd_status status =
			pd_source_read(&file->main, offset, entry, (size_t)header->attr_size, &got, error);

		if (status >= 0 && got == header->attr_size)
			status = read_attr(file, entry, offset, error);
		if (status < 0) {
			pd_free(entry);
			return status;
		}
	}
	pd_free(entry);
	return PD_OK;
}

// Names of events in files from before EVENT_DESC: {u64 config, char name[64]}.
static enum pd_status read_event_types(struct pd_file *file, struct pd_error *error)
{
	enum { ENTRY_SIZE = 72 };
	uint64_t offset = file->header.event_types_offset;
	uint64_t size = file->header.event_types_size;

	if (!size || size % ENTRY_SIZE || offset > file->main.size || size > file->main.size - offset)
		return PD_OK; // newer files may have anything here
	for (uint64_t at = 0; at < size && at < (uint64_t)ENTRY_SIZE * 65536; at += ENTRY_SIZE) {
		uint8_t entry[ENTRY_SIZE];
		struct pd_event_full *full;
		size_t got, length;
		enum pd_status status = pd_source_read(&file->main, offset + at, entry, sizeof(entry), &got, error);

		if (status < 0)
			return status;
		length = strnlen((const char *)entry + 8, 64);
		while (length && (full = pd_file_take_unnamed(file, PD_TYPE_TRACEPOINT,
							      pd_load_u64(entry, file->swap))) != NULL)
			if (!pd_file_set_name(file, full, (const char *)entry + 8, length))
				return pd_fail_memory(error);
	}
	return PD_OK;
}

// Very old build-id records have no pid: the name of the kernel then seems to begin later.
static void find_quirks(struct pd_file *file)
{
	static const char shifted[] = "nel.kallsyms]";
	struct pd_bytes bytes;
	struct pd_error error;

	// simpleperf's index of AUXTRACE records is entries of 16 bytes, without the number of them in front
	if (file->features[PD_FEATURE_AUXTRACE].present && file->features[PD_FEATURE_AUXTRACE].size % 16 == 0)
		file->quirks |= MASK_QUIRKS(AUXTRACE_NO_COUNT);
	if (pd_file_feature_bytes(file, PD_FEATURE_BUILD_ID, &bytes, &error) < 0 || bytes.size < 36 + sizeof(shifted))
		return;
	if (memcmp(bytes.data + 36, shifted, sizeof(shifted) - 1) == 0)
		file->quirks |= MASK_QUIRKS(BUILD_ID_NO_PID);
}

static enum pd_status read_file_mode(struct pd_file *file, struct pd_error *error)
{
	enum pd_status status = pd_source_make_seekable(&file->main, file->temp_dir, error);

	if (status < 0)
		return status;
	pd_file_tell_compression(file);
	file->header.file_size = file->main.size;
	check_data_section(file);
	status = read_attrs(file, error);
	if (status < 0)
		return status;
	if (!file->event_count)
		pd_file_tell(file, PD_PROBLEM_NO_EVENTS, 24, "header.attrs", "there is no event");
	if (!file->header.unfinished && !file->header.truncated)
		status = pd_file_read_features(file, error);
	if (status < 0)
		return status;
	find_quirks(file);
	status = read_event_types(file, error);
	if (status >= 0)
		status = pd_file_name_events(file, error);
	return status;
}

// ---- parts ----

static enum pd_status add_part(struct pd_file *file, struct pd_source *source, const char *name, uint64_t begin,
			       uint64_t end, struct pd_error *error)
{
	struct pd_part *parts = pd_realloc(file->parts, (file->part_count + 1) * sizeof(*parts));

	if (!parts)
		return pd_fail_memory(error);
	file->parts = parts;
	parts[file->part_count] = (struct pd_part){
		.source = source, .name = pd_arena_text(&file->arena, name, strlen(name)), .begin = begin, .end = end};
	if (!parts[file->part_count].name)
		return pd_fail_memory(error);
	file->part_count++;
	return PD_OK;
}

static enum pd_status add_main_part(struct pd_file *file, const char *name, struct pd_error *error)
{
	const struct pd_header *header = &file->header;

	if (header->mode == PD_MODE_PIPE)
		return add_part(file, &file->main, name, PIPE_HEADER_SIZE, file->main.size, error);
	if (header->unfinished || header->truncated) {
		uint64_t end = file->main.size;

		// attrs behind the data are no records
		if (header->attrs_offset > header->data_offset && header->attrs_offset < end && header->attrs_size)
			end = header->attrs_offset;
		return add_part(file, &file->main, name, header->data_offset < end ? header->data_offset : end, end, error);
	}
	return add_part(file, &file->main, name, header->data_offset, header->data_offset + header->data_size, error);
}

// data.2 before data.10
static int compare_names(const void *a, const void *b)
{
	const char *left = *(char *const *)a, *right = *(char *const *)b;
	size_t left_length = strlen(left), right_length = strlen(right);

	if (left_length != right_length)
		return left_length < right_length ? -1 : 1;
	return strcmp(left, right);
}

// Regular files whose name begins with "data.", as perf takes them.
static enum pd_status list_parts(int dir_fd, char ***names_out, size_t *count_out, struct pd_error *error)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	char **names = NULL;
	size_t count = 0, capacity = 0;
	struct dirent *entry;

	if (!dir) {
		int saved = errno;

		if (fd >= 0)
			close(fd);
		return pd_fail_system(error, saved, "cannot list the directory");
	}
	while ((entry = readdir(dir)) != NULL) {
		struct stat stat;

		if (strncmp(entry->d_name, "data.", 5) != 0 || fstatat(dir_fd, entry->d_name, &stat, 0) < 0 ||
		    !S_ISREG(stat.st_mode))
			continue;
		if (!PD_GROW(names, capacity, count + 1))
			break;
		names[count] = strdup(entry->d_name);
		if (!names[count])
			break;
		count++;
	}
	closedir(dir);
	if (count)
		qsort(names, count, sizeof(names[0]), compare_names);
	*names_out = names;
	*count_out = count;
	return entry ? pd_fail_memory(error) : PD_OK;
}

static enum pd_status open_part(struct pd_file *file, int dir_fd, const char *name, struct pd_source *source,
				struct pd_error *error)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	enum pd_status status;

	if (fd < 0)
		return pd_fail_system(error, errno, "%s: cannot open %s", file->name, name);
	status = pd_source_open_fd(source, fd, true, error);
	if (status < 0) {
		close(fd);
		return status;
	}
	status = add_part(file, source, name, 0, source->size, error);
	if (status < 0)
		pd_source_close(source);
	return status;
}

static enum pd_status add_directory_parts(struct pd_file *file, int dir_fd, struct pd_error *error)
{
	const struct pd_dir_format *format = pd_file_dir_format(file);
	char **names = NULL;
	size_t count = 0;
	enum pd_status status;

	if (format && format->version != 1)
		pd_file_tell(file, PD_PROBLEM_DIRECTORY_VERSION, PD_NO_OFFSET, "dir_format.version",
			     "the directory has version %" PRIu64, format->version);
	status = list_parts(dir_fd, &names, &count, error);
	if (status >= 0 && count) {
		file->extra = pd_alloc(count * sizeof(*file->extra));
		if (!file->extra)
			status = pd_fail_memory(error);
	}
	for (size_t i = 0; i < count && status >= 0; i++)
		status = open_part(file, dir_fd, names[i], &file->extra[i], error);
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	pd_free(names);
	return status;
}

// ---- opening ----

static struct pd_file *new_file(const char *name, const struct pd_open_options *options)
{
	struct pd_file *file = pd_alloc(sizeof(*file));
	struct pd_open_options all = {0};

	if (!file)
		return NULL;
	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	file->main.fd = -1;
	file->secret = (uintptr_t)file;
	file->problem = all.problem;
	file->problem_self = all.self;
	file->memory_limit = all.memory_limit ? all.memory_limit : default_memory_limit;
	file->inflate_limit = all.inflate_limit ? all.inflate_limit : default_inflate_limit;
	// decoded structs are larger than their bytes
	file->arena.limit = file->memory_limit > SIZE_MAX / 16 ? SIZE_MAX : (size_t)file->memory_limit * 4;
	file->name = strdup(name);
	file->temp_dir = strdup(all.temp_dir ? all.temp_dir : "/tmp");
	if (!file->name || !file->temp_dir) {
		pd_file_close(file);
		return NULL;
	}
	return file;
}

static enum pd_status read_all(struct pd_file *file, int dir_fd, struct pd_error *error)
{
	enum pd_status status = pd_source_unwrap(&file->main, file->inflate_limit, error);

	if (status >= 0)
		status = read_header(file, error);
	if (status < 0)
		return status;
	if (file->main.codec)
		file->header.compression = file->main.codec->name;
	if (file->header.mode == PD_MODE_PIPE)
		file->header.file_size = file->main.size == UINT64_MAX ? 0 : file->main.size;
	else
		status = read_file_mode(file, error);
	// a pipe in a directory stays one: its events are records
	if (status >= 0 && dir_fd >= 0 && file->header.mode == PD_MODE_FILE)
		file->header.mode = PD_MODE_DIRECTORY;
	if (status >= 0)
		status = add_main_part(file, dir_fd >= 0 ? "data" : "", error);
	if (status >= 0 && dir_fd >= 0)
		status = add_directory_parts(file, dir_fd, error);
	if (status >= 0 && file->stopped)
		status = pd_file_stopped(error);
	return status;
}

static enum pd_status finish_open(struct pd_file *file, enum pd_status status, struct pd_file **file_out)
{
	if (status < 0)
		pd_file_close(file);
	else
		*file_out = file;
	return status;
}

static enum pd_status open_descriptor(struct pd_file *file, int fd, bool owns_fd, int dir_fd,
				      struct pd_error *error)
{
	struct stat stat;
	enum pd_status status = pd_source_open_fd(&file->main, fd, owns_fd, error);

	if (status < 0) {
		if (owns_fd)
			close(fd);
		return status;
	}
	if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode))
		file->modified = stat.st_mtime;
	if (fstat(fd, &stat) == 0 && S_ISDIR(stat.st_mode))
		return pd_fail_system(error, EISDIR, "%s: cannot read", file->name);
	return read_all(file, dir_fd, error);
}

enum pd_status pd_file_open(const char *path, const struct pd_open_options *options,
			    struct pd_file **file_out, struct pd_error *error)
{
	struct pd_file *file = new_file(path, options);
	struct stat stat;
	enum pd_status status;
	int fd, dir_fd = -1;

	if (!file)
		return pd_fail_memory(error);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &stat) == 0 && S_ISDIR(stat.st_mode)) {
		dir_fd = fd;
		fd = openat(dir_fd, "data", O_RDONLY | O_CLOEXEC);
		if (fd < 0) {
			status = pd_fail_system(error, errno, "%s: a directory without a readable file data", path);
			close(dir_fd);
			return finish_open(file, status, file_out);
		}
	}
	if (fd < 0)
		status = pd_fail_system(error, errno, "%s: cannot open", path);
	else
		status = open_descriptor(file, fd, true, dir_fd, error);
	if (dir_fd >= 0)
		close(dir_fd);
	return finish_open(file, status, file_out);
}

enum pd_status pd_file_open_fd(int fd, const struct pd_open_options *options, struct pd_file **file_out,
			       struct pd_error *error)
{
	char name[32];
	struct pd_file *file;

	snprintf(name, sizeof(name), "fd %d", fd);
	file = new_file(name, options);
	if (!file)
		return pd_fail_memory(error);
	return finish_open(file, open_descriptor(file, fd, false, -1, error), file_out);
}

enum pd_status pd_file_open_memory(const void *data, size_t size, const struct pd_open_options *options,
				   struct pd_file **file_out, struct pd_error *error)
{
	struct pd_file *file = new_file("memory", options);

	if (!file)
		return pd_fail_memory(error);
	pd_source_open_memory(&file->main, data, size);
	return finish_open(file, read_all(file, -1, error), file_out);
}

void pd_file_close(struct pd_file *file)
{
	if (!file)
		return;
	for (size_t i = 1; i < file->part_count; i++)
		pd_source_close(file->parts[i].source);
	pd_source_close(&file->main);
	pd_free(file->extra);
	pd_free(file->parts);
	pd_free(file->events);
	pd_free(file->ids);
	pd_free(file->unnamed);
	pd_arena_fini(&file->arena);
	free(file->name);
	free((char *)(uintptr_t)file->temp_dir);
	pd_free(file);
}

// ---- what the caller sees ----

const struct pd_header *pd_file_header(const struct pd_file *file)
{
	return &file->header;
}

const char *pd_file_name(const struct pd_file *file)
{
	return file->name;
}

size_t pd_file_part_count(const struct pd_file *file)
{
	return file->part_count;
}

const char *pd_file_part_name(const struct pd_file *file, size_t part)
{
	return part < file->part_count ? file->parts[part].name : "";
}

int64_t pd_file_modified(const struct pd_file *file)
{
	return file->modified;
}
