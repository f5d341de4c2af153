/* SPDX-License-Identifier: MIT */
/*
 * From the entries of a profile to lines of named frames. A distinct address is named once. Names, frames and lines come in
 * the order of the entries, whatever threads there are.
 */
#include "stacks.h"

#include "parts.h"

#include <perfdata/print.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	INLINED_MOST = 128, /* functions at one address */
	KNOWN_ROOTS = 64,
	WORTH_A_PART = 1 << 12, /* entries; for less a thread costs more */
	MOST_STEP = 4,          /* bytes of a character */
	MORE_FRAMES = 2,        /* of a line, beside those of its stack: event and root */
};

/* The frames of a distinct address, innermost first: places in frames. */
struct named {
	uint32_t frame; /* if there are several, where they begin */
	uint32_t count; /* 0: not named yet */
};

/* Frames that were made, by a number: one more than each, 0 if it was not made yet. */
struct drawn {
	uint32_t *items;
	size_t room;
};

/* The frame in front of the stacks of a thread. */
struct known_root {
	const struct pd_profile_entry *entry; /* NULL: nothing is here */
	uint32_t frame;
};

struct stacks {
	const struct stack_request *request;
	struct analysis *analysis;
	const struct pd_profile *profile; /* that of the analysis */
	struct tree *tree;                /* frames are added to it */
	struct stack_lines *lines;
	struct stack_result *result;
	struct pd_text *text;
	struct named *named; /* by frame of the profile */
	uint32_t *frames;
	size_t frame_count, frame_room;
	struct drawn functions; /* each twice: where it was inlined, too */
	struct drawn dsos;      /* where the function is not known */
	uint32_t most_named;    /* frames of an address */
	bool failed;            /* there was no memory */
};

bool stack_root_parse(const char *text, enum stack_root *root_out)
{
	static const char *const names[] = { "none", "comm", "pid", "tid", "cpu" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			*root_out = (enum stack_root)i;
			return true;
		}
	}
	complain("option --by: '%s' is not one of none, comm, pid, tid, cpu", text);
	return false;
}

bool stack_weight_parse(const char *text, enum stack_weight *weight_out)
{
	*weight_out = !text ? WEIGHT_NATURAL : !strcmp(text, "period") ? WEIGHT_PERIOD : WEIGHT_SAMPLES;
	if (!text || *weight_out == WEIGHT_PERIOD || !strcmp(text, "samples"))
		return true;
	complain("option --weight: '%s' is neither samples nor period", text);
	return false;
}

/* ---- names ---- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Where the arguments of a function begin: at the first parenthesis, but not at that of a namespace without a name, and not
 * in the names of Go's methods, net/http.(*Client).Do. */
static size_t without_arguments(const char *name)
{
	static const char nameless[] = "(anonymous namespace)";
	const char *go = strstr(name, ".(");
	const char *at = name;

	if (go && strstr(go, ")."))
		return strlen(name);
	while ((at = strchr(at, '(')) && !strncmp(at, nameless, sizeof(nameless) - 1))
		at++;
	return at ? (size_t)(at - name) : strlen(name);
}

/* As it can stand between semicolons on a line; 0 is for none. */
static char folded_char(const struct stack_style *style, char c)
{
	if (c == ';')
		return ':';
	return style->tidy && (c == '"' || c == '\'') ? 0 : c;
}

/* Adds a name so that it can stand between semicolons on a line. */
static void put_name(const struct stacks *stacks, const char *name, size_t length, bool java)
{
	const struct stack_style *style = &stacks->request->style;
	char piece[128];
	size_t size = 0;

	if (java && style->tidy && name[0] == 'L' && memchr(name, '/', length)) {
		name++;
		length--;
	}
	for (size_t i = 0, step; i < length && name[i]; i += step) {
		size_t plain = pd_text_plain(name + i, length - i);
		char c = plain == 1 ? folded_char(style, name[i]) : plain ? name[i] : '?';

		step = plain ? plain : 1;
		if (c) {
			memcpy(piece + size, name + i, step);
			piece[size] = c;
			size += step;
		}
		if (size + MOST_STEP > sizeof(piece) - 1) {
			piece[size] = 0;
			pd_text_add(stacks->text, piece);
			size = 0;
		}
	}
	piece[size] = 0;
	pd_text_add(stacks->text, piece);
}

