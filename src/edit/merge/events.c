/* SPDX-License-Identifier: MIT */
/*
 * One list of events for all recordings: equal ones are one event, ids that mean different events get other numbers, and
 * all samples have their id where readers look for it.
 */
#include "edit/merge/merge.h"

#include <stdlib.h>
#include <string.h>

enum {
	EVENTS_MAX = 16384
};

// ---- equal events ----

// What says nothing about samples: other records that an event gives, and when the recorder wakes up.
static const uint64_t side_flags =
	PD_MASK(PD_ATTR_DISABLED) | PD_MASK(PD_ATTR_ENABLE_ON_EXEC) | PD_MASK(PD_ATTR_MMAP) |
	PD_MASK(PD_ATTR_MMAP_DATA) | PD_MASK(PD_ATTR_MMAP2) | PD_MASK(PD_ATTR_COMM) | PD_MASK(PD_ATTR_COMM_EXEC) |
	PD_MASK(PD_ATTR_TASK) | PD_MASK(PD_ATTR_KSYMBOL) | PD_MASK(PD_ATTR_BPF_EVENT) | PD_MASK(PD_ATTR_CGROUP) |
	PD_MASK(PD_ATTR_NAMESPACES) | PD_MASK(PD_ATTR_TEXT_POKE) | PD_MASK(PD_ATTR_BUILD_ID) |
	PD_MASK(PD_ATTR_CONTEXT_SWITCH) | PD_MASK(PD_ATTR_SAMPLE_ID_ALL) | PD_MASK(PD_ATTR_WATERMARK);
static const uint64_t id_bits = PD_MASK(PD_SAMPLE_TYPE_ID) | PD_MASK(PD_SAMPLE_TYPE_IDENTIFIER);

static struct pd_attr plain_attr(const struct pd_attr *attr)
{
	struct pd_attr plain = *attr;

	plain.rest = (struct pd_bytes){ 0 };
	plain.wire_size = plain.size = 0;
	return plain;
}

// Whether samples of both say the same and can have one form.
static bool same_samples(const struct pd_attr *a, const struct pd_attr *b)
{
	struct pd_attr left = plain_attr(a), right = plain_attr(b);

	left.flags &= ~side_flags;
	right.flags &= ~side_flags;
	left.sample_type &= ~id_bits;
	right.sample_type &= ~id_bits;
	left.wakeup_events = right.wakeup_events = 0;
	return !memcmp(&left, &right, sizeof(left));
}

// ---- one list of events ----

// Whether an event of the output is that of an id; so equal events of one recording are distinguished.
static bool is_event_of_id(const struct pd_merge *merge, const struct pd_joined_event *joined, uint64_t id)
{
	const struct pd_event *found = pd_file_event_by_id(merge->sources[joined->source]->file, id);

	return found && found->index == joined->index;
}

// The event of the output that an event of a source is, or the number of them.
static size_t find_event(const struct pd_merge *merge, size_t source, const struct pd_event *event,
			 const struct pd_attr *attr)
{
	const struct pd_joined_events *events = &merge->events;
	size_t found = events->count;

	for (size_t i = events->count; i-- > 0;) {
		const struct pd_joined_event *joined = &events->items[i];

		if (joined->taken == source + 1 || strcmp(joined->name, event->name) != 0 ||
		    !same_samples(&joined->attr, attr))
			continue;
		found = i;
		for (size_t j = 0; j < event->ids.count; j++)
			if (is_event_of_id(merge, joined, event->ids.items[j]))
				return i;
	}
	return found;
}

static bool add_event(struct pd_merge *merge, size_t source, const struct pd_event *event, const struct pd_attr *attr)
{
	struct pd_joined_events *events = &merge->events;

	if (!PD_GROW(events->items, events->capacity, events->count + 1))
		return false;
	events->items[events->count++] =
		(struct pd_joined_event){ .attr = *attr, .name = event->name, .source = source, .index = event->index };
	return true;
}

