/* SPDX-License-Identifier: MIT */
/*
 * Bytes on their way to a descriptor: one buffer in front of it, every write checked. A file is written at any offset,
 * a pipe in order. Below all of the writer: its growing buffers and its first failure are here as well.
 */
#include "write/inside.h"

#include <errno.h>
#include <unistd.h>

enum {
	// stays in the cache of a core between filling and writing
	BUFFER_SIZE = 256 << 10
};

enum pd_status pd_output_init(struct pd_output *out, int fd, bool owns_fd, const char *name, struct pd_error *error)
{
	*out = (struct pd_output){ .name = name, .fd = fd, .owns_fd = owns_fd, .capacity = BUFFER_SIZE };
	out->buffer = pd_alloc(BUFFER_SIZE);
	return out->buffer ? PD_OK : pd_fail_memory(error);
}

void pd_output_fini(struct pd_output *out)
{
	if (out->owns_fd && out->fd >= 0)
		close(out->fd);
	pd_free(out->buffer);
	pd_free(out->hold);
	*out = (struct pd_output){ .fd = -1 };
}

static enum pd_status write_bytes(struct pd_output *out, uint64_t offset, const uint8_t *data, size_t size,
				  struct pd_error *error)
{
	if (out->put)
		return size ? out->put(out->put_self, data, size, error) : PD_OK;
	while (size) {
		ssize_t done = out->random ? pwrite(out->fd, data, size, (off_t)offset) : write(out->fd, data, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return pd_fail_system(error, done < 0 ? errno : EIO, "%s: cannot write", out->name);
		data += done;
		size -= (size_t)done;
		offset += (uint64_t)done;
	}
	return PD_OK;
}

enum pd_status pd_output_write_at(struct pd_output *out, uint64_t offset, const void *data, size_t size,
				  struct pd_error *error)
{
	return write_bytes(out, offset, data, size, error);
}

// Writes bytes in their order; what lies in the place that is held back goes to memory.
static enum pd_status advance(struct pd_output *out, const uint8_t *data, size_t size, struct pd_error *error)
{
	uint64_t offset = out->offset;

	out->offset += size;
	if (offset < out->hold_end && offset + size > out->hold_begin) {
		uint64_t left = out->hold_end - offset;
		size_t held = left < size ? (size_t)left : size;

		memcpy(out->hold + (offset - out->hold_begin), data, held);
		data += held;
		size -= held;
		offset += held;
	}
	return write_bytes(out, offset, data, size, error);
}

enum pd_status pd_output_flush(struct pd_output *out, struct pd_error *error)
{
	size_t used = out->used;

	out->used = 0;
	return advance(out, out->buffer, used, error);
}

enum pd_status pd_output_write_more(struct pd_output *out, const void *data, size_t size, struct pd_error *error)
{
	enum pd_status status = pd_output_flush(out, error);

	if (status < 0)
		return status;
	if (size >= out->capacity)
		return advance(out, data, size, error);
	if (size)
		memcpy(out->buffer, data, size);
	out->used = size;
	return PD_OK;
}

enum pd_status pd_output_hold(struct pd_output *out, uint64_t begin, size_t size, struct pd_error *error)
{
	uint64_t end = out->hold_end < out->offset ? out->hold_end : out->offset;
	enum pd_status status = PD_OK;
	uint8_t *hold;

	if (end > out->hold_begin)
		status = write_bytes(out, out->hold_begin, out->hold, (size_t)(end - out->hold_begin), error);
	out->hold_begin = out->hold_end = 0;
	if (status < 0 || !size)
		return status;
	hold = pd_realloc(out->hold, size);
	if (!hold)
		return pd_fail_memory(error);
	out->hold = hold;
	out->hold_begin = begin;
	out->hold_end = begin + size;
	return PD_OK;
}

// ---- growing buffers ----

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

bool pd_write_u32(struct pd_writer *writer, struct pd_write_bytes *bytes, uint32_t value)
{
	uint8_t at[4];
	struct pd_buffer buffer = pd_buffer(at, sizeof(at), writer->big);

	pd_buffer_u32(&buffer, value);
	return pd_write_put(bytes, at, sizeof(at));
}

bool pd_write_u64(struct pd_writer *writer, struct pd_write_bytes *bytes, uint64_t value)
{
	uint8_t at[8];
	struct pd_buffer buffer = pd_buffer(at, sizeof(at), writer->big);

	pd_buffer_u64(&buffer, value);
	return pd_write_put(bytes, at, sizeof(at));
}

// ---- the first failure ----

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

enum pd_status pd_writer_failed_before(const struct pd_writer *writer, struct pd_error *error)
{
	if (error)
		*error = writer->error;
	return writer->status;
}
