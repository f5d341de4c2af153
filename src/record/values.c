/* SPDX-License-Identifier: MIT */
/*
 * What options of a recording are given as text: sizes, times, clocks, kinds of branches, registers, in perf's words, for every
 * program that takes them from a user. Numbers with units are decimal, words count without regard to case.
 */
#include <perfdata/recorder.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text/units.h"

static enum pd_status refuse(const char *text, const char *wanted, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is not %s", text, wanted);
}

static const struct pd_named_number size_units[] = { { "B", 1 },        { "K", 1 << 10 },
						     { "M", 1 << 20 },  { "G", 1 << 30 },
						     { "KB", 1 << 10 }, { "MB", 1 << 20 },
						     { "GB", 1 << 30 }, { 0 } };

enum pd_status pd_size_parse(const char *text, uint64_t *bytes_out, struct pd_error *error)
{
	return pd_scaled_read(text, size_units, 1, bytes_out) ? PD_OK :
								refuse(text, "a size: write 100, 64K, 2M or 1G", error);
}

enum pd_status pd_duration_parse(const char *text, uint64_t *ns_out, struct pd_error *error)
{
	return pd_duration_read(text, ns_out) ? PD_OK : refuse(text, "a time: write 500ms, 10s, 2m or 1h", error);
}

enum pd_status pd_ring_parse(const char *text, uint64_t *bytes_out, struct pd_error *error)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), size, power = page;
	const char *comma = strchr(text, ',');
	char first[32];

	snprintf(first, sizeof(first), "%.*s", (int)(comma ? comma - text : 31), text);
	if (!pd_scaled_read(first, size_units, page, &size) || !size || size > (UINT64_C(1) << 40))
		return refuse(text, "a ring buffer size: pages, or 512K or 16M", error);
	while (power < size)
		power *= 2;
	*bytes_out = power;
	return PD_OK;
}

static const struct pd_named_number no_units[] = { { 0 } };

enum pd_status pd_clock_parse(const char *text, int32_t *clock_out, struct pd_error *error)
{
	static const struct pd_named_number clocks[] = { { "realtime", CLOCK_REALTIME },
							 { "real", CLOCK_REALTIME },
							 { "monotonic", CLOCK_MONOTONIC },
							 { "mono", CLOCK_MONOTONIC },
							 { "monotonic_raw", CLOCK_MONOTONIC_RAW },
							 { "raw", CLOCK_MONOTONIC_RAW },
							 { "boottime", CLOCK_BOOTTIME },
							 { "boot", CLOCK_BOOTTIME },
							 { "tai", CLOCK_TAI },
							 { 0 } };
	const char *name = strncasecmp(text, "CLOCK_", 6) == 0 ? text + 6 : text;
	const struct pd_named_number *clock = pd_named_number_find(clocks, name, strlen(name));
	uint64_t number;

	// by its number, too; the kernel takes no other ones
	if (!clock && pd_scaled_read(text, no_units, 1, &number))
		for (clock = clocks; clock->name && clock->value != number;)
			clock++;
	if (!clock || !clock->name)
		return refuse(text, "a clock: write mono, raw, boot, real or tai", error);
	*clock_out = (int32_t)clock->value;
	return PD_OK;
}

enum pd_status pd_call_graph_parse(const char *text, enum pd_call_graph *how_out, uint32_t *stack_size_out,
				   struct pd_error *error)
{
	static const struct pd_named_number ways[] = { { "fp", PD_CALL_GRAPH_FP },     { "dwarf", PD_CALL_GRAPH_DWARF },
						       { "lbr", PD_CALL_GRAPH_LBR },   { "no", PD_CALL_GRAPH_NONE },
						       { "none", PD_CALL_GRAPH_NONE }, { 0 } };
	const char *comma = strchr(text, ',');
	const struct pd_named_number *way =
		pd_named_number_find(ways, text, comma ? (size_t)(comma - text) : strlen(text));
	uint64_t size = 0;

