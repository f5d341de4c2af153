/* SPDX-License-Identifier: MIT */
/* What is reported of a recording: of each event that is opened, and at the end. */
#include <perfdata/print.h>
#include <perfdata/recorder.h>

#include <inttypes.h>
#include <string.h>

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

void pd_print_opened_attr(struct pd_text *text, const struct pd_attr *attr, int32_t pid, int32_t cpu, int os_errno)
{
	pd_text_add(text, "perf_event_attr:\n");
	pd_print_layout(text, pd_layout_by_name("attr"), attr, 1, NULL);
	pd_text_printf(text, "pid %" PRId32 "  cpu %" PRId32 "  %s\n", pid, cpu,
		       os_errno ? strerror(os_errno) : "opened");
}

static void add_lost(const struct pd_recorded *recorded, struct pd_text *text)
{
	pd_text_printf(text,
		       "%" PRIu64 " records lost (%.2f%%): the recorder could not keep up; try larger ring buffers "
		       "(-m 64M), a lower frequency (-F) or smaller stacks (--call-graph dwarf,4096)\n",
		       recorded->lost, 100.0 * (double)recorded->lost / (double)(recorded->lost + recorded->samples));
}

void pd_recorded_text(const struct pd_recorded *recorded, const struct pd_recorder_options *options, bool quiet,
		      struct pd_text *text)
{
	const char *path = options->path ? options->path : "standard output";
	char size[32];

	if (recorded->lost)
		add_lost(recorded, text);
	if (quiet)
		return;
	pd_text_printf(text, "%" PRIu64 " sample%s, %s, ", recorded->samples, plural(recorded->samples),
		       pd_size_string(recorded->bytes, size));
	if (options->path && (options->session.switch_on_call || options->session.timestamp_filename))
		pd_text_printf(text, "in %u file%s %s.TIME\n", recorded->files, plural(recorded->files), path);
	else
		pd_text_printf(text, "%s %s\n", options->path ? "in" : "to", path);
	if (options->output.packing == PD_PACK_ZSTD)
		pd_text_add(text,
			    "compressed: perf 5.2 and later reads it; for samply, go-perf, quipper and hotspot run "
			    "perfdata convert --no-compress first\n");
}
