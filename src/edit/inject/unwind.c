/* SPDX-License-Identifier: MIT */
/*
 * Call chains in the place of what they are made of. Processes and mappings are read first; then each sample gets the chain that its
 * copied stack is unwound to, and loses registers and copy, as its event says from then on. So it is with the calls that a processor kept,
 * and with the link register.
 */
#include "edit/inject/inject.h"

#include "unwind/unwinder.h"

static bool take_state(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct pd_inject *inject = self;

	(void)stream;
	return record->type == PD_RECORD_SAMPLE ||
	       pd_inject_keep(inject, pd_state_take(inject->unwind->state, record, &inject->error));
}

static enum pd_status read_state(struct pd_inject *inject, struct pd_error *error)
{
	enum pd_status status = pd_inject_each_record(inject, PD_ORDER_FILE, take_state, inject, error);

	if (status >= 0 && inject->status < 0) {
		status = inject->status;
		if (error)
			*error = inject->error;
	}
	if (inject->options.pass_end)
		inject->options.pass_end(inject->options.self);
	return status;
}

static enum pd_status open_symbols(struct pd_inject *inject, struct pd_error *error)
{
	const struct pd_symbols_options options = { .size = sizeof(options), .symfs = inject->options.symfs };
	struct pd_inject_unwind *unwind = inject->unwind;

	if (inject->options.symbols) {
		unwind->symbols = inject->options.symbols(inject->options.self, unwind->state);
		return unwind->symbols ? PD_OK : pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "no symbols");
	}
	unwind->owns_symbols = true;
	return pd_symbols_new(inject->file, unwind->state, &options, &unwind->symbols, error);
}

enum pd_status pd_inject_unwind_settle(struct pd_inject *inject, struct pd_error *error)
{
	const struct pd_unwind_options options = { .size = sizeof(options), .stitch_lbr = inject->options.stitch_lbr };
	struct pd_inject_unwind *unwind = inject->unwind;
	enum pd_status status = PD_OK;

	if (!unwind->has_features)
		status = pd_state_take_features(unwind->state, inject->file, error);
	unwind->has_features = true;
	if (status >= 0)
		status = pd_state_finalize(unwind->state, error);
	if (status < 0)
		return status;
	if (unwind->unwinder)
		return pd_unwinder_follow(unwind->unwinder) ? PD_OK : pd_fail_memory(error);
	status = open_symbols(inject, error);
	return status < 0 ? status :
			    pd_unwinder_new(inject->file, unwind->state, unwind->symbols, &options, &unwind->unwinder,
					    error);
}

enum pd_status pd_inject_unwind_open(struct pd_inject *inject, struct pd_error *error)
{
	enum pd_status status;

	inject->unwind = pd_alloc(sizeof(*inject->unwind));
	if (!inject->unwind)
		return pd_fail_memory(error);
	status = pd_state_new(NULL, &inject->unwind->state, error);
	if (status < 0 || inject->options.once)
		return status;
	status = read_state(inject, error);
	return status < 0 ? status : pd_inject_unwind_settle(inject, error);
}

void pd_inject_unwind_close(struct pd_inject *inject)
{
	struct pd_inject_unwind *unwind = inject->unwind;

	if (!unwind)
		return;
	pd_unwinder_free(unwind->unwinder);
	if (unwind->owns_symbols)
		pd_symbols_free(unwind->symbols);
	pd_state_free(unwind->state);
	pd_free(unwind);
	inject->unwind = NULL;
}

// Other machines have another register by that number.
static bool has_link(const struct pd_inject *inject, const struct pd_attr *attr)
{
	return pd_unwinder_has_link(attr) && pd_unwinder_machine(inject->file) == PD_ARCH_ARM64;
}

static bool is_replaced(const struct pd_inject *inject, const struct pd_attr *attr)
{
	return pd_unwinder_has_stacks(attr) || pd_unwinder_joins(attr) || pd_unwinder_has_calls(attr) ||
	       has_link(inject, attr);
}

static void drop_parts(const struct pd_inject *inject, struct pd_attr *attr)
{
	bool calls = pd_unwinder_has_calls(attr);

	if (pd_unwinder_has_stacks(attr) || has_link(inject, attr)) {
		attr->sample_type &= ~(PD_MASK(PD_SAMPLE_TYPE_REGS_USER) | PD_MASK(PD_SAMPLE_TYPE_STACK_USER));
		attr->sample_regs_user = 0;
		attr->sample_stack_user = 0;
	}
	if (calls) {
		attr->sample_type &= ~PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK);
		attr->branch_sample_type = 0;
	}
}

void pd_inject_unwind_attr(const struct pd_inject *inject, struct pd_attr *attr)
{
	if (!is_replaced(inject, attr))
		return;
	drop_parts(inject, attr);
	attr->flags &= ~(PD_MASK(PD_ATTR_DEFER_CALLCHAIN) | PD_MASK(PD_ATTR_DEFER_OUTPUT));
	attr->sample_type |= PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN);
	attr->flags &= ~PD_MASK(PD_ATTR_EXCLUDE_CALLCHAIN_USER);
	// chains are as long as their stacks are deep
	if (attr->sample_max_stack < PD_UNWIND_STACK)
		attr->sample_max_stack = PD_UNWIND_STACK;
}

enum pd_inject_action pd_inject_unwind_record(struct pd_inject *inject, struct pd_stream *stream,
					      const struct pd_record *record)
{
	const struct pd_sample *sample;
	struct pd_sample changed;
	struct pd_unwound unwound;

	// samples have it from now on
	if (record->type == PD_RECORD_CALLCHAIN_DEFERRED)
		return PD_INJECT_DROP;
	if (record->type != PD_RECORD_SAMPLE || !record->event || !is_replaced(inject, record->event->attr))
		return PD_INJECT_PASS;
	sample = pd_as_sample(record);
	// what is damaged was reported, and has another form than samples have from now on
	if (!sample)
		return PD_INJECT_DROP;
	changed = *sample;
	if (pd_unwinder_has_stacks(record->event->attr) || has_link(inject, record->event->attr)) {
		changed.user_regs = NULL;
		changed.user_stack = NULL;
	}
	if (pd_unwinder_has_calls(record->event->attr))
		changed.branch_stack = NULL;
	if (pd_unwinder_decoded(inject->unwind->unwinder, record, sample, &unwound)) {
		changed.callchain = pd_unwound_marked(inject->unwind->unwinder, &unwound);
		inject->result.unwound_count += unwound.end != PD_UNWIND_DEFERRED;
	}
	return pd_inject_keep(inject, pd_writer_pass_changed(inject->writer, stream, record, record->misc, &changed,
							     &inject->error)) ?
		       PD_INJECT_PASSED :
		       PD_INJECT_FAILED;
}

const struct pd_unwinder *pd_inject_unwinder(const struct pd_inject *inject)
{
	return inject->unwind ? inject->unwind->unwinder : NULL;
}
