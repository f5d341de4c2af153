/* SPDX-License-Identifier: MIT */
/*
 * The other byte order: decoded in the one, encoded in the other. What no layout knows keeps its bytes, which is reported.
 * Raw data of tracepoints stay as they are: TRACING_DATA says the order that they have.
 */
#include "write/inside.h"

#include <inttypes.h>

#include "format/decode.h"
#include "format/encode.h"
#include "format/record.h"

static void report_unknown(struct pd_writer *writer, struct pd_file *file, uint64_t key, uint64_t offset,
			   const char *name, const char *why)
{
	uint64_t bit = UINT64_C(1) << (key & 63);

	if (writer->reported_types & bit)
		return;
	writer->reported_types |= bit;
	pd_file_report(file, PD_PROBLEM_NOT_CONVERTED, offset, name, "%s", why);
}

// ---- records ----

// Fields of a sample that have fixed places: words, or halves of words where tasks and CPUs are.
static void turn_fixed(struct pd_buffer *buffer, const struct pd_event_full *full, struct pd_bytes *body,
		       bool was_swapped)
{
	const struct pd_brief_places *places = &full->brief;

	for (unsigned at = 0; at < places->size && body->size >= 8; at += 8) {
		if (at == places->pid || at == places->cpu) {
			pd_buffer_u32(buffer, pd_load_u32(body->data, was_swapped));
			pd_buffer_u32(buffer, pd_load_u32(body->data + 4, was_swapped));
		} else {
			pd_buffer_u64(buffer, pd_load_u64(body->data, was_swapped));
		}
		body->data += 8;
		body->size -= 8;
	}
}

// At least the header, without which nothing could be passed over, and what says whose sample it is.
static enum pd_status keep_body(struct pd_writer *writer, struct pd_bytes record, const struct pd_event_full *full,
				bool was_swapped, struct pd_bytes *bytes_out, struct pd_error *error)
{
	struct pd_bytes body = { record.data + PD_RECORD_HEADER_SIZE, record.size - PD_RECORD_HEADER_SIZE };
	uint8_t *scratch = pd_write_scratch(writer, record.size);
	struct pd_buffer buffer = pd_buffer(scratch, record.size, writer->big);

	if (!scratch)
		return pd_fail_memory(error);
	pd_buffer_u32(&buffer, pd_load_u32(record.data, was_swapped));
	pd_buffer_u16(&buffer, pd_load_u16(record.data + 4, was_swapped));
	pd_buffer_u16(&buffer, pd_load_u16(record.data + 6, was_swapped));
	if (full)
		turn_fixed(&buffer, full, &body, was_swapped);
	pd_buffer_bytes(&buffer, body.data, body.size);
	*bytes_out = (struct pd_bytes){ scratch, record.size };
	return PD_OK;
}

static bool encode_record(struct pd_writer *writer, const struct pd_record *record, const void *decoded,
			  struct pd_bytes *bytes_out)
{
	struct pd_record_head head = pd_record_head(record->bytes.data, pd_record_is_swapped(record));
	const struct pd_layout *layout = pd_record_layout(record->type);
	size_t capacity = record->bytes.size;
	struct pd_buffer buffer;
	struct pd_mmap2 mended;

	// numbers of a device are turned, a build id is not
	decoded = pd_record_unmark(record, decoded, &head.misc, &mended);
	for (unsigned i = 0; i < 2; i++) {
		struct pd_scope scope = *pd_record_scope(record);

		scope.words[PD_WORD_MISC] = head.misc;
		if (!pd_write_scratch(writer, capacity))
			return false;
		buffer = pd_buffer(writer->scratch.data, writer->scratch.capacity, writer->big);
		pd_record_put(&buffer, &head, layout, pd_record_group(record->type), &scope, decoded);
		if (buffer.failed || !pd_buffer_full(&buffer))
			break;
		capacity = buffer.need;
	}
	*bytes_out = (struct pd_bytes){ writer->scratch.data, buffer.need };
	return !buffer.failed && !pd_buffer_full(&buffer);
}

