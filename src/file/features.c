/* SPDX-License-Identifier: MIT */
/* Header features: the table after the data, bytes on demand, decoding on demand. */
#include <inttypes.h>

#include "file/inside.h"

static uint64_t end_of(const struct pd_file *file)
{
	return file->main.size;
}

static bool section_fits(const struct pd_file *file, uint64_t offset, uint64_t size)
{
	return offset <= end_of(file) && size <= end_of(file) - offset;
}

static bool has_bit(const uint64_t bits[4], unsigned feature)
{
	return bits[feature / 64] >> feature % 64 & 1;
}

enum pd_status pd_file_read_features(struct pd_file *file, struct pd_error *error)
{
	uint64_t offset = file->header.data_offset + file->header.data_size;

	for (unsigned i = 0; i < PD_FEATURE_LIMIT; i++) {
		struct pd_feature_slot *slot = &file->features[i];
		uint8_t entry[16];
		enum pd_status status;
		size_t got;

		if (!has_bit(file->header.feature_bits, i))
			continue;
		status = pd_source_read(&file->main, offset, entry, sizeof(entry), &got, error);
		if (status < 0)
			return status;
		if (got < sizeof(entry)) {
			pd_file_report(file, PD_PROBLEM_BAD_FEATURE_TABLE, offset, NULL,
				       "the table of features ends before feature %u", i);
			return PD_OK;
		}
		offset += sizeof(entry);
		slot->offset = pd_load_u64(entry, file->swap);
		slot->size = pd_load_u64(entry + 8, file->swap);
		if (!section_fits(file, slot->offset, slot->size)) {
			pd_file_report(file, PD_PROBLEM_FEATURE_PAST_END, offset - sizeof(entry), pd_feature_name(i),
				       "feature %u: %" PRIu64 " bytes at %" PRIu64 " do not fit into the file", i,
				       slot->size, slot->offset);
			continue;
		}
		slot->present = true;
	}
	return PD_OK;
}

// Lists that pipes may have in several records: each has a count in front.
static bool comes_in_pieces(unsigned feature)
{
	return feature == PD_FEATURE_BPF_PROG_INFO || feature == PD_FEATURE_BPF_BTF;
}

// Adds the entries of another piece, and the counts. Memory doubles, so that many pieces cost no more than few.
static enum pd_status join_piece(struct pd_file *file, struct pd_feature_slot *slot, uint64_t offset,
				 struct pd_bytes piece, struct pd_error *error)
{
	size_t size = slot->bytes.size + piece.size - 4;
	uint8_t *data = (uint8_t *)(uintptr_t)slot->bytes.data;
	struct pd_buffer buffer = pd_buffer(data, 4, file->header.big_endian);
	uint32_t count = pd_load_u32(data, file->swap);

	if (size > file->memory_limit) {
		pd_file_report(file, PD_PROBLEM_BAD_FEATURE, offset, NULL, "its parts exceed the limit of %" PRIu64,
			       file->memory_limit);
		return PD_OK;
	}
	if (size > slot->capacity) {
		data = pd_arena_alloc(&file->arena, 2 * size);
		if (!data)
			return pd_fail_memory(error);
		memcpy(data, slot->bytes.data, slot->bytes.size);
		slot->capacity = 2 * size;
		buffer.data = data;
	}
	pd_buffer_u32(&buffer, count + pd_load_u32(piece.data, file->swap));
	memcpy(data + slot->bytes.size, piece.data + 4, piece.size - 4);
	slot->bytes = (struct pd_bytes){ data, size };
	slot->size = size;
	// what was decoded before stays where it is
	atomic_store_explicit(&slot->decoded, false, memory_order_release);
	return PD_OK;
}

enum pd_status pd_file_put_feature(struct pd_file *file, unsigned feature, uint64_t offset, struct pd_bytes bytes,
				   struct pd_error *error)
{
	struct pd_feature_slot *slot;
	void *copy;

	if (feature >= PD_FEATURE_LIMIT)
		return PD_OK;
	slot = &file->features[feature];
	if (slot->present && file->header.mode == PD_MODE_PIPE && comes_in_pieces(feature) && slot->bytes.size >= 4 &&
	    bytes.size >= 4) {
		enum pd_status status;

		pthread_mutex_lock(&file->lock);
		status = join_piece(file, slot, offset, bytes, error);
		pthread_mutex_unlock(&file->lock);
		return status;
	}
	if (slot->present)
		return PD_OK;
	copy = pd_arena_copy(&file->arena, bytes.data, bytes.size);
	if (!copy)
		return pd_fail_memory(error);
	file->header.feature_bits[feature / 64] |= UINT64_C(1) << feature % 64;
	*slot = (struct pd_feature_slot){
		.present = true,
		.loaded = true,
		.offset = offset,
		.size = bytes.size,
		.bytes = { copy, bytes.size },
	};
	return PD_OK;
}

bool pd_file_feature_at(const struct pd_file *file, size_t index, struct pd_feature_section *section_out)
{
	for (unsigned i = 0; i < PD_FEATURE_LIMIT; i++) {
		if (!file->features[i].present || index--)
			continue;
		*section_out = (struct pd_feature_section){ i, file->features[i].offset, file->features[i].size };
		return true;
	}
	return false;
}

