/* SPDX-License-Identifier: MIT */
/*
 * Lists of events, and the grammar of what is typed:
 *
 *   events   = item { "," item }
 *   item     = "{" events "}" [ ":" modifiers ] | event
 *   event    = name [ "/" terms "/" ] [ ":" modifiers ] | pmu "/" terms "/" [ modifiers ] | system ":" name [ ":" modifiers ]
 *            | "r" hex [ ":" modifiers ] | "mem:" address [ "/" length ] [ ":" access ] [ ":" modifiers ]
 */
#include "record/event/events.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/file.h"

enum {
	WORD_CAPACITY = 256,
	MOST_PRECISE = 3,
	DUMMY = 9
};

// ---- the list ----

enum pd_status pd_events_new(const struct pd_events_options *options, struct pd_events **events_out,
			     struct pd_error *error)
{
	struct pd_events_options all = { 0 };
	struct pd_events *events;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size of the options is 0");
	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	events = pd_alloc(sizeof(*events));
	if (!events)
		return pd_fail_memory(error);
	events->sysfs = strdup(all.sysfs ? all.sysfs : "/sys");
	events->tracefs = all.tracefs ? strdup(all.tracefs) : pd_tracefs_find();
	if (!events->sysfs || (all.tracefs && !events->tracefs)) {
		pd_events_free(events);
		return pd_fail_memory(error);
	}
	*events_out = events;
	return PD_OK;
}

// ---- modifiers ----

static void set(struct pd_attr *attr, uint64_t mask, bool on)
{
	attr->flags = on ? attr->flags | mask : attr->flags & ~mask;
}

static bool parse_modifier(struct pd_event_wanted *wanted, char modifier, bool *user, bool *kernel, bool *hv,
			   bool *guest, bool *host, unsigned *precise)
{
	switch (modifier) {
	case 'u':
		*user = true;
		break;
	case 'k':
		*kernel = true;
		break;
	case 'h':
		*hv = true;
		break;
	case 'G':
		*guest = true;
		break;
	case 'H':
		*host = true;
		break;
	case 'I':
		wanted->attr.flags |= PD_MASK(PD_ATTR_EXCLUDE_IDLE);
		break;
	case 'p':
		return ++*precise <= MOST_PRECISE;
	case 'P':
		wanted->precise_max = true;
		break;
	case 'S':
		wanted->sample_read = true;
		break;
	case 'D':
		wanted->attr.flags |= PD_MASK(PD_ATTR_PINNED);
		break;
	case 'W':
		wanted->weak = true;
		break;
	case 'e':
		wanted->attr.flags |= PD_MASK(PD_ATTR_EXCLUSIVE);
		break;
	case 'b':
		break; // BPF counters are a way to count, not another event
	default:
		return false;
	}
	return true;
}

static bool is_modifier(char modifier)
{
	return modifier && strchr("ukhGHIpPSDWeb", modifier);
}

// Modifiers at text->at, for the events from `first` on. After a single event they say all of who is left out, after a
// group they add to that.
static enum pd_status take_modifiers(struct pd_event_text *text, size_t first, bool of_group)
{
	const char *begin = text->at;
	size_t length = 0;

	while (isalpha((unsigned char)begin[length]))
		length++;
	if (!length)
		return pd_event_fail(text, begin, "expected modifiers: u, k, h, p, S ...");
	for (size_t i = first; i < text->events->count; i++) {
		struct pd_event_wanted *wanted = &text->events->slots[i]->wanted;
		bool user = false, kernel = false, hv = false, guest = false, host = false;
		// a group adds to what its events say
		unsigned precise = (unsigned)PD_BITS(wanted->attr.flags, PD_ATTR_PRECISE_IP);

		for (size_t j = 0; j < length; j++)
			if (!parse_modifier(wanted, begin[j], &user, &kernel, &hv, &guest, &host, &precise))
				return pd_event_fail(text, begin + j,
						     is_modifier(begin[j]) ? "the highest precision is ppp (%c)" :
									     "unknown modifier '%c'",
						     begin[j]);
		if (!of_group)
			set(&wanted->attr, PD_MASK(PD_ATTR_EXCLUDE_GUEST), user || precise);
		if (user || kernel || hv) {
			wanted->has_user_kernel = true;
			set(&wanted->attr, PD_MASK(PD_ATTR_EXCLUDE_USER), !user);
			set(&wanted->attr, PD_MASK(PD_ATTR_EXCLUDE_KERNEL), !kernel);
			set(&wanted->attr, PD_MASK(PD_ATTR_EXCLUDE_HV), !hv);
		}
		if (guest || host) {
			set(&wanted->attr, PD_MASK(PD_ATTR_EXCLUDE_GUEST), !guest);
			set(&wanted->attr, PD_MASK(PD_ATTR_EXCLUDE_HOST), !host);
		}
		if (wanted->precise_max)
			precise = MOST_PRECISE;
		set(&wanted->attr, (uint64_t)MOST_PRECISE << PD_ATTR_PRECISE_IP_SHIFT, false);
		wanted->attr.flags |= (uint64_t)precise << PD_ATTR_PRECISE_IP_SHIFT;
	}
	text->at += length;
	return PD_OK;
}

