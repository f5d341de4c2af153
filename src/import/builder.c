/* SPDX-License-Identifier: MIT */
#include "import/builder.h"

#include <string.h>

#include "base/error.h"

enum {
	CODE_BYTES = 16,         // of each function
	MOST_NAME = 60000,       // bytes of a name, which has to fit in a record
	MOST_CHAIN = 8000,       // addresses, likewise
	MOST_FUNCTIONS = 1 << 25 // that there is space for
};
static const uint64_t code_begin = 0xffffffffc0000000;

void pd_builder_init(struct pd_builder *self, struct pd_writer *writer, const struct pd_import_options *options,
		     struct pd_import_result *result, struct pd_error *error)
{
	*self = (struct pd_builder){ .writer = writer, .name = options->name, .result = result, .error = error };
}

void pd_builder_fini(struct pd_builder *self)
{
	pd_strings_fini(&self->events);
	pd_strings_fini(&self->functions);
	pd_strings_fini(&self->comms);
	pd_u64_map_fini(&self->comm_of);
	pd_arena_fini(&self->arena);
	pd_free(self->chain);
}

void pd_builder_limit(struct pd_builder *self, size_t input_size)
{
	enum {
		FEW = 1 << 20,
		FRAMES_PER_BYTE = 8
	};

	self->most_frames = FEW + (uint64_t)input_size * FRAMES_PER_BYTE;
}

// The number of a string, and whether it is new. Strings end before a NUL.
static uint32_t number_of(struct pd_builder *self, struct pd_strings *strings, const char *name, size_t size,
			  bool *is_new_out)
{
	size_t before = strings->count;
	uint32_t number;

	name = name ? name : "";
	size = size > MOST_NAME ? MOST_NAME : size;
	number = pd_strings_add(strings, &self->arena, name, size ? strnlen(name, size) : 0);
	if (number == PD_INDEX_END && self->status >= 0)
		self->status = pd_fail_memory(self->error);
	*is_new_out = number != PD_INDEX_END && strings->count != before;
	return number == PD_INDEX_END ? 0 : number;
}

static void add_record(struct pd_builder *self, uint32_t type, uint16_t misc, const void *decoded, size_t event)
{
	struct pd_error why;
	enum pd_status status;

	if (self->status < 0)
		return;
	status = pd_writer_add(self->writer, type, misc, decoded, event, &why);
	self->result->records += status >= 0;
	self->result->samples += status >= 0 && type == PD_RECORD_SAMPLE;
	if (status == PD_ERROR_FORMAT) {
		self->result->damaged++;
	} else if (status < 0) {
		self->status = status;
		if (self->error)
			*self->error = why;
	}
}

// ---- events ----

static const struct known_event {
	const char *name;
	uint32_t type;
	uint64_t config;
} known_events[] = {
	{ "cpu-clock", PD_TYPE_SOFTWARE, 0 },        { "task-clock", PD_TYPE_SOFTWARE, 1 },
	{ "page-faults", PD_TYPE_SOFTWARE, 2 },      { "context-switches", PD_TYPE_SOFTWARE, 3 },
	{ "cpu-migrations", PD_TYPE_SOFTWARE, 4 },   { "minor-faults", PD_TYPE_SOFTWARE, 5 },
	{ "major-faults", PD_TYPE_SOFTWARE, 6 },     { "cycles", PD_TYPE_HARDWARE, 0 },
	{ "cpu-cycles", PD_TYPE_HARDWARE, 0 },       { "instructions", PD_TYPE_HARDWARE, 1 },
	{ "cache-references", PD_TYPE_HARDWARE, 2 }, { "cache-misses", PD_TYPE_HARDWARE, 3 },
	{ "branches", PD_TYPE_HARDWARE, 4 },         { "branch-misses", PD_TYPE_HARDWARE, 5 },
};

// What perf has no number for is a raw event: of others it may expect more than there is.
static void find_event(const char *name, bool nanoseconds, struct pd_attr *attr)
{
	size_t length = strcspn(name, ":");

	attr->type = nanoseconds ? PD_TYPE_SOFTWARE : PD_TYPE_RAW;
	for (size_t i = 0; i < sizeof(known_events) / sizeof(known_events[0]); i++)
		if (strlen(known_events[i].name) == length && !memcmp(known_events[i].name, name, length)) {
			attr->type = known_events[i].type;
			attr->config = known_events[i].config;
		}
}

uint32_t pd_builder_event(struct pd_builder *self, const char *name, size_t size, bool nanoseconds)
{
	struct pd_attr attr = { .sample_period = 1 };
	bool is_new;
	uint32_t number = number_of(self, &self->events, name, size, &is_new);
	uint64_t id = (uint64_t)number + 1;

	if (!is_new || self->status < 0)
		return number;
	find_event(self->events.items[number], nanoseconds, &attr);
	attr.sample_type = self->sample_type | PD_MASK(PD_SAMPLE_TYPE_IDENTIFIER) | PD_MASK(PD_SAMPLE_TYPE_IP) |
			   PD_MASK(PD_SAMPLE_TYPE_TID) | PD_MASK(PD_SAMPLE_TYPE_PERIOD) |
			   (self->no_chains ? 0 : PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN));
	attr.flags = PD_MASK(PD_ATTR_COMM) | PD_MASK(PD_ATTR_KSYMBOL);
	self->status = pd_writer_add_event(self->writer, &attr, (struct pd_u64s){ &id, 1 }, self->events.items[number],
					   self->error);
	return number;
}

