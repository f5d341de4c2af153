/* SPDX-License-Identifier: MIT */
/*
 * Samples printed by several threads, in parts of the time. Each thread has a script of its own, with what is made as lines
 * are printed; what is known of the file is shared. Text is written at once where all before it is written, else it waits
 * in memory, and where there is much of it its thread waits.
 */
#include "script.h"

#include "parts.h"

#include <stdlib.h>
#include <string.h>

enum {
	WAITING_MOST = 32 << 20 /* bytes of text that one thread keeps */
};

struct hands {
	struct script *script;
	pthread_mutex_t symbols; /* over script->symbols */
	pthread_mutex_t lock;    /* over what follows, and the output */
	pthread_cond_t changed;
	uint64_t turn; /* part that is written at once */
	bool shared;
	struct hand *own; /* of the thread that called */
};

struct hand {
	struct hands *hands;
	struct script *script;
	uint64_t part;
	bool has_turn;
	bool failed;
	char *text; /* that waits */
	size_t size, room;
	char apart[PARTS_APART];
};

void hands_lock(struct hands *hands)
{
	pthread_mutex_lock(&hands->symbols);
}

void hands_unlock(struct hands *hands)
{
	pthread_mutex_unlock(&hands->symbols);
}

/* ---- text ---- */

static void take_turn(struct hand *hand, bool waits)
{
	struct hands *hands = hand->hands;

	if (hand->has_turn)
		return;
	pthread_mutex_lock(&hands->lock);
	while (waits && hands->turn != hand->part)
		pthread_cond_wait(&hands->changed, &hands->lock);
	hand->has_turn = hands->turn == hand->part;
	pthread_mutex_unlock(&hands->lock);
}

static void give_turn(struct hand *hand)
{
	struct hands *hands = hand->hands;

	pthread_mutex_lock(&hands->lock);
	hands->turn++;
	hand->has_turn = false;
	pthread_cond_broadcast(&hands->changed);
	pthread_mutex_unlock(&hands->lock);
}

/* Only who has the turn. */
static void write_text(struct hand *hand, const char *bytes, size_t size)
{
	struct output *out = hand->hands->script->input.out;

	if (size)
		output_put(out, bytes, size);
	hand->failed |= out->failure != 0;
}

static void write_waiting(struct hand *hand)
{
	write_text(hand, hand->text, hand->size);
	hand->size = 0;
}

static bool keep_text(struct hand *hand, const char *bytes, size_t size)
{
	size_t room = hand->room ? hand->room : 1 << 20;
	char *text;

	while (room < hand->size + size)
		room *= 2;
	if (room > hand->room) {
		text = realloc(hand->text, room);
		if (!text)
			return false;
		hand->text = text;
		hand->room = room;
	}
	memcpy(hand->text + hand->size, bytes, size);
	hand->size += size;
	return true;
}

/* Does not wait: symbols may be locked, and who has the turn may want them. */
static void take_text(void *self, const char *bytes, size_t size)
{
	struct hand *hand = self;

	take_turn(hand, false);
	if (hand->has_turn) {
		write_waiting(hand);
		write_text(hand, bytes, size);
	} else if (!keep_text(hand, bytes, size)) {
		hand->script->status = PD_ERROR_MEMORY;
		hand->failed = true;
	}
}

bool hand_goes_on(struct hand *hand)
{
	if (hand->size > WAITING_MOST) {
		take_turn(hand, true);
		write_waiting(hand);
	}
	return !hand->failed;
}

/* ---- the sink ---- */

static enum pd_status fail(const struct script *script, struct pd_error *error)
{
	if (error)
		*error = script->error;
	return script->status < 0 ? script->status : PD_ERROR_STOPPED;
}

static enum pd_status print(void *self, struct pd_stream *stream, const struct pd_record *record,
			    struct pd_error *error)
{
	struct hand *hand = self;

