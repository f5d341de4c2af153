/* SPDX-License-Identifier: MIT */
/*
 * Files, written again: in each form, order and compression, and once more from that. Samples do not get lost, and what
 * is in canonical layout stays as it is.
 */
#include <perfdata/writer.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mutate.h"
#include "walk.h"

static const struct form {
	enum pd_mode mode;
	enum pd_endian endian;
	enum pd_packing packing;
} forms[] = {
	{ PD_MODE_FILE, PD_ENDIAN_SAME, PD_PACK_KEEP },   { PD_MODE_PIPE, PD_ENDIAN_SAME, PD_PACK_NONE },
	{ PD_MODE_FILE, PD_ENDIAN_BIG, PD_PACK_KEEP },    { PD_MODE_PIPE, PD_ENDIAN_LITTLE, PD_PACK_KEEP },
#ifdef HAVE_ZSTD
	{ PD_MODE_FILE, PD_ENDIAN_LITTLE, PD_PACK_ZSTD }, { PD_MODE_PIPE, PD_ENDIAN_BIG, PD_PACK_ZSTD2 },
#endif
};

struct counts {
	uint64_t records, samples;
	bool refused; // an input, or an output that cannot have what the input has
};

static bool ignore(void *self, const struct pd_problem *problem)
{
	(void)self;
	(void)problem;
	return true;
}

static bool open_memory(const uint8_t *data, size_t size, struct pd_file **file, struct pd_stream **stream)
{
	const struct pd_open_options options = {
		.size = sizeof(options), .problem = ignore, .memory_limit = 16 << 20, .inflate_limit = 16 << 20
	};
	enum pd_status status = pd_file_open_memory(data, size, &options, file, NULL);

	REQUIRE(status != PD_ERROR_MEMORY);
	if (status < 0)
		return false;
	REQUIRE(pd_stream_open(*file, NULL, stream, NULL) == PD_OK);
	return true;
}

// Writes a file again to a descriptor.
static struct counts write_again(const uint8_t *data, size_t size, const struct form *form, int fd)
{
	struct pd_writer_options options = { .size = sizeof(options),
					     .mode = form->mode,
					     .endian = form->endian,
					     .packing = form->packing,
					     .input_count = 1,
					     .save_bytes = 4096 };
	struct counts counts = { .refused = true };
	enum pd_status status, read = PD_OK;
	const struct pd_record *record;
	struct pd_stream *stream;
	struct pd_writer *writer;
	struct pd_file *file;

	if (!open_memory(data, size, &file, &stream))
		return counts;
	options.inputs = &file;
	status = pd_writer_open_fd(fd, "memory", &options, &writer, NULL);
	REQUIRE(status == PD_OK);
	status = pd_writer_copy_metadata(writer, file, NULL);
	while (status >= 0 && (read = pd_stream_next(stream, &record, NULL)) == PD_OK) {
		counts.records++;
		counts.samples += record->type == PD_RECORD_SAMPLE;
		status = pd_writer_pass(writer, stream, record, NULL);
		if (status >= 0)
			counts.samples += pd_writer_pass_following(writer, stream);
	}
	REQUIRE(status != PD_ERROR_MEMORY && status != PD_ERROR_SYSTEM);
	REQUIRE(status >= 0 ? (status = pd_writer_finish(writer, NULL)) <= 0 : (pd_writer_abort(writer), true));
	counts.refused = status < 0 || read < 0;
	pd_stream_close(stream);
	pd_file_close(file);
	return counts;
}

static const uint8_t *map(int fd, size_t *size)
{
	off_t end = lseek(fd, 0, SEEK_END);
	const uint8_t *data;

	REQUIRE(end > 0);
	data = mmap(NULL, (size_t)end, PROT_READ, MAP_PRIVATE, fd, 0);
	REQUIRE(data != MAP_FAILED);
	*size = (size_t)end;
	return data;
}

// Events that a pipe tells after its first records stand after the data, which is not where a file has them that is
// made of a file.
static bool has_events_after(const uint8_t *data, size_t size)
{
	const struct pd_header *header;
	struct pd_file *file;
	bool after;

	REQUIRE(pd_file_open_memory(data, size, NULL, &file, NULL) >= 0);
	header = pd_file_header(file);
	after = header->attrs_offset > header->data_offset;
	pd_file_close(file);
	return after;
}

// What was made of a file is made again as it is.
static void try_remade(const uint8_t *data, size_t size)
{
	static const struct form canonical = { PD_MODE_FILE, PD_ENDIAN_SAME, PD_PACK_KEEP };
	int third = memfd_create("third", 0);
	const uint8_t *again;
	size_t again_size;

	REQUIRE(third >= 0 && !write_again(data, size, &canonical, third).refused);
	again = map(third, &again_size);
	REQUIRE(again_size == size && memcmp(again, data, size) == 0);
	munmap((void *)(uintptr_t)again, again_size);
	close(third);
}

static void try_form(const uint8_t *data, size_t size, const struct form *form)
{
	static const struct form canonical = { PD_MODE_FILE, PD_ENDIAN_SAME, PD_PACK_KEEP };
	int first = memfd_create("first", 0), second = memfd_create("second", 0);
	struct counts counts, again;
	const uint8_t *made, *remade;
	size_t made_size, remade_size;

	REQUIRE(first >= 0 && second >= 0);
	counts = write_again(data, size, form, first);
	if (!counts.refused) {
		made = map(first, &made_size);
		again = write_again(made, made_size, &canonical, second);
		// samples without any event may be all there is: a pipe of nothing can be read, and is nothing
		REQUIRE(again.refused || again.samples == counts.samples);
		if (!again.refused && form == &forms[0]) {
			remade = map(second, &remade_size);
			if (has_events_after(made, made_size))
				try_remade(remade, remade_size);
			else
				REQUIRE(remade_size == made_size && memcmp(remade, made, made_size) == 0);
			munmap((void *)(uintptr_t)remade, remade_size);
		}
		munmap((void *)(uintptr_t)made, made_size);
	}
	close(first);
	close(second);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return mutate(data, size, max_size, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		try_form(data, size, &forms[i]);
	return 0;
}
