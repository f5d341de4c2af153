/* SPDX-License-Identifier: MIT */
// Events that have begun something wait, by their key, for the one that ends it.
#include "interval/pair.h"

#include <string.h>

#include "base/error.h"
#include "base/lookup/hash.h"

enum {
	FIRST_HEADS = 64,
	MOST = 4 << 20
};

struct pd_pair_open {
	uint64_t key[PD_PAIR_FIELDS];
	uint64_t begin_ns, losses;
	uint32_t next; // number + 1, of one with the same hash or of one that is free
	uint32_t pid, tid, cpu;
	bool foreign;
	uint64_t *chain;
	size_t chain_count, chain_capacity;
};

// ---- fields ----

// The place of a field among those of a line of the table, where it is added.
static bool place_field(struct pd_tracepoint *line, const char *name, uint8_t *place_out)
{
	*place_out = !strcmp(name, "tid") ? PD_PAIR_TID : !strcmp(name, "cpu") ? PD_PAIR_CPU : 0;
	for (; *place_out < PD_TRACEPOINT_FIELDS; ++*place_out) {
		if (!line->fields[*place_out])
			line->fields[*place_out] = name;
		if (!strcmp(line->fields[*place_out], name))
			return true;
	}
	return *place_out >= PD_PAIR_TID;
}

static bool place_fields(struct pd_pairing *pairing)
{
	const struct pd_pair *pair = pairing->pair;
	bool fits = true;

	for (unsigned side = 0; side < PD_PAIR_SIDES; side++) {
		struct pd_tracepoint *line = &pairing->table[pairing->same_event ? PD_PAIR_BEGINS : side];

		line->name = pair->events[side];
		for (size_t i = 0; i < pair->key_count; i++)
			fits &= place_field(line, pair->keys[side][i], &pairing->places[side][i]);
	}
	return fits && (!pair->owner_field ||
			place_field(&pairing->table[PD_PAIR_BEGINS], pair->owner_field, &pairing->owner_place));
}

static uint64_t value_at(const struct pd_tracepoint_sample *sample, uint8_t place)
{
	return place == PD_PAIR_TID ? sample->brief.tid :
	       place == PD_PAIR_CPU ? sample->brief.cpu :
				      sample->values[place];
}

// ---- what is open ----

static uint64_t read_key(const struct pd_pairing *pairing, enum pd_pair_side side,
			 const struct pd_tracepoint_sample *sample, uint64_t key[PD_PAIR_FIELDS])
{
	uint64_t hash = pairing->seed;

	memset(key, 0, PD_PAIR_FIELDS * sizeof(*key));
	for (size_t i = 0; i < pairing->pair->key_count; i++) {
		key[i] = value_at(sample, pairing->places[side][i]);
		hash = pd_hash_u64(hash, key[i]);
	}
	return hash;
}

// Where the number of what is open with a key is, or of the end of the list.
static uint32_t *find(struct pd_pairing *pairing, uint64_t hash, const uint64_t key[PD_PAIR_FIELDS])
{
	uint32_t *at = &pairing->heads[hash & (pairing->head_count - 1)];

	while (*at && memcmp(pairing->open[*at - 1].key, key, PD_PAIR_FIELDS * sizeof(*key)) != 0)
		at = &pairing->open[*at - 1].next;
	return at;
}

static uint64_t hash_of(const struct pd_pairing *pairing, const struct pd_pair_open *open)
{
	uint64_t hash = pairing->seed;

	for (size_t i = 0; i < pairing->pair->key_count; i++)
		hash = pd_hash_u64(hash, open->key[i]);
	return hash;
}

