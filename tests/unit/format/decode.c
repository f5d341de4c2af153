/* SPDX-License-Identifier: MIT */
/*
 * Bytes written by hand and what they mean: the places of the format where a reader easily goes
 * wrong. The words that an event would say are set in a scope.
 */
#include "format/decode.h"
#include "../image.h"
#include "../test.h"

static struct pd_arena arena;
static struct pd_scope scope;
static struct pd_cursor cursor;

#define DECODE(layout, image) ((const struct pd_##layout *)decode(PD_LAYOUT_##layout, (image)))

// NULL if the bytes are refused. The result and the image live until the next call.
static const void *decode(enum pd_layout_id id, struct image *image)
{
	static uint8_t *kept;
	void *out;

	free(kept);
	kept = malloc(image->size ? image->size : 1);
	if (image->size)
		memcpy(kept, image->data, image->size);
	cursor = pd_cursor(kept, image->size, image->big);
	image_free(image);
	pd_arena_reset(&arena);
	scope.arena = &arena;
	out = pd_arena_alloc(&arena, pd_layouts[id].struct_size);
	pd_layouts[id].decode(&cursor, &scope, out);
	memset(scope.words, 0, sizeof(scope.words));
	return cursor.failed ? NULL : out;
}

// ---- attr ----

TEST(test_decode__attr_flags_in_both_orders)
{
	for (unsigned big = 0; big < 2; big++) {
		struct image image = { .big = big };
		const struct pd_attr *attr;

		// freq is bit 10, precise_ip bits 15 and 16 with the value 2, build_id bit 34
		image_attr(&image, 0, 0, 0, 0,
			   big ? UINT64_C(1) << 53 | UINT64_C(2) << 47 | UINT64_C(1) << 29 :
				 UINT64_C(1) << 10 | UINT64_C(2) << 15 | UINT64_C(1) << 34);
		attr = DECODE(attr, &image);
		CHECK(attr);
		CHECK(PD_BITS(attr->flags, PD_ATTR_FREQ) == 1);
		CHECK(PD_BITS(attr->flags, PD_ATTR_PRECISE_IP) == 2);
		CHECK(PD_BITS(attr->flags, PD_ATTR_BUILD_ID) == 1);
		CHECK(attr->flags == (UINT64_C(1) << 10 | UINT64_C(2) << 15 | UINT64_C(1) << 34));
	}
}

TEST(test_decode__attr_precise_ip_is_not_turned_around)
{
	// bits 47 and 48 of the word; read bit by bit, 1 and 2 would change places
	for (uint64_t precise = 0; precise < 4; precise++) {
		struct image image = { .big = true };
		const struct pd_attr *attr;

		image_attr(&image, 0, 0, 0, 0, precise << 47);
		attr = DECODE(attr, &image);
		CHECK(attr);
		CHECK(PD_BITS(attr->flags, PD_ATTR_PRECISE_IP) == precise);
	}
}

TEST(test_decode__attr_aux_action)
{
	struct image image = { .big = true };
	const struct pd_attr *attr;

	image_attr(&image, 0, 0, 0, 0, 0);
	image_zeros(&image, 112 - 64);
	image_u32(&image, 4096);
	image_u32(&image, UINT32_C(1) << 30); // the second bit from above
	attr = DECODE(attr, &image);
	CHECK(attr);
	CHECK(attr->aux_sample_size == 4096);
	CHECK(attr->aux_action == 2);
	CHECK(attr->wire_size == 120);
}

TEST(test_decode__attr_of_every_size)
{
	static const struct {
		size_t size;
		uint64_t config2, regs_user, sig_data, config4;
	} wanted[] = {
		{ 64, 0, 0, 0, 0 },   { 72, 8, 0, 0, 0 },   { 80, 8, 0, 0, 0 },    { 96, 8, 10, 0, 0 },
		{ 104, 8, 10, 0, 0 }, { 120, 8, 10, 0, 0 }, { 128, 8, 10, 15, 0 }, { 144, 8, 10, 15, 17 },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct image image = { 0 };
		const struct pd_attr *attr;

		// word n holds n
		for (size_t word = 0; word < wanted[i].size / 8; word++)
			image_u64(&image, word);
		attr = DECODE(attr, &image);
		CHECK(attr);
		CHECK(attr->config2 == wanted[i].config2);
		CHECK(attr->sample_regs_user == wanted[i].regs_user);
		CHECK(attr->sig_data == wanted[i].sig_data);
		CHECK(attr->config4 == wanted[i].config4);
		CHECK(attr->rest.size == 0);
	}
}

TEST(test_decode__attr_of_a_newer_kernel_keeps_what_is_not_known)
{
	struct image image = { 0 };
	const struct pd_attr *attr;

	image_attr(&image, 0, 7, 0, 0, 0);
	image_zeros(&image, 144 - 64);
	image_bytes(&image, "newer...", 8);
	attr = DECODE(attr, &image);
	CHECK(attr);
	CHECK(attr->config == 7);
	CHECK(attr->rest.size == 8);
	CHECK(memcmp(attr->rest.data, "newer...", 8) == 0);
}

