/* SPDX-License-Identifier: MIT */
/*
 * Members of a tar file in order: ustar where that has room, pax headers where it has not, and for files with holes as
 * pax 1.0 of GNU has them, which GNU tar, libarchive and Python unpack. The same input gives the same bytes.
 */
#include "edit/bundle/bundle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/path.h"
#include "base/text/text.h"
#include "file/archive.h"

enum {
	PLAIN_SIZE = 1 << 20, // is compressed at once
	NAME_SIZE = 100,
	END_BLOCKS = 2
};

static const uint64_t octal_most = ((uint64_t)1 << 33) - 1; // 11 digits

// ---- bytes ----

enum pd_status pd_tar_init(struct pd_tar *tar, int fd, const char *name, int level, struct pd_error *error)
{
	enum pd_status status;

	*tar = (struct pd_tar){ .out = { .fd = -1 } };
	if (level && !pd_packer_zstd.start)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
			       "compression needs zstd (this build has no support for it)");
	status = pd_output_init(&tar->out, fd, false, name, error);
	if (status < 0 || !level)
		return status;
	tar->packed_capacity = pd_packer_zstd.bound(PLAIN_SIZE);
	tar->packer = pd_packer_zstd.start(level);
	tar->plain = pd_realloc(NULL, PLAIN_SIZE);
	tar->packed = pd_realloc(NULL, tar->packed_capacity);
	return tar->packer && tar->plain && tar->packed ? PD_OK : pd_fail_memory(error);
}

void pd_tar_fini(struct pd_tar *tar)
{
	if (tar->packer)
		pd_packer_zstd.close(tar->packer);
	pd_free(tar->plain);
	pd_free(tar->packed);
	pd_output_fini(&tar->out);
}

static enum pd_status flush_plain(struct pd_tar *tar, bool end, struct pd_error *error)
{
	const char *reason = NULL;
	size_t size = (end ? pd_packer_zstd.finish : pd_packer_zstd.pack)(tar->packer, tar->plain, tar->plain_used,
									  tar->packed, tar->packed_capacity, &reason);

	tar->plain_used = 0;
	if (!size)
		return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "cannot compress: %s", reason);
	return pd_output_write(&tar->out, tar->packed, size, error);
}

enum pd_status pd_tar_put(struct pd_tar *tar, const void *data, size_t size, struct pd_error *error)
{
	const uint8_t *bytes = data;
	enum pd_status status = PD_OK;

	tar->written += size;
	if (!tar->packer)
		return pd_output_write(&tar->out, data, size, error);
	while (size && status >= 0) {
		size_t left = PLAIN_SIZE - tar->plain_used, part = size < left ? size : left;

		memcpy(tar->plain + tar->plain_used, bytes, part);
		tar->plain_used += part;
		bytes += part;
		size -= part;
		if (tar->plain_used == PLAIN_SIZE)
			status = flush_plain(tar, false, error);
	}
	return status;
}

enum pd_status pd_tar_pad(struct pd_tar *tar, struct pd_error *error)
{
	static const uint8_t zeros[PD_TAR_BLOCK];

	return pd_tar_put(tar, zeros, -tar->written % PD_TAR_BLOCK, error);
}

enum pd_status pd_tar_end(struct pd_tar *tar, struct pd_error *error)
{
	static const uint8_t zeros[END_BLOCKS * PD_TAR_BLOCK];
	enum pd_status status = pd_tar_put(tar, zeros, sizeof(zeros), error);

	if (status >= 0 && tar->packer)
		status = flush_plain(tar, true, error);
	return status < 0 ? status : pd_output_flush(&tar->out, error);
}

// ---- headers ----

struct header {
	const char *name, *target;
	uint64_t size;
	char type;
	bool is_private;
};

static void put_octal(uint8_t *field, int size, uint64_t value)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%0*" PRIo64, size - 1, value);
	memcpy(field, digits, (size_t)size);
}

static void put_text(uint8_t *field, size_t size, const char *text)
{
	size_t length = strlen(text);

	memcpy(field, text, length < size ? length : size);
}

static enum pd_status put_header(struct pd_tar *tar, const struct header *h, struct pd_error *error)
{
	uint8_t block[PD_TAR_BLOCK] = { 0 };
	unsigned sum = 0;