static bool join_event(struct pd_merge *merge, size_t index, const struct pd_event *event)
{
	struct pd_merge_source *source = merge->sources[index];
	struct pd_attr attr = *event->attr;
	struct pd_joined_event *joined;
	size_t at;

	if (attr.type == PD_TYPE_TRACEPOINT)
		attr.config = pd_merge_formats_config(source, attr.config);
	at = find_event(merge, index, event, &attr);
	if (at == merge->events.count && !add_event(merge, index, event, &attr))
		return false;
	source->events[event->index] = at;
	joined = &merge->events.items[at];
	joined->attr.flags |= attr.flags & side_flags & ~PD_MASK(PD_ATTR_DISABLED) & ~PD_MASK(PD_ATTR_ENABLE_ON_EXEC);
	joined->attr.sample_type |= attr.sample_type & id_bits;
	joined->taken = index + 1;
	return true;
}

// ---- the order of events in pieces of one recording ----

struct placed_event {
	uint64_t id;
	size_t index;
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed_event *left = a, *right = b;

	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	return left->index < right->index ? -1 : left->index > right->index;
}

// The kernel gives ids in the order in which events are opened, which is theirs in the recording.
static bool place_events(const struct pd_merge *merge, struct placed_event *placed)
{
	for (size_t i = 0; i < merge->events.count; i++) {
		const struct pd_joined_event *joined = &merge->events.items[i];
		const struct pd_event *event = pd_file_event(merge->sources[joined->source]->file, joined->index);

		if (!event->ids.count || merge->sources[joined->source]->session)
			return false;
		placed[i] = (struct placed_event){ event->ids.items[0], i };
		// those of the first piece stay as they are
		if (i && !joined->source && placed[i].id < placed[i - 1].id)
			return false;
	}
	qsort(placed, merge->events.count, sizeof(*placed), compare_placed);
	return true;
}

static void renumber_events(struct pd_merge *merge, const struct placed_event *placed, struct pd_joined_event *items,
			    size_t *numbers)
{
	size_t count = merge->events.count;

	memcpy(items, merge->events.items, count * sizeof(*items));
	for (size_t i = 0; i < count; i++) {
		merge->events.items[i] = items[placed[i].index];
		numbers[placed[i].index] = i;
	}
	for (size_t i = 0; i < merge->source_count; i++)
		for (size_t j = 0; j < pd_file_event_count(merge->sources[i]->file); j++)
			merge->sources[i]->events[j] = numbers[merge->sources[i]->events[j]];
}

// As the recording had them, whatever the order of its pieces.
static bool order_events(struct pd_merge *merge)
{
	size_t count = merge->events.count;
	struct placed_event *placed = pd_alloc((count + 1) * sizeof(*placed));
	struct pd_joined_event *items = pd_alloc((count + 1) * sizeof(*items));
	size_t *numbers = pd_alloc((count + 1) * sizeof(*numbers));
	bool done = placed && items && numbers;

	if (done && count && place_events(merge, placed))
		renumber_events(merge, placed, items, numbers);
	pd_free(placed);
	pd_free(items);
	pd_free(numbers);
	return done;
}

// ---- ids ----

// An id of an event of a source.
struct id_use {
	uint64_t id, becomes;
	size_t event, source, session;
	size_t place; // among all; SIZE_MAX for what is listed already
};

static bool is_same_use(const struct id_use *a, const struct id_use *b)
{
	return a->id == b->id && a->event == b->event && a->session == b->session;
}

static int compare_ids(const void *a, const void *b)
{
	const struct id_use *left = a, *right = b;

	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	if (left->event != right->event)
		return left->event < right->event ? -1 : 1;
	if (left->session != right->session)
		return left->session < right->session ? -1 : 1;
	return left->place < right->place ? -1 : left->place > right->place;
}

static int compare_places(const void *a, const void *b)
{
	const struct id_use *left = a, *right = b;

	return left->place < right->place ? -1 : left->place > right->place;
}

// Uses of one id. It stays what it is for the first that was met and for pieces of the same recording.
static void finalize_same(struct id_use *uses, size_t count, uint64_t *fresh)
{
	size_t first = 0;

	for (size_t i = 1; i < count; i++)
		if (uses[i].place < uses[first].place)
			first = i;
	for (size_t i = 0; i < count; i++) {
		if (is_same_use(&uses[i], &uses[first]))
			uses[i].becomes = uses[i].id;
		else if (i && is_same_use(&uses[i], &uses[i - 1]))
			uses[i].becomes = uses[i - 1].becomes;
		else
			uses[i].becomes = ++*fresh;
	}
}

