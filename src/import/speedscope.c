/* SPDX-License-Identifier: MIT */
/*
 * Files of speedscope: profiles of samples with weights, and of functions that begin and end. In the latter, the time between two
 * changes of the stack is one sample of the stack. A profile named "comm pid/tid (event)" is of that thread and event, as perfdata
 * export writes it.
 */
#include <string.h>

#include "base/error.h"
#include "import/builder.h"
#include "import/import.h"
#include "import/input.h"
#include "import/json.h"

enum {
	DEEPEST = 1 << 16 // stack
};

struct profile {
	struct pd_cursor samples, weights, events; // where these arrays begin; at NULL: there are none
	bool nanoseconds;
	uint64_t factor; // to whole numbers
	uint64_t start;
	uint32_t event;
};

struct speedscope {
	struct pd_input input;
	struct pd_builder builder;
	struct pd_text *key, *value, *name;
	uint32_t *frames; // numbers of names in `names`
	size_t frame_count, frame_capacity;
	struct pd_strings names;
	uint64_t *chain;
	size_t capacity;
	size_t stack_size;
};

static bool out_of_memory(struct speedscope *self)
{
	if (self->builder.status >= 0)
		self->builder.status = pd_fail_memory(self->builder.error);
	return false;
}

// ---- frames ----

static void take_frame(struct speedscope *self, struct pd_cursor *c)
{
	uint32_t number;

	pd_text_clear(self->name);
	if (!pd_json_enter(c, '{'))
		return;
	while (pd_json_member(c, self->key)) {
		if (pd_json_is(self->key, "name"))
			pd_json_take_string(c, self->name);
		else
			pd_json_skip(c);
	}
	number = pd_strings_add(&self->names, &self->builder.arena, self->name->size ? self->name->data : "",
				self->name->size ? strnlen(self->name->data, self->name->size) : 0);
	if (number == PD_INDEX_END || !PD_GROW(self->frames, self->frame_capacity, self->frame_count + 1)) {
		out_of_memory(self);
		return;
	}
	self->frames[self->frame_count++] = number;
}

static void read_frames(struct speedscope *self, struct pd_cursor *c)
{
	if (!pd_json_enter(c, '{'))
		return;
	while (self->builder.status >= 0 && pd_json_member(c, self->key)) {
		if (!pd_json_is(self->key, "frames")) {
			pd_json_skip(c);
			continue;
		}
		if (!pd_json_enter(c, '['))
			return;
		while (self->builder.status >= 0 && pd_json_item(c))
			take_frame(self, c);
	}
}

// ---- samples ----

static bool push(struct speedscope *self, uint64_t frame)
{
	const char *name;

	if (frame >= self->frame_count) {
		self->builder.status = pd_fail(self->builder.error, PD_ERROR_FORMAT, PD_NO_OFFSET,
					       "%s: no file of speedscope: a frame that does not exist",
					       self->input.name);
		return false;
	}
	if (self->stack_size >= DEEPEST) {
		self->builder.status = pd_fail(self->builder.error, PD_ERROR_LIMIT, PD_NO_OFFSET,
					       "%s: a stack has more than 65536 functions", self->input.name);
		return false;
	}
	if (!PD_GROW(self->chain, self->capacity, self->stack_size + 1))
		return out_of_memory(self);
	name = self->names.items[self->frames[frame]];
	self->chain[self->stack_size++] = pd_builder_function(&self->builder, name, strlen(name));
	return self->builder.status >= 0;
}

// The stack is kept from the outermost function on.
static void add_sample(struct speedscope *self, struct pd_builder_sample *sample, uint64_t weight)
{
	size_t count = self->stack_size;
	static const char unknown[] = "[unknown]";

	if (!count)
		sample->chain = &(uint64_t){ pd_builder_function(&self->builder, unknown, strlen(unknown)) };
	for (size_t i = 0; i < count / 2; i++) {
		uint64_t other = self->chain[i];

		self->chain[i] = self->chain[count - 1 - i];
		self->chain[count - 1 - i] = other;
	}
	if (count)
		sample->chain = self->chain;
	sample->count = count ? count : 1;
	sample->period = weight;
	if (self->builder.status >= 0)
		pd_builder_sample(&self->builder, sample);
	for (size_t i = 0; i < count / 2; i++) {
		uint64_t other = self->chain[i];

		self->chain[i] = self->chain[count - 1 - i];
		self->chain[count - 1 - i] = other;
	}
}