static uint32_t text_index(const struct stacks *stacks)
{
	struct pd_bytes bytes = pd_text_bytes(stacks->text);
	uint32_t text;

	if (pd_text_failed(stacks->text))
		stacks->tree->failed = true;
	text = tree_text(stacks->tree, (const char *)bytes.data, bytes.size);
	pd_text_clear(stacks->text);
	return text;
}

static enum frame_kind kind_of(const struct pd_dso *dso, bool known, bool inlined)
{
	/* What is the kernel's is known even where its functions are not. */
	if (dso && dso->kernel)
		return FRAME_KERNEL;
	if (!dso || !known)
		return FRAME_UNKNOWN;
	if (inlined)
		return FRAME_INLINED;
	return dso->object && strncmp(dso->name, "jitted-", 7) != 0 ? FRAME_USER : FRAME_JIT;
}

static const char *mark_of(const struct stack_style *style, const struct pd_dso *dso, bool inlined)
{
	if (inlined && style->mark_inlined)
		return "_[i]";
	if (style->mark_kernel && dso && dso->kernel)
		return "_[k]";
	return style->mark_jit && dso && !dso->object ? "_[j]" : "";
}

static uint32_t folded_frame(const struct stacks *stacks, const struct pd_dso *dso, const struct pd_function *function,
			     bool inlined)
{
	const struct stack_style *style = &stacks->request->style;
	const char *name = function ? function->name : dso ? last_part(dso->long_name) : "unknown";

	if (!function)
		pd_text_add(stacks->text, "[");
	put_name(stacks, name, function && style->tidy ? without_arguments(name) : strlen(name), dso && !dso->object);
	if (!function)
		pd_text_add(stacks->text, "]");
	pd_text_add(stacks->text, mark_of(style, dso, inlined));
	return tree_frame(stacks->tree, text_index(stacks), 0, FRAME_USER);
}

static uint32_t drawn_frame(const struct stacks *stacks, const struct pd_dso *dso, const struct pd_function *function,
			    bool inlined)
{
	struct tree *tree = stacks->tree;
	enum frame_kind kind = kind_of(dso, function != NULL, inlined);
	uint32_t object = dso ? tree_text(tree, dso->name, strlen(dso->name)) : 0;

	if (function)
		pd_text_add(stacks->text, function->name);
	else if (dso && dso->name[0] == '[')
		pd_text_add(stacks->text, dso->name);
	else
		pd_text_printf(stacks->text, "[%s]", dso ? last_part(dso->name) : "unknown");
	if (function && kind != FRAME_KERNEL)
		kind = frame_kind_by_name(kind, function->name, dso ? dso->name : "");
	return tree_frame(tree, text_index(stacks), object, kind);
}

static uint32_t make_frame(const struct stacks *stacks, const struct pd_dso *dso, const struct pd_function *function,
			   bool inlined)
{
	return stacks->request->style.folded ? folded_frame(stacks, dso, function, inlined) :
					       drawn_frame(stacks, dso, function, inlined);
}

/* Where the frame of a number is kept; NULL if there is no memory. */
static uint32_t *drawn_at(struct drawn *drawn, size_t number)
{
	size_t room = drawn->room ? drawn->room : 1024;
	uint32_t *items;

	while (room <= number)
		room *= 2;
	if (room == drawn->room)
		return &drawn->items[number];
	items = realloc(drawn->items, room * sizeof(*items));
	if (!items)
		return NULL;
	memset(items + drawn->room, 0, (room - drawn->room) * sizeof(*items));
	drawn->items = items;
	drawn->room = room;
	return &items[number];
}

