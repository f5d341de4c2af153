/* SPDX-License-Identifier: MIT */
/* A recording that is only named is opened, added and closed. */
#include "store/store.h"

#include <string.h>

struct adding {
	const struct pd_store_profile *profile;
	struct pd_file *file;
	struct pd_symbols *symbols;
};

static struct pd_symbols *open_symbols(void *self, const struct pd_state *state)
{
	struct adding *adding = self;

	adding->symbols = adding->profile->symbols(adding->profile->self, adding->file, state);
	return adding->symbols;
}

enum pd_status pd_store_add_file(const char *path, const char *file, const struct pd_store_profile *profile,
				 struct pd_error *error)
{
	struct pd_store_profile all = { .size = sizeof(all) };
	struct adding adding = { .profile = &all };
	struct pd_sql_options how = { .size = sizeof(how), .tables = { .self = &adding } };
	struct pd_sql *sql = NULL;
	enum pd_status status;

	if (profile)
		memcpy(&all, profile, profile->size < sizeof(all) ? profile->size : sizeof(all));
	if (all.symbols)
		how.tables.symbols = open_symbols;
	status = pd_file_open(file, NULL, &adding.file, error);
	if (status >= 0)
		status = pd_sql_new(&adding.file, 1, &how, &sql, error);
	if (status >= 0)
		status = pd_store_add(path, sql, adding.file, &all, error);
	pd_sql_free(sql);
	pd_symbols_free(adding.symbols);
	pd_file_close(adding.file);
	return status;
}
