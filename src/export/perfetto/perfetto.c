/* SPDX-License-Identifier: MIT */
/*
 * Perfetto: a trace of packets, written as samples come. Each event is a sequence with strings, frames and stacks of its own,
 * which are in the packet of the sample that has them first. Numbers of the tables are its ids.
 */
#include <perfdata/summary.h>

#include "base/cursor.h"
#include "export/perfetto/perfetto.h"
#include "export/write/proto.h"

enum {
	PACKET_CLOCKS = 6,
	PACKET_SEQUENCE = 10,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_SYSTEM = 45,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
	PACKET_SAMPLE = 66
};

enum {
	INTERNED_FUNCTION = 5,
	INTERNED_FRAME = 6,
	INTERNED_STACK = 7,
	INTERNED_BUILD_ID = 16,
	INTERNED_PATH = 17,
	INTERNED_SOURCE = 18,
	INTERNED_MAPPING = 19
};

enum {
	CLOCK_REAL = 1,
	CLOCK_MONO = 3,
	CLOCK_RAW = 5,
	CLOCK_BOOT = 6,
	CLOCK_PERF = 10,
	FLAG_CLEARED = 1,
	FLAG_NEEDS_STATE = 2
};

#define PROCESS_UUID (UINT64_C(1) << 40)
#define THREAD_UUID (UINT64_C(2) << 40)

// What a sequence has told already: a bit for each number.
struct bits {
	uint8_t *bytes;
	size_t capacity;
};

struct sequence {
	bool begun;
	struct bits strings, sources, objects, mappings, lines, stacks;
};

struct perfetto {
	struct sequence *sequences;  // by event
	struct bits threads;         // that have a track
	struct pd_u64_map processes; // likewise
	struct pd_u64_map counters;  // by event and CPU: place in totals
	uint64_t *totals;
	size_t total_count, total_capacity;
	struct pd_perfetto_now now;
	struct pd_perfetto_tracepoints tracepoints;
};

// True if it is the first time, or there is no memory, which is noted.
static bool is_new(struct pd_export *self, struct bits *bits, size_t number)
{
	size_t at = number / 8, before = bits->capacity;

	if (at >= before) {
		if (!PD_GROW(bits->bytes, bits->capacity, at + 1)) {
			self->failed = true;
			return true;
		}
		memset(bits->bytes + before, 0, bits->capacity - before);
	}
	if (bits->bytes[at] >> number % 8 & 1)
		return false;
	bits->bytes[at] |= (uint8_t)(1u << number % 8);
	return true;
}

// ---- interned data ----

static void put_interned(struct pd_text *text, unsigned field, uint64_t id, const void *bytes, size_t size)
{
	size_t opened = pd_proto_open(text, field);

	pd_proto_number(text, 1, id);
	pd_proto_bytes(text, 2, bytes, size);
	pd_proto_close(text, opened);
}

static void intern_string(struct pd_export *self, struct bits *bits, unsigned field, uint32_t string)
{
	const struct pd_table_string *known = &self->tables.strings[string];

	if (is_new(self, bits, string))
		put_interned(self->text, field, (uint64_t)string + 1, known->text, known->size);
}

// The path is put together from its parts, each after a slash: here it is one.
static void intern_object(struct pd_export *self, struct sequence *sequence, uint32_t number)
{
	const struct pd_table_object *object = &self->tables.objects[number];
	const char *path = pd_tables_text_of(&self->tables, object->path);

	if (!is_new(self, &sequence->objects, number))
		return;
	path += *path == '/';
	put_interned(self->text, INTERNED_PATH, number, path, strlen(path));
	put_interned(self->text, INTERNED_BUILD_ID, number, object->id.bytes, object->id.size);
}

static void intern_mapping(struct pd_export *self, struct sequence *sequence, uint32_t number)
{
	const struct pd_table_mapping *mapping = &self->tables.mappings[number];
	bool kernel = self->tables.objects[mapping->object].kernel;
	size_t opened;

	if (!number || !is_new(self, &sequence->mappings, number))
		return;
	intern_object(self, sequence, mapping->object);
	opened = pd_proto_open(self->text, INTERNED_MAPPING);
	pd_proto_number(self->text, 1, number);
	pd_proto_number(self->text, 2, mapping->object);
	pd_proto_number(self->text, 3, kernel ? 0 : mapping->pgoff);
	pd_proto_number(self->text, 4, mapping->start);
	pd_proto_number(self->text, 5, mapping->end);
	pd_proto_number(self->text, 7, mapping->object);
	pd_proto_number(self->text, 8, kernel ? 0 : mapping->pgoff);
	pd_proto_close(self->text, opened);
}

static unsigned kind_of(const struct pd_tables *tables, const struct pd_table_frame *frame)
{
	const struct pd_table_object *object = &tables->objects[frame->object];

	return !frame->object ? 0 : object->kernel ? 2 : object->dso->object ? 1 : 4;
}

