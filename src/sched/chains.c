/* SPDX-License-Identifier: MIT */
// Call chains of switches, in one line behind the columns of timehist.
#include "sched/sched.h"

#include <string.h>

#include "base/text/text.h"
#include "file/file.h"

enum {
	STACK = 5,      // functions, unless somebody wants another number
	OWN_ENTRIES = 2 // what perf takes more: those of the scheduler itself are not shown
};

bool pd_sched_has_chains(const struct pd_sched *sched)
{
	size_t count = pd_file_event_count(sched->file);

	for (size_t i = 0; i < count; i++)
		if (!(pd_file_event(sched->file, i)->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN)))
			return false;
	return count && !sched->options->no_chains;
}

enum pd_status pd_sched_open_state(struct pd_sched *sched, struct pd_error *error)
{
	enum pd_status status = pd_state_new(NULL, &sched->state, error);

	return status < 0 ? status : pd_state_take_features(sched->state, sched->file, error);
}

enum pd_status pd_sched_take_mapping(void *self, struct pd_stream *stream, const struct pd_record *record,
				     struct pd_error *error)
{
	struct pd_sched *sched = self;

	(void)stream;
	// perf does not read them here, so that functions of programs have no names in its text
	if (record->type == PD_RECORD_MMAP2 && !sched->options->json)
		return PD_OK;
	return pd_state_take(sched->state, record, error);
}

enum pd_status pd_sched_open_symbols(void *self, struct pd_window *window, struct pd_error *error)
{
	struct pd_sched *sched = self;
	const struct pd_timehist_options *options = sched->options;
	enum pd_status status = pd_state_finalize(sched->state, error);

	(void)window;
	// of a pipe, all events are known now
	sched->shows_chains = pd_sched_has_chains(sched);
	if (status < 0 || !sched->shows_chains)
		return status;
	if (!options->symbols)
		return pd_symbols_new(sched->file, sched->state, NULL, &sched->symbols, error);
	sched->symbols = options->symbols(options->self, sched->state);
	return sched->symbols ? PD_OK : pd_fail(error, PD_ERROR_STOPPED, PD_NO_OFFSET, "there are no symbols");
}

void pd_sched_close_symbols(struct pd_sched *sched)
{
	pd_symbols_free(sched->symbols);
	pd_state_free(sched->state);
}

static bool is_scheduler(const struct pd_place *place)
{
	static const char *const names[] = { "schedule", "__schedule", "preempt_schedule" };

	for (unsigned i = 0; place->function && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(place->function->name, names[i]))
			return true;
	return false;
}

struct pd_chain_walk pd_sched_walk(const struct pd_sched *sched, const struct pd_sched_sample *sample)
{
	uint32_t max_stack = sched->options->max_stack, most = max_stack == PD_TIMEHIST_NO_STACK ? 0 :
							       max_stack                         ? max_stack :
												   STACK;
	struct pd_u64s none = { 0 };

	return pd_chain_walk(sched->shows_chains ? sample->chain : none, (size_t)most + OWN_ENTRIES);
}

bool pd_sched_next_frame(const struct pd_sched *sched, const struct pd_sched_sample *sample, struct pd_chain_walk *walk,
			 struct pd_place *place_out)
{
	const struct pd_moment when = { sample->time_ns, UINT64_MAX };
	uint64_t addr;

	while (pd_chain_next(walk, &addr)) {
		*place_out = pd_symbols_place(sched->symbols, (uint32_t)sample->pid, walk->cpumode, when, addr);
		if (!is_scheduler(place_out))
			return true;
	}
	return false;
}

void pd_sched_print_chain(struct pd_sched *sched, const struct pd_sched_sample *sample)
{
	struct pd_chain_walk walk = pd_sched_walk(sched, sample);
	const char *before = " ";
	struct pd_place place;

	if (sched->shows_chains)
		PD_TEXT_LITERAL(sched->text, "  ");
	while (pd_sched_next_frame(sched, sample, &walk, &place)) {
		const char *name = place.function ? place.function->name : "[unknown]";

		pd_text_add(sched->text, before);
		pd_text_escaped(sched->text, name, strlen(name));
		before = " <- ";
	}
}
