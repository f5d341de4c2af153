/* SPDX-License-Identifier: MIT */
#include "file/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <perfdata/file.h>

#include "base/memory.h"

enum {
	PACKED_BUFFER = 128 << 10,
	COPY_BUFFER = 256 << 10,
	MEMORY_COPY = 4 << 20, // larger copies go to a temporary file
	FIRST_READ = 128       // a live pipe may have no more yet
};

enum pd_status pd_source_open_fd(struct pd_source *source, int fd, bool owns_fd, struct pd_error *error)
{
	struct stat stat;
	off_t at;

	if (fstat(fd, &stat) < 0)
		return pd_fail_system(error, errno, "cannot stat the file");
	*source = (struct pd_source){ .fd = fd, .owns_fd = owns_fd, .bound = UINT64_MAX, .size = UINT64_MAX };
	at = S_ISREG(stat.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
	if (at < 0)
		return PD_OK;
	source->seekable = source->is_regular = true;
	source->base = (uint64_t)at;
	source->size = stat.st_size > at ? (uint64_t)(stat.st_size - at) : 0;
	return PD_OK;
}

void pd_source_open_memory(struct pd_source *source, const void *data, size_t size)
{
	static const uint8_t nothing[1];

	*source = (struct pd_source){ .fd = -1,
				      .seekable = true,
				      .memory = size ? data : nothing,
				      .memory_size = size,
				      .bound = size,
				      .size = size };
}

void pd_source_open_pull(struct pd_source *source,
			 enum pd_status (*pull)(void *self, void *data, size_t size, size_t *got_out,
						struct pd_error *error),
			 void *self)
{
	*source = (struct pd_source){
		.fd = -1, .pull = pull, .pull_self = self, .bound = UINT64_MAX, .size = UINT64_MAX
	};
}

void pd_source_open_range(struct pd_source *source, const struct pd_source *whole, uint64_t offset, uint64_t size)
{
	if (whole->memory) {
		pd_source_open_memory(source, whole->memory + offset, (size_t)size);
		return;
	}
	*source = (struct pd_source){ .fd = whole->fd,
				      .seekable = true,
				      .is_regular = whole->is_regular,
				      .base = whole->base + offset,
				      .bound = size,
				      .size = size };
}

void pd_source_close(struct pd_source *source)
{
	if (source->codec_state)
		source->codec->close(source->codec_state);
	pd_free(source->packed);
	pd_free(source->owned);
	if (source->owns_fd && source->fd >= 0)
		close(source->fd);
	*source = (struct pd_source){ .fd = -1 };
}

static enum pd_status pull_bytes(struct pd_source *source, uint8_t *data, size_t least, size_t size, size_t *got_out,
				 struct pd_error *error)
{
	enum pd_status status = PD_OK;
	size_t got = 0, step = 1;

