/* SPDX-License-Identifier: MIT */
/*
 * Judges records, header and events: the file itself, losses, throttling, multiplexing, times,
 * events without samples. Each check is a function in a table; it measures and adds a finding or none.
 */
#include "doctor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1e9

/* Fewer samples than this say little. */
enum {
	FEW_SAMPLES = 100
};

/* ---- findings ---- */

double percent(uint64_t count, uint64_t total)
{
	return total ? 100.0 * (double)count / (double)total : 0;
}

enum severity severity_by(uint64_t count, uint64_t total, double warning, double bad)
{
	double share = percent(count, total);

	return share > bad ? BAD : share > warning ? WARNING : NOTE;
}

struct finding *finding_add(struct doctor *doctor, const char *code, enum severity severity, uint64_t count,
			    uint64_t total, const char *meaning, const char *format, ...)
{
	static struct finding lost;
	struct finding *more = realloc(doctor->findings, (doctor->finding_count + 1) * sizeof(*more));
	struct finding *finding;
	va_list arguments;

	if (!more) {
		doctor->failed = true;
		lost = (struct finding){ 0 };
		return &lost;
	}
	doctor->findings = more;
	finding = &more[doctor->finding_count++];
	*finding = (struct finding){ .code = code,
				     .severity = severity,
				     .count = count,
				     .total = total,
				     .meaning = meaning,
				     .order = doctor->finding_count };
	va_start(arguments, format);
	if (vasprintf(&finding->text, format, arguments) < 0)
		finding->text = NULL;
	va_end(arguments);
	doctor->failed |= !finding->text;
	return finding;
}

void finding_command(struct finding *finding, const char *format, ...)
{
	va_list arguments;

	/* The one that there was no memory for has no owner. */
	if (!finding->code)
		return;
	va_start(arguments, format);
	if (vasprintf(&finding->command, format, arguments) < 0)
		finding->command = NULL;
	va_end(arguments);
}

/* ---- the file ---- */

static void check_end(struct doctor *doctor)
{
	const struct pd_header *header = pd_file_header(doctor->analysis.input.file);

	if (header->unfinished)
		finding_add(
			doctor, "unfinished", WARNING, 1, 1,
			"the recorder was killed before it wrote the header: build ids and other features are missing, and "
			"possibly the last samples; stop a recorder with SIGINT or SIGTERM and wait until it exits",
			"the recording was not finished");
	if (header->truncated)
		finding_add(doctor, "truncated", BAD, 1, 1,
			    "the rest is lost; copy the file again, or check whether the disk was full",
			    "the file is truncated: it has %" PRIu64 " bytes, its header expects %" PRIu64,
			    header->file_size, header->data_offset + header->data_size);
}

static void check_damage(struct doctor *doctor)
{
	uint64_t count = pd_file_problem_count(doctor->analysis.input.file, PD_DAMAGE);
	struct finding *finding;

	if (!count)
		return;
	finding = finding_add(doctor, "damaged", BAD, count, count,
			      "part of the file is lost or unreadable; the rest is shown",
			      "the file is corrupt in %" PRIu64 " place%s", count, plural(count));
	finding_command(finding, "perfdata check");
}

static void check_unknown(struct doctor *doctor)
{
	const struct counts *counts = &doctor->counts;
	struct pd_feature_section section;
	uint64_t features = 0;

	for (size_t i = 0; pd_file_feature_at(doctor->analysis.input.file, i, &section); i++)
		features += !pd_feature_layout(section.number);
	if (counts->unknown_records)
		finding_add(doctor, "unknown-records", severity_by(counts->unknown_records, counts->stats.total, 1, 10),
			    counts->unknown_records, counts->stats.total,
			    "the recorder is newer than this program; they were skipped",
			    "%" PRIu64 " of %" PRIu64 " records have an unknown type", counts->unknown_records,
			    counts->stats.total);
	if (features)
		finding_add(doctor, "unknown-features", NOTE, features, features,
			    "the recorder is newer than this program; they were skipped",
			    "%" PRIu64 " unknown header feature%s", features, plural(features));
	if (counts->unknown_event || counts->damaged)
		finding_add(doctor, "unknown-samples",
			    severity_by(counts->unknown_event + counts->damaged, counts->samples, 0, 10),
			    counts->unknown_event + counts->damaged, counts->samples,
			    "they are not in any report: their event is not in the file, or they cannot be decoded",
			    "%" PRIu64 " of %" PRIu64 " samples belong to no event, %" PRIu64 " cannot be decoded",
			    counts->unknown_event, counts->samples, counts->damaged);
}

