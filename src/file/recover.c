/* SPDX-License-Identifier: MIT */
/*
 * What the header of a damaged file says wrongly, found again by what the file has elsewhere: attrs look like attrs and end
 * where records begin; the table of features stands after the records, and its first entry leads to what follows it. Done only where pd_open_options.recover asks for it. What is put right is reported.
 */
#include <inttypes.h>
#include <string.h>

#include "file/inside.h"
#include "format/record.h"

enum {
	FILE_HEADER_SIZE = 104,
	ID_ENTRY_SIZE = 16,
	FEATURE_ENTRY_SIZE = 16,
	LARGEST_TABLE = PD_FEATURE_LIMIT * FEATURE_ENTRY_SIZE,
	ATTRS_WITHIN = 1 << 20, // bytes from the begin of a file that are searched for attrs
	WINDOW = 1 << 20,
};

static void report_recovered(struct pd_file *file, uint64_t offset, const char *field, const char *what, uint64_t value)
{
	pd_file_report(file, PD_PROBLEM_MENDED, offset, field, "%s %" PRIu64, what, value);
}

// Bytes at a place, zeros past the end. False if there are none.
static bool load(struct pd_file *file, uint64_t offset, void *data, size_t size)
{
	size_t got = 0;

	memset(data, 0, size);
	return offset < file->main.size && pd_source_read(&file->main, offset, data, size, &got, NULL) >= 0 &&
	       got == size;
}

static unsigned count_bits(const uint64_t bits[4])
{
	unsigned count = 0;

	for (unsigned i = 0; i < 4; i++)
		count += (unsigned)__builtin_popcountll(bits[i]);
	return count;
}

// ---- what things look like ----

// Sizes of attrs that there were so far.
static bool is_attr_size(uint64_t size)
{
	return size == 64 || size == 72 || (size >= 80 && size <= 144 && size % 8 == 0 && size != 88);
}

static bool is_entry_size(uint64_t size)
{
	return size >= PD_MIN_attr + ID_ENTRY_SIZE && size <= 4096 && size % 8 == 0;
}

// An attr and the place of its ids.
static bool is_attr_entry(const struct pd_file *file, const uint8_t *at, size_t left)
{
	uint64_t size, sample_type, ids, ids_size;

	if (left < PD_MIN_attr + ID_ENTRY_SIZE)
		return false;
	size = pd_load_u32(at + 4, file->swap);
	if (!is_attr_size(size) || left < size + ID_ENTRY_SIZE)
		return false;
	sample_type = pd_load_u64(at + 24, file->swap);
	ids = pd_load_u64(at + size, file->swap);
	ids_size = pd_load_u64(at + size + 8, file->swap);
	return sample_type >> 32 == 0 && pd_load_u64(at + 32, file->swap) < 64 && ids_size % 8 == 0 &&
	       ids <= file->main.size && ids_size <= file->main.size - ids;
}

static bool is_record_head(struct pd_file *file, uint64_t offset)
{
	uint8_t at[PD_RECORD_HEADER_SIZE];
	struct pd_record_head head;

	if (!load(file, offset, at, sizeof(at)))
		return false;
	head = pd_record_head(at, file->swap);
	return pd_is_record_head(&head) && head.size <= file->main.size - offset;
}

// ---- form and byte order ----

// Records that follow each other, of types that the first ones of a pipe have. A file has some of them too, but not
// those of its own events and features.
static bool is_pipe_run(const struct pd_file *file, const uint8_t *at, size_t left, bool *surely)
{
	enum {
		RUN = 3,
		LAST_TYPE = PD_RECORD_SCHEDSTAT_DOMAIN
	};

	*surely = false;
	for (unsigned i = 0; i < RUN; i++) {
		struct pd_record_head head;

		if (left < PD_RECORD_HEADER_SIZE)
			return false;
		head = pd_record_head(at, file->swap);
		if (head.type < PD_RECORD_HEADER_ATTR || head.type > LAST_TYPE || !pd_is_record_head(&head) ||
		    head.size > left)
			return false;
		*surely |= head.type == PD_RECORD_HEADER_ATTR || head.type == PD_RECORD_HEADER_FEATURE;
		at += head.size;
		left -= (size_t)head.size;
	}
	return true;
}