TEST(test_decode__attr_shorter_than_the_first_is_refused)
{
	struct image image = { 0 };

	image_zeros(&image, 63);
	CHECK(!DECODE(attr, &image));
	CHECK_STR(cursor.layout, "attr");
	CHECK_STR(cursor.field, "config1");
}

TEST(test_decode__header_attr_finds_ids_after_its_own_size)
{
	static const struct {
		uint32_t said;
		size_t capacity;
	} sizes[] = { { 0, 64 }, { 64, 64 }, { 65, 72 }, { 72, 72 }, { 136, 136 }, { 160, 160 } };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct image image = { 0 };
		const struct pd_header_attr *record;

		image_attr(&image, 1, 2, 0, 0, 0);
		image_set(&image, 4, sizes[i].said, 4);
		image_zeros(&image, sizes[i].capacity - 64);
		image_u64(&image, 41);
		image_u64(&image, 42);
		record = DECODE(header_attr, &image);
		CHECK(record);
		CHECK(record->attr->type == 1 && record->attr->config == 2);
		CHECK(record->ids.count == 2);
		CHECK(record->ids.items[0] == 41 && record->ids.items[1] == 42);
	}
}

TEST(test_decode__header_attr_larger_than_its_record_is_refused)
{
	struct image image = { 0 };

	image_attr(&image, 1, 2, 0, 0, 0);
	image_set(&image, 4, 4096, 4);
	CHECK(!DECODE(header_attr, &image));
	CHECK_STR(cursor.field, "attr");
}

// ---- samples ----

// Every field of a sample, each word of a known value.
static void put_all_fields(struct image *image)
{
	image_u64(image, 100);                                                          // identifier
	image_u64(image, 101);                                                          // ip
	image_u32(image, 102), image_u32(image, 103);                                   // pid, tid
	image_u64(image, 104);                                                          // time
	image_u64(image, 105);                                                          // addr
	image_u64(image, 106);                                                          // id
	image_u64(image, 107);                                                          // stream_id
	image_u32(image, 108), image_u32(image, 109);                                   // cpu, reserved
	image_u64(image, 110);                                                          // period
	image_u64(image, 111);                                                          // read: value
	image_u64(image, 2), image_u64(image, UINT64_MAX - 511), image_u64(image, 113); // callchain
	image_u32(image, 4), image_bytes(image, "raw!", 4);
	image_u64(image, 1), image_u64(image, UINT64_MAX); // branches, hw_idx
	image_u64(image, 114), image_u64(image, 115);      // from, to
	image_u64(image, image->big ? UINT64_C(1) << 62 | UINT64_C(300) << 44 | UINT64_C(4) << 40 :
				      UINT64_C(1) << 1 | UINT64_C(300) << 4 | UINT64_C(4) << 20);
	image_u64(image, 116);                                             // counters
	image_u64(image, 2), image_u64(image, 117), image_u64(image, 118); // user registers
	image_u64(image, 8), image_bytes(image, "stack...", 8), image_u64(image, 5);
	image_u64(image, 119);                        // weight
	image_u64(image, 0x3000200000001);            // weight_struct
	image_u64(image, UINT64_C(1) << 37 | 2);      // data_src
	image_u64(image, UINT64_C(7) << 32 | 1);      // transaction
	image_u64(image, 0);                          // abi 0: no registers
	image_u64(image, 120), image_u64(image, 121); // phys_addr, cgroup
	image_u64(image, 122), image_u64(image, 123); // page sizes
	image_u64(image, 8), image_bytes(image, "aux.....", 8);
}

TEST(test_decode__sample_with_every_field)
{
	for (unsigned big = 0; big < 2; big++) {
		struct image image = { .big = big };
		const struct pd_sample *s;
		const struct pd_branch *branch;

		put_all_fields(&image);
		scope.words[PD_WORD_SAMPLE_TYPE] = 0x1ffffff;
		scope.words[PD_WORD_BRANCH_TYPE] = PD_MASK(PD_BRANCH_TYPE_HW_INDEX) | PD_MASK(PD_BRANCH_TYPE_COUNTERS);
		scope.words[PD_WORD_REGS_USER] = 0x101;
		scope.words[PD_WORD_REGS_INTR] = 0xff;
		s = DECODE(sample, &image);
		CHECK(s);
		CHECK(s->identifier == 100 && s->ip == 101 && s->pid == 102 && s->tid == 103 && s->time_ns == 104);
		CHECK(s->addr == 105 && s->id == 106 && s->stream_id == 107 && s->cpu == 108 && s->period == 110);
		CHECK(s->read->value == 111 && s->read->members.count == 0);
		CHECK(s->callchain.count == 2 && (int64_t)s->callchain.items[0] == PD_CONTEXT_USER);
		CHECK(s->callchain.items[1] == 113);
		CHECK(s->raw.size == 4 && memcmp(s->raw.data, "raw!", 4) == 0);
		CHECK(s->branch_stack->nr == 1 && s->branch_stack->hw_idx == UINT64_MAX);
		branch = PD_ITEM(pd_branch, s->branch_stack->entries, 0);
		CHECK(branch->from == 114 && branch->to == 115);
		CHECK(PD_BITS(branch->flags, PD_BRANCH_PREDICTED) == 1 &&
		      PD_BITS(branch->flags, PD_BRANCH_MISPRED) == 0);
		CHECK(PD_BITS(branch->flags, PD_BRANCH_CYCLES) == 300 && PD_BITS(branch->flags, PD_BRANCH_KIND) == 4);
		CHECK(s->branch_stack->counters.count == 1 && s->branch_stack->counters.items[0] == 116);
		CHECK(s->user_regs->abi == 2 && s->user_regs->regs.count == 2 && s->user_regs->regs.items[1] == 118);
		CHECK(s->user_stack->size == 8 && s->user_stack->dyn_size == 5);
		CHECK(memcmp(s->user_stack->data.data, "stack...", 8) == 0);
		CHECK(s->weight == 119 && s->weight_struct == 0x3000200000001);
		CHECK(s->data_src == (UINT64_C(1) << 37 | 2) && s->transaction == (UINT64_C(7) << 32 | 1));
		CHECK(s->intr_regs->abi == 0 && s->intr_regs->regs.count == 0);
		CHECK(s->phys_addr == 120 && s->cgroup == 121 && s->data_page_size == 122 && s->code_page_size == 123);
		CHECK(s->aux.size == 8 && memcmp(s->aux.data, "aux.....", 8) == 0);
		CHECK(s->rest.size == 0);
	}
}