	if (!way)
		return refuse(text, "a call graph method: fp, dwarf, dwarf,SIZE or lbr", error);
	*how_out = (enum pd_call_graph)way->value;
	if (!comma)
		return PD_OK;
	if (way->value != PD_CALL_GRAPH_DWARF || !pd_scaled_read(comma + 1, size_units, 1, &size) || size > 65528 ||
	    size < 8)
		return refuse(text, "a stack size: dwarf,SIZE with up to 65528 bytes", error);
	*stack_size_out = (uint32_t)(size + 7) & ~UINT32_C(7);
	return PD_OK;
}

enum pd_status pd_branches_parse(const char *text, uint64_t *bits_out, struct pd_error *error)
{
	static const struct pd_named_number kinds[] = { { "u", PD_MASK(PD_BRANCH_TYPE_USER) },
							{ "k", PD_MASK(PD_BRANCH_TYPE_KERNEL) },
							{ "hv", PD_MASK(PD_BRANCH_TYPE_HV) },
							{ "any", PD_MASK(PD_BRANCH_TYPE_ANY) },
							{ "any_call", PD_MASK(PD_BRANCH_TYPE_ANY_CALL) },
							{ "any_ret", PD_MASK(PD_BRANCH_TYPE_ANY_RETURN) },
							{ "ind_call", PD_MASK(PD_BRANCH_TYPE_IND_CALL) },
							{ "abort_tx", PD_MASK(PD_BRANCH_TYPE_ABORT_TX) },
							{ "in_tx", PD_MASK(PD_BRANCH_TYPE_IN_TX) },
							{ "no_tx", PD_MASK(PD_BRANCH_TYPE_NO_TX) },
							{ "cond", PD_MASK(PD_BRANCH_TYPE_COND) },
							{ "ind_jmp", PD_MASK(PD_BRANCH_TYPE_IND_JUMP) },
							{ "call", PD_MASK(PD_BRANCH_TYPE_CALL) },
							{ "save_type", PD_MASK(PD_BRANCH_TYPE_TYPE_SAVE) },
							{ "stack", PD_MASK(PD_BRANCH_TYPE_CALL_STACK) },
							{ "hw_index", PD_MASK(PD_BRANCH_TYPE_HW_INDEX) },
							{ "priv", PD_MASK(PD_BRANCH_TYPE_PRIV_SAVE) },
							{ "counter", PD_MASK(PD_BRANCH_TYPE_COUNTERS) },
							{ 0 } };
	const uint64_t levels = PD_MASK(PD_BRANCH_TYPE_USER) | PD_MASK(PD_BRANCH_TYPE_KERNEL) |
				PD_MASK(PD_BRANCH_TYPE_HV);
	uint64_t bits = 0;

	for (const char *at = text; *at;) {
		size_t length = strcspn(at, ",");
		const struct pd_named_number *kind = pd_named_number_find(kinds, at, length);

		if (!kind)
			return refuse(text,
				      "a list of branches: any, any_call, any_ret, ind_call, ind_jmp, call, cond, "
				      "stack, u, k, hv, save_type ...",
				      error);
		bits |= kind->value;
		at += length + (at[length] == ',');
	}
	// levels alone do not say which branches
	*bits_out = bits & ~levels ? bits : bits | PD_MASK(PD_BRANCH_TYPE_ANY);
	return PD_OK;
}

static enum pd_arch own_arch(void)
{
	struct utsname name;

	return uname(&name) == 0 ? pd_arch_by_name(name.machine) : pd_arch_by_name("x86_64");
}

// As perf names them, and as it takes them: without regard to case.
static bool find_register(enum pd_arch arch, const char *name, size_t length, unsigned *number_out)
{
	for (unsigned i = 0; i < 64; i++) {
		const char *known = pd_register_name(arch, i);

		if (known && strlen(known) == length && !strncasecmp(known, name, length)) {
			*number_out = i;
			return true;
		}
	}
	return false;
}

