/* SPDX-License-Identifier: MIT */
#include "files/analysis.h"

#include <inttypes.h>
#include <string.h>

enum pd_choice analysis_choose(const void *self, const struct pd_candidate *candidate)
{
	const struct analysis *analysis = self;

	return pd_select_choose(analysis->select, candidate);
}

bool analysis_takes_all(const struct pd_select_options *select)
{
	return !select->time && !select->comms && !select->comm && !select->pid && !select->tid && !select->cpu &&
	       !select->event && !select->where && !select->socket && !select->switch_on && !select->switch_off &&
	       !select->parallelism;
}

enum pd_status analysis_ready(void *self, struct pd_window *window, struct pd_error *error)
{
	struct analysis *analysis = self;

	return pd_select_ready(analysis->select, analysis->input.file, window, error);
}

bool analysis_has_place(const void *self, const struct pd_place *place)
{
	const struct analysis *analysis = self;

	return pd_select_has_place(analysis->select, place);
}

struct pd_symbols *analysis_symbols(void *self, const struct pd_state *state)
{
	struct analysis *analysis = self;

	if (!analysis->symbols_asked)
		analysis->symbols =
			symbols_open(analysis->symbol_options, analysis->input.file, state, analysis->short_names);
	analysis->symbols_asked = true;
	return analysis->symbols;
}

static int report_nothing(const struct analysis *analysis)
{
	uint64_t left = 0;

	for (size_t i = 0; i < pd_file_event_count(analysis->input.file); i++)
		left += pd_profile_total(analysis->profile, i)->left_samples;
	return input_nothing(&analysis->input, analysis->select,
			     left || pd_profile_losses(analysis->profile)->had_samples);
}

static int read_profile(struct analysis *analysis, const struct analysis_options *options,
			const struct pd_profile_options *how)
{
	struct pd_profile_options profile_options = *how;
	struct pd_error error;
	enum pd_status status;

	profile_options.size = sizeof(profile_options);
	profile_options.no_unwind = options->no_unwind;
	profile_options.stitch_lbr = options->stitch_lbr;
	profile_options.threads = options->threads;
	profile_options.parallelism = options->select.parallelism != NULL;
	/* Asking about each sample is dear where all are wanted. */
	profile_options.choose = analysis_takes_all(&options->select) ? NULL : analysis_choose;
	profile_options.ready = analysis_ready;
	profile_options.symbols = analysis_symbols;
	analysis->symbol_options = &options->symbols;
	profile_options.progress = input_progress_go_on;
	profile_options.self = analysis;
	status = pd_profile_read(analysis->input.file, &profile_options, &analysis->profile, &error);
	progress_clear(&analysis->input.progress);
	if (status >= 0)
		return pd_profile_entry_count(analysis->profile) ? CODE_OK : report_nothing(analysis);
	print_error("%s", error.message);
	return status == PD_ERROR_NO_MATCH ? CODE_NOTHING : CODE_UNREADABLE;
}

static int name_places(struct analysis *analysis)
{
	struct pd_error error;

	if (!analysis_symbols(analysis, pd_profile_state(analysis->profile)))
		return CODE_UNREADABLE;
	if (pd_profile_name(analysis->profile, analysis->symbols, &error) >= 0)
		return CODE_OK;
	return print_failure(CODE_UNREADABLE, "%s", error.message);
}

/* Samples are chosen before their places have names. */
static bool is_of_places(const struct pd_select *select)
{
	const struct pd_filter *where = pd_select_where(select);

	return where && (pd_filter_asks(where) & (PD_FILTER_DSO | PD_FILTER_SYMBOL));
}

int analysis_open(struct analysis *analysis, const struct analysis_options *options, const struct call *call)
{
	struct input_options input = options->input;

	input.keep = true;
	analysis->symbol_options = &options->symbols;
	return input_open(&analysis->input, &input, call, NULL, NULL);
}

int analysis_begin(struct analysis *analysis, const struct analysis_options *options, const struct call *call)
{
	memset(analysis, 0, sizeof(*analysis));
	if (!select_take(&analysis->select, &options->select))
		return CODE_USAGE;
	if (is_of_places(analysis->select))
		return print_failure(CODE_USAGE,
				     "option --where: dso and symbol cannot be used here; use --dsos and --symbols");
	analysis->short_names = call->out->terminal;
	pd_heap_prepare();
	return analysis_open(analysis, options, call);
}

int analysis_read(struct analysis *analysis, const struct analysis_options *options,
		  const struct pd_profile_options *profile)
{
	int code = read_profile(analysis, options, profile);

	return code == CODE_OK ? name_places(analysis) : code;
}

void analysis_forget(struct analysis *analysis)
{
	pd_symbols_free(analysis->symbols);
	pd_profile_free(analysis->profile);
	analysis->symbols = NULL;
	analysis->profile = NULL;
	analysis->symbols_asked = false;
}

int analysis_close(struct analysis *analysis, int code)
{
	analysis_forget(analysis);
	pd_select_free(analysis->select);
	return analysis->input.file ? input_close(&analysis->input, code) : code;
}

void copied_stacks_report(const char *name, uint64_t copied, uint64_t samples)
{
	if (copied)
		print_error("%s: %" PRIu64 " of %" PRIu64
			    " samples have a copied user stack that is not unwound: callers in user "
			    "space are missing",
			    name, copied, samples);
}

void unwinding_report(const char *name, const struct pd_unwinder *unwinder)
{
	struct pd_text *text = pd_text_new();

	if (text && pd_print_unwinding(unwinder, text) && !pd_text_failed(text))
		print_error("%s: %.*s", name, (int)pd_text_bytes(text).size, (const char *)pd_text_bytes(text).data);
	pd_text_free(text);
}
