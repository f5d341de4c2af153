/* SPDX-License-Identifier: MIT */
#include "flame/naming.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/path.h"

enum {
	INLINED_MOST = 128, /* functions at one address */
	MOST_STEP = 4       /* bytes of a character */
};

/* ---- names ---- */

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
static char folded_char(const struct pd_flame_options *style, char c)
{
	if (c == ';')
		return ':';
	return style->without_arguments && (c == '"' || c == '\'') ? 0 : c;
}

/* Adds a name so that it can stand between semicolons on a line. */
static void put_name(const struct stacks *stacks, const char *name, size_t length, bool java)
{
	const struct pd_flame_options *style = stacks->options;
	char piece[128];
	size_t size = 0;

	if (java && style->without_arguments && name[0] == 'L' && memchr(name, '/', length)) {
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
	text = pd_tree_text(stacks->tree, (const char *)bytes.data, bytes.size);
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

static const char *mark_of(const struct pd_flame_options *style, const struct pd_dso *dso, bool inlined)
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
	const struct pd_flame_options *style = stacks->options;
	const char *name = function ? function->name : dso ? pd_path_name(dso->long_name) : "unknown";

	if (!function)
		pd_text_add(stacks->text, "[");
	put_name(stacks, name, function && style->without_arguments ? without_arguments(name) : strlen(name),
		 dso && !dso->object);
	if (!function)
		pd_text_add(stacks->text, "]");
	pd_text_add(stacks->text, mark_of(style, dso, inlined));
	return pd_tree_frame(stacks->tree, text_index(stacks), 0, FRAME_USER);
}

static uint32_t drawn_frame(const struct stacks *stacks, const struct pd_dso *dso, const struct pd_function *function,
			    bool inlined)
{
	struct tree *tree = stacks->tree;
	enum frame_kind kind = kind_of(dso, function != NULL, inlined);
	uint32_t object = dso ? pd_tree_text(tree, dso->name, strlen(dso->name)) : 0;

	if (function)
		pd_text_add(stacks->text, function->name);
	else if (dso && dso->name[0] == '[')
		pd_text_add(stacks->text, dso->name);
	else
		pd_text_printf(stacks->text, "[%s]", dso ? pd_path_name(dso->name) : "unknown");
	if (function && kind != FRAME_KERNEL)
		kind = pd_frame_kind_by_name(kind, function->name, dso ? dso->name : "");
	return pd_tree_frame(tree, text_index(stacks), object, kind);
}

static uint32_t make_frame(const struct stacks *stacks, const struct pd_dso *dso, const struct pd_function *function,
			   bool inlined)
{
	return stacks->options->plain_names ? folded_frame(stacks, dso, function, inlined) :
					      drawn_frame(stacks, dso, function, inlined);
}

/* Where the frame of a number is kept; NULL if there is no memory. */
static uint32_t *drawn_at(struct drawn *drawn, size_t number)
{
	size_t capacity = drawn->capacity ? drawn->capacity : 1024;
	uint32_t *items;

	while (capacity <= number)
		capacity *= 2;
	if (capacity == drawn->capacity)
		return &drawn->items[number];
	items = pd_realloc(drawn->items, capacity * sizeof(*items));
	if (!items)
		return NULL;
	memset(items + drawn->capacity, 0, (capacity - drawn->capacity) * sizeof(*items));
	drawn->items = items;
	drawn->capacity = capacity;
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
	if (!PD_GROW(stacks->frames, stacks->frame_capacity, stacks->frame_count + 1)) {
		stacks->tree->failed = true;
		return;
	}
	stacks->frames[stacks->frame_count++] = frame_of(stacks, dso, function, inlined);
}

void pd_stacks_name_frame(struct stacks *stacks, uint32_t index)
{
	struct named *named = &stacks->named[index];
	const struct pd_place *place = &pd_profile_frame(stacks->profile, index)->place;
	struct pd_line lines[INLINED_MOST];
	size_t start = stacks->frame_count, count;

	if (named->count)
		return;
	count = place->function ? pd_symbols_lines(stacks->symbols, place, lines, INLINED_MOST) : 0;
	for (size_t i = 0; i < count && i < INLINED_MOST; i++)
		add_frame(stacks, place->dso, lines[i].function, lines[i].inlined);
	if (!count)
		add_frame(stacks, place->dso, place->function, false);
	named->count = (uint32_t)(stacks->frame_count - start);
	named->frame = named->count == 1 ? stacks->frames[start] : (uint32_t)start;
	if (named->count > stacks->most_named)
		stacks->most_named = named->count;
}

static void put_comm(const struct stacks *stacks, const char *comm)
{
	const struct pd_flame_options *style = stacks->options;
	size_t length = strlen(comm);

	if (!style->plain_names) {
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
bool pd_stacks_root_frame(const struct stacks *stacks, const struct pd_profile_entry *entry, uint32_t *frame_out)
{
	enum pd_flame_root root = stacks->options->root;

	if (root == PD_FLAME_ROOT_NONE)
		return false;
	if (root == PD_FLAME_ROOT_CPU && entry->cpu != UINT32_MAX)
		pd_text_printf(stacks->text, "CPU %" PRIu32, entry->cpu);
	else if (root == PD_FLAME_ROOT_CPU)
		pd_text_add(stacks->text, "unknown CPU");
	else
		put_comm(stacks, entry->comm ? entry->comm : "[unknown]");
	if (root == PD_FLAME_ROOT_PID)
		pd_text_printf(stacks->text, "-%" PRId32, (int32_t)entry->pid);
	if (root == PD_FLAME_ROOT_TID)
		pd_text_printf(stacks->text, "-%" PRId32 "/%" PRId32, (int32_t)entry->pid, (int32_t)entry->tid);
	*frame_out = pd_tree_frame(stacks->tree, text_index(stacks), 0,
				   stacks->options->plain_names ? FRAME_USER : FRAME_TASK);
	return true;
}

/* The frame of the event if it stands in front of all; false if there is none. */
uint32_t pd_stacks_truncated_frame(const struct stacks *stacks)
{
	static const char name[] = "[truncated]";
	uint32_t text = pd_tree_text(stacks->tree, name, sizeof(name) - 1);

	return pd_tree_frame(stacks->tree, text, 0, stacks->options->plain_names ? FRAME_USER : FRAME_UNKNOWN);
}

bool pd_stacks_event_frame(const struct stacks *stacks, uint32_t event, uint32_t *frame_out)
{
	bool folded = stacks->options->plain_names;

	if (!stacks->options->event_frame || stacks->result->event_count < 2)
		return false;
	pd_text_add(stacks->text, "[");
	put_name(stacks, stacks->result->events[event], SIZE_MAX, false);
	pd_text_add(stacks->text, "]");
	*frame_out = pd_tree_frame(stacks->tree, text_index(stacks), 0, folded ? FRAME_USER : FRAME_EVENT);
	return true;
}