	while (status >= 0 && got < least && step) {
		step = 0;
		status = source->pull(source->pull_self, data + got, size - got, &step, error);
		got += step;
	}
	*got_out = got;
	return status;
}

// From the descriptor or memory itself, beneath any decompressor.
static enum pd_status read_below(struct pd_source *source, uint64_t offset, void *data, size_t least, size_t size,
				 size_t *got_out, struct pd_error *error)
{
	size_t got = 0;

	if (source->memory) {
		if (offset < source->memory_size)
			got = source->memory_size - offset < size ? source->memory_size - (size_t)offset : size;
		if (got)
			memcpy(data, source->memory + offset, got);
		*got_out = got;
		return PD_OK;
	}
	if (source->pull)
		return pull_bytes(source, data, least, size, got_out, error);
	if (offset >= source->bound)
		size = 0;
	else if (size > source->bound - offset)
		size = (size_t)(source->bound - offset);
	while (got < size && got < least) {
		ssize_t n = source->is_regular ? pread(source->fd, (uint8_t *)data + got, size - got,
						       (off_t)(source->base + offset + got)) :
						 read(source->fd, (uint8_t *)data + got, size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return pd_fail_system(error, errno, "cannot read");
		if (n == 0)
			break;
		got += (size_t)n;
	}
	*got_out = got;
	return PD_OK;
}

static enum pd_status refill_packed(struct pd_source *source, struct pd_error *error)
{
	size_t got;
	enum pd_status status;

	if (source->packed_at < source->packed_size || source->packed_end)
		return PD_OK;
	status = read_below(source, source->packed_offset, source->packed, PACKED_BUFFER, PACKED_BUFFER, &got, error);
	if (status < 0)
		return status;
	source->packed_at = 0;
	source->packed_size = got;
	source->packed_offset += got;
	source->packed_end = got < PACKED_BUFFER;
	return PD_OK;
}

// Reads on through the decompressor. Damage ends the data; what came before stays.
static enum pd_status read_unpacked(struct pd_source *source, void *data, size_t size, size_t *got_out,
				    struct pd_error *error)
{
	struct pd_codec_run run = { .out = data, .out_size = size };

	while (run.out_size && !source->damaged) {
		enum pd_status status = refill_packed(source, error);
		enum pd_codec_result result;
		size_t out_size = run.out_size;
		size_t before;

		if (status < 0)
			return status;
		before = source->packed_size - source->packed_at;
		run.in = source->packed + source->packed_at;
		run.in_size = before;
		if (!before && !source->frame_open)
			break;
		result = source->codec->run(source->codec_state, &run);
		source->packed_at = source->packed_size - run.in_size;
		source->frame_open = result != PD_CODEC_END;
		if (result == PD_CODEC_ERROR) {
			source->damaged = true;
			source->damage = run.reason;
		} else if (run.in_size == before && run.out_size == out_size && source->packed_end && !before) {
			source->damaged = true;
			source->damage = "compressed data is truncated";
		}
	}
	*got_out = size - run.out_size;
	if (source->position + *got_out > source->limit) {
		source->damaged = true;
		source->damage = "decompresses to more than the limit";
		*got_out = source->limit > source->position ? (size_t)(source->limit - source->position) : 0;
	}
	return PD_OK;
}

// Reads on from what cannot seek.
static enum pd_status read_on(struct pd_source *source, void *data, size_t least, size_t size, size_t *got_out,
			      struct pd_error *error)
{
	enum pd_status status = source->codec ? read_unpacked(source, data, size, got_out, error) :
						read_below(source, source->position, data, least, size, got_out, error);

	if (status >= 0)
		source->position += *got_out;
	return status;
}

// Keeps what is read up to end, if nothing after it was read yet.
static enum pd_status keep_first(struct pd_source *source, uint64_t end, struct pd_error *error)
{
	size_t want = end < FIRST_READ || end > sizeof(source->first) ? FIRST_READ : (size_t)end, got;
	enum pd_status status;

	if (source->position != source->first_size || source->first_size >= want)
		return PD_OK;
	status = read_on(source, source->first + source->first_size, want - source->first_size,
			 want - source->first_size, &got, error);
	if (status >= 0)
		source->first_size += got;
	return status;
}

enum pd_status pd_source_read_some(struct pd_source *source, uint64_t offset, void *data, size_t least, size_t size,
				   size_t *got_out, struct pd_error *error)
{
	size_t kept = 0, got;
	enum pd_status status;

	if (source->seekable)
		return read_below(source, offset, data, size, size, got_out, error);
	status = keep_first(source, offset + least, error);
	if (status < 0)
		return status;
	if (offset < source->first_size) {
		kept = source->first_size - (size_t)offset < size ? source->first_size - (size_t)offset : size;
		memcpy(data, source->first + offset, kept);
	}
	*got_out = kept;
	if (kept >= least)
		return PD_OK;
	if (offset + kept != source->position)
		return pd_fail(error, PD_ERROR_ARGUMENT, offset, "cannot seek backwards in a pipe");
	status = read_on(source, (uint8_t *)data + kept, least - kept, size - kept, &got, error);
	if (status < 0)
		return status;
	*got_out += got;
	return PD_OK;
}

enum pd_status pd_source_read(struct pd_source *source, uint64_t offset, void *data, size_t size, size_t *got_out,
			      struct pd_error *error)
{
	return pd_source_read_some(source, offset, data, size, size, got_out, error);
}

static const struct pd_codec *codec_of(const uint8_t *data, size_t size)
{
	for (size_t i = 0; pd_codecs[i]; i++)
		if (size >= pd_codecs[i]->magic_size &&
		    memcmp(data, pd_codecs[i]->magic, pd_codecs[i]->magic_size) == 0)
			return pd_codecs[i];
	return NULL;
}

enum pd_status pd_source_unwrap(struct pd_source *source, uint64_t limit, struct pd_error *error)
{
	uint8_t first[FIRST_READ];
	const struct pd_codec *codec;
	size_t got;
	enum pd_status status = pd_source_read(source, 0, first, sizeof(first), &got, error);

	if (status < 0)
		return status;
	codec = codec_of(first, got);
	if (!codec)
		return PD_OK;
	if (!codec->start)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, 0, "compressed with %s (this build has no support for it)",
			       codec->name);
	source->codec_state = codec->start();
	source->packed = pd_alloc(PACKED_BUFFER);
	source->codec = codec;
	if (!source->codec_state || !source->packed)
		return pd_fail_memory(error);
	memcpy(source->packed, first, got);
	source->packed_size = got;
	source->packed_offset = got;
	source->packed_end = got < sizeof(first);
	source->limit = limit;
	// the outside cannot seek from now on
	source->seekable = false;
	source->size = UINT64_MAX;
	source->position = 0;
	source->first_size = 0;
	return PD_OK;
}

// A descriptor as a source of bytes, for those who take a function.
enum pd_status pd_pull_descriptor(void *self, void *data, size_t size, size_t *got_out, struct pd_error *error)
{
	struct pd_descriptor *descriptor = self;
	ssize_t got;