// Where the first record of a pipe is.
static bool has_pipe_start(struct pd_file *file)
{
	uint8_t at[PD_RECORD_HEADER_SIZE];
	struct pd_record_head head;

	if (!load(file, PD_PIPE_HEADER_SIZE, at, sizeof(at)))
		return false;
	head = pd_record_head(at, file->swap);
	return (head.type == PD_RECORD_HEADER_ATTR || head.type == PD_RECORD_HEADER_FEATURE) && head.size > 16 &&
	       is_record_head(file, PD_PIPE_HEADER_SIZE) && is_record_head(file, PD_PIPE_HEADER_SIZE + head.size);
}

static bool has_pipe_run(struct pd_file *file, bool wanted_surely)
{
	uint8_t data[4096];
	bool surely;
	size_t got;

	if (pd_source_read(&file->main, 0, data, sizeof(data), &got, NULL) < 0)
		return false;
	for (size_t at = PD_PIPE_HEADER_SIZE; at < got; at += 4)
		if (is_pipe_run(file, data + at, got - at, &surely) && (surely || !wanted_surely))
			return true;
	return false;
}

static bool find_attrs(struct pd_file *file, uint64_t before, uint64_t *offset_out, uint64_t *entry_out,
		       uint64_t *count_out);

static bool has_file_head(struct pd_file *file)
{
	uint8_t at[24];

	return load(file, 0, at, sizeof(at)) && pd_load_u64(at + 8, file->swap) == FILE_HEADER_SIZE &&
	       is_entry_size(pd_load_u64(at + 16, file->swap));
}

// What a header that is damaged stands in front of; 0 if nothing says it. Numbers of other records look like attrs in places.
static uint64_t header_size_of(struct pd_file *file)
{
	uint64_t offset, entry, count;

	if (has_pipe_start(file))
		return PD_PIPE_HEADER_SIZE;
	if (has_file_head(file))
		return FILE_HEADER_SIZE;
	if (has_pipe_run(file, true))
		return PD_PIPE_HEADER_SIZE;
	if (find_attrs(file, UINT64_MAX, &offset, &entry, &count))
		return FILE_HEADER_SIZE;
	return has_pipe_run(file, false) ? PD_PIPE_HEADER_SIZE : 0;
}

// Which of the two words more bytes are left of.
static bool seems_big(struct pd_file *file)
{
	uint8_t at[8];
	int big = 0;

	if (!load(file, 0, at, sizeof(at)))
		return false;
	for (size_t i = 0; i < sizeof(at); i++)
		big += (at[i] == (uint8_t) "2ELIFREP"[i]) - (at[i] == (uint8_t) "PERFILE2"[i]);
	return big > 0;
}

bool pd_file_recover_magic(struct pd_file *file)
{
	unsigned first = seems_big(file);

	for (unsigned i = first; i < first + 2; i++) {
		file->header.big_endian = i & 1;
		file->swap = file->header.big_endian != PD_HOST_BIG;
		if (header_size_of(file)) {
			file->header.version = 2;
			pd_file_report(file, PD_PROBLEM_MENDED, 0, "header.magic", "assumed version 2, %s-endian",
				       i & 1 ? "big" : "little");
			return true;
		}
	}
	file->header.big_endian = false;
	file->swap = PD_HOST_BIG;
	return false;
}

uint64_t pd_file_recover_header_size(struct pd_file *file, uint64_t size)
{
	uint64_t recovered;

	if (size == PD_PIPE_HEADER_SIZE || size == FILE_HEADER_SIZE || size == 72)
		return size;
	recovered = header_size_of(file);
	recovered = recovered ? recovered : FILE_HEADER_SIZE;
	report_recovered(file, 8, "header.size", "taken for", recovered);
	return recovered;
}

