/* SPDX-License-Identifier: MIT */
#include "profile/collect/collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/threads.h"
#include "file/file.h"
#include "format/text/access.h"
#include "profile/frame/hash.h"
#include "profile/collect/pending.h"

#define HAS(attr, NAME) ((attr)->sample_type & PD_MASK(PD_SAMPLE_TYPE_##NAME))

// One sample on its way into a bucket.
struct hit {
	const struct pd_event *event; // whose period it is: a member of the group
	struct pd_brief brief;
	struct pd_moment when;
	const char *comm;
	uint64_t maps;
	uint32_t owner;
	uint32_t raw; // number of its raw data, if it is asked for
	uint64_t weight, cgroup;
	uint32_t parallelism; // 0: not asked for
	bool copied;          // its user stack was copied, and nothing else tells its callers
	// that may be unwound, or NULL
	const struct pd_record *record;
	const struct pd_sample *sample;
};

static uint64_t slice_of(const struct pd_collector *c, const struct hit *hit)
{
	uint64_t slice_ns = c->options->slice_ns;

	return hit->brief.time_ns == PD_NO_TIME || !slice_ns ? 0 : hit->brief.time_ns / slice_ns * slice_ns;
}

// So that there are few of them: 64 between a power of two and the next.
static uint64_t rounded(uint64_t period)
{
	enum {
		KEPT_BITS = 7
	};
	unsigned bits = period ? 64 - (unsigned)__builtin_clzll(period) : 0,
		 dropped = bits > KEPT_BITS ? bits - KEPT_BITS : 0;

	return period >> dropped << dropped;
}

static void take_chain(struct pd_collector *c, const struct hit *hit, struct pd_pending *pending)
{
	struct pd_u64s chain = hit->brief.callchain;
	struct pd_unwound unwound;

	if (hit->sample && pd_unwinder_decoded(c->unwinder, hit->record, hit->sample, &unwound)) {
		chain = unwound.chain;
		pending->unwound = unwound.joined                     ? 0 :
				   unwound.end == PD_UNWIND_OUTERMOST ? PD_UNWOUND :
									PD_UNWOUND_PARTLY;
	}
	pending->chain = chain.items;
	pending->chain_count = (uint32_t)chain.count;
}

static bool add_sample(struct pd_collector *c, const struct hit *hit)
{
	uint32_t by = c->options->by;
	const struct pd_brief *brief = &hit->brief;
	struct pd_pending *pending = &c->pending[c->waiting++];
	const struct pd_lookup lookup = pd_lookup_of(c);

	*pending = (struct pd_pending){
		.maps = hit->maps,
		.ip = brief->ip,
		.period = brief->period,
		.weight = hit->weight,
		.when = hit->when,
		.owner = hit->owner,
		.event = (uint32_t)hit->event->index,
		.pid = brief->pid,
		.cpu = by & PD_BY_CPU ? brief->cpu : UINT32_MAX,
		.cpumode = (uint8_t)brief->cpumode,
		.raw = hit->raw,
		.cgroup = by & PD_BY_CGROUP ? hit->cgroup : 0,
		.slice = by & PD_BY_TIME ? slice_of(c, hit) : 0,
		.size = by & PD_BY_PERIOD ? rounded(brief->period) : 0,
		.parallelism = by & PD_BY_PARALLELISM ? hit->parallelism : 0,
		.bin = c->options->slices ? pd_bin_of(c, brief->time_ns) : 0,
	};

	if (by & PD_BY_CHAIN)
		take_chain(c, hit, pending);
	if (hit->when.order < c->last_order)
		c->shuffled = true;
	c->last_order = hit->when.order;
	pd_pending_prepare(c, &lookup, pending, by & PD_BY_EXTRA);
	// a chain that was made is there until the next one
	return (c->waiting < PD_PENDING_MOST && !pending->unwound && !(by & PD_BY_BRANCHES)) || pd_pending_flush(c);
}

// ---- samples ----

