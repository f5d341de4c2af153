/* SPDX-License-Identifier: MIT */
/* Judges copies of user stacks: whether they were unwound, how far, and what would get further. */
#include "doctor/doctor.h"

#include <inttypes.h>

#include "unwind/unwinder.h"

enum {
	LARGEST_COPY = 65528,
	SMALLEST_COPY = 8192 // to be advised
};

// ---- without unwinding ----

static void check_copied(struct pd_doctor *doctor)
{
	const struct pd_doctor_counts *counts = &doctor->counts;
	struct pd_finding *finding;
	uint64_t copied = 0;

	for (size_t i = 0; i < counts->event_count; i++)
		copied += counts->events[i].copied;
	if (!copied)
		return;
	finding = pd_finding_add(doctor, PD_FINDING_STACKS_NOT_UNWOUND, pd_severity_by(copied, counts->samples, 0, 10),
				 copied, counts->samples,
				 "they were not to be unwound: callers in user space are missing",
				 "%" PRIu64 " of %" PRIu64
				 " samples (%.2f%%) have a copied user stack that is not unwound",
				 copied, counts->samples, pd_percent(copied, counts->samples));
	finding->command = pd_doctor_string(doctor, "perfdata doctor ...   (without --unwind=no)");
}

// The size of the largest copy; how many there are, and how many are full.
static uint64_t count_dumps(const struct pd_doctor *doctor, uint64_t *dumps_out, uint64_t *full_out)
{
	const struct pd_doctor_counts *counts = &doctor->counts;
	uint64_t bytes = 0;

	*dumps_out = *full_out = 0;
	for (size_t i = 0; i < counts->event_count; i++) {
		*dumps_out += counts->events[i].dumps;
		*full_out += counts->events[i].full_dumps;
		bytes = counts->events[i].dump_bytes > bytes ? counts->events[i].dump_bytes : bytes;
	}
	return bytes;
}

static void check_dumps(struct pd_doctor *doctor)
{
	uint64_t dumps, full, bytes = count_dumps(doctor, &dumps, &full);
	struct pd_finding *finding;

	if (!full)
		return;
	finding = pd_finding_add(doctor, PD_FINDING_STACK_DUMPS_FULL, pd_severity_by(full, dumps, 10, 101), full, dumps,
				 "where the stack was deeper, its outermost functions cannot be unwound",
				 "%" PRIu64 " of %" PRIu64 " stack copies (%.2f%%) fill all of their %" PRIu64 " bytes",
				 full, dumps, pd_percent(full, dumps), bytes);
	finding->command = pd_doctor_string(doctor, PD_DOCTOR_FRAME_POINTERS);
}

// ---- how unwinding ended ----

// Samples that ended so; *worst_out is the object that most of them are in, or NULL.
static uint64_t count_end(const struct pd_unwinder *unwinder, enum pd_unwind_end end,
			  const struct pd_object **worst_out, uint64_t *in_worst_out)
{
	struct pd_unwind_count count;
	uint64_t samples = 0;

	*worst_out = NULL;
	*in_worst_out = 0;
	for (size_t i = 0; pd_unwinder_count(unwinder, i, &count); i++) {
		if (count.end != end)
			continue;
		samples += count.samples;
		if (count.object && count.samples > *in_worst_out) {
			*in_worst_out = count.samples;
			*worst_out = count.object;
		}
	}
	return samples;
}

static const char *larger_copy(struct pd_doctor *doctor)
{
	uint64_t dumps, full, bytes = count_dumps(doctor, &dumps, &full), larger = SMALLEST_COPY;

	while (larger <= bytes)
		larger *= 2;
	if (bytes >= LARGEST_COPY)
		return pd_doctor_string(doctor, PD_DOCTOR_FRAME_POINTERS);
	return pd_doctor_string(doctor, "perfdata record --call-graph dwarf,%" PRIu64 " ...",
				larger < LARGEST_COPY ? larger : (uint64_t)LARGEST_COPY);
}

static void check_stack_ends(struct pd_doctor *doctor, const struct pd_unwinder *unwinder, uint64_t all)
{
	const struct pd_object *object;
	uint64_t in_object, count = count_end(unwinder, PD_UNWIND_STACK_END, &object, &in_object), dumps, full;
	struct pd_finding *finding;

	if (!count)
		return;
	finding = pd_finding_add(doctor, PD_FINDING_STACKS_TOO_SMALL, pd_severity_by(count, all, 5, 50), count, all,
				 "their outermost functions are missing: stacks do not begin at main",
				 "%" PRIu64 " of %" PRIu64
				 " unwound stacks (%.2f%%) end where the copied stack ends, which has %" PRIu64
				 " bytes",
				 count, all, pd_percent(count, all), count_dumps(doctor, &dumps, &full));
	finding->command = larger_copy(doctor);
}