// ---- attrs ----

// The longest run of attrs in the first bytes, none of them after a place.
static bool find_attrs(struct pd_file *file, uint64_t before, uint64_t *offset_out, uint64_t *entry_out,
		       uint64_t *count_out)
{
	uint64_t left = file->main.size < ATTRS_WITHIN ? file->main.size : ATTRS_WITHIN;
	uint8_t *data = pd_alloc((size_t)left + 1);
	uint64_t best = 0;
	size_t got = 0;

	if (!data || pd_source_read(&file->main, 0, data, (size_t)left, &got, NULL) < 0)
		got = 0;
	if (got > before)
		got = (size_t)before;
	for (size_t at = 72; at + 80 <= got && !best; at += 8) {
		size_t end = at;
		uint64_t entry = pd_load_u32(data + at + 4, file->swap) + (uint64_t)ID_ENTRY_SIZE;

		while (is_attr_entry(file, data + end, got - end) &&
		       pd_load_u32(data + end + 4, file->swap) + ID_ENTRY_SIZE == entry) {
			end += (size_t)entry;
			best++;
		}
		*offset_out = at;
		*entry_out = entry;
	}
	*count_out = best;
	pd_free(data);
	return best > 0;
}

static bool attrs_are_valid(struct pd_file *file)
{
	const struct pd_header *h = &file->header;
	uint8_t at[8];

	if (!is_entry_size(h->attr_size) || !h->attrs_size || h->attrs_size % h->attr_size || h->attrs_offset < 72 ||
	    h->attrs_offset > file->main.size || h->attrs_size > file->main.size - h->attrs_offset)
		return false;
	// the attr may be what is damaged, then its place is right all the same
	return h->attrs_offset + h->attrs_size == h->data_offset ||
	       (load(file, h->attrs_offset, at, sizeof(at)) &&
		(pd_load_u32(at + 4, file->swap) + (uint64_t)ID_ENTRY_SIZE == h->attr_size ||
		 !pd_load_u32(at + 4, file->swap)));
}

static void recover_attrs(struct pd_file *file)
{
	struct pd_header *h = &file->header;
	uint64_t offset, entry, count;
	bool data_is_valid = h->data_offset >= 72 && is_record_head(file, h->data_offset);

	if (attrs_are_valid(file) ||
	    !find_attrs(file, data_is_valid ? h->data_offset : UINT64_MAX, &offset, &entry, &count))
		return;
	h->attr_size = entry;
	h->attrs_offset = offset;
	h->attrs_size = count * entry;
	report_recovered(file, 16, "header.attr_size", "taken for", entry);
	report_recovered(file, 24, "header.attrs.offset", "taken for", offset);
	report_recovered(file, 32, "header.attrs.size", "taken for", count * entry);
}

// ---- data ----

// Whether the entries of a table lead to all that is after it, in whatever order.
static bool leads_to_all(const struct pd_file *file, const uint8_t *at, uint64_t slots, uint64_t end)
{
	uint64_t left = file->main.size - end;

	for (; slots; slots--, at += FEATURE_ENTRY_SIZE) {
		uint64_t offset = pd_load_u64(at, file->swap), size = pd_load_u64(at + 8, file->swap);

		if (offset < end || offset > file->main.size || size > file->main.size - offset || size > left)
			return false;
		left -= size;
	}
	return !left;
}

