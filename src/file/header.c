/* SPDX-License-Identifier: MIT */
/*
 * The header: which form and version a file has, its byte order, where its sections are. What it says is held against
 * the size of the file; what cannot be true is reported and left out.
 */
#include <inttypes.h>
#include <string.h>

#include "file/inside.h"

enum {
	OLD_HEADER_SIZE = 72, // without feature bits
	HEADER_SIZE = 104,
};

static enum pd_status no_perf_data(const struct pd_file *file, uint64_t offset, const char *why, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_FORMAT, offset, "%s: offset %" PRIu64 ": not a perf.data file (%s)", file->name,
		       offset, file->main.damaged ? file->main.damage : why);
}

// Sizes of table entries that version 1 files have; the byte order that gives one of them is the file's.
static bool is_attr_entry_size(uint64_t size)
{
	return size >= 80 && size <= 160 && size % 8 == 0;
}

static enum pd_status find_version(struct pd_file *file, const uint8_t *head, size_t size, struct pd_error *error)
{
	struct pd_header *header = &file->header;

	if (size == 0)
		return no_perf_data(file, 0, "empty file", error);
	if (size >= 8 && memcmp(head, "PERFILE2", 8) == 0) {
		header->version = 2;
	} else if (size >= 8 && memcmp(head, "2ELIFREP", 8) == 0) {
		header->version = 2;
		header->big_endian = true;
	} else if (size >= 8 && memcmp(head, "PERFFILE", 8) == 0) {
		header->version = 1;
	} else if (file->recover && size >= PD_PIPE_HEADER_SIZE && pd_file_recover_magic(file)) {
		return PD_OK;
	} else {
		return no_perf_data(file, 0, size < 8 ? "shorter than the header" : "bad magic number", error);
	}
	if (size < PD_PIPE_HEADER_SIZE)
		return no_perf_data(file, size, "truncated header", error);
	if (header->version == 1) {
		bool is_pipe = pd_load_u64(head + 8, false) == PD_PIPE_HEADER_SIZE ||
			       pd_load_u64(head + 8, true) == PD_PIPE_HEADER_SIZE;

		if (is_pipe)
			header->big_endian = (pd_load_u64(head + 8, false) == PD_PIPE_HEADER_SIZE) == PD_HOST_BIG;
		else if (size >= 24 && is_attr_entry_size(pd_load_u64(head + 16, PD_HOST_BIG)))
			header->big_endian = false;
		else if (size >= 24 && is_attr_entry_size(pd_load_u64(head + 16, !PD_HOST_BIG)))
			header->big_endian = true;
		else
			return no_perf_data(file, 16, "version 1 with an invalid attr size in either endianness",
					    error);
	}
	file->swap = header->big_endian != PD_HOST_BIG;
	return PD_OK;
}

// The bitmap of features was written as words of the recorder's long. HOSTNAME is in every file of perf
// since 3.2, so the view that shows it is right.
static void read_feature_bits(struct pd_file *file, const uint8_t *at)
{
	uint64_t *bits = file->header.feature_bits;
	uint64_t narrow[4] = { 0 };

	for (unsigned i = 0; i < 4; i++) {
		bits[i] = pd_load_u64(at + 8 * i, file->swap);
		narrow[i] = pd_load_u32(at + 8 * i, file->swap) | (uint64_t)pd_load_u32(at + 8 * i + 4, file->swap)
									  << 32;
	}
	if (!file->header.big_endian || bits[0] >> PD_FEATURE_HOSTNAME & 1)
		return;
	if (narrow[0] >> PD_FEATURE_HOSTNAME & 1) {
		memcpy(bits, narrow, sizeof(narrow));
		return;
	}
	// before 3.2 there was none, and few others: the view with the lower numbers
	if (narrow[0] < bits[0])
		memcpy(bits, narrow, sizeof(narrow));
}

static void report_header(struct pd_file *file, const char *field, const char *what, uint64_t value)
{
	pd_file_report(file, PD_PROBLEM_BAD_HEADER, 0, field, "%s: %s (%" PRIu64 ")", field, what, value);
}

void pd_file_check_data_section(struct pd_file *file)
{
	struct pd_header *header = &file->header;
	uint64_t end = header->data_offset + header->data_size;

	if (header->data_size == 0) {
		// an empty recording has features after its data; a killed one has records there
		header->unfinished = true;
		pd_file_report(file, PD_PROBLEM_UNFINISHED, 40, "header.data.size",
			       "the data size is 0: the recorder did not finish");
	} else if (end < header->data_offset || end > file->main.size) {
		header->truncated = true;
		pd_file_report(file, PD_PROBLEM_DATA_PAST_END, 40, "header.data.size",
			       "%" PRIu64 " bytes of data at %" PRIu64 ", but the file has %" PRIu64, header->data_size,
			       header->data_offset, file->main.size);
	}
	if (header->unfinished || header->truncated)
		memset(header->feature_bits, 0, sizeof(header->feature_bits));
}

// A pipe that begins with a text in a record of type 69 is one of those in which features were records of type 66
// plus their number: HOSTNAME came first.
static enum pd_status find_old_features(struct pd_file *file, struct pd_error *error)
{
	uint8_t at[12];
	size_t got;
	enum pd_status status = pd_source_read(&file->main, PD_PIPE_HEADER_SIZE, at, sizeof(at), &got, error);
	struct pd_record_head head;

	if (status < 0 || got < sizeof(at))
		return status;
	head = pd_record_head(at, file->swap);
	if (head.type == PD_OLD_FEATURE_BASE + PD_FEATURE_HOSTNAME && head.size >= sizeof(at) &&
	    pd_load_u32(at + 8, file->swap) == head.size - sizeof(at))
		file->quirks |= MASK_QUIRKS(OLD_FEATURES);
	return PD_OK;
}

enum pd_status pd_file_read_header(struct pd_file *file, struct pd_error *error)
{
	struct pd_header *header = &file->header;
	uint8_t at[HEADER_SIZE] = { 0 };
	enum pd_status status;
	size_t got;

	status = pd_source_read(&file->main, 0, at, sizeof(at), &got, error);
	if (status < 0)
		return status;
	status = find_version(file, at, got, error);
	if (status < 0)
		return status;
	header->size = pd_load_u64(at + 8, file->swap);
	if (file->recover)
		header->size = pd_file_recover_header_size(file, header->size);
	if (header->size == PD_PIPE_HEADER_SIZE) {
		header->mode = PD_MODE_PIPE;
		return find_old_features(file, error);
	}
	if (header->size < OLD_HEADER_SIZE || got < OLD_HEADER_SIZE)
		return no_perf_data(file, 8,
				    header->size < OLD_HEADER_SIZE ? "invalid header size" : "truncated header", error);
	header->attr_size = pd_load_u64(at + 16, file->swap);
	header->attrs_offset = pd_load_u64(at + 24, file->swap);
	header->attrs_size = pd_load_u64(at + 32, file->swap);
	header->data_offset = pd_load_u64(at + 40, file->swap);
	header->data_size = pd_load_u64(at + 48, file->swap);
	header->event_types_offset = pd_load_u64(at + 56, file->swap);
	header->event_types_size = pd_load_u64(at + 64, file->swap);
	if (header->size != HEADER_SIZE && header->size != OLD_HEADER_SIZE)
		report_header(file, "header.size", "is neither 104 nor 72", header->size);
	if (header->size >= HEADER_SIZE && got >= HEADER_SIZE)
		read_feature_bits(file, at + OLD_HEADER_SIZE);
	return PD_OK;
}
