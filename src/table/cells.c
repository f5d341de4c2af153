/* SPDX-License-Identifier: MIT */
/* What tables that are made from records and structs of the format have in common. */
#include "table/scan.h"

#include "format/text/print.h"

const void *pd_scan_decode(struct pd_scan *scan, const struct pd_record *record)
{
	const void *decoded;
	enum pd_status status = pd_record_decode(record, &decoded, NULL);

	if (status == PD_OK)
		return decoded;
	if (status == PD_ERROR_MEMORY)
		scan->batch.failed = true;
	else
		pd_record_as(record, record->type);
	return NULL;
}

void pd_scan_put_string(struct pd_scan *scan, size_t column, const char *text)
{
	if (text)
		pd_put_number(&scan->batch, column, pd_tables_text(&scan->set->strings, text));
}

static void put_field_number(struct pd_scan *scan, size_t column, const struct pd_field *field, const void *decoded)
{
	double value;

	if (field->kind == PD_KIND_F64) {
		memcpy(&value, (const uint8_t *)decoded + field->offset, sizeof(value));
		pd_put_double(&scan->batch, column, value);
	} else if (field->kind == PD_KIND_S32 || field->show == PD_SHOW_SIGNED) {
		pd_put_number(&scan->batch, column, (uint64_t)pd_signed_member(field, decoded));
	} else {
		pd_put_number(&scan->batch, column, pd_member(decoded, field->offset, field->size));
	}
}

void pd_scan_put_field(struct pd_scan *scan, size_t column, const struct pd_scope *scope, const void *decoded)
{
	const struct pd_field *field = scan->table->sources[column].field;
	struct pd_printer printer = { .scope = *scope, .arch = pd_file_machine(scan->set->file) };
	struct pd_str text;

	if (!pd_printer_shows(&printer, field, decoded))
		return;
	if (field->line == PD_LINE_FIELD || field->line == PD_LINE_FLAGS) {
		put_field_number(scan, column, field, decoded);
	} else if (field->line == PD_LINE_TEXT || field->line == PD_LINE_CHARS) {
		memcpy(&text, (const uint8_t *)decoded + field->offset, sizeof(text));
		pd_put_text(&scan->batch, column, text.data, text.length);
	} else if (scan->table->table.columns[column].type == PD_COLUMN_BYTES) {
		struct pd_bytes bytes = pd_array_of(decoded, field);

		pd_put_bytes(&scan->batch, column, bytes.data, bytes.size);
	} else {
		printer.text = pd_put_begin(&scan->batch, column);
		pd_json_value(&printer, field, decoded);
		pd_put_end(&scan->batch, column);
	}
}

bool pd_scan_wants_sample(const struct pd_scan *scan, const struct pd_record *record, const struct pd_brief *brief,
			  const char *comm)
{
	const struct pd_table_options *options = &scan->set->options;
	const struct pd_candidate candidate = { record, record->event, brief, comm };

	return !options->choose || options->choose(options->self, &candidate) == PD_CHOICE_TAKE;
}