// Slots of a table of features at a place, by what its entries say; 0 if it is none.
static unsigned count_slots(const struct pd_file *file, const uint8_t *at, size_t left, uint64_t place)
{
	uint64_t first, size, second, slots;

	if (left < FEATURE_ENTRY_SIZE)
		return 0;
	first = pd_load_u64(at, file->swap);
	size = pd_load_u64(at + 8, file->swap);
	if (first <= place || (first - place) % FEATURE_ENTRY_SIZE ||
	    first - place > PD_FEATURE_LIMIT * FEATURE_ENTRY_SIZE || first > file->main.size ||
	    size > file->main.size - first)
		return 0;
	if (first - place == FEATURE_ENTRY_SIZE)
		return first + size == file->main.size;
	if (left < 2 * FEATURE_ENTRY_SIZE)
		return 0;
	second = pd_load_u64(at + 16, file->swap);
	slots = (first - place) / FEATURE_ENTRY_SIZE;
	if (second == first + size)
		return (unsigned)slots;
	return left >= slots * FEATURE_ENTRY_SIZE && leads_to_all(file, at, slots, first) ? (unsigned)slots : 0;
}

static unsigned count_slots_at(struct pd_file *file, uint64_t place)
{
	uint8_t at[LARGEST_TABLE];
	size_t got;

	if (place >= file->main.size || pd_source_read(&file->main, place, at, sizeof(at), &got, NULL) < 0)
		return 0;
	return count_slots(file, at, got, place);
}

// Whether most entries of a table lead into the file, whatever their order.
static bool has_entries(struct pd_file *file, uint64_t place)
{
	unsigned bits = count_bits(file->header.feature_bits), fitting = 0;

	for (unsigned i = 0; i < bits; i++) {
		uint8_t entry[FEATURE_ENTRY_SIZE];
		uint64_t offset, size;

		if (!load(file, place + (uint64_t)i * sizeof(entry), entry, sizeof(entry)))
			break;
		offset = pd_load_u64(entry, file->swap);
		size = pd_load_u64(entry + 8, file->swap);
		fitting += offset >= place + (uint64_t)bits * sizeof(entry) && offset <= file->main.size &&
			   size <= file->main.size - offset;
	}
	return bits && fitting * 2 > bits;
}

// The first table of features after a place, 0 if there is none.
static uint64_t find_features(struct pd_file *file, uint64_t from)
{
	uint8_t *data = pd_alloc(WINDOW);
	uint64_t found = 0;
	size_t got = WINDOW;

	while (data && !found && from < file->main.size && got == WINDOW) {
		if (pd_source_read(&file->main, from, data, WINDOW, &got, NULL) < 0)
			break;
		for (size_t at = 0; at + FEATURE_ENTRY_SIZE <= got && !found; at++)
			if (count_slots(file, data + at, got - at, from + at))
				found = from + at;
		from += WINDOW - LARGEST_TABLE;
	}
	pd_free(data);
	return found;
}

// Where the first records of a run are, at or after a place; 0 if there is none.
static uint64_t find_records(struct pd_file *file, uint64_t from)
{
	enum {
		READ_BYTES = 512 << 10,
		WITHIN = 128 << 10,
		RUN = 4
	};
	uint8_t *data = pd_alloc(READ_BYTES);
	uint64_t found = 0;
	size_t got = 0;

	if (!data || pd_source_read(&file->main, from, data, READ_BYTES, &got, NULL) < 0)
		got = 0;
	for (size_t at = 0; at < WITHIN && at < got && !found; at += 8) {
		size_t next = at;
		unsigned count = 0;

		while (count < RUN && got - next >= PD_RECORD_HEADER_SIZE) {
			struct pd_record_head head = pd_record_head(data + next, file->swap);

			if (!pd_is_record_head(&head) || head.size % 8 || head.size > got - next)
				break;
			next += (size_t)head.size;
			count++;
		}
		if (count == RUN || (count && next == got))
			found = from + at;
	}
	pd_free(data);
	return found;
}

