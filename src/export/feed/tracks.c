/* SPDX-License-Identifier: MIT */
#include "export/feed/tracks.h"

void pd_tracks_init(struct pd_tracks *tracks, const struct pd_export *self)
{
	pd_spool_init(&tracks->spool, self->options.temp_dir);
	tracks->map.seed = tracks->threads.seed = self->tables.seed;
}

void pd_tracks_fini(struct pd_tracks *tracks)
{
	for (size_t i = 0; i < tracks->count; i++)
		pd_spool_track_fini(&tracks->items[i].samples);
	pd_free(tracks->items);
	pd_u64_map_fini(&tracks->map);
	pd_u64_map_fini(&tracks->threads);
	pd_spool_fini(&tracks->spool);
}

// The number of a thread that has it whatever its name is; 0 if there is no memory.
static uint64_t nameless_number(struct pd_tracks *tracks, const struct pd_export *self, uint32_t thread)
{
	const struct pd_owner *owner = pd_export_thread(self, thread);
	uint64_t key = (uint64_t)owner->pid << 32 | owner->tid, number = pd_u64_map_find(&tracks->threads, key);

	if (number || !pd_u64_map_add(&tracks->threads, key, tracks->thread_count + 1))
		return number;
	return ++tracks->thread_count;
}

static struct pd_track *new_track(struct pd_tracks *tracks, uint64_t key, const struct pd_export_sample *sample)
{
	if (!PD_GROW(tracks->items, tracks->capacity, tracks->count + 1) ||
	    !pd_u64_map_add(&tracks->map, key, tracks->count + 1))
		return NULL;
	tracks->items[tracks->count] = (struct pd_track){ .event = (uint32_t)sample->event->index };
	return &tracks->items[tracks->count++];
}

struct pd_track *pd_tracks_of(struct pd_tracks *tracks, struct pd_export *self, const struct pd_export_sample *sample)
{
	uint64_t before = tracks->thread_count, key, number;
	struct pd_track *track;

	key = tracks->by_name ? (uint64_t)sample->thread + 1 : nameless_number(tracks, self, sample->thread);
	if (!key) {
		self->failed = true;
		return NULL;
	}
	key = key << 32 | (uint32_t)sample->event->index;
	number = pd_u64_map_find(&tracks->map, key);
	track = number ? &tracks->items[number - 1] : new_track(tracks, key, sample);
	self->failed |= !track;
	if (!track)
		return NULL;
	track->thread = sample->thread;
	track->first_of_thread |= tracks->thread_count != before;
	return track;
}

// Time that never goes back, and passes if the recording has none.
static uint64_t time_of(struct pd_track *track, uint64_t time_ns)
{
	enum {
		STEP_NS = 1000
	};

	if (time_ns == PD_NO_TIME)
		time_ns = track->count ? track->last_ns + STEP_NS : 0;
	if (!track->count)
		track->first_ns = track->last_ns = time_ns;
	if (time_ns > track->last_ns)
		track->last_ns = time_ns;
	return track->last_ns;
}

struct pd_track *pd_tracks_add(struct pd_tracks *tracks, struct pd_export *self, const struct pd_export_sample *sample)
{
	struct pd_track *track = pd_tracks_of(tracks, self, sample);
	uint64_t before;

	if (!track)
		return NULL;
	before = track->count ? track->last_ns : 0;
	// times as steps from the one before, which are small
	pd_spool_put(&tracks->spool, &track->samples, time_of(track, sample->time_ns) - before);
	pd_spool_put(&tracks->spool, &track->samples, sample->stack);
	pd_spool_put(&tracks->spool, &track->samples, sample->value);
	track->count++;
	track->value += sample->value;
	pd_tracks_check(tracks, self);
	return track;
}

bool pd_track_next(struct pd_spool_reader *reader, struct pd_tracked_sample *sample)
{
	uint64_t step, stack;

	if (reader->left == reader->track->count)
		sample->time_ns = 0;
	if (!pd_spool_get(reader, &step) || !pd_spool_get(reader, &stack) || !pd_spool_get(reader, &sample->value))
		return false;
	sample->time_ns += step;
	sample->stack = (uint32_t)stack;
	return true;
}

void pd_tracks_check(struct pd_tracks *tracks, struct pd_export *self)
{
	if (tracks->spool.status < 0)
		pd_export_stop(self, tracks->spool.status, &tracks->spool.error);
}

size_t pd_tracks_largest(const struct pd_tracks *tracks)
{
	size_t largest = 0;

	for (size_t i = 0; i < tracks->count; i++)
		if (tracks->items[i].count > tracks->items[largest].count)
			largest = i;
	return largest;
}
