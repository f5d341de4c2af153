/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks are those of a flame graph: they are read, named and sorted where it is, on several threads.
 */
#include <perfdata/flame.h>

#include "base/error.h"
#include "export/export.h"

static bool is_wanted(void *self, const struct pd_place *place)
{
	const struct pd_export *all = self;

	return all->options.choose_place(all->options.self, place);
}

static enum pd_status print(struct pd_export *self, struct pd_profile *profile, struct pd_flame_options *options,
			    struct pd_error *error)
{
	struct pd_flame_summary summary;
	struct pd_flame *flame = NULL;
	enum pd_status status;

	if (self->options.choose_place) {
		options->wanted = is_wanted;
		options->self = self;
	}
	status = pd_flame_read(profile, self->symbols, options, &flame, error);
	if (status < 0)
		return status;
	pd_flame_summary(flame, &summary);
	self->result.samples = summary.samples;
	self->result.copied_stacks = summary.copied;
	status = pd_flame_print_folded(flame, self->text, error);
	pd_flame_free(flame);
	return status;
}

// What the profile has counted, for events whose samples are exported.
static void note_dropped(struct pd_export *self, const struct pd_profile *profile, struct pd_file *file)
{
	const struct pd_profile_losses *losses = pd_profile_losses(profile);

	for (size_t i = 0; i < pd_file_event_count(file); i++) {
		const struct pd_profile_total *total = pd_profile_total(profile, i);

		self->result.samples_read += total->samples + total->left_samples;
		pd_export_note_parts(self, total->event, total->samples);
	}
	self->result.samples_read += !self->result.samples_read && losses->had_samples;
	self->result.damaged = losses->damaged + losses->unknown_event;
	pd_export_note_records(self, PD_RECORD_LOST, losses->lost_records);
	pd_export_note_records(self, PD_RECORD_THROTTLE, losses->throttles);
	pd_export_note_records(self, PD_RECORD_UNTHROTTLE, losses->unthrottles);
}

static struct pd_symbols *open_symbols(void *self, const struct pd_state *state)
{
	struct pd_export *all = self;

	if (!all->symbols)
		all->symbols = all->options.symbols(all->options.self, state);
	return all->symbols;
}

static enum pd_choice choose_sample(const void *self, const struct pd_candidate *candidate)
{
	const struct pd_export *all = self;

	return all->options.choose(all->options.self, candidate);
}

static enum pd_status ready(void *self, struct pd_window *window, struct pd_error *error)
{
	const struct pd_export *all = self;

	return all->options.ready(all->options.self, window, error);
}

static bool show_progress(void *self, uint64_t done, uint64_t total)
{
	const struct pd_export *all = self;

	return all->options.progress(all->options.self, done, total);
}

static enum pd_status name(struct pd_export *self, struct pd_profile *profile, struct pd_file *file,
			   struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (self->options.symbols) {
		if (!open_symbols(self, pd_profile_state(profile)))
			return pd_fail(error, PD_ERROR_STOPPED, PD_NO_OFFSET, "the symbols cannot be opened");
	} else {
		status = pd_symbols_new(file, pd_profile_state(profile), NULL, &self->own_symbols, error);
		self->symbols = self->own_symbols;
	}
	return status < 0 ? status : pd_profile_name(profile, self->symbols, error);
}

static enum pd_status export_folded(struct pd_export *self, struct pd_file *file, struct pd_error *error)
{
	struct pd_flame_options options = {
		.size = sizeof(options),
		.plain_names = true,
		.without_arguments = true,
		.join_blanks = true,
		.root = PD_FLAME_ROOT_COMM,
		.event_frame = true,
		.max_stack = self->options.max_stack,
	};
	struct pd_profile_options wanted = {
		.size = sizeof(wanted),
		.choose = self->options.choose ? choose_sample : NULL,
		.ready = self->options.ready ? ready : NULL,
		.no_unwind = self->options.no_unwind,
		.progress = self->options.progress ? show_progress : NULL,
		.symbols = self->options.symbols ? open_symbols : NULL,
		.self = self,
	};
	enum pd_status status;

	pd_flame_profile_options(&options, &wanted);
	status = pd_profile_read(file, &wanted, &self->profile, error);
	if (status < 0)
		return status;
	note_dropped(self, self->profile, file);
	if (!pd_profile_entry_count(self->profile))
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "no samples to export");
	status = name(self, self->profile, file, error);
	return status < 0 ? status : print(self, self->profile, &options, error);
}

const struct pd_export_sink pd_export_sink_folded = { .whole = export_folded };
