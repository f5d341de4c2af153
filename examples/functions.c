// Prints how many samples each function has, for every event.
#include <inttypes.h>
#include <perfdata/perfdata.h>
#include <stdio.h>

static void print(const struct pd_profile *profile)
{
	struct pd_profile_entry entry;

	for (size_t i = 0; pd_profile_entry(profile, i, &entry); i++) {
		const struct pd_stack *stack = pd_profile_stack(profile, entry.stack);
		const struct pd_place *place = &pd_profile_frame(profile, stack->ip)->place;

		printf("%s %" PRIu64 " %s %s\n", entry.event->name, entry.samples,
		       place->dso ? place->dso->name : "[unknown]",
		       place->function ? place->function->name : "[unknown]");
	}
}

int main(int argc, char **argv)
{
	struct pd_error error;
	struct pd_file *file = NULL;
	struct pd_profile *profile = NULL;
	struct pd_symbols *symbols = NULL;
	enum pd_status status = pd_file_open(argc > 1 ? argv[1] : "perf.data", NULL, &file, &error);

	if (status == PD_OK)
		status = pd_profile_read(file, NULL, &profile, &error);
	if (status == PD_OK)
		status = pd_symbols_new(file, pd_profile_state(profile), NULL, &symbols, &error);
	if (status == PD_OK)
		status = pd_profile_name(profile, symbols, &error);
	if (status == PD_OK)
		print(profile);
	else
		fprintf(stderr, "%s\n", error.message);
	pd_symbols_free(symbols);
	pd_profile_free(profile);
	pd_file_close(file);
	return status < 0;
}
