/* SPDX-License-Identifier: MIT */
/*
 * From the entries of a profile to nodes of a tree. A distinct address is named once, a stack below one root walks the
 * tree once; entries that differ in time or event only add a value.
 */
#include "stacks.h"

#include "parts.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	INLINED_MOST = 128, /* functions at one address */
	SLICES_MOST = 200,
	KNOWN_ROOTS = 64,
	WORTH_A_PART = 1 << 12, /* entries; for less a thread costs more */
};

/* The frames of a distinct address, innermost first: places in frames. */
struct named {
	uint32_t start, count;
	bool done;
};

/* Where a stack below a root ended, when it was last met. */
struct known_end {
	uint32_t root, node;
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
	struct tree *tree;
	struct stack_result *result;
	struct pd_text *text;
	struct named *named; /* by frame of the profile */
	uint32_t *frames;
	size_t frame_count, frame_room;
	uint32_t *drawn; /* one more than the frame of a function, and of it where it was inlined; 0: not made yet */
	size_t drawn_room;
	struct known_end *ends; /* by stack */
	uint32_t *path;         /* of the present stack, innermost first */
	size_t path_room;
	bool path_failed; /* there was no memory for it */
	uint32_t *event_index;  /* by index in the file, of those that have samples */
	uint32_t first_slice;   /* of the profile's, with samples */
	uint64_t slice_step;    /* so many of them are one */
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

/* Adds a name so that it can stand between semicolons on a line. */
static void put_name(const struct stacks *stacks, const char *name, size_t length, bool java)
{
	const struct stack_style *style = &stacks->request->style;
	char one[2] = "";

	if (java && style->tidy && name[0] == 'L' && memchr(name, '/', length)) {
		name++;
		length--;
	}
	for (size_t i = 0; i < length && name[i]; i++) {
		one[0] = name[i];
		if (one[0] == ';')
			one[0] = ':';
		if ((unsigned char)one[0] < ' ' || one[0] == 0x7f)
			one[0] = '?';
		if (!style->tidy || (one[0] != '"' && one[0] != '\''))
			pd_text_add(stacks->text, one);
	}
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

static uint32_t folded_frame(const struct stacks *stacks, const struct pd_dso *dso,
			     const struct pd_function *function, bool inlined)
{
	const struct stack_style *style = &stacks->request->style;
	const char *name = function ? function->name : dso ? last_part(dso->long_name) : "unknown";

	if (!function)
		pd_text_add(stacks->text, "[");
	put_name(stacks, name, function && style->tidy ? without_arguments(name) : strlen(name),
		 dso && !dso->object);
	if (!function)
		pd_text_add(stacks->text, "]");
	pd_text_add(stacks->text, mark_of(style, dso, inlined));
	return tree_frame(stacks->tree, text_index(stacks), 0, FRAME_USER);
}

static uint32_t drawn_frame(const struct stacks *stacks, const struct pd_dso *dso,
			    const struct pd_function *function, bool inlined)
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

static bool make_drawn_room(struct stacks *stacks, size_t count)
{
	size_t room = stacks->drawn_room ? stacks->drawn_room : 1024;
	uint32_t *drawn;

	while (room < count)
		room *= 2;
	if (room == stacks->drawn_room)
		return true;
	drawn = realloc(stacks->drawn, room * sizeof(*drawn));
	if (!drawn)
		return false;
	memset(drawn + stacks->drawn_room, 0, (room - stacks->drawn_room) * sizeof(*drawn));
	stacks->drawn = drawn;
	stacks->drawn_room = room;
	return true;
}

/* Names are long, places are many, functions are few. */
static uint32_t frame_of(struct stacks *stacks, const struct pd_dso *dso, const struct pd_function *function, bool inlined)
{
	size_t at = function ? function->index * 2 + inlined : 0;

	if (!function || function->dso != dso || !make_drawn_room(stacks, at + 1))
		return make_frame(stacks, dso, function, inlined);
	if (!stacks->drawn[at])
		stacks->drawn[at] = make_frame(stacks, dso, function, inlined) + 1;
	return stacks->drawn[at] - 1;
}

static void add_frame(struct stacks *stacks, const struct pd_dso *dso, const struct pd_function *function,
		      bool inlined)
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

static const struct named *name_frame(struct stacks *stacks, uint32_t index)
{
	struct named *named = &stacks->named[index];
	const struct pd_place *place = &pd_profile_frame(stacks->profile, index)->place;
	struct pd_line lines[INLINED_MOST];
	size_t count;

	if (named->done)
		return named;
	named->done = true;
	named->start = (uint32_t)stacks->frame_count;
	count = place->function ? pd_symbols_lines(stacks->analysis->symbols, place, lines, INLINED_MOST) : 0;
	for (size_t i = 0; i < count && i < INLINED_MOST; i++)
		add_frame(stacks, place->dso, lines[i].function, lines[i].inlined);
	if (!count)
		add_frame(stacks, place->dso, place->function, false);
	named->count = (uint32_t)(stacks->frame_count - named->start);
	return named;
}

/* ---- stacks ---- */

static bool make_room(struct stacks *stacks, size_t count)
{
	uint32_t *path;

	if (count <= stacks->path_room)
		return true;
	path = realloc(stacks->path, count * 2 * sizeof(*path));
	if (!path) {
		stacks->path_failed = true;
		return false;
	}
	stacks->path = path;
	stacks->path_room = count * 2;
	return true;
}

static size_t append(struct stacks *stacks, size_t count, uint32_t frame)
{
	const struct named *named = name_frame(stacks, frame);

	if (!make_room(stacks, count + named->count))
		return count;
	memcpy(stacks->path + count, stacks->frames + named->start, named->count * sizeof(*stacks->path));
	return count + named->count;
}

static size_t fill_path(struct stacks *stacks, const struct pd_stack *stack)
{
	size_t count = 0;

	if (!stack->caller_count)
		return append(stacks, 0, stack->ip);
	for (size_t i = 0; i < stack->caller_count && !stacks->path_failed; i++)
		count = append(stacks, count, stack->callers[i]);
	return count;
}

static void put_comm(const struct stacks *stacks, const char *comm)
{
	const struct stack_style *style = &stacks->request->style;
	char one[2] = "";

	if (!style->folded) {
		pd_text_add(stacks->text, comm);
		return;
	}
	for (; *comm; comm++) {
		one[0] = *comm == ' ' && style->join_blanks ? '_' : *comm == ';' ? ':' : *comm;
		pd_text_add(stacks->text, (unsigned char)one[0] < ' ' || one[0] == 0x7f ? "?" : one);
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
		pd_text_add(stacks->text, "CPU not known");
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

/* The node of the event, or the root of the tree. */
static uint32_t event_node(const struct stacks *stacks, uint32_t event)
{
	uint32_t frame;

	return event_frame(stacks, event, &frame) ? tree_child(stacks->tree, 0, frame) : 0;
}

/* The node where the stack of an entry ends, from the root of the tree down. */
static uint32_t end_of(struct stacks *stacks, const struct pd_profile_entry *entry, uint32_t event)
{
	const struct pd_stack *stack = pd_profile_stack(stacks->profile, entry->stack);
	struct known_end *known = &stacks->ends[entry->stack];
	uint32_t node = event_node(stacks, event), frame = 0;
	size_t count;

	if (root_frame(stacks, entry, &frame))
		node = tree_child(stacks->tree, node, frame);
	if (known->root == node + 1)
		return known->node;
	known->root = node + 1;
	count = fill_path(stacks, stack);
	while (count)
		node = tree_child(stacks->tree, node, stacks->path[--count]);
	known->node = node;
	return node;
}

/* The same from the function that was sampled outwards. */
static uint32_t reverse_end_of(struct stacks *stacks, const struct pd_profile_entry *entry, uint32_t event)
{
	uint32_t node = event_node(stacks, event), frame = 0;
	size_t count = fill_path(stacks, pd_profile_stack(stacks->profile, entry->stack));

	for (size_t i = 0; i < count; i++)
		node = tree_child(stacks->tree, node, stacks->path[i]);
	return root_frame(stacks, entry, &frame) ? tree_child(stacks->tree, node, frame) : node;
}

/* ---- lines: the entries in parts ---- */

/* A part has lines, counts and a path of its own; frames are named, and roots are found with a lock. */
struct part {
	struct stacks stacks;
	struct stack_result result;
	struct stack_lines lines;
	struct known_root roots[KNOWN_ROOTS];
};

struct lining {
	struct stacks *stacks;
	struct part *parts;
	size_t part_count, entry_count;
	pthread_mutex_t lock; /* of the tree's frames and texts */
	uint32_t *event_frames; /* one more than the frame; 0: none */
};

static bool same_root(const struct pd_profile_entry *a, const struct pd_profile_entry *b)
{
	return a->comm == b->comm && a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu;
}

/* As root_frame, in a part. */
static bool part_root(struct lining *lining, struct part *part, const struct pd_profile_entry *entry, uint32_t *frame_out)
{
	uint64_t hash = ((uintptr_t)entry->comm ^ (uint64_t)entry->pid << 32 ^ entry->tid ^ entry->cpu) *
			UINT64_C(0x9e3779b97f4a7c15);
	struct known_root *root = &part->roots[(hash >> 32) % KNOWN_ROOTS];

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
static void add_line(struct lining *lining, struct part *part, const struct pd_profile_entry *entry, uint64_t value)
{
	struct stacks *stacks = &part->stacks;
	struct stack_lines *lines = &part->lines;
	bool reverse = stacks->request->reverse;
	uint32_t event = lining->event_frames[stacks->event_index[entry->event->index]], root;
	bool rooted;
	size_t count;

	if (event)
		lines_frame(lines, event - 1);
	rooted = part_root(lining, part, entry, &root);
	if (rooted && !reverse)
		lines_frame(lines, root);
	count = fill_path(stacks, pd_profile_stack(stacks->profile, entry->stack));
	for (size_t i = 0, j = count; !reverse && i + 1 < j; i++) {
		uint32_t swapped = stacks->path[i];

		stacks->path[i] = stacks->path[--j];
		stacks->path[j] = swapped;
	}
	lines_frames(lines, stacks->path, count);
	if (rooted && reverse)
		lines_frame(lines, root);
	lines_end(lines, value);
}

/* ---- entries ---- */

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Time begins with the first slice that has samples, and slices are as long as what their distances have in common. */
static void find_slices(struct stacks *stacks)
{
	struct stack_result *result = stacks->result;
	uint64_t start_ns, length_ns = pd_profile_slicing(stacks->profile, &start_ns), step = 0;
	uint32_t first = UINT32_MAX, last = 0;
	const struct pd_slice *slices;
	size_t count;

	for (size_t i = 0; pd_profile_entry(stacks->profile, i); i++) {
		slices = pd_profile_slices(stacks->profile, i, &count);
		while (count && slices[count - 1].index == UINT32_MAX)
			count--;
		if (count && slices[0].index < first)
			first = slices[0].index;
		if (count && slices[count - 1].index > last)
			last = slices[count - 1].index;
	}
	for (size_t i = 0; first < last && step != 1 && pd_profile_entry(stacks->profile, i); i++) {
		slices = pd_profile_slices(stacks->profile, i, &count);
		for (size_t k = 0; k < count && slices[k].index != UINT32_MAX; k++)
			step = gcd(step, slices[k].index - first);
	}
	if (!step)
		return;
	while ((last - first) / step >= SLICES_MOST)
		step *= 2;
	stacks->first_slice = first;
	stacks->slice_step = step;
	result->first_ns = start_ns + first * length_ns;
	result->slice_ns = length_ns * step;
	result->slice_count = (size_t)((last - first) / step) + 1;
}

/* What ended in a node, by slices of time. */
static void add_slices(struct stacks *stacks, size_t index, uint32_t node, uint16_t event)
{
	size_t count;
	const struct pd_slice *slices = pd_profile_slices(stacks->profile, index, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t value = stacks->request->period ? slices[i].period : slices[i].samples;
		uint16_t slice = 0;

		if (slices[i].index != UINT32_MAX)
			slice = (uint16_t)((slices[i].index - stacks->first_slice) / stacks->slice_step);
		if (value)
			tree_add(stacks->tree, node, event, slice, value);
	}
}

static bool list_events(struct stacks *stacks)
{
	struct stack_result *result = stacks->result;
	size_t count = pd_file_event_count(stacks->analysis->input.file);
	const struct pd_profile_total *total;

	stacks->event_index = calloc(count + 1, sizeof(*stacks->event_index));
	result->events = calloc(count + 1, sizeof(*result->events));
	if (!stacks->event_index || !result->events)
		return false;
	for (size_t i = 0; i < count && (total = pd_profile_total(stacks->profile, i)) != NULL; i++) {
		result->samples_in_file += total->samples + total->left_samples;
		if (!total->samples)
			continue;
		stacks->event_index[i] = (uint32_t)result->event_count;
		result->events[result->event_count++] = total->event->name;
	}
	return true;
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

static uint64_t value_of(const struct stacks *stacks, const struct pd_profile_entry *entry)
{
	return stacks->request->period ? entry->period : entry->samples;
}

static bool is_wanted(const struct stacks *stacks, const struct pd_profile_entry *entry)
{
	const struct pd_stack *stack = pd_profile_stack(stacks->profile, entry->stack);
	const struct select *select = &stacks->analysis->select;

	return !select_by_place(select) || select_has_place(select, &pd_profile_frame(stacks->profile, stack->ip)->place);
}

static void add_entries(struct stacks *stacks)
{
	const struct pd_profile_entry *entry;

	for (size_t i = 0; (entry = pd_profile_entry(stacks->profile, i)) != NULL && !stacks->tree->failed; i++) {
		uint32_t event = stacks->event_index[entry->event->index], node;
		uint64_t value = value_of(stacks, entry);

		if (!is_wanted(stacks, entry))
			continue;
		count_doubt(stacks, entry);
		if (!value)
			continue;
		node = (stacks->request->reverse ? reverse_end_of : end_of)(stacks, entry, event);
		if (stacks->result->slice_count)
			add_slices(stacks, i, node, (uint16_t)event);
		else
			tree_add(stacks->tree, node, (uint16_t)event, 0, value);
	}
}

static void add_part(void *self, size_t number)
{
	struct lining *lining = self;
	struct part *part = &lining->parts[number];
	size_t end = part_begin(lining->entry_count, lining->part_count, number + 1);

	for (size_t i = part_begin(lining->entry_count, lining->part_count, number); i < end; i++) {
		const struct pd_profile_entry *entry = pd_profile_entry(lining->stacks->profile, i);
		uint64_t value = value_of(&part->stacks, entry);

		if (!is_wanted(&part->stacks, entry))
			continue;
		count_doubt(&part->stacks, entry);
		if (value)
			add_line(lining, part, entry, value);
	}
}

static void join_part(struct stacks *stacks, struct part *part)
{
	lines_join(stacks->request->lines, &part->lines);
	stacks->result->samples += part->result.samples;
	stacks->result->cut += part->result.cut;
	stacks->result->damaged += part->result.damaged;
	stacks->result->unknown += part->result.unknown;
	stacks->tree->failed |= part->stacks.path_failed;
	free(part->stacks.path);
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
	for (uint32_t i = 0; i < stacks->result->event_count; i++)
		if (event_frame(stacks, i, &lining->event_frames[i]))
			lining->event_frames[i]++;
	for (size_t i = 0; i < lining->part_count; i++) {
		lining->parts[i].stacks = *stacks;
		lining->parts[i].stacks.result = &lining->parts[i].result;
	}
	return true;
}

static void add_lines(struct stacks *stacks)
{
	struct lining lining = { .stacks = stacks };

	for (size_t i = 0; i < pd_profile_frame_count(stacks->profile); i++)
		name_frame(stacks, (uint32_t)i);
	pthread_mutex_init(&lining.lock, NULL);
	if (make_parts(&lining))
		parts_do(lining.part_count, add_part, &lining);
	else
		stacks->tree->failed = true;
	for (size_t i = 0; lining.parts && i < lining.part_count; i++)
		join_part(stacks, &lining.parts[i]);
	stacks->tree->failed |= stacks->request->lines->failed;
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

static int build(struct stacks *stacks)
{
	stacks->text = pd_text_new();
	stacks->named = calloc(pd_profile_frame_count(stacks->profile) + 1, sizeof(*stacks->named));
	stacks->ends = calloc(pd_profile_stack_count(stacks->profile) + 1, sizeof(*stacks->ends));
	if (!stacks->text || !stacks->named || !stacks->ends || !list_events(stacks)) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	find_slices(stacks);
	(stacks->request->lines ? add_lines : add_entries)(stacks);
	stacks->tree->failed |= stacks->path_failed;
	if (!stacks->tree->failed)
		return CODE_FINE;
	complain("out of memory");
	return CODE_UNREADABLE;
}

int stacks_read(struct analysis *analysis, const struct analysis_options *options,
		const struct stack_request *request, struct tree *tree, struct stack_result *result)
{
	struct stacks stacks = { .request = request, .analysis = analysis, .tree = tree, .result = result };
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
	code = build(&stacks);
	if (code == CODE_FINE && !(request->lines ? request->lines->count : tree->value_count)) {
		complain("%s: no sample is what was asked for", analysis->input.name);
		code = CODE_NOTHING;
	}
	pd_text_free(stacks.text);
	free(stacks.named);
	free(stacks.frames);
	free(stacks.drawn);
	free(stacks.ends);
	free(stacks.path);
	free(stacks.event_index);
	return code;
}

void stacks_fini(struct stack_result *result)
{
	free(result->events);
}
