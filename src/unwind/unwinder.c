/* SPDX-License-Identifier: MIT */
#include "unwind/unwinder.h"

#include <string.h>
#include <sys/utsname.h>

#include "base/error.h"
#include "format/chain.h"

// ---- beginning and end ----

static struct pd_unwinder *make(struct pd_unwind_shared *shared, const struct pd_unwind_options *options)
{
	struct pd_unwinder *u = pd_alloc(sizeof(*u));

	if (!u)
		return NULL;
	u->shared = shared;
	if (options)
		memcpy(&u->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	if (!u->options.max_stack)
		u->options.max_stack = PD_UNWIND_STACK;
	u->maps = pd_alloc(PD_UNWIND_MAPS * sizeof(*u->maps));
	u->cached = pd_alloc_table(PD_UNWIND_CACHED * sizeof(*u->cached));
	u->views = pd_alloc_table(PD_UNWIND_VIEWS * sizeof(*u->views));
	u->trails = pd_alloc_table((PD_UNWIND_TRAILS + 1) * sizeof(*u->trails));
	for (size_t i = 0; u->trails && i <= PD_UNWIND_TRAILS; i++)
		u->trail[i] = &u->trails[i];
	u->count_count = shared->module_count + 1;
	u->counts = pd_alloc(u->count_count * sizeof(*u->counts));
	if (u->maps && u->cached && u->views && u->trails && u->counts)
		return u;
	pd_free(u->maps);
	pd_free(u->trails);
	pd_free(u->cached);
	pd_free(u->views);
	pd_free(u->counts);
	pd_free(u);
	return NULL;
}

enum pd_arch pd_unwinder_machine(struct pd_file *file)
{
	enum pd_arch machine = pd_file_machine(file);
	struct utsname here;

	return machine == PD_ARCH_UNKNOWN && uname(&here) == 0 ? pd_arch_by_name(here.machine) : machine;
}

// A file that does not say its machine is taken to be of this one.
static void find_machine(struct pd_unwind_shared *shared)
{
	const struct pd_string *recorded = pd_file_arch(shared->file);
	const char *name = recorded ? recorded->value.data : NULL;
	struct utsname here;

	if (shared->machine == PD_ARCH_UNKNOWN && uname(&here) == 0)
		name = here.machine;
	shared->machine = pd_unwinder_machine(shared->file);
	shared->is_big = pd_unwind_memory_is_big(shared->machine, name, pd_file_header(shared->file)->big_endian);
}

enum pd_status pd_unwinder_new(struct pd_file *file, const struct pd_state *state, struct pd_symbols *symbols,
			       const struct pd_unwind_options *options, struct pd_unwinder **unwinder_out,
			       struct pd_error *error)
{
	struct pd_unwind_shared *shared = pd_unwind_shared_new(file, state, symbols);
	struct pd_unwinder *unwinder;

	if (!shared)
		return pd_fail_memory(error);
	find_machine(shared);
	unwinder = make(shared, options);
	if (!unwinder) {
		pd_unwind_shared_free(shared);
		return pd_fail_memory(error);
	}
	pd_unwind_prepare_calls(unwinder);
	*unwinder_out = unwinder;
	return PD_OK;
}

enum pd_status pd_unwinder_clone(struct pd_unwinder *unwinder, struct pd_unwinder **clone_out, struct pd_error *error)
{
	struct pd_unwinder *clone;
	struct pd_unwind_options options = unwinder->options;

