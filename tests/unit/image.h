/* SPDX-License-Identifier: MIT */
/*
 * Bytes made by hand: an image grows number by number in the byte order of a file. It knows nothing
 * of the library and little of the format, so that a test says byte for byte what it means.
 */
#ifndef PD_TEST_IMAGE_H
#define PD_TEST_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct image {
	uint8_t *data;
	size_t size;
	size_t capacity;
	bool big;
};

static inline uint8_t *image_room(struct image *image, size_t size)
{
	if (!image->data || image->capacity - image->size < size) {
		image->capacity = (image->size + size) * 2 + 64;
		image->data = realloc(image->data, image->capacity);
		if (!image->data) {
			perror("image");
			exit(1);
		}
	}
	image->size += size;
	return image->data + image->size - size;
}

static inline void image_put(uint8_t *at, uint64_t value, unsigned size, bool big)
{
	for (unsigned i = 0; i < size; i++)
		at[big ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static inline void image_u8(struct image *image, uint8_t value)
{
	*image_room(image, 1) = value;
}

static inline void image_u16(struct image *image, uint16_t value)
{
	image_put(image_room(image, 2), value, 2, image->big);
}

static inline void image_u32(struct image *image, uint32_t value)
{
	image_put(image_room(image, 4), value, 4, image->big);
}

static inline void image_u64(struct image *image, uint64_t value)
{
	image_put(image_room(image, 8), value, 8, image->big);
}

static inline void image_bytes(struct image *image, const void *data, size_t size)
{
	uint8_t *at = image_room(image, size);

	if (size)
		memcpy(at, data, size);
}

static inline void image_zeros(struct image *image, size_t size)
{
	memset(image_room(image, size), 0, size);
}

// A text with zeros after it, size bytes in all.
static inline void image_text(struct image *image, const char *text, size_t size)
{
	size_t length = strlen(text);
	uint8_t *at = image_room(image, size);

	memset(at, 0, size);
	memcpy(at, text, length < size ? length : size);
}

// A text after its u32 size.
static inline void image_pstr(struct image *image, const char *text, uint32_t size)
{
	image_u32(image, size);
	image_text(image, text, size);
}

static inline void image_set(struct image *image, size_t offset, uint64_t value, unsigned size)
{
	image_put(image->data + offset, value, size, image->big);
}

// "64 00 0a" as bytes.
static inline void image_hex(struct image *image, const char *text)
{
	for (; *text; text++) {
		char pair[3] = { text[0], text[1], 0 };

		if (*text == ' ')
			continue;
		image_u8(image, (uint8_t)strtoul(pair, NULL, 16));
		text++;
	}
}

static inline void image_free(struct image *image)
{
	free(image->data);
	*image = (struct image){ .big = image->big };
}

// ---- records ----

// Begins a record; image_end with what this returns writes its size.
static inline size_t image_record(struct image *image, uint32_t type, uint16_t misc)
{
	image_u32(image, type);
	image_u16(image, misc);
	image_u16(image, 0);
	return image->size - 8;
}

static inline void image_end(struct image *image, size_t record)
{
	image_set(image, record + 6, image->size - record, 2);
}

// ---- attrs ----

// Flags of an attr are bit-fields: bit n is counted from the other end in a big-endian file.
static inline uint64_t image_flag(const struct image *image, unsigned bit)
{
	return UINT64_C(1) << (image->big ? 63 - bit : bit);
}

enum {
	IMAGE_SAMPLE_ID_ALL = 18
};

// The 64 bytes of the first version; config is also the period. Returns where it begins.
static inline size_t image_attr(struct image *image, uint32_t type, uint64_t config, uint64_t sample_type,
				uint64_t read_format, uint64_t flags)
{
	size_t begin = image->size;

	image_u32(image, type);
	image_u32(image, 64);
	image_u64(image, config);
	image_u64(image, 1);
	image_u64(image, sample_type);
	image_u64(image, read_format);
	image_u64(image, flags);
	image_zeros(image, 16);
	return begin;
}

// ---- files ----

static inline void image_pipe(struct image *image)
{
	image_bytes(image, image->big ? "2ELIFREP" : "PERFILE2", 8);
	image_u64(image, 16);
}

// A header whose sections are not known yet.
static inline void image_header(struct image *image, uint64_t attr_size)
{
	image_bytes(image, image->big ? "2ELIFREP" : "PERFILE2", 8);
	image_u64(image, 104);
	image_u64(image, attr_size);
	image_zeros(image, 80);
}

static inline void image_attrs_at(struct image *image, uint64_t offset, uint64_t size)
{
	image_set(image, 24, offset, 8);
	image_set(image, 32, size, 8);
}

static inline void image_data_at(struct image *image, uint64_t offset, uint64_t size)
{
	image_set(image, 40, offset, 8);
	image_set(image, 48, size, 8);
}

// A file with one event whose attr has 64 bytes and no ids. Its data begin at 184.
static inline void image_file(struct image *image, uint64_t sample_type, uint64_t flags)
{
	image_header(image, 80);
	image_attr(image, 1, 0, sample_type, 0, flags);
	image_zeros(image, 16);
	image_attrs_at(image, 104, 80);
	image_data_at(image, 184, 0);
}

// The data end here; what follows is the table of features.
static inline void image_file_end(struct image *image)
{
	image_set(image, 48, image->size - 184, 8);
}

enum {
	IMAGE_IP_TID_TIME_PERIOD = 0x107, // a sample type
	IMAGE_IP_TID_TIME_CPU = 0x87,     // the same with CPUs where there are periods
	IMAGE_RAW = 0x400,
	IMAGE_IP_TID_TIME_CHAIN_RAW = 0x27 | IMAGE_RAW,
};

// A sample of that type: 40 bytes, of one of seven threads.
static inline void image_sample(struct image *image, uint64_t time_ns)
{
	size_t record = image_record(image, 9, 2);

	image_u64(image, 0x400000 + time_ns % 4096);
	image_u32(image, 100);
	image_u32(image, 100 + (uint32_t)(time_ns % 7));
	image_u64(image, time_ns);
	image_u64(image, 7);
	image_end(image, record);
}

#endif
