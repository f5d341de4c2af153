/* SPDX-License-Identifier: MIT */
/*
 * Finds the build id of an ELF file: in its sections of notes, which files of debug information have in full too, else
 * in its segments of notes. Nothing in the file is believed before it was held against the size of the file.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <perfdata/objects.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "object/elf/image.h"
#include "object/elf/note.h"

enum {
	NOTE_BUILD_ID = 3,
	TYPE_NOTE_SECTION = 7,
	TYPE_NOTE_SEGMENT = 4,
	ENTRIES_MOST = 4096, /* of a table */
	NOTES_MOST = 4096,   /* bytes of one section */
	NOTE_FILE_MOST = 1 << 20
};

struct elf {
	int fd;
	bool wide, big;
};

/* A table of the file, and where its entries have what is needed. */
struct table {
	uint64_t offset;
	unsigned entry_size, count;
	uint32_t type; /* of notes */
	unsigned type_at, offset_at, size_at;
};

static uint64_t number(const uint8_t *at, size_t bytes, bool big)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | at[big ? i : bytes - 1 - i];
	return value;
}

static uint64_t up_to_4(uint64_t size)
{
	return (size + 3) & ~UINT64_C(3);
}

struct pd_build_id pd_note_build_id(const uint8_t *notes, size_t size, bool big_endian)
{
	struct pd_build_id id = { 0 };
	size_t at = 0;

	while (size - at >= 12) {
		uint64_t name = number(notes + at, 4, big_endian);
		uint64_t bytes = number(notes + at + 4, 4, big_endian);
		uint64_t type = number(notes + at + 8, 4, big_endian);
		uint64_t whole = 12 + up_to_4(name) + up_to_4(bytes);

		if (12 + up_to_4(name) + bytes > size - at)
			break;
		if (type == NOTE_BUILD_ID && name == 4 && !memcmp(notes + at + 12, "GNU", 4)) {
			id.size = (uint8_t)(bytes < sizeof(id.bytes) ? bytes : sizeof(id.bytes));
			memcpy(id.bytes, notes + at + 16, id.size);
			break;
		}
		if (whole > size - at)
			break;
		at += (size_t)whole;
	}
	return id;
}

static bool read_at(const struct elf *elf, uint64_t offset, void *bytes, size_t size)
{
	return offset <= INT64_MAX - size && pread(elf->fd, bytes, size, (off_t)offset) == (ssize_t)size;
}

static struct pd_build_id search(const struct elf *elf, const struct table *table)
{
	size_t word = elf->wide ? 8 : 4;
	struct pd_build_id id = { 0 };
	uint8_t entry[64], notes[NOTES_MOST];

	if (table->entry_size < table->size_at + word || table->entry_size > sizeof(entry))
		return id;
	for (unsigned i = 0; i < table->count && i < ENTRIES_MOST && !id.size; i++) {
		uint64_t offset, size;

		if (!read_at(elf, table->offset + (uint64_t)i * table->entry_size, entry, table->entry_size))
			break;
		offset = number(entry + table->offset_at, word, elf->big);
		size = number(entry + table->size_at, word, elf->big);
		if (number(entry + table->type_at, 4, elf->big) != table->type)
			continue;
		if (size > sizeof(notes))
			size = sizeof(notes);
		if (read_at(elf, offset, notes, (size_t)size))
			id = pd_note_build_id(notes, (size_t)size, elf->big);
	}
	return id;
}

static struct pd_build_id search_file(struct elf *elf)
{
	uint8_t head[64] = { 0 };
	struct pd_build_id id = { 0 };
	struct table sections, segments;

	if (!read_at(elf, 0, head, 52) || memcmp(head, "\177ELF", 4) != 0)
		return id;
	elf->wide = head[4] == 2;
	elf->big = head[5] == 2;
	if (elf->wide && !read_at(elf, 0, head, 64))
		return id;
	if (elf->wide) {
		sections = (struct table){ number(head + 40, 8, elf->big),
					   (unsigned)number(head + 58, 2, elf->big),
					   (unsigned)number(head + 60, 2, elf->big),
					   TYPE_NOTE_SECTION,
					   4,
					   24,
					   32 };
		segments = (struct table){ number(head + 32, 8, elf->big),
					   (unsigned)number(head + 54, 2, elf->big),
					   (unsigned)number(head + 56, 2, elf->big),
					   TYPE_NOTE_SEGMENT,
					   0,
					   8,
					   32 };
	} else {
		sections = (struct table){ number(head + 32, 4, elf->big),
					   (unsigned)number(head + 46, 2, elf->big),
					   (unsigned)number(head + 48, 2, elf->big),
					   TYPE_NOTE_SECTION,
					   4,
					   16,
					   20 };
		segments = (struct table){ number(head + 28, 4, elf->big),
					   (unsigned)number(head + 42, 2, elf->big),
					   (unsigned)number(head + 44, 2, elf->big),
					   TYPE_NOTE_SEGMENT,
					   0,
					   4,
					   16 };
	}
	id = search(elf, &sections);
	return id.size ? id : search(elf, &segments);
}

struct pd_build_id pd_note_file_build_id(const char *path)
{
	struct pd_build_id id = { 0 };
	uint8_t *notes;
	size_t size;

	if (pd_image_read_file(path, NOTE_FILE_MOST, &notes, &size, NULL) < 0)
		return id;
	id = pd_note_build_id(notes, size, PD_HOST_BIG);
	pd_free(notes);
	return id;
}

/* Regular files only: others could wait for ever. */
static int open_regular(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

bool pd_is_elf(const char *path)
{
	int fd = open_regular(path);
	char magic[4];
	bool is = fd >= 0 && pread(fd, magic, 4, 0) == 4 && !memcmp(magic, "\177ELF", 4);

	if (fd >= 0)
		close(fd);
	return is;
}

struct pd_build_id pd_elf_build_id(const char *path)
{
	struct elf elf = { .fd = open_regular(path) };
	struct pd_build_id id = { 0 };

	if (elf.fd < 0)
		return id;
	id = search_file(&elf);
	close(elf.fd);
	return id;
}
