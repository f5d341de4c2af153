/* SPDX-License-Identifier: MIT */
/*
 * Samples of a store as a recording: one for each row, with all functions by their names, as an import has them; or by object, in
 * memory beside a recording that is read at once.
 */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text/text.h"
#include "file/file.h"
#include "store/frames.h"

enum {
	MOST_DEPTH = 4096
};

enum column {
	EVENT,
	COMM,
	PID,
	TID,
	STACK,
	VALUE,
	COUNT,
	PARENT = 0,
	FRAME,
	FUNCTION,
	LINKER,
	OBJECT,
	PATH,
	KIND
};

// A stack that was looked up: its innermost function, and the stack of the callers.
struct known {
	uint64_t parent, address;
	bool has_parent;
};

struct getting {
	struct pd_sql_database *database;
	struct pd_builder builder;
	struct pd_store_frames frames;
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

static struct pd_store_frame frame_of(struct pd_sql_statement *row)
{
	struct pd_sql_value number = value_of(row, FRAME);

	return (struct pd_store_frame){ .known = number.kind == PD_SQL_INTEGER,
					.number = (uint64_t)number.integer,
					.function = value_of(row, FUNCTION),
					.linker = value_of(row, LINKER),
					.object = value_of(row, OBJECT),
					.path = value_of(row, PATH),
					.kind = value_of(row, KIND) };
}

static enum pd_status read_stack(struct getting *self, uint64_t stack, struct known *known, struct pd_error *error)
{
	struct pd_store_frame frame = { .known = false };
	struct pd_sql_statement *row = NULL;
	struct pd_text text = { 0 };
	struct pd_sql_value parent;
	const char *rest;
	enum pd_status status;

	pd_text_printf(&text,
		       "SELECT s.parent, s.frame, f.function, f.linker_name, f.object, f.path, f.kind "
		       "FROM stacks s LEFT JOIN frames f USING (frame) WHERE stack = %" PRId64 "%c",
		       (int64_t)stack, 0);
	status = text.failed ? pd_fail_memory(error) :
			       pd_sql_sqlite.prepare(self->database, text.data, &row, &rest, error);
	pd_free(text.data);
	if (status >= 0)
		status = pd_sql_sqlite.step(row, error);
	*known = (struct known){ 0 };
	if (status == PD_OK) {
		parent = value_of(row, PARENT);
		known->has_parent = parent.kind == PD_SQL_INTEGER;
		known->parent = (uint64_t)parent.integer;
		frame = frame_of(row);
	}
	if (status >= 0)
		known->address = pd_store_frames_address(&self->frames, &frame, error);
	pd_sql_sqlite.finish(row);
	if (status >= 0 && self->builder.status < 0)
		return self->builder.status;
	return status < 0 || known->address ? status : PD_ERROR_MEMORY;
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

// A row of a report has the mode of its first sample, and which one that is depends on how a store was filled.
static void mark_nothing(struct getting *self, size_t count)
{
	for (size_t i = 1; self->frames.given && self->chain[0] >> 63 && i < count; i++)
		if (self->chain[i] == PD_STORE_NOTHING)
			self->chain[i] = PD_STORE_NOTHING_OF_KERNEL;
}

static enum pd_status add_row(struct getting *self, struct pd_sql_statement *row, struct pd_error *error)
{
	struct pd_sql_value event = value_of(row, EVENT), comm;
	struct pd_builder_sample sample = { .event = pd_builder_event(&self->builder, event.data, event.size, false),
					    .pid = (uint32_t)value_of(row, PID).integer,
					    .tid = (uint32_t)value_of(row, TID).integer,
					    .weight = (uint64_t)value_of(row, COUNT).integer,
					    .period = (uint64_t)value_of(row, VALUE).integer };
	enum pd_status status;

