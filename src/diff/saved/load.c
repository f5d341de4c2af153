/* SPDX-License-Identifier: MIT */
/* Reads what save.c writes. Whatever the bytes are, memory stays within a multiple of them. */
#include "diff/saved/save.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text/text.h"
#include "diff/diff.h"
#include "report/keys/values.h"

enum {
	FIELDS_MOST = 8 + PD_REPORT_KEYS_MAX,
	EVENTS_MOST = 1024,
	BYTES_MOST = 1 << 28,
	CELLS_A_BYTE = 16 /* sums of rows and runs, of which each may lack most */
};

struct saved_event {
	uint32_t type;
	uint64_t config, sampling;
	bool frequency;
	enum pd_unit unit;
	const char *name;
	size_t number; /* in the comparison; SIZE_MAX: it lacks this one */
};

struct loading {
	struct pd_diff *diff;
	struct pd_error *error;
	const char *path;
	char *bytes;
	size_t size;
	size_t side, line;
	char *fields[FIELDS_MOST];
	size_t field_count;
	struct saved_event *events;
	size_t event_count, event_capacity;
	struct run_facts facts;
	bool has_keys, ended;
	size_t first_run, run_count;
	size_t row_count;
	struct diff_event *event; /* of the last row; NULL: not compared */
	uint32_t row;
};

static enum pd_status refuse(const struct loading *loading, const char *why)
{
	return pd_fail(loading->error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: line %zu: %s", loading->path, loading->line,
		       why);
}

/* ---- fields ---- */

