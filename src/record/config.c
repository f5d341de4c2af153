/* SPDX-License-Identifier: MIT */
/*
 * From options to attrs. What perf record sets for the same options is what users compare with, so each bit here
 * stands for one that perf sets.
 */
#include "record/config.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

enum {
	DEFAULT_FREQ = 4000,
	DEFAULT_STACK = 8192, // bytes
	ATTR_SIZE = 128,      // perf 6.1 refuses larger ones
	MOST_PRECISE = 3
};

// Registers of user space, by bits of linux/asm/perf_regs.h: without segments and flags that have no value there.
#if defined(__x86_64__)
static const uint64_t all_registers = 0xff0fff;
#elif defined(__aarch64__)
static const uint64_t all_registers = 0x1ffffffff;
#elif defined(__riscv)
static const uint64_t all_registers = 0xffffffff;
#elif defined(__powerpc64__)
static const uint64_t all_registers = 0x1ffffffffff;
#elif defined(__s390x__)
static const uint64_t all_registers = 0x3ffffffff;
#elif defined(__i386__)
static const uint64_t all_registers = 0x3ff;
#else
static const uint64_t all_registers = 0xffff;
#endif

static void set_flag(struct pd_attr *attr, uint64_t mask, bool on)
{
	attr->flags = on ? attr->flags | mask : attr->flags & ~mask;
}

// ---- events ----

static enum pd_status add_event(struct pd_config *config, const struct pd_attr *attr, const char *name,
				const struct pd_event_wanted *wanted, struct pd_error *error)
{
	struct pd_rec_event *event;

	if (!PD_GROW(config->events, config->event_capacity, config->event_count + 1))
		return pd_fail_memory(error);
	event = &config->events[config->event_count];
	*event = (struct pd_rec_event){ .attr = *attr, .wanted = wanted, .name = strdup(name) };
	event->leader = wanted ? wanted->leader : config->event_count;
	config->event_count++;
	return event->name ? PD_OK : pd_fail_memory(error);
}

// Cycles, as precise as can be. As perf: guests are left out, but on AMD,
// where what samples precisely (IBS) cannot do that.
static enum pd_status add_default(struct pd_config *config, struct pd_error *error)
{
	struct pd_attr attr = { .type = PD_TYPE_HARDWARE };

	attr.flags = (uint64_t)MOST_PRECISE << PD_ATTR_PRECISE_IP_SHIFT;
	set_flag(&attr, PD_MASK(PD_ATTR_EXCLUDE_GUEST), !pd_record_cpu_is_amd());
	return add_event(config, &attr, "cycles:P", NULL, error);
}

static enum pd_status add_tracker(struct pd_config *config, struct pd_error *error)
{
	struct pd_attr attr = { .type = PD_TYPE_SOFTWARE, .config = 9 /* dummy */, .sample_period = 1 };

	return add_event(config, &attr, "dummy:HG", NULL, error);
}

static enum pd_status add_offcpu(struct pd_config *config, struct pd_error *error)
{
	const struct pd_attr attr = { .type = PD_TYPE_SOFTWARE };
	enum pd_status status = add_event(config, &attr, "offcpu-time", NULL, error);

	if (status >= 0)
		config->events[config->event_count - 1].offcpu = true;
	return status;
}

// ---- one event ----

// What the options say of an event, its own terms first.
struct choice {
	uint64_t freq, period, max_rate;
	enum pd_call_graph call_graph;
	uint32_t stack_size, max_stack;
	bool inherit, overwrite, time;
};

static bool term_or_option(enum pd_choice_of term, bool option)
{
	return term == PD_UNSET ? option : term == PD_YES;
}

