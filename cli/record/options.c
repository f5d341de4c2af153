/* SPDX-License-Identifier: MIT */
#include "record/options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#undef VALUES
#define VALUES struct record_values

static const struct option target_lines[] = {
	OPTION("event", 'e', TAGGED, "EVENT", events,
	       "event: a name from perfdata list, a group {a,b}, with modifiers a:u"),
	OPTION("filter", 0, TAGGED, "EXPRESSION", events,
	       "filter for the tracepoints of the preceding --event: 'prev_pid == 1'"),
	OPTION("exclude-perf", 0, TAGGED, NULL, events,
	       "exclude tracepoints of the preceding --event that the recorder itself hits"),
	FLAG("group", 0, group, "put all events into one group"),
	FLAG("all-cpus", 'a', wanted.targets.all, "system-wide, on all CPUs"),
	STRING("pid", 'p', "LIST", pids, "attach to these running processes"),
	STRING("tid", 't', "LIST", tids, "attach to these running threads"),
	STRING("uid", 'u', "USER", user, "attach to all processes of this user"),
	STRING("cpu", 'C', "LIST", wanted.targets.cpus, "only on these CPUs: 0,2-3"),
	OPTION("cgroup", 'G', TAGGED, "LIST", events,
	       "restrict the preceding events to these cgroups, one per event or one for all; needs -a"),
	FLAG("no-inherit", 'i', wanted.sampling.no_inherit, "do not follow child processes and new threads"),
	{ 0 },
};

const struct option_group record_target_group = { HEADING_TARGET, target_lines };

static const struct option sample_lines[] = {
	GROUP(freq_option, wanted),
	GROUP(count_option, wanted),
	FLAG("g", 'g', chains, "record call chains, like --call-graph fp"),
	RECORDER("call-graph", 0, "HOW", wanted,
		 "record call chains: fp, dwarf, dwarf,BYTES (of stack to copy) or lbr"),
	GROUP(record_max_stack_option, wanted),
	FLAG("branch-any", 'b', branches, "record branch stacks"),
	RECORDER("branch-filter", 'j', "LIST", wanted, "record branch stacks of these branch types: any_call,u"),
	FLAG("data", 'd', wanted.sampling.addr, "record data addresses"),
	FLAG("data-mmap", 0, wanted.sampling.data_mmap, "record mappings of data, too, as -d does"),
	FLAG("sample-mem-info", 0, wanted.sampling.data_source, "record where data came from, as -d does"),
	FLAG("phys-data", 0, wanted.sampling.phys_addr, "record physical data addresses"),
	FLAG("data-page-size", 0, wanted.sampling.data_page_size, "record page sizes of data addresses"),
	FLAG("code-page-size", 0, wanted.sampling.code_page_size, "record page sizes of code addresses"),
	FLAG("weight", 'W', wanted.sampling.weight, "record sample weights"),
	FLAG("transaction", 0, wanted.sampling.transaction, "record transaction flags"),
	FLAG("raw-samples", 'R', wanted.sampling.raw, "record raw data of all events"),
	FLAG("timestamp", 'T', wanted.sampling.time, "record timestamps"),
	FLAG("period", 'P', wanted.sampling.period_field, "record periods"),
	FLAG("sample-cpu", 0, wanted.sampling.cpu, "record CPU numbers"),
	FLAG("sample-identifier", 0, wanted.sampling.identifier, "record sample identifiers"),
	OPTION("user-regs", 0, ATTACHED, "LIST", user_regs, "record these user-space registers; ? lists them"),
	OPTION("intr-regs", 'I', ATTACHED, "LIST", intr_regs, "record these registers at the interrupt; ? lists them"),
	GROUP(all_user_option, wanted.sampling.all_user),
	GROUP(all_kernel_option, wanted.sampling.all_kernel),
	FLAG("user-callchains", 0, wanted.sampling.user_callchains, "record only user-space call chains"),
	FLAG("kernel-callchains", 0, wanted.sampling.kernel_callchains, "record only kernel call chains"),
	RECORDER("clockid", 'k', "CLOCK", wanted, "clock for timestamps: mono, raw, boot, real, tai"),
	GROUP(mmap_pages_option, wanted),
	FLAG("namespaces", 0, wanted.sampling.namespaces, "record namespaces of processes"),
	FLAG("all-cgroups", 0, wanted.sampling.all_cgroups, "record cgroups"),
	FLAG("switch-events", 0, wanted.sampling.switch_events, "record context switches"),
	FLAG("latency", 0, wanted.sampling.switch_events, "record what report --latency needs: context switches"),
	FLAG("no-bpf-event", 0, wanted.sampling.no_bpf_event, "do not record loading of BPF programs"),
	FLAG("buildid-mmap", 0, wanted.sampling.build_id_mmap, "record build ids in MMAP2 records"),
	FLAG("strict-freq", 0, wanted.sampling.strict_freq,
	     "fail if the kernel does not allow the requested frequency"),
	{ 0 },
};