/* The value of an option of the recorder, or NULL. */
static const char *recorder_option(const struct doctor *doctor, const char *option)
{
	const struct pd_cmdline *line = pd_file_cmdline(doctor->analysis.input.file);
	size_t length = strlen(option);

	for (size_t i = 0; line && i < line->arguments.count; i++) {
		const char *word = PD_ITEM(pd_argument, line->arguments, i)->value.data;

		if (!word || strncmp(word, option, length) != 0)
			continue;
		if (word[length] == '=')
			return word + length + 1;
		if (!word[length] && i + 1 < line->arguments.count)
			return PD_ITEM(pd_argument, line->arguments, i + 1)->value.data;
	}
	return NULL;
}

static void check_size(struct doctor *doctor)
{
	const char *limit = recorder_option(doctor, "--max-size");
	uint64_t size = pd_file_header(doctor->analysis.input.file)->file_size;
	static const char units[] = "BKMG";
	const char *unit;
	uint64_t most;
	char *rest;

	if (!limit || !size)
		return;
	most = strtoull(limit, &rest, 10);
	unit = *rest ? strchr(units, *rest) : NULL;
	if (!unit || !most)
		return;
	most <<= 10 * (unit - units);
	if (size + size / 10 >= most)
		finding_add(doctor, "max-size", WARNING, size, most,
			    "the recorder stopped at the size limit: what ran later is not in the file",
			    "the file has %" PRIu64 " bytes, recording stopped at --max-size %" PRIu64, size, most);
}

/* ---- losses ---- */

static void check_lost(struct doctor *doctor)
{
	const struct counts *counts = &doctor->counts;
	uint64_t all = counts->lost + counts->stats.total;
	struct finding *finding;

	if (!counts->lost)
		return;
	finding = finding_add(
		doctor, "lost-records", severity_by(counts->lost, all, 1, 10), counts->lost, all,
		"the ring buffers were full: busy phases are missing; if records of maps or process names were lost, "
		"whole programs show as unknown",
		"%" PRIu64 " of %" PRIu64 " records (%.2f%%) were lost", counts->lost, all, percent(counts->lost, all));
	finding_command(finding, "perfdata record -m 16M ...   (or a lower -F, fewer events, no --call-graph dwarf)");
}

static uint64_t lost_of(const struct doctor *doctor, size_t event)
{
	const struct stats *stats = &doctor->counts.stats;

	return event < stats->event_count ? stats->events[event].lost_samples : 0;
}

static void check_lost_samples(struct doctor *doctor)
{
	const struct counts *counts = &doctor->counts;
	uint64_t lost = counts->lost_samples, all = lost + counts->samples;
	const char *worst = NULL;
	struct finding *finding;
	uint64_t most = 0;

	if (!lost)
		return;
	for (size_t i = 0; i < counts->event_count; i++) {
		if (lost_of(doctor, i) > most) {
			most = lost_of(doctor, i);
			worst = pd_file_event(doctor->analysis.input.file, i)->name;
		}
	}
	finding = finding_add(doctor, "lost-samples", severity_by(lost, all, 1, 10), lost, all,
			      "percentages are of the remaining samples, which are not representative",
			      "%" PRIu64 " of %" PRIu64 " samples (%.2f%%) were lost%s%.100s", lost, all,
			      percent(lost, all), worst ? ", most of " : "", worst ? worst : "");
	finding_command(finding, "perfdata record -m 16M ...   (or a lower -F)");
}