static struct choice choice_of(const struct pd_config *config, const struct pd_rec_event *event,
			       const struct pd_recorder_options *options)
{
	static const struct pd_event_terms none;
	const struct pd_event_terms *terms = event->wanted ? &event->wanted->terms : &none;
	const struct pd_sampling *all = &options->sampling;
	struct choice choice = {
		.freq = terms->freq || terms->period ? terms->freq : all->freq,
		.period = terms->freq || terms->period ? terms->period : all->period,
		.max_rate = config->max_rate,
		.call_graph = terms->call_graph ? terms->call_graph : all->call_graph,
		.stack_size = terms->stack_size ? terms->stack_size : all->stack_size,
		.max_stack = terms->max_stack ? terms->max_stack : all->max_stack,
		.inherit = term_or_option(terms->inherit, !all->no_inherit && !options->targets.per_thread),
		.overwrite = term_or_option(terms->overwrite, options->session.overwrite),
		.time = term_or_option(terms->time, !all->no_time && (all->time || !options->targets.per_thread)),
	};

	if (all->freq_max && !terms->freq && !terms->period)
		choice.freq = config->max_rate ? config->max_rate : DEFAULT_FREQ;
	if (!choice.stack_size)
		choice.stack_size = DEFAULT_STACK;
	return choice;
}

static void set_rate(struct pd_attr *attr, const struct choice *choice, const struct pd_sampling *all)
{
	bool asked = choice->freq || choice->period;
	uint64_t freq = choice->freq ? choice->freq : DEFAULT_FREQ;

	// what says its period itself keeps it, unless another is asked for: tracepoints count each event
	if (attr->sample_period && !asked)
		return;
	if (choice->period) {
		attr->sample_period = choice->period;
	} else {
		// more is an error of the kernel, which lowers the limit by itself under load
		attr->sample_period = choice->max_rate && freq > choice->max_rate ? choice->max_rate : freq;
		set_flag(attr, PD_MASK(PD_ATTR_FREQ), true);
		attr->sample_type |= PD_MASK(PD_SAMPLE_TYPE_PERIOD);
	}
	if (all->no_samples)
		attr->sample_period = 0;
}

static void set_call_graph(struct pd_attr *attr, const struct choice *choice, const struct pd_sampling *all)
{
	if (choice->call_graph <= PD_CALL_GRAPH_NONE)
		return;
	attr->sample_type |= PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN);
	attr->sample_max_stack = (uint16_t)choice->max_stack;
	if (all->user_callchains)
		set_flag(attr, PD_MASK(PD_ATTR_EXCLUDE_CALLCHAIN_KERNEL), true);
	if (all->kernel_callchains)
		set_flag(attr, PD_MASK(PD_ATTR_EXCLUDE_CALLCHAIN_USER), true);
	if (choice->call_graph == PD_CALL_GRAPH_DWARF) {
		attr->sample_type |= PD_MASK(PD_SAMPLE_TYPE_REGS_USER) | PD_MASK(PD_SAMPLE_TYPE_STACK_USER);
		attr->sample_regs_user |= all_registers;
		attr->sample_stack_user = choice->stack_size;
		set_flag(attr, PD_MASK(PD_ATTR_EXCLUDE_CALLCHAIN_USER), true);
	}
	if (choice->call_graph == PD_CALL_GRAPH_LBR) {
		attr->sample_type |= PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK);
		attr->branch_sample_type = PD_MASK(PD_BRANCH_TYPE_USER) | PD_MASK(PD_BRANCH_TYPE_CALL_STACK) |
					   PD_MASK(PD_BRANCH_TYPE_NO_FLAGS) | PD_MASK(PD_BRANCH_TYPE_NO_CYCLES);
		set_flag(attr, PD_MASK(PD_ATTR_EXCLUDE_CALLCHAIN_USER), true);
	}
}

