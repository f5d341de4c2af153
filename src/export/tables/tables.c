/* SPDX-License-Identifier: MIT */
/* Exports of tables: all of a file into a folder, or one. */
#include "table/file/format.h"

#include "export/export.h"
#include "write/packer.h"

enum {
	LEVEL = 3,       // of zstd
	NAME_BYTES = 128 // of a table that is the name of a file
};

struct tables {
	struct pd_export *export_;
	const struct pd_table_format *format;
	struct pd_table_set *set;
	void *packer;
	struct pd_text *description;
};

// ---- a table ----

static enum pd_status write_rows(struct tables *tables, struct pd_table_file *file, struct pd_error *error)
{
	const struct pd_scan_limits limits = { 0 };
	struct pd_scan *scan = NULL;
	const struct pd_columns *batch;
	bool *wanted = pd_alloc(file->table->column_count + 1);
	enum pd_status status;

	if (!wanted)
		return pd_fail_memory(error);
	memset(wanted, 1, file->table->column_count);
	status = pd_scan_open(tables->set, file->table, wanted, &limits, PD_ORDER_FILE, &scan, error);
	pd_free(wanted);
	if (status >= 0)
		status = file->format->begin(file, error);
	while (status >= 0) {
		status = pd_scan_next(scan, &batch, error);
		if (status != PD_OK)
			break;
		file->rows += batch->rows;
		status = file->format->add(file, batch, error);
	}
	pd_scan_close(scan);
	return status < 0 ? status : file->format->end(file, error);
}

static enum pd_status write_table(struct tables *tables, const struct pd_table *table, struct pd_text *text,
				  struct pd_error *error)
{
	struct pd_table_file file = { .format = tables->format,
				      .table = table,
				      .strings = &tables->set->strings,
				      .text = text,
				      .packer = tables->packer };
	enum pd_status status;

	file.own = pd_alloc(file.format->size + 1);
	if (!file.own)
		return pd_fail_memory(error);
	status = write_rows(tables, &file, error);
	if (status >= 0)
		status = pd_table_file_flush(&file, error);
	file.format->fini(&file);
	pd_free(file.own);
	if (pd_table_full(table)->id == PD_TABLE_samples)
		tables->export_->result.samples = tables->export_->result.samples_read = file.rows;
	return status;
}

// ---- all of them ----

// A system and an event: the only names that a recording chooses and a file gets.
static bool is_plain(const char *name)
{
	static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t first = strspn(name, harmless), second = name[first] == ':' ? strspn(name + first + 1, harmless) : 0;

	return first && second && !name[first + 1 + second] && strlen(name) < NAME_BYTES;
}

// "samples", "sched.sched_switch", or by its number.
static void name_file(const struct pd_table *table, size_t number, const char *suffix, struct pd_text *text)
{
	bool from_recording = pd_table_full(table)->id == PD_TABLE_TRACEPOINT;
	size_t at = text->size;

	if (from_recording && !is_plain(table->name))
		pd_text_printf(text, "tracepoint-%zu", number);
	else
		pd_text_add(text, table->name);
	for (; at < text->size; at++)
		text->data[at] = (char)(text->data[at] == ':' ? '.' : text->data[at]);
	pd_text_add(text, suffix);
	pd_text_char(text, 0);
}

static enum pd_status open_file(const struct tables *tables, const char *name, struct pd_text **text_out,
				struct pd_error *error)
{
	const struct pd_export_options *options = &tables->export_->options;

	*text_out = options->file(options->self, name);
	return *text_out ? PD_OK : pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "cannot create a file");
}

static enum pd_status write_one(struct tables *tables, const struct pd_table *table, size_t number,
				struct pd_error *error)
{
	struct pd_text name = { 0 }, *text;
	enum pd_status status;

	name_file(table, number, tables->format->suffix, &name);
	status = name.failed ? pd_fail_memory(error) : open_file(tables, name.data, &text, error);
	pd_free(name.data);
	if (status < 0)
		return status;
	if (tables->format->describe)
		tables->format->describe(table, tables->description);
	return write_table(tables, table, text, error);
}

static enum pd_status write_all(struct tables *tables, struct pd_error *error)
{
	struct pd_text *text = NULL;
	enum pd_status status = PD_OK;

	if (tables->format->description)
		status = open_file(tables, tables->format->description, &text, error);
	tables->description = text;
	for (size_t i = 0; status >= 0 && pd_table_at(tables->set, i); i++)
		status = write_one(tables, pd_table_at(tables->set, i), i, error);
	if (status >= 0 && text && text->failed)
		status = pd_fail_memory(error);
	return status;
}

static enum pd_status write_tables(struct tables *tables, struct pd_error *error)
{
	const char *name = tables->export_->options.table;
	const struct pd_table *table = name ? pd_table_by_name(tables->set, name) : NULL;

	if (!name)
		return write_all(tables, error);
	if (!table)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "there is no table '%s'", name);
	return write_table(tables, table, tables->export_->text, error);
}

static enum pd_status export_tables(struct pd_export *self, struct pd_file *file, const struct pd_table_format *format,
				    struct pd_error *error)
{
	const struct pd_table_options options = { .size = sizeof(options),
						  .choose = self->options.choose,
						  .ready = self->options.ready,
						  .symbols = self->options.symbols,
						  .self = self->options.self,
						  .max_stack = self->options.max_stack,
						  .no_unwind = self->options.no_unwind };
	struct tables tables = { .export_ = self, .format = format };
	enum pd_status status = pd_table_set_new(file, &options, &tables.set, error);

	if (status >= 0 && pd_packer_zstd.start) {
		tables.packer = pd_packer_zstd.start(LEVEL);
		status = tables.packer ? PD_OK : pd_fail_memory(error);
	}
	if (status >= 0)
		status = write_tables(&tables, error);
	if (tables.packer)
		pd_packer_zstd.close(tables.packer);
	pd_table_set_free(tables.set);
	return status;
}

#define SINK(name)                                                                                                \
	static enum pd_status export_##name(struct pd_export *self, struct pd_file *file, struct pd_error *error) \
	{                                                                                                         \
		return export_tables(self, file, &pd_table_format_##name, error);                                 \
	}                                                                                                         \
	const struct pd_export_sink pd_export_sink_##name = { .in_folder = true,                                  \
							      .of_tables = true,                                  \
							      .whole = export_##name };

SINK(arrow)
SINK(arrow_stream)
SINK(parquet)
SINK(rowbinary)
