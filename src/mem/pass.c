/* SPDX-License-Identifier: MIT */
#include "mem/pass.h"

#include "base/error.h"
#include "format/text/access.h"

#define HAS(attr, NAME) ((attr)->sample_type & PD_MASK(PD_SAMPLE_TYPE_##NAME))

// Mappings are known before the samples come.
static enum pd_status take_first(void *self, struct pd_stream *stream, const struct pd_record *record,
				 struct pd_error *error)
{
	struct pd_mem_pass *pass = self;

	(void)stream;
	return pd_state_take(pass->state, record, error);
}

static enum pd_status open_symbols(struct pd_mem_pass *pass, struct pd_error *error)
{
	if (!pass->open)
		return pd_symbols_new(pass->file, pass->state, NULL, &pass->symbols, error);
	// in brackets: builds without files have a macro of that name
	pass->symbols = (pass->open)(pass->self, pass->state);
	return pass->symbols ? PD_OK : pd_fail(error, PD_ERROR_STOPPED, PD_NO_OFFSET, "there are no symbols");
}

static enum pd_status get_ready(void *self, struct pd_window *window, struct pd_error *error)
{
	struct pd_mem_pass *pass = self;
	enum pd_status status = pd_state_finalize(pass->state, error);

	(void)window;
	return status >= 0 ? open_symbols(pass, error) : status;
}

static void locate(struct pd_mem_pass *pass, const struct pd_record *record, struct pd_mem_sample *sample)
{
	const struct pd_brief *brief = &sample->brief;
	struct pd_moment when = pd_record_moment(record);
	struct pd_location location;

	sample->code = pd_symbols_place(pass->symbols, brief->pid, brief->cpumode, when, brief->ip);
	if (pd_state_locate(pass->state, brief->pid, brief->cpumode, when, sample->sample->addr, &location))
		sample->mapping = location.mapping;
}

static enum pd_status take_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct pd_mem_pass *pass = self;
	struct pd_mem_sample sample = { .event = record->event };

	(void)stream;
	// what is damaged is reported as a problem
	if (record->type != PD_RECORD_SAMPLE || !record->event || !pd_record_brief(record, &sample.brief))
		return PD_OK;
	sample.sample = pd_as_sample(record);
	if (!sample.sample)
		return PD_OK;
	sample.data_src = HAS(sample.event->attr, DATA_SRC) ? sample.sample->data_src : PD_NO_DATA_SRC;
	sample.weight = HAS(sample.event->attr, WEIGHT_STRUCT) ?
				PD_BITS(sample.sample->weight_struct, PD_WEIGHT_VAR1_DW) :
				sample.sample->weight;
	locate(pass, record, &sample);
	return pass->take(pass, &sample, error);
}

enum pd_status pd_mem_pass_run(struct pd_mem_pass *pass, struct pd_error *error)
{
	const struct pd_run_options run = { .size = sizeof(run),
					    .threads = 1,
					    .order = PD_ORDER_TIME,
					    .first = take_first,
					    .ready = get_ready,
					    .self = pass };
	const struct pd_sink sink = { .size = sizeof(sink), .self = pass, .record = take_record };
	enum pd_status status = pd_state_new(NULL, &pass->state, error);

	if (status >= 0)
		status = pd_state_take_features(pass->state, pass->file, error);
	if (status >= 0)
		status = pd_run(pass->file, &run, &sink, error);
	if (status >= 0 && pass->symbols && pd_symbols_failed(pass->symbols))
		status = pd_fail_memory(error);
	return status;
}

void pd_mem_pass_fini(struct pd_mem_pass *pass)
{
	pd_symbols_free(pass->symbols);
	pd_state_free(pass->state);
}
