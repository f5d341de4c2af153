/* SPDX-License-Identifier: MIT */
// What a header says of clocks, and what is worth knowing of how an event was set up.
#include "file/file.h"
#include "header/summary.h"

/* ---- clocks ---- */

uint64_t pd_file_wall_clock(struct pd_file *file, uint64_t time_ns)
{
	const struct pd_clock_data *clock = NULL;

	if (pd_file_has_feature(file, PD_FEATURE_CLOCK_DATA))
		clock = pd_file_clock_data(file);
	if (!clock || !clock->wall_clock_ns || time_ns == PD_NO_TIME)
		return PD_NO_TIME;
	/* The moment of the two clocks may be before or after; the difference wraps around rightly. */
	return clock->wall_clock_ns + (time_ns - clock->clockid_time_ns);
}

const char *pd_file_clock_name(struct pd_file *file)
{
	const struct pd_attr *attr = NULL;
	const char *name = NULL;

	if (pd_file_event_count(file))
		attr = pd_file_event(file, 0)->attr;
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

const char *pd_event_trait(const struct pd_event *event, size_t index)
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
