/* SPDX-License-Identifier: MIT */
/*
 * Judges addresses and stacks: objects without symbols and how to get them, unmapped addresses, stacks that are truncated,
 * damaged or not unwound.
 */
#include "doctor/doctor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "symbol/data.h"

/* An object with its samples; index is that of the dso. */
struct object_count {
	uint64_t samples, unnamed;
	const char *comm; /* of the first samples without a name */
	uint64_t comm_samples;
};

/* One pass over the entries of the profile. */
struct sums {
	struct object_count *objects;
	size_t object_count, object_capacity;
	uint64_t samples;
	uint64_t unmapped, unmapped_kernel; /* in no object */
	uint64_t unnamed;                   /* in an object, in no function */
	uint64_t nameless;                  /* of threads without a name */
	uint64_t chains, cut, damaged;
	uint64_t user, alone; /* with a part of the chain in user space; with one address there */
	uint64_t no_build_id;
};

/* ---- sums ---- */

static struct object_count *object_of(struct sums *sums, const struct pd_dso *dso)
{
	if (dso->index >= sums->object_count) {
		if (!PD_GROW(sums->objects, sums->object_capacity, dso->index + 1))
			return NULL;
		memset(sums->objects + sums->object_count, 0,
		       (dso->index + 1 - sums->object_count) * sizeof(*sums->objects));
		sums->object_count = dso->index + 1;
	}
	return &sums->objects[dso->index];
}

static bool add_place(struct sums *sums, const struct pd_frame *frame, const struct pd_profile_entry *entry)
{
	const struct pd_dso *dso = frame->place.dso;
	struct object_count *object;

	if (!dso) {
		sums->unmapped += entry->samples;
		sums->unmapped_kernel += frame->cpumode == PD_CPUMODE_KERNEL ? entry->samples : 0;
		return true;
	}
	object = object_of(sums, dso);
	if (!object)
		return false;
	object->samples += entry->samples;
	if (dso->object && dso->object->kind == PD_OBJECT_FILE && !dso->object->build_id_size)
		sums->no_build_id += entry->samples;
	if (pd_place_is_resolved(&frame->place))
		return true;
	object->unnamed += entry->samples;
	sums->unnamed += entry->samples;
	if (entry->samples > object->comm_samples) {
		object->comm = entry->comm;
		object->comm_samples = entry->samples;
	}
	return true;
}

/* A stack with one address in user space is one that nobody could walk up, or the first function of all. Events with
 * copies of the stack are unwound later. */
static void add_stack(struct sums *sums, const struct pd_doctor *doctor, const struct pd_stack *stack,
		      const struct pd_profile_entry *entry)
{
	uint64_t sample_type = entry->event->attr->sample_type;
	size_t user = 0;

	if (!(sample_type & PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN)))
		return;
	sums->chains += entry->samples;
	sums->cut += stack->cut && !stack->unfinished ? entry->samples : 0;
	sums->damaged += stack->damaged ? entry->samples : 0;
	if (sample_type & PD_MASK(PD_SAMPLE_TYPE_STACK_USER) ||
	    PD_BITS(entry->event->attr->flags, PD_ATTR_EXCLUDE_CALLCHAIN_USER))
		return;
	for (size_t i = 0; i < stack->caller_count; i++)
		user += pd_profile_frame(doctor->profile, stack->callers[i])->cpumode == PD_CPUMODE_USER;
	sums->user += user ? entry->samples : 0;
	sums->alone += user == 1 ? entry->samples : 0;
}

static bool add_all(struct sums *sums, const struct pd_doctor *doctor)
{
	const struct pd_profile *profile = doctor->profile;
	struct pd_profile_entry entry;

	for (size_t i = 0; pd_profile_entry(profile, i, &entry); i++) {
		const struct pd_stack *stack = pd_profile_stack(profile, entry.stack);

		sums->samples += entry.samples;
		sums->nameless += entry.comm && entry.comm[0] == ':' ? entry.samples : 0;
		if (!add_place(sums, pd_profile_frame(profile, stack->ip), &entry))
			return false;
		add_stack(sums, doctor, stack, &entry);
	}
	return true;
}

/* ---- what to type for an object ---- */

static const struct {
	const char *comm; /* begins so */
	const char *command;
} runtimes[] = {
	{ "java", "java -XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer ...   (JDK 17 and later)" },
	{ "node", "node --perf-basic-prof --interpreted-frames-native-stack ..." },
	{ "python", "python3 -X perf ...   (3.12 and later)" },
	{ "ruby", "ruby --yjit --yjit-perf=map ..." },
	{ "php", "php -d opcache.jit_debug=16 ..." },
	{ "dotnet", "DOTNET_PerfMapEnabled=1 dotnet ..." },
	{ "beam", "ERL_FLAGS='+JPperf true' ..." },
};

static const char *runtime_command(const char *comm)
{
	for (size_t i = 0; comm && i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
		if (!strncmp(comm, runtimes[i].comm, strlen(runtimes[i].comm)))
			return runtimes[i].command;
	}
	return "let the program write /tmp/perf-PID.map, and keep it with the recording (--symfs)";
}