enum pd_status pd_registers_parse(const char *text, uint64_t *mask_out, struct pd_error *error)
{
	enum pd_arch arch = own_arch();
	uint64_t mask = 0;

	for (const char *at = text; *at;) {
		size_t length = strcspn(at, ",");
		unsigned number;

		if (!find_register(arch, at, length, &number))
			return refuse(text, "a list of registers", error);
		mask |= UINT64_C(1) << number;
		at += length + (at[length] == ',');
	}
	// all that programs have on their own
	if (!*text && arch == pd_arch_by_name("x86_64"))
		mask = 0xff0fff;
	else if (!*text)
		for (unsigned i = 0; i < 64; i++)
			mask |= pd_register_name(arch, i) && i < 33 ? UINT64_C(1) << i : 0;
	*mask_out = mask;
	return PD_OK;
}

void pd_print_registers(struct pd_text *text)
{
	enum pd_arch arch = own_arch();

	for (unsigned i = 0; i < 64; i++)
		if (pd_register_name(arch, i))
			pd_text_printf(text, " %s", pd_register_name(arch, i));
}

enum pd_status pd_freq_parse(const char *text, struct pd_sampling *sampling, struct pd_error *error)
{
	uint64_t freq = 0;

	if (strcmp(text, "max") != 0 && (!pd_number_parse(text, &freq) || !freq))
		return refuse(text, "a frequency (samples per second, or max)", error);
	sampling->freq_max = !freq;
	sampling->freq = freq;
	return PD_OK;
}

enum pd_status pd_synth_parse(const char *text, struct pd_session *session, struct pd_error *error)
{
	static const struct pd_named_number kinds[] = { { "all", PD_SYNTH_ALL },
							{ "task", PD_SYNTH_TASK },
							{ "mmap", PD_SYNTH_TASK | PD_SYNTH_MMAP },
							{ "cgroup", PD_SYNTH_CGROUP },
							{ "no", 0 },
							{ 0 } };
	const struct pd_named_number *kind = kinds;
	unsigned synth = 0;

	for (const char *at = text; *at && kind->value;) {
		size_t length = strcspn(at, ",");

		kind = pd_named_number_find(kinds, at, length);
		if (!kind)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				       "'%.*s' is not all, task, mmap, cgroup or no", (int)length, at);
		synth |= (unsigned)kind->value;
		at += length + (at[length] == ',');
	}
	session->no_synth = !kind->value;
	session->synth = synth;
	return PD_OK;
}

enum pd_status pd_delay_parse(const char *text, int64_t *ms_out, struct pd_error *error)
{
	char *end;
	long long ms = strtoll(text, &end, 10);

	if (*end || end == text || ms < -1)
		return refuse(text, "a number of milliseconds", error);
	*ms_out = ms;
	return PD_OK;
}

enum pd_status pd_switch_parse(const char *text, struct pd_session *session, struct pd_error *error)
{
	size_t length = strlen(text);
	enum pd_status status = PD_OK;

	if (length && strcmp(text, "signal") != 0)
		status = strchr("BKMG", text[length - 1]) ? pd_size_parse(text, &session->switch_size, error) :
							    pd_duration_parse(text, &session->switch_ns, error);
	session->switch_on_call |= status >= 0;
	return status;
}

enum pd_status pd_compression_parse(const char *text, struct pd_writer_options *output, struct pd_error *error)
{
	uint64_t level = 0;

	if (*text && strcmp(text, "true") != 0 && (!pd_number_parse(text, &level) || level > 22))
		return refuse(text, "a number from 0 to 22", error);
	if (*text && strcmp(text, "true") != 0 && !level)
		return PD_OK;
	output->packing = PD_PACK_ZSTD;
	output->level = (int)level;
	return PD_OK;
}
