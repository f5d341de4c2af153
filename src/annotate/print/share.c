/* SPDX-License-Identifier: MIT */
/* Shares in percent, and names and addresses as they are shown. */
#include <inttypes.h>
#include <stdio.h>

#include <perfdata/json.h>

#include "annotate/print/text.h"

double pd_annotate_share(const struct pd_annotate_part *part, const struct pd_annotate_sum *local,
			 const struct pd_annotate_sum *sum, size_t event, enum pd_annotate_percent percent)
{
	bool global = percent == PD_ANNOTATE_GLOBAL_PERIOD || percent == PD_ANNOTATE_GLOBAL_HITS;
	const struct pd_annotate_sum *whole = global ? &part->totals[event] : &local[event];
	bool hits = percent == PD_ANNOTATE_LOCAL_HITS || percent == PD_ANNOTATE_GLOBAL_HITS;
	uint64_t all = hits ? whole->samples : whole->period;

	return all ? 100.0 * (double)(hits ? sum->samples : sum->period) / (double)all : 0;
}

bool pd_annotate_has_skid(const struct pd_annotate *annotate, const struct pd_annotate_part *part)
{
	for (size_t i = 0; i < part->head.event_count; i++) {
		const struct pd_event *event = pd_file_event(annotate->file, part->head.first_event + i);
		bool clock = event->attr->type == PD_TYPE_SOFTWARE && event->attr->config <= 1;
		bool hardware = event->attr->type != PD_TYPE_SOFTWARE && event->attr->type != PD_TYPE_TRACEPOINT &&
				event->attr->type != PD_TYPE_BREAKPOINT;

		if ((clock || hardware) && !PD_BITS(event->attr->flags, PD_ATTR_PRECISE_IP))
			return true;
	}
	return false;
}

void pd_annotate_put_name(struct pd_annotate_printing *p, const char *name, size_t length)
{
	if (p->options.escape)
		pd_text_escaped(p->out, name, length);
	else
		pd_text_put(p->out, name, length);
}

void pd_annotate_json_addr(struct pd_json *json, const char *name, uint64_t addr)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, addr);
	pd_json_string(json, name, text);
}
