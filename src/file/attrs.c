/* SPDX-License-Identifier: MIT */
/* The table of events in a file: attrs, their ids, and the names that very old files have. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "file/inside.h"
#include "format/decode.h"

enum {
	ID_ENTRY_SIZE = 16, // {offset, size} of the ids after each attr
	MAX_ATTR_SIZE = 65536,
};

static enum pd_status read_ids(struct pd_file *file, uint64_t entry_offset, uint64_t offset, uint64_t size,
			       struct pd_u64s *ids_out, struct pd_error *error)
{
	enum pd_status status;
	uint64_t *ids;
	size_t got;

	*ids_out = (struct pd_u64s){ 0 };
	if (!size)
		return PD_OK;
	// sections that lie over each other could give more ids than the file has bytes
	if (offset > file->main.size || size > file->main.size - offset || size > file->memory_limit || size % 8 ||
	    size > file->main.size - file->id_bytes) {
		pd_file_report(file, PD_PROBLEM_BAD_IDS, entry_offset, "attrs.ids",
			       "%" PRIu64 " bytes of ids at %" PRIu64 " do not fit into the file", size, offset);
		return PD_OK;
	}
	file->id_bytes += size;
	ids = pd_alloc((size_t)size);
	if (!ids)
		return pd_fail_memory(error);
	status = pd_source_read(&file->main, offset, ids, (size_t)size, &got, error);
	if (status < 0) {
		pd_free(ids);
		return status;
	}
	for (size_t i = 0; i < got / 8; i++)
		ids[i] = pd_load_u64(&ids[i], file->swap);
	*ids_out = (struct pd_u64s){ ids, got / 8 };
	return PD_OK;
}

static enum pd_status read_attr(struct pd_file *file, const uint8_t *entry, uint64_t offset, struct pd_error *error)
{
	size_t attr_size = (size_t)file->header.attr_size - ID_ENTRY_SIZE;
	struct pd_cursor c = pd_cursor(entry, attr_size, file->header.big_endian);
	struct pd_scope scope = { .arena = &file->arena };
	struct pd_attr *attr = pd_arena_alloc(&file->arena, sizeof(*attr));
	struct pd_u64s ids;
	enum pd_status status;

	// the entry is in a buffer that goes away, and the attr may keep bytes it does not know
	entry = pd_arena_copy(&file->arena, entry, attr_size + ID_ENTRY_SIZE);
	if (!attr || !entry)
		return pd_fail_memory(error);
	c = pd_cursor(entry, attr_size, file->header.big_endian);
	pd_decode_attr(&c, &scope, attr);
	if (c.failed) {
		pd_file_report_cursor(file, PD_PROBLEM_BAD_ATTRS, offset, "", &c);
		return PD_OK;
	}
	if ((attr->size ? attr->size : PD_MIN_attr) != attr_size)
		pd_file_report(file, PD_PROBLEM_ATTR_STRIDE, offset + 4, "attr.size",
			       "attr.size is %u, but the table has only %zu bytes per attr", attr->size, attr_size);
	status = read_ids(file, offset + attr_size, pd_load_u64(entry + attr_size, file->swap),
			  pd_load_u64(entry + attr_size + 8, file->swap), &ids, error);
	if (status < 0)
		return status;
	status = pd_file_add_event(file, attr, offset, ids, error);
	pd_free((void *)(uintptr_t)ids.items);
	return status;
}

// A file whose table entries have no size that makes sense may still have an attr that tells its own.
static bool attr_size_is_usable(struct pd_file *file)
{
	struct pd_header *header = &file->header;

	if (header->attr_size >= PD_MIN_attr + ID_ENTRY_SIZE && header->attr_size <= MAX_ATTR_SIZE)
		return true;
	pd_file_report(file, PD_PROBLEM_BAD_ATTRS, 16, "header.attr_size", "invalid size of an attr (%" PRIu64 ")",
		       header->attr_size);
	return false;
}

enum pd_status pd_file_read_attrs(struct pd_file *file, struct pd_error *error)
{
	struct pd_header *header = &file->header;
	uint64_t count;
	uint8_t *entry;

	if (!attr_size_is_usable(file))
		return PD_OK;
	count = header->attrs_size / header->attr_size;
	if (header->attrs_offset > file->main.size || header->attrs_size > file->main.size - header->attrs_offset) {
		pd_file_report(file, PD_PROBLEM_BAD_ATTRS, 24, "header.attrs",
			       "%" PRIu64 " bytes of attrs at %" PRIu64 " do not fit into the file", header->attrs_size,
			       header->attrs_offset);
		count = header->attrs_offset > file->main.size ?
				0 :
				(file->main.size - header->attrs_offset) / header->attr_size;
	}
	entry = pd_alloc((size_t)header->attr_size);
	if (!entry)
		return pd_fail_memory(error);
	for (uint64_t i = 0; i < count && !file->stopped; i++) {
		uint64_t offset = header->attrs_offset + i * header->attr_size;
		size_t got;
		enum pd_status status =
			pd_source_read(&file->main, offset, entry, (size_t)header->attr_size, &got, error);

		if (status >= 0 && got == header->attr_size)
			status = read_attr(file, entry, offset, error);
		if (status < 0) {
			pd_free(entry);
			return status;
		}
	}
	pd_free(entry);
	return PD_OK;
}

// Names of events in files from before EVENT_DESC: {u64 config, char name[64]}.
enum pd_status pd_file_read_event_types(struct pd_file *file, struct pd_error *error)
{
	enum {
		ENTRY_SIZE = 72
	};
	uint64_t offset = file->header.event_types_offset;
	uint64_t size = file->header.event_types_size;

	if (!size || size % ENTRY_SIZE || offset > file->main.size || size > file->main.size - offset)
		return PD_OK; // newer files may have anything here
	for (uint64_t at = 0; at < size && at < (uint64_t)ENTRY_SIZE * 65536; at += ENTRY_SIZE) {
		uint8_t entry[ENTRY_SIZE];
		struct pd_event_full *full;
		size_t got, length;
		enum pd_status status = pd_source_read(&file->main, offset + at, entry, sizeof(entry), &got, error);

		if (status < 0)
			return status;
		length = strnlen((const char *)entry + 8, 64);
		while (length &&
		       (full = pd_file_take_unnamed(file, PD_TYPE_TRACEPOINT, pd_load_u64(entry, file->swap))) != NULL)
			if (!pd_file_set_name(file, full, (const char *)entry + 8, length))
				return pd_fail_memory(error);
	}
	return PD_OK;
}

// Very old build-id records have no pid: the name of the kernel then seems to begin later.
