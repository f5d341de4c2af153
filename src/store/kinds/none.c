/* SPDX-License-Identifier: MIT */
/* Builds that write no files have no other kinds of stores. */
#include "base/error.h"
#include "store/kinds/kinds.h"

static enum pd_status refuse(struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "this build has no stores but files of SQLite");
}

enum pd_status pd_store_folder_add(const char *path, const struct pd_store_recording *recording, struct pd_error *error)
{
	(void)path;
	(void)recording;
	return refuse(error);
}

enum pd_status pd_store_folder_prepare(const char *path, struct pd_error *error)
{
	(void)path;
	return refuse(error);
}

char *pd_store_folder_list(const char *path)
{
	(void)path;
	return NULL;
}

enum pd_status pd_store_folder_open(const char *path, const struct pd_store_question *question,
				    struct pd_sql_database **database_out, struct pd_error *error)
{
	(void)path;
	(void)question;
	(void)database_out;
	return refuse(error);
}

enum pd_status pd_store_folder_prune(const char *path, uint64_t before_ns, struct pd_error *error)
{
	(void)path;
	(void)before_ns;
	return refuse(error);
}

enum pd_status pd_store_server_read(const char *url, const struct pd_store_question *question,
				    struct pd_sql_database **database_out, struct pd_error *error)
{
	return pd_store_folder_open(url, question, database_out, error);
}

enum pd_status pd_store_server_prune(const char *url, const struct pd_store_options *options, struct pd_error *error)
{
	(void)options;
	return pd_store_folder_prune(url, 0, error);
}

enum pd_status pd_store_server_add(const char *url, const struct pd_store_recording *recording, struct pd_error *error)
{
	(void)url;
	(void)recording;
	return refuse(error);
}

enum pd_status pd_store_server_prepare(const char *url, const struct pd_store_profile *profile, struct pd_error *error)
{
	(void)url;
	(void)profile;
	return refuse(error);
}

enum pd_status pd_store_server_print(const char *const *words, size_t count, const struct pd_store_options *options,
				     struct pd_text *text, struct pd_error *error)
{
	(void)words;
	(void)count;
	(void)options;
	(void)text;
	return refuse(error);
}
