/* SPDX-License-Identifier: MIT */
/*
 * Judges records, header and events: the file itself, losses, throttling, multiplexing, times,
 * events without samples. Each check is a function in a table; it measures and adds a finding or none.
 */
#include "doctor/doctor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1e9

/* Fewer samples than this say little. */
enum {
	FEW = 100
};

/* ---- the file ---- */

static void check_end(struct pd_doctor *doctor)
{
	const struct pd_header *header = pd_file_header(doctor->file);

	if (header->unfinished)
		pd_finding_add(
			doctor, PD_FINDING_UNFINISHED, PD_FINDING_WARNING, 1, 1,
			"the recorder was killed before it wrote the header: build ids and other features are missing, and "
			"possibly the last samples; stop a recorder with SIGINT or SIGTERM and wait until it exits",
			"the recording was not finished");
	if (header->truncated)
		pd_finding_add(doctor, PD_FINDING_TRUNCATED, PD_FINDING_BAD, 1, 1,
			       "the rest is lost; copy the file again, or check whether the disk was full",
			       "the file is truncated: it has %" PRIu64 " bytes, its header expects %" PRIu64,
			       header->file_size, header->data_offset + header->data_size);
}

static void check_damage(struct pd_doctor *doctor)
{
	uint64_t count = pd_file_problem_count(doctor->file, PD_DAMAGE);
	struct pd_finding *finding;

	if (!count)
		return;
	finding = pd_finding_add(doctor, PD_FINDING_DAMAGED, PD_FINDING_BAD, count, count,
				 "part of the file is lost or unreadable; the rest is shown",
				 "the file is corrupt in %" PRIu64 " place%s", count, count == 1 ? "" : "s");
	finding->command = pd_doctor_string(doctor, "perfdata check");
}

static void check_unknown(struct pd_doctor *doctor)
{
	const struct pd_doctor_counts *counts = &doctor->counts;
	struct pd_feature_section section;
	uint64_t features = 0;

	for (size_t i = 0; pd_file_feature_at(doctor->file, i, &section); i++)
		features += !pd_feature_layout(section.number);
	if (counts->unknown_records)
		pd_finding_add(doctor, PD_FINDING_UNKNOWN_RECORDS,
			       pd_severity_by(counts->unknown_records, pd_stats_total(counts->stats), 1, 10),
			       counts->unknown_records, pd_stats_total(counts->stats),
			       "the recorder is newer than this program; they were skipped",
			       "%" PRIu64 " of %" PRIu64 " records have an unknown type", counts->unknown_records,
			       pd_stats_total(counts->stats));
	if (features)
		pd_finding_add(doctor, PD_FINDING_UNKNOWN_FEATURES, PD_FINDING_NOTE, features, features,
			       "the recorder is newer than this program; they were skipped",
			       "%" PRIu64 " unknown header feature%s", features, features == 1 ? "" : "s");
	if (counts->unknown_event || counts->damaged)
		pd_finding_add(doctor, PD_FINDING_UNKNOWN_SAMPLES,
			       pd_severity_by(counts->unknown_event + counts->damaged, counts->samples, 0, 10),
			       counts->unknown_event + counts->damaged, counts->samples,
			       "they are not in any report: their event is not in the file, or they cannot be decoded",
			       "%" PRIu64 " of %" PRIu64 " samples belong to no event, %" PRIu64 " cannot be decoded",
			       counts->unknown_event, counts->samples, counts->damaged);
}