/* Names are long, places are many, functions and objects are few. */
static uint32_t frame_of(struct stacks *stacks, const struct pd_dso *dso, const struct pd_function *function,
			 bool inlined)
{
	uint32_t *drawn = NULL;

	if (function && function->dso == dso)
		drawn = drawn_at(&stacks->functions, function->index * 2 + inlined);
	else if (!function && dso)
		drawn = drawn_at(&stacks->dsos, dso->index);
	if (!drawn)
		return make_frame(stacks, dso, function, inlined);
	if (!*drawn)
		*drawn = make_frame(stacks, dso, function, inlined) + 1;
	return *drawn - 1;
}

static void add_frame(struct stacks *stacks, const struct pd_dso *dso, const struct pd_function *function, bool inlined)
{
	if (stacks->frame_count == stacks->frame_room) {
		size_t room = stacks->frame_room ? stacks->frame_room * 2 : 1024;
		uint32_t *frames = realloc(stacks->frames, room * sizeof(*frames));

		if (!frames) {
			stacks->tree->failed = true;
			return;
		}
		stacks->frames = frames;
		stacks->frame_room = room;
	}
	stacks->frames[stacks->frame_count++] = frame_of(stacks, dso, function, inlined);
}

static void name_frame(struct stacks *stacks, uint32_t index)
{
	struct named *named = &stacks->named[index];
	const struct pd_place *place = &pd_profile_frame(stacks->profile, index)->place;
	struct pd_line lines[INLINED_MOST];
	size_t start = stacks->frame_count, count;

	if (named->count)
		return;
	count = place->function ? pd_symbols_lines(stacks->analysis->symbols, place, lines, INLINED_MOST) : 0;
	for (size_t i = 0; i < count && i < INLINED_MOST; i++)
		add_frame(stacks, place->dso, lines[i].function, lines[i].inlined);
	if (!count)
		add_frame(stacks, place->dso, place->function, false);
	named->count = (uint32_t)(stacks->frame_count - start);
	named->frame = named->count == 1 ? stacks->frames[start] : (uint32_t)start;
	if (named->count > stacks->most_named)
		stacks->most_named = named->count;
}

/* ---- stacks ---- */

static size_t stack_size(const struct pd_stack *stack)
{
	return stack->caller_count ? stack->caller_count : 1;
}

/* Adds the frames of a stack to a line, innermost first. */
static void put_stack(const struct stacks *stacks, const struct pd_stack *stack, struct stack_lines *lines)
{
	const uint32_t *callers = stack->caller_count ? stack->callers : &stack->ip;
	size_t count = stack_size(stack);
	uint32_t *frames = lines_room(lines, count * stacks->most_named), *at = frames;

	for (size_t i = 0; frames && i < count; i++) {
		const struct named *named = &stacks->named[callers[i]];

		if (named->count == 1)
			*at++ = named->frame;
		for (uint32_t k = 0; named->count > 1 && k < named->count; k++)
			*at++ = stacks->frames[named->frame + k];
	}
	if (frames)
		lines->frame_count += (size_t)(at - frames);
}

static void reverse(uint32_t *frames, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++) {
		uint32_t swapped = frames[i];

		frames[i] = frames[--count];
		frames[count] = swapped;
	}
}

static void put_comm(const struct stacks *stacks, const char *comm)
{
	const struct stack_style *style = &stacks->request->style;
	size_t length = strlen(comm);

	if (!style->folded) {
		pd_text_add(stacks->text, comm);
		return;
	}
	for (size_t i = 0; i < length;) {
		size_t plain = pd_text_plain(comm + i, length - i);

		if (!plain)
			pd_text_add(stacks->text, "?");
		else if (comm[i] == ';' || (comm[i] == ' ' && style->join_blanks))
			pd_text_add(stacks->text, comm[i] == ';' ? ":" : "_");
		else
			pd_text_printf(stacks->text, "%.*s", (int)plain, comm + i);
		i += plain ? plain : 1;
	}
}