// Fields of samples that were asked for by name.
static void set_fields(struct pd_attr *attr, const struct pd_recorder_options *options, const struct choice *choice)
{
	const struct pd_sampling *all = &options->sampling;
	// unwinding wants to know where data was, as perf has it
	bool addr = all->addr || choice->call_graph == PD_CALL_GRAPH_DWARF;
	bool raw = all->raw;
	bool of_cpus = options->targets.all || options->targets.cpus;
	const struct {
		bool on;
		uint64_t bits;
	} fields[] = {
		{ choice->time, PD_MASK(PD_SAMPLE_TYPE_TIME) },
		{ addr, PD_MASK(PD_SAMPLE_TYPE_ADDR) | PD_MASK(PD_SAMPLE_TYPE_DATA_SRC) },
		{ all->data_source, PD_MASK(PD_SAMPLE_TYPE_DATA_SRC) },
		{ all->phys_addr, PD_MASK(PD_SAMPLE_TYPE_PHYS_ADDR) },
		{ all->data_page_size, PD_MASK(PD_SAMPLE_TYPE_DATA_PAGE_SIZE) },
		{ all->code_page_size, PD_MASK(PD_SAMPLE_TYPE_CODE_PAGE_SIZE) },
		{ all->weight, PD_MASK(PD_SAMPLE_TYPE_WEIGHT_STRUCT) },
		{ raw, PD_MASK(PD_SAMPLE_TYPE_TIME) | PD_MASK(PD_SAMPLE_TYPE_RAW) | PD_MASK(PD_SAMPLE_TYPE_CPU) },
		{ all->cpu || of_cpus, PD_MASK(PD_SAMPLE_TYPE_CPU) },
		{ all->period_field, PD_MASK(PD_SAMPLE_TYPE_PERIOD) },
		{ all->all_cgroups, PD_MASK(PD_SAMPLE_TYPE_CGROUP) },
		{ all->branch_filter != 0, PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK) },
		{ all->user_regs != 0, PD_MASK(PD_SAMPLE_TYPE_REGS_USER) },
		{ all->intr_regs != 0, PD_MASK(PD_SAMPLE_TYPE_REGS_INTR) },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].on)
			attr->sample_type |= fields[i].bits;
	if (all->branch_filter)
		attr->branch_sample_type = all->branch_filter;
	attr->sample_regs_user |= all->user_regs;
	attr->sample_regs_intr |= all->intr_regs;
	if (all->use_clock) {
		set_flag(attr, PD_MASK(PD_ATTR_USE_CLOCKID), true);
		attr->clockid = all->clock;
	}
}

static void set_tracking(struct pd_attr *attr, const struct pd_sampling *all, bool data_maps)
{
	attr->flags |= PD_MASK(PD_ATTR_MMAP) | PD_MASK(PD_ATTR_MMAP2) | PD_MASK(PD_ATTR_COMM) |
		       PD_MASK(PD_ATTR_COMM_EXEC) | PD_MASK(PD_ATTR_TASK) | PD_MASK(PD_ATTR_KSYMBOL);
	set_flag(attr, PD_MASK(PD_ATTR_BPF_EVENT), !all->no_bpf_event);
	set_flag(attr, PD_MASK(PD_ATTR_MMAP_DATA), data_maps);
	set_flag(attr, PD_MASK(PD_ATTR_NAMESPACES), all->namespaces);
	set_flag(attr, PD_MASK(PD_ATTR_CGROUP), all->all_cgroups);
	set_flag(attr, PD_MASK(PD_ATTR_CONTEXT_SWITCH), all->switch_events);
	set_flag(attr, PD_MASK(PD_ATTR_BUILD_ID), all->build_id_mmap);
}

static void set_privilege(struct pd_attr *attr, const struct pd_rec_event *event, const struct pd_sampling *all)
{
	bool own = event->wanted && event->wanted->has_user_kernel;

	if (all->all_user && !own)
		set_flag(attr, PD_MASK(PD_ATTR_EXCLUDE_KERNEL), true);
	if (all->all_kernel && !own)
		set_flag(attr, PD_MASK(PD_ATTR_EXCLUDE_USER), true);
}

// Members of a group that is read as a whole have samples of their leader only.
static void set_member_of_read(struct pd_attr *attr)
{
	attr->sample_period = 0;
	set_flag(attr, PD_MASK(PD_ATTR_FREQ), false);
}

// An event without samples has what perf gives it all the same.
static void set_dummy(struct pd_attr *attr, const struct choice *choice, const struct pd_sampling *all)
{
	if (choice->freq || choice->period)
		set_rate(attr, choice, all);
	set_call_graph(attr, choice, all);
}

