/* SPDX-License-Identifier: MIT */
/*
 * The other byte order: decoded in the one, encoded in the other. What no layout knows keeps its bytes, which is told.
 * Raw data of tracepoints stay as they are: TRACING_DATA says the order that they have.
 */
#include "write/write.h"

#include <inttypes.h>

#include "format/decode.h"
#include "format/encode.h"

static void tell(struct pd_writer *writer, struct pd_file *file, uint64_t key, uint64_t offset, const char *name,
		 const char *why)
{
	uint64_t bit = UINT64_C(1) << (key & 63);

	if (writer->told_types & bit)
		return;
	writer->told_types |= bit;
	pd_file_tell(file, PD_PROBLEM_NOT_CONVERTED, offset, name, "%s", why);
}

// ---- records ----

// Fields of a sample that have fixed places: words, or halves of words where tasks and CPUs are.
static void turn_fixed(struct pd_pen *pen, const struct pd_event_full *full, struct pd_bytes *body, bool was_swapped)
{
	const struct pd_brief_places *places = &full->brief;

	for (unsigned at = 0; at < places->size && body->size >= 8; at += 8) {
		if (at == places->pid || at == places->cpu) {
			pd_pen_u32(pen, pd_load_u32(body->data, was_swapped));
			pd_pen_u32(pen, pd_load_u32(body->data + 4, was_swapped));
		} else {
			pd_pen_u64(pen, pd_load_u64(body->data, was_swapped));
		}
		body->data += 8;
		body->size -= 8;
	}
}

// At least the header, without which nothing could be passed over, and what says whose sample it is.
static enum pd_status keep_body(struct pd_writer *writer, struct pd_bytes record, const struct pd_event_full *full,
				bool was_swapped, struct pd_bytes *bytes_out, struct pd_error *error)
{
	struct pd_bytes body = {record.data + PD_RECORD_HEADER_SIZE, record.size - PD_RECORD_HEADER_SIZE};
	uint8_t *room = pd_write_scratch(writer, record.size);
	struct pd_pen pen = pd_pen(room, record.size, writer->big);

	if (!room)
		return pd_fail_memory(error);
	pd_pen_u32(&pen, pd_load_u32(record.data, was_swapped));
	pd_pen_u16(&pen, pd_load_u16(record.data + 4, was_swapped));
	pd_pen_u16(&pen, pd_load_u16(record.data + 6, was_swapped));
	if (full)
		turn_fixed(&pen, full, &body, was_swapped);
	pd_pen_bytes(&pen, body.data, body.size);
	*bytes_out = (struct pd_bytes){room, record.size};
	return PD_OK;
}

static bool encode_record(struct pd_writer *writer, const struct pd_record *record, const void *decoded,
			  struct pd_bytes *bytes_out)
{
	const struct pd_record_head head = pd_record_head(record->bytes.data, record->scratch->file->swap);
	const struct pd_layout *layout = pd_record_layout(record->type);
	size_t room = record->bytes.size;
	struct pd_pen pen;

	for (unsigned i = 0; i < 2; i++) {
		struct pd_scope scope = record->scratch->scope;

		if (!pd_write_scratch(writer, room))
			return false;
		pen = pd_pen(writer->scratch.data, writer->scratch.capacity, writer->big);
		pd_record_put(&pen, &head, layout, pd_record_group(record->type), &scope, decoded);
		if (pen.failed || !pd_pen_full(&pen))
			break;
		room = pen.need;
	}
	*bytes_out = (struct pd_bytes){writer->scratch.data, pen.need};
	return !pen.failed && !pd_pen_full(&pen);
}

enum pd_status pd_convert_record(struct pd_writer *writer, const struct pd_record *record, struct pd_bytes *bytes_out,
				 struct pd_error *error)
{
	struct pd_file *file = record->scratch->file;
	const char *name = pd_record_name(record->type);
	const void *decoded;
	struct pd_error why;

	if (pd_record_decode(record, &decoded, &why) == PD_OK && encode_record(writer, record, decoded, bytes_out))
		return PD_OK;
	tell(writer, file, record->type, record->offset, name,
	     name ? "a record that does not fit its layout" : "a record of unknown type");
	return keep_body(writer, record->bytes, record->type == PD_RECORD_SAMPLE ? record->scratch->event : NULL, file->swap,
			 bytes_out, error);
}

