/* SPDX-License-Identifier: MIT */
/* Types of data with the sums of each member as JSON. */
#include <perfdata/json.h>

#include "annotate/print/text.h"
#include "base/error.h"
#include "type/data.h"

struct output {
	struct pd_type_printing printing;
	struct pd_json json;
	bool has_size; // of the type itself
};

// The type itself is the outermost object already. What comes beside it is that there are more members than are listed.
static bool put_member(void *self, const struct pd_type_member *member, bool end)
{
	struct output *o = self;
	struct pd_type_printing *p = &o->printing;
	struct pd_json *json = &o->json;

	if (end) {
		pd_json_close(json, ']');
	} else if (!member->depth && o->has_size) {
		pd_json_bool(json, "incomplete", true);
	} else {
		o->has_size = true;
		if (member->depth) {
			pd_json_open(json, NULL, '{');
			pd_json_string(json, "name", member->name);
			pd_json_string(json, "type", member->type);
			pd_json_number(json, "offset", member->offset);
		}
		pd_json_number(json, "size", member->size);
		for (size_t c = 0; c < p->column_count; c++)
			p->sums[c] = pd_type_printing_sum(p, c, member->offset, member->size);
		pd_annotate_json_sums(json, member->depth ? "sums" : "in_members", p->sums, p->column_count);
		if (member->has_members)
			pd_json_open(json, "members", '[');
	}
	if (member->depth && (end || !member->has_members))
		pd_json_close(json, '}');
	return !json->text->failed;
}

static bool put_type(void *self)
{
	struct output *o = self;
	struct pd_type_printing *p = &o->printing;

	for (size_t c = 0; c < p->column_count; c++)
		p->sums[c] = pd_type_printing_all(p, p->columns[c], 1);
	pd_json_open(&o->json, NULL, '{');
	pd_json_string(&o->json, "type", p->row->access->type);
	pd_json_string(&o->json, "dso", p->row->dso->long_name);
	pd_annotate_json_sums(&o->json, "sums", p->sums, p->column_count);
	o->has_size = false;
	if (!pd_types_each_member(p->data.types, p->row->access, put_member, o))
		return false;
	pd_json_close(&o->json, '}');
	return true;
}

static enum pd_status put_table(struct output *o, struct pd_error *error)
{
	struct pd_type_printing *p = &o->printing;
	enum pd_status status;

	pd_json_open(&o->json, NULL, '{');
	pd_json_string(&o->json, "name", p->table->name);
	pd_json_open(&o->json, "events", '[');
	for (size_t c = 0; c < p->column_count; c++) {
		pd_json_string(&o->json, NULL, pd_file_event(p->data.base.file, p->columns[c])->name);
		p->sums[c] = p->table->totals[p->columns[c] - p->table->first_event];
	}
	pd_json_close(&o->json, ']');
	pd_annotate_json_sums(&o->json, "sums", p->sums, p->column_count);
	pd_json_open(&o->json, "types", '[');
	status = pd_type_printing_each(p, put_type, o, error);
	pd_json_close(&o->json, ']');
	pd_json_close(&o->json, '}');
	return status;
}

enum pd_status pd_annotate_types_json(struct pd_annotate *annotate, const struct pd_annotate_types_options *types,
				      struct pd_text *text, struct pd_error *error)
{
	struct output o = { .json = { .text = text } };
	struct pd_type_printing *p = &o.printing;
	enum pd_status status = pd_type_printing_init(p, annotate, types, text, error);

	if (status == PD_OK) {
		pd_json_open(&o.json, NULL, '{');
		if (!pd_type_json_counts(&p->data, p->types.answers, p->types.words, &o.json))
			status = pd_fail_memory(error);
		pd_json_open(&o.json, "tables", '[');
		for (size_t i = 0; status == PD_OK && pd_type_printing_table(p, i); i++)
			status = put_table(&o, error);
		pd_json_close(&o.json, ']');
		pd_json_close(&o.json, '}');
		pd_text_char(text, '\n');
	}
	if (status == PD_OK)
		status = text->failed ? pd_fail_memory(error) : pd_type_printing_check(p, error);
	pd_type_printing_fini(p);
	return status;
}