// ---- functions and threads ----

static uint16_t mode_of(uint64_t address)
{
	return address >> 63 ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER;
}

uint64_t pd_builder_function(struct pd_builder *self, const char *name, size_t size)
{
	bool is_new;
	uint32_t number = number_of(self, &self->functions, name, size, &is_new);
	uint64_t addr = code_begin + (uint64_t)number * CODE_BYTES;
	const char *kept = self->status < 0 ? "" : self->functions.items[number];
	const struct pd_ksymbol symbol = { .addr = addr,
					   .len = CODE_BYTES,
					   .ksym_type = PD_KSYMBOL_OOL,
					   .name = { kept, (uint32_t)strlen(kept), 0 } };

	if (number >= MOST_FUNCTIONS && self->status >= 0)
		self->status = pd_fail(self->error, PD_ERROR_LIMIT, PD_NO_OFFSET, "%s: too many functions", self->name);
	if (is_new)
		add_record(self, PD_RECORD_KSYMBOL, PD_CPUMODE_KERNEL, &symbol, 0);
	return addr;
}

static void name_thread(struct pd_builder *self, uint32_t pid, uint32_t tid, uint32_t comm)
{
	const char *kept = self->status < 0 ? "" : self->comms.items[comm];
	const struct pd_comm record = { .pid = pid, .tid = tid, .comm = { kept, (uint32_t)strlen(kept), 0 } };
	uint64_t key = (uint64_t)pid << 32 | tid, value = (uint64_t)comm + 1;

	if (self->status < 0 || pd_u64_map_find(&self->comm_of, key) == value)
		return;
	if (!pd_u64_map_set(&self->comm_of, key, value))
		self->status = pd_fail_memory(self->error);
	add_record(self, PD_RECORD_COMM, PD_CPUMODE_USER, &record, 0);
}

void pd_builder_thread(struct pd_builder *self, uint32_t pid, uint32_t tid, const char *comm, size_t size)
{
	bool is_new;

	name_thread(self, pid, tid, number_of(self, &self->comms, comm, size, &is_new));
}

uint32_t pd_builder_numberless_thread(struct pd_builder *self, const char *comm, size_t size)
{
	bool is_new;
	uint32_t number = number_of(self, &self->comms, comm, size, &is_new);

	name_thread(self, number + 1, number + 1, number);
	return number + 1;
}

void pd_builder_map(struct pd_builder *self, uint32_t pid, uint64_t addr, uint64_t size, const char *path)
{
	const struct pd_mmap record = { .pid = pid,
					.tid = pid,
					.addr = addr,
					.len = size,
					.pgoff = addr,
					.filename = { path, (uint32_t)strlen(path), 0 } };

	add_record(self, PD_RECORD_MMAP, mode_of(addr), &record, 0);
}

// ---- samples ----

void pd_builder_lost(struct pd_builder *self, uint64_t count)
{
	const struct pd_lost_samples record = { .lost = count };

	if (count)
		add_record(self, PD_RECORD_LOST_SAMPLES, 0, &record, 0);
}

// The addresses of a chain behind markers of their modes, as far as there is room. False if there is no memory.
static bool put_chain(struct pd_builder *self, const struct pd_builder_sample *sample, size_t *taken_out,
		      size_t *count_out)
{
	size_t most = sample->count > MOST_CHAIN ? MOST_CHAIN : sample->count, i, to = 0;
	uint16_t mode = PD_CPUMODE_UNKNOWN;

	if (!PD_GROW(self->chain, self->chain_capacity, most > MOST_CHAIN / 2 ? MOST_CHAIN + 2 : 2 * most + 1))
		return false;
	for (i = 0; i < most; i++) {
		uint16_t next = mode_of(sample->chain[i]);

		if (to + (next != mode) > MOST_CHAIN)
			break;
		if (next != mode)
			self->chain[to++] = (uint64_t)(next == PD_CPUMODE_KERNEL ? PD_CONTEXT_KERNEL : PD_CONTEXT_USER);
		mode = next;
		self->chain[to++] = sample->chain[i];
	}
	if (sample->unfinished)
		self->chain[to++] = (uint64_t)PD_CONTEXT_USER;
	*taken_out = i;
	*count_out = to;
	return true;
}

void pd_builder_sample(struct pd_builder *self, const struct pd_builder_sample *sample)
{
	size_t taken = 0, count = 0;
	struct pd_sample record = { .identifier = (uint64_t)sample->event + 1,
				    .ip = sample->chain[0],
				    .pid = sample->pid,
				    .tid = sample->tid,
				    .time_ns = sample->time_ns,
				    .cpu = sample->cpu,
				    .period = sample->period,
				    .weight = sample->weight };

	if (self->status >= 0 && !put_chain(self, sample, &taken, &count))
		self->status = pd_fail_memory(self->error);
	if (self->status >= 0 && self->most_frames) {
		self->most_frames -= sample->count < self->most_frames ? sample->count : self->most_frames;
		if (!self->most_frames)
			self->status = pd_fail(self->error, PD_ERROR_LIMIT, PD_NO_OFFSET,
					       "%s: its stacks are too large for its size", self->name);
	}
	if (self->status < 0)
		return;
	self->result->left_out += sample->count - taken;
	record.callchain = (struct pd_u64s){ self->chain, count };
	add_record(self, PD_RECORD_SAMPLE, mode_of(sample->chain[0]), &record, sample->event);
}
