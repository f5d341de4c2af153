// Prints process, time and address of every sample.
#include <inttypes.h>
#include <perfdata/perfdata.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct pd_error error;
	struct pd_file *file = NULL;
	struct pd_stream *stream = NULL;
	const struct pd_record *record;
	enum pd_status status = pd_file_open(argc > 1 ? argv[1] : "perf.data", NULL, &file, &error);

	if (status == PD_OK)
		status = pd_stream_open(file, NULL, &stream, &error);
	while (status == PD_OK && (status = pd_stream_next(stream, &record, &error)) == PD_OK) {
		const struct pd_sample *sample = pd_as_sample(record);

		if (sample)
			printf("%" PRIu32 " %" PRIu64 " %" PRIx64 "\n", sample->pid, sample->time_ns, sample->ip);
	}
	if (status < 0)
		fprintf(stderr, "%s\n", error.message);
	pd_stream_close(stream);
	pd_file_close(file);
	return status < 0;
}