/* The value of an option of the recorder, or NULL. */
static const char *recorder_option(const struct pd_doctor *doctor, const char *option)
{
	const struct pd_cmdline *line = pd_file_cmdline(doctor->file);
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

static void check_size(struct pd_doctor *doctor)
{
	const char *limit = recorder_option(doctor, "--max-size");
	uint64_t size = pd_file_header(doctor->file)->file_size;
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
		pd_finding_add(doctor, PD_FINDING_MAX_SIZE, PD_FINDING_WARNING, size, most,
			       "the recorder stopped at the size limit: what ran later is not in the file",
			       "the file has %" PRIu64 " bytes, recording stopped at --max-size %" PRIu64, size, most);
}

/* ---- losses ---- */

static void check_lost(struct pd_doctor *doctor)
{
	const struct pd_doctor_counts *counts = &doctor->counts;
	uint64_t all = counts->lost + pd_stats_total(counts->stats);
	struct pd_finding *finding;

	if (!counts->lost)
		return;
	finding = pd_finding_add(
		doctor, PD_FINDING_LOST_RECORDS, pd_severity_by(counts->lost, all, 1, 10), counts->lost, all,
		"the ring buffers were full: busy phases are missing; if records of maps or process names were lost, "
		"whole programs show as unknown",
		"%" PRIu64 " of %" PRIu64 " records (%.2f%%) were lost", counts->lost, all,
		pd_percent(counts->lost, all));
	finding->command = pd_doctor_string(
		doctor, "perfdata record -m 16M ...   (or a lower -F, fewer events, no --call-graph dwarf)");
}

static void check_lost_samples(struct pd_doctor *doctor)
{
	const struct pd_doctor_counts *counts = &doctor->counts;
	uint64_t lost = counts->lost_samples, all = lost + counts->samples;
	const char *worst = NULL;
	struct pd_finding *finding;
	uint64_t most = 0;

	if (!lost)
		return;
	for (size_t i = 0; i < counts->event_count; i++) {
		if (pd_stats_lost_samples(counts->stats, i) > most) {
			most = pd_stats_lost_samples(counts->stats, i);
			worst = pd_file_event(doctor->file, i)->name;
		}
	}
	finding = pd_finding_add(doctor, PD_FINDING_LOST_SAMPLES, pd_severity_by(lost, all, 1, 10), lost, all,
				 "percentages are of the remaining samples, which are not representative",
				 "%" PRIu64 " of %" PRIu64 " samples (%.2f%%) were lost%s%.100s", lost, all,
				 pd_percent(lost, all), worst ? ", most of " : "", worst ? worst : "");
	finding->command = pd_doctor_string(doctor, "perfdata record -m 16M ...   (or a lower -F)");
}

static void check_throttled(struct pd_doctor *doctor)
{
	const struct pd_doctor_counts *counts = &doctor->counts;
	uint64_t all = (counts->last_ns - counts->first_ns) * counts->counter_count;
	struct pd_finding *finding;

	if (!counts->throttles)
		return;
	finding = pd_finding_add(
		doctor, PD_FINDING_THROTTLED,
		counts->throttled_ns ? pd_severity_by(counts->throttled_ns, all, 1, 10) : PD_FINDING_WARNING,
		counts->throttled_ns, all,
		"the kernel stops counters that interrupt too often: samples of these phases are missing",
		"counters were throttled %" PRIu64 " time%s, for %.3f s in total on %zu counter%s (%.2f%% of "
		"their time)",
		counts->throttles, counts->throttles == 1 ? "" : "s", (double)counts->throttled_ns / NS_PER_S,
		counts->counter_count, counts->counter_count == 1 ? "" : "s", pd_percent(counts->throttled_ns, all));
	finding->command = pd_doctor_string(
		doctor, "sysctl kernel.perf_cpu_time_max_percent=50 kernel.perf_event_max_sample_rate=100000   (or a "
			"lower -F)");
}

static void check_aux(struct pd_doctor *doctor)
{
	const struct pd_doctor_counts *counts = &doctor->counts;
	struct pd_finding *finding;

	if (!counts->aux_truncated)
		return;
	finding = pd_finding_add(doctor, PD_FINDING_AUX_LOST, pd_severity_by(counts->aux_truncated, counts->aux, 0, 10),
				 counts->aux_truncated, counts->aux,
				 "the AUX trace has gaps: the AUX buffer was full, or something else used the hardware",
				 "%" PRIu64 " of %" PRIu64 " AUX records (%.2f%%) are truncated or have a gap",
				 counts->aux_truncated, counts->aux, pd_percent(counts->aux_truncated, counts->aux));
	finding->command = pd_doctor_string(doctor, "perf record -m ,64M ...");
}

/* The kernel counts these itself; they take no turns. */
static bool is_of_kernel(const struct pd_event *event)
{
	return event->attr->type == PD_TYPE_SOFTWARE || event->attr->type == PD_TYPE_TRACEPOINT;
}

static void check_multiplexed(struct pd_doctor *doctor)
{
	const struct pd_doctor_counts *counts = &doctor->counts;
	double worst = 1;
	size_t event = 0;
	struct pd_finding *finding;

	for (size_t i = 0; i < counts->event_count; i++) {
		const struct pd_doctor_event *line = &counts->events[i];

		if (line->enabled_ns && !is_of_kernel(pd_file_event(doctor->file, i)) &&
		    (double)line->running_ns < worst * (double)line->enabled_ns) {
			worst = (double)line->running_ns / (double)line->enabled_ns;
			event = i;
		}
	}
	if (worst >= 0.995)
		return;
	finding = pd_finding_add(doctor, PD_FINDING_MULTIPLEXED, worst < 0.5 ? PD_FINDING_WARNING : PD_FINDING_NOTE,
				 counts->events[event].running_ns, counts->events[event].enabled_ns,
				 "more events than hardware counters: counts are scaled estimates",
				 "%.100s was counted %.1f%% of the time", pd_file_event(doctor->file, event)->name,
				 100 * worst);
	finding->command = pd_doctor_string(doctor, "perfdata record -e ...   (with fewer events)");
}

/* ---- samples and events ---- */

static void check_samples(struct pd_doctor *doctor)
{
	const struct pd_doctor_counts *counts = &doctor->counts;
	bool counting = pd_stats_of_type(counts->stats, PD_RECORD_STAT) > 0;
	struct pd_finding *finding;

	if (counts->samples >= FEW || counting || counts->aux)
		return;
	finding = pd_finding_add(
		doctor, counts->samples ? PD_FINDING_FEW_SAMPLES : PD_FINDING_NO_SAMPLES,
		counts->samples ? PD_FINDING_NOTE : PD_FINDING_BAD, counts->samples, FEW,
		counts->samples ? "too few samples for reliable percentages" :
				  "nothing to report: the program slept, ran too briefly, or its events did not occur",
		"only %" PRIu64 " sample%s", counts->samples, counts->samples == 1 ? "" : "s");
	finding->command =
		pd_doctor_string(doctor, "perfdata record -F 4999 ...   (or record longer, or system-wide with -a)");
}

/* Events that are there for their side-band only have no samples, nor have those that only count. */
static bool should_sample(const struct pd_event *event)
{
	return event->attr->sample_period && strncmp(event->name, "dummy", 5) != 0 &&
	       !(event->attr->type == PD_TYPE_SOFTWARE && event->attr->config == PD_SW_DUMMY);
}

static void check_silent(struct pd_doctor *doctor)
{
	const struct pd_doctor_counts *counts = &doctor->counts;
	const char *first = NULL;
	uint64_t silent = 0, all = 0;

	for (size_t i = 0; counts->samples && i < counts->event_count; i++) {
		const struct pd_event *event = pd_file_event(doctor->file, i);

		all += should_sample(event);
		if (!should_sample(event) || counts->events[i].samples)
			continue;
		silent++;
		first = first ? first : event->name;
	}
	if (silent)
		pd_finding_add(
			doctor, PD_FINDING_SILENT_EVENTS, PD_FINDING_NOTE, silent, all,
			"the event did not occur, or less often than its period; on hybrid CPUs it may count on the other core type only",
			"%" PRIu64 " of %" PRIu64 " events have no samples: %.100s%s", silent, all, first,
			silent > 1 ? " ..." : "");
}

static void check_kernel(struct pd_doctor *doctor)
{
	const struct pd_doctor_counts *counts = &doctor->counts;
	uint64_t excluded = 0, sampled = 0;
	bool by_user = false;
	struct pd_finding *finding;

	for (size_t i = 0; i < counts->event_count; i++) {
		const struct pd_event *event = pd_file_event(doctor->file, i);
		const char *colon = strrchr(event->name, ':');

		if (!counts->events[i].samples || event->attr->type == PD_TYPE_TRACEPOINT)
			continue;
		sampled += counts->events[i].samples;
		excluded += PD_BITS(event->attr->flags, PD_ATTR_EXCLUDE_KERNEL) ? counts->events[i].samples : 0;
		by_user |= recorder_option(doctor, "-e") && colon && strstr(recorder_option(doctor, "-e"), colon);
	}
	if (!excluded || excluded != sampled)
		return;
	finding = pd_finding_add(
		doctor, PD_FINDING_NO_KERNEL, by_user ? PD_FINDING_NOTE : PD_FINDING_WARNING, excluded, sampled,
		by_user ? "as requested (:u); time in system calls is not in the profile" :
			  "this user is not permitted to sample the kernel: time in system calls is not in the profile",
		"all %" PRIu64 " samples exclude the kernel", excluded);
	if (!by_user)
		finding->command = pd_doctor_string(doctor, "sudo sysctl kernel.perf_event_paranoid=1");
}

static void check_guest(struct pd_doctor *doctor)
{
	const struct pd_doctor_counts *counts = &doctor->counts;
	uint64_t guest = 0;
	struct pd_finding *finding;

	for (size_t i = 0; i < counts->event_count; i++)
		guest += counts->events[i].guest;
	if (!guest)
		return;
	finding = pd_finding_add(doctor, PD_FINDING_GUEST, pd_severity_by(guest, counts->samples, 5, 50), guest,
				 counts->samples, "guest code cannot be resolved without the files of the guest",
				 "%" PRIu64 " of %" PRIu64 " samples (%.2f%%) are in virtual machines", guest,
				 counts->samples, pd_percent(guest, counts->samples));
	finding->command = pd_doctor_string(doctor, "perf kvm --guest --guestmount DIR record ...");
}

/* Events whose period is nanoseconds of a CPU tell how often they fired while it ran. */
static void check_frequency(struct pd_doctor *doctor)
{
	const struct pd_doctor_counts *counts = &doctor->counts;

	for (size_t i = 0; i < counts->event_count; i++) {
		const struct pd_event *event = pd_file_event(doctor->file, i);
		const struct pd_doctor_event *line = &counts->events[i];
		double asked = (double)event->attr->sample_period, got;
		struct pd_finding *finding;

		if (pd_event_unit(event) != PD_UNIT_NS || !line->period || !PD_BITS(event->attr->flags, PD_ATTR_FREQ) ||
		    line->samples < FEW)
			continue;
		got = (double)line->samples * NS_PER_S / (double)line->period;
		if (got > 0.8 * asked)
			continue;
		finding = pd_finding_add(
			doctor, PD_FINDING_LOW_FREQUENCY, PD_FINDING_NOTE, (uint64_t)got, event->attr->sample_period,
			"the kernel's limit is lower than the requested frequency, or the timer is coarse",
			"%.100s was sampled at %.0f Hz instead of %" PRIu64 " Hz", event->name, got,
			event->attr->sample_period);
		finding->command = pd_doctor_string(doctor, "sysctl kernel.perf_event_max_sample_rate=100000");
	}
}

static void check_precise(struct pd_doctor *doctor)
{
	const struct pd_doctor_counts *counts = &doctor->counts;
	uint64_t imprecise = 0;
	const char *first = NULL;
	struct pd_finding *finding;

	for (size_t i = 0; i < counts->event_count; i++) {
		const struct pd_event *event = pd_file_event(doctor->file, i);

		if (event->attr->type != PD_TYPE_HARDWARE || PD_BITS(event->attr->flags, PD_ATTR_PRECISE_IP) ||
		    !counts->events[i].samples)
			continue;
		imprecise += counts->events[i].samples;
		first = first ? first : event->name;
	}
	if (!imprecise)
		return;
	finding = pd_finding_add(
		doctor, PD_FINDING_IMPRECISE, PD_FINDING_NOTE, imprecise, counts->samples,
		"addresses may be some instructions late (skid): harmless for functions, not for source lines and "
		"disassembly",
		"%" PRIu64 " of %" PRIu64 " samples are not precise (%.100s)", imprecise, counts->samples, first);
	finding->command = pd_doctor_string(doctor, "perfdata record -e cycles:P ...");
}

/* ---- times ---- */

static void check_times(struct pd_doctor *doctor)
{
	const struct pd_doctor_counts *counts = &doctor->counts;
	uint64_t timeless = 0;
	struct pd_finding *finding;

	for (size_t i = 0; i < counts->event_count; i++)
		timeless += counts->events[i].timeless;
	if (timeless) {
		finding = pd_finding_add(
			doctor, PD_FINDING_NO_TIMES, pd_severity_by(timeless, counts->samples, 0, 50), timeless,
			counts->samples,
			"samples cannot be matched reliably with maps and process names, nor selected by time",
			"%" PRIu64 " of %" PRIu64 " samples have no time", timeless, counts->samples);
		finding->command = pd_doctor_string(doctor, "perfdata record -T ...");
	}
	if (counts->backwards)
		pd_finding_add(doctor, PD_FINDING_TIME_BACKWARDS,
			       pd_severity_by(counts->backwards, counts->samples, 0, 10), counts->backwards,
			       counts->samples,
			       "the clock of the machine jumps, or the file was joined from several recordings",
			       "time goes backwards on a CPU %" PRIu64 " time%s, by up to %.3f ms", counts->backwards,
			       counts->backwards == 1 ? "" : "s", (double)counts->backwards_max_ns / 1e6);
}

void pd_doctor_validate_recording(struct pd_doctor *doctor)
{
	static void (*const checks[])(struct pd_doctor *) = {
		check_end,          check_damage,    check_unknown, check_size,        check_samples, check_lost,
		check_lost_samples, check_throttled, check_aux,     check_multiplexed, check_silent,  check_kernel,
		check_guest,        check_frequency, check_precise, check_times,
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](doctor);
}
