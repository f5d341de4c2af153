/* SPDX-License-Identifier: MIT */
#include "record/options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#undef VALUES
#define VALUES struct target_values

static const struct option target_lines[] = {
	OPTION("event", 'e', TAGGED, "EVENT", events,
	       "event: a name from perfdata list, a group {a,b}, with modifiers a:u"),
	OPTION("filter", 0, TAGGED, "EXPRESSION", events,
	       "filter for the tracepoints of the preceding --event: 'prev_pid == 1'"),
	OPTION("exclude-perf", 0, TAGGED, NULL, events,
	       "exclude tracepoints of the preceding --event that the recorder itself hits"),
	FLAG("group", 0, group, "put all events into one group"),
	FLAG("all-cpus", 'a', all, "system-wide, on all CPUs"),
	STRING("pid", 'p', "LIST", pids, "attach to these running processes"),
	STRING("tid", 't', "LIST", tids, "attach to these running threads"),
	STRING("uid", 'u', "USER", user, "attach to all processes of this user"),
	STRING("cpu", 'C', "LIST", cpus, "only on these CPUs: 0,2-3"),
	OPTION("cgroup", 'G', TAGGED, "LIST", events,
	       "restrict the preceding events to these cgroups, one per event or one for all; needs -a"),
	FLAG("no-inherit", 'i', no_inherit, "do not follow child processes and new threads"),
	{ 0 },
};

const struct option_group record_target_group = { HEADING_TARGET, target_lines };

#undef VALUES
#define VALUES struct sample_values

static const struct option sample_lines[] = {
	GROUP(freq_option, freq),
	GROUP(count_option, period),
	FLAG("g", 'g', g, "record call chains, like --call-graph fp"),
	STRING("call-graph", 0, "HOW", call_graph,
	       "record call chains: fp, dwarf, dwarf,BYTES (of stack to copy) or lbr"),
	GROUP(record_max_stack_option, max_stack),
	FLAG("branch-any", 'b', branch_any, "record branch stacks"),
	STRING("branch-filter", 'j', "LIST", branches, "record branch stacks of these branch types: any_call,u"),
	FLAG("data", 'd', sampling.addr, "record data addresses"),
	FLAG("phys-data", 0, sampling.phys_addr, "record physical data addresses"),
	FLAG("data-page-size", 0, sampling.data_page_size, "record page sizes of data addresses"),
	FLAG("code-page-size", 0, sampling.code_page_size, "record page sizes of code addresses"),
	FLAG("weight", 'W', sampling.weight, "record sample weights"),
	FLAG("transaction", 0, sampling.transaction, "record transaction flags"),
	FLAG("raw-samples", 'R', sampling.raw, "record raw data of all events"),
	FLAG("timestamp", 'T', sampling.time, "record timestamps"),
	FLAG("period", 'P', sampling.period_field, "record periods"),
	FLAG("sample-cpu", 0, sampling.cpu, "record CPU numbers"),
	FLAG("sample-identifier", 0, sampling.identifier, "record sample identifiers"),
	OPTION("user-regs", 0, ATTACHED, "LIST", user_regs, "record these user-space registers; ? lists them"),
	OPTION("intr-regs", 'I', ATTACHED, "LIST", intr_regs, "record these registers at the interrupt; ? lists them"),
	GROUP(all_user_option, sampling.all_user),
	GROUP(all_kernel_option, sampling.all_kernel),
	FLAG("user-callchains", 0, sampling.user_callchains, "record only user-space call chains"),
	FLAG("kernel-callchains", 0, sampling.kernel_callchains, "record only kernel call chains"),
	STRING("clockid", 'k', "CLOCK", clock, "clock for timestamps: mono, raw, boot, real, tai"),
	GROUP(mmap_pages_option, ring),
	FLAG("namespaces", 0, sampling.namespaces, "record namespaces of processes"),
	FLAG("all-cgroups", 0, sampling.all_cgroups, "record cgroups"),
	FLAG("switch-events", 0, sampling.switch_events, "record context switches"),
	FLAG("no-bpf-event", 0, sampling.no_bpf_event, "do not record loading of BPF programs"),
	FLAG("buildid-mmap", 0, sampling.build_id_mmap, "record build ids in MMAP2 records"),
	FLAG("strict-freq", 0, sampling.strict_freq, "fail if the kernel does not allow the requested frequency"),
	{ 0 },
};