	do {
		got = read(descriptor->fd, data, size);
	} while (got < 0 && errno == EINTR);
	descriptor->failed = got < 0;
	if (got < 0)
		return pd_fail_system(error, errno, "%s", descriptor->name);
	*got_out = (size_t)got;
	return PD_OK;
}

int pd_source_temporary(const char *dir, struct pd_error *error)
{
	char path[4096];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if (snprintf(path, sizeof(path), "%s/perfdata-XXXXXX", dir) < (int)sizeof(path)) {
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0) {
			unlink(path);
			return fd;
		}
	}
	pd_fail_system(error, errno, "cannot create a temporary file in %s", dir);
	return -1;
}

static enum pd_status write_all(int fd, const uint8_t *data, size_t size, struct pd_error *error)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return pd_fail_system(error, errno, "cannot write a temporary file");
		data += n;
		size -= (size_t)n;
	}
	return PD_OK;
}

// Devices such as /dev/zero have no end, and would fill the disk.
static bool is_device(const struct pd_source *source)
{
	struct stat about;

	return source->fd >= 0 && fstat(source->fd, &about) == 0 && S_ISCHR(about.st_mode);
}

// The rest of the input after what is in memory goes to a file with it.
static enum pd_status copy_to_file(struct pd_source *source, struct pd_source *copy, const uint8_t *head,
				   size_t head_size, const char *temp_dir, struct pd_error *error)
{
	uint8_t *buffer = is_device(source) ? NULL : pd_alloc(COPY_BUFFER);
	uint64_t offset = head_size;
	enum pd_status status;
	size_t got;
	int fd = buffer ? pd_source_temporary(temp_dir, error) : -1;

	if (fd < 0) {
		pd_free(buffer);
		if (is_device(source))
			return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "a device, not a file or a pipe");
		return buffer ? PD_ERROR_SYSTEM : pd_fail_memory(error);
	}
	status = write_all(fd, head, head_size, error);
	while (status >= 0) {
		status = pd_source_read(source, offset, buffer, COPY_BUFFER, &got, error);
		if (status < 0 || !got)
			break;
		status = write_all(fd, buffer, got, error);
		offset += got;
	}
	pd_free(buffer);
	if (status < 0) {
		close(fd);
		return status;
	}
	*copy = (struct pd_source){
		.fd = fd, .owns_fd = true, .seekable = true, .is_regular = true, .bound = UINT64_MAX, .size = offset
	};
	return PD_OK;
}

enum pd_status pd_source_make_seekable(struct pd_source *source, const char *temp_dir, struct pd_error *error)
{
	struct pd_source copy = { .fd = -1 };
	size_t size = 0, capacity = 0, got;
	uint8_t *data = NULL;
	enum pd_status status = PD_OK;

	if (source->seekable)
		return PD_OK;
	do {
		if (!pd_grow((void **)&data, &capacity, size + COPY_BUFFER, 1)) {
			pd_free(data);
			return pd_fail_memory(error);
		}
		status = pd_source_read(source, size, data + size, COPY_BUFFER, &got, error);
		if (status >= 0)
			size += got;
	} while (status >= 0 && got == COPY_BUFFER && size < MEMORY_COPY);
	if (status >= 0 && got == COPY_BUFFER) {
		status = copy_to_file(source, &copy, data, size, temp_dir, error);
		pd_free(data);
	} else if (status >= 0) {
		pd_source_open_memory(&copy, data, size);
		copy.owned = data;
	} else {
		pd_free(data);
	}
	if (status < 0)
		return status;
	copy.codec = source->codec;
	copy.damaged = source->damaged;
	copy.damage = source->damage;
	pd_source_close(source);
	*source = copy;
	return PD_OK;
}