TEST(test_decode__sample_without_stack_has_no_dyn_size)
{
	struct image image = { 0 };
	const struct pd_sample *s;

	image_u64(&image, 0); // size of the stack
	image_u64(&image, 9); // weight
	scope.words[PD_WORD_SAMPLE_TYPE] = PD_MASK(PD_SAMPLE_TYPE_STACK_USER) | PD_MASK(PD_SAMPLE_TYPE_WEIGHT);
	s = DECODE(sample, &image);
	CHECK(s);
	CHECK(s->user_stack->size == 0 && s->user_stack->dyn_size == 0 && s->weight == 9);
}

TEST(test_decode__sample_without_branches_keeps_hw_idx)
{
	struct image image = { 0 };
	const struct pd_sample *s;

	image_u64(&image, 0);
	image_u64(&image, 3);
	image_u64(&image, 9);
	scope.words[PD_WORD_SAMPLE_TYPE] = PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK) | PD_MASK(PD_SAMPLE_TYPE_WEIGHT);
	scope.words[PD_WORD_BRANCH_TYPE] = PD_MASK(PD_BRANCH_TYPE_HW_INDEX);
	s = DECODE(sample, &image);
	CHECK(s);
	CHECK(s->branch_stack->hw_idx == 3 && s->branch_stack->entries.count == 0 && s->weight == 9);
}

TEST(test_decode__read_values_alone)
{
	struct image image = { 0 };
	const struct pd_read *read;

	image_u32(&image, 1), image_u32(&image, 2);
	for (uint64_t i = 10; i < 15; i++)
		image_u64(&image, i);
	scope.words[PD_WORD_READ_FORMAT] = 0x17; // both times, ID, LOST
	read = DECODE(read, &image);
	CHECK(read);
	CHECK(read->pid == 1 && read->tid == 2);
	CHECK(read->counts->value == 10 && read->counts->time_enabled_ns == 11 && read->counts->time_running_ns == 12);
	CHECK(read->counts->id == 13 && read->counts->lost == 14);
}

TEST(test_decode__read_values_of_a_group)
{
	struct image image = { .big = true };
	const struct pd_counts *counts;

	image_u64(&image, 2), image_u64(&image, 11), image_u64(&image, 12);
	for (uint64_t i = 20; i < 26; i++)
		image_u64(&image, i);
	scope.words[PD_WORD_READ_FORMAT] = 0x1f;
	counts = DECODE(counts, &image);
	CHECK(counts);
	CHECK(counts->nr == 2 && counts->time_enabled_ns == 11 && counts->time_running_ns == 12 && counts->id == 0);
	CHECK(PD_ITEM(pd_count, counts->members, 0)->value == 20);
	CHECK(PD_ITEM(pd_count, counts->members, 1)->id == 24);
	CHECK(PD_ITEM(pd_count, counts->members, 1)->lost == 25);
}

TEST(test_decode__counts_that_do_not_fit_are_refused)
{
	static const uint64_t counts[] = { 2, UINT64_C(1) << 32, UINT64_C(1) << 61, UINT64_MAX };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct image image = { 0 };

		image_u64(&image, counts[i]);
		image_u64(&image, 1);
		scope.words[PD_WORD_SAMPLE_TYPE] = PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN);
		CHECK(!DECODE(sample, &image));
		CHECK_STR(cursor.field, "callchain");
		image_u64(&image, counts[i]);
		image_u64(&image, 1);
		scope.words[PD_WORD_SAMPLE_TYPE] = PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK);
		CHECK(!DECODE(sample, &image));
		CHECK_STR(cursor.layout, "branch_stack");
	}
}

// ---- other records of the kernel ----