static enum pd_choice filter_sample(const struct pd_collector *c, const struct pd_record *record, const struct hit *hit)
{
	const struct pd_profile_options *options = c->options;
	uint64_t time_ns = hit->brief.time_ns;
	struct pd_candidate candidate = { record, hit->event, &hit->brief, hit->comm, hit->parallelism };

	if (time_ns != PD_NO_TIME && (time_ns < options->from_ns || (options->to_ns && time_ns > options->to_ns)))
		return PD_CHOICE_LEAVE;
	return options->choose ? options->choose(options->self, &candidate) : PD_CHOICE_TAKE;
}

// The share of the wall time, in thousandths. What passes 64 bits is counted as such.
static uint64_t latency_of(struct pd_collector *c, const struct hit *hit)
{
	uint64_t scaled, period = hit->brief.period;

	if (!hit->parallelism)
		return 0;
	if (!__builtin_mul_overflow(period, PD_LATENCY_UNIT, &scaled))
		return scaled / hit->parallelism;
	c->overflows += PD_LATENCY_UNIT;
	return UINT64_MAX;
}

// What a sample weighs.
static void weigh(struct pd_collector *c, struct hit *hit)
{
	if (c->options->weights)
		hit->brief.period = hit->weight ? hit->weight : 1;
	hit->brief.period >>= c->period_shift;
	if (!c->options->latency)
		return;
	if (pd_event_unit(hit->event) == PD_UNIT_NS)
		hit->brief.period /= hit->parallelism;
	else
		hit->brief.period = latency_of(c, hit);
}

static void count_latency(struct pd_collector *c, const struct hit *hit, uint64_t *sum)
{
	if (c->options->by & PD_BY_PARALLELISM)
		pd_add_counting(sum, latency_of(c, hit), &c->overflows);
}

static bool add_hit(struct pd_collector *c, const struct pd_record *record, struct hit *hit)
{
	struct pd_profile_total *total = &c->totals[hit->event->index];
	// made of sums: the weight is how many samples it stands for
	uint64_t samples = PD_UNLIKELY(pd_file_given(c->file)) ? hit->weight : 1;
	enum pd_choice choice;

	if (PD_UNLIKELY(c->running))
		hit->parallelism = pd_running_at(c->running, hit->brief.time_ns, record->place, &c->running_hint);
	choice = filter_sample(c, record, hit);
	if (choice == PD_CHOICE_LEAVE)
		return true;
	weigh(c, hit);
	if (choice == PD_CHOICE_COUNT) {
		total->left_samples += samples;
		pd_add_counting(&total->left_period, hit->brief.period, &c->overflows);
		count_latency(c, hit, &total->left_latency);
		return true;
	}
	total->samples += samples;
	pd_add_counting(&total->period, hit->brief.period, &c->overflows);
	count_latency(c, hit, &total->latency);
	total->weights += hit->weight;
	total->copied_stacks += hit->copied;
	return add_sample(c, hit);
}

static bool add_value(struct pd_collector *c, const struct pd_record *record, struct hit *hit, uint64_t id,
		      uint64_t value)
{
	const struct pd_event *event = pd_file_event_by_id(c->file, id);

	if (!event)
		return true;
	if (!pd_last_values_gain(&c->last_values, id, value, &hit->brief.period))
		return false;
	hit->event = event;
	return !hit->brief.period || add_hit(c, record, hit);
}

// Samples that carry counter values stand for what the counters gained since their last sample.
static bool add_values(struct pd_collector *c, const struct pd_record *record, struct hit *hit,
		       const struct pd_counts *counts)
{
	if (!PD_BITS(hit->event->attr->read_format, PD_READ_FORMAT_GROUP))
		return add_value(c, record, hit, counts->id, counts->value);
	for (size_t i = 0; i < counts->members.count; i++) {
		const struct pd_count *member = PD_ITEM(pd_count, counts->members, i);

		if (!add_value(c, record, hit, member->id, member->value))
			return false;
	}
	return true;
}