static void intern_line(struct pd_export *self, struct sequence *sequence, const struct pd_table_frame *frame,
			uint32_t number)
{
	const struct pd_table_line *line = &self->tables.lines[number];
	uint32_t name = self->tables.functions[line->function].name;
	size_t opened;

	if (!is_new(self, &sequence->lines, number))
		return;
	intern_string(self, &sequence->strings, INTERNED_FUNCTION, name);
	if (line->file)
		intern_string(self, &sequence->sources, INTERNED_SOURCE, line->file);
	intern_mapping(self, sequence, frame->mapping);
	opened = pd_proto_open(self->text, INTERNED_FRAME);
	pd_proto_number(self->text, 1, (uint64_t)number + 1);
	pd_proto_number(self->text, 2, (uint64_t)name + 1);
	pd_proto_number(self->text, 3, frame->mapping);
	pd_proto_given(self->text, 4, frame->place.addr);
	if (line->file)
		pd_proto_number(self->text, 5, (uint64_t)line->file + 1);
	pd_proto_number(self->text, 6, line->line);
	pd_proto_number(self->text, 7, kind_of(&self->tables, frame));
	pd_proto_close(self->text, opened);
}

static void intern_stack(struct pd_export *self, struct sequence *sequence, uint32_t stack)
{
	const struct pd_tables *tables = &self->tables;
	const uint32_t *lines;
	size_t opened, count;

	for (uint32_t at = stack; at; at = tables->stacks[at].parent) {
		const struct pd_table_frame *frame = &tables->frames[tables->stacks[at].frame];

		for (uint32_t i = 0; i < frame->line_count; i++)
			intern_line(self, sequence, frame, frame->first_line + i);
	}
	lines = pd_tables_expand(&self->tables, stack, &count);
	opened = pd_proto_open(self->text, INTERNED_STACK);
	pd_proto_number(self->text, 1, stack);
	while (count--)
		pd_proto_number(self->text, 2, (uint64_t)lines[count] + 1);
	pd_proto_close(self->text, opened);
}

// ---- packets ----

static void put_clock(struct pd_text *text, unsigned clock, uint64_t time_ns)
{
	size_t opened = pd_proto_open(text, 1);

	pd_proto_number(text, 1, clock);
	pd_proto_given(text, 2, time_ns);
	pd_proto_close(text, opened);
}

// The clock of the file, which is taken for that of the boot if nothing else is known, and the time of day.
static void put_clocks(struct pd_export *self)
{
	const struct perfetto *perfetto = self->sink;
	uint64_t wall_ns = pd_file_wall_clock(self->file, perfetto->now.ns);
	size_t packet = pd_proto_open(self->text, 1), clocks = pd_proto_open(self->text, PACKET_CLOCKS);

	put_clock(self->text, perfetto->now.clock, perfetto->now.ns);
	if (perfetto->now.clock != CLOCK_BOOT)
		put_clock(self->text, CLOCK_BOOT, perfetto->now.ns);
	if (perfetto->now.clock != CLOCK_REAL && wall_ns != PD_NO_TIME)
		put_clock(self->text, CLOCK_REAL, wall_ns);
	pd_proto_close(self->text, clocks);
	pd_proto_number(self->text, PACKET_SEQUENCE, PD_PERFETTO_TRACKS);
	pd_proto_close(self->text, packet);
}

static void put_feature(struct pd_export *self, unsigned field, const struct pd_string *feature)
{
	if (feature)
		pd_proto_table_string(self->text, field, &self->tables,
				      pd_tables_string(&self->tables, feature->value.data, feature->value.length));
}

// Codes of what a thread waits for have changed with kernels.
static void put_system(struct pd_export *self)
{
	const struct pd_string *release = pd_file_osrelease(self->file), *arch = pd_file_arch(self->file);
	size_t packet, system, name;

	if (!release)
		return;
	packet = pd_proto_open(self->text, 1);
	system = pd_proto_open(self->text, PACKET_SYSTEM);
	name = pd_proto_open(self->text, 1);
	pd_proto_string(self->text, 1, "Linux");
	put_feature(self, 3, release);
	put_feature(self, 4, arch);
	pd_proto_close(self->text, name);
	pd_proto_close(self->text, system);
	pd_proto_number(self->text, PACKET_SEQUENCE, PD_PERFETTO_TRACKS);
	pd_proto_close(self->text, packet);
}

