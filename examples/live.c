// Runs a command and prints the functions that burn its time, twice a second, without a file.
#include <inttypes.h>
#include <perfdata/perfdata.h>
#include <stdio.h>
#include <time.h>

static double seconds(void)
{
	struct timespec now;

	timespec_get(&now, TIME_UTC);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static enum pd_status show(struct pd_live *live, struct pd_symbols *symbols, struct pd_error *error)
{
	struct pd_profile_entry entry;
	struct pd_profile *profile = NULL;
	struct pd_sum *sum = NULL;
	enum pd_status status = pd_live_take(live, &profile, error);

	if (status == PD_OK)
		status = pd_profile_name(profile, symbols, error);
	if (status == PD_OK)
		status = pd_sum_new(&sum, error);
	// addresses become functions
	if (status == PD_OK)
		status = pd_sum_add(sum, profile, error);
	for (size_t i = 0; status == PD_OK; i++) {
		const struct pd_profile *shown = pd_sum_profile(sum, NULL, pd_live_state(live));

		if (!pd_profile_entry(shown, i, &entry))
			break;
		const struct pd_place *place =
			&pd_profile_frame(shown, pd_profile_stack(shown, entry.stack)->ip)->place;

		printf("%8" PRIu64 " %s\n", entry.samples, place->function ? place->function->name : "?");
	}
	puts("");
	pd_sum_free(sum);
	pd_profile_free(profile);
	return status;
}

static enum pd_status read_live(struct pd_recorder *recorder, struct pd_error *error)
{
	struct pd_file *file = NULL;
	struct pd_live *live = NULL;
	struct pd_symbols *symbols = NULL;
	double shown = seconds();
	enum pd_status status = pd_recorder_open_file(recorder, NULL, &file, error);

	if (status == PD_OK)
		status = pd_live_new(file, NULL, &live, error);
	if (status == PD_OK)
		status = pd_symbols_new(file, pd_live_state(live), NULL, &symbols, error);
	while (status == PD_OK && (status = pd_live_read(live, error)) == PD_OK) {
		if (seconds() - shown < 0.5)
			continue;
		shown = seconds();
		status = show(live, symbols, error);
	}
	if (status == PD_END)
		status = show(live, symbols, error);
	pd_symbols_free(symbols);
	pd_live_free(live);
	pd_file_close(file);
	return status;
}

int main(int argc, char **argv)
{
	struct pd_recorder_options options = { .size = sizeof(options), .targets = { .command = argv + 1 }, .fd = -1 };
	struct pd_recorder *recorder = NULL;
	struct pd_error error;
	enum pd_status status;

	if (argc < 2)
		return 2;
	status = pd_recorder_open(&options, &recorder, &error);
	if (status < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 77; // nobody may record here
	}
	status = read_live(recorder, &error);
	if (status < 0)
		fprintf(stderr, "%s\n", error.message);
	pd_recorder_close(recorder);
	return status < 0;
}
