/* SPDX-License-Identifier: MIT */
/* Samples of a store as a recording: functions by their names, as an import has them. */
#include "store/store.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/text/text.h"
#include "import/builder.h"

enum {
	MOST_DEPTH = 4096,
	NS_PER_SECOND = 1000000000
};

enum column {
	EVENT,
	COMM,
	PID,
	TID,
	STACK,
	VALUE,
	PARENT = 0,
	FUNCTION
};

// A stack that was looked up: its innermost function, and the stack of the callers.
struct known {
	uint64_t parent, address;
	bool has_parent;
};

struct getting {
	struct pd_sql_database *database;
	struct pd_builder builder;
	struct known *known;
	size_t count, capacity;
	struct pd_u64_map known_of; // by number of a stack: its place in known, and 1
	uint64_t chain[MOST_DEPTH];
	struct pd_error *error;
};

static struct pd_sql_value value_of(struct pd_sql_statement *row, size_t column)
{
	struct pd_sql_value value;

	pd_sql_sqlite.value(row, column, &value);
	return value;
}

// ---- stacks ----

static enum pd_status read_stack(struct getting *self, uint64_t stack, struct known *known, struct pd_error *error)
{
	struct pd_sql_statement *row = NULL;
	struct pd_text text = { 0 };
	struct pd_sql_value function, parent;
	const char *rest;
	enum pd_status status = PD_OK;

	pd_text_printf(
		&text,
		"SELECT s.parent, f.function FROM stacks s LEFT JOIN frames f USING (frame) WHERE stack = %" PRId64
		"%c",
		(int64_t)stack, 0);
	status = text.failed ? pd_fail_memory(error) :
			       pd_sql_sqlite.prepare(self->database, text.data, &row, &rest, error);
	pd_free(text.data);
	if (status >= 0)
		status = pd_sql_sqlite.step(row, error);
	*known = (struct known){ 0 };
	if (status == PD_OK) {
		parent = value_of(row, PARENT);
		function = value_of(row, FUNCTION);
		known->has_parent = parent.kind == PD_SQL_INTEGER;
		known->parent = (uint64_t)parent.integer;
		if (function.kind == PD_SQL_TEXT)
			known->address = pd_builder_function(&self->builder, function.data, function.size);
	}
	pd_sql_sqlite.finish(row);
	if (!known->address)
		known->address = pd_builder_function(&self->builder, "[unknown]", strlen("[unknown]"));
	return status < 0 ? status : self->builder.status;
}

static enum pd_status find_stack(struct getting *self, uint64_t stack, struct known *known, struct pd_error *error)
{
	uint64_t found = pd_u64_map_find(&self->known_of, stack);
	enum pd_status status;

	if (found) {
		*known = self->known[found - 1];
		return PD_OK;
	}
	status = read_stack(self, stack, known, error);
	if (status < 0)
		return status;
	if (!PD_GROW(self->known, self->capacity, self->count + 1) ||
	    !pd_u64_map_add(&self->known_of, stack, self->count + 1))
		return pd_fail_memory(error);
	self->known[self->count++] = *known;
	return PD_OK;
}

// Innermost first. A store that somebody else made may have a circle: it ends somewhere.
static enum pd_status find_chain(struct getting *self, uint64_t stack, size_t *count_out, struct pd_error *error)
{
	struct known known = { .has_parent = true, .parent = stack };
	enum pd_status status = PD_OK;

	*count_out = 0;
	while (status >= 0 && known.has_parent && *count_out < MOST_DEPTH) {
		status = find_stack(self, known.parent, &known, error);
		self->chain[(*count_out)++] = known.address;
	}
	return status;
}

// ---- samples ----

static enum pd_status add_row(struct getting *self, struct pd_sql_statement *row, struct pd_error *error)
{
	struct pd_sql_value event = value_of(row, EVENT), comm;
	struct pd_builder_sample sample = { .event = pd_builder_event(&self->builder, event.data, event.size, false),
					    .pid = (uint32_t)value_of(row, PID).integer,
					    .tid = (uint32_t)value_of(row, TID).integer,
					    .period = (uint64_t)value_of(row, VALUE).integer };
	enum pd_status status;