// ---- events ----

// Names end where a list, terms or modifiers go on.
static size_t name_length(const char *at)
{
	return strcspn(at, ",{}:/ ");
}

// As typed, with modifiers; tracepoints have names already, because one word may stand for many.
static enum pd_status name_it(struct pd_event_text *text, size_t first, const char *begin)
{
	for (size_t i = first; i < text->events->count; i++) {
		struct pd_event_slot *slot = text->events->slots[i];

		if (!slot->wanted.name)
			slot->wanted.name = pd_event_keep(slot, begin, (size_t)(text->at - begin));
		if (!slot->wanted.name)
			return pd_fail_memory(text->error);
	}
	return PD_OK;
}

// Modifiers after a colon, or right after the slash of a PMU.
static enum pd_status maybe_modifiers(struct pd_event_text *text, size_t first, bool after_slash)
{
	if (*text->at == ':')
		text->at++;
	else if (!after_slash || !isalpha((unsigned char)*text->at))
		return PD_OK;
	return take_modifiers(text, first, false);
}

static enum pd_status add_word(struct pd_event_text *text, size_t length)
{
	struct pd_event_slot *slot = NULL;
	enum pd_status status = pd_event_new(text, &slot);
	size_t first = text->events->count - 1;
	const char *begin = text->at;
	bool slash;

	if (status < 0)
		return status;
	pd_event_word_find(begin, length, &slot->wanted.attr.type, &slot->wanted.attr.config);
	// the clocks count ns
	if (pd_attr_is_clock(&slot->wanted.attr)) {
		slot->wanted.unit = "msec";
		slot->wanted.scale = 1e-6;
	}
	slot->wanted.attr.flags = PD_MASK(PD_ATTR_EXCLUDE_GUEST);
	text->at += length;
	slash = *text->at == '/';
	if (slash) {
		text->at++;
		status = pd_event_terms(text, slot, NULL);
	}
	return status < 0 ? status : maybe_modifiers(text, first, slash);
}

// A time that needs no event: what stands for it counts nothing.
static enum pd_status add_tool(struct pd_event_text *text, size_t length)
{
	struct pd_event_slot *slot = NULL;
	enum pd_status status = pd_event_new(text, &slot);

	if (status < 0)
		return status;
	slot->wanted.tool = pd_event_tool_find(text->at, length);
	slot->wanted.attr.type = PD_TYPE_SOFTWARE;
	slot->wanted.attr.config = DUMMY;
	slot->wanted.attr.flags = PD_MASK(PD_ATTR_EXCLUDE_GUEST);
	slot->wanted.unit = "ns";
	text->at += length;
	return maybe_modifiers(text, text->events->count - 1, false);
}

static enum pd_status add_of_pmu(struct pd_event_text *text, size_t length)
{
	struct pd_event_slot *slot = NULL;
	enum pd_status status = pd_event_new(text, &slot);
	size_t first = text->events->count - 1;
	char pmu[WORD_CAPACITY];

	if (status < 0)
		return status;
	snprintf(pmu, sizeof(pmu), "%.*s", (int)length, text->at);
	slot->wanted.attr.flags = PD_MASK(PD_ATTR_EXCLUDE_GUEST);
	text->at += length + 1;
	status = pd_event_terms(text, slot, pmu);
	return status < 0 ? status : maybe_modifiers(text, first, true);
}

// A name that a PMU has: as if it was typed as pmu/name/.
static enum pd_status add_by_alias(struct pd_event_text *text, const char *pmu, size_t length)
{
	struct pd_event_slot *slot = NULL;
	enum pd_status status = pd_event_new(text, &slot);
	size_t first = text->events->count - 1;
	char terms[WORD_CAPACITY];
	struct pd_event_text inner = { .events = text->events, .text = terms, .at = terms, .error = text->error };

	if (status < 0)
		return status;
	snprintf(terms, sizeof(terms), "%.*s/", (int)length, text->at);
	slot->wanted.attr.flags = PD_MASK(PD_ATTR_EXCLUDE_GUEST);
	status = pd_event_terms(&inner, slot, pmu);
	text->at += length;
	return status < 0 ? status : maybe_modifiers(text, first, false);
}

// r and a number in hexadecimal: an event of the CPU by its code.
static enum pd_status add_raw(struct pd_event_text *text, size_t length)
{
	struct pd_event_slot *slot = NULL;
	enum pd_status status = pd_event_new(text, &slot);