static void check_throttled(struct doctor *doctor)
{
	const struct counts *counts = &doctor->counts;
	uint64_t all = (counts->last_ns - counts->first_ns) * counts->counter_count;
	struct finding *finding;

	if (!counts->throttles)
		return;
	finding = finding_add(doctor, "throttled",
			      counts->throttled_ns ? severity_by(counts->throttled_ns, all, 1, 10) : WARNING,
			      counts->throttled_ns, all,
			      "the kernel stops counters that interrupt too often: samples of these phases are missing",
			      "counters were throttled %" PRIu64
			      " time%s, for %.3f s in total on %zu counter%s (%.2f%% of "
			      "their time)",
			      counts->throttles, plural(counts->throttles), (double)counts->throttled_ns / NS_PER_S,
			      counts->counter_count, plural(counts->counter_count), percent(counts->throttled_ns, all));
	finding_command(finding,
			"sysctl kernel.perf_cpu_time_max_percent=50 kernel.perf_event_max_sample_rate=100000   (or a "
			"lower -F)");
}

static void check_aux(struct doctor *doctor)
{
	const struct counts *counts = &doctor->counts;
	struct finding *finding;

	if (!counts->aux_truncated)
		return;
	finding = finding_add(doctor, "aux-lost", severity_by(counts->aux_truncated, counts->aux, 0, 10),
			      counts->aux_truncated, counts->aux,
			      "the AUX trace has gaps: the AUX buffer was full, or something else used the hardware",
			      "%" PRIu64 " of %" PRIu64 " AUX records (%.2f%%) are truncated or have a gap",
			      counts->aux_truncated, counts->aux, percent(counts->aux_truncated, counts->aux));
	finding_command(finding, "perf record -m ,64M ...");
}

/* The kernel counts these itself; they take no turns. */
static bool is_of_kernel(const struct pd_event *event)
{
	return event->attr->type == PD_TYPE_SOFTWARE || event->attr->type == PD_TYPE_TRACEPOINT;
}

static void check_multiplexed(struct doctor *doctor)
{
	const struct counts *counts = &doctor->counts;
	double worst = 1;
	size_t event = 0;
	struct finding *finding;

	for (size_t i = 0; i < counts->event_count; i++) {
		const struct event_count *line = &counts->events[i];

		if (line->enabled_ns && !is_of_kernel(pd_file_event(doctor->analysis.input.file, i)) &&
		    (double)line->running_ns < worst * (double)line->enabled_ns) {
			worst = (double)line->running_ns / (double)line->enabled_ns;
			event = i;
		}
	}
	if (worst >= 0.995)
		return;
	finding = finding_add(doctor, "multiplexed", worst < 0.5 ? WARNING : NOTE, counts->events[event].running_ns,
			      counts->events[event].enabled_ns,
			      "more events than hardware counters: counts are scaled estimates",
			      "%.100s was counted %.1f%% of the time",
			      pd_file_event(doctor->analysis.input.file, event)->name, 100 * worst);
	finding_command(finding, "perfdata record -e ...   (with fewer events)");
}

/* ---- samples and events ---- */

static void check_samples(struct doctor *doctor)
{
	const struct counts *counts = &doctor->counts;
	bool counting = stats_type(&counts->stats, PD_RECORD_STAT) > 0;
	struct finding *finding;

	if (counts->samples >= FEW_SAMPLES || counting || counts->aux)
		return;
	finding = finding_add(
		doctor, counts->samples ? "few-samples" : "no-samples", counts->samples ? NOTE : BAD, counts->samples,
		FEW_SAMPLES,
		counts->samples ? "too few samples for reliable percentages" :
				  "nothing to report: the program slept, ran too briefly, or its events did not occur",
		"only %" PRIu64 " sample%s", counts->samples, plural(counts->samples));
	finding_command(finding, "perfdata record -F 4999 ...   (or record longer, or system-wide with -a)");
}

/* Events that are there for their side-band only have no samples, nor have those that only count. */
static bool should_sample(const struct pd_event *event)
{
	return event->attr->sample_period && strncmp(event->name, "dummy", 5) != 0 &&
	       !(event->attr->type == PD_TYPE_SOFTWARE && event->attr->config == PD_SW_DUMMY);
}