TEST(test_decode__mmap2_with_inode)
{
	struct image image = { .big = true };
	const struct pd_mmap2 *mmap2;

	image_u32(&image, 1), image_u32(&image, 2);
	image_u64(&image, 3), image_u64(&image, 4), image_u64(&image, 5);
	image_u32(&image, 8), image_u32(&image, 1);
	image_u64(&image, 42), image_u64(&image, 7);
	image_u32(&image, 5), image_u32(&image, 2);
	image_text(&image, "/bin/true", 16);
	mmap2 = DECODE(mmap2, &image);
	CHECK(mmap2);
	CHECK(mmap2->maj == 8 && mmap2->min == 1 && mmap2->ino == 42 && mmap2->ino_generation == 7);
	CHECK(mmap2->build_id.size == 0 && mmap2->prot == 5 && mmap2->flags == 2);
	CHECK_STR(mmap2->filename.data, "/bin/true");
	CHECK(mmap2->filename.length == 9 && mmap2->filename.size == 16);
}

TEST(test_decode__mmap2_with_build_id)
{
	struct image image = { .big = true };
	const struct pd_mmap2 *mmap2;

	image_u32(&image, 1), image_u32(&image, 2);
	image_u64(&image, 3), image_u64(&image, 4), image_u64(&image, 5);
	image_hex(&image, "14 00 0000 000102030405060708090a0b0c0d0e0f10111213");
	image_u32(&image, 5), image_u32(&image, 2);
	image_text(&image, "/bin/true", 16);
	scope.words[PD_WORD_MISC] = 1 << 14;
	mmap2 = DECODE(mmap2, &image);
	CHECK(mmap2);
	CHECK(mmap2->build_id_size == 20 && mmap2->build_id.size == 20 && mmap2->build_id.data[19] == 0x13);
	CHECK(mmap2->ino == 0 && mmap2->prot == 5);
	CHECK_STR(mmap2->filename.data, "/bin/true");
}

TEST(test_decode__text_without_end_is_refused)
{
	struct image image = { 0 };

	image_u32(&image, 1), image_u32(&image, 2);
	image_text(&image, "12345678", 8);
	CHECK(!DECODE(comm, &image));
	CHECK_STR(cursor.field, "comm");
	CHECK_STR(cursor.reason, "unterminated string");
}

TEST(test_decode__text_poke_of_new_code)
{
	struct image image = { 0 };
	const struct pd_text_poke *poke;

	image_u64(&image, 0xffff0000);
	image_u16(&image, 0), image_u16(&image, 5);
	image_bytes(&image, "\x0f\x1f\x44\x00\x00\x00\x00", 7);
	poke = DECODE(text_poke, &image);
	CHECK(poke);
	CHECK(poke->old_bytes.size == 0 && poke->new_bytes.size == 5 && poke->new_bytes.data[2] == 0x44);
	CHECK(poke->rest.size == 2);
}

// ---- records of perf ----

TEST(test_decode__build_id)
{
	struct image image = { .big = true };
	const struct pd_header_build_id *record;

	image_u32(&image, UINT32_MAX);
	image_hex(&image, "000102030405060708090a0b0c0d0e0f10111213 10 00 0000");
	image_text(&image, "[vdso]", 8);
	record = DECODE(header_build_id, &image);
	CHECK(record);
	CHECK(record->pid == -1 && record->build_id.size == 20 && record->size == 16);
	CHECK_STR(record->filename.data, "[vdso]");
}

TEST(test_decode__build_id_of_old_files_has_no_pid)
{
	struct image image = { 0 };
	const struct pd_header_build_id *record;

	image_hex(&image, "000102030405060708090a0b0c0d0e0f10111213 00 00 0000");
	image_text(&image, "/lib/libc.so", 16);
	scope.words[PD_WORD_QUIRKS] = PD_MASK(PD_QUIRKS_BUILD_ID_NO_PID);
	record = DECODE(header_build_id, &image);
	CHECK(record);
	CHECK(record->pid == 0 && record->build_id.data[1] == 1);
	CHECK_STR(record->filename.data, "/lib/libc.so");
}

TEST(test_decode__id_index_with_and_without_guests)
{
	for (unsigned guests = 0; guests < 2; guests++) {
		struct image image = { 0 };
		const struct pd_id_index *index;

		image_u64(&image, 1);
		image_u64(&image, 10), image_u64(&image, 0), image_u64(&image, UINT64_MAX), image_u64(&image, 77);
		if (guests)
			image_u64(&image, 500), image_u64(&image, 3);
		index = DECODE(id_index, &image);
		CHECK(index);
		CHECK(index->entries.count == 1 && PD_ITEM(pd_id_entry, index->entries, 0)->tid == 77);
		CHECK(index->has_guests == guests && index->guests.count == guests);
		CHECK(!guests || PD_ITEM(pd_id_guest, index->guests, 0)->vcpu == 3);
	}
}

TEST(test_decode__cpu_map_of_numbers)
{
	struct image image = { .big = true };
	const struct pd_cpu_map *map;

	image_u16(&image, 0), image_u16(&image, 3);
	image_u16(&image, 0), image_u16(&image, 7), image_u16(&image, 65535);
	image_zeros(&image, 6);
	map = DECODE(cpu_map, &image);
	CHECK(map);
	CHECK(map->cpus->kind == 0 && map->cpus->cpus.count == 3);
	CHECK(map->cpus->cpus.items[1] == 7 && map->cpus->cpus.items[2] == 65535);
	CHECK(map->rest.size == 6);
}

