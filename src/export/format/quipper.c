/* SPDX-License-Identifier: MIT */
/* PerfDataProto of quipper: all records, not samples alone. */
#include <perfdata/quipper.h>

#include "base/error.h"
#include "export/export.h"

static bool show_progress(void *self, uint64_t done, uint64_t total)
{
	const struct pd_export *export_ = self;

	return !export_->options.progress || export_->options.progress(export_->options.self, done, total);
}

static enum pd_status export_file(struct pd_export *self, struct pd_file *file, bool text, struct pd_error *error)
{
	const struct pd_quipper_options options = { .size = sizeof(options),
						    .text = text,
						    .remap = self->options.remap,

						    .progress = show_progress,
						    .self = self };
	struct pd_quipper_result result;
	enum pd_status status = pd_quipper_write(file, &options, self->text, &result, error);

	if (status < 0)
		return status;
	self->result.samples = self->result.samples_read = result.samples;
	self->result.damaged = result.damaged;
	self->dropped[PD_SUPPORT_RECORDS] = result.left_out;
	self->dropped[PD_SUPPORT_PARTS] = result.parts;
	return PD_OK;
}

static enum pd_status export_binary(struct pd_export *self, struct pd_file *file, struct pd_error *error)
{
	return export_file(self, file, false, error);
}

static enum pd_status export_text(struct pd_export *self, struct pd_file *file, struct pd_error *error)
{
	return export_file(self, file, true, error);
}

const struct pd_export_sink pd_export_sink_quipper = { .all_records = true, .whole = export_binary };
const struct pd_export_sink pd_export_sink_quipper_text = { .all_records = true, .whole = export_text };