static uint64_t weight_of(const struct pd_event *event, const struct pd_sample *sample)
{
	if (HAS(event->attr, WEIGHT_STRUCT))
		return PD_BITS(sample->weight_struct, PD_WEIGHT_VAR1_DW);
	return sample->weight;
}

static struct pd_access access_of(const struct pd_event *event, const struct pd_sample *sample)
{
	struct pd_access access = {
		.data_src = HAS(event->attr, DATA_SRC) ? sample->data_src : PD_NO_DATA_SRC,
		.transaction = sample->transaction,
		.data_page_size = sample->data_page_size,
		.code_page_size = sample->code_page_size,
	};

	if (HAS(event->attr, WEIGHT_STRUCT)) {
		access.latency = (uint32_t)PD_BITS(sample->weight_struct, PD_WEIGHT_VAR2_W);
		access.stage = (uint32_t)PD_BITS(sample->weight_struct, PD_WEIGHT_VAR3_W);
	}
	return access;
}

static struct pd_data_place data_place_of(const struct pd_collector *c, const struct hit *hit,
					  const struct pd_sample *sample)
{
	const struct pd_brief *brief = &hit->brief;
	struct pd_data_place place = { .addr = sample->addr, .phys_addr = sample->phys_addr, .ip = brief->ip };
	struct pd_location location;

	if (pd_state_locate(c->state, brief->pid, brief->cpumode, hit->when, place.addr, &location))
		place.mapping = location.mapping;
	return place;
}

static void append(struct pd_collector *c, size_t *size, const void *data, size_t more)
{
	if (more)
		memcpy(c->access_raw + *size, data, more);
	*size += more;
}

// Makes room for what is in front of the raw data of a sample, and for that. False if there is no memory.
static bool reserve_raw(struct pd_collector *c, size_t branch_count, size_t raw_size)
{
	const size_t size = sizeof(struct pd_access) + sizeof(struct pd_data_place) + sizeof(uint64_t) +
			    branch_count * sizeof(struct pd_passed_branch);

	return PD_GROW(c->access_raw, c->access_raw_capacity, size + raw_size);
}

// The number of what is asked for of a sample. 0 if there is no memory.
static uint32_t number_raw(struct pd_collector *c, const struct hit *hit, const struct pd_sample *sample)
{
	const uint32_t by = c->options->by;
	const struct pd_bytes raw = by & PD_BY_RAW ? sample->raw : (struct pd_bytes){ NULL, 0 };
	const struct pd_access access = access_of(hit->event, sample);
	const struct pd_passed_branch *passed = NULL;
	const uint64_t branch_count = by & PD_BY_BRANCHES ? pd_branches_passed(c, &passed) : 0;
	struct pd_data_place place;
	size_t size = 0;

	if (!(by & PD_BY_RAW_PARTS & ~(uint32_t)PD_BY_RAW))
		return pd_raw_number(c->common, c->seed, sample->raw);
	if (!reserve_raw(c, branch_count, raw.size))
		return 0;
	if (by & (PD_BY_ACCESS | PD_BY_DATA))
		append(c, &size, &access, sizeof(access));
	if (by & PD_BY_DATA) {
		place = data_place_of(c, hit, sample);
		append(c, &size, &place, sizeof(place));
	}
	if (by & PD_BY_BRANCHES)
		append(c, &size, &branch_count, sizeof(branch_count));
	append(c, &size, passed, branch_count * sizeof(*passed));
	append(c, &size, raw.data, raw.size);
	return pd_raw_number(c->common, c->seed, (struct pd_bytes){ c->access_raw, size });
}

// What the brief form does not have. False if the sample is damaged or there is no memory.
static bool take_parts(struct pd_collector *c, const struct pd_sample *sample, struct hit *hit)
{
	hit->weight = weight_of(hit->event, sample);
	hit->cgroup = sample->cgroup;
	hit->copied = !c->unwinder && pd_sample_needs_unwinding(sample);
	hit->brief.callchain = sample->callchain;
	if (!(c->options->by & PD_BY_RAW_PARTS))
		return true;
	if (c->options->by & PD_BY_BRANCHES) {
		const struct pd_branch_sample of = { hit->event, sample, hit->brief.pid, hit->when };

		if (!pd_branches_chain(c, &of, &hit->brief.callchain))
			return false;
	}
	hit->raw = number_raw(c, hit, sample);
	return hit->raw != 0;
}

