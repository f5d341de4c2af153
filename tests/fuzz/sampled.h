/* SPDX-License-Identifier: MIT */
/* A small recording for targets whose input is no file. */
#ifndef PD_TEST_SAMPLED_H
#define PD_TEST_SAMPLED_H

#include <perfdata/perfdata.h>

#include "unit/image.h"

// A name of a thread, and two samples with call chains and raw data.
static inline void sampled_make(struct image *image)
{
	const uint64_t sample_type = PD_MASK(PD_SAMPLE_TYPE_IP) | PD_MASK(PD_SAMPLE_TYPE_TID) |
				     PD_MASK(PD_SAMPLE_TYPE_TIME) | PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN) |
				     PD_MASK(PD_SAMPLE_TYPE_RAW);
	size_t record;

	image_file(image, sample_type, image_flag(image, IMAGE_SAMPLE_ID_ALL));
	record = image_record(image, PD_RECORD_COMM, 0);
	image_u32(image, 7);
	image_u32(image, 7);
	image_text(image, "gcc", 8);
	image_u64(image, 7);
	image_u64(image, 1000);
	image_end(image, record);
	for (uint64_t i = 0; i < 2; i++) {
		record = image_record(image, PD_RECORD_SAMPLE, (uint16_t)(1 + i));
		image_u64(image, 0x1000 * i);
		image_u32(image, 7);
		image_u32(image, 7);
		image_u64(image, 2000 + i);
		image_u64(image, 2);
		image_u64(image, (uint64_t)PD_CONTEXT_USER);
		image_u64(image, 0x1234);
		image_u32(image, 4);
		image_text(image, "raw", 4);
		image_end(image, record);
	}
	image_data_at(image, 184, image->size - 184);
}

#endif
