/* SPDX-License-Identifier: MIT */
/* Bytes of objects: regular files and memory, with limits. */
#include "object/elf/image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/codec.h"

static const size_t default_limit = (size_t)1 << 30;
static const size_t default_file_limit = (size_t)256 << 20;

enum {
	FIRST_READ = 64 << 10
};

static struct pd_stamp stamp_of(const struct stat *about)
{
	return (struct pd_stamp){
		.known = 1,
		.device = (uint64_t)about->st_dev,
		.inode = (uint64_t)about->st_ino,
		.size = (uint64_t)about->st_size,
		.written_s = about->st_mtim.tv_sec,
		.written_ns = about->st_mtim.tv_nsec,
		.changed_s = about->st_ctim.tv_sec,
		.changed_ns = about->st_ctim.tv_nsec,
	};
}

enum pd_status pd_image_open_fd(struct pd_image *image, int fd, const char *name, size_t limit, struct pd_error *error)
{
	struct stat about;
	enum pd_status status;

	*image = (struct pd_image){ .fd = -1 };
	if (fstat(fd, &about) < 0)
		status = pd_fail_system(error, errno, "%s", name);
	else if (!S_ISREG(about.st_mode))
		status = pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "%s: not a regular file", name);
	else
		status = PD_OK;
	if (status) {
		close(fd);
		return status;
	}
	image->fd = fd;
	image->size = (uint64_t)about.st_size;
	image->stamp = stamp_of(&about);
	image->arena.limit = limit ? limit : default_limit;
	return PD_OK;
}

enum pd_status pd_image_open(struct pd_image *image, const char *path, size_t limit, struct pd_error *error)
{
	// does not wait for the other end of a FIFO
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	*image = (struct pd_image){ .fd = -1 };
	if (fd < 0)
		return pd_fail_system(error, errno, "%s", path);
	return pd_image_open_fd(image, fd, path, limit, error);
}

void pd_image_open_member(struct pd_image *image, const struct pd_archive *archive, const struct pd_member *member,
			  size_t limit)
{
	*image = (struct pd_image){ .fd = -1, .archive = archive, .member = member, .size = member->size };
	image->arena.limit = limit ? limit : default_limit;
}

void pd_image_open_memory(struct pd_image *image, const void *data, size_t size)
{
	*image = (struct pd_image){ .fd = -1, .memory = data, .size = size };
}

void pd_image_take_memory(struct pd_image *image, uint8_t *data, size_t size)
{
	pd_image_open_memory(image, data, size);
	image->owned = data;
}

void pd_image_close(struct pd_image *image)
{
	if (image->fd >= 0)
		close(image->fd);
	pd_free(image->owned);
	pd_arena_fini(&image->arena);
	*image = (struct pd_image){ .fd = -1 };
}

static bool is_read(const struct pd_image *image)
{
	return image->fd >= 0 || image->archive;
}