static void print_build_id(const struct pd_object *object, char *digits, size_t capacity)
{
	digits[0] = 0;
	for (size_t i = 0; i < object->build_id_size && 2 * i + 2 < capacity; i++)
		snprintf(digits + 2 * i, 3, "%02x", object->build_id[i]);
}

static const char *object_command(struct pd_doctor *doctor, const struct pd_dso *dso, const struct object_count *count)
{
	const struct pd_object *object = dso->object;
	char id[41];

	if (!object || object->kind == PD_OBJECT_ANON)
		return runtime_command(count->comm);
	print_build_id(object, id, sizeof(id));
	if (object->kind == PD_OBJECT_KERNEL)
		return "sudo cat /proc/kallsyms >FILE (on the recorded machine), then --kallsyms FILE; or --vmlinux FILE";
	if (object->kind == PD_OBJECT_VDSO || object->kind == PD_OBJECT_VSYSCALL || object->kind == PD_OBJECT_KSYMBOL)
		return "perfdata report ...   (on the recorded machine)";
	if (dso->state == PD_DSO_MISSING || dso->state == PD_DSO_MISMATCH)
		return pd_doctor_string(doctor, "--symfs DIR, with the file%s%s at its path below DIR%s%s",
					*id ? " of build id " : "", id, *id ? "; or debuginfod-find executable " : "",
					id);
	return pd_doctor_string(doctor, "install its debug package%s%s", *id ? "; or debuginfod-find debuginfo " : "",
				id);
}

/* ---- checks ---- */

/* By name where samples are equal: the order must not depend on how symbols were read. */
static bool comes_after(const struct pd_finding_object *object, uint64_t samples, const char *name)
{
	return object->samples != samples ? object->samples < samples : strcmp(object->dso->long_name, name) > 0;
}

/* The objects with the most samples that nobody can name, most first. */
static void list_objects(struct pd_doctor *doctor, struct pd_finding *finding, const struct sums *sums, bool mismatch)
{
	const struct pd_dso *dso;

	for (size_t i = 0; (dso = pd_symbols_dso(doctor->symbols, i)) != NULL && finding->code; i++) {
		const struct object_count *count = i < sums->object_count ? &sums->objects[i] : NULL;
		size_t at = finding->object_count;

		if (!count || !count->unnamed || (mismatch && dso->state != PD_DSO_MISMATCH))
			continue;
		while (at > 0 && comes_after(&finding->objects[at - 1], count->unnamed, dso->long_name))
			at--;
		if (finding->object_count == PD_FINDING_OBJECTS) {
			finding->more_object_count++;
			if (at == PD_FINDING_OBJECTS)
				continue;
			finding->object_count--;
		}
		memmove(&finding->objects[at + 1], &finding->objects[at],
			(finding->object_count - at) * sizeof(finding->objects[0]));
		finding->objects[at] =
			(struct pd_finding_object){ dso, count->unnamed, object_command(doctor, dso, count) };
		finding->object_count++;
	}
}

static void check_symbols(struct pd_doctor *doctor, const struct sums *sums)
{
	const struct pd_symbols *symbols = doctor->symbols;
	uint64_t wrong = 0;
	struct pd_finding *finding;

	for (size_t i = 0; pd_symbols_dso(symbols, i) && i < sums->object_count; i++)
		wrong += pd_symbols_dso(symbols, i)->state == PD_DSO_MISMATCH ? sums->objects[i].samples : 0;
	if (wrong) {
		finding = pd_finding_add(doctor, PD_FINDING_BUILD_ID_MISMATCH,
					 pd_severity_by(wrong, sums->samples, 1, 50), wrong, sums->samples,
					 "the installed file is not the one that ran, so its symbols are not used",
					 "%" PRIu64 " of %" PRIu64
					 " samples (%.2f%%) are in files with another build id now",
					 wrong, sums->samples, pd_percent(wrong, sums->samples));
		list_objects(doctor, finding, sums, true);
	}
	if (!sums->unnamed)
		return;
	finding = pd_finding_add(doctor, PD_FINDING_NO_SYMBOLS, pd_severity_by(sums->unnamed, sums->samples, 10, 50),
				 sums->unnamed, sums->samples, "functions are shown as [unknown] or as addresses",
				 "%" PRIu64 " of %" PRIu64 " samples (%.2f%%) are in unresolved functions",
				 sums->unnamed, sums->samples, pd_percent(sums->unnamed, sums->samples));
	list_objects(doctor, finding, sums, false);
}

