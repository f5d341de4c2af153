/* SPDX-License-Identifier: MIT */
/* What simpleperf says about a recording, as pairs of a key and a value. */
#include "edit/scrub/scrub.h"

#include <string.h>

/* ---- simpleperf ---- */

static void set_text(struct pd_scrub *scrub, struct pd_str *str, enum pd_value_class class)
{
	size_t length;
	const char *now = pd_scrub_name(scrub, class, str->data, str->length, &length);

	*str = (struct pd_str){ now, (uint32_t)length, 0 };
}

static bool is_plain_value(const struct pd_str *value)
{
	return !strcmp(value->data, "true") || !strcmp(value->data, "false") ||
	       (value->length <= 9 && strspn(value->data, "0123456789.") == value->length);
}

/* A value may be anything but for the few that are known. */
void pd_scrub_special_simpleperf_pair(struct pd_scrub *scrub, struct pd_simpleperf_pair *pair)
{
	bool known, events;

	if (!pair->key.data || !pair->value.data)
		return;
	known = pd_scrub_is_meta_key(pair->key.data, pair->key.length);
	events = known && !strcmp(pair->key.data, "event_type_info");
	if (!known)
		set_text(scrub, &pair->key, PD_CLASS_NAME);
	if (events)
		set_text(scrub, &pair->value, PD_CLASS_EVENT);
	else if (!known || !is_plain_value(&pair->value))
		set_text(scrub, &pair->value, PD_CLASS_NAME);
}