TEST(test_decode__cpu_map_of_words_of_four_bytes)
{
	for (unsigned big = 0; big < 2; big++) {
		struct image image = { .big = big };
		const struct pd_cpu_map_data *map;

		// the mask begins at byte 6, which is no multiple of 4
		image_u16(&image, 1), image_u16(&image, 2), image_u16(&image, 4);
		image_u32(&image, 0x80000001), image_u32(&image, 5);
		image_zeros(&image, 2);
		map = DECODE(cpu_map, &image)->cpus;
		CHECK(map->nr == 2 && map->long_size == 4 && map->mask64.count == 0);
		CHECK(map->mask32.count == 2 && map->mask32.items[0] == 0x80000001 && map->mask32.items[1] == 5);
	}
}

TEST(test_decode__cpu_map_of_words_of_eight_bytes)
{
	for (unsigned big = 0; big < 2; big++) {
		struct image image = { .big = big };
		const struct pd_cpu_map_data *map;

		// four bytes of padding, then the mask at byte 10
		image_u16(&image, 1), image_u16(&image, 1), image_u16(&image, 8);
		image_u32(&image, 0);
		image_u64(&image, 0x8000000000000001);
		image_zeros(&image, 6);
		map = DECODE(cpu_map, &image)->cpus;
		CHECK(map->mask32.count == 0 && map->mask64.count == 1 && map->mask64.items[0] == 0x8000000000000001);
	}
}

TEST(test_decode__cpu_map_of_a_range)
{
	struct image image = { .big = true };
	const struct pd_cpu_map_data *map;

	image_u16(&image, 2), image_u8(&image, 1), image_u8(&image, 0), image_u16(&image, 4), image_u16(&image, 300);
	map = DECODE(cpu_map, &image)->cpus;
	CHECK(map->any_cpu == 1 && map->start_cpu == 4 && map->end_cpu == 300);
}

TEST(test_decode__event_update)
{
	struct image image = { .big = true };
	const struct pd_event_update *update;

	image_u64(&image, 0), image_u64(&image, 42), image_text(&image, "msec", 32);
	update = DECODE(event_update, &image);
	CHECK(update);
	CHECK_STR(update->unit.data, "msec");
	CHECK(update->id == 42 && !update->name.data && !update->cpus);

	image_u64(&image, 1), image_u64(&image, 42), image_u64(&image, 0x3eb0c6f7a0b5ed8d); // 1e-6
	image_zeros(&image, 8);
	update = DECODE(event_update, &image);
	CHECK(update);
	CHECK(update->scale == 1e-6 && !update->unit.data && update->rest.size == 8);

	image_u64(&image, 3), image_u64(&image, 42), image_u16(&image, 0), image_u16(&image, 1), image_u16(&image, 9);
	update = DECODE(event_update, &image);
	CHECK(update);
	CHECK(update->cpus->cpus.count == 1 && update->cpus->cpus.items[0] == 9);
}

TEST(test_decode__time_conv_old_and_new)
{
	struct image image = { 0 };
	const struct pd_time_conv *conv;

	image_u64(&image, 31), image_u64(&image, 1000), image_u64(&image, 5);
	conv = DECODE(time_conv, &image);
	CHECK(conv);
	CHECK(conv->wire_size == 24 && conv->time_zero == 5 && conv->time_mask == 0);

	image_u64(&image, 31), image_u64(&image, 1000), image_u64(&image, 5);
	image_u64(&image, 6), image_u64(&image, 7), image_u8(&image, 1), image_u8(&image, 1), image_zeros(&image, 6);
	conv = DECODE(time_conv, &image);
	CHECK(conv);
	CHECK(conv->time_cycles == 6 && conv->time_mask == 7 && conv->cap_user_time_short == 1);
	CHECK(conv->rest.size == 6);
}

// Everything before the time.
static void put_auxtrace_error(struct image *image, uint32_t fmt)
{
	image_u32(image, 1), image_u32(image, 2), image_u32(image, 3), image_u32(image, 4), image_u32(image, 5);
	image_u32(image, fmt);
	image_u64(image, 6);
}

TEST(test_decode__auxtrace_error_without_time)
{
	struct image image = { 0 };
	const struct pd_auxtrace_error *error;

	put_auxtrace_error(&image, 0);
	image_text(&image, "lost", 8);
	error = DECODE(auxtrace_error, &image);
	CHECK(error);
	CHECK(error->time_ns == 0 && error->ip == 6 && error->msg.size == 8 && !error->has_guest);
	CHECK_STR(error->msg.data, "lost");
}

TEST(test_decode__auxtrace_error_with_guest)
{
	struct image image = { .big = true };
	const struct pd_auxtrace_error *error;

	put_auxtrace_error(&image, 2);
	image_u64(&image, 99);
	image_text(&image, "lost", 64);
	image_u32(&image, 500), image_u32(&image, 1);
	error = DECODE(auxtrace_error, &image);
	CHECK(error);
	CHECK(error->time_ns == 99 && error->has_guest && error->machine_pid == 500 && error->vcpu == 1);
}

TEST(test_decode__auxtrace_error_that_promises_a_guest_but_is_cut)
{
	struct image image = { 0 };
	const struct pd_auxtrace_error *error;

	put_auxtrace_error(&image, 2);
	image_u64(&image, 99);
	image_text(&image, "lost", 16);
	error = DECODE(auxtrace_error, &image);
	CHECK(error);
	CHECK(error->msg.size == 16 && !error->has_guest && error->machine_pid == 0);
}

