/* SPDX-License-Identifier: MIT */
/* Samples and records to packets of their CPU. */
#include "export/ctf/ctf.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text/text.h"
#include "file/file.h"

enum {
	PACKET_BYTES = 1 << 16,
	HEAD_BYTES = 68, // of a packet, header and context
	NO_CPU = -1
};

#define MASK(NAME) PD_MASK(PD_SAMPLE_TYPE_##NAME)

// ---- packets ----

// Two exports of a file have the same.
static void make_uuid(struct pd_export *self, uint8_t uuid[PD_CTF_UUID])
{
	const struct pd_string *host = pd_file_hostname(self->file);
	uint8_t digest[PD_SHA256_BYTES];
	struct pd_sha256 sha;

	pd_sha256_begin(&sha);
	if (host)
		pd_sha256_add(&sha, host->value.data, host->value.length);
	for (size_t i = 0; i < pd_file_event_count(self->file); i++) {
		const struct pd_event *event = pd_file_event(self->file, i);

		pd_sha256_add(&sha, event->name, strlen(event->name) + 1);
		pd_sha256_add(&sha, event->attr, sizeof(*event->attr));
	}
	pd_sha256_end(&sha, digest);
	memcpy(uuid, digest, PD_CTF_UUID);
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x80); // version 8, whose content is free (RFC 9562)
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

// Records come before the first sample.
static bool is_ready(struct pd_export *self)
{
	struct pd_ctf *ctf = self->sink;

	if (ctf->trace)
		return true;
	make_uuid(self, ctf->uuid);
	ctf->stream_of.seed = pd_file_secret(self->file);
	return pd_trace_new(self->file, NULL, &ctf->trace, NULL) == PD_OK;
}

static void check_texts(struct pd_export *self)
{
	const struct pd_ctf *ctf = self->sink;

	for (size_t i = 0; i < ctf->stream_count; i++)
		self->failed |= ctf->streams[i].packet->failed ||
				(ctf->streams[i].file->failed && !ctf->streams[i].file->sink_failed);
}

static void end_packet(const struct pd_ctf *ctf, struct pd_ctf_stream *stream)
{
	uint64_t bits = (HEAD_BYTES + stream->packet->size) * 8;
	struct pd_text *file = stream->file;

	pd_ctf_put(file, UINT32_C(0xc1fc1fc1), 4);
	pd_text_put(file, (const char *)ctf->uuid, PD_CTF_UUID);
	pd_ctf_put(file, 0, 4);
	pd_ctf_put(file, stream->begin_ns, 8);
	pd_ctf_put(file, stream->end_ns, 8);
	pd_ctf_put(file, bits, 8);
	pd_ctf_put(file, bits, 8);
	pd_ctf_put(file, stream->discarded, 8);
	pd_ctf_put(file, stream->cpu, 4);
	pd_text_put(file, stream->packet->data, stream->packet->size);
	pd_text_flush_large(file);
	pd_text_clear(stream->packet);
	stream->begin_ns = stream->end_ns;
}

// Opens a file. NULL if that is not possible, which is noted.
static struct pd_text *open_file(struct pd_export *self, const char *name)
{
	struct pd_text *file = self->options.file(self->options.self, name);
	struct pd_error error;

	if (!file)
		pd_export_stop(self, pd_fail(&error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s cannot be written", name),
			       &error);
	return file;
}

static struct pd_ctf_stream *add_stream(struct pd_export *self, struct pd_ctf *ctf, uint32_t cpu)
{
	struct pd_ctf_stream *stream;
	char name[32];

	if (!PD_GROW(ctf->streams, ctf->stream_capacity, ctf->stream_count + 1))
		return NULL;
	stream = &ctf->streams[ctf->stream_count];
	*stream = (struct pd_ctf_stream){ .cpu = cpu, .packet = pd_text_new() };
	if (!stream->packet)
		return NULL;
	ctf->stream_count++;
	snprintf(name, sizeof(name), "perf_stream_%zu", ctf->stream_count - 1);
	stream->file = open_file(self, name);
	return stream->file ? stream : NULL;
}

// The stream of a CPU; NULL if it cannot be written, which is noted.
static struct pd_ctf_stream *stream_of(struct pd_export *self, uint32_t cpu)
{
	struct pd_ctf *ctf = self->sink;
	uint64_t known = pd_u64_map_find(&ctf->stream_of, (uint64_t)cpu + 1);
	struct pd_ctf_stream *stream;