static void check_silent(struct doctor *doctor)
{
	const struct counts *counts = &doctor->counts;
	const char *first = NULL;
	uint64_t silent = 0, all = 0;

	for (size_t i = 0; counts->samples && i < counts->event_count; i++) {
		const struct pd_event *event = pd_file_event(doctor->analysis.input.file, i);

		all += should_sample(event);
		if (!should_sample(event) || counts->events[i].samples)
			continue;
		silent++;
		first = first ? first : event->name;
	}
	if (silent)
		finding_add(
			doctor, "silent-events", NOTE, silent, all,
			"the event did not occur, or less often than its period; on hybrid CPUs it may count on the other core type only",
			"%" PRIu64 " of %" PRIu64 " events have no samples: %.100s%s", silent, all, first,
			silent > 1 ? " ..." : "");
}

static void check_kernel(struct doctor *doctor)
{
	const struct counts *counts = &doctor->counts;
	uint64_t excluded = 0, sampled = 0;
	bool by_user = false;
	struct finding *finding;

	for (size_t i = 0; i < counts->event_count; i++) {
		const struct pd_event *event = pd_file_event(doctor->analysis.input.file, i);
		const char *colon = strrchr(event->name, ':');

		if (!counts->events[i].samples || event->attr->type == PD_TYPE_TRACEPOINT)
			continue;
		sampled += counts->events[i].samples;
		excluded += PD_BITS(event->attr->flags, PD_ATTR_EXCLUDE_KERNEL) ? counts->events[i].samples : 0;
		by_user |= recorder_option(doctor, "-e") && colon && strstr(recorder_option(doctor, "-e"), colon);
	}
	if (!excluded || excluded != sampled)
		return;
	finding = finding_add(
		doctor, "no-kernel", by_user ? NOTE : WARNING, excluded, sampled,
		by_user ? "as requested (:u); time in system calls is not in the profile" :
			  "this user is not permitted to sample the kernel: time in system calls is not in the profile",
		"all %" PRIu64 " samples exclude the kernel", excluded);
	if (!by_user)
		finding_command(finding, "sudo sysctl kernel.perf_event_paranoid=1");
}

static void check_guest(struct doctor *doctor)
{
	const struct counts *counts = &doctor->counts;
	uint64_t guest = 0;
	struct finding *finding;

	for (size_t i = 0; i < counts->event_count; i++)
		guest += counts->events[i].guest;
	if (!guest)
		return;
	finding = finding_add(doctor, "guest", severity_by(guest, counts->samples, 5, 50), guest, counts->samples,
			      "guest code cannot be resolved without the files of the guest",
			      "%" PRIu64 " of %" PRIu64 " samples (%.2f%%) are in virtual machines", guest,
			      counts->samples, percent(guest, counts->samples));
	finding_command(finding, "perf kvm --guest --guestmount DIR record ...");
}

/* Events whose period is nanoseconds of a CPU tell how often they fired while it ran. */
static void check_frequency(struct doctor *doctor)
{
	const struct counts *counts = &doctor->counts;

	for (size_t i = 0; i < counts->event_count; i++) {
		const struct pd_event *event = pd_file_event(doctor->analysis.input.file, i);
		const struct event_count *line = &counts->events[i];
		double asked = (double)event->attr->sample_period, got;
		struct finding *finding;

		if (pd_event_unit(event) != PD_UNIT_NS || !line->period || !PD_BITS(event->attr->flags, PD_ATTR_FREQ) ||
		    line->samples < FEW_SAMPLES)
			continue;
		got = (double)line->samples * NS_PER_S / (double)line->period;
		if (got > 0.8 * asked)
			continue;
		finding =
			finding_add(doctor, "low-frequency", NOTE, (uint64_t)got, event->attr->sample_period,
				    "the kernel's limit is lower than the requested frequency, or the timer is coarse",
				    "%.100s was sampled at %.0f Hz instead of %" PRIu64 " Hz", event->name, got,
				    event->attr->sample_period);
		finding_command(finding, "sysctl kernel.perf_event_max_sample_rate=100000");
	}
}