const struct option_group record_sample_group = { HEADING_SAMPLES, sample_lines };

bool value_is(const char *option, enum pd_status status, const struct pd_error *error)
{
	if (status < 0)
		print_error("option --%s: %s", option, error->message);
	return status >= 0;
}

bool value_take(const char *option, const char *text,
		enum pd_status (*parse)(const char *text, uint64_t *value_out, struct pd_error *error), uint64_t *value)
{
	struct pd_error error;

	return !text || value_is(option, parse(text, value, &error), &error);
}

/* ---- events and targets ---- */

static bool is_event(const struct option_tag *tag)
{
	return !strcmp(tag->name, "event");
}

bool record_has_events(const struct target_values *values)
{
	size_t i = 0;

	while (i < values->events.count && !is_event(&values->events.items[i]))
		i++;
	return i < values->events.count;
}

static bool take_tag(struct record_setup *setup, const struct option_tag *tag, bool has_events)
{
	struct pd_error error;
	enum pd_status status;

	if (!strcmp(tag->name, "cgroup"))
		status = pd_events_cgroup(setup->events, tag->value, has_events, &error);
	else if (is_event(tag))
		status = pd_events_add(setup->events, tag->value, &error);
	else if (!strcmp(tag->name, "filter"))
		status = pd_events_filter(setup->events, tag->value, &error);
	else
		status = pd_events_exclude_self(setup->events, &error);
	if (status < 0)
		print_error("%s", error.message);
	return status >= 0;
}

bool record_add_events(struct record_setup *setup, const struct target_values *values)
{
	struct pd_error error;
	enum pd_status status = setup->events ? PD_OK : pd_events_new(NULL, &setup->events, &error);
	bool has_events = record_has_events(values);

	for (size_t i = 0; i < values->events.count && status >= 0; i++)
		if (!take_tag(setup, &values->events.items[i], has_events))
			return false;
	if (status >= 0 && values->group)
		status = pd_events_group(setup->events, &error);
	if (status < 0)
		print_error("%s", error.message);
	return status >= 0;
}

/* With a NULL at the end, as exec wants it. */
static bool copy_command(struct record_setup *setup, const struct call *call, struct pd_targets *targets)
{
	setup->command = calloc(call->word_count + 1, sizeof(*setup->command));
	if (!setup->command)
		return print_error("out of memory");
	for (size_t i = 0; i < call->word_count; i++)
		setup->command[i] = (char *)call->words[i];
	targets->command = setup->command;
	return true;
}

bool record_take_targets(struct record_setup *setup, const struct target_values *values, const struct call *call,
			 struct pd_recorder_options *options)
{
	struct pd_targets *targets = &options->targets;
	struct pd_error error;

	memset(setup, 0, sizeof(*setup));
	if (!record_add_events(setup, values))
		return false;
	options->events = setup->events;
	if (pd_events_cgroups(setup->events, record_has_events(values), targets, &error) < 0)
		return print_error("%s", error.message);
	options->sampling.no_inherit = values->no_inherit;
	targets->all = values->all;
	targets->cpus = values->cpus;
	if (values->pids && !value_is("pid", pd_ids_parse(values->pids, &setup->pids, &error), &error))
		return false;
	if (values->tids && !value_is("tid", pd_ids_parse(values->tids, &setup->tids, &error), &error))
		return false;
	targets->pids = setup->pids;
	targets->tids = setup->tids;
	targets->by_user = values->user != NULL;
	if (values->user && !value_is("uid", pd_user_parse(values->user, &targets->uid, &error), &error))
		return false;
	return !call->word_count || copy_command(setup, call, targets);
}

bool record_open_control(const char *where, struct pd_recorder *recorder, struct pd_control **control_out)
{
	struct pd_error error;

	return !where ||
	       value_is("control", pd_control_open(recorder, where, print_warning, NULL, control_out, &error), &error);
}

void record_fini(struct record_setup *setup)
{
	pd_events_free(setup->events);
	pd_ids_free(&setup->pids);
	pd_ids_free(&setup->tids);
	free(setup->command);
	memset(setup, 0, sizeof(*setup));
}

