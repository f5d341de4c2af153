// Tells every problem of a perf.data, with its place and what to do.
#include <inttypes.h>
#include <perfdata/perfdata.h>
#include <stdio.h>

static bool tell(void *self, const struct pd_problem *problem)
{
	(void)self;
	printf("offset %" PRId64 ": %s: %s\n", (int64_t)problem->offset, problem->code, problem->message);
	return true; // go on
}

int main(int argc, char **argv)
{
	struct pd_open_options options = { .size = sizeof(options), .problem = tell };
	struct pd_check_result result;
	struct pd_error error;
	struct pd_file *file = NULL;
	enum pd_status status = pd_file_open(argc > 1 ? argv[1] : "perf.data", &options, &file, &error);

	if (status == PD_OK)
		status = pd_check(file, &result, &error);
	if (status < 0)
		fprintf(stderr, "%s\n", error.message);
	else
		printf("%" PRIu64 " records\n", result.record_count);
	pd_file_close(file);
	return status < 0;
}