static void recover_data(struct pd_file *file)
{
	struct pd_header *h = &file->header;
	uint64_t attrs_end = h->attrs_offset + h->attrs_size, table, found;

	if (!(h->data_offset >= 72 && h->data_offset <= file->main.size) ||
	    (h->data_offset != attrs_end && !is_record_head(file, h->data_offset))) {
		found = is_record_head(file, attrs_end) ? attrs_end : find_records(file, attrs_end);
		if (!found)
			found = find_records(file, FILE_HEADER_SIZE);
		if (!found)
			return;
		h->data_offset = found;
		report_recovered(file, 40, "header.data.offset", "taken for", found);
	}
	if (h->data_size <= file->main.size - h->data_offset &&
	    (count_slots_at(file, h->data_offset + h->data_size) || has_entries(file, h->data_offset + h->data_size) ||
	     h->data_offset + h->data_size == file->main.size))
		return;
	table = find_features(file, h->data_offset);
	if (!table)
		return;
	// one that was killed has none: something else looks like it
	h->data_size = table - h->data_offset;
	report_recovered(file, 48, "header.data.size", "taken for", h->data_size);
}

// The feature that can be distinguished from all others: it has attrs, and ends where it says.
static bool is_event_desc(struct pd_file *file, uint64_t offset, uint64_t size)
{
	const struct pd_layout *layout = pd_feature_layout(PD_FEATURE_EVENT_DESC);
	struct pd_arena arena = { .limit = (size_t)file->memory_limit };
	struct pd_scope scope = { .arena = &arena };
	struct pd_event_desc desc = { .rest = { 0 } };
	uint8_t *data = size > 8 && size < ATTRS_WITHIN ? pd_alloc((size_t)size) : NULL;
	struct pd_cursor c;
	bool is = false;

	if (data && load(file, offset, data, (size_t)size) && is_attr_size(pd_load_u32(data + 4, file->swap))) {
		c = pd_cursor(data, (size_t)size, file->header.big_endian);
		layout->decode(&c, &scope, &desc);
		is = !c.failed && desc.events.count && !desc.rest.size;
	}
	pd_arena_fini(&arena);
	pd_free(data);
	return is;
}

// Looks for EVENT_DESC by its content. Returns its slot, or a negative number.
static int find_event_desc(struct pd_file *file, unsigned slots, struct pd_feature_slot *slot_out)
{
	uint64_t table = file->header.data_offset + file->header.data_size;

	for (unsigned i = 0; i < slots; i++) {
		uint8_t entry[FEATURE_ENTRY_SIZE];
		uint64_t offset, size;

		if (!load(file, table + (uint64_t)i * sizeof(entry), entry, sizeof(entry)))
			break;
		offset = pd_load_u64(entry, file->swap);
		size = pd_load_u64(entry + 8, file->swap);
		if (offset > file->main.size || size > file->main.size - offset || !is_event_desc(file, offset, size))
			continue;
		*slot_out = (struct pd_feature_slot){ .present = true, .offset = offset, .size = size };
		return (int)i;
	}
	return -1;
}

// A bitmap with other bits than those that the table was written for gives features to others.
static void recover_features(struct pd_file *file)
{
	struct pd_header *h = &file->header;
	unsigned slots = count_slots_at(file, h->data_offset + h->data_size), bits = count_bits(h->feature_bits);
	uint64_t below = h->feature_bits[0] & ((UINT64_C(1) << PD_FEATURE_EVENT_DESC) - 1);
	struct pd_feature_slot desc;
	int slot = slots ? find_event_desc(file, slots, &desc) : -1;
	bool is_there = h->feature_bits[0] >> PD_FEATURE_EVENT_DESC & 1;

	if (!slots || (bits <= slots && (slot < 0 || (is_there && __builtin_popcountll(below) == slot))))
		return;
	memset(h->feature_bits, 0, sizeof(h->feature_bits));
	pd_file_report(file, PD_PROBLEM_BAD_FEATURE_TABLE, 72, "header.features",
		       "%u bits for %u features: cannot tell which is which", bits, slots);
	if (slot >= 0)
		file->features[PD_FEATURE_EVENT_DESC] = desc;
}

void pd_file_recover_sections(struct pd_file *file)
{
	recover_attrs(file);
	recover_data(file);
	recover_features(file);
}