/* The frame in front of a stack; false if there is none. */
static bool root_frame(const struct stacks *stacks, const struct pd_profile_entry *entry, uint32_t *frame_out)
{
	enum stack_root root = stacks->request->root;

	if (root == ROOT_NONE)
		return false;
	if (root == ROOT_CPU && entry->cpu != UINT32_MAX)
		pd_text_printf(stacks->text, "CPU %" PRIu32, entry->cpu);
	else if (root == ROOT_CPU)
		pd_text_add(stacks->text, "unknown CPU");
	else
		put_comm(stacks, entry->comm ? entry->comm : "[unknown]");
	if (root == ROOT_PID)
		pd_text_printf(stacks->text, "-%" PRId32, (int32_t)entry->pid);
	if (root == ROOT_TID)
		pd_text_printf(stacks->text, "-%" PRId32 "/%" PRId32, (int32_t)entry->pid, (int32_t)entry->tid);
	*frame_out = tree_frame(stacks->tree, text_index(stacks), 0,
				stacks->request->style.folded ? FRAME_USER : FRAME_TASK);
	return true;
}

/* The frame of the event if it stands in front of all; false if there is none. */
static bool event_frame(const struct stacks *stacks, uint32_t event, uint32_t *frame_out)
{
	bool folded = stacks->request->style.folded;

	if (!stacks->request->event_frame || stacks->result->event_count < 2)
		return false;
	pd_text_add(stacks->text, "[");
	put_name(stacks, stacks->result->events[event], SIZE_MAX, false);
	pd_text_add(stacks->text, "]");
	*frame_out = tree_frame(stacks->tree, text_index(stacks), 0, folded ? FRAME_USER : FRAME_EVENT);
	return true;
}

/* ---- entries ---- */

/* What a stack asks for by name. */
enum use_kind {
	USE_EVENT,
	USE_ROOT,
	USE_FRAME
};

struct use {
	enum use_kind kind;
	uint32_t entry, frame;
};

/* Slices of time that have samples. */
struct times {
	uint32_t first, last, any;
	uint64_t step; /* what the distances have in common; 0: there is one at most */
};

/* A part has lines, counts and a path of its own; frames are named, and roots are found with a lock. */
struct part {
	struct stacks stacks;
	struct stack_result result;
	struct stack_lines lines;
	struct known_root roots[KNOWN_ROOTS];
	struct times times;
	struct use *uses; /* the first ones, in order */
	size_t use_count, use_room;
	size_t line_count, frame_count; /* that its lines will have if nothing was inlined */
	char apart[PARTS_APART];
};

struct lining {
	struct stacks *stacks;
	struct part *parts;
	size_t part_count, entry_count;
	pthread_mutex_t lock;   /* of the tree's frames and texts */
	uint32_t *event_frames; /* one more than the frame; 0: none */
};

static bool same_root(const struct pd_profile_entry *a, const struct pd_profile_entry *b)
{
	return a->comm == b->comm && a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu;
}

/* Where a part keeps the root of an entry. */
static struct known_root *known_root(struct part *part, const struct pd_profile_entry *entry)
{
	uint64_t hash = ((uintptr_t)entry->comm ^ (uint64_t)entry->pid << 32 ^ entry->tid ^ entry->cpu) *
			UINT64_C(0x9e3779b97f4a7c15);

	return &part->roots[(hash >> 32) % KNOWN_ROOTS];
}

static uint64_t value_of(const struct stacks *stacks, const struct pd_profile_entry *entry)
{
	const struct tree_source *values = &stacks->result->values;
	uint32_t event = values->event_index[entry->event->index];

	return values->units[event] == PD_UNIT_SAMPLES ? entry->samples : entry->period;
}

