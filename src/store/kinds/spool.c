/* SPDX-License-Identifier: MIT */
/*
 * Recordings on their way to a server. Each is a store of SQLite in a folder until all of it has arrived, so that neither a server that
 * is gone nor a program that is killed loses one. What was sent in part is sent on: the server is asked what it has.
 */
#include "store/kinds/kinds.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"
#include "store/kinds/body.h"
#include "store/kinds/server.h"

enum {
	HASH_CHARS = 32,
	NAME_CHARS = HASH_CHARS + 3, // HASH.db
	SECONDS = 86400              // of a day
};

struct spool {
	struct pd_store_server *server;
	char *path;
	int lock;                     // descriptor; whoever has it sends
	struct pd_sql_database *rows; // of the recording that is sent
	const char *hash;             // of it
	struct pd_text body, answer, statement;
};

// ---- the folder ----

static enum pd_status fail_path(const char *path, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s: %s", path, strerror(errno));
}

static char *join(const char *folder, const char *name, const char *suffix)
{
	struct pd_text text = { 0 };

	pd_text_printf(&text, "%s/%s%s%c", folder, name, suffix, 0);
	if (!text.failed)
		return text.data;
	pd_free(text.data);
	return NULL;
}

// Nobody else may write there: what is in it is sent.
static enum pd_status make_private(const char *path, struct pd_error *error)
{
	struct stat about;

	if ((mkdir(path, 0700) < 0 && errno != EEXIST) || lstat(path, &about) < 0)
		return fail_path(path, error);
	if (!S_ISDIR(about.st_mode) || about.st_uid != geteuid() || about.st_mode & (S_IWGRP | S_IWOTH))
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET,
			       "%s: must be a folder of this user that others cannot write to", path);
	return PD_OK;
}

static enum pd_status open_folder(struct spool *spool, const struct pd_store_profile *profile, struct pd_error *error)
{
	struct pd_text base = { 0 };
	enum pd_status status;

	if (profile && profile->spool && *profile->spool)
		pd_text_add(&base, profile->spool);
	else
		pd_text_printf(&base, "/var/tmp/perfdata-%u", (unsigned)geteuid());
	pd_text_char(&base, 0);
	status = base.failed ? pd_fail_memory(error) : make_private(base.data, error);
	if (status >= 0) {
		spool->path = join(base.data, pd_store_server_name(spool->server), "");
		status = spool->path ? make_private(spool->path, error) : pd_fail_memory(error);
	}
	pd_free(base.data);
	return status;
}

static enum pd_status lock_folder(struct spool *spool, struct pd_error *error)
{
	char *path = join(spool->path, ".lock", "");
	enum pd_status status = PD_OK;

	if (!path)
		return pd_fail_memory(error);
	spool->lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
	while (spool->lock >= 0 && flock(spool->lock, LOCK_EX) < 0)
		if (errno != EINTR) {
			status = fail_path(path, error);
			break;
		}
	if (spool->lock < 0)
		status = fail_path(path, error);
	pd_free(path);
	return status;
}

static enum pd_status open_spool(struct spool *spool, const char *url, const struct pd_store_profile *profile,
				 struct pd_error *error)
{
	enum pd_status status = pd_store_server_open(url, profile, &spool->server, error);

	return status < 0 ? status : open_folder(spool, profile, error);
}

static void close_spool(struct spool *spool)
{
	if (spool->lock >= 0)
		close(spool->lock);
	pd_store_server_close(spool->server);
	pd_free(spool->path);
	pd_free(spool->body.data);
	pd_free(spool->answer.data);
	pd_free(spool->statement.data);
}

// ---- a recording ----

static enum pd_status run_statement(struct spool *spool, const char *settings, struct pd_bytes body,
				    struct pd_error *error)
{
	pd_text_char(&spool->statement, 0);
	if (spool->statement.failed)
		return pd_fail_memory(error);
	return pd_store_server_run(spool->server, settings, spool->statement.data, body, &spool->answer, error);
}

// About the rows of the recording that the server has.
static enum pd_status ask_for(struct spool *spool, const char *what, const struct pd_store_part *part, const char *form,
			      struct pd_error *error)
{
	const struct pd_bytes nothing = { NULL, 0 };

	pd_text_clear(&spool->statement);
	pd_text_printf(&spool->statement, "SELECT %s FROM %s WHERE profile = '%s'", what, part->table->name,
		       spool->hash);
	if (part->table->by_day)
		pd_text_printf(&spool->statement,
			       " AND toUnixTimestamp(time) >= %" PRId64 " AND toUnixTimestamp(time) < %" PRId64,
			       part->day * SECONDS, part->day * SECONDS + SECONDS);
	pd_text_add(&spool->statement, form);
	return run_statement(spool, "", nothing, error);
}

typedef enum pd_status try_fn(struct spool *spool, const struct pd_store_part *part, uint64_t *result_out,
			      struct pd_error *error);

