/* SPDX-License-Identifier: MIT */
/* Tables of the Firefox Profiler are column by column. */
#include "base/text/text.h"
#include "export/firefox/firefox.h"

void pd_firefox_key(struct pd_export *self, const char *key)
{
	PD_TEXT_LITERAL(self->text, ",\"");
	pd_text_put(self->text, key, strlen(key));
	PD_TEXT_LITERAL(self->text, "\":");
}

void pd_firefox_column(struct pd_export *self, const char *key, size_t count, pd_firefox_cell_fn *cell)
{
	pd_firefox_key(self, key);
	pd_text_char(self->text, '[');
	for (size_t i = 0; i < count && !self->text->sink_failed; i++) {
		if (i)
			pd_text_char(self->text, ',');
		cell(self, i);
		pd_export_flush(self);
	}
	pd_text_char(self->text, ']');
}

void pd_firefox_same(struct pd_export *self, const char *key, size_t count, const char *value)
{
	pd_firefox_key(self, key);
	pd_text_char(self->text, '[');
	for (size_t i = 0; i < count && !self->text->sink_failed; i++) {
		if (i)
			pd_text_char(self->text, ',');
		pd_text_add(self->text, value);
		pd_export_flush(self);
	}
	pd_text_char(self->text, ']');
}

void pd_firefox_string(struct pd_export *self, uint32_t string)
{
	const struct pd_table_string *known = &self->tables.strings[string];

	pd_text_json_string(self->text, known->text, known->size);
}

void pd_firefox_milliseconds(struct pd_export *self, uint64_t ns)
{
	pd_text_u64(self->text, ns / 1000000);
	pd_text_char(self->text, '.');
	pd_text_digits(self->text, ns % 1000000, 6);
}