static bool is_wanted(const struct stacks *stacks, const struct pd_profile_entry *entry)
{
	const struct pd_stack *stack = pd_profile_stack(stacks->profile, entry->stack);
	const struct select *select = &stacks->analysis->select;

	return !select_by_place(select) ||
	       select_has_place(select, &pd_profile_frame(stacks->profile, stack->ip)->place);
}

static void range_of(const struct lining *lining, size_t part, size_t *begin_out, size_t *end_out)
{
	*begin_out = part_begin(lining->entry_count, lining->part_count, part);
	*end_out = part_begin(lining->entry_count, lining->part_count, part + 1);
}

/* ---- slices of time ---- */

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static uint64_t step_with(uint64_t step, uint32_t a, uint32_t b)
{
	return step == 1 ? 1 : gcd(step, a < b ? b - a : a - b);
}

static void join_times(struct times *times, const struct times *more)
{
	if (more->any == UINT32_MAX)
		return;
	if (times->any == UINT32_MAX)
		times->any = more->any;
	times->first = more->first < times->first ? more->first : times->first;
	times->last = more->last > times->last ? more->last : times->last;
	times->step = step_with(gcd(times->step, more->step), times->any, more->any);
}

static const struct times no_times = { .first = UINT32_MAX, .any = UINT32_MAX };

static void find_times(const struct lining *lining, size_t number)
{
	struct times *times = &lining->parts[number].times;
	size_t begin, end, count;

	range_of(lining, number, &begin, &end);
	*times = no_times;
	for (size_t i = begin; i < end; i++) {
		const struct pd_slice *slices = pd_profile_slices(lining->stacks->profile, i, &count);
		struct times of_entry = no_times;

		/* Samples without a time are the last ones. */
		while (count && slices[count - 1].index == UINT32_MAX)
			count--;
		if (count)
			of_entry = (struct times){ slices[0].index, slices[count - 1].index, slices[0].index, 0 };
		for (size_t k = 1; k < count && times->step != 1 && of_entry.step != 1; k++)
			of_entry.step = step_with(of_entry.step, slices[0].index, slices[k].index);
		join_times(times, &of_entry);
	}
}

/* Time begins with the first slice that has samples, and slices are as long as what their distances have in common. */
static void set_times(const struct lining *lining)
{
	struct stack_result *result = lining->stacks->result;
	uint64_t start_ns, length_ns = pd_profile_slicing(lining->stacks->profile, &start_ns);
	struct times times = no_times;

	for (size_t i = 0; i < lining->part_count; i++)
		join_times(&times, &lining->parts[i].times);
	if (!times.step)
		return;
	while ((times.last - times.first) / times.step >= TREE_SLICES_MOST)
		times.step *= 2;
	result->values.first_slice = times.first;
	result->values.slice_step = (uint32_t)times.step;
	result->first_ns = start_ns + times.first * length_ns;
	result->slice_ns = length_ns * times.step;
	result->slice_count = (size_t)((times.last - times.first) / times.step) + 1;
}

/* ---- names in order ---- */

static void add_use(struct part *part, enum use_kind kind, size_t entry, uint32_t frame)
{
	if (part->use_count == part->use_room) {
		size_t room = part->use_room ? part->use_room * 2 : 256;
		struct use *uses = realloc(part->uses, room * sizeof(*uses));

		if (!uses) {
			part->stacks.failed = true;
			return;
		}
		part->uses = uses;
		part->use_room = room;
	}
	part->uses[part->use_count++] = (struct use){ kind, (uint32_t)entry, frame };
}

static void use_frame(struct part *part, bool *met, size_t entry, uint32_t frame)
{
	if (met[frame])
		return;
	met[frame] = true;
	add_use(part, USE_FRAME, entry, frame);
}

static void use_stack(struct part *part, bool *met, size_t entry, const struct pd_stack *stack)
{
	if (!stack->caller_count)
		use_frame(part, met, entry, stack->ip);
	for (size_t i = 0; i < stack->caller_count; i++)
		use_frame(part, met, entry, stack->callers[i]);
}