// Stacks that end because of an object, NULL if there are none; where: what they end in.
static struct pd_finding *add_of_object(struct pd_doctor *doctor, const struct pd_unwinder *unwinder, uint64_t all,
					enum pd_unwind_end end, enum pd_finding_number number, const char *effect,
					const char *where)
{
	const struct pd_object *object;
	uint64_t in_object, count = count_end(unwinder, end, &object, &in_object);

	if (!count)
		return NULL;
	return pd_finding_add(doctor, number, pd_severity_by(count, all, 5, 50), count, all, effect,
			      "%" PRIu64 " of %" PRIu64 " unwound stacks (%.2f%%) end in %s, %" PRIu64 " of them in %s",
			      count, all, pd_percent(count, all), where, in_object,
			      object ? object->path : "no object");
}

static void check_rules(struct pd_doctor *doctor, const struct pd_unwinder *unwinder, uint64_t all)
{
	struct pd_finding *finding =
		add_of_object(doctor, unwinder, all, PD_UNWIND_NO_RULE, PD_FINDING_NO_UNWIND_RULES,
			      "the code was built without unwind tables (.eh_frame, .debug_frame), or they are in a "
			      "debug file that was not found",
			      "code without unwind rules");

	if (finding)
		finding->command = pd_doctor_string(doctor, "install the debug package of the object, or build it with "
							    "-fasynchronous-unwind-tables");
}

static void check_objects(struct pd_doctor *doctor, const struct pd_unwinder *unwinder, uint64_t all)
{
	struct pd_finding *finding =
		add_of_object(doctor, unwinder, all, PD_UNWIND_NO_OBJECT, PD_FINDING_NO_UNWIND_OBJECT,
			      "unwind rules are in the object, which is needed as it was when it was recorded",
			      "an object that was not found");

	if (finding)
		finding->command = pd_doctor_string(doctor,
						    "--symfs DIR, with the recorded files at their paths below DIR; or "
						    "perfdata pack on the recorded machine");
}

static void check_rest(struct pd_doctor *doctor, const struct pd_unwinder *unwinder, uint64_t all)
{
	uint64_t sums[PD_UNWIND_ENDS], count;

	pd_unwinder_sums(unwinder, sums);
	count = sums[PD_UNWIND_OTHER_STACK] + sums[PD_UNWIND_DAMAGED] + sums[PD_UNWIND_DEPTH] +
		sums[PD_UNWIND_DEFERRED];
	if (!count)
		return;
	pd_finding_add(doctor, PD_FINDING_STACKS_UNFINISHED, pd_severity_by(count, all, 25, 75), count, all,
		       "their outermost functions are missing",
		       "%" PRIu64 " of %" PRIu64 " unwound stacks (%.2f%%) are incomplete: %" PRIu64
		       " go on on another stack, %" PRIu64 " have an invalid frame, %" PRIu64 " are too deep, %" PRIu64
		       " have no record with their user part",
		       count, all, pd_percent(count, all), sums[PD_UNWIND_OTHER_STACK], sums[PD_UNWIND_DAMAGED],
		       sums[PD_UNWIND_DEPTH], sums[PD_UNWIND_DEFERRED]);
}

static void check_calls(struct pd_doctor *doctor, const struct pd_unwinder *unwinder, uint64_t all)
{
	uint64_t sums[PD_UNWIND_ENDS], count;
	struct pd_finding *finding;

	pd_unwinder_sums(unwinder, sums);
	count = sums[PD_UNWIND_CALLS_FULL];
	if (!count)
		return;
	finding = pd_finding_add(doctor, PD_FINDING_CALLS_FULL, pd_severity_by(count, all, 5, 50), count, all,
				 "the processor keeps few calls: the outermost functions of deep stacks are missing",
				 "%" PRIu64 " of %" PRIu64 " call stacks (%.2f%%) fill the LBR", count, all,
				 pd_percent(count, all));
	finding->command =
		pd_doctor_string(doctor, "perfdata report --stitch-lbr ...   (or record --call-graph dwarf)");
}

void pd_doctor_validate_unwinding(struct pd_doctor *doctor)
{
	const struct pd_unwinder *unwinder = doctor->unwinder ? doctor->unwinder : pd_profile_unwinder(doctor->profile);
	uint64_t sums[PD_UNWIND_ENDS], all = 0;

	if (!unwinder) {
		check_copied(doctor);
		check_dumps(doctor);
		return;
	}
	pd_unwinder_sums(unwinder, sums);
	for (size_t i = 0; i < PD_UNWIND_ENDS; i++)
		all += sums[i];
	check_stack_ends(doctor, unwinder, all);
	check_rules(doctor, unwinder, all);
	check_objects(doctor, unwinder, all);
	check_calls(doctor, unwinder, all);
	check_rest(doctor, unwinder, all);
}