static void put_process(struct pd_export *self, const struct pd_owner *owner, uint32_t comm)
{
	struct perfetto *perfetto = self->sink;
	size_t packet, track, process;

	if (pd_u64_map_find(&perfetto->processes, owner->pid))
		return;
	self->failed |= !pd_u64_map_add(&perfetto->processes, owner->pid, 1);
	packet = pd_perfetto_open(self->text, &perfetto->now, PD_PERFETTO_TRACKS);
	track = pd_proto_open(self->text, PACKET_TRACK);
	pd_proto_number(self->text, 1, PROCESS_UUID + owner->pid);
	process = pd_proto_open(self->text, 3);
	pd_proto_number(self->text, 1, (uint64_t)(int32_t)owner->pid);
	pd_proto_table_string(self->text, 6, &self->tables, comm);
	pd_proto_close(self->text, process);
	pd_proto_close(self->text, track);
	pd_proto_close(self->text, packet);
}

static void put_thread(struct pd_export *self, uint32_t number)
{
	struct perfetto *perfetto = self->sink;
	const struct pd_owner *owner = pd_export_thread(self, number);
	uint32_t comm;
	size_t packet, track, thread;

	if (!is_new(self, &perfetto->threads, number))
		return;
	comm = pd_export_comm(self, number);
	put_process(self, owner, comm);
	packet = pd_perfetto_open(self->text, &perfetto->now, PD_PERFETTO_TRACKS);
	track = pd_proto_open(self->text, PACKET_TRACK);
	pd_proto_number(self->text, 1, THREAD_UUID + number);
	thread = pd_proto_open(self->text, 4);
	pd_proto_number(self->text, 1, (uint64_t)(int32_t)owner->pid);
	pd_proto_number(self->text, 2, (uint64_t)(int32_t)owner->tid);
	pd_proto_table_string(self->text, 5, &self->tables, comm);
	pd_proto_close(self->text, thread);
	pd_proto_number(self->text, 5, PROCESS_UUID + owner->pid);
	pd_proto_close(self->text, track);
	pd_proto_close(self->text, packet);
}

// ---- events ----

// Its number among the counters of Perfetto; 0 if it has none.
static unsigned counter_of(const struct pd_attr *attr)
{
	static const uint8_t software[] = { 1, 3, 2, 4, 5 };
	static const uint8_t hardware[] = { 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 };

	if (attr->type == PD_TYPE_SOFTWARE && attr->config < sizeof(software))
		return software[attr->config];
	return attr->type == PD_TYPE_HARDWARE && attr->config < sizeof(hardware) ? hardware[attr->config] : 0;
}

static void put_timebase(struct pd_export *self, const struct pd_event *event)
{
	const struct pd_attr *attr = event->attr;
	uint32_t name = pd_tables_text(&self->tables, event->name);
	size_t timebase = pd_proto_open(self->text, 1), inside;

	pd_proto_number(self->text, PD_BITS(attr->flags, PD_ATTR_FREQ) ? 2 : 1, attr->sample_period);
	if (counter_of(attr)) {
		pd_proto_number(self->text, 4, counter_of(attr));
	} else if (attr->type == PD_TYPE_TRACEPOINT) {
		inside = pd_proto_open(self->text, 3);
		pd_proto_table_string(self->text, 1, &self->tables, name);
		pd_proto_close(self->text, inside);
	} else {
		inside = pd_proto_open(self->text, 5);
		pd_proto_number(self->text, 1, attr->type);
		pd_proto_number(self->text, 2, attr->config);
		pd_proto_close(self->text, inside);
	}
	pd_proto_table_string(self->text, 10, &self->tables, name);
	pd_proto_close(self->text, timebase);
}

static void begin_sequence(struct pd_export *self, const struct pd_event *event)
{
	const struct perfetto *perfetto = self->sink;
	size_t defaults = pd_proto_open(self->text, PACKET_DEFAULTS), sample = pd_proto_open(self->text, 12);

	put_timebase(self, event);
	pd_proto_close(self->text, sample);
	pd_proto_number(self->text, 58, perfetto->now.clock);
	pd_proto_close(self->text, defaults);
}

// ---- samples ----

static unsigned cpu_mode_of(unsigned cpumode)
{
	static const uint8_t modes[] = { [PD_CPUMODE_KERNEL] = 1,
					 [PD_CPUMODE_USER] = 2,
					 [PD_CPUMODE_HYPERVISOR] = 3,
					 [PD_CPUMODE_GUEST_KERNEL] = 4,
					 [PD_CPUMODE_GUEST_USER] = 5 };

	return cpumode < sizeof(modes) ? modes[cpumode] : 0;
}

// What the event has counted on the CPU so far. 0 if there is no memory.
static uint64_t count(struct pd_export *self, const struct pd_export_sample *sample)
{
	struct perfetto *perfetto = self->sink;
	uint64_t key = (uint64_t)sample->event->index << 32 | sample->brief->cpu;
	uint64_t known = pd_u64_map_find(&perfetto->counters, key);

	if (!known) {
		if (!PD_GROW(perfetto->totals, perfetto->total_capacity, perfetto->total_count + 1) ||
		    !pd_u64_map_add(&perfetto->counters, key, perfetto->total_count + 1)) {
			self->failed = true;
			return 0;
		}
		perfetto->totals[perfetto->total_count++] = 0;
		known = perfetto->total_count;
	}
	perfetto->totals[known - 1] += sample->value;
	return perfetto->totals[known - 1];
}