static bool keep_change(struct pd_merge_source *source, uint64_t from, uint64_t to)
{
	struct pd_number_changes *ids = &source->ids;

	if (from == to || (ids->count && ids->items[ids->count - 1].from == from))
		return true;
	if (!PD_GROW(ids->items, ids->capacity, ids->count + 1))
		return false;
	ids->items[ids->count++] = (struct pd_number_change){ from, to };
	return true;
}

static size_t count_ids(const struct pd_merge *merge)
{
	size_t count = 0;

	for (size_t i = 0; i < merge->source_count; i++)
		for (size_t j = 0; j < pd_file_event_count(merge->sources[i]->file); j++)
			count += pd_file_event(merge->sources[i]->file, j)->ids.count;
	return count;
}

// An id that two events of a recording have is that of the first one, as for everybody who reads it.
static size_t list_ids(const struct pd_merge *merge, struct id_use *uses)
{
	size_t count = 0;

	for (size_t i = 0; i < merge->source_count; i++) {
		const struct pd_merge_source *source = merge->sources[i];

		for (size_t j = 0; j < pd_file_event_count(source->file); j++) {
			const struct pd_event *event = pd_file_event(source->file, j);

			for (size_t k = 0; k < event->ids.count; k++) {
				if (pd_file_event_by_id(source->file, event->ids.items[k]) != event)
					continue;
				uses[count] = (struct id_use){ .id = event->ids.items[k],
							       .event = source->events[j],
							       .source = i,
							       .session = source->session,
							       .place = count };
				count++;
			}
		}
	}
	return count;
}

// Ids of each event in the order in which they were met, each once.
static bool give_ids(struct pd_merge *merge, struct id_use *uses, size_t count)
{
	for (size_t i = 0; i < merge->events.count; i++)
		merge->events.items[i].ids.count = 0;
	for (size_t i = 0; i < count; i++)
		if (uses[i].place != SIZE_MAX &&
		    !pd_numbers_add(&merge->events.items[uses[i].event].ids, uses[i].becomes))
			return false;
	return true;
}

// The number in front of so many that no id is, after the last id where that is not near the end of all numbers.
static uint64_t before_unused(const struct id_use *uses, size_t count, uint64_t wanted)
{
	uint64_t last = count ? uses[count - 1].id : 0;

	if (UINT64_MAX - last >= wanted)
		return last;
	for (size_t i = 1; i < count; i++)
		if (uses[i].id - uses[i - 1].id > wanted)
			return uses[i - 1].id;
	return 0;
}

static bool finalize_ids(struct pd_merge *merge, struct id_use *uses, size_t count, uint64_t *fresh)
{
	qsort(uses, count, sizeof(*uses), compare_ids);
	*fresh = before_unused(uses, count, (uint64_t)count + merge->events.count);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && uses[end].id == uses[i].id;)
			end++;
		finalize_same(uses + i, end - i, fresh);
		for (size_t j = i; j < end; j++)
			if (!keep_change(merge->sources[uses[j].source], uses[j].id, uses[j].becomes))
				return false;
	}
	// What becomes the same stands in a row, the first that was met in front.
	for (size_t i = count; i-- > 1;)
		if (is_same_use(&uses[i], &uses[i - 1]))
			uses[i].place = SIZE_MAX;
	qsort(uses, count, sizeof(*uses), compare_places);
	return give_ids(merge, uses, count);
}

// ---- one form of ids ----

// Where readers look for ids: words from the begin of samples and from the end of other records; 0 for no id.
static unsigned id_places(uint64_t type)
{
	const uint64_t before = PD_MASK(PD_SAMPLE_TYPE_IP) | PD_MASK(PD_SAMPLE_TYPE_TID) |
				PD_MASK(PD_SAMPLE_TYPE_TIME) | PD_MASK(PD_SAMPLE_TYPE_ADDR);
	const uint64_t following = PD_MASK(PD_SAMPLE_TYPE_STREAM_ID) | PD_MASK(PD_SAMPLE_TYPE_CPU);

	if (type & PD_MASK(PD_SAMPLE_TYPE_IDENTIFIER))
		return 1;
	if (!(type & PD_MASK(PD_SAMPLE_TYPE_ID)))
		return 0;
	return 0x100u | (unsigned)__builtin_popcountll(type & before) << 4 |
	       (unsigned)__builtin_popcountll(type & following);
}