const struct option_group record_sample_group = { HEADING_SAMPLES, sample_lines };

/* ---- events and targets ---- */

bool record_has_events(const struct record_values *values)
{
	size_t i = 0;

	while (i < values->events.count && strcmp(values->events.items[i].name, "event") != 0)
		i++;
	return i < values->events.count;
}

bool record_add_events(struct record_setup *setup, const struct record_values *values)
{
	const struct option_tags *tags = &values->events;
	bool named = record_has_events(values);
	struct pd_error error;
	enum pd_status status = setup->events ? PD_OK : pd_events_new(NULL, &setup->events, &error);

	for (size_t i = 0; i < tags->count && status >= 0; i++)
		status = pd_events_set(setup->events, tags->items[i].name, tags->items[i].value, named, &error);
	if (status >= 0 && values->group)
		status = pd_events_group(setup->events, &error);
	return status >= 0 || print_error("%s", error.message);
}

bool record_copy_command(struct record_setup *setup, const struct call *call)
{
	if (!call->word_count)
		return true;
	setup->command = calloc(call->word_count + 1, sizeof(*setup->command));
	if (!setup->command)
		return print_error("out of memory");
	for (size_t i = 0; i < call->word_count; i++)
		setup->command[i] = (char *)call->words[i];
	setup->options.targets.command = setup->command;
	return true;
}

bool record_take(struct record_setup *setup, const struct record_values *values, const struct call *call)
{
	struct pd_recorder_options *wanted = &setup->options;
	struct pd_error error;

	*setup = (struct record_setup){ .options = values->wanted };
	wanted->size = sizeof(*wanted);
	wanted->command_line = call->line;
	wanted->fd = -1;
	if (!record_add_events(setup, values))
		return false;
	wanted->events = setup->events;
	if (pd_events_cgroups(setup->events, record_has_events(values), &wanted->targets, &error) < 0)
		return print_error("%s", error.message);
	return option_set_recorder(wanted, "pid", values->pids) && option_set_recorder(wanted, "tid", values->tids) &&
	       option_set_recorder(wanted, "uid", values->user) && record_copy_command(setup, call);
}

bool record_open_control(const char *where, struct pd_recorder *recorder, struct pd_control **control_out)
{
	struct pd_error error;

	return !where || pd_control_open(recorder, where, print_warning, NULL, control_out, &error) >= 0 ||
	       print_error("option --control: %s", error.message);
}

void record_fini(struct record_setup *setup)
{
	pd_events_free(setup->events);
	pd_recorder_options_fini(&setup->options);
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

/* What is none of the registers, such as ?, is answered by their names. */
static bool take_registers(struct record_setup *setup, const char *option, const char *text)
{
	struct pd_text *names;

	if (!text || (strcmp(text, "?") != 0 && option_set_recorder(&setup->options, option, text)))
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

bool record_take_samples(struct record_setup *setup, const struct record_values *values)
{
	struct pd_sampling *sampling = &setup->options.sampling;

	if (values->chains && sampling->call_graph == PD_CALL_GRAPH_UNSET)
		sampling->call_graph = PD_CALL_GRAPH_FP;
	if (values->branches && !sampling->branch_filter)
		sampling->branch_filter = PD_MASK(PD_BRANCH_TYPE_ANY);
	if ((sampling->freq || sampling->freq_max) && sampling->period)
		return print_error("--freq and --count are mutually exclusive");
	return take_registers(setup, "user-regs", values->user_regs) &&
	       take_registers(setup, "intr-regs", values->intr_regs);
}
