/* SPDX-License-Identifier: MIT */
/**
 * doctor.h - what is wrong with a recording, how much of it, and what to type against it.
 *
 * Each finding is measured in the file or in the objects that it names. Threads: one at a time for each of them.
 *
 * Example:
 *
 *	struct pd_doctor *doctor;
 *	const struct pd_finding *finding;
 *
 *	if (pd_doctor_new(file, NULL, &doctor, &error) == PD_OK) {
 *		pd_doctor_take_profile(doctor, profile, symbols, &error);
 *		for (size_t i = 0; (finding = pd_doctor_finding(doctor, i)) != NULL; i++)
 *			printf("%s: %s\n", finding->code, finding->text);
 *		pd_doctor_free(doctor);
 *	}
 */
#ifndef PERFDATA_DOCTOR_H
#define PERFDATA_DOCTOR_H

#include <perfdata/profile.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pd_severity_of_finding {
	PD_FINDING_NOTE,    /* something could be better */
	PD_FINDING_WARNING, /* something that may matter is missing */
	PD_FINDING_BAD      /* percentages or stacks are not reliable */
};

/** An object that a finding is about. Owned by the doctor. */
struct pd_finding_object {
	const struct pd_dso *dso; /* owned by the symbols */
	uint64_t samples;
	const char *command; /* what to type, or NULL */
};

enum {
	PD_FINDING_OBJECTS = 8
};

/** Strings are owned by the doctor. */
struct pd_finding {
	const char *code; /* "lost-records"; stable. docs/doctor.md lists them */
	enum pd_severity_of_finding severity;
	uint64_t count, total;                                /* of what the finding is about */
	const char *text;                                     /* one line with the numbers */
	const char *meaning;                                  /* the consequence */
	const char *command;                                  /* what to type, or NULL */
	struct pd_finding_object objects[PD_FINDING_OBJECTS]; /* those with the most samples, most first */
	size_t object_count, more_object_count;               /* more: not among them */
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_doctor_options {
	size_t size; /* sizeof(struct pd_doctor_options); 0 is PD_ERROR_ARGUMENT */
	/* Called periodically with bytes done and in total (0 if unknown). May be NULL. */
	void (*progress)(void *self, uint64_t done, uint64_t total);
	void *self; /* first argument of progress */
};

struct pd_doctor;

/** Reads all records, and validates them, the header and the events. The file must remain open. Errors: PD_ERROR_MEMORY;
 * PD_ERROR_ARGUMENT; those of pd_stream_next. */
PD_API enum pd_status pd_doctor_new(struct pd_file *file, const struct pd_doctor_options *options,
				    struct pd_doctor **doctor_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_doctor_free(struct pd_doctor *doctor);
/** Whether there are samples that a profile can have. */
PD_API bool pd_doctor_has_samples(const struct pd_doctor *doctor);
/** Judges addresses and stacks, once. The profile has been read with PD_BY_CHAIN | PD_BY_COMM and named; profile and symbols
 * must remain until pd_doctor_free. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_doctor_take_profile(struct pd_doctor *doctor, const struct pd_profile *profile,
					     const struct pd_symbols *symbols, struct pd_error *error);
/** The index-th finding, worst first; NULL past the end. Owned by the doctor, until pd_doctor_take_profile. */
PD_API const struct pd_finding *pd_doctor_finding(const struct pd_doctor *doctor, size_t index);
/** Number of samples of the file, decoded or not. */
PD_API uint64_t pd_doctor_sample_count(const struct pd_doctor *doctor);
/** The index-th code that there is, and what it stands for; NULL past the end. Static. */
PD_API const char *pd_finding_code(size_t index, const char **doc_out);

/** Why functions of the object have no names: "its symbols do not cover these addresses". Lives as long as the symbols. */
PD_API struct pd_str pd_finding_reason(const struct pd_finding_object *object);

/** Prints quality and findings for people; name is that of the file. */
PD_API void pd_print_doctor(struct pd_text *text, const struct pd_doctor *doctor, const char *name);
/** The same as one JSON object. */
PD_API void pd_json_doctor(struct pd_text *text, const struct pd_doctor *doctor, const char *name);

#ifdef __cplusplus
}
#endif
#endif
