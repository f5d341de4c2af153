/* SPDX-License-Identifier: MIT */
/* Opening: puts together what header.c, attrs.c, features.c and parts.c read. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/archive.h"
#include "file/inside.h"

enum {
	MEMBERS_TRIED = 1000
};

static const uint64_t default_memory_limit = UINT64_C(256) << 20;
static const uint64_t default_inflate_limit = UINT64_C(1) << 40;

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

// From now on all can be read out of order.
static enum pd_status make_seekable(struct pd_file *file, struct pd_error *error)
{
	enum pd_status status = pd_source_make_seekable(&file->main, file->temp_dir, error);

	if (status >= 0)
		pd_file_report_compression(file);
	return status;
}

static enum pd_status read_file_mode(struct pd_file *file, struct pd_error *error)
{
	enum pd_status status = make_seekable(file, error);

	if (status < 0)
		return status;
	file->header.file_size = file->main.size;
	if (file->recover)
		pd_file_recover_sections(file);
	pd_file_check_data_section(file);
	status = pd_file_read_attrs(file, error);
	if (status < 0)
		return status;
	if (!file->header.unfinished && !file->header.truncated)
		status = pd_file_read_features(file, error);
	if (status >= 0 && file->recover)
		status = pd_file_recover_events(file, file->header.data_offset, error);
	if (status < 0)
		return status;
	if (!file->event_count)
		pd_file_report(file, PD_PROBLEM_NO_EVENTS, 24, "header.attrs", "no event found");
	find_quirks(file);
	status = pd_file_read_event_types(file, error);
	if (status >= 0)
		status = pd_file_name_events(file, error);
	return status;
}

// Recursive: the function that a problem is reported to may look at the file.
static bool init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;
	bool done;

	if (pthread_mutexattr_init(&attr))
		return false;
	done = !pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE) && !pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return done;
}

static enum pd_status new_file(const char *name, const struct pd_open_options *options, struct pd_file **file_out,
			       struct pd_error *error)
{
	struct pd_open_options all = { 0 };
	struct pd_file *file;

	// options whose size was forgotten would be ignored in silence
	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	file = pd_alloc(sizeof(*file));
	if (!file)
		return pd_fail_memory(error);
	if (!init_lock(&file->lock)) {
		pd_free(file);
		return pd_fail_memory(error);
	}
	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	file->main.fd = -1;
	file->keep = all.keep;
	file->recover = all.recover;
	file->secret = pd_hash_secret();
	file->ids.seed = file->secret;
	file->problem = all.problem;
	file->problem_self = all.self;
	file->memory_limit = all.memory_limit ? all.memory_limit : default_memory_limit;
	if (file->memory_limit > SIZE_MAX / 16)
		file->memory_limit = SIZE_MAX / 16;
	file->inflate_limit = all.inflate_limit ? all.inflate_limit : default_inflate_limit;
	// decoded structs are larger than their bytes
	file->arena.limit = (size_t)file->memory_limit * 4;
	file->name = strdup(name);
	file->temp_dir = strdup(all.temp_dir ? all.temp_dir : "/tmp");
	if (!file->name || !file->temp_dir) {
		pd_file_close(file);
		return pd_fail_memory(error);
	}
	*file_out = file;
	return PD_OK;
}

// The recording in an archive: by its usual name, else the first file that begins as one; its folder if it is a directory.
static const struct pd_member *find_recording(const struct pd_archive *archive, char *folder, size_t folder_size)
{
	static const char *const magics[] = { "PERFILE2", "2ELIFREP", "PERFFILE" };
	const struct pd_member *member = pd_archive_find(archive, "perf.data");
	const char *slash;
	char magic[8];
	size_t got;

	for (size_t i = 0; !member && i < MEMBERS_TRIED && pd_archive_member(archive, i); i++) {
		const struct pd_member *m = pd_archive_member(archive, i);

		if (m->kind != PD_MEMBER_FILE || pd_archive_read(archive, m, 0, magic, sizeof(magic), &got, NULL) < 0)
			continue;
		for (size_t k = 0; k < 3 && got == sizeof(magic); k++)
			member = memcmp(magic, magics[k], sizeof(magic)) == 0 ? m : member;
	}
	slash = member ? strrchr(member->name, '/') : NULL;
	folder[0] = 0;
	if (slash && strcmp(slash, "/data") == 0 && (size_t)(slash - member->name) < folder_size) {
		memcpy(folder, member->name, (size_t)(slash - member->name));
		folder[slash - member->name] = 0;
	}
	return member;
}

// What perf archive --all puts beside the recording.
static enum pd_status open_symbols(struct pd_file *file, const struct pd_open_options *options, struct pd_error *error)
{
	const struct pd_member *member = pd_archive_find(file->archive, "perf.symbols.tar.bz2");

	return member ? pd_archive_open_member(file->archive, member, options, &file->symbols_archive, error) : PD_OK;
}

// Goes on with the recording inside if this is a tar file.
static enum pd_status enter_archive(struct pd_file *file, char *folder, size_t folder_size, struct pd_error *error)
{
	const struct pd_open_options options = { .size = sizeof(options),
						 .memory_limit = file->memory_limit,
						 .inflate_limit = file->inflate_limit,
						 .temp_dir = file->temp_dir };
	const struct pd_codec *codec = file->main.codec;
	const struct pd_member *member;
	bool is_tar;
	enum pd_status status = pd_archive_take(&file->main, file->name, &options, &file->archive, &is_tar, error);

	folder[0] = 0;
	if (status < 0 || !is_tar)
		return status;
	if (codec)
		file->header.compression = codec->name;
	if (file->archive->damage)
		pd_file_report(file, PD_PROBLEM_DAMAGED_ARCHIVE, file->archive->damage_offset, NULL, "%s",
			       file->archive->damage);
	member = find_recording(file->archive, folder, folder_size);
	if (!member)
		return pd_fail(error, PD_ERROR_FORMAT, 0, "%s: a tar file without perf.data", file->name);
	file->modified = member->modified;
	status = pd_archive_source(file->archive, member, &file->main, error);
	return status < 0 ? status : open_symbols(file, &options, error);
}

static enum pd_status read_all(struct pd_file *file, int dir_fd, struct pd_error *error)
{
	const struct pd_compression *compression;
	enum pd_status status = pd_source_unwrap(&file->main, file->inflate_limit, error);
	char inside[PATH_MAX];
	struct pd_folder folder = { .fd = dir_fd, .inside = inside };
	bool is_directory;

	// what is damaged is looked at more than once
	if (status >= 0 && file->recover)
		status = make_seekable(file, error);
	if (status >= 0)
		status = enter_archive(file, inside, sizeof(inside), error);
	if (status >= 0)
		status = pd_file_read_header(file, error);
	if (status < 0)
		return status;
	is_directory = dir_fd >= 0 || inside[0];
	if (file->main.codec)
		file->header.compression = file->main.codec->name;
	if (file->header.mode == PD_MODE_PIPE && file->keep)
		status = make_seekable(file, error);
	if (status < 0)
		return status;
	if (file->header.mode == PD_MODE_PIPE)
		file->header.file_size = file->main.size == UINT64_MAX ? 0 : file->main.size;
	else
		status = read_file_mode(file, error);
	// a pipe in a directory stays one: its events are records
	if (status >= 0 && is_directory && file->header.mode == PD_MODE_FILE)
		file->header.mode = PD_MODE_DIRECTORY;
	// perf stat writes a feature that says nothing
	compression = pd_file_compressed(file);
	file->compressed = compression && compression->type;
	if (status >= 0)
		status = pd_file_add_main_part(file, is_directory ? "data" : "", error);
	if (status >= 0 && is_directory)
		status = pd_file_add_directory_parts(file, &folder, error);
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

static enum pd_status open_descriptor(struct pd_file *file, int fd, bool owns_fd, int dir_fd, struct pd_error *error)
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

enum pd_status pd_file_open(const char *path, const struct pd_open_options *options, struct pd_file **file_out,
			    struct pd_error *error)
{
	struct pd_file *file;
	struct stat stat;
	enum pd_status status = new_file(path, options, &file, error);
	int fd, dir_fd = -1;

	if (status < 0)
		return status;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &stat) == 0 && S_ISDIR(stat.st_mode)) {
		dir_fd = fd;
		fd = openat(dir_fd, "data", O_RDONLY | O_CLOEXEC);
		if (fd < 0) {
			status = pd_fail_system(error, errno, "%s: directory without a readable file named data", path);
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

static enum pd_status open_number(int fd, bool owns_fd, const struct pd_open_options *options,
				  struct pd_file **file_out, struct pd_error *error)
{
	char name[32];
	struct pd_file *file;
	enum pd_status status;

	snprintf(name, sizeof(name), fd == STDIN_FILENO ? "standard input" : "fd %d", fd);
	status = new_file(name, options, &file, error);
	if (status >= 0)
		return finish_open(file, open_descriptor(file, fd, owns_fd, -1, error), file_out);
	if (owns_fd)
		close(fd);
	return status;
}

enum pd_status pd_file_open_fd(int fd, const struct pd_open_options *options, struct pd_file **file_out,
			       struct pd_error *error)
{
	return open_number(fd, false, options, file_out, error);
}

enum pd_status pd_file_open_owned(int fd, const struct pd_open_options *options, struct pd_file **file_out,
				  struct pd_error *error)
{
	return open_number(fd, true, options, file_out, error);
}

enum pd_status pd_file_open_memory(const void *data, size_t size, const struct pd_open_options *options,
				   struct pd_file **file_out, struct pd_error *error)
{
	struct pd_file *file;
	enum pd_status status = new_file("memory", options, &file, error);

	if (status < 0)
		return status;
	pd_source_open_memory(&file->main, data, size);
	return finish_open(file, read_all(file, -1, error), file_out);
}

enum pd_status pd_file_open_pull(pd_pull_fn *pull, void *self, const char *name, const struct pd_open_options *options,
				 struct pd_file **file_out, struct pd_error *error)
{
	struct pd_file *file;
	enum pd_status status = new_file(name, options, &file, error);

	if (status < 0)
		return status;
	pd_source_open_pull(&file->main, pull, self);
	return finish_open(file, read_all(file, -1, error), file_out);
}

void pd_file_close(struct pd_file *file)
{
	if (!file)
		return;
	for (size_t i = 1; i < file->part_count; i++)
		pd_source_close(file->parts[i].source);
	pd_source_close(&file->main);
	pd_archive_close(file->symbols_archive);
	pd_archive_close(file->archive);
	if (file->free_given)
		file->free_given(file->given);
	pd_free(file->extra);
	pd_free(file->parts);
	pd_free(file->events);
	pd_u64_map_fini(&file->ids);
	pd_free(file->unnamed);
	pd_arena_fini(&file->arena);
	free(file->name);
	free((char *)(uintptr_t)file->temp_dir);
	pthread_mutex_destroy(&file->lock);
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
	return part < file->part_count ? file->parts[part].name : NULL;
}

int64_t pd_file_modified(const struct pd_file *file)
{
	return file->modified;
}

// ---- what the library sees besides ----

enum pd_mode pd_file_mode(const struct pd_file *file)
{
	return file->header.mode;
}

bool pd_file_is_big(const struct pd_file *file)
{
	return file->header.big_endian;
}

bool pd_file_is_swapped(const struct pd_file *file)
{
	return file->swap;
}

uint64_t pd_file_quirks(const struct pd_file *file)
{
	return file->quirks;
}

void pd_file_add_quirks(struct pd_file *file, uint64_t quirks)
{
	file->quirks |= quirks;
}

bool pd_file_has_compressed(const struct pd_file *file)
{
	return file->compressed;
}

void pd_file_note_compressed(struct pd_file *file)
{
	file->compressed = true;
}

struct pd_source *pd_file_main_source(const struct pd_file *file)
{
	return (struct pd_source *)&file->main;
}

const struct pd_part *pd_file_part(const struct pd_file *file, size_t part)
{
	return &file->parts[part];
}

size_t pd_file_archives(const struct pd_file *file, struct pd_archive *archives_out[2])
{
	size_t count = 0;

	if (file->archive)
		archives_out[count++] = file->archive;
	if (file->symbols_archive)
		archives_out[count++] = file->symbols_archive;
	return count;
}

void pd_file_give(struct pd_file *file, void *given, void (*free_given)(void *given))
{
	file->given = given;
	file->free_given = free_given;
}

void *pd_file_given(const struct pd_file *file)
{
	return file->given;
}

uint64_t pd_file_secret(const struct pd_file *file)
{
	return file->secret;
}

uint64_t pd_file_memory_limit(const struct pd_file *file)
{
	return file->memory_limit;
}

uint64_t pd_file_inflate_limit(const struct pd_file *file)
{
	return file->inflate_limit;
}

struct pd_arena *pd_file_arena(struct pd_file *file)
{
	return &file->arena;
}

void pd_file_start_pipe(struct pd_file *file)
{
	if (!file->main.seekable)
		file->pipe_started = true;
}

bool pd_file_pipe_has_started(const struct pd_file *file)
{
	return file->pipe_started;
}

bool pd_file_take_metadata(struct pd_file *file, uint64_t offset)
{
	if (offset < file->pipe_known)
		return false;
	file->pipe_known = offset + 1;
	return true;
}

struct pd_file *pd_file_view_new(const struct pd_file *file)
{
	struct pd_file *view = pd_alloc(sizeof(*view));

	if (!view)
		return NULL;
	*view = *file;
	view->problem = NULL;
	if (pd_u64_map_copy(&view->ids, &file->ids))
		return view;
	pd_free(view);
	return NULL;
}

void pd_file_view_free(struct pd_file *view)
{
	if (!view)
		return;
	pd_u64_map_fini(&view->ids);
	pd_free(view);
}