bool pd_collector_needs_parts(const struct pd_collector *c, const struct pd_event *event)
{
	const uint64_t parts = PD_MASK(PD_SAMPLE_TYPE_READ) | PD_MASK(PD_SAMPLE_TYPE_WEIGHT) |
			       PD_MASK(PD_SAMPLE_TYPE_WEIGHT_STRUCT) | PD_MASK(PD_SAMPLE_TYPE_CGROUP) |
			       PD_MASK(PD_SAMPLE_TYPE_STACK_USER);

	return (event->attr->sample_type & parts) || pd_unwinder_wants(event->attr) || c->options->weights ||
	       (c->options->by & PD_BY_RAW_PARTS);
}

const struct pd_thread_view *pd_collector_view_anew(const struct pd_collector *c, struct pd_thread_view *view,
						    uint32_t pid, uint32_t tid, struct pd_moment when)
{
	struct pd_common *common = c->common;
	struct pd_owner owner;

	pd_owners_view(&common->owners, view, pid, tid, when, &owner);
	pd_common_lock(common, &common->names_lock);
	view->owner = pd_owners_find(&common->owners, &owner);
	pd_common_unlock(common, &common->names_lock);
	view->used = view->owner != UINT32_MAX;
	return view->used ? view : NULL;
}

// Branches are in front of the chain that was recorded.
static bool may_be_unwound(const struct pd_collector *c, const struct pd_attr *attr)
{
	const struct pd_passed_branch *passed;

	return c->unwinder && pd_unwinder_wants(attr) && HAS(attr, CALLCHAIN) &&
	       !(c->options->by & PD_BY_BRANCHES && pd_branches_passed(c, &passed));
}

// False if there is no memory.
static bool take_sample(struct pd_collector *c, const struct pd_record *record)
{
	const struct pd_thread_view *view;
	const struct pd_sample *sample;
	struct hit hit;

	c->sample_count++;
	if (PD_UNLIKELY(!record->event)) {
		c->unknown_event++;
		return true;
	}
	if (PD_UNLIKELY(!pd_record_brief(record, &hit.brief))) {
		c->damaged++;
		return true;
	}
	hit.event = record->event;
	hit.when = pd_record_moment(record);
	hit.weight = hit.cgroup = hit.raw = hit.parallelism = 0;
	hit.copied = false;
	hit.record = record;
	hit.sample = NULL;
	view = pd_collector_view(c, hit.brief.pid, hit.brief.tid, hit.when);
	if (!view)
		return false;
	hit.comm = view->view.comm;
	hit.maps = view->view.maps;
	hit.owner = view->owner;
	if (PD_LIKELY(!pd_collector_needs_parts(c, record->event)))
		return add_hit(c, record, &hit);
	sample = pd_as_sample(record);
	if (!sample) {
		c->damaged++;
		return true;
	}
	if (!take_parts(c, sample, &hit))
		return false;
	if (may_be_unwound(c, record->event->attr))
		hit.sample = sample;
	return HAS(record->event->attr, READ) && sample->read ? add_values(c, record, &hit, sample->read) :
								add_hit(c, record, &hit);
}

enum pd_status pd_collector_take(struct pd_collector *collector, const struct pd_record *record, struct pd_error *error)
{
	if (record->type != PD_RECORD_SAMPLE)
		return PD_OK;
	return take_sample(collector, record) ? PD_OK : pd_fail_memory(error);
}