static void use_root(struct part *part, size_t index, const struct pd_profile_entry *entry)
{
	struct known_root *root = known_root(part, entry);

	if (part->stacks.request->root == ROOT_NONE || (root->entry && same_root(root->entry, entry)))
		return;
	root->entry = entry;
	add_use(part, USE_ROOT, index, 0);
}

/* Finds what is used first in a part, in the order of its stacks. */
static void find_uses(void *self, size_t number)
{
	struct lining *lining = self;
	struct part *part = &lining->parts[number];
	const struct pd_profile *profile = part->stacks.profile;
	bool *met = calloc(pd_profile_frame_count(profile) + 1, sizeof(*met));
	const struct pd_event *event = NULL;
	size_t begin, end;

	if (part->stacks.request->slices)
		find_times(lining, number);
	range_of(lining, number, &begin, &end);
	for (size_t i = begin; met && i < end; i++) {
		const struct pd_profile_entry *entry = pd_profile_entry(profile, i);

		if (!value_of(&part->stacks, entry) || !is_wanted(&part->stacks, entry))
			continue;
		if (entry->event != event)
			add_use(part, USE_EVENT, i, 0);
		event = entry->event;
		part->line_count++;
		part->frame_count += stack_size(pd_profile_stack(profile, entry->stack)) + MORE_FRAMES;
		if (!part->stacks.request->reverse)
			use_root(part, i, entry);
		use_stack(part, met, i, pd_profile_stack(profile, entry->stack));
		if (part->stacks.request->reverse)
			use_root(part, i, entry);
	}
	part->stacks.failed |= !met;
	memset(part->roots, 0, sizeof(part->roots));
	free(met);
}

static void name_event(struct lining *lining, const struct pd_profile_entry *entry)
{
	uint32_t event = lining->stacks->result->values.event_index[entry->event->index];
	uint32_t *frame = &lining->event_frames[event];

	if (!*frame && event_frame(lining->stacks, event, frame))
		++*frame;
}

static void name_uses(struct lining *lining, struct part *part)
{
	struct stacks *stacks = lining->stacks;
	uint32_t frame;

	for (size_t i = 0; i < part->use_count; i++) {
		const struct use *use = &part->uses[i];
		const struct pd_profile_entry *entry = pd_profile_entry(stacks->profile, use->entry);

		if (use->kind == USE_EVENT)
			name_event(lining, entry);
		else if (use->kind == USE_ROOT)
			root_frame(stacks, entry, &frame);
		else
			name_frame(stacks, use->frame);
	}
	stacks->tree->failed |= part->stacks.failed;
	free(part->uses);
	part->uses = NULL;
}

/* ---- lines ---- */

/* As root_frame, in a part. */
static bool part_root(struct lining *lining, struct part *part, const struct pd_profile_entry *entry,
		      uint32_t *frame_out)
{
	struct known_root *root = known_root(part, entry);

	if (part->stacks.request->root == ROOT_NONE)
		return false;
	if (!root->entry || !same_root(root->entry, entry)) {
		pthread_mutex_lock(&lining->lock);
		root_frame(lining->stacks, entry, &root->frame);
		pthread_mutex_unlock(&lining->lock);
		root->entry = entry;
	}
	*frame_out = root->frame;
	return true;
}

/* The stack of an entry as a line. */
static void add_line(struct lining *lining, struct part *part, size_t index, const struct pd_profile_entry *entry)
{
	struct stacks *stacks = &part->stacks;
	struct stack_lines *lines = &part->lines;
	uint32_t event = lining->event_frames[stacks->result->values.event_index[entry->event->index]], root = 0;
	bool rooted = part_root(lining, part, entry, &root), inwards = !stacks->request->reverse;
	size_t start;

	if (event)
		lines_frame(lines, event - 1);
	if (rooted && inwards)
		lines_frame(lines, root);
	start = lines->frame_count;
	put_stack(stacks, pd_profile_stack(stacks->profile, entry->stack), lines);
	if (inwards)
		reverse(lines->frames + start, lines->frame_count - start);
	if (rooted && !inwards)
		lines_frame(lines, root);
	lines_end(lines, value_of(stacks, entry), (uint32_t)index);
}