static void put_sample(struct pd_export *self, const struct pd_export_sample *sample)
{
	const struct pd_owner *owner = pd_export_thread(self, sample->thread);
	size_t opened = pd_proto_open(self->text, PACKET_SAMPLE);

	if (sample->brief->cpu != UINT32_MAX)
		pd_proto_given(self->text, 1, sample->brief->cpu);
	// 32 bits wide: a task that has ended is 2^32 - 1
	pd_proto_given(self->text, 2, owner->pid);
	pd_proto_given(self->text, 3, owner->tid);
	pd_proto_number(self->text, 4, sample->stack);
	pd_proto_number(self->text, 5, cpu_mode_of(sample->brief->cpumode));
	pd_proto_given(self->text, 6, count(self, sample));
	pd_proto_close(self->text, opened);
}

static void take_sample(struct pd_export *self, const struct pd_export_sample *sample)
{
	struct perfetto *perfetto = self->sink;
	struct sequence *sequence = &perfetto->sequences[sample->event->index];
	bool first = !sequence->begun;
	size_t packet, interned;

	if (sample->time_ns != PD_NO_TIME && sample->time_ns > perfetto->now.ns)
		perfetto->now.ns = sample->time_ns;
	if (self->result.samples == 1) {
		put_clocks(self);
		put_system(self);
	}
	put_thread(self, sample->thread);
	packet = pd_perfetto_open(self->text, &perfetto->now, PD_PERFETTO_TRACKS + 1 + sample->event->index);
	pd_proto_number(self->text, PACKET_FLAGS, first ? FLAG_CLEARED | FLAG_NEEDS_STATE : FLAG_NEEDS_STATE);
	if (first)
		begin_sequence(self, sample->event);
	sequence->begun = true;
	if (is_new(self, &sequence->stacks, sample->stack)) {
		interned = pd_proto_open(self->text, PACKET_INTERNED);
		intern_stack(self, sequence, sample->stack);
		pd_proto_close(self->text, interned);
	}
	put_sample(self, sample);
	pd_proto_close(self->text, packet);
	pd_perfetto_put_tracepoint(self, &perfetto->tracepoints, sample, &perfetto->now, THREAD_UUID + sample->thread);
	pd_export_flush(self);
}

// ---- beginning and end ----

static unsigned clock_of(const struct pd_file *file)
{
	const struct pd_attr *attr = pd_file_event(file, 0)->attr;

	if (!PD_BITS(attr->flags, PD_ATTR_USE_CLOCKID))
		return CLOCK_PERF;
	switch (attr->clockid) {
	case PD_CLOCK_REALTIME:
		return CLOCK_REAL;
	case PD_CLOCK_MONOTONIC:
		return CLOCK_MONO;
	case PD_CLOCK_MONOTONIC_RAW:
		return CLOCK_RAW;
	case PD_CLOCK_BOOTTIME:
		return CLOCK_BOOT;
	}
	return CLOCK_PERF;
}

static void begin(struct pd_export *self)
{
	struct perfetto *perfetto = self->sink;

	perfetto->sequences = pd_alloc((self->event_count + 1) * sizeof(*perfetto->sequences));
	perfetto->processes.seed = perfetto->counters.seed = self->tables.seed;
	perfetto->now.clock = clock_of(self->file);
	self->failed |= !perfetto->sequences;
}

static void end(struct pd_export *self)
{
	(void)self;
}

static void fini_sequence(struct sequence *sequence)
{
	pd_free(sequence->strings.bytes);
	pd_free(sequence->sources.bytes);
	pd_free(sequence->objects.bytes);
	pd_free(sequence->mappings.bytes);
	pd_free(sequence->lines.bytes);
	pd_free(sequence->stacks.bytes);
}

static void fini(struct pd_export *self)
{
	struct perfetto *perfetto = self->sink;

	for (size_t i = 0; perfetto->sequences && i < self->event_count; i++)
		fini_sequence(&perfetto->sequences[i]);
	pd_free(perfetto->sequences);
	pd_free(perfetto->threads.bytes);
	pd_u64_map_fini(&perfetto->processes);
	pd_u64_map_fini(&perfetto->counters);
	pd_free(perfetto->totals);
	pd_perfetto_tracepoints_fini(&perfetto->tracepoints);
}

const struct pd_export_sink pd_export_sink_perfetto = {
	.size = sizeof(struct perfetto),
	.begin = begin,
	.sample = take_sample,
	.end = end,
	.fini = fini,
};