	comm = value_of(row, COMM);
	if (comm.kind == PD_SQL_TEXT)
		pd_builder_thread(&self->builder, sample.pid, sample.tid, comm.data, comm.size);
	status = find_chain(self, (uint64_t)value_of(row, STACK).integer, &sample.count, error);
	if (status < 0)
		return status;
	sample.chain = self->chain;
	pd_builder_sample(&self->builder, &sample);
	return self->builder.status;
}

static void put_quoted(struct pd_text *text, const char *string, size_t size)
{
	pd_text_char(text, '\'');
	for (size_t i = 0; i < size; i++) {
		if (string[i] == '\'')
			pd_text_char(text, '\'');
		pd_text_char(text, string[i]);
	}
	pd_text_char(text, '\'');
}

static enum pd_status put_question(const struct pd_store_choice *choice, struct pd_text *text, struct pd_error *error)
{
	PD_TEXT_LITERAL(text, "SELECT event, comm, pid, tid, stack, value FROM samples WHERE true");
	for (size_t i = 0; i < choice->label_count; i++) {
		const char *label = choice->labels[i], *value = pd_store_label_value(label, error);

		if (!value)
			return PD_ERROR_ARGUMENT;
		PD_TEXT_LITERAL(text, " AND profile IN (SELECT profile FROM labels WHERE key = ");
		put_quoted(text, label, (size_t)(value - 1 - label));
		PD_TEXT_LITERAL(text, " AND value = ");
		put_quoted(text, value, strlen(value));
		pd_text_char(text, ')');
	}
	pd_text_printf(text, " AND time >= %" PRIu64, choice->from_ns / NS_PER_SECOND);
	if (choice->to_ns)
		pd_text_printf(text, " AND time < %" PRIu64, choice->to_ns / NS_PER_SECOND);
	PD_TEXT_LITERAL(text, " ORDER BY rowid");
	pd_text_char(text, 0);
	return text->failed ? pd_fail_memory(error) : PD_OK;
}

static enum pd_status add_rows(struct getting *self, const struct pd_store_choice *choice, struct pd_error *error)
{
	struct pd_sql_statement *row = NULL;
	struct pd_text text = { 0 };
	const char *rest;
	enum pd_status status = put_question(choice, &text, error);

	if (status >= 0)
		status = pd_sql_sqlite.prepare(self->database, text.data, &row, &rest, error);
	while (status >= 0 && (status = pd_sql_sqlite.step(row, error)) == PD_OK)
		status = add_row(self, row, error);
	pd_sql_sqlite.finish(row);
	pd_free(text.data);
	return status < 0 ? status : PD_OK;
}

enum pd_status pd_store_get(const char *path, const struct pd_store_choice *choice, struct pd_writer *writer,
			    uint64_t *samples_out, struct pd_error *error)
{
	const struct pd_import_options how = { .size = sizeof(how), .name = "store" };
	struct pd_store_choice all = { 0 };
	struct pd_import_result result = { 0 };
	struct getting *self;
	enum pd_status status;

	if (choice)
		memcpy(&all, choice, choice->size < sizeof(all) ? choice->size : sizeof(all));
	self = pd_alloc(sizeof(*self));
	if (!self)
		return pd_fail_memory(error);
	self->known_of.seed = pd_hash_secret();
	pd_builder_init(&self->builder, writer, &how, &result, error);
	status = pd_store_open(path, &self->database, error);
	if (status >= 0) {
		status = add_rows(self, &all, error);
		pd_sql_sqlite.close(self->database);
	}
	if (status >= 0 && !result.samples)
		status = pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "no sample of the store fits");
	if (samples_out)
		*samples_out = result.samples;
	pd_builder_fini(&self->builder);
	pd_u64_map_fini(&self->known_of);
	pd_free(self->known);
	pd_free(self);
	return status;
}