static bool grow_heads(struct pd_pairing *pairing)
{
	size_t count = pairing->head_count ? 2 * pairing->head_count : FIRST_HEADS;
	uint32_t *heads = pd_alloc(count * sizeof(*heads));

	if (!heads)
		return false;
	for (size_t i = 0; i < pairing->head_count; i++)
		for (uint32_t number = pairing->heads[i]; number;) {
			struct pd_pair_open *open = &pairing->open[number - 1];
			uint32_t *head = &heads[hash_of(pairing, open) & (count - 1)], next = open->next;

			open->next = *head;
			*head = number;
			number = next;
		}
	pd_free(pairing->heads);
	pairing->heads = heads;
	pairing->head_count = count;
	return true;
}

// 0: no memory.
static uint32_t take_free(struct pd_pairing *pairing)
{
	uint32_t number = pairing->free;

	if (number) {
		pairing->free = pairing->open[number - 1].next;
		return number;
	}
	if (!PD_GROW(pairing->open, pairing->capacity, pairing->count + 1))
		return 0;
	pairing->open[pairing->count] = (struct pd_pair_open){ 0 };
	return (uint32_t)++pairing->count;
}

static bool keep_chain(struct pd_pair_open *open, struct pd_u64s chain)
{
	open->chain_count = 0;
	if (chain.count > open->chain_capacity && !PD_GROW(open->chain, open->chain_capacity, chain.count))
		return false;
	if (chain.count)
		memcpy(open->chain, chain.items, chain.count * sizeof(*open->chain));
	open->chain_count = chain.count;
	return true;
}

// ---- events ----

static bool fill_open(struct pd_pairing *pairing, struct pd_pair_open *open, const struct pd_tracepoint_sample *sample)
{
	const struct pd_raw_brief *brief = &sample->brief;

	open->begin_ns = brief->time_ns;
	open->losses = pairing->losses;
	open->pid = brief->pid;
	open->tid = brief->tid;
	open->cpu = brief->cpu;
	open->foreign = false;
	if (pairing->pair->owner == PD_PAIR_FIELD) {
		open->tid = (uint32_t)value_at(sample, pairing->owner_place);
		open->foreign = open->tid != brief->tid;
		open->pid = open->foreign ? UINT32_MAX : brief->pid;
	}
	return pairing->pair->owner == PD_PAIR_END || keep_chain(open, brief->callchain);
}

// One that begins again did not end, as far as was recorded.
static enum pd_status begin(struct pd_pairing *pairing, const struct pd_tracepoint_sample *sample,
			    struct pd_error *error)
{
	uint64_t key[PD_PAIR_FIELDS], hash = read_key(pairing, PD_PAIR_BEGINS, sample, key);
	size_t most = pairing->limit ? pairing->limit : MOST;
	uint32_t *at, number;

	if (pairing->open_count >= pairing->head_count && !grow_heads(pairing))
		return pd_fail_memory(error);
	at = find(pairing, hash, key);
	number = *at;
	if (number) {
		pairing->counts.mismatched++;
	} else {
		if (pairing->open_count >= most)
			return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET,
				       "pair: more than %zu have begun and not ended; is the key right?", most);
		number = take_free(pairing);
		if (!number)
			return pd_fail_memory(error);
		at = &pairing->heads[hash & (pairing->head_count - 1)];
		memcpy(pairing->open[number - 1].key, key, sizeof(key));
		pairing->open[number - 1].next = *at;
		*at = number;
		pairing->open_count++;
	}
	return fill_open(pairing, &pairing->open[number - 1], sample) ? PD_OK : pd_fail_memory(error);
}

static enum pd_status report(struct pd_pairing *pairing, const struct pd_pair_open *open,
			     const struct pd_tracepoint_sample *sample, struct pd_error *error)
{
	const struct pd_raw_brief *brief = &sample->brief;
	bool by_end = pairing->pair->owner == PD_PAIR_END;
	const struct pd_paired paired = {
		.pid = by_end ? brief->pid : open->pid,
		.tid = by_end ? brief->tid : open->tid,
		.cpu = open->cpu,
		.end_tid = brief->tid,
		.begin_ns = open->begin_ns,
		.end_ns = brief->time_ns,
		.flags = open->losses != pairing->losses ? PD_INTERVAL_LOST : 0,
		.foreign = open->foreign,
		.chain = by_end ? brief->callchain : (struct pd_u64s){ open->chain, open->chain_count },
		.end_chain = brief->callchain,
	};

	pairing->counts.intervals++;
	pairing->counts.lost += paired.flags != 0;
	return pairing->paired(pairing->self, &paired, error);
}