	comm = value_of(row, COMM);
	if (comm.kind == PD_SQL_TEXT)
		pd_builder_thread(&self->builder, sample.pid, sample.tid, comm.data, comm.size);
	status = find_chain(self, (uint64_t)value_of(row, STACK).integer, &sample.count, error);
	if (status < 0)
		return status;
	mark_nothing(self, sample.count);
	if (!pd_store_frames_map(&self->frames, sample.pid, self->chain, sample.count))
		return pd_fail_memory(error);
	sample.unfinished = sample.count > 1 && self->frames.given &&
			    self->chain[sample.count - 1] == PD_STORE_TRUNCATED;
	sample.count -= sample.unfinished;
	sample.chain = self->chain;
	pd_builder_sample(&self->builder, &sample);
	return self->builder.status;
}

// They come before everything else.
static enum pd_status add_event(struct getting *self, struct pd_sql_statement *row, struct pd_error *error)
{
	struct pd_sql_value event = value_of(row, EVENT);

	(void)error;
	pd_builder_event(&self->builder, event.data, event.size, false);
	return self->builder.status;
}

static enum pd_status
each_row(struct getting *self, const struct pd_store_choice *choice, const char *before, const char *after,
	 enum pd_status (*add)(struct getting *self, struct pd_sql_statement *row, struct pd_error *error),
	 struct pd_error *error)
{
	struct pd_sql_statement *row = NULL;
	enum pd_status status = pd_store_ask_for(self->database, choice, before, after, &row, error);

	while (status >= 0 && (status = pd_sql_sqlite.step(row, error)) == PD_OK)
		status = add(self, row, error);
	pd_sql_sqlite.finish(row);
	return status < 0 ? status : PD_OK;
}

// Recordings without call chains have stacks of one frame.
static enum pd_status see_depth(struct getting *self, struct pd_sql_statement *row, struct pd_error *error)
{
	(void)error;
	self->builder.no_chains = value_of(row, 0).integer <= 1;
	return PD_OK;
}

// When they were lost is not known: those of a recording are lost as soon as any of its samples is chosen.
static enum pd_status add_lost(struct getting *self, const struct pd_store_choice *choice, struct pd_error *error)
{
	struct pd_sql_statement *row = NULL;
	struct pd_text text = { 0 };
	const char *rest;
	enum pd_status status;

	PD_TEXT_LITERAL(&text, "SELECT " PD_STORE_KEPT(PD_STORE_SUM("lost")) " FROM profiles p WHERE ");
	status = pd_store_put_chosen(choice, &text, error);
	pd_text_char(&text, 0);
	if (status >= 0)
		status = text.failed ? pd_fail_memory(error) :
				       pd_sql_sqlite.prepare(self->database, text.data, &row, &rest, error);
	pd_free(text.data);
	if (status >= 0)
		status = pd_sql_sqlite.step(row, error);
	if (status == PD_OK)
		pd_builder_lost(&self->builder, (uint64_t)value_of(row, 0).integer);
	pd_sql_sqlite.finish(row);
	return status < 0 ? status : self->builder.status;
}

static enum pd_status add_rows(struct getting *self, const struct pd_store_choice *choice, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (self->frames.given)
		status = each_row(self, choice, "SELECT max(depth) FROM samples JOIN stacks USING (stack) WHERE ", "",
				  see_depth, error);
	if (status >= 0)
		status = each_row(self, choice, "SELECT event FROM samples WHERE ",
				  " GROUP BY event ORDER BY min(samples.rowid)", add_event, error);
	if (status >= 0)
		status = add_lost(self, choice, error);
	if (status < 0)
		return status;
	return each_row(self, choice, "SELECT event, comm, pid, tid, stack, value, count FROM samples WHERE ",
			" ORDER BY rowid", add_row, error);
}

static enum pd_status get_all(const char *path, const struct pd_store_choice *choice, struct pd_writer *writer,
			      struct pd_given *given, uint64_t *samples_out, struct pd_error *error)
{
	const struct pd_import_options how = { .size = sizeof(how), .name = "store" };
	struct pd_store_choice all = { 0 };
	const struct pd_store_question question = { &all, PD_STORE_NEED_NAMES };
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
	self->builder.sample_type = given ? PD_MASK(PD_SAMPLE_TYPE_WEIGHT) : 0;
	self->frames = (struct pd_store_frames){ .builder = &self->builder, .given = given };
	self->frames.objects.seed = self->frames.addresses.seed = self->frames.mapped.seed = pd_hash_secret();
	status = pd_store_open(path, &question, &self->database, error);
	if (status >= 0) {
		status = add_rows(self, &all, error);
		pd_sql_sqlite.close(self->database);
	}
	if (status >= 0 && !result.samples)
		status = pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "no sample of the store fits");
	if (samples_out)
		*samples_out = result.samples;
	pd_store_frames_fini(&self->frames);
	pd_builder_fini(&self->builder);
	pd_u64_map_fini(&self->known_of);
	pd_free(self->known);
	pd_free(self);
	return status;
}

enum pd_status pd_store_get(const char *path, const struct pd_store_choice *choice, struct pd_writer *writer,
			    uint64_t *samples_out, struct pd_error *error)
{
	return get_all(path, choice, writer, NULL, samples_out, error);
}

// ---- to be read at once ----

static enum pd_status write_all(const char *path, const struct pd_store_choice *choice, int fd, struct pd_given *given,
				struct pd_error *error)
{
	const struct pd_writer_place place = { .size = sizeof(place), .fd = fd, .name = path };
	struct pd_writer *writer;
	enum pd_status status = pd_writer_open_at(&place, NULL, &writer, error);