// What failed may have been done: whoever tries again looks first.
static enum pd_status try_often(struct spool *spool, try_fn *act, const struct pd_store_part *part,
				uint64_t *result_out, struct pd_error *error)
{
	for (unsigned turn = 1;; turn++) {
		enum pd_status status = act(spool, part, result_out, error);

		if (status != PD_ERROR_OUTPUT || !pd_store_server_wait(spool->server, turn))
			return status;
	}
}

static enum pd_status count_rows(struct spool *spool, const struct pd_store_part *part, uint64_t *count_out,
				 struct pd_error *error)
{
	enum pd_status status = ask_for(spool, "count()", part, "", error);

	pd_text_char(&spool->answer, 0);
	if (status >= 0 && spool->answer.failed)
		return pd_fail_memory(error);
	*count_out = status < 0 ? 0 : strtoull(spool->answer.data, NULL, 10);
	return status;
}

static enum pd_status insert_rows(struct spool *spool, const struct pd_store_part *part, uint64_t rows,
				  struct pd_error *error)
{
	const struct pd_bytes body = { (const uint8_t *)spool->body.data, spool->body.size };
	const struct pd_store_column *column;
	char settings[80];

	pd_text_clear(&spool->statement);
	pd_text_printf(&spool->statement, "INSERT INTO %s (", part->table->name);
	for (size_t i = 0; (column = pd_store_part_column(part, i)) != NULL; i++)
		pd_text_printf(&spool->statement, "%s%s", i ? ", " : "", column->name);
	pd_text_add(&spool->statement, ") FORMAT RowBinary");
	// one block: it arrives as a whole or not at all
	snprintf(settings, sizeof(settings), "&max_insert_block_size=%" PRIu64 "&insert_distributed_sync=1", rows);
	return run_statement(spool, settings, body, error);
}

// Which stacks there are.
static enum pd_status read_present(struct spool *spool, const struct pd_store_part *part, struct pd_u64_map *present,
				   struct pd_error *error)
{
	enum pd_status status = ask_for(spool, "DISTINCT stack", part, " FORMAT RowBinary", error);

	for (size_t at = 0; status >= 0 && at + 8 <= spool->answer.size; at += 8) {
		uint64_t stack = 0;

		for (unsigned i = 0; i < 8; i++)
			stack |= (uint64_t)(uint8_t)spool->answer.data[at + i] << 8 * i;
		if (!pd_u64_map_set(present, stack, 1))
			status = pd_fail_memory(error);
	}
	return status;
}

// Of several servers one may have its rows, and another one not: all of a stack are on the same one.
static enum pd_status insert_rest(struct spool *spool, const struct pd_store_part *part, uint64_t missing,
				  struct pd_error *error)
{
	struct pd_u64_map present = { .seed = pd_hash_secret() };
	uint64_t rows = 0;
	enum pd_status status = read_present(spool, part, &present, error);

	pd_text_clear(&spool->body);
	if (status >= 0)
		status = pd_store_put_body(spool->rows, part, &present, &spool->body, &rows, error);
	pd_u64_map_fini(&present);
	if (status >= 0 && rows != missing)
		status = pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET,
				 "%s: table %s has some rows of recording %s that it cannot have",
				 pd_store_server_name(spool->server), part->table->name, spool->hash);
	return status < 0 ? status : insert_rows(spool, part, rows, error);
}

// Rows that have no number of their own are counted before, so that none arrives twice.
static enum pd_status put_once(struct spool *spool, const struct pd_store_part *part, uint64_t *there_out,
			       struct pd_error *error)
{
	const struct pd_store_table *profiles = &pd_store_tables[PD_STORE_TABLE_profiles];
	uint64_t rows, there = 0;
	enum pd_status status;

	pd_text_clear(&spool->body);
	status = pd_store_put_body(spool->rows, part, NULL, &spool->body, &rows, error);
	if (status < 0 || !rows)
		return status;
	if (part->table->by_day || part->table == profiles)
		status = count_rows(spool, part, &there, error);
	*there_out = there;
	if (status < 0 || there == rows)
		return status;
	return there ? insert_rest(spool, part, rows - there, error) : insert_rows(spool, part, rows, error);
}

static enum pd_status put_part(void *self, const struct pd_store_part *part, struct pd_error *error)
{
	uint64_t ignored;

	return try_often(self, put_once, part, &ignored, error);
}

static enum pd_status has_all(struct spool *spool, bool *has_out, struct pd_error *error)
{
	const struct pd_store_part part = { .table = &pd_store_tables[PD_STORE_TABLE_profiles], .in = PD_STORE_SERVER };
	uint64_t count = 0;
	enum pd_status status = try_often(spool, count_rows, &part, &count, error);

	*has_out = count;
	return status;
}

static enum pd_status send_file(struct spool *spool, const char *path, struct pd_error *error)
{
	bool has = false;
	enum pd_status status = has_all(spool, &has, error);

