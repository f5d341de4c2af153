/* SPDX-License-Identifier: MIT */
/* All names of events that this machine knows. */
#include "record/events.h"

static bool list_words(bool (*each)(void *self, const struct pd_event_name *name), void *self, uint32_t type,
		       enum pd_event_kind kind)
{
	const struct pd_event_word *word;
	bool go_on = true;

	for (size_t i = 0; go_on && (word = pd_event_word_at(i)) != NULL; i++) {
		struct pd_event_name name = {.kind = kind, .name = word->name, .alias = word->alias};

		if (word->type == type)
			go_on = each(self, &name);
	}
	return go_on;
}

static bool list_caches(bool (*each)(void *self, const struct pd_event_name *name), void *self)
{
	bool go_on = true;
	char cache[64];
	uint64_t config;

	for (size_t i = 0; go_on && pd_event_cache_at(i, cache, &config); i++)
		go_on = each(self, &(struct pd_event_name){.kind = PD_EVENT_CACHE, .name = cache});
	return go_on;
}

static bool list_forms(bool (*each)(void *self, const struct pd_event_name *name), void *self)
{
	static const struct pd_event_name forms[] = {
		{.kind = PD_EVENT_RAW, .name = "rNNN", .about = "an event of the CPU by its code in hexadecimal"},
		{.kind = PD_EVENT_RAW, .name = "cpu/t1=v1[,t2=v2,t3 ...]/modifier", .about = "an event of a PMU by its terms"},
		{.kind = PD_EVENT_BREAKPOINT, .name = "mem:<addr>[/len][:access]", .about = "reads (r), writes (w), executions (x)"},
	};
	bool go_on = true;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]) && go_on; i++)
		go_on = each(self, &forms[i]);
	return go_on;
}

enum pd_status pd_events_list(const struct pd_events_options *options,
			      bool (*each)(void *self, const struct pd_event_name *name), void *self,
			      struct pd_error *error)
{
	struct pd_events *events;
	enum pd_status status = pd_events_new(options, &events, error);

	if (status < 0)
		return status;
	if (list_words(each, self, PD_TYPE_HARDWARE, PD_EVENT_HARDWARE) &&
	    list_words(each, self, PD_TYPE_SOFTWARE, PD_EVENT_SOFTWARE) && list_caches(each, self) &&
	    pd_pmu_list(events, each, self, error) == PD_OK && list_forms(each, self))
		pd_tracepoints_list(events, each, self);
	pd_events_free(events);
	return PD_OK;
}