TEST(test_decode__thread_map_names)
{
	struct image image = { 0 };
	const struct pd_thread_map *map;

	image_u64(&image, 2);
	image_u64(&image, 1), image_text(&image, "init", 16);
	image_u64(&image, UINT64_MAX), image_text(&image, "0123456789abcdef", 16);
	map = DECODE(thread_map, &image);
	CHECK(map);
	CHECK(map->entries.count == 2);
	CHECK_STR(PD_ITEM(pd_thread_map_entry, map->entries, 0)->comm.data, "init");
	// fills its place without a NUL
	CHECK_STR(PD_ITEM(pd_thread_map_entry, map->entries, 1)->comm.data, "0123456789abcdef");
	CHECK(PD_ITEM(pd_thread_map_entry, map->entries, 1)->pid == UINT64_MAX);
}

// Numbers of a scheduling domain: 1, 2, 3 and so on.
static const struct pd_schedstat_domain *decode_domain(uint16_t version, unsigned words)
{
	struct image image = { .big = true };

	image_u64(&image, 9), image_u32(&image, 1), image_u16(&image, version), image_u16(&image, 2);
	for (unsigned i = 1; i <= words; i++)
		image_u32(&image, i);
	return DECODE(schedstat_domain, &image);
}

TEST(test_decode__schedstat_domain_of_each_version)
{
	const struct pd_schedstat_domain *domain = decode_domain(15, 36);

	CHECK(domain);
	CHECK(domain->idle->count == 1 && domain->busy->count == 9 && domain->newidle->count == 17);
	CHECK(domain->idle->imbalance == 4 && domain->idle->nobusyg == 8 && domain->ttwu_move_balance == 36);
	domain = decode_domain(16, 36);
	CHECK(domain);
	CHECK(domain->busy->count == 1 && domain->idle->count == 9 && domain->newidle->count == 17);
	domain = decode_domain(17, 45);
	CHECK(domain);
	CHECK(domain->busy->count == 1 && domain->idle->count == 12 && domain->newidle->count == 23);
	CHECK(domain->busy->imbalance == 0 && domain->busy->imbalance_misfit == 7 && domain->ttwu_move_balance == 45);
}

// ---- features ----

TEST(test_decode__string_of_any_size)
{
	struct image image = { 0 };
	const struct pd_string *string;

	image_pstr(&image, "hosty", 6);
	string = DECODE(string, &image);
	CHECK(string);
	CHECK_STR(string->value.data, "hosty");
	CHECK(string->value.size == 6);

	image_pstr(&image, "hosty", 64);
	CHECK_STR(DECODE(string, &image)->value.data, "hosty");

	image_pstr(&image, "host", 4);
	string = DECODE(string, &image);
	CHECK(string);
	CHECK_STR(string->value.data, "host");
	CHECK(string->value.length == 4 && string->value.size == 4);

	image_pstr(&image, "", 0);
	string = DECODE(string, &image);
	CHECK(string);
	CHECK_STR(string->value.data, "");
}

TEST(test_decode__string_larger_than_its_place_is_refused)
{
	struct image image = { 0 };

	image_u32(&image, 65), image_zeros(&image, 64);
	CHECK(!DECODE(string, &image));
	image_u32(&image, UINT32_MAX), image_zeros(&image, 64);
	CHECK(!DECODE(string, &image));
}

TEST(test_decode__mem_topology_has_its_size_twice)
{
	struct image image = { 0 };
	const struct pd_mem_topology *memory;
	const struct pd_memory_node *node;

	image_u64(&image, 1), image_u64(&image, 0x8000000), image_u64(&image, 1);
	image_u64(&image, 0), image_u64(&image, 128), image_u64(&image, 128), image_u64(&image, 0xff),
		image_u64(&image, 3);
	memory = DECODE(mem_topology, &image);
	CHECK(memory);
	node = PD_ITEM(pd_memory_node, memory->nodes, 0);
	CHECK(memory->block_size_bytes == 0x8000000 && node->size == 128 && node->bitmap.count == 2);
	CHECK(node->bitmap.items[0] == 0xff && node->bitmap.items[1] == 3 && memory->rest.size == 0);
}

static void put_cpu_topology(struct image *image, unsigned revision)
{
	image_u32(image, 1), image_pstr(image, "0-1", 64);
	image_u32(image, 2), image_pstr(image, "0", 64), image_pstr(image, "1", 64);
	if (revision >= 2)
		for (unsigned i = 0; i < 4; i++)
			image_u32(image, i == 3 ? UINT32_MAX : i);
	if (revision >= 3) {
		image_u32(image, 1), image_pstr(image, "0-1", 64);
		image_u32(image, 0), image_u32(image, 1);
	}
}