	if (status >= 0 && !has)
		status = pd_store_file_open(path, &spool->rows, error);
	if (status >= 0 && !has) {
		status = pd_store_each_part(spool->rows, PD_STORE_SERVER, put_part, spool, error);
		pd_sql_sqlite.close(spool->rows);
	}
	if (status >= 0 && unlink(path) < 0)
		status = fail_path(path, error);
	return status;
}

// ---- all that wait ----

static bool is_recording(const char *name)
{
	return strlen(name) == NAME_CHARS && strspn(name, "0123456789abcdef") == HASH_CHARS &&
	       !strcmp(name + HASH_CHARS, ".db");
}

static enum pd_status send_named(struct spool *spool, const char *name, struct pd_error *error)
{
	char *path = join(spool->path, name, ""), hash[HASH_CHARS + 1];
	enum pd_status status;

	if (!path)
		return pd_fail_memory(error);
	snprintf(hash, sizeof(hash), "%.*s", HASH_CHARS, name);
	spool->hash = hash;
	status = send_file(spool, path, error);
	pd_free(path);
	return status;
}

// The first that cannot be sent says why; those after it are tried if there is a server.
static enum pd_status send_all(struct spool *spool, struct pd_error *error)
{
	DIR *folder = opendir(spool->path);
	enum pd_status status = PD_OK;
	const struct dirent *entry;
	struct pd_error other;

	if (!folder)
		return fail_path(spool->path, error);
	while (!pd_store_server_is_gone(spool->server) && (entry = readdir(folder)) != NULL) {
		enum pd_status sent = PD_OK;

		if (is_recording(entry->d_name))
			sent = send_named(spool, entry->d_name, status < 0 ? &other : error);
		status = status < 0 ? status : sent;
	}
	closedir(folder);
	return status < 0 ? status : PD_OK;
}

static enum pd_status put_file(const struct spool *spool, const struct pd_store_recording *recording, const char *path,
			       struct pd_error *error)
{
	char *made = join(spool->path, ".adding-XXXXXX", "");
	int fd = made ? mkstemp(made) : -1;
	enum pd_status status = !made  ? pd_fail_memory(error) :
				fd < 0 ? fail_path(made, error) :
					 pd_store_file_add(made, recording, false, error);

	if (status >= 0 && rename(made, path) < 0)
		status = fail_path(path, error);
	if (fd >= 0) {
		close(fd);
		if (status < 0)
			unlink(made);
	}
	pd_free(made);
	return status;
}

static enum pd_status fail_waiting(const char *path, struct pd_error *error)
{
	char why[sizeof(error->message)];

	if (!error)
		return PD_ERROR_OUTPUT;
	memcpy(why, error->message, sizeof(why));
	return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%.400s; it waits as %.400s for the next store add", why,
		       path);
}

// What was not sent of others is no matter of this one.
static enum pd_status send_own(struct spool *spool, const char *path, struct pd_error *error)
{
	enum pd_status status = lock_folder(spool, error);

	if (status >= 0)
		status = send_all(spool, error);
	if (status < 0 && access(path, F_OK) != 0)
		return PD_OK;
	return status;
}

static enum pd_status add_new(struct spool *spool, const struct pd_store_recording *recording, bool is_asked,
			      struct pd_error *error)
{
	char *path = join(spool->path, recording->hash, ".db");
	enum pd_status status = path ? PD_OK : pd_fail_memory(error);
	struct pd_error own;

	if (status >= 0)
		status = put_file(spool, recording, path, is_asked ? error : &own);
	if (status < 0 && !is_asked && error)
		*error = own;
	if (status >= 0) {
		status = is_asked ? send_own(spool, path, error) : PD_ERROR_OUTPUT;
		if (status < 0)
			status = fail_waiting(path, error);
	}
	pd_free(path);
	return status;
}

enum pd_status pd_store_server_add(const char *url, const struct pd_store_recording *recording, struct pd_error *error)
{
	struct spool spool = { .lock = -1, .hash = recording->hash };
	enum pd_status status = open_spool(&spool, url, recording->profile, error);
	bool has = false;

	if (status >= 0) {
		has_all(&spool, &has, error);
		status = has ? PD_END : add_new(&spool, recording, !pd_store_server_is_gone(spool.server), error);
	}
	close_spool(&spool);
	return status;
}

enum pd_status pd_store_server_send(const char *url, const struct pd_store_profile *profile, struct pd_error *error)
{
	struct spool spool = { .lock = -1 };
	enum pd_status status = open_spool(&spool, url, profile, error);

	if (status >= 0)
		status = lock_folder(&spool, error);
	if (status >= 0)
		status = send_all(&spool, error);
	close_spool(&spool);
	return status;
}

enum pd_status pd_store_server_prepare(const char *url, const struct pd_store_profile *profile, struct pd_error *error)
{
	struct spool spool = { .lock = -1 };
	enum pd_status status = open_spool(&spool, url, profile, error);

	close_spool(&spool);
	return status;
}
