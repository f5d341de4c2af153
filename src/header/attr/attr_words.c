/* SPDX-License-Identifier: MIT */
/* What the numbers of attr.type and attr.config are called in the kernel's header, or by the file: PMUs and tracepoints. */
#include "header/attr/attr_words.h"

#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "trace/trace.h"

struct word {
	uint32_t number;
	const char *text;
};

// The names in flag.def are those of the kernel without what begins all of a set.
#define ENUM(SET, set, doc) static const struct word words_##set[] __attribute__((unused)) = {
#define VALUE(SET, NAME, number, text) { number, #NAME },
#define END_ENUM(SET, set) \
	}                  \
	;
#include <perfdata/table/flag.def>

#define WORD(set, number) find_word(words_##set, sizeof(words_##set) / sizeof(words_##set[0]), number)

static const char *find_word(const struct word *words, size_t count, uint64_t number)
{
	for (size_t i = 0; i < count; i++) {
		if (words[i].number == number)
			return words[i].text;
	}
	return NULL;
}

static const struct pd_pmu_mapping *find_pmu(struct pd_file *file, uint32_t type)
{
	const struct pd_pmu_mappings *mappings = pd_file_pmu_mappings(file);

	for (size_t i = 0; mappings && i < mappings->pmus.count; i++) {
		const struct pd_pmu_mapping *pmu = PD_ITEM(pd_pmu_mapping, mappings->pmus, i);

		if (pmu->type == type && pmu->name.data)
			return pmu;
	}
	return NULL;
}

static void add_pmu(struct pd_text *out, struct pd_file *file, uint32_t type)
{
	const struct pd_pmu_mapping *pmu = find_pmu(file, type);

	if (pmu)
		pd_text_escaped(out, pmu->name.data, pmu->name.length);
	else
		pd_text_add(out, "cpu");
}

void pd_add_type_word(struct pd_text *out, struct pd_file *file, uint32_t type)
{
	const char *word = type == PD_TYPE_RAW || type == (uint32_t)PD_TYPE_SYNTH ? NULL : WORD(event_type, type);

	if (word) {
		pd_text_printf(out, " (PERF_TYPE_%s)", word);
	} else if (type == PD_TYPE_RAW || find_pmu(file, type)) {
		pd_text_add(out, " (");
		add_pmu(out, file, type);
		pd_text_add(out, ")");
	}
}

// The high half of config is a PMU, on machines with several for the same event.
static void add_hardware(struct pd_text *out, struct pd_file *file, uint64_t config, const char *words)
{
	uint32_t pmu = (uint32_t)(config >> 32);

	pd_text_add(out, " (");
	if (pmu)
		add_pmu(out, file, pmu);
	pd_text_printf(out, "%s%s%s)", pmu ? "/" : "", words, pmu ? "/" : "");
}

static void add_cache(struct pd_text *out, struct pd_file *file, uint64_t config)
{
	const char *cache = WORD(cache_id, config & 0xff), *operation = WORD(cache_op, config >> 8 & 0xff);
	unsigned result = config >> 16 & 0xff;
	char words[160];

	if (!cache || !operation || result > 1)
		return;
	snprintf(words, sizeof(words),
		 "PERF_COUNT_HW_CACHE_RESULT_%s | PERF_COUNT_HW_CACHE_OP_%s | PERF_COUNT_HW_CACHE_%s",
		 result ? "MISS" : "ACCESS", operation, cache);
	add_hardware(out, file, config, words);
}

static void add_tracepoint(struct pd_text *out, const struct pd_event *event, struct pd_trace *trace)
{
	const char *system;
	struct pd_bytes name;

	if (!pd_trace_name(trace, event, &system, &name))
		return;
	pd_text_add(out, " (");
	pd_text_escaped(out, system, strlen(system));
	pd_text_add(out, ":");
	pd_text_escaped(out, (const char *)name.data, name.size);
	pd_text_add(out, ")");
}

void pd_add_config_word(struct pd_text *out, struct pd_file *file, const struct pd_event *event, struct pd_trace *trace)
{
	const struct pd_attr *attr = event->attr;
	uint64_t config = attr->config;
	char words[64];

	if (attr->type == PD_TYPE_HARDWARE && WORD(hardware_event, (uint32_t)config)) {
		snprintf(words, sizeof(words), "PERF_COUNT_HW_%s", WORD(hardware_event, (uint32_t)config));
		add_hardware(out, file, config, words);
	} else if (attr->type == PD_TYPE_SOFTWARE && WORD(software_event, config)) {
		pd_text_printf(out, " (PERF_COUNT_SW_%s)", WORD(software_event, config));
	} else if (attr->type == PD_TYPE_HW_CACHE) {
		add_cache(out, file, config);
	} else if (attr->type == PD_TYPE_TRACEPOINT) {
		add_tracepoint(out, event, trace);
	}
}