static void read_sampled(struct speedscope *self, struct profile *profile, struct pd_builder_sample *sample)
{
	struct pd_cursor *c = &profile->samples, *w = &profile->weights;
	uint64_t frame, weight;
	bool is_negative = false;

	if (!pd_json_enter(c, '[') || (w->at && !pd_json_enter(w, '[')))
		return;
	while (self->builder.status >= 0 && pd_json_item(c)) {
		self->stack_size = 0;
		if (!pd_json_enter(c, '['))
			return;
		while (pd_json_item(c))
			if (!pd_json_take_number(c, 1, &frame) || !push(self, frame))
				return;
		weight = 1;
		if (w->at) {
			bool is_there = pd_json_item(w);

			// differences of profiles have such
			is_negative = is_there && *w->at == '-';
			if (!is_there || !pd_json_take_number(w, profile->factor, &weight)) {
				pd_cursor_fail(c, "samples and weights differ in number");
				return;
			}
		}
		self->builder.result->left_out += is_negative;
		if (!is_negative)
			add_sample(self, sample, weight);
	}
}

static bool read_event(struct speedscope *self, struct pd_cursor *c, uint64_t factor, bool *opens_out, uint64_t *at_out,
		       uint64_t *frame_out)
{
	*opens_out = false;
	*at_out = *frame_out = 0;
	if (!pd_json_enter(c, '{'))
		return false;
	while (pd_json_member(c, self->key)) {
		if (pd_json_is(self->key, "type") && pd_json_take_string(c, self->value))
			*opens_out = pd_json_is(self->value, "O");
		else if (pd_json_is(self->key, "at"))
			pd_json_take_number(c, factor, at_out);
		else if (pd_json_is(self->key, "frame"))
			pd_json_take_number(c, 1, frame_out);
		else if (!pd_json_is(self->key, "type"))
			pd_json_skip(c);
	}
	return !c->failed;
}

static void read_evented(struct speedscope *self, struct profile *profile, struct pd_builder_sample *sample)
{
	struct pd_cursor *c = &profile->events;
	uint64_t last = profile->start, at, frame;
	bool opens;

	self->stack_size = 0;
	if (!pd_json_enter(c, '['))
		return;
	while (self->builder.status >= 0 && pd_json_item(c)) {
		if (!read_event(self, c, profile->factor, &opens, &at, &frame))
			return;
		if (at > last && self->stack_size)
			add_sample(self, sample, at - last);
		last = at > last ? at : last;
		if (opens)
			push(self, frame);
		else if (self->stack_size)
			self->stack_size--;
	}
}

// ---- profiles ----

