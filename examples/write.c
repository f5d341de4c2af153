// Writes a perf.data with two samples of one function.
#include <perfdata/perfdata.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "made.data";
	const uint64_t type = PD_MASK(PD_SAMPLE_TYPE_IP) | PD_MASK(PD_SAMPLE_TYPE_TID) | PD_MASK(PD_SAMPLE_TYPE_TIME);
	const struct pd_attr attr = { .type = PD_TYPE_SOFTWARE, .sample_period = 1, .sample_type = type };
	const struct pd_comm comm = { .pid = 100, .tid = 100, .comm = { .data = "hello", .length = 5 } };
	const struct pd_mmap2 map = { .pid = 100,
				      .tid = 100,
				      .addr = 0x400000,
				      .len = 0x1000,
				      .prot = 5,
				      .flags = 2,
				      .filename = { .data = "/bin/hello", .length = 10 } };
	const struct pd_string host = { .value = { .data = "here", .length = 4 } };
	struct pd_sample sample = { .ip = 0x400100, .pid = 100, .tid = 100, .time_ns = 1000 };
	struct pd_writer *writer;
	struct pd_error error;

	if (pd_writer_open(path, NULL, &writer, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	pd_writer_add_event(writer, &attr, (struct pd_u64s){ 0 }, "cpu-clock", NULL);
	pd_writer_set_feature(writer, PD_FEATURE_HOSTNAME, &host, NULL);
	pd_writer_add(writer, PD_RECORD_COMM, 0, &comm, 0, NULL);
	pd_writer_add(writer, PD_RECORD_MMAP2, PD_CPUMODE_USER, &map, 0, NULL);
	for (int i = 0; i < 2; i++, sample.time_ns += 1000000)
		pd_writer_add(writer, PD_RECORD_SAMPLE, PD_CPUMODE_USER, &sample, 0, NULL);
	if (pd_writer_finish(writer, &error) == PD_OK) // tells the first failure of all
		return 0;
	fprintf(stderr, "%s\n", error.message);
	return 1;
}
