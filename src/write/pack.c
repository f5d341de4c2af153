/* SPDX-License-Identifier: MIT */
/*
 * Compressed records: whole records are gathered, compressed as a piece of one endless stream for each part, and cut
 * into records of type COMPRESSED or COMPRESSED2. Cuts are between blocks of zstd, so that each record inflates to something:
 * perf takes one that gives nothing for damage.
 *
 * With whole_frames, a large piece is a frame of its own: the compressor then works on it where it lies, which takes it a
 * third less time, and damage to one does not reach the next. With quick, every piece is one.
 */
#include "write/inside.h"

enum {
	LARGE = 64 << 10, // bytes: a quick packer gains nothing by gathering more
	BLOCK_HEADER = 3
};

static enum pd_status begin(struct pd_writer *writer, struct pd_pack *pack, struct pd_error *error)
{
	if (!pd_packer_zstd.start)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "%s: built without zstd", writer->name);
	pack->packer = writer->quick ? &pd_packer_quick : &pd_packer_zstd;
	pack->capacity = PD_PACK_PIECE;
	pack->packed_capacity = pack->packer->bound(PD_PACK_PIECE);
	pack->plain = pd_alloc(pack->capacity);
	pack->packed = pd_alloc(pack->packed_capacity);
	pack->state = pack->packer->start(writer->level);
	if (!pack->plain || !pack->packed || !pack->state)
		return pd_fail_memory(error);
	return PD_OK;
}

// One record with a part of the packed bytes.
static enum pd_status put_record(struct pd_writer *writer, struct pd_output *out, const uint8_t *data, size_t size,
				 struct pd_error *error)
{
	static const uint8_t zeros[8];
	bool padded = writer->pack_type == PD_RECORD_COMPRESSED2;
	size_t pad = padded ? -size & 7 : 0;
	uint8_t head[16];
	struct pd_buffer buffer = pd_buffer(head, sizeof(head), writer->big);
	enum pd_status status;

	pd_buffer_u32(&buffer, writer->pack_type);
	pd_buffer_u16(&buffer, 0);
	pd_buffer_u16(&buffer, (uint16_t)((padded ? 16 : 8) + size + pad));
	if (padded)
		pd_buffer_u64(&buffer, size);
	status = pd_output_write(out, head, buffer.need, error);
	if (status >= 0)
		status = pd_output_write(out, data, size, error);
	return status < 0 ? status : pd_output_write(out, zeros, pad, error);
}

static uint32_t load_le(const uint8_t *data, size_t bytes)
{
	uint32_t value = 0;

	for (size_t i = bytes; i-- > 0;)
		value = value << 8 | data[i];
	return value;
}

// Bytes of the header of a frame, RFC 8878, 3.1.1.1.
static size_t frame_header_size(const uint8_t *data)
{
	static const uint8_t dictionary_sizes[] = { 0, 1, 2, 4 }, content_sizes[] = { 0, 2, 4, 8 };
	uint8_t descriptor = data[4];
	bool one_segment = descriptor & 0x20;
	size_t content = content_sizes[descriptor >> 6];

	return 5 + !one_segment + dictionary_sizes[descriptor & 3] + (content ? content : one_segment);
}

// Of the next block, with the header of a frame that begins with it; at the end of a frame, too, there is one.
static size_t block_size(const uint8_t *data, bool *in_frame)
{
	size_t header = *in_frame ? 0 : frame_header_size(data);
	uint32_t block = load_le(data + header, BLOCK_HEADER);
	bool run = (block >> 1 & 3) == 1;

	*in_frame = !(block & 1);
	return header + BLOCK_HEADER + (run ? 1 : block >> 3);
}

// How many bytes go into the next record: as many blocks as fit, and one at least.
static size_t fitting(struct pd_pack *pack, size_t at, size_t size, size_t most)
{
	size_t end = at + block_size(pack->packed + at, &pack->in_frame);

	while (end < size) {
		bool in_frame = pack->in_frame;
		size_t next = block_size(pack->packed + end, &in_frame);

		if (end + next - at > most)
			break;
		end += next;
		pack->in_frame = in_frame;
	}
	return end - at;
}

static enum pd_status pack_piece(struct pd_writer *writer, struct pd_write_part *part, const void *data, size_t used,
				 struct pd_error *error)
{
	struct pd_pack *pack = &part->pack;
	size_t most = writer->pack_type == PD_RECORD_COMPRESSED2 ? PD_MOST_PADDED - 16 : UINT16_MAX - 8;
	bool ends = writer->whole_frames && used > PD_PACK_PIECE / 2;
	const char *reason = "no output";
	size_t size = (ends ? pack->packer->finish : pack->packer->pack)(pack->state, data, used, pack->packed,
									 pack->packed_capacity, &reason);

	if (!size)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "%s: cannot compress: %s", writer->name,
			       reason);
	pack->plain_total += used;
	pack->packed_total += size;
	for (size_t at = 0, end; at < size; at = end) {
		enum pd_status status;

		end = at + fitting(pack, at, size, most);
		status = put_record(writer, &part->out, pack->packed + at, end - at, error);
		if (status < 0)
			return status;
	}
	return PD_OK;
}

enum pd_status pd_pack_flush(struct pd_writer *writer, struct pd_write_part *part, struct pd_error *error)
{
	size_t used = part->pack.used;

	part->pack.used = 0;
	return used ? pack_piece(writer, part, part->pack.plain, used, error) : PD_OK;
}

enum pd_status pd_pack_put(struct pd_writer *writer, struct pd_write_part *part, const void *data, size_t size,
			   struct pd_error *error)
{
	struct pd_pack *pack = &part->pack;
	bool alone = size == PD_PACK_PIECE || (writer->quick && size >= LARGE);
	enum pd_status status = PD_OK;

	if (!pack->state)
		status = begin(writer, pack, error);
	if (status >= 0 && (alone || size > pack->capacity - pack->used))
		status = pd_pack_flush(writer, part, error);
	if (status < 0)
		return status;
	if (alone)
		return pack_piece(writer, part, data, size, error);
	memcpy(pack->plain + pack->used, data, size);
	pack->used += size;
	return PD_OK;
}

void pd_pack_fini(struct pd_pack *pack)
{
	if (pack->state)
		pack->packer->close(pack->state);
	pd_free(pack->plain);
	pd_free(pack->packed);
	*pack = (struct pd_pack){ 0 };
}

enum pd_status pd_pack_flush_waiting(struct pd_writer *writer, struct pd_write_part *part, struct pd_error *error)
{
	return part->pack.used ? pd_pack_flush(writer, part, error) : PD_OK;
}
