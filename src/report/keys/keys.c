/* SPDX-License-Identifier: MIT */
/*
 * The list of sort keys, by the names that perf gives them: all that the parser, help, completion, JSON and CSV know of
 * them.
 */
#include "report/keys/find.h"
#include "report/keys/values.h"

#include <string.h>

static const struct key keys[] = {
	{ .head = { "comm", NULL, "Command", "comm", PD_BY_COMM, false, "name of the thread" }, .find = pd_key_comm },
	{ .head = { "pid", "tid", "    Pid:Command", "tid", PD_BY_TID, false, "thread, which perf calls pid" },
	  .find = pd_key_tid,
	  .has_number = true },
	{ .head = { "tgid", NULL, "   Tgid:Command", "pid", PD_BY_PID, false, "process" },
	  .find = pd_key_tgid,
	  .has_number = true },
	{ .head = { "dso", NULL, "Shared Object", "dso", 0, false, "object" },
	  .find = pd_key_dso,
	  .of_frame = true,
	  .of_function = true,
	  .unknown_is_address = true },
	{ .head = { "sym", "symbol", "Symbol", "symbol", 0, false, "function" },
	  .find = pd_key_symbol,
	  .of_frame = true,
	  .of_function = true,
	  .unpadded = true,
	  .has_level = true,
	  .ipc_name = "symbol" },
	{ .head = { "cpu", NULL, "CPU", "cpu", PD_BY_CPU, false, "CPU" }, .find = pd_key_cpu, .fixed_width = true },
	{ .head = { "socket", NULL, "Socket", "socket", PD_BY_CPU, false, "processor" },
	  .find = pd_key_socket,
	  .right = true },
	{ .head = { "srcline", NULL, "Source:Line", "srcline", PD_BY_ADDRESS, false, "file and line" },
	  .find = pd_key_srcline,
	  .of_frame = true },
	{ .head = { "srcfile", NULL, "Source File", "srcfile", PD_BY_LINE, false, "file" },
	  .find = pd_key_srcfile,
	  .of_frame = true,
	  .unpadded = true },
	{ .head = { "cgroup", NULL, "Cgroup", "cgroup", PD_BY_CGROUP, false, "path of the cgroup" },
	  .find = pd_key_cgroup,
	  .unpadded = true },
	{ .head = { "cgroup_id", NULL, "cgroup id (dev/inode)", "cgroup_id", PD_BY_TID, false,
		    "device and inode of the cgroup namespace" },
	  .find = pd_key_cgroup_id,
	  .unpadded = true },
	{ .head = { "ipc_null", NULL, "IPC   [IPC Coverage]", "ipc", 0, false,
		    "instructions per cycle (not in samples)" },
	  .find = pd_key_ipc,
	  .width = 20 },
	{ .head = { "weight", NULL, "Weight", "weight", PD_BY_WEIGHT, false,
		    "cost of all samples of a row with the same cost" },
	  .find = pd_key_weight,
	  .width = 12,
	  .times_samples = true },
	{ .head = { "local_weight", NULL, "Local Weight", "local_weight", PD_BY_WEIGHT, false, "cost of one sample" },
	  .find = pd_key_weight,
	  .width = 12 },
	{ .head = { "time", NULL, "Time", "time", PD_BY_TIME, false, "time slice of --time-quantum" },
	  .find = pd_key_time,
	  .width = 12,
	  .unpadded = true },
	{ .head = { "trace", NULL, "Trace output", "trace", PD_BY_RAW, false, "what a tracepoint recorded" },
	  .find = pd_key_trace,
	  .unpadded = true },
	{ .head = { "symbol_size", NULL, "Symbol size", "symbol_size", 0, false, "size of the function in bytes" },
	  .find = pd_key_symbol_size,
	  .of_frame = true,
	  .of_function = true,
	  .right = true,
	  .ipc_name = "symbol_size" },
	{ .head = { "dso_from", NULL, "Source Shared Object", "dso_from", 0, true, "source object of a branch" },
	  .find = pd_key_dso_from,
	  .descending = true },
	{ .head = { "dso_to", NULL, "Target Shared Object", "dso_to", 0, true, "target object of a branch" },
	  .find = pd_key_dso_to,
	  .descending = true },
	{ .head = { "symbol_from", NULL, "Source Symbol", "symbol_from", 0, true, "source function of a branch" },
	  .find = pd_key_symbol_from,
	  .unpadded = true,
	  .has_level = true },
	{ .head = { "symbol_to", NULL, "Target Symbol", "symbol_to", 0, true, "target function of a branch" },
	  .find = pd_key_symbol_to,
	  .unpadded = true,
	  .has_level = true },
	{ .head = { "srcline_from", NULL, "From Source:Line", "srcline_from", 0, true, "source line of a branch" },
	  .find = pd_key_srcline_from },
	{ .head = { "srcline_to", NULL, "To Source:Line", "srcline_to", 0, true, "target line of a branch" },
	  .find = pd_key_srcline_to },
	{ .head = { "mispredict", NULL, "Branch Mispredicted", "mispredict", 0, true,
		    "N: predicted, Y: mispredicted, N/A: unknown" },
	  .find = pd_key_mispredict },
	{ .head = { "in_tx", NULL, "Branch in transaction", "in_tx", 0, true, "T: in a transaction" },
	  .find = pd_key_in_tx },
	{ .head = { "abort", NULL, "Transaction abort", "abort", 0, true, "A: the transaction was aborted" },
	  .find = pd_key_abort },
	{ .head = { "cycles", NULL, "Basic Block Cycles", "cycles", 0, true, "since the branch before" },
	  .find = pd_key_cycles },
};

const struct key *pd_key_at(size_t index)
{
	return index < sizeof(keys) / sizeof(keys[0]) ? &keys[index] : NULL;
}

const struct key *pd_key_by_name(const char *name, size_t length)
{
	const struct key *key;

	for (size_t i = 0; (key = pd_key_at(i)) != NULL; i++) {
		if ((strlen(key->head.name) == length && !memcmp(key->head.name, name, length)) ||
		    (key->head.other_name && strlen(key->head.other_name) == length &&
		     !memcmp(key->head.other_name, name, length)))
			return key;
	}
	return NULL;
}

const struct pd_report_key *pd_report_key_at(size_t index)
{
	const struct key *key = pd_key_at(index);

	return key ? &key->head : NULL;
}

const struct pd_report_key *pd_report_key_by_name(const char *name, size_t length)
{
	const struct key *key = pd_key_by_name(name, length);

	return key ? &key->head : NULL;
}