// ---- features ----

// Elements of the arrays of a BPF program: bytes of each number in them. Instructions are mixed.
static const uint8_t bpf_widths[] = {1, 0, 4, 8, 4, 4, 4, 8, 1};

// Bytes of an array, by what its bpf_prog_info says.
static uint64_t bpf_array_size(const struct pd_bpf_prog_info *info, unsigned array)
{
	switch (array) {
	case PD_BPF_ARRAYS_JITED_INSNS_SHIFT:
		return info->jited_prog_len;
	case PD_BPF_ARRAYS_XLATED_INSNS_SHIFT:
		return info->xlated_prog_len;
	case PD_BPF_ARRAYS_MAP_IDS_SHIFT:
		return UINT64_C(4) * info->nr_map_ids;
	case PD_BPF_ARRAYS_JITED_KSYMS_SHIFT:
		return UINT64_C(8) * info->nr_jited_ksyms;
	case PD_BPF_ARRAYS_JITED_FUNC_LENS_SHIFT:
		return UINT64_C(4) * info->nr_jited_func_lens;
	case PD_BPF_ARRAYS_FUNC_INFO_SHIFT:
		return (uint64_t)info->nr_func_info * info->func_info_rec_size;
	case PD_BPF_ARRAYS_LINE_INFO_SHIFT:
		return (uint64_t)info->nr_line_info * info->line_info_rec_size;
	case PD_BPF_ARRAYS_JITED_LINE_INFO_SHIFT:
		return (uint64_t)info->nr_jited_line_info * info->jited_line_info_rec_size;
	default:
		return UINT64_C(8) * info->nr_prog_tags;
	}
}

static void reverse(uint8_t *at, size_t size)
{
	for (size_t i = 0; i < size / 2; i++) {
		uint8_t byte = at[i];

		at[i] = at[size - 1 - i];
		at[size - 1 - i] = byte;
	}
}

// {u8 code, two registers of 4 bits, s16, s32}: the registers are bit-fields.
static void turn_instructions(uint8_t *at, size_t size)
{
	for (; size >= 8; at += 8, size -= 8) {
		at[1] = (uint8_t)(at[1] << 4 | at[1] >> 4);
		reverse(at + 2, 2);
		reverse(at + 4, 4);
	}
}

// Arrays stand one after another, each begins at a multiple of 8.
static void turn_bpf_arrays(const struct pd_bpf_program *program, uint8_t *data)
{
	size_t left = program->data.size;

	for (unsigned i = 0; program->info && i < sizeof(bpf_widths); i++) {
		uint64_t size = program->arrays >> i & 1 ? bpf_array_size(program->info, i) : 0;
		size_t step;

		if (size > left)
			return;
		step = ((size_t)size + 7) & ~(size_t)7;
		if (!bpf_widths[i])
			turn_instructions(data, (size_t)size);
		for (size_t at = 0; bpf_widths[i] > 1 && at + bpf_widths[i] <= size; at += bpf_widths[i])
			reverse(data + at, bpf_widths[i]);
		data += step < left ? step : left;
		left -= step < left ? step : left;
	}
}

// Copies of the programs, with arrays in the other order.
static bool turn_bpf_programs(struct pd_writer *writer, struct pd_bpf_programs *programs)
{
	struct pd_bpf_program *items;

	if (!programs->programs.count)
		return true;
	items = pd_arena_alloc(&writer->arena, programs->programs.count * sizeof(*items));
	for (size_t i = 0; items && i < programs->programs.count; i++) {
		uint8_t *data;

		items[i] = *PD_ITEM(pd_bpf_program, programs->programs, i);
		data = pd_arena_copy(&writer->arena, items[i].data.data, items[i].data.size);
		if (!data)
			return false;
		turn_bpf_arrays(&items[i], data);
		items[i].data.data = data;
	}
	programs->programs.items = items;
	programs->programs.stride = sizeof(*items);
	return items != NULL;
}

