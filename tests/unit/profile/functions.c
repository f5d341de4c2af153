/* SPDX-License-Identifier: MIT */
/*
 * With symbols a frame of a profile is a function: its addresses are distinguished if they are asked for. What has no name is a
 * frame for each address, or one for each object. Whatever is asked for, the same samples are in it.
 */
#include <fcntl.h>

#include "recording.h"

#define SAMPLE(pid, mode, ip, time, chain)                                                             \
	"SAMPLE misc: " mode ", identifier: 7, ip: " ip ", pid: " pid ", tid: " pid ", time_ns: " time \
	", period: 10, "                                                                               \
	"callchain: [" chain "]\n"
#define PROGRAM(pid, start)                                                                         \
	"COMM pid: " pid ", tid: " pid ", comm: \"one\", sample_id: {pid: " pid ", tid: " pid       \
	", time_ns: 1, identifier: 7}\n"                                                            \
	"MMAP pid: " pid ", tid: " pid ", addr: " start                                             \
	", len: 0x1000, pgoff: 0x0, filename: \"/no/program\", sample_id: {pid: " pid ", tid: " pid \
	", time_ns: 2, identifier: 7}\n"

// Two processes with one program at different addresses, functions of the kernel, and callers where nothing is mapped.
static const char recording[] =
	"header form: file, byte_order: little\n"
	"event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 1000, "
	"sample_type: IP|TID|TIME|PERIOD|IDENTIFIER|CALLCHAIN, flags: sample_id_all}\n"
	"MMAP misc: kernel, pid: -1, tid: 0, addr: 0xffffffff81000000, len: 0x1000000, pgoff: 0xffffffff81000000, "
	"filename: \"[kernel.kallsyms]_text\"\n" PROGRAM("5", "0x10000") PROGRAM("6", "0x20000")
		SAMPLE("5", "kernel", "0xffffffff81000010", "100", "KERNEL 0xffffffff81000010 USER 0x10100 0x7")
			SAMPLE("5", "kernel", "0xffffffff81000020", "200", "KERNEL 0xffffffff81000020 USER 0x10100 0x8")
				SAMPLE("6", "kernel", "0xffffffff81000810", "300",
				       "KERNEL 0xffffffff81000810 0xffffffff81000030 USER 0x20200 0x9")
					SAMPLE("6", "user", "0x20100", "400", "USER 0x20100 0x7")
						SAMPLE("6", "user", "0x20104", "500", "USER 0x20104 0x7");

static const char list[] = "ffffffff81000000 T _text\nffffffff81000000 T first\nffffffff81000800 T second\n"
			   "ffffffff81001000 T _etext\n";

struct names {
	struct pd_file *file;
	struct pd_symbols *symbols;
	const char *list;
	int asked;
};

static struct pd_symbols *open_names(void *self, const struct pd_state *state)
{
	struct names *names = self;
	const struct pd_symbols_options options = { .size = sizeof(options), .kallsyms = names->list };

	names->asked++;
	if (pd_symbols_new(names->file, state, &options, &names->symbols, NULL) < 0)
		names->symbols = NULL;
	return names->symbols;
}

static enum pd_status read_profile(struct names *names, struct pd_profile_options options,
				   struct pd_profile **profile_out)
{
	options.size = sizeof(options);
	options.by |= options.places_as_one ? 0 : PD_BY_CHAIN;
	options.symbols = open_names;
	options.self = names;
	*profile_out = NULL;
	return pd_profile_read(names->file, &options, profile_out, NULL);
}

static uint64_t samples_of(const struct pd_profile *profile)
{
	struct pd_profile_entry entry;
	uint64_t samples = 0;

	for (size_t i = 0; pd_profile_entry(profile, i, &entry); i++)
		samples += entry.samples;
	return samples;
}

static bool open_list(struct names *names)
{
	int fd = open(path_of("list"), O_CREAT | O_WRONLY | O_TRUNC, 0600);
	bool done = fd >= 0 && write(fd, list, sizeof(list) - 1) == (ssize_t)sizeof(list) - 1;

	if (fd >= 0)
		close(fd);
	*names = (struct names){ .file = open_text(recording), .list = path_of("list") };
	return done && names->file;
}

static void close_all(struct names *names, struct pd_profile *profile)
{
	pd_symbols_free(names->symbols);
	pd_profile_free(profile);
	pd_file_close(names->file);
	unlink(path_of("list"));
}