static void set_event(struct pd_config *config, size_t index, const struct pd_recorder_options *options)
{
	struct pd_rec_event *event = &config->events[index];
	const struct pd_rec_event *leader = &config->events[event->leader];
	const struct pd_sampling *all = &options->sampling;
	struct choice choice = choice_of(config, event, options);
	bool reads_group = leader->wanted && leader->wanted->sample_read;
	bool is_dummy = !event->wanted && event->tracking && index > 0;
	bool trace = event->wanted && event->wanted->tracepoint;
	struct pd_attr *attr = &event->attr;

	attr->size = ATTR_SIZE;
	if (attr->config3 || attr->config4)
		attr->size = attr->config4 ? 144 : 136;
	attr->sample_type |= PD_MASK(PD_SAMPLE_TYPE_IP) | PD_MASK(PD_SAMPLE_TYPE_TID);
	if (trace) {
		attr->sample_type |= PD_MASK(PD_SAMPLE_TYPE_TIME) | PD_MASK(PD_SAMPLE_TYPE_CPU) |
				     PD_MASK(PD_SAMPLE_TYPE_PERIOD) | PD_MASK(PD_SAMPLE_TYPE_RAW);
		attr->sample_period = attr->sample_period ? attr->sample_period : 1;
	}
	attr->read_format = PD_MASK(PD_READ_FORMAT_ID) | PD_MASK(PD_READ_FORMAT_LOST);
	set_flag(attr, PD_MASK(PD_ATTR_SAMPLE_ID_ALL), true);
	set_flag(attr, PD_MASK(PD_ATTR_INHERIT), choice.inherit && !reads_group);
	set_fields(attr, options, &choice);
	if (!is_dummy) {
		set_rate(attr, &choice, all);
		set_call_graph(attr, &choice, all);
		set_privilege(attr, event, all);
	} else {
		set_dummy(attr, &choice, all);
	}
	set_flag(attr, PD_MASK(PD_ATTR_WRITE_BACKWARD), choice.overwrite);
	attr->wakeup_events = options->session.no_buffering;
	if (all->stat || all->running_time)
		attr->read_format |= PD_MASK(PD_READ_FORMAT_TOTAL_TIME_ENABLED) |
				     PD_MASK(PD_READ_FORMAT_TOTAL_TIME_RUNNING);
	set_flag(attr, PD_MASK(PD_ATTR_INHERIT_STAT), all->stat);
	if (reads_group) {
		attr->sample_type |= PD_MASK(PD_SAMPLE_TYPE_READ);
		attr->read_format |= PD_MASK(PD_READ_FORMAT_GROUP);
		if (event->leader != index)
			set_member_of_read(attr);
	}
	if (event->offcpu)
		pd_offcpu_set_attr(attr, choice.inherit);
	if (event->tracking)
		set_tracking(attr, all, all->addr || all->data_mmap || choice.call_graph == PD_CALL_GRAPH_DWARF);
}

// What is counted only: no samples, and no more than the kernel counts anyway.
static void set_counter(struct pd_config *config, size_t index, const struct pd_recorder_options *options)
{
	struct pd_rec_event *event = &config->events[index];
	struct pd_attr *attr = &event->attr;
	bool leads = event->leader == index;

	attr->size = attr->config4 ? 144 : attr->config3 ? 136 : ATTR_SIZE;
	attr->sample_period = 0;
	// who reads a file distinguishes counts by their ids
	attr->sample_type = options->output.mode == PD_MODE_PIPE ? 0 : PD_MASK(PD_SAMPLE_TYPE_IDENTIFIER);
	attr->read_format = PD_MASK(PD_READ_FORMAT_TOTAL_TIME_ENABLED) | PD_MASK(PD_READ_FORMAT_TOTAL_TIME_RUNNING);
	set_flag(attr, PD_MASK(PD_ATTR_FREQ), false);
	set_flag(attr, PD_MASK(PD_ATTR_INHERIT), !options->sampling.no_inherit);
	set_privilege(attr, event, &options->sampling);
	set_flag(attr, PD_MASK(PD_ATTR_DISABLED), leads);
	set_flag(attr, PD_MASK(PD_ATTR_ENABLE_ON_EXEC), leads && config->command_execs && !options->session.delay_ms);
}

// ---- all events together ----

static bool only_command(const struct pd_targets *targets)
{
	return targets->command && !targets->all && !targets->cpus && !targets->pids.count && !targets->tids.count &&
	       !targets->by_user;
}

// What follows from how it starts. A leader enables its group. A command that is not recorded itself enables nothing.
static void set_start(struct pd_config *config, const struct pd_recorder_options *options)
{
	bool command = only_command(&options->targets);

	config->command_execs = command;
	for (size_t i = 0; i < config->event_count; i++) {
		struct pd_rec_event *event = &config->events[i];
		bool is_dummy = !event->wanted && event->tracking && i > 0;
		bool leads = event->leader == i;
		bool delayed = options->session.delay_ms != 0 && !is_dummy;

		set_flag(&event->attr, PD_MASK(PD_ATTR_DISABLED), leads && (!is_dummy || command));
		set_flag(&event->attr, PD_MASK(PD_ATTR_ENABLE_ON_EXEC), leads && command && !delayed);
	}
}

