/* SPDX-License-Identifier: MIT */
/* Weights of events of which one has them and the other has not. */
#include <perfdata/perfdata.h>

#include "../image.h"
#include "../test.h"

enum {
	HEADER = 104,
	ATTR = 112,
	IDS = HEADER + 2 * (ATTR + 16),
	DATA = IDS + 2 * 8
};

#define COMMON                                                                                     \
	(PD_MASK(PD_SAMPLE_TYPE_IP) | PD_MASK(PD_SAMPLE_TYPE_TID) | PD_MASK(PD_SAMPLE_TYPE_TIME) | \
	 PD_MASK(PD_SAMPLE_TYPE_IDENTIFIER))

static void put_attr(struct image *image, uint64_t sample_type, uint64_t ids_at)
{
	image_u32(image, 1);
	image_u32(image, ATTR);
	image_u64(image, 0);
	image_u64(image, 1000);
	image_u64(image, sample_type);
	image_u64(image, 0);
	image_u64(image, PD_MASK(PD_ATTR_SAMPLE_ID_ALL));
	image_zeros(image, ATTR - 48);
	image_u64(image, ids_at);
	image_u64(image, 8);
}

static void put_sample(struct image *image, uint64_t id, uint64_t time_ns, uint64_t weight)
{
	image_u32(image, PD_RECORD_SAMPLE);
	image_u16(image, PD_CPUMODE_USER);
	image_u16(image, weight ? 48 : 40);
	image_u64(image, id);
	image_u64(image, 0x1000100);
	image_u32(image, 100);
	image_u32(image, 100);
	image_u64(image, time_ns);
	if (weight)
		image_u64(image, weight);
}

// A sample with a weight, one of the other event that is too early, and some after it.
static void make(struct image *image)
{
	enum {
		PLAIN = 3
	};
	uint64_t size = 48 + (PLAIN + 1) * 40;

	image_bytes(image, "PERFILE2", 8);
	for (size_t i = 0; i < 8; i++)
		image_u64(image, (const uint64_t[]){ HEADER, ATTR + 16, HEADER, 2 * (ATTR + 16), DATA, size, 0, 0 }[i]);
	image_zeros(image, HEADER - image->size);
	put_attr(image, COMMON | PD_MASK(PD_SAMPLE_TYPE_WEIGHT), IDS);
	put_attr(image, COMMON, IDS + 8);
	image_u64(image, 1);
	image_u64(image, 2);
	put_sample(image, 1, 3000, 77);
	put_sample(image, 2, 1000, 0);
	for (uint64_t i = 0; i < PLAIN; i++)
		put_sample(image, 2, 3100 + i, 0);
}

TEST(test_weights__stay_with_their_event)
{
	struct pd_profile_options options = { .size = sizeof(options), .threads = 1, .from_ns = 2000 };
	uint64_t samples[2] = { 0 }, weights[2] = { 0 };
	struct pd_profile_entry entry;
	struct pd_profile *profile;
	struct image image = { 0 };
	struct pd_error error;
	struct pd_file *file;
	FILE *stream = tmpfile();

	CHECK(stream);
	make(&image);
	CHECK(fwrite(image.data, 1, image.size, stream) == image.size && fflush(stream) == 0);
	rewind(stream);
	CHECK(pd_file_open_fd(fileno(stream), NULL, &file, &error) >= 0);
	CHECK(pd_profile_read(file, &options, &profile, &error) >= 0);
	for (size_t i = 0; pd_profile_entry(profile, i, &entry); i++) {
		samples[entry.event->index] += entry.samples;
		weights[entry.event->index] += entry.weights;
	}
	CHECK(samples[0] == 1 && weights[0] == 77);
	CHECK(samples[1] == 3 && weights[1] == 0);
	pd_profile_free(profile);
	pd_file_close(file);
	fclose(stream);
	free(image.data);
}

RUN(TEST_CASE(test_weights__stay_with_their_event))