	if (status < 0)
		return status;
	status = get_all(path, choice, writer, given, NULL, error);
	if (status >= 0)
		return pd_writer_finish(writer, error);
	pd_writer_abort(writer);
	return status;
}

static enum pd_status open_chosen(const char *path, const struct pd_store_choice *choice,
				  const struct pd_open_options *options, struct pd_file **file_out,
				  struct pd_error *error)
{
	struct pd_given *given = pd_given_new();
	enum pd_status status = given ? PD_OK : pd_fail_memory(error);
	int fd = status < 0 ? -1 :
			      pd_source_temporary(options && options->temp_dir ? options->temp_dir : "/tmp", error);

	if (status >= 0)
		status = fd < 0 ? PD_ERROR_SYSTEM : write_all(path, choice, fd, given, error);
	if (status >= 0 && lseek(fd, 0, SEEK_SET) == 0) {
		status = pd_file_open_owned(fd, options, file_out, error);
		fd = -1;
	} else if (status >= 0) {
		status = pd_fail_system(error, errno, "%s", path);
	}
	if (status >= 0) {
		pd_file_give(*file_out, given, pd_given_free);
		return status;
	}
	if (fd >= 0)
		close(fd);
	pd_given_free(given);
	return status;
}

const char *pd_store_credentials(const struct pd_store_profile *said)
{
	struct pd_store_profile all = { 0 };

	if (said)
		memcpy(&all, said, said->size < sizeof(all) ? said->size : sizeof(all));
	return all.credentials;
}

enum pd_status pd_store_open_with(const char *path, const char *const *words, size_t count,
				  const struct pd_store_profile *said, const struct pd_open_options *options,
				  struct pd_file **file_out, struct pd_error *error)
{
	struct pd_store_choice *choice;
	enum pd_status status = pd_store_choice_new(words, count, pd_store_credentials(said), &choice, error);

	if (status < 0)
		return status;
	status = open_chosen(path, choice, options, file_out, error);
	pd_store_choice_free(choice);
	return status;
}

enum pd_status pd_store_open_file(const char *path, const char *const *words, size_t count,
				  const struct pd_open_options *options, struct pd_file **file_out,
				  struct pd_error *error)
{
	return pd_store_open_with(path, words, count, NULL, options, file_out, error);
}
