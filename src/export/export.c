/* SPDX-License-Identifier: MIT */
#include "export/export.h"

#include <string.h>

#include "base/error.h"
#include "export/feed/feed.h"

#define FORMAT(name, shown, suffix, binary, supports, doc) extern const struct pd_export_sink pd_export_sink_##name;
#include "export/formats.def"

static const struct {
	struct pd_export_format about;
	const struct pd_export_sink *sink;
	uint64_t supports;
} formats[] = {
#define FORMAT(name, shown, suffix, binary, supports, doc) \
	{ { shown, suffix, doc, binary }, &pd_export_sink_##name, supports },
#include "export/formats.def"
};

bool pd_export_format(size_t index, struct pd_export_format *format_out)
{
	if (index >= sizeof(formats) / sizeof(formats[0]))
		return false;
	*format_out = formats[index].about;
	format_out->whole = formats[index].sink->all_records;
	format_out->folder = formats[index].sink->in_folder;
	format_out->tables = formats[index].sink->of_tables;
	format_out->own_file = format_out->tables && !format_out->folder;
	return true;
}

bool pd_export_format_find(const char *name, struct pd_export_format *format_out)
{
	for (size_t i = 0; name && pd_export_format(i, format_out); i++)
		if (!strcmp(format_out->name, name))
			return true;
	return false;
}

// ---- the interface ----

static enum pd_status check_options(const struct pd_export_options *options, size_t format, struct pd_error *error)
{
	const struct pd_export_sink *sink;

	if (format == sizeof(formats) / sizeof(formats[0]))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "there is no format of this name");
	sink = formats[format].sink;
	if (options->table && !(sink->of_tables && sink->in_folder))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s has no tables to choose from",
			       formats[format].about.name);
	if (sink->in_folder && !options->table && !options->file)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "the format has several files, which nobody opens");
	if (sink->of_tables && options->choose_place)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "tables cannot be chosen by objects and functions");
	return PD_OK;
}

enum pd_status pd_export_new(const struct pd_export_options *options, struct pd_text *text,
			     struct pd_export **export_out, struct pd_error *error)
{
	size_t size = options->size < sizeof(*options) ? options->size : sizeof(*options), found = 0;
	struct pd_export *self = pd_alloc(sizeof(*self));
	enum pd_status status;

	if (!self)
		return pd_fail_memory(error);
	memcpy(&self->options, options, size);
	while (found < sizeof(formats) / sizeof(formats[0]) &&
	       (!self->options.format || strcmp(formats[found].about.name, self->options.format) != 0))
		found++;
	status = check_options(&self->options, found, error);
	if (status < 0) {
		pd_free(self);
		return status;
	}
	self->text = text;
	self->format = formats[found].sink;
	self->supports = formats[found].supports;
	if (self->format->in_folder && !self->format->of_tables && self->options.tasks_and_maps)
		self->supports |= PD_SUPPORTS(COMM) | PD_SUPPORTS(FORK) | PD_SUPPORTS(EXIT);
	self->sink = pd_alloc(self->format->size + 1);
	if (!self->sink) {
		pd_free(self);
		return pd_fail_memory(error);
	}
	*export_out = self;
	return PD_OK;
}

void pd_export_free(struct pd_export *export_)
{
	struct pd_export *self = export_;

	if (!self)
		return;
	if (self->format->fini)
		self->format->fini(self);
	if (self->has_places) {
		pd_places_fini(&self->places);
		pd_tables_fini(&self->tables);
	}
	pd_run_forget(self->pieces);
	pd_unwinder_free(self->unwinder);
	pd_symbols_free(self->own_symbols);
	pd_profile_free(self->profile);
	pd_state_free(self->state);
	pd_u64_map_fini(&self->value_of);
	pd_free(self->last_values);
	pd_free(self->sums);
	pd_free(self->comm_of);
	pd_free(self->sink);
	pd_free(self);
}

enum pd_status pd_export_run(struct pd_export *export_, struct pd_file *file, struct pd_error *error)
{
	return export_->format->whole ? export_->format->whole(export_, file, error) :
					pd_export_feed(export_, file, error);
}

struct pd_export_result pd_export_result(const struct pd_export *export_)
{
	return export_->result;
}