	(void)stream;
	hand->script->samples += record->type == PD_RECORD_SAMPLE;
	return script_print(hand->script, record) ? PD_OK : fail(hand->script, error);
}

static enum pd_status begin_part(void *self, uint64_t number, struct pd_error *error)
{
	struct hand *hand = self;

	(void)error;
	hand->part = number;
	return PD_OK;
}

static enum pd_status end_part(void *self, uint64_t number, struct pd_error *error)
{
	struct hand *hand = self;

	(void)number;
	if (!hand->hands->shared)
		return PD_OK;
	line_flush(&hand->script->line);
	take_turn(hand, true);
	write_waiting(hand);
	give_turn(hand);
	return hand->failed ? fail(hand->script, error) : PD_OK;
}

static struct hand *hand_new(struct hands *hands, struct script *script)
{
	struct hand *hand = calloc(1, sizeof(*hand));

	if (!hand)
		return NULL;
	hand->hands = hands;
	hand->script = script;
	return hand;
}

static void share(struct hand *hand)
{
	hand->script->hand = hand;
	hand->script->line.take = take_text;
	hand->script->line.self = hand;
}

/* What is made as lines are printed is made anew, but the texts of addresses. */
static void begin_anew(struct script *script)
{
	script->looks = NULL;
	script->look_count = 0;
	script->views = NULL;
	script->last_values = NULL;
	script->value_slots = script->value_count = 0;
	script->line.used = 0;
	script->printed = script->copied = script->samples = 0;
}

static void hand_free(struct hand *hand)
{
	if (!hand)
		return;
	if (hand->script != hand->hands->script) {
		script_sample_fini(hand->script);
		free(hand->script);
	}
	free(hand->text);
	free(hand);
}

static enum pd_status fork_hand(void *self, void **twin_out, struct pd_error *error)
{
	struct hand *hand = self, *twin;
	struct script *script = malloc(sizeof(*script));

	(void)error;
	if (!script)
		return PD_ERROR_MEMORY;
	memcpy(script, hand->script, sizeof(*script));
	begin_anew(script);
	if (!frames_join(&script->frames, &hand->script->frames)) {
		free(script);
		return PD_ERROR_MEMORY;
	}
	twin = hand_new(hand->hands, script);
	if (!twin) {
		frames_fini(&script->frames);
		free(script);
		return PD_ERROR_MEMORY;
	}
	share(twin);
	*twin_out = twin;
	return PD_OK;
}

static enum pd_status join_hand(void *self, void *other, struct pd_error *error)
{
	struct hand *hand = self, *twin = other;

	(void)error;
	hand->script->printed += twin->script->printed;
	hand->script->copied += twin->script->copied;
	hand->script->samples += twin->script->samples;
	hand_free(twin);
	return PD_OK;
}

/* ---- all of it ---- */

void hands_share(struct hands *hands)
{
	hands->shared = true;
	share(hands->own);
}

struct hands *hands_new(struct script *script, struct pd_sink *sink_out)
{
	struct hands *hands = calloc(1, sizeof(*hands));

	if (!hands)
		return NULL;
	hands->script = script;
	hands->own = hand_new(hands, script);
	if (!hands->own) {
		free(hands);
		return NULL;
	}
	pthread_mutex_init(&hands->symbols, NULL);
	pthread_mutex_init(&hands->lock, NULL);
	pthread_cond_init(&hands->changed, NULL);
	*sink_out = (struct pd_sink){ .size = sizeof(*sink_out),
				      .self = hands->own,
				      .record = print,
				      .fork = fork_hand,
				      .join = join_hand,
				      .begin_part = begin_part,
				      .end_part = end_part };
	return hands;
}

void hands_free(struct hands *hands)
{
	if (!hands)
		return;
	hands->script->hand = NULL;
	hands->script->line.take = NULL;
	hand_free(hands->own);
	pthread_cond_destroy(&hands->changed);
	pthread_mutex_destroy(&hands->lock);
	pthread_mutex_destroy(&hands->symbols);
	free(hands);
}
