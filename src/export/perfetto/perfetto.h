/* SPDX-License-Identifier: MIT */
/* What the files about Perfetto share: perfetto.c has samples, tracepoints.c what tracepoints recorded. */
#ifndef PD_EXPORT_PERFETTO_PERFETTO_H
#define PD_EXPORT_PERFETTO_PERFETTO_H

#include "export/export.h"
#include "export/feed/trace.h"
#include "export/write/proto.h"
#include "interval/tracepoints.h"

enum {
	PD_PERFETTO_TRACKS = 1 // the sequence of what is no sample; those of events come after it
};

// The clock of the file, and its latest time.
struct pd_perfetto_now {
	uint64_t ns;
	unsigned clock;
};

// Zeros are ready for use.
struct pd_perfetto_tracepoints {
	bool begun, lacks_formats;
	struct pd_tracepoints switches; // and wakeups
	struct pd_export_trace trace;
};

// Opens a packet of a sequence.
static inline size_t pd_perfetto_open(struct pd_text *text, const struct pd_perfetto_now *now, uint64_t sequence)
{
	enum {
		PACKET_TIME = 8,
		PACKET_SEQUENCE = 10,
		PACKET_CLOCK = 58
	};
	size_t packet = pd_proto_open(text, 1);

	pd_proto_given(text, PACKET_TIME, now->ns);
	pd_proto_number(text, PACKET_SEQUENCE, sequence);
	pd_proto_number(text, PACKET_CLOCK, now->clock);
	return packet;
}

// Writes what the tracepoint of a sample recorded, after the sample; its thread has this track.
void pd_perfetto_put_tracepoint(struct pd_export *self, struct pd_perfetto_tracepoints *tracepoints,
				const struct pd_export_sample *sample, const struct pd_perfetto_now *now,
				uint64_t track);
void pd_perfetto_tracepoints_fini(struct pd_perfetto_tracepoints *tracepoints);

#endif
