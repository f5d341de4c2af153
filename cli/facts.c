/* SPDX-License-Identifier: MIT */
/*
 * Gathers facts. Only the few records that tell of losses, compression or traces are taken apart.
 */
#include "facts.h"

#include <string.h>

static void see_time(struct facts *facts, const struct pd_record *record)
{
	bool is_sample = record->type == PD_RECORD_SAMPLE;

	/* Records that perf made up have the time 0. */
	if (record->time_ns == PD_NO_TIME || (!is_sample && record->time_ns == 0))
		return;
	if (facts->times_of_samples && !is_sample)
		return;
	if (facts->first_ns == PD_NO_TIME || facts->times_of_samples != is_sample) {
		facts->times_of_samples = is_sample;
		facts->first_ns = record->time_ns;
		facts->last_ns = record->time_ns;
	}
	if (record->time_ns < facts->first_ns)
		facts->first_ns = record->time_ns;
	if (record->time_ns > facts->last_ns)
		facts->last_ns = record->time_ns;
}

static void see_lost(struct facts *facts, const struct pd_record *record)
{
	const struct pd_lost *lost = pd_as_lost(record);

	facts->lost_records += lost ? lost->lost : 0;
}

static void see_lost_samples(struct facts *facts, const struct pd_record *record)
{
	const struct pd_lost_samples *lost = pd_as_lost_samples(record);

	facts->lost_samples += lost ? lost->lost : 0;
}

static void see_throttle(struct facts *facts, const struct pd_record *record)
{
	(void)record;
	facts->throttle_count++;
}

static void see_mmap2(struct facts *facts, const struct pd_record *record)
{
	if (record->misc & PD_MASK(PD_MISC_MMAP_BUILD_ID))
		facts->maps_have_build_ids = true;
}

static void see_tracing_data(struct facts *facts, const struct pd_record *record)
{
	(void)record;
	facts->has_tracing_record = true;
}

static void see_auxtrace(struct facts *facts, const struct pd_record *record)
{
	facts->trace_bytes += record->tail_size;
}

static void see_compressed(struct facts *facts, const struct pd_record *record)
{
	const struct pd_compressed *compressed = pd_as_compressed(record);

	facts->compressed_bytes += compressed ? compressed->data.size : 0;
}

static void see_compressed2(struct facts *facts, const struct pd_record *record)
{
	const struct pd_compressed2 *compressed = pd_as_compressed2(record);

	facts->compressed_bytes += compressed ? compressed->data.size : 0;
}

static void (*const see_by_type[])(struct facts *, const struct pd_record *) = {
	[PD_RECORD_LOST] = see_lost,
	[PD_RECORD_THROTTLE] = see_throttle,
	[PD_RECORD_MMAP2] = see_mmap2,
	[PD_RECORD_LOST_SAMPLES] = see_lost_samples,
	[PD_RECORD_HEADER_TRACING_DATA] = see_tracing_data,
	[PD_RECORD_AUXTRACE] = see_auxtrace,
	[PD_RECORD_COMPRESSED] = see_compressed,
	[PD_RECORD_COMPRESSED2] = see_compressed2,
};

static bool see_record(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct facts *facts = self;

	(void)stream;
	stats_count(&facts->stats, record);
	see_time(facts, record);
	if (record->flags & PD_RECORD_INFLATED)
		facts->inflated_bytes += record->bytes.size;
	if (record->type < sizeof(see_by_type) / sizeof(see_by_type[0]) && see_by_type[record->type])
		see_by_type[record->type](facts, record);
	return true;
}

int facts_gather(struct facts *facts, struct input *input)
{
	int code;

	memset(facts, 0, sizeof(*facts));
	facts->file = input->file;
	facts->first_ns = PD_NO_TIME;
	facts->last_ns = PD_NO_TIME;
	stats_init(&facts->stats, input->file);
	code = input_walk(input, see_record, facts);
	if (!facts->stats.failed)
		return code;
	complain("out of memory: the counts are too low");
	return CODE_UNREADABLE;
}

void facts_fini(struct facts *facts)
{
	stats_fini(&facts->stats);
}

/* ---- what is missing ---- */

static bool has(const struct facts *facts, unsigned feature)
{
	struct pd_feature_section section;

	for (size_t i = 0; pd_file_feature_at(facts->file, i, &section); i++) {
		if (section.number == feature)
			return true;
	}
	return false;
}

static bool lacks_host(const struct facts *facts)
{
	return !has(facts, PD_FEATURE_HOSTNAME) && !has(facts, PD_FEATURE_OSRELEASE);
}

static bool lacks_machine(const struct facts *facts)
{
	return !has(facts, PD_FEATURE_ARCH) && !has(facts, PD_FEATURE_E_MACHINE);
}

static bool lacks_command(const struct facts *facts)
{
	return !has(facts, PD_FEATURE_CMDLINE);
}

static bool lacks_event_names(const struct facts *facts)
{
	return !has(facts, PD_FEATURE_EVENT_DESC) && !has(facts, PD_FEATURE_SIMPLEPERF_META_INFO) &&
	       !stats_type(&facts->stats, PD_RECORD_EVENT_UPDATE);
}

static bool lacks_build_ids(const struct facts *facts)
{
	return stats_type(&facts->stats, PD_RECORD_SAMPLE) && !has(facts, PD_FEATURE_BUILD_ID) &&
	       !stats_type(&facts->stats, PD_RECORD_HEADER_BUILD_ID) && !facts->maps_have_build_ids;
}

