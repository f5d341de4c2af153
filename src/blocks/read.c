/* SPDX-License-Identifier: MIT */
/* Branch stacks to blocks: a pass over the samples of a file whose profile was read. */
#include "blocks/inside.h"

#include "base/error.h"

enum pairing {
	PAIR_NOT,     // these are calls that have not returned
	PAIR_UNKNOWN, // of some kinds only: what lies between them is no block
	PAIR_BLOCKS
};

static enum pairing pairing_of(const struct pd_event *event)
{
	const uint64_t kinds = PD_MASK(PD_BRANCH_TYPE_ANY_CALL) | PD_MASK(PD_BRANCH_TYPE_ANY_RETURN) |
			       PD_MASK(PD_BRANCH_TYPE_IND_CALL) | PD_MASK(PD_BRANCH_TYPE_ABORT_TX) |
			       PD_MASK(PD_BRANCH_TYPE_IN_TX) | PD_MASK(PD_BRANCH_TYPE_NO_TX) |
			       PD_MASK(PD_BRANCH_TYPE_COND) | PD_MASK(PD_BRANCH_TYPE_IND_JUMP) |
			       PD_MASK(PD_BRANCH_TYPE_CALL);
	uint64_t type = event->attr->branch_sample_type;

	if (!(event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK)) ||
	    (type & PD_MASK(PD_BRANCH_TYPE_CALL_STACK)))
		return PAIR_NOT;
	return (type & PD_MASK(PD_BRANCH_TYPE_ANY)) || !(type & kinds) ? PAIR_BLOCKS : PAIR_UNKNOWN;
}

bool pd_blocks_recorded(struct pd_file *file)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		if (pairing_of(pd_file_event(file, i)) != PAIR_NOT)
			return true;
	return false;
}

static struct pd_place place_of(const struct pd_blocks_options *options, uint32_t pid, struct pd_moment when,
				uint64_t addr)
{
	return pd_symbols_place(options->symbols, pid, PD_CPUMODE_UNKNOWN, when, addr);
}

// From the oldest branch to the latest, which comes first.
static bool take_stack(const struct pd_blocks_options *options, struct pd_blocks *blocks,
		       const struct pd_branch_stack *stack, enum pairing pairing, uint32_t pid, struct pd_moment when)
{
	struct pd_place before = { 0 };
	bool timed = stack->entries.count && PD_BITS(PD_ITEM(pd_branch, stack->entries, 0)->flags, PD_BRANCH_CYCLES);

	for (size_t i = stack->entries.count; i--;) {
		const struct pd_branch *branch = PD_ITEM(pd_branch, stack->entries, i);
		struct pd_place from = place_of(options, pid, when, branch->from);
		struct pd_block_count block = { .function = from.function,
						.start = PD_BLOCK_NO_START,
						.end = from.addr,
						.count = 1,
						.predicted = PD_BITS(branch->flags, PD_BRANCH_PREDICTED) };
		uint32_t cycles = timed ? (uint32_t)PD_BITS(branch->flags, PD_BRANCH_CYCLES) : 0;

		if (before.function == from.function && before.addr <= from.addr)
			block.start = before.addr;
		// as perf: no cycles were not recorded
		block.timed = cycles != 0;
		block.cycles = block.least = block.most = cycles;
		pd_blocks_add_cycles(blocks, block.cycles);
		if (from.function && !pd_blocks_add(blocks, &block))
			return false;
		before = pairing == PAIR_BLOCKS ? place_of(options, pid, when, branch->to) : (struct pd_place){ 0 };
	}
	return true;
}

static bool take_record(const struct pd_blocks_options *options, struct pd_blocks *blocks,
			const struct pd_record *record)
{
	struct pd_moment when = pd_record_moment(record);
	char unknown[PD_THREAD_NAME_BYTES];
	const struct pd_sample *sample;
	struct pd_brief brief;

	if (!record->event || pairing_of(record->event) == PAIR_NOT || !pd_record_brief(record, &brief))
		return true;
	if (options->choose) {
		const struct pd_candidate candidate = { record, record->event, &brief,
							pd_state_comm(options->state, brief.tid, when, unknown) };

		if (options->choose(options->filter, &candidate) != PD_CHOICE_TAKE)
			return true;
	}
	// what is damaged the profile has counted
	sample = pd_as_sample(record);
	return !sample || !sample->branch_stack ||
	       take_stack(options, blocks, sample->branch_stack, pairing_of(record->event), brief.pid, when);
}

enum pd_status pd_blocks_read(const struct pd_blocks_options *options, struct pd_blocks **blocks_out,
			      struct pd_error *error)
{
	struct pd_stream_options how = { .size = sizeof(how) };
	struct pd_blocks *blocks = pd_blocks_new();
	struct pd_stream *stream = NULL;
	const struct pd_record *record;
	enum pd_status status = blocks ? pd_stream_open(options->file, &how, &stream, error) : pd_fail_memory(error);

	while (status == PD_OK && (status = pd_stream_next(stream, &record, error)) == PD_OK)
		if (!take_record(options, blocks, record))
			status = pd_fail_memory(error);
	pd_stream_close(stream);
	if (status == PD_END)
		status = pd_blocks_sort(blocks) ? PD_OK : pd_fail_memory(error);
	if (status == PD_OK)
		*blocks_out = blocks;
	else
		pd_blocks_free(blocks);
	return status;
}
