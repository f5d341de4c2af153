/* SPDX-License-Identifier: MIT */
/*
 * Records that are passed with another content: with their own one they give what passing them gives, byte for byte, in
 * each form and byte order; without a field and a name these are gone, and the rest is there.
 *
 *   test-changed FILE...
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <perfdata/perfdata.h>
#include <perfdata/writer.h>

static unsigned failures;
static uint64_t changed_count;

#define EXPECT(condition, ...)                          \
	do {                                            \
		if (!(condition)) {                     \
			printf("not ok: " __VA_ARGS__); \
			printf(": %s\n", #condition);   \
			failures++;                     \
		}                                       \
	} while (0)

struct job {
	const char *path;
	struct pd_writer_options options;
	bool change; // through pd_writer_pass_changed
	const struct pd_changes *changes;
};

static enum pd_status pass_record(struct pd_writer *writer, struct pd_stream *stream, const struct pd_record *record,
				  const struct job *job, struct pd_error *error)
{
	const void *decoded;

	// names in a pipe that come behind other records are records like others
	if (job->changes && record->type == PD_RECORD_EVENT_UPDATE)
		return PD_OK;
	if (!job->change || pd_record_decode(record, &decoded, error) < 0)
		return pd_writer_pass(writer, stream, record, error);
	changed_count++;
	return pd_writer_pass_changed(writer, stream, record, record->misc, decoded, error);
}

static enum pd_status write_all(const struct job *job, int fd, struct pd_error *error)
{
	struct pd_file *file = NULL;
	struct pd_stream *stream = NULL;
	struct pd_writer *writer = NULL;
	struct pd_writer_options options = job->options;
	const struct pd_record *record;
	enum pd_status status = pd_file_open(job->path, NULL, &file, error);

	if (status < 0)
		return status;
	options.inputs = &file;
	options.input_count = 1;
	status = pd_writer_open_fd(fd, "result", &options, &writer, error);
	if (status >= 0 && job->changes)
		status = pd_writer_change(writer, job->changes, error);
	if (status >= 0)
		status = pd_writer_copy_metadata(writer, file, error);
	if (status >= 0)
		status = pd_stream_open(file, NULL, &stream, error);
	while (status == PD_OK && (status = pd_stream_next(stream, &record, error)) == PD_OK)
		status = pass_record(writer, stream, record, job, error);
	pd_stream_close(stream);
	if (status >= 0)
		status = pd_writer_finish(writer, error);
	else
		pd_writer_abort(writer);
	pd_file_close(file);
	return status;
}

static int result_of(const struct job *job)
{
	struct pd_error error;
	int fd = memfd_create("result", MFD_CLOEXEC);
	enum pd_status status = fd < 0 ? PD_ERROR_SYSTEM : write_all(job, fd, &error);

	if (status >= 0)
		return fd;
	printf("not ok: %s: %s\n", job->path, fd < 0 ? "no memory file" : error.message);
	failures++;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool are_equal(int a, int b)
{
	struct stat size_of_a, size_of_b;
	bool equal = false;
	void *at_a, *at_b;

	if (fstat(a, &size_of_a) < 0 || fstat(b, &size_of_b) < 0 || size_of_a.st_size != size_of_b.st_size)
		return false;
	at_a = mmap(NULL, (size_t)size_of_a.st_size, PROT_READ, MAP_PRIVATE, a, 0);
	at_b = mmap(NULL, (size_t)size_of_a.st_size, PROT_READ, MAP_PRIVATE, b, 0);
	if (at_a != MAP_FAILED && at_b != MAP_FAILED)
		equal = memcmp(at_a, at_b, (size_t)size_of_a.st_size) == 0;
	if (at_a != MAP_FAILED)
		munmap(at_a, (size_t)size_of_a.st_size);
	if (at_b != MAP_FAILED)
		munmap(at_b, (size_t)size_of_a.st_size);
	return equal;
}

static void check_same(const char *path)
{
	static const enum pd_mode modes[] = { PD_MODE_FILE, PD_MODE_PIPE };
	static const enum pd_endian endians[] = { PD_ENDIAN_LITTLE, PD_ENDIAN_BIG };

	for (unsigned i = 0; i < 4; i++) {
		struct job job = { .path = path,
				   .options = { .size = sizeof(job.options),
						.mode = modes[i % 2],
						.endian = endians[i / 2],
						.packing = PD_PACK_NONE } };
		int passed = result_of(&job), changed;

		job.change = true;
		changed = result_of(&job);
		if (passed >= 0 && changed >= 0)
			EXPECT(are_equal(passed, changed), "%s, form %u", path, i);
		if (passed >= 0)
			close(passed);
		if (changed >= 0)
			close(changed);
	}
}

// ---- real changes ----

enum {
	DROPPED = 1 << PD_SAMPLE_TYPE_CALLCHAIN_SHIFT
};

static enum pd_status change_event(void *self, const struct pd_event *event, struct pd_attr *attr, const char **name,
				   struct pd_error *error)
{
	(void)self;
	(void)event;
	(void)error;
	attr->sample_type &= ~(uint64_t)DROPPED;
	*name = "other";
	return PD_OK;
}

static enum pd_status change_feature(void *self, struct pd_file *file, unsigned feature, const void **decoded_out,
				     bool *keep, struct pd_error *error)
{
	(void)file;
	(void)error;
	if (feature == PD_FEATURE_HOSTNAME)
		*decoded_out = self;
	*keep = feature != PD_FEATURE_CMDLINE;
	return PD_OK;
}

struct totals {
	uint64_t samples, ips, chains;
};

static void look(const char *path, int fd, struct totals *totals)
{
	struct pd_file *file = NULL;
	struct pd_stream *stream = NULL;
	const struct pd_record *record;
	const struct pd_sample *sample;
	struct pd_error error;
	enum pd_status status;

	memset(totals, 0, sizeof(*totals));
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	status = fd >= 0 ? pd_file_open_fd(fd, NULL, &file, &error) : pd_file_open(path, NULL, &file, &error);
	if (status >= 0)
		status = pd_stream_open(file, NULL, &stream, &error);
	while (status == PD_OK && (status = pd_stream_next(stream, &record, &error)) == PD_OK) {
		sample = pd_as_sample(record);
		if (!sample)
			continue;
		totals->samples++;
		totals->ips += sample->ip;
		totals->chains += sample->callchain.count;
	}
	EXPECT(status == PD_END, "%s", path);
	if (fd >= 0 && file) {
		const struct pd_string *host = pd_file_hostname(file);

		EXPECT(!pd_file_cmdline(file), "%s", path);
		EXPECT(!host || strcmp(host->value.data, "elsewhere") == 0, "%s", path);
		for (size_t i = 0; i < pd_file_event_count(file); i++)
			EXPECT(strcmp(pd_file_event(file, i)->name, "other") == 0, "%s, event %zu", path, i);
		EXPECT(pd_file_problem_count(file, PD_DAMAGE) == 0, "%s", path);
	}
	pd_stream_close(stream);
	pd_file_close(file);
}

static void check_changed(const char *path)
{
	static const enum pd_mode modes[] = { PD_MODE_FILE, PD_MODE_PIPE };
	struct pd_string host = { .value = { "elsewhere", 9 } };
	struct pd_changes changes = { sizeof(changes), &host, change_event, change_feature };
	struct totals before, after;

	look(path, -1, &before);
	for (unsigned i = 0; i < 2; i++) {
		struct job job = { .path = path,
				   .change = true,
				   .changes = &changes,
				   .options = {
					   .size = sizeof(job.options), .mode = modes[i], .packing = PD_PACK_NONE } };
		int fd = result_of(&job);

		if (fd < 0)
			continue;
		look(path, fd, &after);
		EXPECT(after.samples == before.samples && after.ips == before.ips && after.chains == 0, "%s, form %u",
		       path, i);
		close(fd);
	}
}

int main(int argc, char **argv)
{
	bool only_same = argc > 1 && strcmp(argv[1], "--same") == 0;

	for (int i = 1 + only_same; i < argc; i++) {
		check_same(argv[i]);
		if (!only_same)
			check_changed(argv[i]);
	}
	printf("%d files, %" PRIu64 " records with a given content, %u failures\n", argc - 1 - only_same, changed_count,
	       failures);
	return failures || !changed_count;
}