// Of what is not in memory.
static size_t read_at(const struct pd_image *image, uint64_t offset, uint8_t *data, size_t size)
{
	size_t got = 0;

	if (image->archive)
		return pd_archive_read(image->archive, image->member, offset, data, size, &got, NULL) < 0 ? 0 : got;
	while (got < size) {
		ssize_t n = pread(image->fd, data + got, size - got, (off_t)(offset + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
}

size_t pd_image_copy(const struct pd_image *image, uint64_t offset, void *data, size_t size)
{
	if (offset >= image->size)
		return 0;
	if (size > image->size - offset)
		size = (size_t)(image->size - offset);
	if (is_read(image))
		return read_at(image, offset, data, size);
	memcpy(data, image->memory + offset, size);
	return size;
}

static const uint8_t *find_read(const struct pd_image *image, uint64_t offset, uint64_t size)
{
	for (size_t i = 0; i < PD_IMAGE_READ; i++)
		if (image->read[i].data && image->read[i].offset == offset && image->read[i].size == size)
			return image->read[i].data;
	return NULL;
}

static void note_read(struct pd_image *image, uint64_t offset, uint64_t size, const uint8_t *data)
{
	enum {
		LARGE = 4096
	};

	if (size >= LARGE)
		image->read[image->next_read++ % PD_IMAGE_READ] = (struct pd_image_read){ offset, size, data };
}

const uint8_t *pd_image_part(struct pd_image *image, uint64_t offset, uint64_t size)
{
	const uint8_t *known;
	uint8_t *data;

	if (offset > image->size || size > image->size - offset)
		return NULL;
	if (!is_read(image))
		return image->memory ? image->memory + offset : NULL;
	known = find_read(image, offset, size);
	if (known)
		return known;
	data = pd_arena_alloc(&image->arena, size);
	image->failed |= !data;
	if (!data || read_at(image, offset, data, size) != size)
		return NULL;
	note_read(image, offset, size, data);
	return data;
}

enum pd_status pd_image_read_all(struct pd_image *image, size_t limit, uint8_t **data_out, size_t *size_out,
				 struct pd_error *error)
{
	uint8_t *data = NULL;
	size_t size = 0, capacity = 0;

	for (;;) {
		// room for one byte at least, and for the NUL
		size_t want = size + 2 > FIRST_READ ? size + 2 : FIRST_READ, got;

		// one byte more than the limit shows that there is more
		want = limit < SIZE_MAX - 2 && want > limit + 2 ? limit + 2 : want;
		if (!PD_GROW(data, capacity, want)) {
			pd_free(data);
			return pd_fail_memory(error);
		}
		got = is_read(image) ? read_at(image, size, data + size, capacity - size - 1) :
				       pd_image_copy(image, size, data + size, capacity - size - 1);
		size += got;
		if (size > limit) {
			pd_free(data);
			return pd_fail(error, PD_ERROR_LIMIT, size, "larger than the limit");
		}
		if (!got)
			break;
	}
	data[size] = 0;
	*data_out = data;
	*size_out = size;
	return PD_OK;
}

struct inflating {
	struct pd_codec_run run;
	uint8_t *data;
	size_t size, capacity;
	bool ended; // a frame did; then padding may follow that is none
};

static enum pd_status inflate_steps(const struct pd_codec *codec, void *state, struct inflating *inflating,
				    size_t limit, struct pd_error *error)
{
	struct pd_codec_run *run = &inflating->run;

	for (;;) {
		enum pd_codec_result result;
		size_t before = run->in_size, out_size;

		if (inflating->size > limit)
			return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "decompresses to more than the limit");
		if (!PD_GROW(inflating->data, inflating->capacity, inflating->size + FIRST_READ))
			return pd_fail_memory(error);
		run->out = inflating->data + inflating->size;
		out_size = run->out_size = inflating->capacity - inflating->size;
		result = codec->run(state, run);
		inflating->size += out_size - run->out_size;
		if (result == PD_CODEC_ERROR && inflating->ended && out_size == run->out_size)
			return PD_OK;
		if (result == PD_CODEC_ERROR)
			return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s", run->reason);
		inflating->ended = result == PD_CODEC_END;
		if (inflating->ended && !run->in_size)
			return PD_OK;
		if (out_size == run->out_size && run->in_size == before)
			return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "compressed data is truncated");
	}
}

enum pd_status pd_image_inflate(const char *name, const uint8_t *data, size_t size, size_t limit, uint8_t **data_out,
				size_t *size_out, struct pd_error *error)
{
	const struct pd_codec *codec = pd_codec_by_name(name);
	struct inflating inflating = { .run = { .in = data, .in_size = size } };
	enum pd_status status;
	void *state;

	if (!codec)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
			       "compressed with %s (this build has no support for it)", name);
	state = codec->start();
	if (!state)
		return pd_fail_memory(error);
	status = inflate_steps(codec, state, &inflating, limit, error);
	codec->close(state);
	if (status) {
		pd_free(inflating.data);
		return status;
	}
	*data_out = inflating.data;
	*size_out = inflating.size;
	return PD_OK;
}

enum pd_status pd_image_read_file(const char *path, size_t limit, uint8_t **data_out, size_t *size_out,
				  struct pd_error *error)
{
	struct pd_image image;
	enum pd_status status = pd_image_open(&image, path, 0, error);

	if (status)
		return status;
	status = pd_image_read_all(&image, limit ? limit : default_file_limit, data_out, size_out, error);
	pd_image_close(&image);
	return status;
}