static void count_doubt(const struct stacks *stacks, const struct pd_profile_entry *entry)
{
	const struct pd_stack *stack = pd_profile_stack(stacks->profile, entry->stack);
	uint32_t leaf = stack->caller_count ? stack->callers[0] : stack->ip;
	struct stack_result *result = stacks->result;

	result->samples += entry->samples;
	result->cut += stack->cut ? entry->samples : 0;
	result->damaged += stack->damaged ? entry->samples : 0;
	if (!pd_profile_frame(stacks->profile, leaf)->place.function)
		result->unknown += entry->samples;
}

static void add_part(void *self, size_t number)
{
	struct lining *lining = self;
	struct part *part = &lining->parts[number];
	size_t begin, end;

	range_of(lining, number, &begin, &end);
	lines_expect(&part->lines, part->line_count, part->frame_count);
	for (size_t i = begin; i < end; i++) {
		const struct pd_profile_entry *entry = pd_profile_entry(lining->stacks->profile, i);

		if (!is_wanted(&part->stacks, entry))
			continue;
		count_doubt(&part->stacks, entry);
		if (value_of(&part->stacks, entry))
			add_line(lining, part, i, entry);
	}
}

static void join_part(struct lining *lining, struct part *part)
{
	struct stack_result *result = lining->stacks->result;

	result->samples += part->result.samples;
	result->cut += part->result.cut;
	result->damaged += part->result.damaged;
	result->unknown += part->result.unknown;
}

static bool make_parts(struct lining *lining)
{
	struct stacks *stacks = lining->stacks;

	while (pd_profile_entry(stacks->profile, lining->entry_count))
		lining->entry_count++;
	lining->part_count = part_count(thread_count(stacks->request->threads), lining->entry_count, WORTH_A_PART);
	lining->parts = calloc(lining->part_count, sizeof(*lining->parts));
	lining->event_frames = calloc(stacks->result->event_count + 1, sizeof(*lining->event_frames));
	if (!lining->parts || !lining->event_frames)
		return false;
	for (size_t i = 0; i < lining->part_count; i++)
		lining->parts[i].stacks = *stacks;
	return true;
}

static void name_parts(struct lining *lining)
{
	parts_do(lining->part_count, find_uses, lining);
	for (size_t i = 0; i < lining->part_count; i++)
		name_uses(lining, &lining->parts[i]);
	if (lining->stacks->request->slices)
		set_times(lining);
}

static void add_parts(struct lining *lining)
{
	struct stack_lines lines[PARTS_MOST];

	/* What was named stays where it is. */
	for (size_t i = 0; i < lining->part_count; i++) {
		struct part *part = &lining->parts[i];

		part->result.values = lining->stacks->result->values;
		part->stacks = *lining->stacks;
		part->stacks.result = &part->result;
	}
	parts_do(lining->part_count, add_part, lining);
	for (size_t i = 0; i < lining->part_count; i++) {
		join_part(lining, &lining->parts[i]);
		lines[i] = lining->parts[i].lines;
	}
	lines_join(lining->stacks->lines, lines, lining->part_count);
}

static void add_entries(struct stacks *stacks)
{
	struct lining lining = { .stacks = stacks };

	pthread_mutex_init(&lining.lock, NULL);
	if (make_parts(&lining)) {
		name_parts(&lining);
		if (!stacks->tree->failed)
			add_parts(&lining);
	} else {
		stacks->tree->failed = true;
	}
	stacks->tree->failed |= stacks->lines->failed;
	pthread_mutex_destroy(&lining.lock);
	free(lining.parts);
	free(lining.event_frames);
}

/* ---- reading ---- */

