/* SPDX-License-Identifier: MIT */
/*
 * Features that are larger than a record of a pipe. Nothing of EVENT_DESC is missed there, since its events and names are
 * records too. Lists of BPF programs and their types are sent in pieces, which readers join. Of others the padding of
 * texts is left out, which makes most of them several times smaller.
 */
#include "write/inside.h"

#include "format/decode.h"
#include "format/encode.h"

static const struct pd_layout *list_of(unsigned feature)
{
	if (feature == PD_FEATURE_BPF_PROG_INFO)
		return &pd_layouts[PD_LAYOUT_bpf_program];
	return feature == PD_FEATURE_BPF_BTF ? &pd_layouts[PD_LAYOUT_btf] : NULL;
}

// ---- in pieces ----

// The bytes of the next entry. False at one that is damaged.
static bool next_entry(struct pd_writer *writer, const struct pd_layout *layout, struct pd_cursor *c,
		       struct pd_bytes *entry)
{
	struct pd_scope scope = { .arena = &writer->arena };
	const uint8_t *begin = c->at;
	void *decoded;

	pd_arena_reset(&writer->arena);
	decoded = pd_arena_alloc(&writer->arena, layout->struct_size);
	if (!decoded || !pd_cursor_left(c))
		return false;
	layout->decode(c, &scope, decoded);
	*entry = (struct pd_bytes){ begin, (size_t)(c->at - begin) };
	return !c->failed;
}

struct piece {
	struct pd_write_bytes bytes; // after the count
	uint32_t count;
};

static enum pd_status send_piece(struct pd_writer *writer, unsigned feature, struct piece *piece,
				 struct pd_error *error)
{
	uint8_t count[4];
	struct pd_buffer buffer = pd_buffer(count, sizeof(count), writer->big);
	enum pd_status status = PD_OK;

	pd_buffer_u32(&buffer, piece->count);
	if (piece->count) {
		memcpy(piece->bytes.data, count, sizeof(count));
		status = pd_writer_send_feature_bytes(writer, feature,
						      (struct pd_bytes){ piece->bytes.data, piece->bytes.size }, error);
	}
	piece->bytes.size = 0;
	piece->count = 0;
	return status;
}

static enum pd_status add_entry(struct pd_writer *writer, unsigned feature, struct piece *piece, struct pd_bytes entry,
				struct pd_error *error)
{
	static const uint8_t zeros[4];
	enum pd_status status = PD_OK;

	if (piece->bytes.size + entry.size > PD_MOST_FEATURE)
		status = send_piece(writer, feature, piece, error);
	if (status >= 0 && !piece->bytes.size && !pd_write_put(&piece->bytes, zeros, sizeof(zeros)))
		return pd_fail_memory(error);
	if (status < 0)
		return status;
	piece->count++;
	return pd_write_put(&piece->bytes, entry.data, entry.size) ? PD_OK : pd_fail_memory(error);
}

// Entries that are larger than a record themselves are reported.
static enum pd_status send_entries(struct pd_writer *writer, unsigned feature, struct pd_bytes bytes,
				   struct pd_error *error)
{
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, writer->big);
	uint32_t left = pd_cursor_u32(&c);
	size_t lost = bytes.size - sizeof(left);
	struct piece piece = { .count = 0 };
	enum pd_status status = PD_OK;
	struct pd_bytes entry;

	for (; status >= 0 && left && next_entry(writer, list_of(feature), &c, &entry); left--) {
		if (entry.size + sizeof(left) > PD_MOST_FEATURE)
			continue;
		status = add_entry(writer, feature, &piece, entry, error);
		lost -= entry.size;
	}
	if (status >= 0)
		status = send_piece(writer, feature, &piece, error);
	pd_free(piece.bytes.data);
	if (lost)
		pd_writer_report_too_large(writer, feature, lost);
	return status;
}

// ---- without padding ----

static void tighten(const struct pd_layout *layout, void *it);

static void tighten_field(const struct pd_field *field, void *member)
{
	struct pd_list list;
	struct pd_str str;
	void *part;

	switch (field->line) {
	case PD_LINE_TEXT:
		memcpy(&str, member, sizeof(str));
		// readers want the NUL
		if (field->kind == PD_KIND_PSTR && str.data && str.size > str.length)
			str.size = str.length + 1;
		memcpy(member, &str, sizeof(str));
		break;
	case PD_LINE_LIST:
		memcpy(&list, member, sizeof(list));
		// what is plain may be where it was stored, and has no texts
		for (size_t i = 0; i < list.count && !field->part->plain; i++)
			tighten(field->part, (uint8_t *)(uintptr_t)list.items + i * list.stride);
		break;
	case PD_LINE_ONE:
		memcpy(&part, member, sizeof(part));
		if (part)
			tighten(field->part, part);
		break;
	default:
		break;
	}
}

// As deep as the tables.
static void tighten(const struct pd_layout *layout, void *it)
{
	size_t count;
	const struct pd_field *fields = layout->fields(&count);

	for (size_t i = 0; i < count; i++)
		tighten_field(&fields[i], (uint8_t *)it + fields[i].offset);
}

static uint64_t cpu_count(const struct pd_writer *writer)
{
	const struct pd_write_feature *slot = &writer->features[PD_FEATURE_NRCPUS];

	return slot->present && slot->size >= 8 ? pd_load_u32(slot->data, writer->swap) : 0;
}

// False if the feature has another form than the tables say.
static bool without_padding(struct pd_writer *writer, unsigned feature, struct pd_bytes bytes,
			    struct pd_bytes *bytes_out)
{
	const struct pd_layout *layout = pd_feature_layout(feature);
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, writer->big);
	struct pd_scope scope = { .arena = &writer->arena }, start;
	struct pd_buffer buffer;
	void *decoded;

	pd_arena_reset(&writer->arena);
	decoded = layout ? pd_arena_alloc(&writer->arena, layout->struct_size) : NULL;
	if (!decoded || !pd_write_scratch(writer, bytes.size))
		return false;
	scope.words[PD_WORD_NRCPUS] = cpu_count(writer);
	start = scope;
	layout->decode(&c, &scope, decoded);
	if (c.failed)
		return false;
	tighten(layout, decoded);
	buffer = pd_buffer(writer->scratch.data, writer->scratch.capacity, writer->big);
	layout->encode(&buffer, &start, decoded);
	*bytes_out = (struct pd_bytes){ writer->scratch.data, buffer.need };
	return !buffer.failed && !pd_buffer_full(&buffer);
}

enum pd_status pd_writer_send_large(struct pd_writer *writer, unsigned feature, struct pd_bytes bytes,
				    struct pd_error *error)
{
	struct pd_bytes tight;

	if (feature == PD_FEATURE_EVENT_DESC)
		return PD_OK;
	if (list_of(feature))
		return send_entries(writer, feature, bytes, error);
	if (without_padding(writer, feature, bytes, &tight) && tight.size <= PD_MOST_FEATURE)
		return pd_writer_send_feature_bytes(writer, feature, tight, error);
	pd_writer_report_too_large(writer, feature, bytes.size);
	return PD_OK;
}