// The event that says where a sample has its fields; for one of no event, where readers have looked for its id.
static const struct pd_event_full *layout_of(const struct pd_record *record)
{
	const struct pd_event_full *full;

	if (record->type != PD_RECORD_SAMPLE)
		return NULL;
	full = pd_record_full_event(record);
	return full ? full : pd_file_first_event(pd_record_file(record));
}

static bool can_decode(struct pd_writer *writer, const struct pd_event_full *full, struct pd_bytes bytes)
{
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, writer->big);
	struct pd_scope scope = { .arena = &writer->arena };

	pd_arena_reset(&writer->arena);
	memcpy(scope.words, full->words, sizeof(scope.words));
	return pd_record_take(&pd_layouts[PD_LAYOUT_sample], PD_GROUP_SAMPLE, bytes, &scope, &c) != NULL;
}

// Bytes in the wrong order can seem to be a sample that nobody took. With all bits set a count is more than there is.
static void keep_unfit(struct pd_writer *writer, const struct pd_event_full *full, struct pd_bytes bytes)
{
	size_t fixed = PD_RECORD_HEADER_SIZE + (size_t)full->brief.size;

	if (fixed < bytes.size && can_decode(writer, full, bytes))
		memset(writer->scratch.data + fixed, 0xff, bytes.size - fixed);
}

// Readers look for the id of every sample where the first event has it. What a damaged event has there may be no number of
// 8 bytes. False if such a sample cannot be both: decoded as that of its event, and found to be one.
static bool keep_id(struct pd_writer *writer, const struct pd_record *record, struct pd_bytes bytes)
{
	const struct pd_file *file = pd_record_file(record);
	struct pd_buffer buffer;
	uint64_t id;
	size_t at;

	if (record->type != PD_RECORD_SAMPLE || file != writer->source || pd_file_event_count(file) < 2)
		return true;
	at = PD_RECORD_HEADER_SIZE + 8 * (size_t)pd_file_full_event(file, 0)->sample_id;
	if (at + 8 > record->bytes.size || at + 8 > bytes.size)
		return true;
	id = pd_load_u64(record->bytes.data + at, pd_file_is_swapped(file));
	if (id == pd_load_u64(bytes.data + at, writer->swap))
		return true;
	buffer = pd_buffer(writer->scratch.data + at, 8, writer->big);
	pd_buffer_u64(&buffer, id);
	return false;
}

// Samples are counted and reported at the end, if there is a source, which is still there then.
static void report_record(struct pd_writer *writer, const struct pd_record *record)
{
	const char *name = pd_record_name(record->type);

	if (record->type != PD_RECORD_SAMPLE || pd_record_file(record) != writer->source)
		report_unknown(writer, pd_record_file(record), record->type, record->offset, name,
			       name ? "a record that does not fit its layout" : "a record of unknown type");
	else if (!writer->unturned_count++)
		writer->unturned_offset = record->offset;
}

void pd_convert_sum_up(const struct pd_writer *writer)
{
	if (writer->unturned_count)
		pd_file_report(writer->source, PD_PROBLEM_NOT_CONVERTED, writer->unturned_offset, "SAMPLE",
			       "samples that do not fit the layout of their event: %" PRIu64, writer->unturned_count);
}

enum pd_status pd_convert_record(struct pd_writer *writer, const struct pd_record *record, struct pd_bytes *bytes_out,
				 struct pd_error *error)
{
	const struct pd_event_full *full = layout_of(record);
	const void *decoded;
	enum pd_status status;

	if (pd_record_decode(record, &decoded, NULL) == PD_OK && encode_record(writer, record, decoded, bytes_out)) {
		if (!keep_id(writer, record, *bytes_out))
			report_record(writer, record);
		return PD_OK;
	}
	report_record(writer, record);
	status = keep_body(writer, record->bytes, full, pd_record_is_swapped(record), bytes_out, error);
	if (status < 0)
		return status;
	if (pd_record_full_event(record) && record->type == PD_RECORD_SAMPLE)
		keep_unfit(writer, full, *bytes_out);
	keep_id(writer, record, *bytes_out);
	return PD_OK;
}

