/* SPDX-License-Identifier: MIT */
/*
 * The fields that perfdata script prints, for each kind of event: the words of -F, and what is
 * printed without it.
 */
#ifndef CLI_SCRIPT_FIELDS_H
#define CLI_SCRIPT_FIELDS_H

#include <perfdata/perfdata.h>

/*
 * X(NAME, "word", sample_type bits that it needs, "attribute as perf calls it")
 * Attributes are for the message when an event lacks them.
 */
#define SCRIPT_FIELDS(X)                                                                                      \
	X(COMM, "comm", 0, "")                                                                                \
	X(TID, "tid", PD_MASK(PD_SAMPLE_TYPE_TID), "TID")                                                     \
	X(PID, "pid", PD_MASK(PD_SAMPLE_TYPE_TID), "TID")                                                     \
	X(TIME, "time", PD_MASK(PD_SAMPLE_TYPE_TIME), "TIME")                                                 \
	X(CPU, "cpu", PD_MASK(PD_SAMPLE_TYPE_CPU), "CPU")                                                     \
	X(EVENT, "event", 0, "")                                                                              \
	X(IP, "ip", PD_MASK(PD_SAMPLE_TYPE_IP), "IP")                                                         \
	X(SYM, "sym", PD_MASK(PD_SAMPLE_TYPE_IP) | PD_MASK(PD_SAMPLE_TYPE_ADDR), "IP")                        \
	X(DSO, "dso", PD_MASK(PD_SAMPLE_TYPE_IP) | PD_MASK(PD_SAMPLE_TYPE_ADDR), "IP")                        \
	X(ADDR, "addr", PD_MASK(PD_SAMPLE_TYPE_ADDR), "ADDR")                                                 \
	X(SYMOFF, "symoff", 0, "")                                                                            \
	X(PERIOD, "period", 0, "")                                                                            \
	X(IREGS, "iregs", PD_MASK(PD_SAMPLE_TYPE_REGS_INTR), "IREGS")                                         \
	X(UREGS, "uregs", PD_MASK(PD_SAMPLE_TYPE_REGS_USER), "UREGS")                                         \
	X(BRSTACK, "brstack", 0, "")                                                                          \
	X(FLAGS, "flags", 0, "")                                                                              \
	X(DATA_SRC, "data_src", PD_MASK(PD_SAMPLE_TYPE_DATA_SRC), "DATA_SRC")                                 \
	X(WEIGHT, "weight", PD_MASK(PD_SAMPLE_TYPE_WEIGHT) | PD_MASK(PD_SAMPLE_TYPE_WEIGHT_STRUCT), "WEIGHT") \
	X(BPF_OUTPUT, "bpf-output", 0, "")                                                                    \
	X(PHYS_ADDR, "phys_addr", PD_MASK(PD_SAMPLE_TYPE_PHYS_ADDR), "PHYS_ADDR")                             \
	X(MISC, "misc", 0, "")                                                                                \
	X(DATA_PAGE_SIZE, "data_page_size", PD_MASK(PD_SAMPLE_TYPE_DATA_PAGE_SIZE), "DATA_PAGE_SIZE")         \
	X(CODE_PAGE_SIZE, "code_page_size", PD_MASK(PD_SAMPLE_TYPE_CODE_PAGE_SIZE), "CODE_PAGE_SIZE")         \
	X(INS_LAT, "ins_lat", PD_MASK(PD_SAMPLE_TYPE_WEIGHT_STRUCT), "WEIGHT_STRUCT")                         \
	X(RETIRE_LAT, "retire_lat", PD_MASK(PD_SAMPLE_TYPE_WEIGHT_STRUCT), "WEIGHT_STRUCT")                   \
	X(CGROUP, "cgroup", PD_MASK(PD_SAMPLE_TYPE_CGROUP), "CGROUP")                                         \
	X(TRACE, "trace", 0, "")                                                                              \
	X(SRCLINE, "srcline", PD_MASK(PD_SAMPLE_TYPE_IP), "IP")                                               \
	X(BRSTACKSYM, "brstacksym", 0, "")                                                                    \
	X(BRSTACKOFF, "brstackoff", 0, "")

enum field_number {
#define X(NAME, word, needs, attribute) FIELD_NUMBER_##NAME,
	SCRIPT_FIELDS(X)
#undef X
	FIELD_COUNT
};

enum {
#define X(NAME, word, needs, attribute) FIELD_##NAME = 1 << FIELD_NUMBER_##NAME,
	SCRIPT_FIELDS(X)
#undef X
};

/* Kinds of events that have fields of their own; the first six are attr.type. */
enum event_kind {
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

struct fields {
	uint32_t shown;   /* FIELD_... */
	uint32_t set;     /* named by the user, for all kinds */
	uint32_t unset;   /* taken away by the user, of all kinds */
	bool by_user;     /* the user chose */
	bool by_wildcard; /* without naming the kind */
	bool checked;     /* an event of this kind was seen */
};

enum event_kind kind_of(const struct pd_event *event);

void fields_init(struct fields fields[KIND_COUNT]);
/* Takes the argument of one -F. Says what is wrong on stderr and returns false then. */
bool fields_parse(struct fields fields[KIND_COUNT], const char *argument);
/* Takes away what the first event of its kind does not have. False if the user asked for it. */
bool fields_check(struct fields fields[KIND_COUNT], const struct pd_event *event, const struct pd_header *header);
/* Says on stderr if there is no event of a kind that the user asked for. */
void fields_tell_unmet(const struct fields fields[KIND_COUNT]);

#endif