static enum pd_status load(struct pd_file *file, unsigned feature, struct pd_error *error)
{
	struct pd_feature_slot *slot = &file->features[feature];
	enum pd_status status;
	uint8_t *data;
	size_t got;

	if (slot->loaded)
		return PD_OK;
	if (slot->size > file->memory_limit)
		return pd_fail(error, PD_ERROR_LIMIT, slot->offset,
			       "%s: feature %u has %" PRIu64 " bytes, the limit is %" PRIu64, file->name, feature,
			       slot->size, file->memory_limit);
	if (file->main.memory && file->main.seekable) {
		slot->bytes = (struct pd_bytes){ file->main.memory + slot->offset, (size_t)slot->size };
		slot->loaded = true;
		return PD_OK;
	}
	data = pd_arena_alloc(&file->arena, (size_t)slot->size);
	if (!data)
		return pd_fail_memory(error);
	status = pd_source_read(&file->main, slot->offset, data, (size_t)slot->size, &got, error);
	if (status < 0)
		return status;
	slot->bytes = (struct pd_bytes){ data, got };
	slot->loaded = true;
	return PD_OK;
}

enum pd_status pd_file_feature_bytes(struct pd_file *file, unsigned feature, struct pd_bytes *bytes_out,
				     struct pd_error *error)
{
	enum pd_status status;

	if (feature >= PD_FEATURE_LIMIT || !file->features[feature].present)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: feature %u not found", file->name, feature);
	pthread_mutex_lock(&file->lock);
	status = load(file, feature, error);
	pthread_mutex_unlock(&file->lock);
	if (status < 0)
		return status;
	*bytes_out = file->features[feature].bytes;
	return PD_OK;
}

// CPU_TOPOLOGY can be decoded only with the number of CPUs.
static uint64_t cpu_count(struct pd_file *file, unsigned feature)
{
	const struct pd_nrcpus *nrcpus = feature == PD_FEATURE_CPU_TOPOLOGY ? pd_file_nrcpus(file) : NULL;

	return nrcpus ? nrcpus->available : 0;
}

// The value is NULL if the feature is damaged. False if that was for want of memory, which may do better another time.
static bool decode(struct pd_file *file, unsigned feature, const void **value_out)
{
	struct pd_feature_slot *slot = &file->features[feature];
	const struct pd_layout *layout = pd_feature_layout(feature);
	struct pd_scope scope = { .arena = &file->arena };
	struct pd_error error;
	struct pd_cursor c;
	void *value;

	*value_out = NULL;
	if (load(file, feature, &error) < 0) {
		pd_file_report(file, PD_PROBLEM_BAD_FEATURE, slot->offset, pd_feature_name(feature), "%s",
			       error.message);
		return false;
	}
	scope.words[PD_WORD_NRCPUS] = cpu_count(file, feature);
	scope.words[PD_WORD_QUIRKS] = file->quirks;
	c = pd_cursor(slot->bytes.data, slot->bytes.size, file->header.big_endian);
	value = pd_arena_alloc(&file->arena, layout->struct_size);
	if (!value)
		pd_cursor_fail_memory(&c);
	else
		layout->decode(&c, &scope, value);
	if (c.failed)
		pd_file_report_cursor(file, PD_PROBLEM_BAD_FEATURE, slot->offset, "", &c);
	else
		*value_out = value;
	return c.status != PD_ERROR_MEMORY;
}

const void *pd_file_feature(struct pd_file *file, unsigned feature)
{
	struct pd_feature_slot *slot;

	if (feature >= PD_FEATURE_LIMIT || !file->features[feature].present || !pd_feature_layout(feature))
		return NULL;
	slot = &file->features[feature];
	if (!atomic_load_explicit(&slot->decoded, memory_order_acquire)) {
		// clones of a run may ask at the same time
		pthread_mutex_lock(&file->lock);
		if (!slot->decoded)
			slot->decoded = decode(file, feature, &slot->value);
		pthread_mutex_unlock(&file->lock);
	}
	return slot->value;
}

enum pd_arch pd_file_machine(const struct pd_file *file)
{
	// what is found is remembered in the file, which does not change what it means
	struct pd_file *reader = (struct pd_file *)(uintptr_t)file;
	const struct pd_string *arch;
	const struct pd_e_machine *machine;
	enum pd_arch known = atomic_load_explicit(&reader->machine, memory_order_relaxed);

	if (known != PD_ARCH_UNKNOWN)
		return known;
	arch = pd_file_arch(reader);
	machine = pd_file_e_machine(reader);
	known = arch ? pd_arch_by_name(arch->value.data) : PD_ARCH_UNKNOWN;
	if (known == PD_ARCH_UNKNOWN && machine)
		known = pd_arch_by_elf(machine->e_machine);
	atomic_store_explicit(&reader->machine, known, memory_order_relaxed);
	return known;
}

bool pd_file_has_feature(const struct pd_file *file, unsigned feature)
{
	return file->features[feature].present;
}

uint64_t pd_file_feature_offset(const struct pd_file *file, unsigned feature)
{
	return file->features[feature].offset;
}