	if (known)
		return &ctf->streams[known - 1];
	if (ctf->stream_count == PD_CTF_STREAMS)
		return &ctf->streams[ctf->stream_count - 1];
	stream = add_stream(self, ctf, ctf->stream_count + 1 < PD_CTF_STREAMS ? cpu : (uint32_t)NO_CPU);
	if (stream && pd_u64_map_add(&ctf->stream_of, (uint64_t)cpu + 1, ctf->stream_count))
		return stream;
	self->failed = true;
	return NULL;
}

// Times of a stream never go back.
static struct pd_text *begin_event(struct pd_export *self, uint32_t cpu, size_t id, uint64_t time_ns)
{
	struct pd_ctf_stream *stream = stream_of(self, cpu);

	if (!stream)
		return NULL;
	self->failed |= stream->packet->failed;
	if (stream->packet->size >= PACKET_BYTES)
		end_packet(self->sink, stream);
	if (time_ns == PD_NO_TIME || time_ns < stream->end_ns)
		time_ns = stream->end_ns;
	if (!stream->packet->size)
		stream->begin_ns = time_ns;
	stream->end_ns = time_ns;
	pd_ctf_put(stream->packet, id, 4);
	pd_ctf_put(stream->packet, time_ns, 8);
	return stream->packet;
}

// ---- samples ----

static void put_raw(struct pd_ctf *ctf, const struct pd_ctf_event *known, const struct pd_sample *sample,
		    struct pd_text *text)
{
	if (known->has_fields) {
		pd_ctf_put_fields(ctf, known, sample->raw, text);
		return;
	}
	pd_ctf_put(text, sample->raw.size / 4, 4);
	pd_text_put(text, (const char *)sample->raw.data, sample->raw.size / 4 * 4);
}

// What a member of a group counted has a number and a period of its own.
static uint64_t id_of(const struct pd_export_sample *sample, const struct pd_sample *full, uint64_t parts)
{
	if (sample->id)
		return sample->id;
	return parts & MASK(ID) ? full->id : full->identifier;
}

static void put_parts(const struct pd_export_sample *sample, const struct pd_sample *full, uint64_t parts,
		      struct pd_text *text)
{
	for (size_t i = 0; i < PD_CTF_PARTS; i++) {
		const struct pd_ctf_part *part = &pd_ctf_parts[i];
		const char *member = (const char *)full + part->at;
		uint32_t half;
		uint64_t value;

		if (!(parts & part->mask))
			continue;
		if (part->size == sizeof(half)) {
			memcpy(&half, member, sizeof(half));
			value = half;
		} else {
			memcpy(&value, member, sizeof(value));
		}
		if (part->at == offsetof(struct pd_sample, id))
			value = id_of(sample, full, parts);
		if (part->at == offsetof(struct pd_sample, period) && sample->id)
			value = sample->brief->period;
		pd_ctf_put(text, value, part->size);
	}
}

static void take_sample(struct pd_export *self, const struct pd_export_sample *sample)
{
	const struct pd_event *event = sample->event;
	const struct pd_sample *full = pd_as_sample(sample->record);
	const struct pd_ctf_event *known = is_ready(self) ? pd_ctf_event(self->sink, event) : NULL;
	uint64_t parts = event->attr->sample_type;
	struct pd_text *text;

	if (!full) {
		self->result.damaged++;
		return;
	}
	text = known ? begin_event(self, parts & MASK(CPU) ? full->cpu : 0, PD_CTF_RECORDS + event->index,
				   sample->time_ns) :
		       NULL;
	if (!text) {
		self->failed = true;
		return;
	}
	put_parts(sample, full, parts, text);
	if (parts & MASK(CALLCHAIN)) {
		pd_ctf_put(text, full->callchain.count, 4);
		for (size_t i = 0; i < full->callchain.count; i++)
			pd_ctf_put(text, full->callchain.items[i], 8);
	}
	if (parts & MASK(RAW))
		put_raw(self->sink, known, full, text);
	self->failed |= text->failed;
}

// ---- records ----

// What each of them begins with. NULL if it cannot be written.
static struct pd_text *begin_record(struct pd_export *self, const struct pd_record *record,
				    const struct pd_sample_id *id, enum pd_ctf_record what)
{
	return begin_event(self, id ? id->cpu : 0, what, record->time_ns);
}

static void put_task(struct pd_export *self, const struct pd_record *record, const struct pd_task *task,
		     enum pd_ctf_record what)
{
	struct pd_text *text = begin_record(self, record, task->sample_id, what);

