/* SPDX-License-Identifier: MIT */
/* Made recordings for the tests of runs, large enough for many pieces: with oddities, damaged, compressed, as pipes. */
#ifndef PD_TEST_MADE_H
#define PD_TEST_MADE_H

#include "../opened.h"

enum {
	ID_ALL = 1 << IMAGE_SAMPLE_ID_ALL,
	MADE_SAMPLES = 40000,
	STEP_NS = 100,
	FIRST_NS = 5000,
};

static struct opened o;
static const unsigned thread_counts[] = { 0, 1, 2, 4, 8 };
#define THREAD_COUNTS (sizeof(thread_counts) / sizeof(thread_counts[0]))

static inline void make_comm(struct image *image, uint64_t time_ns)
{
	size_t record = image_record(image, 3, 0);

	image_u32(image, 100);
	image_u32(image, 100);
	image_text(image, "busy", 8);
	image_u32(image, 100);
	image_u32(image, 100);
	image_u64(image, time_ns);
	image_end(image, record);
}

// A record of 16 bytes: less than its layout has.
static inline void make_damaged(struct image *image, uint32_t type)
{
	size_t record = image_record(image, type, 0);

	image_zeros(image, 8);
	image_end(image, record);
}

static inline void make_auxtrace(struct image *image, uint64_t size)
{
	size_t record = image_record(image, 71, 0);

	image_u64(image, size);
	image_zeros(image, 32);
	image_end(image, record);
	image_zeros(image, size);
}

static inline void make_round(struct image *image)
{
	image_end(image, image_record(image, 68, 0));
}

struct make {
	bool big, pipe;
	bool damaged; // what is no record, and records that are too small
	bool mixed;   // times that jump back and forth, samples without a time
	bool tails;
};

static inline void make_oddities(struct image *image, const struct make *make, size_t i, uint64_t time_ns)
{
	if (i % 1000 == 10)
		make_comm(image, time_ns);
	if (i % 500 == 0)
		make_round(image);
	if (make->mixed && i % 700 == 3)
		image_sample(image, 0);
	if (make->tails && i % 9000 == 8)
		make_auxtrace(image, i * 8);
	if (make->damaged && i % 5000 == 21) {
		make_damaged(image, 3);
		make_damaged(image, 10);
		make_damaged(image, 9);
	}
	// sizes of 0
	if (make->damaged && i % 7000 == 22)
		image_zeros(image, 24);
}

static inline void make_file(struct image *image, const struct make *make)
{
	*image = (struct image){ .big = make->big };
	if (make->pipe) {
		size_t record;

		image_pipe(image);
		record = image_record(image, 64, 0);
		image_attr(image, 1, 0, IMAGE_IP_TID_TIME_PERIOD, 0, image_flag(image, IMAGE_SAMPLE_ID_ALL));
		image_end(image, record);
	} else {
		image_file(image, IMAGE_IP_TID_TIME_PERIOD, image_flag(image, IMAGE_SAMPLE_ID_ALL));
	}
	for (size_t i = 0; i < MADE_SAMPLES; i++) {
		uint64_t time_ns = FIRST_NS + i * STEP_NS;

		if (make->mixed)
			time_ns += (i / 400 % 3) * 400 * STEP_NS;
		make_oddities(image, make, i, time_ns);
		image_sample(image, time_ns);
	}
	if (!make->pipe)
		image_file_end(image);
}

// A frame of zstd whose blocks are stored as they are, so that no library is needed to make it.
static inline void store_frame(struct image *frame, const uint8_t *data, size_t size)
{
	enum {
		BLOCK = 100000
	};

	image_hex(frame, "28b52ffd 00 58");
	for (size_t at = 0; at < size; at += BLOCK) {
		size_t part = size - at < BLOCK ? size - at : BLOCK;

		image_put(image_room(frame, 3), part << 3 | (at + part == size), 3, false);
		image_bytes(frame, data + at, part);
	}
}

// The same records inside of compressed ones.
static inline void make_compressed(struct image *image, const struct make *make)
{
	enum {
		HEAD = 184,
		PIECE = 60000
	};
	struct image plain, frame = { 0 };

	make_file(&plain, make);
	store_frame(&frame, plain.data + HEAD, plain.size - HEAD);
	*image = (struct image){ .big = make->big };
	image_bytes(image, plain.data, HEAD);
	make_comm(image, FIRST_NS);
	for (size_t at = 0; at < frame.size; at += PIECE) {
		size_t record = image_record(image, 81, 0);

		image_bytes(image, frame.data + at, frame.size - at < PIECE ? frame.size - at : PIECE);
		image_end(image, record);
		if (at == 3 * PIECE)
			make_auxtrace(image, 4096);
	}
	image_file_end(image);
	image_free(&plain);
	image_free(&frame);
}

static inline void open_compressed(const void *self)
{
	struct image image;

	make_compressed(&image, self);
	opened_open(&o, &image, 0);
}

static inline void open_made(const struct make *make)
{
	struct image image;

	make_file(&image, make);
	opened_open(&o, &image, 0);
}

#endif