// Several events need ids at one place; IDENTIFIER is made for that.
static bool needs_identifier(const struct pd_merge *merge)
{
	const struct pd_joined_events *events = &merge->events;
	unsigned places = id_places(events->items[0].attr.sample_type);
	size_t first = pd_file_event_count(merge->sources[0]->file);

	for (size_t i = 1; i < events->count; i++)
		if (id_places(events->items[i].attr.sample_type) != places)
			return true;
	// a recording without any is as it was made
	return events->count > 1 && !places && events->count > first;
}

// The samples of a recording with one event say an id that nobody had to list. Beside another event it has to be known.
static bool needs_id(const struct pd_merge *merge, const struct pd_joined_event *event)
{
	return merge->events.count > 1 && id_places(event->attr.sample_type) &&
	       pd_file_event_count(merge->sources[event->source]->file) == 1;
}

static bool finalize_forms(struct pd_merge *merge, uint64_t *fresh)
{
	struct pd_joined_events *events = &merge->events;
	bool identifier = events->count && needs_identifier(merge), trailers = false;

	for (size_t i = 0; i < events->count; i++)
		trailers |= PD_BITS(events->items[i].attr.flags, PD_ATTR_SAMPLE_ID_ALL) != 0;
	for (size_t i = 0; i < events->count; i++) {
		struct pd_joined_event *event = &events->items[i];

		if (identifier)
			event->attr.sample_type |= PD_MASK(PD_SAMPLE_TYPE_IDENTIFIER);
		if (trailers)
			event->attr.flags |= PD_MASK(PD_ATTR_SAMPLE_ID_ALL);
		if ((identifier || needs_id(merge, event)) && !event->ids.count &&
		    !pd_numbers_add(&event->ids, ++*fresh))
			return false;
	}
	return true;
}

static enum pd_status check_count(const struct pd_merge *merge, struct pd_error *error)
{
	size_t count = 0;

	for (size_t i = 0; i < merge->source_count; i++)
		count += pd_file_event_count(merge->sources[i]->file);
	if (count <= EVENTS_MAX)
		return PD_OK;
	return pd_merge_fail(merge, error, PD_ERROR_ARGUMENT, "%zu events: at most %d can be joined", count,
			     EVENTS_MAX);
}

static bool join_events(struct pd_merge *merge)
{
	for (size_t i = 0; i < merge->source_count; i++) {
		struct pd_merge_source *source = merge->sources[i];
		size_t count = pd_file_event_count(source->file);

		source->events = pd_alloc((count + 1) * sizeof(*source->events));
		if (!source->events)
			return false;
		for (size_t j = 0; j < count; j++)
			if (!join_event(merge, i, pd_file_event(source->file, j)))
				return false;
	}
	return true;
}

static bool plan_ids(struct pd_merge *merge)
{
	struct id_use *uses = pd_alloc((count_ids(merge) + 1) * sizeof(*uses));
	uint64_t fresh = 0;
	bool done = uses && finalize_ids(merge, uses, list_ids(merge, uses), &fresh) && finalize_forms(merge, &fresh);

	pd_free(uses);
	return done;
}

enum pd_status pd_merge_plan_events(struct pd_merge *merge, struct pd_error *error)
{
	enum pd_status status = check_count(merge, error);

	if (status < 0)
		return status;
	if (!join_events(merge) || !order_events(merge) || !plan_ids(merge))
		return pd_fail_memory(error);
	for (size_t i = 0; i < merge->source_count; i++) {
		struct pd_merge_source *source = merge->sources[i];

		source->join.events = source->events;
		source->join.event_count = pd_file_event_count(source->file);
		source->join.ids = source->ids.items;
		source->join.id_count = source->ids.count;
		source->join.tracepoints = source->tracepoints.items;
		source->join.tracepoint_count = source->tracepoints.count;
	}
	return PD_OK;
}