// How many frames and entries there are; once named, the first frame is that of the first sample.
static void check_counts(struct pd_profile_options options, size_t frames, size_t entries)
{
	struct pd_profile *profile;
	const struct pd_frame *frame;
	struct names names;

	CHECK(open_list(&names));
	CHECK(read_profile(&names, options, &profile) == PD_OK);
	CHECK(names.asked == !(options.by & PD_BY_ADDRESS));
	if (!names.symbols)
		CHECK(open_names(&names, pd_profile_state(profile)));
	CHECK(samples_of(profile) == 5);
	CHECK(pd_profile_name(profile, names.symbols, NULL) == PD_OK);
	if (pd_profile_frame_count(profile) != frames || pd_profile_entry_count(profile) != entries)
		printf("# %zu frames, %zu entries\n", pd_profile_frame_count(profile), pd_profile_entry_count(profile));
	CHECK(pd_profile_frame_count(profile) == frames && pd_profile_entry_count(profile) == entries);
	frame = pd_profile_frame(profile, 0);
	CHECK(frame->place.recorded == UINT64_C(0xffffffff81000010) && frame->when.time_ns == 100);
	CHECK(frame->place.function && !strcmp(frame->place.function->name, "first"));
	close_all(&names, profile);
}

TEST(addresses_if_they_are_asked_for)
{
	// four of the kernel, three of the program, three where nothing is mapped
	check_counts((struct pd_profile_options){ .by = PD_BY_ADDRESS }, 10, 5);
}

TEST(functions)
{
	// those of the kernel are two
	check_counts((struct pd_profile_options){ .by = 0 }, 8, 5);
	// which have no lines
	check_counts((struct pd_profile_options){ .by = PD_BY_LINE }, 8, 5);
}

TEST(what_has_no_name_as_one)
{
	// one of the program, one where nothing is mapped; the first two samples have one stack, and the last two
	check_counts((struct pd_profile_options){ .unnamed_as_one = true }, 4, 3);
}

TEST(places_as_one)
{
	// with a function: those of the kernel; without one: those of the program
	check_counts((struct pd_profile_options){ .places_as_one = true }, 2, 2);
	check_counts((struct pd_profile_options){ .by = PD_BY_PID, .places_as_one = true }, 2, 3);
	check_counts((struct pd_profile_options){ .threads = 4, .places_as_one = true }, 2, 2);
}

TEST(functions_are_those_of_all_threads)
{
	check_counts((struct pd_profile_options){ .threads = 4 }, 8, 5);
	check_counts((struct pd_profile_options){ .threads = 4, .unnamed_as_one = true }, 4, 3);
}

// The sizes of a profile: stacks, nodes, frames without a function.
static void check_sizes(struct pd_profile_options options, uint64_t stacks, uint64_t nodes, uint64_t unnamed)
{
	const struct pd_profile_sizes *sizes;
	struct pd_profile *profile;
	struct names names;
	uint64_t bytes = 0, stack_bytes = 0;

	CHECK(open_list(&names));
	CHECK(read_profile(&names, options, &profile) == PD_OK);
	if (!names.symbols)
		CHECK(open_names(&names, pd_profile_state(profile)));
	CHECK(pd_profile_measure(profile, NULL, &sizes, NULL) == PD_OK);
	CHECK(!sizes->functions && !sizes->unnamed_frames && sizes->nodes == nodes);
	CHECK(pd_profile_name(profile, names.symbols, NULL) == PD_OK);
	CHECK(pd_profile_measure(profile, names.symbols, &sizes, NULL) == PD_OK);
	CHECK(sizes->samples == 5 && sizes->functions == 2 && sizes->names == 2);
	CHECK(sizes->stacks == stacks && sizes->nodes == nodes && sizes->unnamed_frames == unnamed);
	CHECK(sizes->stacks == pd_profile_stack_count(profile) && sizes->frames == pd_profile_frame_count(profile));
	CHECK(sizes->buckets == pd_profile_entry_count(profile) && sizes->tables.count > 5);
	for (size_t i = 0; i < sizes->tables.count; i++) {
		const struct pd_profile_table *table = PD_ITEM(pd_profile_table, sizes->tables, i);

		CHECK(table->name && table->doc && (table->bytes || !table->count));
		bytes += table->bytes;
		stack_bytes += table->stacks ? table->bytes : 0;
	}
	CHECK(bytes == sizes->bytes && stack_bytes == sizes->stack_bytes && stack_bytes < bytes);
	close_all(&names, profile);
}