static void set_unit(struct profile *profile, const struct pd_text *unit)
{
	static const struct {
		const char *name;
		uint64_t factor;
	} units[] = {
		{ "nanoseconds", 1 }, { "microseconds", 1000 }, { "milliseconds", 1000000 }, { "seconds", 1000000000 }
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (pd_json_is(unit, units[i].name)) {
			profile->nanoseconds = true;
			profile->factor = units[i].factor;
		}
}

// Where its arrays are, and its name in self->name. Numbers are read when the unit is known.
static bool find_profile(struct speedscope *self, struct pd_cursor *c, struct profile *profile)
{
	struct pd_cursor start = { .at = NULL };

	*profile = (struct profile){ .factor = 1 };
	pd_text_clear(self->name);
	if (!pd_json_enter(c, '{'))
		return false;
	while (pd_json_member(c, self->key)) {
		bool is_name = pd_json_is(self->key, "name"), is_unit = pd_json_is(self->key, "unit");

		if (is_name || is_unit) {
			pd_json_take_string(c, is_name ? self->name : self->value);
			if (is_unit)
				set_unit(profile, self->value);
			continue;
		}
		if (pd_json_is(self->key, "samples"))
			profile->samples = *c;
		else if (pd_json_is(self->key, "weights"))
			profile->weights = *c;
		else if (pd_json_is(self->key, "events"))
			profile->events = *c;
		else if (pd_json_is(self->key, "startValue"))
			start = *c;
		pd_json_skip(c);
	}
	if (start.at)
		pd_json_take_number(&start, profile->factor, &profile->start);
	return !c->failed && self->builder.status >= 0;
}

// "comm 12/13 (event)": the parts, as far as they are there.
static void take_name(struct speedscope *self, const struct profile *profile, struct pd_builder_sample *sample)
{
	const char *text = self->name->data, *slash;
	size_t size = self->name->size, at;
	uint64_t numbers[2] = { 0, 0 };
	const char *event = "samples";
	size_t event_size = strlen(event);
	const char *open = size ? memrchr(text, '(', size) : NULL;

	if (open && open > text + 1 && open[-1] == ' ' && text[size - 1] == ')') {
		event = open + 1;
		event_size = (size_t)(text + size - 1 - event);
		size = (size_t)(open - text) - 1;
	}
	sample->event = pd_builder_event(&self->builder, event, event_size, profile->nanoseconds);
	slash = size ? memrchr(text, '/', size) : NULL;
	at = size;
	for (unsigned i = 2; slash && i-- > 0;) {
		size_t end = at;
		uint64_t place = 1;

		for (; at && text[at - 1] >= '0' && text[at - 1] <= '9' && end - at < 9; at--, place *= 10)
			numbers[i] += place * (uint64_t)(text[at - 1] - '0');
		if (end == at || !at || text[at - 1] != (i ? '/' : ' '))
			slash = NULL;
		at -= at != 0;
	}
	sample->pid = (uint32_t)numbers[0];
	sample->tid = (uint32_t)numbers[1];
	if (slash)
		pd_builder_thread(&self->builder, sample->pid, sample->tid, text, at);
	else
		sample->pid = sample->tid = pd_builder_numberless_thread(&self->builder, text, size);
}

static void read_profiles(struct speedscope *self, struct pd_cursor *c)
{
	struct profile profile;

	if (!pd_json_enter(c, '['))
		return;
	while (self->builder.status >= 0 && pd_json_item(c) && find_profile(self, c, &profile)) {
		struct pd_builder_sample sample = { .event = 0 };

		if (!profile.samples.at && !profile.events.at)
			continue;
		take_name(self, &profile, &sample);
		if (profile.samples.at)
			read_sampled(self, &profile, &sample);
		else
			read_evented(self, &profile, &sample);
		if (profile.samples.failed || profile.weights.failed || profile.events.failed)
			pd_cursor_fail(c, profile.samples.failed ? profile.samples.reason :
					  profile.weights.failed ? profile.weights.reason :
								   profile.events.reason);
	}
}

// Frames first, wherever they stand.
static void read_file(struct speedscope *self, struct pd_bytes bytes)
{
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, false), profiles = { .at = NULL };

	pd_builder_limit(&self->builder, bytes.size);
	if (pd_json_enter(&c, '{'))
		while (self->builder.status >= 0 && pd_json_member(&c, self->key)) {
			if (pd_json_is(self->key, "shared")) {
				read_frames(self, &c);
				continue;
			}
			if (pd_json_is(self->key, "profiles"))
				profiles = c;
			pd_json_skip(&c);
		}
	if (!c.failed && profiles.at && self->builder.status >= 0) {
		read_profiles(self, &profiles);
		c = profiles;
	} else {
		pd_cursor_fail(&c, "it has no profiles");
	}
	if (pd_text_failed(self->key) || pd_text_failed(self->value) || pd_text_failed(self->name))
		out_of_memory(self);
	if (c.failed && self->builder.status >= 0)
		self->builder.status = pd_fail(self->builder.error, PD_ERROR_FORMAT, (uint64_t)(c.failed_at - c.start),
					       "%s: byte %zu: no file of speedscope: %s", self->input.name,
					       (size_t)(c.failed_at - c.start), c.reason);
}

enum pd_status pd_import_speedscope(const struct pd_import_options *options, struct pd_writer *writer,
				    struct pd_import_result *result, struct pd_error *error)
{
	struct speedscope self = { .key = pd_text_new(), .value = pd_text_new(), .name = pd_text_new() };
	struct pd_bytes bytes;

	pd_input_init(&self.input, options, error);
	pd_builder_init(&self.builder, writer, options, result, error);
	if (!self.key || !self.value || !self.name)
		out_of_memory(&self);
	if (self.builder.status >= 0 && pd_input_rest(&self.input, &bytes))
		read_file(&self, bytes);
	pd_free(self.frames);
	pd_free(self.chain);
	pd_strings_fini(&self.names);
	pd_builder_fini(&self.builder);
	pd_input_fini(&self.input);
	pd_text_free(self.key);
	pd_text_free(self.value);
	pd_text_free(self.name);
	return self.input.status < 0 ? self.input.status : self.builder.status;
}