static uint32_t kept_apart(const struct stack_request *request)
{
	static const uint32_t roots[] = {
		[ROOT_NONE] = 0,
		[ROOT_COMM] = PD_BY_COMM,
		[ROOT_PID] = PD_BY_COMM | PD_BY_PID,
		[ROOT_TID] = PD_BY_COMM | PD_BY_PID | PD_BY_TID,
		[ROOT_CPU] = PD_BY_CPU,
	};

	return roots[request->root] | PD_BY_CHAIN;
}

static enum pd_unit unit_of(enum stack_weight weight, const struct pd_profile_total *total)
{
	enum pd_unit unit = pd_event_unit(total->event);

	if (weight == WEIGHT_SAMPLES)
		return PD_UNIT_SAMPLES;
	if (weight == WEIGHT_PERIOD)
		return unit == PD_UNIT_SAMPLES ? PD_UNIT_EVENTS : unit;
	return total->period ? unit : PD_UNIT_SAMPLES;
}

bool stacks_add_up(const struct stack_result *result)
{
	for (size_t i = 1; i < result->event_count; i++)
		if (result->units[i] != result->units[0] || result->units[i] == PD_UNIT_EVENTS)
			return false;
	return true;
}

static bool list_events(struct stacks *stacks)
{
	struct stack_result *result = stacks->result;
	size_t count = pd_file_event_count(stacks->analysis->input.file);
	const struct pd_profile_total *total;

	result->values.event_index = calloc(count + 1, sizeof(*result->values.event_index));
	result->events = calloc(count + 1, sizeof(*result->events));
	result->units = calloc(count + 1, sizeof(*result->units));
	if (!result->values.event_index || !result->events || !result->units)
		return false;
	for (size_t i = 0; i < count && (total = pd_profile_total(stacks->profile, i)) != NULL; i++) {
		result->samples_in_file += total->samples + total->left_samples;
		result->copied += total->copied_stacks;
		if (!total->samples)
			continue;
		result->values.event_index[i] = (uint32_t)result->event_count;
		result->units[result->event_count] = unit_of(stacks->request->weight, total);
		result->events[result->event_count++] = total->event->name;
	}
	result->values.event_count = result->event_count;
	result->values.units = result->units;
	return true;
}

static int build(struct stacks *stacks)
{
	stacks->text = pd_text_new();
	stacks->named = calloc(pd_profile_frame_count(stacks->profile) + 1, sizeof(*stacks->named));
	if (!stacks->text || !stacks->named || !list_events(stacks)) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	add_entries(stacks);
	if (!stacks->tree->failed)
		return CODE_FINE;
	complain("out of memory");
	return CODE_UNREADABLE;
}

int stacks_read(struct analysis *analysis, const struct analysis_options *options, const struct stack_request *request,
		struct tree *tree, struct stack_lines *lines, struct stack_result *result)
{
	struct stacks stacks = {
		.request = request,
		.analysis = analysis,
		.tree = tree,
		.lines = lines,
		.result = result,
	};
	struct pd_profile_options profile = {
		.size = sizeof(profile),
		.by = kept_apart(request),
		.max_stack = request->max_stack,
		.slices = request->slices,
	};
	int code = analysis_read(analysis, options, &profile);

	memset(result, 0, sizeof(*result));
	if (code != CODE_FINE)
		return code;
	stacks.profile = analysis->profile;
	result->losses = *pd_profile_losses(stacks.profile);
	result->values.profile = stacks.profile;
	code = build(&stacks);
	if (code == CODE_FINE && !lines->count) {
		complain("%s: no samples match the filters", analysis->input.name);
		code = CODE_NOTHING;
	}
	pd_text_free(stacks.text);
	free(stacks.named);
	free(stacks.frames);
	free(stacks.functions.items);
	free(stacks.dsos.items);
	return code;
}

void stacks_fini(struct stack_result *result)
{
	free(result->events);
	free(result->units);
	free(result->values.event_index);
}
