/* SPDX-License-Identifier: MIT */
/* The inside of an import: what a format is given. */
#ifndef PD_IMPORT_IMPORT_H
#define PD_IMPORT_IMPORT_H

#include <perfdata/import.h>

typedef enum pd_status pd_import_fn(const struct pd_import_options *options, struct pd_writer *writer,
				    struct pd_import_result *result, struct pd_error *error);

#define FORMAT(name, shown, doc) pd_import_fn pd_import_##name;
#include "import/formats.def"

#endif