static void set_ids(struct pd_config *config, const struct pd_recorder_options *options)
{
	bool identifier = options->sampling.identifier;
	// who reads a pipe hears of events as they come
	bool several = config->event_count > 1 || options->output.mode == PD_MODE_PIPE;

	for (size_t i = 1; i < config->event_count; i++)
		identifier |= config->events[i].offcpu ||
			      config->events[i].attr.sample_type != config->events[0].attr.sample_type;
	config->uses_ids = several || identifier;
	for (size_t i = 0; i < config->event_count && config->uses_ids; i++)
		config->events[i].attr.sample_type |= identifier ? PD_MASK(PD_SAMPLE_TYPE_IDENTIFIER) :
								   PD_MASK(PD_SAMPLE_TYPE_ID);
}

static bool wants_tracker(const struct pd_recorder_options *options)
{
	return options->targets.all || options->targets.cpus || options->session.delay_ms != 0;
}

static enum pd_status add_all(struct pd_config *config, const struct pd_recorder_options *options,
			      struct pd_error *error)
{
	size_t count = options->events ? pd_events_count(options->events) : 0;
	enum pd_status status = count || options->counts ? PD_OK : add_default(config, error);

	for (size_t i = 0; i < count && status >= 0; i++) {
		const struct pd_event_wanted *wanted = pd_events_at(options->events, i);

		status = add_event(config, &wanted->attr, wanted->name, wanted, error);
	}
	if (status >= 0 && options->sampling.off_cpu && !options->counts)
		status = add_offcpu(config, error);
	return status >= 0 && wants_tracker(options) && !options->counts ? add_tracker(config, error) : status;
}

enum pd_status pd_config_make(struct pd_config *config, const struct pd_recorder_options *options,
			      struct pd_error *error)
{
	enum pd_status status;

	*config = (struct pd_config){ .max_rate = pd_record_number("/proc/sys/kernel/perf_event_max_sample_rate", 0) };
	if (options->sampling.strict_freq && config->max_rate && options->sampling.freq > config->max_rate)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "%" PRIu64 " Hz exceeds kernel.perf_event_max_sample_rate, %" PRIu64,
			       options->sampling.freq, config->max_rate);
	status = add_all(config, options, error);
	if (status < 0)
		return status;
	if (options->counts) {
		config->command_execs = only_command(&options->targets);
		for (size_t i = 0; i < config->event_count; i++)
			set_counter(config, i, options);
		return PD_OK;
	}
	config->events[wants_tracker(options) ? config->event_count - 1 : 0].tracking = true;
	for (size_t i = 0; i < config->event_count; i++)
		set_event(config, i, options);
	set_start(config, options);
	set_ids(config, options);
	return PD_OK;
}

bool pd_config_rename(struct pd_rec_event *event, const char *from, const char *to)
{
	size_t length = strlen(from);
	char *name;

	if (strncmp(event->name, from, length) != 0)
		return true;
	if (asprintf(&name, "%s%s", to, event->name + length) < 0)
		return false;
	free(event->name);
	event->name = name;
	return true;
}

bool pd_config_modify(struct pd_rec_event *event, const char *modifier)
{
	const char *separator = strchr(event->name, ':') || strchr(event->name, '/') ? "" : ":";
	char *name;

	if (asprintf(&name, "%s%s%s", event->name, separator, modifier) < 0)
		return false;
	free(event->name);
	event->name = name;
	return true;
}

void pd_config_fini(struct pd_config *config)
{
	for (size_t i = 0; i < config->event_count; i++) {
		struct pd_rec_event *event = &config->events[i];

		free(event->name);
		for (size_t j = 0; j < event->fd_count; j++)
			if (event->fds[j] >= 0)
				close(event->fds[j]);
		pd_free(event->fds);
		pd_free(event->ids);
		pd_free(event->counts);
	}
	pd_free(config->events);
	*config = (struct pd_config){ 0 };
}
