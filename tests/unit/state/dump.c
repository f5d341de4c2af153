/* SPDX-License-Identifier: MIT */
/*
 * Prints what the state says about each sample of a file, for compare.py: time, thread, name, what stands
 * at the data address (or -), and at the ip or at each address of the call chain. Separated by tabs; control characters are escaped.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <perfdata/perfdata.h>

#define PREFIX(text, prefix) (strncmp((text), "" prefix, sizeof(prefix) - 1) == 0)

// The name that perf gives what is mapped.
static void print_object(const struct pd_location *location, struct pd_text *text)
{
	const struct pd_mapping *mapping = location->mapping;
	const char *path = location->object->path;
	bool nameless = PREFIX(path, "//anon") || PREFIX(path, "/dev/zero") || PREFIX(path, "/anon_hugepage") ||
			PREFIX(path, "[stack") || PREFIX(path, "/SYSV") || PREFIX(path, "[heap]") ||
			(mapping->flags & PD_MASK(PD_MAP_HUGETLB));

	if (nameless && mapping->executable && location->object->kind != PD_OBJECT_KSYMBOL)
		pd_text_printf(text, "/tmp/perf-%d.map", (int)mapping->pid);
	else
		pd_text_escaped(text, path, strlen(path));
}

static void print_address(const struct pd_state *state, const struct pd_sample *sample, unsigned cpumode,
			  struct pd_moment when, uint64_t addr, bool is_data, struct pd_text *text)
{
	struct pd_location location;

	pd_text_printf(text, "\t%" PRIx64 " ", addr);
	// the kernel handles data of the process
	if (pd_state_locate(state, sample->pid, cpumode, when, addr, &location) ||
	    (is_data && pd_state_locate(state, sample->pid, PD_CPUMODE_UNKNOWN, when, addr, &location)))
		print_object(&location, text);
	else
		pd_text_printf(text, "[unknown]");
}

static unsigned mode_of_marker(uint64_t marker, unsigned before)
{
	static const struct {
		int64_t marker;
		unsigned cpumode;
	} modes[] = { { -32, PD_CPUMODE_HYPERVISOR }, { -128, PD_CPUMODE_KERNEL }, { -512, PD_CPUMODE_USER } };

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if ((int64_t)marker == modes[i].marker)
			return modes[i].cpumode;
	}
	return before;
}

static void print_sample(const struct pd_state *state, const struct pd_record *record, const struct pd_sample *sample,
			 struct pd_text *text)
{
	uint64_t type = record->event->attr->sample_type;
	bool has_tid = PD_BITS(type, PD_SAMPLE_TYPE_TID);
	uint32_t tid = has_tid ? sample->tid : UINT32_MAX;
	struct pd_moment when = pd_record_moment(record);
	unsigned cpumode = (unsigned)PD_BITS(record->misc, PD_MISC_CPUMODE);
	char unknown[PD_THREAD_NAME_BYTES];
	const char *comm = pd_state_comm(state, tid, when, unknown);

	pd_text_printf(text, "%" PRIu64 "\t%d/%d\t", record->time_ns == PD_NO_TIME ? 0 : record->time_ns,
		       has_tid ? (int)sample->pid : -1, (int)tid);
	pd_text_escaped(text, comm, strlen(comm));
	if (PD_BITS(type, PD_SAMPLE_TYPE_ADDR))
		print_address(state, sample, cpumode, when, sample->addr, true, text);
	else
		pd_text_printf(text, "\t-");
	if (PD_BITS(type, PD_SAMPLE_TYPE_CALLCHAIN)) {
		cpumode = PD_CPUMODE_USER;
		for (size_t i = 0; i < sample->callchain.count; i++) {
			uint64_t addr = sample->callchain.items[i];

			// what follows is no address, and completed by a later record
			if ((int64_t)addr == -640)
				break;
			if (addr >= PD_CONTEXT_MAX)
				cpumode = mode_of_marker(addr, cpumode);
			else
				print_address(state, sample, cpumode, when, addr, false, text);
		}
	} else if (PD_BITS(type, PD_SAMPLE_TYPE_IP)) {
		print_address(state, sample, cpumode, when, sample->ip, false, text);
	}
	pd_text_printf(text, "\n");
}

static enum pd_status feed(struct pd_state *state, struct pd_file *file, struct pd_error *error)
{
	struct pd_stream *stream;
	const struct pd_record *record;
	enum pd_status status = pd_stream_open(file, NULL, &stream, error);

	if (status < 0)
		return status;
	while ((status = pd_stream_next(stream, &record, error)) == PD_OK) {
		status = pd_state_take(state, record, error);
		if (status < 0)
			break;
	}
	pd_stream_close(stream);
	if (status >= 0)
		status = pd_state_take_features(state, file, error);
	return status < 0 ? status : pd_state_finalize(state, error);
}

static enum pd_status print_samples(const struct pd_state *state, struct pd_file *file, struct pd_error *error)
{
	struct pd_text *text = pd_text_new();
	struct pd_stream *stream;
	const struct pd_record *record;
	enum pd_status status = pd_stream_open(file, NULL, &stream, error);

	while (status >= 0 && (status = pd_stream_next(stream, &record, error)) == PD_OK) {
		const struct pd_sample *sample = record->event ? pd_as_sample(record) : NULL;
		struct pd_bytes bytes;

		if (!sample)
			continue;
		pd_text_clear(text);
		print_sample(state, record, sample, text);
		bytes = pd_text_bytes(text);
		fwrite(bytes.data, 1, bytes.size, stdout);
	}
	pd_stream_close(stream);
	pd_text_free(text);
	return status;
}

int main(int argc, char **argv)
{
	struct pd_file *file = NULL;
	struct pd_state *state = NULL;
	struct pd_error error;

	if (argc != 2) {
		fprintf(stderr, "usage: state-dump FILE\n");
		return 2;
	}
	if (pd_file_open(argv[1], NULL, &file, &error) < 0 || pd_state_new(NULL, &state, &error) < 0 ||
	    feed(state, file, &error) < 0 || print_samples(state, file, &error) < 0) {
		fprintf(stderr, "state-dump: %s\n", error.message);
		pd_state_free(state);
		pd_file_close(file);
		return 1;
	}
	pd_state_free(state);
	pd_file_close(file);
	return 0;
}