	if (status < 0)
		return status;
	slot->wanted.attr.type = PD_TYPE_RAW;
	slot->wanted.attr.config = strtoull(text->at + 1, NULL, 16);
	slot->wanted.attr.flags = PD_MASK(PD_ATTR_EXCLUDE_GUEST);
	text->at += length;
	return maybe_modifiers(text, text->events->count - 1, false);
}

static bool is_raw(const char *at, size_t length)
{
	if (length < 2 || length > 17 || at[0] != 'r')
		return false;
	for (size_t i = 1; i < length; i++)
		if (!isxdigit((unsigned char)at[i]))
			return false;
	return true;
}

static bool is_access(const char *at)
{
	return *at == ':' && strchr("rwx", at[1]) && at[1] && strspn(at + 1, "rwx") <= 3;
}

static enum pd_status add_breakpoint(struct pd_event_text *text)
{
	struct pd_event_slot *slot = NULL;
	enum pd_status status = pd_event_new(text, &slot);
	struct pd_attr *attr;
	char *end;

	if (status < 0)
		return status;
	attr = &slot->wanted.attr;
	text->at += 4;
	errno = 0;
	attr->config1 = strtoull(text->at, &end, 0);
	if (end == text->at || errno)
		return pd_event_fail(text, text->at, "expected an address: mem:0x601040:w");
	text->at = end;
	if (*text->at == '/') {
		attr->config2 = strtoull(text->at + 1, &end, 0);
		if (end == text->at + 1)
			return pd_event_fail(text, text->at, "expected a length: mem:0x601040/8:w");
		text->at = end;
	}
	if (is_access(text->at)) {
		for (text->at++; *text->at && strchr("rwx", *text->at); text->at++)
			attr->bp_type |= *text->at == 'r' ? PD_MASK(PD_BP_R) :
					 *text->at == 'w' ? PD_MASK(PD_BP_W) :
							    PD_MASK(PD_BP_X);
	} else {
		attr->bp_type = (uint32_t)(PD_MASK(PD_BP_R) | PD_MASK(PD_BP_W));
	}
	attr->type = PD_TYPE_BREAKPOINT;
	attr->sample_period = 1;
	attr->flags = PD_MASK(PD_ATTR_EXCLUDE_GUEST);
	// the kernel wants 8 for code, and data is 4 bytes without a length
	if (!attr->config2)
		attr->config2 = attr->bp_type & PD_MASK(PD_BP_X) ? sizeof(long) : 4;
	return maybe_modifiers(text, text->events->count - 1, false);
}

static enum pd_status add_tracepoints(struct pd_event_text *text, size_t length)
{
	size_t first = text->events->count, name = name_length(text->at + length + 1);
	char system[WORD_CAPACITY], point[WORD_CAPACITY];
	enum pd_status status;

	snprintf(system, sizeof(system), "%.*s", (int)length, text->at);
	snprintf(point, sizeof(point), "%.*s", (int)name, text->at + length + 1);
	status = pd_tracepoints_add(text, text->at, system, point);
	if (status < 0)
		return status;
	for (size_t i = first; i < text->events->count; i++)
		text->events->slots[i]->wanted.attr.flags = PD_MASK(PD_ATTR_EXCLUDE_GUEST);
	text->at += length + 1 + name;
	return maybe_modifiers(text, first, false);
}

static bool is_known(const char *at, size_t length)
{
	uint64_t config;
	uint32_t type;

	return pd_event_word_find(at, length, &type, &config);
}

static enum pd_status unknown(const struct pd_event_text *text, size_t length)
{
	char word[WORD_CAPACITY], caches[80][64];
	struct pd_nearest nearest = { .word = word };
	const struct pd_event_word *known;
	uint64_t config;

	snprintf(word, sizeof(word), "%.*s", (int)length, text->at);
	for (size_t i = 0; (known = pd_event_word_at(i)) != NULL; i++) {
		pd_nearest_try(&nearest, known->name);
		if (known->alias)
			pd_nearest_try(&nearest, known->alias);
	}
	for (size_t i = 0; i < 80 && pd_event_cache_at(i, caches[i], &config); i++)
		pd_nearest_try(&nearest, caches[i]);
	for (enum pd_tool_event tool = PD_TOOL_DURATION_TIME; pd_event_tool_name(tool); tool++)
		pd_nearest_try(&nearest, pd_event_tool_name(tool));
	if (!length)
		return pd_event_fail(text, text->at, "expected an event name");
	if (nearest.best)
		return pd_event_fail(text, text->at, "unknown event '%s'; did you mean '%s'?", word, nearest.best);
	return pd_event_fail(text, text->at, "unknown event '%s'; perfdata list lists the events", word);
}