// Decodes and encodes what stands in its own place. False if it does not fit or there is no memory.
static bool turn(struct pd_writer *writer, struct pd_file *file, unsigned feature, struct pd_bytes bytes,
		 struct pd_bytes *bytes_out)
{
	const struct pd_layout *layout = pd_feature_layout(feature);
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, file->header.big_endian);
	const struct pd_nrcpus *nrcpus = feature == PD_FEATURE_CPU_TOPOLOGY ? pd_file_nrcpus(file) : NULL;
	struct pd_scope scope = {.arena = &writer->arena}, start;
	void *decoded = pd_arena_alloc(&writer->arena, layout->struct_size);
	struct pd_pen pen;

	scope.words[PD_WORD_NRCPUS] = nrcpus ? nrcpus->available : 0;
	scope.words[PD_WORD_QUIRKS] = file->quirks;
	start = scope;
	if (decoded)
		layout->decode(&c, &scope, decoded);
	if (!decoded || c.failed || (feature == PD_FEATURE_BPF_PROG_INFO && !turn_bpf_programs(writer, decoded)) ||
	    !pd_write_scratch(writer, bytes.size + 64))
		return false;
	pen = pd_pen(writer->scratch.data, writer->scratch.capacity, writer->big);
	layout->encode(&pen, &start, decoded);
	*bytes_out = (struct pd_bytes){writer->scratch.data, pen.need};
	return !pen.failed && !pd_pen_full(&pen);
}

// One of the records that stand in a feature. They have no trailer.
static bool turn_record(struct pd_writer *writer, struct pd_file *file, struct pd_bytes record,
			struct pd_write_bytes *out)
{
	const struct pd_layout *layout = &pd_layouts[PD_LAYOUT_header_build_id];
	const struct pd_record_head head = pd_record_head(record.data, file->swap);
	struct pd_cursor c = pd_cursor(record.data, record.size, file->header.big_endian);
	struct pd_scope scope = {.arena = &writer->arena};
	struct pd_pen pen;
	void *decoded;

	scope.words[PD_WORD_MISC] = head.misc;
	scope.words[PD_WORD_QUIRKS] = file->quirks;
	decoded = pd_record_take(layout, PD_GROUP_TOOL, record, &scope, &c);
	if (!decoded || !PD_GROW(out->data, out->capacity, out->size + record.size))
		return false;
	pen = pd_pen(out->data + out->size, record.size, writer->big);
	pd_record_put(&pen, &head, layout, PD_GROUP_TOOL, &scope, decoded);
	out->size += record.size;
	return !pen.failed && pen.need == record.size;
}

static bool turn_build_ids(struct pd_writer *writer, struct pd_file *file, struct pd_bytes bytes,
			   struct pd_bytes *bytes_out)
{
	struct pd_write_bytes out = {0};
	bool done = true;

	while (bytes.size >= PD_RECORD_HEADER_SIZE && done) {
		struct pd_record_head head = pd_record_head(bytes.data, file->swap);

		if (head.size < PD_RECORD_HEADER_SIZE || head.size > bytes.size)
			break;
		done = turn_record(writer, file, (struct pd_bytes){bytes.data, (size_t)head.size}, &out);
		bytes.data += head.size;
		bytes.size -= (size_t)head.size;
	}
	// what follows the last record is no record
	done = done && pd_write_put(&out, bytes.data, bytes.size) && pd_write_scratch(writer, out.size + 1);
	if (done && out.size)
		memcpy(writer->scratch.data, out.data, out.size);
	*bytes_out = (struct pd_bytes){writer->scratch.data, out.size};
	pd_free(out.data);
	return done;
}

enum pd_status pd_convert_feature(struct pd_writer *writer, struct pd_file *file, unsigned feature,
				  struct pd_bytes bytes, struct pd_bytes *bytes_out, struct pd_error *error)
{
	const struct pd_layout *layout = pd_feature_layout(feature);
	bool done;

	(void)error;
	*bytes_out = bytes;
	// says its own order
	if (feature == PD_FEATURE_TRACING_DATA || !bytes.size)
		return PD_OK;
	pd_arena_reset(&writer->arena);
	if (feature == PD_FEATURE_BUILD_ID)
		done = turn_build_ids(writer, file, bytes, bytes_out);
	else
		done = layout && turn(writer, file, feature, bytes, bytes_out);
	if (done)
		return PD_OK;
	*bytes_out = bytes;
	pd_file_tell(file, PD_PROBLEM_NOT_CONVERTED, file->features[feature].offset, pd_feature_name(feature), "%s",
		     layout ? "a feature that does not fit its layout" : "an unknown feature");
	return PD_OK;
}
