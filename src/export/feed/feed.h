/* SPDX-License-Identifier: MIT */
/* From the records of a file to the samples of a format. */
#ifndef PD_EXPORT_FEED_FEED_H
#define PD_EXPORT_FEED_FEED_H

#include "export/export.h"

// Reads the file and gives its samples to the format. PD_ERROR_NO_MATCH: there were none.
enum pd_status pd_export_feed(struct pd_export *self, struct pd_file *file, struct pd_error *error);

#endif
