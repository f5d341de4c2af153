/* SPDX-License-Identifier: MIT */
/*
 * A trace of CTF 1.8 as perf data convert --to-ctf writes it: a stream for each CPU in packets, and metadata as text that says what
 * is in them. Everything in a packet is of whole bytes, little-endian, one after another.
 */
#ifndef PD_EXPORT_CTF_CTF_H
#define PD_EXPORT_CTF_CTF_H

#include "export/export.h"
#include "trace/trace.h"

enum pd_ctf_kind {
	PD_CTF_NUMBER,
	PD_CTF_ARRAY,    // of a constant number of items
	PD_CTF_SEQUENCE, // a number of items before them
	PD_CTF_STRING
};

// A field of a tracepoint.
struct pd_ctf_field {
	const struct pd_member *member;
	const char *name; // as in the metadata: one that no other field of the event has
	enum pd_ctf_kind kind;
	uint32_t item_size; // 1, 2, 4 or 8
	uint32_t count;     // items of an array
};

struct pd_ctf_event {
	struct pd_ctf_field *fields; // in the arena
	size_t field_count;
	bool is_known;   // the fields were looked up
	bool has_fields; // raw data are a tracepoint's
};

// A part of samples that is a number, in the order in which perf writes them.
struct pd_ctf_part {
	const char *name;
	uint64_t mask; // of the sample type: any of these
	unsigned size;
	bool is_signed, is_hex;
	size_t at; // in struct pd_sample
};
#define PD_CTF_PARTS 10
extern const struct pd_ctf_part pd_ctf_parts[PD_CTF_PARTS];

enum pd_ctf_record {
	PD_CTF_COMM,
	PD_CTF_EXIT,
	PD_CTF_FORK,
	PD_CTF_MMAP,
	PD_CTF_MMAP2,
	PD_CTF_RECORDS // their ids come before those of events
};

struct pd_ctf_stream {
	uint32_t cpu;
	struct pd_text *file;   // the caller's
	struct pd_text *packet; // events of the present one
	uint64_t begin_ns, end_ns;
	uint64_t discarded; // events that were lost so far
};

enum {
	PD_CTF_UUID = 16,
	PD_CTF_STREAMS = 512 // more CPUs share the last one; each is an open file
};

struct pd_ctf {
	uint8_t uuid[PD_CTF_UUID];
	struct pd_arena arena;
	struct pd_trace *trace;
	struct pd_ctf_event *events; // by index
	size_t event_count;
	struct pd_ctf_stream *streams;
	size_t stream_count, stream_capacity;
	struct pd_u64_map stream_of; // CPU and 1 to place and 1
};

// The fields of an event; NULL if there is no memory.
const struct pd_ctf_event *pd_ctf_event(struct pd_ctf *ctf, const struct pd_event *event);
// Adds the fields in raw data.
void pd_ctf_put_fields(struct pd_ctf *ctf, const struct pd_ctf_event *event, struct pd_bytes raw, struct pd_text *text);
// Adds a number of so many bytes.
void pd_ctf_put(struct pd_text *text, uint64_t value, unsigned size);
// Adds a string; bytes that cannot be printed become \xNN.
void pd_ctf_put_string(struct pd_text *text, const char *string, size_t size);
// The text of all that is known at the end.
void pd_ctf_put_metadata(struct pd_export *self, struct pd_ctf *ctf, struct pd_text *text);

#endif