	if (!text)
		return;
	pd_ctf_put(text, task->pid, 4);
	pd_ctf_put(text, task->ppid, 4);
	pd_ctf_put(text, task->tid, 4);
	pd_ctf_put(text, task->ptid, 4);
	pd_ctf_put(text, task->time_ns, 8);
}

static void put_comm(struct pd_export *self, const struct pd_record *record, const struct pd_comm *comm)
{
	struct pd_text *text = begin_record(self, record, comm->sample_id, PD_CTF_COMM);

	if (!text)
		return;
	pd_ctf_put(text, comm->pid, 4);
	pd_ctf_put(text, comm->tid, 4);
	pd_ctf_put_string(text, comm->comm.data, comm->comm.length);
}

static void put_mapping(struct pd_text *text, uint32_t pid, uint32_t tid, uint64_t start, struct pd_str name)
{
	if (!text)
		return;
	pd_ctf_put(text, pid, 4);
	pd_ctf_put(text, tid, 4);
	pd_ctf_put(text, start, 8);
	pd_ctf_put_string(text, name.data, name.length);
}

static void note_lost(struct pd_export *self, const struct pd_sample_id *id, uint64_t count)
{
	struct pd_ctf_stream *stream = stream_of(self, id ? id->cpu : 0);

	if (stream)
		stream->discarded += count;
}

static bool is_task_or_map(uint32_t type)
{
	return type == PD_RECORD_COMM || type == PD_RECORD_FORK || type == PD_RECORD_EXIT || type == PD_RECORD_MMAP ||
	       type == PD_RECORD_MMAP2;
}

static void take_task_or_map(struct pd_export *self, const struct pd_record *record)
{
	const struct pd_comm *comm = pd_as_comm(record);
	const struct pd_task *fork = pd_as_fork(record), *exit = pd_as_exit(record);
	const struct pd_mmap *mmap = pd_as_mmap(record);
	const struct pd_mmap2 *mmap2 = pd_as_mmap2(record);

	if (comm)
		put_comm(self, record, comm);
	else if (fork)
		put_task(self, record, fork, PD_CTF_FORK);
	else if (exit)
		put_task(self, record, exit, PD_CTF_EXIT);
	else if (mmap)
		put_mapping(begin_record(self, record, mmap->sample_id, PD_CTF_MMAP), mmap->pid, mmap->tid, mmap->addr,
			    mmap->filename);
	else if (mmap2)
		put_mapping(begin_record(self, record, mmap2->sample_id, PD_CTF_MMAP2), mmap2->pid, mmap2->tid,
			    mmap2->addr, mmap2->filename);
	else if (is_task_or_map(record->type))
		self->result.damaged++;
}

static void take_record(struct pd_export *self, const struct pd_record *record)
{
	const struct pd_lost *lost = pd_as_lost(record);
	const struct pd_lost_samples *samples = pd_as_lost_samples(record);

	if (!is_ready(self))
		self->failed = true;
	else if (lost)
		note_lost(self, lost->sample_id, lost->lost);
	else if (samples)
		note_lost(self, samples->sample_id, samples->lost);
	else if (self->options.tasks_and_maps)
		take_task_or_map(self, record);
}

// ---- all of it ----

static void end(struct pd_export *self)
{
	struct pd_ctf *ctf = self->sink;
	struct pd_text *metadata = open_file(self, "metadata");

	if (!metadata)
		return;
	check_texts(self);
	for (size_t i = 0; i < ctf->stream_count; i++)
		if (ctf->streams[i].packet->size)
			end_packet(ctf, &ctf->streams[i]);
	pd_ctf_put_metadata(self, ctf, metadata);
	check_texts(self);
	self->failed |= metadata->failed;
}

static void fini(struct pd_export *self)
{
	struct pd_ctf *ctf = self->sink;

	for (size_t i = 0; i < ctf->stream_count; i++)
		pd_text_free(ctf->streams[i].packet);
	pd_free(ctf->streams);
	pd_free(ctf->events);
	pd_u64_map_fini(&ctf->stream_of);
	pd_arena_fini(&ctf->arena);
	pd_trace_free(ctf->trace);
}

const struct pd_export_sink pd_export_sink_ctf = {
	.size = sizeof(struct pd_ctf),
	.as_recorded = true,
	.no_frames = true,
	.in_folder = true,
	.sample = take_sample,
	.record = take_record,
	.end = end,
	.fini = fini,
};