	put_text(block, NAME_SIZE, h->name);
	put_octal(block + 100, 8, h->is_private ? 0600 : h->target ? 0777 : 0644);
	put_octal(block + 108, 8, 0);
	put_octal(block + 116, 8, 0);
	put_octal(block + 124, 12, h->size <= octal_most ? h->size : 0);
	put_octal(block + 136, 12,
		  tar->modified > 0 && (uint64_t)tar->modified <= octal_most ? (uint64_t)tar->modified : 0);
	memset(block + 148, ' ', 8);
	block[156] = (uint8_t)h->type;
	put_text(block + 157, NAME_SIZE, h->target ? h->target : "");
	memcpy(block + 257, "ustar\00000", 8);
	for (size_t i = 0; i < sizeof(block); i++)
		sum += block[i];
	put_octal(block + 148, 7, sum);
	return pd_tar_put(tar, block, sizeof(block), error);
}

// "LENGTH KEY=VALUE\n", where the length counts its own digits.
static void put_pax(struct pd_text *text, const char *key, const char *value)
{
	size_t rest = strlen(key) + strlen(value) + 3, length = rest, digits = 0;

	for (size_t before = SIZE_MAX; before != length;) {
		before = length;
		digits = 1;
		for (size_t n = length; n >= 10; n /= 10)
			digits++;
		length = rest + digits;
	}
	pd_text_u64(text, length);
	pd_text_char(text, ' ');
	pd_text_put(text, key, strlen(key));
	pd_text_char(text, '=');
	pd_text_put(text, value, strlen(value));
	pd_text_char(text, '\n');
}

static void put_pax_number(struct pd_text *text, const char *key, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	put_pax(text, key, digits);
}

static enum pd_status put_extra(struct pd_tar *tar, const struct pd_text *extra, struct pd_error *error)
{
	const struct header h = { .name = "PaxHeaders/header", .type = 'x', .size = extra->size };
	enum pd_status status = put_header(tar, &h, error);

	if (status >= 0)
		status = pd_tar_put(tar, extra->data, extra->size, error);
	return status < 0 ? status : pd_tar_pad(tar, error);
}

// The map in front of the bytes: how many stretches, and where and how large each is. GNU tar wants one at the end.
static void make_map(const struct pd_tar_member *m, struct pd_text *map)
{
	const struct pd_stretch *last = m->stretch_count ? &m->stretches[m->stretch_count - 1] : NULL;
	bool ends_in_hole = !last || last->offset + last->size < m->size;

	pd_text_u64(map, m->stretch_count + ends_in_hole);
	pd_text_char(map, '\n');
	for (size_t i = 0; i < m->stretch_count; i++) {
		pd_text_u64(map, m->stretches[i].offset);
		pd_text_char(map, '\n');
		pd_text_u64(map, m->stretches[i].size);
		pd_text_char(map, '\n');
	}
	if (ends_in_hole) {
		pd_text_u64(map, m->size);
		PD_TEXT_LITERAL(map, "\n0\n");
	}
	while (map->size % PD_TAR_BLOCK && !map->failed)
		pd_text_char(map, 0);
}

static uint64_t stored_size(const struct pd_tar_member *m)
{
	uint64_t size = 0;

	for (size_t i = 0; i < m->stretch_count; i++)
		size += m->stretches[i].size;
	return m->stretches ? size : m->size;
}

enum pd_status pd_tar_begin(struct pd_tar *tar, const struct pd_tar_member *m, struct pd_error *error)
{
	struct header h = {
		.name = m->name, .target = m->target, .type = m->target ? '2' : '0', .is_private = m->is_private
	};
	struct pd_text extra = { 0 }, map = { 0 };
	enum pd_status status = PD_OK;
	char sparse_name[NAME_SIZE];

	h.size = m->target ? 0 : stored_size(m);
	if (m->stretches) {
		make_map(m, &map);
		h.size += map.size;
		put_pax(&extra, "GNU.sparse.major", "1");
		put_pax(&extra, "GNU.sparse.minor", "0");
		put_pax(&extra, "GNU.sparse.name", m->name);
		put_pax_number(&extra, "GNU.sparse.realsize", m->size);
		snprintf(sparse_name, sizeof(sparse_name), "GNUSparseFile.0/%s", pd_path_leaf(m->name));
		h.name = sparse_name;
	} else if (strlen(m->name) > NAME_SIZE) {
		put_pax(&extra, "path", m->name);
	}
	if (m->target && strlen(m->target) > NAME_SIZE)
		put_pax(&extra, "linkpath", m->target);
	if (h.size > octal_most)
		put_pax_number(&extra, "size", h.size);
	if (extra.failed || map.failed)
		status = pd_fail_memory(error);
	if (status >= 0 && extra.size)
		status = put_extra(tar, &extra, error);
	if (status >= 0)
		status = put_header(tar, &h, error);
	if (status >= 0 && map.size)
		status = pd_tar_put(tar, map.data, map.size, error);
	pd_free(extra.data);
	pd_free(map.data);
	return status;
}
