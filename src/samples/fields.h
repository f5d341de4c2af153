/* SPDX-License-Identifier: MIT */
/*
 * The fields that can be printed, for each kind of event: the words of -F, and what is printed without it.
 */
#ifndef PD_SAMPLES_FIELDS_H
#define PD_SAMPLES_FIELDS_H

#include <perfdata/file.h>

/*
 * X(NAME, bit, "word", sample_type bits that it needs, "attribute as perf calls it", "what it is")
 * Attributes are for the message when an event lacks them, which names the field of the lowest bit. The order is that of
 * the help.
 */
#define PD_SAMPLE_FIELDS(X)                                                                                       \
	X(COMM, 0, "comm", 0, "", "name of the thread")                                                           \
	X(TID, 1, "tid", PD_MASK(PD_SAMPLE_TYPE_TID), "TID", "thread")                                            \
	X(PID, 2, "pid", PD_MASK(PD_SAMPLE_TYPE_TID), "TID", "process")                                           \
	X(TIME, 3, "time", PD_MASK(PD_SAMPLE_TYPE_TIME), "TIME", "time")                                          \
	X(CPU, 4, "cpu", PD_MASK(PD_SAMPLE_TYPE_CPU), "CPU", "CPU")                                               \
	X(EVENT, 5, "event", 0, "", "event")                                                                      \
	X(PERIOD, 11, "period", 0, "", "period")                                                                  \
	X(IP, 6, "ip", PD_MASK(PD_SAMPLE_TYPE_IP), "IP", "address of the instruction, or the call chain")         \
	X(SYM, 7, "sym", PD_MASK(PD_SAMPLE_TYPE_IP) | PD_MASK(PD_SAMPLE_TYPE_ADDR), "IP", "function")             \
	X(DSO, 8, "dso", PD_MASK(PD_SAMPLE_TYPE_IP) | PD_MASK(PD_SAMPLE_TYPE_ADDR), "IP", "object")               \
	X(ADDR, 9, "addr", PD_MASK(PD_SAMPLE_TYPE_ADDR), "ADDR", "data address, or where a branch goes to")       \
	X(SYMOFF, 10, "symoff", 0, "", "offset in the function")                                                  \
	X(IREGS, 12, "iregs", PD_MASK(PD_SAMPLE_TYPE_REGS_INTR), "IREGS", "registers when the sample was taken")  \
	X(UREGS, 13, "uregs", PD_MASK(PD_SAMPLE_TYPE_REGS_USER), "UREGS", "registers of user code")               \
	X(BRSTACK, 14, "brstack", 0, "", "branches, by address")                                                  \
	X(FLAGS, 15, "flags", 0, "", "flags of decoded traces")                                                   \
	X(DATA_SRC, 16, "data_src", PD_MASK(PD_SAMPLE_TYPE_DATA_SRC), "DATA_SRC", "source of the data")           \
	X(WEIGHT, 17, "weight", PD_MASK(PD_SAMPLE_TYPE_WEIGHT) | PD_MASK(PD_SAMPLE_TYPE_WEIGHT_STRUCT), "WEIGHT", \
	  "weight, such as the latency in cycles")                                                                \
	X(INS_LAT, 23, "ins_lat", PD_MASK(PD_SAMPLE_TYPE_WEIGHT_STRUCT), "WEIGHT_STRUCT",                         \
	  "instruction latency in cycles")                                                                        \
	X(RETIRE_LAT, 24, "retire_lat", PD_MASK(PD_SAMPLE_TYPE_WEIGHT_STRUCT), "WEIGHT_STRUCT",                   \
	  "cycles until retirement")                                                                              \
	X(PHYS_ADDR, 19, "phys_addr", PD_MASK(PD_SAMPLE_TYPE_PHYS_ADDR), "PHYS_ADDR", "physical data address")    \
	X(DATA_PAGE_SIZE, 21, "data_page_size", PD_MASK(PD_SAMPLE_TYPE_DATA_PAGE_SIZE), "DATA_PAGE_SIZE",         \
	  "page size of the data address")                                                                        \
	X(CODE_PAGE_SIZE, 22, "code_page_size", PD_MASK(PD_SAMPLE_TYPE_CODE_PAGE_SIZE), "CODE_PAGE_SIZE",         \
	  "page size of the instruction address")                                                                 \
	X(CGROUP, 25, "cgroup", PD_MASK(PD_SAMPLE_TYPE_CGROUP), "CGROUP", "control group")                        \
	X(MISC, 20, "misc", 0, "", "CPU mode")                                                                    \
	X(BPF_OUTPUT, 18, "bpf-output", 0, "", "output of a BPF program")                                         \
	X(TRACE, 26, "trace", 0, "", "tracepoint data")                                                           \
	X(SRCLINE, 27, "srcline", PD_MASK(PD_SAMPLE_TYPE_IP), "IP", "source file and line")                       \
	X(BRSTACKSYM, 28, "brstacksym", 0, "", "branches, by function")                                           \
	X(BRSTACKOFF, 29, "brstackoff", 0, "", "branches, by offset in the object")                               \
	X(TOD, 30, "tod", PD_MASK(PD_SAMPLE_TYPE_TIME), "TIME", "day and time of day")

enum {
#define X(NAME, bit, word, needs, attribute, doc) FIELD_##NAME = 1 << (bit),
	PD_SAMPLE_FIELDS(X)
#undef X
};

/* Of the list. */
enum {
#define X(NAME, bit, word, needs, attribute, doc) +1
	FIELD_COUNT = 0 PD_SAMPLE_FIELDS(X)
#undef X
};

#define X(NAME, bit, word, needs, attribute, doc) | UINT32_C(1) << (bit)
_Static_assert((UINT32_C(0) PD_SAMPLE_FIELDS(X)) == (UINT32_C(1) << FIELD_COUNT) - 1,
	       "each field has a bit of its own, and there are no gaps");
_Static_assert(FIELD_COUNT <= 31, "more fields need more bits in pd_sample_fields");
#undef X

/* Kinds of events that have fields of their own; the first six are attr.type. */
enum pd_event_kind {
	KIND_HW,
	KIND_SW,
	KIND_TRACE,
	KIND_CACHE,
	KIND_RAW,
	KIND_BREAKPOINT,
	KIND_SYNTH,
	KIND_OTHER,
	KIND_COUNT
};

struct pd_sample_fields {
	uint32_t shown;   /* FIELD_... */
	uint32_t set;     /* named by the user, for all kinds */
	uint32_t unset;   /* taken away by the user, of all kinds */
	bool by_user;     /* the user chose */
	bool by_wildcard; /* without naming the kind */
	bool checked;     /* an event of this kind was seen */
};

enum pd_event_kind pd_event_kind(const struct pd_event *event);

void pd_sample_fields_init(struct pd_sample_fields fields[KIND_COUNT]);
/* Takes the argument of one -F. */
enum pd_status pd_sample_fields_parse(struct pd_sample_fields fields[KIND_COUNT], const char *argument,
				      struct pd_error *error);
/* Takes away what the first event of its kind does not have. PD_ERROR_ARGUMENT if the user requested it. */
enum pd_status pd_sample_fields_check(struct pd_sample_fields fields[KIND_COUNT], const struct pd_event *event,
				      const struct pd_header *header, struct pd_error *error);
/* Warns of each kind of events that the user requested fields of and the file has none of. */
void pd_sample_fields_warn_unmet(const struct pd_sample_fields fields[KIND_COUNT], pd_warn_fn *warn, void *self);

#endif