static int digit_of(char c)
{
	const char *digits = "0123456789abcdef", *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

/* In place. False if it is not written as save.c does. */
static bool unescape(char *field)
{
	static const char from[] = "\\tnr", to[] = "\\\t\n\r";
	char *out = field;

	for (; *field; field++) {
		const char *found;

		if (*field != '\\') {
			*out++ = *field;
			continue;
		}
		field++;
		found = *field ? strchr(from, *field) : NULL;
		if (found) {
			*out++ = to[found - from];
		} else if (*field == 'x' && digit_of(field[1]) >= 0 && digit_of(field[2]) >= 0) {
			*out = (char)(digit_of(field[1]) * 16 + digit_of(field[2]));
			if (!*out++)
				return false;
			field += 2;
		} else {
			return false;
		}
	}
	*out = '\0';
	return true;
}

/* False if there are too many, or one is not well-formed. */
static bool split_fields(struct loading *loading, char *line)
{
	for (loading->field_count = 0; line; loading->field_count++) {
		char *tab = strchr(line, '\t');

		if (loading->field_count == FIELDS_MOST)
			return false;
		if (tab)
			*tab++ = '\0';
		loading->fields[loading->field_count] = line;
		if (!unescape(line))
			return false;
		line = tab;
	}
	return true;
}

/* False if a field is no number up to most. */
static bool number_at(const struct loading *loading, size_t field, uint64_t most, uint64_t *number_out)
{
	const char *text = loading->fields[field];
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number_out = strtoull(text, &end, 10);
	return !*end && !errno && *number_out <= most;
}

/* ---- lines ---- */

static const char *copy_or_null(struct loading *loading, size_t field)
{
	const char *text = loading->fields[field];

	return *text ? pd_arena_text(&loading->diff->texts, text, strlen(text)) : NULL;
}

static enum pd_status take_facts(struct loading *loading)
{
	uint64_t cpus;

	if (loading->field_count != 4 || !number_at(loading, 1, UINT32_MAX, &cpus))
		return refuse(loading, "not a line of facts");
	loading->facts.cpus = (uint32_t)cpus;
	loading->facts.cpu = copy_or_null(loading, 2);
	loading->facts.command = copy_or_null(loading, 3);
	return PD_OK;
}

static enum pd_status take_keys(struct loading *loading)
{
	struct pd_diff *diff = loading->diff;
	size_t count = loading->field_count - 1;
	bool first = !diff->run_count, same = first || count == diff->key_count;

	if (loading->has_keys || !count || count > PD_REPORT_KEYS_MAX)
		return refuse(loading, "not a line of sort keys");
	for (size_t i = 0; i < count; i++) {
		const char *name = loading->fields[i + 1];
		const struct key *key = pd_key_by_name(name, strlen(name));

		if (!key)
			return refuse(loading, "an unknown sort key");
		if (first)
			diff->keys[i] = key;
		same = same && diff->keys[i] == key;
	}
	if (!same)
		return pd_fail(loading->error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: other sort keys", loading->path);
	diff->key_count = count;
	if (first)
		diff->wide_unknown = true;
	loading->has_keys = true;
	return PD_OK;
}

static enum pd_status take_event(struct loading *loading)
{
	struct saved_event event = { .number = SIZE_MAX };
	uint64_t type, unit;

	if (loading->field_count != 7 || loading->run_count || loading->event_count == EVENTS_MOST ||
	    !number_at(loading, 1, UINT32_MAX, &type) || !number_at(loading, 2, UINT64_MAX, &event.config) ||
	    !number_at(loading, 4, UINT64_MAX, &event.sampling) || !number_at(loading, 5, PD_UNIT_NS, &unit))
		return refuse(loading, "not a line of an event");
	event.type = (uint32_t)type;
	event.unit = (enum pd_unit)unit;
	event.frequency = strcmp(loading->fields[3], "freq") == 0;
	event.name = pd_arena_text(&loading->diff->texts, loading->fields[6], strlen(loading->fields[6]));
	if (!event.name || !PD_GROW(loading->events, loading->event_capacity, loading->event_count + 1))
		return pd_diff_no_memory(loading->error);
	loading->events[loading->event_count++] = event;
	return PD_OK;
}

/* The events of the file become those of the comparison, or are looked for there. False if there is no memory. */
static bool place_events(struct loading *loading)
{
	struct pd_diff *diff = loading->diff;

	if (!diff->events) {
		diff->events = pd_alloc((loading->event_count + 1) * sizeof(*diff->events));
		for (size_t i = 0; diff->events && i < loading->event_count; i++) {
			const struct saved_event *from = &loading->events[i];
			struct diff_event *event = &diff->events[diff->event_count++];

			event->head.name = from->name;
			event->type = from->type;
			event->config = from->config;
			event->sampling = from->sampling;
			event->frequency = from->frequency;
			event->unit = from->unit;
			event->runs = pd_alloc(diff->run_capacity * sizeof(*event->runs));
			if (!event->runs)
				return false;
		}
	}
	for (size_t i = 0; diff->events && i < loading->event_count; i++)
		for (size_t k = 0; k < diff->event_count && loading->events[i].number == SIZE_MAX; k++)
			if (diff->events[k].type == loading->events[i].type &&
			    diff->events[k].config == loading->events[i].config)
				loading->events[i].number = k;
	return diff->events != NULL;
}

static enum pd_status take_run(struct loading *loading)
{
	struct pd_diff *diff = loading->diff;
	enum pd_status status;
	uint64_t first, last;

	if (loading->field_count != 4 || !loading->has_keys || loading->row_count ||
	    !number_at(loading, 1, UINT64_MAX, &first) || !number_at(loading, 2, UINT64_MAX, &last))
		return refuse(loading, "not a line of a run");
	status = pd_diff_begin_run(diff, loading->side, loading->fields[3], loading->error);
	if (status < 0)
		return status;
	diff->runs[diff->run_count - 1].first_ns = first;
	diff->runs[diff->run_count - 1].last_ns = last;
	if (!loading->run_count++ && !place_events(loading))
		return pd_diff_no_memory(loading->error);
	return PD_OK;
}

static enum pd_status take_total(struct loading *loading)
{
	uint64_t event, period, samples;
	struct diff_event *found;
	double effective;
	char *end;

	if (loading->field_count != 5 || !loading->run_count || loading->row_count || !loading->event_count ||
	    !number_at(loading, 1, loading->event_count - 1, &event) || !number_at(loading, 2, UINT64_MAX, &period) ||
	    !number_at(loading, 3, UINT64_MAX, &samples))
		return refuse(loading, "not a line of a total");
	effective = strtod(loading->fields[4], &end);
	if (*end || end == loading->fields[4] || !isfinite(effective) || effective < 0)
		return refuse(loading, "not a number of samples");
	if (loading->events[event].number == SIZE_MAX)
		return PD_OK;
	found = &loading->diff->events[loading->events[event].number];
	found->runs[loading->diff->run_count - 1].total =
		(struct pd_diff_sum){ .period = period, .samples = samples, .present = true };
	found->runs[loading->diff->run_count - 1].effective = effective;
	return PD_OK;
}

static enum pd_status take_row(struct loading *loading)
{
	struct pd_diff *diff = loading->diff;
	struct diff_row *row;
	uint64_t event, addr;

	if (loading->field_count != 4 + diff->key_count || !loading->run_count || !loading->event_count ||
	    !number_at(loading, 1, loading->event_count - 1, &event) || !number_at(loading, 2, UINT64_MAX, &addr))
		return refuse(loading, "not a line of a row");
	if (++loading->row_count * loading->run_count > loading->size * CELLS_A_BYTE)
		return refuse(loading, "too many runs for so few lines");
	loading->event = NULL;
	if (loading->events[event].number == SIZE_MAX)
		return PD_OK;
	pd_text_clear(diff->scratch);
	pd_text_add(diff->scratch, loading->fields[3]);
	if (!pd_diff_find_row(diff, &diff->events[loading->events[event].number], &loading->row))
		return pd_diff_no_memory(loading->error);
	loading->event = &diff->events[loading->events[event].number];
	row = &loading->event->rows[loading->row];
	if (row->cells)
		return PD_OK;
	row->addr = addr;
	row->cells = pd_arena_alloc(&diff->texts, (diff->key_count + 1) * sizeof(*row->cells));
	for (size_t i = 0; row->cells && i < diff->key_count; i++) {
		row->cells[i] = pd_arena_text(&diff->texts, loading->fields[4 + i], strlen(loading->fields[4 + i]));
		if (!row->cells[i])
			return pd_diff_no_memory(loading->error);
	}
	return row->cells ? PD_OK : pd_diff_no_memory(loading->error);
}

static enum pd_status take_sum(struct loading *loading)
{
	uint64_t run, period, samples;

	if (loading->field_count != 4 || !loading->row_count || !number_at(loading, 1, loading->run_count - 1, &run) ||
	    !number_at(loading, 2, UINT64_MAX, &period) || !number_at(loading, 3, UINT64_MAX, &samples))
		return refuse(loading, "not a line of a sum");
	if (loading->event &&
	    !pd_diff_add_sum(loading->event, loading->first_run + (size_t)run, loading->row, period, samples))
		return pd_diff_no_memory(loading->error);
	return PD_OK;
}

static enum pd_status take_place(struct loading *loading)
{
	struct pd_diff *diff = loading->diff;
	struct diff_place *place;
	uint64_t line;

	if (loading->field_count != 3 || !loading->row_count || !number_at(loading, 1, UINT32_MAX, &line) || !line)
		return refuse(loading, "not a line of a place");
	place = loading->event ? &loading->event->rows[loading->row].places[loading->side != 0] : NULL;
	if (!place || place->file)
		return PD_OK;
	place->line = (uint32_t)line;
	place->file = pd_arena_text(&diff->texts, loading->fields[2], strlen(loading->fields[2]));
	return place->file ? PD_OK : pd_diff_no_memory(loading->error);
}

static enum pd_status take_end(struct loading *loading)
{
	loading->ended = true;
	return PD_OK;
}

static enum pd_status take_line(struct loading *loading, char *line)
{
	static const struct {
		const char *name;
		enum pd_status (*take)(struct loading *loading);
	} kinds[] = { { "place", take_place }, { "sum", take_sum },     { "row", take_row },
		      { "total", take_total }, { "run", take_run },     { "event", take_event },
		      { "keys", take_keys },   { "facts", take_facts }, { "end", take_end } };

	if (loading->ended)
		return refuse(loading, "a line after the end");
	if (!split_fields(loading, line))
		return refuse(loading, "fields that are not well-formed");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(loading->fields[0], kinds[i].name) == 0)
			return kinds[i].take(loading);
	return refuse(loading, "a line of an unknown kind");
}

/* ---- the file ---- */

static bool is_head(const char *bytes, size_t size)
{
	return size >= strlen(SAVED_HEAD) && memcmp(bytes, SAVED_HEAD, strlen(SAVED_HEAD)) == 0;
}

bool pd_diff_is_saved(const char *path)
{
	FILE *stream = fopen(path, "re");
	char bytes[sizeof(SAVED_HEAD)];
	size_t size = stream ? fread(bytes, 1, strlen(SAVED_HEAD), stream) : 0;

	if (stream)
		fclose(stream);
	return is_head(bytes, size);
}

static enum pd_status read_bytes(struct loading *loading)
{
	FILE *stream = fopen(loading->path, "re");
	enum pd_status status = PD_OK;
	size_t capacity = 0, got = 1;

	if (!stream)
		return pd_fail(loading->error, PD_ERROR_SYSTEM, PD_NO_OFFSET, "%s: %s", loading->path, strerror(errno));
	while (status == PD_OK && got) {
		if (loading->size > BYTES_MOST)
			status = pd_fail(loading->error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: too large", loading->path);
		else if (!PD_GROW(loading->bytes, capacity, loading->size + 4096))
			status = pd_diff_no_memory(loading->error);
		else
			loading->size += got =
				fread(loading->bytes + loading->size, 1, capacity - loading->size - 1, stream);
	}
	if (status == PD_OK && ferror(stream))
		status = pd_fail(loading->error, PD_ERROR_SYSTEM, PD_NO_OFFSET, "%s: %s", loading->path,
				 strerror(errno));
	fclose(stream);
	if (status == PD_OK)
		loading->bytes[loading->size] = '\0';
	return status;
}

static enum pd_status check_head(struct loading *loading, char **rest_out)
{
	char *end = strchr(loading->bytes, '\n');

	loading->line = 1;
	if (!is_head(loading->bytes, loading->size) || !end || strlen(loading->bytes) != loading->size)
		return refuse(loading, "not a saved profile");
	*end = '\0';
	if (strcmp(loading->bytes + strlen(SAVED_HEAD), SAVED_VERSION) != 0)
		return refuse(loading, "a version that is not known here");
	*rest_out = end + 1;
	return PD_OK;
}

static enum pd_status take_lines(struct loading *loading)
{
	char *line = NULL, *next;
	enum pd_status status = check_head(loading, &line);

	for (; status == PD_OK && *line; line = next) {
		next = strchr(line, '\n');
		loading->line++;
		if (!next)
			return refuse(loading, "the last line is not whole");
		*next++ = '\0';
		status = take_line(loading, line);
	}
	if (status == PD_OK && (!loading->ended || !loading->run_count))
		return refuse(loading, "the file is not whole");
	return status;
}

/* As for recordings, run by run: what is known of a run is compared when it is the last one. */
static enum pd_status check_runs(struct loading *loading)
{
	struct pd_diff *diff = loading->diff;
	size_t all = diff->run_count;
	enum pd_status status = PD_OK;

	for (size_t i = 0; diff->facts && i < loading->event_count; i++)
		if (loading->events[i].number != SIZE_MAX &&
		    !pd_diff_check_sampling(diff, &diff->events[loading->events[i].number],
					    loading->events[i].frequency, loading->events[i].sampling))
			return pd_diff_no_memory(loading->error);
	for (size_t i = loading->first_run; i < all && status == PD_OK; i++) {
		diff->run_count = i + 1;
		status = pd_diff_check_facts(diff, &loading->facts) ? pd_diff_divide_run(diff, loading->error) :
								      pd_diff_no_memory(loading->error);
	}
	diff->run_count = all;
	return status;
}

enum pd_status pd_diff_add_saved(struct pd_diff *diff, size_t side, const char *path, struct pd_error *error)
{
	struct loading loading = {
		.diff = diff, .error = error, .path = path, .side = side, .first_run = diff->run_count
	};
	enum pd_status status;

	if (diff->options.method == PD_DIFF_CYCLES)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: saved sums have no branch stacks", path);
	status = read_bytes(&loading);
	if (status == PD_OK)
		status = take_lines(&loading);
	if (status == PD_OK)
		status = check_runs(&loading);
	pd_free(loading.bytes);
	pd_free(loading.events);
	return status;
}