	options.size = sizeof(options);
	clone = make(unwinder->shared, &options);
	if (!clone)
		return pd_fail_memory(error);
	__atomic_add_fetch(&unwinder->shared->users, 1, __ATOMIC_RELAXED);
	clone->kept_calls = unwinder->kept_calls;
	*clone_out = clone;
	return PD_OK;
}

void pd_unwinder_join(struct pd_unwinder *unwinder, const struct pd_unwinder *other)
{
	for (size_t i = 0; i < unwinder->count_count && i < other->count_count; i++)
		for (size_t end = 0; end < PD_UNWIND_ENDS; end++)
			unwinder->counts[i][end] += other->counts[i][end];
	unwinder->effort.frames += other->effort.frames;
	unwinder->effort.again += other->effort.again;
	unwinder->effort.asked += other->effort.asked;
	unwinder->effort.searched += other->effort.searched;
	unwinder->failed |= other->failed;
}

void pd_unwinder_free(struct pd_unwinder *unwinder)
{
	if (!unwinder)
		return;
	pd_unwind_shared_free(unwinder->shared);
	pd_free(unwinder->maps);
	pd_free(unwinder->trails);
	pd_free(unwinder->cached);
	pd_free(unwinder->views);
	pd_free(unwinder->counts);
	pd_free(unwinder->calls);
	pd_free(unwinder->chain);
	pd_free(unwinder);
}

void pd_unwinder_set_lock(struct pd_unwinder *unwinder, pthread_mutex_t *lock)
{
	unwinder->shared->lock = lock ? lock : &unwinder->shared->own_lock;
}

void pd_unwinder_forget_counts(struct pd_unwinder *unwinder)
{
	memset(unwinder->counts, 0, unwinder->count_count * sizeof(*unwinder->counts));
	unwinder->effort = (struct pd_unwind_effort){ 0 };
}

bool pd_unwinder_follow(struct pd_unwinder *unwinder)
{
	size_t before = unwinder->count_count, count;
	uint64_t(*counts)[PD_UNWIND_ENDS];

	memset(unwinder->maps, 0, PD_UNWIND_MAPS * sizeof(*unwinder->maps));
	memset(unwinder->views, 0, PD_UNWIND_VIEWS * sizeof(*unwinder->views));
	for (size_t i = 0; i < PD_UNWIND_TRAILS; i++)
		unwinder->trail[i]->count = 0;
	if (!pd_unwind_shared_grow(unwinder->shared))
		return false;
	count = unwinder->shared->module_count + 1;
	if (count <= before)
		return true;
	counts = pd_realloc(unwinder->counts, count * sizeof(*counts));
	if (!counts)
		return false;
	memset(counts + before, 0, (count - before) * sizeof(*counts));
	unwinder->counts = counts;
	unwinder->count_count = count;
	return true;
}

bool pd_unwinder_has_stacks(const struct pd_attr *attr)
{
	const uint64_t parts = PD_MASK(PD_SAMPLE_TYPE_REGS_USER) | PD_MASK(PD_SAMPLE_TYPE_STACK_USER);

	return (attr->sample_type & parts) == parts;
}

bool pd_unwinder_wants(const struct pd_attr *attr)
{
	return pd_unwinder_has_stacks(attr) || pd_unwinder_joins(attr) || pd_unwinder_has_calls(attr) ||
	       pd_unwinder_has_link(attr);
}

// ---- what was counted ----

const char *pd_unwind_end_name(enum pd_unwind_end end)
{
	static const char *const names[] = {
		[PD_UNWIND_OUTERMOST] = "outermost",
		[PD_UNWIND_STACK_END] = "stack_end",
		[PD_UNWIND_OTHER_STACK] = "other_stack",
		[PD_UNWIND_NO_RULE] = "no_rule",
		[PD_UNWIND_NO_OBJECT] = "no_object",
		[PD_UNWIND_DAMAGED] = "damaged",
		[PD_UNWIND_DEPTH] = "depth",
		[PD_UNWIND_DEFERRED] = "deferred",
		[PD_UNWIND_CALLS_FULL] = "calls_full",
	};

	return (size_t)end < PD_UNWIND_ENDS ? names[end] : NULL;
}

bool pd_unwinder_count(const struct pd_unwinder *unwinder, size_t index, struct pd_unwind_count *count_out)
{
	for (size_t end = 0; end < PD_UNWIND_ENDS; end++) {
		for (size_t i = 0; i < unwinder->count_count; i++) {
			if (!unwinder->counts[i][end] || index--)
				continue;
			*count_out = (struct pd_unwind_count){
				.end = (enum pd_unwind_end)end,
				.object = i ? pd_state_object(unwinder->shared->state, i - 1) : NULL,
				.samples = unwinder->counts[i][end],
			};
			return true;
		}
	}
	return false;
}

bool pd_unwinder_failed(const struct pd_unwinder *unwinder)
{
	return unwinder->failed || unwinder->shared->failed;
}

static void count_end(struct pd_unwinder *unwinder, const struct pd_unwind_walk *walk)
{
	size_t index = walk->object ? walk->object->index + 1 : 0;

	if (index < unwinder->count_count)
		unwinder->counts[index][walk->end]++;
}

// ---- samples ----

// Registers as they were recorded, in the numbers of DWARF. False if what unwinding begins with is missing.
static bool take_registers(struct pd_unwind_walk *walk, uint64_t mask, struct pd_u64s regs)
{
	const struct pd_unwind_arch *arch = walk->arch;
	bool has_pc = false;
	size_t at = 0;

	for (uint64_t left = mask; left && at < regs.count; left &= left - 1, at++) {
		unsigned index = (unsigned)__builtin_ctzll(left);
		uint8_t number = index < arch->register_count ? arch->registers[index] : PD_UNWIND_NO_REGISTER;

		if (index == arch->pc) {
			walk->pc = regs.items[at] & arch->code_mask;
			has_pc = true;
		}
		if (number == PD_UNWIND_NO_REGISTER)
			continue;
		walk->registers.values[number] = regs.items[at];
		walk->registers.known |= UINT64_C(1) << number;
	}
	return has_pc && walk->registers.known >> arch->sp & 1;
}

static bool begin_walk(struct pd_unwind_walk *walk, const struct pd_attr *attr, const struct pd_sample *sample)
{
	const struct pd_user_stack *stack = sample->user_stack;
	const struct pd_unwind_shared *shared = walk->unwinder->shared;

	walk->arch = pd_unwind_arch_of(shared->machine, sample->user_regs->abi);
	if (!walk->arch || !take_registers(walk, attr->sample_regs_user, sample->user_regs->regs))
		return false;
	walk->memory = (struct pd_unwind_memory){
		.data = stack->data.data,
		.start = walk->registers.values[walk->arch->sp],
		.size = stack->dyn_size < stack->data.size ? stack->dyn_size : stack->data.size,
		.word = walk->arch->word,
		.swap = shared->is_big != PD_HOST_BIG,
		.fetch = pd_unwind_fetch_constants,
		.fetch_self = walk,
	};
	return true;
}

// Room for both parts, the marker between them, and one at the end.
static bool reserve_chain(struct pd_unwinder *unwinder, size_t recorded)
{
	return PD_GROW(unwinder->chain, unwinder->chain_capacity, recorded + 2 + unwinder->options.max_stack);
}

// The part that was recorded, as far as it is wanted.
static size_t copy_recorded(struct pd_unwinder *unwinder, struct pd_u64s chain)
{
	size_t count = 0, addresses = 0;

	for (; count < chain.count && addresses < unwinder->options.max_stack; count++) {
		unwinder->chain[count] = chain.items[count];
		addresses += chain.items[count] < PD_CONTEXT_MAX;
	}
	return count;
}

static bool has_stack(const struct pd_sample *sample)
{
	const struct pd_user_stack *stack = sample->user_stack;

	return stack && stack->size && stack->dyn_size && sample->user_regs && sample->user_regs->abi;
}

bool pd_unwinder_decoded(struct pd_unwinder *unwinder, const struct pd_record *record, const struct pd_sample *sample,
			 struct pd_unwound *unwound_out)
{
	struct pd_unwind_walk walk;
	size_t recorded;