static void check_unmapped(struct pd_doctor *doctor, const struct sums *sums)
{
	struct pd_finding *finding;

	if (!sums->unmapped)
		return;
	finding = pd_finding_add(
		doctor, PD_FINDING_UNKNOWN_ADDRESSES, pd_severity_by(sums->unmapped, sums->samples, 5, 50),
		sums->unmapped, sums->samples,
		"nothing is mapped there: mmap records were lost, or the process was already running and "
		"its maps were not readable",
		"%" PRIu64 " of %" PRIu64 " samples (%.2f%%) are at unmapped addresses", sums->unmapped, sums->samples,
		pd_percent(sums->unmapped, sums->samples));
	if (sums->unmapped_kernel * 2 > sums->unmapped)
		finding->command = pd_doctor_string(doctor,
						    "sudo sysctl kernel.kptr_restrict=0   (before recording: %" PRIu64
						    " of them are in the kernel)",
						    sums->unmapped_kernel);
	else
		finding->command =
			pd_doctor_string(doctor, "sudo perfdata record -m 16M ...   (as root, with larger buffers)");
}

static void check_names(struct pd_doctor *doctor, const struct sums *sums)
{
	if (sums->nameless)
		pd_finding_add(
			doctor, PD_FINDING_UNKNOWN_THREADS, pd_severity_by(sums->nameless, sums->samples, 5, 50),
			sums->nameless, sums->samples,
			"records of their names were lost, or the recorder was not permitted to read them; they are shown as :TID",
			"%" PRIu64 " of %" PRIu64 " samples (%.2f%%) are of threads without a name", sums->nameless,
			sums->samples, pd_percent(sums->nameless, sums->samples));
}

static void check_build_ids(struct pd_doctor *doctor, const struct sums *sums)
{
	struct pd_finding *finding;

	if (!sums->no_build_id)
		return;
	finding = pd_finding_add(
		doctor, PD_FINDING_NO_BUILD_IDS, pd_severity_by(sums->no_build_id, sums->samples, 10, 101),
		sums->no_build_id, sums->samples,
		"a file cannot be verified to be the one that ran: if it was rebuilt since, symbols are wrong",
		"%" PRIu64 " of %" PRIu64 " samples (%.2f%%) are in files without a build id", sums->no_build_id,
		sums->samples, pd_percent(sums->no_build_id, sums->samples));
	finding->command =
		pd_doctor_string(doctor, "perfdata record --buildid-mmap ...   (and link with -Wl,--build-id)");
}

static void check_stacks(struct pd_doctor *doctor, const struct sums *sums)
{
	struct pd_finding *finding;

	if (!sums->chains) {
		finding = pd_finding_add(doctor, PD_FINDING_NO_STACKS, PD_FINDING_NOTE, 0, sums->samples,
					 "callers are unknown: no call graph, and a flame graph one function deep",
					 "the samples have no call chains");
		finding->command = pd_doctor_string(doctor, "perfdata record -g ...");
	}
	if (sums->cut) {
		finding = pd_finding_add(doctor, PD_FINDING_STACKS_CUT, pd_severity_by(sums->cut, sums->chains, 10, 50),
					 sums->cut, sums->chains,
					 "their outermost functions are missing: stacks do not begin at main",
					 "%" PRIu64 " of %" PRIu64
					 " stacks (%.2f%%) are truncated at the recorder's limit",
					 sums->cut, sums->chains, pd_percent(sums->cut, sums->chains));
		finding->command = pd_doctor_string(doctor, "sudo sysctl kernel.perf_event_max_stack=1024");
	}
	if (sums->damaged) {
		finding = pd_finding_add(
			doctor, PD_FINDING_STACKS_DAMAGED, pd_severity_by(sums->damaged, sums->chains, 1, 10),
			sums->damaged, sums->chains,
			"usually a frame pointer walk into garbage: code without frame pointers uses the "
			"register for data; these samples are shown without callers",
			"%" PRIu64 " of %" PRIu64 " stacks (%.2f%%) contain an invalid context marker (0xffff...)",
			sums->damaged, sums->chains, pd_percent(sums->damaged, sums->chains));
		finding->command = pd_doctor_string(doctor, PD_DOCTOR_FRAME_POINTERS);
	}
	/* The first function of a thread is rightly alone, but few samples are in it. */
	if (pd_percent(sums->alone, sums->user) > 10) {
		finding = pd_finding_add(doctor, PD_FINDING_NO_FRAME_POINTERS,
					 pd_severity_by(sums->alone, sums->user, 25, 75), sums->alone, sums->user,
					 "code built without frame pointers cannot be unwound: callers are missing",
					 "%" PRIu64 " of %" PRIu64 " stacks (%.2f%%) have one address in user space",
					 sums->alone, sums->user, pd_percent(sums->alone, sums->user));
		finding->command = pd_doctor_string(doctor, PD_DOCTOR_FRAME_POINTERS);
	}
}

void pd_doctor_validate_profile(struct pd_doctor *doctor)
{
	struct sums sums = { 0 };

	if (add_all(&sums, doctor)) {
		check_symbols(doctor, &sums);
		check_unmapped(doctor, &sums);
		check_names(doctor, &sums);
		check_build_ids(doctor, &sums);
		check_stacks(doctor, &sums);
		pd_doctor_validate_unwinding(doctor);
	} else {
		doctor->failed = true;
	}
	pd_free(sums.objects);
}
