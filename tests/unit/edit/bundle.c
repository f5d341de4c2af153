/* SPDX-License-Identifier: MIT */
/* Bundles written, read and unpacked through the public header: what is in them and what is missing; lack of memory. */
#include "recording.h"

#include <fcntl.h>
#include <sys/stat.h>

static const char recording[] =
	"header form: file, byte_order: little\n"
	"event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 1000, "
	"sample_type: IP|TID|TIME|IDENTIFIER, flags: sample_id_all|mmap2}\n"
	"MMAP2 misc: user, pid: 5, tid: 5, addr: 0x1000, len: 0x1000, prot: READ|EXEC, filename: \"/nowhere/hit\", "
	"sample_id: {time_ns: 1, identifier: 7}\n"
	"SAMPLE misc: user, identifier: 7, ip: 0x1800, pid: 5, tid: 5, time_ns: 100\n";

static struct pd_error error;
static unsigned warning_count;

static void warn(void *self, const char *message)
{
	(void)self;
	warning_count += strstr(message, "/nowhere/hit") != NULL;
}

static enum pd_status write_bundle(struct pd_pack *pack, const char *path, struct pd_pack_result *result)
{
	struct pd_bundle *bundle = NULL;
	enum pd_status status;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return PD_ERROR_SYSTEM;
	status = pd_bundle_open_fd(fd, path, NULL, &bundle, &error);
	if (status >= 0)
		status = pd_pack_write(pack, bundle, result, &error);
	if (bundle && status < 0)
		pd_bundle_abort(bundle);
	else if (bundle)
		status = pd_bundle_finish(bundle, &error);
	close(fd);
	return status;
}

static enum pd_status pack_to(const char *path, struct pd_file *file, struct pd_pack_result *result)
{
	const struct pd_profile_options by_chain = { .size = sizeof(by_chain), .by = PD_BY_CHAIN, .threads = 1 };
	const struct pd_pack_options options = { .size = sizeof(options), .warn = warn };
	struct pd_profile *profile = NULL;
	struct pd_symbols *symbols = NULL;
	struct pd_pack *pack = NULL;
	enum pd_status status = pd_profile_read(file, &by_chain, &profile, &error);

	if (status >= 0)
		status = pd_symbols_new(file, pd_profile_state(profile), NULL, &symbols, &error);
	if (status >= 0)
		status = pd_profile_name(profile, symbols, &error);
	if (status >= 0)
		status = pd_pack_new(file, profile, symbols, &options, &pack, &error);
	if (status >= 0)
		status = write_bundle(pack, path, result);
	pd_pack_free(pack);
	pd_symbols_free(symbols);
	pd_profile_free(profile);
	return status;
}

TEST(recording_and_manifest)
{
	struct pd_file *file = open_text(recording), *inside;
	struct pd_pack_result result;
	struct pd_archive *archive;
	char path[192];

	warning_count = 0;
	CHECK(file && pack_to(path_of("bundle"), file, &result) == PD_OK);
	CHECK(result.object_count == 1 && result.missing_count == 1 && !result.file_count && warning_count == 1);
	pd_file_close(file);
	// a bundle is opened like the recording
	CHECK(pd_file_open(path_of("bundle"), NULL, &inside, &error) == PD_OK);
	CHECK(count_records(inside, PD_RECORD_SAMPLE) == 1);
	pd_file_close(inside);
	CHECK(pd_archive_open(path_of("bundle"), NULL, &archive, &error) == PD_OK);
	CHECK(pd_archive_find(archive, "perf.data") && pd_archive_find(archive, "manifest.json"));
	for (unsigned i = 0; i < 2; i++) {
		struct pd_unpack_result unpacked;
		struct stat status;

		// the second time there is something in the way
		CHECK((pd_archive_unpack(archive, path_of("there"), NULL, &unpacked, &error) == PD_OK) == !i);
		snprintf(path, sizeof(path), "%s/perf.data", path_of("there"));
		CHECK(!stat(path, &status) && status.st_size > 100 && (i || unpacked.file_count == 2));
		CHECK(!unpacked.refused_count);
	}
	pd_archive_close(archive);
}

TEST(no_memory)
{
	struct pd_file *file = open_text(recording);
	unsigned failures = 0;

	CHECK(file);
	for (long n = 0;; n++) {
		struct pd_pack_result result;
		enum pd_status status;

		left = n;
		has_failed = false;
		status = pack_to(path_of("memory"), file, &result);
		left = -1;
		if (!has_failed) {
			CHECK(status == PD_OK);
			break;
		}
		failures += status < 0;
		CHECK(n < 10000);
	}
	CHECK(failures > 20);
	pd_file_close(file);
}

TEST(clean)
{
	clean_folder();
}

TEST(results)
{
	const struct pd_pack_result packed = { .object_count = 30,
					       .missing_count = PD_PACK_WARNINGS + 2,
					       .file_count = 1 };
	const struct pd_unpack_result unpacked = { .file_count = 2, .link_count = 1 };
	struct pd_text *text = pd_text_new();

	CHECK(text);
	pd_pack_text(&packed, text);
	CHECK(text_has(text, "not packed: 2 more; see manifest.json\n") &&
	      text_has(text, " of 30 objects: 1 file, 0 bytes of 0 bytes\n"));
	pd_text_clear(text);
	pd_unpack_text(&unpacked, "a\nb", text);
	CHECK(text_has(text, "unpacked 2 files and 1 link into a\\x0ab\n"));
	pd_text_free(text);
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

RUN(TEST_CASE(start), TEST_CASE(results), TEST_CASE(recording_and_manifest), TEST_CASE(no_memory), TEST_CASE(clean))