	if (pd_unwinder_has_calls(record->event->attr) && pd_unwind_calls(unwinder, sample, unwound_out))
		return true;
	if (!has_stack(sample) || !unwinder->shared->symbols)
		return pd_unwind_parts(unwinder, record, sample, unwound_out);
	walk.unwinder = unwinder;
	walk.registers.known = 0;
	if (!begin_walk(&walk, record->event->attr, sample))
		return false;
	if (!reserve_chain(unwinder, sample->callchain.count)) {
		unwinder->failed = true;
		return false;
	}
	recorded = copy_recorded(unwinder, sample->callchain);
	unwinder->chain[recorded++] = (uint64_t)PD_CONTEXT_USER;
	walk.frames = unwinder->chain + recorded;
	walk.most = unwinder->options.max_stack;
	walk.when = pd_record_moment(record);
	walk.pid = sample->pid;
	walk.tid = sample->tid;
	walk.maps = pd_unwinder_maps(unwinder, sample->pid, sample->tid, walk.when);
	pd_unwind_walk(&walk);
	count_end(unwinder, &walk);
	*unwound_out = (struct pd_unwound){
		.chain = { unwinder->chain, recorded + walk.count },
		.frames = walk.frames,
		.frame_count = walk.count,
		.end = walk.end,
		.object = walk.object,
	};
	return true;
}

struct pd_u64s pd_unwound_marked(struct pd_unwinder *unwinder, const struct pd_unwound *unwound)
{
	struct pd_u64s chain = unwound->chain;

	if (unwound->end != PD_UNWIND_OUTERMOST && !pd_chain_is_truncated(chain))
		unwinder->chain[chain.count++] = (uint64_t)PD_CONTEXT_USER;
	return chain;
}

bool pd_unwinder_sample(struct pd_unwinder *unwinder, const struct pd_record *record, struct pd_unwound *unwound_out)
{
	const struct pd_sample *sample;

	if (record->type != PD_RECORD_SAMPLE || !record->event)
		return false;
	sample = pd_as_sample(record);
	return sample && pd_unwinder_decoded(unwinder, record, sample, unwound_out);
}