static enum pd_status add_event(struct pd_event_text *text)
{
	size_t length = name_length(text->at), first = text->events->count;
	const char *begin = text->at;
	enum pd_status status;
	char *pmu;

	if (length == 3 && strncmp(begin, "mem", 3) == 0 && begin[3] == ':')
		status = add_breakpoint(text);
	else if (is_known(begin, length))
		status = add_word(text, length);
	else if (pd_event_tool_find(begin, length))
		status = add_tool(text, length);
	else if (begin[length] == '/' && pd_pmu_exists(text->events, begin, length))
		status = add_of_pmu(text, length);
	else if (is_raw(begin, length))
		status = add_raw(text, length);
	else if ((pmu = pd_pmu_of_event(text->events, begin, length)) != NULL) {
		status = add_by_alias(text, pmu, length);
		free(pmu);
	} else if (begin[length] == ':' && length)
		status = add_tracepoints(text, length);
	else if (begin[length] == '/')
		status =
			pd_event_fail(text, begin, "no PMU '%.*s'; perfdata list lists the events", (int)length, begin);
	else
		status = unknown(text, length);
	return status < 0 ? status : name_it(text, first, begin);
}

// What is only measured is in no group: it would be one that others cannot follow.
static void make_group(struct pd_events *events, size_t first)
{
	while (first < events->count && events->slots[first]->wanted.tool)
		first++;
	for (size_t i = first; i < events->count; i++) {
		if (events->slots[i]->wanted.tool)
			continue;
		events->slots[i]->wanted.leader = first;
		events->slots[i]->wanted.in_group = true;
	}
}

static enum pd_status add_group(struct pd_event_text *text)
{
	size_t first = text->events->count;
	enum pd_status status;

	text->at++;
	status = add_event(text);
	while (status >= 0 && *text->at == ',') {
		text->at++;
		status = add_event(text);
	}
	if (status < 0)
		return status;
	if (*text->at != '}')
		return pd_event_fail(text, text->at, "missing } at the end of the group");
	text->at++;
	make_group(text->events, first);
	if (*text->at != ':')
		return PD_OK;
	text->at++;
	return take_modifiers(text, first, true);
}

static enum pd_status add_all(struct pd_event_text *text)
{
	enum pd_status status = PD_OK;

	while (status >= 0) {
		status = *text->at == '{' ? add_group(text) : add_event(text);
		if (status < 0 || !*text->at)
			break;
		if (*text->at != ',')
			return pd_event_fail(text, text->at, "unexpected '%.20s'", text->at);
		text->at++;
	}
	return status;
}

enum pd_status pd_events_add(struct pd_events *events, const char *typed, struct pd_error *error)
{
	struct pd_event_text text = { .events = events, .text = typed, .at = typed, .error = error };
	size_t before = events->count;
	enum pd_status status = add_all(&text);

	if (status < 0)
		pd_events_cut(events, before);
	else
		events->last = before;
	return status;
}

// ---- filters and groups ----

static enum pd_status set_filter(struct pd_event_slot *slot, const char *filter, struct pd_error *error)
{
	const char *before = slot->wanted.filter;
	char *all;

	if (asprintf(&all, before ? "(%s) && (%s)" : "%s%s", before ? before : filter, before ? filter : "") < 0)
		return pd_fail_memory(error);
	for (size_t i = 0; i < slot->text_count && before; i++) {
		if (slot->texts[i] != before)
			continue;
		free(slot->texts[i]);
		slot->texts[i] = all;
		slot->wanted.filter = all;
		return PD_OK;
	}
	slot->wanted.filter = pd_event_keep(slot, all, strlen(all));
	free(all);
	return slot->wanted.filter ? PD_OK : pd_fail_memory(error);
}

enum pd_status pd_events_filter(struct pd_events *events, const char *filter, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (events->last >= events->count)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "a filter must follow the event it applies to");
	for (size_t i = events->last; i < events->count && status >= 0; i++) {
		struct pd_event_slot *slot = events->slots[i];

		if (!slot->wanted.tracepoint && !slot->wanted.pmu)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				       "%s: filters are supported only for tracepoints", slot->wanted.name);
		status = set_filter(slot, filter, error);
	}
	return status;
}

enum pd_status pd_events_exclude_self(struct pd_events *events, struct pd_error *error)
{
	char filter[64];

	snprintf(filter, sizeof(filter), "common_pid != %ld", (long)getpid());
	return pd_events_filter(events, filter, error);
}

enum pd_status pd_events_group(struct pd_events *events, struct pd_error *error)
{
	for (size_t i = 0; i < events->count; i++)
		if (events->slots[i]->wanted.in_group)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "there are groups already");
	make_group(events, 0);
	return PD_OK;
}
