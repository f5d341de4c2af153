/* SPDX-License-Identifier: MIT */
/*
 * Every allocation fails once, each in turn, and then all from it on. Whatever is done with a file at that time must
 * say so: with PD_ERROR_MEMORY, a problem, or a text that failed; else it has to give what it gives with all its
 * memory. What was allocated is given back.
 * usage: test-memory FILE-OR-DIRECTORY...
 * Allocations are wrapped by the linker (--wrap), those of the decompressors' states too.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <perfdata/assemble.h>
#include <perfdata/bundle.h>
#include <perfdata/filter.h>

#include "fuzz/driver.h"
#include "fuzz/walk.h"
#include "unit/stream/tally.h"

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

// ---- memory that runs out ----

static atomic_long left = -1; // allocations until the one that fails; below 0 none does
static bool for_good;         // and all that follow
static atomic_bool has_failed;
static atomic_long live;

static bool fails(void)
{
	long was = left;

	// threads of a run count together
	while (was >= 0 && !atomic_compare_exchange_weak(&left, &was, was || !for_good ? was - 1 : 0))
		;
	if (was != 0)
		return false;
	has_failed = true;
	return true;
}

static void *counted(void *memory)
{
	live += memory != NULL;
	return memory;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
	void *moved = fails() ? NULL : __real_realloc(memory, size);

	live += moved && !memory;
	return moved;
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : counted(__real_strdup(text));
}

void __wrap_free(void *memory)
{
	live -= memory != NULL;
	__real_free(memory);
}

#ifdef HAVE_ZSTD
ZSTD_DCtx *__real_ZSTD_createDCtx(void);
ZSTD_DCtx *__wrap_ZSTD_createDCtx(void);

ZSTD_DCtx *__wrap_ZSTD_createDCtx(void)
{
	return fails() ? NULL : __real_ZSTD_createDCtx();
}
#endif

// ---- what is done with a file ----

typedef enum pd_status way_fn(const char *path, const struct pd_open_options *options, struct walk *walk,
			      struct pd_error *error);

static enum pd_status walk_and_close(struct pd_file *file, enum pd_status status, struct walk *walk,
				     struct pd_error *error)
{
	if (status == PD_OK)
		status = walk_file(file, walk, error);
	pd_file_close(file);
	return status;
}

static enum pd_status by_path(const char *path, const struct pd_open_options *options, struct walk *walk,
			      struct pd_error *error)
{
	struct pd_file *file = NULL;
	enum pd_status status = pd_file_open(path, options, &file, error);

	return walk_and_close(file, status, walk, error);
}

// In the order of time, because a pipe can be read once only.
static enum pd_status by_pipe(const char *path, const struct pd_open_options *options, struct walk *walk,
			      struct pd_error *error)
{
	static uint8_t data[INPUT_LIMIT];
	int fd = open(path, O_RDONLY | O_CLOEXEC), fds[2];
	ssize_t size = read(fd, data, sizeof(data));
	struct pd_file *file = NULL;
	enum pd_status status;

	REQUIRE(size >= 0 && pipe(fds) == 0 && fcntl(fds[1], F_SETPIPE_SZ, (int)sizeof(data)) >= 0);
	REQUIRE(write(fds[1], data, (size_t)size) == size);
	close(fd);
	close(fds[1]);
	walk->order = PD_ORDER_TIME;
	status = pd_file_open_fd(fds[0], options, &file, error);
	status = walk_and_close(file, status, walk, error);
	close(fds[0]);
	return status;
}

static enum pd_status by_check(const char *path, const struct pd_open_options *options, struct walk *walk,
			       struct pd_error *error)
{
	struct pd_file *file = NULL;
	struct pd_check_result result = { 0 };
	enum pd_status status = pd_file_open(path, options, &file, error);

	if (status == PD_OK)
		status = pd_check(file, &result, error);
	pd_file_close(file);
	walk->records = result.record_count;
	walk->digest = result.sample_count;
	return status;
}

static enum pd_status by_run_options(const char *path, const struct pd_open_options *options, struct walk *walk,
				     const struct pd_run_options *run, struct pd_error *error)
{
	struct tally tally = { .decodes = true };
	struct pd_file *file = NULL;
	enum pd_status status = pd_file_open(path, options, &file, error);

	if (status == PD_OK)
		status = tally_run(&tally, file, run, error);
	pd_file_close(file);
	walk->records = tally.records;
	walk->digest = tally.sum;
	return status;
}

static enum pd_status by_run(const char *path, const struct pd_open_options *options, struct walk *walk,
			     struct pd_error *error)
{
	struct pd_run_options run = { .size = sizeof(run), .threads = 3 };

	return by_run_options(path, options, walk, &run, error);
}

static enum pd_status by_run_in_time(const char *path, const struct pd_open_options *options, struct walk *walk,
				     struct pd_error *error)
{
	struct pd_run_options run = { .size = sizeof(run), .order = PD_ORDER_TIME };

	return by_run_options(path, options, walk, &run, error);
}

#ifdef HAVE_ZSTD
// Packed, or packed anew if it is a bundle.
static enum pd_status by_pack(const char *path, const struct pd_open_options *options, struct walk *walk,
			      struct pd_error *error)
{
	const struct pd_bundle_options wanted = { .size = sizeof(wanted), .level = 1 };
	struct pd_bytes manifest = { (const uint8_t *)"{}", 2 };
	struct pd_file *file = NULL;
	struct pd_bundle *bundle = NULL;
	enum pd_status status = pd_file_open(path, options, &file, error);
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (status == PD_OK)
		status = pd_bundle_open_fd(fd, "null", &wanted, &bundle, error);
	if (status == PD_OK)
		status = pd_bundle_add_file(bundle, file, error);
	if (status == PD_OK)
		status = pd_bundle_add_bytes(bundle, "manifest.json", manifest, error);
	if (status == PD_OK)
		status = pd_bundle_finish(bundle, error);
	else
		pd_bundle_abort(bundle);
	pd_file_close(file);
	close(fd);
	(void)walk;
	return status;
}
#endif

// ---- as text, and back ----

struct text_target {
	int fd;
	struct pd_writer *writer;
};

static enum pd_status open_writer(void *self, const struct pd_writer_options *said, struct pd_writer **writer_out,
				  struct pd_error *error)
{
	struct text_target *target = self;
	struct pd_writer_options options = *said;

	options.mode = options.mode == PD_MODE_DIRECTORY ? PD_MODE_FILE : options.mode;
	if (pd_writer_open_fd(target->fd, "memory", &options, &target->writer, error) < 0)
		return error->status;
	*writer_out = target->writer;
	return PD_OK;
}

static enum pd_status assemble(struct pd_bytes text, int fd, struct pd_error *error)
{
	struct text_target target = { .fd = fd };
	const struct pd_assembler_options options = { .size = sizeof(options), .open = open_writer, .self = &target };
	struct pd_assembler *assembler = NULL;
	enum pd_status status = pd_assembler_new(&options, &assembler, error);

	// in pieces, so that lines are kept
	for (size_t at = 0; at < text.size && status >= 0; at += 1000)
		status = pd_assembler_take(assembler, (const char *)text.data + at,
					   text.size - at < 1000 ? text.size - at : 1000, error);
	if (status >= 0)
		status = pd_assembler_finish(assembler, error);
	if (status >= 0)
		status = pd_writer_finish(target.writer, error);
	else
		pd_writer_abort(target.writer);
	pd_assembler_free(assembler);
	return status;
}

static void digest_of(int fd, struct walk *walk)
{
	uint8_t piece[4096];
	ssize_t size;

	lseek(fd, 0, SEEK_SET);
	while ((size = read(fd, piece, sizeof(piece))) > 0)
		for (ssize_t i = 0; i < size; i++)
			walk->digest = walk->digest * 31 + piece[i];
}

static enum pd_status by_text(const char *path, const struct pd_open_options *options, struct walk *walk,
			      struct pd_error *error)
{
	struct pd_disassembler *disassembler = NULL;
	struct pd_text *text = pd_text_new();
	struct pd_file *file = NULL;
	int fd = memfd_create("made", MFD_CLOEXEC);
	enum pd_status status = text ? pd_file_open(path, options, &file, error) : PD_ERROR_MEMORY;

	if (!text)
		*error = (struct pd_error){ .status = status, .offset = PD_NO_OFFSET, .message = "no memory" };
	if (status >= 0)
		status = pd_disassembler_open(file, NULL, &disassembler, error);
	while (status == PD_OK)
		status = pd_disassembler_next(disassembler, text, error);
	pd_disassembler_close(disassembler);
	if (status >= 0)
		status = assemble(pd_text_bytes(text), fd, error);
	if (status >= 0)
		digest_of(fd, walk);
	pd_text_free(text);
	pd_file_close(file);
	close(fd);
	return status < 0 ? status : PD_OK;
}

// ---- conditions ----

static enum pd_status ask(struct pd_file *file, const char *text, struct walk *walk, struct pd_error *error)
{
	const struct pd_record *record;
	struct pd_filter *filter = NULL;
	struct pd_stream *stream = NULL;
	enum pd_status status = pd_filter_new(text, &filter, error);

	if (status >= 0)
		status = pd_stream_open(file, NULL, &stream, error);
	while (status >= 0 && (status = pd_stream_next(stream, &record, error)) == PD_OK) {
		walk->records++;
		walk->digest = walk->digest * 31 + pd_filter_takes(filter, record, NULL);
	}
	pd_stream_close(stream);
	pd_filter_free(filter);
	return status < 0 ? status : PD_OK;
}

static enum pd_status by_filter(const char *path, const struct pd_open_options *options, struct walk *walk,
				struct pd_error *error)
{
	static const char *const texts[] = {
		"sample.period > 5 && callchain.count > 3 || (pid == 1 || mmap2.filename =~ '*.so')",
		"(type in (COMM, FORK, EXIT) && (sample_id.cpu == 0 || time > 5s)) || attr.flags & INHERIT",
	};
	struct pd_file *file = NULL;
	enum pd_status status = pd_file_open(path, options, &file, error);

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && status >= 0; i++)
		status = ask(file, texts[i], walk, error);
	pd_file_close(file);
	return status;
}

static const struct {
	const char *name;
	way_fn *go;
	bool directories;
} ways[] = {
	{ "path", by_path, true },
	{ "pipe", by_pipe, false },
	{ "check", by_check, true },
	{ "run", by_run, true },
	{ "run in time", by_run_in_time, true },
	{ "filter", by_filter, true },
	{ "text", by_text, true },
#ifdef HAVE_ZSTD
	{ "pack", by_pack, true },
#endif
};

// ---- one failure after another ----

struct outcome {
	struct walk walk;
	enum pd_status status;
};

static struct outcome run(way_fn *go, const char *path, long fail_at)
{
	struct outcome outcome = { .walk = { .memory_may_fail = true, .with_digest = true, .text_limit = 64 << 10 } };
	struct pd_open_options options = walk_options(&outcome.walk);
	struct pd_error error = { 0 };
	long before = live;

	has_failed = false;
	left = fail_at;
	outcome.status = go(path, &options, &outcome.walk, &error);
	left = -1;
	if (outcome.status < 0)
		walk_require_error(outcome.status, &error);
	REQUIRE(live == before);
	return outcome;
}

static bool same(const struct walk *a, const struct walk *b)
{
	return a->records == b->records && a->digest == b->digest && memcmp(a->told, b->told, sizeof(a->told)) == 0;
}

static bool told_more(const struct walk *with, const struct walk *without)
{
	return with->told[PD_INFO] > without->told[PD_INFO] || with->told[PD_WARNING] > without->told[PD_WARNING] ||
	       with->told[PD_DAMAGE] > without->told[PD_DAMAGE];
}

static bool is_right(const struct outcome *outcome, const struct outcome *whole)
{
	if (outcome->status == PD_ERROR_MEMORY || outcome->walk.memory_failed)
		return true;
	if (outcome->status != whole->status)
		return false;
	return told_more(&outcome->walk, &whole->walk) || same(&outcome->walk, &whole->walk);
}

// Returns how often it went wrong. Behind the first hundred, allocations fail at growing distances.
static unsigned try_way(const char *name, way_fn *go, const char *path)
{
	struct outcome whole = run(go, path, -1);
	unsigned wrong = 0, runs = 0;
	long at = 0;

	REQUIRE(whole.status == PD_OK && !has_failed && same(&whole.walk, &whole.walk));
	for (;;) {
		char text[512];
		struct outcome outcome;

		snprintf(text, sizeof(text), "%s by %s: allocation %ld fails%s", path, name, at,
			 for_good ? " and all behind it" : "");
		watch_next(text, 60);
		outcome = run(go, path, at);
		if (!has_failed)
			break;
		runs++;
		if (!is_right(&outcome, &whole)) {
			printf("# %s: nobody said so: status %s\n", text, pd_status_name(outcome.status));
			wrong++;
		}
		at += 1 + at / 100;
	}
	printf("%s - %s by %s%s: %u allocations failed of %ld\n", wrong ? "not ok" : "ok", path, name,
	       for_good ? ", for good" : "", runs, at);
	return wrong;
}

static unsigned try_path(const char *path)
{
	struct stat stat_;
	unsigned wrong = 0;

	REQUIRE(stat(path, &stat_) == 0);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (S_ISDIR(stat_.st_mode) && !ways[i].directories)
			continue;
		for (unsigned twice = 0; twice < 2; twice++) {
			for_good = twice;
			wrong += try_way(ways[i].name, ways[i].go, path);
		}
	}
	return wrong;
}

#ifdef HAVE_ZSTD
// The same file, compressed as a whole; with bytes behind it, so many that it is copied to a file instead of memory.
static unsigned try_compressed(const char *path, size_t more)
{
	struct inputs inputs = { 0 };
	char name[] = "/tmp/perfdata-memory-XXXXXX";
	int fd = mkstemp(name);
	size_t size, capacity;
	unsigned wrong;
	char *packed;

	REQUIRE(fd >= 0 && inputs_add(&inputs, path) && inputs.count == 1);
	size = inputs.items[0].size;
	capacity = ZSTD_compressBound(size + more);
	inputs.items[0].data = realloc(inputs.items[0].data, size + more);
	packed = malloc(capacity);
	REQUIRE(packed && inputs.items[0].data);
	memset(inputs.items[0].data + size, 0, more);
	size = ZSTD_compress(packed, capacity, inputs.items[0].data, size + more, 1);
	REQUIRE(!ZSTD_isError(size) && write(fd, packed, size) == (ssize_t)size);
	close(fd);
	free(packed);
	inputs_free(&inputs);
	wrong = try_path(name);
	unlink(name);
	return wrong;
}
#endif

int main(int argc, char **argv)
{
	unsigned wrong = 0;

	setvbuf(stdout, NULL, _IONBF, 0);
	watch_begin(60);
	REQUIRE(argc > 1);
	for (int i = 1; i < argc; i++)
		wrong += try_path(argv[i]);
#ifdef HAVE_ZSTD
	wrong += try_compressed(argv[1], 0);
	wrong += try_compressed(argv[1], 5 << 20);
#endif
	return wrong != 0;
}