// ---- features ----

// Elements of the arrays of a BPF program: bytes of each number in them. Instructions are mixed.
static const uint8_t bpf_widths[] = { 1, 0, 4, 8, 4, 4, 4, 8, 1 };

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
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, pd_file_is_big(file));
	const struct pd_nrcpus *nrcpus = feature == PD_FEATURE_CPU_TOPOLOGY ? pd_file_nrcpus(file) : NULL;
	struct pd_scope scope = { .arena = &writer->arena }, start;
	void *decoded = pd_arena_alloc(&writer->arena, layout->struct_size);
	struct pd_buffer buffer;

	scope.words[PD_WORD_NRCPUS] = nrcpus ? nrcpus->available : 0;
	scope.words[PD_WORD_QUIRKS] = pd_file_quirks(file);
	start = scope;
	if (decoded)
		layout->decode(&c, &scope, decoded);
	if (!decoded || c.failed || (feature == PD_FEATURE_BPF_PROG_INFO && !turn_bpf_programs(writer, decoded)) ||
	    !pd_write_scratch(writer, bytes.size + 64))
		return false;
	buffer = pd_buffer(writer->scratch.data, writer->scratch.capacity, writer->big);
	layout->encode(&buffer, &start, decoded);
	*bytes_out = (struct pd_bytes){ writer->scratch.data, buffer.need };
	return !buffer.failed && !pd_buffer_full(&buffer);
}

// One of the records that stand in a feature. They have no trailer.
static bool turn_record(struct pd_writer *writer, struct pd_file *file, struct pd_bytes record,
			struct pd_write_bytes *out)
{
	const struct pd_layout *layout = &pd_layouts[PD_LAYOUT_header_build_id];
	const struct pd_record_head head = pd_record_head(record.data, pd_file_is_swapped(file));
	struct pd_cursor c = pd_cursor(record.data, record.size, pd_file_is_big(file));
	struct pd_scope scope = { .arena = &writer->arena };
	struct pd_buffer buffer;
	void *decoded;

	scope.words[PD_WORD_MISC] = head.misc;
	scope.words[PD_WORD_QUIRKS] = pd_file_quirks(file);
	decoded = pd_record_take(layout, PD_GROUP_TOOL, record, &scope, &c);
	if (!decoded || !PD_GROW(out->data, out->capacity, out->size + record.size))
		return false;
	buffer = pd_buffer(out->data + out->size, record.size, writer->big);
	pd_record_put(&buffer, &head, layout, PD_GROUP_TOOL, &scope, decoded);
	out->size += record.size;
	return !buffer.failed && buffer.need == record.size;
}

static bool turn_build_ids(struct pd_writer *writer, struct pd_file *file, struct pd_bytes bytes,
			   struct pd_bytes *bytes_out)
{
	struct pd_write_bytes out = { 0 };
	bool done = true;

	while (bytes.size >= PD_RECORD_HEADER_SIZE && done) {
		struct pd_record_head head = pd_record_head(bytes.data, pd_file_is_swapped(file));

		if (head.size < PD_RECORD_HEADER_SIZE || head.size > bytes.size)
			break;
		done = turn_record(writer, file, (struct pd_bytes){ bytes.data, (size_t)head.size }, &out);
		bytes.data += head.size;
		bytes.size -= (size_t)head.size;
	}
	// what follows the last record is no record
	done = done && pd_write_put(&out, bytes.data, bytes.size) && pd_write_scratch(writer, out.size + 1);
	if (done && out.size)
		memcpy(writer->scratch.data, out.data, out.size);
	*bytes_out = (struct pd_bytes){ writer->scratch.data, out.size };
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
	pd_file_report(file, PD_PROBLEM_NOT_CONVERTED, pd_file_feature_offset(file, feature), pd_feature_name(feature),
		       "%s", layout ? "a feature that does not fit its layout" : "an unknown feature");
	return PD_OK;
}
