// Prints the events of a perf.data with their ids.
#include <inttypes.h>
#include <perfdata/perfdata.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct pd_error error;
	struct pd_file *file;

	if (pd_file_open(argc > 1 ? argv[1] : "perf.data", NULL, &file, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	for (size_t i = 0; i < pd_file_event_count(file); i++) {
		const struct pd_event *event = pd_file_event(file, i);

		printf("%s: sample_type 0x%" PRIx64 ", %zu ids\n", event->name, event->attr->sample_type,
		       event->ids.count);
	}
	pd_file_close(file);
	return 0;
}
