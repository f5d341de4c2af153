/* SPDX-License-Identifier: MIT */
/*
 * PMUs by their folders in sysfs: type, format/TERM (which bits of config... a term sets), events/NAME (names for some
 * terms, with NAME.unit, NAME.scale, NAME.per-pkg, NAME.snapshot), cpumask or cpus.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "record/config.h"
#include "record/event/events.h"
#include "record/machine/procfile.h"

enum {
	WORD_CAPACITY = 128,
	PATH_CAPACITY = 1024,
	MOST_NESTING = 4 // names of events in terms of events
};

// A term as typed.
struct term {
	const char *at; // in the text, for messages
	char name[WORD_CAPACITY];
	char value[WORD_CAPACITY];
	bool has_value;
};

static bool path_of(const struct pd_events *events, const char *pmu, const char *file, char path[PATH_CAPACITY])
{
	int length = snprintf(path, PATH_CAPACITY, "%s/bus/event_source/devices/%s%s%s", events->sysfs, pmu,
			      *file ? "/" : "", file);

	return length > 0 && length < PATH_CAPACITY;
}

// The first line of a file of a PMU; false if there is none.
static bool read_line(const struct pd_events *events, const char *pmu, const char *file, char *line, size_t capacity)
{
	char path[PATH_CAPACITY];
	int fd = path_of(events, pmu, file, path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t size = fd >= 0 ? read(fd, line, capacity - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (size <= 0)
		return false;
	line[size] = 0;
	line[strcspn(line, "\n")] = 0;
	return true;
}

bool pd_pmu_exists(const struct pd_events *events, const char *name, size_t length)
{
	char pmu[WORD_CAPACITY], path[PATH_CAPACITY];

	if (!length || length >= sizeof(pmu) || memchr(name, '/', length) || name[0] == '.')
		return false;
	snprintf(pmu, sizeof(pmu), "%.*s", (int)length, name);
	return path_of(events, pmu, "type", path) && access(path, F_OK) == 0;
}

// ---- terms that every event may have ----

struct common {
	const char *name;
	enum {
		AS_CONFIG,
		AS_CONFIG1,
		AS_CONFIG2,
		AS_CONFIG3,
		AS_CONFIG4,
		AS_NAME,
		AS_PERIOD,
		AS_FREQ,
		AS_TIME,
		AS_CALL_GRAPH,
		AS_STACK_SIZE,
		AS_MAX_STACK,
		AS_MAX_EVENTS,
		AS_INHERIT,
		AS_NO_INHERIT,
		AS_OVERWRITE,
		AS_NO_OVERWRITE,
		AS_PERCORE,
		AS_AUX_OUTPUT,
		AS_AUX_SAMPLE_SIZE,
		AS_METRIC_ID
	} as;
	bool wants_value;
};

static const struct common commons[] = {
	{ "config", AS_CONFIG, true },
	{ "config1", AS_CONFIG1, true },
	{ "config2", AS_CONFIG2, true },
	{ "config3", AS_CONFIG3, true },
	{ "config4", AS_CONFIG4, true },
	{ "name", AS_NAME, true },
	{ "period", AS_PERIOD, true },
	{ "freq", AS_FREQ, true },
	{ "time", AS_TIME, true },
	{ "call-graph", AS_CALL_GRAPH, true },
	{ "stack-size", AS_STACK_SIZE, true },
	{ "max-stack", AS_MAX_STACK, true },
	{ "nr", AS_MAX_EVENTS, true },
	{ "inherit", AS_INHERIT, false },
	{ "no-inherit", AS_NO_INHERIT, false },
	{ "overwrite", AS_OVERWRITE, false },
	{ "no-overwrite", AS_NO_OVERWRITE, false },
	{ "percore", AS_PERCORE, false },
	{ "aux-output", AS_AUX_OUTPUT, false },
	{ "aux-sample-size", AS_AUX_SAMPLE_SIZE, true },
	{ "metric-id", AS_METRIC_ID, true },
};

static const struct common *find_common(const char *name)
{
	for (size_t i = 0; i < sizeof(commons) / sizeof(commons[0]); i++)
		if (strcmp(commons[i].name, name) == 0)
			return &commons[i];
	return NULL;
}

static bool parse_number(const char *text, uint64_t *number_out)
{
	char *end;

	errno = 0;
	*number_out = strtoull(text, &end, 0);
	return *text && isdigit((unsigned char)*text) && !*end && !errno;
}

static bool parse_call_graph(const char *value, enum pd_call_graph *how_out)
{
	static const struct {
		const char *name;
		enum pd_call_graph how;
	} ways[] = { { "fp", PD_CALL_GRAPH_FP },
		     { "dwarf", PD_CALL_GRAPH_DWARF },
		     { "lbr", PD_CALL_GRAPH_LBR },
		     { "no", PD_CALL_GRAPH_NONE } };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].name, value) == 0) {
			*how_out = ways[i].how;
			return true;
		}
	}
	return false;
}

static void set_number(struct pd_event_wanted *wanted, const struct common *common, uint64_t number)
{
	struct pd_event_terms *terms = &wanted->terms;

	switch (common->as) {
	case AS_CONFIG:
		wanted->attr.config = number;
		break;
	case AS_CONFIG1:
		wanted->attr.config1 = number;
		break;
	case AS_CONFIG2:
		wanted->attr.config2 = number;
		break;
	case AS_CONFIG3:
		wanted->attr.config3 = number;
		break;
	case AS_CONFIG4:
		wanted->attr.config4 = number;
		break;
	case AS_PERIOD:
		terms->period = number;
		break;
	case AS_FREQ:
		terms->freq = number;
		break;
	case AS_TIME:
		terms->time = number ? PD_YES : PD_NO;
		break;
	case AS_STACK_SIZE:
		terms->stack_size = (uint32_t)number;
		break;
	case AS_MAX_STACK:
		terms->max_stack = (uint32_t)number;
		break;
	case AS_MAX_EVENTS:
		terms->max_events = (uint32_t)number;
		break;
	case AS_INHERIT:
		terms->inherit = PD_YES;
		break;
	case AS_NO_INHERIT:
		terms->inherit = PD_NO;
		break;
	case AS_OVERWRITE:
		terms->overwrite = PD_YES;
		break;
	case AS_NO_OVERWRITE:
		terms->overwrite = PD_NO;
		break;
	case AS_PERCORE:
		terms->percore = PD_YES;
		break;
	case AS_AUX_OUTPUT:
		terms->aux_output = PD_YES;
		break;
	case AS_AUX_SAMPLE_SIZE:
		terms->aux_sample_size = (uint32_t)number;
		break;
	default:
		break;
	}
}

static enum pd_status take_common(struct pd_event_text *text, struct pd_event_slot *slot, const struct common *common,
				  const struct term *term)
{
	uint64_t number = 1;

	if (common->wants_value && !term->has_value)
		return pd_event_fail(text, term->at, "%s needs a value: %s=...", term->name, term->name);
	if (common->as == AS_METRIC_ID)
		return PD_OK;
	if (common->as == AS_NAME) {
		slot->wanted.name = pd_event_keep(slot, term->value, strlen(term->value));
		return slot->wanted.name ? PD_OK : pd_fail_memory(text->error);
	}
	if (common->as == AS_CALL_GRAPH)
		return parse_call_graph(term->value, &slot->wanted.terms.call_graph) ?
			       PD_OK :
			       pd_event_fail(text, term->at, "'%s' is not fp, dwarf, lbr or no", term->value);
	if (common->wants_value && !parse_number(term->value, &number))
		return pd_event_fail(text, term->at, "'%s' is not a number", term->value);
	set_number(&slot->wanted, common, number);
	return PD_OK;
}

// ---- terms of a PMU ----

static uint64_t *word_of(struct pd_attr *attr, const char *name, size_t length)
{
	if (length == 6)
		return &attr->config;
	switch (length == 7 ? name[6] : 0) {
	case '1':
		return &attr->config1;
	case '2':
		return &attr->config2;
	case '3':
		return &attr->config3;
	case '4':
		return &attr->config4;
	default:
		return NULL;
	}
}

// "config1:0-7,32-35": the lowest bits of the value go to the first range. False if the format is none, or if the value is
// too large.
static bool set_bits(struct pd_attr *attr, const char *format, uint64_t value, bool *too_large)
{
	const char *at = strchr(format, ':');
	uint64_t *word = at && strncmp(format, "config", 6) == 0 ? word_of(attr, format, (size_t)(at - format)) : NULL;
	unsigned used = 0;

	*too_large = false;
	while (word && *at) {
		char *end;
		unsigned long first = strtoul(at + 1, &end, 10), last = first;

		if (end == at + 1)
			return false;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (last > 63 || last < first)
			return false;
		for (unsigned long bit = first; bit <= last; bit++, used++) {
			uint64_t mask = UINT64_C(1) << bit;

			*word = used < 64 && value >> used & 1 ? *word | mask : *word & ~mask;
		}
		at = end;
	}
	*too_large = used < 64 && value >> used;
	return word && used && !*too_large;
}

static enum pd_status take_list(struct pd_event_text *text, struct pd_event_slot *slot, const char *pmu,
				const char *terms, const char *at, unsigned depth);

// What a named event says besides its terms.
static void take_facts(const struct pd_events *events, struct pd_event_slot *slot, const char *pmu, const char *name)
{
	char file[WORD_CAPACITY + 32], line[256];

	snprintf(file, sizeof(file), "events/%s.unit", name);
	if (read_line(events, pmu, file, line, sizeof(line)))
		slot->wanted.unit = pd_event_keep(slot, line, strlen(line));
	snprintf(file, sizeof(file), "events/%s.scale", name);
	if (read_line(events, pmu, file, line, sizeof(line)))
		slot->wanted.scale = strtod(line, NULL);
	snprintf(file, sizeof(file), "events/%s.per-pkg", name);
	slot->wanted.per_package |= read_line(events, pmu, file, line, sizeof(line)) && line[0] == '1';
	snprintf(file, sizeof(file), "events/%s.snapshot", name);
	slot->wanted.snapshot |= read_line(events, pmu, file, line, sizeof(line)) && line[0] == '1';
}

// Names of a folder of a PMU, for the nearest one. They stay until the message is made.
static enum pd_status unknown_term(struct pd_event_text *text, const char *pmu, const struct term *term)
{
	static const char *const folders[] = { "format", "events" };
	struct pd_nearest nearest = { .word = term->name };
	struct dirent **items[2] = { NULL, NULL };
	int counts[2] = { 0, 0 };
	enum pd_status status;
	char path[PATH_CAPACITY];

	for (unsigned i = 0; i < 2; i++) {
		counts[i] = path_of(text->events, pmu, folders[i], path) ? scandir(path, &items[i], NULL, alphasort) :
									   0;
		for (int j = 0; j < counts[i]; j++)
			if (items[i][j]->d_name[0] != '.')
				pd_nearest_try(&nearest, items[i][j]->d_name);
	}
	for (size_t i = 0; i < sizeof(commons) / sizeof(commons[0]); i++)
		pd_nearest_try(&nearest, commons[i].name);
	if (nearest.best)
		status = pd_event_fail(text, term->at, "%s has no term '%s'; did you mean '%s'?", pmu, term->name,
				       nearest.best);
	else
		status = pd_event_fail(text, term->at,
				       "%s has no term '%s'; its terms are in %s/bus/event_source/devices/%s", pmu,
				       term->name, text->events->sysfs, pmu);
	for (unsigned i = 0; i < 2; i++) {
		for (int j = 0; j < counts[i]; j++)
			free(items[i][j]);
		free(items[i]);
	}
	return status;
}

static enum pd_status take_of_pmu(struct pd_event_text *text, struct pd_event_slot *slot, const char *pmu,
				  const struct term *term, unsigned depth)
{
	char file[WORD_CAPACITY + 32], line[512];
	uint64_t value = 1;
	bool too_large;

	snprintf(file, sizeof(file), "format/%s", term->name);
	if (!strchr(term->name, '/') && read_line(text->events, pmu, file, line, sizeof(line))) {
		if (term->has_value && !parse_number(term->value, &value))
			return pd_event_fail(text, term->at, "'%s' is not a number", term->value);
		if (set_bits(&slot->wanted.attr, line, value, &too_large))
			return PD_OK;
		return pd_event_fail(text, term->at,
				     too_large ? "0x%" PRIx64 " is too large for %s, which is %s" :
						 "cannot set 0x%" PRIx64 ": %s is %s",
				     value, term->name, line);
	}
	snprintf(file, sizeof(file), "events/%s", term->name);
	if (term->has_value || strchr(term->name, '/') || depth >= MOST_NESTING ||
	    !read_line(text->events, pmu, file, line, sizeof(line)))
		return unknown_term(text, pmu, term);
	take_facts(text->events, slot, pmu, term->name);
	return take_list(text, slot, pmu, line, term->at, depth + 1);
}

// One of the terms in a list that ends at a slash or at its end. Returns the place after it.
static const char *next_term(const char *at, struct term *term)
{
	size_t length = strcspn(at, "=,/"), value = 0;

	term->at = at;
	snprintf(term->name, sizeof(term->name), "%.*s", (int)length, at);
	term->has_value = at[length] == '=';
	term->value[0] = 0;
	if (term->has_value) {
		const char *begin = at + length + 1;
		char quote = *begin == '\'' || *begin == '"' ? *begin : 0;

		begin += quote != 0;
		value = quote ? strcspn(begin, quote == '"' ? "\"" : "'") : strcspn(begin, ",/");
		snprintf(term->value, sizeof(term->value), "%.*s", (int)value, begin);
		return begin + value + (quote && begin[value]);
	}
	return at + length;
}

// at: where messages point to, NULL for the terms themselves.
static enum pd_status take_list(struct pd_event_text *text, struct pd_event_slot *slot, const char *pmu,
				const char *terms, const char *at, unsigned depth)
{
	enum pd_status status = PD_OK;

	while (status >= 0 && *terms && *terms != '/') {
		const struct common *common;
		struct term term;

		terms = next_term(terms, &term);
		if (at)
			term.at = at;
		common = find_common(term.name);
		if (common)
			status = take_common(text, slot, common, &term);
		else if (pmu)
			status = take_of_pmu(text, slot, pmu, &term, depth);
		else
			status = pd_event_fail(text, term.at,
					       "unknown term '%s'; expected name, period, freq, call-graph ...",
					       term.name);
		if (*terms == ',')
			terms++;
		else if (*terms && *terms != '/' && status >= 0)
			status = pd_event_fail(text, terms, "expected a comma or a slash");
	}
	if (!at)
		text->at = terms;
	return status;
}

static void take_cpus(const struct pd_events *events, struct pd_event_slot *slot, const char *pmu)
{
	char line[512];

	if (read_line(events, pmu, "cpumask", line, sizeof(line)) || read_line(events, pmu, "cpus", line, sizeof(line)))
		slot->wanted.cpus = pd_event_keep(slot, line, strlen(line));
}

enum pd_status pd_event_terms(struct pd_event_text *text, struct pd_event_slot *slot, const char *pmu)
{
	const char *begin = text->at;
	enum pd_status status;
	char line[32];

	if (pmu) {
		slot->wanted.pmu = pd_event_keep(slot, pmu, strlen(pmu));
		if (!slot->wanted.pmu)
			return pd_fail_memory(text->error);
		if (!read_line(text->events, pmu, "type", line, sizeof(line)))
			return pd_event_fail(text, begin, "no PMU %s", pmu);
		slot->wanted.attr.type = (uint32_t)strtoul(line, NULL, 10);
		take_cpus(text->events, slot, pmu);
	}
	status = take_list(text, slot, pmu, text->at, NULL, 0);
	if (status < 0)
		return status;
	if (*text->at != '/')
		return pd_event_fail(text, text->at, "missing / at the end of the terms");
	text->at++;
	return PD_OK;
}

// ---- lists ----

struct folder {
	struct dirent **items;
	int count;
};

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void open_folder(const struct pd_events *events, const char *pmu, const char *file, struct folder *folder)
{
	char path[PATH_CAPACITY];

	folder->count = path_of(events, pmu, file, path) ? scandir(path, &folder->items, is_visible, alphasort) : 0;
	if (folder->count < 0)
		folder->count = 0;
}

static void close_folder(struct folder *folder)
{
	for (int i = 0; i < folder->count; i++)
		free(folder->items[i]);
	if (folder->count)
		free(folder->items);
}

// NAME.unit and the like are no events.
static bool is_event(const char *name)
{
	const char *dot = strrchr(name, '.');

	return !dot ||
	       (strcmp(dot, ".unit") && strcmp(dot, ".scale") && strcmp(dot, ".per-pkg") && strcmp(dot, ".snapshot"));
}

char *pd_pmu_of_event(const struct pd_events *events, const char *name, size_t length)
{
	struct folder pmus = { 0 };
	char *found = NULL;
	char file[WORD_CAPACITY + 16], path[PATH_CAPACITY];

	if (length >= WORD_CAPACITY || memchr(name, '/', length) || !length || name[0] == '.')
		return NULL;
	snprintf(file, sizeof(file), "events/%.*s", (int)length, name);
	open_folder(events, "", "", &pmus);
	for (int i = 0; i < pmus.count && !found; i++)
		if (path_of(events, pmus.items[i]->d_name, file, path) && access(path, F_OK) == 0 && is_event(file))
			found = strdup(pmus.items[i]->d_name);
	close_folder(&pmus);
	return found;
}

static bool list_events(const struct pd_events *events, const char *pmu,
			bool (*each)(void *self, const struct pd_event_name *name), void *self)
{
	char full[512], encoding[1024], unit[64], line[512], file[512];
	struct folder folder = { 0 };
	bool go_on = true;

	open_folder(events, pmu, "events", &folder);
	for (int i = 0; i < folder.count && go_on; i++) {
		const char *event = folder.items[i]->d_name;
		struct pd_event_name name = { .kind = PD_EVENT_PMU, .name = full, .pmu = pmu };

		if (!is_event(event))
			continue;
		snprintf(full, sizeof(full), "%s/%s/", pmu, event);
		snprintf(file, sizeof(file), "events/%s", event);
		if (read_line(events, pmu, file, line, sizeof(line))) {
			snprintf(encoding, sizeof(encoding), "%s/%s/", pmu, line);
			name.encoding = encoding;
		}
		snprintf(file, sizeof(file), "events/%s.unit", event);
		if (read_line(events, pmu, file, unit, sizeof(unit)))
			name.unit = unit;
		go_on = each(self, &name);
	}
	close_folder(&folder);
	return go_on;
}

enum pd_status pd_pmu_list(const struct pd_events *events, bool (*each)(void *self, const struct pd_event_name *name),
			   void *self, struct pd_error *error)
{
	struct folder pmus = { 0 };
	bool go_on = true;

	(void)error;
	open_folder(events, "", "", &pmus);
	for (int i = 0; i < pmus.count && go_on; i++)
		go_on = list_events(events, pmus.items[i]->d_name, each, self);
	close_folder(&pmus);
	return go_on ? PD_OK : PD_ERROR_STOPPED;
}
