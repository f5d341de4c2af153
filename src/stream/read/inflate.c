/* SPDX-License-Identifier: MIT */
/* Compressed records: one zstd stream for each part, cut into records anywhere. It is inflated piece by piece, so
 * that a record that gives much does not take much memory. */
#include "stream/read/inside.h"

#include <inttypes.h>
#include <string.h>

enum {
	PIECE = 256 << 10
};

static void give_up(struct pd_inflate *inflate, struct pd_file *file, enum pd_problem_id id, uint64_t offset,
		    const char *reason)
{
	inflate->broken = true;
	inflate->draining = false;
	inflate->lost += inflate->packed_size;
	inflate->packed_size = 0;
	if (!inflate->quiet)
		pd_file_report(file, id, offset, NULL, "after %" PRIu64 " decompressed bytes: %s", inflate->total,
			       reason);
}

static bool begins_frame(struct pd_bytes packed)
{
	const struct pd_codec *codec = pd_codec_by_name("zstd");

	return !codec || (packed.size >= codec->magic_size && !memcmp(packed.data, codec->magic, codec->magic_size));
}

// The stream is lost until something begins a new one: a frame. False if this does not.
static bool find_frame(struct pd_inflate *inflate, struct pd_bytes *packed)
{
	const struct pd_codec *codec = inflate->codec ? inflate->codec : pd_codec_by_name("zstd");
	const uint8_t *at = NULL;

	if (codec)
		at = memmem(packed->data, packed->size, codec->magic, codec->magic_size);
	inflate->lost += at ? (size_t)(at - packed->data) : packed->size;
	if (!at)
		return false;
	*packed = (struct pd_bytes){ at, packed->size - (size_t)(at - packed->data) };
	return true;
}

static void forget(struct pd_inflate *inflate)
{
	if (inflate->state)
		inflate->codec->close(inflate->state);
	inflate->state = NULL;
	inflate->broken = inflate->draining = false;
	inflate->offset += inflate->size - inflate->at;
	inflate->at = inflate->size = 0;
}

enum pd_status pd_inflate_feed(struct pd_inflate *inflate, struct pd_file *file, struct pd_bytes packed,
			       uint64_t offset, struct pd_error *error)
{
	if (inflate->restarts && !inflate->state && !inflate->broken && !begins_frame(packed))
		give_up(inflate, file, PD_PROBLEM_COMPRESSED_DAMAGE, offset, "the start of the stream is missing");
	if (inflate->broken && !(inflate->restarts && find_frame(inflate, &packed)))
		return PD_OK;
	if (inflate->broken)
		forget(inflate);
	if (!inflate->state) {
		inflate->codec = pd_codec_by_name("zstd");
		if (!inflate->codec) {
			inflate->broken = true;
			if (!inflate->quiet)
				pd_file_report(file, PD_PROBLEM_NO_ZSTD, offset, NULL,
					       "compressed records cannot be read");
			return PD_OK;
		}
		inflate->state = inflate->codec->start();
		if (!inflate->state)
			return pd_fail_memory(error);
	}
	inflate->packed = packed.data;
	inflate->packed_size = packed.size;
	inflate->fed += packed.size;
	inflate->draining = true;
	return PD_OK;
}

void pd_inflate_break(struct pd_inflate *inflate, struct pd_file *file, uint64_t offset, const char *reason)
{
	give_up(inflate, file, PD_PROBLEM_COMPRESSED_DAMAGE, offset, reason);
}

// Records of a profile become about a twentieth; what gives a thousand times as much was made to harm.
static bool is_bomb(const struct pd_inflate *inflate)
{
	enum {
		FREE = 64 << 20,
		RATIO = 1000
	};

	return inflate->total > FREE && inflate->total / RATIO > inflate->fed;
}

// One step of the codec into the buffer, after the data.
static void inflate_step(struct pd_inflate *inflate, struct pd_file *file, uint64_t offset)
{
	struct pd_codec_run run = {
		.in = inflate->packed,
		.in_size = inflate->packed_size,
		.out = inflate->data + inflate->size,
		.out_size = inflate->capacity - inflate->size,
	};
	size_t out_size = run.out_size;
	enum pd_codec_result result = inflate->codec->run(inflate->state, &run);
	size_t got = out_size - run.out_size;

	inflate->draining = run.in_size > 0 || run.out_size == 0;
	if (got == 0 && run.in_size == inflate->packed_size)
		inflate->draining = false; // wants the next record
	inflate->packed = run.in;
	inflate->packed_size = run.in_size;
	inflate->size += got;
	inflate->total += got;
	if (result == PD_CODEC_ERROR)
		give_up(inflate, file, PD_PROBLEM_COMPRESSED_DAMAGE, offset, run.reason);
	else if (inflate->total > pd_file_inflate_limit(file) || is_bomb(inflate))
		give_up(inflate, file, PD_PROBLEM_INFLATE_LIMIT, offset,
			"more than the limit, or more than 1000 times the compressed size");
}

enum pd_status pd_inflate_fill(struct pd_inflate *inflate, struct pd_file *file, size_t size, uint64_t offset,
			       struct pd_error *error)
{
	while (inflate->size - inflate->at < size && inflate->draining) {
		size_t have = inflate->size - inflate->at;
		size_t want = size > PIECE ? size : PIECE;

		if (inflate->at) {
			memmove(inflate->data, inflate->data + inflate->at, have);
			inflate->at = 0;
			inflate->size = have;
		}
		if (!PD_GROW(inflate->data, inflate->capacity, want))
			return pd_fail_memory(error);
		if (inflate->size == inflate->capacity)
			break;
		inflate_step(inflate, file, offset);
	}
	return PD_OK;
}

void pd_inflate_close(struct pd_inflate *inflate)
{
	if (inflate->state)
		inflate->codec->close(inflate->state);
	pd_free(inflate->data);
	*inflate = (struct pd_inflate){ 0 };
}