void record_print_note(const struct pd_recorder_note *note)
{
	print_error("%s%s%s", note->message, note->advice ? "; try: " : "", note->advice ? note->advice : "");
}

int record_code(const struct pd_recorded *recorded, const char *command)
{
	if (recorded->command_errno)
		return print_failure(CODE_NO_COMMAND, "%s: %s", command, strerror(recorded->command_errno));
	if (!recorded->command_ran || !recorded->command_ended)
		return CODE_OK;
	if (WIFSIGNALED(recorded->command_status))
		return CODE_SIGNAL + WTERMSIG(recorded->command_status);
	return WEXITSTATUS(recorded->command_status);
}

/* ---- samples ---- */

static bool take_rate(const struct sample_values *values, struct pd_sampling *sampling)
{
	struct pd_error error;

	if (values->freq && values->period.given)
		return print_error("--freq and --count are mutually exclusive");
	if (values->period.given && !values->period.value)
		return print_error("option --count: the period must be greater than 0");
	sampling->period = values->period.value;
	if (!values->freq)
		return true;
	return value_is("freq", pd_freq_parse(values->freq, sampling, &error), &error);
}

static bool take_branches(const struct sample_values *values, struct pd_sampling *sampling)
{
	if (values->branch_any)
		sampling->branch_filter = PD_MASK(PD_BRANCH_TYPE_ANY);
	return value_take("branch-filter", values->branches, pd_branches_parse, &sampling->branch_filter);
}

/* What is none of the registers, such as ?, is answered by their names. */
static bool take_registers(const char *option, const char *text, uint64_t *mask_out)
{
	struct pd_error error;
	struct pd_text *names;

	if (!text || (strcmp(text, "?") != 0 && value_is(option, pd_registers_parse(text, mask_out, &error), &error)))
		return true;
	names = pd_text_new();
	if (names) {
		pd_print_registers(names);
		print_error("registers of this machine:%.*s", (int)pd_text_bytes(names).size,
			    (const char *)pd_text_bytes(names).data);
	}
	pd_text_free(names);
	return false;
}

bool record_take_preset(struct record_setup *setup, const char *name, const struct call *call,
			struct pd_recorder_options *options)
{
	const struct pd_event_preset *preset = name ? pd_event_preset_find(name) : NULL;
	struct pd_targets *targets = &options->targets;
	struct pd_error error;

	if (!name)
		return true;
	if (!preset)
		return print_error("option --for: '%s' is none of sched, waiting, lock, kwork, kmem, trace", name);
	if (pd_events_add_preset(setup->events, preset, &error) < 0)
		return print_error("%s", error.message);
	if (!targets->cpus && !targets->pids.count && !targets->tids.count && !targets->by_user)
		targets->all |= preset->all || !call->word_count;
	if (preset->chains && options->sampling.call_graph == PD_CALL_GRAPH_NONE)
		options->sampling.call_graph = PD_CALL_GRAPH_FP;
	return true;
}

bool record_take_samples(const struct sample_values *values, struct pd_recorder_options *options)
{
	struct pd_sampling *sampling = &options->sampling;
	struct pd_error error;
	bool no_inherit; /* of the targets */

	no_inherit = sampling->no_inherit;
	*sampling = values->sampling;
	sampling->no_inherit = no_inherit;
	sampling->max_stack = (uint32_t)values->max_stack.value;
	if (values->g)
		sampling->call_graph = PD_CALL_GRAPH_FP;
	if (values->call_graph &&
	    !value_is("call-graph",
		      pd_call_graph_parse(values->call_graph, &sampling->call_graph, &sampling->stack_size, &error),
		      &error))
		return false;
	if (!take_registers("user-regs", values->user_regs, &sampling->user_regs) ||
	    !take_registers("intr-regs", values->intr_regs, &sampling->intr_regs))
		return false;
	sampling->use_clock = values->clock != NULL;
	if (values->clock && !value_is("clockid", pd_clock_parse(values->clock, &sampling->clock, &error), &error))
		return false;
	return value_take("mmap-pages", values->ring, pd_ring_parse, &options->session.ring_bytes) &&
	       take_rate(values, sampling) && take_branches(values, sampling);
}
