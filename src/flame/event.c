/* SPDX-License-Identifier: MIT */
/* The one event that several recordings are compared by. */
#include <string.h>

#include "base/error.h"
#include "base/text/text.h"
#include "flame/stacks.h"

static const struct pd_event *first_event(const struct pd_profile *profile, struct pd_flame_event *one)
{
	const struct pd_event *first = NULL;
	const struct pd_profile_total *total;

	for (size_t i = 0; (total = pd_profile_total(profile, i)) != NULL; i++) {
		if (!total->samples)
			continue;
		one->other_count += first != NULL;
		first = first ? first : total->event;
	}
	if (!first)
		return NULL;
	one->known = true;
	one->type = first->attr->type;
	one->config = first->attr->config;
	strncpy(one->name, first->name, sizeof(one->name) - 1);
	return first;
}

const struct pd_event *pd_flame_choose_event(const struct pd_profile *profile, struct pd_flame_event *one)
{
	const struct pd_profile_total *total;

	if (!one->known)
		return first_event(profile, one);
	for (size_t i = 0; (total = pd_profile_total(profile, i)) != NULL; i++)
		if (total->event->attr->type == one->type && total->event->attr->config == one->config)
			return total->event;
	return NULL;
}

enum pd_status pd_flame_print_event(const struct pd_flame_event *event, bool escape, struct pd_text *text,
				    struct pd_error *error)
{
	pd_text_add(text, "# Event '");
	if (escape)
		pd_text_escaped(text, event->name, strlen(event->name));
	else
		pd_text_add(text, event->name);
	pd_text_char(text, '\'');
	if (event->other_count)
		pd_text_printf(text, " (%zu more with samples: choose with --event)", event->other_count);
	pd_text_add(text, "\n#\n");
	return pd_text_failed(text) ? pd_fail_memory(error) : PD_OK;
}
