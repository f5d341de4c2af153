/* SPDX-License-Identifier: MIT */
/* Numbers in the raw data of tracepoints, looked up by name once for each event and read for each sample. */
#ifndef PD_INTERVAL_RAW_H
#define PD_INTERVAL_RAW_H

#include <perfdata/trace.h>

#include "base/cursor.h"

// Where a number is; its size is 1, 2, 4 or 8. Its byte order is that of the formats, which conversions of a file keep.
struct pd_raw_number {
	uint32_t offset, size;
	bool big;
};

// A field by its name. What an event lacks, or what is no number, is an error.
enum pd_status pd_raw_number_find(struct pd_trace *trace, const struct pd_event *event, const char *name,
				  struct pd_raw_number *number_out, struct pd_error *error);
// False if the raw data is too short.
static inline bool pd_raw_number_read(struct pd_bytes raw, const struct pd_raw_number *number, uint64_t *value_out)
{
	bool swap = number->big != PD_HOST_BIG;
	const uint8_t *at;

	*value_out = 0;
	if (!raw.size || raw.size < number->size || number->offset > raw.size - number->size)
		return false;
	at = raw.data + number->offset;
	if (PD_LIKELY(number->size == 4))
		*value_out = pd_load_u32(at, swap);
	else if (number->size == 8)
		*value_out = pd_load_u64(at, swap);
	else if (number->size == 2)
		*value_out = pd_load_u16(at, swap);
	else if (number->size == 1)
		*value_out = *at;
	else
		return false;
	return true;
}
// Whether an event has this name; modifiers may follow.
bool pd_event_is(const struct pd_event *event, const char *name);

#endif