static void check_precise(struct doctor *doctor)
{
	const struct counts *counts = &doctor->counts;
	uint64_t late = 0;
	const char *first = NULL;
	struct finding *finding;

	for (size_t i = 0; i < counts->event_count; i++) {
		const struct pd_event *event = pd_file_event(doctor->analysis.input.file, i);

		if (event->attr->type != PD_TYPE_HARDWARE || PD_BITS(event->attr->flags, PD_ATTR_PRECISE_IP) ||
		    !counts->events[i].samples)
			continue;
		late += counts->events[i].samples;
		first = first ? first : event->name;
	}
	if (!late)
		return;
	finding = finding_add(
		doctor, "imprecise", NOTE, late, counts->samples,
		"addresses may be some instructions late (skid): harmless for functions, not for source lines and "
		"disassembly",
		"%" PRIu64 " of %" PRIu64 " samples are not precise (%.100s)", late, counts->samples, first);
	finding_command(finding, "perfdata record -e cycles:P ...");
}

static void check_copied(struct doctor *doctor)
{
	const struct counts *counts = &doctor->counts;
	struct finding *finding;
	uint64_t copied = 0;

	for (size_t i = 0; i < counts->event_count; i++)
		copied += counts->events[i].copied;
	if (!copied)
		return;
	finding = finding_add(
		doctor, "stacks-not-unwound", severity_by(copied, counts->samples, 0, 10), copied, counts->samples,
		"DWARF unwinding is not supported yet: callers in user space are missing; perf report and perf "
		"script unwind the copied stacks",
		"%" PRIu64 " of %" PRIu64 " samples (%.2f%%) have a copied user stack that is not unwound", copied,
		counts->samples, percent(copied, counts->samples));
	finding_command(finding, FRAME_POINTERS);
}

static void check_dumps(struct doctor *doctor)
{
	const struct counts *counts = &doctor->counts;
	uint64_t dumps = 0, full = 0, bytes = 0;
	struct finding *finding;

	for (size_t i = 0; i < counts->event_count; i++) {
		dumps += counts->events[i].dumps;
		full += counts->events[i].full_dumps;
		bytes = counts->events[i].dump_bytes > bytes ? counts->events[i].dump_bytes : bytes;
	}
	if (!full)
		return;
	finding = finding_add(doctor, "stack-dumps-full", severity_by(full, dumps, 10, 101), full, dumps,
			      "where the stack was deeper, its outermost functions cannot be unwound",
			      "%" PRIu64 " of %" PRIu64 " stack copies (%.2f%%) fill all of their %" PRIu64 " bytes",
			      full, dumps, percent(full, dumps), bytes);
	finding_command(finding, FRAME_POINTERS);
}

/* ---- times ---- */

static void check_times(struct doctor *doctor)
{
	const struct counts *counts = &doctor->counts;
	uint64_t timeless = 0;
	struct finding *finding;

	for (size_t i = 0; i < counts->event_count; i++)
		timeless += counts->events[i].timeless;
	if (timeless) {
		finding = finding_add(
			doctor, "no-times", severity_by(timeless, counts->samples, 0, 50), timeless, counts->samples,
			"samples cannot be matched reliably with maps and process names, nor selected by time",
			"%" PRIu64 " of %" PRIu64 " samples have no time", timeless, counts->samples);
		finding_command(finding, "perfdata record -T ...");
	}
	if (counts->backwards)
		finding_add(doctor, "time-backwards", severity_by(counts->backwards, counts->samples, 0, 10),
			    counts->backwards, counts->samples,
			    "the clock of the machine jumps, or the file was joined from several recordings",
			    "time goes backwards on a CPU %" PRIu64 " time%s, by up to %.3f ms", counts->backwards,
			    plural(counts->backwards), (double)counts->backwards_most_ns / 1e6);
}

void check_recording(struct doctor *doctor)
{
	static void (*const checks[])(struct doctor *) = {
		check_end,          check_damage,    check_unknown, check_size,        check_samples, check_lost,
		check_lost_samples, check_throttled, check_aux,     check_multiplexed, check_silent,  check_kernel,
		check_guest,        check_frequency, check_precise, check_copied,      check_dumps,   check_times,
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](doctor);
}