// What only counting needs.
static void free_tables(struct pd_collector *c)
{
	if (c->cache)
		pd_key_cache_leave(&c->common->cache, c->cache);
	c->cache = NULL;
	pd_free(c->share.amounts[PD_OF_SUMMED_KEYS].items);
	c->share.amounts[PD_OF_SUMMED_KEYS] = (struct pd_amounts){ 0 };
	pd_free(c->known_memory);
	c->known_memory = c->known = NULL;
	c->known_count = 0;
	pd_leaves_fini(&c->leaves);
	pd_free(c->ranges);
	c->ranges = NULL;
	pd_free(c->repeats.tags);
	pd_free(c->raw_repeats.tags);
	c->repeats.tags = c->raw_repeats.tags = NULL;
	pd_free(c->access_raw);
	pd_free(c->branches);
	pd_free(c->branch_chain);
	c->access_raw = NULL;
	c->branches = NULL;
	c->branch_chain = NULL;
	c->access_raw_capacity = c->branch_chain_capacity = 0;
}

void pd_collector_finish(struct pd_collector *collector)
{
	// there was no memory to begin with
	if (!collector->common)
		return;
	pd_amounts_end_keys(collector);
	// else what was counted of a bucket is added up at the end
	if (collector->options->slices)
		pd_amounts_finalize_all(collector);
	free_tables(collector);
}

// ---- beginning and end ----

static bool has_same_form(const struct pd_event_full *a, const struct pd_event_full *b)
{
	return a->event.attr->sample_type == b->event.attr->sample_type && a->sample_time == b->sample_time &&
	       a->sample_id == b->sample_id && memcmp(&a->brief, &b->brief, sizeof(a->brief)) == 0;
}

// Most files have events of one form. Only neighbours and the first one are compared, as a file may have very many.
static uint32_t form_of(const struct pd_collector *c, uint32_t event)
{
	const struct pd_event_full *full = pd_file_full_event(c->file, event);

	if (!full->brief.sufficient || pd_collector_needs_parts(c, &full->event))
		return PD_NOT_PLAIN;
	if (event && c->forms[event - 1] != PD_NOT_PLAIN && has_same_form(pd_file_full_event(c->file, event - 1), full))
		return c->forms[event - 1];
	return event && c->forms[0] == 0 && has_same_form(pd_file_full_event(c->file, 0), full) ? 0 : event;
}

static bool find_forms(struct pd_collector *c)
{
	c->forms = pd_alloc((c->event_count + 1) * sizeof(*c->forms));
	for (uint32_t i = 0; c->forms && i < c->event_count; i++)
		c->forms[i] = form_of(c, i);
	return c->forms;
}

enum pd_status pd_collector_init(struct pd_collector *collector, struct pd_error *error)
{
	struct pd_collector *c = collector;

	c->is_clone = c->common != NULL;
	if (!c->is_clone)
		c->common = pd_common_new(c->state, c->seed, c->options, c->heavy);
	c->heavy = NULL;
	c->event_count = pd_file_event_count(c->file);
	c->keeps_rare = c->common && c->common->frames.merge.by_address;
	c->known_count = c->known_most = PD_KNOWN_PLACES_FIRST;
	c->known = pd_alloc_lines(c->known_count * sizeof(*c->known), &c->known_memory);
	c->cache = c->common ? pd_key_cache_enter(&c->common->cache, NULL) : NULL;
	c->views = pd_alloc_table(PD_VIEWS * sizeof(*c->views));
	c->pending = pd_alloc(PD_PENDING_MOST * sizeof(*c->pending));
	c->misses = pd_alloc(PD_PENDING_MOST * sizeof(*c->misses));
	c->asks = pd_alloc(PD_ASKS_MOST * sizeof(*c->asks));
	c->secrets = pd_alloc(sizeof(*c->secrets));
	c->totals = pd_alloc((c->event_count + 1) * sizeof(*c->totals));
	c->ranges = pd_alloc(PD_RANGE_SETS * sizeof(*c->ranges));
	c->repeats.tags = pd_alloc(PD_REPEATS * sizeof(*c->repeats.tags));
	c->raw_repeats.tags = pd_alloc(PD_REPEATS * sizeof(*c->raw_repeats.tags));
	if (!c->common || !c->known || !c->ranges || !c->repeats.tags || !c->raw_repeats.tags || !c->views ||
	    !c->pending || !c->misses || !c->asks || !c->secrets || !c->totals || !c->cache || !pd_leaves_init(c) ||
	    !find_forms(c)) {
		pd_collector_fini(c);
		return pd_fail_memory(error);
	}
	pd_secrets_fill(c->secrets, c->seed);
	c->last_values.places.seed = c->seed;
	for (size_t i = 0; i < c->event_count; i++)
		c->totals[i].event = pd_file_event(c->file, i);
	return PD_OK;
}

