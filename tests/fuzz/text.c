/* SPDX-License-Identifier: MIT */
/*
 * Text that is assembled, and recordings as text. What comes out of an assembler can be opened, its text gives it again
 * byte for byte, and the text of a recording gives what writing the recording again gives.
 */
#include <perfdata/assemble.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mutate.h"
#include "walk.h"

enum {
	LIMIT = 16 << 20,
	PIECE = 777 // bytes of text at a time: lines are cut anywhere
};

struct target {
	int fd;
	struct pd_writer *writer;
	bool refused; // a form that a descriptor cannot have
};

static enum pd_status open_writer(void *self, const struct pd_writer_options *said, struct pd_writer **writer_out,
				  struct pd_error *error)
{
	struct target *target = self;
	struct pd_writer_options options = *said;
	enum pd_status status;

	options.save_bytes = 4096;
	status = pd_writer_open_fd(target->fd, "memory", &options, &target->writer, error);
	target->refused = status < 0;
	*writer_out = target->writer;
	return status;
}

// False if the text is refused.
static bool assemble(const uint8_t *text, size_t size, int fd)
{
	struct target target = { .fd = fd };
	const struct pd_assembler_options options = {
		.size = sizeof(options), .open = open_writer, .self = &target, .memory_limit = LIMIT
	};
	struct pd_assembler *assembler;
	struct pd_error error;
	enum pd_status status;

	REQUIRE(pd_assembler_new(&options, &assembler, NULL) == PD_OK);
	for (size_t at = 0; (status = at < size ? PD_OK : PD_END) == PD_OK; at += PIECE) {
		status = pd_assembler_take(assembler, (const char *)text + at, size - at < PIECE ? size - at : PIECE,
					   &error);
		if (status < 0)
			break;
	}
	if (status >= 0)
		status = pd_assembler_finish(assembler, &error);
	if (status < 0)
		REQUIRE(error.status == status && *error.message && status != PD_ERROR_SYSTEM);
	pd_assembler_free(assembler);
	if (status < 0)
		pd_writer_abort(target.writer);
	else
		REQUIRE(pd_writer_finish(target.writer, NULL) == PD_OK);
	return status >= 0;
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

static struct pd_file *open_file(const uint8_t *data, size_t size)
{
	const struct pd_open_options options = { .size = sizeof(options),
						 .memory_limit = LIMIT,
						 .inflate_limit = LIMIT };
	struct pd_file *file = NULL;
	enum pd_status status = pd_file_open_memory(data, size, &options, &file, NULL);

	REQUIRE(status != PD_ERROR_MEMORY);
	return status < 0 ? NULL : file;
}

// NULL if the file is refused.
static struct pd_text *text_of(const uint8_t *data, size_t size, bool packed)
{
	const struct pd_disassembler_options options = { .size = sizeof(options), .packed = packed };
	struct pd_file *file = open_file(data, size);
	struct pd_disassembler *disassembler;
	struct pd_text *text = pd_text_new();
	enum pd_status status;

	REQUIRE(text);
	if (file) {
		REQUIRE(pd_disassembler_open(file, &options, &disassembler, NULL) == PD_OK);
		while ((status = pd_disassembler_next(disassembler, text, NULL)) == PD_OK)
			;
		REQUIRE(status != PD_ERROR_MEMORY && !pd_text_failed(text));
		pd_disassembler_close(disassembler);
	}
	pd_file_close(file);
	if (file && status == PD_END)
		return text;
	pd_text_free(text);
	return NULL;
}

// What writing the file again gives. False if that is refused.
static bool write_again(const uint8_t *data, size_t size, int fd)
{
	struct pd_writer_options options = { .size = sizeof(options), .input_count = 1, .save_bytes = 4096 };
	struct pd_file *file = open_file(data, size);
	const struct pd_record *record;
	enum pd_status status, read = PD_OK;
	struct pd_stream *stream;
	struct pd_writer *writer;

	if (!file)
		return false;
	options.mode = pd_file_header(file)->mode;
	options.inputs = &file;
	REQUIRE(pd_stream_open(file, NULL, &stream, NULL) == PD_OK);
	REQUIRE(pd_writer_open_fd(fd, "memory", &options, &writer, NULL) == PD_OK);
	status = pd_writer_copy_metadata(writer, file, NULL);
	while (status >= 0 && (read = pd_stream_next(stream, &record, NULL)) == PD_OK)
		status = pd_writer_pass(writer, stream, record, NULL);
	if (status >= 0)
		status = pd_writer_finish(writer, NULL);
	else
		pd_writer_abort(writer);
	pd_stream_close(stream);
	pd_file_close(file);
	return status >= 0 && read >= 0;
}

static void require_same(int one, int other)
{
	size_t size, other_size;
	const uint8_t *data = map(one, &size), *other_data = map(other, &other_size);

	if (size != other_size || memcmp(data, other_data, size) != 0) {
		for (size_t i = 0; i < size && i < other_size; i++) {
			if (data[i] != other_data[i]) {
				fprintf(stderr, "byte %zu of %zu and %zu\n", i, size, other_size);
				break;
			}
		}
	}
	REQUIRE(size == other_size && memcmp(data, other_data, size) == 0);
	munmap((void *)(uintptr_t)data, size);
	munmap((void *)(uintptr_t)other_data, other_size);
}

// The text of a recording makes what writing it again makes.
static void try_recording(const uint8_t *data, size_t size)
{
	int written = memfd_create("written", 0), made = memfd_create("made", 0);
	struct pd_text *text = text_of(data, size, true);
	bool is_written = text && write_again(data, size, written);

	// a record with less after it than it says may be the last one only
	if (is_written && assemble(pd_text_bytes(text).data, pd_text_bytes(text).size, made))
		require_same(written, made);
	pd_text_free(text);
	text = text_of(data, size, false);
	pd_text_free(text);
	close(written);
	close(made);
}

static void try_text(const uint8_t *data, size_t size)
{
	int made = memfd_create("made", 0);

	if (assemble(data, size, made)) {
		size_t made_size;
		const uint8_t *made_data = map(made, &made_size);

		try_recording(made_data, made_size);
		munmap((void *)(uintptr_t)made_data, made_size);
	}
	close(made);
}

static bool is_recording(const uint8_t *data, size_t size)
{
	return size >= 8 && (!memcmp(data, "PERF", 4) || !memcmp(data, "2ELIFREP", 8));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (is_recording(data, size))
		try_recording(data, size);
	else
		try_text(data, size);
	return 0;
}

// ---- mutants of text: words are left out, doubled, or become other ones ----

struct piece {
	size_t at, size;
};

static bool is_in_word(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

// The word, space or sign at a place.
static struct piece piece_at(const uint8_t *data, size_t size, size_t at)
{
	struct piece piece = { at, 1 };

	while (piece.at && is_in_word(data[piece.at]) && is_in_word(data[piece.at - 1]))
		piece.at--;
	while (piece.at + piece.size < size && is_in_word(data[piece.at]) && is_in_word(data[piece.at + piece.size]))
		piece.size++;
	return piece;
}

static struct piece line_at(const uint8_t *data, size_t size, size_t at)
{
	struct piece piece = { at, 1 };

	while (piece.at && data[piece.at - 1] != '\n')
		piece.at--;
	piece.size = at - piece.at;
	while (piece.at + piece.size < size && data[piece.at + piece.size++] != '\n')
		;
	return piece;
}

// Puts bytes in the place of a piece.
static size_t put(uint8_t *data, size_t size, size_t max_size, struct piece piece, const void *bytes, size_t count)
{
	if (size - piece.size + count > max_size)
		return size;
	memmove(data + piece.at + count, data + piece.at + piece.size, size - piece.at - piece.size);
	memcpy(data + piece.at, bytes, count);
	return size - piece.size + count;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static const char *const words[] = { "0",          "-1",      "18446744073709551615",
					     "0xffffffff", "none",    "{",
					     "}",          "[",       "]",
					     "\"",         "x\"00\"", "|",
					     "(",          ":",       ",",
					     "#",          "\n",      "raw",
					     "\\",         "1.5",     "+64",
					     "+x\"00\"",   "event",   "SAMPLE",
					     "feature",    "tail",    "misc: 0x4002",
					     "65536" };
	static uint8_t copy[1 << 16];
	struct piece piece, other;

	if (is_recording(data, size) || !size)
		return is_recording(data, size) ? mutate(data, size, max_size, seed) :
						  LLVMFuzzerMutate(data, size, max_size);
	piece = seed & 64 ? line_at(data, size, (size_t)rand() % size) : piece_at(data, size, (size_t)rand() % size);
	other = seed & 64 ? line_at(data, size, (size_t)rand() % size) : piece_at(data, size, (size_t)rand() % size);
	if (other.size > sizeof(copy))
		other.size = sizeof(copy);
	memcpy(copy, data + other.at, other.size);
	switch (seed % 5) {
	case 0:
		return put(data, size, max_size, piece, "", 0);
	case 1:
		return put(data, size, max_size, (struct piece){ piece.at, 0 }, copy, other.size);
	case 2:
		return put(data, size, max_size, piece, copy, other.size);
	case 3:
		seed = (unsigned)rand() % (sizeof(words) / sizeof(words[0]));
		return put(data, size, max_size, piece, words[seed], strlen(words[seed]));
	default:
		return LLVMFuzzerMutate(data, size, max_size);
	}
}