TEST(test_decode__cpu_topology_of_each_revision)
{
	for (unsigned revision = 1; revision <= 3; revision++) {
		struct image image = { .big = true };
		const struct pd_cpu_topology *cpus;

		put_cpu_topology(&image, revision);
		scope.words[PD_WORD_NRCPUS] = 2;
		cpus = DECODE(cpu_topology, &image);
		CHECK(cpus);
		CHECK(cpus->core_lists.count == 1 && cpus->thread_lists.count == 2);
		CHECK(cpus->has_places == (revision >= 2) && cpus->has_dies == (revision >= 3));
		CHECK(cpus->places.count == (revision >= 2 ? 2 : 0) && cpus->die_ids.count == (revision >= 3 ? 2 : 0));
		CHECK(revision < 2 || PD_ITEM(pd_cpu_place, cpus->places, 1)->core_id == 2);
		CHECK(revision < 2 || PD_ITEM(pd_cpu_place, cpus->places, 1)->package_id == UINT32_MAX);
		CHECK(revision < 3 || cpus->die_ids.items[1] == 1);
		CHECK(cpus->rest.size == 0);
	}
}

TEST(test_decode__event_desc_with_attrs_of_its_own_size)
{
	struct image image = { .big = true };
	const struct pd_event_desc *desc;
	const struct pd_event_desc_entry *entry;

	image_u32(&image, 2), image_u32(&image, 72);
	for (uint32_t i = 0; i < 2; i++) {
		image_attr(&image, i, 5, 0, 0, 0);
		image_u64(&image, 88); // config2
		image_u32(&image, i), image_pstr(&image, i ? "second" : "first", 64);
		for (uint32_t j = 0; j < i; j++)
			image_u64(&image, 7);
	}
	desc = DECODE(event_desc, &image);
	CHECK(desc);
	CHECK(desc->events.count == 2 && desc->rest.size == 0);
	entry = PD_ITEM(pd_event_desc_entry, desc->events, 1);
	CHECK(entry->attr->type == 1 && entry->attr->config2 == 88 && entry->ids.count == 1 &&
	      entry->ids.items[0] == 7);
	CHECK_STR(entry->name.data, "second");
}

TEST(test_decode__event_desc_with_an_impossible_size_is_refused)
{
	static const uint32_t sizes[] = { 0, 1, 63, 100000, UINT32_MAX };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct image image = { 0 };

		image_u32(&image, 1), image_u32(&image, sizes[i]), image_zeros(&image, 200);
		CHECK(!DECODE(event_desc, &image));
	}
}

TEST(test_decode__bpf_prog_info_of_an_old_kernel)
{
	struct image image = { 0 };
	const struct pd_bpf_programs *programs;
	const struct pd_bpf_program *program;

	image_u32(&image, 1);
	image_u32(&image, 80), image_u32(&image, 8), image_u64(&image, 2);
	image_u32(&image, 1), image_u32(&image, 33), image_bytes(&image, "tagtagta", 8);
	image_zeros(&image, 48), image_text(&image, "prog", 16);
	image_bytes(&image, "bpfcode.", 8);
	programs = DECODE(bpf_programs, &image);
	CHECK(programs);
	program = PD_ITEM(pd_bpf_program, programs->programs, 0);
	CHECK(program->info->id == 33 && program->info->tag.data[0] == 't' && program->info->has_name);
	CHECK(memcmp(program->info->name.data, "prog", 5) == 0 && program->info->run_cnt == 0);
	CHECK(program->data.size == 8 && memcmp(program->data.data, "bpfcode.", 8) == 0);
}

TEST(test_decode__tracing_data_in_its_own_order)
{
	// the order of the blob is said by itself, not by the file
	for (unsigned big = 0; big < 2; big++) {
		struct image image = { .big = big };
		const struct pd_tracing_data *data;

		image_bytes(&image, "\x17\x08\x44tracing", 10);
		image_text(&image, "0.6", 4);
		image_u8(&image, big), image_u8(&image, 8), image_u32(&image, 4096);
		image_text(&image, "header_page", 12), image_u64(&image, 4), image_bytes(&image, "page", 4);
		image_text(&image, "header_event", 13), image_u64(&image, 5), image_bytes(&image, "event", 5);
		image_u32(&image, 0);
		image_u32(&image, 1), image_text(&image, "sched", 6), image_u32(&image, 1);
		image_u64(&image, 6), image_bytes(&image, "format", 6);
		image_u32(&image, 0), image_u32(&image, 0);
		image.big = !big;
		data = DECODE(tracing_data, &image);
		CHECK(data);
		CHECK_STR(data->version.data, "0.6");
		CHECK(data->page_size == 4096 && data->header_event.size == 5 && data->systems.count == 1);
		CHECK_STR(PD_ITEM(pd_tracing_system, data->systems, 0)->name.data, "sched");
		CHECK(!data->has_cmdlines && data->rest.size == 0);
	}
}

TEST(test_decode__auxtrace_index_of_perf_and_of_simpleperf)
{
	struct image image = { 0 };
	const struct pd_auxtrace_index *index;

	image_u64(&image, 1), image_u64(&image, 9896), image_u64(&image, 48);
	index = DECODE(auxtrace_index, &image);
	CHECK(index);
	CHECK(index->entries.count == 1 && PD_ITEM(pd_auxtrace_index_entry, index->entries, 0)->file_offset == 9896);

	image_u64(&image, 9896), image_u64(&image, 48);
	scope.words[PD_WORD_QUIRKS] = PD_MASK(PD_QUIRKS_AUXTRACE_NO_COUNT);
	index = DECODE(auxtrace_index, &image);
	CHECK(index);
	CHECK(index->entries.count == 1 && PD_ITEM(pd_auxtrace_index_entry, index->entries, 0)->size == 48);
}