static void free_share(struct pd_share *share)
{
	for (size_t i = 0; i < 2; i++)
		pd_free(share->amounts[i].items);
	pd_free(share->weights);
	pd_free(share->binned.items);
	*share = (struct pd_share){ 0 };
}

void pd_collector_fini(struct pd_collector *collector)
{
	free_tables(collector);
	if (!collector->is_clone)
		pd_common_free(collector->common);
	else
		pd_unwinder_free(collector->unwinder);
	pd_free(collector->views);
	pd_free(collector->secrets);
	pd_free(collector->pending);
	pd_free(collector->misses);
	pd_free(collector->wanted);
	pd_last_values_fini(&collector->last_values);
	pd_free(collector->found);
	pd_free(collector->found_sums);
	pd_free(collector->found_addrs);
	pd_free(collector->rare_asks);
	pd_rare_fini(&collector->rare);
	pd_free(collector->asks);
	pd_sums_free(collector);
	pd_free(collector->heavy);
	pd_free(collector->totals);
	pd_free(collector->forms);
	for (size_t i = 0; i <= collector->joined_count; i++)
		free_share(pd_collector_share(collector, i));
	pd_free(collector->joined);
	*collector = (struct pd_collector){ 0 };
}

// Those of all events together fit then, as some views add up events.
unsigned pd_collector_excess(const struct pd_collector *collector)
{
	uint64_t sum = 0, latency = 0, overflows = collector->overflows;

	for (size_t i = 0; i < collector->event_count; i++) {
		pd_add_counting(&sum, collector->totals[i].period, &overflows);
		pd_add_counting(&sum, collector->totals[i].left_period, &overflows);
		pd_add_counting(&latency, collector->totals[i].latency, &overflows);
		pd_add_counting(&latency, collector->totals[i].left_latency, &overflows);
	}
	return overflows ? 64 - (unsigned)__builtin_clzll(overflows) : 0;
}

bool pd_collector_join(struct pd_collector *collector, struct pd_collector *clone)
{
	for (size_t i = 0; i < collector->event_count; i++) {
		struct pd_profile_total *to = &collector->totals[i];
		const struct pd_profile_total *from = &clone->totals[i];

		to->samples += from->samples;
		pd_add_counting(&to->period, from->period, &collector->overflows);
		to->weights += from->weights;
		to->left_samples += from->left_samples;
		pd_add_counting(&to->left_period, from->left_period, &collector->overflows);
		pd_add_counting(&to->latency, from->latency, &collector->overflows);
		pd_add_counting(&to->left_latency, from->left_latency, &collector->overflows);
		to->copied_stacks += from->copied_stacks;
	}
	collector->overflows += clone->overflows;
	collector->sample_count += clone->sample_count;
	collector->unknown_event += clone->unknown_event;
	collector->damaged += clone->damaged;
	collector->failed |= clone->failed;
	collector->has_merged |= clone->has_merged;
	if (clone->has_merged && (!pd_sums_join(collector, clone) || !pd_rare_join(collector, &clone->rare)))
		return false;
	if (collector->unwinder)
		pd_unwinder_join(collector->unwinder, clone->unwinder);
	if (!PD_GROW(collector->joined, collector->joined_capacity, collector->joined_count + 1))
		return false;
	collector->joined[collector->joined_count++] = clone->share;
	clone->share = (struct pd_share){ 0 };
	return true;
}
