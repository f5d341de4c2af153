/* SPDX-License-Identifier: MIT */
/* All names of events that this machine knows. What the hardware and the kernel share is asked for: names say not whether
 * there is a counter. */
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "record/event/events.h"

static int open_here(uint32_t type, uint64_t config, bool user_only)
{
	struct perf_event_attr attr = { .type = type, .size = sizeof(attr), .config = config, .disabled = 1 };

	attr.exclude_kernel = attr.exclude_hv = user_only;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

// Whether this machine can count it for the thread that asks; where only user space may be looked at, there.
static bool is_there(uint32_t type, uint64_t config)
{
	int fd = open_here(type, config, false);

	if (fd < 0)
		fd = open_here(type, config, true);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

#define CPU "cpu" /* the PMU of the processor */

static bool list_words(bool (*each)(void *self, const struct pd_event_name *name), void *self, uint32_t type,
		       enum pd_event_kind kind)
{
	const struct pd_event_word *word;
	char encoding[PD_EVENT_ENCODING];
	bool go_on = true;

	for (size_t i = 0; go_on && (word = pd_event_word_at(i)) != NULL; i++) {
		struct pd_event_name name = { .kind = kind, .name = word->name, .alias = word->alias, .pmu = CPU };

		if (word->type != type || !is_there(type, word->config))
			continue;
		if (type == PD_TYPE_SOFTWARE) {
			name.pmu = "software";
			name.encoding = pd_event_encode(encoding, name.pmu, word->config);
		}
		go_on = each(self, &name);
	}
	return go_on;
}

static bool list_tools(bool (*each)(void *self, const struct pd_event_name *name), void *self)
{
	char encoding[PD_EVENT_ENCODING];
	const char *name;
	bool go_on = true;

	for (enum pd_tool_event tool = PD_TOOL_DURATION_TIME; go_on && (name = pd_event_tool_name(tool)) != NULL;
	     tool++)
		go_on = each(self, &(struct pd_event_name){ .kind = PD_EVENT_TOOL,
							    .name = name,
							    .encoding = pd_event_encode(encoding, "tool", tool),
							    .pmu = "tool" });
	return go_on;
}

static bool list_caches(bool (*each)(void *self, const struct pd_event_name *name), void *self)
{
	bool go_on = true;
	char cache[64];
	uint64_t config;

	for (size_t i = 0; go_on && pd_event_cache_at(i, cache, &config); i++)
		if (is_there(PD_TYPE_HW_CACHE, config))
			go_on = each(self,
				     &(struct pd_event_name){ .kind = PD_EVENT_CACHE, .name = cache, .pmu = CPU });
	return go_on;
}

static bool list_forms(bool (*each)(void *self, const struct pd_event_name *name), void *self)
{
	static const struct pd_event_name forms[] = {
		{ .kind = PD_EVENT_RAW, .name = "rNNN", .about = "raw CPU event by hexadecimal code", .pmu = CPU },
		{ .kind = PD_EVENT_RAW,
		  .name = "cpu/t1=v1[,t2=v2,t3 ...]/modifier",
		  .about = "PMU event by its terms",
		  .pmu = CPU },
		{ .kind = PD_EVENT_BREAKPOINT,
		  .name = "mem:<addr>[/len][:access]",
		  .about = "reads (r), writes (w), executions (x)",
		  .pmu = "breakpoint" },
	};
	bool go_on = true;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]) && go_on; i++)
		go_on = each(self, &forms[i]);
	return go_on;
}

// Those of some PMUs only.
struct chosen {
	const char *pmu; // a pattern
	bool (*each)(void *self, const struct pd_event_name *name);
	void *self;
};

static bool pass_chosen(void *self, const struct pd_event_name *name)
{
	const struct chosen *chosen = self;

	return fnmatch(chosen->pmu, name->pmu, 0) != 0 || chosen->each(chosen->self, name);
}

enum pd_status pd_events_list(const struct pd_events_options *options,
			      bool (*each)(void *self, const struct pd_event_name *name), void *self,
			      struct pd_error *error)
{
	struct chosen chosen = { .each = each, .self = self };
	struct pd_events *events;
	enum pd_status status = pd_events_new(options, &events, error);

	if (status < 0)
		return status;
	if (options && options->size >= sizeof(*options))
		chosen.pmu = options->pmu;
	if (chosen.pmu) {
		each = pass_chosen;
		self = &chosen;
	}
	if (list_words(each, self, PD_TYPE_HARDWARE, PD_EVENT_HARDWARE) &&
	    list_words(each, self, PD_TYPE_SOFTWARE, PD_EVENT_SOFTWARE) && list_tools(each, self) &&
	    list_caches(each, self) && pd_pmu_list(events, each, self, error) == PD_OK && list_forms(each, self))
		pd_tracepoints_list(events, each, self);
	pd_events_free(events);
	return PD_OK;
}

// ---- those that are asked for, as text ----

struct list {
	struct pd_text *text;
	const char *const *words;
	size_t word_count;
	enum pd_event_list_as as;
	bool any;
};

static bool print_if_asked(void *self, const struct pd_event_name *name)
{
	struct list *list = self;

	if (!pd_event_name_fits(name, list->words, list->word_count))
		return true;
	if (list->as == PD_EVENT_LIST_JSON) {
		pd_text_add(list->text, list->any ? ",\n" : "[\n");
		pd_json_event_name(list->text, name);
	} else if (list->as == PD_EVENT_LIST_NAMES) {
		pd_text_printf(list->text, "%s\n", name->name);
	} else {
		pd_print_event_name(list->text, name);
		if (list->as == PD_EVENT_LIST_DETAILS && name->encoding)
			pd_text_printf(list->text, "        %s\n", name->encoding);
	}
	list->any = true;
	return pd_text_flush_large(list->text);
}

enum pd_status pd_print_event_list(struct pd_text *text, const struct pd_events_options *options,
				   const char *const *words, size_t count, enum pd_event_list_as as,
				   struct pd_error *error)
{
	struct list list = { .text = text, .words = words, .word_count = count, .as = as };
	enum pd_status status = pd_events_list(options, print_if_asked, &list, error);

	if (status < 0)
		return status;
	if (!list.any)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "no matching event on this machine");
	if (as == PD_EVENT_LIST_JSON)
		pd_text_add(text, "\n]\n");
	if (pd_text_failed(text))
		return pd_fail_memory(error);
	return pd_text_flush_large(text) ?
		       PD_OK :
		       pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output cannot be written");
}