static enum pd_status end(struct pd_pairing *pairing, const struct pd_tracepoint_sample *sample, struct pd_error *error)
{
	uint64_t key[PD_PAIR_FIELDS], hash = read_key(pairing, PD_PAIR_ENDS, sample, key);
	uint32_t *at = pairing->head_count ? find(pairing, hash, key) : NULL, number = at ? *at : 0;
	struct pd_pair_open *open;

	if (!number) {
		// with what was lost its begin may have been, too
		*(pairing->losses ? &pairing->counts.unwoken : &pairing->counts.began_before) += 1;
		return PD_OK;
	}
	open = &pairing->open[number - 1];
	*at = open->next;
	open->next = pairing->free;
	pairing->free = number;
	pairing->open_count--;
	if (sample->brief.time_ns < open->begin_ns) {
		pairing->counts.out_of_order++;
		return PD_OK;
	}
	return report(pairing, open, sample, error);
}

// ---- from the begin to the end ----

enum pd_status pd_pairing_init(struct pd_pairing *pairing, struct pd_file *file, const struct pd_pair *pair,
			       struct pd_error *error)
{
	pairing->pair = pair;
	pairing->seed = pd_hash_secret();
	pairing->same_event = !strcmp(pair->events[PD_PAIR_BEGINS], pair->events[PD_PAIR_ENDS]);
	if (!place_fields(pairing))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pair: more than %d fields of one event",
			       PD_TRACEPOINT_FIELDS);
	return pd_tracepoints_init(&pairing->points, file, pairing->table, pairing->same_event ? 1 : PD_PAIR_SIDES,
				   error);
}

static void count_lost(struct pd_pairing *pairing, const struct pd_record *record)
{
	const struct pd_lost *lost = record->type == PD_RECORD_LOST ? pd_as_lost(record) : NULL;

	pairing->losses += record->type == PD_RECORD_LOST;
	pairing->counts.lost_records += lost ? lost->lost : 0;
}

enum pd_status pd_pairing_take(struct pd_pairing *pairing, const struct pd_record *record, struct pd_error *error)
{
	struct pd_tracepoint_sample sample;
	enum pd_status status = pd_tracepoints_take(&pairing->points, record, &sample, error);

	count_lost(pairing, record);
	if (status != PD_OK)
		return status < 0 ? status : PD_OK;
	if (pairing->same_event || sample.which == PD_PAIR_ENDS)
		status = end(pairing, &sample, error);
	if (status >= 0 && (pairing->same_event || sample.which == PD_PAIR_BEGINS))
		status = begin(pairing, &sample, error);
	return status;
}

enum pd_status pd_pairing_finish(struct pd_pairing *pairing, struct pd_error *error)
{
	pairing->counts.not_ended = pairing->open_count;
	pairing->counts.unreadable = pairing->points.unreadable;
	for (unsigned side = 0; side < PD_PAIR_SIDES; side++)
		if (!(pairing->points.found & UINT64_C(1) << (pairing->same_event ? 0 : side)))
			return pd_fail(error, PD_ERROR_NO_SAMPLES, PD_NO_OFFSET, "pair: there are no samples of '%s'",
				       pairing->pair->events[side]);
	return PD_OK;
}

void pd_pairing_fini(struct pd_pairing *pairing)
{
	pd_tracepoints_fini(&pairing->points);
	for (size_t i = 0; i < pairing->count; i++)
		pd_free(pairing->open[i].chain);
	pd_free(pairing->open);
	pd_free(pairing->heads);
	*pairing = (struct pd_pairing){ 0 };
}
