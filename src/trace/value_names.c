/* SPDX-License-Identifier: MIT */
/* What formats of tracepoints call values of fields, one after another: by __print_flags and __print_symbolic. */
#include "trace/trace.h"

struct search {
	size_t left; // to pass over
	const char *field;
	struct pd_trace_value_name *found;
};

static bool take_choices(struct search *search, const struct pd_node *node)
{
	for (const struct pd_choice_of_value *choice = node->choices; choice; choice = choice->next) {
		if (search->left--)
			continue;
		search->found->field = search->field ? search->field : "";
		search->found->is_flag = node->kind == PD_NODE_FLAGS;
		search->found->delimiter = search->found->is_flag && node->text ? node->text : "";
		search->found->value = choice->value;
		search->found->name = choice->text;
		return true;
	}
	return false;
}

// Values belong to the field that was named last before them. Expressions have a greatest size.
static bool walk_names(struct search *search, const struct pd_node *node)
{
	if (!node)
		return false;
	if (node->kind == PD_NODE_FIELD && node->member)
		search->field = node->member->field.name;
	if (walk_names(search, node->a))
		return true;
	if ((node->kind == PD_NODE_FLAGS || node->kind == PD_NODE_SYMBOL) && take_choices(search, node))
		return true;
	return walk_names(search, node->b) || walk_names(search, node->c);
}

bool pd_trace_value_name_at(struct pd_trace *trace, const struct pd_event *event, size_t index,
			    struct pd_trace_value_name *name_out)
{
	const struct pd_format *format = pd_trace_format_of(trace, event);
	struct pd_trace_value_name found = { 0 };
	struct search search = { .left = index, .found = &found };

	for (size_t i = 0; format && i < format->piece_count; i++) {
		if (walk_names(&search, format->pieces[i].width) || walk_names(&search, format->pieces[i].arg)) {
			*name_out = found;
			return true;
		}
	}
	return false;
}