TEST(sizes)
{
	for (unsigned threads = 1; threads < 4; threads += 2) {
		// from 0x7: two callers, below one of them a function; from 0x8: two more; from 0x9: three more
		check_sizes((struct pd_profile_options){ .by = PD_BY_ADDRESS, .threads = threads }, 5, 11, 6);
		check_sizes((struct pd_profile_options){ .threads = threads }, 5, 11, 6);
		// one path of four, and stacks end at three of its nodes
		check_sizes((struct pd_profile_options){ .unnamed_as_one = true, .threads = threads }, 3, 4, 2);
	}
}

static enum pd_choice leave(const void *self, const struct pd_candidate *candidate)
{
	(void)self;
	(void)candidate;
	return PD_CHOICE_LEAVE;
}

TEST(nobody_asks_for_symbols_without_samples)
{
	struct pd_profile *profile;
	struct names names;

	CHECK(open_list(&names));
	CHECK(read_profile(&names, (struct pd_profile_options){ .choose = leave }, &profile) == PD_OK);
	CHECK(names.asked == 0 && samples_of(profile) == 0);
	close_all(&names, profile);
}

TEST(without_symbols_addresses_are_distinguished)
{
	struct pd_profile *profile;
	struct names names;

	CHECK(open_list(&names));
	names.list = path_of("missing");
	CHECK(read_profile(&names, (struct pd_profile_options){ .unnamed_as_one = true }, &profile) == PD_OK);
	CHECK(names.asked == 1 && !names.symbols);
	// four of the kernel, three of the program; where nothing is mapped symbols have nothing to say
	CHECK(samples_of(profile) == 5 && pd_profile_frame_count(profile) == 8);
	close_all(&names, profile);
}

TEST(sizes_side_by_side)
{
	struct pd_profile_options options = { .threads = 1 };
	struct pd_text *text = pd_text_new(), *json = pd_text_new();
	struct pd_size_table *table;
	struct pd_profile *profile;
	struct names names;
	size_t ways = 0;

	CHECK(text && json && pd_size_table_new(&table, NULL) == PD_OK);
	for (; pd_size_table_ask(table, &options); ways++, options = (struct pd_profile_options){ .threads = 1 }) {
		CHECK(open_list(&names));
		CHECK(read_profile(&names, options, &profile) == PD_OK);
		CHECK(pd_size_table_add(table, profile, names.symbols, NULL) == PD_OK);
		if (ways == 2)
			CHECK(pd_size_table_add(table, profile, names.symbols, NULL) == PD_ERROR_ARGUMENT);
		close_all(&names, profile);
	}
	CHECK(ways == 3);
	pd_size_table_text(table, text);
	pd_size_table_json(table, json);
	pd_text_printf(text, "%c", 0);
	pd_text_printf(json, "%c", 0);
	CHECK(strstr((const char *)pd_text_bytes(text).data,
		     "samples                                    5               5               5\n"));
	CHECK(strstr((const char *)pd_text_bytes(json).data, "{\"way\":\"unnamed as one\",\"samples\":5,"));
	pd_text_free(text);
	pd_text_free(json);
	pd_size_table_free(table);
}

TEST(memory_that_runs_out)
{
	bool done = false;
	long failures = 0;

	for (long turn = 0; !done; turn++) {
		struct pd_size_table *table = NULL;
		struct pd_profile *profile;
		enum pd_status status;
		struct names names;

		CHECK(open_list(&names));
		has_failed = false;
		left = turn;
		status = read_profile(&names, (struct pd_profile_options){ .threads = 1 }, &profile);
		if (status == PD_OK)
			status = pd_size_table_new(&table, NULL);
		if (status == PD_OK)
			status = pd_size_table_add(table, profile, names.symbols, NULL);
		left = -1;
		pd_size_table_free(table);
		CHECK(status == PD_OK ? samples_of(profile) == 5 : status == PD_ERROR_MEMORY && has_failed);
		failures += status < 0;
		done = !has_failed;
		close_all(&names, profile);
	}
	CHECK(failures > 20);
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

TEST(clean)
{
	CHECK(rmdir(folder) == 0);
}

RUN(TEST_CASE(start), TEST_CASE(addresses_if_they_are_asked_for), TEST_CASE(functions),
    TEST_CASE(what_has_no_name_as_one), TEST_CASE(places_as_one), TEST_CASE(functions_are_those_of_all_threads),
    TEST_CASE(sizes), TEST_CASE(nobody_asks_for_symbols_without_samples),
    TEST_CASE(without_symbols_addresses_are_distinguished), TEST_CASE(sizes_side_by_side),
    TEST_CASE(memory_that_runs_out), TEST_CASE(clean))
