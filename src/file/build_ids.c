/* SPDX-License-Identifier: MIT */
// Entries of the feature BUILD_ID: records as they were in 2009, in several layouts.
#include <perfdata/file.h>

#include <string.h>

enum {
	HEAD_BYTES = 8
};

static uint64_t number(const uint8_t *at, size_t bytes, bool big)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | at[big ? i : bytes - 1 - i];
	return value;
}

/* Perfs of 2009 wrote no pid: then the name of the kernel begins four bytes earlier. */
static bool lacks_pid(struct pd_bytes records)
{
	static const char rest[] = "nel.kallsyms]";

	return records.size >= 36 + sizeof(rest) && !memcmp(records.data + 36, rest, sizeof(rest) - 1);
}

static bool parse_entry(const struct pd_build_id_walk *walk, struct pd_bytes record, struct pd_build_id_entry *entry)
{
	bool big = walk->big_endian;
	size_t id_at = walk->lacks_pid ? 8 : 12, name_at = id_at + 24;

	if (record.size <= name_at || !memchr(record.data + name_at, 0, record.size - name_at))
		return false;
	*entry = (struct pd_build_id_entry){ .misc = (uint16_t)number(record.data + 4, 2, big),
					     .id.size = PD_BUILD_ID_SIZE };
	entry->pid = walk->lacks_pid ? UINT32_MAX : (uint32_t)number(record.data + 8, 4, big);
	entry->name = (const char *)record.data + name_at;
	if (entry->misc & PD_MASK(PD_MISC_BUILD_ID_SIZE) && record.data[id_at + PD_BUILD_ID_SIZE] < PD_BUILD_ID_SIZE)
		entry->id.size = record.data[id_at + PD_BUILD_ID_SIZE];
	memcpy(entry->id.bytes, record.data + id_at, entry->id.size);
	return true;
}

bool pd_build_id_next(struct pd_build_id_walk *walk, struct pd_build_id_entry *entry_out)
{
	if (!walk->begun) {
		walk->begun = true;
		walk->lacks_pid = lacks_pid(walk->records);
	}
	while (walk->records.size - walk->at >= HEAD_BYTES) {
		struct pd_bytes record = { walk->records.data + walk->at, walk->records.size - walk->at };
		size_t size = (size_t)number(record.data + 6, 2, walk->big_endian);

		if (size < HEAD_BYTES || size > record.size)
			break;
		record.size = size;
		walk->at += size;
		if (parse_entry(walk, record, entry_out))
			return true;
		walk->unreadable += size;
	}
	walk->unreadable += walk->records.size - walk->at;
	walk->at = walk->records.size;
	return false;
}