// ---- simpleperf ----

TEST(test_decode__simpleperf_file_of_each_type)
{
	for (uint32_t type = 0; type < 5; type++) {
		struct image image = { 0 };
		const struct pd_simpleperf_files *files;
		const struct pd_simpleperf_file *file;
		size_t begin;

		image_u32(&image, 0);
		begin = image.size;
		image_text(&image, "/lib/a.so", 10), image_u32(&image, type), image_u64(&image, 0x1000);
		image_u32(&image, 1), image_u64(&image, 0x2000), image_u32(&image, 16), image_text(&image, "main", 5);
		if (type == 3)
			image_u32(&image, 1), image_u64(&image, 77);
		if (type == 2)
			image_u64(&image, 0x40);
		image_set(&image, 0, image.size - begin, 4);
		files = DECODE(simpleperf_files, &image);
		CHECK(files);
		CHECK(files->files.count == 1);
		file = PD_ITEM(pd_simpleperf_file_entry, files->files, 0)->file;
		CHECK_STR(file->path.data, "/lib/a.so");
		CHECK_STR(PD_ITEM(pd_simpleperf_file_symbol, file->symbols, 0)->name.data, "main");
		CHECK(file->dex_offsets.count == (type == 3) && file->has_offset == (type == 2));
		CHECK(type != 2 || file->min_vaddr_offset == 0x40);
	}
}

TEST(test_decode__simpleperf_meta_info)
{
	static const char bytes[] = "simpleperf_version\0001.2\0trace_offcpu\0false";
	struct image image = { 0 };
	const struct pd_simpleperf_meta_info *info;

	image_bytes(&image, bytes, sizeof(bytes));
	info = DECODE(simpleperf_meta_info, &image);
	CHECK(info);
	CHECK(info->pairs.count == 2);
	CHECK_STR(PD_ITEM(pd_simpleperf_pair, info->pairs, 1)->key.data, "trace_offcpu");
	CHECK_STR(PD_ITEM(pd_simpleperf_pair, info->pairs, 1)->value.data, "false");
}

RUN(TEST_CASE(test_decode__attr_flags_in_both_orders), TEST_CASE(test_decode__attr_precise_ip_is_not_turned_around),
    TEST_CASE(test_decode__attr_aux_action), TEST_CASE(test_decode__attr_of_every_size),
    TEST_CASE(test_decode__attr_of_a_newer_kernel_keeps_what_is_not_known),
    TEST_CASE(test_decode__attr_shorter_than_the_first_is_refused),
    TEST_CASE(test_decode__header_attr_finds_ids_after_its_own_size),
    TEST_CASE(test_decode__header_attr_larger_than_its_record_is_refused),
    TEST_CASE(test_decode__sample_with_every_field), TEST_CASE(test_decode__sample_without_stack_has_no_dyn_size),
    TEST_CASE(test_decode__sample_without_branches_keeps_hw_idx), TEST_CASE(test_decode__read_values_alone),
    TEST_CASE(test_decode__read_values_of_a_group), TEST_CASE(test_decode__counts_that_do_not_fit_are_refused),
    TEST_CASE(test_decode__mmap2_with_inode), TEST_CASE(test_decode__mmap2_with_build_id),
    TEST_CASE(test_decode__text_without_end_is_refused), TEST_CASE(test_decode__text_poke_of_new_code),
    TEST_CASE(test_decode__build_id), TEST_CASE(test_decode__build_id_of_old_files_has_no_pid),
    TEST_CASE(test_decode__id_index_with_and_without_guests), TEST_CASE(test_decode__cpu_map_of_numbers),
    TEST_CASE(test_decode__cpu_map_of_words_of_four_bytes), TEST_CASE(test_decode__cpu_map_of_words_of_eight_bytes),
    TEST_CASE(test_decode__cpu_map_of_a_range), TEST_CASE(test_decode__event_update),
    TEST_CASE(test_decode__time_conv_old_and_new), TEST_CASE(test_decode__auxtrace_error_without_time),
    TEST_CASE(test_decode__auxtrace_error_with_guest),
    TEST_CASE(test_decode__auxtrace_error_that_promises_a_guest_but_is_cut), TEST_CASE(test_decode__thread_map_names),
    TEST_CASE(test_decode__schedstat_domain_of_each_version), TEST_CASE(test_decode__string_of_any_size),
    TEST_CASE(test_decode__string_larger_than_its_place_is_refused),
    TEST_CASE(test_decode__mem_topology_has_its_size_twice), TEST_CASE(test_decode__cpu_topology_of_each_revision),
    TEST_CASE(test_decode__event_desc_with_attrs_of_its_own_size),
    TEST_CASE(test_decode__event_desc_with_an_impossible_size_is_refused),
    TEST_CASE(test_decode__bpf_prog_info_of_an_old_kernel), TEST_CASE(test_decode__tracing_data_in_its_own_order),
    TEST_CASE(test_decode__auxtrace_index_of_perf_and_of_simpleperf),
    TEST_CASE(test_decode__simpleperf_file_of_each_type), TEST_CASE(test_decode__simpleperf_meta_info))