static bool lacks_tracing_data(const struct facts *facts)
{
	bool wanted = false;

	for (size_t i = 0; i < pd_file_event_count(facts->file); i++)
		wanted |= pd_file_event(facts->file, i)->attr->type == PD_TYPE_TRACEPOINT;
	return wanted && !facts->has_tracing_record && !has(facts, PD_FEATURE_TRACING_DATA) &&
	       !stats_type(&facts->stats, PD_RECORD_SIMPLEPERF_TRACING_DATA);
}

static bool is_unfinished(const struct facts *facts)
{
	return pd_file_header(facts->file)->unfinished;
}

static bool is_truncated(const struct facts *facts)
{
	return pd_file_header(facts->file)->truncated;
}

static bool is_damaged(const struct facts *facts)
{
	return pd_file_problem_count(facts->file, PD_DAMAGE) > 0;
}

static const struct missing {
	bool (*applies)(const struct facts *facts);
	const char *text;
} missing[] = {
	{ is_unfinished, "end of the file: the recording was not finished" },
	{ is_truncated, "end of the file: it is truncated" },
	{ is_damaged, "corrupt parts: see perfdata check" },
	{ lacks_host, "host and kernel" },
	{ lacks_machine, "architecture" },
	{ lacks_command, "command line of the recorder" },
	{ lacks_event_names, "event names as given to the recorder" },
	{ lacks_build_ids, "build ids: object versions cannot be verified" },
	{ lacks_tracing_data, "tracing data: tracepoint fields cannot be decoded" },
};

const char *facts_missing(const struct facts *facts, size_t index)
{
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		if (missing[i].applies(facts) && index-- == 0)
			return missing[i].text;
	}
	return NULL;
}

/* ---- clocks ---- */

uint64_t facts_wall_clock(const struct facts *facts, uint64_t time_ns)
{
	const struct pd_clock_data *clock = NULL;

	if (has(facts, PD_FEATURE_CLOCK_DATA))
		clock = pd_file_clock_data(facts->file);
	if (!clock || !clock->wall_clock_ns || time_ns == PD_NO_TIME)
		return PD_NO_TIME;
	/* The moment of the two clocks may be before or behind; the difference wraps around rightly. */
	return clock->wall_clock_ns + (time_ns - clock->clockid_time_ns);
}

const char *facts_clock(const struct facts *facts)
{
	const struct pd_attr *attr = NULL;
	const char *name = NULL;

	if (pd_file_event_count(facts->file))
		attr = pd_file_event(facts->file, 0)->attr;
	if (!attr || !PD_BITS(attr->flags, PD_ATTR_USE_CLOCKID))
		return "perf";
	name = pd_names_text(pd_names_by_name("clockid"), attr->clockid);
	return name ? name : "unknown";
}

/* ---- events ---- */

static const struct trait {
	uint64_t sample_type; /* one of these bits is set */
	uint64_t flags;       /* or: all of these are */
	uint64_t not_flags;   /* and none of these */
	const char *text;
} traits[] = {
	{ 0, PD_MASK(PD_ATTR_EXCLUDE_KERNEL), PD_MASK(PD_ATTR_EXCLUDE_USER), "user only" },
	{ 0, PD_MASK(PD_ATTR_EXCLUDE_USER), PD_MASK(PD_ATTR_EXCLUDE_KERNEL), "kernel only" },
	{ PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN), 0, 0, "call chains" },
	{ PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK), 0, 0, "branch stacks" },
	{ PD_MASK(PD_SAMPLE_TYPE_STACK_USER), 0, 0, "user stacks" },
	{ PD_MASK(PD_SAMPLE_TYPE_REGS_USER) | PD_MASK(PD_SAMPLE_TYPE_REGS_INTR), 0, 0, "registers" },
	{ PD_MASK(PD_SAMPLE_TYPE_READ), 0, 0, "counter values" },
	{ PD_MASK(PD_SAMPLE_TYPE_ADDR), 0, 0, "addresses" },
	{ PD_MASK(PD_SAMPLE_TYPE_DATA_SRC), 0, 0, "data sources" },
	{ PD_MASK(PD_SAMPLE_TYPE_RAW), 0, 0, "raw data" },
	{ PD_MASK(PD_SAMPLE_TYPE_AUX), 0, 0, "AUX data" },
	{ 0, PD_MASK(PD_ATTR_PINNED), 0, "pinned" },
	{ 0, PD_MASK(PD_ATTR_EXCLUSIVE), 0, "exclusive" },
	{ 0, PD_MASK(PD_ATTR_AUX_OUTPUT), 0, "into AUX data" },
	{ 0, PD_MASK(PD_ATTR_WRITE_BACKWARD), 0, "overwritten" },
};

static bool trait_applies(const struct trait *trait, const struct pd_attr *attr)
{
	if (trait->sample_type)
		return attr->sample_type & trait->sample_type;
	return (attr->flags & trait->flags) == trait->flags && !(attr->flags & trait->not_flags);
}

const char *event_trait(const struct pd_event *event, size_t index)
{
	static const char *const precise[] = { "", "precise 1", "precise 2", "precise 3" };
	unsigned level = (unsigned)PD_BITS(event->attr->flags, PD_ATTR_PRECISE_IP);

	if (level && index-- == 0)
		return precise[level];
	for (size_t i = 0; i < sizeof(traits) / sizeof(traits[0]); i++) {
		if (trait_applies(&traits[i], event->attr) && index-- == 0)
			return traits[i].text;
	}
	return NULL;
}
