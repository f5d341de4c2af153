/* SPDX-License-Identifier: MIT */
/* All tables as a plain SQLite file, as perfdata sql keeps them. */
#include <perfdata/sql.h>

#include "base/error.h"
#include "export/export.h"

static enum pd_status export_sqlite(struct pd_export *self, struct pd_file *file, struct pd_error *error)
{
	const struct pd_export_options *options = &self->options;
	const struct pd_sql_options how = { .size = sizeof(how),
					    .tables = { .size = sizeof(how.tables),
							.choose = options->choose,
							.ready = options->ready,
							.symbols = options->symbols,
							.self = options->self,
							.max_stack = options->max_stack,
							.no_unwind = options->no_unwind } };
	struct pd_sql *sql;
	enum pd_status status;

	if (!options->path)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "a database needs a file of its own");
	status = pd_sql_new(&file, 1, &how, &sql, error);
	if (status < 0)
		return status;
	status = pd_sql_save(sql, options->path, error);
	pd_sql_free(sql);
	return status;
}

const struct pd_export_sink pd_export_sink_sqlite = { .of_tables = true, .whole = export_sqlite };
