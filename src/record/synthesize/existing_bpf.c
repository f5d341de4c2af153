/* SPDX-License-Identifier: MIT */
/*
 * BPF programs that are loaded: each as KSYMBOL records of its functions and a BPF_EVENT, as the kernel makes them when a
 * program is loaded. Functions are named as the kernel names them: bpf_prog_TAG_NAME.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "record/record.h"

enum {
	MOST_FUNCTIONS = 4096 // of a program
};

static long call_bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int next_id(uint32_t id, uint32_t *next_out)
{
	union bpf_attr attr = { .start_id = id };

	if (call_bpf(BPF_PROG_GET_NEXT_ID, &attr) < 0)
		return -1;
	*next_out = attr.next_id;
	return 0;
}

static int open_program(uint32_t id)
{
	union bpf_attr attr = { .prog_id = id };

	return (int)call_bpf(BPF_PROG_GET_FD_BY_ID, &attr);
}

static bool get_info(int fd, struct bpf_prog_info *info)
{
	union bpf_attr attr = { .info = {
					.bpf_fd = (uint32_t)fd, .info_len = sizeof(*info), .info = (uintptr_t)info } };

	return call_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0;
}

// Addresses and lengths of the functions. False if the kernel does not tell them.
static bool get_functions(int fd, uint64_t *addrs, uint32_t *lengths, uint32_t *count_out)
{
	struct bpf_prog_info info = { 0 };
	uint32_t count;

	if (!get_info(fd, &info))
		return false;
	count = info.nr_jited_ksyms < MOST_FUNCTIONS ? info.nr_jited_ksyms : MOST_FUNCTIONS;
	if (!count || info.nr_jited_func_lens < count)
		return false;
	info = (struct bpf_prog_info){ .nr_jited_ksyms = count,
				       .jited_ksyms = (uintptr_t)addrs,
				       .nr_jited_func_lens = count,
				       .jited_func_lens = (uintptr_t)lengths };
	*count_out = count;
	return get_info(fd, &info) && addrs[0];
}

static enum pd_status add_function(struct pd_made *made, const struct bpf_prog_info *info, uint64_t addr,
				   uint32_t length, uint32_t index, uint32_t count, struct pd_error *error)
{
	struct pd_ksymbol symbol = { .addr = addr, .len = length, .ksym_type = PD_KSYMBOL_BPF };
	char name[128];
	size_t used = (size_t)snprintf(name, sizeof(name), "bpf_prog_");

	for (size_t i = 0; i < BPF_TAG_SIZE; i++)
		used += (size_t)snprintf(name + used, sizeof(name) - used, "%02x", info->tag[i]);
	// names of all but the first function are in the type information
	if (count == 1 && info->name[0])
		snprintf(name + used, sizeof(name) - used, "_%.*s", BPF_OBJ_NAME_LEN, info->name);
	else if (count > 1)
		snprintf(name + used, sizeof(name) - used, index ? "_F%u" : "_F", index);
	symbol.name = (struct pd_str){ name, (uint32_t)strlen(name), 0 };
	return pd_made_add(made, PD_RECORD_KSYMBOL, 0, &symbol, error);
}

static enum pd_status add_program(struct pd_made *made, int fd, uint64_t *addrs, uint32_t *lengths,
				  struct pd_error *error)
{
	struct bpf_prog_info info = { 0 };
	struct pd_bpf_event event = { .type = PD_BPF_EVENT_PROG_LOAD };
	enum pd_status status = PD_OK;
	uint32_t count;

	// what was not compiled has no addresses, and what is hidden neither
	if (!get_functions(fd, addrs, lengths, &count) || !get_info(fd, &info))
		return PD_OK;
	for (uint32_t i = 0; i < count && status >= 0; i++)
		status = add_function(made, &info, addrs[i], lengths[i], i, count, error);
	event.id = info.id;
	event.tag = (struct pd_bytes){ info.tag, BPF_TAG_SIZE };
	return status < 0 ? status : pd_made_add(made, PD_RECORD_BPF_EVENT, 0, &event, error);
}

enum pd_status pd_existing_bpf(struct pd_made *made, const struct pd_existing_options *options, struct pd_error *error)
{
	uint64_t *addrs = pd_alloc(MOST_FUNCTIONS * sizeof(*addrs));
	uint32_t *lengths = pd_alloc(MOST_FUNCTIONS * sizeof(*lengths));
	enum pd_status status = addrs && lengths ? PD_OK : pd_fail_memory(error);
	uint32_t id = 0;

	(void)options;
	// without the right to ask there are none
	while (status >= 0 && next_id(id, &id) == 0) {
		int fd = open_program(id);

		if (fd < 0)
			continue;
		status = add_program(made, fd, addrs, lengths, error);
		close(fd);
	}
	pd_free(addrs);
	pd_free(lengths);
	return status;
}
